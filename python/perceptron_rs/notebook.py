"""What a notebook shows: tables, and what a fitted estimator has learnt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np


def html_table(rows: Iterable[Sequence[str]], *, head: Sequence[str] = (), notes: Iterable[str] = ()) -> str:
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


#: What went wrong in each epoch, and how it is called; the first that an estimator has is drawn.
_CURVES = {
    "mistakes_per_epoch_": "mistakes by epoch",
    "token_errors_per_epoch_": "wrong tokens by epoch",
    "loss_curve_": "loss by epoch",
}


def curve(values: Sequence[float], name: str) -> str:
    """Return numbers, one after another, as a small picture with a text in words."""
    text = f"{name}: {values[0]:g} at first, {values[-1]:g} at last, {len(values)} in all"
    right, top = max(1, len(values) - 1), max(*values, 0) or 1
    points = " ".join(f"{300 * i / right:.1f},{58 - 56 * value / top:.1f}" for i, value in enumerate(values))
    return (
        f'<p>{escape(text)}</p><svg role="img" aria-label="{escape(text)}" width="300" height="60">'
        f'<polyline points="{points}" fill="none" stroke="currentColor"/></svg>'
    )


def learnt(estimator: object) -> str:
    """Return what a fitted estimator has learnt: its curve of mistakes, its largest weights; else nothing."""
    parts = []
    for attribute, name in _CURVES.items():
        numbers = getattr(estimator, attribute, None)
        if numbers is not None and len(numbers):
            per_epoch = np.asarray(numbers, np.float64).reshape(len(numbers), -1).sum(axis=1)
            parts.append(curve(per_epoch.tolist(), name))
            break
    rows: list[tuple[str, str]] = getattr(estimator, "_weights_shown", list)() if parts else []
    if rows:
        parts.append(html_table(rows, head=("class", "largest weights")))
    return "\n".join(parts)
