"""``perceptrons tag-evaluate``: a tagger's answers beside the tags of a file."""

from __future__ import annotations

import json
import warnings
from argparse import Namespace
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Any

from perceptron_rs.cli import chunks
from perceptron_rs.cli.errors import CommandError
from perceptron_rs.cli.status import Status
from perceptron_rs.cli.tagging import attributes, load_tagger, positions, sentences, tag_column
from perceptron_rs.io.lines import names_of
from perceptron_rs.io.sentences import batched

__all__ = ["figures", "run"]

Tags = list[list[str]]


def run(arguments: Namespace) -> int:
    """Print the accuracy of tokens and of sentences, the figures of each tag, and those of chunks."""
    model = load_tagger(Path(arguments.model), arguments.threads)
    known = set(model.classes_.tolist())
    last, column = max(positions(model.template_)), tag_column(model.template_, arguments.tag_column)
    is_exact = column is None and "positions" not in model.template_
    least = max(last, column) if column is not None else last + 1
    expected = "the model needs, with the tag,"
    data = chain.from_iterable(sentences(arguments, least if is_exact else None, expected, least=least))
    truth: Tags = []
    found: Tags = []
    for block in batched(data):
        found += model.predict([attributes(sentence, model.template_) for sentence in block])
        truth += [[token[-1 if column is None else column - 1] for token in s.tokens] for s in block]
    if not truth:
        raise CommandError(f"{names_of(arguments.data)}: contains no tokens")
    unknown = [tag for tags in truth for tag in tags if tag not in known]
    if len(unknown) == sum(map(len, truth)):
        raise CommandError(
            f"{names_of(arguments.data)}: none of its tags is known to the model, {unknown[0]!r} first; if "
            f"the tags are in another column, name that by --tag-column"
        )
    if unknown:
        warnings.warn(
            f"{names_of(arguments.data)}: {len(unknown)} tokens have tags that the model does not know, "
            f"{unknown[0]!r} first; they count as errors",
            UserWarning,
            stacklevel=1,
        )
    result = figures(truth, found, known)
    print(json.dumps(result) if arguments.json else as_text(result), end="\n" if arguments.json else "")
    return Status.SUCCESS


def figures(truth: Tags, found: Tags, known: set[str]) -> dict[str, Any]:
    """Return what there is to say about the tags ``found``."""
    pairs = Counter(pair for a, b in zip(truth, found, strict=True) for pair in zip(a, b, strict=True))
    wanted, given, right = Counter[str](), Counter[str](), Counter[str]()
    for (a, b), count in pairs.items():
        wanted[a] += count
        given[b] += count
        right[a] += count * (a == b)
    tokens, sentences_right = wanted.total(), sum(map(list.__eq__, truth, found))
    result: dict[str, Any] = {
        "n_tokens": tokens,
        "token_errors": tokens - right.total(),
        "token_accuracy": right.total() / tokens,
        "n_sentences": len(truth),
        "sentence_errors": len(truth) - sentences_right,
        "sentence_accuracy": sentences_right / len(truth),
        "tags": [
            {"tag": tag, **chunks.measures(right[tag], given[tag], wanted[tag])}
            for tag in sorted(known | set(wanted))
        ],
    }
    if chunks.of_chunks(known | set(wanted)):
        result["chunks"] = chunks.figures(truth, found)
    return result


def as_text(result: dict[str, Any]) -> str:
    """Return the same as tables."""
    lines = []
    for name, title in (("token", "token accuracy"), ("sentence", "sentence accuracy")):
        errors, total = result[f"{name}_errors"], result[f"n_{name}s"]
        lines.append(f"{title:18} {result[f'{name}_accuracy']:.4f}, {errors} errors of {total}")
    if "chunks" in result:
        lines.append(f"chunk F1           {result['chunks']['f1']:.4f}")
    lines += _table("tag", "tokens", [(entry["tag"], entry) for entry in result["tags"]])
    if "chunks" in result:
        parts = [(entry["kind"], entry) for entry in result["chunks"]["kinds"]]
        lines += _table("chunk", "chunks", [*parts, ("all", result["chunks"])])
    return "\n".join(lines) + "\n"


def _table(what: str, unit: str, rows: list[tuple[str, dict[str, Any]]]) -> list[str]:
    width = max(9, *(len(name) for name, _ in rows)) + 1
    return [
        f"\n{what:{width}} precision    recall        f1{unit:>10}",
        *(
            f"{name:{width}}{entry['precision']:10.4f}{entry['recall']:10.4f}{entry['f1']:10.4f}"
            f"{entry['support']:10}"
            for name, entry in rows
        ),
    ]
