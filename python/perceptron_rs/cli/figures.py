"""Precision, recall and F1 of classes, tags and chunks, and the tables that show them.

Chunks are those of tags such as B-NP I-NP O, as the CoNLL tasks count them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["chunks", "figures_of_chunks", "measures", "of_chunks", "of_classes", "table"]

_TAG = re.compile(r"(?:O|[BIESLU]-.+)", re.DOTALL)
#: Where a chunk may begin or end by its tag alone, in the schemes BIO, BIOES and BILOU.
_BEGINS, _ENDS = "BSU", "ESLU"


def measures(right: int, found: int, there: int) -> dict[str, Any]:
    """Return precision, recall and F1, 0 where there is nothing to divide by, and how many there are."""
    return {
        "precision": right / found if found else 0.0,
        "recall": right / there if there else 0.0,
        "f1": 2 * right / (found + there) if found + there else 0.0,
        "support": there,
    }


def of_classes(y: NDArray[Any], found: NDArray[Any], classes: NDArray[Any]) -> list[dict[str, Any]]:
    """Return the figures of each class, which are sorted, and hold all labels."""
    true, answers = (np.searchsorted(classes, labels) for labels in (y, found))
    counts = [np.bincount(k, minlength=len(classes)) for k in (true[true == answers], answers, true)]
    return [measures(*numbers) for numbers in np.transpose(counts).tolist()]


def table(what: str, unit: str, rows: Iterable[tuple[str, dict[str, Any]]]) -> list[str]:
    """Return the lines of a table, one for each class."""
    rows = list(rows)
    width = max(9, *(len(name) for name, _ in rows)) + 1
    return [
        f"\n{what:{width}} precision    recall        f1{unit:>10}",
        *(
            f"{name:{width}}{row['precision']:10.4f}{row['recall']:10.4f}{row['f1']:10.4f}{row['support']:10}"
            for name, row in rows
        ),
    ]


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


def figures_of_chunks(truth: Iterable[Sequence[str]], found: Iterable[Sequence[str]]) -> dict[str, Any]:
    """Return precision, recall and F1 of all chunks, and of each kind."""
    counts: tuple[Counter[str], Counter[str], Counter[str]] = Counter(), Counter(), Counter()
    for a, b in zip(truth, found, strict=True):
        there, answers = chunks(a), chunks(b)
        for count, some in zip(counts, (there & answers, answers, there), strict=True):
            count.update(kind for *_, kind in some)
    _, answered, _ = counts
    kinds = [
        {"kind": kind, **measures(*(count[kind] for count in counts)), "found": answered[kind]}
        for kind in sorted(set().union(*counts))
    ]
    return measures(*(count.total() for count in counts)) | {"found": answered.total(), "kinds": kinds}
