"""String attributes of tokens as the columns of a CSR matrix."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction import FeatureHasher
from sklearn.utils.validation import check_is_fitted

__all__ = ["AttributeEncoder"]


class AttributeEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn the attributes of tokens into rows of a sparse matrix.

    The attributes of a token are a list (or tuple, set) of strings, each worth 1, or a dict as
    sklearn-crfsuite takes it: ``{"word": "dog", "is_title": True, "length": 3.0}`` has the columns
    ``word=dog`` (1), ``is_title`` (1) and ``length`` (3). An attribute that occurs twice counts twice.

    Parameters
    ----------
    min_count : int, default=1
        Attributes that fewer tokens have are left out.
    n_columns : int, default=None
        None keeps a vocabulary of what ``fit`` has seen; unknown attributes are ignored. A number hashes
        attributes to so many columns with scikit-learn's ``FeatureHasher`` (without signs), and nothing
        needs to be remembered; ``min_count`` must be 1 then.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        The column of each attribute, in the order in which they were first met. Empty when hashing.
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

    def fit(self, tokens: Sequence[Any], y: Any = None) -> Self:  # noqa: ARG002  scikit-learn's
        """Learn the vocabulary.

        Parameters
        ----------
        tokens : sequence of lists of strings or of dicts
            The attributes of each token.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted encoder.
        """
        names, _, _ = _entries(tokens)
        return self._learn(names)

    def fit_transform(self, tokens: Sequence[Any], y: Any = None) -> Any:  # noqa: ARG002  the same
        """Learn the vocabulary and return the rows of the same tokens.

        Parameters
        ----------
        tokens : sequence of lists of strings or of dicts
            The attributes of each token.
        y : None
            Ignored.

        Returns
        -------
        X : csr_matrix of shape (n_tokens, n_columns_)
            int8, or float64 if there are values other than 1.
        """
        entries = _entries(tokens)
        return self._learn(entries[0])._rows(*entries)

    def transform(self, tokens: Sequence[Any]) -> Any:
        """Return the rows of tokens; attributes that are not in the vocabulary are ignored.

        Parameters
        ----------
        tokens : sequence of lists of strings or of dicts
            The attributes of each token.

        Returns
        -------
        X : csr_matrix of shape (n_tokens, n_columns_)
            int8, or float64 if there are values other than 1.
        """
        check_is_fitted(self)
        return self._rows(*_entries(tokens))

    def _learn(self, names: list[str]) -> Self:
        if not isinstance(self.min_count, Integral) or self.min_count < 1:
            raise ValueError(f"min_count must be a whole number of at least 1, got {self.min_count!r}")
        if self.n_columns is None:
            counts = Counter(names)
            for name in counts:
                if not isinstance(name, str):
                    raise TypeError(f"attributes must be strings, got {name!r:.80}; write it as name=value")
            kept = (name for name, count in counts.items() if count >= self.min_count)
            self.vocabulary_ = {name: column for column, name in enumerate(kept)}
            self.n_columns_ = len(self.vocabulary_)
            return self
        if not isinstance(self.n_columns, Integral) or self.n_columns < 1:
            raise ValueError(
                f"n_columns must be a whole number of at least 1 or None, got {self.n_columns!r}"
            )
        if self.min_count != 1:
            raise ValueError(
                f"min_count must be 1 with n_columns, which keeps no counts, got {self.min_count}"
            )
        self.vocabulary_, self.n_columns_ = {}, int(self.n_columns)
        return self

    def _rows(self, names: list[str], values: list[float] | None, lengths: list[int]) -> Any:
        if self.n_columns is not None:
            return self._hashed(names, values, lengths)
        # The look-up of a dict, at the speed of C; -1 for unknown ones.
        look_up = _Columns(self.vocabulary_)
        columns = np.fromiter(map(look_up.__getitem__, names), dtype=np.int32, count=len(names))
        ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        known = columns >= 0
        data: Any = (
            np.ones(len(columns), dtype=np.int8) if values is None else np.array(values, dtype=np.float64)
        )
        if not known.all():
            ends = np.concatenate([[0], np.cumsum(known)])[ends]
            columns, data = columns[known], data[known]
        if max(lengths, default=0) > 127 and data.dtype == np.int8:
            data = data.astype(np.int32)  # for the sums of duplicates
        X = csr_matrix((data, columns, ends), shape=(len(lengths), self.n_columns_))
        X.sum_duplicates()
        return X

    def _hashed(self, names: list[str], values: list[float] | None, lengths: list[int]) -> Any:
        ends = np.cumsum(lengths).tolist()
        starts = [0, *ends[:-1]]
        hasher = FeatureHasher(self.n_columns_, input_type="pair", alternate_sign=False)
        if values is None:
            pairs: Iterable[Any] = (
                zip(names[a:b], repeat(1.0), strict=False) for a, b in zip(starts, ends, strict=True)
            )
        else:
            pairs = (zip(names[a:b], values[a:b], strict=True) for a, b in zip(starts, ends, strict=True))
        X = hasher.transform(pairs)
        X.sum_duplicates()
        return X


class _Columns(dict[str, int]):
    def __missing__(self, name: str) -> int:
        return -1


def _entries(tokens: Sequence[Any]) -> tuple[list[str], list[float] | None, list[int]]:
    """Return the names of all attributes, their values (None: all 1), and how many each token has."""
    kinds = set(map(type, tokens))
    if all(issubclass(kind, (list, tuple, set, frozenset)) for kind in kinds):
        return list(chain.from_iterable(tokens)), None, list(map(len, tokens))
    names: list[str] = []
    values: list[float] = []
    lengths: list[int] = []
    for i, token in enumerate(tokens):
        before = len(names)
        if isinstance(token, dict):
            for name, value in token.items():
                _add(names, values, name, value, i)
        elif isinstance(token, (list, tuple, set, frozenset)):
            names += token
            values += [1.0] * len(token)
        else:
            raise TypeError(f"token {i} must be a list of strings or a dict, got {token!r:.80}")
        lengths.append(len(names) - before)
    return names, values, lengths


def _add(names: list[str], values: list[float], name: Any, value: Any, i: int) -> None:
    if not isinstance(name, str):
        raise TypeError(f"attributes must be strings, got {name!r:.80} at token {i}")
    if isinstance(value, str):
        names.append(f"{name}={value}")
        values.append(1.0)
    elif isinstance(value, (Real, np.bool_)):
        if not math.isfinite(value):
            raise ValueError(f"attribute {name!r:.80} of token {i} must be finite, got {value}; leave it out")
        names.append(name)
        values.append(float(value))
    else:
        raise TypeError(
            f"attribute {name!r:.80} of token {i} must be a string, a number or a boolean, got {value!r:.80}"
        )
