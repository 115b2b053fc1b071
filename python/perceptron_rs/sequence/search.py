"""The search for the best labels of sequences, and its limits as callers give them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.common.labels import check_classes
from perceptron_rs.common.threads import n_threads
from perceptron_rs.engines import get_engine
from perceptron_rs.float_mode import standard
from perceptron_rs.sequence.input import is_nested, read_sequences
from perceptron_rs.sequence.weights import beam_of

if TYPE_CHECKING:
    from perceptron_rs.sequence.predictor import SequencePerceptronPredictor

__all__ = ["decode", "search_sequences"]

Found: TypeAlias = tuple[NDArray[Any], ...]


def search_sequences(
    model: SequencePerceptronPredictor,
    X: Any,
    lengths: Any,
    limits: tuple[Any, Any],
    search: Callable[..., Found],
    **options: Any,
) -> tuple[Found | None, NDArray[np.int64]]:
    """Return what a function of the engine finds in all sequences with a token, and the length of each one.

    X is of `as_token_lists`; ``limits`` are ``allowed`` and ``forbidden``. None: there are no tokens.
    """
    model._assert_ready()
    check_classes(model.classes_, len(model._weights["start"]), least=1)
    if is_nested(X) and not any(map(len, X)):
        return None, np.zeros(len(X), dtype=np.int64)
    with standard():
        data, lengths = read_sequences(model, X, lengths, reset=False)
        allowed, forbidden = limits
        try:
            found = search(
                data.rows,
                lengths[lengths > 0],
                weights=model.predictor_,
                threads=n_threads(model),
                beam=beam_of(model),
                allowed=allowed_labels(allowed, model.classes_, data.rows.shape[0]),
                forbidden=forbidden_pairs(forbidden, model.classes_),
                **options,
            )
        except OverflowError as error:
            data.assert_finite(model)
            raise ValueError(str(error)) from None
    return found, lengths


def decode(
    model: SequencePerceptronPredictor, X: Any, lengths: Any, allowed: Any, forbidden: Any
) -> tuple[NDArray[np.uint32], NDArray[np.float64], NDArray[np.int64]]:
    """Return the class indices of all tokens, score and length of each sequence; X is of `as_token_lists`."""
    found, lengths = search_sequences(
        model, X, lengths, (allowed, forbidden), get_engine(model.engine).sequence_decode
    )
    labels, some = (np.zeros(0, dtype=np.uint32), np.zeros(0)) if found is None else found
    scores = np.zeros(len(lengths))  # of nothing 0
    scores[lengths > 0] = some
    return labels, scores, lengths


def allowed_labels(allowed: Any, classes: NDArray[Any], n_tokens: int) -> NDArray[np.bool_] | None:
    """Return booleans by token and class; ``allowed`` is such an array, or collections of labels."""
    if allowed is None:
        return None
    if isinstance(allowed, np.ndarray) and allowed.dtype == np.bool_:
        if allowed.shape != (n_tokens, len(classes)):
            raise ValueError(
                f"allowed must have shape {(n_tokens, len(classes))}, tokens by classes, got {allowed.shape}"
            )
        return allowed
    if len(allowed) != n_tokens:
        raise ValueError(f"allowed must have an entry for each of {n_tokens} tokens, got {len(allowed)}")
    place = {label: k for k, label in enumerate(classes.tolist())}
    may = np.zeros((n_tokens, len(classes)), dtype=np.bool_)
    for i, labels in enumerate(allowed):
        if labels is None:
            may[i] = True
            continue
        if isinstance(labels, str):
            raise TypeError(
                f"entry {i} of allowed must be a collection of labels or None, got {labels!r:.80}"
            )
        for label in labels:
            may[i, _place(place, label, f"entry {i} of allowed")] = True
        if not may[i].any():
            raise ValueError(f"entry {i} of allowed allows no label; give at least one, or None to allow all")
    return may


def forbidden_pairs(
    forbidden: Iterable[tuple[Any, Any]] | None, classes: NDArray[Any]
) -> NDArray[np.bool_] | None:
    """Return booleans by label and next label."""
    if forbidden is None:
        return None
    place = {label: k for k, label in enumerate(classes.tolist())}
    may_not = np.zeros((len(classes), len(classes)), dtype=np.bool_)
    for i, pair in enumerate(forbidden):
        if isinstance(pair, str) or len(pair) != 2:
            raise ValueError(f"entry {i} of forbidden must be a pair of labels, got {pair!r:.80}")
        before, after = (_place(place, label, f"entry {i} of forbidden") for label in pair)
        may_not[before, after] = True
    return may_not


def _place(place: dict[Any, int], label: Any, where: str) -> int:
    if label not in place:
        raise ValueError(f"{where} names the label {label!r:.80}, which is not in classes_")
    return place[label]
