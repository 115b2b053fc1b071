"""Progressive validation: each example is predicted before it is learnt from."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris
from tests.learners import PASSES
from tests.support import contents

from perceptron_rs import Perceptron

X, Y = load_iris(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(X))
X, Y = X[ORDER], np.array(["setosa", "versicolor", "virginica"])[Y[ORDER]]
OPTIONS = [
    {},
    {"tie": "positive"},
    {"multi_class": "joint"},
    {"added_feature": 3.0, "margin_threshold": 1.0},
    {"class_weight": {"setosa": 3.0}, "eta0": 0.1},
]


@pytest.mark.parametrize(
    ("engine_name", "classes", "sparse"),
    [("rust", 2, True), ("rust", 3, False), ("reference", 2, False), ("reference", 3, True)],
)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("learner", PASSES)
def test_against_single_steps(learner, options, classes, engine_name, sparse):
    names = np.array(["setosa", "versicolor", "virginica"][:classes])
    rows = np.isin(Y, names)
    some, y = X[rows][:40], Y[rows][:40]
    model = learner(engine=engine_name, n_jobs=2, **options)
    got, errors = clone(model).predict_then_learn(sp.csr_array(some) if sparse else some, y, classes=names)
    plain = Perceptron(engine=engine_name, **options)  # predicts by its last weights
    plain.partial_fit(np.zeros((1, 4)), names[:1], classes=names)
    plain.intercept_ = np.zeros_like(plain.intercept_)
    expected = []
    for x, label in zip(some, y, strict=True):
        expected.append(plain.predict([x])[0])
        plain.partial_fit([x], [label])
    assert got.tolist() == expected
    assert errors == (got != y).sum() > 0


@pytest.mark.parametrize("learner", PASSES)
@pytest.mark.parametrize("penalty", [None, "l2"])
def test_it_learns_what_partial_fit_learns(learner, penalty, engine_name):
    options = {"penalty": penalty, "alpha": 0.01} if learner is Perceptron else {}
    online = learner(engine=engine_name, track_mistakes=True, **options)
    batch = clone(online)
    for part in (slice(0, 50), slice(50, 150)):
        online.predict_then_learn(X[part], Y[part], classes=np.unique(Y))
        batch.partial_fit(X[part], Y[part], classes=np.unique(Y))
    assert contents(online) == contents(batch)


def test_batches_predict_the_same(engine_name):
    whole, _ = Perceptron(engine=engine_name).predict_then_learn(X, Y, classes=np.unique(Y))
    model, parts = Perceptron(engine=engine_name), []
    for start in range(0, 150, 37):
        part = slice(start, start + 37)
        parts.append(model.predict_then_learn(X[part], Y[part], classes=np.unique(Y))[0])
    assert np.concatenate(parts).tolist() == whole.tolist()


@pytest.mark.parametrize(
    ("options", "weight"),
    [({}, [1.0, 0.0, 1.0]), ({"class_weight": {"setosa": 0.0}}, None)],
    ids=["sample_weight", "class_weight"],
)
def test_weight_0_is_refused(options, weight, engine_name):
    model = Perceptron(engine=engine_name, **options)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="must be above 0, because"):
        model.predict_then_learn(
            X[:3], ["setosa", "virginica", "setosa"], classes=["setosa", "virginica"], sample_weight=weight
        )
    assert vars(model) == before
