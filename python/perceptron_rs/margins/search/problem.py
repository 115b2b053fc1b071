"""From what a caller gives to what an engine takes, for all functions about margins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.arrays.named import Floats
from perceptron_rs.engines import Engine, Rows, get_engine
from perceptron_rs.margins.exact.bounds import novikoff
from perceptron_rs.margins.exact.matrix import refuse_rounded
from perceptron_rs.margins.parameters import MAX_STEPS, MaxMarginClassifierParameters
from perceptron_rs.margins.result import MarginResult
from perceptron_rs.parameters.groups import check_arguments
from perceptron_rs.parameters.threads import thread_count
from perceptron_rs.rows.examples import ValidatedRows, examples
from perceptron_rs.settings import KernelSpec, Solution
from perceptron_rs.sklearn_base import BaseEstimator
from perceptron_rs.state.learnt import Learnt
from perceptron_rs.targets.distinct import distinct
from perceptron_rs.targets.labels import encode_new, label_array


class _Caller(BaseEstimator):
    """Stands for the estimator that scikit-learn's validation wants to see."""

    _learnt = Learnt()


@dataclass(frozen=True)
class Problem:
    """Examples of at most two classes, as an engine takes them."""

    engine: Engine
    data: ValidatedRows
    labels: NDArray[np.uint32]  # 1 for the positive class
    classes: tuple[Any, ...]
    threads: int

    def separate(self, rows: Rows, options: dict[str, Any], goal: str) -> Solution:
        """Find the plane of largest margin, among examples with these rows."""
        try:
            return self.engine.separate(rows, self.labels, **options, goal=goal, threads=self.threads)
        except (ValueError, OverflowError) as error:
            raise self._about(error) from None

    def margin(
        self, w: Floats, b: float | None, *, normalize: bool
    ) -> tuple[float, float, NDArray[np.int64]]:
        """Bound the margin of a plane from both sides, and find the rows that are not on theirs."""
        options: dict[str, Any] = {"normalize": normalize, "threads": self.threads}
        try:
            return self.engine.margin(self.data.rows, self.labels, w, b, **options)
        except (ValueError, OverflowError) as error:
            raise self._about(error) from None

    def _about(self, error: Exception) -> Exception:
        """Return the ValueError for an error of the engine; raise the one about X if X is not finite."""
        self.check_finite()
        return error if isinstance(error, ValueError) else ValueError(str(error))

    def check_finite(self) -> None:
        """Raise ValueError if there is a NaN or an infinity in X."""
        self.data.assert_finite(None)


def read_problem(
    X: MatrixLike, y: ArrayLike, *, engine: str, n_jobs: int | None, may_be_many: bool = False
) -> Problem:
    """Read the arguments of a function; ``y`` may hold one class or two, or any number: indices, then."""
    core = get_engine(engine)
    caller = _Caller()
    refuse_rounded(X)
    data = examples(caller, core, X, reset=True)
    target = label_array(caller, y, data.rows.shape[0])
    if may_be_many and len(distinct(target)[0]) > 2:
        known, labels = encode_new(target)
        classes = tuple(known.tolist())
    else:
        labels, classes = two_classes(target)
    return Problem(core, data, labels, classes, thread_count(n_jobs))


def two_classes(y: NDArray[np.generic], name: str = "y") -> tuple[NDArray[np.uint32], tuple[Any, ...]]:
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


def search_options(
    bias: str, *, tol: float = 1e-8, max_steps: int = MAX_STEPS, solver: str = "auto"
) -> dict[str, Any]:
    """Return the options of a search as an engine takes them."""
    check_arguments(MaxMarginClassifierParameters, bias=bias, tol=tol, max_steps=max_steps, solver=solver)
    return {"bias": bias, "tol": float(tol), "max_steps": int(max_steps), "solver": solver}


def result_of(
    problem: Problem,
    solution: Solution,
    bias: str,
    *,
    kernel: KernelSpec | None = None,
    norm: float | None = None,
) -> MarginResult:
    """Return the result of an engine's solution, with the bounds on mistakes that follow from it.

    In the space of a kernel, ``norm`` is the length of the weights there.
    """
    weights = solution["coef"] if norm is None else np.array([norm])
    ends = solution["radius"], solution["lower"], solution["upper"]
    bound, best = novikoff(*ends, weights, solution["intercept"], bias)
    return MarginResult(
        **solution,
        mistake_bound=bound,
        best_mistake_bound=best,
        bias=bias,
        classes=problem.classes,
        kernel=kernel,
    )
