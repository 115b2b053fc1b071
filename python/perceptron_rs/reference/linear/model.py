"""What a learner has learnt: the arrays of a run's state; of a linear one, the passes that make new ones.

No array is written to after it has been given out, so what others hold never changes.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import State, own_copies
from perceptron_rs.float_mode import standard
from perceptron_rs.reference.linear.penalty import check_pending, settled, used_columns
from perceptron_rs.reference.linear.run import LEARNERS, Run, learner_of, linear_decisions, memory
from perceptron_rs.reference.rows import Rows, csr_rows, dense_rows, scores
from perceptron_rs.settings import Data, EpochPart, Linear


@dataclass(frozen=True)
class Rule:
    """What parameters say of a pass, and the classes of its labels."""

    settings: Linear
    classes: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Pass:
    """What a pass did."""

    mistakes: NDArray[np.int64]  # (1, D)
    mistakes_per_example: NDArray[np.int64] | None
    activations: NDArray[np.float64] | None
    note: Any

    @property
    def n_mistakes(self) -> int:
        """Mistakes of all decisions."""
        return int(np.add.reduce(self.mistakes, axis=None))


class Model:
    """See `perceptron_rs.engines.Model`."""

    def __init__(self, learner: str, planes: int, columns: int) -> None:
        shapes = {"coef": (planes, columns), "intercept": (planes,), "seen": (planes,)}
        self.learner, self.last_pass = learner, cast("Pass | None", None)
        #: With "ages", if penalties are pending, of the strengths ``due``: eta0, l1 and l2.
        self.numbers: State = {
            name: _shown(np.zeros(shapes[name.partition("_")[0]], np.int64 if name == "seen" else np.float64))
            for name in learner_of(learner).begins_with
        }
        self.due: tuple[float, ...] | None = None

    @classmethod
    @standard()
    def from_state(cls, learner: str, state: State) -> Model:
        """Copy the arrays of a state: others may write to them."""
        if learner not in LEARNERS:  # no pass of it learns in place
            model = cls.__new__(cls)
            vars(model).update(learner=learner, last_pass=None, due=None, numbers=own_copies(state))
            return model
        model = cls(learner, 0, 0)
        others = sorted(state.keys() - {*model.numbers, "ages", "strengths"})  # what a run has counted
        model.numbers = own_copies({name: state[name] for name in [*model.numbers, *others]})
        for name, numbers in model.numbers.items():
            if not np.isfinite(numbers).all():
                raise ValueError(f"{name} must hold finite numbers")
        if "ages" in state or "strengths" in state:
            for name in {"ages", "strengths"} - state.keys():
                raise ValueError(f"state lacks {name!r}, which the learner needs")
            model.due = tuple(state["strengths"].tolist())
            model.numbers["ages"] = _shown(state["ages"] + 0)
            check_pending(model.due, model.numbers)
        return model

    def state(self, columns: NDArray[np.int64] | None = None) -> State:
        """Return all that it takes to go on: of all columns, or of some."""
        now, some = self.copy(), slice(None) if columns is None else columns
        numbers = {name: x[:, some] if x.ndim == 2 else x for name, x in now.numbers.items()}
        return numbers | ({} if now.due is None else {"strengths": np.array(now.due)})

    def columns(self) -> NDArray[np.int64]:
        """Return the numbers of the columns in which anything has been learnt; they rise."""
        return used_columns(self.copy().numbers)

    def used(self, name: str | None) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the columns of weights that have anything, and these; of None, of what predicts."""
        weights = self.coef if name is None else self[name]
        columns = np.flatnonzero(weights.any(axis=0))
        return columns, np.ascontiguousarray(weights[:, columns])

    def keys(self) -> list[str]:
        """Return the names of its numbers."""
        return [name for name in self.numbers if name != "ages"]

    def __contains__(self, name: object) -> bool:
        return name in self.keys()

    @standard()
    def __getitem__(self, name: str) -> NDArray[Any]:
        if (model := self.copy()).due is not None and name == "coef":
            return _shown(settled(model.numbers, eta0=model.due[0], penalty=(model.due[1], model.due[2])))
        return model.numbers[name]

    @property
    def shape(self) -> tuple[int, int]:
        """Planes and columns."""
        return self.numbers["coef"].shape[0], self.numbers["coef"].shape[1]

    @property
    def is_zero(self) -> bool:
        """Whether all is as at a start from zeros."""
        is_start = len(self.numbers) == len(learner_of(self.learner).begins_with)
        return is_start and not any(numbers.any() for numbers in self.numbers.values())

    @property
    def coef(self) -> NDArray[np.float64]:
        """Weights that predict."""
        return self._answer()[0]

    @property
    def intercept(self) -> NDArray[np.float64]:
        """Intercepts that predict."""
        return self._answer()[1]

    @standard()
    def _answer(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        coef, intercept = learner_of(self.learner).predictor(self.copy())
        return _shown(coef), _shown(intercept)

    def copy(self, *, last_pass: bool = True) -> Model:
        """Return another one that learns on its own: also to read more than one thing of a moment."""
        model = copy.copy(self)
        vars(model).update({} if last_pass else {"last_pass": None})
        return model

    def scores(self, rows: Rows, *, threads: int) -> NDArray[np.float64]:
        """Activations (n, K) of every row under what predicts."""
        return scores(rows, *self._answer(), threads=threads)

    def first_largest(self, rows: Rows, *, threads: int) -> NDArray[np.int64] | None:
        """Plane with the first largest of these, of every row; None if not all are finite."""
        a = self.scores(rows, threads=threads)
        return a.argmax(axis=1).astype(np.int64) if np.isfinite(a).all() else None

    @standard()
    def learn(
        self,
        rule: Rule,
        rows: Rows,
        y: NDArray[Any],
        sample_weight: Any = None,
        owner: dict[str, Any] | None = None,
        turns: list[Any] | None = None,
        *,
        encoded: bool = False,
        track_activations: bool = False,
        note: object = None,
    ) -> bool:
        """Make one pass in order: the run of an epoch."""
        if turns is not None:
            return False  # others run between any two steps
        if isinstance(rows, np.ndarray):
            rows = dense_rows(rows)
        elif isinstance(rows, tuple):
            rows = csr_rows(*rows)
        if not encoded:
            if y.dtype.kind != rule.classes.dtype.kind:
                raise TypeError("y must be a vector of the kind of labels that classes_ has")
            known = rule.classes.tolist()
            y = np.array([known.index(label) for label in y.tolist()], dtype=np.uint32)
        weights = None if sample_weight is None else np.asarray(sample_weight).astype(np.float64)
        if weights is not None and not (weights > 0).all():
            raise ValueError("sample_weight must be above 0 in a pass of a model; use start")
        settings = replace(rule.settings, track_activations=track_activations)
        run = start_linear(Data(rows, y, weights), self, settings)
        for decision in range(len(mistakes := run.epoch(0).mistakes)):
            run.end(decision)
        learnt, tracked = run.state(), run.tracked().get
        last_pass = Pass(mistakes[np.newaxis], tracked("mistakes_per_example"), tracked("activations"), note)
        if owner is not None and owner["_learnt"].model is not self:
            return False
        # In one step: a signal finds all of a pass, or nothing.
        self.__dict__.update(numbers=learnt.numbers, due=learnt.due, last_pass=last_pass)
        return True


class ModelRun(Run):
    """A run whose state is a model."""

    def __init__(self, model: Model, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.model, self.last_part = model, cast("EpochPart | None", None)

    def part(self, number: int, losses: Any, data: Any = None, seed: Any = None) -> EpochPart:
        """Visit a part of an epoch; with data, by a run that begins with what this one has learnt."""
        run = self if data is None else start_linear(data, self.state(), replace(self.settings, seed=seed))
        for now, before in zip(run.decisions, self.decisions, strict=True):
            now.goes_on = before.goes_on
        done = super(ModelRun, run).part(number, losses)
        self.__dict__.update(run.__dict__, last_part=done)  # in one step, for a signal
        return done

    def state(self) -> Any:
        """Return what has been learnt so far."""
        numbers, penalty = super().state(), self.settings.penalty
        if penalty is not None and numbers["ages"].any():
            numbers["strengths"] = np.array([self.settings.eta0, *penalty])
        else:
            numbers.pop("ages", None)
        return Model.from_state(self.model.learner, numbers)


@standard()
def start_linear(data: Data, model: Model, settings: Linear) -> ModelRun:
    """Begin a run with what a model has learnt. Penalties of other strengths are applied before."""
    names = (*learner_of(model.learner).begins_with, "ages")
    state = {name: array for name, array in model.numbers.items() if name in names}
    strengths = None if settings.penalty is None else (settings.eta0, *settings.penalty)
    if model.due != strengths:
        state["coef"] = model["coef"]
        state.pop("ages", None)
    if strengths is not None and "ages" not in state:
        state["ages"] = np.zeros(model.shape, dtype=np.int64)
    return ModelRun(model, data.rows, linear_decisions(data, state, settings), settings, memory)


def _shown(numbers: NDArray[Any]) -> NDArray[Any]:
    numbers.flags.writeable = False
    return numbers
