"""Predictors: a model, its classes, and the parameters that predicting reads.

An estimator is a predictor that also learns. A predictor alone, as `load_predictor` makes it of a file,
needs NumPy and an engine: nothing here, and in the modules ``predictor`` of families, imports scikit-learn
or SciPy.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.array_likes import MatrixLike
from perceptron_rs.choices import EngineName, Tie
from perceptron_rs.common.columns import unpacked
from perceptron_rs.common.last_call import canonical_strides
from perceptron_rs.common.rows.examples import ValidatedRows, examples_of_numbers
from perceptron_rs.common.schema import Array, SchemaMixin
from perceptron_rs.common.targets.planes import (
    check_classes,
    is_joint,
    is_multilabel,
    is_positive,
    label_matrix,
)
from perceptron_rs.common.turns import consistent
from perceptron_rs.engines import Engine, LearntModel, Model, State, get_engine
from perceptron_rs.errors import ArgumentError, overflow
from perceptron_rs.estimator_attributes import check_is_fitted
from perceptron_rs.float_mode import standard
from perceptron_rs.state import frozen

__all__ = ["Classifier", "LearntAttribute", "MistakeClassifier", "Predictor"]


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
            return vars(estimator)["_model"][name]
        except KeyError:
            kind = type(estimator).__name__
            raise AttributeError(f"{kind!r} object has no attribute {attribute!r}; fit it first") from None

    read.__name__ = attribute
    return LearntAttribute(read)


class Predictor(SchemaMixin):
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
    classes_: NDArray[np.generic]
    n_features_in_: int
    feature_names_in_: NDArray[np.generic]
    #: Whether y may be a matrix of labels.
    _learns_many: ClassVar[bool] = False
    #: Whether X has the columns of the model already, as readers of files make them of raw examples.
    _takes_columns: bool = False
    _model: LearntModel

    if not TYPE_CHECKING:  # some learners have a property
        _fixed = ()  # parameters that what has been learnt depends on

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        for part in cls._schema.parts if hasattr(cls, "_schema") else ():
            if isinstance(part, Array) and part.shown and not hasattr(cls, part.shown):
                setattr(cls, part.shown, learnt_attribute(part.shown, part.name))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.n_features_in_} features, {len(self.classes_)} classes>"

    def _assert_ready(self) -> None:
        """Raise if it cannot predict: an estimator may lack a fit, or have other parameters since."""

    def _examples(self, engine: Engine, X: MatrixLike) -> ValidatedRows:
        """Return examples as the engine has them, with the columns that it knows."""
        how = None if self._takes_columns else vars(self).get("_input")
        return examples_of_numbers(self, engine, X, how)

    def _check_prediction(self) -> None:
        """Raise ValueError for parameters that predict nothing together."""

    def __getstate__(self) -> dict[str, object]:
        return self._pickled(dict(vars(self)))

    def _pickled(self, attributes: dict[str, object]) -> dict[str, object]:
        """Replace in a copy of the attributes what only this process can have."""
        if "_average" in attributes:
            attributes["_average"] = []  # what has been read is no part of a model
        if "_model" in attributes:  # arrays: every library knows how to store, share and compare them
            attributes["_model"] = canonical_strides(self._packed())
        return attributes

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if "_model" in state:
            self._set_state(state["_model"])

    def _state(self) -> State:
        return dict(self._model.state())

    def _set_state(self, state: State) -> None:
        self._model = self._model_from(get_engine(self.engine), frozen(state))

    def _model_of(self, engine: Engine) -> LearntModel:
        """Return the model; one of this engine."""
        model = self._model
        return model if is_of(engine, model) else self._model_from(engine, model.state())

    def _model_from(self, engine: Engine, state: State) -> LearntModel:
        """Return a model of the arrays of its state, which may be packed."""
        return self._engine_model(engine, state)

    def _engine_model(self, engine: Engine, state: State) -> Model:
        return engine.Model.from_state(self._schema.algorithm, unpacked(state))


def is_of(engine: Engine, model: LearntModel) -> bool:
    """Whether a model is one of this engine."""
    return type(model) is cast("object", engine.Model)


class Classifier(Predictor):
    """A predictor of the class with the highest score."""

    @abstractmethod
    def decision_function(self, X: MatrixLike) -> NDArray[np.float64]:
        """Return the score of each example."""

    @abstractmethod
    def _judge(self, engine: Engine, data: ValidatedRows) -> NDArray[np.float64]:
        """Return what each example gets, (n, K)."""

    def _judged(
        self,
        X: MatrixLike,
        judge: Callable[[Engine, ValidatedRows], NDArray[np.float64]] | None = None,
    ) -> NDArray[np.float64]:
        """Return what each example of X gets, (n, K): finite, and of as many planes as the classes have."""
        with standard():
            self._assert_ready()
            engine = get_engine(self.engine)
            data = self._examples(engine, X)
            try:
                found = (judge or self._judge)(engine, data)
            except OverflowError as error:
                data.assert_finite(self)
                raise overflow(error) from None
            if not np.isfinite(found).all():
                data.assert_finite(self)
                self._assert_finite_weights()
        check_classes(self.classes_, found.shape[1])
        return found

    def _assert_finite_weights(self) -> None:
        """Raise ValueError for weights that lead from finite numbers to others."""

    def _scores(self, judged: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what ``decision_function`` shows of what examples get, (n, K)."""
        return judged.reshape(-1) if judged.shape[1] == 1 else judged

    @consistent
    def predict(self, X: MatrixLike) -> NDArray[np.generic]:
        """Predict the class of each example.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples, as for ``decision_function``.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            For two classes, ``classes_[1]`` if the score of ``decision_function`` is positive. Otherwise, the
            class with the largest score; in a tie, the first one.
        """
        scores = self.decision_function(X)
        return self._predicted(scores.reshape(len(scores), -1))

    def _predicted(self, scores: NDArray[np.float64]) -> NDArray[np.generic]:
        """Return the class that the scores (n, 1) or (n, K) speak for."""
        found: NDArray[np.generic] = self.classes_[self._decide(scores)]
        return found

    def _decide(self, scores: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the index of the class that the scores (n, 1) or (n, K) speak for."""
        if scores.shape[1] > 1:
            return cast("NDArray[np.intp]", np.argmax(scores, axis=1))
        return (scores[:, 0] > 0).astype(np.intp)


class MistakeClassifier(Classifier):
    """A classifier that learns by mistakes: ``tie`` says what a score of 0 is; it may learn many labels."""

    tie: Tie
    _learns_many: ClassVar[bool] = True

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
            For two classes, ``classes_[1]`` if the score of ``decision_function`` is positive (or 0, with
            ``tie="positive"``). Otherwise, the class with the largest score; in a tie, the first one. Of many
            labels, 1 for each label whose score is positive, and 0 else: a CSR matrix if ``fit`` was given
            a sparse one.
        """
        scores = self.decision_function(X)
        return self._predicted(scores.reshape(len(scores), -1))

    def _predicted(self, scores: NDArray[np.float64]) -> NDArray[np.generic]:
        """Return the class, or the labels, that the scores (n, 1) or (n, K) speak for."""
        found = self._decide(scores)
        if not self.multilabel_:
            return self.classes_[found]
        if label_matrix(self) == "sparse":
            from scipy.sparse import csr_matrix

            return cast("NDArray[np.generic]", csr_matrix(found))
        return found

    @property
    def multilabel_(self) -> bool:
        """Whether the examples had any number of labels."""
        check_is_fitted(self, "classes_")
        return is_multilabel(self)

    def _decide(self, scores: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the index of the class that the scores (n, 1) or (n, K) speak for; of labels, 0 or 1."""
        if is_multilabel(self):
            return is_positive(scores, self.tie).astype(np.intp)
        if scores.shape[1] == 1:
            return is_positive(scores[:, 0], self.tie).astype(np.intp)
        return super()._decide(scores)

    def _check_prediction(self) -> None:
        if is_joint(self) and self.tie != "mistake":
            raise ArgumentError(
                "{tie} is not available with {multi_class}",
                "set {tie}",
                values={"tie": self.tie, "multi_class": "joint"},
                settings={"tie": "mistake"},
            )

    def _scores(self, judged: NDArray[np.float64]) -> NDArray[np.float64]:
        if judged.shape[1] == 2 and not is_multilabel(self):  # a joint decision
            return judged[:, 1] - judged[:, 0]
        return super()._scores(judged)
