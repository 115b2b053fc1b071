"""A signal is answered within 0.2 s in the midst of one call of the engine, however much it has to do.

Time is that of the processor, the least of a few tries: on a busy machine others take the caches, and the
processor itself, in the midst of one. How much is done between two questions is what tests/interrupts counts.
"""

import gc
import itertools
import signal
import sys
import time

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs import (
    AveragedPerceptron,
    BudgetedKernelPerceptron,
    KernelPerceptron,
    Perceptron,
    VotedPerceptron,
    _core,
    margin,
)
from perceptron_rs.settings import KernelSpec

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals and timers")

AFTER = 0.1
SECONDS = 0.2
TRIES = 5


class StopItError(Exception):
    pass


def normal(n, d, dtype=np.float32):
    """Return numbers that come again after a prime number of them: to draw them all takes long."""
    numbers = np.random.default_rng(0).standard_normal(1_000_003, dtype=np.float32)
    return np.resize(numbers, (n, d)).astype(dtype, copy=False)


def sparse(n, d, entries):
    """So many entries a row, one in each of as many strips: SciPy's own takes seconds to draw so many."""
    random = np.random.default_rng(0)
    columns = np.arange(entries) * (d // entries) + random.integers(0, d // entries, (n, entries))
    values = random.random(n * entries)
    return sp.csr_matrix((values, columns.reshape(-1), np.arange(n + 1) * entries), shape=(n, d))


def classes(n, count=2):
    return np.random.default_rng(1).integers(0, count, n)


def scores_of_dense_rows():
    X = normal(20_000, 1000)
    model = Perceptron(max_iter=1, tol=None).fit(X[:400], np.arange(400) % 200)
    return lambda: model.predict(X)


def scores_of_sparse_rows():
    X = sparse(10_000, 5000, 200)
    model = AveragedPerceptron(max_iter=1, tol=None).fit(X[:2000], np.arange(2000) % 1000)
    return lambda: model.decision_function(X)


def votes():
    X, y = normal(6000, 50), classes(6000)
    model = VotedPerceptron(max_iter=5, tol=None).fit(X, y)
    return lambda: model.predict(X)


def votes_of_wide_rows():
    X = normal(400, 100_000)
    model = VotedPerceptron(max_iter=3, tol=None).fit(X, classes(400))
    return lambda: model.predict(X)


def votes_of_whole_numbers():
    X = np.random.default_rng(0).integers(-9, 9, (8000, 200)).astype(np.int8)
    model = VotedPerceptron(max_iter=8, tol=None).fit(X, classes(8000))
    return lambda: model.predict(X)


def kernel_matrix():
    rows = _core.dense_rows(normal(2500, 4000))
    kernel = KernelSpec("rbf", gamma=0.01, coef0=0.0, degree=1)
    return lambda: _core.kernel_matrix(rows, rows, kernel=kernel, threads=1)


def gram_of_sparse_rows():
    X = sparse(5000, 5000, 100)
    rows = _core.csr_rows(X.indptr, X.indices, X.data, X.shape[1])
    kernel = KernelSpec("linear", gamma=1.0, coef0=0.0, degree=1)
    return lambda: _core.kernel_matrix(rows, rows, kernel=kernel, threads=1)


def kernel_predict():
    X = normal(4000, 2000)
    model = KernelPerceptron(kernel="rbf", gamma=0.01, max_iter=1, tol=None)
    model.fit(X[:1000], classes(1000))
    return lambda: model.decision_function(X)


def flush_of_a_window():
    X, y = normal(12_000, 4000), classes(12_000)
    model = KernelPerceptron(kernel="rbf", gamma=0.01, max_iter=1, tol=None)
    return lambda: model.fit(X, y)


def look_at_all_rows():
    X, y = normal(1_000_000, 20, np.int8), classes(1_000_000)
    model = KernelPerceptron(kernel="poly", gamma=0.01, max_iter=1, tol=None)
    return lambda: model.fit(X, y)


def projections():
    X, y = normal(4000, 50), classes(4000)
    options = {"budget": 4000, "budget_policy": "projectron"}
    model = BudgetedKernelPerceptron(max_iter=1, tol=None, **options)
    return lambda: model.fit(X, y)


def one_long_sequence():
    n, labels = 200_000, 120
    rows = _core.dense_rows(np.ones((n, 1)))
    weights = {
        "emission_indptr": np.array([0, labels], dtype=np.int64),
        "emission_indices": np.arange(labels, dtype=np.int32),
        "emission_data": np.linspace(0, 1, labels),
        "transition": normal(labels, labels, np.float64),
        "start": np.zeros(labels),
        "end": np.zeros(labels),
    }
    return lambda: _core.sequence_decode(rows, np.array([n]), weights=weights, threads=1)


def layers():
    rows, sizes = _core.dense_rows(normal(20_000, 1000)), (1000, 1000, 1)
    coefs = [normal(after, before, np.float64) for before, after in itertools.pairwise(sizes)]
    network = {f"coef_{layer}": coef for layer, coef in enumerate(coefs)}
    network |= {f"intercept_{layer}": np.zeros(len(coef)) for layer, coef in enumerate(coefs)}
    return lambda: _core.mlp_scores(rows, network, activation="tanh", probabilities=False, threads=1)


def margin_of_a_plane():
    X = normal(10_000, 1000)
    X[:, 0] = 0  # all rows lie on the plane, which takes exact sums to tell
    return lambda: margin(X, classes(len(X)), np.eye(1, X.shape[1])[0])


LONG = [
    scores_of_dense_rows,
    scores_of_sparse_rows,
    votes,
    votes_of_wide_rows,
    votes_of_whole_numbers,
    kernel_matrix,
    gram_of_sparse_rows,
    kernel_predict,
    flush_of_a_window,
    look_at_all_rows,
    projections,
    one_long_sequence,
    layers,
    margin_of_a_plane,
]


def seconds_until_answered(call):
    """Return how long a signal waits in a call, without Python's own look at what other tests have left."""

    def handler(number, frame):
        raise StopItError("from the handler")

    previous = signal.signal(signal.SIGPROF, handler)
    gc.disable()
    try:
        start = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, AFTER)
        with pytest.raises(StopItError, match="from the handler"):
            call()
        return time.process_time() - start - AFTER
    finally:
        gc.enable()
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


@pytest.mark.parametrize("prepare", LONG, ids=[prepare.__name__ for prepare in LONG])
def test_a_handler_is_called_in_time(prepare):
    call = prepare()
    assert any(seconds_until_answered(call) < SECONDS for _ in range(TRIES))
