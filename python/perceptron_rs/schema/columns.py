"""Weights (K, d) or (d,), stored without the columns of zeros: in files, pickles, checkpoints, predictors.

A state is packed if it holds ``columns``: the numbers of these columns, which rise, and last the number of
all. Its arrays of weights then have these columns alone. A column is left out if all bits of its weights are
0, so one with -0.0 stays. Penalties that are pending do not count: on a weight of 0 they change nothing.

To predict, columns get places: the n-th one of the columns j with the same j mod 8 gets the n-th place p with
that p mod 8. So each product is added to its own lane, in the same order as among all columns (rule 3).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.csr import csr_of, csr_renumbered, stored_csr
from perceptron_rs.engines import LinearModel, Model, State
from perceptron_rs.rows.selection import portable_values

Value = TypeVar("Value", bound=np.generic)

#: The array of a packed state.
COLUMNS = "columns"
#: Names of arrays of weights, whose last axis are the columns.
_WEIGHTS = re.compile(r"((vectors|stream|results_\d+)_)?(last_)?coef(_u)?")
_ROWS = re.compile(r"(vectors|stream)_rows(_indices)?")
#: Of each weight; without meaning where the weight is 0.
_OF_WEIGHTS = "ages"
#: A sum of eight lanes.
_LANES = 8
#: A table of all columns is made for so many times as many columns as there are entries to look up.
_TABLE = 16


def are_weights(name: str) -> bool:
    """Whether an array of a state holds weights."""
    return _WEIGHTS.fullmatch(name) is not None


def is_by_column(name: str, array: NDArray[np.generic]) -> bool:
    """Whether the last axis of an array of a state are the columns."""
    return array.ndim > 0 and (name == _OF_WEIGHTS or are_weights(name))


def packed(state: State, n_columns: int | None = None) -> State:
    """Return a state packed, where that takes at most half of its memory; else as it is.

    With ``n_columns``, only weights of so many: those of a kernel may be of others than the examples have.
    """
    names = [name for name, array in state.items() if is_by_column(name, array)]
    widths = {state[name].shape[-1] for name in names}
    if COLUMNS in state or len(widths) != 1 or n_columns not in (None, *widths):
        return state
    return _without_zeros(state, names, widths.pop(), None)


def packed_model(model: Model) -> State | None:
    """Return the state of a model of planes packed; None unless it is then at most half of it."""
    columns, n_columns = model.columns(), model.shape[1]
    weights = [array for name, array in model.state(columns[:0]).items() if is_by_column(name, array)]
    if not _is_small(sum(map(len, weights)), len(columns), n_columns):
        return None
    return model.state(columns) | {COLUMNS: np.append(columns, n_columns)}


def _is_small(planes: int, columns: int, n_columns: int) -> bool:
    return 2 * (planes + 1) * (columns + 1) <= planes * n_columns


def repacked(state: State) -> State:
    """Return a packed state without columns of zeros; unpacked, where `packed` packs nothing."""
    columns, few = state[COLUMNS], {name: array for name, array in state.items() if name != COLUMNS}
    names = [name for name, array in few.items() if is_by_column(name, array)]
    without_zeros = _without_zeros(few, names, int(columns[-1]), columns[:-1])
    return without_zeros if COLUMNS in without_zeros else unpacked(state)


def _without_zeros(
    state: State, names: Sequence[str], n_columns: int, own: NDArray[np.int64] | None
) -> State:
    """Pack a state if that saves half of it; ``own`` are the columns of its weights (None: all)."""
    planes, every = sum(len(_by_plane(state[name])) for name in names), n_columns if own is None else len(own)
    is_used = np.zeros(every, dtype=bool)
    for name in names:
        if name != _OF_WEIGHTS:
            is_used |= np.bitwise_or.reduce(_by_plane(state[name].view(np.int64)), axis=0) != 0
    for name, array in state.items():
        # Vectors made of stored rows use the columns of these rows.
        if rows := _ROWS.fullmatch(name):
            is_used |= (
                np.bincount(array, minlength=every) > 0 if rows[2] else portable_values(array).any(axis=0)
            )
    if _OF_WEIGHTS in state and not is_used.any():
        is_used[:1] = state[_OF_WEIGHTS].any()  # an age may be pending on weights that are still 0
    columns = np.flatnonzero(is_used)
    if not _is_small(planes, len(columns), n_columns):
        return state
    packed_arrays = {
        name: np.ascontiguousarray(array[..., columns]) if name in names else array
        for name, array in state.items()
    }
    numbers = columns if own is None else own[columns]
    return packed_arrays | {COLUMNS: np.append(numbers, n_columns).astype(np.int64)}


def unpacked(state: State) -> State:
    """Return a state with all columns; MemoryError if there is no room for them."""
    if COLUMNS not in state:
        return state
    columns = state[COLUMNS]
    whole_state = {name: array for name, array in state.items() if name != COLUMNS}
    for name, array in whole_state.items():
        if is_by_column(name, array):
            whole_state[name] = whole = spread(array, columns[:-1], int(columns[-1]))
            if name == _OF_WEIGHTS and len(columns) > 1:
                # An age that all weights share is shared by those of 0: the model then settles all at once.
                first = array[:, :1]
                np.copyto(whole, first, where=(array == first).all(axis=1, keepdims=True))
    return whole_state


def within(stored: State, columns: NDArray[np.int64]) -> State:
    """Return stored rows with those of a packed state alone; ValueError if they have entries in others."""
    columns = columns[:-1]
    if "rows" in stored:
        few = stored["rows"][:, columns]
        has_all, narrowed = np.count_nonzero(few) == np.count_nonzero(stored["rows"]), {"rows": few}
    else:
        indices = stored["rows_indices"]
        places = np.searchsorted(columns, indices)
        has_all = bool(np.isin(indices, columns).all())
        narrowed = {"rows_indices": places.astype(indices.dtype)}
    if not has_all:
        raise ValueError(f"the tensor {COLUMNS} lacks columns of the stored rows")
    return narrowed


def spread(array: NDArray[Value], places: NDArray[np.integer], width: int) -> NDArray[Value]:
    """Return an array of ``width`` columns with these in their places; memory of others is not touched."""
    try:
        whole = np.zeros((*array.shape[:-1], width), dtype=array.dtype)
    except (MemoryError, ValueError):  # ValueError: more than an address holds
        size = " x ".join(map(str, (*array.shape[:-1], width))) + " numbers"
        raise MemoryError(
            f"all weights take {size}, and there is no memory for them; predict sparse rows, which takes "
            f"the columns that have weights"
        ) from None
    whole[..., places] = array
    return whole


class Spread:
    """Weights (K, d) of which some columns are stored; as an array, it has all of them.

    Parameters
    ----------
    few : ndarray of shape (K, m), float64
        Those of the columns.
    columns : ndarray of shape (m + 1,), int64
        Those of a packed state.
    """

    def __init__(self, few: NDArray[np.float64], columns: NDArray[np.int64]) -> None:
        self.few, self.columns = few, columns
        self.dtype, self.shape = few.dtype, (len(few), int(columns[-1]))
        self.size = len(few) * self.shape[1]

    @classmethod
    def of(cls, weights: NDArray[Any] | Spread) -> Spread:
        """Return the columns of weights that hold something other than zeros."""
        n_columns = weights.shape[1]
        every = weights if isinstance(weights, Spread) else cls(weights, np.arange(n_columns + 1))
        is_used = every.few.any(axis=0)
        if is_used.all():
            return every
        return cls(every.few[:, is_used], np.append(every.columns[:-1][is_used], n_columns))

    def __array__(self, dtype: object = None, copy: object = None) -> NDArray[np.float64]:
        return spread(self.few, self.columns[:-1], self.shape[1])


def spread_of(model: LinearModel, name: str | None) -> Spread:
    """Return weights of a model of an engine, or those that predict."""
    columns, few = cast("Model", model).used(name)
    return Spread(few, np.append(columns, model.shape[1]))


def _by_plane(array: NDArray[np.generic]) -> NDArray[np.generic]:
    return array if array.ndim > 1 else array[np.newaxis]


def check_columns(columns: NDArray[np.generic], name: str = COLUMNS) -> int:
    """Return the number of all columns; ValueError unless these are the columns of a packed state."""
    if columns.dtype != np.int64 or columns.ndim != 1 or not len(columns):
        raise ValueError(f"the tensor {name} must be a vector of int64, of one number or more")
    if columns[0] < 0 or (np.diff(columns) <= 0).any():
        raise ValueError(f"the tensor {name} must hold numbers of columns that rise, and last that of all")
    return int(columns[-1])


class Places:
    """Where some of many columns stand side by side, each in its lane.

    Parameters
    ----------
    columns : ndarray of shape (m + 1,), int64
        Those of a packed state.
    """

    def __init__(self, columns: NDArray[np.int64]) -> None:
        self.columns, self.n_columns = columns[:-1], int(columns[-1])
        lanes = self.columns % _LANES
        self.places = np.zeros(len(lanes), dtype=np.int64)
        for lane in range(_LANES):
            own = np.flatnonzero(lanes == lane)
            self.places[own] = np.arange(len(own)) * _LANES + lane
        self.width = int(self.places.max(initial=-1)) + 1

    def weights(self, array: NDArray[np.generic]) -> NDArray[np.generic]:
        """Return columns of a packed state in their places."""
        return spread(array, self.places, self.width)

    def packed(self, state: State) -> State:
        """Return a state whose columns are in these places as a packed one."""
        few = {
            name: np.ascontiguousarray(array[:, self.places]) if is_by_column(name, array) else array
            for name, array in state.items()
        }
        return few | {COLUMNS: np.append(self.columns, self.n_columns)}

    def rows(self, stored: State) -> State | None:
        """Return rows of CSR with the entries of these columns alone, renumbered to their places.

        None if another column has a NaN or an infinity: times a weight of 0, it is no 0.
        """
        indptr, indices, values = csr_of(stored)
        places = self._find(indices)
        if not np.isfinite(portable_values(values[places < 0])).all():
            return None
        return stored_csr(*csr_renumbered(indptr, places, values))

    def _find(self, indices: NDArray[np.generic]) -> NDArray[np.int64]:
        """Return the place of each column; -1: it has none."""
        if self.n_columns <= _TABLE * len(indices):
            table = np.full(self.n_columns, -1, dtype=np.int64)
            table[self.columns] = self.places
            numbers: NDArray[np.int64] = table[indices]
            return numbers
        if not len(self.columns):
            return np.full(len(indices), -1, dtype=np.int64)
        index = np.minimum(np.searchsorted(self.columns, indices), len(self.columns) - 1)
        return np.where(self.columns[index] == indices, self.places[index], -1)
