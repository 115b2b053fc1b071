"""Numbers at some places of an array, and those of CSR matrices as such."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.csr import row_numbers
from perceptron_rs.arrays.named import Floats, State

#: Positions in an array, row by row; of a CSR matrix, the row times 2^32 plus the column. None: all.
Positions: TypeAlias = NDArray[np.int64] | None


class Entries(NamedTuple):
    """Weights at some places of an array, and the sums u that belong to them, if there are any."""

    places: Positions
    w: Floats
    u: Floats | None


def union(*numbers: Entries) -> NDArray[np.int64]:
    """Return the union of the places, sorted."""
    # Sorted runs are merged, which np.unique does not make use of.
    union = np.sort(
        np.concatenate([each.places for each in numbers if each.places is not None]), kind="stable"
    )
    is_new = np.ones(len(union), dtype=np.bool_)
    is_new[1:] = union[1:] != union[:-1]
    return union[is_new]


def filled(own: Entries, before: Entries) -> Entries:
    """Return the numbers ``before`` with our ``own`` in their places."""
    assert own.places is not None
    there = own.places if before.places is None else np.searchsorted(before.places, own.places)
    w = before.w.copy()
    w[there] = own.w
    if own.u is None or before.u is None:
        return Entries(before.places, w, None)
    u = before.u.copy()
    u[there] = own.u
    return Entries(before.places, w, u)


def from_csr(state: State, name: str) -> Entries:
    """Return the entries of a CSR matrix and of its sums, at the places of any of them."""
    entries = []
    for u in ("", "_u"):
        indptr, indices = state[f"{name}_indptr{u}"], state[f"{name}_indices{u}"]
        rows = row_numbers(indptr)
        entries.append((rows << 32 | indices, state[f"{name}_data{u}"]))
    places = union(*(Entries(own, values, None) for own, values in entries))
    vectors = []
    for own, values in entries:
        vectors.append(np.zeros(len(places)))
        vectors[-1][np.searchsorted(places, own)] = values
    return Entries(places, vectors[0], vectors[1])


def to_csr(numbers: Entries, name: str, rows: int) -> State:
    """Return the arrays of the CSR matrices that hold the numbers that are not 0."""
    matrices: State = {}
    for u, values in (("", numbers.w), ("_u", numbers.u)):
        if values is not None and numbers.places is not None:
            kept = np.flatnonzero(values)
            places = numbers.places[kept]
            ends = np.cumsum(np.bincount(places >> 32, minlength=rows))
            matrices[f"{name}_indptr{u}"] = np.concatenate([[0], ends]).astype(np.int64)
            matrices[f"{name}_indices{u}"] = (places & (2**32 - 1)).astype(np.int32)
            matrices[f"{name}_data{u}"] = values[kept]
    return matrices
