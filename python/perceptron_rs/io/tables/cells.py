"""What the cells of a text table stand for: numbers, labels, missing values.

The guide (files) has these rules as a table.

A cell is judged by its own text, and a column by all of its cells: where a file is cut into parts, and how
many there are, changes nothing.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.features.categories import LOOKED_AT, kind_of_strings
from perceptron_rs.features.numerals import between_thousands, mark_of, numeral
from perceptron_rs.io.examples import NOT_WHOLE
from perceptron_rs.io.reading import LabelKind
from perceptron_rs.io.tables.columns import CellError, arrow, first_row, refuse_missing_label, text_labels

if TYPE_CHECKING:
    import pyarrow as pa

_INTEGER = r"^(?:0|-?[1-9][0-9]*)$"
_NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
_TRUE, _FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")
_BLANKS = " \t"
#: Words that often stand for nothing. They do so only if the caller says it: NA is a country, too.
_ODD = ("NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "None", "?", "-", "--", ".")


def _trimmed(column: pa.Array) -> pa.Array:
    return arrow("compute").utf8_trim(column, characters=_BLANKS)


def missing_cells(column: pa.Array) -> pa.Array:
    """Return which cells of a column of text are blank, and so stand for nothing."""
    return arrow("compute").equal(_trimmed(column), "")


def _plain(cells: pa.Array, decimal: str) -> pa.Array:
    """Return cells as plain numbers, which are written with this mark before a fraction; others are kept."""
    pc, pattern = arrow("compute"), numeral(decimal)
    plain = pc.replace_substring_regex(cells, pattern, r"\1\2\3")
    plain = pc.replace_substring_regex(plain, between_thousands(decimal), "")
    plain = pc.replace_substring(plain, decimal, ".")
    is_other = pc.match_substring_regex(cells, _NUMBER)  # such as 1.5 beside 1,5
    return pc.if_else(
        pc.match_substring_regex(cells, pattern),
        plain,
        pc.if_else(is_other, pc.replace_substring(cells, ".", ".."), cells),
    )


def as_numbers(column: pa.Array, name: str, delimiter: str, decimal: str | None = None) -> pa.Array:
    """Return a column of text as float64; raise `CellError` for a cell that is no number and not missing.

    ``decimal`` comes before a fraction, if numbers are written as people do.
    """
    pc, double = arrow("compute"), arrow().float64()
    trimmed = _trimmed(column) if decimal is None else _plain(_trimmed(column), decimal)
    try:
        numbers = trimmed.cast(double)
    except arrow().ArrowInvalid:
        for value, texts in (("1", _TRUE), ("0", _FALSE)):
            trimmed = pc.if_else(pc.is_in(trimmed, value_set=arrow().array(texts)), value, trimmed)
        row = first_row(pc.invert(pc.match_substring_regex(trimmed, _NUMBER)))
        if row is not None:
            raise _cell_error(row, column, name, delimiter, decimal) from None
        numbers = trimmed.cast(double)
    row = first_row(pc.invert(pc.is_finite(numbers)))
    if row is not None:
        raise _cell_error(row, column, name, delimiter, decimal)
    return numbers


def is_value(cell: str) -> bool:
    """Whether a cell is written as a value of a feature: a number, true or false."""
    return is_number(cell) or cell.strip(_BLANKS) in (*_TRUE, *_FALSE)


def is_number(cell: str) -> bool:
    """Whether a cell is written as a number, perhaps with blanks around."""
    return re.match(_NUMBER, cell.strip(_BLANKS)) is not None


def _cell_error(row: int, column: pa.Array, name: str, delimiter: str, decimal: str | None) -> CellError:
    """Say what is wrong with a cell."""
    cell: str = column[row].as_py()
    text = f"column {name!r} holds {cell!r:.60}, which is not a number"
    if is_number(cell) and decimal != ",":
        return CellError(row, f"{text} of float64: it is too large")
    if cell.strip(_BLANKS) in _ODD:
        return CellError(row, text, "if it stands for a missing value, pass {missing}", {"missing": [cell]})
    for other in ";\t|":
        if other in cell and other != delimiter:  # which was in quotes
            return CellError(
                row, text, f"if {other!r} separates the columns, pass {{delimiter}}", {"delimiter": other}
            )
    if (mark := "." if is_number(cell) else mark_of([cell])) is not None:
        mark = mark_of(column.slice(0, LOOKED_AT).drop_null().to_pylist()) or mark
        remedy = "to read it as one, say what comes before a fraction: {decimal}"
        if "," in cell and delimiter != ",":
            remedy += "; or pass {delimiter}, if the comma separates columns"
        return CellError(row, text, remedy, {"decimal": mark, "delimiter": ","})
    return string_error(row, text, column, name)


def string_error(row: int | None, text: str, column: pa.Array, name: str) -> CellError:
    """Return the error for a column of strings that are no numbers, with what helps for such strings."""
    kind = kind_of_strings(column.slice(0, LOOKED_AT).drop_null().to_pylist())
    remedy = "encode the column, leave it out ({drop}), hash it ({hash_bits})"
    if kind is not None:
        text, remedy = f"{text}: it holds {kind.what}", kind.remedy
        remedy += ", or hash it ({hash_bits}) if they are categories" if kind.may_be_categories else ""
    remedy += ", or name it as {target} if it holds the labels"
    return CellError(row, text, remedy, {"drop": [name], "text_columns": [name]})


class CellKinds:
    """What the cells of a column of text look like, of all parts of a file together.

    Parameters
    ----------
    name : str
        Name of the column.
    decimal : str or None
        What comes before a fraction, if numbers are written as people do.
    """

    def __init__(self, name: str, decimal: str | None = None) -> None:
        self.name, self._decimal = name, decimal
        #: Whether there are cells of each kind. A plain number is neither an integer nor a whole decimal.
        self.integer = self.decimal = self.number = self.switch = self.huge = self.holds_name = False
        #: The first cell with a fraction, a word that may stand for nothing, and any other text.
        self.fraction: str | None = None
        self.odd: str | None = None
        self.text: str | None = None

    def add(self, column: pa.Array) -> None:
        """Look at some cells; missing ones are of no kind."""
        pc, as_array = arrow("compute"), arrow().array
        distinct = pc.unique(column).drop_null()
        self.holds_name |= bool(pc.any(pc.equal(distinct, self.name)).as_py())
        cells = _trimmed(distinct)
        cells = cells if self._decimal is None else _plain(cells, self._decimal)
        is_integer = pc.match_substring_regex(cells, _INTEGER)
        integers, others = cells.filter(is_integer), cells.filter(pc.invert(is_integer))
        self.integer |= len(integers) > 0
        self._see_large(integers.filter(pc.greater(pc.utf8_length(integers), 18)).to_pylist())
        is_number = pc.match_substring_regex(others, _NUMBER)
        self._see_numbers(others.filter(is_number))
        others = others.filter(pc.invert(is_number))
        is_switch = pc.is_in(others, value_set=as_array([*_TRUE, *_FALSE]))
        self.switch |= bool(pc.any(is_switch).as_py())
        others = others.filter(pc.invert(is_switch))
        is_odd = pc.is_in(others, value_set=as_array(_ODD))
        for kind, texts in (("odd", others.filter(is_odd)), ("text", others.filter(pc.invert(is_odd)))):
            if getattr(self, kind) is None and len(texts):
                setattr(self, kind, texts[0].as_py())

    def _see_numbers(self, cells: pa.Array) -> None:
        """Look at numbers that are not written as integers."""
        if not len(cells):
            return
        values = cells.cast(arrow().float64()).to_numpy()
        is_decimal = arrow("compute").match_substring(cells, ".").to_numpy(zero_copy_only=False)
        with np.errstate(invalid="ignore"):
            is_whole = values == np.trunc(values)
        if self.fraction is None and not is_whole.all():
            self.fraction = cells[int(np.argmin(is_whole))].as_py()
        whole = is_whole & is_decimal & np.isfinite(values)
        self.decimal |= bool(whole.any())
        self.number |= not whole.all()
        self._see_large(cells[int(i)].as_py() for i in np.flatnonzero(whole & (np.abs(values) >= 1e17)))

    def _see_large(self, cells: pa.Array) -> None:
        self.huge |= any(not -(2**63) <= int(Decimal(cell)) < 2**63 for cell in cells)

    def label_kind(self) -> LabelKind:
        """Return what labels are; raise `CellError` if they are none, or if that cannot be known."""
        if self.text is None and not self.switch:
            if self.fraction is not None:
                raise CellError(None, f"column {self.name!r} holds the label {self.fraction}; {NOT_WHOLE}")
            self._refuse_mixture()
            if not (self.number or self.huge or self.odd):
                return "i"
        return "U"

    def is_text(self) -> bool:
        """Whether a column that is to be hashed holds text; raise `CellError` if that cannot be known."""
        if self.text is None:
            self._refuse_mixture()
        return not (self.text is None and self.odd is None)

    def _refuse_mixture(self) -> None:
        if self.odd is not None and (self.integer or self.decimal or self.number):
            raise CellError(
                None,
                f"column {self.name!r} holds numbers and {self.odd!r}",
                "if that stands for a missing value, pass {missing}",
                {"missing": [self.odd]},
            )


def as_labels(column: pa.Array, name: str, kind: LabelKind) -> NDArray[np.generic]:
    """Return a column of text as labels of a kind; as text if they are not all of it."""
    pc = arrow("compute")
    refuse_missing_label(pc.is_null(column), name)
    if kind == "i":
        trimmed = _trimmed(column)
        try:
            whole = _whole_cells(trimmed)
        except (CellError, ArithmeticError):
            whole = None
        if whole is not None:
            return whole
    if kind == "b":
        trimmed = _trimmed(column)
        true, false = (pc.is_in(trimmed, value_set=arrow().array(texts)) for texts in (_TRUE, _FALSE))
        if pc.all(pc.or_(true, false)).as_py():
            return np.asarray(true.to_numpy(zero_copy_only=False), dtype=np.bool_)
    return text_labels(column, name)


def _whole_cells(column: pa.Array) -> NDArray[np.int64] | None:
    """Return whole numbers; None if a cell is none, or is not written as one."""
    pc = arrow("compute")
    if pc.all(pc.match_substring_regex(column, _INTEGER)).as_py():
        return np.asarray(column.cast(arrow().int64()).to_numpy(), dtype=np.int64)
    kinds = CellKinds("")
    kinds.add(column)
    if kinds.label_kind() != "i" or kinds.odd is not None:
        return None
    coded = pc.dictionary_encode(column)
    values = np.array([int(Decimal(cell)) for cell in coded.dictionary.to_pylist()], dtype=np.int64)
    return np.asarray(values[coded.indices.to_numpy()])
