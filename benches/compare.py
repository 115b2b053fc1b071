"""Compare whole calls with scikit-learn's Perceptron: how much faster is a fit through the public API.

Same data, same epochs, one process; the runs alternate, medians are compared. Before a time is
printed the answer is checked: equal numbers of epochs, and equal weights where integers make them
exact. Real data is read from the folder named by PERCEPTRON_RS_DATA.

    python benches/compare.py [--runs 5] [--json FILE] [NAME ...]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import data
import numpy as np
import sklearn
from sklearn.linear_model import Perceptron as Peer
from threadpoolctl import threadpool_limits

from perceptron_rs import AveragedPerceptron, Perceptron, __version__


@dataclass
class Case:
    """One line of the table."""

    name: str
    load: Callable[[], Any]
    bar: float
    epochs: int = 10
    parameters: dict[str, Any] = field(default_factory=dict)
    exact: bool = False  # integer data: weights must be equal
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
    Case("dense float64 1e6 x 100", lambda: data.dense(1_000_000, 100, "float64"), 3.6),
    Case("dense float32 1e6 x 100", lambda: data.dense(1_000_000, 100, "float32"), 5.0),
    Case("dense float64 20000 x 100", lambda: data.dense(20_000, 100, "float64"), 4.8, epochs=50),
    Case(
        "dense float64 1e6 x 100 shuffled",
        lambda: data.dense(1_000_000, 100, "float64"),
        3.0,
        parameters={"shuffle": True},
    ),
    Case("uint8 MNIST one digit", one_digit, 12.0, exact=True, real=True),
    Case("uint8 MNIST 10 classes", data.mnist, 20.0, epochs=5, exact=True, real=True),
    Case(
        "uint8 MNIST 10 classes, 2 threads",
        data.mnist,
        20.0,
        epochs=5,
        parameters={"n_jobs": 2},
        exact=True,
        real=True,
    ),
    Case("float64 MNIST/255 10 classes", data.mnist_floats, 6.0, epochs=5, real=True),
    Case(
        "MNIST/255 10 classes shuffled",
        data.mnist_floats,
        9.0,
        epochs=5,
        parameters={"shuffle": True},
        real=True,
    ),
    Case("CSR census int8", data.census, 2.5, real=True),
    Case("CSR spam, counts in float64, shuffled", data.spam, 1.2, parameters={"shuffle": True}, real=True),
    Case("CSR Zipf float64 100000 x 50000", lambda: data.zipf(100_000, 50_000, 64), 1.1),
    Case("CSR news20 20 classes", data.news20, 3.5, real=True),
    Case("CSR counts int16, one class", one_group, 1.8, real=True),
    Case("iris, 100 x 4", iris, 1.0, epochs=1000, parameters={"tol": 1e-3, "shuffle": True}, repeat=20),
    Case(
        "decision_function float64 1e6 x 100",
        lambda: data.dense(1_000_000, 100, "float64"),
        1.0,
        epochs=1,
        method="decision_function",
    ),
    Case("decision_function uint8 MNIST", data.mnist, 3.0, epochs=1, method="decision_function", real=True),
]


def timed(call: Callable[[], Any], repeat: int) -> float:
    start = time.perf_counter()
    for _ in range(repeat):
        call()
    return (time.perf_counter() - start) / repeat


def check(case: Case, ours: Any, peer: Any, X: Any) -> str:
    """Say what was compared; raise if the answers differ."""
    if case.parameters.get("tol") is None and case.method == "fit":
        assert ours.n_iter_ == peer.n_iter_ == case.epochs, (ours.n_iter_, peer.n_iter_)
    if case.exact:
        # scikit-learn gives each class its own order only when it shuffles.
        assert np.array_equal(ours.coef_, peer.coef_), "weights differ on integer data"
        return "equal weights"
    if case.method == "decision_function":
        peer.coef_, peer.intercept_ = ours.coef_, ours.intercept_
        left, right = (model.decision_function(X[:1000]) for model in (ours, peer))
        np.testing.assert_allclose(left, right, rtol=1e-6)
        return "equal scores"
    return "equal epochs"


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
    checked = check(case, models["plain"], models["peer"], X)
    calls = {
        name: (lambda model=model: model.fit(X, y))
        if case.method == "fit"
        else (lambda model=model: model.decision_function(X))
        for name, model in models.items()
    }
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(runs):
        for name, call in calls.items():
            times[name].append(timed(call, case.repeat))
    peer, plain, averaged = (statistics.median(times[name]) for name in ("peer", "plain", "averaged"))
    return {
        "case": case.name,
        "scikit-learn": peer,
        "plain": plain,
        "ratio": peer / plain,
        "bar": case.bar,
        "averaged/plain": averaged / plain,
        "checked": checked,
    }


def processor() -> str:
    """Return the name of the processor, as far as the system tells."""
    cpus = Path("/proc/cpuinfo")
    lines = cpus.read_text(encoding="utf-8").splitlines() if cpus.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def about(runs: int) -> dict[str, Any]:
    """Return on what the results were measured."""
    return {
        "perceptrons": __version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "processor": processor(),
        "processors": os.cpu_count(),
        "runs": runs,
        "date": time.strftime("%Y-%m-%d"),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="only cases whose name contains one of these")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", help="also write the results to this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    cases = [case for case in CASES if not options.names or any(name in case.name for name in options.names)]
    print(
        f"perceptrons {__version__}, scikit-learn {sklearn.__version__}, numpy {np.__version__}, "
        f"{platform.machine()}; medians of {options.runs} alternating runs"
    )
    print(f"{'case':36} {'sklearn s':>10} {'plain s':>9} {'ratio':>7} {'bar':>5} {'averaged':>9}  checked")
    results, missed = [], 0
    with threadpool_limits(1):
        for case in cases:
            if case.real and data.folder() is None:
                print(f"{case.name:36} skipped: set PERCEPTRON_RS_DATA to the folder with the real data")
                continue
            r = run(case, options.runs)
            results.append(r)
            missed += r["ratio"] < r["bar"]
            seconds = f"{r['case']:36} {r['scikit-learn']:10.4f} {r['plain']:9.4f}"
            ratios = f"{r['ratio']:6.2f}x {r['bar']:5.1f} {r['averaged/plain']:8.2f}x"
            below = "" if r["ratio"] >= r["bar"] else "  BELOW BAR"
            print(f"{seconds} {ratios}  {r['checked']}{below}", flush=True)
    if options.json:
        written = {"about": about(options.runs), "results": results}
        Path(options.json).write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    print(f"{len(results) - missed} of {len(results)} cases reach their bar")
    return 0


if __name__ == "__main__":
    sys.exit(main())
