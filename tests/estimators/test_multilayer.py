"""MultilayerPerceptron: what it learns, and how it behaves as an estimator."""

import copy
import re

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.neural_network import MLPClassifier
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.support import contents

from perceptron_rs import MultilayerPerceptron, Perceptron
from perceptron_rs.engines import get_engine
from perceptron_rs.state.fitted_attributes import flat

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])


WHY = "a weight scales the gradient; repeating makes two steps, in another order"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": WHY,
    "check_sample_weight_equivalence_on_sparse_data": WHY,
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [MultilayerPerceptron()],
    expected_failed_checks=lambda _: EXPECTED,
)
def test_sklearn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("seed", range(20))
def test_learns_exclusive_or_from_every_seed(seed):
    X, y = XOR
    model = MultilayerPerceptron(
        (4,), activation="tanh", alpha=0, learning_rate_init=0.1, max_iter=2000, tol=None, random_state=seed
    )
    assert model.fit(X, y).predict(X).tolist() == y.tolist()
    assert model.loss_ < 0.1


def test_a_single_layer_does_not_learn_it():
    X, y = XOR
    assert Perceptron(tol=None).fit(X, y).score(X, y) < 1
    model = MultilayerPerceptron((), learning_rate_init=0.1, tol=None, max_iter=500).fit(X, y)
    assert model.score(X, y) < 1
    assert model.loss_ > 0.6


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_digits_as_well_as_scikit_learn(activation):
    X, y = load_digits(return_X_y=True)
    X = X / 16
    train, test = np.arange(len(y)) % 3 > 0, np.arange(len(y)) % 3 == 0
    same = {
        "hidden_layer_sizes": (32,), "activation": activation, "learning_rate_init": 0.1, "batch_size": 10,
        "max_iter": 30, "random_state": 0,
    }  # fmt: skip
    theirs = MLPClassifier(solver="sgd", momentum=0.0, tol=0.0, **same)
    with pytest.warns(ConvergenceWarning):
        theirs.fit(X[train], y[train])
    ours = MultilayerPerceptron(tol=None, **same).fit(X[train], y[train])
    assert ours.n_iter_ == theirs.n_iter_ == 30
    accuracy = ours.score(X[test], y[test])
    print(activation, accuracy, theirs.score(X[test], y[test]))
    assert accuracy > 0.93
    assert accuracy >= theirs.score(X[test], y[test]) - 0.01


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_predictions_are_those_of_scikit_learn_with_the_same_weights():
    X, y = load_iris(return_X_y=True)
    for labels, rows in ((y, X), (y[:100], X[:100])):
        theirs = MLPClassifier((7, 3), solver="lbfgs", max_iter=40, random_state=0, activation="logistic")
        theirs.fit(rows, labels)
        ours = MultilayerPerceptron((7, 3), activation="logistic", max_iter=1, tol=None).fit(rows, labels)
        assert [w.shape for w in ours.coefs_] == [w.shape for w in theirs.coefs_]
        for name in ("n_outputs_", "n_layers_", "out_activation_"):
            assert getattr(ours, name) == getattr(theirs, name)
        ours.coefs_, ours.intercepts_ = theirs.coefs_, theirs.intercepts_
        np.testing.assert_allclose(
            ours.predict_proba(rows), theirs.predict_proba(rows), rtol=1e-12, atol=1e-300
        )
        assert np.array_equal(ours.predict(rows), theirs.predict(rows))


@pytest.mark.parametrize("classes", [2, 3])
def test_both_engines_and_all_storages_give_the_same_bits(classes):
    X, y = load_iris(return_X_y=True)
    X, y = np.round(X[: 50 * classes] * 10), y[: 50 * classes]
    answers = set()
    for engine in ("rust", "reference"):
        for data in (X, X.astype(np.uint8), X.astype(np.float32), sp.csr_matrix(X)):
            model = MultilayerPerceptron((3,), max_iter=2, tol=None, batch_size=7, engine=engine)
            model.fit(data * 1, y)
            answers.add(b"".join(w.tobytes() for w in model.coefs_) + model.predict_proba(data).tobytes())
    assert len(answers) == 1


