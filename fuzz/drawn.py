"""What the fuzzers in Python share: cases by number, until the time is up."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np

__all__ = ["run"]


def run(check: Callable[[np.random.Generator], str]) -> None:
    """Call ``check`` with one generator after another; what it returns is counted."""
    parser = argparse.ArgumentParser(description="Draws cases until the time is up, or one fails.")
    parser.add_argument("--seconds", type=float, default=30, help="how long (default: 30)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of all cases (default: the time)")
    parser.add_argument("--case", type=int, help="draw this case alone")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    end = time.monotonic() + options.seconds
    counts: dict[str, int] = {}
    case = options.case or 0
    while case == (options.case or 0) or (options.case is None and time.monotonic() < end):
        try:
            kind = check(np.random.default_rng([options.seed, case]))
        except BaseException:  # a panic of the core is no Exception
            print(f"found with: --seed {options.seed} --case {case}")
            raise
        counts[kind] = counts.get(kind, 0) + 1
        case += 1
    print(f"seed {options.seed}:", ", ".join(f"{number} {kind}" for kind, number in sorted(counts.items())))
