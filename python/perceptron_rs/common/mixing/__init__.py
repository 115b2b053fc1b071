"""Iterative parameter mixing: the rule (shares), and epochs that follow it (rounds)."""

from perceptron_rs.common.mixing.rounds import Mixed, bounds, cuts, in_threads, is_whole, make_pass
from perceptron_rs.common.mixing.shares import (
    MIXINGS,
    Change,
    Share,
    added,
    changed,
    joined,
    mix,
    mixture,
    of_all_columns,
    of_columns,
    share,
    tree,
)

__all__ = [
    "MIXINGS",
    "Change",
    "Mixed",
    "Share",
    "added",
    "bounds",
    "changed",
    "cuts",
    "in_threads",
    "is_whole",
    "joined",
    "make_pass",
    "mix",
    "mixture",
    "of_all_columns",
    "of_columns",
    "share",
    "tree",
]