def test_partial_fit_is_an_epoch_in_stored_order():
    X, y = load_iris(return_X_y=True)
    one = MultilayerPerceptron((4,), shuffle=False, tol=None, max_iter=1, batch_size=10).fit(X, y)
    other = MultilayerPerceptron((4,), batch_size=10)
    for begin in range(0, 150, 50):
        other.partial_fit(X[begin : begin + 50], y[begin : begin + 50], classes=[0, 1, 2])
    assert all(np.array_equal(a, b) for a, b in zip(one.coefs_, other.coefs_, strict=True))


def test_a_pass_over_other_layers_is_refused_with_a_remedy_that_works():
    """``partial_fit`` goes on whatever ``warm_start`` is, so setting it alone would change nothing."""
    X, y = [[0.0, 1], [1, 0]], [0, 1]
    few = {"tol": None, "max_iter": 2}
    model = MultilayerPerceptron((4,), **few).partial_fit(X, y, [0, 1]).set_params(hidden_layer_sizes=(3,))
    with pytest.raises(ValueError, match="set it back, or start again by fit"):
        model.partial_fit(X, y)
    assert model.fit(X, y).coefs_[0].shape == (2, 3)
    model = MultilayerPerceptron((4,)).partial_fit(X, y, [0, 1]).set_params(hidden_layer_sizes=(4,))
    assert model.partial_fit(X, y).coefs_[0].shape == (2, 4)
    for same in ([4], np.array([4])):
        assert model.set_params(hidden_layer_sizes=same).partial_fit(X, y).coefs_[0].shape == (2, 4)
    layers = [4]
    model = MultilayerPerceptron(layers, **few).fit(X, y)
    layers[0] = 5
    with pytest.raises(ValueError, match=r"hidden_layer_sizes=\[5\] differs from the fit .* had \(4,\)"):
        model.predict(X)


def test_warm_start_continues_the_epochs():
    X, y = load_iris(return_X_y=True)
    whole = MultilayerPerceptron((4,), tol=None, max_iter=5).fit(X, y)
    parts = MultilayerPerceptron((4,), tol=None, max_iter=2, warm_start=True).fit(X, y)
    parts.set_params(max_iter=3).fit(X, y)
    assert all(np.array_equal(a, b) for a, b in zip(whole.coefs_, parts.coefs_, strict=True))
    assert whole.loss_curve_[2:] == parts.loss_curve_
    with pytest.raises(ValueError, match=r"hidden_layer_sizes=\(5,\) differs from the fit"):
        parts.set_params(hidden_layer_sizes=(5,)).fit(X, y)
    with pytest.raises(ValueError, match="not in classes_"):
        parts.fit(X, y + 1)


BAD = [
    ({"hidden_layer_sizes": (0,)}, "hidden_layer_sizes"),
    ({"hidden_layer_sizes": (2.5,)}, "hidden_layer_sizes"),
    ({"hidden_layer_sizes": -1}, "hidden_layer_sizes"),
    ({"activation": "identity"}, "activation"),
    ({"alpha": -1.0}, "alpha"),
    ({"alpha": np.inf}, "alpha"),
    ({"batch_size": 0}, "batch_size"),
    ({"learning_rate_init": 0.0}, "learning_rate_init"),
    ({"learning_rate_init": np.inf}, "learning_rate_init"),
    ({"max_iter": 0}, "max_iter"),
    ({"tol": -1.0}, "tol"),
    ({"n_iter_no_change": 0}, "n_iter_no_change"),
    ({"engine": "numpy"}, "engine"),
]


