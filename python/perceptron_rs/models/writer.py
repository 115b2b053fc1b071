"""From an estimator to a model file."""

from __future__ import annotations

import copy
import os
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from perceptron_rs._core import ARITHMETIC_VERSION, __version__
from perceptron_rs.arrays.likes import imported
from perceptron_rs.arrays.scalars import check_among, number
from perceptron_rs.choices import WeightType, words
from perceptron_rs.errors import ArgumentError, with_article
from perceptron_rs.estimator_attributes import check_is_fitted, feature_names
from perceptron_rs.models.container import pack
from perceptron_rs.models.contents import contents_of
from perceptron_rs.models.document import CALIBRATION, LABELS, NARROW, ROUNDED, json_scalar
from perceptron_rs.models.files import path_of, write_to_open, write_whole
from perceptron_rs.models.training_record import collect_record
from perceptron_rs.models.values import (
    calibration_tensors,
    calibration_to_json,
    checked,
    classes_to_json,
    values_to_json,
)
from perceptron_rs.prediction.estimator import Estimator
from perceptron_rs.prediction.hyperplanes import hyperplanes
from perceptron_rs.recipe.learnt import learnt_recipe
from perceptron_rs.schema.schema import name_of
from perceptron_rs.state.learnt import learnt_of
from perceptron_rs.state.turns import change
from perceptron_rs.targets.planes import is_multilabel, label_matrix


def save(
    estimator: object,
    path: str | os.PathLike[str] | BinaryIO | None = None,
    *,
    dtype: WeightType | None = None,
    prune: float | None = None,
) -> bytes | None:
    """Save a fitted estimator, or a pipeline that ends with one, to a file that `~perceptron_rs.load` reads.

    The same as ``estimator.save(path)``. Of a pipeline of scikit-learn, the file also holds how its other
    steps make columns, and `~perceptron_rs.load` and `~perceptron_rs.load_predictor` take what the pipeline
    takes: they make the same columns, to the last bit. These steps may be ``HashingVectorizer``,
    ``CountVectorizer``, ``TfidfVectorizer``, ``TfidfTransformer``, ``OneHotEncoder``, ``StandardScaler``,
    ``MinMaxScaler``, ``MaxAbsScaler``, and a ``ColumnTransformer`` of these.

    Parameters
    ----------
    estimator : object
        A fitted learner of this package, or a fitted `sklearn.pipeline.Pipeline` whose last step is one.
    path : str, path object, binary file or None, default=None
        File to write; None: what a file would hold is returned.
    dtype : {"float32", "float16"} or None, default=None
        Of a linear model, the type to which weights are rounded.
    prune : float or None, default=None
        Of a linear model, columns whose weights are all below this in size are left out.

    Returns
    -------
    content : bytes or None
        What a file holds, if there is no path.

    Raises
    ------
    ValueError
        If the file cannot hold the estimator, a parameter or the classes; or a step of the pipeline, which
        the error names, with its parameter.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> import perceptron_rs
    >>> from perceptron_rs.models import save
    >>> pipeline = make_pipeline(TfidfVectorizer(), perceptron_rs.AveragedPerceptron())
    >>> content = save(pipeline.fit(["buy cheap watches", "see you soon"], ["spam", "ham"]))
    >>> perceptron_rs.load_predictor(content).predict(["cheap watches"]).tolist()
    ['spam']
    """
    if path is None:
        return bytes_of(estimator, dtype, prune)
    if isinstance(path, str | os.PathLike) or not hasattr(path, "write"):
        name: Any = path
        path_of(name)
        write_whole(name, bytes_of(estimator, dtype, prune))
    else:
        write_to_open(path, bytes_of(estimator, dtype, prune))
    return None


