"""``perceptrons tag``: a tag for each token, as soon as its sentence is read."""

from __future__ import annotations

import json
import math
import re
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import Any

from perceptron_rs.cli.status import Status
from perceptron_rs.cli.tagging import TaggedFiles, load_predicting
from perceptron_rs.io.conll import Sentence
from perceptron_rs.io.sentences import batched


def run(arguments: Namespace) -> int:
    """Print each line with its tag, and an empty line behind each sentence; more of them stay."""
    model = load_predicting(arguments)
    data = TaggedFiles(arguments, model.template_)
    for part in data.parts(with_tag=False, keep_lines=True):
        for block in batched(part):
            sys.stdout.writelines(_answers(model, data, block, arguments))
        sys.stdout.flush()
    return Status.SUCCESS


def _answers(model: Any, data: TaggedFiles, block: list[Sentence], arguments: Namespace) -> Iterator[str]:
    """Give what is printed of each sentence."""
    X = [data.attributes(sentence) for sentence in block if sentence.tokens]
    tagged = iter(model.predict(X) if X and not arguments.best else ())
    margins = iter(model.predict_margins(X) if X and arguments.scores else ())
    ranked = iter(model.predict_k(X, arguments.best) if X and arguments.best else ())
    for sentence in block:
        tokens = sentence.tokens
        if arguments.best and tokens:
            best = next(ranked)
            if arguments.json:
                yield _record(sentence, arguments, best=[{"tags": y, "score": score} for y, score in best])
                continue
            for rank, (tags, score) in enumerate(best, 1):
                yield f"# {rank} {score!r}\n"
                yield from _lines(sentence, zip(tags), data, arguments)
            continue
        tags = next(tagged) if tokens else []
        scores = next(margins) if tags and arguments.scores else None
        if arguments.json:
            if tags:
                more = {} if scores is None else {"scores": list(map(_finite, scores))}
                yield _record(sentence, arguments, tags=tags, **more)
            continue
        answers = zip(tags) if scores is None else zip(tags, map(repr, scores), strict=True)
        yield from _lines(sentence, answers, data, arguments)


def _record(sentence: Sentence, arguments: Namespace, **answer: object) -> str:
    tokens = {} if arguments.tags_only else {"tokens": sentence.tokens}
    return json.dumps(tokens | answer) + "\n"


def _finite(score: float) -> float | None:
    """Return a margin; None for infinity, which JSON has not: no other tag is possible."""
    return score if math.isfinite(score) else None


def _lines(
    sentence: Sentence, answers: Iterator[tuple[str, ...]], data: TaggedFiles, arguments: Namespace
) -> Iterator[str]:
    """Give the lines of a sentence with the answer to each token."""
    if arguments.tags_only:
        yield from ("\t".join(answer) + "\n" for answer in answers)
        yield "\n" * (bool(sentence.tokens) or not sentence.lines)
        return
    tabs = bool(sentence.layout.tabs)
    for line, is_token in sentence.lines:
        yield (_tagged(line, next(answers), data.column, tabs=tabs) if is_token else line) + "\n"
    yield "\n"


def _tagged(line: str, answer: Sequence[str], column: int | None, *, tabs: bool) -> str:
    """Put a tag into a column of a line, or append it; append further cells. The separator stays."""
    parts = re.split("(\t)" if tabs or "\t" in line else "([ \x0b\x0c]+)", line)
    cells = [place for place in range(0, len(parts), 2) if parts[place]]
    separator = parts[cells[-1] - 1] if len(cells) > 1 else "\t"
    if column is not None and column <= len(cells):
        parts[cells[column - 1]], *answer = answer
    return separator.join(["".join(parts), *answer])
