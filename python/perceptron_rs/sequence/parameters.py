"""The parameters of a sequence learner."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from perceptron_rs.engines import ENGINES

__all__ = ["CONSTRAINTS", "check_parameters"]

_LARGEST = 2**31 - 1

CONSTRAINTS: dict[str, list[Any]] = {
    "max_iter": [Interval(Integral, 1, _LARGEST, closed="both")],
    "averaged": ["boolean"],
    "transition_features": ["boolean"],
    "eta0": [Interval(Real, 0, None, closed="neither")],
    "shuffle": ["boolean"],
    "random_state": ["random_state"],
    "decode": [StrOptions({"viterbi", "beam"})],
    "beam_width": [Interval(Integral, 1, _LARGEST, closed="both")],
    "update": [StrOptions({"full", "early", "max_violation"})],
    "early_stopping": ["boolean"],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    "n_iter_no_change": [Interval(Integral, 1, _LARGEST, closed="both")],
    "min_count": [Interval(Integral, 1, None, closed="left")],
    "hash_columns": [Interval(Integral, 1, _LARGEST, closed="both"), None],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
    "callback": [callable, None],
    "keep_on_interrupt": ["boolean"],
    "engine": [StrOptions(set(ENGINES))],
}


def check_parameters(model: Any) -> None:
    """Refuse combinations that have no meaning, and what scikit-learn's validation lets through."""
    if not 0 < float(model.eta0) < math.inf:
        raise ValueError(f"eta0 must be finite and above 0, got {model.eta0!r}")
    if model.update != "full" and model.decode != "beam":
        raise ValueError(f"update={model.update!r} needs decode='beam', got decode={model.decode!r}")
    if model.hash_columns is not None and model.min_count != 1:
        raise ValueError(f"min_count must be 1 with hash_columns, got {model.min_count}")
