"""Do scores cost what they read? One sparse row among many columns beside few, and two dense rows beside one.

    python benches/scores.py [--write] [learner ...]

Every learner is fitted to 40 sparse rows of 20 entries among 10^4 columns, and among 10^6; then one
such row is scored: the processor time among 10^6 beside that among 10^4. The same learner, fitted to 10^5
dense columns, scores two rows: the time beside that of one. Predictions of many planes are beside those of
scikit-learn, on one thread. All runs are in one process, in turns; the least of them counts.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import bars
import numpy as np
from scipy import sparse
from sklearn.linear_model import Perceptron as Peer
from threadpoolctl import threadpool_limits

from perceptron_rs import (
    AveragedPerceptron,
    KernelPerceptron,
    MultilayerPerceptron,
    Perceptron,
    PocketPerceptron,
    SequencePerceptron,
    VotedPerceptron,
)

N, ENTRIES, CLASSES = 40, 20, 5
FEW, MANY, DENSE = 10_000, 1_000_000, 100_000
#: Fits of it, with how many columns there are at most: those of layers are all drawn.
LEARNERS: dict[str, tuple[Callable[[], Any], int]] = {
    "Perceptron": (lambda: Perceptron(max_iter=2, tol=None), MANY),
    "AveragedPerceptron": (lambda: AveragedPerceptron(max_iter=2, tol=None), MANY),
    "PocketPerceptron": (lambda: PocketPerceptron(max_iter=2, tol=None), MANY),
    "VotedPerceptron": (lambda: VotedPerceptron(max_iter=2, tol=None), MANY),
    "KernelPerceptron": (lambda: KernelPerceptron("poly", max_iter=2, tol=None), MANY),
    "MultilayerPerceptron": (lambda: MultilayerPerceptron((8,), max_iter=1, tol=None), DENSE),
    "SequencePerceptron": (lambda: SequencePerceptron(max_iter=2, transition_features=True), MANY),
}


def sparse_rows(d: int, seed: int = 0, n: int = N) -> Any:
    random, width = np.random.default_rng(seed), d // ENTRIES
    indices = random.integers(0, width, (n, ENTRIES)) + np.arange(ENTRIES) * width
    ends = np.arange(n + 1, dtype=np.int32) * ENTRIES
    return sparse.csr_matrix(
        (random.standard_normal(n * ENTRIES), indices.ravel().astype(np.int32), ends), (n, d)
    )


def scoring(model: Any, X: Any) -> Callable[[], Any]:
    if isinstance(model, SequencePerceptron):
        return lambda: model.predict(X, lengths=[X.shape[0]])
    return lambda: model.decision_function(X)


def fitted(make: Callable[[], Any], X: Any) -> Any:
    y, model = np.arange(N) % CLASSES, make()
    return model.fit(X, y, lengths=[N]) if isinstance(model, SequencePerceptron) else model.fit(X, y)


def in_turns(works: list[Callable[[], Any]], seconds: float = 1.0) -> list[float]:
    """Return the least processor time of each work."""
    best, end, rounds = [float("inf")] * len(works), time.process_time() + seconds, 0
    while rounds < 5 or time.process_time() < end:
        for i, work in enumerate(works):
            start = time.process_time()
            work()
            best[i] = min(best[i], time.process_time() - start)
        rounds += 1
    return best


def report(figures: bars.Figures, case: str, times: list[float], *, at_most: bool = True) -> None:
    shown = ", ".join(f"{t * 1e6:.0f}" for t in times)
    print(f"{case:60} {shown:>16} us", figures.hold(case, times[1] / times[0], at_most=at_most), flush=True)


def beside_peer(figures: bars.Figures, case: str, X: Any, planes: int) -> None:
    y, options = np.arange(2 * planes) % planes, {"max_iter": 1, "tol": None}
    models = [make(**options).fit(X[: len(y)], y) for make in (Perceptron, Peer)]
    with threadpool_limits(1):
        times = in_turns([lambda model=model: model.predict(X) for model in models])
    report(figures, f"predictions of {planes} planes, {case}", times, at_most=False)


def main() -> int:
    warnings.simplefilter("ignore")
    parser = bars.parser(__doc__)
    parser.add_argument("names", nargs="*", metavar="learner", help=", ".join(LEARNERS))
    options = parser.parse_args()
    figures = bars.Figures("scores", write=options.write)
    for name in options.names or LEARNERS:
        make, most = LEARNERS[name]
        works = []
        for d in (most // 100, most):
            model = fitted(make, sparse_rows(d))
            X = sparse_rows(d, seed=1, n=1)
            work = scoring(model, X)
            assert np.array_equal(work(), scoring(model, X.toarray())())  # storage changes nothing
            works.append(work)
        report(figures, f"{name}, one sparse row, {most // 100} and {most} columns", in_turns(works))
        X = np.random.default_rng(0).standard_normal((N, DENSE)).astype(np.float32)
        model = fitted(make, X)
        works = [scoring(model, X[:1]), scoring(model, X[:2])]
        assert np.array_equal(works[0](), works[1]()[:1]) or name == "SequencePerceptron"
        report(figures, f"{name}, one dense row and two", in_turns(works))
    if not options.names:
        random = np.random.default_rng(0)
        beside_peer(figures, "5000 x 400 float32", random.standard_normal((5000, 400), np.float32), 30)
        beside_peer(figures, "20000 x 19 float32", random.standard_normal((20_000, 19), np.float32), 100)
        beside_peer(figures, "sparse float64", sparse_rows(10_000, n=3000), 280)
    return figures.end()


if __name__ == "__main__":
    sys.exit(main())
