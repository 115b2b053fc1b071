"""Names as columns without a vocabulary, as scikit-learn's ``FeatureHasher`` chooses them (MurmurHash3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

#: So few texts are faster one by one.
_FEW = 16
#: After so many words, all are hashed one by one: a sort by numbers of 16 bits is fast.
_LONG = 1 << 12
#: The bytes behind the last word that are hashed, by their number.
_TAILS = np.array([0, 0xFF, 0xFFFF, 0xFFFFFF], dtype=np.uint32)


def hashed(names: Iterable[str], n_columns: int) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return the column of each name, and whether its sign is positive."""
    return columns_of_hashes(murmur3([name.encode("utf-8") for name in names]), n_columns)


def columns_of_hashes(
    hashes: NDArray[np.uint32] | NDArray[np.int32], n_columns: int
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return the column of each hash, and whether its sign is positive."""
    signed = hashes.view(np.int32)
    size = np.abs(signed.astype(np.int64))
    # The hasher's way around the one number whose absolute value 32 bits do not hold.
    size[size == 1 << 31] = (1 << 31) - n_columns
    columns = size & (n_columns - 1) if n_columns & (n_columns - 1) == 0 else size % n_columns
    return columns.astype(np.int32), signed >= 0


def murmur3(texts: Sequence[bytes]) -> NDArray[np.uint32]:
    """Return MurmurHash3 of 32 bits, with the seed 0, of each text."""
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    joined = np.frombuffer(b"".join(texts), dtype=np.uint8)
    return murmur3_of_parts(joined, np.cumsum(lengths) - lengths, lengths)


def murmur3_of_parts(
    text: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64], before: bytes = b""
) -> NDArray[np.uint32]:
    """Return the hash of each part of a text, which may overlap, with ``before`` in front.

    A. Appleby, "MurmurHash3", 2011. All are hashed side by side, one word of four bytes of each at a time;
    where few are as long, they end one by one.
    """
    padded = text.tobytes() + bytes(4)
    at = np.ndarray(len(text) + 1, "<u4", padded, strides=(1,)).astype(np.uint32)  # four bytes from each on
    # What is in front is hashed once, but for its last bytes, with which the first word of each part begins.
    whole, n_front = len(before) & ~3, len(before) & 3
    begun = _hashed_words(0, np.frombuffer(before[:whole], dtype="<u4").astype(np.uint32))
    front = np.uint32(int.from_bytes(before[whole:], "little"))
    lengths = lengths + n_front
    order = np.argsort(-np.minimum(lengths >> 2, _LONG).astype(np.int16), kind="stable")
    starts, lengths = starts[order] - n_front, lengths[order]
    first = at[starts + n_front] << np.uint32(8 * n_front) | front
    words = lengths >> 2
    longer = len(words) - np.cumsum(np.bincount(np.minimum(words, _LONG), minlength=1))
    together = [n for k, n in enumerate(longer.tolist()) if n >= _FEW or k == 0]
    hashes = np.full(len(words), begun, dtype=np.uint32)
    for k, n in enumerate(together):
        h = hashes[:n]
        h ^= _mixed_bits(at[starts[:n] + 4 * k] if k else first[:n])
        h[:] = (h << 13 | h >> 19) * np.uint32(5) + np.uint32(0xE6546B64)
    ends = starts + 4 * words
    for i in np.flatnonzero(words > len(together)).tolist():
        hashes[i] = _hashed_words(int(hashes[i]), at[starts[i] + 4 * len(together) : ends[i] : 4].copy())
    hashes ^= _mixed_bits(np.where(words > 0, at.take(ends, mode="clip"), first) & _TAILS[lengths & 3])
    hashes ^= (lengths + whole).astype(np.uint32)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        hashes ^= hashes >> shift
        hashes *= np.uint32(factor)
    hashes ^= hashes >> 16
    hashed = np.empty(len(order), dtype=np.uint32)
    hashed[order] = hashes
    return hashed


def _hashed_words(number: int, words: NDArray[np.uint32]) -> int:
    """Return the state of a hash after some words of four bytes."""
    for word in _mixed_bits(words).tolist():
        number ^= word
        number = ((number << 13 | number >> 19) * 5 + 0xE6546B64) & 0xFFFFFFFF
    return number


def _mixed_bits(words: NDArray[np.uint32]) -> NDArray[np.uint32]:
    words *= np.uint32(0xCC9E2D51)
    turned: NDArray[np.uint32] = words << np.uint32(15) | words >> np.uint32(17)
    turned *= np.uint32(0x1B873593)
    return turned