def bytes_of(estimator: object, dtype: WeightType | None = None, prune: float | None = None) -> bytes:
    """Return what a model file of an estimator holds."""
    pipeline = imported("sklearn.pipeline", "Pipeline")  # who has one has imported it
    if pipeline is not None and isinstance(estimator, pipeline):
        from perceptron_rs.recipe.pipeline import of_pipeline

        estimator = of_pipeline(estimator)
    name = name_of(estimator)
    if name is None or not isinstance(estimator, Estimator):
        kind = type(estimator)
        if not hasattr(kind, "get_params"):
            raise TypeError(
                f"estimator must be a learner or a pipeline that ends with one, got {estimator!r:.80}"
            )
        known = next((base.__name__ for base in kind.__mro__ if "_schema" in vars(base)), "")
        raise ValueError(
            f"{kind.__name__} is not one of the learners that a model file can hold; pickle it"
            + (f", or save {with_article(known)}" if known and known != kind.__name__ else "")
        )
    check_is_fitted(estimator)
    if dtype is not None or prune is not None:
        estimator = cast("Estimator", with_fewer_bits(estimator, dtype, prune))
    parameters = values_to_json(estimator.get_params(deep=False))
    checked(estimator)
    tensors, parts = contents_of(estimator)
    started, record = collect_record(estimator)
    document = {
        "arithmetic_version": ARITHMETIC_VERSION,
        "written_by": f"perceptrons {__version__}",
        "estimator": name,
        "parameters": parameters,
        "classes": classes_to_json(estimator.classes_),
        **parts,
        **record,
    }
    if is_multilabel(estimator):
        document[LABELS] = label_matrix(estimator)
    names = feature_names(estimator)
    if names is not None:
        document["feature_names"] = [json_scalar(name) for name in np.asarray(names).tolist()]
    base, recipe = learnt_of(estimator).column_base, learnt_recipe(estimator)
    if base is not None:
        document["column_base"] = base
    if recipe is not None:
        document["input"] = recipe.to_json()
        started = started | recipe.tensors()
    if (calibration := calibration_to_json(estimator)) is not None:
        document[CALIBRATION] = calibration
    if dtype is not None:
        narrow = {name: _narrowed(array) for name, array in tensors.items()}
        tensors = {name: array for name, (array, _) in narrow.items()}
        named = sorted(name for name, (_, is_narrow) in narrow.items() if is_narrow)
        document[ROUNDED] = {"dtype": dtype, "tensors": named}
    return pack(document, tensors | started | calibration_tensors(estimator))


def with_fewer_bits(model: Any, dtype: WeightType | None, prune: float | None) -> Any:
    """Return a copy of a linear model with rounded weights, and none in columns that have only small ones."""
    check_among("dtype", dtype, *words(WeightType), None)
    least = 0.0 if prune is None else number(prune)
    if least is None or not 0 <= least < np.inf:
        raise ValueError(f"prune must be a finite number of at least 0, got {prune!r:.80}")
    option = "dtype" if dtype is not None else "prune"
    planes = hyperplanes(model)
    if planes is None or getattr(getattr(type(model), "coef_", None), "fset", None) is None:
        raise ValueError(
            f"{option} is of the weights of linear models, and {with_article(type(model).__name__)} is none; "
            f"leave it out"
        )
    coef, smaller = planes[0].copy(), copy.copy(model)
    if prune is not None:
        coef[:, np.abs(coef).max(axis=0) < least] = 0.0
    if dtype is not None:
        with np.errstate(over="ignore"):
            coef = coef.astype(dtype).astype(np.float64)
        if not np.isfinite(coef).all():
            raise ArgumentError(
                "{dtype} does not hold the largest weight, {largest:.6g}",
                "set {dtype='float32'} or None, or scale the features up",
                values={"dtype": dtype},
                largest=np.abs(planes[0]).max(),
            )
    recipe, names, base = smaller._learnt.recipe, smaller._learnt.feature_names, smaller._learnt.column_base
    calibration = smaller._learnt.calibration  # of nearly the same scores
    smaller.coef_ = coef + 0.0  # no -0.0
    kept = hyperplanes(smaller)
    if kept is None or kept[0].tobytes() != (coef + 0.0).tobytes():
        raise ValueError(f"{option} is of learners that predict by one vector of weights; leave it out")
    change(smaller, recipe=recipe, feature_names=names, column_base=base, calibration=calibration)
    return smaller


def _narrowed(array: NDArray[np.generic]) -> tuple[NDArray[np.generic], bool]:
    """Return weights in the smallest type that holds them exactly."""
    if array.dtype == np.float64 and array.ndim == 2:
        for kind in NARROW:
            with np.errstate(over="ignore", invalid="ignore"):
                small = array.astype(kind)
            if small.astype(np.float64).tobytes() == array.tobytes():
                return small, True
    return array, False
