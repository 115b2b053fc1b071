"""Which parts the description in a model file has, and which tensors are no part of what was learnt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perceptron_rs.models.values import Tensors

if TYPE_CHECKING:
    from perceptron_rs.models.input import Input

__all__ = [
    "BASE",
    "CALLS",
    "DIGESTS",
    "INPUT",
    "LABELS",
    "NEEDED",
    "OPTIONAL",
    "START",
    "base_of",
    "input_of",
    "keep_base",
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
#: Of many labels, as what matrix they were given.
LABELS = "labels"
#: The attribute of an estimator that holds how the command line made its columns: the part "input".
INPUT = "_input"
#: That for the number of the first column in the svmlight file that it learnt from.
BASE = "_column_base"
#: The record of the training, and the beginning of the names of its tensors: weights that it started from.
CALLS, DIGESTS, START = "calls", "digests", "start_of_record_"
OPTIONAL = frozenset({"feature_names", "column_base", "input", LABELS, CALLS, DIGESTS})


def without_record(tensors: Tensors) -> Tensors:
    """Return the tensors that are no part of the record."""
    return {name: tensor for name, tensor in tensors.items() if not name.startswith(START)}


def keep_base(model: object, zero_based: bool | None) -> None:
    """Keep with a model whether the svmlight file that it learnt from counts columns from 0."""
    if zero_based is not None:
        setattr(model, BASE, 0 if zero_based else 1)


def base_of(model: object) -> int | None:
    """Return the number of the first column in the file that a model learnt from; None: it had no numbers."""
    base: int | None = vars(model).get(BASE)
    return base


def input_of(model: object) -> Input | None:
    """Return how a model's columns were made of the data that it learnt from; None: it was given a matrix."""
    how: Input | None = vars(model).get(INPUT)
    return how
