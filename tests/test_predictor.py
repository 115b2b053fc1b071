"""``predictor_`` is what predicts: plots, inspect, margins and exports show it, not what else was learnt."""

import matplotlib as mpl
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from perceptron_rs import (
    AveragedPerceptron,
    BudgetedKernelPerceptron,
    KernelPerceptron,
    MaxMarginClassifier,
    MultilayerPerceptron,
    Perceptron,
    PocketPerceptron,
    SequencePerceptron,
    VotedPerceptron,
    margin,
)
from perceptron_rs.linear import summary as linear_story
from perceptron_rs.models.summary import summary_of, summary_text
from perceptron_rs.plots import HyperplaneDisplay, OrdersDisplay
from perceptron_rs.prediction.hyperplanes import hyperplanes
from tests.support import OF_FILE

mpl.use("agg")

LINES = [
    Perceptron(),
    Perceptron(penalty="l2", max_iter=1, tol=None),
    AveragedPerceptron(),
    PocketPerceptron(),
    *(VotedPerceptron(prediction=name) for name in ("last", "average", "longest", "random")),
]
OTHERS = [
    VotedPerceptron(),
    Perceptron(multi_class="joint"),
    KernelPerceptron(),
    KernelPerceptron(prediction="random", kernel="linear"),
    BudgetedKernelPerceptron(budget=5),
    MultilayerPerceptron(max_iter=3, tol=None),
    MaxMarginClassifier(inseparable="warn"),
    MaxMarginClassifier(inseparable="warn", kernel="rbf"),
]


@pytest.fixture(name="noise")
def fixture_noise():
    """Return integers in the plane that no line separates; their sums are exact."""
    rng = np.random.default_rng(3)
    X = rng.integers(-9, 10, (60, 2)).astype(float)
    return X, np.where(X[:, 0] + X[:, 1] + rng.normal(0, 5, 60) > 0, "b", "a")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", LINES, ids=str)
def test_one_line_is_predicted_with_drawn_measured_shown_and_exported(model, noise):
    X, y = noise
    model.fit(X, y)
    coef, intercept = model.predictor_["coef"], model.predictor_["intercept"]
    predicted = np.where(X @ coef[0] + intercept[0] > 0, "b", "a")
    assert (predicted == model.predict(X)).all()

    drawn = HyperplaneDisplay.from_estimator(model, X, y).lines_[0]
    (x0, y0), (x1, y1) = drawn.get_xy1(), drawn.get_xy2()
    side = (x1 - x0) * (X[:, 1] - y0) - (y1 - y0) * (X[:, 0] - x0)
    away = abs(side) > 1e-9 * abs(side).max()
    assert (np.where(side > 0, "a", "b") == predicted)[away].all() or (
        np.where(side < 0, "a", "b") == predicted
    )[away].all()

    wrong = np.flatnonzero((X @ coef[0] + intercept[0]) * np.where(y == "b", 1, -1) <= 0)
    assert margin(model, X, y, return_offending=True)[1].tolist() == wrong.tolist()

    story = summary_of(model, linear_story, top=2)["weights"][0]
    assert story["intercept"] == intercept[0]
    assert {entry["weight"] for entry in story["largest"]} == {w for w in coef[0].tolist() if w}

    assert (model.to_sklearn().predict(X) == predicted).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", OTHERS, ids=str)
def test_every_learner_says_what_predicts_by_the_same_name(model, noise):
    X, y = noise
    model.fit(X, y)
    assert model.predictor_
    assert all(isinstance(array, np.ndarray) for array in model.predictor_.values())
    display = HyperplaneDisplay.from_estimator(model, X, y)
    if "coef" not in model.predictor_:  # no line is drawn but that where the score is 0
        assert display.normal_ is None
        with pytest.raises(ValueError, match=r"hyperplane"):
            margin(model, X, y)


def test_votes_are_not_shown_as_one_of_the_vectors(noise):
    model = VotedPerceptron(max_iter=3, tol=None).fit(*noise)
    shown = summary_of(model, linear_story, top=2)
    assert shown["weights"] == [{"class": "b", "n_vectors": int(model.n_vectors_[0]), "largest": []}]
    text = summary_text(shown | OF_FILE, linear_story)
    assert f"class b: {model.n_vectors_[0]} vectors vote" in text.replace('"', "")
    with pytest.raises(ValueError, match="set prediction="):
        model.to_sklearn()
    with pytest.raises(ValueError, match="must predict with one line"):
        OrdersDisplay.from_estimator(model, *noise, n_orders=2)


def test_sequences():
    model = SequencePerceptron().fit([[["a"], ["b"]]], [["A", "B"]])
    assert {name: array.tobytes() for name, array in model.predictor_.items()} == {
        name: array.tobytes() for name, array in model._weights.items()
    }


class Foreign(BaseEstimator):
    """A classifier of another library."""

    def __init__(self, **weights):
        vars(self).update(weights)

    def fit(self):
        """Say that it learns, as scikit-learn wants of what may be fitted."""


@pytest.mark.parametrize("coef", [np.array([1, 2], np.float32), sp.csr_matrix([[1, 2]]), [[1, 2]]])
def test_planes_of_others(coef):
    for intercept in (3, np.array([3], np.float32)):
        weights, ends = hyperplanes(Foreign(coef_=coef, intercept_=intercept))
        assert (weights.tolist(), ends.tolist()) == ([[1.0, 2.0]], [3.0])
        assert weights.dtype == ends.dtype == np.float64
    assert hyperplanes(Foreign(coef_=coef)) is None
    assert hyperplanes(Foreign(intercept_=3)) is None
    with pytest.raises(NotFittedError):
        hyperplanes(Foreign())
