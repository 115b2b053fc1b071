"""Train on real data with both engines, and compare all that they learn, bit by bit.

``python benches/demo.py`` needs nothing but the package: the data ships with scikit-learn.
Its exit status is 1 if a single bit differs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
import sklearn
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import Perceptron as Peer
from sklearn.model_selection import train_test_split

import perceptron_rs
from perceptron_rs import AveragedPerceptron, Perceptron
from perceptron_rs.arrays.likes import MatrixLike
from perceptron_rs.linear.base import LinearLearner

__all__ = ["main"]

EPOCHS = 10
LearnerClass: TypeAlias = type[Perceptron] | type[AveragedPerceptron]
LEARNERS: list[LearnerClass] = [Perceptron, AveragedPerceptron]
Arrays = dict[str, NDArray[np.generic]]


@dataclass(frozen=True)
class DemoData:
    """Examples, three quarters of them for training, and the types that hold their values."""

    text: str
    X: NDArray[np.float64]
    y: NDArray[np.generic]
    narrow: str  # a smaller type that holds the same values

    def split(self) -> list[Any]:
        """X and y for training and for testing: X, X, y, y."""
        parts: list[Any] = train_test_split(self.X, self.y, random_state=0)
        return parts


def data_sets() -> list[DemoData]:
    """Two small real data sets: one of small integers, one of real numbers."""
    images, digits = load_digits(return_X_y=True)
    cells, benign = load_breast_cancer(return_X_y=True)
    cells = ((cells - cells.mean(axis=0)) / cells.std(axis=0)).astype(np.float32)
    return [
        DemoData("handwritten digits, 8 x 8 pixels, 10 classes", images, digits, "uint8"),
        DemoData(
            "breast cancer, 30 standardised features, 2 classes", cells.astype(np.float64), benign, "float32"
        ),
    ]


def storages(X: NDArray[np.generic], narrow: str) -> dict[str, object]:
    """Return the same values in four storages."""
    return {
        "dense float64": X,
        f"dense {narrow}": X.astype(narrow),
        "CSR float64": sp.csr_matrix(X),
        f"CSR {narrow}": sp.csr_matrix(X.astype(narrow)),
    }


def learnt(model: LinearLearner, X: MatrixLike) -> Arrays:
    """Return everything that came out of a fit, and the scores of new examples."""
    names = ("coef_", "intercept_", "last_coef_", "last_intercept_", "mistakes_per_epoch_", "n_seen_")
    arrays: Arrays = {name: getattr(model, name) for name in names if hasattr(model, name)}
    return arrays | {"decision_function": model.decision_function(X)}


def compare(expected: Arrays, found: Arrays) -> tuple[int, int]:
    """Return how many bits were compared, and how many of them differ."""
    left, right = (b"".join(side[name].tobytes() for name in sorted(side)) for side in (expected, found))
    if len(left) != len(right):
        return 8 * max(len(left), len(right)), 8 * abs(len(left) - len(right))
    bits = np.frombuffer(left, dtype=np.uint8) ^ np.frombuffer(right, dtype=np.uint8)
    return 8 * len(left), int(np.unpackbits(bits).sum())


def timed(call: Callable[[], object], repeat: int = 1) -> tuple[Any, float]:
    """Return the answer of the call, and the least time in milliseconds that it took."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        answer = call()
        times.append(1000 * (time.perf_counter() - start))
    return answer, min(times)


def run(learner: LearnerClass, data: DemoData) -> tuple[int, int]:
    """Train one learner in every way, print the story, return the bits compared and those that differ."""
    X_train, X_test, y_train, y_test = data.split()
    train, test = storages(X_train, data.narrow), storages(X_test, data.narrow)
    parameters: dict[str, Any] = {"max_iter": EPOCHS, "tol": None, "random_state": 0}
    model, slow = timed(lambda: learner(engine="reference", **parameters).fit(X_train, y_train))
    expected = learnt(model, X_test)

    _, fast = timed(lambda: learner(**parameters).fit(X_train, y_train), repeat=5)
    _, peer = timed(lambda: Peer(**parameters).fit(X_train, y_train), repeat=5)
    per_epoch = model.mistakes_per_epoch_.sum(axis=1)
    print(f"  {learner.__name__}")
    print(f"    mistakes per epoch  {' '.join(map(str, per_epoch))}")
    accuracy = [model.score(X_train, y_train), model.score(X_test, y_test)]
    print(f"    accuracy            training {accuracy[0]:.3f}   test {accuracy[1]:.3f}")
    print(
        f"    time of the fit     rust {fast:.1f} ms   reference {slow:.1f} ms   scikit-learn {peer:.1f} ms"
    )
    print(f"    {'reference, dense float64 against':40}{'bits compared':>14}{'different':>11}")
    compared = different = 0
    for engine in ("reference", "rust"):
        for storage, X in train.items():
            if (engine, storage) == ("reference", "dense float64"):
                continue
            other = learner(engine=engine, **parameters).fit(X, y_train)
            bits, wrong = compare(expected, learnt(other, test[storage]))
            compared, different = compared + bits, different + wrong
            print(f"      {engine + ', ' + storage:38}{bits:14,}{wrong:11,}")
    return compared, different


def main() -> int:
    """Run the demo; return 1 if a bit differs."""
    start = time.perf_counter()
    print(
        f"perceptrons {perceptron_rs.__version__} (arithmetic {perceptron_rs.ARITHMETIC_VERSION}), "
        f"scikit-learn {sklearn.__version__}, numpy {np.__version__}, {EPOCHS} epochs in random orders"
    )
    compared = different = 0
    for data in data_sets():
        n_test = len(data.split()[1])
        print(f"\n{data.text}: {len(data.y) - n_test} training and {n_test} test examples")
        for learner in LEARNERS:
            bits, wrong = run(learner, data)
            compared, different = compared + bits, different + wrong
    verdict = "all are equal" if different == 0 else f"{different:,} DIFFER"
    print(f"\n{compared:,} bits compared: {verdict} ({time.perf_counter() - start:.1f} s)")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
