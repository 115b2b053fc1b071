"""The learners of the package by what they can do: a new one is tested with its like once it is known."""

from __future__ import annotations

from typing import Any

from perceptron_rs.linear.passes import PassLearner
from perceptron_rs.registry import REGISTRY

__all__ = ["LINEAR", "ONLINE", "PARTITIONED", "PASSES"]

#: All that have one weight a feature.
LINEAR: tuple[Any, ...] = tuple(learner.kind for learner in REGISTRY.values() if learner.is_linear)
#: Those that learn pass by pass.
ONLINE = tuple(kind for kind in LINEAR if hasattr(kind, "partial_fit"))
#: Those of which a pass learns in place.
PASSES = tuple(kind for kind in LINEAR if issubclass(kind, PassLearner))
#: Those that mix what they have learnt from partitions.
PARTITIONED = tuple(kind for kind in LINEAR if "n_partitions" in kind._get_param_names())
