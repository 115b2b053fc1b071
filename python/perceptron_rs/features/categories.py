"""What strings are: categories, texts, dates or amounts; texts without features, labels that are alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from perceptron_rs.features.numerals import mark_of

if TYPE_CHECKING:
    from perceptron_rs.features.dictionaries import Strings

#: So many examples are looked at.
LOOKED_AT = 2000
#: From so few distinct strings nothing follows.
_LEAST, _FEW = 3, 20
_TIME = r"\d{1,2}:\d{2}(:\d{2})?( ?[apAP][mM])?"
#: Four letters in a row of Thai, Lao, Burmese, Khmer, Japanese or Chinese.
_UNBROKEN = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]{4}")
_DECIMAL = re.compile(r"[+-]?\d+(\.\d*)?")
_DATE = re.compile(rf"\d{{1,4}}([-/.])\d{{1,2}}\1\d{{1,4}}([T ]\d{{1,2}}:\d{{2}}.*)?|{_TIME}")


class Kind(NamedTuple):
    """What the strings of a column are, in words, and what helps.

    They may be categories all the same, or are refused unless somebody says so.
    """

    what: str
    remedy: str
    #: What helps in CSV, if that is more.
    in_csv: str | None = None
    may_be_categories: bool = False
    is_refused: bool = False


_WORDS = "learn from their words ({text_columns}), or leave the column out ({drop})"
_ADVICE = {
    "dates": Kind(
        "dates or times, each a value of its own",
        "write them as numbers, such as the days since the first one, or leave the column out ({drop})",
    ),
    "amounts": Kind(
        "numbers with signs of percent, of money or between thousands, each a value of its own",
        "write the numbers alone, such as 50 for 50%, or leave the column out ({drop})",
        "read them as numbers ({decimal}), or leave the column out ({drop})",
    ),
    "texts": Kind("texts, of which nearly all differ", _WORDS, is_refused=True),
    "words": Kind("texts of several words", _WORDS, may_be_categories=True),
    "names": Kind(
        "strings of which nearly all differ, so that other examples will have other ones",
        "leave the column out ({drop}), or learn from its words or characters ({text_columns})",
    ),
}


def kind_of_strings(values: Sequence[str]) -> Kind | None:
    """Return what the strings of a column seem to be (dates, amounts, texts); None for categories."""
    distinct = set(values)
    cells = [value.strip() for value in distinct]
    if cells and 10 * sum(_DATE.fullmatch(cell) is not None for cell in cells) >= 9 * len(cells):
        return _ADVICE["dates"]
    if mark_of(cells) is not None:
        return _ADVICE["amounts"]
    has_words = 2 * sum(len(cell.split()) > 1 for cell in cells) >= len(cells)
    differ = 10 * len(distinct) >= 9 * len(values)
    if len(distinct) < _LEAST:
        return None
    if has_words:
        return _ADVICE["texts" if differ else "words"]
    return _ADVICE["names"] if differ and len(distinct) >= _FEW else None


class Categories:
    """Looks at the first strings of each name."""

    def __init__(self) -> None:
        self._left = LOOKED_AT
        self._values: dict[str, list[str]] = {}

    @property
    def is_full(self) -> bool:
        """Whether no more are looked at."""
        return self._left <= 0

    def add(self, examples: Sequence[Mapping[str, Any]]) -> None:
        """Look at examples."""
        for example in examples[: self._left]:
            for name, value in example.items():
                if isinstance(value, str):
                    self._values.setdefault(name, []).append(value)
        self.looked_at(len(examples))

    def add_column(self, name: str, strings: Strings) -> None:
        """Look at the first strings of a column; `looked_at` follows when all columns were."""
        codes = strings.codes[: max(self._left, 0)]
        if texts := [strings.values[code] for code in codes[codes >= 0].tolist()]:
            self._values.setdefault(name, []).extend(texts)

    def looked_at(self, n: int) -> None:
        """Note that so many examples have been looked at."""
        self._left -= n

    def odd(self) -> list[tuple[str, str, Kind]]:
        """Return each column that holds no categories, with a value and what it seems to be; start afresh."""
        kinds = [(name, values[0], kind_of_strings(values)) for name, values in self._values.items()]
        self._values, self._left = {}, 0
        return [(name, value, kind) for name, value, kind in kinds if kind is not None]


class TextNotes:
    """Counts texts without a single n-gram and those of scripts without blanks; notes what is beside them."""

    def __init__(self) -> None:
        self.count = self.empty = self.unbroken = 0
        #: The first of each kind.
        self.first_empty = self.first_unbroken = ""
        #: What stands beside texts in the first dictionaries: "numbers" or "categories".
        self.kinds: dict[str, str] = {}
        self._left = LOOKED_AT

    def add_beside(self, examples: Sequence[Mapping[str, Any]]) -> None:
        """Look at what examples have beside texts."""
        for example in examples[: max(self._left, 0)]:
            for name, value in example.items():
                if isinstance(value, str) or name not in self.kinds:
                    self.kinds[name] = "categories" if isinstance(value, str) else "numbers"
        self._left -= len(examples)

    def add(self, texts: Sequence[str], numbers: Iterable[int], *, may_lack: bool) -> None:
        """Look at texts, and how many n-grams each has; examples may lack theirs."""
        numbers = list(numbers)
        if all(numbers) and all(map(str.isascii, texts)):  # most often
            self.count += len(texts)
            return
        for text, number in zip(texts, numbers, strict=True):
            if not number and (text or not may_lack):
                self.first_empty = self.first_empty or text
                self.empty += 1
            if not text.isascii() and _UNBROKEN.search(text):
                self.first_unbroken = self.first_unbroken or text
                self.unbroken += 1
        self.count += len(texts)

    def in_words(self) -> str | None:
        """Return what was noted; None if there was nothing."""
        parts = []
        if self.empty:
            parts.append(f"{self.empty} of {self.count} have no feature, the first {self.first_empty!r:.30}")
        if self.unbroken:
            shown = f"the first {self.first_unbroken!r:.30}"
            parts.append(f"{self.unbroken} are of scripts without blanks between words, {shown}")
        return "; ".join(parts) or None


def alike(labels: Iterable[str]) -> list[tuple[str, ...]]:
    """Return labels that differ in blanks or case alone, or are the same number."""
    alike: dict[object, list[str]] = {}
    for label in labels:
        key = " ".join(label.split()).casefold()
        alike.setdefault(float(key) if _DECIMAL.fullmatch(key) else key, []).append(label)
    return [tuple(same) for same in alike.values() if len(same) > 1]


def say_alike(pairs: Iterable[tuple[str, ...]]) -> str:
    """Return in words what `alike` has found."""
    shown = ", ".join(" and ".join(map(repr, labels)) for labels in pairs)
    return f"{shown} differ in blanks, case or decimals alone; write them alike, if they are one"
