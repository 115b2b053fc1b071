"""Passes of an estimator whose parameters, weights or class have changed since the last one."""

import copy
import gc
import weakref
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from tests.estimators.passes import KINDS, NUMBER, X, begun, by_runs, one_by_one
from tests.learners import PASSES
from tests.support import contents

from perceptron_rs import Perceptron
from perceptron_rs.audit import RECORD
from perceptron_rs.engines import ENGINES

CHANGES = [
    {"eta0": 0.25},
    {"tie": "positive"},
    {"fit_intercept": False},
    {"margin_threshold": 2.0},
    {"track_mistakes": True},
    {"class_weight": {0: 0.5, 1: 2.0}},
    {"callback": print},
    {"penalty": "l2", "alpha": 0.1},
    {"penalty": "l2", "alpha": 0},
    {"engine": "reference"},
    {"engine": "rust"},
]


@pytest.mark.parametrize(
    ("learner", "engine_name", "change"),
    [
        (learner, engine, change)
        for learner in PASSES
        for engine in ENGINES
        for change in CHANGES
        if change.keys() <= {*learner().get_params()} and change.get("engine") != engine
    ],
    ids=str,
)
def test_parameters_change_between_calls(learner, change, engine_name):
    model, checked = (begun(learner, NUMBER, engine=engine_name) for _ in range(2))
    original = {name: getattr(model, name) for name in change}
    for start, changes in [(1, {}), (13, change), (25, original)]:
        one_by_one(model.set_params(**changes), X, NUMBER, start, start + 12)
        by_runs(checked.set_params(**changes), X, NUMBER, start, start + 12)
        assert contents(model) == contents(checked)


def test_parameters_of_a_choice_change(engine_name):
    """``alpha`` and ``joint_update`` matter with some values of ``penalty`` and ``multi_class`` only."""
    for options, name, values in [
        ({"multi_class": "joint"}, "joint_update", ("uniform", "proportional", "max")),
        ({"penalty": "l1"}, "alpha", (0, 0.1, 0)),
    ]:
        model, checked = (begun(Perceptron, NUMBER, engine=engine_name, **options) for _ in range(2))
        for start, value in zip((1, 20, 40), values, strict=True):
            one_by_one(model.set_params(**{name: value}), X, NUMBER, start, start + 19)
            by_runs(checked.set_params(**{name: value}), X, NUMBER, start, start + 19)
            assert contents(model) == contents(checked)


def test_weights_that_are_assigned_forget_what_the_fit_said():
    model = Perceptron(max_iter=3, tol=None, warm_start=True, audit=True).fit(X, NUMBER).sparsify()
    assert hasattr(model, RECORD)
    model.intercept_ = np.zeros_like(model.intercept_)
    assert not hasattr(model, RECORD)
    assert type(model.coef_) is np.ndarray
    epochs = []
    model.set_params(audit=False, callback=lambda record: epochs.append(record.epoch)).fit(X, NUMBER)
    assert epochs == [0, 1, 2]


@pytest.mark.parametrize("learner", PASSES)
def test_weights_are_assigned_between_calls(learner, engine_name):
    """Of whatever type and order; the learner starts anew from them."""
    model, checked = (begun(learner, NUMBER, engine=engine_name) for _ in range(2))
    for number, change in enumerate(
        [
            lambda w: w.astype(np.float32),
            np.asfortranarray,
            np.ndarray.tolist,
            lambda w: np.where(w == w, -0.0, w),
        ]
    ):
        part = slice(1 + number, 2 + number)
        for one in (model, checked):
            one.coef_ = change(np.array(one.coef_))
        assert not model.n_seen_.any()
        model.partial_fit(X[part], NUMBER[part], check_input=False)
        by_runs(checked, X, NUMBER, part.start, part.stop)
        assert contents(model) == contents(checked)


class Fewer(Perceptron):
    """Has fewer parameters of its own than it depends on, and one that leads back to it."""

    def __init__(self, eta0=1.0, owner=None):
        super().__init__(eta0=eta0)
        self.owner = owner


@pytest.mark.parametrize("change", [{"class_weight": {0: 0.5}}, {"fit_intercept": False}, {"penalty": "l2"}])
def test_parameters_that_a_subclass_does_not_name(change, engine_name):
    model, checked = (begun(Fewer, NUMBER) for _ in range(2))
    for one in (model, checked):
        one.engine = engine_name
    one_by_one(model, X, NUMBER, 1, 20)
    by_runs(checked, X, NUMBER, 1, 20)
    for one in (model, checked):
        vars(one).update(change)
    one_by_one(model, X, NUMBER, 20, 40)
    assert contents(model) == contents(by_runs(checked, X, NUMBER, 20, 40))


