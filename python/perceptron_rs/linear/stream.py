"""The vectors of a voted perceptron in a run over a stream."""

from __future__ import annotations

import numpy as np

from perceptron_rs.arrays.named import arrays_of, rows_in, without_rows
from perceptron_rs.engines import Engine, RunState, State
from perceptron_rs.linear.vectors import LAST, MistakeLog, Vectors, extended_vectors, newest_vectors
from perceptron_rs.rows.selection import select_rows
from perceptron_rs.settings import Data
from perceptron_rs.stream.run import Block, Carrier

_OF_STREAM = "stream_"


class VectorCarrier(Carrier):
    """The vectors of a run over a stream: in its state under names of their own, with the rows so far."""

    def __init__(self, engine: Engine, most: int | None, *, fit_intercept: bool) -> None:
        self.engine, self.most, self.fit_intercept = engine, most, fit_intercept

    def begin(self, block: Block, state: RunState) -> tuple[Data, RunState]:
        """Return what an engine starts with: a run begins with an empty log."""
        return super().begin(block, {name: state[name] for name in LAST})

    def end(self, block: Block, before: RunState, after: State) -> State:
        """Return the state with the mistakes of a block added to the log."""
        made = MistakeLog.of(after, block.data, fit_intercept=self.fit_intercept, first_row=block.first)
        vectors = extended_vectors(stream_vectors(arrays_of(before)), made)
        vectors = newest_vectors(vectors, self.engine, self.most)
        state = {name: w for name, w in after.items() if not name.startswith("log_")}
        return state | stream_state(vectors)


def stream_state(vectors: Vectors) -> State:
    """Return the vectors as they stand in the state of a run over a stream."""
    return {f"{_OF_STREAM}{name}": w for name, w in vectors.items()}


def stream_vectors(state: State) -> Vectors:
    """Return the vectors in the state of a run over a stream."""
    return {name.removeprefix(_OF_STREAM): w for name, w in state.items() if name.startswith(_OF_STREAM)}


def unique_rows(state: State) -> Vectors:
    """Return these vectors with each row stored once, as a run in memory leaves them; or nothing."""
    vectors = stream_vectors(state)
    if not vectors or len(vectors["log_row"]) == 0:
        return vectors
    _, entry, place = np.unique(vectors["log_origin"], return_index=True, return_inverse=True)
    rows = select_rows(rows_in(vectors), vectors["log_row"][entry])
    return without_rows(vectors) | rows | {"log_row": place.reshape(-1).astype(np.int64)}
