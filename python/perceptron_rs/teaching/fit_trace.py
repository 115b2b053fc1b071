"""A fit, step by step: the reference learns again what the estimator learnt, and is watched."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import islice
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.arrays.named import frozen
from perceptron_rs.arrays.scalars import whole_number
from perceptron_rs.engines import get_engine
from perceptron_rs.estimator_attributes import attributes
from perceptron_rs.notebook import html_table
from perceptron_rs.settings import Linear
from perceptron_rs.sklearn_base import BaseEstimator
from perceptron_rs.training.driver import DriveCall, noted_calls
from perceptron_rs.training.train import Trainable


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    r"""One example as one hyperplane met it.

    Parameters
    ----------
    epoch : int
        Number of the epoch, from 0.
    t : int
        Number of the example among all that the hyperplane has seen, from 1.
    row : int
        Its row in X.
    label : object
        The class that the hyperplane votes for: ``classes_[1]`` of two classes, otherwise one class each.
    y : int
        1 if the example belongs to that class, otherwise -1.
    activation : float
        :math:`w \cdot x + b` before the update.
    prediction : int
        1 or -1: what ``predict`` says, for this class, with the weights before the update.
    mistake : bool
        Whether an update was made. At an activation of 0 this and a wrong prediction are not the same.
    step : float
        The factor c of the update :math:`w \leftarrow w + c x`, :math:`b \leftarrow b + c`; 0 without an
        update.
    w_before : ndarray of shape (n_features,)
        Weights before the update. Of a kernel perceptron, which has none, the sums :math:`w \cdot x_i` of all
        examples; empty with a budget.
    b_before : float
        Intercept before the update.
    w : ndarray of shape (n_features,)
        Weights after the update.
    b : float
        Intercept after the update.
    """

    epoch: int
    t: int
    row: int
    label: Any
    y: int
    activation: float
    prediction: int
    mistake: bool
    step: float
    w_before: NDArray[np.float64]
    b_before: float
    w: NDArray[np.float64]
    b: float

    @property
    def error(self) -> bool:
        """Whether the prediction was wrong."""
        return self.prediction != self.y


class Trace:
    """The steps of a fit. Each iteration computes them again, one epoch at a time.

    ``print`` shows the first of them as a table.

    Parameters
    ----------
    estimator : object
        The fitted clone.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        What it learnt from.
    y : array-like of shape (n_samples,)
        The labels.
    calls : list
        What the engine was given.
    every : {"update", "example"}
        What a step is.
    """

    def __init__(
        self,
        estimator: Trainable,
        X: MatrixLike,
        y: ArrayLike,
        calls: list[DriveCall],
        every: Literal["update", "example"],
    ) -> None:
        self.estimator, self.X, self.y = estimator, X, y
        self._calls, self._every = calls, every

    @property
    def settings(self) -> Linear:
        """Settings of the engine's run."""
        return self._calls[0].settings

    def __iter__(self) -> Iterator[Step]:
        for call in self._calls:
            yield from _steps(call, self.estimator.classes_, self._every == "example")

    def __str__(self) -> str:
        return self.table()

    def table(self, limit: int | None = 20) -> str:
        """Return the first steps as the table of a lecture, with the weights after each.

        Parameters
        ----------
        limit : int or None, default=20
            The largest number of steps; None for all.

        Returns
        -------
        str
            The names of the columns, and a line for each step. A last line lists the steps with an activation
            of 0 that were mistakes although the prediction was right.
        """
        lines, notes = self._cells(limit)
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = [
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines
        ]
        return "\n".join(text + notes)

    def to_latex(self, limit: int | None = 20) -> str:
        """Return the table as a ``tabular`` of LaTeX, for slides. It needs no package of LaTeX.

        Parameters
        ----------
        limit : int or None, default=20
            The largest number of steps; None for all.

        Returns
        -------
        str
            Numbers are formulas, so that minus signs are as long as plus signs. Notes are comments behind it.
        """
        (head, *lines), notes = self._cells(limit)
        formulas = {"w . x + b": r"$w \cdot x + b$", "t": "$t$", "y": "$y$", "w": "$w$", "b": "$b$"}
        rows = [[formulas.get(name, name) for name in head]]
        for line in lines:
            cells = zip(head, line, strict=True)
            in_text = ("class", "mistake")
            rows += [[c.translate(_LATEX) if name in in_text else _formula(c) * bool(c) for name, c in cells]]
        top, *body = [" & ".join(cells) + r" \\" for cells in rows]
        begin, end = rf"\begin{{tabular}}{{{'r' * len(head)}}}", r"\end{tabular}"
        return "\n".join([begin, top, r"\hline", *body, end, *(f"% {note}" for note in notes)])

    def _repr_html_(self) -> str:
        (head, *lines), notes = self._cells(20)
        return html_table(lines, head=head, notes=notes)

    def _cells(self, limit: int | None) -> tuple[list[list[str]], list[str]]:
        """Return the names and the first steps as texts, and what to say below them."""
        limit = None if limit is None else whole_number("limit", limit, 0, 2**31)
        steps = list(islice(self, None if limit is None else limit + 1))
        more = limit is not None and len(steps) > limit
        head = ["epoch", "t", "row", "class", "y", "w . x + b", "predicted", "mistake", "step", "w", "b"]
        lines = [head] + [
            [
                *(str(value) for value in (step.epoch, step.t, step.row, step.label)),
                f"{step.y:+d}",
                f"{step.activation:g}",
                f"{step.prediction:+d}",
                "yes" if step.mistake else "",
                f"{step.step:+g}" if step.mistake else "",
                "(" + ", ".join(f"{w:g}" for w in step.w) + ")",
                f"{step.b:g}",
            ]
            for step in steps[:limit]
        ]
        notes = ["..."] * more
        ties = [step.t for step in steps[:limit] if step.mistake and step.activation == 0 and not step.error]
        if ties and not self.settings.joint:
            numbers = ", ".join(map(str, dict.fromkeys(ties)))
            notes += [f"w . x + b is 0 at t = {numbers}: a mistake, so an update, but no wrong prediction"]
        return lines, notes

    def to_frame(self) -> Any:
        """Return all steps as a pandas DataFrame, with a column for each weight: ``w[0]``, ``w[1]``, ...

        Returns
        -------
        pandas.DataFrame
            A row for each step.
        """
        import pandas as pd

        names = [field.name for field in fields(Step) if field.name not in ("w", "w_before")]
        rows = [
            [*attributes(step, names).values(), *step.w_before.tolist(), *step.w.tolist()] for step in self
        ]
        d = (len(rows[0]) - len(names)) // 2 if rows else 0
        weights = [f"{name}[{j}]" for name in ("w_before", "w") for j in range(d)]
        return pd.DataFrame(rows, columns=names + weights)


