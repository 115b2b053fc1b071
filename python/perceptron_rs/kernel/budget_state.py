"""Members of the sets of a budgeted kernel perceptron, as arrays of the engines, and as a log of mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.csr import StoredRows
from perceptron_rs.arrays.named import State, arrays_of, rows_in, without_rows
from perceptron_rs.engines import Engine, RunState, rows_of
from perceptron_rs.rows.selection import concatenate_rows, select_rows
from perceptron_rs.settings import Data
from perceptron_rs.stream.run import Block, Carrier

if TYPE_CHECKING:
    from perceptron_rs.kernel.base import KernelLearner


def empty_sets(planes: int, width: int) -> State:
    """Return empty sets, with that many classes to a set."""
    sets, whole = planes // width, np.zeros(0, dtype=np.int64)
    return {
        "kept_start": np.zeros(sets + 1, dtype=np.int64),
        "kept_row": whole,
        "kept_number": whole,
        "kept_step": np.zeros((0, width)),
        "kept_mistakes": np.zeros(sets, dtype=np.int64),
        "kept_harm": np.zeros(sets),
        "kept_factor": np.zeros(0),
    }


def updated_sets(
    kept: State, before: StoredRows, origin: NDArray[np.int64], new: StoredRows, first_row: int = 0
) -> tuple[State, StoredRows, NDArray[np.int64]]:
    """Return the sets after a run, the rows of their members, and the number of each row in X.

    The run numbered the rows stored ``before``, which came from ``origin``, and then the ``new`` ones, the
    first of which is row ``first_row``.
    """
    distinct, place = np.unique(kept["kept_row"], return_inverse=True)
    old = distinct[distinct < len(origin)]
    fresh = distinct[len(old) :] - len(origin)
    rows = select_rows(before, old)
    if len(fresh):
        rows = concatenate_rows(rows, select_rows(new, fresh))
    origins = np.concatenate([origin[old], fresh + first_row]).astype(np.int64)
    return kept | {"kept_row": place.reshape(-1).astype(np.int64)}, rows, origins


class BudgetCarrier(Carrier):
    """The sets of a run over a stream: the members, their rows, and where these stand in the stream."""

    def __init__(self, model: KernelLearner, engine: Engine) -> None:
        self.model, self.engine = model, engine

    def begin(self, block: Block, state: RunState) -> tuple[Data, RunState]:
        """Return what an engine starts with."""
        block.data.assert_finite(self.model)
        arrays = arrays_of(state)
        rows = rows_of(self.engine, rows_in(arrays), self.model.n_features_in_)
        sets = {name: w for name, w in without_rows(arrays).items() if name != "origin"}
        return Data(block.data.rows, block.labels, block.weights, rows), sets

    def end(self, block: Block, before: RunState, after: State) -> State:
        """Return the state with the rows that are still named."""
        stored = rows_in(arrays_of(before))
        kept, rows, origin = updated_sets(after, stored, before["origin"], block.data.stored, block.first)
        return kept | rows | {"origin": origin}


def unique_members(state: State) -> tuple[State, StoredRows, NDArray[np.int64]]:
    """Return the sets of a run over a stream with each row stored once, as after a run in memory."""
    origin, index, place = np.unique(state["origin"], return_index=True, return_inverse=True)
    kept = {name: w for name, w in state.items() if name.startswith("kept")}
    kept["kept_row"] = place.reshape(-1).astype(np.int64)[kept["kept_row"]]
    return kept, select_rows(rows_in(state), index), origin
