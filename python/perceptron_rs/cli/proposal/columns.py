"""The columns of a table, by some of its cells: which one holds the labels, and what the others are."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from itertools import chain, pairwise

from perceptron_rs.features.categories import kind_of_strings
from perceptron_rs.features.numerals import MARKS, mark_of, number_of
from perceptron_rs.parameters.kinds import listed

NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*")
_MISSING = ("NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "None", "?", "-")
#: What columns of labels are called, how others begin, and what else is often to be predicted.
_USUAL = ("label", "labels", "target", "class", "y", "sentiment", "outcome", "survived")
OF_LABELS = (*_USUAL, "species", "diagnosis")
_FLAGS = re.compile(r"(is|has)_|fraud|churn|exited|attrition", re.IGNORECASE)
_OFTEN, OF_SCORES = ("category", "intent"), ("overall", "rating", "score", "stars")
#: Columns that name each row.
_NAMES = re.compile(r"(?i:(.*[\W_])?id)|.*[a-z]I[dD]")
#: The column that --target names, if it does.
chosen: ContextVar[str | None] = ContextVar("chosen", default=None)
PART_OF_TIME = re.compile(r"\d[-/:.]\d+[-/:.]\d")
#: Of files whose columns hold numbers and categories: few names make few collisions.
_FEW_BITS = "12"
#: Lines that are looked at, fewer than which tell nothing of a table, and how many labels may differ.
LINES, MIN_LINES, CLASSES = 1000, 10, 30
#: Whole numbers of which each has so many examples are classes.
_EACH = 5


class TableColumns:
    """The columns of a table: which one holds the labels, and what the others are.

    Parameters
    ----------
    names : list of str
    cells : list of list of str
        Of each column; empty ones are missing.
    telling : tuple of str
        What columns of labels are called.
    decimal : str or None
        What comes before fractions, if that can be said, and the numbers do not tell it.
    has_names : bool
        Whether the names are those of the file.
    """

    def __init__(
        self,
        names: list[str],
        cells: list[list[str]],
        telling: tuple[str, ...] = OF_LABELS,
        decimal: str | None = None,
        *,
        has_names: bool = True,
    ) -> None:
        self.names, self.cells = names, cells
        self.mark = None if decimal is None else self._mark(decimal)
        last = len(names) - 1
        may_be = [i for i in range(len(names)) if names[i].strip() and self._is_label(i)]
        said = [i for i, name in enumerate(names) if name == chosen.get()]
        flags = [i for i in may_be if _FLAGS.match(names[i].strip())]
        called = [*said, *self._called(telling, may_be), *flags, *self._called(_OFTEN, may_be)]
        has_words = 0 in may_be and not any(map(NUMBER.fullmatch, cells[0]))
        at_end = [last] if last in may_be and (has_names or not (has_words and self._recurs())) else []
        parts = [i for i in may_be if {*re.split(r"[\W_]+", names[i].lower())} & {*OF_LABELS, *_OFTEN}]
        known = [*called, *at_end, *parts, *self._called(OF_SCORES, may_be)]
        amounts = [i for i in range(len(names)) if limit_of(cells[i], self.mark) and not _counts(cells[i])]
        is_last = last in amounts and (has_names or not may_be)
        numbers = [*self._called(telling, amounts), *([last] if is_last else [])]
        self.target = [*known, *numbers, *may_be, last][0]
        #: What parts the target in two classes, if it holds numbers of none.
        is_amount = self.target in said or (numbers and not known)
        self.limit = limit_of(cells[self.target], self.mark) if is_amount else None
        self.is_called = bool(called or (known and not at_end))
        #: Whether the last column holds one label, so that any other column would be a guess.
        one = [len(set(column)) == 1 for name, column in zip(names, cells, strict=True) if name.strip()]
        self.is_one_class = not called and one[-1:] == [True] and names[-1].strip() != ""
        #: Whether a column may hold labels.
        self.is_found = bool(called or may_be or numbers)

    def _called(self, words: tuple[str, ...], places: list[int]) -> list[int]:
        return [i for word in words for i in places if self.names[i].strip().lower() == word]

    def _recurs(self) -> bool:
        """Whether the last column is as the others are: most of its many values are theirs."""
        first, last, others = {*self.cells[0]}, {*self.cells[-1]}, {*chain(*self.cells[1:-1])}
        return len(first) <= len(last) < 2 * len(last & others)

    def _is_label(self, place: int) -> bool:
        values = self.cells[place]
        distinct = set(values)
        whole = all(not NUMBER.fullmatch(cell) or float(cell).is_integer() for cell in distinct)
        whole = whole and not most(values, PART_OF_TIME.search)
        return whole and not {"", "?"} & distinct and 2 <= len(distinct) <= min(CLASSES, len(values) // 3)

    def _mark(self, usual: str) -> str | None:
        """Return what comes before fractions, by which most columns hold numbers; None if these are plain."""
        columns = [[cell for cell in column if not is_gap(cell)] for column in self.cells]
        if not any(mark_of(column) for column in columns):
            return None
        n_numbers = {
            m: sum(all(number_of(cell, m) is not None for cell in c) for c in columns) for m in MARKS
        }
        return max(n_numbers, key=lambda mark: (n_numbers[mark], mark == usual))

    def _is_target(self, place: int) -> bool:
        """Whether a column has the labels by other names, such as numbers, and is called like them."""
        labels, values = self.cells[self.target], self.cells[place]
        is_like = place != self.target and self.names[self.target].lower() in re.split(
            r"[\W_]+", self.names[place].lower()
        )
        return is_like and len({*zip(labels, values, strict=True)}) == len({*labels}) == len({*values})

    def _is_number(self, cell: str) -> bool:
        return (number_of(cell, self.mark) is not None) if self.mark else bool(NUMBER.fullmatch(cell))

    def options(
        self,
        *,
        is_text: bool = False,
        is_hashed: bool = False,
        drop: Sequence[str] = (),
        several: str | None = None,
    ) -> list[str]:
        """Return the options that learn from the columns; ``is_text``: cells are text, of CSV.

        ``several`` is what holds lists of labels, and is none of the columns.
        """
        drop, texts, missing = list(drop), [], []
        has_strings = has_numbers = has_gaps = False
        for place, (name, column) in enumerate(zip(self.names, self.cells, strict=True)):
            if place == self.target and several is None:
                continue
            words = [cell for cell in column if cell.strip() in _MISSING]
            values = [cell for cell in column if not is_gap(cell)]
            numbers = sum(map(self._is_number, values))
            if not name.strip() or not values or _names_rows(name, values) or self._is_target(place):
                drop.append(name)
            elif numbers == len(values) or _is_list(values):
                has_numbers, has_gaps = True, has_gaps or len(values) < len(column)
                missing += [word for word in dict.fromkeys(words) if is_text and word not in missing]
            elif {cell.lower() for cell in values} <= {"true", "false"}:
                has_numbers = True
            else:
                kind = kind_of_strings(values)
                if kind is None:
                    has_strings = True
                elif has_words(values):
                    texts.append(name)
                else:
                    drop.append(name)
        last = len(self.names) - 1
        is_last = self.target == last and not is_hashed and not self._called(OF_LABELS, [*range(last)])
        is_said = is_last or chosen.get() is not None
        options = [] if is_said else ["--target", self.names[self.target]]
        options = options if several is None else ["--multilabel", "--target", several]
        options += ["--text-columns", listed(texts)] if texts else []
        options += ["--drop", listed(dict.fromkeys(drop))] if drop else []
        options += ["--missing", listed(missing)] if missing else []
        options += ["--decimal", self.mark] if self.mark and is_text else []
        mixed = has_strings or has_gaps or is_hashed
        options += ["--hash-bits", _FEW_BITS] if mixed and not texts and not is_hashed else []
        return options + (["--scale", "maxabs"] if has_numbers and (mixed or texts) else [])


def cell(value: object) -> str:
    """Return a value as a cell of text; an empty one is missing."""
    return "" if value is None else str(value)


def limit_of(values: Sequence[str], mark: str | None = None) -> str | None:
    """Return a number that parts values in two, if they are numbers of no classes; else None."""
    full = [value for value in values if value.strip()]
    numbers = sorted(x for x in (number_of(value, mark or ".") for value in full) if x is not None)
    n, is_whole = len(set(full)), all(map(float.is_integer, numbers))
    if n <= CLASSES or len(numbers) < len(full) or (is_whole and _EACH * n <= len(full)):
        return None
    middle = numbers[len(numbers) // 2]
    limit = 0.5 if numbers[0] >= 0 and numbers[-1] <= 1 else float(f"{middle:.3g}")
    return f"{limit if numbers[0] <= limit < numbers[-1] else middle:.15g}"


def _counts(values: list[str]) -> bool:
    """Whether the values number the rows, or are of their times: they rise."""
    if not all(value.isdigit() for value in values):
        return False
    numbers = [int(value) for value in values]
    return len(numbers) > 9 and all(b > a for a, b in pairwise(numbers))


def _names_rows(name: str, values: list[str]) -> bool:
    return _counts(values) or bool(_NAMES.fullmatch(name.strip()) and len({*values}) == len(values))


def is_gap(cell: str) -> bool:
    """Whether a cell stands for nothing."""
    return not cell.strip() or cell.strip() in _MISSING


def _is_list(values: list[str]) -> bool:
    return all(value.startswith("[") for value in values)


def has_words(values: list[str]) -> bool:
    """Whether most cells have several words."""
    return sum(len(re.findall(r"[^\W\d_]{2,}", value)) > 1 for value in values) * 2 >= len(values)


def most(lines: Sequence[str], holds: Callable[[str], object]) -> bool:
    """Whether something holds for nearly all lines."""
    return 20 * sum(map(bool, map(holds, lines))) >= 19 * len(lines)
