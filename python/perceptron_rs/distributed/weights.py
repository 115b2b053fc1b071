"""The common weights on their way to workers: whole once, and then what epochs have changed.

A worker that has the weights of an earlier epoch makes those of the next from what has changed. One that
comes later begins with the same whole weights and the same changes, so both have the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from perceptron_rs.arrays.named import State
from perceptron_rs.mixing import shares
from perceptron_rs.schema.columns import packed, unpacked
from perceptron_rs.settings import Chain, Epoch, Linear

#: Of more changes than that, workers are sent one for all.
_MOST = 16

T = TypeVar("T")


class EpochWeights:
    """The weights of an epoch; on each worker also the latest ones that it has computed from them.

    Parameters
    ----------
    state : dict of arrays
        What has been learnt before ``epoch``.
    epoch : int
        Number of the epoch that begins with it.
    """

    def __init__(self, state: State, epoch: int) -> None:
        self.state, self.epoch = state, epoch
        self._latest, self._lock = (epoch, state), Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        # What a worker makes of them is its own.
        return _received, (packed(self.state), self.epoch)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + state_bytes(self.state)

    def after(self, changes: Sequence[shares.Change]) -> State:
        """Return the weights after these changes, in their order. The arrays are not to be written to."""
        wanted = changes[-1].epoch + 1 if changes else self.epoch
        with self._lock:
            epoch, state = self._latest
            if epoch > wanted:  # asked by a task of an epoch that is over, whose worker was thought dead
                epoch, state = self.epoch, self.state
            for change in changes:
                if change.epoch >= epoch:
                    epoch, state = change.epoch + 1, shares.apply_change(state, change)
            self._latest = epoch, state
            return state


class Mixture(NamedTuple):
    """What the passes of an epoch have learnt, mixed, and the mistakes and seconds of each partition."""

    change: shares.Change
    epoch: Epoch
    mistakes: list[int]
    seconds: list[float]


def mixed(settings: Linear | Chain, state: State, each: Sequence[shares.Share], number: int) -> Mixture:
    """Mix what all passes of an epoch have learnt from a state."""
    whole = shares.reduce_tree(each, partial(shares.add_shares, state))
    change, epoch = shares.mixture(settings, state, whole, number)
    mistakes = [int(np.add.reduce(report.epoch.mistakes)) for report in whole.reports]
    return Mixture(change, epoch, mistakes, [report.seconds for report in whole.reports])


class SentWeights(Generic[T]):
    """What workers have been sent, and what the last epoch has led to.

    Parameters
    ----------
    send : callable
        Makes what it is given available to all workers, and returns what they find it by. Is told the epoch.
    """

    def __init__(self, send: Callable[[EpochWeights | shares.Change, int], T]) -> None:
        self._send = send
        self._weights: T | None = None
        self._changes: list[tuple[shares.Change, T]] = []
        self._last: tuple[State, shares.Change] | None = None

    def change(self, state: State) -> shares.Change | None:
        """Return what the last epoch changed, if this state is its result."""
        return self._last[1] if self._last is not None and self._last[0] is state else None

    def after(self, state: State, made: Mixture) -> tuple[State, Mixture]:
        """Apply a mixture to a state, remember the change, and return the new state and the mixture."""
        self._last = shares.apply_change(state, made.change), made.change
        return self._last[0], made

    def weights(self, state: State, change: shares.Change | None, epoch: int) -> tuple[T, list[T]]:
        """Send the weights of an epoch, or what they differ by from those before, if that is known.

        Returns
        -------
        weights, changes
            By what tasks find the `EpochWeights` and the changes, which give ``state`` together.
        """
        if change is None or self._weights is None or 2 * state_bytes(change) > state_bytes(state):
            return self._anew(state, epoch)
        made = [*(made for made, _ in self._changes), change]
        # They stay in the memory of each worker, beside the weights.
        if len(made) > _MOST or sum(map(state_bytes, made)) > state_bytes(state):
            change, self._changes = shares.combine_changes(state, made), []
            if 2 * state_bytes(change) > state_bytes(state):
                return self._anew(state, epoch)
        self._changes = [*self._changes, (change, self._send(change, epoch))]
        return self._weights, [sent for _, sent in self._changes]

    def _anew(self, state: State, epoch: int) -> tuple[T, list[T]]:
        self._changes, self._weights = [], self._send(EpochWeights(state, epoch), epoch)
        return self._weights, []


def _received(state: State, epoch: int) -> EpochWeights:
    return EpochWeights(unpacked(state), epoch)


def state_bytes(state: object) -> int:
    """Return the bytes of all arrays in it."""
    if isinstance(state, np.ndarray):
        return state.nbytes
    parts = state.values() if isinstance(state, dict) else state if isinstance(state, tuple) else ()
    return sum(map(state_bytes, parts))
