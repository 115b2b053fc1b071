"""What the options and the model ask of a file."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from perceptron_rs.cli.modelfile import base_of

__all__ = ["Wanted", "wanted"]


@dataclass(frozen=True)
class Wanted:
    """What the command and the model need of a file."""

    labels: bool = True  # whether there must be labels
    target: str | None = None
    header: bool = True
    beside: Path | None = None  # labels in a file of their own
    features: int | None = None
    names: tuple[str, ...] | None = None  # of the model's columns
    strings: bool = False  # whether the model's classes are strings
    zero_based: bool | Literal["auto"] = "auto"
    base_of_model: bool = False  # whether the model says so, and not an option
    threads: int | None = None


def wanted(arguments: Namespace, *, labels: bool = True, model: Any = None) -> Wanted:
    """Return what the options and the model ask of the file."""
    features = getattr(arguments, "features", None)
    named: dict[str, bool | Literal["auto"]] = {"auto": "auto", "yes": True, "no": False}
    zero_based = named[arguments.zero_based]
    base, names = None, None
    if model is not None:
        features = int(model.n_features_in_)
        names = getattr(model, "feature_names_in_", None)
        if zero_based == "auto":
            base = base_of(model)
    return Wanted(
        labels=labels,
        target=arguments.target,
        header=not arguments.no_header,
        beside=None if arguments.labels is None else Path(arguments.labels),
        features=features,
        names=None if names is None else tuple(str(name) for name in names),
        strings=labels and model is not None and model.classes_.dtype.kind in "OU",
        zero_based=zero_based if base is None else base == 0,
        base_of_model=base is not None,
        threads=getattr(arguments, "threads", None),
    )
