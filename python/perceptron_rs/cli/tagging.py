"""What the commands on sequences share: taggers from files, and DATA as sentences."""

from __future__ import annotations

import warnings
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perceptron_rs.cli.modelfile import load_model, open_predictor
from perceptron_rs.cli.status import CommandError, UsageError
from perceptron_rs.features.templates import Template, places_in, template_attributes
from perceptron_rs.io.conll import Sentence, TokenLayout, columns_read
from perceptron_rs.io.sentences import read_sentences, source_of
from perceptron_rs.io.text.lines import check_files, names_of

if TYPE_CHECKING:
    from perceptron_rs.io import Source

_WINDOW = 2  # as of `column_attributes`


def load_tagger(path: Path, threads: int | None = None, *, learns: bool = False) -> Any:
    """Read a model that tag-train has written: what predicts of it, or the estimator."""
    load = load_model if learns else open_predictor
    model = load(path, threads, sequences=True)
    if not hasattr(model, "template_"):
        raise UsageError(
            f"{path}: was not written by tag-train, so the attributes to make of the columns are unknown; "
            "use it from Python"
        )
    return model


def load_predicting(arguments: Namespace) -> Any:
    """Read what predicts of the tagger of a command, as its options say."""
    model = load_tagger(Path(arguments.model), arguments.threads)
    if "constraints" in vars(arguments):
        model.constraints = None if arguments.constraints == "none" else arguments.constraints
    return model


