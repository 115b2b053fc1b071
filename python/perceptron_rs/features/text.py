"""Texts as columns, as scikit-learn's ``HashingVectorizer`` makes them: n-grams are hashed, with a sign.

All n-grams of many texts are hashed at once, in NumPy: they are parts of one buffer of UTF-8. Columns, signs
and values are those of scikit-learn, to the last bit; tests compare them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.scalars import check_among, number
from perceptron_rs.choices import Accents, Analyzer, Norm
from perceptron_rs.errors import OptionsError
from perceptron_rs.features.hashing import columns_of_hashes, murmur3, murmur3_of_parts

#: So many characters are looked at together.
_BLOCK = 1 << 19
_WHITE = re.compile(r"\s\s+")
#: Of bytes; those of other characters are looked at by themselves.
_ASCII_WORDS = np.array([code < 128 and (chr(code).isalnum() or code == ord("_")) for code in range(256)])
_WIDEST_STOP_WORD = 16


class HashedRows(NamedTuple):
    """The arrays of CSR rows that texts were hashed to."""

    data: NDArray[np.float64]
    indices: NDArray[np.int32]
    indptr: NDArray[np.int64]


class _Grams(NamedTuple):
    """N-grams of some texts: each one's span in a buffer of UTF-8, and the index of its text."""

    text: NDArray[np.uint8]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    numbers: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class HashedText:
    """The options of ``HashingVectorizer``, by its words; ``n_columns`` is its ``n_features``.

    Parameters
    ----------
    ngrams : tuple of two ints, default=(1, 1)
        The shortest and the longest n-grams, as ``ngram_range``.
    lowercase : bool, default=True
    strip_accents : {"ascii", "unicode"} or None, default=None
    analyzer : {"word", "char", "char_wb"}, default="word"
    stop_words : {"english"} or None, default=None
    binary : bool, default=False
        Whether each column that occurs has the value 1, before the norm.
    norm : {"l1", "l2"} or None, default="l2"
    """

    ngrams: tuple[int, int] = (1, 1)
    lowercase: bool = True
    strip_accents: Accents = None
    analyzer: Analyzer = "word"
    stop_words: str | None = None
    binary: bool = False
    norm: Norm = "l2"

    def check(self) -> None:
        """Raise ValueError for options that cannot be."""
        checked_ngrams(self.ngrams)
        check_among("analyzer", self.analyzer, *get_args(Analyzer))
        check_among("strip_accents", self.strip_accents, "ascii", "unicode", None)
        check_among("norm", self.norm, "l1", "l2", None)
        check_among("stop_words", self.stop_words, "english", None)
        if self.stop_words is not None and self.analyzer != "word":
            raise OptionsError(
                "{stop_words} are left out of words, and these are characters",
                "leave it out, or set {analyzer}",
                settings={"analyzer": "word"},
            )

    def grams(self, texts: Sequence[str]) -> Iterator[_Grams]:
        """Give the n-grams of the texts, of some at a time."""
        at = 0
        while at < len(texts):
            end, size = at + 1, len(texts[at])
            while end < len(texts) and size < _BLOCK:
                size += len(texts[end])
                end += 1
            some = list(map(str.lower, texts[at:end])) if self.lowercase else texts[at:end]
            some = some if self.strip_accents is None else [self._without_accents(text) for text in some]
            grams = self._words(some) if self.analyzer == "word" else self._characters(some)
            yield grams._replace(numbers=grams.numbers + at)
            at = end

    def _without_accents(self, text: str) -> str:
        """Strip accents and other combining marks, whatever Unicode normal form the text has."""
        if text.isascii():
            return text
        parts = unicodedata.normalize("NFKD", text)
        if self.strip_accents == "ascii":
            return parts.encode("ascii", "ignore").decode()
        return "".join(letter for letter in parts if not unicodedata.combining(letter))

    def _words(self, texts: Sequence[str]) -> _Grams:
        """Return n-grams of words: of two letters, digits or _ or more, as ``token_pattern`` has them."""
        text, codes, places = _encoded("\n".join(texts) + "\n")
        begins = np.cumsum([0, *map(len, texts)])[:-1] + np.arange(len(texts))
        is_word = _are_words(codes)
        edges = np.flatnonzero(is_word[1:] != is_word[:-1]) + 1
        edges = np.append(0, edges) if is_word[0] else edges
        starts, ends = edges[::2], edges[1::2]
        is_kept = ends - starts > 1
        is_word[starts[~is_kept]] = False
        starts, ends = starts[is_kept], ends[is_kept]
        firsts = np.append(np.searchsorted(starts, begins), len(starts))
        numbers = np.repeat(np.arange(len(texts)), np.diff(firsts))
        if places is not None:
            starts, ends, is_word = places[starts], places[ends], np.repeat(is_word, np.diff(places))
        if self.stop_words is not None:
            is_kept = ~_are_stop_words(text, starts, ends)
            is_word[is_word] = np.repeat(is_kept, ends - starts)
            starts, ends, numbers = starts[is_kept], ends[is_kept], numbers[is_kept]
        # The words alone, with one blank behind each: an n-gram of words is a part of that.
        is_word[ends] = True
        text = text.copy()
        text[ends] = ord(" ")
        text = text[is_word]
        lengths = ends - starts
        ends = np.cumsum(lengths + 1) - 1
        starts = ends - lengths
        return _joined_grams(text, [self._several(starts, ends, numbers, n) for n in self._sizes()])

    def _sizes(self) -> range:
        return range(self.ngrams[0], self.ngrams[1] + 1)

    @staticmethod
    def _several(starts: Any, ends: Any, numbers: Any, n: int) -> tuple[Any, Any, Any]:
        last = len(starts) - n + 1
        if last <= 0:
            return starts[:0], ends[:0], numbers[:0]
        are_of_one = numbers[:last] == numbers[n - 1 :]
        return starts[:last][are_of_one], ends[n - 1 :][are_of_one], numbers[:last][are_of_one]

    def _characters(self, texts: Sequence[str]) -> _Grams:
        """Return n-grams of characters; with "char_wb" of words between blanks, each by itself."""
        parts = [_WHITE.sub(" ", text) for text in texts]
        numbers = np.arange(len(parts))
        if self.analyzer == "char_wb":
            words = [part.split() for part in parts]
            numbers = np.repeat(numbers, [len(each) for each in words])
            parts = [f" {word} " for each in words for word in each]
        text, _, places = _encoded("".join(parts) + "\n")
        lengths = np.array([len(part) for part in parts], dtype=np.int64)
        begins = np.cumsum(lengths) - lengths
        of_sizes = []
        for n in self._sizes():
            counts = np.maximum(lengths - n + 1, 0)
            if self.analyzer == "char_wb" and n == self.ngrams[0]:
                counts = np.maximum(counts, 1)  # a short word counts once
            of_part = np.repeat(np.arange(len(parts)), counts)
            offsets = np.arange(len(of_part)) - np.repeat(np.cumsum(counts) - counts, counts)
            starts = begins[of_part] + offsets
            ends = np.minimum(starts + n, begins[of_part] + lengths[of_part])
            if places is not None:
                starts, ends = places[starts], places[ends]
            of_sizes.append((starts, ends, numbers[of_part]))
        return _joined_grams(text, of_sizes)


