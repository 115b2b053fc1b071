"""What the commands on sequences share: taggers from files, and DATA as sentences."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perceptron_rs.cli.modelfile import load_model, load_predictor
from perceptron_rs.cli.status import CommandError, UsageError
from perceptron_rs.features import column_attributes
from perceptron_rs.io.conll import Sentence
from perceptron_rs.io.sentences import read_sentences, source_of
from perceptron_rs.io.text.lines import check_files, names_of

if TYPE_CHECKING:
    from perceptron_rs.io import Source

__all__ = ["TaggedFiles", "load_tagger"]

WINDOW = 2  # as of `column_attributes`


def load_tagger(path: Path, threads: int | None = None, *, learns: bool = False) -> Any:
    """Read a model that tag-train has written: what predicts of it, or the estimator."""
    load = load_model if learns else load_predictor
    model = load(path, threads, sequences=True)
    if not hasattr(model, "template_"):
        raise UsageError(
            f"{path}: was not written by tag-train, so the attributes to make of the columns are unknown; "
            "use it from Python"
        )
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

    def __init__(
        self, arguments: Namespace, template: dict[str, Any] | None, *, learns: bool = False
    ) -> None:
        self.arguments, self.files, self.name = arguments, arguments.data, names_of(arguments.data)
        self.template, self._is_new, self._learns = template or {}, template is None, learns
        options = vars(arguments)
        #: Numbers of columns, from 1: that of the tag, None if it is the last one; and those of the others.
        self.column: int | None = options.get("tag_column") or self.template.get("tag")
        first = range(1, self.template.get("columns", 0) + 1)
        self._numbers = list(options.get("columns") or self.template.get("positions") or first)
        self.tag = 0
        #: Numbers of sentences and tokens, once all were read.
        self.counts: tuple[int, int] | None = None

    def parts(self, *, with_tag: bool = True, keep_lines: bool = False) -> Iterator[list[Sentence]]:
        """Give the sentences as soon as their last lines have come."""
        last, column = max(self._numbers, default=1), self.column
        least = last if not with_tag else last + 1 if column is None else max(last, column)
        # More columns may be a mistake, such as the tags themselves, unless somebody says where the tag is.
        is_exact = not self._learns and column is None and "positions" not in self.template
        expected = "the model needs, with the tag," if with_tag else "the model reads"
        if self._is_new:
            expected = "the word, its features and the tag need"
        check_files(self.files)
        return read_sentences(
            self.files,
            least if is_exact else None,
            expected,
            least=least,
            keep_lines=keep_lines,
            max_ratio=vars(self.arguments).get("max_ratio"),
        )

    def sentences(self) -> Iterator[Sentence]:
        """Give all sentences, with their tags; the first one tells where that is."""
        n = n_tokens = 0
        for sentence in chain.from_iterable(self.parts()):
            if not self.tag:
                self._begin(len(sentence.tokens[0]))
            n, n_tokens = n + 1, n_tokens + len(sentence.tokens)
            yield sentence
        if not n:
            raise CommandError(f"{self.name}: contains no tokens")
        self.counts = n, n_tokens

    def _begin(self, columns: int) -> None:
        """Note which columns are what; of a new model, how attributes are made of them.

        There are positions only where the columns are not the first ones, and a tag only where it need not be
        the last one.
        """
        self.tag = self.column or columns
        if not self._learns:
            return
        chosen = self._numbers = self._numbers or list(range(1, self.tag))
        if not chosen:
            raise UsageError("--tag-column 1 leaves no column before it; name others with --columns")
        if self._is_new:
            options = vars(self.arguments)
            kind = options.get("template", "words")
            window = options.get("window", WINDOW) if kind == "words" else 0
            self.template = {"kind": kind, "window": window, "columns": len(chosen)}
            self.template |= {} if self.column is None else {"tag": self.column}
            self.template |= {} if chosen == list(range(1, len(chosen) + 1)) else {"positions": chosen}

    def attributes(self, sentence: Sentence) -> list[list[str]]:
        """Return the attributes of the tokens of one sentence."""
        tokens = [[token[number - 1] for number in self._numbers] for token in sentence.tokens]
        return column_attributes(tokens, kind=self.template["kind"], window=self.template["window"])

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
