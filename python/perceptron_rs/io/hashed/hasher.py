"""Examples as hashed columns: texts by their n-grams, numbers and categories by their names, in one matrix.

A number is the feature ``name``, a category ``name=value``, and an n-gram of a column of texts
``name^n-gram``, as Vowpal Wabbit writes namespaces. Each column of texts is what ``HashingVectorizer`` makes
of it, of these names. As long as a scale is not known, counts of texts stand apart from what is beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs._core import added_rows
from perceptron_rs.arrays.csr import csr_slice
from perceptron_rs.arrays.likes import MatrixLike
from perceptron_rs.features.categories import Categories, TextNotes
from perceptron_rs.features.dictionaries import WITHIN, Column, Strings, hashed_columns, hashed_dictionaries
from perceptron_rs.features.text import HashedRows, HashedText, Words, hashed_rows, normalized
from perceptron_rs.rows.sparse import CsrArrays


@dataclass(frozen=True, eq=False)
class CountedTexts:
    """Some rows after others, so that what becomes of them takes the place of what they were.

    Parameters
    ----------
    pieces : list of list of HashedRows
        Of each piece of the rows, the counts of n-grams of each text.
    rest, numbers : HashedRows or None
        Of all rows, what is beside texts, and the numbers of that alone: categories are 1, however rare.
    n_columns : int
    """

    pieces: list[list[HashedRows]]
    rest: HashedRows | None
    numbers: HashedRows | None
    n_columns: int

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows, number of columns."""
        return sum(len(piece[0].indptr) - 1 for piece in self.pieces), self.n_columns

    def __getitem__(self, rows: slice | NDArray[np.bool_]) -> CountedTexts:
        """Return some of the rows."""
        chosen = np.zeros(self.shape[0], dtype=np.bool_)
        chosen[rows] = True
        pieces, begin = [], 0
        for piece in self.pieces:
            begin, first = begin + len(piece[0].indptr) - 1, begin
            pieces.append([_chosen(part, chosen[first:begin]) for part in piece])
        rest, numbers = (
            None if part is None else _chosen(part, chosen) for part in (self.rest, self.numbers)
        )
        return replace(self, pieces=pieces, rest=rest, numbers=numbers)

    def learnable(self, chosen: NDArray[np.bool_] | None, *, of_texts: bool) -> MatrixLike:
        """Return what a scale is learnt from, of some rows: all n-grams, in any order, or the numbers."""
        if not of_texts:
            assert self.numbers is not None
            numbers = self.numbers if chosen is None else _chosen(self.numbers, chosen)
            return CsrArrays.of(*numbers, self.n_columns)
        some = self if chosen is None else self[chosen]
        rows = joined_rows(part for piece in some.pieces for part in piece)
        return replace(CsrArrays.of(*rows, self.n_columns), shape=some.shape)

    def emptied(self) -> Iterator[tuple[list[HashedRows], int, int]]:
        """Give each piece with the numbers of its rows, and keep it no longer."""
        self.pieces.reverse()
        begin = 0
        while self.pieces:
            piece = self.pieces.pop()
            begin, first = begin + len(piece[0].indptr) - 1, begin
            yield piece, first, begin


def all_counted(several: Sequence[CountedTexts]) -> CountedTexts:
    """Return the rows of several as those of one."""
    rest, numbers = (
        None if parts[0] is None else joined_rows(parts)
        for parts in zip(*((blocks.rest, blocks.numbers) for blocks in several), strict=True)
    )
    pieces = [piece for blocks in several for piece in blocks.pieces]
    return replace(several[0], pieces=pieces, rest=rest, numbers=numbers)


def joined_rows(parts: Iterable[Any]) -> HashedRows:
    """Return some rows after others."""
    every = [(part.data, part.indices, np.diff(part.indptr)) for part in parts]
    data, indices, lengths = (np.concatenate(arrays) for arrays in zip(*every, strict=True))
    return HashedRows(data, indices, np.append(0, np.cumsum(lengths, dtype=np.int64)))


def _chosen(rows: HashedRows, chosen: NDArray[np.bool_]) -> HashedRows:
    some: Any = CsrArrays.of(*rows, 1).chosen(chosen)
    return HashedRows(some.data, some.indices, some.indptr)


#: Which of some rows; None: all.
Mask: TypeAlias = NDArray[np.bool_] | None

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
        Whether rows are `CountedTexts`, from which the scale is learnt, of texts or of numbers.
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
    ) -> CsrArrays | CountedTexts:
        """Return rows of columns: of texts by the names of their columns ("": they have none), and of others.

        These are dictionaries, or columns of so many rows.

        UnicodeEncodeError for what UTF-8 cannot say.
        """
        if not isinstance(others, Mapping):
            n_rows = len(next(iter(texts.values())) if others is None else others)
        rest = None if others is None else self._others(others, n_rows)
        cuts = [(begin, min(begin + _ROWS, n_rows)) for begin in range(0, max(n_rows, 1), _ROWS)]
        counts = ([self._text(name, texts[name][begin:end]) for name in texts] for begin, end in cuts)
        if self.in_blocks:
            quiet = replace(self, words=None, categories=None, notes=None)
            numbers = None if others is None else quiet._others(_numbers(others), n_rows)
            return CountedTexts(list(counts), rest, numbers, self.n_columns)
        if rest is not None:
            rest = self._scaled(rest)
            if not texts:
                return CsrArrays.of(*rest, self.n_columns)
        return self._all_weighed(((piece, *cut) for piece, cut in zip(counts, cuts, strict=True)), rest)[0]

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
            if self.notes is not None:
                self.notes.add_beside(others)
            return hashed_dictionaries(others, self.n_columns, self.words)
        if self.categories is not None:
            for name, cells in others.items():
                if isinstance(cells, Strings):
                    self.categories.add_column(name, cells)
            self.categories.looked_at(n_rows)
        return hashed_columns(others, n_rows, self.n_columns, self.words)

    def weighed(self, blocks: CountedTexts, masks: Sequence[Mask] = (None,)) -> list[CsrArrays]:
        """Return rows that ``rows`` gave as blocks, which are empty then, now that the scale is known.

        Those that each of the masks chooses; None: all.
        """
        rest = None if blocks.rest is None else self._scaled(blocks.rest)
        return self._all_weighed(blocks.emptied(), rest, masks)

    def _all_weighed(
        self,
        pieces: Iterable[tuple[list[HashedRows], int, int]],
        rest: HashedRows | None,
        masks: Sequence[Mask] = (None,),
    ) -> list[CsrArrays]:
        """Return the rows of all pieces, with the rest of theirs."""
        chosen: list[list[CsrArrays]] = [[] for _ in masks]
        for texts, begin, end in pieces:
            rows = self._weighed(texts, None if rest is None else _rows_of(rest, begin, end))
            for parts, mask in zip(chosen, masks, strict=True):
                parts.append(rows if mask is None else rows.chosen(mask[begin:end]))
        return [
            parts[0] if len(parts) == 1 else CsrArrays.of(*joined_rows(parts), self.n_columns)
            for parts in chosen
        ]

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
