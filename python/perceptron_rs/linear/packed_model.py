"""A model that holds the columns with weights alone, as files and pickles do, and predicts from them."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import settled_arrays
from perceptron_rs.engines import Engine, Model, State, get_engine
from perceptron_rs.schema.columns import COLUMNS, Places, Spread, is_by_column, spread, unpacked

Value = TypeVar("Value", bound=np.generic)


class PackedModel:
    """What a linear learner has learnt, of a packed state; it never changes.

    It has what a model of the engine has, but that it cannot learn: `whole` does. All columns stand in memory
    only when somebody asks for one of its arrays.

    Parameters
    ----------
    engine : Engine
        The engine of `whole`.
    learner : str
        As the engines call it.
    state : dict of str to ndarray
        See `perceptron_rs.schema.columns`.
    """

    last_pass = None

    def __init__(self, engine: Engine, learner: str, state: State) -> None:
        self.engine, self.learner = engine, learner
        self._places = Places(state[COLUMNS].copy())
        state = {
            name: self._places.weights(array) if is_by_column(name, array) else array
            for name, array in state.items()
            if name != COLUMNS
        }
        self._few = get_engine("rust").Model.from_state(learner, state)
        self.shape = int(self._few.shape[0]), self._places.n_columns
        self.intercept, self.is_zero = self._few.intercept, self._few.is_zero

    @cached_property
    def whole(self) -> Model:
        """A model of the engine with all columns."""
        return self.engine.Model.from_state(self.learner, unpacked(self.packed()))

    @property
    def few(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weights of some columns and intercepts that predict: all that are not 0."""
        return self._few.coef, self.intercept

    @property
    def coef(self) -> NDArray[np.float64]:
        """Weights that predict."""
        return self._shown(self._few.coef)

    def packed(self) -> State:
        """Return the state."""
        return self._places.packed(self._few.state())

    def settled(self) -> dict[str, Any]:
        """Return its numbers with all pending penalties applied; weights as `Spread`."""
        return {
            name: self.spread(array) if is_by_column(name, array) else array
            for name, array in settled_arrays(self._few).items()
        }

    def spread(self, weights: NDArray[np.float64]) -> Spread:
        """Return weights that stand in their places."""
        few = np.ascontiguousarray(weights[:, self._places.places])
        return Spread(few, np.append(self._places.columns, self._places.n_columns))

    def state(self) -> State:
        """Return all that it takes to go on, with all columns."""
        return dict(self.whole.state())

    def keys(self) -> list[str]:
        """Return the names of its numbers."""
        return self._few.keys()

    def __contains__(self, name: object, /) -> bool:
        return name in self._few

    def __getitem__(self, name: str, /) -> NDArray[Any]:
        array = self._few[name]
        return self._shown(array) if is_by_column(name, array) else array

    def _shown(self, array: NDArray[Value]) -> NDArray[Value]:
        whole = spread(array[:, self._places.places], self._places.columns, self._places.n_columns)
        whole.flags.writeable = False
        return whole

    def copy(self, *, last_pass: bool = True) -> Self:  # noqa: ARG002
        """Return the model, which never changes."""
        return self

    def scores(self, stored: State, threads: int) -> NDArray[np.float64] | None:
        """Return the activations (n, K) of rows under what predicts; None if that takes all columns."""
        rows = self._places.rows(stored) if "rows" not in stored else None
        if rows is None:
            return None
        indptr, indices, values = (rows[f"rows_{name}"] for name in ("indptr", "indices", "values"))
        own_rows = get_engine("rust").csr_rows(indptr, indices, values, self._places.width)
        return self._few.scores(own_rows, threads=threads)
