"""The weights of a chain: names, shapes, and the activations that they give a sequence.

A matrix comes and goes in the form CSR, as ``emission_indptr``, ``emission_indices`` and
``emission_data``: most columns of a language have few weights. Inside, it is dense: ``emission``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.settings import State

__all__ = ["check", "emissions", "names", "packed", "pairs", "unpacked"]

MATRICES = ("emission", "pair")


def names(state: State) -> list[str]:
    """Return the names of the weights; the sums u have the same with ``_u``."""
    with_pair = "pair" in state or "pair_indptr" in state
    return ["emission", "transition", "start", "end"] + (["pair"] if with_pair else [])


def check(state: State, columns: int, suffix: str = "") -> int:
    """Return the number of labels; raise ValueError if a shape does not agree."""
    labels = len(_get(state, f"start{suffix}"))
    if labels == 0:
        raise ValueError("start must hold a weight for each label, got none")
    shapes: dict[str, tuple[int, ...]] = {
        "transition": (labels, labels),
        "start": (labels,),
        "end": (labels,),
    }
    for name, shape in shapes.items():
        got = _get(state, f"{name}{suffix}").shape
        if got != shape:
            raise ValueError(f"{name}{suffix} must have shape {shape}, got {got}")
    for name in names(state):
        if name in MATRICES:
            planes = labels if name == "emission" else labels * labels
            check_matrix(name, *matrix(state, name, suffix), columns, planes)
    return labels


def matrix(
    state: State, name: str, suffix: str
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Return the three arrays of a matrix."""
    indptr, indices, data = (_get(state, f"{name}_{part}{suffix}") for part in ("indptr", "indices", "data"))
    return indptr, indices, data


def check_matrix(
    name: str,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float64],
    columns: int,
    planes: int,
) -> None:
    """Raise ValueError if the arrays are no matrix of that shape."""
    if len(indptr) != columns + 1:
        raise ValueError(f"{name}_indptr must have {columns + 1} entries, got {len(indptr)}")
    if not indptr[0] == 0 <= indptr[-1] == len(indices) == len(data) or (np.diff(indptr) < 0).any():
        raise ValueError(f"{name}_indptr must rise from 0 to the number of weights, {len(indices)}")
    places = np.repeat(np.arange(columns), np.diff(indptr)) * planes + indices
    if ((indices < 0) | (indices >= planes)).any() or (np.diff(places) <= 0).any():
        raise ValueError(f"{name}_indices must rise within each column, from 0 to at most {planes - 1}")


def unpacked(state: State, suffix: str = "") -> State:
    """Return the weights with dense matrices: emission (d, K), pair (d, K * K)."""
    labels = len(state[f"start{suffix}"])
    dense: State = {}
    for name in names(state):
        if name in MATRICES:
            indptr, indices, data = matrix(state, name, suffix)
            columns = len(indptr) - 1
            out = np.zeros((columns, labels if name == "emission" else labels * labels))
            out[np.repeat(np.arange(columns), np.diff(indptr)), indices] = data
            dense[f"{name}{suffix}"] = out
        else:
            dense[f"{name}{suffix}"] = state[f"{name}{suffix}"].copy()
    return dense


def packed(dense: State, suffix: str = "") -> State:
    """Return the inverse; what is 0 by its bits is left out."""
    state: State = {}
    for name in names(dense):
        w = dense[f"{name}{suffix}"]
        if name not in MATRICES:
            state[f"{name}{suffix}"] = w
            continue
        columns, planes = np.nonzero(w.view(np.int64))
        ends = np.cumsum(np.bincount(columns, minlength=len(w)))
        state[f"{name}_indptr{suffix}"] = np.concatenate([[0], ends]).astype(np.int64)
        state[f"{name}_indices{suffix}"] = planes.astype(np.int32)
        state[f"{name}_data{suffix}"] = w[columns, planes]
    return state


def emissions(rows: Any, numbers: NDArray[np.intp], w: State) -> NDArray[np.float64]:
    """Return ``e[t, y]``: the start weight is added to the first token's, the end weight to the last's."""
    e = np.stack([rows.dots(numbers, column) for column in w["emission"].T], axis=1)
    e[0] = e[0] + w["start"]
    e[-1] = e[-1] + w["end"]
    return e


def pairs(rows: Any, numbers: NDArray[np.intp], w: State) -> NDArray[np.float64]:
    """Return ``pair[t, y', y]``: the transition, which a row adds to where there are pair weights."""
    labels = len(w["start"])
    if "pair" not in w:
        return np.broadcast_to(w["transition"], (len(numbers), labels, labels))
    activations = np.stack([rows.dots(numbers, column) for column in w["pair"].T], axis=1)
    return activations.reshape(len(numbers), labels, labels) + w["transition"]


def _get(state: State, name: str) -> NDArray[Any]:
    if name not in state:
        raise ValueError(f"state lacks {name!r}, which the learner needs")
    return state[name]
