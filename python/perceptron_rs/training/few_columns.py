"""Sparse rows over the columns alone in which they have entries, for runs that give states in between."""

from __future__ import annotations

from typing import NamedTuple, Self, cast

import numpy as np

from perceptron_rs import _core
from perceptron_rs.arrays.csr import StoredRows
from perceptron_rs.arrays.named import stored_values
from perceptron_rs.engines import Engine, Model, Run, RunState, rows_of
from perceptron_rs.rows.examples import ValidatedRows
from perceptron_rs.schema.columns import COLUMNS, Places, is_by_column, repacked
from perceptron_rs.training.driver import Watch

#: Columns without entries are left out where they are so many times as many as those with entries.
_FEW = 2


class FewColumns(NamedTuple):
    """Rows of CSR over few columns, each in its lane: sums have the bits of those over all columns."""

    places: Places
    stored: StoredRows

    @classmethod
    def of(cls, stored: StoredRows, n_columns: int) -> Self | None:
        """Return the rows over the columns of their entries; None if these are not few, or not all finite."""
        if "rows_indices" not in stored:
            return None
        is_there = np.zeros(n_columns, dtype=np.bool_)
        is_there[stored["rows_indices"]] = True
        columns = np.flatnonzero(is_there)
        if _FEW * len(columns) > n_columns:
            return None
        places = Places(np.append(columns, n_columns))
        rows = places.rows(stored)
        return None if rows is None else cls(places, rows)

    def data(self, engine: Engine) -> ValidatedRows:
        """Return the rows as an engine has them."""
        rows = rows_of(engine, self.stored, self.places.width)
        return ValidatedRows(rows, stored_values(self.stored), self.stored["rows_indptr"], self.stored)

    def spread(self, state: RunState) -> RunState:
        """Return what a run that began with zeros has learnt: in all other columns there is nothing."""
        places = self.places
        if isinstance(state, _core.Model):
            whole = state.spread(places.columns, places.n_columns)
            if whole is not None:
                return whole
        if isinstance(state, dict):
            few = {
                name: np.ascontiguousarray(array[:, places.places]) if is_by_column(name, array) else array
                for name, array in state.items()
            }
        else:  # a run of the engine has given it
            few = cast("Model", state).state(places.places)
        return repacked(few | {COLUMNS: np.append(places.columns, places.n_columns)})

    def shown_to(self, watch: Watch) -> Watch:
        """Return what sees a run over few columns as if it were one over all."""
        return lambda number, mistakes, losses, run: watch(number, mistakes, losses, _Shown(run, self))


class _Shown:
    """A run whose states have all columns; see `perceptron_rs.engines.Run`."""

    def __init__(self, run: Run, few: FewColumns) -> None:
        self._run, self._few = run, few
        self.epoch, self.end, self.tracked = run.epoch, run.end, run.tracked

    def state(self) -> RunState:
        """Return what has been learnt so far, of all columns."""
        return self._few.spread(self._run.state())
