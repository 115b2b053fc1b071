"""Parameters that were accepted are not validated again; any other choice of them is."""

import numpy as np
import pytest
from sklearn import config_context
from tests.learners import ONLINE

from perceptron_rs import Perceptron
from perceptron_rs.parameters import checks as parameters

X, Y = np.array([[1.0], [-2.0]]), np.array([1, 0])
METHODS = ["partial_fit", "predict_then_learn"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("learner", ONLINE)
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"max_iter": 7.0}, "max_iter"),
        ({"fit_intercept": "yes"}, "fit_intercept"),
        ({"random_state": "seed"}, "random_state"),
        ({"class_weight": "balanced"}, "class_weight"),
        ({"class_weight": {1: -1.0}}, "class_weight"),
        ({"early_stopping": True}, "early_stopping"),
        ({"callback": 3}, "callback"),
        ({"eta0": np.inf}, "eta0"),
    ],
    ids=str,
)
def test_a_bad_choice_after_a_good_one(learner, method, bad, message):
    model = learner(max_iter=7)
    for _ in range(2):
        getattr(model, method)(X, Y, classes=[0, 1])
    with pytest.raises(ValueError, match=message):
        getattr(model.set_params(**bad), method)(X, Y)


@pytest.mark.parametrize(
    "bad",
    [
        {"max_iter": 7.0},
        {"fit_intercept": "yes"},
        {"random_state": "seed"},
        {"class_weight": {1: -1.0}},
        {"callback": 3},
        {"eta0": np.inf},
    ],
    ids=str,
)
def test_a_bad_choice_after_a_good_one_in_fit(bad):
    model = Perceptron(max_iter=7).fit(X, Y).fit(X, Y)
    with pytest.raises(ValueError, match=next(iter(bad))):
        model.set_params(**bad).fit(X, Y)


@pytest.mark.parametrize("method", METHODS)
def test_a_weight_that_goes_bad_in_its_dict(method):
    weights = {0: 1.0, 1: 2.0}
    model = Perceptron(class_weight=weights)
    getattr(model, method)(X, Y, classes=[0, 1])
    weights[0] = -1.0
    with pytest.raises(ValueError, match="class_weight"):
        getattr(model, method)(X, Y)


@pytest.mark.parametrize("options", [{"eta0": 0.12345}, {"class_weight": {0: 0.12345, 1: 1}}], ids=str)
def test_it_is_done_once(options, monkeypatch):
    calls, real = [], parameters.check_constraints
    monkeypatch.setattr(parameters, "check_constraints", lambda *a: calls.append(1) or real(*a))
    model = Perceptron(**options)
    for _ in range(5):
        model.partial_fit(X, Y, classes=[0, 1])
        model.predict_then_learn(X, Y)
        model.fit(X, Y)
    assert len(calls) == 1


def test_the_setting_of_scikit_learn_is_heeded():
    with config_context(skip_parameter_validation=True):
        Perceptron(max_iter=7.0).partial_fit(X, Y, classes=[0, 1])
