"""A cache: the examples of a source in one binary file, which later passes map into memory.

It begins with `MAGIC`. Then come the arrays of each batch, and a JSON text that says where they are and what
they are of: the files of the source with their sizes and times, and how they are read. At the end stand the
length and the checksum of that text. Numbers are kept in the smallest type that holds them to the bit: what
is learnt does not depend on it, and an epoch reads fewer bytes.
"""

from __future__ import annotations

import math
import mmap
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from perceptron_rs._core import smallest
from perceptron_rs.io.batches import (
    Batch,
    batch_length,
    concatenate_batches,
    concatenate_parts,
    csr,
    slice_batch,
)
from perceptron_rs.io.source import Source, changed_file, refuse_cut, stamps
from perceptron_rs.io.text.paths import PathLike
from perceptron_rs.io.text.threads import in_order
from perceptron_rs.models.document import json_text, json_value
from perceptron_rs.models.files import open_regular, path_of, write_whole
from perceptron_rs.rows.sparse import is_sparse
from perceptron_rs.rows.storage import type_name, type_of
from perceptron_rs.stream.blocks import array_batch, checksum

MAGIC = b"perceptron_rs cache 1\n".ljust(64)
_END = 16

#: The type of an array, its shape, and the byte that it begins at.
ArrayPlace: TypeAlias = tuple[str, list[int], int]


class StoredBatch(TypedDict):
    """Where the arrays of some examples lie."""

    n: int
    arrays: dict[str, ArrayPlace]
    checksum: int
    lowest: int


class Origin(TypedDict):
    """What a cache is of: its files, by name, size and time, and how they are read."""

    files: list[list[object]]
    reading: object


class CacheIndex(Origin):
    """The JSON text of a cache."""

    batches: list[StoredBatch]
    width: int
    lowest: int


_ALIGNED = 64
_POPULATE = 22  # Linux calls it MADV_POPULATE_READ; Python has no name for it
#: A cache of no more bytes stays mapped: to map each page again in each epoch can take as long as to learn.
_KEPT = 256 << 20


def cache_source(source: Source, path: PathLike, blocks: Iterable[list[Batch]]) -> Source:
    """Return a cache of the source as a source.

    A cache that is there is taken if it is of the same files, read in the same way; a source that is no file
    writes it anew. ``blocks`` are its examples, in parts, which are then read once.
    """
    target = path_of(path)
    known = _checked_index(target) if target.exists() else None
    of: Origin = {"files": [list(stamp) for stamp in stamps(source.files)], "reading": source.reading}
    if known is not None and source.files:
        what = None
        if known["files"] != of["files"]:
            what = f"{changed_file(known['files'], of['files'])} differs"
        elif known["reading"] != of["reading"]:
            what = "they are read in another way"
        if what is not None:
            raise ValueError(
                f"cache {str(target)!r} is not of these examples: {what}; remove it, or name another file"
            )
    else:
        write_whole(target, lambda: _file_parts(source, blocks, of), lasting=False)
        known = _checked_index(target)
        return _Mapped(target, known, set(range(len(known["batches"])))).source(source)
    return _Mapped(target, known, set()).source(source)


def cache_contents(path: PathLike) -> tuple[int, bool]:
    """Return the number of examples in a cache, and whether the source counted their columns from 0."""
    index = _checked_index(path_of(path))
    return sum(batch["n"] for batch in index["batches"]), index["lowest"] == 0


def compact_source(source: Source) -> Source:
    """Return the same examples with values in the smallest type."""
    between = source.between
    each = (
        in_order if source.files else map
    )  # what users' own sources give may be filled anew before its turn
    return replace(
        source,
        batches=lambda: each(_compact, source.batches()),
        between=None if between is None else lambda first, last: _compact(between(first, last)),
    )


def _compact(part: object) -> Batch:
    batch = array_batch(part)
    X = batch.X
    if not is_sparse(X):
        return batch._replace(X=_smallest(X))
    return batch._replace(X=csr(_smallest(X.data), X.indices, X.indptr, X.shape[1]))


def _smallest(values: NDArray[np.generic]) -> NDArray[np.generic]:
    if values.dtype not in (np.float64, np.float32):
        return values
    return smallest(np.ascontiguousarray(values).reshape(-1)).reshape(values.shape)


def _file_parts(source: Source, blocks: Iterable[list[Batch]], of: Origin) -> Iterator[bytes | memoryview]:
    """Give the bytes of a cache: the parts of a block one after another, without a copy of it whole."""
    at, width, lowest = len(MAGIC), 0, int(source.is_shifted is not False)
    listed: list[StoredBatch] = []
    yield MAGIC
    for block in blocks:
        arrays = concatenate_parts(block)
        places: dict[str, ArrayPlace] = {}
        check = 0
        if lowest and source.is_shifted is None:
            lowest = int(not any((part == 0).any() for part in arrays.get("indices", [np.zeros(1)])))
        for name, parts in arrays.items():
            count, start = sum(map(len, parts)), at
            for array in parts:
                shifted = array - array.dtype.type(1) if lowest and name == "indices" else array
                data = np.ascontiguousarray(shifted).reshape(-1).view(np.uint8)
                check = checksum([data], check)
                yield data.data
                at += len(data)
            places[name] = type_name(parts[0].dtype), [count, *parts[0].shape[1:]], start
            padding = -at % _ALIGNED
            yield bytes(padding)
            at += padding
        n = sum(map(batch_length, block))
        listed.append({"n": n, "arrays": places, "checksum": check, "lowest": lowest})
        width = max(width, *(batch.X.shape[1] for batch in block))
        del arrays, parts, array, shifted, data, block  # while the next block is read
    index: CacheIndex = {**of, "batches": listed, "width": width - lowest, "lowest": lowest}
    text = json_text(index).encode()
    yield text
    yield len(text).to_bytes(8, "little") + zlib.crc32(text).to_bytes(8, "little")


