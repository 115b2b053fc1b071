"""``perceptron-rs inspect``: what is in a model file."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from perceptron_rs.cli import tagger_story
from perceptron_rs.cli.errors import CommandError
from perceptron_rs.cli.labels import label_text, plain
from perceptron_rs.cli.modelfile import dump_text, format_name, load_model

__all__ = ["run"]


def run(arguments: Namespace) -> int:
    """Print the format, the estimator, its parameters, its history, and its largest weights."""
    path = Path(arguments.model)
    model = load_model(path, sequences=None)
    is_tagger = not hasattr(model, "mistakes_per_epoch_")
    if arguments.text:
        if is_tagger:
            raise CommandError(
                f"{path}: --text prints the weights of classifiers, and this labels sequences; use --json"
            )
        dump_text(model, sys.stdout)
        return 0
    tell, show = (tagger_story.describe, tagger_story.as_text) if is_tagger else (describe, as_text)
    story = tell(model, arguments.top) | {"format": format_name(), "bytes": path.stat().st_size}
    if arguments.json:
        print(json.dumps(story, default=str))
    else:
        print(show(story), end="")
    return 0


def describe(model: Any, top: int) -> dict[str, Any]:
    """Return what a model is and how it came to be."""
    names = getattr(model, "feature_names_in_", None)
    per_epoch = model.mistakes_per_epoch_
    coef, intercept = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    planes = model.classes_[1:] if len(coef) == 1 else model.classes_
    weights = []
    for label, row, bias in zip(planes, coef, intercept, strict=True):
        order = np.argsort(-np.abs(row), kind="stable")[:top]
        largest = [
            {"feature": f"x{j}" if names is None else str(names[j]), "weight": float(row[j])}
            for j in order.tolist()
            if row[j] != 0
        ]
        weights.append({"class": plain(label), "intercept": float(bias), "largest": largest})
    return {
        "estimator": type(model).__name__,
        "parameters": {name: _plain(value) for name, value in model.get_params().items()},
        "n_features": int(model.n_features_in_),
        "classes": [plain(label) for label in model.classes_],
        "history": {
            "n_iter": model.n_iter_,
            "converged": model.converged_,
            "n_mistakes": model.n_mistakes_,
            "mistakes_per_epoch": per_epoch.tolist(),
            "n_seen": model.n_seen_.tolist(),
        },
        "nonzero_weights": int(np.count_nonzero(coef)),
        "weights": weights,
    }


def _plain(value: Any) -> Any:
    """Return a parameter as JSON can hold it."""
    if isinstance(value, dict):
        return {label_text(label): float(weight) for label, weight in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def as_text(story: dict[str, Any]) -> str:
    """Return the same for people."""
    history = story["history"]
    per_epoch = [int(np.sum(entry)) for entry in history["mistakes_per_epoch"]]
    shown = " ".join(map(str, per_epoch[:20])) + (f" ... {per_epoch[-1]}" if len(per_epoch) > 20 else "")
    classes = [label_text(label) for label in story["classes"]]
    lines = [
        f"format      {story['format']}, {story['bytes']} bytes",
        f"estimator   {story['estimator']}",
        f"classes     {' '.join(classes[:20])}{' ...' if len(classes) > 20 else ''}",
        f"features    {story['n_features']}, {story['nonzero_weights']} weights are not 0",
        f"epochs      {history['n_iter']}, {'converged' if history['converged'] else 'not converged'}",
        f"mistakes    {history['n_mistakes']}; by epoch: {shown}",
        f"seen        {' '.join(map(str, history['n_seen'][:20]))} examples",
        "parameters",
        *(f"  {name} = {value!r}" for name, value in story["parameters"].items()),
    ]
    for plane in story["weights"]:
        lines.append(f"weights for class {label_text(plane['class'])}, intercept {plane['intercept']!r}")
        width = max((len(entry["feature"]) for entry in plane["largest"]), default=0)
        lines += [f"  {entry['feature']:{width}}  {entry['weight']!r}" for entry in plane["largest"]]
    return "\n".join(lines) + "\n"