def checked_ngrams(given: object) -> tuple[int, int]:
    """Return the least and the largest size of n-grams; OptionsError for what is none."""
    sizes = [number(size, whole=True) for size in given] if isinstance(given, list | tuple) else []
    if len(sizes) == 2 and sizes[0] is not None and sizes[1] is not None:
        least, most = int(sizes[0]), int(sizes[1])
        if 1 <= least <= most <= 100:
            return least, most
    shown = " ".join(map(str, sizes)) if sizes and None not in sizes else f"{given!r:.80}"
    raise OptionsError(f"{{ngrams}} must be two whole numbers from 1 to 100, the smaller first, got {shown}")


def _joined_grams(text: NDArray[np.uint8], parts: list[tuple[Any, Any, Any]]) -> _Grams:
    starts, ends, numbers = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return _Grams(text, starts, ends, numbers)


def _encoded(
    text: str,
) -> tuple[NDArray[np.uint8], NDArray[np.uint8] | NDArray[np.uint32], NDArray[np.int64] | None]:
    """Return a text as UTF-8, as codes of characters, and where each begins; None: they are the bytes."""
    encoded = np.frombuffer(text.encode(), dtype=np.uint8)
    if len(encoded) == len(text):
        return encoded, encoded, None
    codes = np.frombuffer(text.encode("utf-32-le"), dtype="<u4")
    places = np.flatnonzero((encoded & 0xC0) != 0x80)
    return encoded, codes, np.append(places, len(encoded))


