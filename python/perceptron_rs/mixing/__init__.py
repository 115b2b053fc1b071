"""Iterative parameter mixing: the rule (shares), and epochs that follow it (rounds)."""

from perceptron_rs.mixing.rounds import (
    Mixed,
    in_threads,
    is_whole,
    make_pass,
    partition_bounds,
    visited_bounds,
)
from perceptron_rs.mixing.shares import (
    Change,
    Share,
    add_shares,
    apply_change,
    combine_changes,
    expand_share,
    mix,
    mixture,
    reduce_tree,
    restrict_state,
    share_of_pass,
)

__all__ = [
    "Change",
    "Mixed",
    "Share",
    "add_shares",
    "apply_change",
    "combine_changes",
    "expand_share",
    "in_threads",
    "is_whole",
    "make_pass",
    "mix",
    "mixture",
    "partition_bounds",
    "reduce_tree",
    "restrict_state",
    "share_of_pass",
    "visited_bounds",
]
