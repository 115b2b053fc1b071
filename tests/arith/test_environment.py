"""A floating-point mode left on by somebody else changes no bit, and is put back."""

import platform
import subprocess
import sys

import numpy as np
import pytest

from perceptron_rs import _core
from perceptron_rs.float_mode import standard
from perceptron_rs.settings import Data, KernelSpec, Network
from tests.support import averages, run_of, settled

from .environments import (
    DENSE,
    LABELS,
    MODES,
    RBF,
    STANDARD,
    STATUS_FLAGS,
    TINY,
    WHOLE,
    budget_run,
    chain_run,
    flat,
    kernel_run,
    mode,
)


@pytest.mark.parametrize("name", MODES)
def test_no_bit_changes(trainer, name):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 17)) * 10.0 ** rng.integers(-5, 5, (40, 17))
    X[:20] *= 1e-308
    labels = rng.integers(0, 2, 40)
    begin = trainer.start(17, coef=rng.standard_normal(17) * 1e-10)

    x = np.append(X[30] / 7, [-744.0, -709.0])

    def everything():
        report = trainer.fit(X, labels, state=begin, eta0=0.1, max_iter=3)
        average = averages(trainer.engine, report["state"])
        scores = trainer.scores(X, report["state"]["coef"], report["state"]["intercept"])
        tiny = trainer.scores(X[:20], np.full(17, 1e-3), 0.0)
        shift = trainer.engine.updates_until_right(X[30], 1, -X[30] / 3, None, step=0.1)
        values = [trainer.engine.elementary(np.abs(x), function="log")]
        values += [trainer.engine.elementary(x, function=name) for name in ("exp", "logistic", "tanh")]
        return *report["state"].values(), report["losses"], *average, *values, scores, tiny, shift

    expected = everything()
    assert (np.abs(expected[-2]) < sys.float_info.min).any(), "no denormal number is involved"
    with mode(MODES[name]):
        answers = everything()
        after = _core._swap_float_control(STANDARD)
    for answer, wanted in zip(answers, expected, strict=True):
        assert np.asarray(answer).tobytes() == np.asarray(wanted).tobytes()
    assert after & ~STATUS_FLAGS == MODES[name] & ~STATUS_FLAGS, "the mode was not put back"


@pytest.mark.parametrize("name", MODES)
def test_the_modes_do_something(name):
    """Otherwise the test above would show nothing."""
    x, w = np.array([1e-308, 1.0 + 2.0**-52]), np.array([1e-3, 1.0 / 3.0])
    expected = (x * w, x / 3, -x * w)
    with mode(MODES[name]):
        in_mode = (x * w, x / 3, -x * w)
    changed = any(a.tobytes() != b.tobytes() for a, b in zip(in_mode, expected, strict=True))
    assert changed == (name != "standard")


def test_the_mode_is_put_back_after_an_error():
    control = next(iter(MODES.values()))
    with mode(control):
        with pytest.raises(KeyError), standard():
            raise KeyError
        after = _core._swap_float_control(control)
    assert after & ~STATUS_FLAGS == control & ~STATUS_FLAGS


def answers(trainer):
    """Ask the engine for one of everything, its rows made in the mode of now."""
    engine, X, labels = trainer.engine, TINY, LABELS
    rows, three = trainer.rows(X), labels + (np.arange(40) % 2)
    for data in (X, WHOLE, DENSE):
        for learner in ("perceptron", "averaged", "pocket", "voted"):
            yield trainer.fit(data, labels, learner=learner, eta0=0.1, max_iter=2)
        yield trainer.scores(data, np.full(9, 0.1), 0.0)
        yield engine.scale_gamma(trainer.rows(data))
        for kernel in (KernelSpec("linear"), RBF):
            yield engine.kernel_matrix(trainer.rows(data), trainer.rows(data), kernel=kernel, threads=1)
            yield kernel_run(trainer, data, labels, kernel=kernel)
    voted = trainer.fit(X, labels, learner="voted", eta0=0.1)["state"]
    ballots = trainer.start(9) | voted | {"log_bias": voted["log_step"]}
    yield engine.replay(rows, ballots, upto=np.diff(voted["log_start"]))
    counts = np.arange(len(voted["log_row"]) + 1)
    yield engine.votes(rows, rows, ballots | {"log_count": counts}, tie="mistake", threads=1)
    ages = {"ages": np.arange(9)[np.newaxis], "coef": X[:1]}
    for penalty in ((0.0, 0.01), (0.1, 0.4)):
        yield settled(engine, ages, 0.1, penalty)
        state = trainer.start(9) | ages
        yield trainer.fit(X, labels, learner="perceptron", penalty=penalty, state=state, eta0=0.1)
    for activation in ("tanh", "logistic", "relu"):
        layers = engine.mlp_start(9, [5], 3, activation=activation, seed=1)
        yield layers
        settings = Network(activation=activation, rate=0.1, alpha=0.01, batch_size=7, seed=1)
        run = run_of(engine, Data(rows, three.astype(np.uint32)), layers, settings)
        yield [run.epoch(0), run.epoch(1), run.state()]
        yield engine.mlp_scores(rows, layers, activation=activation, probabilities=True, threads=1)
    yield budget_run(trainer, X, labels)
    for pair in (False, True):
        learnt = chain_run(trainer, X, labels, pair=pair)["state"]
        yield learnt, engine.sequence_average(learnt)
        yield engine.sequence_decode(rows, np.array([40]), weights=learnt, threads=1)
    w, u, columns = X[0].copy(), X[1].copy(), np.arange(9)
    engine.structured_update(w, u, (columns, X[2]), (columns, X[3]), step=0.1, t=3)
    yield w, u
    plane = (rows, labels.astype(np.uint32))
    options = {"tol": 1e-3, "max_steps": 20, "solver": "auto", "goal": "margin", "threads": 1}
    yield engine.separate(*plane, bias="free", **options)
    yield engine.margin(*plane, X[30], 0.1, normalize=True, threads=1)


def test_no_bit_changes_of_anything(trainer):
    expected = flat(list(answers(trainer)))
    for name, control in MODES.items():
        with mode(control):
            found = flat(list(answers(trainer)))
            after = _core._swap_float_control(STANDARD)
        assert found.keys() == expected.keys()
        assert [way for way in found if found[way] != expected[way]] == [], name
        assert after & ~STATUS_FLAGS == control & ~STATUS_FLAGS, f"the mode was not put back: {name}"


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="has no such masks")
def test_exceptions_that_the_caller_has_unmasked_are_masked_for_us_alone():
    """A division by zero would end the process."""
    code = (
        "from perceptron_rs import _core; before = _core._swap_float_control(0x1D80);"
        "_core._enter_standard(); ours = _core._swap_float_control(0x1F80); _core._leave_standard();"
        "after = _core._swap_float_control(before); print(hex(ours & 0xFFC0), hex(after & 0xFFC0))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "0x1f80 0x1d80\n"), done.stderr
