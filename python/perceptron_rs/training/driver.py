"""Epochs: one loop for every learner, and all that is decided between two epochs.

The engine visits the examples; this module reports each epoch, and stops decisions. A decision is
one plane, or all planes of a joint decision, or all of a chain or network.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs import _core
from perceptron_rs.arrays.named import State, arrays_of
from perceptron_rs.engines import Engine, Run, RunState
from perceptron_rs.settings import Data, Epoch, Linear, Settings

#: Sees every whole epoch: its number, the mistakes (D,) and losses (D,) of the decisions, and the run.
#: Returns True to end it, or booleans (D,) to end some decisions.
Watch: TypeAlias = Callable[[int, NDArray[np.int64], NDArray[np.float64], Run], bool | NDArray[np.bool_]]

#: Given what has been learnt, says how much each decision loses on examples that are not learnt from, (D,).
#: The result of a run is then what each decision had learnt when it lost least, for the first time.
HeldOut: TypeAlias = Callable[[RunState], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long to learn.

    Parameters
    ----------
    first_epoch : int
        Number of the first epoch, for the orders and for errors.
    max_iter : int
        Largest number of epochs, at least 1.
    tol : float or None
        A decision ends when its objective has not improved by ``tol`` on the best one ``n_iter_no_change``
        times in a row: that of the epoch (the mean loss; the errors of a pocket), or the loss on what is
        held out.
    n_iter_no_change : int
    until_clean : bool
        Whether an epoch without a mistake ends a decision.
    """

    first_epoch: int = 0
    max_iter: int = 1
    tol: float | None = None
    n_iter_no_change: int = 5
    until_clean: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """What was learnt, and the numbers of the run: E epochs (of the decision that learnt longest), K planes.

    If examples are held out, each decision of the state is as it was after its best epoch; the numbers are
    those of all epochs.
    """

    state: RunState
    mistakes: NDArray[np.int64]  # (E, D): 0 after a decision has ended
    losses: NDArray[np.float64]  # (E, D): as the run tells them, 0.0 after a decision has ended
    n_iter: NDArray[np.int64]  # (D,)
    stopped: list[str]  # (D,): "clean", "tol", "max_iter", "callback" or "interrupt"
    tracked: State  # what the settings track, by name


@dataclass(frozen=True, slots=True, eq=False)
class DriveCall:
    """The arguments of a call of `drive`, and its report."""

    data: Data
    state: RunState
    settings: Linear
    first_epoch: int
    report: Report


_noted_calls: ContextVar[list[DriveCall] | None] = ContextVar("calls", default=None)


@contextmanager
def noted_calls() -> Iterator[list[DriveCall]]:
    """Collect the calls of `drive` for planes within this block."""
    calls: list[DriveCall] = []
    token = _noted_calls.set(calls)
    try:
        yield calls
    finally:
        _noted_calls.reset(token)


def are_noted() -> bool:
    """Whether somebody collects the calls of `drive`, who wants them as the caller gave them."""
    return _noted_calls.get() is not None