def test_nothing_is_kept_that_leads_back_to_an_estimator():
    model = begun(Fewer, NUMBER, owner=[])
    model.owner.append(model)
    one_by_one(model, X, NUMBER, 1, 9)
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


class Asked(str):
    """Calls whoever is interested when it is compared."""

    __slots__ = ()
    __hash__ = str.__hash__
    asked = staticmethod(lambda: None)

    def __eq__(self, other):
        Asked.asked()
        return str.__eq__(self, other)


def test_labels_that_teach_the_estimator_when_they_are_compared(monkeypatch):
    labels = np.array(["a", "b"], dtype=object)
    model = Perceptron().partial_fit(X[:1], labels[:1], labels)
    held = model.n_seen_

    def teaches():
        monkeypatch.setattr(Asked, "asked", lambda: None)
        model.partial_fit(X[:1], labels[:1], check_input=False)

    monkeypatch.setattr(Asked, "asked", teaches)
    model.partial_fit(X[:1], np.array([Asked("b")], dtype=object), check_input=False)
    assert (held.tolist(), model.n_seen_.tolist()) == ([1], [3])


class Compared(float):
    """Calls whoever is interested when it is compared."""

    asked = staticmethod(lambda: None)
    __hash__ = float.__hash__

    def __eq__(self, other):
        Compared.asked()
        return float.__eq__(self, other)


@pytest.mark.parametrize("warm_start", [False, True])
def test_a_fit_while_parameters_are_compared(warm_start, engine_name, monkeypatch):
    """As another thread may make one: the pass goes on from it, with its classes."""
    model = one_by_one(begun(Perceptron, NUMBER, engine=engine_name), X, NUMBER, 1, 9)
    other, classes = copy.deepcopy(model), NUMBER if warm_start else NUMBER + 1
    model.set_params(eta0=Compared(1.0))

    def fits():
        monkeypatch.setattr(Compared, "asked", lambda: None)
        model.set_params(max_iter=1, tol=None, warm_start=warm_start).fit(X, classes)

    monkeypatch.setattr(Compared, "asked", fits)
    model.partial_fit(X[:1], classes[:1], check_input=False)
    other.set_params(max_iter=1, tol=None, warm_start=warm_start).fit(X, classes)
    other.partial_fit(X[:1], classes[:1])
    assert model.classes_.tolist() == other.classes_.tolist()
    assert model.n_seen_.tolist() == other.n_seen_.tolist()
    assert model.coef_.tobytes() == other.coef_.tobytes()


def test_weights_of_classes_in_another_mapping(engine_name):
    """It is refused, as by ``fit``, though it equals the dict that was there."""
    model = one_by_one(begun(Perceptron, NUMBER, engine=engine_name, class_weight={0: 2.0}), X, NUMBER, 1, 9)
    model.class_weight = MappingProxyType({0: 2.0})
    with pytest.raises(TypeError, match="class_weight"):
        one_by_one(model, X, NUMBER, 9, 10)


def test_attributes_of_others(engine_name, runs):
    """They neither hide a parameter that changes nor keep a pass from the short way."""
    model, checked = (begun(Perceptron, NUMBER, engine=engine_name) for _ in range(2))
    for i in range(1, 30):
        model.note = i
        if i in (9, 10):
            del model.note
        model.eta0 = 0.25 if i > 20 else 1.0
        one_by_one(model, X, NUMBER, i, i + 1)
    assert not runs
    by_runs(checked, X, NUMBER, 1, 21)
    by_runs(checked.set_params(eta0=0.25), X, NUMBER, 21, 31)
    del model.note
    model.loss_curve_ = [1.0]  # in the place of the other one; no pass leaves it
    one_by_one(model, X, NUMBER, 30, 31)
    assert contents(model) == contents(checked)


@pytest.mark.parametrize("learner", PASSES)
def test_a_new_fit_between_calls(learner, engine_name):
    model = one_by_one(begun(learner, NUMBER, engine=engine_name), X, NUMBER)
    other = np.array([5, 6])[NUMBER % 2]
    model.set_params(max_iter=2, tol=None, track_mistakes=True).fit(X[:, :4], other)
    model.set_params(track_mistakes=False)
    checked = copy.deepcopy(model)
    one_by_one(model, np.ascontiguousarray(X[:, :4]), other, 0, 5)
    for i in range(5):
        checked.partial_fit(X[i : i + 1, :4], other[i : i + 1])
    assert contents(model) == contents(checked)


