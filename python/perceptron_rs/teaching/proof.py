"""The convergence theorem, replayed on a run."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import OwnArrays
from perceptron_rs.linear.base import LinearLearner
from perceptron_rs.margins.search.maximum import max_margin
from perceptron_rs.notebook import html_table
from perceptron_rs.teaching.fit_trace import Trace

#: Weights are rounded at each update, and an inequality can be an equality.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Proof(OwnArrays):
    r"""The two inequalities of Novikoff's proof after each of n updates. ``print`` shows them as a table.

    Parameters
    ----------
    margin : float
        gamma: a lower bound of the largest margin, which the direction u attains.
    radius : float
        R, the norm of the longest example.
    bound : float
        :math:`(R / \gamma)^2`: no run makes more updates.
    progress : ndarray of shape (n,)
        :math:`w_k \cdot u`, which each update raises by gamma or more.
    least : ndarray of shape (n,)
        :math:`k \gamma`.
    squares : ndarray of shape (n,)
        :math:`\|w_k\|^2`, which each update raises by R^2 or less.
    most : ndarray of shape (n,)
        :math:`k R^2`.
    """

    margin: float
    radius: float
    bound: float
    progress: NDArray[np.float64]
    least: NDArray[np.float64]
    squares: NDArray[np.float64]
    most: NDArray[np.float64]

    @property
    def holds(self) -> bool:
        """Whether each inequality holds, up to the rounding of the weights."""
        grows = self.progress >= self.least * (1 - _ROUNDING)
        stays = self.squares <= self.most * (1 + _ROUNDING)
        return bool(grows.all() and stays.all() and len(self.progress) <= self.bound)

    def __str__(self) -> str:
        head = f"{'k':>5} {'k gamma':>12} <= {'w_k . u':>12}    {'||w_k||^2':>12} <= {'k R^2':>12}"
        lines = [
            f"{k:5} {least:12.6g} <= {progress:12.6g}    {square:12.6g} <= {most:12.6g}"
            for k, (least, progress, square, most) in enumerate(
                zip(self.least, self.progress, self.squares, self.most, strict=True), start=1
            )
        ]
        return "\n".join([head, *lines, self._end()])

    def _repr_html_(self) -> str:
        columns = (self.least, self.progress, self.squares, self.most)
        rows = [
            [str(k), *(f"{value:.6g}" for value in values)]
            for k, values in enumerate(zip(*columns, strict=True), start=1)
        ]
        head = ["k", "k gamma", "<= w_k . u", "||w_k||^2", "<= k R^2"]
        return html_table(rows, head=head, notes=[self._end()])

    def _end(self) -> str:
        return (
            f"gamma = {self.margin:.6g}, R = {self.radius:.6g}: {len(self.progress)} updates, "
            f"at most (R / gamma)^2 = {self.bound:.6g}"
        )


def proof(trace: Trace) -> Proof:
    r"""Replay the proof of the convergence theorem on a run.

    Let u be a direction of length 1 with :math:`y_i\, u \cdot x_i \ge \gamma > 0` for all examples, and R the
    norm of the longest one. Then after k updates that start from zero,

    .. math:: k \gamma \le w_k \cdot u \le \|w_k\| \le \sqrt{k}\, R,

    and so :math:`k \le (R / \gamma)^2`.

    With an intercept, w is (w, b), and each example has one more feature, which is 1. Weights are divided
    by ``eta0``.

    Parameters
    ----------
    trace : Trace
        A run of a linear learner on two classes, by plain updates.

    Returns
    -------
    Proof
        The two inequalities after each update.

    Raises
    ------
    ValueError
        If the classes are not linearly separable, if the learner has a kernel, if it does not start from
        zero, or if the updates are not plain: under a penalty, a margin or an added feature, or of different
        lengths.

    References
    ----------
    A. B. J. Novikoff, "On convergence proofs for perceptrons", Symposium on the Mathematical Theory of
    Automata 12, 1962.

    Examples
    --------
    >>> from perceptron_rs import Perceptron, proof, trace
    >>> X = [[2, 1], [-1, 1], [0, -1], [1, 2], [-2, -1], [-1, 2]]
    >>> y = [1, -1, -1, 1, -1, -1]
    >>> print(proof(trace(Perceptron(shuffle=False, tol=None), X, y)))
        k      k gamma <=      w_k . u       ||w_k||^2 <=        k R^2
        1     0.801784 <=      1.33631               6 <=            6
        2      1.60357 <=      2.40535               9 <=           12
        3      2.40535 <=      3.20713              11 <=           18
    gamma = 0.801784, R = 2.44949: 3 updates, at most (R / gamma)^2 = 9.33333
    """
    if not isinstance(trace, Trace):
        raise TypeError(f"trace must be a Trace, got {trace!r:.80}; make one by perceptron_rs.trace")
    model, steps, settings = trace.estimator, list(trace), trace.settings
    if not isinstance(model, LinearLearner):
        raise ValueError(f"trace must be of a linear learner, got {model!r:.80}")
    if steps and (steps[0].w_before.any() or steps[0].b_before):
        raise ValueError("trace must start from zero; leave out coef_init and intercept_init")
    if settings.penalty or settings.margin_threshold or settings.added_feature:
        raise ValueError("trace must be of plain updates, no penalty, margin_threshold or added_feature")
    if settings.step != "constant":
        raise ValueError(f"trace must be of steps of one length, got step={settings.step!r}")
    if len(model.classes_) != 2 or len({step.label for step in steps}) > 1:
        raise ValueError(
            f"trace must be of two classes and one hyperplane, got {len(model.classes_)} classes"
        )
    sizes = {abs(step.step) for step in steps if step.mistake}
    if len(sizes) > 1:
        raise ValueError(
            f"trace must have updates of one length, got steps from {min(sizes):g} to {max(sizes):g}; leave "
            f"out sample and class weights"
        )
    has_bias = bool(model.fit_intercept)
    largest = max_margin(trace.X, trace.y, bias="augmented" if has_bias else "none")
    if largest.lower <= 0:
        raise ValueError(f"the classes must be linearly separable, but are {largest.status}")
    weights = [
        np.append(step.w, step.b if has_bias else 0.0) / abs(step.step) for step in steps if step.mistake
    ]
    u = np.append(largest.coef, largest.intercept)
    u = u / math.sqrt(float(u @ u))
    radius = math.hypot(largest.radius, 1.0) if has_bias else largest.radius
    k = np.arange(1.0, len(weights) + 1)
    return Proof(
        margin=largest.lower,
        radius=radius,
        bound=largest.mistake_bound,
        progress=np.array([w @ u for w in weights]),
        least=k * float(largest.lower),
        squares=np.array([w @ w for w in weights]),
        most=k * float(radius**2),
    )
