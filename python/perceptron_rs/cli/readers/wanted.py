"""What the options and the model ask of a file."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from perceptron_rs.cli.errors import UsageError
from perceptron_rs.cli.modelfile import base_of, input_of

if TYPE_CHECKING:
    from perceptron_rs.io.cells import LabelKind
    from perceptron_rs.models.input import Scale

__all__ = ["BITS", "Wanted", "wanted"]

#: Of the columns of a hashed text, as vw has them.
BITS = 18


@dataclass(frozen=True)
class Wanted:
    """What the command and the model need of a file."""

    labels: bool = True  # whether there must be labels
    labelled: bool | None = None  # whether there are some nevertheless; None: as it looks
    classes: Any = None  # of the model
    format: str | None = None  # None: by the suffix
    usual: str | None = None  # the format of what has no suffix: that of the training
    target: str | None = None
    usual_target: str | None = None  # the column of the labels, if no option names it, as in the training
    usual_delimiter: str | None = None  # of tables in the usual format
    #: Whether the first line of CSV holds names; None: it must, and what looks like an example is refused.
    header: bool | None = None
    delimiter: str | None = None  # of a table; None: by its format
    missing: tuple[str, ...] = ()  # cells of CSV that stand for nothing, beside empty ones
    columns: tuple[str, ...] | None = None  # of a table, that are features; None: all but the target
    drop: tuple[str, ...] = ()  # of a table, that are none
    hash_bits: int | None = None  # None: columns are taken as they are
    texts: tuple[str, ...] | None = None  # columns to hash that hold strings; None: as they look
    beside: Path | None = None  # labels in a file of their own
    features: int | None = None
    names: tuple[str, ...] | None = None  # of the model's columns
    #: The type of labels that are text in the file, as of the model's classes; None: by the file.
    label_kind: LabelKind | None = None
    zero_based: bool | Literal["auto"] = "auto"
    base_of_model: bool = False  # whether the model says so, and not an option
    scale: Scale | None = None
    threads: int | None = None
    max_ratio: float | None = None  # how many times its size a .gz file may unpack to; None: the default


def wanted(arguments: Namespace, *, labels: bool = True, model: Any = None) -> Wanted:
    """Return what the options and the model ask of the file."""
    named: dict[str, bool | Literal["auto"]] = {"auto": "auto", "yes": True, "no": False}
    given: dict[str, Any] = {
        "labels": labels,
        "format": arguments.format,
        "target": arguments.target,
        "header": arguments.header,
        "missing": arguments.missing or (),
        "delimiter": arguments.delimiter,
        "columns": arguments.columns,
        "drop": arguments.drop or (),
        "hash_bits": getattr(arguments, "hash_bits", None),
        "beside": None if arguments.labels is None else Path(arguments.labels),
        "features": getattr(arguments, "features", None),
        "zero_based": named[arguments.zero_based],
        "threads": getattr(arguments, "threads", None),
        "max_ratio": arguments.max_ratio,
        "labelled": getattr(arguments, "labelled", None),
    }
    if given["labelled"] is False and (arguments.target is not None or arguments.labels is not None):
        raise UsageError(
            "--unlabelled says that there are no labels, so --target and --labels have no effect"
        )
    if arguments.columns is not None and arguments.drop is not None:
        raise UsageError("--columns says which columns are features, so --drop has no effect beside it")
    if model is not None:
        given |= _of_model(model, given)
    if given["format"] == "lines" and given["hash_bits"] is None:
        given["hash_bits"] = BITS
    return Wanted(**given)


def _of_model(model: Any, given: dict[str, Any]) -> dict[str, Any]:
    kept, base = input_of(model), base_of(model)
    names: Sequence[Any] | None = getattr(model, "feature_names_in_", None)
    found: dict[str, Any] = {
        "features": int(model.n_features_in_),
        "names": None if names is None else tuple(str(name) for name in names),
        "label_kind": {"O": "U", "U": "U", "b": "b"}.get(model.classes_.dtype.kind, "i"),
        "classes": model.classes_,
    }
    if given["zero_based"] == "auto" and base is not None:
        found |= {"zero_based": base == 0, "base_of_model": True}
    if kept is not None:
        found |= {"hash_bits": kept.hash_bits, "scale": kept.scale, "texts": kept.texts}
        if not given["missing"]:
            found["missing"] = kept.missing
        if given["header"] is None:
            found["header"] = kept.header
        if given["columns"] is None and not given["drop"]:
            found["drop"] = kept.drop
        found |= {"usual_target": kept.target, "usual_delimiter": kept.delimiter}
        if given["columns"] is None and kept.columns is not None:
            found["columns"] = kept.columns
        found["usual"] = kept.format
        if given["format"] is None and kept.format == "lines":  # by its suffix, .txt would be svmlight text
            found["format"] = kept.format
    return found
