"""The kernel perceptron against plain Python integers, and one engine against the other."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs.engines import get_engine
from perceptron_rs.settings import KernelSpec

from .support import ANSWERS, SQUARE, assert_same, kernel_run, rows_of, scores, vectors

KERNELS = (
    KernelSpec("linear"),
    SQUARE,
    KernelSpec("poly", gamma=0.3, coef0=-0.25, degree=5),
    KernelSpec("rbf", gamma=0.2),
    KernelSpec("sigmoid", gamma=0.05, coef0=0.1),
)


def in_integers(X, y, epochs, degree, planes):
    """Mistakes, and squared norms after each: in Python's integers, from the definition alone."""
    X = [[int(v) for v in row] for row in X]

    def kernel(x, z):
        return (1 + sum(a * b for a, b in zip(x, z, strict=True))) ** degree

    logs = []
    for k in range(planes):
        positive, log, norms, t = (1 if planes == 1 else k), [], [], 0
        for _ in range(epochs):
            clean = True
            for i, x in enumerate(X):
                t += 1
                sign = 1 if y[i] == positive else -1
                if sign * sum(c * kernel(X[j], x) for j, _, c in log) <= 0:
                    log.append((i, t, sign))
                    norms.append(sum(a * b * kernel(X[i], X[j]) for i, _, a in log for j, _, b in log))
                    clean = False
            if clean:
                break
        logs.append((log, norms))
    return logs


@pytest.fixture(scope="module", params=[1, 3])
def whole_numbers(request):
    """Examples, labels, the number of planes, and the logs."""
    random, planes = np.random.default_rng(5), request.param
    X, y = random.integers(0, 6, (30, 4)), random.integers(0, max(2, planes), 30)
    return X, y, planes, in_integers(X, y, 4, 2, planes)


@pytest.mark.parametrize("dtype", [np.uint8, np.float64, np.int16])
def test_the_log_is_that_of_the_definition_in_integers(engine, dtype, whole_numbers):
    X, y, planes, logs = whole_numbers
    report = kernel_run(engine, X.astype(dtype), y, planes, max_iter=4)
    state = report["state"]
    for k, (log, norms) in enumerate(logs):
        entries = slice(state["log_start"][k], state["log_start"][k + 1])
        found = (state[f"log_{name}"][entries].tolist() for name in ("row", "t", "step"))
        assert list(zip(*found, strict=True)) == log
        assert state["log_norm"][entries].tolist() == norms
        assert state["norm"][k] == norms[-1]


def data(kind, planes, n=90, d=11):
    random = np.random.default_rng(n + planes)
    X = random.normal(size=(n, d))
    if kind == "uint8":
        X = random.integers(0, 256, (n, d)).astype(np.uint8)
    elif kind == "float32":
        X = X.astype(np.float32)
    elif kind == "csr":
        X[random.random((n, d)) < 0.85] = 0
        X = sp.csr_matrix(X)
    return X, random.integers(0, max(2, planes), n)


@pytest.mark.parametrize(
    ("kernel", "kind"),
    [
        (kernel, kind)
        for kernel, other in zip(KERNELS, itertools.cycle(["float32", "uint8", "csr"]))
        for kind in ("float64", other)
    ],
)
def test_the_engines_agree(kernel, kind):
    rust, reference = get_engine("rust"), get_engine("reference")
    X, y = data(kind, 3)
    for changes in (
        {},
        {"fit_intercept": True, "margin_threshold": 0.5, "added_feature": 0.5, "max_mistakes_per_example": 2},
        {"tie": "positive", "class_weight": np.array([[1.0, 0.5], [1.0, 2.0], [1.0, 0.0]])},
        {"joint": "proportional", "sample_weight": np.arange(90) % 4 / 2.0},
    ):
        changes = {"kernel": kernel, "seed": 7, "max_iter": 3, **changes}
        slow = kernel_run(reference, X, y, 3, **changes)
        for threads, cache_bytes in ((1, 0), (2, 1000), (3, 1 << 20)):
            fast = kernel_run(rust, X, y, 3, threads=threads, cache_bytes=cache_bytes, **changes)
            assert_same(slow, fast)
        state = vectors(slow, fit_intercept=changes.get("fit_intercept", False), drawn=2)
        together = len(set(state["seen"].tolist())) == 1  # a joint vote is one of planes that saw the same
        answers = [answer for answer in ANSWERS if together or answer != "joint vote"]
        assert_same(
            scores(reference, X[:40], X, state, kernel=kernel, answers=answers),
            scores(rust, X[:40], X, state, kernel=kernel, threads=2, answers=answers),
        )
    for engine in (rust, reference):
        matrix = engine.kernel_matrix(rows_of(engine, X), rows_of(engine, X[:7]), kernel=kernel, threads=2)
        assert matrix.shape == (90, 7)
        assert_same(
            matrix, rust.kernel_matrix(rows_of(rust, X), rows_of(rust, X[:7]), kernel=kernel, threads=1)
        )
        assert engine.scale_gamma(rows_of(engine, X)) == rust.scale_gamma(rows_of(rust, X))


