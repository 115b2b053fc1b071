"""The document of a model file: its parts, and their JSON: one text for each value, all finite and exact."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.scalars import number

#: What a model file holds besides its document, by name.
Tensors: TypeAlias = dict[str, NDArray[Any]]

NEEDED = frozenset(
    {
        "format_version",
        "arithmetic_version",
        "written_by",
        "estimator",
        "parameters",
        "classes",
        "history",
    }
)
#: What makes probabilities of scores.
CALIBRATION = "calibration"
#: To which type weights were rounded for the file, and which tensors have a narrower one: of these.
ROUNDED, NARROW = "rounded", ("int8", "float16", "float32")
#: Of many labels, as what matrix they were given.
LABELS = "labels"
#: The record of the training, and the beginning of the names of its tensors: weights that it started from.
CALLS, DIGESTS, START = "calls", "digests", "start_of_record_"
OPTIONAL = frozenset({"feature_names", "column_base", "input", CALIBRATION, LABELS, CALLS, DIGESTS, ROUNDED})

_SMALLEST, _LARGEST = -(2**63), 2**64 - 1  # every label's type, and none that is slow to read


def json_scalar(value: object) -> bool | int | float | str | None:
    """Return the None, bool, int, finite float or str equal to ``value``; TypeError if there is none."""
    if isinstance(value, np.generic):
        value = value.item()  # a long double stays one, and is refused below
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and _SMALLEST <= value <= _LARGEST:
        return int(value)
    scalar = number(value)
    if scalar is not None and math.isfinite(scalar):
        return float(scalar)
    if isinstance(value, str):
        return str.__str__(value)
    raise TypeError("JSON has no such value")


def json_text(document: object) -> str:
    """Return the one JSON text of a document: keys sorted, ASCII, no blanks."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)


def json_value(text: str) -> object:
    """Return what a JSON text says; ValueError for every text that `json_text` cannot have written."""
    try:
        return json.loads(
            text,
            object_pairs_hook=_distinct,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_bounded,
        )
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"the JSON cannot be read ({error!s:.200})") from None


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key is given twice")
    return members


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a finite number")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits:.40} is beyond the range of float64")
    return value


def _bounded(digits: str) -> int:
    value = int(digits) if len(digits) <= 20 else _LARGEST + 1
    if not _SMALLEST <= value <= _LARGEST:
        raise ValueError(f"{digits:.40} is not an integer of 64 bits")
    return value


def widened(document: dict[str, object], tensors: Tensors) -> Tensors:
    """Return tensors in the types of learning; ValueError unless the file says which have others."""
    if ROUNDED not in document:
        return tensors
    said = document[ROUNDED]
    names = said.get("tensors") if isinstance(said, dict) and set(said) == {"dtype", "tensors"} else None
    if not isinstance(names, list) or said["dtype"] not in NARROW[1:]:  # type: ignore[index]
        raise ValueError("its rounded must hold a dtype and the names of tensors")
    known = [name for name in names if isinstance(name, str) and name in tensors]
    if len(known) < len(names) or any(tensors[name].dtype.name not in NARROW for name in known):
        raise ValueError(f"the rounded tensors must be there, and be of {', '.join(NARROW)}")
    return tensors | {name: tensors[name].astype(np.float64) for name in known}
