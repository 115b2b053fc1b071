"""``perceptrons tag-evaluate``: a tagger's answers beside the tags of a file."""

from __future__ import annotations

from argparse import Namespace
from itertools import chain
from typing import Any

import numpy as np

from perceptron_rs.choices import Scheme
from perceptron_rs.cli.figures import show, table, warn_of_unknown
from perceptron_rs.cli.status import CommandError
from perceptron_rs.cli.tagging import TaggedFiles, load_predicting
from perceptron_rs.io.sentences import batched
from perceptron_rs.metrics import are_chunked, class_scores, scores_of_chunks
from perceptron_rs.targets.chunk_tags import Parts, foreign_tag, tag_parts

Tags = list[list[str]]


def run(arguments: Namespace) -> int:
    """Print the accuracy of tokens and of sentences, the figures of each tag, and those of chunks."""
    model = load_predicting(arguments)
    known = set(model.classes_.tolist())
    data = TaggedFiles(arguments, model.template_)
    truth: Tags = []
    predicted: Tags = []
    for block in batched(data.sentences()):
        predicted += model.predict(list(map(data.attributes, block)))
        truth += map(data.tags, block)
    parts = tag_parts(known.union(*truth))
    if not are_chunked(parts):
        parts = None
    if arguments.scheme is not None:
        _check_scheme(arguments.scheme, parts, data.name)
    unknown = [tag for tags in truth for tag in tags if tag not in known]
    if len(unknown) == sum(map(len, truth)):
        raise CommandError(
            f"{data.name}: none of its tags is known to the model, {unknown[0]!r} first; if "
            f"the tags are in another column, name that by --tag-column"
        )
    if unknown:
        warn_of_unknown(f"{data.name}: {len(unknown)} tokens have tags", unknown[0])
    return show(chunk_figures(truth, predicted, known, parts, arguments.scheme), report_of_chunks, arguments)


def _check_scheme(scheme: Scheme, parts: Parts | None, name: str) -> None:
    """Refuse tags that are of no chunks, or of another scheme."""
    if parts is None:
        raise CommandError(
            f"--scheme {scheme}: the tags of {name} and of the model are no positions in chunks, such as "
            "B-NP, I-NP and O; leave --scheme out"
        )
    if (other := foreign_tag(parts, scheme)) is not None:
        raise CommandError(
            f"--scheme {scheme} has no such tag as {other!r}; name another scheme, or leave --scheme out"
        )


def chunk_figures(
    truth: Tags, predicted: Tags, known: set[str], chunked: Parts | None = None, scheme: Scheme | None = None
) -> dict[str, Any]:
    """Return the scores of the tags ``predicted``; of chunks too, if ``chunked`` has them."""
    y, answers = (np.array(list(chain.from_iterable(tags))) for tags in (truth, predicted))
    tags = np.union1d(list(known), y)
    result: dict[str, Any] = {}
    for name, n, right in (
        ("token", len(y), int(np.count_nonzero(y == answers))),
        ("sentence", len(truth), sum(map(list.__eq__, truth, predicted))),
    ):
        result |= {f"n_{name}s": n, f"{name}_errors": n - right, f"{name}_accuracy": right / n}
    parts = zip(tags.tolist(), class_scores(y, answers, tags), strict=True)
    result["tags"] = [{"tag": tag, **part} for tag, part in parts]
    if chunked is not None:
        result["chunks"] = scores_of_chunks(truth, predicted, chunked, scheme)
    return result


def report_of_chunks(result: dict[str, Any]) -> str:
    """Return the same as tables."""
    lines = []
    for name, title in (("token", "token accuracy"), ("sentence", "sentence accuracy")):
        errors, total = result[f"{name}_errors"], result[f"n_{name}s"]
        lines.append(f"{title:18} {result[f'{name}_accuracy']:.4f}, {errors} errors of {total}")
    if "chunks" in result:
        lines.append(f"chunk F1           {result['chunks']['f1']:.4f}")
    lines += table("tag", "tokens", [(entry["tag"], entry) for entry in result["tags"]])
    if "chunks" in result:
        parts = [(entry["kind"], entry) for entry in result["chunks"]["kinds"]]
        lines += table("chunk", "chunks", [*parts, ("all", result["chunks"])])
    return "\n".join(lines) + "\n"