@pytest.mark.parametrize("check_input", [True, False])
def test_other_classes_are_seen(check_input, engine_name):
    model = one_by_one(begun(Perceptron, KINDS["two"], engine=engine_name), X, KINDS["two"])
    model.classes_ = np.array([-3, 0, 4])
    before = contents(model)
    with pytest.raises(ValueError, match=r"shape \(3, 9\)"):
        model.partial_fit(X[:1], np.array([0]), check_input=check_input)
    assert contents(model) == before


def test_estimators_that_compare_equal(engine_name):
    class Alike(Perceptron):
        def __eq__(self, other):
            return isinstance(other, Alike)

        __hash__ = None

    rows = [X, -X]
    models = [begun(Alike, NUMBER, engine=engine_name) for _ in range(2)]
    for i in range(1, 60):
        for model, values in zip(models, rows, strict=True):
            model.partial_fit(values[[i]], NUMBER[[i]], check_input=False)
    for model, values in zip(models, rows, strict=True):
        alone = begun(Perceptron, NUMBER, engine=engine_name).partial_fit(values[1:], NUMBER[1:])
        assert model.coef_.tobytes() == alone.coef_.tobytes()


def test_attributes_of_the_class_are_seen():
    class Wide(Perceptron):
        margin_threshold = property(lambda self: 5.0, lambda self, value: None)

    model = one_by_one(begun(Wide, NUMBER), X, NUMBER)
    other = one_by_one(begun(Perceptron, NUMBER, margin_threshold=5.0), X, NUMBER)
    assert model.coef_.tobytes() == other.coef_.tobytes()


def test_parameters_that_are_properties_count():
    class Parted(Perceptron):
        n_partitions = property(lambda self: 2, lambda self, value: None)

    rows, y = np.arange(40.0).reshape(20, 2) % 7, np.arange(20) % 2
    model, other = (
        Parted(max_iter=3, tol=None).fit(rows, y),
        Perceptron(n_partitions=2, max_iter=3, tol=None).fit(rows, y),
    )
    assert model.coef_.tobytes() == other.coef_.tobytes()
    assert model.coef_.tobytes() != Perceptron(max_iter=3, tol=None).fit(rows, y).coef_.tobytes()
    with pytest.raises(ValueError, match="n_partitions=2 is not available with partial_fit"):
        model.partial_fit(rows, y)


def test_a_subclass_that_is_a_dataclass():
    @dataclass(eq=False)
    class Named(Perceptron):
        title: str = ""

    model = Named(title="a", max_iter=3, tol=None).fit(X, NUMBER)
    assert clone(model).get_params() == {**Perceptron(max_iter=3, tol=None).get_params(), "title": "a"}
    assert model.coef_.tobytes() == Perceptron(max_iter=3, tol=None).fit(X, NUMBER).coef_.tobytes()
    model.partial_fit(X, NUMBER)
    with pytest.raises(ValueError, match="step='pa1'"):
        Named(step="pa1", eta0=2).fit(X, NUMBER)


@pytest.mark.parametrize("learner", PASSES)
def test_what_is_set_after_a_pass_counts(learner):
    model = learner(track_mistakes=True).fit(X, NUMBER).partial_fit(X, NUMBER)
    mistakes, coef = model.n_mistakes_, model.coef_.tobytes()
    model.n_iter_ = 7
    assert (model.n_iter_, model.n_mistakes_, model.coef_.tobytes()) == (7, mistakes, coef)
    assert copy.deepcopy(model).n_iter_ == 7
    del model.mistakes_per_example_
    assert not hasattr(model, "mistakes_per_example_")
    with pytest.raises(AttributeError):
        del model.mistakes_per_example_
    again = learner(track_mistakes=True).fit(X, NUMBER).partial_fit(X, NUMBER).partial_fit(X, NUMBER)
    model.partial_fit(X, NUMBER)
    assert (model.n_iter_, model.n_mistakes_) == (1, again.n_mistakes_)
    assert model.coef_.tobytes() == again.coef_.tobytes()


def test_a_frame_with_a_column_called_format_is_no_csr_matrix():
    model = begun(Perceptron, NUMBER)
    frame = pd.DataFrame(X, columns=["format", *map(str, range(1, X.shape[1]))])
    with pytest.raises(TypeError, match="X must be an array or a CSR matrix with check_input=False"):
        model.partial_fit(frame, NUMBER, check_input=False)
