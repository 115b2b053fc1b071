"""ProgressDisplay: mistakes and regret are those of loops over the examples."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import SGDClassifier

from perceptron_rs import KernelPerceptron, Perceptron, PocketPerceptron
from perceptron_rs.datasets import make_noisy
from perceptron_rs.plots import ProgressDisplay

mpl.use("agg")

X, Y = make_noisy(120, 4, seed=3)
LABELS = np.where(Y > 0, "yes", "no")
BEST = PocketPerceptron(max_iter=20, tol=None).fit(X, LABELS)


def mistakes_one_by_one(model, rows):
    """Count by a loop over predict and partial_fit."""
    made, total = [], 0
    for k, y in enumerate(LABELS):
        x = rows[k : k + 1]  # scikit-learn's intercept moves less for sparse rows
        found = model.predict(x)[0] if hasattr(model, "classes_") else "no"
        total += found != y
        made.append(total)
        model.partial_fit(x, [y], classes=["no", "yes"])
    return made


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_mistakes_and_regret_are_those_of_a_loop(kind):
    learners = {
        "perceptron": Perceptron(),
        "kernel": KernelPerceptron(prediction="last"),  # as it predicts while it learns
        "scikit-learn's": SGDClassifier(loss="perceptron", random_state=0),
    }
    display = ProgressDisplay.from_estimators(learners, kind(X), LABELS, comparator=BEST)
    assert not any(hasattr(model, "classes_") for model in learners.values())
    fixed = np.cumsum(BEST.predict(X) != LABELS)
    for name, model in learners.items():
        made = mistakes_one_by_one(model, kind(X))
        assert display.mistakes[name].tolist() == made
        assert display.lines_[name].get_ydata().tolist() == made
        assert display.regret[name].tolist() == (made - fixed).tolist()
    assert display.comparator_.get_ydata().tolist() == fixed.tolist()
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == [*learners, "comparator"]


def test_a_fitted_learner_goes_on_and_stays_as_it_was():
    model = Perceptron().partial_fit(X[:60], LABELS[:60], classes=["no", "yes"])
    before = model.coef_.tobytes()
    expected, _ = (
        Perceptron()
        .partial_fit(X[:60], LABELS[:60], classes=["no", "yes"])
        .predict_then_learn(X[60:], LABELS[60:])
    )
    display = ProgressDisplay.from_estimators({"a": model}, X[60:], LABELS[60:])
    assert display.mistakes["a"].tolist() == np.cumsum(expected != LABELS[60:]).tolist()
    assert model.coef_.tobytes() == before


def test_the_kinds_of_a_picture():
    wrong, fixed = {"a": [1, 0, 1], "b": [0, 0, 1]}, [0, 1, 0]
    display = ProgressDisplay(wrong, fixed).plot(kind="rate")
    assert display.lines_["a"].get_ydata().tolist() == [1, 1 / 2, 2 / 3]
    assert display.comparator_.get_ydata().tolist() == [0, 1 / 2, 1 / 3]
    own = plt.subplots()[1]
    display.plot(own, kind="regret")
    assert display.ax_ is own
    assert display.lines_["b"].get_ydata().tolist() == [0, -1, 0]
    assert display.comparator_ is None
    assert "comparator" in own.get_ylabel()
    assert ProgressDisplay(wrong).regret == {}


def test_a_table():
    text = ProgressDisplay.from_predictions([0, 1, 1, 0, 1], {"always 0": [0] * 5}).table()
    assert text.splitlines() == [
        "examples  model     mistakes    rate",
        "       1  always 0         0  0.0000",
        "       2  always 0         1  0.5000",
        "       4  always 0         2  0.5000",
        "       5  always 0         3  0.6000",
    ]
    assert ProgressDisplay({"a": [1]}).table().count("\n") == 1


@pytest.mark.parametrize(
    ("draw", "error", "said"),
    [
        (lambda: ProgressDisplay({}), ValueError, "must name one model or more"),
        (lambda: ProgressDisplay({"a": [1], "b": [1, 0]}), ValueError, r"got the shape \(2,\) of 'b'"),
        (lambda: ProgressDisplay({"a": []}), ValueError, r"got the shape \(0,\) of 'a'"),
        (lambda: ProgressDisplay({"a": [1]}, [[1]]), ValueError, "of 'comparator'"),
        (lambda: ProgressDisplay({"a": [1]}).plot(kind="loss"), ValueError, 'kind must be "mistakes", '),
        (lambda: ProgressDisplay({"a": [1]}).plot(kind="regret"), ValueError, "needs a comparator"),
        (lambda: ProgressDisplay({"a": [1]}).table([2]), ValueError, r"from 1 to 1, got \[2\]"),
        (lambda: ProgressDisplay.from_predictions([0, 1], {"a": [0]}), ValueError, "each of 2 labels"),
        (
            lambda: ProgressDisplay.from_estimators({"a": PocketPerceptron()}, X, Y),
            TypeError,
            "PocketPerceptron does not learn example by example",
        ),
        (
            lambda: ProgressDisplay.from_estimators({"a": Perceptron()}, X, Y, kind="regret"),
            ValueError,
            "needs a comparator",
        ),
    ],
)
def test_what_cannot_be_drawn(draw, error, said):
    with pytest.raises(error, match=said):
        draw()
