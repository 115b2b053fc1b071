"""Tokens in columns, as the files of the CoNLL shared tasks have them: the one parser of sentences.

One token a line, an empty line behind each sentence. Tabs separate columns, or blanks if the first line that
can tell has no tab. Lines that are no tokens belong to the sentence that they stand in:

- ``-DOCSTART-``, between the documents of CoNLL-2002 and 2003;
- where tabs separate columns, lines that begin with # and have no tab: comments;
- in CoNLL-U (ten columns, the first of which is a number, or a line ``# global.columns = ID ...``) every line
  that begins with #, and tokens whose number is a range or has a point: words of several tokens, empty nodes.

A file of one column may hold blanks within its tokens, if it is known that tabs separate columns: then a line
that begins with # and a blank is a comment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from perceptron_rs.errors import OptionsError
from perceptron_rs.io.text.lines import refuse_names
from perceptron_rs.io.text.opening import line_text

_DOCSTART = "-DOCSTART-"
_WIDTH, _FORM, _UPOS = 10, 2, 4  # of CoNLL-U
_NUMBER = re.compile(rb"\d+([-.]\d+)?")  # of a word of CoNLL-U, in its first column
_NO_WORD = re.compile(r"\d+[-.]\d+")
_GLOBAL_COLUMNS = re.compile(rb"^#\s*global\.columns\s*=\s*ID\b", re.MULTILINE)
#: A line that shows how columns are separated: neither -DOCSTART- nor what may be a comment.
_COLUMNS_OF_TOKEN = re.compile(rb"^(?!#|-DOCSTART-)[^\n]*[^\s][^\n]*$", re.MULTILINE)
#: The blanks of ASCII alone: a word may hold others.
_BLANKS = re.compile(r"[ \t\x0b\x0c]+")
_AROUND = " \t\x0b\x0c"


@dataclass(slots=True)
class TokenLayout:
    """What the first lines of a file say about all lines; None, or "", until one says it."""

    columns: int | None = None  #: how many each token has
    tabs: bool | None = None  #: whether tabs separate them
    is_conll_u: bool = False
    first: str = ""  #: the first column of the first token, whose columns set the number for all


@dataclass(slots=True)
class Sentence:
    """A sentence: the columns of each token, and all lines, with whether each is a token."""

    tokens: list[list[str]] = field(default_factory=list)
    lines: list[tuple[str, bool]] = field(default_factory=list)
    layout: TokenLayout = field(default_factory=TokenLayout)


def columns_read(layout: TokenLayout, tag: int | None, others: Sequence[int]) -> tuple[int, list[int]]:
    """Return the number of the column of the tag, and those of the columns that attributes are made of.

    Parameters
    ----------
    layout : TokenLayout
        Of a file whose columns are known.
    tag : int or None
        The column of the tag, from 1, or from the last one by -1, -2, ... None: the last, and of CoNLL-U
        that of universal parts of speech.
    others : sequence of int
        The other columns, from 1. None of them: all before the tag, and of CoNLL-U the word.
    """
    assert layout.columns is not None
    if tag is None:
        tag = _UPOS if layout.is_conll_u and layout.columns == _WIDTH else layout.columns
    elif tag < 0:
        tag += layout.columns + 1
    columns = list(others) or ([_FORM] if layout.is_conll_u else list(range(1, tag)))
    if not columns:
        raise OptionsError(
            "{tag_column} leaves no column before it",
            "name others with {columns}",
            values={"tag_column": tag},
        )
    if tag in columns:
        raise OptionsError(
            "column {tag} of {columns} holds the tag",
            "leave it out there, or name the column of the tag with {tag_column}",
            tag=tag,
        )
    return tag, columns


class ConllParser:
    """Makes sentences of lines, some lines at a time; ValueError with file and line if they are unsound.

    Parameters
    ----------
    name : str
        What errors call the file.
    refuse : callable, default=None
        Returns in words what number of columns is needed instead of this one, of the first token; None: it is
        right.
    keep_lines : bool, default=False
        Whether to keep the lines themselves; of several empty ones, each behind the first is a sentence.
    one_column : bool, default=False
        Whether a line without a tab is one column, blanks and all.
    layout : TokenLayout, default=None
        What is known of the file already.
    before : int, default=0
        How many lines of the file lie before the first that will be read.
    """

    def __init__(
        self,
        name: str,
        refuse: Callable[[int], str | None] | None = None,
        *,
        keep_lines: bool = False,
        one_column: bool = False,
        layout: TokenLayout | None = None,
        before: int = 0,
    ) -> None:
        self._name, self._refuse, self._one_column = name, refuse, one_column
        self._keep_lines = keep_lines
        self.layout = TokenLayout() if layout is None else replace(layout)
        self._waiting = b""  # until a line tells the layout
        self.number = before  #: of the last line
        self._sentence = Sentence(layout=self.layout)

    def read(self, text: bytes) -> Iterator[Sentence]:
        """Give the sentences that end in these lines of `open_text`, also those without a token."""
        if self.layout.tabs is None:
            self._waiting += text
            lines = (match[0] for match in _COLUMNS_OF_TOKEN.finditer(self._waiting))
            telling = next((line for line in lines if line.decode("utf-8", "replace").strip()), None)
            if telling is None:
                return
            self._set_layout(telling)
            text, self._waiting = self._waiting, b""
        for line in text.removesuffix(b"\n").split(b"\n"):
            self.number += 1
            words = line_text(line, self._name, self.number)
            if words.strip():
                self._add(words)
            elif self._keep_lines or self._sentence.tokens:
                done, self._sentence = self._sentence, Sentence(layout=self.layout)
                yield done

    def end(self) -> Iterator[Sentence]:
        """Give the sentence that no empty line has ended."""
        if self.layout.tabs is None and self._waiting:
            self._set_layout(next((line for line in self._waiting.splitlines() if line.strip()), b""))
            text, self._waiting = self._waiting, b""
            yield from self.read(text)
        last, self._sentence = self._sentence, Sentence(layout=self.layout)
        if last.tokens or last.lines:
            yield last

    def _set_layout(self, line: bytes) -> None:
        cells = line.split(b"\t")
        self.layout.tabs = len(cells) > 1 or self._one_column
        if self._one_column and len(cells) == 1:
            self.layout.columns = 1
        self.layout.is_conll_u = self.layout.tabs and (
            (len(cells) == _WIDTH and _NUMBER.fullmatch(cells[0]) is not None)
            or _GLOBAL_COLUMNS.search(self._waiting) is not None
        )

    def _add(self, line: str) -> None:
        token = line.split("\t") if self.layout.tabs else _BLANKS.split(line.strip(_AROUND))
        is_token = not self._is_other(token)
        if is_token:
            self._check(token)
            self._sentence.tokens.append(token)
        if self._keep_lines:
            self._sentence.lines.append((line, is_token))

    def _is_other(self, token: list[str]) -> bool:
        """Whether a line is no token."""
        first = token[0]
        if first == _DOCSTART or first.startswith(f"{_DOCSTART} "):
            return True
        if self.layout.is_conll_u:
            return first.startswith("#") or _NO_WORD.fullmatch(first) is not None
        is_comment = len(token) == 1 and first.startswith("# " if self.layout.columns == 1 else "#")
        return is_comment and self.layout.tabs is True

    def _check(self, token: list[str]) -> None:
        place, layout = f"{self._name}: line {self.number}", self.layout
        if not layout.first:
            needed = None if self._refuse is None else self._refuse(len(token))
            if needed is not None and layout.columns is None:
                raise ValueError(f"{place} has {len(token)} columns, but {needed}{_about_comments(token[0])}")
            refuse_names(token, place, self.number)
            layout.first = token[0]
        if layout.columns is None:
            layout.columns = len(token)
        if len(token) != layout.columns:
            raise ValueError(
                f"{place} has {len(token)} columns, but the lines before have {layout.columns}; "
                f"give each token the same number, and put an empty line between sentences"
                f"{_about_comments(token[0], layout.first)}"
            )
        if not all(map(str.strip, token)):
            empty = next(j for j, cell in enumerate(token, 1) if not cell.strip())
            raise ValueError(f"{place} has an empty column {empty}; fill it, for instance with _")


def _about_comments(*cells: str) -> str:
    """Say more of a wrong number of columns if one of these first cells may begin a comment."""
    comment = next((cell for cell in cells if cell.startswith("#")), None)
    if comment is None:
        return ""
    return (
        f"; if the line that begins with {comment!r:.40} is a comment, remove it, or separate columns by "
        f"tabs: then a line that begins with # and has no tab is one"
    )
