"""The kernel perceptron beside NumPy with BLAS, scikit-learn's SVC, and the speed of the processor.

    PERCEPTRON_RS_DATA=folder python benches/kernel.py [digits] [rbf] [gram] [budget] [--epochs 10] [--write]

digits  the ten digits of MNIST, raw pixels, (1 + x.z)^2: training and the answers vote, average and last on
        10,000 more images, on all threads; NumPy learns the same in blocks of 500 rows, on one. Both make the
        same mistakes, which is checked.
rbf     10,000 digits, exp(-gamma ||x - z||^2), against ``SVC(kernel="rbf")``: seconds of fit and test errors.
gram    products of 1,500 rows with each other, one thread: float64, and uint8, which takes exact integers.
budget  one epoch over 4,000 dense rows, of which 500 are kept; as sparse rows they give the same scores.
"""

from __future__ import annotations

import os
import sys
import time
from functools import partial

import bars
import data
import numpy as np
from scipy.sparse import csr_matrix
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from perceptron_rs import BudgetedKernelPerceptron, KernelPerceptron
from perceptron_rs.arrays.named import rows_in
from perceptron_rs.engines import get_engine, rows_of
from perceptron_rs.kernel.vectors import vote_state
from perceptron_rs.settings import KernelSpec

THREADS = os.cpu_count() or 1
BLOCK = 500


def seconds(work):
    """Return the time of a call and what it returned."""
    begin = time.perf_counter()
    found = work()
    return time.perf_counter() - begin, found


def report(figures, case, peer, ours):
    print(f"{case:68} {peer:9.2f} {ours:9.2f}", figures.hold(case, peer / ours), flush=True)


def answers(model, X):
    """Return the classes of the three kinds of prediction: one pass over the kernel values."""
    engine, vectors = get_engine("rust"), model._vectors
    state = vote_state(vectors, model.n_seen_, 0)
    scores = engine.kernel_scores(
        engine.dense_rows(X),
        rows_of(engine, rows_in(vectors), X.shape[1]),
        state,
        kernel=model._spec,
        answers=["vote", "average", "last"],
        tie="mistake",
        threads=THREADS,
    )
    return scores.argmax(axis=2)


def by_blas(X, y, epochs):
    """Learn one digit against the rest, for all ten, and return the mistakes of each epoch."""
    n, classes = len(X), 10
    X = X.astype(np.float64)
    signs = np.where(y[:, np.newaxis] == np.arange(classes), 1.0, -1.0)
    place, rows, steps, count = np.full(n, -1), np.empty_like(X), np.zeros((n, classes)), 0
    mistakes, running = [], np.ones(classes, dtype=bool)
    for _ in range(epochs):
        made = np.zeros(classes, dtype=np.int64)
        for start in range(0, n, BLOCK):
            block, truth = X[start : start + BLOCK], signs[start : start + BLOCK]
            sums = (1 + block @ rows[:count].T) ** 2 @ steps[:count]
            own = (1 + block @ block.T) ** 2
            for i in range(len(block)):
                wrong = np.flatnonzero((truth[i] * sums[i] <= 0) & running)
                if len(wrong) == 0:
                    continue
                if place[start + i] < 0:
                    place[start + i], rows[count], count = count, block[i], count + 1
                steps[place[start + i], wrong] += truth[i, wrong]
                sums[:, wrong] += np.outer(own[i], truth[i, wrong])
                made[wrong] += 1
        running &= made > 0
        mistakes.append(made)
    return np.array(mistakes)