#: What means something else in LaTeX, and what stands for it.
_LATEX = str.maketrans(
    {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "\n": " ", "\r": " "}
    | {character: f"\\{character}" for character in "&%$#_{}"}
)
_EXPONENT = re.compile(r"(?<=\d)e\+?(-?)0*(\d+)")


def _formula(text: str) -> str:
    """Return numbers in a formula, where 2e+10 would be read as a sum."""
    return "$" + _EXPONENT.sub(r" \\cdot 10^{\1\2}", text) + "$"


def trace(
    estimator: object,
    X: MatrixLike,
    y: ArrayLike,
    *,
    every: Literal["update", "example"] = "update",
    **fit_params: object,
) -> Trace:
    """Fit a clone of a linear or kernel learner, and return its fit step by step.

    The steps are those of ``fit``, to the last bit, in either engine. The reference computes them, which is
    slow on large data. With ``early_stopping`` they go on after the best epoch, as the fit did before it
    went back to what it had learnt by then.

    Parameters
    ----------
    estimator : object
        A learner that learns in epochs from examples: linear, kernel or on a budget. It stays as it is.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The examples.
    y : array-like of shape (n_samples,)
        Class labels.
    every : {"update", "example"}, default="update"
        What a step is: an update, or any example that was visited.
    **fit_params : dict
        Further arguments of ``fit``, such as ``sample_weight``.

    Returns
    -------
    Trace
        Iterates over the steps. With several classes, the steps of each epoch come class by class.

    Raises
    ------
    TypeError
        If the estimator is none of these learners.
    ValueError
        If ``every`` is something else, if ``n_partitions`` is not 1, or if an argument of ``fit`` is invalid.

    References
    ----------
    F. Rosenblatt, "The perceptron: a probabilistic model for information storage and organization in the
    brain", Psychological Review 65, 1958.

    Examples
    --------
    The logical "and", with inputs of -1 and 1:

    >>> from perceptron_rs import Perceptron, trace
    >>> X = [[-1, -1], [-1, 1], [1, -1], [1, 1]]
    >>> y = [-1, -1, -1, 1]
    >>> print(trace(Perceptron(shuffle=False, tol=None), X, y))
    epoch  t  row  class   y  w . x + b  predicted  mistake  step       w   b
        0  1    0      1  -1          0         -1      yes    -1  (1, 1)  -1
    w . x + b is 0 at t = 1: a mistake, so an update, but no wrong prediction
    """
    if not isinstance(every, str) or every not in ("update", "example"):
        raise ValueError(f'every must be "update" or "example", got {every!r:.80}')
    parameters = estimator.get_params() if isinstance(estimator, BaseEstimator) else {}
    if "engine" not in parameters:
        raise TypeError(
            f"estimator must be a linear or kernel learner of perceptron_rs, got {estimator!r:.100}"
        )
    if np.any(parameters.get("n_partitions", 1) != 1):
        raise ValueError(
            f"n_partitions must be 1, as a trace follows one run, got {parameters['n_partitions']!r:.80}"
        )
    model = clone(estimator).set_params(engine="reference")
    X, y = copy.deepcopy((X, y))  # steps are computed when they are asked for
    frozen({name: given for name, given in (("X", X), ("y", y)) if isinstance(given, np.ndarray)})
    with noted_calls() as calls:
        model.fit(X, y, **fit_params)
    if not calls:
        raise TypeError(f"estimator must learn hyperplanes in epochs, but {type(model).__name__} does not")
    return Trace(model, X, y, calls, every)


