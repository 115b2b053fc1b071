"""Sequences as callers give them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.array_likes import ArrayLike, MatrixLike, dtype_kind, has_length, n_dimensions, values_of
from perceptron_rs.common.rows.examples import ValidatedRows, examples
from perceptron_rs.common.targets.labels import label_array
from perceptron_rs.engines import get_engine
from perceptron_rs.errors import ArgumentError
from perceptron_rs.estimator_attributes import check_is_fitted

if TYPE_CHECKING:
    from perceptron_rs.features import AttributeEncoder

__all__ = [
    "AnswerList",
    "as_token_lists",
    "assert_columns",
    "check_encoder",
    "flat_labels",
    "is_nested",
    "materialize",
    "read_sequences",
    "split_labels",
]


def read_sequences(
    model: Any, X: MatrixLike, lengths: ArrayLike, *, reset: bool
) -> tuple[ValidatedRows, NDArray[np.int64]]:
    """Return the tokens of all sequences as rows, and the length of each sequence.

    Attributes become columns by the encoder of the model, which ``reset`` makes anew.
    """
    if is_nested(X):
        if lengths is not None:
            raise ValueError("lengths must be None for a list of sequences, which tells them itself")
        tokens, found = flat_tokens(X)
        if not tokens:
            raise ValueError(f"X must hold at least one token, got {len(found)} sequences without any")
        if reset:
            matrix = model._fit_encoder(tokens)
        elif "encoder_" not in vars(model):
            raise ValueError("X must be a matrix, because the model was fitted to one; got attributes")
        else:
            matrix = model._encoded(tokens)
        return _token_rows(model, matrix, reset), found
    if not reset and "encoder_" in vars(model):
        raise ValueError(
            "X must be a list of sequences of attributes, because the model was fitted to such; "
            "encode a matrix with encoder_ and a model fitted to matrices"
        )
    data = _token_rows(model, X, reset)
    return data, check_lengths(lengths, data.rows.shape[0])


def _token_rows(model: Any, matrix: Any, reset: bool) -> ValidatedRows:
    engine = get_engine(model.engine)
    return examples(model, engine, matrix, reset=True) if reset else model._examples(engine, matrix)


def check_encoder(model: Any, encoder: Any) -> None:
    """Refuse what is no fitted encoder with the model's parameters."""
    from perceptron_rs.features.encoder import AttributeEncoder  # which imports scikit-learn

    if not isinstance(encoder, AttributeEncoder):
        raise TypeError(f"encoder must be an AttributeEncoder, got {encoder!r:.80}")
    check_is_fitted(encoder)
    if (encoder.min_count, encoder.n_columns) != (model.min_count, model.hash_columns):
        raise ValueError(
            f"min_count and hash_columns must be those of the encoder, {encoder.min_count} and "
            f"{encoder.n_columns}, got {model.min_count} and {model.hash_columns}"
        )
    assert_columns(encoder)


def assert_columns(encoder: AttributeEncoder) -> None:
    """Raise ValueError if no attribute has become a column."""
    if encoder.n_columns_:
        return
    if encoder.min_count == 1:
        raise ValueError("X must hold at least one attribute, but no token has one")
    raise ArgumentError(
        "{min_count} leaves no attribute", "lower it", values={"min_count": int(encoder.min_count)}
    )


def as_token_lists(X: MatrixLike) -> MatrixLike:
    """Return a list of lists of tokens if X is sequences of tokens with attributes; a matrix as it is.

    Sequences, their tokens and the attributes of a token may also come from generators, in tuples, and in
    arrays or Series of objects.
    """
    X = materialize(X)
    if type(X) is not list or not any(map(_is_sequence, X)):
        _refuse_single(X)
        return X
    found = []
    for sequence in map(materialize, X):
        if type(sequence) is list and not all(type(token) in _PLAIN for token in sequence):
            found.append(list(map(materialize, sequence)))
        else:
            found.append(sequence)
    return found


_PLAIN = (list, dict, float, int)  # tokens, or numbers of a matrix, that are as they should be


def materialize(given: MatrixLike) -> MatrixLike:
    """Return a list of what can be iterated over but once, or holds objects; anything else as it is."""
    if (values := values_of(given)) is not None:
        return values
    return list(given) if isinstance(given, (Iterator, tuple)) or _holds_objects(given) else given


def _is_sequence(given: object) -> bool:
    return isinstance(given, (list, tuple, Iterator)) or _holds_objects(given)


def _holds_objects(given: object) -> bool:
    return dtype_kind(given) == "O" and n_dimensions(given) == 1


