"""The perceptron against scikit-learn's, against itself class by class, and its reports."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as Peer

from perceptron_rs import Perceptron
from perceptron_rs.state.fitted_attributes import flat

SHARED = {"shuffle": False, "tol": None, "max_iter": 7}


def integer_data(seed, n=80, d=6, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.integers(-5, 6, (n, d)).astype(np.float64)
    y = rng.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    return X, y


def assert_same_as_peer(ours, peer, X):
    assert ours.coef_.tobytes() == (peer.coef_ + 0.0).tobytes()
    assert ours.intercept_.tobytes() == (peer.intercept_ + 0.0).tobytes()
    np.testing.assert_array_equal(ours.predict(X), peer.predict(X))
    np.testing.assert_array_equal(ours.decision_function(X), peer.decision_function(X))


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("seed", range(5))
def test_equals_scikit_learn_on_integers(engine_name, classes, seed):
    X, y = integer_data(seed, classes=classes)
    ours = Perceptron(engine=engine_name, **SHARED).fit(X, y)
    assert_same_as_peer(ours, Peer(**SHARED).fit(X, y), X)
    assert ours.n_iter_ == 7
    assert ours.t_ == Peer(**SHARED).fit(X, y).t_


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("class_weight", [None, {0: 3, 1: 2}])
def test_equals_scikit_learn_with_integer_weights(engine_name, classes, class_weight, fit_intercept):
    X, y = integer_data(7, classes=classes)
    weight = np.random.default_rng(0).integers(1, 5, len(y))
    parameters = {**SHARED, "class_weight": class_weight, "fit_intercept": fit_intercept, "eta0": 2.0}
    ours = Perceptron(engine=engine_name, **parameters).fit(X, y, sample_weight=weight)
    assert_same_as_peer(ours, Peer(**parameters).fit(X, y, sample_weight=weight), X)


@pytest.mark.parametrize("classes", [2, 3])
def test_start_values_and_batches_equal_scikit_learn(engine_name, classes):
    X, y = integer_data(3, classes=classes)
    planes = 1 if classes == 2 else classes
    rng = np.random.default_rng(1)
    start = {
        "coef_init": rng.integers(-3, 4, (planes, X.shape[1])),
        "intercept_init": rng.integers(-3, 4, planes),
    }
    ours = Perceptron(engine=engine_name, **SHARED).fit(X, y, **start)
    assert_same_as_peer(ours, Peer(**SHARED).fit(X, y, **start), X)
    ours, peer = Perceptron(engine=engine_name), Peer(shuffle=False)
    for rows in np.array_split(np.arange(len(y)), 5):
        ours.partial_fit(X[rows], y[rows], classes=np.unique(y))
        peer.partial_fit(X[rows], y[rows], classes=np.unique(y))
    assert_same_as_peer(ours, peer, X)


def test_balanced_class_weight(engine_name):
    X, y = integer_data(2, n=64)
    y = (np.arange(64) % 8 == 0).astype(int)  # 56 and 8 examples: weights 4/7 and 4
    balanced = Perceptron(engine=engine_name, class_weight="balanced", **SHARED).fit(X, y)
    written = Perceptron(engine=engine_name, class_weight={0: 64 / 112, 1: 4.0}, **SHARED).fit(X, y)
    assert balanced.coef_.tobytes() == written.coef_.tobytes()


@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
def test_balanced_weights_where_the_last_class_weighs_nothing(multi_class):
    """It stays a class; the others have the weights of 40 and 10 of 50 examples."""
    X, y = integer_data(3, n=60)[0], np.repeat([0, 1, 2], [40, 10, 10])
    options, weight = SHARED | {"multi_class": multi_class}, (y < 2).astype(float)
    balanced = Perceptron(class_weight="balanced", **options).fit(X, y, sample_weight=weight)
    written = {0: 50 / 120, 1: 50 / 30, 2: 1.0}
    written = Perceptron(class_weight=written, **options).fit(X, y, sample_weight=weight)
    assert balanced.classes_.tolist() == [0, 1, 2]
    assert balanced.coef_.tobytes() == written.coef_.tobytes()


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("tol", [None, 1e-3])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_one_vs_rest_is_one_fit_per_class(engine_name, shuffle, tol):
    X, y = integer_data(11, classes=4)
    X = X / 7
    parameters = {"shuffle": shuffle, "tol": tol, "max_iter": 9, "track_mistakes": True}
    parameters |= {"engine": engine_name, "n_iter_no_change": 2}
    together = Perceptron(**parameters).fit(X, y)
    for k in range(4):
        alone = Perceptron(**parameters).fit(X, y == k)
        assert together.coef_[k].tobytes() == alone.coef_[0].tobytes()
        assert together.intercept_[k] == alone.intercept_[0]
        assert together.n_iter_per_class_[k] == alone.n_iter_
        assert together.n_seen_[k] == alone.n_seen_[0]
        mistakes = together.mistakes_per_epoch_[:, k]
        np.testing.assert_array_equal(mistakes[: alone.n_iter_], alone.mistakes_per_epoch_[:, 0])
        assert not mistakes[alone.n_iter_ :].any()
        np.testing.assert_array_equal(together.mistakes_per_example_[:, k], alone.mistakes_per_example_[:, 0])


@pytest.mark.parametrize("classes", [2, 3])
def test_shapes_and_types_of_the_report(engine_name, classes):
    X, y = integer_data(5, classes=classes)
    model = Perceptron(engine=engine_name, track_mistakes=True, **SHARED).fit(X, y)
    width = 1 if classes == 2 else classes
    for name, shape in {
        "mistakes_per_epoch_": (7, width),
        "mistakes_per_example_": (80, width),
        "n_iter_per_class_": (width,),
        "n_seen_": (width,),
    }.items():
        values = getattr(model, name)
        assert (values.shape, values.dtype) == (shape, np.dtype(np.int64)), name
    assert model.coef_.shape == (width, 6)
    assert model.intercept_.shape == (width,)
    assert type(model.n_iter_) is int
    assert type(model.n_mistakes_) is int
    assert model.n_mistakes_ == model.mistakes_per_epoch_.sum() == model.mistakes_per_example_.sum()
    assert model.converged_ is False
    assert all(
        isinstance(v, np.ndarray | int | bool | list) for k, v in flat(model).items() if k.endswith("_")
    )


def test_clean_epoch_ends_the_fit(engine_name):
    X = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]])
    y = np.array([-1, 1, 1, -1, -1, 1])
    model = Perceptron(fit_intercept=False, shuffle=False, track_mistakes=True, engine=engine_name)
    model.fit(X, y)
    np.testing.assert_array_equal(model.coef_, [[3, 1]])
    np.testing.assert_array_equal(model.mistakes_per_epoch_, [[3], [0]])
    np.testing.assert_array_equal(model.mistakes_per_example_, np.c_[[1, 0, 1, 0, 1, 0]])
    assert model.converged_ is True
    model.set_params(track_mistakes=False).fit(X, y)
    assert not hasattr(model, "mistakes_per_example_")


def test_convergence_warning(engine_name):
    X, y = integer_data(0)
    with pytest.warns(ConvergenceWarning, match="max_iter=3") as caught:
        Perceptron(max_iter=3, engine=engine_name).fit(X, y)
    assert [warning.filename for warning in caught] == [__file__], "it points at the caller"
    Perceptron(max_iter=3, tol=None, engine=engine_name).fit(X, y)  # a warning would be an error here
    Perceptron(max_iter=1000, n_iter_no_change=1, engine=engine_name).fit(X, y)


def test_tie_in_prediction(engine_name):
    X, y = np.array([[1.0], [-1.0], [0.0]]), [1, 0, 0]
    for tie, at_zero in (("mistake", 0), ("positive", 1)):
        model = Perceptron(
            tie=tie, engine=engine_name, fit_intercept=False, shuffle=False, max_iter=1, tol=None
        )
        model.fit(X[:2], y[:2])
        assert model.predict([[0.0]])[0] == at_zero


def test_tie_between_classes_goes_to_the_first(engine_name):
    model = Perceptron(engine=engine_name, fit_intercept=False, **SHARED)
    model.fit(np.eye(3), ["b", "a", "c"])
    assert model.predict(np.zeros((1, 3)))[0] == "a"


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_change_nothing(engine_name, threads):
    X, y = integer_data(9, classes=4)
    X = X / 3
    one = Perceptron(engine=engine_name, **SHARED).fit(X, y)
    many = Perceptron(engine=engine_name, n_jobs=threads, **SHARED).fit(X, y)
    assert one.coef_.tobytes() == many.coef_.tobytes()
    assert one.decision_function(X).tobytes() == many.decision_function(X).tobytes()


LABELS = {
    "int64": np.array([3, -2, 40]),
    "far apart": np.array([-(2**62), 0, 2**62]),
    "uint64": np.array([2**63, 5, 2**63 + 1], dtype=np.uint64),
    "int8": np.array([-128, 127, 0], dtype=np.int8),
    "float64": np.array([-1.0, 2.0, 0.0]),
    "float32": np.array([-1.0, 2e18, 0.0], dtype=np.float32),
    "float16": np.array([2047.0, -2048.0, 0.0], dtype=np.float16),  # float16 rounds their difference
    "strings": np.array(["b", "a", "ccc"]),
    "objects": np.array(["b", "a", "ccc"], dtype=object),
    "big-endian": np.array([3, 1, 2], dtype=">i4"),
}


@pytest.mark.parametrize("n", [30, 3000])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", LABELS)
def test_labels_of_every_type(name, classes, n):
    from perceptron_rs.targets.labels import encode, encode_new, label_array

    rng = np.random.default_rng(1)
    labels = LABELS[name][:classes][rng.integers(0, classes, n)]
    y = label_array(Perceptron(), labels, n)
    found, index = encode_new(y)
    expected, inverse = np.unique(labels, return_inverse=True)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == labels.dtype.newbyteorder("=")
    assert index.dtype == np.uint32
    np.testing.assert_array_equal(index, inverse)
    np.testing.assert_array_equal(encode(y, found), inverse)


@pytest.mark.parametrize("n", [30, 3000])
def test_labels_of_another_type_than_the_classes(n):
    from perceptron_rs.targets.labels import encode

    where = np.random.default_rng(2).integers(0, 2, n)
    for classes in (np.array([-1, 0, 1]), np.array([-1, 0, 1], dtype=np.float16)):
        for dtype in (np.uint8, np.uint64, np.float16, np.float64):
            np.testing.assert_array_equal(encode(where.astype(dtype), classes), where + 1)
        with pytest.raises(ValueError, match="some labels are numbers, and others are booleans"):
            encode(where.astype(np.bool_), classes)  # as where they stand in one array
    for classes in (2**53 + np.arange(2), 2**53 + np.arange(5)):  # float64 cannot hold all of these
        np.testing.assert_array_equal(encode(classes[where].astype(np.uint64), classes), where)
        with pytest.raises(ValueError, match="not in classes_"):
            encode(np.full(n, 2.0**53), classes + 1)


def test_booleans_are_labels(engine_name):
    model = Perceptron(engine=engine_name, **SHARED).fit([[1], [-1]], [True, False])
    assert model.classes_.dtype == bool
    assert model.predict([[2]])[0] is np.True_