def _are_words(codes: NDArray[np.uint8] | NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Return which characters belong to words, as ``re`` says."""
    if codes.dtype == np.uint8:
        return np.take(_ASCII_WORDS, codes)
    are_words: NDArray[np.bool_] = np.take(_ASCII_WORDS, np.minimum(codes, 128))
    others = np.flatnonzero(codes > 127)
    distinct, which = np.unique(codes[others], return_inverse=True)
    are_words[others] = np.array([chr(code).isalnum() for code in distinct.tolist()], dtype=bool)[which]
    return are_words


def _are_stop_words(text: NDArray[np.uint8], starts: Any, ends: Any) -> NDArray[np.bool_]:
    from perceptron_rs.features.stop_words import ENGLISH

    known = np.array(ENGLISH, dtype=f"S{_WIDEST_STOP_WORD}")
    text = np.append(text, np.zeros(_WIDEST_STOP_WORD, dtype=np.uint8))
    are_stop = np.zeros(len(starts), dtype=bool)
    lengths = ends - starts
    for length in range(2, _WIDEST_STOP_WORD):  # letters alone: as many bytes
        own = np.flatnonzero(lengths == length)
        letters = text[starts[own][:, np.newaxis] + np.arange(length)]
        words = np.ascontiguousarray(letters).view(f"S{length}").reshape(-1)
        are_stop[own] = np.isin(words, known[np.char.str_len(known) == length])
    return are_stop


def hashed_rows(
    texts: Sequence[str],
    options: HashedText,
    n_columns: int,
    words: Words | None = None,
    before: bytes = b"",
    known: Mapping[bytes, int] | None = None,
) -> HashedRows:
    """Return the counts of n-grams, with their signs, and tell ``words`` of them; see `normalized`.

    Each n-gram is hashed with ``before`` in front; or those that are ``known`` have columns, and no signs.
    """
    data, indices, counts = [], [], np.zeros(len(texts) + 1, dtype=np.int64)
    for grams in options.grams(texts):
        if known is not None:
            text, parts = grams.text.tobytes(), zip(grams.starts.tolist(), grams.ends.tolist(), strict=True)
            own = np.array([known.get(text[start:end], -1) for start, end in parts], dtype=np.int64)
            keys = ((grams.numbers * n_columns + own) << 1)[own >= 0]
        else:
            sizes = grams.ends - grams.starts
            hashes = murmur3_of_parts(grams.text, grams.starts, sizes, before).view(np.int32)
            if words is not None:
                words.add(grams, hashes, before=before)
            columns, is_positive = columns_of_hashes(hashes, n_columns)
            keys = (grams.numbers * n_columns + columns) << 1 | ~is_positive
        keys.sort(kind="stable")  # which finds that they stand by texts
        signs = 1 - 2 * (keys & 1)
        keys >>= 1
        first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if len(keys) else keys
        sums = np.add.reduceat(signs, first) if len(keys) else signs
        numbers, places = np.divmod(keys[first], n_columns)
        data.append(np.ones(len(sums)) if options.binary else sums.astype(np.float64))
        indices.append(places.astype(np.int32))
        counts[1:] += np.bincount(numbers, minlength=len(texts))
    values = np.concatenate(data) if data else np.zeros(0)
    columns = np.concatenate(indices) if indices else np.zeros(0, dtype=np.int32)
    return HashedRows(values, columns, np.cumsum(counts))


def normalized(rows: HashedRows, norm: Norm) -> HashedRows:
    """Return rows of that norm, added up in the order of the columns; rows of zeros stay as they are."""
    if norm is None:
        return rows
    sizes = _row_sums(rows.data * rows.data if norm == "l2" else np.abs(rows.data), rows.indptr)
    sizes = np.sqrt(sizes) if norm == "l2" else sizes
    sizes[sizes == 0] = 1.0
    return rows._replace(data=rows.data / np.repeat(sizes, np.diff(rows.indptr)))


def _row_sums(values: NDArray[np.float64], indptr: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sum of each row, one number after another."""
    lengths = np.diff(indptr)
    sums = np.zeros(len(lengths))
    if (np.trunc(values) == values).all() and np.add.reduce(np.abs(values)) < 2.0**53:  # in any order
        rows = np.flatnonzero(lengths)
        if len(rows):
            sums[rows] = np.add.reduceat(values, indptr[rows])
        return sums
    order = np.argsort(-lengths, kind="stable")
    starts, active = indptr[order], len(lengths) - np.cumsum(np.bincount(lengths, minlength=1))
    row_sums = sums[order]
    for j, n in enumerate(active[:-1].tolist()):
        row_sums[:n] += values[starts[:n] + j]
    sums[order] = row_sums
    return sums


class Words:
    """Which n-grams lead to each column, and how often they occur: all that have been told.

    N-grams whose hashes are equal in all 32 bits are taken for one.
    """

    def __init__(self) -> None:
        self._hashes = np.zeros(0, dtype=np.int32)
        self._counts = np.zeros(0, dtype=np.int64)
        self._texts: NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)
        self._starts = np.zeros(0, dtype=np.int64)
        self._ends = np.zeros(0, dtype=np.int64)

    def add_names(
        self, names: Sequence[bytes], hashes: NDArray[np.uint32], counts: NDArray[np.int64] | None = None
    ) -> None:
        """Count names of features as n-grams; each once, or so often."""
        ends = np.cumsum(np.fromiter(map(len, names), dtype=np.int64, count=len(names)))
        starts = np.append(0, ends)[:-1]
        text = np.frombuffer(b"".join(names), dtype=np.uint8)
        self.add(_Grams(text, starts, ends, starts), hashes.view(np.int32), counts)

    def add(
        self,
        grams: _Grams,
        hashes: NDArray[np.int32],
        times: NDArray[np.int64] | None = None,
        before: bytes = b"",
    ) -> None:
        """Count n-grams, with ``before`` in front; each once, or so often."""
        if not len(hashes):
            return
        keys = hashes.astype(np.int64) << 32 | np.arange(len(hashes))
        keys.sort()
        sorted_hashes = (keys >> 32).astype(np.int32)
        first = np.flatnonzero(np.append(True, sorted_hashes[1:] != sorted_hashes[:-1]))
        counts, own = np.diff(np.append(first, len(keys))), sorted_hashes[first]
        if times is not None:
            counts = np.add.reduceat(times[keys & 0xFFFFFFFF], first)
        places = keys[first] & 0xFFFFFFFF
        if len(self._hashes):
            at = np.minimum(np.searchsorted(self._hashes, own), len(self._hashes) - 1)
            is_known = self._hashes[at] == own
            self._counts[at[is_known]] += counts[is_known]
            own, counts, places = own[~is_known], counts[~is_known], places[~is_known]
        texts, lengths = _end_to_end(grams.text, grams.starts[places], grams.ends[places])
        front = np.frombuffer(before * len(lengths), dtype=np.uint8)
        texts = np.insert(texts, np.repeat(np.cumsum(lengths) - lengths, len(before)), front)
        lengths += len(before)
        every = np.concatenate([self._hashes, own])
        starts = np.concatenate([self._starts, len(self._texts) + np.cumsum(lengths) - lengths])
        ends = np.concatenate([self._ends, len(self._texts) + np.cumsum(lengths)])
        order = np.argsort(every, kind="stable")
        self._texts = np.concatenate([self._texts, texts])
        self._hashes, self._counts = every[order], np.concatenate([self._counts, counts])[order]
        self._starts, self._ends = starts[order], ends[order]

    def most_frequent(self, columns: NDArray[np.generic], n_columns: int, most: int) -> KeptWords:
        """Return up to ``most`` n-grams of each of these columns, the most frequent first."""
        of_column = columns_of_hashes(self._hashes, n_columns)[0].astype(np.int64)
        own = np.flatnonzero(np.isin(of_column, columns))
        order = own[np.lexsort((self._hashes[own], -self._counts[own], of_column[own]))]
        in_order = of_column[order]
        distinct, first, numbers = np.unique(in_order, return_index=True, return_counts=True)
        rank = np.arange(len(in_order)) - np.repeat(first, numbers)
        kept = order[rank < most]
        texts, lengths = _end_to_end(self._texts, self._starts[kept], self._ends[kept])
        return KeptWords(in_order[rank < most], texts, np.cumsum(lengths), distinct, numbers)