_REMEDY = (
    "give the attributes of each token, for instance by X = [word_attributes(words) for words in sentences] "
    "with perceptron_rs.features.word_attributes, where words is a list of strings; or, if X is the tokens "
    "of one sequence, write [X]"
)


def _refuse_single(X: MatrixLike) -> None:
    """Raise TypeError for the tokens of one sequence, or for plain words, in the place of sequences."""
    first = next(iter(X), None) if isinstance(X, list) else None
    if isinstance(first, (Mapping, set, frozenset)):
        raise TypeError(
            "X must be a list of sequences, got the tokens of one; write [X], and [y] for its labels"
        )
    if isinstance(X, str) or isinstance(first, str) or dtype_kind(X) in ("U", "T"):
        raise TypeError(f"X must be a list of sequences of tokens, got strings, {X!r:.60}; {_REMEDY}")


def is_nested(X: MatrixLike) -> bool:
    """Whether X, as of `as_token_lists`, is sequences of tokens with attributes, not a matrix."""
    if not isinstance(X, (list, tuple)):
        return False
    sequence = next(
        (sequence for sequence in X if isinstance(sequence, (list, tuple)) and len(sequence)), None
    )
    if sequence is None:
        return all(isinstance(sequence, (list, tuple)) for sequence in X)
    token = sequence[0]
    return isinstance(token, (str, Mapping, set, frozenset)) or (
        isinstance(token, (list, tuple)) and (len(token) == 0 or isinstance(token[0], str))
    )


def check_lengths(lengths: ArrayLike, rows: int) -> NDArray[np.int64]:
    """Return the lengths of sequences that lie one after another; None: one sequence."""
    if lengths is None:
        return np.array([rows], dtype=np.int64)
    array = np.asarray(lengths)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ValueError(
            f"lengths must be a vector of whole numbers, got shape {array.shape} and dtype {array.dtype}"
        )
    array = array.astype(np.int64)
    if array.size and array.min() < 0:
        i = int(np.argmax(array < 0))
        raise ValueError(f"lengths must be at least 0, got {array[i]} for sequence {i}")
    total = int(np.cumsum(array)[-1]) if array.size else 0
    if total != rows:
        raise ValueError(f"lengths must add up to the number of rows of X, {rows}, got {total}")
    return array


def flat_tokens(X: Sequence[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """Return all tokens, and the length of each sequence."""
    for i, sequence in enumerate(X):
        if not isinstance(sequence, (list, tuple)):
            raise TypeError(f"sequence {i} of X must be a list of tokens, got {sequence!r:.80}")
    tokens = list(chain.from_iterable(X))
    for i, token in enumerate(tokens):
        if isinstance(token, str):
            raise TypeError(f"token {i} of X is the string {token!r:.80}; {_REMEDY}")
    return tokens, np.fromiter(map(len, X), dtype=np.int64, count=len(X))


def flat_labels(y: ArrayLike, lengths: NDArray[np.int64]) -> NDArray[np.generic]:
    """Return the labels of all tokens of a list of sequences of labels, in the type that they share."""
    if y is None or (isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype != object):
        raise ValueError("y must be a list with a list of labels for each sequence, as X is")
    y = materialize(y)
    if not has_length(y) or isinstance(y, str):
        raise ValueError("y must be a list with a list of labels for each sequence, as X is")
    if len(y) != len(lengths):
        raise ValueError(f"y must have as many sequences as X, {len(lengths)}, got {len(y)}")
    y = [materialize(labels) for labels in y]
    for i, (labels, length) in enumerate(zip(y, lengths.tolist(), strict=True)):
        if isinstance(labels, str) or not has_length(labels) or len(labels) != length:
            raise ValueError(
                f"sequence {i} of y must have a label for each of {length} tokens, got {labels!r:.80}"
            )
    flat = list(chain.from_iterable(y))
    if all(type(label) is str for label in flat):
        return np.array(flat, dtype=object) if max(map(len, flat), default=0) > 64 else np.array(flat)
    return label_array(None, flat, None)


class AnswerList(list[Any]):
    """Predicted structures, such as lists of labels.

    NumPy makes an array of as many objects of it, whatever their lengths: so `cross_val_predict` takes it.
    """

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[np.generic]:
        if all(map(np.isscalar, self)):
            return np.array(list(self), dtype=dtype)
        array = np.empty(len(self), dtype=object)
        for i, labels in enumerate(self):
            array[i] = labels
        return array if dtype is None else array.astype(dtype)


def split_labels(labels: NDArray[np.generic], lengths: NDArray[np.int64]) -> AnswerList:
    """Return the labels of each sequence."""
    flat, ends = labels.tolist(), np.cumsum(lengths).tolist()
    return AnswerList(flat[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=False))
