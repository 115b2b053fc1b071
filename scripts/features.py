"""Write docs/guide/features.csv: which learner has which feature, found out from the classes themselves."""

from __future__ import annotations

import csv
import inspect
import io
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

import perceptron_rs
from perceptron_rs.cli.learning import LEARNER_NAMES
from perceptron_rs.registry import REGISTRY
from perceptron_rs.schema.schema import name_of
from perceptron_rs.testing.parity import can_be_compared

TABLE = Path(__file__).parents[1] / "docs" / "guide" / "features.csv"
ORDER = (
    *("Perceptron", "AveragedPerceptron", "VotedPerceptron", "PocketPerceptron", "KernelPerceptron"),
    *("BudgetedKernelPerceptron", "MultilayerPerceptron", "MaxMarginClassifier", "SequencePerceptron"),
    "StructuredPerceptron",
)
METHODS = (
    *(
        "fit",
        "fit_stream",
        "partial_fit",
        "predict_then_learn",
        "decision_function",
        "calibrate",
        "predict_proba",
        "sparsify",
    ),
    *("predict_k", "predict_margins", "to_sklearn", "to_onnx"),
)
ARGUMENTS = ("sample_weight", "coef_init")
PARAMETERS = (
    *("class_weight", "early_stopping", "warm_start", "shuffle", "fit_intercept", "n_jobs", "callback"),
    *("keep_on_interrupt", "verbose", "track_mistakes", "margin_threshold", "added_feature"),
    *("max_mistakes_per_example", "penalty", "step", "audit"),
)
DATA = np.array([[0.0, 1], [1, 0], [4, 5], [5, 4]]), np.array([0, 0, 1, 1])


def made(name: str) -> Any:
    """Return an estimator with the parameters that it needs."""
    if name == "StructuredPerceptron":
        return perceptron_rs.StructuredPerceptron(_nothing, _nothing)
    return getattr(perceptron_rs, name)()


def _nothing(*_: Any) -> tuple[Any, Any]:
    """Stand for the functions of a structured perceptron."""
    return np.zeros(0, dtype=np.int64), np.zeros(0)


def reads_sparse(name: str) -> bool:
    """Whether a fit takes a sparse matrix."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made(name).fit(sp.csr_matrix(DATA[0]), DATA[1])
        except (TypeError, ValueError):
            return False
    return True


def inspected(name: str) -> bool:
    """Whether the command ``inspect`` shows it."""
    known = name_of(made(name))
    return known is not None and find_spec(f"perceptron_rs.{REGISTRY[known].family}.summary") is not None


def features() -> dict[str, Callable[[str], bool]]:
    """Return for each feature how to find out whether a learner has it."""
    parameters = {name: set(inspect.signature(getattr(perceptron_rs, name)).parameters) for name in ORDER}
    fits = {name: set(inspect.signature(getattr(perceptron_rs, name).fit).parameters) for name in ORDER}
    found: dict[str, Callable[[str], bool]] = {}
    for method in METHODS:
        found[f"``{method}``"] = lambda name, method=method: hasattr(made(name), method)
    found["sparse ``X``"] = reads_sparse
    found["many labels"] = lambda name: getattr(made(name), "_learns_many", False)
    for argument in ARGUMENTS:
        found[f"``{argument}``"] = lambda name, argument=argument: argument in fits[name]
    found['``multi_class="joint"``'] = lambda name: "multi_class" in parameters[name]
    for parameter in PARAMETERS:
        found[f"``{parameter}``"] = lambda name, parameter=parameter: parameter in parameters[name]
    found["both engines"] = lambda name: "engine" in parameters[name]
    found["``save``, `load`"] = lambda name: hasattr(made(name), "save")
    found["``inspect``"] = inspected
    found["``train``, or ``tag-train``"] = lambda name: (
        name_of(made(name)) in LEARNER_NAMES or name == "SequencePerceptron"
    )
    found["``assert_parity``, ``parity``"] = lambda name: can_be_compared(made(name))
    return found


def text() -> str:
    """Return the table."""
    public = {name: getattr(perceptron_rs, name) for name in perceptron_rs.__all__}
    estimators = {
        name for name, kind in public.items() if isinstance(kind, type) and issubclass(kind, BaseEstimator)
    }
    assert estimators == set(ORDER), estimators ^ set(ORDER)
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    short = {name: name.removesuffix("Perceptron").removesuffix("Classifier") or name for name in ORDER}
    table.writerow(["", *(f":py:obj:`{short[name]} <perceptron_rs.{name}>`" for name in ORDER)])
    for feature, has in features().items():
        table.writerow([feature, *("x" if has(name) else "" for name in ORDER)])
    return out.getvalue()


if __name__ == "__main__":
    TABLE.write_text(text(), encoding="utf-8")
