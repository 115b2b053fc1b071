"""Sequences as callers give them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays import likes
from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.engines import get_engine
from perceptron_rs.errors import ArgumentError
from perceptron_rs.estimator_attributes import check_is_fitted
from perceptron_rs.features.templates import Template, places_in, template_attributes
from perceptron_rs.float_mode import standard
from perceptron_rs.rows.examples import ValidatedRows, examples, read_csr
from perceptron_rs.rows.real_numbers import check_lengths
from perceptron_rs.targets.labels import label_array, refuse_nul

if TYPE_CHECKING:
    from perceptron_rs.features import AttributeEncoder


def read_sequences(
    model: Any, X: MatrixLike, lengths: ArrayLike, *, reset: bool
) -> tuple[ValidatedRows, NDArray[np.int64]]:
    """Return the tokens of all sequences as rows, and the length of each sequence.

    Attributes become columns by the encoder of the model, which ``reset`` makes anew.
    """
    if is_nested(X):
        if lengths is not None:
            raise ValueError("lengths must be None for a list of sequences, which tells them itself")
        tokens, lengths = flat_tokens(X)
        if not tokens:
            raise ValueError(f"X must hold at least one token, got {len(lengths)} sequences without any")
        if reset:
            return _token_rows(model, model._fit_encoder(tokens), reset), lengths
        if model._learnt.encoder is None:
            raise ValueError("X must be a matrix, because the model was fitted to one; got attributes")
        return read_csr(get_engine(model.engine), model._known.rows(tokens), model.n_features_in_), lengths
    if isinstance(X, list | tuple) and X and likes.n_dimensions(X[0]) == 2:
        raise ValueError(
            f"X must be one matrix of the tokens of all sequences, got a list of {len(X)} ones; stack them "
            f"and give their numbers of rows as lengths"
        )
    if not reset and model._learnt.encoder is not None:
        raise ValueError(
            "X must be a list of sequences of attributes, because the model was fitted to such; "
            "encode a matrix with encoder_ and a model fitted to matrices"
        )
    with standard():
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
    sentences = []
    for sequence in map(materialize, X):
        if type(sequence) is list and not _AS_IS.issuperset(map(type, sequence)):
            sentences.append(list(map(materialize, sequence)))
        else:
            sentences.append(sequence)
    return sentences


def token_lists(model: Any, X: MatrixLike) -> MatrixLike:
    """Do so for the X of a fitted model: words and columns of a file become attributes.

    A model that the command line trained knows what attributes to make of them.
    """
    template: Template | None = model._learnt.template
    X = materialize(X)
    is_of_file = type(X) is list and any(_is_sequence(x) or likes.dtype_kind(x) in ("U", "T") for x in X)
    if template is None or not is_of_file:
        return as_token_lists(X)
    return as_token_lists([_attributes(template, i, sequence) for i, sequence in enumerate(X)])


def _attributes(template: Template, i: int, tokens: Any) -> Any:
    """Return the attributes of the tokens of a sequence of words, of columns as tuples, or of attributes."""
    sequence = tokens.tolist() if likes.dtype_kind(tokens) in ("U", "T") else materialize(tokens)
    if type(sequence) is not list or not sequence:
        return sequence
    remedy = (
        "give a sentence as a list of words, or of tuples of columns, as the file has them; or its "
        "attributes, made by perceptron_rs.features.column_attributes"
    )
    if isinstance(tokens, tuple) and any(isinstance(token, str) for token in sequence):
        raise TypeError(f"sequence {i} of X is a tuple of strings, {tokens!r:.60}; {remedy}")
    if all(isinstance(token, str) for token in sequence):
        sequence = [(word,) for word in sequence]
    if not all(isinstance(token, tuple) for token in sequence):
        sequence = [token if isinstance(token, (str, tuple)) else materialize(token) for token in sequence]
        kinds = (list, Mapping, AbstractSet)
        odd = [token for token in sequence if not isinstance(token, kinds) or "bias" not in token]
        if odd:
            raise TypeError(
                f"sequence {i} of X holds {odd[0]!r:.60}, which are no attributes of this model, for these "
                f"have 'bias'; {remedy}"
            )
        return sequence
    width = len(sequence[0])
    places = places_in(template, width)
    if places is None:
        raise ValueError(
            f"sequence {i} of X has tokens of {width} columns, but the model reads {template['columns']}; "
            f"{remedy}"
        )
    for token in sequence:
        if len(token) != width or not all(isinstance(cell, str) and cell.strip() for cell in token):
            raise ValueError(
                f"sequence {i} of X holds {token!r:.60}, and not {width} strings that are not empty; {remedy}"
            )
    return template_attributes(template, sequence, places)


_AS_IS = frozenset((list, dict, float, int))  # tokens, or numbers of a matrix, that are as they should be


def materialize(X: MatrixLike) -> MatrixLike:
    """Return a list of what can be iterated over but once, or holds objects; anything else as it is."""
    if type(X) is list:
        return X
    if (values := likes.values_of(X)) is not None:
        return values
    # Brackets look for the labels of a Series, and not for places.
    is_series = likes.has_rows_by_place(X) and likes.n_dimensions(X) == 1
    if is_series or isinstance(X, (Iterator, tuple)) or _holds_objects(X):
        return list(likes.each_of(X))
    return X


def _is_sequence(sequence: object) -> bool:
    return isinstance(sequence, (list, tuple, Iterator)) or _holds_objects(sequence)


def _holds_objects(sequence: object) -> bool:
    return likes.dtype_kind(sequence) == "O" and likes.n_dimensions(sequence) == 1


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
    if isinstance(X, list) and X and first is None:
        raise TypeError(f"X must be a list of sequences of tokens, got None as sequence 0; {_REMEDY}")
    if isinstance(X, str) or isinstance(first, str) or likes.dtype_kind(X) in ("U", "T"):
        raise TypeError(f"X must be a list of sequences of tokens, got strings, {X!r:.60}; {_REMEDY}")


def is_nested(X: MatrixLike) -> bool:
    """Whether X, as of `as_token_lists`, is sequences of tokens with attributes, not a matrix."""
    if not isinstance(X, (list, tuple)):
        return False
    for sequence in X:
        if isinstance(sequence, (list, tuple)) and len(sequence):
            token = sequence[0]
            if isinstance(token, (list, tuple)):
                return len(token) == 0 or isinstance(token[0], str)
            return token is None or isinstance(token, (str, Mapping, set, frozenset))
    return all(isinstance(sequence, (list, tuple)) for sequence in X)


def flat_tokens(X: Sequence[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """Return all tokens, and the length of each sequence."""
    for i, sequence in enumerate(X):
        if not isinstance(sequence, (list, tuple)):
            raise TypeError(f"sequence {i} of X must be a list of tokens, got {sequence!r:.80}")
    tokens = list(chain.from_iterable(X))
    if any(issubclass(kind, str) for kind in set(map(type, tokens))):
        i, token = next((i, token) for i, token in enumerate(tokens) if isinstance(token, str))
        raise TypeError(f"token {i} of X is the string {token!r:.80}; {_REMEDY}")
    return tokens, np.fromiter(map(len, X), dtype=np.int64, count=len(X))


def flat_labels(y: ArrayLike, lengths: NDArray[np.int64]) -> NDArray[np.generic]:
    """Return the labels of all tokens of a list of sequences of labels, in the type that they share."""
    if y is None or (isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype != object):
        raise ValueError("y must be a list with a list of labels for each sequence, as X is")
    y = materialize(y)
    if not likes.has_length(y) or isinstance(y, str):
        raise ValueError("y must be a list with a list of labels for each sequence, as X is")
    if len(y) != len(lengths):
        raise ValueError(f"y must have as many sequences as X, {len(lengths)}, got {len(y)}")
    y = [materialize(labels) for labels in y]
    for i, (labels, length) in enumerate(zip(y, lengths.tolist(), strict=True)):
        is_list = likes.has_length(labels) and not isinstance(labels, str)
        if not is_list or len(labels) != length:
            raise ValueError(
                f"sequence {i} of y must have a label for each of {length} tokens, got {labels!r:.80}"
            )
    flat = list(chain.from_iterable(y))
    if all(type(label) is str for label in flat):
        refuse_nul(flat)
        return np.array(flat, dtype=object) if max(map(len, flat), default=0) > 64 else np.array(flat)
    pair = next((label for label in flat if isinstance(label, (tuple, list))), None)
    if pair is not None:
        raise TypeError(
            f"y must hold a label for each token, got {pair!r:.80}; of pairs of words and tags, as NLTK has "
            f"them, write [[tag for word, tag in sentence] for sentence in y]"
        )
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
    flat, ends = labels.tolist(), list(accumulate(lengths.tolist()))
    return AnswerList(flat[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=False))
