"""String attributes of tokens as the columns of a CSR matrix."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import compress, count
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike, as_users_have
from perceptron_rs.arrays.scalars import whole_number
from perceptron_rs.estimator_attributes import check_is_fitted
from perceptron_rs.features.vocabulary import Vocabulary, collect, token_chunks
from perceptron_rs.sklearn_base import BaseEstimator, TransformerMixin


class AttributeEncoder(TransformerMixin, BaseEstimator):
    """Encode the attributes of tokens as rows of a sparse matrix.

    The attributes of a token are a list (or tuple or set) of strings, each with the value 1, or a dict as
    in sklearn-crfsuite: ``{"word": "dog", "is_title": True, "length": 3.0}`` gives the columns ``word=dog``
    (1), ``is_title`` (1) and ``length`` (3). A value may be a list or set of strings, each a column like
    ``word=dog``, and a dict: ``{"before": {"word": "a"}}`` gives ``before:word=a``. An attribute that occurs
    twice counts twice.

    Parameters
    ----------
    min_count : int, default=1
        Ignore attributes of fewer tokens than this.
    n_columns : int, default=None
        If None, keep a vocabulary of the attributes seen during ``fit``, and ignore unknown ones. If a
        number, hash attributes to that many columns with scikit-learn's ``FeatureHasher`` (without signs),
        without a vocabulary; ``min_count`` must then be 1.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        Column of each attribute, in the order of their first occurrence. Empty if attributes are hashed.
    n_columns_ : int
        Number of columns.

    Examples
    --------
    >>> from perceptron_rs.features import AttributeEncoder
    >>> encoder = AttributeEncoder()
    >>> encoder.fit_transform([["w=the", "a"], ["w=dog", "a"]]).toarray()
    array([[1, 1, 0],
           [0, 1, 1]], dtype=int8)
    >>> encoder.transform([{"w": "dog", "a": 0.5, "new": True}]).toarray()
    array([[0. , 0.5, 1. ]])
    """

    vocabulary_: dict[str, int]
    n_columns_: int

    def __init__(self, min_count: int = 1, n_columns: int | None = None) -> None:
        self.min_count = min_count
        self.n_columns = n_columns

    def fit(self, tokens: Iterable[object], y: ArrayLike = None) -> Self:  # noqa: ARG002  scikit-learn's
        """Learn the vocabulary.

        Parameters
        ----------
        tokens : iterable of lists of strings or of dicts
            The attributes of each token. A generator is read once, so they need not all be in memory.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted encoder.
        """
        self._check()
        if self.n_columns is not None:
            self.vocabulary_, self.n_columns_ = {}, int(self.n_columns)
            return self
        known: defaultdict[str, int] = defaultdict(count().__next__)
        counts = np.zeros(0, dtype=np.int64)  # of the tokens that have each
        for names, _, sizes in token_chunks(tokens):
            columns = np.fromiter(map(known.__getitem__, names), dtype=np.int64, count=len(names))
            if self.min_count > 1:
                of_tokens = np.repeat(np.arange(len(sizes)), sizes) * len(known) + columns
                new = np.bincount(np.unique(of_tokens) % len(known), minlength=len(known))
                new[: len(counts)] += counts
                counts = new
        self._keep(known, counts)
        return self

    def fit_transform(self, tokens: Iterable[object], y: ArrayLike = None) -> MatrixLike:  # noqa: ARG002  the same
        """Learn the vocabulary and encode the same tokens.

        Parameters
        ----------
        tokens : iterable of lists of strings or of dicts
            The attributes of each token. A generator is read once, so they need not all be in memory.
        y : None
            Ignored.

        Returns
        -------
        X : csr_matrix of shape (n_tokens, n_columns_)
            The encoded tokens: int8, or float64 if there are values other than 1.
        """
        self._check()
        if self.n_columns is not None:
            return self.fit(()).transform(tokens)
        # A dict that gives each new name the next column, at the speed of C.
        known: defaultdict[str, int] = defaultdict(count().__next__)
        X = _matrix(*collect(tokens, lambda names: map(known.__getitem__, names)), len(known))
        kept = self._keep(known, np.bincount(X.indices, minlength=len(known)))
        return as_users_have(X if kept is None else X[:, kept])

    def _keep(self, known: dict[str, int], counts: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        """Set the vocabulary: names of at least ``min_count`` tokens. Return their mask, None for all."""
        kept = None if self.min_count == 1 else counts >= self.min_count
        names = known if kept is None else compress(known, kept.tolist())
        self.vocabulary_ = {name: column for column, name in enumerate(names)}
        self.n_columns_ = len(self.vocabulary_)
        return kept

    def transform(self, tokens: Iterable[object]) -> MatrixLike:
        """Encode tokens, ignoring attributes that are not in the vocabulary.

        Parameters
        ----------
        tokens : iterable of lists of strings or of dicts
            The attributes of each token. A generator is read once, so they need not all be in memory.

        Returns
        -------
        X : csr_matrix of shape (n_tokens, n_columns_)
            The encoded tokens: int8, or float64 if there are values other than 1.
        """
        check_is_fitted(self)
        columns, values, ends = self._vocabulary().entries(tokens)
        if self.n_columns is not None and values is None:
            values = np.ones(len(columns))  # the hasher's type
        return as_users_have(_matrix(columns, values, ends, self.n_columns_))

    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self.vocabulary_, self.n_columns_, self.n_columns is not None)

    @classmethod
    def _of(cls, vocabulary: Vocabulary, min_count: int) -> Self:
        """Return an encoder that has learnt this vocabulary."""
        encoder = cls(min_count, vocabulary.n_columns if vocabulary.is_hashed else None)
        encoder.vocabulary_, encoder.n_columns_ = vocabulary.names, vocabulary.n_columns
        return encoder

    def _check(self) -> None:
        whole_number("min_count", self.min_count, 1)
        if self.n_columns is None:
            return
        whole_number("n_columns", self.n_columns, 1, 2**31 - 1)
        if self.min_count != 1:
            raise ValueError(
                f"min_count must be 1 with n_columns, which keeps no counts, got {self.min_count}"
            )


def _matrix(
    columns: NDArray[np.int32], values: NDArray[np.float64] | None, ends: NDArray[np.int64], width: int
) -> csr_matrix:
    data: Any = values
    if values is None:
        # Wide enough for the sums of duplicates.
        most = int(np.diff(ends).max(initial=0))
        data = np.ones(len(columns), dtype=np.int8 if most <= 127 else np.int32)
    X = csr_matrix((data, columns, ends), shape=(len(ends) - 1, width))
    X.sum_duplicates()
    return X
