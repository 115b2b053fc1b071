"""``perceptrons tag``: a tag for each token, as soon as its sentence is read."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from perceptron_rs.cli.status import Status
from perceptron_rs.cli.tagging import attributes, load_tagger, sentences_of, tag_column, tagged
from perceptron_rs.io.conll import Sentence
from perceptron_rs.io.sentences import batched

__all__ = ["run"]


def run(arguments: Namespace) -> int:
    """Print each line with its tag, and an empty line behind each sentence."""
    model = load_tagger(Path(arguments.model), arguments.threads)
    column = tag_column(model.template_, arguments.tag_column)
    for batch in sentences_of(arguments, model.template_, with_tag=False, keep_lines=True):
        for block in batched(batch):
            sys.stdout.writelines(_answers(model, block, arguments, column))
        sys.stdout.flush()
    return Status.SUCCESS


def _answers(model: Any, block: list[Sentence], arguments: Namespace, column: int | None) -> Iterator[str]:
    some = [sentence for sentence in block if sentence.tokens]
    answers = iter(
        model.predict([attributes(sentence, model.template_) for sentence in some]) if some else ()
    )
    for sentence in block:
        tags = next(answers) if sentence.tokens else []
        if arguments.json:
            if sentence.tokens:
                shown = {"tags": tags} if arguments.tags_only else {"tokens": sentence.tokens, "tags": tags}
                yield json.dumps(shown) + "\n"
        elif arguments.tags_only:
            yield "".join(f"{tag}\n" for tag in tags) + "\n" * bool(tags)
        else:
            rest = iter(tags)
            for line, is_token in sentence.lines:
                yield (tagged(line, next(rest), column) if is_token else line) + "\n"
            yield "\n"
