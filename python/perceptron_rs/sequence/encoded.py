"""Sequences that have been encoded before: the attributes of a corpus are much larger than its rows."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

from sklearn.base import _fit_context
from sklearn.utils.validation import check_is_fitted

from perceptron_rs.features import AttributeEncoder

__all__ = ["Encoded"]


class Encoded:
    """The method ``fit_encoded``."""

    @abstractmethod
    def _fit(self, X: Any, y: Any, lengths: Any, encoder: AttributeEncoder | None) -> Self: ...

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit_encoded(self, encoder: AttributeEncoder, X: Any, y: Any, *, lengths: Any) -> Self:
        """Fit the model to rows made by a fitted encoder. ``predict`` then takes attributes.

        Equivalent to ``fit`` with the attributes, which need not all be in memory at once: an encoder reads
        a generator.

        Parameters
        ----------
        encoder : AttributeEncoder
            Encoder that made the rows.
        X : sparse matrix of shape (n_tokens, n_features)
            The tokens of all sequences one after another.
        y : array-like of shape (n_tokens,)
            Labels of the examples.
        lengths : array-like of shape (n_sequences,)
            Number of rows of each sequence.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError, TypeError
            As ``fit``.

        Examples
        --------
        >>> from perceptron_rs import SequencePerceptron
        >>> from perceptron_rs.features import AttributeEncoder, word_attributes
        >>> sentences, y = [["the", "dog"], ["a", "cat", "sleeps"]], ["D", "N", "D", "N", "V"]
        >>> encoder = AttributeEncoder()
        >>> X = encoder.fit_transform(token for words in sentences for token in word_attributes(words))
        >>> model = SequencePerceptron().fit_encoded(encoder, X, y, lengths=[2, 3])
        >>> model.predict([word_attributes(["the", "cat"])])
        [['D', 'N']]
        """
        check_encoder(self, encoder)
        return self._fit(X, y, lengths, encoder)


def check_encoder(model: Any, encoder: Any) -> None:
    """Refuse what is no fitted encoder with the model's parameters."""
    if not isinstance(encoder, AttributeEncoder):
        raise TypeError(f"encoder must be an AttributeEncoder, got {encoder!r:.80}")
    check_is_fitted(encoder)
    if (encoder.min_count, encoder.n_columns) != (model.min_count, model.hash_columns):
        raise ValueError(
            f"min_count and hash_columns must be those of the encoder, {encoder.min_count} and "
            f"{encoder.n_columns}, got {model.min_count} and {model.hash_columns}"
        )
