"""Names as columns without a vocabulary, as scikit-learn's ``FeatureHasher`` chooses them (MurmurHash3)."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["hashed", "murmur3"]

_MASK = 0xFFFFFFFF
_SIGN = 1 << 31
#: Longer names, in words of 4 bytes, are hashed one by one.
_MOST_WORDS = 64


def hashed(names: Iterable[str], n_columns: int) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return the column of each name, and whether its sign is positive."""
    h = murmur3([name.encode("utf-8") for name in names])
    is_positive = h < _SIGN
    size = np.where(is_positive, h, (1 << 32) - h)
    # The hasher's way around the one number that has no absolute value.
    size = np.where(h == _SIGN, _SIGN - n_columns, size)
    return (size % n_columns).astype(np.int32), is_positive


def murmur3(texts: Sequence[bytes]) -> NDArray[np.int64]:
    """Return MurmurHash3 of 32 bits, with the seed 0, of each text.

    A. Appleby, "MurmurHash3", 2011. All texts are hashed side by side, one word of each at a time.
    """
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    starts = np.cumsum(lengths) - lengths
    # A text and what is behind it up to a whole word: bytes of the next one, which are masked.
    joined = np.frombuffer(b"".join(texts) + bytes(4), dtype=np.uint8).astype(np.uint64)
    h: NDArray[Any] = np.zeros(len(texts), dtype=np.uint64)
    words = lengths // 4
    is_long = words > _MOST_WORDS
    for number in np.flatnonzero(is_long).tolist():
        text, h_of_text = texts[number], 0
        for (word,) in struct.iter_unpack("<I", text[: len(text) // 4 * 4]):
            h_of_text = _with_word(h_of_text, word)
        h[number] = h_of_text
    words[is_long] = 0
    for k in range(int(words.max(initial=0))):
        some = np.flatnonzero(words > k)
        h[some] = _with_word(h[some], _word(joined, starts[some] + 4 * k))
    rest = (lengths % 4).astype(np.uint64)
    last = _word(joined, starts + lengths // 4 * 4) & ((np.uint64(1) << (8 * rest)) - np.uint64(1))
    h ^= _scrambled(last)  # of no bytes 0
    h ^= lengths.astype(np.uint64)
    h ^= h >> 16
    h = (h * 0x85EBCA6B) & _MASK
    h ^= h >> 13
    h = (h * 0xC2B2AE35) & _MASK
    h ^= h >> 16
    return h.astype(np.int64)


def _word(joined: NDArray[Any], at: NDArray[np.int64]) -> NDArray[Any]:
    """Return the four bytes from each place on, little-endian."""
    found: NDArray[Any] = joined[at]
    for byte in (1, 2, 3):
        found = found | (joined[at + byte] << (8 * byte))
    return found


def _scrambled(word: Any) -> Any:
    word = (word * 0xCC9E2D51) & _MASK
    word = ((word << 15) | (word >> 17)) & _MASK
    return (word * 0x1B873593) & _MASK


def _with_word(h: Any, word: Any) -> Any:
    h = h ^ _scrambled(word)
    h = ((h << 13) | (h >> 19)) & _MASK
    return (h * 5 + 0xE6546B64) & _MASK