class KeptWords(NamedTuple):
    """The most frequent n-grams of columns.

    ``columns`` has the column of each n-gram; ``text`` and ``ends`` have the n-grams in UTF-8, end to end;
    ``used`` and ``counts`` say how many n-grams lead to each column.
    """

    columns: NDArray[np.int64]
    text: NDArray[np.uint8]
    ends: NDArray[np.int64]
    used: NDArray[np.int64]
    counts: NDArray[np.int64]

    def beside(self, older: KeptWords, columns: NDArray[np.generic], most: int) -> KeptWords:
        """Return these n-grams and, behind them, others of an earlier training, up to ``most`` a column.

        Of a column that both have, n-grams that neither kept may be the same: the larger number counts.
        """
        words_of: dict[int, list[bytes]] = {column: [] for column in columns.tolist()}
        counts = dict.fromkeys(words_of, 0)
        for words in (self, older):
            ends = words.ends.tolist()
            for column, start, end in zip(words.columns.tolist(), [0, *ends], ends, strict=False):
                word = words.text[start:end].tobytes()
                if column in words_of and word not in words_of[column]:
                    words_of[column].append(word)
            for column, count in zip(words.used.tolist(), words.counts.tolist(), strict=True):
                if column in words_of:
                    counts[column] = max(counts[column], count)
        kept = [(column, word) for column, own in words_of.items() for word in own[:most]]
        used = [column for column, own in words_of.items() if own or counts[column]]
        return KeptWords(
            np.array([column for column, _ in kept], dtype=np.int64),
            np.frombuffer(b"".join(word for _, word in kept), dtype=np.uint8),
            np.cumsum([len(word) for _, word in kept], dtype=np.int64),
            np.array(used, dtype=np.int64),
            np.array([max(counts[column], len(words_of[column])) for column in used], dtype=np.int64),
        )

    def of(self, column: int) -> tuple[list[str], list[int], int]:
        """Return n-grams of a column, the signs of their values there, and how many others there are."""
        a, b = np.searchsorted(self.columns, [column, column + 1]).tolist()
        starts = np.append(0, self.ends)
        texts = [self.text[starts[i] : starts[i + 1]].tobytes() for i in range(a, b)]
        signs = [1 if value < 1 << 31 else -1 for value in murmur3(texts).tolist()]
        at = int(np.searchsorted(self.used, column))
        known = at < len(self.used) and self.used[at] == column
        words = [word.decode("utf-8", "replace") for word in texts]
        return words, signs, int(self.counts[at]) - len(texts) if known else 0


def _end_to_end(
    text: NDArray[np.uint8], starts: Any, ends: Any
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return parts of a text end to end, and their lengths."""
    lengths = ends - starts
    before = np.cumsum(lengths) - lengths
    places = np.arange(int(lengths.sum())) + np.repeat(starts - before, lengths)
    return text[places], lengths
