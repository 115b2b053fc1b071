"""Templates: the attributes of the tokens of a sentence, from the words and columns around each."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal, NotRequired, TypedDict

from perceptron_rs.arrays.likes import check_list, is_list
from perceptron_rs.arrays.scalars import check_among, whole_number
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


class Template(TypedDict):
    """How attributes are made of the columns of a file."""

    kind: Literal["words", "columns"]
    window: int
    columns: int  #: how many are read
    positions: NotRequired[list[int]]  #: which, from 1; the first ones
    tag: NotRequired[int]  #: which holds the tag, from 1; the last one
    separator: NotRequired[Literal["\t", " "]]  #: what separated them in the training


def column_attributes(
    tokens: Sequence[Sequence[str]], *, kind: Literal["words", "columns"] = "words", window: int = 2
) -> list[list[str]]:
    """Return the attributes of the tokens of a sentence, for ``SequencePerceptron`` or an encoder.

    Parameters
    ----------
    tokens : sequence of sequences of str
        Columns of each token, without the label: the word, and possibly more, such as its part of speech.
    kind : {"words", "columns"}, default="words"
        Which attributes to make. "words": the first column is a word, described by ``word_attributes``;
        every other column contributes its values up to ``window`` tokens away, and pairs of neighbouring
        values. "columns": only the value of each column, for files whose columns already are attributes.
    window : int, default=2
        Number of neighbours on each side to use, with ``kind="words"``.

    Returns
    -------
    list of lists of str
        One list for each token. Columns are counted from 1.

    Examples
    --------
    >>> from perceptron_rs.features import column_attributes
    >>> column_attributes([("the", "DT"), ("dog", "NN")], kind="columns")
    [['bias', '1=the', '2=DT'], ['bias', '1=dog', '2=NN']]
    >>> column_attributes([("the", "DT"), ("dog", "NN")], window=1)[1][-5:]
    ['2=NN', '2-1=DT', '2+1=</s>', '2-1,2=DT NN', '2,2+1=NN </s>']
    """
    check_among("kind", kind, "words", "columns")
    window = whole_number("window", window, 0, MOST_NEIGHBOURS)
    check_list("tokens", tokens, "lists of strings")
    tokens = list(tokens)
    for i, token in enumerate(tokens):
        if type(token) not in (list, tuple) or not {str}.issuperset(map(type, token)):
            check_list(f"token {i} of tokens", token, "strings, its columns")
            if not all(isinstance(value, str) for value in token):
                raise TypeError(
                    f"token {i} of tokens must be a list of strings, its columns, got {token!r:.80}"
                )
        if len(token) != len(tokens[0]) or not len(token):
            raise ValueError(
                f"tokens must have as many columns each, and at least one, got {tokens[0]!r:.60} and "
                f"{token!r:.60} as token {i}"
            )
    if kind == "columns":
        return [["bias", *(f"{j}={value}" for j, value in enumerate(token, 1))] for token in tokens]
    rows = word_attributes([token[0] for token in tokens], window=window)
    for j in range(2, len(tokens[0]) + 1 if tokens else 0):
        values = ["<s>"] * window + [token[j - 1] for token in tokens] + ["</s>"] * window
        for i, row in enumerate(rows, window):
            row.append(f"{j}={values[i]}")
            for k in range(1, window + 1):
                row += [f"{j}-{k}={values[i - k]}", f"{j}+{k}={values[i + k]}"]
            if window:
                row += [
                    f"{j}-1,{j}={values[i - 1]} {values[i]}",
                    f"{j},{j}+1={values[i]} {values[i + 1]}",
                ]
    return rows


def places_in(template: Template, width: int, *, is_exact: bool = True) -> list[int] | None:
    """Return the places of what a template reads in a token of so many columns; None if it is none such.

    One column may be all that there is. ``is_exact``: others are only known not to be tags where the training
    has said which columns are what.
    """
    # A forged file may say any number of columns; one more than there are is as bad as all of them.
    positions = template.get("positions") or range(1, min(template["columns"], width + 1) + 1)
    if template["columns"] == width == 1:
        return [0]
    if width < max(positions) or (is_exact and width > len(positions) and not template.keys() & _SAID):
        return None
    return [position - 1 for position in positions]


_SAID = {"positions", "tag"}


def template_attributes(
    template: Template, tokens: Sequence[Sequence[str]], places: Sequence[int]
) -> list[list[str]]:
    """Return the attributes of the tokens of a sentence, of which the columns at these places are read."""
    read = [[token[place] for place in places] for token in tokens]
    return column_attributes(read, kind=template["kind"], window=template["window"])
