"""Chunks of tags such as B-NP I-NP O, and their precision, recall and F1.

A tag is O, or a position in a chunk and its kind: B-NP, B_NP, NP-B, NP_B, or B alone, of the kind _. Without
a scheme, chunks are counted as the CoNLL tasks do; in a scheme, only those that are tagged as it says.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from perceptron_rs.cli.figures import measures

__all__ = ["SCHEMES", "Parts", "chunks", "figures_of_chunks", "parts_of"]

#: Position and kind of each tag.
Parts: TypeAlias = dict[str, tuple[str, str]]
Chunk: TypeAlias = tuple[int, int, str]

_POSITIONS = "BIESLU"
_FORMS = (
    re.compile(rf"(?P<position>[{_POSITIONS}])(?:[-_](?P<kind>.+))?", re.DOTALL),
    re.compile(rf"(?:(?P<kind>.+)[-_])?(?P<position>[{_POSITIONS}])", re.DOTALL),
)
#: Where a chunk may begin or end by its tag alone, in the schemes BIO, BIOES and BILOU.
_BEGINS, _ENDS = "BSU", "ESLU"

#: Of each scheme, the position of a chunk's last token, and that of a chunk of one token.
SCHEMES = {"iob2": ("", ""), "iobes": ("E", "S"), "bilou": ("L", "U")}


def parts_of(tags: Iterable[str]) -> Parts | None:
    """Return position and kind of each tag; None unless all of them have such, and some are of chunks."""
    distinct = sorted(set(tags))
    for form in _FORMS:
        parts: Parts = {}
        for tag in distinct:
            found = form.fullmatch(tag)
            if found:
                parts[tag] = found["position"], found["kind"] or "_"
            elif tag == "O":
                parts[tag] = "O", ""
        if len(parts) == len(distinct):
            return parts if any(position in "BI" for position, _ in parts.values()) else None
    return None


def chunks(tags: Sequence[tuple[str, str]], scheme: str | None = None) -> set[Chunk]:
    """Return the chunks of one sentence: first token, token behind the last, kind."""
    return _as_conlleval(tags) if scheme is None else _strict(tags, *SCHEMES[scheme])


def _as_conlleval(tags: Sequence[tuple[str, str]]) -> set[Chunk]:
    """Return them; an I whose chunk has not begun, or is of another kind, begins one."""
    found = set()
    begin, kind, before = 0, "", "O"
    for i, (position, name) in enumerate([*tags, ("O", "")]):
        inside = before != "O" and position not in _BEGINS + "O" and before not in _ENDS and name == kind
        if not inside:
            if before != "O":
                found.add((begin, i, kind))
            begin, kind = i, name
        before = position
    return found


def _strict(tags: Sequence[tuple[str, str]], last: str, single: str) -> set[Chunk]:
    """Return them: a B and all I of its kind behind it; with a position for the last token, up to that."""
    found = set()
    for begin, (position, kind) in enumerate(tags):
        end = begin + 1
        if position == single:
            found.add((begin, end, kind))
        if position != "B":
            continue
        while end < len(tags) and tags[end] == ("I", kind):
            end += 1
        if not last:
            found.add((begin, end, kind))
        elif end < len(tags) and tags[end] == (last, kind):
            found.add((begin, end + 1, kind))
    return found


def figures_of_chunks(
    truth: Iterable[Sequence[str]], found: Iterable[Sequence[str]], parts: Parts, scheme: str | None = None
) -> dict[str, Any]:
    """Return precision, recall and F1 of all chunks, and of each kind."""
    counts: tuple[Counter[str], Counter[str], Counter[str]] = Counter(), Counter(), Counter()
    for a, b in zip(truth, found, strict=True):
        there, answers = (chunks([parts[tag] for tag in tags], scheme) for tags in (a, b))
        for count, some in zip(counts, (there & answers, answers, there), strict=True):
            count.update(kind for *_, kind in some)
    _, answered, _ = counts
    kinds = [
        {"kind": kind, **measures(*(count[kind] for count in counts)), "found": answered[kind]}
        for kind in sorted(set().union(*counts))
    ]
    return measures(*(count.total() for count in counts)) | {"found": answered.total(), "kinds": kinds}
