"""Predictors: a model, its classes, and the parameters that predicting reads.

An estimator is a predictor that also learns. A predictor alone, as `load_predictor` makes it of a file,
needs NumPy and an engine: nothing here, and in the modules ``predictor`` of families, imports scikit-learn
or SciPy.
"""

from __future__ import annotations

import sys
import warnings
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from perceptron_rs._core import __version__
from perceptron_rs.arrays.likes import MatrixLike, as_users_have
from perceptron_rs.arrays.named import canonical_strides, of_own_type
from perceptron_rs.arrays.pieces import all_finite, pieces
from perceptron_rs.choices import EngineName, Tie
from perceptron_rs.engines import Engine, LearntModel, Model, State, get_engine
from perceptron_rs.errors import ArgumentError, named_overflow
from perceptron_rs.estimator_attributes import check_is_fitted
from perceptron_rs.float_mode import standard
from perceptron_rs.parameters.threads import n_threads
from perceptron_rs.probabilities import (
    Calibration,
    available,
    largest_decides,
    logarithms,
    of_scores,
)
from perceptron_rs.rows.examples import ValidatedRows, examples_of_numbers
from perceptron_rs.schema.columns import packed, unpacked
from perceptron_rs.schema.schema import Array, History, Schema
from perceptron_rs.state.fitted_attributes import Reported, Shown, flat, gathered, shown_by
from perceptron_rs.state.learnt import Learnt, RawInput, learnt_of
from perceptron_rs.state.turns import change, consistent, moment
from perceptron_rs.targets.planes import (
    check_classes,
    is_joint,
    is_multilabel,
    is_positive,
    label_matrix,
    n_planes,
)

if TYPE_CHECKING:
    from perceptron_rs.audit.record import Call


#: Of a pickle: which version has written it.
_VERSION = "_perceptrons_version"


def of_this_version(model: object, state: dict[str, Any]) -> dict[str, Any]:
    """Return the state of a pickle, and warn as scikit-learn does if another version has written it."""
    written, name = state.get(_VERSION, "before 1.0"), f"{type(model).__name__} of perceptrons"
    if written != __version__:
        warning: Warning = UserWarning(f"{name} {written} is unpickled by {__version__}; use files of save")
        if "sklearn" in sys.modules:  # who has not imported it waits for nothing
            from sklearn.exceptions import InconsistentVersionWarning

            versions = {"current_sklearn_version": __version__, "original_sklearn_version": written}
            warning = InconsistentVersionWarning(estimator_name=name, **versions)
        warnings.warn(warning, stacklevel=3)
    own = dict(state)
    own.pop(_VERSION, None)
    return own


class LearntAttribute(property):
    """An attribute that shows what has been learnt, and cannot be set."""

    def __set__(self, estimator: object, value: object) -> NoReturn:
        name = getattr(self.fget, "__name__", "it")
        raise AttributeError(
            f"{name} shows what this {type(estimator).__name__} has learnt and cannot be set; "
            "fit it again, or change a copy of the array"
        )


def learnt_attribute(attribute: str, name: str) -> LearntAttribute:
    """Return an attribute that shows the numbers of this name in a model."""

    def read(estimator: object) -> Any:
        try:
            return learnt_of(estimator).model[name]
        except (KeyError, TypeError):
            kind = type(estimator).__name__
            raise AttributeError(f"{kind!r} object has no attribute {attribute!r}; fit it first") from None

    read.__name__ = attribute
    return LearntAttribute(read)


