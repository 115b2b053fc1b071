"""Numbers as people write them: with marks between thousands, and signs of money or percent around.

A cell tells no two ways apart, such as 1,200: so somebody says which mark comes before a fraction.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

#: What may come before a fraction, as options say it.
MARKS = (".", ",")
_BLANK, _MONEY = "[ \t\u00a0\u202f]*", "(?:(?:US|A|C)?[$€£¥₹]|EUR|USD|GBP|CHF)?"
_PLAIN = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def between_thousands(mark: str) -> str:
    """Return a pattern of what may stand between thousands, beside this mark before a fraction."""
    return f"[{'.' if mark == ',' else ','}'\u2019 \u00a0\u202f]"


def numeral(mark: str) -> str:
    """Return the pattern of a number, whose signs and digits are its groups; as RE2 and Python read it."""
    thousands = f"[1-9][0-9]{{0,2}}(?:{between_thousands(mark)}[0-9]{{3}})+"
    digits = f"(?:(?:{thousands}|[0-9]+)(?:[{mark}][0-9]*)?|[{mark}][0-9]+)(?:[eE][+-]?[0-9]+)?"
    before = f"([+-]?){_BLANK}{_MONEY}{_BLANK}([+-]?)"
    return f"^{_BLANK}{before}({digits}){_BLANK}(?:%|{_MONEY}){_BLANK}$"


def number_of(text: str, mark: str) -> float | None:
    """Return what a text stands for; None if it is no number."""
    # Possessive, which RE2 need not be: blanks that three of them may take are tried in no other way.
    parts = re.match(numeral(mark).replace(_BLANK, f"{_BLANK}+"), text)
    if parts is None or (parts[1] and parts[2]):
        return None
    return float(parts[1] + parts[2] + re.sub(between_thousands(mark), "", parts[3]).replace(mark, "."))


def mark_of(cells: Iterable[str]) -> str | None:
    """Return the mark by which nearly all cells are numbers, and some are no plain ones; None if none is.

    Where both may be, it is the point.
    """
    cells = list(cells)
    if all(map(_PLAIN.fullmatch, map(str.strip, cells))):
        return None
    n_numbers = {mark: sum(number_of(cell, mark) is not None for cell in cells) for mark in MARKS}
    mark = max(n_numbers, key=n_numbers.__getitem__)
    return mark if 10 * n_numbers[mark] >= 9 * len(cells) else None
