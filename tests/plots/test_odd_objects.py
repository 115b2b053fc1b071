"""Pictures of what is no model, no trace or no axes: an error that names the argument."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression

from perceptron_rs import (
    KernelPerceptron,
    MultilayerPerceptron,
    Perceptron,
    PocketPerceptron,
    SequencePerceptron,
    StructuredPerceptron,
    VotedPerceptron,
    datasets,
    load_predictor,
    max_margin,
    plots,
    proof,
    trace,
)

pytest.importorskip("matplotlib")

X, Y = datasets.make_separable(12, 2, seed=1)
PLAIN = Perceptron(shuffle=False, tol=None, max_iter=9)
MODEL = Perceptron(max_iter=3, tol=None).fit(X, Y)
TRACE = trace(PLAIN, X, Y)
STEP, TWO = list(TRACE)[-1], {"X": X, "y": Y}
ODD = [
    *(None, 1, "a", [], {}, object(), Perceptron, len, X, X[:2], X[:0], Y, [1, 2], {"a": 1}, [MODEL]),
    *(pd.DataFrame(X), pd.Series(["a"] * 12), LogisticRegression(), KMeans(2, n_init=1).fit(X)),
    *(LogisticRegression().fit(X, Y), Perceptron(), VotedPerceptron(), KernelPerceptron(tol=None).fit(X, Y)),
    *(MultilayerPerceptron(max_iter=1, tol=None).fit(X, Y), StructuredPerceptron(len, len)),
    *(SequencePerceptron(max_iter=1).fit(X, Y, lengths=[12]), load_predictor(MODEL.save())),
    *(MODEL, Perceptron().partial_fit(X, Y, classes=[-1, 1]), Perceptron().fit(X, np.c_[Y > 0, Y < 0])),
    *(TRACE, STEP, proof(TRACE), max_margin(X, Y), {"a": KMeans(2)}, {"a": Perceptron}, X * np.nan),
]
CALLS = {
    "mistakes": (plots.MistakesDisplay.from_estimator, {"estimator": MODEL} | TWO),
    "errors": (plots.ErrorsDisplay.from_estimators, {"estimators": {"a": PLAIN}, "n_epochs": 1} | TWO),
    "tested": (
        plots.ErrorsDisplay.from_estimators,
        {"estimators": {"a": PLAIN}, "n_epochs": 1, "X_test": X, "y_test": Y} | TWO,
    ),
    "survival": (plots.SurvivalDisplay.from_estimator, {"estimator": VotedPerceptron().fit(X, Y)}),
    "pocket": (plots.PocketDisplay.from_estimator, {"estimator": PocketPerceptron().fit(X, Y)}),
    "plane": (plots.HyperplaneDisplay.from_estimator, {"estimator": MODEL} | TWO),
    "orders": (plots.OrdersDisplay.from_estimator, {"estimator": Perceptron(), "n_orders": 2} | TWO),
    "update": (plots.UpdateDisplay.from_step, {"step": STEP} | TWO),
    "distance": (plots.DistanceDisplay.from_weights, {"coef": [1, 2], "intercept": 0, "X": X, "others": []}),
    "progress": (
        plots.ProgressDisplay.from_estimators,
        {"estimators": {"a": PLAIN}, "comparator": MODEL} | TWO,
    ),
    "predictions": (plots.ProgressDisplay.from_predictions, {"y_true": Y, "y_pred": {"a": Y}}),
    "margin": (plots.MarginDisplay.from_result, {"result": max_margin(X, Y)} | TWO),
    "proof": (plots.ProofDisplay.from_proof, {"proof": proof(TRACE)}),
    "sum": (plots.SumDisplay.from_step, {"step": STEP, "X": X}),
    "sums": (plots.SumDisplay.from_trace, {"trace": TRACE}),
    "film": (plots.animate, {"trace": TRACE, "path": "a.gif", "seconds": 1.0}),
}
#: What else may be said: what a model wants of X, and where labels are made classes.
ELSEWHERE = re.compile(
    r"is not fitted yet|is expecting|must be .* for a bound|Unknown label type|class|y_pred"
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS)
def test_what_cannot_be_drawn_is_named(call, tmp_path, monkeypatch):
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    draw, usual = CALLS[call]
    unnamed = []
    for name in ({*usual} | {"ax"}) - {"n_epochs", "n_orders", "path"}:
        for value in ODD:
            if draw is plots.animate and (value is TRACE or name == "ax"):
                continue  # it takes a second
            try:
                draw(**usual | {name: value})
            except Exception as error:
                text = str(error)
                is_named = re.search(rf"\b{name}\b", text) or ELSEWHERE.search(text)
                is_of_users = isinstance(value, StructuredPerceptron)
                if not isinstance(error, TypeError | ValueError) or not (is_named or is_of_users):
                    unnamed.append((name, value, type(error), text))
            finally:
                plt.close("all")
    assert not unnamed


def test_a_classifier_without_scores_is_drawn_by_its_labels():
    from sklearn.neighbors import KNeighborsClassifier

    display = plots.HyperplaneDisplay.from_estimator(KNeighborsClassifier(3).fit(X, Y), X, Y)
    assert display.lines_ == []


def test_other_examples_than_those_of_a_step_are_refused():
    with pytest.raises(ValueError, match=rf"X must be the examples of step, .* row {STEP.row}, got"):
        plots.SumDisplay.from_step(STEP, X[: STEP.row])
    with pytest.raises(ValueError, match="X_test and y_test must be given together"):
        plots.ErrorsDisplay.from_estimators({"a": PLAIN}, X, Y, X_test=X)
