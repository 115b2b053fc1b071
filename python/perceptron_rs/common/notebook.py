"""Tables as a notebook shows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["table"]


def table(rows: Iterable[Sequence[str]], *, head: Sequence[str] = (), notes: Iterable[str] = ()) -> str:
    """Return rows of texts as an HTML table, with names above and notes below.

    Without names, the first cell of each row is its name.
    """
    lines = ["<table>"]
    if head:
        lines += ["<thead><tr>" + "".join(f"<th>{escape(cell)}</th>" for cell in head) + "</tr></thead>"]
    lines += ["<tbody>"]
    for row in rows:
        first = "td" if head else "th"
        tags = [first] + ["td"] * (len(row) - 1)
        cells = [f"<{tag}>{escape(cell)}</{tag}>" for tag, cell in zip(tags, row, strict=True)]
        lines += ["<tr>" + "".join(cells) + "</tr>"]
    lines += ["</tbody>", "</table>", *(f"<p>{escape(note)}</p>" for note in notes)]
    return "\n".join(lines)