def test_dense_and_sparse_rows_give_the_same_bits():
    rust = get_engine("rust")
    X, y = data("csr", 3)
    for kernel in KERNELS:
        dense = kernel_run(rust, X.toarray(), y, 3, kernel=kernel, max_iter=3)
        assert_same(dense, kernel_run(rust, X, y, 3, kernel=kernel, max_iter=3))


def test_many_mistakes_fill_several_batches_and_windows():
    random = np.random.default_rng(1)
    X = random.integers(0, 256, (700, 20)).astype(np.uint8)
    y = random.integers(0, 2, 700)  # noise: hundreds of mistakes in each epoch
    reports = [
        kernel_run(get_engine(name), X, y, seed=1, max_iter=2, cache_bytes=20_000, threads=2)
        for name in ("rust", "reference")
    ]
    assert reports[0]["mistakes"].sum() > 400
    assert_same(*reports)


def test_precomputed_rows_are_the_gram_matrix(engine):
    X, y = data("float64", 3)
    gram = engine.kernel_matrix(rows_of(engine, X), rows_of(engine, X), kernel=SQUARE, threads=1)
    precomputed = KernelSpec("precomputed")
    direct = kernel_run(engine, X, y, 3, max_iter=3)
    assert_same(direct, kernel_run(engine, gram, y, 3, kernel=precomputed, max_iter=3))
    dummy = np.zeros((90, 1))
    state = vectors(direct)
    assert_same(scores(engine, X[:5], X, state), scores(engine, gram[:5], dummy, state, kernel=precomputed))


def test_gamma_by_the_variance(engine):
    X = np.array([[0.0, 2.0], [4.0, 6.0]])
    assert engine.scale_gamma(rows_of(engine, X)) == 1 / (2 * 5)
    assert engine.scale_gamma(rows_of(engine, X * 0 + 3)) == 1.0


def test_what_is_not_finite_ends_the_run(engine):
    X, y = np.array([[1e200], [2e200]]), [1, 0]
    with pytest.raises(OverflowError, match="training overflowed in epoch 3"):
        kernel_run(engine, X, y, first_epoch=3)


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        ({"name": "poly", "gamma": 0.0}, "gamma must be finite and above 0, got 0"),
        ({"name": "rbf", "gamma": np.inf}, "gamma must be finite and above 0, got inf"),
        ({"name": "poly", "coef0": np.nan}, "coef0 must be finite, got"),
        ({"name": "poly", "degree": 0}, "degree must be from 1 to 100, got 0"),
        ({"name": "poly", "degree": 101}, "degree must be from 1 to 100, got 101"),
        ({"name": "cubic"}, "kernel must be .*cubic"),
        (
            {"name": "precomputed"},
            "rows must have 4 columns, one for each of them, to be a Gram matrix, got 2",
        ),
    ],
)
def test_bad_kernels_are_refused(engine, kernel, words):
    with pytest.raises(ValueError, match=words):
        kernel_run(engine, np.ones((4, 2)), [0, 1, 0, 1], kernel=KernelSpec(**kernel))


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix, lambda X: X.astype(np.float32)])
@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_a_row_that_is_not_finite_spoils_its_own_values_alone(engine, storage, bad):
    """What is laid out for one row leaves nothing behind for the next one."""
    random = np.random.default_rng(5)
    X = random.integers(-3, 4, (40, 6)) * (random.random((40, 6)) < 0.5) * 1.0
    finite = storage(X)
    X[3, 2] = bad
    for kernel in KERNELS:
        options = {"kernel": kernel, "threads": 1}
        rows, good = (rows_of(engine, data) for data in (storage(X), finite))
        with np.errstate(all="ignore"):
            found = engine.kernel_matrix(rows, rows, **options)
        expected = engine.kernel_matrix(good, good, **options)
        others = np.arange(40) != 3
        assert_same(found[others][:, others], expected[others][:, others])
