"""The shares of a vote as what scikit-learn calls probabilities."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import MatrixLike
from perceptron_rs.prediction.predictor import Classifier, calibrated, decide
from perceptron_rs.probabilities import available, largest_decides
from perceptron_rs.state.learnt import learnt_of
from perceptron_rs.state.turns import consistent
from perceptron_rs.targets.planes import is_joint, is_multilabel

_CALIBRATED = "for probabilities of its scores call calibrate"


def _check_votes(model: Any) -> None:
    """Raise AttributeError unless it is calibrated, or shares of votes say what ``predict`` says."""
    name = type(model).__name__
    if learnt_of(model).calibration is not None:
        return
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


class VoteShares(Classifier):
    """The method ``predict_proba`` of classifiers whose ``decision_function`` may be that of a vote."""

    #: The values of ``prediction``.
    _predictions: ClassVar[tuple[str, ...]]

    @available(_check_votes)
    @consistent
    def predict_proba(self, X: MatrixLike) -> NDArray[np.float64]:
        """Return the share of the votes that each class has. It is no calibrated probability.

        The shares tell how far the weight vectors of the run agree about an example. They are not the
        probability of being right: vectors of one run are much alike, so shares of 0 and 1 are common,
        and those who agree may be wrong. After ``calibrate``, it returns probabilities of the scores instead.
        Available then, and with ``prediction="vote"`` and ``tie="mistake"``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples, as for ``decision_function``.

        Returns
        -------
        shares : ndarray of shape (n_samples, n_classes)
            Columns are in the order of ``classes_``. For two classes, shares of all votes, where a vector
            that takes no side counts half for each. In a joint decision, shares of the votes that were cast.
            Else each class has a vote of its own against the rest, and the shares that are for the classes
            are divided by their sum, as scikit-learn does. If nobody votes for any class, all are equal. Rows
            sum to 1, up to the rounding of each number. The largest share, in a tie the first one, is that of
            the class that ``predict`` returns. Of many labels, the share of each label in a vote of its own:
            rows do not sum to 1, and ``predict`` returns the labels with more than half.

        Raises
        ------
        AttributeError
            If another ``prediction`` or ``tie`` is set, and there is no calibration: then there is no such
            method.
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If X has a wrong shape, contains NaN or infinity, or makes a vote overflow.
        """
        if self._learnt.calibration is not None:
            return calibrated(self, X)
        return self._shares(self.decision_function(X))

    def _shares(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the shares of each class of what ``decision_function`` says of a vote."""
        if is_multilabel(self):
            return (1.0 + scores) / 2.0
        if scores.ndim == 1:
            shares = np.column_stack([(1.0 - scores) / 2.0, (1.0 + scores) / 2.0])
        else:
            shares = scores if is_joint(self) else 1.0 + scores
            total = np.add.accumulate(shares, axis=1)[:, -1:]
            equal = np.full_like(shares, 1.0 / scores.shape[1])
            shares = np.divide(shares, total, out=equal, where=total > 0)
        return largest_decides(shares, decide(self, scores.reshape(len(scores), -1)))
