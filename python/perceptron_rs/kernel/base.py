"""What the kernel perceptrons share: fits and passes, predictions, and the mistaken examples they show."""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.arrays.named import rows_in, without_rows
from perceptron_rs.engines import LearntModel, RunState, State
from perceptron_rs.errors import ArgumentError
from perceptron_rs.estimator_attributes import attributes
from perceptron_rs.kernel.parameters import KernelLearnerParameters
from perceptron_rs.kernel.predictor import KernelLearnerPredictor, kernel_spec
from perceptron_rs.kernel.vectors import empty_log
from perceptron_rs.models.saving import save
from perceptron_rs.parameters.checks import shared_settings, validated
from perceptron_rs.parameters.threads import n_threads
from perceptron_rs.prediction.predictor import LearntAttribute
from perceptron_rs.prediction.scoring import Scoring
from perceptron_rs.rows.examples import ValidatedRows
from perceptron_rs.rows.selection import matrix_of
from perceptron_rs.schema.kernel_spec import check_square
from perceptron_rs.schema.mistake_log import plane_of_entries
from perceptron_rs.settings import Budget, Kernel
from perceptron_rs.sklearn_base import fit_context
from perceptron_rs.state.fixed_parameters import OF_KERNEL
from perceptron_rs.targets.planes import joint_update, n_planes
from perceptron_rs.targets.weights import CallWeights
from perceptron_rs.training.early_stopping import selected
from perceptron_rs.training.feeders import InMemory, predict_then_learn
from perceptron_rs.training.train import Feeder, Trainable, train

Value = TypeVar("Value", bound=np.generic)


