"""Estimators with a model of the engine: what they have learnt, which they show as arrays and hand on.

Nobody writes to the arrays of a model: those that a caller holds never change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from perceptron_rs.array_likes import MatrixLike
from perceptron_rs.audit import RECORD
from perceptron_rs.audit.key import KeyGiven
from perceptron_rs.common.fixed_parameters import check_fixed_parameters
from perceptron_rs.common.last_call import OF_PASS, own_attributes
from perceptron_rs.common.prediction.predictor import Predictor
from perceptron_rs.common.rows.examples import ValidatedRows, examples
from perceptron_rs.common.turns import consistent, exchange, exclusive
from perceptron_rs.engines import Engine, LearntModel, RunState, State, get_engine
from perceptron_rs.estimator_attributes import check_is_fitted
from perceptron_rs.sklearn_base import BaseEstimator
from perceptron_rs.state import frozen, settled_arrays

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CallAttribute", "Fitted", "Owner"]


class CallAttribute:
    """An attribute of `OF_PASS`. After a pass its value is the model's; before one, what a fit has set."""

    def __init__(self, name: str) -> None:
        self.name, self.of_pass = name, OF_PASS[name]

    def __get__(self, estimator: BaseEstimator, kind: object = None) -> Any:
        if estimator is None:
            return self
        known, name = estimator.__dict__, self.name
        last_pass = known["_model"].last_pass if "_model" in known else None
        if last_pass is None:
            if name in known:
                return known[name]
        elif self.of_pass is not None and (value := self.of_pass(last_pass)) is not None:
            return value
        raise AttributeError(f"{type(estimator).__name__!r} object has no attribute {name!r}")

    def __set__(self, estimator: BaseEstimator, value: object) -> None:
        _end_pass(estimator)
        estimator.__dict__[self.name] = value

    def __delete__(self, estimator: BaseEstimator) -> None:
        _end_pass(estimator)
        try:
            del estimator.__dict__[self.name]
        except KeyError:
            raise AttributeError(self.name) from None


@exclusive
def _end_pass(estimator: BaseEstimator) -> None:
    """Let the estimator say itself what the last pass did, with a model that has no last pass."""
    known = estimator.__dict__
    if "_model" in known and known["_model"].last_pass is not None:
        before = known.copy()
        exchange(estimator, before, own_attributes(before))


class Fitted(Predictor, BaseEstimator):
    """An estimator as a predictor: it may not be fitted, and scikit-learn validates what it predicts."""

    audit: bool
    audit_key: KeyGiven

    if TYPE_CHECKING:

        @property
        def fit(self) -> Callable[..., Self]:
            """Learn from examples, which are rows or sequences."""

    __repr__, __getstate__, __setstate__ = (
        BaseEstimator.__repr__,
        BaseEstimator.__getstate__,
        BaseEstimator.__setstate__,
    )

    def _assert_ready(self) -> None:
        check_is_fitted(self, "classes_")  # without a name, all attributes are looked at
        check_fixed_parameters(self)

    def _check_parameters(self) -> None:
        """Raise ValueError for values that scikit-learn's look at single parameters lets through."""

    def _examples(self, engine: Engine, X: MatrixLike) -> ValidatedRows:
        return examples(self, engine, X, reset=False)


class Owner(Fitted):
    """An estimator of which ``_model`` is all that it has learnt.

    Its schema says which attributes show the arrays of the model.
    """

    def _settled_state(self) -> State:
        return settled_arrays(self._model)

    def _set_state(self, state: State) -> None:
        self._publish(state)

    @consistent
    def __getstate__(self) -> dict[str, object]:
        known = own_attributes(vars(self))
        state: dict[str, object] = super().__getstate__() | known
        for name in [name for name in OF_PASS if name not in known]:
            state.pop(name, None)
        state.pop("_rule", None)
        return self._pickled(state)

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "_model" in state:
            state = state | {"_model": self._model_from(get_engine(state["engine"]), state["_model"])}
        super().__setstate__(state)

    def __copy__(self) -> Self:
        found = object.__new__(type(self))
        vars(found).update(own_attributes(vars(self)))
        return found

    def _owned(self, engine: Engine, state: RunState) -> LearntModel:
        """Return a model, also of the arrays of a state, which nobody writes to from here on."""
        if not isinstance(state, dict):
            return state
        return self._model_from(engine, frozen(state))

    def _publish(self, state: RunState) -> None:
        """Have learnt this: a model, or the arrays of its state."""
        self._model = self._owned(get_engine(self.engine), state)

    def _begin_anew(self, state: RunState, **others: object) -> None:
        """Restart from this state, as if nothing had been learnt before; set other attributes, too."""
        before = vars(self).copy()
        changed = own_attributes(before)
        for name in ("_as_sparse", RECORD):  # what training would leave
            changed.pop(name, None)
        changed |= others | {"_n_epochs": 0, "_model": self._owned(get_engine(self.engine), state)}
        exchange(self, before, changed)
