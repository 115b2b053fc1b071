"""Threads that lose the interpreter between any two steps of the modules that change an estimator."""

import copy
import itertools
import os
import pickle
import random
import signal
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import perceptron_rs
from perceptron_rs import AveragedPerceptron, Perceptron
from perceptron_rs.state import turns

PACKAGE = Path(perceptron_rs.__file__).parent
#: The files of which each instruction, or each line, is a step.
STEPS = {
    __file__,
    *(str(PACKAGE / "state" / name) for name in ("turns.py", "learnt.py", "fitted_attributes.py")),
    str(PACKAGE / "prediction" / "estimator.py"),
    *(str(PACKAGE / name) for name in ("float_mode.py", "reference/linear/model.py")),
}
X = np.random.default_rng(82).integers(-9, 10, (5, 3)).astype(float)
X[2:, 0] = 0  # of this column, penalties are pending after a pass
Y = np.arange(5) % 2  # each pass makes another number of mistakes than the one before
TIMES = 4


@pytest.fixture(autouse=True)
def fixture_soon(monkeypatch):
    """Let those who wait for a turn look again at once."""
    monkeypatch.setattr(turns, "_SOON", 0.0005)


def switching(*works, seed):
    """Run each on a thread of its own, one at a time, until a line that is drawn hands over to another.

    Not an instruction: Python 3.12.1 crashes where two threads are traced so.
    """
    drawn, errors = random.Random(seed), []
    share = drawn.choice([0.02, 0.1, 0.3, 0.6])
    gates, alive = [threading.Semaphore(0) for _ in works], list(range(len(works)))

    def trace_of(me):
        def step(frame, event, _):
            if event == "line" and drawn.random() < share and (other := drawn.choice(alive)) != me:
                gates[other].release()
                gates[me].acquire()
            return step

        def trace(frame, event, _):
            if frame.f_code.co_filename not in STEPS:
                return None
            frame.f_trace = step
            return step

        return trace

    def run(me):
        gates[me].acquire()
        sys.settrace(trace_of(me))
        try:
            works[me]()
        except BaseException as error:
            errors.append(error)
        finally:
            sys.settrace(None)
            alive.remove(me)
            if alive:
                gates[drawn.choice(alive)].release()

    threads = [threading.Thread(target=run, args=(me,), daemon=True) for me in alive]
    for thread in threads:
        thread.start()
    gates[0].release()
    for thread in threads:
        thread.join(600)
        assert not thread.is_alive()
    if errors:
        raise errors[0]


def repeated(work):
    """Return a call that makes so many calls, and counts them."""
    return lambda: [work(k) for k in range(TIMES)]


def at_each_step(prepare, work, beside, every=3):
    """Make a call with another thread's at step 0, once more with it at step 3, ...; yield after each."""
    for number in itertools.count(0, every):
        prepare()
        left, threads = itertools.count(number, -1), []

        def step(frame, event, _, left=left, threads=threads):
            if event == "opcode" and next(left) == 0:
                threads.append(threading.Thread(target=beside, daemon=True))
                threads[0].start()
                threads[0].join(600)
                assert not threads[0].is_alive()
            return step

        def trace(frame, event, _, step=step):
            if frame.f_code.co_filename not in STEPS:
                return None
            frame.f_trace_opcodes, frame.f_trace = True, step
            return step

        sys._getframe().f_trace_opcodes = True
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            work()
        finally:
            sys.settrace(before)
        if not threads:
            break
        yield number
    assert number  # there are steps


MODELS = [
    Perceptron(),
    AveragedPerceptron(),
    Perceptron(penalty="l2", engine="reference"),
    AveragedPerceptron(engine="reference"),
]


def coef_of(model):
    coef = model.coef_
    return (coef if isinstance(coef, np.ndarray) else coef.toarray()).tobytes()


def numbers(model):
    return (
        int(model.n_seen_[0]),
        coef_of(model),
        model.intercept_.tobytes(),
        model.mistakes_per_epoch_.tolist(),
    )


