"""``perceptron-rs tag``: a tag for each token, as soon as a block of sentences is read."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path

from perceptron_rs.cli.readers.sentences import sentences
from perceptron_rs.cli.tagging import attributes, blocks, load_tagger

__all__ = ["run"]


def run(arguments: Namespace) -> int:
    """Print each token's columns and its tag, and an empty line behind each sentence."""
    model = load_tagger(Path(arguments.model), arguments.threads)
    columns = model.template_["columns"]
    write = sys.stdout.write
    for block in blocks(sentences(arguments.data, columns, "the model reads")):
        found = model.predict([attributes(sentence, model.template_) for sentence in block])
        for sentence, tags in zip(block, found, strict=True):
            if arguments.json:
                shown = {"tags": tags} if arguments.tags_only else {"tokens": sentence, "tags": tags}
                write(json.dumps(shown) + "\n")
            elif arguments.tags_only:
                write("".join(f"{tag}\n" for tag in tags) + "\n")
            else:
                lines = ("\t".join([*token, tag]) for token, tag in zip(sentence, tags, strict=True))
                write("\n".join(lines) + "\n\n")
        sys.stdout.flush()
    return 0
