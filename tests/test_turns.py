"""An estimator changes as a whole: at Ctrl-C anywhere, among threads, where a call learns within a call."""

import copy
import dis
import itertools
import linecache
import pickle
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import perceptron_rs
from perceptron_rs import (
    AveragedPerceptron,
    BudgetedKernelPerceptron,
    KernelPerceptron,
    MaxMarginClassifier,
    MultilayerPerceptron,
    Perceptron,
    PocketPerceptron,
    SequencePerceptron,
    StructuredPerceptron,
    VotedPerceptron,
    _core,
)
from perceptron_rs.state import turns
from tests.learners import PASSES
from tests.support import contents

PACKAGE = str(Path(perceptron_rs.__file__).parent)

RNG = np.random.default_rng(0)
X = RNG.integers(-9, 10, (30, 3)).astype(float)
Y = (X @ [1, -2, 3] > 0).astype(int)
BAD = np.where(np.arange(90).reshape(30, 3) == 87, np.inf, X)
HUGE = np.where(np.arange(90).reshape(30, 3) == 0, 1.7e308, X)  # each row is finite; the sums are not
TOKENS = [[["a"], ["b"]], [["b"], ["a"], ["a"]]]
TAGS = [["A", "B"], ["B", "A", "A"]]


def structured():
    return StructuredPerceptron(
        lambda x, y: np.array([x, -x]) * y, lambda x, w: 1 if w @ [x, -x] > 0 else -1, max_iter=2
    )


def fit(model):
    model.fit(X[:20], Y[:20])


def learn_more(model):
    model.partial_fit(X[:7], Y[:7], classes=(0, 1))  # a list would be known


def learn_more_unchecked(model):
    model.partial_fit(X[:7], Y[:7], check_input=False)


CALLS = {
    "fit": (Perceptron(max_iter=2, tol=None, random_state=np.random.RandomState(3)), fit),
    "penalty": (Perceptron(penalty="l2", max_iter=2, tol=None), learn_more),
    "averaged": (AveragedPerceptron(max_iter=2, tol=None), learn_more),
    "unchecked": (AveragedPerceptron(max_iter=2, tol=None), learn_more_unchecked),
    "predicted": (AveragedPerceptron(), lambda model: model.predict_then_learn(X[:7], Y[:7])),
    "audit": (Perceptron(max_iter=2, tol=None, audit=True), learn_more),
    "voted": (VotedPerceptron(max_iter=2, tol=None), learn_more),
    "pocket": (PocketPerceptron(max_iter=2, tol=None), fit),
    "kernel": (KernelPerceptron(max_iter=2), learn_more),
    "budget": (BudgetedKernelPerceptron(budget=3, max_iter=2), fit),
    "layers": (MultilayerPerceptron(max_iter=2, tol=None), fit),
    "margin": (MaxMarginClassifier(inseparable="warn"), fit),
    "stream": (
        AveragedPerceptron(max_iter=2, tol=None),
        lambda model: model.fit_stream([(X[:20], Y[:20]), (X[20:], Y[20:])]),
    ),
    "sequences": (SequencePerceptron(max_iter=2, warm_start=True), lambda model: model.fit(TOKENS, TAGS)),
    "structures": (structured(), lambda model: model.partial_fit([1.0, -2.0], [1, -1])),
}
FAILING = {
    "fit": (Perceptron(max_iter=2, tol=None), lambda model: model.fit(HUGE, Y)),
    "infinity": (AveragedPerceptron(max_iter=2, tol=None), lambda model: model.partial_fit(BAD, Y)),
    "kernel": (KernelPerceptron("linear", max_iter=2), lambda model: model.partial_fit(BAD, Y)),
    "layers": (MultilayerPerceptron(max_iter=2, tol=None), lambda model: model.partial_fit(BAD, Y)),
    "sequences": (SequencePerceptron(), lambda model: model.partial_fit([[["a"]]], [["C"]])),
}


def all_of(model):
    found, drawn = contents(model), getattr(model, "random_state", None)
    if isinstance(drawn, np.random.RandomState):
        found["random_state"] = repr(drawn.get_state())
    return found


def fitted(model):
    model = copy.deepcopy(model)
    if isinstance(model, SequencePerceptron):
        return model.fit(TOKENS, TAGS)
    if isinstance(model, StructuredPerceptron):
        return model.fit([1.0, 2.0], [1, -1])
    return model.fit(X, Y)


