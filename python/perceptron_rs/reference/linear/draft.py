"""Passes that are tried: what they change is told, and the model stays as it is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import State
from perceptron_rs.reference.linear.model import Model, start_linear
from perceptron_rs.reference.rows import Csr
from perceptron_rs.settings import Data, Epoch, Linear


class Draft:
    """See `perceptron_rs.engines.Draft`."""

    def __init__(self, model: Model) -> None:
        if model.due is not None:
            raise ValueError("model must have no penalty that is pending")
        self._model = model.copy()

    def learn(self, data: Data, settings: Linear, number: int) -> tuple[Epoch, State, State]:
        """Run an epoch that begins with the model."""
        if not (isinstance(data.rows, Csr) and settings.is_plain):
            raise ValueError(
                "a draft takes sparse rows, one thread, no penalty, and class weights above 0; use start"
            )
        run, before = start_linear(data, self._model, settings), self._model.numbers
        epoch, now = run.epoch(number), run.state().numbers
        differs = [(now[name] != before[name]).T for name in ("coef", "coef_u") if name in now]
        return epoch, _excerpt(now, np.flatnonzero(np.any(differs, axis=0))), run.tracked()

    def at(self, places: NDArray[np.int64]) -> State:
        """Numbers at these places, column by column."""
        return _excerpt(self._model.numbers, places)

    def put(self, now: State) -> None:
        """Put in others."""
        state = self._model.state()
        for name, numbers in now.items():
            if name in ("coef", "coef_u"):
                state[name] = state[name].T.copy()
                state[name].flat[now["places"]] = numbers
                state[name] = state[name].T
            elif name != "places":
                state[name] = numbers
        self._model = Model.from_state(self._model.learner, state)

    def model(self) -> Model:
        """Return what has been learnt."""
        return self._model.copy()


def _excerpt(numbers: State, places: NDArray[np.int64]) -> State:
    at = {name: x.T.ravel()[places] if x.ndim == 2 else x for name, x in numbers.items()}
    return at | {"places": places}
