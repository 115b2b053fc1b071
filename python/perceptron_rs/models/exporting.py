"""Estimators that become models of other libraries: of scikit-learn, and in the format ONNX."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.scalars import check_among
from perceptron_rs.errors import ArgumentError, warn_caller
from perceptron_rs.estimator_attributes import check_is_fitted
from perceptron_rs.probabilities import Calibration
from perceptron_rs.recipe.learnt import learnt_recipe
from perceptron_rs.recipe.scale import Scale
from perceptron_rs.state.learnt import learnt_of
from perceptron_rs.state.turns import consistent


@dataclass(frozen=True, slots=True)
class ExportedNetwork:
    """What a classifier computes: layers, one after another, and a decision about the last outputs."""

    #: Weights (outputs, inputs) and intercepts (outputs,) of each layer.
    layers: list[tuple[NDArray[np.float64], NDArray[np.float64]]]
    classes: NDArray[np.generic]
    #: Between two layers: "relu", "tanh" or "logistic".
    activation: str = ""
    #: Whether a score of exactly 0 speaks for the second of two classes.
    positive_at_zero: bool = False
    #: Whether the last outputs are those of a logistic function or a softmax.
    has_probabilities: bool = False
    #: What makes other probabilities of the scores.
    calibration: Calibration | None = None
    #: What is done to the columns first.
    scale: Scale | None = None


def network_of(estimator: Exported) -> ExportedNetwork:
    """Return what a fitted estimator computes; ValueError if that is no network."""
    check_is_fitted(estimator)
    network: ExportedNetwork = estimator._exports().network(estimator)
    return replace(network, scale=_scale_of(estimator), calibration=learnt_of(estimator).calibration)


def _scale_of(estimator: object) -> Scale | None:
    """Return how a model that was trained on files scales columns; ValueError if it makes them, too."""
    recipe = learnt_recipe(estimator)
    if recipe is None:
        return None
    if recipe.makes_columns:
        raise ArgumentError(
            "this {kind} was trained on texts or names, of which it makes columns, and other models have no "
            "such step",
            "predict with load_predictor, or with the command perceptrons predict",
            kind=type(estimator).__name__,
        )
    assert recipe.scale is None or isinstance(recipe.scale, Scale)  # others are of texts
    return recipe.scale


def take_over(estimator: Any, other: Any, but: tuple[str, ...] = ()) -> Any:
    """Give an estimator of scikit-learn the parameters of the same names, and what is known of columns."""
    known = estimator.get_params(deep=False)
    other.set_params(
        **{name: known[name] for name in other.get_params() if name in known and name not in but}
    )
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(estimator, name):
            setattr(other, name, getattr(estimator, name))
    return other


class Exported:
    """The methods ``to_sklearn`` and ``to_onnx``."""

    @abstractmethod
    def _exports(self) -> ModuleType:
        """Return the module of the family that says what it computes (``network``), and ``to_sklearn``."""

    @consistent
    def to_sklearn(self) -> Any:
        """Return a fitted estimator of scikit-learn that predicts the same.

        It has the same parameters, as far as it has parameters of these names, and can continue learning in
        scikit-learn's way. Its scores are equal up to rounding, since the installed BLAS adds up in its own
        order; they are equal to the last bit if all weights and features are integers. Labels can differ only
        where two scores, or a score and 0, are equal up to rounding.

        Returns
        -------
        estimator : `sklearn.linear_model.Perceptron` or another estimator
            `sklearn.linear_model.SGDClassifier` for `AveragedPerceptron`, `sklearn.svm.LinearSVC` for
            `MaxMarginClassifier`, `sklearn.neural_network.MLPClassifier` for `MultilayerPerceptron`. Of a
            model that the command trained with ``--scale``, a `sklearn.pipeline.Pipeline` of the scaler and
            one of these.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If no estimator of scikit-learn predicts the same; above all if the command trained the model on
            texts, or on names that it hashed.

        Warns
        -----
        UserWarning
            If the estimator is calibrated: its probabilities are not those of the result.
        """
        check_is_fitted(self)
        scale, converted = _scale_of(self), self._exports().to_sklearn(self)
        if learnt_of(self).calibration is not None:
            warn_caller(
                "the calibration stays behind, since estimators of scikit-learn hold none; calibrate with "
                "sklearn.calibration.CalibratedClassifierCV(FrozenEstimator(estimator)), or use to_onnx",
                UserWarning,
            )
        if scale is None:
            return converted
        from sklearn.pipeline import make_pipeline

        scaler = scale.scaler()
        if hasattr(converted, "feature_names_in_"):  # the scaler leaves no names
            scaler.feature_names_in_ = vars(converted).pop("feature_names_in_")
        return make_pipeline(scaler, converted)

    @consistent
    def to_onnx(self, *, exact: bool = False) -> Any:
        """Return a model in the ONNX format that predicts the same.

        The model is a small graph that computes in float64. Its input ``X`` is a dense float64 matrix. Its
        outputs are ``label``, ``scores`` (as ``decision_function`` returns them) and, if the estimator has
        them, ``probabilities`` (up to rounding: each runtime has its own exponential). Needs the package
        onnx: ``pip install onnx``.

        Parameters
        ----------
        exact : bool, default=False
            Whether the graph adds up in the order of this package. If True, labels and scores have the same
            bits as here in every runtime that follows IEEE 754, but take several times longer. Not
            available with the hidden layers "tanh" and "logistic". If False, the runtime adds up in its own
            order: scores are equal up to rounding, and to the last bit if all weights and features are
            integers. Labels can differ only where two scores, or a score and 0, are equal up to rounding.

        Returns
        -------
        model : onnx.ModelProto
            The model.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If no graph is offered for what the estimator computes, or for how the command made columns.
        ImportError
            If the package onnx is not installed.
        """
        from perceptron_rs.models.onnx import to_onnx

        check_among("exact", exact, True, False)
        return to_onnx(network_of(self), exact=bool(exact))
