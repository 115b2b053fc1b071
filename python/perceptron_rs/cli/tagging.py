"""What the commands on sequences share: taggers from files, and sentences as attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from perceptron_rs.cli.errors import CommandError
from perceptron_rs.cli.modelfile import load_model
from perceptron_rs.cli.readers.sentences import Sentence

__all__ = ["attributes", "blocks", "load_tagger"]

BLOCK = 1000  # sentences; the answers do not depend on it

T = TypeVar("T")


def load_tagger(path: Path, threads: int | None) -> Any:
    """Read a model that tag-train has written."""
    model = load_model(path, sequences=True)
    if not hasattr(model, "template_"):
        raise CommandError(
            f"{path}: was not written by tag-train, so the attributes to make of the columns are unknown; "
            "use it from Python"
        )
    model.n_jobs = threads
    return model


def attributes(sentence: Sentence, template: dict[str, Any]) -> list[list[str]]:
    """Return the attributes of the tokens of one sentence; columns behind the template's are left out."""
    from perceptron_rs.features import column_attributes

    tokens: Sequence[Sequence[str]] = sentence
    if len(sentence[0]) > template["columns"]:
        tokens = [token[: template["columns"]] for token in sentence]
    return column_attributes(tokens, kind=template["kind"], window=template["window"])


def blocks(items: Iterable[T], size: int = BLOCK) -> Iterator[list[T]]:
    """Give lists of so many items; the last may be shorter."""
    rest = iter(items)
    while block := list(islice(rest, size)):
        yield block
