"""Ctrl-C ends a fit at the next block; the estimator is as it was. Other signals change nothing."""

import _thread
import dis
import operator
import signal
import subprocess
import sys
import textwrap
from functools import partial
from itertools import count

import numpy as np
import pytest

from perceptron_rs import (
    AveragedPerceptron,
    MultilayerPerceptron,
    Perceptron,
    SequencePerceptron,
    digest,
    float_mode,
    max_margin,
)
from perceptron_rs.linear.passes import rule_now
from perceptron_rs.reference.linear import run as linear
from perceptron_rs.reference.mlp import run as mlp
from perceptron_rs.reference.structured import run as structured
from perceptron_rs.state.turns import Turn
from perceptron_rs.training import driver
from tests.learners import LINEAR, PARTITIONED
from tests.support import contents

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals and timers")
FOREVER = 2**31 - 1  # epochs; the labels are drawn, so no epoch is clean

SCRIPT = """
    import signal
    import sys
    import numpy as np
    import perceptron_rs
    from perceptron_rs import _core

    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background, shells have it ignored

    def bits(value):
        if isinstance(value, dict):
            return {name: bits(part) for name, part in value.items()}
        return value.tobytes() if isinstance(value, np.ndarray) else repr(value)

    def contents(model):
        random = model.random_state.get_state()
        return {name: bits(value) for name, value in model.__getstate__().items()} | {"drawn": repr(random)}

    real = _core.start

    def start(*args):
        print("inside", flush=True)
        return real(*args)

    for learner, classes, threads in [
        ("Perceptron", 2, 1),
        ("Perceptron", 5, 2),
        ("AveragedPerceptron", 5, 2),
        ("VotedPerceptron", 5, 2),
        ("PocketPerceptron", 2, 1),
        ("PocketPerceptron", 5, 2),
    ]:
        rng = np.random.default_rng(0)
        n = 2_000 if learner == "PocketPerceptron" else 20_000  # which looks at all of them at each check
        X, y = rng.standard_normal((n, 50)), rng.integers(0, classes, n)
        model = getattr(perceptron_rs, learner)()
        model.set_params(tol=None, n_jobs=threads, random_state=np.random.RandomState(4), warm_start=True)
        for _ in ("not fitted", "fitted"):
            model.set_params(max_iter=2**31 - 1)
            before, _core.start = contents(model), start
            try:
                model.fit(X, y)
            except KeyboardInterrupt:
                same = contents(model) == before
                print(learner, classes, "unchanged" if same else "changed", flush=True)
            _core.start = real
            print("alive" if model.set_params(max_iter=2).fit(X, y).n_iter_ == 2 else "dead", flush=True)
"""


@POSIX
def test_control_c():
    """Two Ctrl-C for each learner, the first on an estimator that was never fitted."""
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        lines = []
        try:
            for line in filter(None, map(str.strip, child.stdout)):
                lines.append(line)
                if line == "inside":
                    child.send_signal(signal.SIGINT)
            child.wait(timeout=600)
        finally:
            child.kill()
    learners = ["Perceptron 2", "Perceptron 5", "AveragedPerceptron 5", "VotedPerceptron 5"]
    learners += ["PocketPerceptron 2", "PocketPerceptron 5"]
    expected = [["inside", f"{learner} unchanged", "alive"] * 2 for learner in learners]
    assert lines == [line for each in expected for line in each]


class StopItError(Exception):
    pass


@POSIX
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("learner", LINEAR)
def test_what_a_handler_raises_is_raised(learner, threads):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((5000, 20)), rng.integers(0, 3, 5000)
    model = learner(max_iter=FOREVER, tol=None, n_jobs=threads)
    before = dict(vars(model))

    def handler(number, frame):
        raise StopItError("from the handler")

    previous = signal.signal(signal.SIGPROF, handler)
    try:
        signal.setitimer(signal.ITIMER_PROF, 0.1)
        with pytest.raises(StopItError, match="from the handler"):
            model.fit(X, y)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)
    assert vars(model) == before


