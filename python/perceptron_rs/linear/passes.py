"""Passes over few rows: the settings of a pass are computed once for the same values of parameters."""

from __future__ import annotations

import sys
from dataclasses import fields
from operator import itemgetter
from typing import Any, ClassVar

import numpy as np
from numpy import ndarray

from perceptron_rs.array_likes import ArrayLike, MatrixLike
from perceptron_rs.audit.record import next_record
from perceptron_rs.common.fixed_parameters import check_fixed_parameters
from perceptron_rs.common.last_call import own_attributes
from perceptron_rs.common.options.groups import group_of
from perceptron_rs.common.parameters import are_accepted
from perceptron_rs.common.prediction.predictor import is_of
from perceptron_rs.common.sparse_weights import SparseWeights, as_sparse
from perceptron_rs.common.targets.planes import is_multilabel
from perceptron_rs.common.targets.weights import sample_weights
from perceptron_rs.common.training.train import Feeder
from perceptron_rs.common.turns import Turn, exchange, exclusive, turns
from perceptron_rs.engines import RunState, get_engine
from perceptron_rs.errors import overflow
from perceptron_rs.linear.base import LinearLearner

__all__ = ["PassLearner"]

#: Parameters that no pass reads: to compare them, too, would take time.
_OF_EPOCHS = frozenset(
    {
        *("max_iter", "n_iter_no_change", "tol", "shuffle", "random_state", "validation_fraction"),
        *("warm_start", "keep_on_interrupt", "mixing", "audit", "audit_key"),
    }
)
#: Types of X whose ``format`` is known: to ask for it takes as long as a tenth of a pass over one row.
_csr: set[type] = set()
#: Whether other threads wait while a short pass is made.
_IS_ATOMIC = getattr(sys, "_is_gil_enabled", lambda: True)()


class PassLearner(SparseWeights, LinearLearner):
    """A linear learner that a pass over a few examples makes better where its numbers stand."""

    _values: ClassVar[itemgetter[Any]]
    _model: Any  # a model of an engine, which learns, or a packed one, which has no ``learn``

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        parameters = [
            parameter.name for parameter in fields(group_of(cls)) if parameter.name not in _OF_EPOCHS
        ]
        cls._values = itemgetter("classes_", *parameters)

    @property
    def coef_(self) -> MatrixLike:
        """Weights that predict."""
        coef = self._model.coef
        # A pass makes weights dense and hides what vars still has: getattr says what holds. vars is quicker.
        is_shown_sparse = "_as_sparse" in vars(self) and getattr(self, "_as_sparse", False)
        return as_sparse(coef) if is_shown_sparse else coef

    @coef_.setter
    def coef_(self, coef: object) -> None:
        self._start_from(coef=coef)

    @exclusive
    def _show(self, *, sparse: bool) -> None:
        before = vars(self).copy()
        changed = own_attributes(before)
        changed.pop("_as_sparse", None)
        exchange(self, before, changed | ({"_as_sparse": True} if sparse else {}))

    def _publish(self, state: RunState) -> None:
        self.__dict__.pop("_as_sparse", None)
        super()._publish(state)

    def _rule_now(self) -> Any:
        """Return the settings of a pass; None if it has to go through `train`."""
        known = vars(self)
        try:
            values = self._values(known)
            if (kept := self._kept_rule(values)) is not None:
                return kept
            if self.callback is not None or self.verbose or self.class_weight == "balanced":
                return None
            if not are_accepted(self):
                return None  # the long way says which parameter is wrong
        except (KeyError, ValueError):  # unfitted; arrays
            return None
        check_fixed_parameters(self)
        engine = get_engine(self.engine)
        weights = self._class_weights_for(self.classes_, None)
        if not weights.all():
            return None
        settings = self._settings_of(weights, None, settle=False)
        # Of many labels no vector y says one.
        rule = engine.Rule(settings, self.classes_[:0] if is_multilabel(self) else self.classes_)
        values = tuple(dict(value) if type(value) is dict else value for value in values)
        self._rule = values, type(self.class_weight), rule
        return rule

    def _kept_rule(self, values: tuple[object, ...]) -> Any:
        """Return the settings of the last pass, if it had these values."""
        values_then, mapping, rule = vars(self).get("_rule", (None, None, None))
        try:
            # Another mapping may be equal, and is refused.
            return rule if values_then == values and type(self.class_weight) is mapping else None
        except ValueError:  # arrays of classes, where it was fitted again
            return None

    def _learn_unchecked(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike) -> bool:
        known = self.__dict__
        try:
            # Written out, as `_rule_now` is: a call takes as long as the comparison.
            model, kind, kept = known["_model"], type(X), known.get("_rule")
            if kept is None or kept[0] != self._values(known) or type(known["class_weight"]) is not kept[1]:
                rule = self._rule_now()
            else:
                rule = kept[2]
            if rule is None or known["audit"]:
                return False
            if kind is ndarray:
                rows: Any = X
            elif kind in _csr or X.format == "csr":
                _csr.add(kind)
                rows = (X.indptr, X.indices, X.data, X.shape[1])
            else:
                return False
            # No thread runs between these looks and the call: what has been published meanwhile is seen.
            is_current = _IS_ATOMIC and not turns and known["_model"] is model
            if is_current and model.learn(rule, rows, y, sample_weight):
                return True
            with Turn(self):
                rule = self._rule_now()
                learnt: bool = self._model.learn(rule, rows, y, sample_weight, turn=True)
                return learnt
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
            return False  # and nothing has changed: the long way converts, or says what is wrong

    def _learn_at_once(self, feeder: Feeder) -> bool:
        data, labels = feeder.data, feeder.labels
        planes = self._n_planes(feeder.classes)
        if not feeder.goes_on:
            if self.audit:
                return False
            self._publish(self._start(feeder))
        elif not is_of(feeder.engine, self._model) or self._model.shape != (planes, data.rows.shape[1]):
            return False  # the long way converts, or says what is wrong
        rule = self._rule_now()
        if rule is None:
            return False
        weights = sample_weights(feeder.sample_weight, labels)
        if weights is not None and not weights.all():
            return False
        record = next_record(self, data.stored, labels, weights) if self.audit else None
        if self.audit and record is None:
            return False
        try:
            self._model.learn(
                rule,
                data.rows,
                labels,
                weights,
                encoded=True,
                track_activations=feeder.tracks,
                note=record,
                turn=True,
            )
        except OverflowError as error:
            data.assert_finite(self)
            raise overflow(error, self._rate) from None
        if feeder.tracks:
            activations = self._model.last_pass.activations
            feeder.activations = np.zeros((0, planes)) if activations is None else activations
        return True
