"""Which examples early stopping sets aside: the rule of ARITHMETIC.md once more, in Python's integers."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

MASK = 2**64 - 1


def numbers(state):
    """Give the numbers of SplitMix64."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def permuted(items, seed, epoch, partition):
    """Return the items in the order of rule 7."""
    key = 0
    for part in (seed, epoch, partition):
        key = next(numbers((key + part) & MASK))
    items, drawn = list(items), numbers(key)
    for i in reversed(range(1, len(items))):
        j = next(drawn) * (i + 1) >> 64
        items[i], items[j] = items[j], items[i]
    return items


def apportioned(counts, m):
    """Return how many of each class are among m of all: as near to its share as can be, one by one."""
    shares = [Fraction(count * m, sum(counts)) for count in counts]
    taken = [int(share) for share in shares]
    while sum(taken) < m:
        lack, _, k = max(
            (shares[k] - taken[k], -k, k) for k in range(len(counts)) if taken[k] < counts[k] - 1
        )
        assert lack > -len(counts)
        taken[k] += 1
    return taken


def validation_part(labels, fraction, seed, weights=None):
    """Return the rows that are set aside, sorted; ``labels`` are indices of classes."""
    labels = list(labels)
    rows = [i for i in range(len(labels)) if weights is None or weights[i] > 0]
    classes = [[i for i in rows if labels[i] == k] for k in range(max(labels) + 1)]
    taken = apportioned([len(own) for own in classes], ceil(fraction * len(rows)))
    part = []
    for k, (own, most) in enumerate(zip(classes, taken, strict=True)):
        part += permuted(own, seed, 2**64 - 3, k)[:most]
    return sorted(part)
