"""What linear learners share: fits in epochs, passes, predictions, and what they show of their models.

``_model`` is all that has been learnt, and what its last pass did. Its arrays are views that nobody writes
to: those that a caller holds never change, and while nobody does, a pass learns where they stand.
"""

from __future__ import annotations

from collections.abc import Collection
from types import ModuleType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.engines import Engine, LinearModel, RunState, State, get_engine
from perceptron_rs.errors import ArgumentError
from perceptron_rs.linear.parameters import LinearParameters
from perceptron_rs.linear.predictor import LinearPredictor, PackedModel
from perceptron_rs.models.exporting import Exported
from perceptron_rs.models.saving import save
from perceptron_rs.parameters.checks import shared_settings
from perceptron_rs.parameters.threads import n_threads
from perceptron_rs.prediction.estimator import begin_anew
from perceptron_rs.prediction.scoring import Scoring
from perceptron_rs.rows.examples import ValidatedRows
from perceptron_rs.rows.sparse import as_sparse, dense
from perceptron_rs.schema.columns import are_weights, spread_of
from perceptron_rs.settings import Linear
from perceptron_rs.sklearn_base import CallbackSupportMixin, fit_context
from perceptron_rs.state.turns import exclusive
from perceptron_rs.targets.planes import check_classes, joint_update, n_planes, positive_labels
from perceptron_rs.targets.weights import start_value
from perceptron_rs.training.feeders import InMemory
from perceptron_rs.training.train import Feeder, Trainable, train


