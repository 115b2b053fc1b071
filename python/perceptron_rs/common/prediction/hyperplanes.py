"""The hyperplanes of a classifier, ours or another library's.

Each learner of this package has ``predictor_``: all arrays that a prediction is computed from, by name.
Whatever shows, measures, exports or digests what predicts reads it there. Planes are ``coef`` and
``intercept``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.common.sparse_weights import dense
from perceptron_rs.sklearn_base import check_is_fitted

__all__ = ["hyperplanes"]


def hyperplanes(model: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return weights (K, d) and intercepts (K,) that a classifier predicts with; None if it has no planes."""
    check_is_fitted(model)
    if hasattr(type(model), "predictor_"):
        found = model.predictor_
    else:
        found = {name: getattr(model, f"{name}_", None) for name in ("coef", "intercept")}
    coef, intercept = found.get("coef"), found.get("intercept")
    if coef is None or intercept is None:
        return None
    return (
        np.ascontiguousarray(np.atleast_2d(dense(coef)), dtype=np.float64),
        np.atleast_1d(np.asarray(intercept, dtype=np.float64)),
    )
