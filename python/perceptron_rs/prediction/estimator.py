"""Estimators: predictors that learn."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Self

from perceptron_rs.arrays.likes import MatrixLike
from perceptron_rs.arrays.named import of_own_type, settled_arrays
from perceptron_rs.audit.key import KeyGiven
from perceptron_rs.engines import Engine, LearntModel, RunState, State, get_engine
from perceptron_rs.estimator_attributes import check_is_fitted
from perceptron_rs.parameters.checks import check_values
from perceptron_rs.prediction.predictor import Predictor, of_this_version
from perceptron_rs.rows.examples import ValidatedRows, examples
from perceptron_rs.sklearn_base import BaseEstimator
from perceptron_rs.state.fitted_attributes import gathered, public_names
from perceptron_rs.state.fixed_parameters import check_choices, check_fixed_parameters
from perceptron_rs.state.learnt import RunLearnt
from perceptron_rs.state.turns import change

if TYPE_CHECKING:
    from collections.abc import Callable


class Estimator(Predictor, BaseEstimator):
    """A predictor that learns: it may not be fitted, and scikit-learn validates what it predicts.

    Nobody writes to the arrays of its model: those that a caller holds never change.
    """

    audit: bool
    audit_key: KeyGiven

    if TYPE_CHECKING:

        @property
        def fit(self) -> Callable[..., Self]:
            """Learn from examples, which are rows or sequences."""

    else:  # a type checker would take it as leave to read any name

        def __getattr__(self, name: str) -> Any:
            # Some attributes are computed from others, whose names no reader knows.
            if name.endswith("_") and not name.startswith("_") and not public_names(self):
                from sklearn.exceptions import NotFittedError  # an AttributeError: `hasattr` is False

                kind = type(self).__name__
                raise NotFittedError(
                    f"this {kind} instance is not fitted yet and has no {name}; call fit before you read it"
                )
            return object.__getattribute__(self, name)  # raises what it raised before

    __repr__ = BaseEstimator.__repr__

    def __sklearn_is_fitted__(self) -> bool:
        return bool(public_names(self))

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = of_this_version(self, state)
        if "_model" in state:
            arrays = of_own_type(state["_model"])
            state = state | {"_model": self._model_from(get_engine(state["engine"]), arrays)}
        vars(self).update(gathered(self, state))

    def __copy__(self) -> Self:
        twin = object.__new__(type(self))
        attributes = vars(self).copy()
        if (learnt := attributes.get("_learnt")) is not None:
            attributes["_learnt"] = learnt.own()
        twin.__dict__ = attributes
        return twin

    def _assert_ready(self) -> None:
        check_is_fitted(self, "classes_")  # without a name, all attributes are looked at
        check_fixed_parameters(self)
        check_choices(self)

    def _check_parameters(self, *, for_partial_fit: bool = False) -> None:  # noqa: ARG002
        """Raise ValueError for parameters that are not what they may be, alone or together."""
        check_values(self)

    def _examples(self, engine: Engine, X: MatrixLike) -> ValidatedRows:
        return examples(self, engine, X, reset=False)

    def _settled_state(self, names: Collection[str]) -> State:  # noqa: ARG002
        return {} if self._learnt.model is None else settled_arrays(self._model)

    def _set_state(self, state: State) -> None:
        self._publish(state)

    def _owned(self, engine: Engine, state: RunState) -> LearntModel:
        """Return a model, also of the arrays of a state, which nobody writes to from here on."""
        if not isinstance(state, dict):
            return state
        return self._model_from(engine, state)

    def _publish(self, state: RunState) -> None:
        """Set what has been learnt: a model, or the arrays of its state."""
        self._model = self._owned(get_engine(self.engine), state)


def begin_anew(estimator: Estimator, state: RunState) -> None:
    """Restart from this state, as if nothing had been learnt before."""
    change(
        estimator,
        model=estimator._owned(get_engine(estimator.engine), state),
        n_epochs=0,
        record=None,  # what training would leave
        **({"as_sparse": None} if isinstance(estimator._learnt, RunLearnt) else {}),
    )
