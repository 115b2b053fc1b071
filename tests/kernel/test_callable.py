"""Callable kernels: which values are asked for, how often, and what becomes of wrong ones."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs import KernelPerceptron
from perceptron_rs.engines import ENGINES

RANDOM = np.random.default_rng(6)
#: Integers: a callable's own order of sums changes no bit.
X = RANDOM.integers(-9, 10, (300, 6)).astype(np.float64)
Y = RANDOM.integers(0, 3, 300)
ROW = 8 * len(X)  # bytes


class Square:
    """(x . z + 1) ** 2, and the shapes and examples that it was asked for."""

    def __init__(self):
        self.shapes, self.rows = [], []

    def __call__(self, A, B):
        self.shapes.append((A.shape[0], B.shape[0]))
        A, B = ((M.toarray() if sp.issparse(M) else M).astype(np.float64) for M in (A, B))
        if len(B) == 1:
            self.rows.append(B.tobytes())
        return (A @ B.T + 1.0) ** 2


def fitted(kernel, engine="rust", A=X, **parameters):
    model = KernelPerceptron(kernel, **({"engine": engine, "max_iter": 4} | parameters))
    return model.fit(A, Y[: A.shape[0]])


def asked(**parameters):
    kernel = Square()
    return kernel, fitted(kernel, **parameters)


def log_of(model):
    return {name: (a.dtype, a.tobytes()) for name, a in model._vectors.items()}


@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
def test_each_mistaken_example_is_asked_for_once(multi_class):
    kernel, model = asked(multi_class=multi_class)
    assert model.n_mistakes_ > 2 * len(model.support_) > 100
    assert set(kernel.shapes) == {(300, 1)}
    assert sorted(kernel.rows) == sorted(X[[row]].tobytes() for row in model.support_)
    assert len(kernel.rows) == len(model.support_) < len(X)  # never the whole matrix


@pytest.mark.parametrize("rows", [0, 1, 2, 31, 32, 33, 100])
def test_a_small_cache_only_costs_evicted_rows(rows):
    """An oracle replays the cache: what is asked for again had been evicted, and the bits are the same."""
    kernel, model = asked(cache_size=(rows * ROW + 1) / 2**20, shuffle=False, multi_class="joint")
    whole = asked(shuffle=False, multi_class="joint")[1]
    assert log_of(model) == log_of(whole)
    batch = min(max(rows, 1), 32)
    uses = np.unique(np.concatenate([model._vectors["log_t"]]))  # every visit that made an update
    order = [int((t - 1) % 300) for t in uses]
    least = len(model.support_)
    most = len(order)
    assert least <= len(kernel.rows) <= most
    if rows == 0:
        assert len(kernel.rows) == most
    # Whatever the windows are, a row is there if fewer others than cache less batch came since its last use.
    last, certain = {}, 0
    for place, row in enumerate(order):
        if row in last and len(set(order[last[row] + 1 : place])) < rows - batch:
            certain += 1
        last[row] = place
    assert len(kernel.rows) <= most - certain


def test_memory_is_bounded_by_the_cache():
    A = np.arange(6000.0).reshape(-1, 1) % 7 - 3
    labels = RANDOM.integers(0, 2, 6000)  # noise

    def kernel(left, right):
        return left @ right.T

    tracemalloc.start()
    KernelPerceptron(kernel, max_iter=1, cache_size=0.5).fit(A, labels)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3_000_000  # the matrix would take 288 MB, and a third of its rows 96 MB


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix, lambda A: A.astype(np.int8)])
@pytest.mark.parametrize(
    "changes", [{}, {"multi_class": "joint"}, {"fit_intercept": True, "margin_threshold": 2.0}]
)
def test_the_engines_agree_with_each_other_and_with_the_kernel_itself(storage, changes):
    A = storage(X[:100])
    direct = fitted("poly", A=A, degree=2, gamma=1.0, coef0=1.0, **changes)
    for engine, cache_size in (("rust", 200), ("rust", 3 * ROW / 2**20), ("rust", 1e-6), ("reference", 1)):
        model = fitted(Square(), engine, A, cache_size=cache_size, **changes)
        assert log_of(model) == log_of(direct)
        for prediction in ("vote", "average", "last", "random"):
            for each in (model, direct):
                joint_vote = prediction == "vote" and "multi_class" in changes
                each.set_params(prediction=prediction, normalize=not joint_vote)
            assert model.decision_function(A[:9]).tobytes() == direct.decision_function(A[:9]).tobytes()


@pytest.mark.parametrize("engine", ENGINES)
def test_batches_and_warm_starts(engine):
    n = 100 if engine == "reference" else 300
    rows, labels = X[:n], Y[:n]
    whole, parts = (KernelPerceptron(Square(), engine=engine) for _ in range(2))
    whole.partial_fit(rows, labels, classes=range(3))
    for begin in range(0, n, n // 3 + 5):
        part = slice(begin, begin + n // 3 + 5)
        parts.partial_fit(rows[part], labels[part], classes=range(3))
    assert parts.decision_function(rows).tobytes() == whole.decision_function(rows).tobytes()
    cold = fitted(Square(), engine, rows)
    warm = KernelPerceptron(Square(), engine=engine, max_iter=2, warm_start=True)
    warm.fit(rows, labels).fit(rows, labels)
    assert warm.decision_function(rows).tobytes() == cold.decision_function(rows).tobytes()


def test_a_kernel_that_is_not_symmetric(engine_name):
    """The first argument holds the examples that are judged, the second those that were mistaken."""

    def kernel(A, B):
        return A @ B.T + A[:, :1]

    few = X[: 100 if engine_name == "reference" else None]
    gram = kernel(few, few)
    model, given = fitted(kernel, engine_name, few), fitted("precomputed", engine_name, gram)
    assert (model.n_mistakes_, model._vectors["log_t"].tolist()) == (
        given.n_mistakes_,
        given._vectors["log_t"].tolist(),
    )
    assert model.decision_function(few).tobytes() == given.decision_function(gram).tobytes()


class LaterError(Exception):
    """Raised by a kernel in the midst of a fit."""


def late(answer, after=3):
    """A kernel whose ``after``-th call gives something else."""
    calls = []

    def kernel(A, B):
        calls.append(1)
        return A @ B.T if len(calls) <= after else answer(A, B)

    return kernel


def fail(A, B):
    raise LaterError("no more")


def interrupt(A, B):
    raise KeyboardInterrupt


BAD = [
    (
        lambda A, B: np.ones((len(A), len(B) + 1)),
        ValueError,
        r"kernel must return an array of shape \(300, 1\)",
    ),
    (lambda A, B: np.ones(len(A)), ValueError, r"got shape \(300,\)"),
    (lambda A, B: (A @ B.T).T, ValueError, r"got shape \(1, 300\)"),
    (lambda A, B: 1.0, ValueError, r"got shape \(\)"),
    (lambda A, B: None, ValueError, r"got shape \(\)"),
    (lambda A, B: A @ B.T * np.nan, ValueError, "kernel must return finite numbers, got nan"),
    (lambda A, B: np.full((len(A), 1), np.inf), ValueError, "kernel must return finite numbers, got inf"),
    (lambda A, B: A @ B.T + 1j, TypeError, "kernel must return real numbers, got the dtype complex128"),
    (lambda A, B: np.full((len(A), 1), "1"), TypeError, "kernel must return real numbers, got the dtype <U1"),
    (
        lambda A, B: np.full((len(A), 1), None),
        TypeError,
        "kernel must return real numbers, got the dtype object",
    ),
    (lambda A, B: np.full((len(A), 1), 1.5e308), ValueError, "training overflowed in epoch 0"),
    (fail, LaterError, "no more"),
    (interrupt, KeyboardInterrupt, None),
    (lambda A: A, TypeError, "positional argument"),
]


@pytest.mark.parametrize("after", [0, 40])
@pytest.mark.parametrize(("answer", "error", "words"), BAD)
def test_bad_answers_leave_the_estimator_as_it_was(engine_name, answer, error, words, after):
    model = fitted(Square(), max_iter=1).set_params(engine=engine_name)
    before = dict(vars(model))
    model.kernel = before["kernel"] = late(answer, after)
    with pytest.raises(error, match=words):
        model.fit(X, Y)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (lambda A, B: np.ones((len(A), len(B) + 1)), ValueError, "kernel must return an array of shape"),
        (lambda A, B: A @ B.T * np.nan, ValueError, "kernel must return finite numbers, got nan"),
        (lambda A, B: A @ B.T + 1j, TypeError, "kernel must return real numbers, got the dtype complex128"),
        (fail, LaterError, "no more"),
    ],
)
def test_bad_answers_to_a_prediction(engine_name, answer, error, words):
    kernel, calls = Square(), []

    def later(A, B):
        return answer(A, B) if calls else kernel(A, B)

    model = fitted(later, max_iter=1).set_params(engine=engine_name)
    calls.append("from now on")
    with pytest.raises(error, match=words):
        model.predict(X)


def test_ctrl_c_in_the_midst_of_a_kernel_ends_a_fit_that_is_kept():
    kernel, calls = Square(), []

    def interrupted(A, B):
        calls.append(1)
        if len(calls) == 50:
            raise KeyboardInterrupt
        return kernel(A, B)

    model = KernelPerceptron(interrupted, max_iter=3, keep_on_interrupt=True, shuffle=False)
    with pytest.warns(Warning, match="ctrl-c ended the fit in epoch"):
        model.fit(X, Y)
    seen = int(model.n_seen_[0])
    assert 0 < seen < 300
    assert len(model.support_) >= 50
    whole = KernelPerceptron(Square(), max_iter=1, shuffle=False).fit(X[:seen], Y[:seen])
    assert log_of(model) == log_of(whole)


@pytest.mark.parametrize("values", ["lists", "sparse", "float32", "integers", "booleans"])
def test_any_real_answer_will_do(values):
    def kernel(A, B):
        found = (A @ B.T > 0) * 2 - 1
        made = {"lists": found.tolist, "sparse": lambda: sp.csr_matrix(found)}
        types = {"float32": np.float32, "integers": np.int16, "booleans": np.bool_}
        return (
            made[values]()
            if values in made
            else (found > 0 if values == "booleans" else found).astype(types[values])
        )

    def plain(A, B):
        found = ((A @ B.T > 0) * 2 - 1).astype(np.float64)
        return found > 0 if values == "booleans" else found

    assert log_of(fitted(kernel)) == log_of(fitted(plain))
