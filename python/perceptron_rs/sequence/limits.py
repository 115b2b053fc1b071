"""The limits of a search for the best labels of sequences: which labels a token may have, and which pairs.

``None`` stands in a pair before the first label, and behind the last.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import has_length, is_list
from perceptron_rs.choices import Scheme
from perceptron_rs.errors import ArgumentError
from perceptron_rs.targets.chunk_tags import SCHEMES, foreign_tag, impossible_pairs, tag_parts

#: The labels that each token may have, None: any; or booleans by token and class.
Allowed: TypeAlias = Sequence[Collection[object] | None] | NDArray[np.bool_] | None
#: Pairs of labels that may not follow each other.
Forbidden: TypeAlias = Iterable[tuple[object, object]] | None
#: The same for all that a model answers: a scheme of chunks, or pairs.
Constraints: TypeAlias = Scheme | Sequence[tuple[object, object]] | None
#: As the engines take them: booleans by token and class, and by class and next class.
Limits: TypeAlias = tuple[NDArray[np.bool_] | None, NDArray[np.bool_] | None]


def limits_of(
    allowed: Allowed,
    pairs: NDArray[np.bool_] | None,
    classes: NDArray[np.generic],
    lengths: NDArray[np.int64],
) -> Limits:
    """Return the limits of sequences of these lengths, which are not 0; ``pairs`` are of `constrained`."""
    if allowed is None and pairs is None:
        return None, None
    may = allowed_labels(allowed, classes, int(lengths.sum()))
    if pairs is None:
        return may, None
    ends = np.cumsum(lengths)
    for rows, never in ((ends - lengths, pairs[-1, :-1]), (ends - 1, pairs[:-1, -1])):
        if never.any():
            may = np.ones((int(ends[-1]), len(classes)), dtype=np.bool_) if may is None else may.copy()
            may[rows] &= ~never
    inner = np.ascontiguousarray(pairs[:-1, :-1])
    return may, inner if inner.any() else None


def constrained(
    constraints: Constraints, forbidden: Forbidden, classes: NDArray[np.generic]
) -> NDArray[np.bool_] | None:
    """Return booleans by label and next label, the last ones of none: what a model and a call forbid."""
    if constraints is None and forbidden is None:
        return None
    if isinstance(constraints, str):
        constraints = list(_of_scheme(constraints, classes))
    pairs = [("constraints", constraints), ("forbidden", forbidden)]
    place: dict[object, int] = {label: k for k, label in enumerate(classes.tolist())}
    may_not = np.zeros((len(classes) + 1, len(classes) + 1), dtype=np.bool_)
    for name, forbidding in pairs:
        if forbidding is not None and not is_list(forbidding):
            raise ValueError(f"{name} must be pairs of labels or None, got {forbidding!r:.80}")
        for i, pair in enumerate(() if forbidding is None else forbidding):
            if isinstance(pair, str) or not has_length(pair) or len(pair) != 2:
                raise ValueError(f"entry {i} of {name} must be a pair of labels, got {pair!r:.80}")
            before, after = (
                -1 if label is None else _place(place, label, f"entry {i} of {name}") for label in pair
            )
            may_not[before, after] = True
    return may_not


def _of_scheme(scheme: Scheme, classes: NDArray[np.generic]) -> Iterator[tuple[str | None, str | None]]:
    """Give the pairs that a scheme of chunks rules out; ArgumentError if the classes are not its tags."""
    if scheme not in SCHEMES:
        raise ValueError(
            f"constraints must be one of {', '.join(SCHEMES)}, pairs or None, got {scheme!r:.80}"
        )
    labels = classes.tolist()
    parts = tag_parts(labels) if all(isinstance(label, str) for label in labels) else None
    odd = None if parts is None else foreign_tag(parts, scheme)
    if parts is None or odd is not None:
        shown = ", ".join(map(repr, labels[:5])) if odd is None else repr(odd)
        raise ArgumentError(
            "{constraints} is about tags such as B-NP, I-NP and O, got {found}",
            "name another scheme, or leave it out",
            values={"constraints": scheme},
            found=shown,
        )
    return impossible_pairs(parts, scheme)


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
    if not has_length(allowed) or isinstance(allowed, str):
        raise TypeError(f"allowed must be a list of the labels of each token or None, got {allowed!r:.80}")
    if len(allowed) != n_tokens:
        raise ValueError(f"allowed must have an entry for each of {n_tokens} tokens, got {len(allowed)}")
    place = {label: k for k, label in enumerate(classes.tolist())}
    may = np.zeros((n_tokens, len(classes)), dtype=np.bool_)
    for i, labels in enumerate(allowed):
        if labels is None:
            may[i] = True
            continue
        if isinstance(labels, str) or not isinstance(labels, Iterable):
            raise TypeError(
                f"entry {i} of allowed must be a collection of labels or None, got {labels!r:.80}"
            )
        for label in labels:
            may[i, _place(place, label, f"entry {i} of allowed")] = True
        if not may[i].any():
            raise ValueError(f"entry {i} of allowed allows no label; give at least one, or None to allow all")
    return may


def _place(place: dict[object, int], label: object, where: str) -> int:
    if not isinstance(label, Hashable) or label not in place:
        raise ValueError(f"{where} names the label {label!r:.80}, which is not in classes_")
    return place[label]
