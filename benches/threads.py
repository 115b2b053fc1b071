"""Two threads beside one: fits of several classes, scores of many rows.

    PERCEPTRON_RS_DATA=folder python benches/threads.py [--runs 5] [--write]

Both give the same bits, which is checked. ``read`` is what NumPy's sum of the same rows gains: scores of one
class cannot gain more, for they wait for the memory.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import bars
import data
import numpy as np
from alternate import alternate
from sparse import rows
from threadpoolctl import threadpool_limits

from perceptron_rs import KernelPerceptron, MultilayerPerceptron, Perceptron


def text():
    """Return sparse rows of 20 classes that halves of the columns decide."""
    X, _ = rows(50_000, 100_000, 80)
    y = np.random.default_rng(1).integers(0, 20, X.shape[0])
    return X, np.where(np.asarray(X[:, :50_000].sum(axis=1)).ravel() > 0, y // 2, 10 + y // 2)


def fit(learner, load, **options):
    def case():
        X, y = load()
        models = [learner(tol=None, shuffle=False, n_jobs=n, **options) for n in (1, 2)]
        return [lambda m=m: m.fit(X, y) for m in models], lambda: [
            m.decision_function(X[:100]) for m in models
        ]

    return case


def scores(learner, load, **options):
    def case():
        X, y = load()
        models = [learner(tol=None, n_jobs=n, **options).fit(X[:500], y[:500]) for n in (1, 2)]
        answer = "predict_proba" if learner is MultilayerPerceptron else "decision_function"
        calls = [lambda m=m: getattr(m, answer)(X) for m in models]
        return calls, lambda: [call() for call in calls]

    return case


def read():
    X, _ = data.dense(1_000_000, 100, "float64")
    halves, pool = (X[:500_000], X[500_000:]), ThreadPoolExecutor(2)
    return [X.sum, lambda: list(pool.map(np.sum, halves))], lambda: [X[:9], X[:9]]


def narrow():
    return data.dense(20_000, 100, "float64")


CASES = {
    "fit, 20 classes of sparse text": fit(Perceptron, text, max_iter=3),
    "fit, one class of dense rows": fit(Perceptron, narrow, max_iter=5),
    "read, 1e6 x 100": read,
    "scores, 1e6 x 100": scores(Perceptron, lambda: data.dense(1_000_000, 100, "float64"), max_iter=1),
    "fit of a kernel, 5,000 x 100": fit(
        KernelPerceptron, lambda: tuple(part[:5000] for part in narrow()), kernel="rbf", max_iter=1
    ),
    "layers, 20,000 x 100": scores(MultilayerPerceptron, narrow, max_iter=1),
}
REAL = {
    "fit, MNIST in uint8, 10 classes": fit(Perceptron, data.mnist, max_iter=3),
    "fit, MNIST in float64, 10 classes": fit(Perceptron, data.mnist_floats, max_iter=2),
    "scores, MNIST in uint8, 10 classes": scores(Perceptron, data.mnist, max_iter=1),
    "fit, news20, 20 classes": fit(Perceptron, data.news20, max_iter=3),
}


def main() -> int:
    parser = bars.parser(__doc__)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    figures = bars.Figures("threads", write=options.write)
    print(f"{'case':40} {'one, ms':>9} {'two, ms':>9}  ratio")
    for name, case in (CASES if data.folder() is None else CASES | REAL).items():
        calls, answers = case()
        one, two = alternate(options.runs, *calls)
        left, right = answers()
        assert np.asarray(left).tobytes() == np.asarray(right).tobytes(), name
        ratio = figures.hold(name, one / two)
        print(f"{name:40} {one * 1e3:9.1f} {two * 1e3:9.1f} {ratio}", flush=True)
    return figures.end()


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(main())