READS = {
    "attribute": coef_of,
    "number": lambda model: model._model["coef"].tobytes(),
    "state": lambda model: {name: array.tobytes() for name, array in model._model.state().items()},
    "copy": lambda model: numbers(copy.copy(model)),
    "pickle": lambda model: numbers(pickle.loads(pickle.dumps(model))),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize("model", MODELS[1:], ids=str)
def test_who_reads_beside_a_pass_sees_it_whole_or_not(model, read):
    model = copy.deepcopy(model).partial_fit(X, Y, classes=[0, 1])
    start, read_all = copy.deepcopy(model), []

    def learn(model):
        model.set_params(eta0=2.0).partial_fit(X, Y, check_input=False)  # pending penalties become others
        return model

    before, after = read(start), read(learn(copy.deepcopy(model)))
    assert before != after

    for number in at_each_step(
        lambda: model.__setstate__(start.__getstate__()),
        lambda: read_all.append(read(model)),
        lambda: learn(model),
        every=7,
    ):
        assert read_all.pop() in (before, after), number


@pytest.mark.parametrize("name", ["eta0", "own"])
def test_what_is_set_beside_a_fit_stays(name):
    model = AveragedPerceptron(max_iter=1, tol=None)
    for number in at_each_step(
        lambda: setattr(model, name, 1), lambda: model.fit(X, Y), lambda: setattr(model, name, 2)
    ):
        assert getattr(model, name) == 2, number


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_no_pass_is_lost_beside_others_and_what_is_set(model, seed):
    model = copy.deepcopy(model).partial_fit(X, Y, classes=[0, 1])
    alone = copy.deepcopy(model)
    for _ in range(2 * TIMES):
        alone.partial_fit(X, Y)

    def sets(k):
        setattr(model, ("n_iter_", "n_mistakes_")[k % 2], k)  # which passes have, too
        if isinstance(model, Perceptron):
            model.sparsify().densify()

    ways = [
        lambda _: model.partial_fit(X, Y),
        lambda _: model.partial_fit(csr_matrix(X), Y, check_input=False),
    ]
    switching(*map(repeated, (*ways, sets)), seed=seed)
    assert numbers(model)[:3] == numbers(alone)[:3]


@pytest.mark.parametrize("name", ["coef_", "n_iter_"])
def test_a_callback_that_sets_what_is_learnt_waits_for_nobody(name):
    """Its own call is refused at once, and so is one that waits for that, whose callback sets it, too."""
    model = AveragedPerceptron(max_iter=2, tol=None).partial_fit(X, Y, classes=[0, 1])
    waits, refused, value = [], [], 7 if name == "n_iter_" else [[1, 2, 3]]
    other = copy.deepcopy(model)
    setattr(other, name, value)

    def learns(call):
        with pytest.raises(RuntimeError, match="was changed while it learnt"):
            call(X, Y)
        refused.append(call)

    def sets(record):
        if not waits:
            waits.append(threading.Thread(target=learns, args=(model.partial_fit,), daemon=True))
            waits[0].start()
            while len(turns.turns) < 2:
                pass
        setattr(model, name, value)

    learns(model.set_params(callback=sets).fit)
    waits[0].join(600)
    assert not waits[0].is_alive()
    assert len(refused) == 2
    assert (numbers(model), model.n_iter_) == (numbers(other), other.n_iter_)


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_forgets_the_turns_of_threads_that_it_lacks():
    started, go = threading.Event(), threading.Event()

    def waits(record):
        started.set()
        go.wait(600)

    model = Perceptron(max_iter=1, tol=None, callback=waits)
    thread = threading.Thread(target=model.fit, args=(X, Y), daemon=True)
    thread.start()
    started.wait(600)
    child = os.fork()
    if not child:
        signal.alarm(600)  # it must not wait
        try:
            os._exit(len(model.set_params(callback=None).fit(X, Y).classes_))
        finally:
            os._exit(99)
    go.set()
    thread.join(600)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
    assert model.n_iter_ == 1
