"""What the functions about margins return: plain numbers and arrays, frozen."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import OwnArrays
from perceptron_rs.estimator_attributes import attributes
from perceptron_rs.notebook import html_table
from perceptron_rs.settings import KernelSpec

STATUSES = ("separable", "non_separable", "margin_at_most", "undecided", "one_class")
_STATUS_TEXT = {
    "separable": "a hyperplane was found",
    "non_separable": "not separable (proved)",
    "margin_at_most": "no positive margin found; no proof either",
    "undecided": "not decided within max_steps",
    "one_class": "one class only: separable by any distance",
}


class MarginInterval(NamedTuple):
    """Lower and upper bound of a margin."""

    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class MarginResult(OwnArrays):
    r"""Certified bounds of the largest margin, with their proof.

    Returned by `max_margin`. `verify` checks it in exact arithmetic.

    Attributes
    ----------
    status : {"separable", "non_separable", "margin_at_most", "undecided", "one_class"}
        "separable": ``lower`` is above 0. "non_separable": there is a proof that no hyperplane separates
        the classes strictly. "margin_at_most": no hyperplane was found, and the margin is at most
        ``upper``, a tiny number, but there is no proof that it is 0. "undecided": ``max_steps`` ended the
        search. "one_class": all labels are equal and the bias is free.
    lower, upper : float
        Bounds of the largest margin, which hold despite all rounding. ``lower`` is -inf unless a separating
        hyperplane was found. Both are -inf if there is none, and inf for one class.
    coef : ndarray of shape (n_features,)
        Weights of the best hyperplane found, of any length. If "separable", its margin is at least
        ``lower``.
    intercept : float
        Intercept of this hyperplane.
    support : ndarray of shape (n_support,), int64
        Indices of the rows of X that certify ``upper``, sorted. If "non_separable", rows for which weighted
        means of the two classes (or a weighted mean and 0) are equal; see `hull_weights`.
    dual_weights : ndarray of shape (n_support,), int64
        Weights of these rows, in units of 2**-53. If the bias is free, those of each class sum to exactly
        2**53, otherwise all of them do.
    radius : float
        Maximum norm of a row of X, rounded up.
    mistake_bound : float
        Maximum number of mistakes of a perceptron on these examples, in any order and any number of epochs:
        the bound of Block and Novikoff, computed from ``lower`` and rounded up. It holds for learners with
        an intercept, and for those without if bias="none". inf unless a separating hyperplane was found.
    best_mistake_bound : float
        The same bound computed from ``upper``, rounded down. The difference to ``mistake_bound`` comes from
        the width of the interval.
    bias : {"free", "augmented", "none"}
        How the intercept was treated.
    classes : tuple
        Labels of the negative and the positive class, or the only label.
    proof : str or None
        How "non_separable" was proved: "pair" (a row with both labels), "verified" (interval arithmetic) or
        "rational" (exact arithmetic).
    solver : str
        Solver that ended the search.
    work : dict
        Counts of the work done.
    kernel : KernelSpec or None
        The kernel, with its ``gamma`` settled; None without one. With a kernel, ``coef`` has a weight for
        each example, and the score of x is :math:`\sum_i \mathrm{coef}_i K(x_i, x) + \mathrm{intercept}`.
    """

    status: str
    lower: float
    upper: float
    coef: NDArray[np.float64]
    intercept: float
    support: NDArray[np.int64]
    dual_weights: NDArray[np.int64]
    radius: float
    mistake_bound: float
    best_mistake_bound: float
    bias: str
    classes: tuple[Any, ...]
    proof: str | None
    solver: str
    work: dict[str, int]
    kernel: KernelSpec | None = None

    @property
    def gap(self) -> float:
        """Relative width of the interval, ``1 - lower / upper``; 1.0 without a separating hyperplane."""
        if self.status != "separable":
            return 0.0 if self.status in ("non_separable", "one_class") else 1.0
        return max(0.0, (self.upper - self.lower) / self.upper)

    def _lines(self) -> list[tuple[str, str]]:
        """Return what to show: names and texts."""
        kernel = "" if self.kernel is None else f", kernel: {self.kernel.name}"
        lines = [("status", f"{self.status}: {_STATUS_TEXT[self.status]}")]
        if self.status not in ("non_separable", "one_class"):
            lines.append(("margin", f"{_interval(self.lower, self.upper)} (bias: {self.bias}{kernel})"))
        if self.status == "separable":
            lines.append(("relative gap", f"{self.gap:.1e}"))
        lines.append(("radius", f"{self.radius:.6g}"))
        if self.mistake_bound < math.inf:
            lines.append(("mistake bound", f"{self.mistake_bound:.6g}"))
        lines.append(("support", f"{len(self.support)} rows{_some(self.support)}"))
        if self.proof is not None:
            lines.append(("proof", self.proof))
        counts = ", ".join(f"{name} {count}" for name, count in self.work.items())
        lines.append(("work", self.solver + (f": {counts}" if counts else "")))
        return lines

    def __str__(self) -> str:
        return "\n".join(f"{name:13}  {text}" for name, text in self._lines())

    def _repr_html_(self) -> str:
        return html_table(self._lines())

    def to_dict(self) -> dict[str, Any]:
        """Return the result as Python values for ``json.dumps``, with None for infinite numbers.

        Returns
        -------
        dict
            One entry for each attribute. None stands for -inf in ``lower``, for inf in a mistake bound, and
            for inf or -inf in ``upper``, depending on ``status``.
        """
        values = attributes(self, [field.name for field in fields(self)])
        return {name: _json_value(value) for name, value in values.items()}


@dataclass(frozen=True)
class MistakeBounds:
    """Upper bounds of the mistakes of a perceptron. Returned by `mistake_bounds`.

    Attributes
    ----------
    block_novikoff : float
        Bound of the mistakes in any number of epochs; inf unless the direction separates the classes, or a
        feature is added.
    freund_schapire : float
        Bound of the mistakes in one pass over the examples, for any data.
    gamma : float
        Margin that minimizes ``freund_schapire``, for the direction of length 1.
    deviation : float
        D_gamma, the square root of the sum of squares of how far each example falls short of the margin
        gamma, rounded up.
    radius : float
        Maximum norm of an example, including the constant feature of the intercept if there is one, rounded
        up.
    n_examples : int
        Number of examples.
    """

    block_novikoff: float
    freund_schapire: float
    gamma: float
    deviation: float
    radius: float
    n_examples: int

    def _repr_html_(self) -> str:
        values = attributes(self, [field.name for field in fields(self)])
        return html_table((name, f"{value:.6g}") for name, value in values.items())

    @property
    def random_error(self) -> float:
        """Estimate of a bound on the error rate of ``VotedPerceptron(prediction="random")`` after one pass.

        Let all examples be drawn independently from one distribution, and let w_t be the weights after
        example t of T. The drawn vector is w_t with a t that is uniform from 1 to T. What w_t does on a new
        example it does on example t + 1, on average, which it has not seen either. So the expected error
        rate is that of the predictions on examples 2 to T + 1 of a pass, and at most the expected number of
        its mistakes over T. Here T + 1 is ``n_examples``, and ``freund_schapire`` bounds the mistakes: in the
        mean over samples, this bounds the error rate (Helmbold and Warmuth 1995; Freund and Schapire 1999).
        """
        return min(1.0, self.freund_schapire / (self.n_examples - 1)) if self.n_examples > 1 else 1.0


class InseparableError(ValueError):
    """Raised by `MaxMarginClassifier` if no separating hyperplane was found; ``result`` holds the proof.

    Attributes
    ----------
    result : MarginResult
        Result for the classes that are not separated.
    label : object
        Class that is not separated from the rest; the second one of two classes.
    """

    def __init__(self, text: str, result: MarginResult, label: object) -> None:
        super().__init__(text, result, label)
        self.result = result
        self.label = label

    def __str__(self) -> str:
        return str(self.args[0])


class UndecidedError(ValueError):
    """Raised by `is_separable` if the answer is neither proved to be True nor to be False.

    Attributes
    ----------
    result : MarginResult
        What the search has found.
    """

    def __init__(self, text: str, result: MarginResult) -> None:
        super().__init__(text, result)
        self.result = result

    def __str__(self) -> str:
        return str(self.args[0])


def _interval(lower: float, upper: float) -> str:
    """Return both ends with all their digits: rounded ones would not be ends any more."""
    return f"[{lower!r}, {upper!r}]" if lower > 0 else f"at most {upper!r}"


def _some(rows: NDArray[np.int64]) -> str:
    if not len(rows):
        return ""
    return f": {', '.join(map(str, rows[:10].tolist()))}" + (", ..." if len(rows) > 10 else "")


def _json_value(value: object) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, KernelSpec):
        return asdict(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, tuple | list):
        return [_json_value(part) for part in value]
    return dict(value) if isinstance(value, dict) else value
