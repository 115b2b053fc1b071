"""What has been learnt: one object that never changes, put on an estimator by one assignment.

It never changes but for its model: a short pass learns where the numbers stand. The report of such a pass is
the model's (``last_pass``), so numbers and report change in one step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import own

if TYPE_CHECKING:
    from perceptron_rs.arrays.likes import MatrixLike
    from perceptron_rs.arrays.named import State
    from perceptron_rs.audit.record import Call
    from perceptron_rs.probabilities import Calibration


class RawInput(Protocol):
    """How columns were made of raw examples when a model was trained."""

    def columns_of(self, X: object) -> MatrixLike:
        """Return the columns of texts or dictionaries; X itself, if it has columns."""

    def scaled(self, X: object) -> MatrixLike:
        """Return columns of numbers as the model's were scaled."""


class Fitted(Protocol):
    """An estimator or a predictor, as its attributes, its schema and its examples see it."""

    @property
    def _shown(self) -> Mapping[str, str]: ...
    @property
    def _fixed(self) -> tuple[str, ...]: ...
    def _state(self) -> State: ...
    @property
    def n_features_in_(self) -> int:
        """Number of columns of X."""

    @property
    def converged_(self) -> bool:
        """Whether the last epoch was without a mistake."""


#: Values of fields as the report of a pass has them.
OfPass = Mapping[str, Callable[[Any], Any]]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Learnt:
    """What every learner has: the model of the engine, and what it knows of classes and columns."""

    model: Any = None
    classes: NDArray[np.generic] | None = None
    n_features: int | None = None
    feature_names: NDArray[np.generic] | None = None
    #: As what matrix many labels were given, "dense" or "sparse".
    label_matrix: str | None = None
    #: The parameters of ``_fixed`` with which it was learnt.
    fixed: Mapping[str, object] | None = None
    record: tuple[Call, ...] | None = None
    #: How raw examples become its columns, and the number of the first column in files.
    recipe: RawInput | None = None
    column_base: int | None = None
    #: What makes probabilities of the scores of this model; another model has none.
    calibration: Calibration | None = None
    #: What has been computed of the model since.
    memo: dict[object, Any] = field(default_factory=dict)
    #: Whether nobody learns with the model.
    is_moment: ClassVar[bool] = False

    of_pass: ClassVar[OfPass] = {"record": lambda last: last.note}

    def but(self, **changes: object) -> Self:
        """Return a copy with other values of some fields."""
        # As `dataclasses.replace` does, which takes ten times as long.
        of_model: dict[str, Any] = {"memo": {}, "calibration": None} if "model" in changes else {}
        values = {**vars(self), **of_model, **own(changes)}
        values.pop("is_moment", None)
        return self._of(values)

    def _of(self, values: dict[str, Any]) -> Self:
        copy = object.__new__(type(self))
        object.__setattr__(copy, "__dict__", values)  # filling the present one takes longer
        return copy

    def moment(self) -> Self:
        """Return a snapshot, which stays as it is while other threads make passes over the model."""
        if self.model is None or self.is_moment:
            return self
        return self._of(vars(self) | {"model": self.model.copy(), "is_moment": True})

    def reported(self) -> Self:
        """Return it with the report of the last pass in its fields; its model reports none."""
        if self.model is None or self.model.last_pass is None:
            return self
        model = self.model.copy()
        values = {name: of(model.last_pass) for name, of in self.of_pass.items()}
        return self.but(model=model.copy(last_pass=False), **self._of_model(), **values)

    def own(self) -> Self:
        """Return a copy for another estimator, with a model of its own to learn with."""
        if self.model is None:
            return self
        return self.but(model=self.model.copy(), **self._of_model()).reported()

    def _of_model(self) -> dict[str, Any]:
        """Return the fields that a copy of the model keeps, and a changed one must not."""
        return {"memo": self.memo, "calibration": self.calibration}

    def shown(self, name: str) -> Any:
        """Return a field, or what the last pass says of it."""
        if name in self.of_pass and self.model is not None and (last := self.model.last_pass) is not None:
            return self.of_pass[name](last)
        return vars(self).get(name)


def _no_report(last: object) -> None:  # noqa: ARG001
    return None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RunLearnt(Learnt):
    """What learners have that learn in epochs: the report of the last call, too."""

    #: Epochs run by fits since the last cold start.
    n_epochs: int | None = None
    n_iter: int | None = None
    n_iter_per_class: NDArray[np.int64] | None = None
    n_mistakes: int | None = None
    mistakes_per_epoch: NDArray[np.int64] | None = None
    mistakes_per_example: NDArray[np.int64] | None = None
    converged: bool | None = None
    loss_curve: list[float] | None = None
    validation_scores: NDArray[np.float64] | None = None
    #: Of a fit on a cluster.
    partition_report: list[Any] | None = None
    #: Whether ``coef_`` is shown as a sparse matrix; a pass makes it dense.
    as_sparse: bool | None = None

    of_pass: ClassVar[OfPass] = {
        **Learnt.of_pass,
        "n_iter": lambda last: 1,  # noqa: ARG005
        "n_iter_per_class": lambda last: np.ones_like(last.mistakes[0]),
        "n_mistakes": lambda last: last.n_mistakes,
        "mistakes_per_epoch": lambda last: last.mistakes,
        "mistakes_per_example": lambda last: last.mistakes_per_example,
        "converged": lambda last: last.n_mistakes == 0,
        **dict.fromkeys(("loss_curve", "validation_scores", "partition_report", "as_sparse"), _no_report),
    }


def learnt_of(model: object) -> Learnt:
    """Return what an estimator or a predictor has learnt; nothing, if it is another object."""
    learnt: Learnt = getattr(model, "_learnt", _NOTHING)
    return learnt


_NOTHING = Learnt()
