"""What a linear model file predicts with, read without scikit-learn, whose import takes seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs._core import ARITHMETIC_VERSION
from perceptron_rs.common.columns import COLUMNS, Places, check_columns, spread
from perceptron_rs.common.planes import n_planes
from perceptron_rs.common.schema import is_count
from perceptron_rs.engines import get_engine
from perceptron_rs.linear.schema import AVERAGED, PERCEPTRON, POCKET
from perceptron_rs.models.classes import classes_from_json
from perceptron_rs.models.values import Tensors

__all__ = ["Predictor", "predictor"]

_CSR = ("rows_indptr", "rows_indices", "rows_values")


@dataclass(frozen=True)
class _Parameters:
    multi_class: str


class Predictor:
    """Weights that judge rows of CSR, as the estimator does: the same scores and classes, to the last bit."""

    def __init__(
        self,
        classes: NDArray[Any],
        coef: NDArray[np.float64],
        intercept: NDArray[np.float64],
        tie: str,
        places: Places | None = None,
    ) -> None:
        self.classes_, self._tie, self._places = classes, tie, places
        self.n_features_in_ = coef.shape[1] if places is None else places.n_columns
        self._coef, self._intercept = coef if places is None else places.weights(coef), intercept

    def judge(self, rows: Any) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return the index of the class of each row, and what ``decision_function`` returns."""
        engine = get_engine("rust")
        arrays, coef, places = (rows.indptr, rows.indices, rows.data), self._coef, self._places
        few = None
        if places is not None:
            few = places.rows(dict(zip(_CSR, arrays, strict=True)))
            if few is None:
                coef = spread(coef[:, places.places], places.columns, places.n_columns)
        if few is not None:
            arrays = (few[_CSR[0]], few[_CSR[1]], few[_CSR[2]])
        found = engine.csr_rows(*arrays, coef.shape[1])
        scores = engine.scores(found, coef, self._intercept, threads=1)
        if len(self.classes_) > 2:
            return np.argmax(scores, axis=1), scores
        # One plane; or two of a joint decision.
        scores = scores[:, 0] if scores.shape[1] == 1 else scores[:, 1] - scores[:, 0]
        return (scores >= 0 if self._tie == "positive" else scores > 0).astype(np.intp), scores


def predictor(document: dict[str, Any], tensors: Tensors) -> Predictor | None:
    """Return it; None if the file needs the estimator: to be read, or to say what is wrong with it."""
    name, given, history = (document.get(part) for part in ("estimator", "parameters", "history"))
    schemas = {schema.learner: schema for schema in (PERCEPTRON, AVERAGED, POCKET)}
    if (
        name not in schemas
        or not isinstance(given, dict)
        or not isinstance(history, dict)
        or not is_count(history.get("n_features"))
        or document.get("arithmetic_version") != ARITHMETIC_VERSION
        or given.get("engine") != "rust"
        or given.get("tie") not in ("mistake", "positive")
        or given.get("multi_class", "ovr") not in ("ovr", "joint")
    ):
        return None
    try:
        classes = classes_from_json(document.get("classes"))
        planes = n_planes(_Parameters(given.get("multi_class", "ovr")), classes)
        left, sizes = dict(tensors), {"K": planes, "d": history["n_features"]}
        columns = left.pop(COLUMNS, None)
        if columns is not None:
            if check_columns(columns) != sizes["d"]:
                return None
            sizes[COLUMNS] = len(columns) - 1
        state: Tensors = {}
        for part in schemas[name].parts_of(None):
            if not part.attribute:
                state |= part.take(left, sizes)
    except ValueError:
        return None
    if "ages" in state or "strengths" in state:  # penalties are pending
        return None
    coef, intercept = state["coef"], state["intercept"]
    if name == "averaged":
        coef, intercept = get_engine("rust").average(state)
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            return None
    return Predictor(classes, coef, intercept, given["tie"], None if columns is None else Places(columns))
