"""All vectors of a run of the kernel perceptron, as a log of mistakes and the rows that it names.

They are a dict of arrays, and none of these is ever changed in place. For K planes:

- ``log_start`` (K + 1,): where the entries of each plane begin and end;
- ``log_row`` (a stored row), ``log_t``, ``log_step`` (of the weights), ``log_bias`` (of the intercept) and
  ``log_norm`` (the squared norm after it) of each mistake;
- ``origin``: the row in X of each stored row;
- ``rows``: the stored rows; or, if they are sparse, ``rows_indptr``, ``rows_indices`` and ``rows_values``.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.csr import StoredRows
from perceptron_rs.arrays.named import rows_in
from perceptron_rs.engines import RunState, State
from perceptron_rs.rows.selection import concatenate_rows, select_rows
from perceptron_rs.schema.mistake_log import draw_vectors, plane_of_entries, survival_counts

#: How the names of these arrays begin.
OF_VECTORS = ("log", "origin", "rows")
_ENTRIES = ("log_row", "log_t", "log_step", "log_bias", "log_norm")
#: With precomputed kernel values, the number of stored rows alone matters.
_NO_ROWS: StoredRows = {"rows": np.zeros((0, 1), dtype=np.uint8)}


def empty_log(planes: int, columns: int | None) -> State:
    """Return an empty log; ``columns`` is None if no rows are stored."""
    whole = np.zeros(0, dtype=np.int64)
    return {
        "log_start": np.zeros(planes + 1, dtype=np.int64),
        "log_row": whole,
        "log_t": whole,
        "log_step": np.zeros(0),
        "log_bias": np.zeros(0),
        "log_norm": np.zeros(0),
        "origin": whole,
        "rows": _NO_ROWS["rows"] if columns is None else np.zeros((0, columns), dtype=np.uint8),
    }


def extended_log(vectors: State, log: RunState, read: StoredRows | None, *, fit_intercept: bool) -> State:
    """Return the vectors with those of a run, whose rows are stored as ``read``; None: none are stored."""
    if len(log["log_row"]) == 0:
        return vectors
    distinct, place = np.unique(log["log_row"], return_inverse=True)
    added = {
        "log_row": place.reshape(-1).astype(np.int64) + len(vectors["origin"]),
        "log_t": log["log_t"],
        "log_step": log["log_step"],
        "log_bias": log["log_step"] if fit_intercept else np.zeros(len(log["log_step"])),
        "log_norm": log["log_norm"],
    }
    order = np.argsort(np.concatenate([plane_of_entries(vectors), plane_of_entries(log)]), kind="stable")
    entries = {name: np.concatenate([vectors[name], added[name]])[order] for name in _ENTRIES}
    if read is None:
        rows = {"rows": np.zeros((len(vectors["origin"]) + len(distinct), 1), dtype=np.uint8)}
    else:
        rows = concatenate_rows(rows_in(vectors), select_rows(read, distinct))
    return (
        entries
        | rows
        | {
            "log_start": vectors["log_start"] + log["log_start"],
            "origin": np.concatenate([vectors["origin"], distinct]).astype(np.int64),
        }
    )


def vote_state(vectors: State, seen: NDArray[np.int64], seed: int) -> State:
    """Return what ``kernel_scores`` needs; every run starts from the vector 0."""
    first, counts = vectors["log_start"][:-1], survival_counts(vectors, seen)
    return {name: vectors[name] for name in (*_ENTRIES, "log_start")} | {
        "log_norm": np.insert(vectors["log_norm"], first, 0.0),
        "log_count": np.concatenate(counts),
        "intercept": np.zeros(len(first)),
        "seen": seen,
        "drawn": draw_vectors(counts, seed),
    }


def log_of(kept: State, classes: int) -> State:
    """Return the members as a log of mistakes, from which predictions are computed.

    The mistakes have their numbers in the place of t, and their vectors no norms.
    """
    start, steps = kept["kept_start"], kept["kept_step"]
    if steps.shape[1] == 1:
        members = [np.arange(begin, end) for begin, end in pairwise(start)]
        log_step = steps[:, 0]
    else:
        members = [np.flatnonzero(steps[:, k]) for k in range(classes)]
        log_step = np.concatenate([steps[entries, k] for k, entries in enumerate(members)])
    every = np.concatenate(members)
    return {
        "log_start": np.cumsum([0, *map(len, members)], dtype=np.int64),
        "log_row": kept["kept_row"][every],
        "log_t": kept["kept_number"][every],
        "log_step": log_step,
        "log_bias": np.zeros(len(every)),
        "log_norm": np.zeros(len(every)),
    }
