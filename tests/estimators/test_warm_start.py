"""What starts again, and what goes on."""

from __future__ import annotations

import numpy as np
import pytest
from tests.learners import LINEAR, ONLINE, PASSES

from perceptron_rs import (
    BudgetedKernelPerceptron,
    KernelPerceptron,
    MultilayerPerceptron,
    Perceptron,
    PocketPerceptron,
    SequencePerceptron,
)
from perceptron_rs.state.fitted_attributes import flat
from perceptron_rs.targets.weights import start_value

OTHERS = (KernelPerceptron, BudgetedKernelPerceptron, MultilayerPerceptron)


def data(classes=2):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(50, 4))
    y = rng.integers(0, classes, 50)
    y[:classes] = np.arange(classes)
    return X, y


def learnt(model):
    arrays = flat(model) | flat(model)["_model"].state()
    return {name: values.tobytes() for name, values in arrays.items() if isinstance(values, np.ndarray)}


def weights(model):
    return model.coef_.tobytes(), model.intercept_.tobytes(), model.n_seen_.tolist()


@pytest.mark.parametrize("learner", ONLINE)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("shuffle", [False, True])
def test_two_warm_fits_are_one_long_fit(engine_name, learner, classes, shuffle):
    X, y = data(classes)
    parameters = {"engine": engine_name, "shuffle": shuffle, "tol": None, "random_state": 5}
    whole = learner(max_iter=5, **parameters).fit(X, y)
    parts = learner(max_iter=2, warm_start=True, **parameters).fit(X, y).set_params(max_iter=3).fit(X, y)
    assert weights(parts) == weights(whole)
    assert parts.n_iter_ == 3


@pytest.mark.parametrize("learner", LINEAR)
def test_cold_fit_forgets(engine_name, learner):
    X, y = data()
    model = learner(engine=engine_name, tol=None, max_iter=3)
    first = learnt(model.fit(X, y))
    assert learnt(model.fit(X, y)) == first
    if learner is not PocketPerceptron:
        assert learnt(model.partial_fit(X, y).fit(X, y)) == first


@pytest.mark.parametrize("learner", LINEAR)
def test_start_values_start_the_counters_again(engine_name, learner):
    X, y = data()
    parameters = {"engine": engine_name, "tol": None, "max_iter": 3}
    coef, intercept = [[1.0, -0.0, 2.0, 0.5]], 0.25
    cold = learner(**parameters).fit(X, y, coef_init=coef, intercept_init=intercept)
    warm = learner(warm_start=True, **parameters).fit(X, y)
    warm.fit(X, y, coef_init=coef, intercept_init=intercept)
    assert learnt(warm) == learnt(cold)
    assert warm.n_seen_[0] == 150


@pytest.mark.parametrize("learner", LINEAR)
def test_one_start_value_keeps_the_other_weights_under_warm_start(engine_name, learner):
    X, y = data()
    parameters = {"engine": engine_name, "tol": None, "max_iter": 2}
    first = learner(**parameters).fit(X, y)
    last = first.coef_ if learner is PocketPerceptron else getattr(first, "last_coef_", first.coef_)
    warm = learner(warm_start=True, **parameters).fit(X, y).fit(X, y, intercept_init=[3.0])
    expected = learner(**parameters).fit(X, y, coef_init=last, intercept_init=3.0)
    assert learnt(warm) == learnt(expected)


@pytest.mark.parametrize("learner", ONLINE)
def test_partial_fit_goes_on_from_a_fit_and_is_no_epoch(engine_name, learner):
    X, y = data()
    parameters = {"engine": engine_name, "tol": None, "max_iter": 2, "warm_start": True}
    model = learner(**parameters).fit(X, y).partial_fit(X[:5], y[:5])
    assert model.n_iter_ == 1
    assert model.mistakes_per_epoch_.shape == (1, 1)
    assert model.n_seen_[0] == 105
    model.fit(X, y)
    assert model._n_epochs == 4
    assert model.n_seen_[0] == 205


def test_no_negative_zero_in_start_values(engine_name):
    X = np.array([[0.0, 1.0], [0.0, -1.0]])
    model = Perceptron(engine=engine_name, tol=None, max_iter=1, fit_intercept=False)
    model.fit(X, [1, 0], coef_init=[-0.0, 1.0], intercept_init=-0.0)
    assert not model.n_mistakes_  # an update would add 0.0
    assert not np.signbit(model.coef_[0, 0])
    assert not np.signbit(model.intercept_[0])


