"""MultilayerPerceptron in every way that there is: the same bits."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from perceptron_rs import MultilayerPerceptron
from perceptron_rs.testing import assert_parity
from perceptron_rs.testing.parity import ways

PARAMETERS = {
    "hidden_layer_sizes": st.sampled_from([(), (1,), (4,), (9, 3), (17,)]),
    "activation": st.sampled_from(["relu", "tanh", "logistic"]),
    "alpha": st.sampled_from([0.0, 1e-3, 0.5]),
    "batch_size": st.sampled_from([1, 2, 7, 100]),
    "learning_rate_init": st.sampled_from([1e-3, 0.1, 3.0]),
    "max_iter": st.integers(1, 4),
    "shuffle": st.booleans(),
    "random_state": st.integers(0, 5),
    "tol": st.sampled_from([None, 0.0, 0.2]),
    "n_iter_no_change": st.integers(1, 2),
    "class_weight": st.sampled_from([None, "balanced", {0: 0.3}, {1: 0}]),
}


def learnt(parameters, X, y, weights=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = MultilayerPerceptron(**parameters).fit(X, y, sample_weight=weights)
        except ValueError as error:
            if not any(text in str(error) for text in ("overflow", "no example of positive weight")):
                raise
            return str(error)
    arrays = [*model.coefs_, *model.intercepts_, model.decision_function(X), model.predict_proba(X)]
    return [array.tobytes() for array in arrays], model.loss_curve_, model.mistakes_per_epoch_.tolist()


@given(
    parameters=st.fixed_dictionaries(PARAMETERS),
    seed=st.integers(0, 2**32),
    shape=st.tuples(st.integers(2, 20), st.integers(1, 17), st.integers(2, 4)),
    kind=st.sampled_from(["whole", "float32", "float64"]),
    is_weighted=st.booleans(),
)
def test_engines_and_storages(parameters, seed, shape, kind, is_weighted):
    n, d, classes = shape
    random = np.random.default_rng(seed)
    X = random.integers(-3, 4, (n, d)) if kind == "whole" else random.normal(size=(n, d)).astype(kind)
    X[random.random((n, d)) < 0.4] = 0
    y = np.concatenate([[0, 1], random.integers(0, classes, n - 2)])
    weights = random.integers(0, 4, n) * 0.3 + 0.1 * (np.arange(n) == 0) if is_weighted else None
    expected = learnt(parameters | {"engine": "reference"}, X, y, weights)
    storages = [X, sp.csr_matrix(X), X.astype(np.float64), sp.csr_matrix(X.astype(np.float64))]
    for storage in [*storages, X.astype(np.int8)] if kind == "whole" else storages:
        assert learnt(parameters, storage, y, weights) == expected


@pytest.mark.parametrize(("activation", "classes"), [("relu", 3), ("tanh", 2), ("logistic", 3)])
def test_every_way_of_assert_parity(activation, classes):
    random = np.random.default_rng(classes)
    X, y = random.integers(0, 5, (10, 4)).astype(np.uint8), random.integers(0, classes, 10)
    y[:classes] = range(classes)
    model = MultilayerPerceptron((3,), activation=activation, max_iter=2, tol=None)
    assert_parity(model, X, y, batch_sizes=(7,))
    assert_parity(
        clone(model).set_params(class_weight={1: 0.5}),
        X / 8,  # of whole numbers there are twice as many ways
        y,
        sample_weight=np.arange(10) % 3,
        batch_sizes=(2,),
    )
    assert_parity(model.set_params(batch_size=4, warm_start=True), X / 8, y, batch_sizes=(7,))


def test_an_overflow_in_the_order_of_batches_is_none_in_an_order_that_is_drawn():
    X = np.array([[3e100, 2e100], [0, 2e100], [3e100, 0]])
    y, model = np.array([0, 1, 0]), MultilayerPerceptron((2,), max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert "overflow" not in str(learnt(model.get_params(), X, y))
        assert "overflow" in str(learnt(model.get_params() | {"shuffle": False}, X, y))
        assert_parity(model, X, y)
        found = ways(model, X, y, weights=None, start={}, batch_sizes=(1, 2), threads=())
        overflows = [way for way in found if way.found == "training overflowed"]
    assert len(overflows) == 5  # one epoch, and two sizes of batches on two engines
