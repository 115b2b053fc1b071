"""Which parts the description in a model file has, and which tensors are no part of what was learnt."""

from __future__ import annotations

import numpy as np

from perceptron_rs.models.values import Tensors

__all__ = [
    "CALIBRATION",
    "CALLS",
    "DIGESTS",
    "LABELS",
    "NARROW",
    "NEEDED",
    "OPTIONAL",
    "ROUNDED",
    "START",
    "widened",
    "without_record",
]

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


def without_record(tensors: Tensors) -> Tensors:
    """Return the tensors that are no part of the record."""
    return {name: tensor for name, tensor in tensors.items() if not name.startswith(START)}


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
