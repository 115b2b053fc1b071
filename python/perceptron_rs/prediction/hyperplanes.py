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
from perceptron_rs.rows.sparse_weights import dense


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
