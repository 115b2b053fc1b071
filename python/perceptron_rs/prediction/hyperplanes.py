"""The hyperplanes of a classifier, ours or another library's.

Each learner of this package has ``predictor_``: all arrays that a prediction is computed from, by name.
Whatever shows, measures, exports or digests what predicts reads it there. Planes are ``coef`` and
``intercept``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.estimator_attributes import check_is_fitted
from perceptron_rs.prediction.predictor import Predictor
from perceptron_rs.rows.sparse import dense
from perceptron_rs.schema.columns import Spread


def hyperplanes(model: object) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return weights (K, d) and intercepts (K,) that a classifier predicts with; None if it has no planes."""
    check_is_fitted(model)
    if isinstance(model, Predictor):
        arrays = model.predictor_
        coef, intercept = arrays.get("coef"), arrays.get("intercept")
    else:
        coef, intercept = getattr(model, "coef_", None), getattr(model, "intercept_", None)
    if coef is None or intercept is None:
        return None
    return (
        np.ascontiguousarray(np.atleast_2d(dense(coef)), dtype=np.float64),
        np.atleast_1d(np.asarray(intercept, dtype=np.float64)),
    )


def columns_with_weights(model: object) -> NDArray[np.int64] | None:
    """Return the columns for which a classifier has weights other than 0; None if it has no planes."""
    planes = stored_hyperplanes(model)
    return None if planes is None else Spread.of(planes[0]).columns[:-1]


def stored_hyperplanes(model: object) -> tuple[NDArray[np.float64] | Spread, NDArray[np.float64]] | None:
    """Return what `hyperplanes` returns; weights of few columns take no room for the others."""
    arrays = model._prediction_arrays() if isinstance(model, Predictor) else {}
    return (arrays["coef_"], arrays["intercept_"]) if "coef_" in arrays else hyperplanes(model)
