"""Chunks in sequences of tags such as B-NP I-NP O: precision, recall and F1 as the CoNLL tasks count them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["chunks", "figures", "measures", "of_chunks"]

_TAG = re.compile(r"(?:O|[BIESLU]-.+)", re.DOTALL)
#: Where a chunk may begin or end by its tag alone, in the schemes BIO, BIOES and BILOU.
_BEGINS, _ENDS = "BSU", "ESLU"


def of_chunks(tags: Iterable[str]) -> bool:
    """Whether all tags are O or a position in a chunk and its kind, and some are of chunks."""
    distinct = set(tags)
    return all(map(_TAG.fullmatch, distinct)) and any(tag[0] in "BI" for tag in distinct)


def chunks(tags: Sequence[str]) -> set[tuple[int, int, str]]:
    """Return the chunks of one sentence: first token, token behind the last, kind.

    As conlleval does, an I- whose chunk has not begun, or is of another kind, begins one.
    """
    found = set()
    begin, kind, before = 0, "", "O"
    for i, tag in enumerate([*tags, "O"]):
        position, name = tag[0], tag[2:]
        inside = before != "O" and position not in _BEGINS + "O" and before not in _ENDS and name == kind
        if not inside:
            if before != "O":
                found.add((begin, i, kind))
            begin, kind = i, name
        before = position
    return found


def figures(truth: Iterable[Sequence[str]], found: Iterable[Sequence[str]]) -> dict[str, Any]:
    """Return precision, recall and F1 of all chunks, and of each kind."""
    right: Counter[str] = Counter()
    wanted: Counter[str] = Counter()
    given: Counter[str] = Counter()
    for a, b in zip(truth, found, strict=True):
        true, guessed = chunks(a), chunks(b)
        wanted.update(kind for *_, kind in true)
        given.update(kind for *_, kind in guessed)
        right.update(kind for *_, kind in true & guessed)
    kinds = [
        {"kind": kind, **measures(right[kind], given[kind], wanted[kind]), "found": given[kind]}
        for kind in sorted(wanted | given)
    ]
    whole = measures(right.total(), given.total(), wanted.total())
    return whole | {"found": given.total(), "kinds": kinds}


def measures(right: int, given: int, wanted: int) -> dict[str, Any]:
    """Return precision, recall and F1, 0 where there is nothing to divide by, and how many were wanted."""
    return {
        "precision": right / given if given else 0.0,
        "recall": right / wanted if wanted else 0.0,
        "f1": 2 * right / (given + wanted) if given + wanted else 0.0,
        "support": wanted,
    }
