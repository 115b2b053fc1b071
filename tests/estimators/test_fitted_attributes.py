"""Attributes of a fit: what an estimator without one says of them, and which of them can be set."""

import copy
import inspect
import pickle
import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from tests.learners import PASSES
from tests.support import contents

import perceptron_rs
from perceptron_rs import (
    AveragedPerceptron,
    KernelPerceptron,
    MaxMarginClassifier,
    Perceptron,
    PocketPerceptron,
    StructuredPerceptron,
    VotedPerceptron,
)
from perceptron_rs.state.fitted_attributes import flat

X = np.array([[-1.0, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]])
Y = np.array([-1, 1, 1, -1, -1, 1])
PUBLIC = [getattr(perceptron_rs, name) for name in perceptron_rs.__all__]
ESTIMATORS = [thing for thing in PUBLIC if inspect.isclass(thing) and issubclass(thing, BaseEstimator)]


def unfitted(kind):
    return kind(len, len) if kind is StructuredPerceptron else kind()


def documented(kind):
    """Return the names in the section Attributes of a docstring."""
    section = inspect.cleandoc(kind.__doc__).split("Attributes\n----------\n")[1].split("\n\n")[0]
    lines = re.findall(r"^([a-z_]+_(?:, [a-z_]+_)*) :", section, re.M)
    return [name for line in lines for name in line.split(", ")]


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_what_is_not_fitted_says_so_by_its_public_name(kind):
    model = unfitted(kind)
    names = documented(kind)
    assert len(names) > 4
    for name in names:
        with pytest.raises(NotFittedError, match=rf"this {kind.__name__} instance .* has no {name};"):
            getattr(model, name)
        assert not hasattr(model, name)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert flat(other) == flat(model)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = model.nothing
    assert not hasattr(model, "_private_")


def test_what_a_fitted_estimator_does_not_have_is_no_matter_of_fitting():
    for kind in (Perceptron, KernelPerceptron, PocketPerceptron):
        model = kind().fit(X, Y)
        with pytest.raises(AttributeError, match="has no attribute 'mistakes_per_example_'") as caught:
            _ = model.mistakes_per_example_
        assert not isinstance(caught.value, NotFittedError)


@pytest.mark.parametrize("kind", [Perceptron, AveragedPerceptron, PocketPerceptron, MaxMarginClassifier])
def test_weights_that_are_set_predict(kind):
    model = kind().fit(X, Y)
    model.coef_ = np.array([[0.5, -2.0]])
    model.intercept_ = np.array([0.25])
    expected = X @ [0.5, -2.0] + 0.25
    assert model.decision_function(X).tolist() == expected.tolist()
    assert (model.coef_.tolist(), model.intercept_.tolist()) == ([[0.5, -2.0]], [0.25])
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other.decision_function(X).tolist() == expected.tolist()


MISSHAPEN = {
    "coef_": (
        None,
        np.zeros((2, 3)),
        np.zeros((3, 4)),
        np.zeros(3),
        np.full((3, 3), np.nan),
        [["a"] * 3] * 3,
    ),
    "intercept_": (None, np.zeros(2), np.zeros((3, 1)), np.full(3, np.inf)),
}


@pytest.mark.parametrize("kind", PASSES)
@pytest.mark.parametrize("name", MISSHAPEN)
def test_what_does_not_fit_is_refused(kind, name, engine_name):
    """When it is set, or, if the number of features is another one, when it is used."""
    examples, labels = np.hstack([X, X[:, :1]]), np.arange(len(X)) % 3
    model = kind(engine=engine_name).fit(examples, labels)
    before = contents(model)
    for value in MISSHAPEN[name]:
        other = copy.deepcopy(model)
        if np.shape(value) == (3, 4):
            other.coef_ = value
            for options in ({}, {"check_input": False}):
                with pytest.raises(ValueError, match="weights of the shape"):
                    other.partial_fit(examples, labels, **options)
            with pytest.raises(ValueError, match=r"coef_|X has 3 features"):
                other.predict(examples)
            continue
        with pytest.raises((TypeError, ValueError), match=name):
            setattr(other, name, value)
        assert contents(other) == before


@pytest.mark.parametrize("name", ["n_seen_", "last_coef_", "last_intercept_"])
def test_what_training_counts_cannot_be_set(name):
    with pytest.raises(AttributeError, match=f"{name} shows what this AveragedPerceptron has learnt"):
        setattr(AveragedPerceptron().fit(X, np.arange(len(X)) % 3), name, 0)


@pytest.mark.parametrize("name", ["coef_", "intercept_", "n_seen_"])
def test_numbers_are_not_changed_in_their_place(name, engine_name):
    model = Perceptron(engine=engine_name).fit(X, np.arange(len(X)) % 3)
    with pytest.raises(ValueError, match="read-only"):
        getattr(model, name)[:] = 0


@pytest.mark.parametrize(
    "kind", [Perceptron, AveragedPerceptron, PocketPerceptron, lambda: VotedPerceptron(prediction="last")]
)
def test_an_estimator_can_be_made_of_weights_alone(kind):
    for names in (("coef_", "intercept_"), ("intercept_", "coef_")):
        model, given = kind(), {"coef_": np.array([[0.5, -2.0]]), "intercept_": np.array([0.25])}
        model.classes_ = np.array(["a", "b"])
        for name in names:
            setattr(model, name, given[name])
        assert model.predict([[1, 0], [0, 1]]).tolist() == ["b", "a"]
