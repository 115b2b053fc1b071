"""What may be given without its name: X and y, and what scikit-learn's Perceptron takes in an order."""

import inspect

import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import Perceptron as Peer

import perceptron_rs
from perceptron_rs.linear.base import LinearLearner

PUBLIC = [getattr(perceptron_rs, name) for name in perceptron_rs.__all__]
ESTIMATORS = [thing for thing in PUBLIC if inspect.isclass(thing) and issubclass(thing, BaseEstimator)]
METHODS = ("fit", "partial_fit", "predict_then_learn", "fit_encoded", "predict")


def by_place(method):
    parameters = list(inspect.signature(method).parameters.values())[1:]
    return [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_arguments_after_y_are_keywords(kind):
    for name in METHODS:
        method = getattr(kind, name, None)
        if method is None:
            continue
        if name in ("fit", "partial_fit") and issubclass(kind, LinearLearner):
            expected = by_place(getattr(Peer, name))
        elif name == "partial_fit":  # an order that is scikit-learn's, and that of all of ours
            expected = [argument for argument in by_place(method) if argument in by_place(Peer.partial_fit)]
        else:
            expected = {"fit_encoded": ["encoder", "X", "y"], "predict": ["X"]}.get(name, ["X", "y"])
        assert by_place(method) == expected, name
