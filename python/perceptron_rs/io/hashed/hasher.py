"""Examples as hashed columns: texts by their n-grams, numbers and categories by their names, in one matrix.

A number is the feature ``name``, a category ``name=value``, and an n-gram of a column of texts
``name^n-gram``, as Vowpal Wabbit writes namespaces. Each column of texts is what ``HashingVectorizer`` makes
of it, of these names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.csr import without_duplicates
from perceptron_rs.features.categories import Categories, TextNotes
from perceptron_rs.features.dictionaries import WITHIN, Column, Strings, hashed_columns, hashed_dictionaries
from perceptron_rs.features.text import HashedRows, HashedText, Words, hashed_rows, normalized
from perceptron_rs.rows.sparse import CsrArrays


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
        Whether texts are counted side by side, and what is beside them behind: so the scale is learnt.
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
        texts: Mapping[str, Sequence[str]],
        others: Sequence[Mapping[str, float | str]] | Mapping[str, Column] | None = None,
        n_rows: int = 0,
    ) -> CsrArrays:
        """Return rows of columns: of texts by the names of their columns ("": they have none), and of others.

        These are dictionaries, or columns of so many rows.

        UnicodeEncodeError for what UTF-8 cannot say.
        """
        parts = []
        for name, column in texts.items():
            assert self.text is not None
            before = f"{name}{WITHIN}".encode() if name else b""
            parts.append(hashed_rows(column, self.text, self.n_columns, self.words, before))
            if self.notes is not None:
                self.notes.add(column, np.diff(parts[-1].indptr).tolist(), may_lack=name != "")
        rest = None
        if isinstance(others, Mapping):
            if self.categories is not None:
                for name, cells in others.items():
                    if isinstance(cells, Strings):
                        self.categories.add_column(name, cells)
                self.categories.looked_at(n_rows)
            rest = hashed_columns(others, n_rows, self.n_columns, self.words)
        elif others is not None:
            if self.categories is not None:
                self.categories.add(others)
            rest = hashed_dictionaries(others, self.n_columns, self.words)
        if self.in_blocks:
            every = parts if rest is None else [*parts, rest]
            moved = [
                CsrArrays(part.data, part.indices.astype(np.int64) + i * self.n_columns, part.indptr, (0, 0))
                for i, part in enumerate(every)
            ]
            return CsrArrays.of(*added(moved), len(every) * self.n_columns)
        return self._weighed(parts, rest)

    def weighed(self, blocks: CsrArrays) -> CsrArrays:
        """Return rows that stand in blocks as ``rows`` returns them, now that the scale is known."""
        every = [self._block(blocks, i, i + 1) for i in range(max(1, blocks.shape[1] // self.n_columns))]
        return self._weighed(every[: self.n_texts], (*every[self.n_texts :], None)[0])

    def learnable(self, blocks: CsrArrays, *, of_texts: bool) -> CsrArrays:
        """Return what a scale is learnt from: the n-grams of all texts, or what is beside texts."""
        ends = (0, self.n_texts) if of_texts else (self.n_texts, self.n_texts + 1)
        return CsrArrays.of(*self._block(blocks, *ends), self.n_columns)

    def _block(self, blocks: CsrArrays, begin: int, end: int) -> HashedRows:
        n = self.n_columns
        is_own = (blocks.indices >= begin * n) & (blocks.indices < end * n)
        ends = np.append(0, np.cumsum(is_own))[blocks.indptr]
        columns = (blocks.indices[is_own] % n).astype(np.int32)
        values: NDArray[Any] = blocks.data[is_own]
        return HashedRows(values, columns, ends)

    def _weighed(self, texts: Sequence[HashedRows], others: HashedRows | None) -> CsrArrays:
        scale, n = self.scale, self.n_columns
        weighs = scale is not None and scale.of_texts
        parts = []
        if others is not None:
            rest = CsrArrays.of(*others, n)
            parts.append(scale.applied(rest) if texts and scale is not None and not weighs else rest)
        for part in texts:
            assert self.text is not None
            parts.append(
                scale.applied(CsrArrays.of(*part, n))
                if weighs
                else CsrArrays.of(*normalized(part, self.text.norm), n)
            )
        return parts[0] if len(parts) == 1 else CsrArrays.of(*added(parts), n)


def added(parts: Sequence[Any]) -> HashedRows:
    """Return the sums of the rows of several matrices; entries of one column are added in order."""
    if len(parts) == 1:
        return HashedRows(parts[0].data, parts[0].indices, parts[0].indptr)
    lengths = [np.diff(part.indptr) for part in parts]
    ends = np.append(0, np.cumsum(np.sum(lengths, axis=0)))
    columns = np.empty(ends[-1], dtype=np.result_type(*(part.indices for part in parts)))
    values = np.empty(ends[-1])
    at = ends[:-1].copy()
    for part, length in zip(parts, lengths, strict=True):
        places = np.arange(len(part.indices)) + np.repeat(at - part.indptr[:-1], length)
        columns[places], values[places] = part.indices, part.data
        at += length
    ends, columns, values = without_duplicates(ends, columns, values)
    return HashedRows(values, columns, ends)