@pytest.mark.parametrize(("parameters", "name"), BAD)
def test_bad_parameters(parameters, name):
    X, y = XOR
    model = MultilayerPerceptron((2,), tol=None, max_iter=2).fit(X, y).set_params(**parameters)
    before = contents(model)
    with pytest.raises(ValueError, match=name):
        model.fit(X, y)
    assert contents(model) == before


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e308])
def test_bad_values(value):
    X, y = XOR
    bad = X.copy()
    bad[2:, 0] = value  # of both classes
    model = MultilayerPerceptron((2,), tol=None, max_iter=2).fit(X, y)
    before, parameters = contents(model), model.get_params()
    pattern = "learning_rate_init" if value == 1e308 else "Input X contains (NaN|infinity)"
    with pytest.raises(ValueError, match=pattern):
        model.set_params(hidden_layer_sizes=(), learning_rate_init=1e10, alpha=0).fit(bad, y)
    model.set_params(**parameters)
    assert contents(model) == before
    if not np.isfinite(value):
        with pytest.raises(ValueError, match=pattern):
            model.predict(bad)


def test_words_of_the_docstring():
    text = re.sub(r"\s+", " ", MultilayerPerceptron.__doc__)
    model = MultilayerPerceptron((2,), tol=None, max_iter=1).fit(*XOR)
    for name in {*flat(model), "coefs_", "intercepts_", "predictor_"}:
        if not name.endswith("_") or name[0] == "_":
            continue
        assert f" {name} : " in text, name


def test_needs_a_fit():
    with pytest.raises(NotFittedError):
        MultilayerPerceptron().predict([[0.0]])
    with pytest.raises(ValueError, match="classes must be passed"):
        MultilayerPerceptron().partial_fit([[0.0]], [0])


def test_the_end_of_max_iter_is_told():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="reached max_iter=2 before the stopping criterion"):
        MultilayerPerceptron((2,), max_iter=2).fit(X, y)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("hidden", [(), (4,)])
