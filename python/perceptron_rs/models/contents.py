"""Which module knows what a file holds of a learner, by the learner's name."""

from __future__ import annotations

from types import ModuleType

from perceptron_rs.models import kernel, layout, multilayer, sequences

__all__ = ["content_of"]

_OTHERS: dict[str, ModuleType] = {"sequence": sequences, "kernel": kernel, "multilayer": multilayer}


def content_of(name: str) -> ModuleType:
    """Return the module with ``collect`` and ``publish`` for the learner of that name."""
    return _OTHERS.get(name, layout)
