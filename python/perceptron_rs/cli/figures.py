"""How figures are printed: as JSON, or as tables."""

from __future__ import annotations

import json
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterable
from typing import Any

from perceptron_rs.cli.status import Status
from perceptron_rs.models.summary import label_text


def show(result: dict[str, Any], as_text: Callable[[dict[str, Any]], str], arguments: Namespace) -> int:
    """Print a result as JSON, or as text, and return the exit status."""
    print(json.dumps(result) if arguments.json else as_text(result).rstrip("\n"))
    return Status.SUCCESS


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


def warn_of_unknown(what: str, first: object) -> None:
    """Warn of labels that a model cannot predict."""
    text = f"{what} that the model does not know, {label_text(first)!r} first; they count as errors"
    warnings.warn(text, UserWarning, stacklevel=1)
