"""Bad labels, weights, classes, parameters, and errors in mid-training: nothing changed."""

from __future__ import annotations

import pickle
import signal
import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from perceptron_rs import AveragedPerceptron, Perceptron, SequencePerceptron
from perceptron_rs.registry import REGISTRY

METHODS = ("cold fit", "fit", "warm fit", "partial_fit", "first partial_fit")
N, D = 12, 4
GOOD = np.arange(N * D, dtype=np.float64).reshape(N, D) % 7 - 3
Y = np.arange(N) % 3


def with_value(value, dtype=np.float64):
    X = GOOD.astype(dtype)
    X[5, 2] = value
    return X


def put(index, value):
    def change(array):
        array[index] = value
        return array

    return change


BAD_Y = {
    "None": (None, ValueError, "y"),
    "too short": (Y[:-1], ValueError, "12 rows.*11|inconsistent"),
    "empty": ([], ValueError, "12 rows.*0 entries"),
    "too long": (np.append(Y, 0), ValueError, "12 rows.*13|inconsistent"),
    "two-dimensional": (np.stack([Y, Y], axis=1), ValueError, "more than one column.*0 and 1 alone"),
    "scalar": (1, ValueError, "y must hold one label for each example, got 1; pass a list"),
    "continuous": (Y + 0.5, ValueError, "Unknown label type"),
    "NaN": (np.where(Y == 0, np.nan, Y), ValueError, "NaN"),
    "infinity": (np.where(Y == 0, np.inf, Y), ValueError, "infinity"),
    "complex": (Y + 1j, ValueError, "[Cc]omplex"),
    "datetime": (Y.astype("M8[D]"), TypeError, "datetime64"),
    "bytes": (Y.astype("S1"), TypeError, "bytes"),
    "objects": (np.array([1, "a"] * (N // 2), dtype=object), ValueError, "Unknown label type"),
    "mixed objects": (np.array(["a", 1, None] * 4, dtype=object), (ValueError, TypeError), ""),
    "sparse": (sp.csr_matrix(Y), ValueError, "more than one column.*0 and 1 alone"),
    "masked": (np.ma.masked_equal(Y, 0), ValueError, "masked"),
}
BAD_WEIGHT = {
    "negative": (put(3, -1.0)(np.ones(N)), ValueError, "[Nn]egative|>= 0"),
    "NaN": (put(3, np.nan)(np.ones(N)), ValueError, "NaN"),
    "infinity": (put(3, np.inf)(np.ones(N)), ValueError, "got inf"),
    "all zero": (np.zeros(N), ValueError, "zeros only"),
    "missing among objects": (pd.Series([pd.NA, *[1.0] * (N - 1)], dtype=object), ValueError, "got nan"),
    "too short": (np.ones(N - 1), ValueError, "11"),
    "two-dimensional": (np.ones((N, 1)), ValueError, "a weight for each of 12"),
    "strings": (np.array(["1"] * N), TypeError, "real numbers"),
    "text": ("heavy", TypeError, "real numbers"),
    "complex": (np.ones(N) * 1j, TypeError, "real numbers"),
    "negative number": (-1.0, ValueError, "[Nn]egative|>= 0"),
    "NaN number": (float("nan"), ValueError, "finite"),
    "sparse": (sp.csr_matrix(np.ones(N)), TypeError, "csr_matrix"),
}


def with_each_method(bad, few):
    """All of the bad ones in ``fit``, and a few by the other methods, which look in the same place."""
    return [("fit", name) for name in bad] + [
        (method, name) for method in METHODS if method != "fit" for name in few
    ]


@pytest.mark.parametrize(
    ("method", "name"), with_each_method(BAD_Y, ["None", "too short", "continuous", "NaN", "sparse"])
)
def test_bad_y(attempt, name, method):
    y, error, pattern = BAD_Y[name]
    if name == "continuous" and ("partial" in method or method == "warm fit"):
        pattern = "not in classes_"
    attempt(Perceptron, "rust", method, error, pattern, "y", y=y)


@pytest.mark.parametrize(
    ("method", "name"), with_each_method(BAD_WEIGHT, ["negative", "NaN", "all zero", "too short"])
)
def test_bad_sample_weight(attempt, name, method):
    weight, error, pattern = BAD_WEIGHT[name]
    attempt(AveragedPerceptron, "rust", method, error, pattern, "sample_weight", sample_weight=weight)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("class_weight", "pattern"),
    [
        ({0: -1}, ">= 0"),
        ({0: np.nan}, "finite"),
        ({0: np.inf}, "finite"),
        ({0: "a"}, "float"),
        ({7: 1}, "not in class_weight"),
    ],
)
def test_bad_class_weight(attempt, class_weight, pattern, method):
    attempt(
        Perceptron,
        "rust",
        method,
        ValueError,
        pattern,
        "class_weight",
        parameters={"class_weight": class_weight},
    )


BAD_PARAMETERS = {
    str(parameters): parameters
    for parameters in [
        {"penalty": "l3"},
        {"alpha": -1.0},
        {"margin_threshold": -1.0},
        {"margin_threshold": np.nan},
        {"added_feature": np.inf},
        {"callback": 1},
        {"keep_on_interrupt": "yes"},
        {"eta0": np.inf},
        {"eta0": 10**400},
        {"eta0": np.nan},
        {"eta0": "fast"},
        {"tie": "neither"},
        {"fit_intercept": 2},
        {"track_mistakes": "yes"},
        {"engine": "gpu"},
        {"tol": 10**400},
        {"n_jobs": 0},
    ]
}


@pytest.mark.parametrize(
    ("method", "case"),
    with_each_method(BAD_PARAMETERS, ["{'penalty': 'l3'}", "{'engine': 'gpu'}", "{'n_jobs': 0}"]),
)
def test_bad_parameters(attempt, case, method):
    parameters = BAD_PARAMETERS[case]
    (name,) = parameters
    attempt(Perceptron, "rust", method, ValueError, "", name, parameters=parameters)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("number", [2**64, 10**400])
@pytest.mark.parametrize("learner", [learner.kind for learner in REGISTRY.values()])
def test_whole_numbers_beyond_the_machine_are_accepted_or_named(learner, number):
    X, y = [[[["a"], ["b"]]], [["x", "y"]]] if learner is SequencePerceptron else [np.eye(2), [0, 1]]
    for name, default in learner().get_params().items():
        if isinstance(default, int | float) or name in ("max_vectors", "n_jobs", "gamma", "batch_size"):
            try:
                learner(**{name: number}).fit(X, y)
            except ValueError as error:
                assert name in str(error)  # noqa: PT017  not all are refused


@pytest.mark.parametrize("method", ["cold fit", "fit", "warm fit"])
@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("coef_init", np.ones((2, D)), ValueError),
        ("coef_init", np.ones((3, D + 1)), ValueError),
        ("coef_init", np.ones(3 * D), ValueError),
        ("coef_init", np.full((3, D), np.nan), ValueError),
        ("coef_init", np.ones((3, D)) * 1j, TypeError),
        ("coef_init", "zeros", TypeError),
        ("coef_init", [[1], [2, 3]], ValueError),
        ("intercept_init", np.ones(2), ValueError),
        ("intercept_init", np.ones((3, 1)), ValueError),
        ("intercept_init", 1.0, ValueError),
        ("intercept_init", [np.inf, 0, 0], ValueError),
    ],
)
def test_bad_start_values(attempt, name, value, error, method):
    attempt(AveragedPerceptron, "rust", method, error, "", name, **{name: value})