class StoppingRule:
    """Says when a decision has learnt enough."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.best, self.idle, self.epochs = math.inf, 0, 0

    def reason_to_end(self, mistakes: int, objective: float) -> str:
        """Return why a decision ends with this epoch, or nothing."""
        schedule = self.schedule
        self.epochs += 1
        if schedule.tol is not None:
            self.idle = self.idle + 1 if objective > self.best - schedule.tol else 0
        self.best = min(self.best, objective)
        if mistakes == 0 and schedule.until_clean:
            return "clean"
        if schedule.tol is not None and self.idle >= schedule.n_iter_no_change:
            return "tol"
        return "max_iter" if self.epochs == schedule.max_iter else ""


def drive(
    engine: Engine,
    data: Data,
    state: RunState,
    settings: Settings,
    schedule: Schedule,
    watch: Watch | None = None,
    held_out: HeldOut | None = None,
) -> Report:
    """Start a run and follow it; ``state`` is not modified."""
    report = follow(engine.start(data, state, settings), settings, schedule, watch, held_out)
    if isinstance(settings, Linear) and (calls := _noted_calls.get()) is not None:
        calls.append(DriveCall(data, state, settings, schedule.first_epoch, report))
    return report


def follow(
    run: Run,
    settings: Settings,
    schedule: Schedule,
    watch: Watch | None = None,
    held_out: HeldOut | None = None,
) -> Report:
    """Learn until every decision has ended.

    Raises
    ------
    OverflowError
        If a number is not finite (rule 9). The text names the epoch.
    ValueError
        If arguments do not fit together.
    KeyboardInterrupt
        If Ctrl-C came, unless ``keep_on_interrupt`` is set: then it ends the run.
    """
    if schedule.max_iter < 1:
        raise ValueError(f"max_iter must be at least 1, got {schedule.max_iter}")
    rules = [StoppingRule(schedule) for _ in range(settings.decisions)]
    stopped = ["" for _ in rules]  # why each decision has ended
    n_iter = np.zeros(len(rules), dtype=np.int64)  # and after how many epochs
    goes_on = list(range(len(rules)))
    epochs: list[Epoch] = []
    best = Best(len(rules))
    try:
        while goes_on:
            number = schedule.first_epoch + len(epochs)
            # In one call, so that Ctrl-C cannot come between an epoch and its record.
            epochs.extend(map(run.epoch, (number,)))
            made, loss, objective, interrupted = epochs[-1]
            if interrupted:
                break
            if held_out is not None:
                objective = best.update(run.state(), held_out, goes_on)
            for k in goes_on:
                stopped[k] = rules[k].reason_to_end(int(made[k]), float(objective[k]))
            if watch is not None:
                ends = np.broadcast_to(watch(number, made.copy(), loss.copy(), run), len(rules))
                stopped = [why or ("callback" if ends[k] else "") for k, why in enumerate(stopped)]
            ended = [k for k in goes_on if stopped[k]]
            for k in reversed(ended):  # the last ones are the cheapest to take out
                run.end(k)
                n_iter[k] = len(epochs)
            goes_on = [k for k in goes_on if not stopped[k]] if ended else goes_on
    except KeyboardInterrupt:
        if not settings.keep_on_interrupt:
            raise
    if held_out is not None and best.n_judged < len(epochs):  # each epoch has a score, also one cut short
        best.update(run.state(), held_out, goes_on)
    for k in reversed(goes_on):
        stopped[k] = stopped[k] or "interrupt"
        n_iter[k] = len(epochs)
        run.end(k)
    D = len(rules)
    return Report(
        state=run.state() if best.state is None else best.state,
        mistakes=np.array([epoch.mistakes for epoch in epochs], dtype=np.int64).reshape(-1, D),
        losses=np.array([epoch.losses for epoch in epochs]).reshape(-1, D),
        n_iter=n_iter,
        stopped=stopped,
        tracked=run.tracked(),
    )


#: Arrays that hold the entries of one plane after another, by the array that says where each plane's begin.
_ENTRIES_BY_START = {
    "log_start": ("log_row", "log_t", "log_step", "log_norm"),
    "kept_start": ("kept_row", "kept_number", "kept_step", "kept_factor"),
}


class Best:
    """The state of a run in which each decision is as it was after its best epoch so far."""

    state: RunState | None = None

    def __init__(self, decisions: int) -> None:
        self.losses = np.full(decisions, np.inf)
        self.n_judged = 0  # epochs

    def update(
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
    # The first is nobody else's. To take planes over twice, after Ctrl-C, does no harm.
    if (
        isinstance(first, _core.Model)
        and isinstance(second, _core.Model)
        and first.take_planes(second, np.flatnonzero(of_second).tolist())
    ):
        return first
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
        if name in _ENTRIES_BY_START:
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
    for start in _ENTRIES_BY_START:
        if start in first:
            lengths = np.where(of_second, np.diff(second[start]), np.diff(first[start]))
            both[start] = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return both


def _entry_ends(state: State, name: str, planes: int) -> NDArray[np.generic] | None:
    """Return where the entries of each plane begin, and the end; None if it has a row for each plane."""
    if name.startswith("swap_"):  # of the planes, one after another
        return np.searchsorted(state["swap_plane"], np.arange(planes + 1))
    for start, names in _ENTRIES_BY_START.items():
        if name == "kept_factor" and start == "kept_start":
            sizes = np.diff(state[start])  # the other policies have none: parts of nothing are nothing
            return np.concatenate([[0], np.cumsum(sizes * (sizes + 1) // 2)])
        if name in names:
            return state[start]
    return None
