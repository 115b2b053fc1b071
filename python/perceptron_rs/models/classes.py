"""The classes of a model as JSON, with their type."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import ArrayLike
from perceptron_rs.models.document import json_scalar

#: The types of labels in files, and what Python has for each.
_TYPES = {
    **dict.fromkeys(("str", "object"), str),
    "bool": bool,
    **dict.fromkeys(("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"), int),
    **dict.fromkeys(("float16", "float32", "float64"), float),
}


def classes_to_json(classes: ArrayLike) -> dict[str, object]:
    """Return the type and the values of ``classes``; ValueError for a type that files do not hold.

    A string type is written as "str" and comes back as wide as the longest name.
    """
    classes = np.asarray(classes)
    kind, name = classes.dtype.kind, classes.dtype.name
    if kind == "U":
        name = "str"
    elif kind == "O" and all(isinstance(label, str) for label in classes):
        name = "object"
    elif name not in _TYPES or kind == "O":
        remedy = "float" if kind == "f" else "str"
        raise ValueError(
            f"classes_ has the dtype {classes.dtype}, which a model file cannot hold; fit on other labels, "
            f"or set classes_ = classes_.astype({remedy}) before saving"
        )
    return {"type": name, "values": [json_scalar(label) for label in classes.tolist()]}


def classes_from_json(description: object, *, least: int = 2) -> NDArray[np.generic]:
    """Return the array that the description says; ValueError for one that no fit can have made."""
    if not isinstance(description, dict) or set(description) != {"type", "values"}:
        raise ValueError("its classes need a type and values")
    name, values = description["type"], description["values"]
    if not isinstance(values, list) or len(values) < least:
        raise ValueError(f"its classes must be a list of {least} or more")
    needed = _TYPES.get(name) if isinstance(name, str) else None
    if needed is None:
        raise ValueError(f"its classes have the unknown type {name!r:.80}")
    if any(type(value) is not needed for value in values):
        raise ValueError(f"its classes must all be of the type {name}")
    if needed is int and not np.iinfo(name).min <= min(values) <= max(values) <= np.iinfo(name).max:
        raise ValueError(f"its classes must all be of the type {name}")
    with np.errstate(over="ignore"):
        classes = np.array(values, dtype=np.dtype(name))
    if classes.tolist() != values:  # a float that is rounded, a string that ends with NUL
        raise ValueError(f"its classes must all be of the type {name}")
    if any(not low < high for low, high in pairwise(values)):
        raise ValueError("its classes must be sorted and distinct")
    return classes