def test_mistakes_are_those_before_each_step(engine_name, classes, hidden):
    random = np.random.default_rng(classes)
    X, y = random.normal(size=(30, 3)), random.integers(0, classes, 30)
    parameters = {"hidden_layer_sizes": hidden, "tol": None, "shuffle": False, "engine": engine_name}
    whole = MultilayerPerceptron(max_iter=2, **parameters).fit(X, y)
    stream = MultilayerPerceptron(max_iter=1, **parameters).partial_fit(X[:1], y[:1], range(classes))
    counts = [stream.n_mistakes_, 0]  # the start weights cannot be asked
    for t in range(1, 60):
        row = slice(t % 30, t % 30 + 1)
        counts[t // 30] += int(stream.predict(X[row])[0] != y[row][0])
        stream.partial_fit(X[row], y[row])
    assert whole.mistakes_per_epoch_.tolist() == [[count] for count in counts]
    assert whole.n_mistakes_ == sum(counts)
    assert not whole.converged_


def test_an_epoch_without_a_mistake_is_told_and_ends_nothing(engine_name):
    X, y = np.array([[-2.0], [-1], [1], [2]]), [0, 0, 1, 1]
    model = MultilayerPerceptron((), max_iter=30, tol=None, engine=engine_name).fit(X, y)
    assert (model.converged_, model.n_iter_) == (True, 30)
    assert model.mistakes_per_epoch_[-1].tolist() == [0]
    assert model.partial_fit(X, [1, 1, 0, 0]).n_mistakes_ == 4
    assert not model.converged_


def test_equal_outputs_are_judged_as_predict_does(engine_name):
    """Without start weights all outputs are equal: the first class is predicted."""
    for classes in (2, 3):
        model = MultilayerPerceptron((), max_iter=1, tol=None, shuffle=False, engine=engine_name)
        y = np.arange(classes)
        model.partial_fit(np.zeros((classes, 1)), y, y)
        model.intercepts_ = [np.zeros_like(model.intercepts_[0])]
        for label in y:
            again = copy.deepcopy(model).partial_fit(np.zeros((1, 1)), [label])
            assert again.n_mistakes_ == int(label != model.predict(np.zeros((1, 1)))[0]) == int(label != 0)


def test_the_weight_of_an_example_multiplies_what_it_and_its_copies_do_to_a_step():
    """One step of all examples, whose sums a weight of 2 and a row that stands twice change alike."""
    X, y = load_iris(return_X_y=True)
    parts = {"batch_size": 1000, "alpha": 0.0, "max_iter": 1, "tol": None, "shuffle": False}
    twice = np.flatnonzero(y == 1)
    longer = np.concatenate([X, X[twice]]), np.concatenate([y, y[twice]])
    repeated = MultilayerPerceptron((4,), learning_rate_init=0.2, **parts).fit(*longer)
    rate = 0.2 * len(X) / len(longer[0])
    one = MultilayerPerceptron((4,), learning_rate_init=rate, **parts)
    for weighted in (
        clone(one).fit(X, y, sample_weight=1.0 + (y == 1)),
        clone(one).set_params(class_weight={1: 2}).fit(X, y),
        clone(one).set_params(class_weight={1: 4}).fit(X, y, sample_weight=np.where(y == 1, 0.5, 1)),
    ):
        for ours, theirs in zip(weighted.coefs_, repeated.coefs_, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-14)
        assert weighted.loss_ == pytest.approx(repeated.loss_, rel=1e-14)


def test_balanced_classes_and_weights_that_leave_nothing():
    X, y = load_iris(return_X_y=True)
    X, y = X[20:], y[20:]
    weights = compute_class_weight("balanced", classes=np.unique(y), y=y)
    model = MultilayerPerceptron((3,), max_iter=2, tol=None)
    balanced = clone(model).set_params(class_weight="balanced").fit(X, y)
    as_dict = clone(model).set_params(class_weight=dict(enumerate(weights))).fit(X, y)
    assert [w.tobytes() for w in balanced.coefs_] == [w.tobytes() for w in as_dict.coefs_]
    with pytest.raises(ValueError, match="class_weight='balanced' is not supported for partial_fit"):
        balanced.partial_fit(X, y)
    before = contents(balanced)
    for weights, message in (
        (np.zeros(len(y)), "zeros only"),
        (np.full(len(y), 1e308), "too large together"),
        (-np.ones(len(y)), "sample_weight must be finite and >= 0"),
    ):
        with pytest.raises(ValueError, match=message):
            balanced.fit(X, y, sample_weight=weights)
    odd = X.copy()
    odd[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):  # an example of weight 0 is checked, too
        balanced.fit(odd, y, sample_weight=np.arange(len(y)) != 3)
    assert contents(balanced) == before


@pytest.mark.parametrize("names", [("coefs_",), ("intercepts_",), ("coefs_", "intercepts_")], ids=str)
def test_layers_that_are_assigned_are_a_cold_start_from_what_is_shown(names, engine_name):
    """From the start weights that the engine draws, a warm fit is a cold one; the rest stays as shown."""
    X, y = XOR
    model = MultilayerPerceptron((3,), max_iter=4, tol=None, warm_start=True, engine=engine_name)
    cold = clone(model).fit(X, y)
    drawn = get_engine(engine_name).mlp_start(2, (3,), 1, activation="relu", seed=0)
    given = {
        f"{name}s_": [drawn[f"{name}_{layer}"].T for layer in range(2)] for name in ("coef", "intercept")
    }
    model.fit(X, y)
    shown = {name: [array.copy() for array in getattr(model, name)] for name in given}
    held = contents(model)
    for bad in (given[names[0]][:1], [*given[names[0]][:1], np.full((3, 1), np.nan)], [np.zeros((9, 9))] * 2):
        with pytest.raises(ValueError, match=rf"{names[0]}(\[\d\])? (must|has)"):
            setattr(model, names[0], bad)
        assert contents(model) == held
    for name in names:
        setattr(model, name, given[name])
    for name, before in shown.items():
        now = [array.tobytes() for array in getattr(model, name)]
        assert now == [array.tobytes() for array in (given if name in names else shown)[name]]
        for array, layer in zip(getattr(model, name), before, strict=True):
            assert (array.dtype, array.shape) == (layer.dtype, layer.shape)
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1
        with pytest.raises(TypeError):
            getattr(model, name)[0] = before[0]
    model.fit(X, y)
    if len(names) == 2:
        assert [w.tobytes() for w in model.coefs_] == [w.tobytes() for w in cold.coefs_]
    with pytest.raises(AttributeError, match="call fit"):
        MultilayerPerceptron().coefs_ = given["coefs_"]
