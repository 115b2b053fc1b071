"""Digests of examples: the same for dense rows and CSR rows, for any storage type and index type.

Examples are numbered in the order in which a model has seen them, over all calls. They are cut into blocks,
and each block has one digest: of entries, labels, weights, and of the lengths of sequences, which then are
the examples. No digest covers fewer than `LEAST_BLOCK` examples unless it covers all of them, so that nobody
can find the labels of a few by trying. With a key, digests are keyed. ARITHMETIC.md says which bytes they
are of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs import _core
from perceptron_rs._core import Blake3
from perceptron_rs.arrays.csr import StoredRows
from perceptron_rs.engines import Rows, rows_of
from perceptron_rs.errors import ArgumentError, OptionsError

#: Examples in a block, at least; a rest of fewer joins the block before.
LEAST_BLOCK = 1000

#: A number of examples, and their digest; None if they have none.
BlockDigest: TypeAlias = tuple[int, str | None]


class DigestInput:
    """Examples that are digested: rows, or the tokens of sequences if there are ``lengths``."""

    def __init__(
        self,
        stored: StoredRows | Rows,
        columns: int,
        labels: NDArray[np.uint32],
        weights: NDArray[np.float64] | None = None,
        lengths: NDArray[np.int64] | None = None,
    ) -> None:
        self.rows = rows_of(_core, stored, columns) if isinstance(stored, dict) else stored
        self.labels, self.weights, self.lengths = labels, weights, lengths
        self.ends = None if lengths is None else np.concatenate([[0], np.cumsum(lengths)])

    def __len__(self) -> int:
        return len(self.labels) if self.lengths is None else len(self.lengths)

    def rows_of(self, begin: int, end: int) -> slice:
        """Return which rows some of the examples are."""
        return slice(begin, end) if self.ends is None else slice(int(self.ends[begin]), int(self.ends[end]))


class _Part:
    """Examples one after another, up to `LEAST_BLOCK` of them."""

    def __init__(self, blank: Blake3) -> None:
        self.blank, self.size = blank, 0
        self.entries, self.labels = blank.copy(), blank.copy()
        self.weights: Blake3 | None = None
        self.lengths: Blake3 | None = None

    def copy(self) -> _Part:
        other = _Part(self.blank)
        other.size = self.size
        for name in ("entries", "labels", "weights", "lengths"):
            hasher = getattr(self, name)
            setattr(other, name, None if hasher is None else hasher.copy())
        return other

    def add(self, examples: DigestInput, begin: int, end: int) -> None:
        rows = examples.rows_of(begin, end)
        self.entries.update_rows(examples.rows, rows.start, rows.stop)
        self.labels.update(_bytes(examples.labels[rows], "<u4"))
        if examples.weights is not None and self.weights is None:
            self.weights = self.blank.copy()
            self.weights.update(_bytes(np.ones(self.size), "<f8"))
        if self.weights is not None:
            weights = np.ones(end - begin) if examples.weights is None else examples.weights[rows]
            self.weights.update(_bytes(weights, "<f8"))
        if examples.lengths is not None:
            self.lengths = self.lengths or self.blank.copy()
            self.lengths.update(_bytes(examples.lengths[begin:end], "<i8"))
        self.size += end - begin

    def digest(self, columns: int) -> bytes:
        """Return the digest so far. It stays secret: with it, somebody could try the next examples."""
        hashers = [self.entries, self.labels, self.weights, self.lengths]
        numbers = [columns, self.size, self.weights is not None, self.lengths is not None]
        parts = [hasher.digest() for hasher in hashers if hasher is not None]
        return _digest(self.blank, _bytes(np.array(numbers), "<i8") + b"".join(parts))


@dataclass(frozen=True, slots=True)
class _Open:
    """The last block, which is still open. Files and pickles never hold any of it."""

    blank: Blake3  # with the key, if there is one
    columns: int
    last: bytes | None  # the digest of the last `LEAST_BLOCK` examples, which the rest may yet join
    rest: _Part

    def block(self) -> BlockDigest:
        """Return the block that the examples so far are."""
        size, parts = 0, b""
        if self.last is not None:
            size, parts = LEAST_BLOCK, self.last
        if self.rest.size:
            size, parts = size + self.rest.size, parts + self.rest.digest(self.columns)
        return size, _digest(self.blank, parts).hex()


class Digests:
    """Digests of the blocks of all examples of a record; it never changes.

    Copies and comparisons are those of the blocks. A pickle, as a file, has the blocks alone: with what the
    next examples are added to, the digest of a few more would tell what they are.

    Parameters
    ----------
    done : tuple of BlockDigest
        The blocks that are complete.
    key : str or None
        The name of the key; None: there is none.
    opened : _Open or None
        What the next examples are added to; None: of a file.
    """

    __slots__ = ("done", "key", "opened")

    def __init__(
        self, done: tuple[BlockDigest, ...] = (), key: str | None = None, opened: _Open | None = None
    ) -> None:
        self.done, self.key, self.opened = done, key, opened

    def __reduce__(self) -> tuple[Any, ...]:
        return Digests, (self.blocks, self.key)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _: object) -> Self:
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Digests) and (self.blocks, self.key) == (other.blocks, other.key)

    def __hash__(self) -> int:
        return hash((self.blocks, self.key))

    def __repr__(self) -> str:
        return f"Digests({self.blocks!r}, {self.key!r})"

    @property
    def blocks(self) -> tuple[BlockDigest, ...]:
        """The blocks of all examples so far."""
        last = None if self.opened is None else self.opened.block()
        return _without_gaps((*self.done, last) if last is not None and last[0] else self.done)

    @property
    def size(self) -> int:
        """Number of examples."""
        return sum(size for size, _ in self.blocks)

    @property
    def has_any(self) -> bool:
        """Whether some examples have a digest, or will have one."""
        return self.opened is not None or any(digest is not None for _, digest in self.done)

    @property
    def has_gaps(self) -> bool:
        """Whether some examples have no digest."""
        return any(digest is None for _, digest in self.blocks)

    def with_call(
        self,
        stored: StoredRows,
        columns: int,
        labels: NDArray[np.uint32],
        weights: NDArray[np.float64] | None = None,
        lengths: NDArray[np.int64] | None = None,
        *,
        key: bytes | None = None,
        begins: bool = False,
    ) -> Digests:
        """Return them with the examples of one more call; what ``begins`` means, `Digester` says."""
        digester = Digester(self, columns, key, begins=begins)
        digester.add(DigestInput(stored, columns, labels, weights, lengths))
        return digester.end()

    def without(self, n: int) -> Digests:
        """Return them with ``n`` examples more that have no digest."""
        return Digests(_without_gaps((*self.blocks, (n, None))), self.key)


class Digester:
    """Makes the digests of a call whose examples come in parts, of any sizes.

    Parameters
    ----------
    before : Digests
        Those of the calls before.
    columns : int
        Number of columns.
    key : bytes or None
        The key of all digests.
    begins : bool
        Whether to begin a new block, if the examples before have been enough for one.
    """

    def __init__(
        self, before: Digests, columns: int, key: bytes | None = None, *, begins: bool = False
    ) -> None:
        self.columns, self.name, self.added = columns, key_name(key), 0
        opened, self._done = before.opened, before.done
        if opened is None:  # of a file
            blank = Blake3(key)
            opened = _Open(blank, columns, None, _Part(blank))
        if begins and opened.last is not None:
            self._done = (*self._done, opened.block())
            opened = _Open(opened.blank, columns, None, _Part(opened.blank))
        self._blank, self._last, self._rest = opened.blank, opened.last, opened.rest.copy()

    def add(self, examples: DigestInput, begin: int = 0, end: int | None = None) -> None:
        """Take in examples."""
        end = len(examples) if end is None else end
        self.added += end - begin
        while begin < end:
            until = min(end, begin + LEAST_BLOCK - self._rest.size)
            self._rest.add(examples, begin, until)
            begin = until
            if self._rest.size == LEAST_BLOCK:
                if self._last is not None:
                    self._done = (*self._done, (LEAST_BLOCK, _digest(self._blank, self._last).hex()))
                self._last, self._rest = self._rest.digest(self.columns), _Part(self._blank)

    def end(self) -> Digests:
        """Return the digests after the last example of the call."""
        return Digests(self._done, self.name, _Open(self._blank, self.columns, self._last, self._rest))


class Comparison:
    """Compares examples, which come in parts of any sizes, with the blocks of digests."""

    def __init__(self, blocks: tuple[BlockDigest, ...], columns: int, key: bytes | None) -> None:
        self.blocks, self.columns, self.key = blocks, columns, key
        self.seen = 0  # examples before the block
        self.number = 0
        self._digester = self._new_digester()

    def _new_digester(self) -> Digester:
        return Digester(Digests(), self.columns, self.key)

    def first_difference(
        self, examples: DigestInput, begin: int = 0, end: int | None = None
    ) -> tuple[int, int] | None:
        """Take in examples; return the first and the last example of the first block that differs."""
        end = len(examples) if end is None else end
        while begin < end and self.number < len(self.blocks):
            size, expected = self.blocks[self.number]
            until = min(end, begin + size - self._digester.added)
            self._digester.add(examples, begin, until)
            begin = until
            if self._digester.added == size:
                ((_, digest),) = self._digester.end().blocks
                if expected is not None and digest != expected:
                    return self.seen, self.seen + size - 1
                self.seen, self.number = self.seen + size, self.number + 1
                self._digester = self._new_digester()
        return None


def key_name(key: bytes | None) -> str | None:
    """Return what a key is called in a file: a digest with the key, which tells nothing else about it."""
    return None if key is None else _digest(Blake3(key), b"perceptrons audit key").hex()[:16]


def refuse_other_key(digests: Digests | None, key: bytes | None, remedy: str = "give that one") -> None:
    """Raise ArgumentError unless the digests of an estimator were made with this key."""
    expected = None if digests is None else digests.key
    if expected == key_name(key):
        return
    had = "no key" if expected is None else "a key" if key is None else "another key"
    remedy = "leave it out" if expected is None else remedy
    kind = ArgumentError if had == "another key" else OptionsError
    raise kind(f"{{audit_key}}: the digests of {{estimator}} have {had}", remedy)


def _without_gaps(blocks: tuple[BlockDigest, ...]) -> tuple[BlockDigest, ...]:
    """Drop the digests of blocks that are too small, but for a single block; join blocks without a digest."""
    joined: list[BlockDigest] = []
    for size, digest in blocks:
        shown = digest if size >= LEAST_BLOCK or len(blocks) == 1 else None
        if joined and shown is None and joined[-1][1] is None:
            joined[-1] = (joined[-1][0] + size, None)
        else:
            joined.append((size, shown))
    return tuple(joined)


def _digest(blank: Blake3, data: bytes) -> bytes:
    hasher = blank.copy()
    hasher.update(data)
    return hasher.digest()


def _bytes(values: NDArray[np.generic], dtype: str) -> bytes:
    return values.astype(dtype, copy=False).tobytes()


def row_digests(stored: StoredRows, columns: int) -> NDArray[np.uint8]:
    """Return the digest of each row, (n, 32): the same for dense and sparse rows of any type."""
    return np.frombuffer(_core.row_digests(rows_of(_core, stored, columns)), dtype=np.uint8).reshape(-1, 32)
