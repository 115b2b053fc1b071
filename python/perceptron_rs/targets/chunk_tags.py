"""Tags as positions in chunks, such as B-NP, I-NP and O: their parts, and what the schemes say of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from perceptron_rs.choices import Scheme

#: Position and kind of each tag.
Parts: TypeAlias = dict[str, tuple[str, str]]

_POSITIONS = "BIESLU"
_FORMS = (
    re.compile(rf"(?P<position>[{_POSITIONS}])(?:[-_](?P<kind>.+))?", re.DOTALL),
    re.compile(rf"(?:(?P<kind>.+)[-_])?(?P<position>[{_POSITIONS}])", re.DOTALL),
)
#: Of each scheme, the position of a chunk's last token, and that of a chunk of one token.
SCHEMES: dict[Scheme, tuple[str, str]] = {"iob2": ("", ""), "iobes": ("E", "S"), "bilou": ("L", "U")}


def tag_parts(tags: Iterable[str]) -> Parts | None:
    """Return position and kind of each tag; None unless all of them are written in one of the forms."""
    distinct = sorted(set(tags))
    for form in _FORMS:
        parts: Parts = {}
        for tag in distinct:
            match = form.fullmatch(tag)
            if match:
                parts[tag] = match["position"], match["kind"] or "_"
            elif tag == "O":
                parts[tag] = "O", ""
        if len(parts) == len(distinct):
            return parts
    return None


def foreign_tag(parts: Parts, scheme: Scheme) -> str | None:
    """Return the first tag that is none of a scheme."""
    positions = {"O", "B", "I", *SCHEMES[scheme]}
    return next((tag for tag, (position, _) in parts.items() if position not in positions), None)


def impossible_pairs(parts: Parts, scheme: Scheme) -> Iterator[tuple[str | None, str | None]]:
    """Give the pairs of tags that a scheme rules out; None stands before the first and behind the last."""
    last, _ = SCHEMES[scheme]
    ends = [*parts.items(), (None, ("O", ""))]
    for before, (position, kind) in ends:
        is_open = position in ("B", "I")
        for after, (following, other) in ends:
            goes_on = following in ("I", last)
            if not (is_open and kind == other if goes_on else not (last and is_open)):
                yield before, after
