"""Texts as columns, as scikit-learn's ``HashingVectorizer`` makes them: n-grams are hashed, with a sign.

The core takes texts apart and hashes them, outside the interpreter. What a letter is, Python says. Columns,
signs and values are those of scikit-learn, to the last bit; tests compare them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from perceptron_rs._core import NGrams, hashed_texts, murmur3
from perceptron_rs._core import normalized as of_norm
from perceptron_rs.arrays.scalars import check_among, number
from perceptron_rs.choices import Accents, Analyzer, Norm
from perceptron_rs.errors import OptionsError
from perceptron_rs.features.hashing import columns_of_hashes

_WHITE = re.compile(r"\s\s+")


class HashedRows(NamedTuple):
    """The arrays of CSR rows that texts were hashed to."""

    data: NDArray[np.float64]
    indices: NDArray[np.int32]
    indptr: NDArray[np.int64]


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

    def _prepared(self, texts: Sequence[str]) -> tuple[Sequence[str], str]:
        """Return texts as n-grams are cut from them, and their letters beyond ASCII, as Python knows them.

        Texts of ASCII are made small where they are hashed, unless accents go, which may leave capitals.
        """
        every = self.strip_accents is not None
        others = [place for place, text in enumerate(texts) if every or not text.isascii()]
        if others:
            texts = list(texts)
            for place in others:
                lower = texts[place].lower() if self.lowercase else texts[place]
                texts[place] = lower if self.strip_accents is None else self._without_accents(lower)
        if self.analyzer != "word":
            texts = [_WHITE.sub(" ", text) for text in texts]
            return texts if self.analyzer == "char" else [" ".join(text.split()) for text in texts], ""
        letters = set().union(*(texts[place] for place in others))
        return texts, "".join(letter for letter in letters if letter > "\x7f" and letter.isalnum())

    def _without_accents(self, text: str) -> str:
        """Strip accents and other combining marks, whatever Unicode normal form the text has."""
        if text.isascii():
            return text
        parts = unicodedata.normalize("NFKD", text)
        if self.strip_accents == "ascii":
            return parts.encode("ascii", "ignore").decode()
        return "".join(letter for letter in parts if not unicodedata.combining(letter))


def checked_ngrams(given: object) -> tuple[int, int]:
    """Return the least and the largest size of n-grams; OptionsError for what is none."""
    sizes = [number(size, whole=True) for size in given] if isinstance(given, list | tuple) else []
    if len(sizes) == 2 and sizes[0] is not None and sizes[1] is not None:
        least, most = int(sizes[0]), int(sizes[1])
        if 1 <= least <= most <= 100:
            return least, most
    shown = " ".join(map(str, sizes)) if sizes and None not in sizes else f"{given!r:.80}"
    raise OptionsError(f"{{ngrams}} must be two whole numbers from 1 to 100, the smaller first, got {shown}")


def hashed_rows(
    texts: Sequence[str],
    options: HashedText,
    n_columns: int,
    words: Words | None = None,
    before: bytes = b"",
    known: dict[bytes, int] | None = None,
) -> HashedRows:
    """Return the counts of n-grams, with their signs, and tell ``words`` of them; see `normalized`.

    Each n-gram is hashed with ``before`` in front; or those that are ``known`` have columns, and no signs.
    """
    stop_words: Sequence[str] = ()
    if options.stop_words is not None:
        from perceptron_rs.features.stop_words import ENGLISH as stop_words  # noqa: N811
    texts, letters = options._prepared(texts)
    rows = hashed_texts(
        texts,
        options if options.strip_accents is None else replace(options, lowercase=False),
        letters=letters,
        stop_words=stop_words,
        columns=n_columns,
        before=before,
        known=known,
        met=None if words is None else words.met,
    )
    return HashedRows(*rows)


def normalized(rows: HashedRows, norm: Norm) -> HashedRows:
    """Return rows of that norm, added up in the order of the columns; rows of zeros stay as they are."""
    if norm is None:
        return rows
    return rows._replace(data=of_norm(rows.data, rows.indptr.astype(np.int64, copy=False), norm))


class Words:
    """Which n-grams lead to each column, and how often they occur: all that have been told.

    N-grams whose hashes are equal in all 32 bits are taken for one.
    """

    def __init__(self) -> None:
        self.met = NGrams()

    def most_frequent(self, columns: NDArray[np.generic], n_columns: int, most: int) -> KeptWords:
        """Return up to ``most`` n-grams of each of these columns, the most frequent first."""
        hashes, counts, text, ends = self.met.arrays()
        of_column = columns_of_hashes(hashes, n_columns)[0].astype(np.int64)
        own = np.flatnonzero(np.isin(of_column, columns))
        order = own[np.lexsort((hashes[own], -counts[own], of_column[own]))]
        in_order = of_column[order]
        distinct, first, numbers = np.unique(in_order, return_index=True, return_counts=True)
        rank = np.arange(len(in_order)) - np.repeat(first, numbers)
        kept = order[rank < most]
        starts = np.append(0, ends)[:-1][kept]
        lengths = ends[kept] - starts
        places = np.arange(int(lengths.sum())) + np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
        return KeptWords(in_order[rank < most], text[places], np.cumsum(lengths), distinct, numbers)


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
