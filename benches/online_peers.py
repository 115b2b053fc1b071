"""Progressive validation beside river and CapyMOA: mistakes, and microseconds a row, on a stream that drifts.

    python benches/online_peers.py [--write]

20,000 rows of 20 numbers; a plane gives the class of each row, with one label in twenty flipped, and after
10,000 rows another plane. Every learner predicts each row before it learns from it. river and CapyMOA (whose
rows go through a Java machine) are asked in their own loops, with their own perceptrons and with ours in
their wrappers. A peer that is not installed is left out. The same learner has the same mistakes wherever it
runs, which is checked.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator

import bars
import numpy as np

from perceptron_rs import Perceptron

N, D = 20_000, 20
FLIPPED = 0.05


def stream():
    """Return the rows and their classes, 0 and 1."""
    random = np.random.default_rng(0)
    X = random.standard_normal((N, D))
    planes = random.standard_normal((2, D))
    y = np.where(np.arange(N) < N // 2, X @ planes[0] > 0, X @ planes[1] > 0)
    return X, (y ^ (random.random(N) < FLIPPED)).astype(int)


def by_blocks(X, y):
    """Ours, asked for 1,000 rows at once."""
    model, wrong = Perceptron(), 0
    for a in range(0, N, 1000):
        wrong += model.predict_then_learn(X[a : a + 1000], y[a : a + 1000], classes=[0, 1])[1]
    return wrong


def by_rows(X, y):
    """Ours, asked for one row after another."""
    model, wrong = Perceptron(), 0
    for a in range(N):
        wrong += model.predict_then_learn(X[a : a + 1], y[a : a + 1], classes=[0, 1] if a == 0 else None)[1]
    return wrong


def in_river(model, X, y):
    """Return a loop of river, over dicts that are made before."""
    rows = [dict(enumerate(row)) for row in X.tolist()]
    labels = y.tolist()

    def run():
        wrong = 0
        for x, label in zip(rows, labels, strict=True):
            found = model.predict_one(x)
            wrong += (found or 0) != label
            model.learn_one(x, label)
        return wrong

    return run


def in_capymoa(learner, X, y):
    """Return CapyMOA's own loop of progressive validation."""
    from capymoa.evaluation import prequential_evaluation
    from capymoa.stream import NumpyStream

    def run():
        stream = NumpyStream(X, y, target_type="categorical")
        found = prequential_evaluation(stream, learner(stream.get_schema()), window_size=N)
        return round(N * (1 - found.cumulative.accuracy() / 100))

    return run


def works(X, y) -> Iterator[tuple[str, Callable[[], int]]]:
    """Give each way, by the name of the library and of the learner."""
    yield "perceptrons, row by row", lambda: by_rows(X, y)
    yield "perceptrons, blocks of 1,000 rows", lambda: by_blocks(X, y)
    try:
        from river import compat, linear_model
    except ImportError:
        print("river is not installed: it is left out")
    else:
        yield "river, its Perceptron", in_river(linear_model.Perceptron(), X, y)
        ours = compat.convert_sklearn_to_river(Perceptron(), classes=[0, 1])
        yield "river, Perceptron of perceptrons", in_river(ours, X, y)
    try:
        from capymoa.base import MOAClassifier, SKClassifier
        from moa.classifiers.functions import Perceptron as Moa
    except ImportError:
        print("CapyMOA is not installed: it is left out")
    else:
        yield "CapyMOA, MOA's Perceptron", in_capymoa(lambda schema: MOAClassifier(Moa, schema), X, y)
        yield (
            "CapyMOA, Perceptron of perceptrons",
            in_capymoa(lambda schema: SKClassifier(Perceptron(), schema), X, y),
        )


def main() -> int:
    options = bars.parser(__doc__).parse_args()
    figures = bars.Figures("online_peers", write=options.write)
    X, y = stream()
    found = set()
    ours = None
    for case, run in works(X, y):
        start = time.perf_counter()
        wrong = int(run())
        spent = (time.perf_counter() - start) / N * 1e6
        ours = ours or spent
        if "perceptrons" in case:
            found.add(wrong)
        said = figures.hold(
            case, spent / ours, at_most="perceptrons" in case, mistakes=wrong, microseconds=spent
        )
        print(
            f"{case:40}{wrong:8} mistakes {100 * wrong / N:7.2f} %{spent:10.2f} us a row  {said}", flush=True
        )
    assert len(found) == 1, f"one learner made different mistakes: {found}"
    return figures.end()


if __name__ == "__main__":
    sys.exit(main())