def _checked_index(path: Path) -> CacheIndex:
    """Return the JSON text of a cache; ValueError if it is none, or not sound."""
    file, size = open_regular(path)
    with file:
        if file.read(len(MAGIC)) != MAGIC:
            raise ValueError(f"cache {str(path)!r} is another kind of file; remove it, or name another file")
        file.seek(max(len(MAGIC), size - _END))
        end = file.read(_END)
        count = int.from_bytes(end[:8], "little")
        if count <= size - len(MAGIC) - _END:
            file.seek(size - _END - count)
            text = file.read(count)
            if count and zlib.crc32(text) == int.from_bytes(end[8:], "little"):
                read: Any = json_value(text.decode())
                index: CacheIndex = read
                places = [place for batch in index["batches"] for place in batch["arrays"].values()]
                if all(place[-1] >= 0 and _end_of(*place) <= size for place in places):
                    return index
    raise ValueError(f"cache {str(path)!r} is damaged; remove it")


def _end_of(kind: str, shape: list[int], at: int) -> int:
    """Return where an array ends that begins at a place."""
    return at + type_of(kind).itemsize * math.prod(shape)


class _Mapped:
    """The examples of a cache, mapped into memory."""

    def __init__(self, path: Path, index: CacheIndex, checked: set[int]) -> None:
        self.path, self.index, self.checked = path, index, checked
        with path.open("rb") as file:
            self.memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.ends = np.cumsum([0, *(batch["n"] for batch in index["batches"])]).tolist()

    def source(self, of: Source) -> Source:
        """Return them as a source."""
        return replace(
            of,
            batches=lambda: map(self.batch, range(len(self.ends) - 1)),
            between=self.between,
            check=self.check,
            advise=self.advise if len(self.memory) > _KEPT and hasattr(mmap, "MADV_DONTNEED") else None,
            is_shifted=False,
            n_rows=self.ends[-1],
            n_in_batch=max(batch["n"] for batch in self.index["batches"]) if self.index["batches"] else None,
            again=True,
            name=str(self.path),
        )

    def check(self) -> None:
        """Raise if the file was cut."""
        refuse_cut(f"cache {str(self.path)!r}", self.memory.size(), len(self.memory))

    def between(self, first: int, last: int) -> Batch:
        """Return examples ``first`` to ``last - 1``: without a copy if they are of one batch."""
        parts = []
        number = bisect_right(self.ends, first) - 1
        while first < last:
            begin, end = self.ends[number], min(last, self.ends[number + 1])
            batch = self.batch(number)
            whole = (first, end) == (begin, self.ends[number + 1])
            parts.append(batch if whole else slice_batch(batch, first - begin, end - begin))
            first, number = end, number + 1
        return concatenate_batches(parts)

    def batch(self, number: int) -> Batch:
        """Return a batch; its checksum is compared the first time."""
        self.check()
        listed = self.index["batches"][number]
        arrays = {name: self._array(*place) for name, place in listed["arrays"].items()}
        if number not in self.checked:
            if checksum(arrays.values()) != listed["checksum"]:
                raise ValueError(f"cache {str(self.path)!r} is damaged in batch {number}; remove it")
            self.checked.add(number)
        if "rows" in arrays:
            X = arrays["rows"]
        else:
            indices = arrays["indices"]
            if listed["lowest"] > self.index["lowest"]:  # a later batch told that columns count from 0
                indices = indices + indices.dtype.type(1)
            X = csr(arrays["values"], indices, arrays["indptr"], self.index["width"])
        return Batch(X, arrays["y"], arrays.get("sample_weight"), arrays.get("lengths"))

    def _array(self, kind: str, shape: list[int], at: int) -> NDArray[Any]:
        count = math.prod(shape)
        return np.frombuffer(self.memory, dtype=type_of(kind), count=count, offset=at).reshape(shape)

    def advise(self, first: int, last: int, needed: bool) -> None:
        """Load the pages of these examples before they are read, or drop them from memory afterwards."""
        begin, end = bisect_right(self.ends, first) - 1, bisect_right(self.ends, last - 1)
        places = [place for batch in self.index["batches"][begin:end] for place in batch["arrays"].values()]
        start = min(at for _, _, at in places) // mmap.PAGESIZE * mmap.PAGESIZE
        stop = max(_end_of(*place) for place in places)
        with suppress(OSError):  # an older Linux maps each page when it is read
            self.memory.madvise(_POPULATE if needed else mmap.MADV_DONTNEED, start, stop - start)