def interrupted_at(number, work, within):
    """Raise KeyboardInterrupt at a step of our code; return whether there are so many steps.

    Steps are instructions of the module of turns, or else lines.
    """
    left = itertools.count(number, -1)

    def is_end_of_with(frame):
        """Python looks for no signal from the end of a block to the call of what it ends with."""
        code = frame.f_code
        is_end = dis.opname[code.co_code[frame.f_lasti]] in ("LOAD_CONST", "SWAP", "PUSH_EXC_INFO")
        return is_end and "with " in linecache.getline(code.co_filename, frame.f_lineno)

    def step(frame, event, _):
        if event == "line" and is_end_of_with(frame):
            return step
        if event == ("opcode" if within == "turns" else "line") and next(left) == 0:
            sys.settrace(None)
            raise KeyboardInterrupt
        return step

    def trace(frame, event, _):
        name = frame.f_code.co_filename
        if name != turns.__file__ and (within == "turns" or not name.startswith(PACKAGE)):
            return None
        frame.f_trace = step  # before the next line, which since Python 3.13 does nothing without it
        frame.f_trace_opcodes = within == "turns"
        return step

    before = sys.gettrace()
    sys._getframe().f_trace_opcodes = True  # Python 3.12 wants to be asked before a trace is set
    sys.settrace(trace)
    try:
        work()
    except KeyboardInterrupt:
        return True
    except (ValueError, OverflowError):
        return next(left) < 0
    finally:
        sys.settrace(before)
    return False


def elsewhere(work):
    """Run a call on a thread of its own, which has no seconds to wait for."""
    done = []
    thread = threading.Thread(target=lambda: done.append(work()), daemon=True)
    thread.start()
    thread.join(600)
    assert done, "the call of another thread waits, or has failed"


#: Of so many steps one is tried in a fit, of five times as many in another call.
WITHIN = {"turns": 1, "lines": 11}


@pytest.fixture(autouse=True)
def _gives_the_mode_back():
    """Wherever Ctrl-C came, the caller has its floating-point mode again, and NumPy its warnings."""
    before = np.geterr()
    yield
    assert not _core._leave_standard()
    assert np.geterr() == before


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_anywhere_leaves_all_or_nothing(name, within):
    given, work = CALLS[name]
    start = fitted(given)
    before = all_of(start)
    after = copy.deepcopy(start)
    work(after)
    after = all_of(after)
    assert before != after
    for number in itertools.count(0, WITHIN[within] if name == "fit" else 5 * WITHIN[within]):
        model = copy.deepcopy(start)
        again = interrupted_at(number, lambda model=model: work(model), within)
        now = all_of(model)
        assert now in (before, after), (number, [key for key in now if now[key] != before.get(key)])
        if not again:
            break
        if number % 20 == 0:
            elsewhere(lambda model=model: work(model))
    assert now == after
    assert number > 50 or (name, within) == ("unchecked", "turns")  # it takes none


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("name", FAILING)
def test_ctrl_c_while_an_error_is_handled_leaves_nothing(name, within):
    given, work = FAILING[name]
    start = fitted(given)
    before = all_of(start)
    with pytest.raises((ValueError, OverflowError)):
        work(copy.deepcopy(start))
    for number in itertools.count(0, WITHIN[within] if name == "fit" else 5 * WITHIN[within]):
        model = copy.deepcopy(start)
        again = interrupted_at(number, lambda model=model: work(model), within)
        assert all_of(model) == before, number
        if not again:
            break
        if number % 20 == 0:
            elsewhere(lambda model=model: fitted(model))
    assert number > 50


