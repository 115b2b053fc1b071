"""The visiting order of an epoch: Fisher-Yates over SplitMix64.

Given (seed, epoch, partition), the permutation is fixed for all time and all machines: it depends
on nothing else, so that a run can be continued elsewhere, and each epoch gets a new one.

References
----------
G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014;
constants and published numbers of S. Vigna's splitmix64.c.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

GAMMA = np.uint64(0x9E3779B97F4A7C15)
LOW_HALF = np.uint64(0xFFFFFFFF)
HALF, SHIFT_1, SHIFT_2, SHIFT_3 = (np.uint64(bits) for bits in (32, 30, 27, 31))
FACTOR_1 = np.uint64(0xBF58476D1CE4E5B9)
FACTOR_2 = np.uint64(0x94D049BB133111EB)


def splitmix64(seed: int, count: int) -> NDArray[np.uint64]:
    """First ``count`` numbers of the generator; all sums and products are modulo 2**64."""
    z = np.uint64(seed) + GAMMA * np.arange(1, count + 1, dtype=np.uint64)
    z = (z ^ (z >> SHIFT_1)) * FACTOR_1
    z = (z ^ (z >> SHIFT_2)) * FACTOR_2
    return np.asarray(z ^ (z >> SHIFT_3), dtype=np.uint64)


def permutation(n: int, *, seed: int, epoch: int, partition: int) -> NDArray[np.uint32]:
    """Visiting order of an epoch.

    Parameters
    ----------
    n : int, below 2**32
        Number of examples.
    seed, epoch, partition : int, from 0 to 2**64 - 1
        Data in memory is partition 0.

    Returns
    -------
    uint32 array of shape (n,)
    """
    key = state_of_epoch(seed, epoch, partition)
    if not 0 <= n < 2**32:
        raise ValueError(f"n must be from 0 to 2**32 - 1, got {n}")

    # Position i changes places with j, drawn from 0 ... i: the high half of the 128-bit product
    # of a random number with i + 1, which needs no division and no second draw.
    bound = np.arange(n, 1, -1, dtype=np.uint64)
    number = splitmix64(key, len(bound))
    high, low = number >> HALF, number & LOW_HALF
    partner = (high * bound + (low * bound >> HALF)) >> HALF

    order = list(range(n))
    for i, j in zip(range(n - 1, 0, -1), partner.tolist(), strict=True):
        order[i], order[j] = order[j], order[i]
    return np.array(order, dtype=np.uint32)


def below(bound: int, *, seed: int, epoch: int, partition: int) -> int:
    """Whole number from 0 to ``bound - 1``: the first one that the generator of an epoch draws."""
    return int(splitmix64(state_of_epoch(seed, epoch, partition), 1)[0]) * bound >> 64


def state_of_epoch(seed: int, epoch: int, partition: int) -> int:
    """State of the generator of an epoch of a partition."""
    key = 0
    for name, part in (("seed", seed), ("epoch", epoch), ("partition", partition)):
        if not 0 <= part < 2**64:
            raise ValueError(f"{name} must be from 0 to 2**64 - 1, got {part}")
        key = int(splitmix64((key + part) % 2**64, 1)[0])
    return key
