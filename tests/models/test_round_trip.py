"""A loaded model is the one that was saved: attributes, predictions, and what it learns from there on."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from tests.learners import LINEAR, ONLINE

import perceptron_rs
from perceptron_rs import (
    AveragedPerceptron,
    Perceptron,
    PocketPerceptron,
    StructuredPerceptron,
    load,
)
from perceptron_rs.models import describe
from perceptron_rs.models.container import FORMAT_VERSION
from perceptron_rs.registry import REGISTRY

#: Estimators that model files do not hold.
BY_PICKLE = {StructuredPerceptron}


def again(model, tmp_path):
    model.save(tmp_path / "model")
    return load(tmp_path / "model")


def test_the_registry_names_every_estimator():
    public = [getattr(perceptron_rs, name) for name in perceptron_rs.__all__]
    learners = {thing for thing in public if inspect.isclass(thing) and issubclass(thing, BaseEstimator)}
    assert {learner.kind for learner in REGISTRY.values()} == learners - BY_PICKLE


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("track", [False, True])
def test_everything_comes_back(tools, learner, classes, track, tmp_path):
    model = tools.fitted(learner, classes, track_mistakes=track, eta0=0.1, random_state=7, n_jobs=2)
    loaded = again(model, tmp_path)
    assert type(loaded) is learner
    assert tools.contents(loaded) == tools.contents(model)
    X, _ = tools.data(classes, seed=5)
    assert loaded.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    assert all(value.flags.writeable for value in vars(loaded).values() if isinstance(value, np.ndarray))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("learner", ONLINE)
def test_partial_fit_goes_on_with_the_same_bits(tools, engine_name, learner, classes, tmp_path):
    X, y = tools.data(classes)
    model = learner(engine=engine_name, eta0=0.3)
    model.partial_fit(X[:7], y[:7], classes=np.arange(classes))
    loaded = again(model, tmp_path)
    for part in (slice(7, 20), slice(20, 40)):
        model.partial_fit(X[part], y[part])
        loaded = again(loaded.partial_fit(X[part], y[part]), tmp_path)
    assert tools.contents(loaded) == tools.contents(model)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_warm_fit_goes_on_with_the_same_bits(tools, engine_name, learner, classes, tmp_path):
    X, y = tools.data(classes)
    parameters = {"engine": engine_name, "warm_start": True, "tol": None, "random_state": 3, "eta0": 0.3}
    model = learner(max_iter=2, **parameters).fit(X, y)
    loaded = again(model, tmp_path)
    whole = learner(max_iter=5, **parameters).fit(X, y)
    for parts in (model, loaded):
        parts.set_params(max_iter=3).fit(X, y)
        if learner is not PocketPerceptron:  # its second fit starts from the pocket
            assert parts.coef_.tobytes() == whole.coef_.tobytes()
    assert tools.contents(loaded) == tools.contents(model)


@pytest.mark.parametrize(
    ("learner", "options"),
    [
        (learner, options)
        for learner in LINEAR
        for options in (
            {"multi_class": "joint"},
            {"multi_class": "joint", "early_stopping": True, "track_mistakes": True},
            {"early_stopping": True, "tol": 0.1, "max_iter": 50, "n_iter_no_change": 5},
            {"added_feature": 0.5, "margin_threshold": 2.0, "max_mistakes_per_example": 3},
        )
        if options.keys() <= learner().get_params().keys()
    ],
    ids=str,
)
@pytest.mark.parametrize("classes", [2, 3])
def test_options_come_back(tools, learner, classes, options, tmp_path):
    model = tools.fitted(learner, classes, **options)
    assert tools.contents(again(model, tmp_path)) == tools.contents(model)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_pending_penalties_come_back(tools, engine_name, penalty, tmp_path):
    X, y = tools.data(3)
    model = Perceptron(engine=engine_name, penalty=penalty, alpha=0.01)
    model.partial_fit(np.where(X > 0, X, 0)[:9], y[:9], classes=np.arange(3))
    assert "strengths" in model._model.state()
    loaded = again(model, tmp_path)
    assert tools.contents(loaded) == tools.contents(model)
    for each in (model, loaded):
        each.partial_fit(X[9:], y[9:])
    assert tools.contents(loaded) == tools.contents(model)


CLASSES = [
    np.array([False, True]),
    np.array(["ham", "spam"]),
    np.array(["", '\u00e9\ud800\n\t"', "\U0001f600"], dtype=object),
    np.array(["a", "a much longer name", "b"]),
    np.array([-1.0, 0.0, 2.0**60]),
    np.array([-3, 5], dtype=np.float16),
    np.array([1, 2**24], dtype=np.float32),
    *(np.array([np.iinfo(t).min, 1, np.iinfo(t).max], dtype=t) for t in "bhiqBHIQ"),
]


@pytest.mark.parametrize("classes", CLASSES, ids=lambda classes: classes.dtype.str)
def test_classes_of_every_type(classes, learner, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)), np.tile(classes, 12)[:12]
    model = learner(tol=None, max_iter=2).fit(X, y)
    loaded = again(model, tmp_path)
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.classes_.tolist() == model.classes_.tolist()
    found = loaded.predict(X)
    assert found.dtype == model.predict(X).dtype
    assert found.tolist() == model.predict(X).tolist()
    (loaded.partial_fit if hasattr(loaded, "partial_fit") else loaded.fit)(X, y)


def test_a_string_type_comes_back_as_wide_as_the_longest(tmp_path):
    model = Perceptron().fit([[0], [1]], np.array(["no", "yes"], dtype="<U40"))
    assert again(model, tmp_path).classes_.dtype == "<U3"


def test_feature_names(learner, tmp_path):
    X = pd.DataFrame({"b": [0.0, 1, 2], "\u00fc\n": [1.0, 0, 1], 'quote "': [1, 2, 3]})
    model = learner().fit(X, [0, 1, 1])
    loaded = again(model, tmp_path)
    assert loaded.feature_names_in_.dtype == object
    assert loaded.feature_names_in_.tolist() == list(X.columns)
    loaded.predict(X)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(X[reversed(X.columns)])


scalars = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(-1e300, 1e300).map(lambda x: float(round(x))),
    st.text(),
)


@given(
    classes=st.one_of(
        st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=5, unique=True),
        st.lists(
            st.text(max_size=4).filter(lambda x: not x.endswith("\0")), min_size=2, max_size=5, unique=True
        ),
    ),
    columns=st.integers(1, 9),
    start=st.randoms(use_true_random=False),
    weights=st.data(),
    averaged=st.booleans(),
    eta0=st.floats(1e-300, 1e10),
    class_weight=st.dictionaries(scalars, st.floats(0, 10), max_size=3),
)
def test_any_weights_and_parameters(
    tmp_path_factory, tools, classes, columns, start, weights, averaged, eta0, class_weight
):
    planes = 1 if len(classes) == 2 else len(classes)
    floats = st.floats(-1e290, 1e290, allow_subnormal=True)
    coef = weights.draw(hnp.arrays(np.float64, (planes, columns), elements=floats))
    learner = AveragedPerceptron if averaged else Perceptron
    X = np.zeros((len(classes), columns))
    model = learner(max_iter=1, tol=None, eta0=1.0).fit(X, np.array(classes), coef_init=coef)
    model.set_params(eta0=eta0, class_weight=class_weight, validation_fraction=eta0 / (eta0 + 1) or 0.5)
    if not 0 < model.validation_fraction < 1:
        model.validation_fraction = 0.5
    path = tmp_path_factory.mktemp("any") / "model"
    model.save(path)
    loaded = load(path)
    assert tools.contents(loaded) == tools.contents(model)
    assert [type(key) for key in loaded.class_weight] == [type(key) for key in class_weight]


def test_numbers_of_numpy_become_those_of_python(tmp_path):
    model = Perceptron(
        eta0=np.float32(0.1), max_iter=np.int16(5), shuffle=np.bool_(True), tol=None,
        class_weight={np.int64(0): np.float64(2), np.uint8(1): np.float32(0.1)}, random_state=np.uint8(9),
    ).fit([[0], [1]], [0, 1])  # fmt: skip
    loaded = again(model, tmp_path)
    assert (loaded.eta0, type(loaded.eta0)) == (float(np.float32(0.1)), float)
    assert [type(value) for value in (loaded.max_iter, loaded.shuffle, loaded.random_state)] == [
        int,
        bool,
        int,
    ]
    assert loaded.class_weight == {0: 2.0, 1: float(np.float32(0.1))}
    assert {type(part) for pair in loaded.class_weight.items() for part in pair} == {int, float}


def test_weights_set_by_hand_are_saved_as_float64(tmp_path):
    model = Perceptron().fit([[0, 1], [1, 0]], [0, 1])
    model.coef_, model.intercept_ = [[1, 2]], np.array([3], dtype=np.float32)
    loaded = again(model, tmp_path)
    assert (loaded.coef_.tolist(), loaded.coef_.dtype) == ([[1.0, 2.0]], np.float64)
    assert loaded.intercept_.tolist() == [3.0]


def test_saving_changes_nothing_and_the_bytes_are_always_the_same(tools, learner, tmp_path):
    model = tools.fitted(learner)
    before = pickle.dumps(model)
    for name in "ab":
        model.save(tmp_path / name)
    assert pickle.dumps(model) == before
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    load(tmp_path / "a").save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_another_process_writes_the_same_bytes(tools, tmp_path):
    tools.fitted(Perceptron).save(tmp_path / "a")
    script = (
        f"import perceptron_rs; perceptron_rs.load({str(tmp_path / 'a')!r}).save({str(tmp_path / 'b')!r})"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_format_is_the_one_that_is_documented(tools, folder):
    document, tensors = tools.take_apart(folder.saved())
    assert sorted(tensors) == [
        "coef", "coef_u", "intercept", "intercept_u", "loss_curve", "mistakes_per_epoch", "n_iter_per_class",
        "seen",
    ]  # fmt: skip
    assert document["format_version"] == FORMAT_VERSION
    assert document["arithmetic_version"] == perceptron_rs.ARITHMETIC_VERSION
    assert document["written_by"] == f"perceptrons {perceptron_rs.__version__}"
    assert document["estimator"] == "averaged"
    assert document["classes"] == {"type": "int64", "values": [0, 1, 2]}
    model = tools.fitted()
    assert np.frombuffer(tensors["coef"][2]).tolist() == model.last_coef_.ravel().tolist()
    assert tools.contents(folder.loaded(tools.put_together(document, tensors))) == tools.contents(model)


def test_a_file_describes_itself(tools, folder):
    document, tensors = tools.take_apart(folder.saved())
    shapes = {"F64": "float64", "I64": "int64"}
    expected = {name: [shapes[dtype], shape] for name, (dtype, shape, _) in tensors.items()}
    del document["sha256"]
    found = describe(folder.path / "saved.safetensors")
    assert found == document | {"tensors": expected}
    assert found["history"] == {
        "converged": False,
        "epochs": 3,
        "n_features": 4,
        "n_iter": 3,
        "n_mistakes": tools.fitted().n_mistakes_,
    }
    (folder.path / "other").write_bytes(b"{}")
    with pytest.raises(ValueError, match=r"cannot load '.*other'"):
        describe(folder.path / "other")


def test_what_cannot_be_saved_is_refused_with_a_remedy(tools, tmp_path):
    def refused(model, pattern, error=ValueError):
        with pytest.raises(error, match=pattern):
            model.save(tmp_path / "model")
        assert list(tmp_path.iterdir()) == []

    refused(Perceptron(), "not fitted", NotFittedError)
    refused(tools.fitted(random_state=np.random.RandomState(1)), r"RandomState.*set_params\(random_state=0\)")
    refused(tools.fitted().set_params(eta0=-1.0), "eta0")
    refused(tools.fitted().set_params(max_iter="many"), "max_iter")
    refused(tools.fitted(Perceptron).set_params(multi_class="joint", tie="positive"), "tie='positive' is not")
    refused(tools.fitted().set_params(eta0=Fraction(1, 3)), r"eta0=Fraction\(1, 3\) cannot be written")
    refused(tools.fitted().set_params(n_jobs=10**300), "n_jobs=.*cannot be written")
    refused(tools.fitted().set_params(class_weight={(0, 1): 2.0}), "class_weight=.*cannot be written")

    class Mine(Perceptron):
        pass

    refused(tools.fitted(Mine), "Mine is not one of the learners")
    model = tools.fitted(Perceptron)
    model.coef_ = model.coef_[:, :-1]
    refused(model, r"coef has the shape \(3, 3\), .* \(3, 4\) is needed; fit again before saving")


def test_a_description_too_long_for_the_format_is_refused(monkeypatch, tools, tmp_path):
    monkeypatch.setattr("perceptron_rs.models.container._LARGEST_HEADER", 1000)
    with pytest.raises(ValueError, match="holds at most 1000; shorten the feature names"):
        tools.fitted().save(tmp_path / "model")


@pytest.mark.parametrize("classes", [2, 3])
def test_a_fit_that_was_interrupted_in_its_first_epoch(tools, learner, classes, tmp_path):
    """As keep_on_interrupt leaves it."""
    model = tools.fitted(learner, classes, warm_start=True, keep_on_interrupt=True)
    model.n_iter_per_class_ = model.n_iter_per_class_ * 0
    model.mistakes_per_epoch_, model.loss_curve_ = model.mistakes_per_epoch_[:0], []
    model.n_iter_ = model.n_mistakes_ = 0
    loaded = again(model, tmp_path)
    assert tools.contents(loaded) == tools.contents(model)
    loaded.fit(*tools.data(classes))


@pytest.mark.parametrize("end", [True, KeyboardInterrupt])
def test_a_fit_that_its_callback_ends_and_the_callback_is_not_saved(tools, learner, end, tmp_path):
    def callback(record):
        if record.epoch == 1 and end is KeyboardInterrupt:
            raise end
        return record.epoch == 1

    X, y = tools.data()
    model = learner(callback=callback, keep_on_interrupt=True, tol=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    loaded = again(model, tmp_path)
    assert loaded.callback is None
    assert loaded.keep_on_interrupt
    assert loaded.n_iter_ == 2
    assert tools.contents(loaded) == tools.contents(model)


def test_a_pipeline_s_last_step_can_be_saved(tools, tmp_path):
    X, y = tools.data()
    pipe = make_pipeline(clone(tools.fitted())).fit(X, y)
    pipe[-1].save(tmp_path / "model")
    assert load(tmp_path / "model").predict(X).tolist() == pipe.predict(X).tolist()