class LinearLearner(LinearParameters, CallbackSupportMixin, Scoring, Trainable, LinearPredictor, Exported):
    """A linear classifier. A subclass gives its parameters (a dataclass) and its schema."""

    _fixed: ClassVar[tuple[str, ...]] = ()  # parameters that what has been learnt depends on

    n_seen_: NDArray[np.int64]

    @property
    def coef_(self) -> MatrixLike:
        """Weights that predict."""
        coef, learnt = self._model.coef, self._learnt
        # A pass makes weights dense.
        return as_sparse(coef) if learnt.as_sparse and learnt.model.last_pass is None else coef

    @coef_.setter
    def coef_(self, coef: object) -> None:
        start_from(self, coef=coef)

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Intercepts that predict."""
        return self._model.intercept

    @intercept_.setter
    def intercept_(self, intercept: object) -> None:
        start_from(self, intercept=intercept)

    def _weights_shown(self) -> list[tuple[str, str]]:
        """Return each class with its largest weights, for a notebook."""
        from perceptron_rs.linear.summary import shown
        from perceptron_rs.models.summary import rows_shown

        return rows_shown(shown(self, 5)["weights"])

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        *,
        coef_init: ArrayLike = None,
        intercept_init: ArrayLike = None,
        sample_weight: ArrayLike = None,
    ) -> Self:
        """Fit the model to X and y, in epochs, until a stopping criterion is met.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples. C-contiguous arrays and CSR matrices of float64, float32, float16, bfloat16, int8,
            uint8, int16, uint16 or int32 are read in place; anything else is converted once.
        y : array-like of shape (n_samples,), or {array-like, sparse matrix} of shape (n_samples, n_labels)
            Class labels: integers, booleans or strings, of at least two classes. Or many labels of each
            example: a matrix of 0 and 1, or of booleans, with two columns or more. Each label is then
            learnt as if it were fitted alone, and ``class_weight`` has the weights of 0 and 1.
        coef_init : array-like of shape (n_classes, n_features) or (n_features,), default=None
            Initial weights. For two classes, one row or a vector. Counters start from 0, as they do without
            ``warm_start``.
        intercept_init : array-like of shape (n_classes,), (1,) or (), default=None
            Initial intercepts. For two classes, one number.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the examples, at least 0. An update is multiplied by the weight of its example.
            Examples of weight 0 are ignored.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If an argument has an invalid shape, length or value, or if training overflows. The estimator
            then stays as it was before the call.
        TypeError
            If an argument does not contain numbers (or, for labels, numbers or strings).

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If ``max_iter`` ended the fit before the stopping criterion was met, unless ``tol`` is None; or
            if Ctrl-C ended it.
        """
        start = {"coef": coef_init, "intercept": intercept_init}
        train(self, InMemory("fit", X, y, sample_weight, start=start))
        return self

    save = save

    def _prediction_parameters(self) -> dict[str, object]:
        return {"learner": self._schema.learner, "tie": self.tie}

    def _settled_state(self, names: Collection[str]) -> dict[str, Any]:
        model = self._model
        if isinstance(model, PackedModel):
            return model.settled()
        return {
            name: spread_of(model, name) if are_weights(name) else model[name]
            for name in names
            if name in model
        }

    def _prediction_arrays(self) -> dict[str, Any]:
        model = self._model
        if isinstance(model, PackedModel):
            coef, intercept = model.few
            return {"coef_": model.spread(coef), "intercept_": intercept}
        return {"coef_": spread_of(model, None), "intercept_": model.intercept}

    @property
    def t_(self) -> int:
        """One more than the number of examples seen since the last cold start."""
        return int(self.n_seen_.max()) + 1

    def _start(self, feeder: Feeder) -> LinearModel:
        """Return the model to go on from: the present one, one of the start weights, or zeros."""
        engine, shape = feeder.engine, (n_planes(self, feeder.classes), self.n_features_in_)
        known = None
        if feeder.goes_on:
            check_classes(feeder.classes)
            known = self._model_of(engine)
            if known.shape != shape:
                raise ArgumentError(
                    f"{{data}} need weights of the shape {shape}, but {{estimator}} continues with weights "
                    f"of the shape {known.shape}",
                    "set {warm_start} or pass {X} with the same features",
                    cause="other terms",
                    settings={"warm_start": False},
                )
            if not feeder.start:
                return known
        numbers: State = {}
        for name, needed in (("coef", shape), ("intercept", shape[:1])):
            if name in feeder.start:
                numbers[name] = start_value(feeder.start[name], f"{name}_init", needed)
            elif known is not None:
                numbers[name] = known[name]
        return self._cold(engine, *shape, numbers)

    def _cold(self, engine: Engine, planes: int, columns: int, numbers: State) -> LinearModel:
        """Return the model of a cold start; missing numbers are 0."""
        model = engine.Model(self._schema.algorithm, planes, columns)
        if not numbers:
            return model
        return engine.Model.from_state(self._schema.algorithm, model.state() | numbers)

    def _settings(self, feeder: Feeder, **own: object) -> Linear:
        """Return the settings of a run; ``own`` are those that no other linear learner has."""
        return self._settings_of(
            feeder.weighed.planes,
            feeder.order,
            settle=feeder.method == "fit",
            track_activations=feeder.tracks,
            **own,
        )

    def _settings_of(self, planes: NDArray[np.float64], seed: int | None, **options: object) -> Linear:
        """Return settings with these weights of the planes; ``options`` are those that depend on the call."""
        return Linear(
            learner=self._schema.algorithm,
            positive=positive_labels(len(planes)),
            class_weight=planes,
            seed=seed,
            joint=joint_update(self),
            threads=n_threads(self, len(planes)),
            **shared_settings(self, Linear) | options,
        )

    def _activations(self, feeder: Feeder, state: RunState, examples: ValidatedRows) -> NDArray[np.float64]:
        return self._scores_under(self._owned(feeder.engine, state), examples.rows, n_threads(self))

    def _exports(self) -> ModuleType:
        from perceptron_rs.linear import exports

        return exports


@exclusive
def start_from(learner: LinearLearner, **start: Any) -> None:
    """Start anew from what is shown and these weights instead, as a fit with ``coef_init`` does."""
    known, engine = learner._learnt.model, get_engine(learner.engine)
    if known is not None:
        start, planes = {"coef": known.coef, "intercept": known.intercept} | start, known.shape[0]
    else:  # what is not given yet is 0
        planes = len(np.atleast_2d(dense(start["coef"]))) if "coef" in start else np.size(start["intercept"])
    coef = np.atleast_2d(dense(start.get("coef", np.zeros((planes, 0)))))
    intercept = start.get("intercept", np.zeros(planes))
    started = learner._cold(
        engine,
        planes,
        coef.shape[1],
        {
            "coef": start_value(coef, "coef_", (planes, coef.shape[1])),
            "intercept": start_value(intercept, "intercept_", (planes,)),
        },
    )
    begin_anew(learner, started)