@pytest.mark.parametrize("method", METHODS[:2])
def test_one_class(attempt, method):
    attempt(Perceptron, "rust", method, ValueError, "number of classes.* got 1", "y", y=np.zeros(N))


@pytest.mark.parametrize("method", ["partial_fit", "first partial_fit"])
@pytest.mark.parametrize("y", [np.where(Y == 0, 9, Y), Y - 1.0, np.array(["a", "b", "c"])[Y], Y * 10**6])
def test_unknown_labels(attempt, y, method):
    attempt(Perceptron, "rust", method, ValueError, "not in classes_", "y", y=y)


def test_unknown_labels_are_listed():
    for y, listed in (
        ([9, 0, 7, 9], "7, 9"),
        ([9, 8, 7, 6, 5, 0], "5, 6, 7, 8, 9"),
        ([9, 8, 7, 6, 5, 4, 0], r"4, 5, 6, 7, 8, \.\.\."),
    ):
        with pytest.raises(ValueError, match=rf"not in classes_ \[0, 1\]: {listed};"):
            Perceptron().partial_fit(GOOD[: len(y)], y, classes=[0, 1])


@pytest.mark.parametrize(
    ("classes", "error"),
    [
        (None, ValueError),
        ([0], ValueError),
        ([], ValueError),
        ([0.5, 1], ValueError),
        ([0, np.nan], ValueError),
        ([[0, 1], [2, 3]], ValueError),
        (3, ValueError),
    ],
)
def test_bad_classes(attempt, classes, error):
    attempt(Perceptron, "rust", "first partial_fit", error, "", "classes", classes=classes)


def test_other_classes_than_before(attempt):
    attempt(Perceptron, "rust", "partial_fit", ValueError, "not the same", "classes", classes=[0, 1])