def test_no_negative_zero_in_weights_that_are_set(engine_name):
    X, y = data()
    network = MultilayerPerceptron((2,), max_iter=1, tol=None, engine=engine_name).fit(X, y)
    network.coefs_ = [np.full_like(weights, -0.0) for weights in network.coefs_]
    tagger = SequencePerceptron(max_iter=1, engine=engine_name).fit(X, y, lengths=[len(y)])
    tagger.transition_ = np.full_like(tagger.transition_, -0.0)
    for weights in (*network.coefs_, tagger.transition_):
        assert not np.signbit(weights).any()


@pytest.mark.parametrize(
    ("shape", "accepted", "refused"),
    [
        ((1, 3), [(3,), (1, 3), (3, 1)], [(2,), (1, 4), ()]),
        ((1,), [(), (1,)], [(1, 1), (2,)]),
        ((2, 3), [(2, 3)], [(6,), (3, 2), (3,)]),
        ((3,), [(3,)], [(3, 1), (1, 3), (2,), ()]),
    ],
)
def test_shapes_of_start_values(shape, accepted, refused):
    """Of one plane the numbers may stand in a row, a column or alone; of more they have its shape."""
    for given in accepted:
        assert start_value(np.ones(given), "coef_init", shape).shape == shape
    for given in refused:
        with pytest.raises(ValueError, match=r"^coef_init has the shape .*, but this problem needs"):
            start_value(np.ones(given), "coef_init", shape)


def test_given_arrays_are_not_kept(engine_name):
    X, y = data()
    coef = np.ones((1, 4))
    model = Perceptron(engine=engine_name, tol=None, max_iter=1).fit(X, y, coef_init=coef)
    np.testing.assert_array_equal(coef, np.ones((1, 4)))
    kept = model.coef_
    before = kept.copy()
    model.partial_fit(X, y)
    np.testing.assert_array_equal(kept, before)  # published arrays are never written to again


def test_random_state(engine_name):
    X, y = data()

    def fitted(random_state):
        model = Perceptron(engine=engine_name, random_state=random_state, tol=None, max_iter=2)
        return weights(model.fit(X, y))

    drawn = np.random.RandomState(3).randint(2**31 - 1)
    assert fitted(np.random.RandomState(3)) == fitted(drawn)
    assert fitted(np.int64(4)) == fitted(4)
    assert fitted(4) != fitted(5)


@pytest.mark.parametrize(
    "learner", [*ONLINE, KernelPerceptron, BudgetedKernelPerceptron, MultilayerPerceptron]
)
@pytest.mark.parametrize(("classes", "n_left"), [(2, 1), (3, 1), (3, 2)])
def test_a_fit_goes_on_with_some_of_the_classes(engine_name, learner, classes, n_left):
    X, y = data(classes)
    few = y < n_left
    options = {"engine": engine_name, "shuffle": False, "tol": None, "max_iter": 1}
    balanced = {"class_weight": "balanced"}  # a class without examples has a weight that none has
    model, other = (learner(**options).fit(X, y) for _ in range(2))
    model.set_params(warm_start=True).fit(X[few], y[few])
    other.partial_fit(X[few], y[few])
    assert model.classes_.tolist() == list(range(classes))
    assert model.decision_function(X).tobytes() == other.decision_function(X).tobytes()
    assert np.isfinite(model.set_params(**balanced).fit(X[few], y[few]).decision_function(X)).all()
    before = model.decision_function(X).tobytes()
    with pytest.raises(ValueError, match=r"not in classes_ .*: 7; set warm_start=False"):
        model.fit(X[few], np.where(np.arange(few.sum()) == 3, 7, y[few]))
    assert model.decision_function(X).tobytes() == before


@pytest.mark.parametrize("learner", PASSES)
def test_a_stream_goes_on_with_some_of_the_classes(engine_name, learner):
    X, y = data(3)
    one = y == 2
    options = {"engine": engine_name, "shuffle": False, "tol": None, "max_iter": 3, "warm_start": True}
    model, other = (learner(**options).fit(X, y) for _ in range(2))
    model.fit(X[one], y[one])
    other.fit_stream((X[one], y[one]))
    assert weights(model) == weights(other)


def test_a_pocket_goes_on_with_one_class(engine_name):
    X, y = data()
    model = PocketPerceptron(engine=engine_name, warm_start=True, tol=None, max_iter=5).fit(X, y)
    assert model.fit(X[y == 1], y[y == 1]).pocket_errors_.tolist() == [0.0]


def test_sequences_go_on_with_one_tag(engine_name):
    X, y = np.eye(4)[[0, 1, 2, 3, 0, 1]], np.array(["a", "b", "c", "a", "a", "b"])
    model = SequencePerceptron(engine=engine_name, warm_start=True, max_iter=2).fit(X, y, lengths=[3, 3])
    assert model.fit(X[:1], y[:1], lengths=[1]).classes_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match=r"not in classes_ .*: 'd'; set warm_start=False"):
        model.fit(X[:2], np.array(["a", "d"]), lengths=[2])
