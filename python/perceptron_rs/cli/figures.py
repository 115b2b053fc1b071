"""Precision, recall and F1 of classes and tags, and the tables that show them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["measures", "of_classes", "table"]


def measures(right: int, found: int, there: int) -> dict[str, Any]:
    """Return precision, recall and F1, 0 where there is nothing to divide by, and how many there are."""
    return {
        "precision": right / found if found else 0.0,
        "recall": right / there if there else 0.0,
        "f1": 2 * right / (found + there) if found + there else 0.0,
        "support": there,
    }


def of_classes(y: NDArray[Any], found: NDArray[Any], classes: NDArray[Any]) -> list[dict[str, Any]]:
    """Return the figures of each class, which are sorted, and hold all labels."""
    true, answers = (np.searchsorted(classes, labels) for labels in (y, found))
    counts = [np.bincount(k, minlength=len(classes)) for k in (true[true == answers], answers, true)]
    return [measures(*numbers) for numbers in np.transpose(counts).tolist()]


def table(what: str, unit: str, rows: Iterable[tuple[str, dict[str, Any]]]) -> list[str]:
    """Return the lines of a table, one for each class."""
    rows = list(rows)
    width = max(9, *(len(name) for name, _ in rows)) + 1
    return [
        f"\n{what:{width}} precision    recall        f1{unit:>10}",
        *(
            f"{name:{width}}{row['precision']:10.4f}{row['recall']:10.4f}{row['f1']:10.4f}{row['support']:10}"
            for name, row in rows
        ),
    ]
