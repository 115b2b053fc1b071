"""Compare whole calls with scikit-learn's Perceptron: how much faster is a fit through the public API.

Same data, same epochs, one process; the runs alternate, medians are compared. Before a time is
printed the answers are checked: the weights of the reference engine on the first rows; scikit-learn's
weights, to the last bit where integers make them exact, else as close as its rounding is; where it shuffles
in another order, as many right labels. Real data is read from the folder named by PERCEPTRON_RS_DATA.

    python benches/compare.py [--runs 5] [--write] [NAME ...]
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import bars
import data
import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Perceptron as Peer
from threadpoolctl import threadpool_limits

from perceptron_rs import AveragedPerceptron, Perceptron

#: Rows that the reference learns from, and rows whose labels are compared.
FEW, ROWS = 300, 10_000


@dataclass
class Case:
    """One line of the table."""

    name: str
    load: Callable[[], Any]
    epochs: int = 10
    parameters: dict[str, Any] = field(default_factory=dict)
    exact: bool = False  # integer data: weights must be equal
    close: bool = False  # float64 in the given order: weights differ by scikit-learn's rounding alone
    method: str = "fit"
    real: bool = False
    repeat: int = 1


def one_digit():
    X, y = data.mnist()
    return X, y == 3


def one_group():
    X, y = data.news20()
    return X, y == 3


def iris():
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    return np.ascontiguousarray(X[:100]), y[:100]


CASES = [
    Case("dense float64 1e6 x 100", lambda: data.dense(1_000_000, 100, "float64"), close=True),
    Case("dense float32 1e6 x 100", lambda: data.dense(1_000_000, 100, "float32")),
    Case("dense float64 20000 x 100", lambda: data.dense(20_000, 100, "float64"), epochs=50, close=True),
    Case(
        "dense float64 1e6 x 100 shuffled",
        lambda: data.dense(1_000_000, 100, "float64"),
        parameters={"shuffle": True},
    ),
    Case("uint8 MNIST one digit", one_digit, exact=True, real=True),
    Case("uint8 MNIST 10 classes", data.mnist, epochs=5, exact=True, real=True),
    Case(
        "uint8 MNIST 10 classes, 2 threads",
        data.mnist,
        epochs=5,
        parameters={"n_jobs": 2},
        exact=True,
        real=True,
    ),
    Case("float64 MNIST/255 10 classes", data.mnist_floats, epochs=5, close=True, real=True),
    Case(
        "MNIST/255 10 classes shuffled",
        data.mnist_floats,
        epochs=5,
        parameters={"shuffle": True},
        real=True,
    ),
    Case("CSR census int8", data.census, exact=True, real=True),
    Case("CSR spam, counts in float64, shuffled", data.spam, parameters={"shuffle": True}, real=True),
    Case("CSR Zipf float64 100000 x 50000", lambda: data.zipf(100_000, 50_000, 64), close=True),
    Case("CSR news20 20 classes", data.news20, exact=True, real=True),
    Case("CSR counts int16, one class", one_group, exact=True, real=True),
    Case("iris, 100 x 4", iris, epochs=1000, parameters={"tol": 1e-3, "shuffle": True}, repeat=20),
    Case(
        "decision_function float64 1e6 x 100",
        lambda: data.dense(1_000_000, 100, "float64"),
        epochs=1,
        method="decision_function",
    ),
    Case("decision_function uint8 MNIST", data.mnist, epochs=1, method="decision_function", real=True),
]


def timed(call: Callable[[], Any], repeat: int) -> float:
    start = time.perf_counter()
    for _ in range(repeat):
        call()
    return (time.perf_counter() - start) / repeat


def check(case: Case, ours: Any, peer: Any, X: Any, y: Any) -> str:
    """Say what was compared; raise if the answers differ."""
    if case.method == "decision_function":
        peer.coef_, peer.intercept_ = ours.coef_, ours.intercept_
        left, right = (model.decision_function(X[:1000]) for model in (ours, peer))
        np.testing.assert_allclose(left, right, rtol=1e-6)
        return "equal scores"
    if case.parameters.get("tol") is None:
        assert ours.n_iter_ == peer.n_iter_ == case.epochs, (ours.n_iter_, peer.n_iter_)
    few = [clone(ours).set_params(engine=engine).fit(X[:FEW], y[:FEW]) for engine in ("rust", "reference")]
    assert few[0].coef_.tobytes() == few[1].coef_.tobytes(), "the reference learns other weights"
    if sparse.issparse(X):  # scikit-learn takes a hundredth of each step for the intercept of sparse rows
        ours, peer = (clone(model).set_params(fit_intercept=False).fit(X, y) for model in (ours, peer))
    if case.exact:
        # scikit-learn gives each class its own order only when it shuffles.
        assert np.array_equal(ours.coef_, peer.coef_), "weights differ on integer data"
        return "equal weights"
    if case.close:
        np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-6, atol=1e-9)
        return "weights as close as rounding"
    right = [np.mean(model.predict(X[:ROWS]) == y[:ROWS]) for model in (ours, peer)]
    assert abs(right[0] - right[1]) < 0.05, right
    return f"{right[0]:.3f} right ({right[1]:.3f})"


def run(case: Case, runs: int) -> dict[str, Any]:
    X, y = case.load()
    parameters = {"max_iter": case.epochs, "tol": None, "shuffle": False, **case.parameters}
    models = {
        "peer": Peer(**parameters),
        "plain": Perceptron(**parameters),
        "averaged": AveragedPerceptron(**parameters),
    }
    for model in models.values():
        model.fit(X, y)
    checked = check(case, models["plain"], models["peer"], X, y)
    calls = {
        name: (lambda model=model: model.fit(X, y))
        if case.method == "fit"
        else (lambda model=model: model.decision_function(X))
        for name, model in models.items()
    }
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(runs):
        for name, call in calls.items():
            call()  # what the one before has left in the caches does not count
            times[name].append(timed(call, case.repeat))
    peer, plain, averaged = (statistics.median(times[name]) for name in ("peer", "plain", "averaged"))
    return {
        "case": case.name,
        "scikit-learn": peer,
        "plain": plain,
        "ratio": peer / plain,
        "averaged/plain": averaged / plain,
        "checked": checked,
    }


def main() -> int:
    parser = bars.parser(__doc__)
    parser.add_argument("names", nargs="*", help="only cases whose name contains one of these")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    cases = [case for case in CASES if not options.names or any(name in case.name for name in options.names)]
    print(f"medians of {options.runs} alternating runs")
    print(f"{'case':36} {'sklearn s':>10} {'plain s':>9} {'averaged':>9}  ratio")
    figures = bars.Figures("compare", write=options.write, runs=options.runs)
    with threadpool_limits(1):
        for case in cases:
            if case.real and data.folder() is None:
                print(f"{case.name:36} skipped: set PERCEPTRON_RS_DATA to the folder with the real data")
                continue
            r = run(case, options.runs)
            seconds = f"{r['scikit-learn']:10.4f} {r['plain']:9.4f} {r['averaged/plain']:8.2f}x"
            print(f"{case.name:36} {seconds}  {figures.hold(**r)}; {r['checked']}", flush=True)
    return figures.end()


if __name__ == "__main__":
    sys.exit(main())
