"""Passes on the attributes of an estimator.

The core does all of it in one crossing of the border, because for a single example reading the
settings takes longer than learning. Here it is a run of one epoch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.reference.linear.run import start_linear
from perceptron_rs.reference.rows import csr_rows, dense_rows
from perceptron_rs.settings import Data, Linear

__all__ = ["OnePass", "one_pass"]


class OnePass:
    """What parameters say of a pass, and how an estimator calls what it learns."""

    def __init__(
        self,
        parameters: dict[str, Any],
        absent: Sequence[str],
        caches: Sequence[str],
        stored: dict[str, str],
        settings: Linear,
    ) -> None:
        self.parameters, self.absent, self.caches = parameters, absent, caches
        self.stored, self.settings = stored, settings

    def learn(
        self,
        estimator: Any,
        rows: Any,
        y: NDArray[Any],
        encoded: bool = False,
        activations: NDArray[np.float64] | None = None,
        sample_weight: NDArray[np.float64] | None = None,
        also: dict[str, Any] | None = None,
        turns: list[Any] | None = None,
    ) -> bool:
        """Learn from the rows in their order and replace the attributes that change.

        Parameters
        ----------
        estimator : object
            A fitted estimator.
        rows : C-contiguous matrix, tuple of the arguments of ``csr_rows``, or made by that or ``dense_rows``
        y : array of shape (n,)
            Their classes, in the kind of type that ``classes_`` has.
        encoded : bool
            Whether y holds indices of classes instead, as uint32.
        activations : array of shape (n, K)
            Where the activations before the updates go, if they are wanted.
        sample_weight : float64 array of shape (n,)
            Weights of the examples, above 0.
        also : dict
            Other attributes that change with them.
        turns : list of `perceptron_rs.common.turns.Turn`
            The turns that calls have taken, unless the caller has the turn of this estimator.

        Returns
        -------
        bool
            False if nothing was done: the attributes are not those that this was made for, the pass takes so
            long that it might have to be interrupted, another call has a turn to change the estimator, or
            something is wrong; a run says what.
        """
        attributes = vars(estimator)
        now = ((attributes.get(name, self), value) for name, value in self.parameters.items())
        fits = (a is value or (type(a) is dict and a == value) for a, value in now)
        if not all(fits) or any(name in attributes for name in self.absent):
            return False
        try:
            changes = self._changes(attributes, rows, y, encoded, activations, sample_weight)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            return False
        changes |= also or {}
        if any(turn.estimator is estimator for turn in turns or ()) or vars(estimator) is not attributes:
            return False
        attributes.update(changes)
        return True

    def _changes(
        self,
        attributes: dict[str, Any],
        rows: Any,
        y: NDArray[Any],
        encoded: bool,
        activations: NDArray[np.float64] | None,
        sample_weight: NDArray[np.float64] | None,
    ) -> dict[str, Any]:
        """Return the attributes after the pass."""
        classes = self.parameters["classes_"]
        if encoded:
            classes = np.arange(len(classes), dtype=np.uint32)
        known = classes.tolist()
        labels = np.array([known.index(label) for label in y.tolist()], dtype=np.uint32)
        state = {name: attributes[attribute] for name, attribute in self.stored.items()}
        if y.dtype.kind != classes.dtype.kind or (state["seen"] < 0).any():
            raise ValueError("the labels are of another kind, or a count is below 0")
        if any(
            values.dtype != (np.int64 if name == "seen" else np.float64) for name, values in state.items()
        ):
            raise TypeError("an array is not of its type")
        if sample_weight is not None and (sample_weight.dtype != np.float64 or not (sample_weight > 0).all()):
            raise ValueError("a weight is not above 0")
        if isinstance(rows, np.ndarray):
            rows = dense_rows(rows)
        elif isinstance(rows, tuple):
            rows = csr_rows(*rows)
        if "settled" in state:
            state["ages"] = (state["seen"][:, np.newaxis] - state.pop("settled")).astype(np.int64)
        data = Data(rows, labels, sample_weight)
        run = start_linear(data, state, replace(self.settings, track_activations=activations is not None))
        mistakes = run.epoch(0).mistakes
        for k in range(len(mistakes)):
            run.end(k)
        if activations is not None:
            activations[:] = run.tracked()["activations"]
        learnt, number = run.state(), int(np.add.reduce(mistakes))
        if "ages" in learnt:
            learnt["settled"] = (learnt["seen"][:, np.newaxis] - learnt["ages"]).astype(np.float64)
        changes: dict[str, Any] = {attribute: learnt[name] for name, attribute in self.stored.items()}
        changes |= {name: [] for name in self.caches}
        changes |= {
            "n_iter_": 1,
            "n_iter_per_class_": np.ones(len(mistakes), dtype=np.int64),
            "n_mistakes_": number,
            "mistakes_per_epoch_": mistakes[np.newaxis],
            "converged_": number == 0,
        }
        if self.settings.track_mistakes:
            changes["mistakes_per_example_"] = run.tracked()["mistakes_per_example"]
        return changes


def one_pass(
    *,
    parameters: dict[str, Any],
    absent: Sequence[str],
    caches: Sequence[str],
    stored: dict[str, str],
    learner: str,
    positive: NDArray[np.uint32],
    class_weight: NDArray[np.float64],
    eta0: float,
    tie: str,
    fit_intercept: bool,
    margin_threshold: float = 0.0,
    added_feature: float = 0.0,
    max_mistakes_per_example: int | None = None,
    joint: str | None = None,
    penalty: tuple[float, float] | None = None,
    track_mistakes: bool = False,
) -> OnePass:
    """Read the parameters once, for many passes.

    Parameters
    ----------
    parameters : dict
        Attributes of the estimator, and the very objects that they must be for these arguments to hold; of a
        dict, which may change, a copy. ``classes_`` is among them.
    absent : sequence of str
        Attributes that it must not have: a pass would have to remove them.
    caches : sequence of str
        Attributes that become an empty list.
    stored : dict
        The attribute that holds each number of the state; instead of "ages", "settled" is the count of "seen"
        when each weight was last settled, as float64.
    learner : "perceptron" or "averaged"
    positive : uint32 array of shape (K,)
        This and all that follow are fields of `perceptron_rs.settings.Linear`.
    class_weight : float64 array of shape (K, 2)
    eta0 : float
    tie : "mistake" or "positive"
    fit_intercept : bool
    margin_threshold : float
    added_feature : float
    max_mistakes_per_example : int or None
    joint : "max", "uniform", "proportional" or None
    penalty : tuple of two floats, or None
    track_mistakes : bool

    Returns
    -------
    OnePass
        An object with a method ``learn``.
    """
    if learner not in ("perceptron", "averaged"):
        raise ValueError(f'learner must be "perceptron" or "averaged" in one_pass, got {learner!r}; use fit')
    settings = Linear(
        learner=learner,
        positive=positive.copy(),
        class_weight=class_weight.copy(),
        eta0=eta0,
        tie=tie,
        fit_intercept=fit_intercept,
        margin_threshold=margin_threshold,
        added_feature=added_feature,
        max_mistakes_per_example=max_mistakes_per_example,
        joint=joint,
        penalty=penalty,
        track_mistakes=track_mistakes,
        settle=False,
    )
    return OnePass(dict(parameters), list(absent), list(caches), dict(stored), settings)