@POSIX
@pytest.mark.parametrize("threads", [1, 2])
def test_a_handler_that_returns_changes_no_bit(threads):
    """Even one that trains itself, inside the engine's call for signals."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20_000, 20)), rng.integers(0, 3, 20_000)
    small = X[:100], y[:100]
    model = AveragedPerceptron(max_iter=150, tol=None, n_jobs=threads)
    expected = model.fit(X, y).coef_.tobytes(), Perceptron(max_iter=5, tol=None).fit(*small).coef_.tobytes()
    calls = []

    def handler(number, frame):
        calls.append(Perceptron(max_iter=5, tol=None).fit(*small).coef_.tobytes())

    previous = signal.signal(signal.SIGPROF, handler)
    try:
        signal.setitimer(signal.ITIMER_PROF, 0.01, 0.03)
        got = model.fit(X, y).coef_.tobytes()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)
    assert got == expected[0]
    assert calls, "the run was too short to be interrupted"
    assert set(calls) == {expected[1]}


@POSIX
@pytest.mark.parametrize("solver", ["wolfe", "descent"])
def test_a_handler_ends_the_search_for_a_margin(solver):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((4000, 1500)), rng.integers(0, 2, 4000)  # no plane, and a large corral

    def handler(number, frame):
        raise StopItError("from the handler")

    previous = signal.signal(signal.SIGPROF, handler)
    try:
        signal.setitimer(signal.ITIMER_PROF, 0.3)
        with pytest.raises(StopItError, match="from the handler"):
            max_margin(X, y, solver=solver, tol=1e-12)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


@pytest.mark.parametrize("error", [StopItError, ValueError])
@pytest.mark.parametrize("learner", PARTITIONED)
def test_a_signal_in_a_block_that_is_learnt_in_one_call(learner, error):
    """A handler that raises leaves all as it was; one that reads finds it so, and one that learns may not."""
    X, y = np.random.default_rng(0).standard_normal((200, 50)), np.arange(200) % 2
    model = learner().partial_fit(X, y, classes=[0, 1])
    before = contents(model)

    def learnt_while_a_signal_waits(handler):
        call = partial(model._model.learn, rule_now(model), X, y)
        previous = signal.signal(signal.SIGPROF, handler)
        try:  # nothing of Python runs between the two calls of the map
            with Turn(model):
                return list(map(operator.call, (partial(_thread.interrupt_main, signal.SIGPROF), call)))[1]
        finally:
            signal.signal(signal.SIGPROF, previous)

    def ends_it(number, frame):
        raise error("from the handler")

    with pytest.raises(error, match="from the handler"):
        learnt_while_a_signal_waits(ends_it)
    assert contents(model) == before
    with pytest.raises(RuntimeError, match="is learning"):
        learnt_while_a_signal_waits(lambda *_: model.partial_fit(X[:9], y[:9], check_input=False))
    assert contents(model) == before
    seen = []
    assert learnt_while_a_signal_waits(lambda *_: seen.append((contents(model), model.predict(X).sum())))
    assert [found for found, _ in seen] == [before]
    assert contents(model) == contents(learner().partial_fit(X, y, classes=[0, 1]).partial_fit(X, y))


#: Where the reference makes epochs, and they are told and judged.
PARTS = {part.__file__ for part in (driver, float_mode, linear, structured, mlp)}
#: After these instructions Python answers signals.
ANSWERS = ("CALL", "JUMP_BACKWARD", "RESUME")


def interrupted_in_an_epoch(fit, number):
    """Fit, with Ctrl-C at the place of that number where Python answers it; return whether it has one."""
    places, begun, before = iter(range(number + 1)), False, {}

    def trace(frame, event, _):
        nonlocal begun
        if frame.f_code.co_filename not in PARTS:
            return None
        if event == "call" and frame.f_code.co_qualname == "Run.epoch":
            begun = True
        frame.f_trace_opcodes = True
        if event == "opcode":
            last = before.get(frame)
            before[frame] = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            answers = last is not None and last.startswith(ANSWERS) and begun
            if answers and next(places, None) == number:
                raise KeyboardInterrupt
        elif event == "return":
            before.pop(frame, None)
        return trace

    previous = sys.gettrace()
    sys.settrace(trace)
    try:
        fit()
    finally:
        sys.settrace(previous)
    return next(places, None) is None


@pytest.mark.parametrize(
    ("learner", "early_stopping"),
    [
        (learner, early_stopping)
        for learner in (Perceptron, SequencePerceptron, partial(MultilayerPerceptron, (2,)))
        for early_stopping in ([False, True] if "early_stopping" in learner().get_params() else [None])
    ],
)
@pytest.mark.filterwarnings("ignore:ctrl-c ended the fit in epoch")
def test_ctrl_c_wherever_the_reference_answers_it(learner, early_stopping):
    """What is learnt, counted and judged is of the same epochs."""
    rng = np.random.default_rng(0)
    data = (rng.standard_normal((12, 3)), rng.integers(0, 2, 12))
    lengths = {"lengths": [2] * 6} if learner is SequencePerceptron else {}
    known = learner().get_params()
    settings = {"engine": "reference", "early_stopping": early_stopping, "tol": None}
    settings = {name: value for name, value in settings.items() if name in known}
    whole = {n: digest(learner(**settings).set_params(max_iter=n).fit(*data, **lengths)) for n in (1, 2)}
    ended = set()
    for number in count():
        model = learner(**settings).set_params(max_iter=2, keep_on_interrupt=True)
        try:
            if not interrupted_in_an_epoch(partial(model.fit, *data, **lengths), number):
                break
        except KeyboardInterrupt:  # when all epochs had ended, or none that layers could keep
            assert not hasattr(model, "n_iter_")
            continue
        ended.add(model.n_iter_)
        assert model.n_iter_ == 0 or digest(model) == whole[model.n_iter_], number
        if early_stopping:
            assert len(model.validation_scores_) == model.n_iter_
    assert ended >= {1, 2}
