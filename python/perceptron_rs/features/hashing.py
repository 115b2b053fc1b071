"""Names as columns without a vocabulary, as scikit-learn's ``FeatureHasher`` chooses them (MurmurHash3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

_SIGN = 1 << 31
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
    hashes: NDArray[np.uint32], n_columns: int
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return the column of each hash, and whether its sign is positive."""
    h = hashes.astype(np.int64)
    is_positive = h < _SIGN
    size = np.where(is_positive, h, (1 << 32) - h)
    # The hasher's way around the one number that has no absolute value.
    size = np.where(h == _SIGN, _SIGN - n_columns, size)
    return (size % n_columns).astype(np.int32), is_positive


def murmur3(texts: Sequence[bytes]) -> NDArray[np.uint32]:
    """Return MurmurHash3 of 32 bits, with the seed 0, of each text."""
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    joined = np.frombuffer(b"".join(texts), dtype=np.uint8)
    return murmur3_of_parts(joined, np.cumsum(lengths) - lengths, lengths)


def murmur3_of_parts(
    text: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> NDArray[np.uint32]:
    """Return the hash of each part of a text, which may overlap.

    A. Appleby, "MurmurHash3", 2011. All are hashed side by side, one word of four bytes of each at a time;
    where few are as long, they end one by one.
    """
    padded = text.tobytes() + bytes(4)
    at = np.ndarray(len(text) + 1, "<u4", padded, strides=(1,)).astype(np.uint32)  # four bytes from each on
    order = np.argsort(-np.minimum(lengths >> 2, _LONG).astype(np.int16), kind="stable")
    starts, lengths = starts[order], lengths[order]
    words = lengths >> 2
    longer = len(words) - np.cumsum(np.bincount(np.minimum(words, _LONG), minlength=1))
    together = longer[longer >= _FEW].tolist()
    hashes = np.zeros(len(words), dtype=np.uint32)
    for k, n in enumerate(together):
        h = hashes[:n]
        h ^= _mixed_bits(at[starts[:n] + 4 * k])
        h[:] = (h << 13 | h >> 19) * np.uint32(5) + np.uint32(0xE6546B64)
    ends = starts + 4 * words
    for i in np.flatnonzero(words > len(together)).tolist():
        number = int(hashes[i])
        for word in _mixed_bits(at[starts[i] + 4 * len(together) : ends[i] : 4].copy()).tolist():
            number ^= word
            number = ((number << 13 | number >> 19) * 5 + 0xE6546B64) & 0xFFFFFFFF
        hashes[i] = number
    hashes ^= _mixed_bits(at[ends] & _TAILS[lengths & 3])
    hashes ^= lengths.astype(np.uint32)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        hashes ^= hashes >> shift
        hashes *= np.uint32(factor)
    hashes ^= hashes >> 16
    found = np.empty(len(order), dtype=np.uint32)
    found[order] = hashes
    return found


def _mixed_bits(words: NDArray[np.uint32]) -> NDArray[np.uint32]:
    words *= np.uint32(0xCC9E2D51)
    turned: NDArray[np.uint32] = words << np.uint32(15) | words >> np.uint32(17)
    turned *= np.uint32(0x1B873593)
    return turned