def _steps(call: DriveCall, classes: NDArray[np.generic], keep_all: bool) -> Iterator[Step]:
    """Run through the epochs of a fit again."""
    # Any: the decisions of a run are the reference's own.
    run: Any = get_engine("reference").start(
        call.data, call.state, replace(call.settings, keep_on_interrupt=False)
    )
    watches = [_Watch(decision, classes, call.settings, keep_all) for decision in run.decisions]
    n_iter = call.report.n_iter
    for number in range(int(n_iter.max())):
        run.epoch(call.first_epoch + number)
        for k, watch in enumerate(watches):
            yield from watch.take()
            if number + 1 == n_iter[k]:
                run.end(k)


class _Watch:
    """Stands between a decision of the reference and its hyperplanes, and notes what passes."""

    def __init__(self, decision: Any, classes: NDArray[np.generic], settings: Linear, keep_all: bool) -> None:
        self.decision, self.settings, self.keep_all = decision, settings, keep_all
        self.labels = [classes[settings.positive[k]] for k in decision.classes]
        self.steps: list[Step] = []
        self.activations: list[float] = []  # of the example
        self.moved: dict[int, tuple[float, NDArray[np.float64], float]] = {}  # step; w and b before it
        self.visit, decision.epoch = decision.epoch, self.epoch
        for p, plane in enumerate(decision.planes):
            plane.activation = partial(self.activation, p, plane.activation)
            plane.update = partial(self.update, p, plane.update)

    def epoch(self, number: int, x: Any, order: NDArray[np.generic], settings: Linear, before: float) -> Any:
        self.number = number
        self.rows = iter(order[self.decision.s[order] != 0].tolist())
        done = self.visit(number, x, order, settings, before)
        self.finish()
        return done

    def activation(self, p: int, activation: Callable[[Any], float], x: object) -> float:
        if p == 0:
            self.finish()
            self.row = next(self.rows)
        self.activations.append(activation(x))
        return self.activations[-1]

    def update(self, p: int, update: Callable[[float, Any], None], c: float, x: Any) -> None:
        plane = self.decision.planes[p]
        self.moved[p] = c, self.weights(plane), plane.b
        update(c, x)

    def finish(self) -> None:
        """Note the steps of the example before."""
        joint, y = self.settings.joint, self.decision.y
        for p, a in enumerate(self.activations):
            if joint:
                predicted = p == self.activations.index(max(self.activations))
            else:
                predicted = a > 0 or (a == 0 and self.settings.tie == "positive")
            if p not in self.moved and not self.keep_all:
                continue
            plane = self.decision.planes[p]
            w, b = self.weights(plane), plane.b
            c, w_before, b_before = self.moved.get(p, (0.0, w, b))
            self.steps.append(
                Step(
                    epoch=self.number,
                    t=plane.t,
                    row=self.row,
                    label=self.labels[p],
                    y=1 if (y[self.row] == p if joint else y[self.row] > 0) else -1,
                    activation=a,
                    prediction=1 if predicted else -1,
                    mistake=p in self.moved,
                    step=c,
                    w_before=w_before,
                    b_before=b_before,
                    w=w,
                    b=b,
                )
            )
        self.activations.clear()
        self.moved.clear()

    def weights(self, plane: Any) -> NDArray[np.float64]:
        """Return the weights of a hyperplane, with the penalty that is pending."""
        eta0, penalty = self.settings.eta0, self.settings.penalty
        if penalty is None:
            return np.array(plane.w)
        state = {"coef": plane.w[np.newaxis], "intercept": np.zeros(1), "seen": np.zeros(1, dtype=np.int64)}
        state |= {"ages": plane.ages()[np.newaxis], "strengths": np.array([eta0, *penalty])}
        return np.ravel(get_engine("reference").Model.from_state("perceptron", state)["coef"])

    def take(self) -> list[Step]:
        """Return the steps of the epoch."""
        steps, self.steps = self.steps, []
        return steps
