"""Digests of examples: the same for dense rows and CSR rows, for any storage type and index type.

Examples are numbered in the order in which a model has seen them, and each `BLOCK` of them has digests: of
the entries, of the labels, of the weights of examples, and of the lengths of sequences, which then are the
examples. ARITHMETIC.md says which bytes are digested.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs import _core
from perceptron_rs._core import Blake3, CsrRows, DenseRows, csr_rows, dense_rows

__all__ = ["BLOCK", "PARTS", "Digester", "Digests", "Stored", "pieces", "row_digests", "with_row_digests"]

#: Examples in a block.
BLOCK = 1000
PARTS = ("entries", "labels", "weights", "lengths")

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
            parts[name] = (*(done[:-1] if goes_on else done), _hashed(before + digest))
        return replace(self, rows=self.rows + rows, **parts)


@dataclass(slots=True)
class _Piece:
    """Examples of one call that are in one block."""

    rows: int = 0
    entries: Blake3 = field(default_factory=Blake3)
    others: dict[str, Blake3] = field(default_factory=dict)

    def add(self, name: str, values: NDArray[Any], dtype: str) -> None:
        self.others.setdefault(name, Blake3()).update(values.astype(dtype, copy=False).tobytes())


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
        stored: Stored | CsrRows | DenseRows,
        labels: NDArray[np.uint32],
        weights: NDArray[np.float64] | None = None,
        lengths: NDArray[np.int64] | None = None,
    ) -> None:
        """Take in examples; with ``lengths``, rows are tokens, and sequences are the examples."""
        parsed = _parsed(stored, self.columns)
        if lengths is None:
            n, ends = len(labels), None
        else:
            n, ends = len(lengths), np.concatenate([[0], np.cumsum(lengths)])
        for begin, end in pieces(self.rows, n):
            rows = slice(begin, end) if ends is None else slice(int(ends[begin]), int(ends[end]))
            self._piece.entries.update_rows(parsed, rows.start, rows.stop)
            self._piece.add("labels", labels[rows], "<u4")
            if weights is not None:
                self._piece.add("weights", weights[rows], "<f8")
            if lengths is not None:
                self._piece.add("lengths", lengths[begin:end], "<i8")
            self._piece.rows += end - begin
            if self.rows % BLOCK == 0:
                self.end()

    @property
    def whole(self) -> Digests:
        """Those of the blocks that no example can be added to."""
        return self._done

    def end(self) -> Digests:
        """Return the digests after the last example of the call."""
        piece, self._piece = self._piece, _Piece()
        if piece.rows:
            new = {"entries": self.columns.to_bytes(8, "little") + piece.entries.digest()}
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


def row_digests(stored: Stored, columns: int) -> NDArray[np.uint8]:
    """Return the digest of each row, (n, 32): the same for dense and sparse rows of any type."""
    return np.frombuffer(_core.row_digests(_parsed(stored, columns)), dtype=np.uint8).reshape(-1, 32)


def with_row_digests(found: Stored, columns: int) -> Stored:
    """Return arrays by name with digests in the place of stored rows: one for each entry of a log, if any.

    Left out is where rows are stored, and where in X they came from.
    """
    prefix = "vectors_" if "vectors_log_row" in found else ""
    rows = {name.removeprefix(prefix): found[name] for name in found if name.startswith(f"{prefix}rows")}
    if not rows:
        return dict(found)
    digests = row_digests(rows, columns)
    for name in (f"{prefix}log_row", "kept_row"):
        if name in found:
            digests = digests[found[name]]
    left_out = {f"{prefix}{name}" for name in ("log_row", "log_origin", "first_row", "origin")}
    left_out |= {"kept_row", *(f"{prefix}{name}" for name in rows)}
    return {name: array for name, array in found.items() if name not in left_out} | {f"{prefix}rows": digests}


def _parsed(stored: Stored | CsrRows | DenseRows, columns: int) -> CsrRows | DenseRows:
    if not isinstance(stored, dict):
        return stored
    arrays = {name: np.require(array, requirements=["C", "A"]) for name, array in stored.items()}
    if "rows" in arrays:
        return dense_rows(arrays["rows"])
    return csr_rows(arrays["rows_indptr"], arrays["rows_indices"], arrays["rows_values"], columns)


def _hashed(data: bytes) -> str:
    hasher = Blake3()
    hasher.update(data)
    return hasher.digest().hex()
