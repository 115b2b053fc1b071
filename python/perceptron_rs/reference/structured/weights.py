"""The weights of a chain as they come and go: dense inside, sparse outside.

A matrix comes and goes in the form CSR, as ``emission_indptr``, ``emission_indices`` and
``emission_data``: most columns of a language have few weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import State
from perceptron_rs.reference.structured.chain import ChainWeights


def to_chain(state: State, columns: int, suffix: str = "") -> ChainWeights:
    """Return a copy of the weights of a state; ValueError if a shape does not agree.

    ``suffix`` tells weights and sums apart.
    """
    K = len(_get(state, f"start{suffix}"))
    if K == 0:
        raise ValueError("start must hold a weight for each label, got none")
    small = {}
    for name, shape in {"transition": (K, K), "start": (K,), "end": (K,)}.items():
        small[name] = _get(state, f"{name}{suffix}") + 0.0  # a copy; turns -0.0 into +0.0
        if small[name].shape != shape:
            raise ValueError(f"{name}{suffix} must have shape {shape}, got {small[name].shape}")
    pair = _dense(state, "pair", suffix, columns, K * K) if "pair_indptr" in state else None
    emission = _dense(state, "emission", suffix, columns, K)
    return ChainWeights(emission, **small, pair=None if pair is None else pair.reshape(-1, K, K))


def from_chain(w: ChainWeights, suffix: str = "") -> State:
    """Return a copy of the weights, by the names of a state."""
    state = _sparse(w.emission, "emission", suffix)
    small = {"transition": w.transition, "start": w.start, "end": w.end}
    state |= {f"{name}{suffix}": array.copy() for name, array in small.items()}
    if w.pair is not None:
        state |= _sparse(w.pair.reshape(len(w.pair), -1), "pair", suffix)
    return state


def _dense(state: State, name: str, suffix: str, columns: int, planes: int) -> NDArray[np.float64]:
    indptr, indices, data = (_get(state, f"{name}_{part}{suffix}") for part in ("indptr", "indices", "data"))
    if len(indptr) != columns + 1:
        raise ValueError(f"{name}_indptr must have {columns + 1} entries, got {len(indptr)}")
    if not indptr[0] == 0 <= indptr[-1] == len(indices) == len(data) or (np.diff(indptr) < 0).any():
        raise ValueError(f"{name}_indptr must rise from 0 to the number of weights, {len(indices)}")
    places = np.repeat(np.arange(columns), np.diff(indptr)) * planes + indices
    if ((indices < 0) | (indices >= planes)).any() or (np.diff(places) <= 0).any():
        raise ValueError(f"{name}_indices must rise within each column, from 0 to at most {planes - 1}")
    w = np.zeros(columns * planes)
    w[places] = data + 0.0
    return w.reshape(columns, planes)


def _sparse(w: NDArray[np.float64], name: str, suffix: str) -> State:
    """Return what is not 0 by its bits."""
    columns, planes = np.nonzero(np.ascontiguousarray(w).view(np.int64))
    ends = np.cumsum(np.bincount(columns, minlength=len(w)))
    return {
        f"{name}_indptr{suffix}": np.concatenate([[0], ends]).astype(np.int64),
        f"{name}_indices{suffix}": planes.astype(np.int32),
        f"{name}_data{suffix}": w[columns, planes],
    }


def _get(state: State, name: str) -> NDArray[Any]:
    if name not in state:
        raise ValueError(f"state lacks {name!r}, which the learner needs")
    return state[name]
