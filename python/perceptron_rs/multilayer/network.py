"""The sizes of the layers of the multilayer perceptron, and its mistakes."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.audit.record import RECORD

__all__ = ["n_outputs", "report_mistakes", "sizes_of"]

_LARGEST = 2**31 - 1


def sizes_of(model: Any) -> tuple[int, ...]:
    """Return the number of neurons of each hidden layer."""
    given = model.hidden_layer_sizes
    sizes = [given] if isinstance(given, Integral) else list(given)
    if not all(isinstance(size, Integral) and 1 <= int(size) <= _LARGEST for size in sizes):
        raise ValueError(f"hidden_layer_sizes must be whole numbers of at least 1, got {given!r:.80}")
    return tuple(int(size) for size in sizes)


def n_outputs(classes: NDArray[Any]) -> int:
    """Return the number of output neurons."""
    return 1 if len(classes) == 2 else len(classes)


def report_mistakes(model: Any, mistakes: NDArray[np.int64]) -> None:
    """Publish the mistakes of each epoch (n_iter, 1), and what follows from them."""
    model.mistakes_per_epoch_ = mistakes
    model.n_mistakes_ = int(mistakes.sum())
    calls = getattr(model, RECORD, ())
    is_whole = not calls or calls[-1].ended is None or calls[-1].ended[0] != "interrupt"
    model.converged_ = is_whole and bool(mistakes[-1, 0] == 0)
