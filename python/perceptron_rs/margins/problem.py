"""From what a caller gives to what an engine takes, for all functions about margins."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.array_likes import ArrayLike, MatrixLike, nearest_float
from perceptron_rs.choices import Bias, Solver
from perceptron_rs.common.rows.examples import ValidatedRows, examples
from perceptron_rs.common.targets.labels import encode_new, label_array
from perceptron_rs.common.threads import thread_count
from perceptron_rs.engines import Engine, get_engine
from perceptron_rs.errors import ArgumentError
from perceptron_rs.margins.exact.rounding import refuse_rounded
from perceptron_rs.sklearn_base import BaseEstimator

__all__ = [
    "BIASES",
    "SOLVERS",
    "Problem",
    "check_options",
    "choice",
    "read",
    "threads",
    "two_classes",
]

BIASES: tuple[Bias, ...] = get_args(Bias)
SOLVERS: tuple[Solver, ...] = get_args(Solver)
_MOST_STEPS = 2**62


class _Caller(BaseEstimator):
    """Stands for the estimator that scikit-learn's validation wants to see."""


@dataclass(frozen=True)
class Problem:
    """Examples of at most two classes, as an engine takes them."""

    engine: Engine
    data: ValidatedRows
    labels: NDArray[np.uint32]  # 1 for the positive class
    classes: tuple[Any, ...]
    threads: int

    def refuse(self, error: Exception) -> Exception:
        """Return what to raise for an error of the engine: about X, if it is due to X."""
        self.check_finite()
        return error if isinstance(error, ValueError) else ValueError(str(error))

    def check_finite(self) -> None:
        """Raise ValueError if there is a NaN or an infinity in X."""
        values = self.data.values
        if values.dtype.kind in "biu":
            return
        with np.errstate(over="ignore", invalid="ignore"):
            bad = ~np.isfinite(values)
        if bad.any():
            place = tuple(int(k[0]) for k in np.nonzero(bad))
            if self.data.indptr is not None:
                row = int(np.searchsorted(self.data.indptr, place[0], side="right")) - 1
                where = f"row {row}"
            else:
                where = f"row {place[0]}, column {place[1]}"
            value = "NaN" if np.isnan(values[place]) else str(values[place])
            raise ArgumentError(
                f"{{X}} must be finite, got {value} in {where}", "drop such rows or impute their values"
            )


def read(
    X: MatrixLike, y: ArrayLike, *, engine: str, n_jobs: int | None, may_be_many: bool = False
) -> Problem:
    """Read the arguments of a function; ``y`` may hold one class or two, or any number: indices, then."""
    core = get_engine(engine)
    caller = _Caller()
    refuse_rounded(X)
    data = examples(caller, core, X, reset=True)
    given = label_array(caller, y, data.rows.shape[0])
    if may_be_many and len(np.unique(given)) > 2:
        found, labels = encode_new(given)
        classes = tuple(found.tolist())
    else:
        labels, classes = two_classes(given)
    return Problem(core, data, labels, classes, threads(n_jobs))


def two_classes(y: NDArray[Any], name: str = "y") -> tuple[NDArray[np.uint32], tuple[Any, ...]]:
    """Return 1 for the larger of two labels, 0 for the other; a single one is positive unless it is <= 0."""
    if len(y) and (y == y[0]).all():
        label = y[0].item() if isinstance(y[0], np.generic) else y[0]
        if isinstance(label, float) and not label.is_integer():
            encode_new(y, name)  # refuses it
        positive = isinstance(label, str) or label > 0
        return np.full(len(y), int(positive), dtype=np.uint32), (label,)
    classes, labels = encode_new(y, name)
    if len(classes) > 2:
        shown = ", ".join(map(repr, classes[:3].tolist()))
        raise ValueError(
            f"{name} must hold at most two classes, got {len(classes)} ({shown}, ...); a margin is between "
            "two: pass y == label to separate one class from the rest, or use MaxMarginClassifier"
        )
    return labels, tuple(classes.tolist())


def choice(name: str, value: object, allowed: tuple[str, ...]) -> str:
    """Return ``value`` if it is one of the words."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {allowed}, got {value!r:.80}")
    return value


def check_options(bias: object, tol: object, max_steps: object, solver: object) -> dict[str, Any]:
    """Return the options of a search as an engine takes them."""
    if isinstance(tol, bool) or not isinstance(tol, Real):
        raise TypeError(f"tol must be a real number, got {tol!r:.80}")
    if not 0 < nearest_float(tol) < math.inf:
        raise ValueError(f"tol must be a finite number above 0, got {tol!s:.80}; 1e-8 is the default")
    if isinstance(max_steps, bool) or not isinstance(max_steps, Integral):
        raise TypeError(f"max_steps must be a whole number, got {max_steps!r:.80}")
    if not 0 <= int(max_steps) <= _MOST_STEPS:
        raise ValueError(f"max_steps must be from 0 to 2**62, got {max_steps!s:.80}")
    return {
        "bias": choice("bias", bias, BIASES),
        "tol": float(tol),
        "max_steps": int(max_steps),
        "solver": choice("solver", solver, SOLVERS),
    }


def threads(n_jobs: int | None) -> int:
    """Return how many threads ``n_jobs`` and joblib's context allow."""
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral)):
        raise TypeError(f"n_jobs must be a whole number or None, got {n_jobs!r:.80}")
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0; 1 is one thread, -1 one for each processor")
    return thread_count(n_jobs)