class KernelLearner(KernelLearnerParameters, Scoring, Trainable, KernelLearnerPredictor):
    """A perceptron in the space of a kernel: its vectors are sums over mistaken examples.

    A subclass has its parameters (a dataclass) and its settings (``_settings``). ``_cold_arrays`` returns
    what it has at the vector 0, and ``_begin`` what an engine starts with. ``_keep`` keeps the log of
    mistakes of a run, with the rows that it names. ``_answer`` says what predicts.
    """

    #: Parameters, beside those of the kernel, that stay what they were when a run began.
    _fixed: ClassVar[tuple[str, ...]] = ("kernel", "multi_class")

    n_seen_: NDArray[np.int64]
    support_: NDArray[np.int64]

    @abstractmethod
    def _cold_arrays(self, planes: int) -> State:
        """Return the arrays of a cold start that this learner has beside the log."""

    @abstractmethod
    def _begin(self, feeder: Feeder) -> LearntModel:
        """Return what the engine starts with."""

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: ArrayLike, *, sample_weight: ArrayLike = None) -> Self:
        """Fit the model to X and y, in epochs, until a stopping criterion is met.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples. C-contiguous arrays and CSR matrices of float64, float32, float16, bfloat16, int8,
            uint8, int16, uint16 or int32 are read in place; anything else is converted once. With
            ``kernel="precomputed"``, the kernel values of all pairs of examples.
        y : array-like of shape (n_samples,), or {array-like, sparse matrix} of shape (n_samples, n_labels)
            Class labels: integers, booleans or strings, of at least two classes. Or many labels of each
            example: a matrix of 0 and 1, or of booleans, with two columns or more. Each label is then
            learnt as if it were fitted alone, and ``class_weight`` has the weights of 0 and 1.
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
        train(self, InMemory("fit", X, y, sample_weight))
        return self

    @validated
    def partial_fit(
        self, X: MatrixLike, y: ArrayLike, classes: ArrayLike = None, *, sample_weight: ArrayLike = None
    ) -> Self:
        """Make one pass over X and y in the given order, continuing from what was learnt before.

        Consecutive batches give the same model as one pass over all of them. Attributes that describe a fit
        (``n_iter_``, ``mistakes_per_epoch_``, ``n_mistakes_``, ``converged_``, ...) refer to this call
        alone. Not available with ``kernel="precomputed"``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples.
        y : array-like of shape (n_samples,), or {array-like, sparse matrix} of shape (n_samples, n_labels)
            Class labels, or a matrix of many labels.
        classes : array-like of shape (n_classes,), default=None
            All classes that will ever occur in y. Required in the first call, unless y is a matrix. Labels of
            the data say their type.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the examples, at least 0. An update is multiplied by the weight of its example.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If an argument has an invalid shape, length or value, if y contains a class that is not in
            ``classes_``, or if training overflows. The estimator then stays as it was before the call.
        TypeError
            If an argument does not contain numbers (or, for labels, numbers or strings).
        """
        train(self, InMemory("partial_fit", X, y, sample_weight, classes=classes))
        return self

    predict_then_learn = predict_then_learn
    save = save

    def _weigh(self, feeder: Feeder, sample: NDArray[np.float64] | None) -> CallWeights:
        feeder.data.assert_finite(self)
        return super()._weigh(feeder, sample)

    def _start(self, feeder: Feeder) -> LearntModel:
        """Return what was learnt before, or the vector 0; at a cold start the examples settle gamma."""
        engine, data = feeder.engine, feeder.data
        if not feeder.goes_on:
            rows = feeder.weighed.rows
            visited = data if rows is None else selected(engine, data, rows)
            planes = n_planes(self, feeder.classes)
            self._spec = kernel_spec(self, engine, visited.rows)
            empty = empty_log(planes, None if self.kernel == "precomputed" else self.n_features_in_)
            self._publish(empty | self._cold_arrays(planes) | {"seen": np.zeros(planes, dtype=np.int64)})
        if self.kernel == "precomputed":
            check_square(data.rows)
        self._seed = feeder.seed
        return self._begin(feeder)

    def _common_settings(self, feeder: Feeder, settings: type[Kernel | Budget]) -> dict[str, Any]:
        """Return the settings of a run that every kernel perceptron has."""
        return shared_settings(self, settings) | {
            "positive": feeder.positive,
            "class_weight": feeder.weighed.planes,
            "seed": feeder.order,
            "joint": joint_update(self),
            "track_activations": feeder.tracks,
            "kernel": self._spec,
            "threads": n_threads(self),
        }

    def _activations(self, feeder: Feeder, state: RunState, examples: ValidatedRows) -> NDArray[np.float64]:
        then = copy.copy(self)
        then._keep(feeder, state)
        return then._answers(feeder.engine, examples, then._answer())

    def _prediction_parameters(self) -> dict[str, object]:
        spec = self._spec
        return {
            "learner": self._schema.learner,
            "kernel": self.kernel if callable(self.kernel) else spec.name,
            "tie": self.tie,
            "multi_class": self.multi_class,
            **attributes(spec, OF_KERNEL.get(spec.name, ())),
        }

    def _prediction_arrays(self) -> State:
        """Return what predicts; rows are in the schema, in the order of the log, wherever they came from."""
        arrays = without_rows(self.predictor_)
        row, origin = arrays.pop("log_row"), arrays.pop("origin")
        if self._spec.name == "precomputed":  # a row is a column of the values that come
            arrays["origin"] = origin[row]
        return arrays

    def _assert_ready(self) -> None:
        super()._assert_ready()
        self._check_prediction()

    def _check_parameters(self, *, for_partial_fit: bool = False) -> None:
        super()._check_parameters(for_partial_fit=for_partial_fit)
        self._check_prediction()
        if for_partial_fit and self.kernel == "precomputed":
            raise ArgumentError(
                "{kernel} is not available with {partial_fit}",
                "use fit",
                cause="single pass",
                values={"kernel": "precomputed"},
            )

    @LearntAttribute
    def support_vectors_(self) -> MatrixLike:
        """The misclassified examples."""
        if self.kernel == "precomputed":
            return np.zeros((0, 0))
        return matrix_of(rows_in(self._vectors), self.n_features_in_)

    @LearntAttribute
    def dual_coef_(self) -> NDArray[np.float64]:
        """Sum of the steps on each of the misclassified examples."""
        return self._per_support(self._vectors["log_step"])

    @LearntAttribute
    def mistakes_per_support_(self) -> NDArray[np.int64]:
        """Number of updates on each of the misclassified examples."""
        return self._per_support(np.ones(len(self._vectors["log_row"]), dtype=np.int64))

    def _per_support(self, values: NDArray[Value]) -> NDArray[Value]:
        log = self._vectors
        sums = np.zeros((len(self.n_seen_), len(log["origin"])), dtype=values.dtype)
        planes = plane_of_entries(log)
        np.add.at(sums, (planes, log["log_row"]), values)
        return sums
