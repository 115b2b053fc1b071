"""Examples as hashed columns: texts by their n-grams, numbers and categories by their names, in one matrix.

A number is the feature ``name``, a category ``name=value``, and an n-gram of a column of texts
``name^n-gram``, as Vowpal Wabbit writes namespaces. Each column of texts is what ``HashingVectorizer`` makes
of it, of these names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from perceptron_rs._core import added_rows, parted_rows
from perceptron_rs.arrays.csr import csr_slice
from perceptron_rs.features.categories import Categories, TextNotes
from perceptron_rs.features.dictionaries import WITHIN, Column, Strings, hashed_columns, hashed_dictionaries
from perceptron_rs.features.text import HashedRows, HashedText, Words, hashed_rows, normalized
from perceptron_rs.rows.sparse import CsrArrays

#: Rows that are made at a time: large arrays are new memory each, which takes longer than what is done there.
_ROWS = 2048


@dataclass(frozen=True, kw_only=True)
class ExampleHasher:
    """Makes columns of examples that have texts, and of others.

    Parameters
    ----------
    n_columns : int
        A power of two.
    n_texts : int
        How many texts an example has.
    text : HashedText or None
        How texts are hashed.
    scale : Idf, Scale or None
        What weighs the n-grams of each text, or scales the columns of all that is beside texts.
    in_blocks : bool, default=False
        Whether texts are counted side by side, behind them what is beside them, and once more the numbers of
        that: so the scale is learnt, of texts or of numbers. Categories are 1, however rare.
    words, categories, notes : objects or None
        They are told of all features, of the strings that are hashed as they are, and of texts.
    """

    n_columns: int
    n_texts: int
    text: HashedText | None
    scale: Any = None
    in_blocks: bool = False
    words: Words | None = None
    categories: Categories | None = None
    notes: TextNotes | None = None

    def rows(
        self,
        texts: Mapping[str, Any],
        others: Sequence[Mapping[str, float | str]] | Mapping[str, Column] | None = None,
        n_rows: int = 0,
    ) -> CsrArrays:
        """Return rows of columns: of texts by the names of their columns ("": they have none), and of others.

        These are dictionaries, or columns of so many rows.

        UnicodeEncodeError for what UTF-8 cannot say.
        """
        if not isinstance(others, Mapping):
            n_rows = len(next(iter(texts.values())) if others is None else others)
        rest = None if others is None else self._others(others, n_rows)
        numbers = None
        if rest is not None and self.in_blocks:
            numbers = replace(self, words=None, categories=None)._others(_numbers(others), n_rows)
        elif rest is not None:
            rest = self._scaled(rest)
            if not texts:
                return CsrArrays.of(*rest, self.n_columns)

        def some(begin: int, end: int) -> CsrArrays:
            parts: list[Any] = [self._text(name, column[begin:end]) for name, column in texts.items()]
            if not self.in_blocks:
                return self._weighed(parts, None if rest is None else _rows_of(rest, begin, end))
            parts += [_rows_of(block, begin, end) for block in (rest, numbers) if block is not None]
            return side_by_side(parts, [self.n_columns] * len(parts))

        return _some_at_a_time(n_rows, some)

    def _text(self, name: str, column: Sequence[str]) -> HashedRows:
        """Return the n-grams of some texts."""
        assert self.text is not None
        before = f"{name}{WITHIN}".encode() if name else b""
        rows = hashed_rows(column, self.text, self.n_columns, self.words, before)
        if self.notes is not None:
            self.notes.add(column, np.diff(rows.indptr).tolist(), may_lack=name != "")
        return rows

    def _others(
        self, others: Sequence[Mapping[str, float | str]] | Mapping[str, Column], n_rows: int
    ) -> HashedRows:
        """Return the columns of what is beside texts."""
        if not isinstance(others, Mapping):
            if self.categories is not None:
                self.categories.add(others)
            return hashed_dictionaries(others, self.n_columns, self.words)
        if self.categories is not None:
            for name, cells in others.items():
                if isinstance(cells, Strings):
                    self.categories.add_column(name, cells)
            self.categories.looked_at(n_rows)
        return hashed_columns(others, n_rows, self.n_columns, self.words)

    def weighed(self, blocks: CsrArrays) -> CsrArrays:
        """Return rows that stand in blocks as ``rows`` returns them, now that the scale is known."""
        n, width = self.n_texts, self.n_columns
        arrays = _arrays(blocks, blocks.indices.dtype)
        parts = [HashedRows(*part) for part in parted_rows(arrays, width, blocks.shape[1] // width)]
        return self._weighed(parts[:n], self._scaled(parts[n]) if len(parts) > n else None)

    def learnable(self, blocks: CsrArrays, *, of_texts: bool) -> CsrArrays:
        """Return what a scale is learnt from: the n-grams of all texts, or the numbers beside texts."""
        n = self.n_columns
        of_text = blocks.indices < self.n_texts * n
        is_own = of_text if of_texts else blocks.indices >= (self.n_texts + 1) * n
        places = np.flatnonzero(is_own)
        ends = np.searchsorted(places, blocks.indptr)
        return CsrArrays.of(blocks.data[places], blocks.indices[places] % n, ends, n)

    def _scaled(self, others: HashedRows) -> HashedRows:
        """Return what is beside texts as a scaler leaves it."""
        if self.scale is None or self.scale.of_texts or not self.n_texts:
            return others
        return others._replace(data=self.scale.applied(CsrArrays.of(*others, self.n_columns)).data)

    def _weighed(self, texts: Sequence[HashedRows], rest: HashedRows | None) -> CsrArrays:
        """Return the sum of the weighed n-grams of texts and of the rest, if any."""
        weighs, n = self.scale is not None and self.scale.of_texts, self.n_columns
        parts: list[Any] = [] if rest is None else [rest]
        for part in texts:
            assert self.text is not None
            parts.append(
                self.scale.applied(CsrArrays.of(*part, n)) if weighs else normalized(part, self.text.norm)
            )
        return CsrArrays.of(*added(parts), n)


def _numbers(others: Any) -> Any:
    """Return what is beside texts, without the strings."""
    if isinstance(others, Mapping):
        return {name: cells for name, cells in others.items() if not isinstance(cells, Strings)}
    return [{name: value for name, value in own.items() if not isinstance(value, str)} for own in others]


def _rows_of(rows: Any, begin: int, end: int) -> HashedRows:
    indptr, indices, data = csr_slice(rows.indptr, rows.indices, rows.data, begin, end)
    return HashedRows(data, indices, indptr)


def _some_at_a_time(n_rows: int, some: Callable[[int, int], CsrArrays]) -> CsrArrays:
    """Return rows that ``some`` makes of those from one number to another."""
    parts = [some(begin, min(begin + _ROWS, n_rows)) for begin in range(0, max(n_rows, 1), _ROWS)]
    if len(parts) == 1:
        return parts[0]
    data, indices, lengths = (
        np.concatenate(arrays)
        for arrays in zip(*((part.data, part.indices, np.diff(part.indptr)) for part in parts), strict=True)
    )
    return CsrArrays.of(data, indices, np.append(0, np.cumsum(lengths, dtype=np.int64)), parts[0].shape[1])


def side_by_side(parts: Sequence[Any], widths: Sequence[int]) -> CsrArrays:
    """Return the columns of several matrices behind each other."""
    begins = np.cumsum([0, *widths]).tolist()
    moved = [
        CsrArrays(part.data, part.indices.astype(np.int64) + begin, part.indptr, (0, 0))
        for part, begin in zip(parts, begins, strict=False)
    ]
    return CsrArrays.of(*added(moved), begins[-1])


def added(parts: Sequence[Any]) -> HashedRows:
    """Return the sums of the rows of several matrices; entries of one column are added in order."""
    if len(parts) == 1:
        return HashedRows(parts[0].data, parts[0].indices, parts[0].indptr)
    index = np.result_type(*(part.indices for part in parts))
    return HashedRows(*added_rows([_arrays(part, index) for part in parts]))


def _arrays(rows: Any, index: Any) -> tuple[Any, Any, Any]:
    """Return the arrays of rows as the core takes them."""
    data, ends = rows.data.astype(np.float64, copy=False), rows.indptr.astype(np.int64, copy=False)
    return data, rows.indices.astype(index, copy=False), ends
