"""Digests of examples: the same for dense rows and CSR rows, for any storage type and index type.

Examples are numbered in the order in which a model has seen them, and each `BLOCK` of them has three digests:
of the entries, of the labels, and of the weights of examples. ARITHMETIC.md says which bytes are digested.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["BLOCK", "PARTS", "Digests", "Stored", "pieces"]

#: Examples in a block.
BLOCK = 1000
PARTS = ("entries", "labels", "weights")
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

    def with_call(
        self,
        stored: Stored,
        columns: int,
        labels: NDArray[np.uint32],
        weights: NDArray[np.float64] | None,
    ) -> Digests:
        """Return them with the examples of one more call."""
        found = self
        for begin, end in pieces(self.rows, len(labels)):
            new = {
                "entries": _entries(stored, columns, begin, end),
                "labels": sha256(_little(labels[begin:end], "<u4")).digest(),
            }
            if weights is not None:
                new["weights"] = sha256(_little(weights[begin:end], "<f8")).digest()
            found = found._with_piece(end - begin, new)
        return found

    def _with_piece(self, rows: int, new: dict[str, bytes]) -> Digests:
        goes_on = self.rows % BLOCK != 0
        parts = {}
        for name, digest in new.items():
            done: tuple[str, ...] = getattr(self, name)
            before = bytes.fromhex(done[-1]) if goes_on else b""
            parts[name] = (*(done[:-1] if goes_on else done), sha256(before + digest).hexdigest())
        return replace(self, rows=self.rows + rows, **parts)


def pieces(before: int, rows: int) -> Iterator[tuple[int, int]]:
    """Cut the rows of a call at the borders of blocks, where so many rows came before."""
    begin = 0
    while begin < rows:
        end = min(rows, begin + BLOCK - (before + begin) % BLOCK)
        yield begin, end
        begin = end


def _entries(stored: Stored, columns: int, begin: int, end: int) -> bytes:
    lengths, places, values = sha256(), sha256(), sha256()
    index = "<u4" if columns <= _WIDE else "<i8"
    of_rows = _dense if "rows" in stored else _sparse
    for length, place, value in of_rows(stored, columns, begin, end):
        lengths.update(_little(length, "<i8"))
        places.update(_little(place, index))
        values.update(_little(value, "<f8"))
    parts = (hasher.digest() for hasher in (lengths, places, values))
    return b"".join((columns.to_bytes(8, "little"), *parts))


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
