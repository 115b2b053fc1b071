"""The limits of a search for the best labels of sequences: which labels a token may have, and which pairs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Allowed", "Forbidden", "allowed_labels", "forbidden_pairs"]

#: The labels that each token may have, None: any; or booleans by token and class.
Allowed: TypeAlias = Sequence[Collection[object] | None] | NDArray[np.bool_] | None
#: Pairs of labels that may not follow each other.
Forbidden: TypeAlias = Iterable[tuple[object, object]] | None


def allowed_labels(allowed: Allowed, classes: NDArray[np.generic], n_tokens: int) -> NDArray[np.bool_] | None:
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


def forbidden_pairs(forbidden: Forbidden, classes: NDArray[np.generic]) -> NDArray[np.bool_] | None:
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


def _place(place: dict[object, int], label: object, where: str) -> int:
    if label not in place:
        raise ValueError(f"{where} names the label {label!r:.80}, which is not in classes_")
    return place[label]
