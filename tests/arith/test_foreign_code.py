"""Code of others in the midst of ours, such as a callback, has its own mode and leaves no trace in ours."""

import numpy as np
import pytest

from perceptron_rs import _core
from perceptron_rs.settings import KernelSpec

from .environments import (
    GRAM,
    LABELS,
    MODES,
    RBF,
    SMALL,
    STANDARD,
    STATUS_FLAGS,
    TINY,
    budget_run,
    chain_run,
    flat,
    kernel_run,
    mode,
)


class Guest:
    """Code of somebody else: it notes the mode that it finds, and leaves another on."""

    def __init__(self, leaves, answer=lambda *_: None):
        self.leaves, self.answer, self.found = leaves, answer, []

    def __call__(self, *told):
        answer = self.answer(*told)
        self.found.append(_core._swap_float_control(self.leaves) & ~STATUS_FLAGS)
        return answer


def linear(learner, **changes):
    def run(trainer, guest):
        options = {"learner": learner, "eta0": 0.1, "max_iter": 4, "seed": 1} | changes
        return trainer.fit(TINY, LABELS, on_epoch=guest, **options)

    return run


def chain(trainer, guest):
    return chain_run(trainer, TINY, LABELS, on_epoch=guest)


def held_out(trainer, guest):
    def judge(state):
        weights = trainer.engine.sequence_average(state)
        lengths = np.array([len(LABELS)])
        return trainer.engine.sequence_decode(trainer.rows(TINY), lengths, weights=weights, threads=1)[1]

    return chain_run(trainer, TINY, LABELS, on_epoch=guest, held_out=judge)


def asked(trainer, guest):
    guest.answer = lambda number: GRAM[number].copy()
    return kernel_run(trainer, SMALL, LABELS, kernel=KernelSpec("precomputed"), ask=guest)


def kernel(trainer, guest):
    return kernel_run(trainer, TINY, LABELS, kernel=RBF, on_epoch=guest)


def budget(trainer, guest):
    return budget_run(trainer, TINY, LABELS, guest)


RUNS = {
    "perceptron": linear("perceptron"),
    "averaged": linear("averaged", with_state=True),
    "pocket": linear("pocket", with_state=True),
    "voted": linear("voted"),
    "chain": chain,
    "chain with held-out sequences": held_out,
    "kernel": kernel,
    "kernel that is asked for": asked,
    "budget": budget,
}


@pytest.mark.parametrize("run", RUNS)
def test_code_of_others_runs_in_its_own_mode_and_changes_no_bit(trainer, run):
    """It finds the caller's mode, keeps what it leaves on, and we compute in ours before and after."""
    quiet = Guest(STANDARD)
    expected = flat(RUNS[run](trainer, quiet))
    assert len(quiet.found) > 1, "it ran once at most"
    assert set(quiet.found) == {STANDARD}
    controls = [control for name, control in MODES.items() if name != "standard"]
    for leaves in controls:
        for callers in (STANDARD, next(control for control in MODES.values() if control != leaves)):
            case, guest = (hex(leaves), hex(callers)), Guest(leaves)
            with mode(callers):
                found = flat(RUNS[run](trainer, guest))
                after = _core._swap_float_control(STANDARD)
            assert [way for way in found if found[way] != expected[way]] == [], case
            first, *rest = [control & ~STATUS_FLAGS for control in guest.found]
            assert first == callers & ~STATUS_FLAGS, f"it did not find the caller's mode: {case}"
            assert set(rest) == {leaves}, f"what it left on was taken away from it: {case}"
            assert after & ~STATUS_FLAGS == leaves, f"what it left on was taken away from its caller: {case}"


needs_modes = pytest.mark.skipif(len(MODES) == 1, reason="no mode is known of this processor")


@needs_modes
def test_a_callback_may_train(trainer):
    """A call in the midst of a call: each has its own two modes."""
    inner = Guest(MODES["round up"])

    def outer(*_):
        _core._swap_float_control(MODES["round down"])
        nested.append(flat(trainer.fit(TINY, LABELS, eta0=0.1, max_iter=3, on_epoch=inner)))
        left.append(_core._swap_float_control(MODES["round down"]) & ~STATUS_FLAGS)

    nested, left = [], []
    expected = flat(trainer.fit(TINY, LABELS, eta0=0.1, max_iter=3))
    with mode(STANDARD):
        found = flat(trainer.fit(TINY, LABELS, eta0=0.1, max_iter=3, on_epoch=outer))
        after = _core._swap_float_control(STANDARD)
    assert found == expected
    assert nested == [expected] * 3
    assert set(left) == {MODES["round up"]}
    assert after & ~STATUS_FLAGS == MODES["round down"]


@needs_modes
def test_an_exception_of_others_leaves_the_mode_to_them(trainer):
    def refuse(*_):
        _core._swap_float_control(MODES["round up"])
        raise KeyError

    with mode(STANDARD):
        with pytest.raises(KeyError):
            trainer.fit(TINY, LABELS, on_epoch=refuse)
        after = _core._swap_float_control(STANDARD)
    assert after & ~STATUS_FLAGS == MODES["round up"]
