"""Room for Arrow, and the tables of Parquet files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from perceptron_rs.io.columns import arrow
from perceptron_rs.memory import probe_memory

__all__ = ["parquet_table", "room_for_arrow", "size_of"]

_OF_A_THREAD = 72 << 20  # its stack, and what the C library reserves for what it allocates
_OF_A_BYTE = 4  # the file, its columns, and both of a block while it is read


def size_of(path: str) -> int:
    """Return how many bytes a file has; a gzip file as many as its last four bytes promise."""
    file = Path(path)
    size = file.stat().st_size
    if file.suffix.lower() != ".gz" or size < 4:
        return size
    with file.open("rb") as opened:
        opened.seek(-4, os.SEEK_END)
        return max(size, int.from_bytes(opened.read(), "little"))


@contextmanager
def room_for_arrow(size: int) -> Iterator[None]:
    """Raise MemoryError where Arrow, which ends the process without memory for its threads, would find none.

    Its usual allocators reserve a gigabyte of addresses that the threads may need; the system's does not.
    """
    library = arrow()
    threads = library.cpu_count() + library.io_thread_count()
    probe_memory(threads * _OF_A_THREAD + _OF_A_BYTE * size, f"reading a file of {size} bytes")
    before = library.default_memory_pool()
    library.set_memory_pool(library.system_memory_pool())
    try:
        yield
    finally:
        library.set_memory_pool(before)


def parquet_table(path: str, text: bytes | None = None) -> Any:
    """Return a Parquet file, or one that has been read already, as a table of Arrow."""
    parquet = arrow("parquet")
    source = path if text is None else arrow().BufferReader(text)
    with room_for_arrow(size_of(path) if text is None else len(text)), parquet.ParquetFile(source) as file:
        return file.read()
