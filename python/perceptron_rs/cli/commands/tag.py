"""``perceptrons tag``: a tag for each token, as soon as its sentence is read."""

from __future__ import annotations

import json
import math
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from perceptron_rs.cli.status import Status
from perceptron_rs.cli.tagging import TaggedFiles, load_tagger, tagged
from perceptron_rs.io.conll import Sentence
from perceptron_rs.io.sentences import batched

__all__ = ["run"]


def run(arguments: Namespace) -> int:
    """Print each line with its tag, and an empty line behind each sentence."""
    model = load_tagger(Path(arguments.model), arguments.threads)
    data = TaggedFiles(arguments, model.template_)
    for part in data.parts(with_tag=False, keep_lines=True):
        for block in batched(part):
            sys.stdout.writelines(_answers(model, data, block, arguments))
        sys.stdout.flush()
    return Status.SUCCESS


def _answers(model: Any, data: TaggedFiles, block: list[Sentence], arguments: Namespace) -> Iterator[str]:
    X = [data.attributes(sentence) for sentence in block if sentence.tokens]
    found = iter(model.predict(X) if X else ())
    margins = iter(model.predict_margins(X) if X and arguments.scores else ())
    for sentence in block:
        tags = next(found) if sentence.tokens else []
        scores = next(margins) if tags and arguments.scores else None
        if arguments.json:
            if tags:
                yield json.dumps(_record(sentence, tags, scores, arguments)) + "\n"
            continue
        cells = iter([tag] for tag in tags) if scores is None else map(_cells, tags, scores)
        if arguments.tags_only:
            yield "".join("\t".join(cell) + "\n" for cell in cells) + "\n" * bool(tags)
        else:
            for line, is_token in sentence.lines:
                yield (_line(line, next(cells), data.column) if is_token else line) + "\n"
            yield "\n"


def _cells(tag: str, score: float) -> list[str]:
    return [tag, repr(score)]


def _line(line: str, cells: list[str], column: int | None) -> str:
    line = tagged(line, cells[0], column)
    for cell in cells[1:]:
        line = tagged(line, cell, None)
    return line


def _record(
    sentence: Sentence, tags: list[str], scores: list[float] | None, arguments: Namespace
) -> dict[str, Any]:
    shown: dict[str, Any] = {} if arguments.tags_only else {"tokens": sentence.tokens}
    shown["tags"] = tags
    if scores is not None:  # JSON has no infinity: no other tag is possible
        shown["scores"] = [score if math.isfinite(score) else None for score in scores]
    return shown
