"""How fast and how sure is the largest margin, next to a linear program and a soft-margin machine.

Three parts, each with its bars. ``gaps``: sets of scikit-learn and planted ones, how narrow the certified
interval is. ``peers``: time of the whole call next to HiGHS (``scipy.optimize.linprog``, which answers only
whether a plane separates) and ``SVC(kernel="linear", C=1e10)``, in alternating runs of one process on one
thread. ``real``: each class against the rest of the data in the folder PERCEPTRON_RS_DATA; its intervals
are a table of the documentation.

Every answer is checked before a time is printed: by ``verify`` in exact arithmetic where that is affordable,
else by scoring all rows again; peers must agree on separability.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import bars
import data
import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from perceptron_rs import max_margin, verify

#: ``verify`` takes plain Python integers: about a microsecond for a stored number.
MOST_VERIFIED = 3_000_000
TIME_LIMIT = 300.0


def highs(X: Any, y: Any) -> bool | None:
    """Answer whether a plane separates, by a linear program; None if time runs out."""
    n, d = X.shape
    stack = sparse.hstack if sparse.issparse(X) else np.hstack
    signed = stack([X, np.ones((n, 1))])
    signed = sparse.diags(-y.astype(float)) @ signed if sparse.issparse(X) else signed * -y[:, np.newaxis]
    found = linprog(
        np.zeros(d + 1),
        A_ub=signed,
        b_ub=-np.ones(n),
        bounds=(None, None),
        method="highs",
        options={"time_limit": TIME_LIMIT},
    )
    return {0: True, 2: False}.get(found.status)


def machine(X: Any, y: Any) -> bool:
    """Answer the same by a support vector machine that hardly allows an error."""
    model = SVC(kernel="linear", C=1e10).fit(X, y)
    return bool((model.predict(X) == y).all())


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    answer = call()
    return time.perf_counter() - start, answer


def gap(result: Any) -> float:
    return (result.upper - result.lower) / result.upper if result.status == "separable" else float("nan")


def is_sure(result: Any, X: Any, y: Any) -> str:
    """Say how the answer was checked; raise if it is wrong."""
    entries = X.nnz if sparse.issparse(X) else X.size
    if entries <= MOST_VERIFIED:
        verify(result, X, y)  # raises if anything is wrong
        return "verified"
    if result.status == "separable":
        scores = y * (X @ result.coef + result.intercept) / np.linalg.norm(result.coef)
        assert abs(scores.min() - result.lower) <= 1e-6 * result.upper + 1e-12 * result.radius
        return "scored again"
    return "not checked again"


# ---------------------------------------------------------------- gaps


def against_rest(name: str, X: Any, y: Any) -> Iterator[tuple[str, Any, Any]]:
    for label in np.unique(y):
        yield f"{name} {label} v rest", X, np.where(y == label, 1, -1)


def pairs(name: str, X: Any, y: Any) -> Iterator[tuple[str, Any, Any]]:
    for a, b in combinations(np.unique(y), 2):
        chosen = (y == a) | (y == b)
        yield f"{name} {a} v {b}", X[chosen], np.where(y[chosen] == a, 1, -1)


def small_sets() -> Iterator[tuple[str, Any, Any]]:
    from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

    X, y = load_breast_cancer(return_X_y=True)
    yield "breast cancer standardised", StandardScaler().fit_transform(X), 2 * y - 1
    yield "breast cancer raw", X, 2 * y - 1
    for name, load in (("iris", load_iris), ("wine", load_wine), ("digits", load_digits)):
        X, y = load(return_X_y=True)
        yield from against_rest(name, X, y)
        yield from pairs(name, X, y)


def conditioned(ratio: float) -> tuple[Any, Any]:
    """Rows of length about 1 whose margin is about 1 / ratio: few rows near the plane, many far."""
    random = np.random.default_rng(data.SEED)
    n, d = 400, 20
    plane = random.standard_normal(d)
    plane /= np.linalg.norm(plane)
    X = random.standard_normal((n, d)) / np.sqrt(d)
    y = np.where(X @ plane > 0, 1, -1)
    near = np.arange(n) < 60
    X[near] -= (X[near] @ plane)[:, np.newaxis] * plane
    X[near] += (y[near] / ratio)[:, np.newaxis] * plane
    return X, y


def gaps(quick: bool) -> list[dict[str, Any]]:
    results = []
    for name, X, y in small_sets():
        for bias in ("free",) if quick else ("free", "augmented", "none"):
            seconds, found = timed(lambda X=X, y=y, bias=bias: max_margin(X, y, bias=bias, tol=1e-12))
            sure = is_sure(found, X, y)
            reached = found.status == "non_separable" or gap(found) <= 1e-10
            results.append(line(f"{name}, {bias}", found, seconds, sure, reached, 1e-10))
    for exponent in range(2, 9):
        X, y = conditioned(10.0**exponent)
        seconds, found = timed(lambda X=X, y=y: max_margin(X, y, tol=1e-12))
        sure = is_sure(found, X, y)
        results.append(line(f"R/margin 1e{exponent}", found, seconds, sure, gap(found) <= 1e-7, 1e-7))
    return results


def line(name: str, found: Any, seconds: float, sure: str, reached: bool, bar: float) -> dict[str, Any]:
    return {
        "case": name,
        "status": found.status,
        "lower": found.lower,
        "upper": found.upper,
        "radius": found.radius,
        "gap": gap(found),
        "support": len(found.support),
        "solver": found.solver,
        "proof": found.proof,
        "seconds": seconds,
        "work": dict(found.work),
        "checked": sure,
        "bar": bar,
        "reached": bool(reached),
    }


# ---------------------------------------------------------------- peers


@dataclass(frozen=True)
class Race:
    """A data set, the least ratios to HiGHS and to SVC, and what is asked of us."""

    name: str
    load: Callable[[], tuple[Any, Any]]
    highs: float | None = None
    svc: float | None = None
    reads: float | None = None
    tol: float = 1e-8
    quick: bool = True


def breast_cancer() -> tuple[Any, Any]:
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), 2 * y - 1


RACES = [
    Race("breast cancer standardised", breast_cancer, highs=8, svc=500),
    Race("planted 10000 x 50, margin 1e-3", lambda: data.planted(10_000, 50, 1e-3), highs=30),
    Race("flipped 10000 x 50", lambda: data.flipped(10_000, 50, 1e-3, 20), highs=200),
    Race(
        "planted 100000 x 100, margin 1e-2", lambda: data.planted(100_000, 100, 1e-2), highs=150, quick=False
    ),
    Race(
        "planted 1000000 x 10, margin 1e-3", lambda: data.planted(1_000_000, 10, 1e-3), reads=60, quick=False
    ),
    Race(
        "sparse 20000 x 100000, 50 a row",
        lambda: data.sparse_signs(20_000, 100_000, 50),
        highs=1,
        tol=1e-6,
        quick=False,
    ),
]


def race(case: Race, runs: int) -> dict[str, Any]:
    X, y = case.load()
    calls: dict[str, Callable[[], Any]] = {"ours": lambda: max_margin(X, y, tol=case.tol)}
    if case.highs:
        calls["highs"] = lambda: highs(X, y)
    if case.svc:
        calls["svc"] = lambda: machine(X, y)
    if case.reads:
        calls["read"] = lambda: X.sum()
    found = max_margin(X, y, tol=case.tol)
    sure = is_sure(found, X, y)
    times: dict[str, list[float]] = {name: [] for name in calls}
    once = 1
    for number in range(runs):
        for name, call in calls.items():
            if name in ("highs", "svc") and number and times[name][0] > 20.0:
                continue  # one long run tells enough
            repeat = once if name != "ours" else max(1, min(50, int(0.05 / max(found_seconds(times), 1e-4))))
            seconds, answer = timed(lambda call=call, repeat=repeat: [call() for _ in range(repeat)][-1])
            times[name].append(seconds / repeat)
            if name in ("highs", "svc"):
                expected = found.status == "separable"
                assert answer in (None, expected) or name == "svc", (name, answer, found.status)
    middle = {name: statistics.median(values) for name, values in times.items()}
    result = line(case.name, found, middle["ours"], sure, True, case.tol)
    for name, bar in (("highs", case.highs), ("svc", case.svc)):
        if bar:
            result[name] = middle[name]
            result[f"{name} ratio"], result[f"{name} bar"] = middle[name] / middle["ours"], bar
            result["reached"] &= result[f"{name} ratio"] >= bar
    if case.reads:
        result["reads"] = middle["ours"] / middle["read"]
        result["reads bar"] = case.reads
        result["reached"] &= result["reads"] <= case.reads
    result["reached"] &= found.status == "non_separable" or gap(found) <= case.tol
    return result


def found_seconds(times: dict[str, list[float]]) -> float:
    return times["ours"][0] if times["ours"] else 1.0


# ---------------------------------------------------------------- real data


def real_sets(quick: bool) -> Iterator[tuple[str, Any, Any]]:
    X, y = data.spam()
    yield "spam", X, np.where(y > 0, 1, -1)
    X, y = data.census()
    yield "census", X, np.where(y > 0, 1, -1)
    X, y = data.news20()
    for label in np.unique(y)[: 3 if quick else None]:
        yield f"news20 {label} v rest", X, np.where(y == label, 1, -1)
    X, y = data.mnist()
    for label in range(2 if quick else 10):
        yield f"MNIST {label} v rest", X, np.where(y == label, 1, -1)


def real(quick: bool) -> list[dict[str, Any]]:
    results = []
    for name, X, y in real_sets(quick):
        seconds, found = timed(lambda X=X, y=y: max_margin(X, y))
        sure = is_sure(found, X, y)
        reached = found.status != "undecided" and seconds < 300.0
        result = line(name, found, seconds, sure, reached, 1e-8)
        results.append(result | {"shape": list(X.shape)})
        show(results[-1])
    return results


def show(r: dict[str, Any]) -> None:
    ends = f"[{r['lower']:.6g}, {r['upper']:.6g}]"
    text = f"{r['case']:36} {r['status']:14} {ends:28} gap {r['gap']:8.1e} "
    text += f"sv {r['support']:6} {r['seconds']:9.4f} s"
    for name in ("highs", "svc"):
        if f"{name} ratio" in r:
            text += f"  {name} {r[f'{name} ratio']:.1f}x (bar {r[f'{name} bar']})"
    if "reads" in r:
        text += f"  {r['reads']:.0f} reads (bar {r['reads bar']})"
    print(f"{text}  {r['checked']}{'' if r['reached'] else '  BELOW BAR'}", flush=True)


def main() -> int:
    parser = bars.parser(__doc__)
    parser.add_argument("parts", nargs="*", default=[], help="gaps, peers, real; all if none is named")
    parser.add_argument("--only", default="", help="peers whose name contains this")
    parser.add_argument("--quick", action="store_true", help="fewer and smaller cases")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    if options.write and (options.parts or options.only or options.quick):
        parser.error("--write keeps the figures of a whole run; leave out parts, --only and --quick")
    parts = options.parts or ["gaps", "peers", "real"]
    warnings.simplefilter("ignore")
    results: dict[str, list[dict[str, Any]]] = {}
    with threadpool_limits(1):
        if "gaps" in parts:
            results["gaps"] = gaps(options.quick)
            missed = [r for r in results["gaps"] if not r["reached"]]
            for r in missed if len(missed) < len(results["gaps"]) else results["gaps"]:
                show(r)
            print(f"gaps: {len(results['gaps']) - len(missed)} of {len(results['gaps'])} reach their bar")
        if "peers" in parts:
            results["peers"] = []
            for case in RACES:
                if options.only in case.name and (case.quick or not options.quick):
                    results["peers"].append(race(case, options.runs))
                    show(results["peers"][-1])
        if "real" in parts:
            if data.folder() is None:
                print("real: skipped; set PERCEPTRON_RS_DATA to the folder with the real data")
            else:
                results["real"] = real(options.quick)
                decided = [r for r in results["real"] if r["reached"]]
                print(f"real: {len(decided)} of {len(results['real'])} decided in 5 minutes")
    if options.write:
        written = {"about": bars.about() | {"runs": options.runs}, **results}
        (bars.RESULTS / "margin.json").write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    return int(not all(result["reached"] for part in results.values() for result in part))


if __name__ == "__main__":
    sys.exit(main())
