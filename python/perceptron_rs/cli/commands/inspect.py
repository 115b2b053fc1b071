"""``perceptrons inspect``: what is in a model file."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

from perceptron_rs.cli.modelfile import learner_of, load_model

__all__ = ["run"]

#: Weights of a class that are shown, unless an option says how many.
TOP = 10
#: Calls of the record that the text shows.
_CALLS = 20


def run(arguments: Namespace) -> int:
    """Print the format, digest and record, the estimator, its parameters and history, its largest weights."""
    from perceptron_rs.common.summary import as_text, describe
    from perceptron_rs.models.comparison import digest
    from perceptron_rs.models.training_record import read_record

    path = Path(arguments.model)
    model = load_model(path, sequences=None)
    learner = learner_of(model)
    family = learner.part("summary")
    story = describe(model, family, TOP if arguments.top is None else arguments.top) | {
        "format": "safetensors",
        "bytes": path.stat().st_size,
    }
    story |= {"digest": digest(model)} | read_record(path, model)
    if arguments.json:
        print(json.dumps(story, default=str))
    else:
        first, _, rest = as_text(story, family).partition("\n")
        print("\n".join([first, *_record(story)]), rest, sep="\n", end="")
    return 0


def _record(story: dict[str, Any]) -> list[str]:
    """Return the lines of the digest, the versions and the record of calls."""
    versions = f"{story['written_by']}, arithmetic {story['arithmetic_version']}"
    lines = [
        f"digest      {story['digest']}",
        f"versions    {versions}, format {story['format_version']}",
    ]
    calls = story["calls"] or []
    for call in calls[:_CALLS]:
        number = sum(size * times for size, times in call["sizes"])
        together = sum(times for _, times in call["sizes"])
        line = f"record      {call['method']} of {number} examples with {call['n_features']} columns"
        line += f", {together} calls" if together > 1 else ""
        lines.append(line + (f", ended by {call['ended'][0]}" if "ended" in call else ""))
    if story["starts_from_weights"]:
        lines[2] += ", from weights that it was given"
    if len(calls) > _CALLS:
        lines.append(f"record      and {len(calls) - _CALLS} more, which --json shows")
    if not story["calls"]:
        lines.append("record      none: the training cannot be repeated")
    elif story["digests"] is not None:
        sizes = [size for size, found in story["digests"]["blocks"] if found is not None]
        key = story["digests"]["key"]
        keyed = "" if key is None else f", with the key {key}"
        lines.append(f"digests     {len(sizes)} of {sum(sizes)} examples{keyed}")
    return lines
