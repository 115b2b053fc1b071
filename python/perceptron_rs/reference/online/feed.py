"""One resumable pass: blocks of examples, each followed by its log."""

from __future__ import annotations

from perceptron_rs.engines import State
from perceptron_rs.reference.online.rule import Rule
from perceptron_rs.reference.rows import Cursor, Mistake, Rows, Visit, learn, learn_jointly

__all__ = ["feed"]

BLOCK = 1024


def feed(rows: Rows, visit: Visit, at: Cursor, state: State, rule: Rule) -> list[Mistake]:
    """Go on from the cursor to the end of the visiting order; return the mistakes made."""
    mistakes = []
    loop = learn if visit.joint is None else learn_jointly
    while at.pos < len(visit.order):
        log = loop(rows, visit, at, state, end=min(at.pos + BLOCK, len(visit.order)))
        rule.absorb(rows, log)
        mistakes += log
    return mistakes