class Predictor:
    """What has been learnt, in use: it predicts, and several threads may share it.

    `load_predictor` makes it of a file. It has the methods that the estimator in the file predicts with
    (``predict``; ``decision_function`` and ``predict_proba`` where the estimator has them; of sequences
    ``decode_scores``), which return the same bits, and needs neither scikit-learn nor SciPy.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the model knows them.
    """

    engine: EngineName
    n_jobs: int | None
    _schema: ClassVar[Schema]
    #: Whether ``_set_state`` takes weights of the columns that have any.
    _takes_packed: ClassVar[bool] = False
    #: What has been learnt, and the attributes that show it.
    _learnt: Learnt = Learnt()
    _shown: ClassVar[Mapping[str, str]]
    _is_ours: ClassVar[bool]  # a class of this package, not of a user
    _model = Shown[LearntModel]("model")
    classes_ = Shown[NDArray[np.generic]]("classes")
    n_features_in_ = Shown[int]("n_features")
    feature_names_in_ = Shown[NDArray[np.generic]]("feature_names")
    _multilabel = Shown[str]("label_matrix")
    _fixed_values = Shown[Mapping[str, object]]("fixed")
    _calls: Reported[tuple[Call, ...]] = Reported("record")
    recipe_ = Shown[RawInput]("recipe")
    _column_base = Shown[int]("column_base")
    # The report of the last call, of learners that learn in epochs.
    _n_epochs = Shown[int]("n_epochs")
    n_iter_ = Reported[int]("n_iter")
    n_iter_per_class_ = Reported[NDArray[np.int64]]("n_iter_per_class")
    n_mistakes_ = Reported[int]("n_mistakes")
    mistakes_per_epoch_ = Reported[NDArray[np.int64]]("mistakes_per_epoch")
    mistakes_per_example_ = Reported[NDArray[np.int64]]("mistakes_per_example")
    converged_ = Reported[bool]("converged")
    loss_curve_ = Reported[list[float]]("loss_curve")
    validation_scores_ = Reported[NDArray[np.float64]]("validation_scores")
    partition_report_ = Reported[list[Any]]("partition_report")
    _as_sparse = Reported[bool]("as_sparse")
    #: Whether y may be a matrix of labels.
    _learns_many: ClassVar[bool] = False
    #: Whether X has the columns of the model already, as the commands make them of files.
    _takes_columns: bool = False

    #: Parameters that what has been learnt depends on.
    if TYPE_CHECKING:

        @property
        def _fixed(self) -> tuple[str, ...]: ...

        # Each kind has those that its estimator has, with arguments of their own.
        def predict(self, *args: Any, **kwargs: Any) -> Any: ...  # noqa: D102
        def decision_function(self, *args: Any, **kwargs: Any) -> Any: ...  # noqa: D102
        def predict_proba(self, *args: Any, **kwargs: Any) -> Any: ...  # noqa: D102
    else:
        _fixed = ()

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        cls._shown = shown_by(cls, cls._learnt)
        cls._is_ours = cls.__module__.partition(".")[0] == "perceptron_rs"
        for part in cls._schema.parts if hasattr(cls, "_schema") else ():
            if isinstance(part, Array) and part.shown and not hasattr(cls, part.shown):
                setattr(cls, part.shown, learnt_attribute(part.shown, part.name))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.n_features_in_} features, {len(self.classes_)} classes>"

    def _assert_ready(self) -> None:
        """Raise if it cannot predict: an estimator may lack a fit, or have other parameters since."""

    def _examples(self, engine: Engine, X: MatrixLike) -> ValidatedRows:
        """Return examples as the engine has them, with the columns that it knows."""
        return examples_of_numbers(self, engine, X)

    def _check_prediction(self) -> None:
        """Raise ValueError for parameters that exclude each other in predictions."""

    def __getstate__(self) -> dict[str, object]:
        return _pickled(moment(self)) | {_VERSION: __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = of_this_version(self, state)
        vars(self).update(gathered(self, state | {"_model": None}))
        if "_model" in state:
            self._set_state(of_own_type(state["_model"]))

    def _state(self) -> State:
        """Return the arrays of the engine's model, from which it can continue."""
        return dict(self._model.state())

    def _set_state(self, state: State) -> None:
        """Take over the arrays of a model file that the engine's model holds."""
        model = self._model_from(get_engine(self.engine), state)
        change(self, model=model, calibration=self._learnt.calibration)

    def _model_of(self, engine: Engine) -> LearntModel:
        """Return the model; one of this engine."""
        model = self._model
        return model if is_of(engine, model) else self._model_from(engine, model.state())

    def _model_from(self, engine: Engine, state: State) -> LearntModel:
        """Return a model of the arrays of its state, which may be packed."""
        return engine.Model.from_state(self._schema.algorithm, unpacked(state))

    def _packed(self) -> State:
        """Return the arrays of `_state` for files and pickles, without columns that have nothing."""
        return packed(self._state())

    def _settled_state(self, names: Collection[str]) -> dict[str, Any]:  # noqa: ARG002
        """Return arrays of `_state`, those of these names at least, with all pending penalties applied."""
        return self._state()

    def _sizes(self, history: History) -> dict[str, int]:
        """Return the lengths of axes that are known."""
        planes = n_planes(self, self.classes_)
        decisions = 1 if is_joint(self) else planes
        sizes = {"K": planes, "D": decisions, "S": planes + 1, "d": history["n_features"]}
        return sizes | ({"E": history["n_iter"]} if "n_iter" in history else {})

    def _check_arrays(self, arrays: State, history: History) -> None:
        """Raise ValueError unless the arrays agree with each other, beyond types and shapes."""
        n_iter, mistakes = arrays.get("n_iter_per_class"), arrays.get("mistakes_per_epoch")
        if (n_iter is not None and n_iter.max() != history["n_iter"]) or (
            mistakes is not None and mistakes.sum() != history["n_mistakes"]
        ):
            raise ValueError("the history and the tensors disagree about the number of epochs or mistakes")

    def _document(self) -> dict[str, object]:
        """Return the parts of the description in a file that only this family has."""
        return {}

    def _restored(self, arrays: State, document: dict[str, object]) -> None:
        """Set what follows from a file, of which all else has been set; ValueError if that is not sound."""

    @abstractmethod
    def _prediction_parameters(self) -> dict[str, object]:
        """Return the parameters that predicting reads, for digests; values are JSON's, or functions."""

    def _prediction_arrays(self) -> dict[str, Any]:
        """Return what predicts, for digests: ``predictor_``, unless the arrays of the schema say it all."""
        return dict(self.predictor_)

    @property
    @abstractmethod
    def predictor_(self) -> State:
        """What predicts."""


def _pickled(seen: Predictor) -> dict[str, object]:
    """Return the attributes at a moment, without what only this process can have."""
    attributes = flat(seen)
    attributes.pop("_rule", None)
    if "_model" in attributes:  # arrays: every library knows how to store, share and compare them
        attributes["_model"] = canonical_strides(seen._packed())
    return attributes


def is_of(engine: Engine, model: LearntModel) -> bool:
    """Whether a model is one of this engine."""
    kind: object = engine.Model
    return type(model) is kind


def _check_calibrated(model: Any) -> None:
    """Raise AttributeError for a model that has no probabilities of its own, unless it is calibrated."""
    if learnt_of(model).calibration is None:
        raise AttributeError(
            f"{type(model).__name__!r} has predict_proba only after calibrate, and not when it has learnt "
            "on; call calibrate with examples that it has not learnt from"
        )


class Classifier(Predictor):
    """A predictor of the class with the highest score, or of many labels.

    ``tie`` says what a score of 0 is.
    """

    tie: Tie = "mistake"
    #: The methods whose scores are what the engine's model has, so that it may look for the largest itself.
    _scored_by: ClassVar[tuple[object, ...]] = ()

    calibration_ = Shown[Calibration]("calibration")

    @abstractmethod
    def decision_function(self, X: MatrixLike) -> NDArray[np.float64]:
        """Return the score of each example."""

    @abstractmethod
    def _judge(self, engine: Engine, data: ValidatedRows) -> NDArray[np.float64]:
        """Return what each example gets, (n, K)."""

    def _assert_finite_weights(self) -> None:
        """Raise ValueError for weights that are not finite, or that make finite examples overflow."""

    @consistent
    def predict(self, X: MatrixLike) -> NDArray[np.generic]:
        """Predict the class of each example.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples, as for ``decision_function``.

        Returns
        -------
        y : ndarray of shape (n_samples,), or {ndarray, sparse matrix} of shape (n_samples, n_labels)
            For two classes, ``classes_[1]`` if the score of ``decision_function`` is positive; what a score
            of 0 is, learners with ties say. Otherwise, the class with the largest score; in a tie, the first
            one. Of many labels, 1 for each label whose score is positive, and 0 else: a CSR matrix if
            ``fit`` was given a sparse one.
        """
        indices = _first_largest(self, X)
        if indices is not None:
            return self.classes_[indices]
        scores = self.decision_function(X)
        return predicted(self, scores.reshape(len(scores), -1))

    @available(_check_calibrated)
    @consistent
    def predict_proba(self, X: MatrixLike) -> NDArray[np.float64]:
        """Return the probability of each class, as ``calibrate`` has found it. Available after that.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples, as for ``decision_function``.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column for each class, in the order of ``classes_``. Rows sum to 1, up to rounding. With
            ``method="temperature"``, the largest one is that of the class that ``predict`` returns. Of many
            labels, the probability of each by itself. Both engines and all machines give the same bits.

        Raises
        ------
        AttributeError
            If there is no calibration: then there is no such method.
        ValueError
            As for ``decision_function``; also if a parameter that scores depend on has changed since.
        """
        return calibrated(self, X)

    @available(attrgetter("predict_proba"))
    @consistent
    def predict_log_proba(self, X: MatrixLike) -> NDArray[np.float64]:
        """Return the logarithm of the probability of each class. Available where ``predict_proba`` is.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples, as for ``decision_function``.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
            Those of ``predict_proba``; of 0 it is minus infinity.
        """
        return logarithms(get_engine(self.engine), self.predict_proba(X))

    @property
    def multilabel_(self) -> bool:
        """Whether the examples had any number of labels."""
        if not self._learns_many:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'multilabel_'")
        check_is_fitted(self, "classes_")
        return is_multilabel(self)

    def _check_prediction(self) -> None:
        if is_joint(self) and self.tie != "mistake":
            raise ArgumentError(
                "{tie} is not available with {multi_class}",
                "set {tie}",
                values={"tie": self.tie, "multi_class": "joint"},
                settings={"tie": "mistake"},
            )


def _first_largest(model: Classifier, X: MatrixLike) -> NDArray[np.int64] | None:
    """Return the index of the class of each example; None unless finite scores of three or more tell."""
    kind = type(model)
    if (kind.decision_function, kind._judge) != kind._scored_by:
        return None
    with standard():
        model._assert_ready()
        engine, learnt = get_engine(model.engine), model._model
        if not is_of(engine, learnt) or len(model.classes_) < 3 or is_multilabel(model):
            return None
        rows, planes = model._examples(engine, X).rows, cast("Model", learnt)
        if (len(model.classes_), rows.shape[1]) != planes.shape:
            return None
        try:
            return planes.first_largest(rows, threads=n_threads(model, rows.shape[0]))
        except OverflowError:  # of which the scores tell more
            return None


def judged(
    model: Classifier,
    X: MatrixLike,
    judge: Callable[[Engine, ValidatedRows], NDArray[np.float64]] | None = None,
) -> NDArray[np.float64]:
    """Return what each example of X gets, (n, K): finite, and of as many planes as the classes have."""
    with standard():
        model._assert_ready()
        engine = get_engine(model.engine)
        data = model._examples(engine, X)
        try:
            scores = (judge or model._judge)(engine, data)
        except OverflowError as error:
            data.assert_finite(model)
            raise named_overflow(error) from None
        if not all_finite(scores):
            data.assert_finite(model)
            model._assert_finite_weights()
    check_classes(model.classes_, scores.shape[1])
    return scores


def scores_of(model: Classifier, X: MatrixLike) -> NDArray[np.float64]:
    """Return what ``decision_function`` shows of what examples get."""
    scores = judged(model, X)
    if scores.shape[1] == 2 and not is_multilabel(model):  # a joint decision
        return scores[:, 1] - scores[:, 0]
    return scores.reshape(-1) if scores.shape[1] == 1 else scores


def predicted(model: Classifier, scores: NDArray[np.float64]) -> NDArray[np.generic]:
    """Return the class, or the labels, that the scores (n, 1) or (n, K) speak for."""
    decided, many = decide(model, scores), label_matrix(model)
    if many is None:
        return model.classes_[decided]
    if many == "sparse":
        from scipy.sparse import csr_matrix

        return cast("NDArray[np.generic]", as_users_have(csr_matrix(decided)))
    return decided


def decide(model: Classifier, scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the index of the class that the scores (n, 1) or (n, K) speak for; of labels, 0 or 1."""
    if is_multilabel(model):
        labels = np.empty(scores.shape, dtype=np.intp)
        for piece in pieces(*scores.shape):
            labels[piece] = is_positive(scores[piece], model.tie)
        return labels
    if scores.shape[1] == 1:
        return is_positive(scores[:, 0], model.tie).astype(np.intp)
    indices = np.empty(len(scores), dtype=np.intp)
    for piece in pieces(*scores.shape):
        indices[piece] = scores[piece].argmax(axis=1)
    return indices


def calibrated(model: Classifier, X: MatrixLike) -> NDArray[np.float64]:
    """Return the probabilities of a calibrated model."""
    calibration, now = model.calibration_, of_scores(model)
    if calibration.scores != now:
        then = ", ".join(f"{name}={value!r}" for name, value in calibration.scores.items())
        raise ArgumentError(
            f"{{{next(iter(now))}}} has changed since the calibration, which was of scores with {then}",
            "set it back, or calibrate again",
            values=now,
        )
    scores = model.decision_function(X)
    many = is_multilabel(model)
    with standard():
        probabilities = calibration.probabilities(get_engine(model.engine), scores, many=many)
    if many or calibration.method == "sigmoid":
        return probabilities
    return largest_decides(probabilities, decide(model, scores.reshape(len(scores), -1)))
