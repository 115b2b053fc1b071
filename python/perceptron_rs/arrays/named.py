"""What has been learnt, as arrays by name: what engines start from and return, and files and pickles hold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.csr import StoredRows

Floats: TypeAlias = NDArray[np.float64]
#: The columns and the values of a structure's features.
Features: TypeAlias = tuple[NDArray[np.int64], Floats]

#: What a learner has learnt: arrays by name, for K planes of d columns.
#:
#: linear      coef (K, d), intercept (K,), and the examples seen, seen int64 (K,)
#: averaged    and the sums u: coef_u (K, d), intercept_u (K,)
#: penalty     and the examples whose penalty on each weight is pending: ages int64 (K, d)
#: pocket      returns coef and intercept of the pocket, and also last_coef, last_intercept, pocket_errors
#:             (K,), pocket_run int64 (K,), and a list of swaps: swap_plane, swap_epoch, swap_t int64,
#:             swap_errors, swap_average int64 (0 or 1)
#: voted       returns also the log of the run, plane by plane: log_start int64 (K + 1,), where the M entries
#:             of each begin and end; log_row, log_t int64 (M,), log_step (M,)
#: kernel      starts from sums (K, n), S of each example, intercept, norm (K,), N, and seen; returns
#:             intercept, norm, seen, and the log with log_norm (M,), N after each entry
#: budget      seen, and G sets, K or one of a joint decision: kept_start int64 (G + 1,), where the M members
#:             of each begin and end; kept_row int64 (M,), their rows, those of the run after the stored ones;
#:             kept_number int64 (M,), the numbers of their mistakes, from 1; kept_step (M, 1), or (M, K) of a
#:             joint decision; kept_mistakes int64 (G,), kept_harm (G,); of "projectron" kept_factor, the
#:             factors of the Gram matrices by columns, each as long as it has entries (else empty)
#: chain       emission (d, K) and perhaps pair (d, K * K), in the form CSR as emission_indptr int64,
#:             emission_indices int32 and emission_data; transition (K, K), start and end (K,); the sums u of
#:             all these, with _u after each name; seen int64 (1,), the sequences seen
#: network     coef_0 (neurons, d), intercept_0 (neurons,), coef_1 (neurons, neurons before), ...
State: TypeAlias = dict[str, NDArray[Any]]


class StateOwner(Protocol):
    """An engine's model, as far as its arrays go."""

    def state(self) -> State:
        """Return all that it takes to go on."""

    def keys(self) -> Iterable[str]:
        """Return the names of its arrays."""

    def __getitem__(self, name: str) -> NDArray[Any]: ...


def arrays_of(state: State | StateOwner) -> State:
    """Return a state as arrays: runs of engines give a model, runs over blocks and partitions the arrays."""
    return state if isinstance(state, dict) else state.state()


def settled_arrays(model: StateOwner) -> State:
    """Return the arrays of a model with all pending penalties applied."""
    return {name: model[name] for name in model.keys()}  # noqa: SIM118  no mapping's methods


def canonical_strides(state: State) -> State:
    """Return arrays in C order with the usual strides, as libraries that hash or store arrays expect."""
    return {
        name: np.ascontiguousarray(array).reshape(-1).reshape(array.shape) for name, array in state.items()
    }


def frozen(state: State) -> State:
    """Make arrays that nobody else has read-only, with what they are views of, and return them."""
    for array in state.values():
        owner: Any = array
        while isinstance(owner, np.ndarray):
            owner.flags.writeable, owner = False, owner.base
    return state


#: How names of learnt vectors begin. A log may hold -0.0, and so may rows.
_VECTORS = ("coef", "dual_coef", "intercept", "emission", "pair", "transition", "start", "end")


def own_copies(state: State) -> State:
    """Return copies of arrays, for others may write to these; no number that is learnt is -0.0."""
    return frozen({name: _own_copy(name, array) for name, array in state.items()})


def _own_copy(name: str, array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype == np.float64 and are_zeros(array):
        return zeros(array.shape)
    copy = np.array(array)  # also a mapped file's becomes one of NumPy's own type
    if array.dtype == np.float64 and name.startswith(_VECTORS):
        bits = copy.view(np.int64)  # which no floating-point mode reads otherwise
        bits[bits == np.iinfo(np.int64).min] = 0
    return copy


def of_own_type(state: State) -> State:
    """Return arrays as NumPy's own type; those of a mapped file have another, which copies would keep."""
    return {name: np.asarray(array) for name, array in state.items()}


class OwnArrays:
    """A frozen dataclass whose arrays nobody can write to, also after it was pickled or copied."""

    def __post_init__(self) -> None:
        own(vars(self))

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(own(state))


def own(attributes: dict[str, Any]) -> dict[str, Any]:
    """Put read-only copies of arrays into a dict, and return it: others may write to these."""
    arrays = {name: value for name, value in attributes.items() if isinstance(value, np.ndarray)}
    if arrays:
        attributes.update(own_copies(arrays))
    return attributes


def rows_in(state: State) -> StoredRows:
    """Return the stored rows among the arrays of a state."""
    return {name: array for name, array in state.items() if name.startswith("rows")}


def without_rows(state: State) -> State:
    """Return the arrays of a state but its stored rows."""
    return {name: array for name, array in state.items() if not name.startswith("rows")}


def stored_values(stored: StoredRows) -> NDArray[np.generic]:
    """Return the values of stored rows, of any shape."""
    return stored["rows" if "rows" in stored else "rows_values"]


_ZERO = frozen({"0": np.array(0.0)})["0"]


def zeros(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return zeros to start from: one number with strides of 0, which takes no memory."""
    return np.broadcast_to(_ZERO, shape)


def are_zeros(array: NDArray[np.float64]) -> bool:
    """Whether the numbers are such zeros."""
    return array.size > 0 and not any(array.strides) and not array.flat[0]
