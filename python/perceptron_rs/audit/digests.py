"""Digests of examples: the same for dense rows and CSR rows, for any storage type and index type.

Examples are numbered in the order in which a model has seen them, and each `BLOCK` of them has digests: of
the entries, of the labels, of the weights of examples, and of the lengths of sequences, which then are the
examples. ARITHMETIC.md says which bytes are digested.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["BLOCK", "PARTS", "Digester", "Digests", "Stored", "pieces"]

#: Examples in a block.
BLOCK = 1000
PARTS = ("entries", "labels", "weights", "lengths")
#: Values of so many dense cells are looked at together: what is made of them fits in cache.
_CELLS = 1 << 18
_WIDE = 1 << 32

#: Rows as the engines read them: dense ``rows``, or ``rows_indptr``, ``rows_indices`` and ``rows_values``.
Stored: TypeAlias = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Digests:
    """Digests of the blocks of examples seen so far; the last block may not be full."""

    rows: int = 0
    entries: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()
    lengths: tuple[str, ...] = ()

    def with_call(
        self,
        stored: Stored,
        columns: int,
        labels: NDArray[np.uint32],
        weights: NDArray[np.float64] | None = None,
        lengths: NDArray[np.int64] | None = None,
    ) -> Digests:
        """Return them with the examples of one more call."""
        digester = Digester(self, columns)
        digester.add(stored, labels, weights, lengths)
        return digester.end()

    def _with_piece(self, rows: int, new: dict[str, bytes]) -> Digests:
        goes_on = self.rows % BLOCK != 0
        parts = {}
        for name, digest in new.items():
            done: tuple[str, ...] = getattr(self, name)
            before = bytes.fromhex(done[-1]) if goes_on else b""
            parts[name] = (*(done[:-1] if goes_on else done), sha256(before + digest).hexdigest())
        return replace(self, rows=self.rows + rows, **parts)


@dataclass(slots=True)
class _Piece:
    """Examples of one call that are in one block."""

    rows: int = 0
    #: Of the entries: how many each row has, their columns and their values.
    entries: tuple[Any, ...] = field(default_factory=lambda: (sha256(), sha256(), sha256()))
    others: dict[str, Any] = field(default_factory=dict)

    def add(self, name: str, values: NDArray[Any], dtype: str) -> None:
        self.others.setdefault(name, sha256()).update(_little(values, dtype))


class Digester:
    """Makes the digests of a call whose examples come in parts, of any sizes.

    Parameters
    ----------
    before : Digests
        Those of the calls before.
    columns : int
        Number of columns.
    """

    def __init__(self, before: Digests, columns: int) -> None:
        self.columns, self._done, self._piece = columns, before, _Piece()

    @property
    def rows(self) -> int:
        """Number of examples so far."""
        return self._done.rows + self._piece.rows

    def add(
        self,
        stored: Stored,
        labels: NDArray[np.uint32],
        weights: NDArray[np.float64] | None = None,
        lengths: NDArray[np.int64] | None = None,
    ) -> None:
        """Take in examples; with ``lengths``, rows are tokens, and sequences are the examples."""
        if lengths is None:
            n, ends = len(labels), None
        else:
            n, ends = len(lengths), np.concatenate([[0], np.cumsum(lengths)])
        for begin, end in pieces(self.rows, n):
            rows = slice(begin, end) if ends is None else slice(int(ends[begin]), int(ends[end]))
            self._add_entries(stored, rows)
            self._piece.add("labels", labels[rows], "<u4")
            if weights is not None:
                self._piece.add("weights", weights[rows], "<f8")
            if lengths is not None:
                self._piece.add("lengths", lengths[begin:end], "<i8")
            self._piece.rows += end - begin
            if self.rows % BLOCK == 0:
                self.end()

    def _add_entries(self, stored: Stored, rows: slice) -> None:
        lengths, places, values = self._piece.entries
        index = "<u4" if self.columns <= _WIDE else "<i8"
        of_rows = _dense if "rows" in stored else _sparse
        for length, place, value in of_rows(stored, self.columns, rows.start, rows.stop):
            lengths.update(_little(length, "<i8"))
            places.update(_little(place, index))
            values.update(_little(value, "<f8"))

    @property
    def whole(self) -> Digests:
        """Those of the blocks that no example can be added to."""
        return self._done

    def end(self) -> Digests:
        """Return the digests after the last example of the call."""
        piece, self._piece = self._piece, _Piece()
        if piece.rows:
            digests = [hasher.digest() for hasher in piece.entries]
            new = {"entries": b"".join((self.columns.to_bytes(8, "little"), *digests))}
            new |= {name: hasher.digest() for name, hasher in piece.others.items()}
            self._done = self._done._with_piece(piece.rows, new)
        return self._done


def pieces(before: int, rows: int) -> Iterator[tuple[int, int]]:
    """Cut the rows of a call at the borders of blocks, where so many rows came before."""
    begin = 0
    while begin < rows:
        end = min(rows, begin + BLOCK - (before + begin) % BLOCK)
        yield begin, end
        begin = end


def _dense(stored: Stored, columns: int, begin: int, end: int) -> Iterator[tuple[NDArray[Any], ...]]:
    step = max(1, _CELLS // columns)
    every = np.arange(columns, dtype=np.uint32 if columns <= _WIDE else np.int64)
    for first in range(begin, end, step):
        rows = stored["rows"][first : min(end, first + step)]
        is_entry = rows != 0
        length = np.count_nonzero(is_entry, axis=1)
        if length.sum() == rows.size:
            yield length, np.tile(every, len(rows)), rows.reshape(-1)
        else:
            yield length, np.broadcast_to(every, rows.shape)[is_entry], rows[is_entry]


def _sparse(stored: Stored, columns: int, begin: int, end: int) -> Iterator[tuple[NDArray[Any], ...]]:  # noqa: ARG001
    indptr = stored["rows_indptr"][begin : end + 1]
    entries = slice(int(indptr[0]), int(indptr[-1]))
    place, value = stored["rows_indices"][entries], stored["rows_values"][entries]
    is_entry = value != 0
    if is_entry.all():
        yield np.diff(indptr), place, value
    else:
        before = np.concatenate([[0], np.cumsum(is_entry)])
        yield np.diff(before[indptr - indptr[0]]), place[is_entry], value[is_entry]


def _little(values: NDArray[Any], dtype: str) -> memoryview:
    if values.dtype == np.int32 and dtype == "<u4":
        values = values.view(np.uint32)  # columns are never negative
    return np.ascontiguousarray(values, dtype=dtype).data
