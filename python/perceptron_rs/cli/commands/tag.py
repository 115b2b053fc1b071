"""``perceptrons tag``: a tag for each token, as soon as its sentence is read."""

from __future__ import annotations

import json
import math
import re
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from perceptron_rs.cli.status import Status
from perceptron_rs.cli.tagging import TaggedFiles, load_tagger
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
    """Give what is printed of each sentence."""
    X = [data.attributes(sentence) for sentence in block if sentence.tokens]
    found = iter(model.predict(X) if X else ())
    margins = iter(model.predict_margins(X) if X and arguments.scores else ())
    for sentence in block:
        tags = next(found) if sentence.tokens else []
        scores = next(margins) if tags and arguments.scores else None
        answers = zip(tags) if scores is None else zip(tags, map(repr, scores), strict=True)
        if arguments.json:
            yield (json.dumps(_record(sentence, tags, scores, arguments)) + "\n") * bool(tags)
        elif arguments.tags_only:
            yield "".join("\t".join(answer) + "\n" for answer in answers) + "\n" * bool(tags)
        else:
            for line, is_token in sentence.lines:
                yield (_tagged(line, next(answers), data.column) if is_token else line) + "\n"
            yield "\n"


def _tagged(line: str, answer: Sequence[str], column: int | None) -> str:
    """Return a line with a tag in a column, or behind all, and further cells; separated as the line is."""
    parts = re.split("(\t)" if "\t" in line else "([ \x0b\x0c]+)", line)
    cells = [place for place in range(0, len(parts), 2) if parts[place]]
    separator = parts[cells[-1] - 1] if len(cells) > 1 else "\t"
    if column is not None and column <= len(cells):
        parts[cells[column - 1]], *answer = answer
    return separator.join(["".join(parts), *answer])


def _record(
    sentence: Sentence, tags: list[str], scores: list[float] | None, arguments: Namespace
) -> dict[str, Any]:
    shown: dict[str, Any] = {} if arguments.tags_only else {"tokens": sentence.tokens}
    shown["tags"] = tags
    if scores is not None:  # JSON has no infinity: no other tag is possible
        shown["scores"] = [score if math.isfinite(score) else None for score in scores]
    return shown