@pytest.fixture(name="often")
def fixture_often():
    """Let threads lose the interpreter as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def run_all(*targets):
    errors = []

    def guarded(target):
        try:
            target()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(target,), daemon=True) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
        assert not thread.is_alive()
    if errors:
        raise errors[0]


LEARNERS = [
    Perceptron(max_iter=2, tol=None),
    Perceptron(max_iter=2, tol=None, penalty="l1"),
    AveragedPerceptron(max_iter=2, tol=None),
    VotedPerceptron(max_iter=2, tol=None),
    KernelPerceptron("linear", max_iter=2),
    BudgetedKernelPerceptron("linear", budget=4, max_iter=2),
    MultilayerPerceptron(max_iter=2, tol=None),
]


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("model", LEARNERS, ids=str)
def test_a_refused_block_is_never_seen_by_a_reader(model):
    model = fitted(model)
    expected = model.decision_function(X).tobytes(), model.predict(X).tobytes()
    left = [150]

    def refused():
        while left[0]:
            with pytest.raises(ValueError, match=r"infinity|class"):
                model.partial_fit(BAD, Y)
            with pytest.raises(ValueError, match=r"infinity|class"):
                model.partial_fit(X, Y + 7)

    def reads():
        for _ in range(left[0]):
            assert (model.decision_function(X).tobytes(), model.predict(X).tobytes()) == expected
            assert pickle.loads(pickle.dumps(model)).predict(X).tobytes() == expected[1]
        left[0] = 0

    run_all(refused, reads)


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("model", [*LEARNERS, PocketPerceptron(max_iter=2, tol=None)], ids=str)
def test_a_reader_sees_one_of_the_fits(model):
    """Two data sets of other classes and widths: what mixes them raises, or gives a third answer."""
    data = [(X, np.where(Y, "a", "b")), (X[:, :2], np.where(Y, "c", "d"))]
    answers = [copy.deepcopy(model).fit(*each).predict(each[0]).tolist() for each in data]
    model = copy.deepcopy(model).fit(*data[0])
    left = [60]

    def writes():
        for each in itertools.cycle(data):
            model.fit(*each)
            if not left[0]:
                break

    def reads():
        for k in range(left[0]):
            try:
                found = model.predict(data[k % 2][0]).tolist()
            except ValueError as error:
                if "features" not in str(error):
                    raise
            else:
                assert found == answers[k % 2]
        left[0] = 0

    run_all(writes, reads)


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("engine", ["rust", "reference"])
@pytest.mark.parametrize("learner", PASSES)
def test_no_row_is_lost_where_two_learn(learner, engine):
    model = learner(engine=engine).partial_fit(X, Y, classes=[0, 1])
    times = 400 if engine == "rust" else 40

    def quickly():
        for _ in range(times):
            model.partial_fit(X[:1], Y[:1], check_input=False)

    def with_checks():
        for _ in range(times):
            model.partial_fit(X[:1], Y[:1])

    def refused():
        for _ in range(times):
            with pytest.raises(ValueError, match="infinity"):
                model.partial_fit(BAD, Y)

    def in_a_run():
        for _ in range(times // 4):
            model.partial_fit(X[:3], Y[:3], sample_weight=[1, 0, 1])

    before = int(model.n_seen_[0])
    run_all(quickly, with_checks, refused, in_a_run)
    assert int(model.n_seen_[0]) == before + 2 * times + 2 * (times // 4)


def of_one_moment(model):
    """Yield what has been seen, and what has been learnt from it, by each way to read both at once."""
    scores = model.decision_function(np.eye(3)).tobytes()
    for each in (pickle.loads(pickle.dumps(model)), copy.copy(model), copy.deepcopy(model)):
        yield int(each.n_seen_[0]), (each.coef_.tobytes(), each.intercept_.tobytes())
    predictor = model.predictor_
    yield None, (predictor["coef"].tobytes(), predictor["intercept"].tobytes())
    yield None, scores


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("engine", ["rust", "reference"])
@pytest.mark.parametrize("learner", PASSES)
def test_four_that_learn_beside_one_that_reads(learner, engine):
    """All learn the same block, so that the number of examples tells all weights."""
    A, labels, rows = X[:5], np.arange(5) % 2, csr_matrix(X[:5])
    model = learner(engine=engine).partial_fit(A, labels, classes=[0, 1])
    times, alone, known = (120 if engine == "rust" else 20), copy.deepcopy(model), {}
    for _ in range(1 + 4 * times):
        numbers = alone.coef_.tobytes(), alone.intercept_.tobytes()
        known[int(alone.n_seen_[0])] = numbers
        known[alone.decision_function(np.eye(3)).tobytes()] = known[numbers] = None
        alone.partial_fit(A, labels)
    ways = [
        lambda: model.partial_fit(A, labels),
        lambda: model.partial_fit(A, labels, check_input=False),
        lambda: model.partial_fit(rows, labels, check_input=False),
        lambda: model.partial_fit(rows, labels, sample_weight=np.ones(5, dtype=np.float32)),
    ]
    left, last = list(ways), [0]

    def learns(way):
        try:
            for _ in range(times):
                way()
        finally:
            left.pop()  # in one step; a number that several threads lower could miss one

    def reads():
        while left:
            for seen, numbers in of_one_moment(model):
                assert numbers in known
                if seen is not None:
                    assert known[seen] == numbers
                    assert seen >= last[0]
                    last[0] = seen

    run_all(*[lambda way=way: learns(way) for way in ways], reads)
    assert int(model.n_seen_[0]) == 5 * (1 + 4 * times)
    assert known[int(model.n_seen_[0])] == (model.coef_.tobytes(), model.intercept_.tobytes())


class Batches:
    def __init__(self, within):
        self.within = within

    def __iter__(self):
        yield X, Y
        self.within()
        yield X, Y


def again(model):
    return {
        "fit": lambda: model.fit(X, Y),
        "partial_fit": lambda: model.partial_fit(X, Y, classes=[0, 1]),
        "unchecked": lambda: model.partial_fit(X, Y, check_input=False),
        "fit_stream": lambda: model.fit_stream([(X, Y)]),
        "predict_then_learn": lambda: model.predict_then_learn(X, Y, classes=[0, 1]),
    }


@pytest.mark.parametrize(
    ("place", "name", "start"),
    [
        (place, name, start)
        for place in ("callback", "source", "kernel")
        for name in ("fit", "partial_fit", "unchecked", "fit_stream", "predict_then_learn")
        for start in (False, True)  # a first call looks at its input, and kernel learners have no streams
        if (start or name != "unchecked") and (place != "kernel" or name not in ("unchecked", "fit_stream"))
    ],
)
def test_learning_within_learning_is_an_error(place, name, start):
    calls = []
    model = AveragedPerceptron(max_iter=3, tol=None)

    def within(*_):
        calls.append(name)
        again(model)[name]()

    def kernel(a, b):
        if not calls and working:
            within()
        return a @ b.T

    working = []
    if place == "kernel":
        model = KernelPerceptron(kernel, max_iter=3)
    if start:
        model.fit(X, Y)
    if place == "callback":
        model.set_params(callback=within)
    working.append(True)
    before = contents(model)
    with pytest.raises(RuntimeError, match="is learning, and what it called"):
        model.fit_stream(Batches(within)) if place == "source" else model.fit(X, Y)
    assert calls == [name]
    assert contents(model) == before
    working.clear()
    elsewhere(lambda: model.set_params(**({"callback": None} if place == "callback" else {})).fit(X, Y))


def test_what_a_callback_sets_stays():
    class Noting(Perceptron):
        def note(self, record):
            self.told = record.epoch

    model = Noting(max_iter=3, tol=None)
    model.set_params(callback=model.note).fit(X, Y)
    assert model.told == 2
    assert model.n_iter_ == 3


def test_what_a_subclass_sets_while_it_is_read_stays():
    class Counting(Perceptron):
        def decision_function(self, X):
            self.calls = getattr(self, "calls", 0) + 1
            return super().decision_function(X)

    model = Counting().fit(X, Y)
    model.predict(X)
    model.score(X, Y)
    assert model.calls == 2


def test_a_shared_generator_goes_on_only_if_all_is_well():
    drawn = np.random.RandomState(0)
    model = Perceptron(max_iter=2, tol=None, random_state=drawn)
    first = drawn.get_state()[2]
    with pytest.raises(ValueError, match="infinity"):
        model.fit(BAD, Y)
    assert drawn.get_state()[2] == first
    model.fit(X, Y)
    assert model.random_state is drawn
    assert drawn.get_state()[2] != first


@pytest.mark.parametrize("sparse", [False, True])
def test_a_kernel_cannot_write_to_the_examples(sparse):
    given = csr_matrix(X) if sparse else X.copy()

    def kernel(a, b):
        for each in (a, b):
            (each.data if sparse else each)[...] = 0
        return a @ b.T

    if sparse:  # it gets copies of some rows
        KernelPerceptron(kernel).fit(given, Y)
    else:
        with pytest.raises(ValueError, match="read-only"):
            KernelPerceptron(kernel).fit(given, Y)
    assert (given != X).sum() == 0
