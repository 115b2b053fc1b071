"""Expected errors of vectors drawn by their counts, one for each class, from a kernel perceptron's log."""

from __future__ import annotations

import numpy as np

from perceptron_rs.schema.mistake_log import survival_counts


def until(vectors, limit):
    """Return the log of the first ``limit`` examples."""
    kept = vectors["log_t"] <= limit
    log = {name: vectors[name][kept] for name in vectors if name.startswith("log_") and name != "log_start"}
    return vectors | log | {"log_start": np.append(0, kept.cumsum())[vectors["log_start"]]}


def counted(vectors, limits):
    """Return how many of the first examples each vector of each class survived: (limits, vectors)."""
    classes = len(vectors["log_start"]) - 1
    shorter = [survival_counts(until(vectors, limit), np.full(classes, limit)) for limit in limits]
    lengths = np.diff(vectors["log_start"]) + 1
    return [
        np.array([np.pad(counts[k], (0, length - len(counts[k]))) for counts in shorter], dtype=np.int32)
        for k, length in enumerate(lengths)
    ]


def chances(scores, counts, label):
    """Return the probabilities that ``label`` wins if one vector of each class is drawn by these counts.

    A probability is the sum over the label's vectors of that to be drawn, times those of each other class to
    draw less; of equal scores the first class wins. Only scores that can change a comparison are sorted.
    """
    order = scores[label].argsort()
    own, total = scores[label][order], counts[label].sum(axis=1, keepdims=True)
    share = counts[label].take(order, axis=1) / total
    for other, (found, count) in enumerate(zip(scores, counts, strict=True)):
        near = np.flatnonzero(found >= own[0])
        if other == label or len(near) == 0:
            continue
        near = near[found[near].argsort()[::-1]]  # from the highest score down
        below = -found[near]
        drawn = np.zeros((len(count), len(near) + 1), dtype=np.int32)
        count.take(near, axis=1).cumsum(axis=1, out=drawn[:, 1:])
        end = np.searchsorted(own, -below[0], side="right")
        # How many are at least as high, or higher: a class before the label wins a tie.
        place = np.searchsorted(below, -own[:end], side="right" if other < label else "left")
        share[:, :end] *= ((total - drawn) / total).take(place, axis=1)
    return share.sum(axis=1)


def random_errors(row, label, vectors, counts):
    """Return the expected errors on one example of vectors that are drawn: (kinds, limits)."""
    steps = row[vectors["log_row"]] * vectors["log_step"]
    ends = vectors["log_start"][1:-1]
    plain = [np.append(0.0, part.cumsum()) for part in np.split(steps, ends)]
    norms = (np.append(1.0, np.sqrt(part)) for part in np.split(vectors["log_norm"], ends))
    scaled = [found / norm for found, norm in zip(plain, norms, strict=True)]
    return np.array([1 - chances(scores, counts, label) for scores in (plain, scaled)])
