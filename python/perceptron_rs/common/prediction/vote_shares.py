"""The shares of a vote as what scikit-learn calls probabilities."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.array_likes import MatrixLike
from perceptron_rs.common.prediction.predictor import MistakeClassifier
from perceptron_rs.common.targets.planes import is_joint, is_multilabel
from perceptron_rs.common.turns import consistent

__all__ = ["VoteShares"]

Method = TypeVar("Method", bound=Callable[..., Any])

_CALIBRATED = "for probabilities of its scores use sklearn.calibration.CalibratedClassifierCV"


class _Available:
    """A method that only some objects have: scikit-learn's ``available_if``, whose import is slow."""

    def __init__(self, check: Callable[[Any], None], method: Callable[..., Any]) -> None:
        self.check, self.method = check, method
        update_wrapper(cast("Callable[..., Any]", self), method)

    def __get__(self, model: object, kind: type | None = None) -> Any:
        if model is None:
            return self.method
        self.check(model)
        return MethodType(self.method, model)


def _if_votes(method: Method) -> Method:
    found: Any = _Available(_check_votes, method)
    return found  # type: ignore[no-any-return]


def _check_votes(model: Any) -> None:
    """Raise AttributeError unless shares of votes say what ``predict`` says."""
    name = type(model).__name__
    if model.prediction != "vote":
        raise AttributeError(
            f"{name!r} has predict_proba only with prediction='vote', got {model.prediction!r:.80}; "
            f"{_CALIBRATED}"
        )
    if model.tie != "mistake":
        raise AttributeError(
            f"{name!r} has predict_proba only with tie='mistake', where equal shares mean the first class, "
            f"got {model.tie!r:.80}; {_CALIBRATED}"
        )


class VoteShares(MistakeClassifier):
    """The method ``predict_proba`` of classifiers whose ``decision_function`` may be that of a vote."""

    #: The values of ``prediction``.
    _predictions: ClassVar[tuple[str, ...]]

    @_if_votes
    @consistent
    def predict_proba(self, X: MatrixLike) -> NDArray[np.float64]:
        """Return the share of the votes that each class has. It is no calibrated probability.

        The shares tell how far the weight vectors of the run agree about an example. They are not the
        probability of being right: vectors of one run are much alike, so shares of 0 and 1 are common,
        and those who agree may be wrong. `sklearn.calibration.CalibratedClassifierCV` makes probabilities of
        the scores. Available with ``prediction="vote"`` and ``tie="mistake"``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples, as for ``decision_function``.

        Returns
        -------
        shares : ndarray of shape (n_samples, n_classes)
            Columns are in the order of ``classes_``. For two classes, and in a joint decision, shares of all
            votes. Else each class has a vote of its own against the rest, and the shares that are for the
            classes are divided by their sum, as scikit-learn does; if nobody votes for any class, all are
            equal. Rows sum to 1, up to the rounding of each number. The largest share, in a tie the first
            one, is that of the class that ``predict`` returns. Of many labels, the share of each label in a
            vote of its own: rows do not sum to 1, and ``predict`` returns the labels with more than half.

        Raises
        ------
        AttributeError
            If another ``prediction`` or ``tie`` is set: then there is no such method.
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If X has a wrong shape, contains NaN or infinity, or makes a vote overflow.
        """
        return self._shares(self.decision_function(X))

    def _shares(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the shares of each class of what ``decision_function`` says of a vote."""
        if is_multilabel(self):
            return (1.0 + scores) / 2.0
        if scores.ndim == 1:
            found = np.column_stack([(1.0 - scores) / 2.0, (1.0 + scores) / 2.0])
        else:
            found = scores if is_joint(self) else 1.0 + scores
            total = np.add.accumulate(found, axis=1)[:, -1:]
            equal = np.full_like(found, 1.0 / scores.shape[1])
            found = np.divide(found, total, out=equal, where=total > 0)
        # Rounding may make two shares equal, of which the second is the larger one.
        decided, rows = self._decide(scores.reshape(len(scores), -1)), np.arange(len(scores))
        hidden = rows[np.argmax(found, axis=1) != decided]
        found[hidden, decided[hidden]] = np.nextafter(found[hidden, decided[hidden]], np.inf)
        return found
