"""What a fitted sequence learner says about sequences."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from perceptron_rs.common.labels import check_classes
from perceptron_rs.common.parameters import n_threads
from perceptron_rs.common.rows.examples import Examples, examples
from perceptron_rs.engines import State, get_engine
from perceptron_rs.features import AttributeEncoder
from perceptron_rs.float_mode import standard
from perceptron_rs.sequence.input import (
    check_lengths,
    flat_labels,
    flat_tokens,
    is_nested,
    split_labels,
)
from perceptron_rs.sequence.limits import allowed_labels, forbidden_pairs

__all__ = ["Tagging"]


class Tagging:
    """The methods ``predict``, ``decode_scores`` and ``score``."""

    classes_: NDArray[Any]
    encoder_: AttributeEncoder
    _weights: State
    decode: str
    beam_width: int
    min_count: int
    hash_columns: int | None
    engine: str

    def predict(self, X: Any, *, lengths: Any = None, allowed: Any = None, forbidden: Any = None) -> Any:
        """Predict the labels of sequences.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features), or list of sequences
            As for ``fit``.
        lengths : array-like of shape (n_sequences,), default=None
            As for ``fit``.
        allowed : array-like of shape (n_tokens, n_classes), or list of sets of labels, default=None
            Labels that each token may have: a boolean array of tokens by classes, or a collection of labels
            for each token, where None allows all labels.
        forbidden : list of pairs of labels, default=None
            Pairs (label, next label) that must not occur.

        Returns
        -------
        y : ndarray of shape (n_tokens,), or list of lists of labels
            Predicted labels, in the form of X.
        """
        labels, _, lengths = self._decode(X, lengths, allowed, forbidden)
        y = self.classes_[labels]
        return split_labels(y, lengths) if is_nested(X) else y

    def decode_scores(self, X: Any, *, lengths: Any = None) -> NDArray[np.float64]:
        """Return the score of the best labelling of each sequence.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features), or list of sequences
            As for ``fit``.
        lengths : array-like of shape (n_sequences,), default=None
            As for ``fit``.

        Returns
        -------
        scores : ndarray of shape (n_sequences,)
            Sums of weights, not normalized.
        """
        return self._decode(X, lengths, None, None)[1]

    def score(self, X: Any, y: Any, *, lengths: Any = None) -> float:
        """Return the fraction of tokens that are labelled correctly.

        Labels that did not occur in training count as errors.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features), or list of sequences
            As for ``fit``.
        y : array-like of shape (n_tokens,), or list of sequences of labels
            True labels.
        lengths : array-like of shape (n_sequences,), default=None
            As for ``fit``.

        Returns
        -------
        float
            Token accuracy.
        """
        labels, _, lengths = self._decode(X, lengths, None, None)
        truth = np.asarray(flat_labels(y, lengths) if is_nested(X) else y)
        if truth.shape != labels.shape:
            raise ValueError(f"y must have a label for each of {len(labels)} tokens, got shape {truth.shape}")
        return float(np.count_nonzero(self.classes_[labels] == truth) / len(truth))

    def _decode(
        self, X: Any, lengths: Any, allowed: Any, forbidden: Any
    ) -> tuple[NDArray[np.uint32], NDArray[np.float64], NDArray[np.int64]]:
        check_is_fitted(self)
        check_classes(self.classes_, len(self._weights["start"]))
        with standard():
            data, lengths = self._examples(X, lengths, reset=False)
            try:
                labels, scores = get_engine(self.engine).sequence_decode(
                    data.rows,
                    lengths,
                    weights=self._weights,
                    threads=n_threads(self),
                    beam=int(self.beam_width) if self.decode == "beam" else None,
                    allowed=allowed_labels(allowed, self.classes_, data.rows.shape[0]),
                    forbidden=forbidden_pairs(forbidden, self.classes_),
                )
            except OverflowError as error:
                data.assert_finite(self)
                raise ValueError(str(error)) from None
        return labels, scores, lengths

    def _examples(self, X: Any, lengths: Any, *, reset: bool) -> tuple[Examples, NDArray[np.int64]]:
        engine = get_engine(self.engine)
        if is_nested(X):
            if lengths is not None:
                raise ValueError("lengths must be None for a list of sequences, which tells them itself")
            tokens, found = flat_tokens(X)
            if reset:
                self.encoder_ = AttributeEncoder(min_count=self.min_count, n_columns=self.hash_columns)
                matrix = self.encoder_.fit_transform(tokens)
            elif not hasattr(self, "encoder_"):
                raise ValueError("X must be a matrix, because the model was fitted to one; got attributes")
            else:
                matrix = self.encoder_.transform(tokens)
            return examples(self, engine, matrix, reset=reset), found
        if not reset and hasattr(self, "encoder_"):
            raise ValueError(
                "X must be a list of sequences of attributes, because the model was fitted to such; "
                "encode a matrix with encoder_ and a model fitted to matrices"
            )
        data = examples(self, engine, X, reset=reset)
        return data, check_lengths(lengths, data.rows.shape[0])
