"""Tables of lectures, some of which are printed wrongly: what they print, and what is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.linear.averaged import AveragedPerceptron
from perceptron_rs.linear.perceptron import Perceptron
from perceptron_rs.notebook import html_table
from perceptron_rs.teaching.fit_trace import Trace, trace


@dataclass(frozen=True, eq=False)
class Lecture:
    """A worked example. ``print`` shows it with each step, computed anew.

    Attributes
    ----------
    name : str
        Its name in `lecture`.
    X : ndarray of shape (n_samples, 2), float64
        The examples, in the order of the table.
    y : ndarray of shape (n_samples,), int64
        Their labels, -1 or 1.
    estimator : object
        The learner of the table, not fitted: one epoch without shuffling, from zero, with its rule for ties.
    printed : str
        What the lecture prints.
    printed_weights : tuple of float
        The weights, and the intercept if there is one, that it prints in the end.
    right : str
        What is right, and why.
    weights : tuple of float
        The right ones.
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    estimator: Any
    printed: str
    printed_weights: tuple[float, ...]
    right: str
    weights: tuple[float, ...]

    @property
    def is_right(self) -> bool:
        """Whether the lecture prints the right weights."""
        return self.printed_weights == self.weights

    def trace(self) -> Trace:
        """Return the steps of the table: every example of the epoch.

        Returns
        -------
        Trace
            The steps. ``print`` shows them as a table.
        """
        return trace(self.estimator, self.X, self.y, every="example")

    def _repr_html_(self) -> str:
        said = [("printed", f"{self.printed}: {_number_list(self.printed_weights)}")]
        said += [("right", f"{self.right}: {_number_list(self.weights)}")]
        return html_table(said) + "\n" + self.trace()._repr_html_()

    def __str__(self) -> str:
        lines = [f"printed  {self.printed}: {_number_list(self.printed_weights)}"]
        lines += [f"right    {self.right}: {_number_list(self.weights)}", str(self.trace())]
        return "\n".join(lines)


def _number_list(values: tuple[float, ...]) -> str:
    return "(" + ", ".join(f"{value:g}" for value in values) + ")"


def lecture(name: Literal["six_points", "cached_average", "four_points", "xor"]) -> Lecture:
    r"""Return a worked example of a lecture.

    Parameters
    ----------
    name : {"six_points", "cached_average", "four_points", "xor"}
        "six_points": a first table, without an intercept, which predicts + where :math:`w \cdot x = 0`.
        "cached_average": the average of its weights, by an update that has lost its counter. "four_points": a
        mistake that is taken for right, on data that no line separates. "xor": two such mistakes, on XOR.

    Returns
    -------
    Lecture
        The examples, what the lecture prints and what is right.

    Raises
    ------
    ValueError
        If there is no lecture of that name.

    Examples
    --------
    >>> from perceptron_rs.datasets import lecture
    >>> print(lecture("four_points"))
    printed  y a = -4 < 0 at (1, 2), correctly classified, so that one pass converges: (1, 1, 1)
    right    y a = -4 < 0 is a mistake and moves the weights; no line separates these points: (0, -1, 0)
    epoch  t  row  class   y  w . x + b  predicted  mistake  step        w  b
        0  1    0      1  +1          0         -1      yes    +1   (1, 1)  1
        0  2    1      1  +1          5         +1                  (1, 1)  1
        0  3    2      1  -1          4         +1      yes    -1  (0, -1)  0
        0  4    3      1  -1         -1         -1                 (0, -1)  0
    """
    if not isinstance(name, str) or name not in LECTURES:
        raise ValueError(f"name must be one of {LECTURES}, got {name!r:.80}")
    return _TABLES[name]()


def _six_points() -> Lecture:
    return Lecture(
        name="six_points",
        X=np.array([[-1.0, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]),
        y=np.array([-1, 1, 1, -1, -1, 1]),
        estimator=_one_epoch(Perceptron(fit_intercept=False, tie="positive")),
        printed="mistakes on the first, third and fifth example; the weights of the pass",
        printed_weights=(3, 1),
        right="so it is; the next epoch makes no mistake",
        weights=(3, 1),
    )


def _cached_average() -> Lecture:
    table = _six_points()
    return Lecture(
        name="cached_average",
        X=table.X,
        y=table.y,
        estimator=_one_epoch(AveragedPerceptron(fit_intercept=False)),
        printed="u += y x at a mistake, and w - u / (T + 1) in the end",
        printed_weights=(18 / 7, 6 / 7),
        right="u += t y x, with t the number of the example: without it u is w, and no average is taken",
        weights=(12 / 7, -4 / 7),
    )


def _four_points() -> Lecture:
    return Lecture(
        name="four_points",
        X=np.array([[1.0, 1], [2, 2], [1, 2], [2, 1]]),
        y=np.array([1, 1, -1, -1]),
        estimator=_one_epoch(Perceptron()),
        printed="y a = -4 < 0 at (1, 2), correctly classified, so that one pass converges",
        printed_weights=(1, 1, 1),
        right="y a = -4 < 0 is a mistake and moves the weights; no line separates these points",
        weights=(0, -1, 0),
    )


def _xor() -> Lecture:
    return Lecture(
        name="xor",
        X=np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]]),
        y=np.array([1, 1, -1, -1]),
        estimator=_one_epoch(Perceptron()),
        printed="y a = -1 < 0 at (0, 1) and (1, 0), correctly classified, so that neither moves the weights",
        printed_weights=(0, 0, 1),
        right="y a = -1 < 0 is a mistake and moves the weights; the run is a cycle that never ends",
        weights=(-1, -1, -1),
    )


def _one_epoch(estimator: Any) -> Any:
    return estimator.set_params(shuffle=False, max_iter=1, tol=None)


_TABLES = {
    "six_points": _six_points,
    "cached_average": _cached_average,
    "four_points": _four_points,
    "xor": _xor,
}
LECTURES = tuple(_TABLES)
