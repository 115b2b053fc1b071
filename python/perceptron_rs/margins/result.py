"""What the functions about margins return: plain numbers and arrays, frozen."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["InseparableError", "MarginInterval", "MarginResult", "MistakeBounds"]

STATUSES = ("separable", "non_separable", "margin_at_most", "undecided", "one_class")
_SAID = {
    "separable": "separable",
    "non_separable": "not separable (proved)",
    "margin_at_most": "no positive margin found; no proof either",
    "undecided": "not decided within the budget",
    "one_class": "one class only: separable by any distance",
}


class MarginInterval(NamedTuple):
    """Two numbers between which a margin lies."""

    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class MarginResult:
    """A certified interval of the largest margin, with what proves it.

    Returned by `max_margin`; checked in exact arithmetic by `verify`.

    Attributes
    ----------
    status : {"separable", "non_separable", "margin_at_most", "undecided", "one_class"}
        "separable": ``lower`` is above 0. "non_separable": there is a proof that no plane separates the
        classes strictly. "margin_at_most": no plane was found, and the margin is at most ``upper``, which is
        next to nothing, but there is no proof that it is 0. "undecided": the budget ended the search.
        "one_class": all labels are equal and the bias is free.
    lower, upper : float
        The largest margin lies between them, whatever was rounded on the way. ``lower`` is -inf
        unless a separating plane is known, both are -inf if there is none, and inf for one class.
    coef : ndarray of shape (n_features,)
        Weights of the best plane found, of any length. For "separable" its margin is at least ``lower``.
    intercept : float
        Its intercept.
    support : ndarray of shape (n_support,), int64
        Rows of X, ascending, that certify ``upper``; for "non_separable" rows of which some weighted
        means of the two classes (or 0 and a weighted mean) are equal: see `hull_weights`.
    dual_weights : ndarray of shape (n_support,), int64
        Their weights, in units of 2**-53. For a free bias those of each class sum to exactly 2**53, otherwise
        all of them do.
    radius : float
        The largest norm of a row of X, rounded up.
    mistake_bound : float
        No perceptron run over these examples, in any order and with any number of epochs, makes more
        mistakes: the bound of Block and Novikoff by ``lower``, rounded up. It holds for learners with an
        intercept, and for bias="none" for those without. inf unless a separating plane is known.
    best_mistake_bound : float
        The same formula by ``upper``, rounded down: the rest of ``mistake_bound`` is the width of the
        interval.
    bias : {"free", "augmented", "none"}
        Which margin it is.
    classes : tuple
        The label of the negative class and that of the positive one; only one label if there is but one.
    proof : str or None
        How "non_separable" was proved: "pair" (a row with both labels), "verified" (interval arithmetic) or
        "rational".
    solver : str
        The solver that ended the search.
    work : dict
        What was done, in counts.
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

    @property
    def gap(self) -> float:
        """The relative width of the interval, ``1 - lower / upper``; 1.0 if no separating plane is known."""
        if self.status != "separable":
            return 0.0 if self.status in ("non_separable", "one_class") else 1.0
        return max(0.0, (self.upper - self.lower) / self.upper)

    def __str__(self) -> str:
        lines = [f"status         {self.status}: {_SAID[self.status]}"]
        if self.status not in ("non_separable", "one_class"):
            lines.append(f"margin         {_interval(self.lower, self.upper)} (bias: {self.bias})")
        if self.status == "separable":
            lines.append(f"relative gap   {self.gap:.1e}")
        lines.append(f"radius         {self.radius:.6g}")
        if self.mistake_bound < math.inf:
            lines.append(f"mistake bound  {self.mistake_bound:.6g}")
        lines.append(f"support        {len(self.support)} rows{_some(self.support)}")
        if self.proof is not None:
            lines.append(f"proof          {self.proof}")
        counts = ", ".join(f"{name} {count}" for name, count in self.work.items())
        lines.append(f"work           {self.solver}" + (f": {counts}" if counts else ""))
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the same as Python values that ``json.dumps`` takes; numbers that are infinite are None.

        Returns
        -------
        dict
            One entry for each attribute. None stands for -inf in ``lower``, and for ``upper`` for inf or
            -inf, which ``status`` tells apart, and for inf in a bound.
        """
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}


@dataclass(frozen=True)
class MistakeBounds:
    """How many mistakes a perceptron can make at most. Returned by `mistake_bounds`.

    Attributes
    ----------
    block_novikoff : float
        Of all mistakes in any number of epochs; inf unless the direction separates the classes.
    freund_schapire : float
        Of the mistakes in one pass over the examples; for any data.
    gamma : float
        The margin at which ``freund_schapire`` is smallest, in units of the direction of length 1.
    deviation : float
        D_gamma: the root of the sum of squares of what each example lacks to the margin gamma, rounded up.
    radius : float
        The largest norm of an example, with the constant feature of the bias if there is one, rounded up.
    """

    block_novikoff: float
    freund_schapire: float
    gamma: float
    deviation: float
    radius: float


class InseparableError(ValueError):
    """Raised by `MaxMarginClassifier` where no separating plane is known; ``result`` holds the proof.

    Attributes
    ----------
    result : MarginResult
        Of the classes that are not separated.
    label : object
        The class that is not separated from the rest; of two classes the second.
    """

    def __init__(self, text: str, result: MarginResult, label: Any) -> None:
        super().__init__(text, result, label)
        self.result = result
        self.label = label

    def __str__(self) -> str:
        return str(self.args[0])


def _interval(lower: float, upper: float) -> str:
    """Return both ends with all their digits: rounded ones would not be ends any more."""
    return f"[{lower!r}, {upper!r}]" if lower > 0 else f"at most {upper!r}"


def _some(rows: NDArray[np.int64], limit: int = 10) -> str:
    if not len(rows):
        return ""
    return f": {', '.join(map(str, rows[:limit].tolist()))}" + (", ..." if len(rows) > limit else "")


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    return dict(value) if isinstance(value, dict) else value
