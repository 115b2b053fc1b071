"""What the commands on sequences share: taggers from files, and sentences as attributes."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perceptron_rs.cli.modelfile import load_model, load_predictor
from perceptron_rs.cli.status import CommandError
from perceptron_rs.io.conll import Sentence
from perceptron_rs.io.text.lines import check_files, names_of

if TYPE_CHECKING:
    from perceptron_rs.io import Source

__all__ = [
    "attributes",
    "load_tagger",
    "positions",
    "sentences",
    "sentences_of",
    "tag_column",
    "tagged",
    "tagged_source",
]


def load_tagger(path: Path, threads: int | None, *, learns: bool = False) -> Any:
    """Read a model that tag-train has written: what predicts of it, or the estimator."""
    if learns:
        model = load_model(path, sequences=True)
        model.n_jobs = threads
    else:
        model = load_predictor(path, threads, sequences=True)
    if not hasattr(model, "template_"):
        raise CommandError(
            f"{path}: was not written by tag-train, so the attributes to make of the columns are unknown; "
            "use it from Python"
        )
    return model


def positions(template: dict[str, Any]) -> list[int]:
    """Return the numbers, from 1, of a template's columns: the first ones unless it says others."""
    found: list[int] = template.get("positions") or list(range(1, template["columns"] + 1))
    return found


def tag_column(template: dict[str, Any], told: int | None) -> int | None:
    """Return the number, from 1, of the column of the tags: as told, else as in training; None: the last."""
    found: int | None = told or template.get("tag")
    return found


def attributes(sentence: Sentence, template: dict[str, Any]) -> list[list[str]]:
    """Return the attributes of the tokens of one sentence, made of the template's columns."""
    from perceptron_rs.features import column_attributes

    tokens = sentence.tokens
    if len(tokens[0]) > template["columns"] or "positions" in template:
        numbers = positions(template)
        tokens = [[token[number - 1] for number in numbers] for token in tokens]
    return column_attributes(tokens, kind=template["kind"], window=template["window"])


def tagged(line: str, tag: str, column: int | None) -> str:
    """Return a line with its tag behind the last column, or in another one; separated as the line is."""
    parts = re.split("(\t)" if "\t" in line else "([ \x0b\x0c]+)", line)
    cells = [place for place in range(0, len(parts), 2) if parts[place]]
    if column is not None and column <= len(cells):
        parts[cells[column - 1]] = tag
        return "".join(parts)
    return line + (parts[cells[-1] - 1] if len(cells) > 1 else "\t") + tag


def tagged_source(
    files: Sequence[Any], read: Callable[[], Iterator[Sentence]], template: dict[str, Any], tag: int
) -> Source:
    """Return sentences as ``fit_stream`` takes them; ``tag`` is the number of the column of their tags."""
    from perceptron_rs.io.sentences import source_of

    def example(sentence: Sentence) -> tuple[list[list[str]], list[str]]:
        return attributes(sentence, template), [token[tag - 1] for token in sentence.tokens]

    return source_of(
        read,
        example,
        files=tuple(map(Path, files)),
        reading=f"{template}, tag {tag}",
        name=names_of(files),
    )


def sentences_of(
    arguments: Namespace, template: dict[str, Any], *, with_tag: bool = True, keep_lines: bool = False
) -> Iterator[list[Sentence]]:
    """Give the sentences of DATA, which have the columns that a tagger needs, and perhaps a tag."""
    last, column = max(positions(template)), tag_column(template, arguments.tag_column)
    least = last if not with_tag else last + 1 if column is None else max(last, column)
    # More columns may be a mistake, such as the tags themselves, unless somebody says where the tag is.
    is_exact = column is None and "positions" not in template
    expected = "the model needs, with the tag," if with_tag else "the model reads"
    return sentences(arguments, least if is_exact else None, expected, least=least, keep_lines=keep_lines)


def sentences(
    arguments: Namespace,
    columns: int | None = None,
    expected: str = "the lines before have",
    *,
    least: int = 1,
    keep_lines: bool = False,
) -> Iterator[list[Sentence]]:
    """Give the sentences of DATA as soon as their last lines have come; see `read_sentences`."""
    from perceptron_rs.io.sentences import read_sentences

    check_files(arguments.data)
    return read_sentences(
        arguments.data,
        columns,
        expected,
        least=least,
        keep_lines=keep_lines,
        max_ratio=vars(arguments).get("max_ratio"),
    )