class TaggedFiles:
    """DATA as sentences.

    Parameters
    ----------
    arguments : Namespace
        The options that name columns.
    template : dict or None
        What the attributes of a model are made of; None: that is what the options and the first sentence say.
    learns : bool, default=False
        Whether a model is trained on them: there may be other columns between those that it needs.
    """

    def __init__(self, arguments: Namespace, template: Template | None, *, learns: bool = False) -> None:
        self.arguments, self.files, self.name = arguments, arguments.data, names_of(arguments.data)
        self.template: Any = template or {}
        self._is_new, self._learns = template is None, learns
        options = vars(arguments)
        #: Number of the column of the tag, from 1; None if it is the last one.
        self.column: int | None = options.get("tag_column") or self.template.get("tag")
        self._columns: list[int] = list(options.get("columns", ()))
        if not self._is_new and self._columns and len(self._columns) != self.template["columns"]:
            raise UsageError(
                f"--columns must name as many columns as the model reads, {self.template['columns']}, got "
                f"{len(self._columns)}"
            )
        said = {"positions": self._columns, "tag": options.get("tag_column")}
        #: With what the options say of these files.
        self._read: Any = self.template | {name: value for name, value in said.items() if value}
        self._places: list[int] = []
        self.tag = 0
        #: Whether it is CoNLL-U, and that alone has told the column of the tag.
        self.is_conll_u = False
        #: Numbers of sentences and tokens, once all were read.
        self.counts: tuple[int, int] | None = None

    def parts(self, *, with_tag: bool = True, keep_lines: bool = False) -> Iterator[list[Sentence]]:
        """Give the sentences as soon as their last lines have come; the first one tells the columns."""
        check_files(self.files)
        sentences = read_sentences(
            self.files,
            partial(self._needed, with_tag=with_tag),
            keep_lines=keep_lines,
            one_column=self._reads_one_column and not with_tag,
            max_ratio=vars(self.arguments).get("max_ratio"),
        )
        for part in sentences:
            if not self._places:
                first = next((sentence for sentence in part if sentence.tokens), None)
                if first is not None:
                    self._begin(first, with_tag=with_tag)
            yield part

    @property
    def _reads_one_column(self) -> bool:
        """Whether a file without tabs has one column, as tabs separated them in the training."""
        return bool(
            self.template.get("separator") == "\t" and self.template["columns"] == 1 and not self._columns
        )

    def _needed(self, width: int, *, with_tag: bool) -> str | None:
        """Return in words how many columns the model needs, if a token has another number."""
        if self._is_new:
            last = max(self._columns, default=1)
            least = last + 1 if self.column is None else max(last, self.column)
            text = f"the word, its features and the tag need {least}"
            if self._columns or self.column is not None:
                text += f"; name none beyond {width} with --columns and --tag-column"
            return text if width < least else None
        if self._find(width, with_tag=with_tag) is not None:
            return None
        last = max(self._read.get("positions", [self.template["columns"]]))
        least = last + with_tag if self.column is None else max(last, self.column * with_tag)
        text = f"the model {'needs, with the tag,' if with_tag else 'reads'} {least}"
        if width < least:
            word = self.template.get("positions", [1])[0]
            return (
                text if with_tag or width > 1 else f"{text}; to tag words alone, train with --columns {word}"
            )
        text += "; if one of them is the tag, name it by --tag-column N"
        return text if with_tag else f"{text} ({width}: the last; {width + 1}: a new one)"

    def _find(self, width: int, *, with_tag: bool) -> list[int] | None:
        """Return the places of what the model reads in a token of so many columns, if it is one."""
        if with_tag and self.column is not None and width < self.column:
            return None
        others = width - 1 if with_tag and self.column is None else width
        return places_in(self._read, others, is_exact=not self._learns)

    def sentences(self) -> Iterator[Sentence]:
        """Give all sentences, with their tags."""
        n = n_tokens = 0
        for sentence in chain.from_iterable(self.parts()):
            n, n_tokens = n + 1, n_tokens + len(sentence.tokens)
            yield sentence
        if not n:
            raise CommandError(f"{self.name}: contains no tokens")
        self.counts = n, n_tokens

    def _begin(self, sentence: Sentence, *, with_tag: bool) -> None:
        """Note which columns are what; of a new model, how attributes are made of them."""
        layout, width = sentence.layout, len(sentence.tokens[0])
        if self._is_new:
            self._begin_anew(layout)
        else:
            self.tag = self.column or width
            self._places = self._find(width, with_tag=with_tag) or []
        if self._reads_one_column and width == 1:
            words = [word for (word,) in sentence.tokens]
            if all(" " in word for word in words):
                warnings.warn(
                    f"{self.name}: has no tab, so {words[0]!r:.40} is read as one token, as tabs separated "
                    "the columns in the training; if blanks separate columns here, make them tabs; if they "
                    "separate words, write one a line",
                    UserWarning,
                    stacklevel=1,
                )

    def _begin_anew(self, layout: TokenLayout) -> None:
        """Note the same of a new model.

        There are positions only where the columns are not the first ones, and a tag only where it need not be
        the last one.
        """
        self.tag, chosen = columns_read(layout, self.column, self._columns)
        options = vars(self.arguments)
        kind = options.get("template", "words")
        window = options.get("window", _WINDOW) if kind == "words" else 0
        self.template = {"kind": kind, "window": window, "columns": len(chosen)}
        self.is_conll_u = self.column is None and self.tag != layout.columns
        self.template |= {} if self.column is None and not self.is_conll_u else {"tag": self.tag}
        self.template |= {} if chosen == list(range(1, len(chosen) + 1)) else {"positions": chosen}
        self.template["separator"] = "\t" if layout.tabs else " "
        self._places = [number - 1 for number in chosen]

    def attributes(self, sentence: Sentence) -> list[list[str]]:
        """Return the attributes of the tokens of one sentence."""
        return template_attributes(self.template, sentence.tokens, self._places)

    def tags(self, sentence: Sentence) -> list[str]:
        """Return the tags of the tokens of one sentence."""
        return [token[self.tag - 1] for token in sentence.tokens]

    def encoded(
        self, sentences: list[Sentence], encode: Callable[[Iterable[list[str]]], Any]
    ) -> tuple[Any, list[str], list[int]]:
        """Return rows, tags and lengths of sentences, which are forgotten: attributes take much more room."""
        y = [tag for sentence in sentences for tag in self.tags(sentence)]
        lengths = [len(sentence.tokens) for sentence in sentences]
        sentences.reverse()
        popped = (sentences.pop() for _ in lengths)
        return encode(chain.from_iterable(map(self.attributes, popped))), y, lengths

    def source(self) -> Source:
        """Return the sentences as ``fit_stream`` takes them."""
        next(self.sentences())  # which tells the columns
        return source_of(
            self.sentences,
            lambda sentence: (self.attributes(sentence), self.tags(sentence)),
            files=tuple(map(Path, self.files)),
            reading=f"{self.template}, tag {self.tag}",
            name=self.name,
        )