@pytest.mark.parametrize("method", ["partial_fit", "decision_function"])
def test_other_number_of_features(frozen, engine_name, method):
    model = Perceptron(engine=engine_name, tol=None, max_iter=1).fit(GOOD, Y)
    before = frozen(model.__getstate__())
    with pytest.raises(ValueError, match="X has 3 features, but Perceptron is expecting 4"):
        getattr(model, method)(GOOD[:, :3], *([Y] if method == "partial_fit" else []))
    assert frozen(model.__getstate__()) == before


def test_warm_start_with_another_problem(attempt):
    attempt(Perceptron, "rust", "warm fit", ValueError, "expecting 4 features", "X", X=GOOD[:, :3])
    attempt(Perceptron, "rust", "warm fit", ValueError, "warm_start", "y", y=Y + 1)


@pytest.mark.parametrize("method", ["decision_function", "predict"])
def test_not_fitted(engine_name, method):
    with pytest.raises(NotFittedError):
        getattr(Perceptron(engine=engine_name), method)(GOOD)


@pytest.mark.parametrize("method", METHODS)
def test_overflow_names_the_epoch(attempt, engine_name, method):
    X = np.where(GOOD == 0, 1.0, GOOD) * 1e307
    epoch = {"warm fit": 2}.get(method, 0)
    attempt(AveragedPerceptron, engine_name, method, ValueError, f"epoch {epoch} ", "features", X=X)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix])
def test_rows_of_weight_zero_are_looked_at(attempt, engine_name, method, value, convert):
    weight = put(5, 0.0)(np.ones(N))
    attempt(
        Perceptron,
        engine_name,
        method,
        ValueError,
        "NaN|infinity",
        "X",
        X=convert(with_value(value)),
        sample_weight=weight,
    )


def test_rows_of_class_weight_zero_are_looked_at(engine_name):
    y = (Y == 2).astype(int)
    assert y[5] == 1
    model = Perceptron(engine=engine_name, class_weight={1: 0}, tol=None)
    with pytest.raises(ValueError, match="X contains NaN"):
        model.fit(with_value(np.nan), y)
    with pytest.raises(ValueError, match="class_weight"):
        model.partial_fit(GOOD[y == 1], y[y == 1], classes=[0, 1])


def test_interrupt_leaves_the_estimator_as_it_was(frozen, engine_name, monkeypatch):
    model = AveragedPerceptron(engine=engine_name, tol=None, max_iter=2).fit(GOOD, Y)
    before = frozen(model.__getstate__())
    monkeypatch.setattr(
        AveragedPerceptron, "_publish", lambda self, state: (_ for _ in ()).throw(KeyboardInterrupt)
    )
    with pytest.raises(KeyboardInterrupt):
        model.fit(GOOD + 1, Y)
    assert frozen(model.__getstate__()) == before


@pytest.mark.filterwarnings("error")
def test_warning_as_error_leaves_the_estimator_as_it_was(frozen, engine_name):
    model = Perceptron(engine=engine_name, max_iter=1)
    before = frozen(model.__getstate__())
    with pytest.raises(Warning, match="max_iter=1"):
        model.fit(GOOD, Y)
    assert frozen(model.__getstate__()) == before


def test_weights_that_overflow_in_prediction_are_no_error(engine_name):
    model = Perceptron(engine=engine_name, tol=None, max_iter=1)
    model.fit(GOOD[:, :1], Y == 0, coef_init=[1e307])
    assert np.isinf(model.decision_function([[1e308]]))[0]


@pytest.fixture
def interruptible():
    """A runner that starts tests in the background may have switched SIGINT off."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, previous)


@pytest.mark.usefixtures("interruptible")
def test_interrupt_from_the_keyboard(frozen, engine_name):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, D)), rng.integers(0, 2, 20_000)
    press = threading.Thread(target=signal.raise_signal, args=[signal.SIGINT])
    first = {0: press.start}  # while the second epoch is learnt, or the hook is called
    model = AveragedPerceptron(engine=engine_name, max_iter=10**7, tol=None)
    model.partial_fit(X[:100], y[:100], classes=[0, 1])
    model.callback = lambda record: first.get(record.epoch, bool)()
    before = frozen(model.__getstate__())
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert frozen(model.__getstate__()) == before


def test_a_penalty_of_a_step_must_be_finite(engine_name):
    """Its strength times the rate, which the reference takes as it is."""
    model = Perceptron(penalty="l2", alpha=1e300, eta0=1e300, engine=engine_name)
    with pytest.raises(ValueError, match=r"^alpha must be finite times eta0, 1e\+300, got 1e\+300"):
        model.fit(GOOD, Y)


@pytest.mark.parametrize("kind", [learner.kind for learner in REGISTRY.values()])
def test_methods_are_pickled_by_name(kind):
    """So ``client.submit(Perceptron.fit, ...)`` sends no code, though Python names them by a base class."""
    for method in (kind.fit, kind.predict, kind.save):
        assert pickle.loads(pickle.dumps(method)) is method
