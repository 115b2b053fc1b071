"""A table that somebody has printed, checked row by row."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Literal, TypeAlias

from perceptron_rs.arrays.scalars import check_among, checked_number
from perceptron_rs.choices import Tie, words
from perceptron_rs.io.text.opening import check_utf8
from perceptron_rs.models.files import path_of
from perceptron_rs.notebook import html_table

#: Weights, and the intercept as the last one if there is one: exact, as a hand computes them.
_Weights: TypeAlias = list[Fraction]
_Verdict: TypeAlias = Literal["right", "right if", "wrong"]
#: With few digits: all that is computed of them is computed exactly.
_NUMBER = re.compile(r"[+-]?(\d{1,30}/[1-9]\d{0,29}|(\d{1,30}(\.\d{0,30})?|\.\d{1,30})([eE][+-]?\d{1,2})?)")
#: What word processors write for a minus: non-breaking hyphen, dash, minus sign.
_MINUS = dict.fromkeys((0x2011, 0x2013, 0x2212), "-")
_LABELS = {"1": 1, "+1": 1, "+": 1, "-1": -1, "-": -1, "0": -1}
#: Names of columns, in small letters and without what TeX adds.
_FEATURE, _WEIGHT = re.compile(r"x\d*"), re.compile(r"(w|theta|θ)\d*|b|bias|intercept")
_INTERCEPT = re.compile(r"(w|theta|θ)0|b|bias|intercept")
#: What tells of a row, beside names of features and weights: its number, or what is computed in it.
_TOLD = re.compile(
    r"[tkin#]?|nr|step|row|example|epoch|iteration|yhat|haty|ŷ|predict(ed|ion)|(mistake|update)\??"
    r"|y?a|activation|w\.x(\+b)?"
)


@dataclass(frozen=True, slots=True)
class CheckedRow:
    r"""A row with printed weights.

    Parameters
    ----------
    line : int
        Its line in the file, from 1.
    activation : float
        :math:`w \cdot x + b` before the update.
    mistake : bool
        Whether the example was a mistake, and so an update.
    printed : tuple of float
        The weights that are printed behind it, the intercept last.
    right : tuple of float
        The right ones.
    verdict : {"right", "right if", "wrong"}
        "right if": another rule, or another row before, makes the printed weights right.
    why : str
        The condition, or what is right instead; empty if the row is right.
    """

    line: int
    activation: float
    mistake: bool
    printed: tuple[float, ...]
    right: tuple[float, ...]
    verdict: _Verdict
    why: str


@dataclass(frozen=True)
class LectureCheck:
    """The rows with their verdicts. ``print`` shows them as a table.

    Parameters
    ----------
    rows : tuple of CheckedRow
        Those with printed weights.
    """

    rows: tuple[CheckedRow, ...]

    @property
    def is_right(self) -> bool:
        """Whether each row is right, without a condition."""
        return all(row.verdict == "right" for row in self.rows)

    def __str__(self) -> str:
        lines = [_HEAD, *self._cells()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )

    def _repr_html_(self) -> str:
        return html_table(self._cells(), head=_HEAD)

    def _cells(self) -> list[list[str]]:
        return [
            [
                str(row.line),
                f"{row.activation:g}",
                "yes" if row.mistake else "",
                _shown(row.printed),
                f"{row.verdict} {row.why}".rstrip() if row.verdict != "wrong" else f"wrong: {row.why}",
            ]
            for row in self.rows
        ]


_HEAD = ["line", "w . x + b", "mistake", "printed", "verdict"]


def check_lecture(
    path: str | os.PathLike[str], *, eta0: float = 1.0, tie: Literal["mistake", "positive"] = "mistake"
) -> LectureCheck:
    r"""Check the table of a lecture: a CSV file of examples and of the weights that are printed behind them.

    Each row is compared with one step from the weights printed before it, so one slip is one wrong row. A
    table whose weights are those before each row, and not behind it, is said to be such a one. Numbers are
    read as exact decimals, and those with a decimal point may be rounded.

    Parameters
    ----------
    path : str or path-like
        A CSV file, also with semicolons, tabs or bars and decimal commas. Its first line names the columns:
        those before ``y`` are the features; ``y`` is the label (1 or +, and -1, - or 0); one weight a feature
        follows, and the intercept where there is one more: the column ``b`` or ``w0``, else the last one.
        Beside ``x1`` and ``w1``, columns such as ``t``, ``yhat`` or ``mistake`` are not read. A row without
        printed weights is computed. A row without an example says from which weights the run starts, else
        it starts from zero.
    eta0 : float, default=1.0
        Learning rate, above 0 and at most 1e30.
    tie : {"mistake", "positive"}, default="mistake"
        Whether an activation of 0 is always a mistake, or predicts +, as in `Perceptron`.

    Returns
    -------
    LectureCheck
        A `CheckedRow` for each row with printed weights.

    Raises
    ------
    ValueError
        If the file has other columns or is no UTF-8, or if a cell is no label or no number of at most 30
        digits; if ``eta0`` or ``tie`` is invalid.
    TypeError
        If ``path`` is no path, or ``eta0`` no number.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from perceptron_rs import check_lecture
    >>> text = "x1,x2,y,w1,w2,b\n1,1,1,1,1,1\n2,2,1,1,1,1\n1,2,-1,1,1,1\n2,1,-1,-1,0,0\n-1,0,1,-1,0,0\n"
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "slide.csv")
    ...     _ = path.write_text(text)
    ...     print(check_lecture(path))
    line  w . x + b  mistake  printed     verdict
    2     0          yes      (1, 1, 1)   right
    3     5                   (1, 1, 1)   right
    4     4          yes      (1, 1, 1)   wrong: y a = -4 is a mistake: (0, -1, 0)
    5     4          yes      (-1, 0, 0)  right
    6     1                   (-1, 0, 0)  right
    """
    eta = checked_number("eta0", eta0)
    if not 0 < eta <= 1e30:
        raise ValueError(f"eta0 must be above 0 and at most 1e30, got {eta0!r:.80}; choose 1.0")
    check_among("tie", tie, *words(Tie))
    d, size, rows = _read(path_of(path))
    rule = _Rule(Fraction(str(float(eta))), tie, size > d)
    # From here on: behind what is printed, and as it were without any slip.
    weights = run = [Fraction()] * size
    lines, early = [], []
    for line, cells in rows:
        example, label, printed = cells[:d], cells[d].removesuffix(".0"), cells[d + 1 :]
        after = [_number(cell, line) for cell in printed] if set(printed) - {"", "-"} else None
        if not any(cells[: d + 1]) and after:
            weights = run = after
            continue
        if label not in _LABELS:
            raise ValueError(
                f"y must be 1 or -1, got {label!r:.80} in line {line}; write 1 or +, and -1 or -"
            )
        y, x = _LABELS[label], [_number(cell, line) for cell in example] + [Fraction(1)] * (size - d)
        step, run_before = rule.step(weights, x, y), run
        run = rule.step(run, x, y)
        if after:
            verdict, why = rule.judge(weights, x, y, printed)
            if verdict != "right" and _fits(printed, run):
                verdict, why = "right if", f"the row before is {_shown(run_before)}"
            a = _activation(weights, x)
            mistake = rule.is_mistake(a, y)
            lines.append(CheckedRow(line, float(a), mistake, _floats(after), _floats(step), verdict, why))
            early.append(_fits(printed, run_before))
        # What is rounded goes on exactly.
        weights = after if after and not _fits(printed, step) else step
    if (
        all(early)
        and len({row.printed for row in lines}) > 1
        and any(row.verdict == "wrong" for row in lines)
    ):
        why = "the weights are printed before their row"
        lines = [replace(row, verdict="right if", why=why) for row in lines]
    return LectureCheck(tuple(lines))


@dataclass(frozen=True)
class _Rule:
    """How a run learns."""

    rate: Fraction
    tie: str
    has_intercept: bool

    def is_mistake(self, a: Fraction, y: int) -> bool:
        return y * a < 0 or (a == 0 and (y < 0 or self.tie == "mistake"))

    def step(self, w: _Weights, x: _Weights, y: int) -> _Weights:
        """Return the weights behind an example."""
        return _moved(w, x, self.rate * y) if self.is_mistake(_activation(w, x), y) else w

    def judge(self, w: _Weights, x: _Weights, y: int, printed: list[str]) -> tuple[_Verdict, str]:
        a, right = _activation(w, x), self.step(w, x, y)
        if _fits(printed, right):
            return "right", ""
        if not self.is_mistake(a, y):
            if a == 0 and _fits(printed, _moved(w, x, self.rate * y)):
                return "right if", "an activation of 0 is a mistake"
            return "wrong", f"y a = {float(y * a):g} is no mistake: {_shown(right)}"
        if a == 0 and _fits(printed, w):
            return "right if", "an activation of 0 is no mistake here"
        if self.has_intercept and _fits(printed, [*right[:-1], w[-1]]):
            return "right if", "the intercept is not learnt"
        j = next((j for j, v in enumerate(x) if v), 0)  # at x = 0, without an intercept, no rate moves w
        rate = (Fraction(printed[j]) - w[j]) / (y * x[j]) if x[j] else Fraction()
        if rate > 0 and _fits(printed, _moved(w, x, rate * y)):
            return "right if", f"the learning rate is {float(rate):g}"
        return "wrong", f"y a = {float(y * a):g} is a mistake: {_shown(right)}"


def _moved(w: _Weights, x: _Weights, c: Fraction) -> _Weights:
    return [weight + c * v for weight, v in zip(w, x, strict=True)]


def _activation(w: _Weights, x: _Weights) -> Fraction:
    return sum((weight * v for weight, v in zip(w, x, strict=True)), Fraction())


def _fits(printed: list[str], weights: _Weights) -> bool:
    """Return whether texts are these numbers, rounded where they have a decimal point."""
    return all(
        abs(Fraction(cell) - weight) <= _half_unit(cell)
        for cell, weight in zip(printed, weights, strict=True)
    )


def _half_unit(cell: str) -> Fraction:
    decimals = cell.partition(".")[2]
    return Fraction(1, 2 * 10 ** len(decimals)) if decimals.isdigit() else Fraction()


def _read(path: Path) -> tuple[int, int, list[tuple[int, list[str]]]]:
    """Return how many features and weights there are, and the cells of each line, with its number."""
    data = path.read_bytes()
    check_utf8(data, str(path), 0)
    lines = data.decode("utf-8-sig").translate(_MINUS).splitlines() or [""]
    first = int(lines[0].startswith("sep=") and len(lines) > 1)  # a line for spreadsheets
    between = next((sign for sign in ";\t|" if sign in lines[first]), ",")
    if between != ",":  # then a comma is that of a decimal number
        lines = [line.replace(",", ".") for line in lines]
    if between == "|":
        lines = [line.strip().strip("|") for line in lines]
    table = csv.reader(lines[first:], delimiter=between)
    head, *rows = [[re.sub(r" */ *", "/", cell.strip()) for cell in row] for row in table]
    d, columns = _columns(head)
    numbered = [(line, row) for line, row in enumerate(rows, start=first + 2) if any(row)]
    if between == "|":  # without the rule below the names
        numbered = [(line, row) for line, row in numbered if set("".join(row)) - set(":-") or "" in row]
    for line, row in numbered:
        if len(row) != len(head):
            raise ValueError(f"line {line} must have {len(head)} cells, got {len(row)}; leave cells empty")
    return d, len(columns) - d - 1, [(line, [row[j] for j in columns]) for line, row in numbered]


def _columns(head: list[str]) -> tuple[int, list[int]]:
    """Return how many features there are, and the columns: features, label, weights, intercept."""
    names = [re.sub(r"[\s_${}\\]", "", name.lower()) for name in head]
    y = names.index("y") if "y" in names else 0

    def kept(columns: range, kind: re.Pattern[str]) -> list[int]:
        named = [j for j in columns if not _TOLD.fullmatch(names[j])]
        return named if named and all(kind.fullmatch(names[j]) for j in named) else list(columns)

    features, weights = kept(range(y), _FEATURE), kept(range(y + 1, len(names)), _WEIGHT)
    extra = len(weights) - len(features)
    if not features or extra not in (0, 1):
        raise ValueError(
            f"the columns must be features, y, a weight a feature and perhaps an intercept, got {head}"
        )
    own = [
        j for j in weights if _INTERCEPT.fullmatch(names[j]) and not (names[j][-1] == "0" and "x0" in names)
    ]
    if extra and len(own) == 1:
        weights = [j for j in weights if j not in own] + own
    return len(features), [*features, y, *weights]


def _number(cell: str, line: int) -> Fraction:
    if not _NUMBER.fullmatch(cell):
        raise ValueError(f"line {line} must have numbers, got {cell!r:.80}; write 0.5, -2 or 1/3")
    return Fraction(cell)


def _floats(weights: _Weights) -> tuple[float, ...]:
    return tuple(map(float, weights))


def _shown(weights: Sequence[float | Fraction]) -> str:
    return "(" + ", ".join(f"{float(weight):g}" for weight in weights) + ")"