def digits(figures, epochs):
    X, y = data.mnist()
    X_train, y_train, X_test = X[:50_000], y[:50_000], X[50_000:]
    model = KernelPerceptron(
        "poly",
        degree=2,
        gamma=1.0,
        coef0=1.0,
        max_iter=epochs,
        tol=None,
        shuffle=False,
        cache_size=4000,
        n_jobs=THREADS,
    )

    def ours():
        model.fit(X_train, y_train)
        return answers(model, X_test)

    took, found = seconds(ours)
    with threadpool_limits(1):
        peer, mistakes = seconds(lambda: by_blas(X_train, y_train, epochs))
    assert np.array_equal(mistakes, model.mistakes_per_epoch_), "NumPy makes other mistakes"
    errors = [100 * (row != y[50_000:]).mean() for row in found.T]
    print("digits: errors of vote, average, last: {:.2f}, {:.2f}, {:.2f} %".format(*errors))
    report(figures, f"digits, (1 + x.z)^2, {epochs} epochs (NumPy: training alone)", peer, took)


def rbf(figures, _epochs):
    X, y = data.mnist_floats()
    X_train, y_train, X_test, y_test = X[:10_000], y[:10_000], X[10_000:20_000], y[10_000:20_000]
    model = KernelPerceptron("rbf", max_iter=3, tol=None, prediction="vote", n_jobs=1, random_state=0)
    took, _ = seconds(lambda: model.fit(X_train, y_train))
    machine = SVC(kernel="rbf")
    peer, _ = seconds(lambda: machine.fit(X_train, y_train))
    print(f"rbf: accuracy {model.score(X_test, y_test):.4f}, SVC {machine.score(X_test, y_test):.4f}")
    report(figures, "rbf, 10,000 digits, 3 epochs, fit on one thread", peer, took)


def gram(figures, _epochs):
    engine, rows = get_engine("rust"), 1500
    X = np.ascontiguousarray(data.mnist()[0][:rows])
    times = {}
    for name, values in (("float64", X + 0.5), ("uint8", X)):
        given = engine.dense_rows(values)
        options = {"kernel": KernelSpec("linear"), "threads": 1}
        times[name] = min(
            seconds(partial(engine.kernel_matrix, given, given, **options))[0] for _ in range(7)
        )
    values = X + 0.5
    with threadpool_limits(1):
        times["BLAS"] = min(seconds(lambda: values @ values.T)[0] for _ in range(7))
    for name, time_ in times.items():
        print(f"gram, {name:8} {2e-9 * rows * rows * X.shape[1] / time_:8.1f} GFLOP/s")
    report(figures, "gram, uint8 to float64", times["float64"], times["uint8"])


def budget(figures, _epochs):
    X, members = data.mnist_floats()[0][:4000], 500
    y = np.random.default_rng(0).integers(0, 2, len(X))  # half of all are mistakes, so members come and go
    options = {"gamma": 1e-3, "budget": members, "max_iter": 1, "tol": None, "shuffle": False}
    models = [BudgetedKernelPerceptron("rbf", **options) for _ in range(2)]
    took = [
        min(seconds(partial(model.fit, values, y))[0] for _ in range(5))
        for model, values in zip(models, (X, csr_matrix(X)), strict=True)
    ]
    scores = [model.decision_function(X).tobytes() for model in models]
    assert scores[0] == scores[1], "lists of entries give other scores"
    with threadpool_limits(1):
        peer = min(seconds(lambda: X @ X[:members].T)[0] for _ in range(5))
    report(figures, "budget of 500, 4,000 dense rows, to BLAS's products alone", peer, took[0])


CASES = {"digits": digits, "rbf": rbf, "gram": gram, "budget": budget}

if __name__ == "__main__":
    parser = bars.parser(__doc__)
    parser.add_argument("cases", nargs="*", help="digits, rbf, gram, budget; all if none is named")
    parser.add_argument("--epochs", type=int, default=10)
    options = parser.parse_args()
    if unknown := [case for case in options.cases if case not in CASES]:
        parser.error(f"cases are {', '.join(CASES)}, got {unknown[0]!r}")
    if data.folder() is None:
        print("skipped: set PERCEPTRON_RS_DATA to the folder with the real data")
        sys.exit()
    print(f"{'case':68} {'peer s':>9} {'ours s':>9}  ratio")
    found = bars.Figures("kernel", write=options.write)
    for case in options.cases or CASES:
        CASES[case](found, options.epochs)
    sys.exit(found.end())
