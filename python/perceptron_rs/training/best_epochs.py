"""What each decision had learnt in its best epoch, put together from the states of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from perceptron_rs import _core
from perceptron_rs.arrays.named import State, arrays_of
from perceptron_rs.engines import RunState

#: Arrays that hold the entries of one plane after another, by the array that says where each plane's begin.
_LISTS = {
    "log_start": ("log_row", "log_t", "log_step", "log_norm"),
    "kept_start": ("kept_row", "kept_number", "kept_step", "kept_factor"),
}


class Best:
    """The state of a run in which each decision is as it was after its best epoch so far."""

    state: RunState | None = None

    def __init__(self, decisions: int) -> None:
        self.losses = np.full(decisions, np.inf)
        self.n_judged = 0  # epochs

    def judge(
        self, state: RunState, held_out: Callable[[RunState], NDArray[np.float64]], goes_on: Sequence[int]
    ) -> NDArray[np.float64]:
        """Return the losses (D,) after an epoch; keep of the decisions that go on those that never lost less.

        Ctrl-C leaves all as it was, or as it is after this.
        """
        losses = held_out(state)
        better = np.zeros(len(losses), dtype=np.bool_)
        better[goes_on] = losses[goes_on] < self.losses[goes_on]
        best = self.state
        if best is None or better.all():
            best = state
        elif better.any():
            best = _joined(best, state, better)
        lowest, n_judged = np.where(better, losses, self.losses), self.n_judged + 1
        self.state, self.losses, self.n_judged = best, lowest, n_judged
        return losses


def _joined(first: RunState, second: RunState, of_second: NDArray[np.bool_]) -> RunState:
    """Return the state whose planes k are those of ``second`` where ``of_second[k]``, else of ``first``."""
    if isinstance(first, _core.Model) and isinstance(second, _core.Model):
        made = first.with_planes(second, np.flatnonzero(of_second).tolist())
        if made is not None:
            return made
    one, other = _alike(first, second)
    return spliced(one, other, of_second)


def _alike(*states: RunState) -> list[State]:
    """Return states as arrays of the same names: what is pending of a penalty may be 0 in one of them."""
    arrays = list(map(arrays_of, states))
    strengths = next((state["strengths"] for state in arrays if "strengths" in state), None)
    if strengths is None:
        return arrays
    pending = {"strengths": strengths, "ages": np.zeros(arrays[0]["coef"].shape, dtype=np.int64)}
    return [pending | state for state in arrays]


def spliced(first: State, second: State, of_second: NDArray[np.bool_]) -> State:
    """Return the state whose planes k are those of ``second`` where ``of_second[k]``, else of ``first``.

    Each plane is a decision by itself, and both are states of one run.
    """
    both: State = {}
    for name in first:
        if name in _LISTS:
            continue  # where they begin is known last
        if name == "strengths":  # of both
            both[name] = first[name]
            continue
        begins, others = (_entry_ends(state, name, len(of_second)) for state in (first, second))
        if begins is None or others is None:
            whole = both[name] = np.empty_like(first[name])
            # Plane by plane: to choose number by number takes eight times as long.
            for k, is_second in enumerate(of_second.tolist()):
                whole[k] = (second if is_second else first)[name][k]
            continue
        parts = [
            second[name][others[k] : others[k + 1]] if is_second else first[name][begins[k] : begins[k + 1]]
            for k, is_second in enumerate(of_second.tolist())
        ]
        both[name] = np.concatenate(parts)
    for start in _LISTS:
        if start in first:
            lengths = np.where(of_second, np.diff(second[start]), np.diff(first[start]))
            both[start] = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return both


def _entry_ends(state: State, name: str, planes: int) -> NDArray[np.generic] | None:
    """Return where the entries of each plane begin, and the end; None if it has a row for each plane."""
    if name.startswith("swap_"):  # of the planes, one after another
        return np.searchsorted(state["swap_plane"], np.arange(planes + 1))
    for start, names in _LISTS.items():
        if name == "kept_factor" and start == "kept_start":
            sizes = np.diff(state[start])  # the other policies have none: parts of nothing are nothing
            return np.concatenate([[0], np.cumsum(sizes * (sizes + 1) // 2)])
        if name in names:
            return state[start]
    return None
