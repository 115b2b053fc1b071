"""A template: the attributes of the words of a sentence, from the words around each."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from perceptron_rs.arrays.likes import check_list, is_list
from perceptron_rs.arrays.scalars import whole_number
from perceptron_rs.choices import MOST_NEIGHBOURS

_RUNS = re.compile(r"(.)\1+")


def word_shape(word: str) -> str:
    """Return the shape of a word: X, x and 9 for upper case, lower case and digits, each run once.

    Parameters
    ----------
    word : str
        Any string.

    Returns
    -------
    str
        The shape. Other characters are kept as they are.

    Examples
    --------
    >>> word_shape("McDonald's"), word_shape("1,250")
    ("XxXx'x", '9,9')
    """
    if not isinstance(word, str):
        raise TypeError(f"word must be a string, got {word!r:.80}")
    return _shape(word)


@lru_cache(maxsize=1 << 16)
def _shape(word: str) -> str:
    kinds = ["X" if c.isupper() else "x" if c.islower() else "9" if c.isdigit() else c for c in word]
    return _RUNS.sub(r"\1", "".join(kinds))


@lru_cache(maxsize=1 << 16)
def _of_word(word: str) -> tuple[tuple[str, ...], str, str]:
    """Return the attributes of a word, and what its neighbours' attributes have of it."""
    lower = word.lower()
    own = [f"w={lower}", f"W={word}", f"shape={_shape(word)}", f"first={word[:1]}"]
    own += [f"suf{n}={lower[-n:]}" for n in (1, 2, 3, 4) if len(lower) >= n]
    own += [f"pre{n}={lower[:n]}" for n in (1, 2, 3) if len(lower) > n]
    return tuple(own), lower, f"{lower[-3:]}"


def word_attributes(
    words: Sequence[str],
    *,
    window: int = 2,
    more: Callable[[Sequence[str], int], Sequence[str]] | None = None,
) -> list[list[str]]:
    """Return the attributes of the words of one sentence, for ``SequencePerceptron`` or an encoder.

    A word is described by itself: as written, in lower case, its shape, its first and last letters. Its
    neighbours describe it, too: the words up to ``window`` places away, pairs with the next ones, and their
    endings.

    Parameters
    ----------
    words : sequence of str
        A sentence.
    window : int, default=2
        Number of neighbours on each side to use.
    more : callable, default=None
        Function that returns further attributes of word i, as ``more(words, i)``.

    Returns
    -------
    list of lists of str
        One list for each word.

    Examples
    --------
    >>> from perceptron_rs.features import word_attributes
    >>> word_attributes(["Time", "flies"], window=0)[1][:6]
    ['bias', 'w=flies', 'W=flies', 'shape=x', 'first=f', 'suf1=s']
    """
    if not is_list(words) or not all(isinstance(word, str) for word in words):
        raise TypeError(
            f"words must be a list of strings, got {words!r:.80}; column_attributes takes columns of a file"
        )
    window = whole_number("window", window, 0, MOST_NEIGHBOURS)
    if more is not None and not callable(more):
        raise TypeError(f"more must be a function of words and a place or None, got {more!r:.80}")
    known = [_of_word(word) for word in words]
    lower = ["<s>"] * window + [word for _, word, _ in known] + ["</s>"] * window
    ends = ["<s>"] * window + [end for _, _, end in known] + ["</s>"] * window
    rows = []
    for i, (own, word, _) in enumerate(known):
        row = ["bias", *own]
        for k in range(1, window + 1):
            row.append(f"w-{k}={lower[i + window - k]}")
            row.append(f"w+{k}={lower[i + window + k]}")
        if window:
            before, after = lower[i + window - 1], lower[i + window + 1]
            row += [f"w-1,w={before} {word}", f"w,w+1={word} {after}", f"w-1,w+1={before} {after}"]
            row += [f"suf-1={ends[i + window - 1]}", f"suf+1={ends[i + window + 1]}"]
        if more is not None:
            others = more(words, i)
            check_list("the result of more", others, "strings")
            row += others
        rows.append(row)
    return rows
