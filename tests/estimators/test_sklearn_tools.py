"""Every public learner inside scikit-learn's tools: dense and sparse input give the same bits."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from tests.learners import PASSES

from perceptron_rs.registry import REGISTRY

LEARNERS = {name: learner.kind for name, learner in REGISTRY.items() if learner.is_linear}

IRIS = load_iris(return_X_y=True)
TWO = (IRIS[0][50:], IRIS[1][50:])
STORAGES = {"dense": np.asarray, "CSR": sp.csr_matrix, "CSR array": sp.csr_array, "CSC": sp.csc_matrix}


@pytest.fixture(params=LEARNERS)
def model(request):
    return LEARNERS[request.param](max_iter=4, tol=None)


@pytest.fixture(params=[IRIS, TWO], ids=["3 classes", "2 classes"])
def problem(request):
    return request.param


# Each learner, and a number of classes in turn: what a search or a calibration does not depend on both.
IN_TURN = pytest.mark.parametrize(
    ("model", "problem"),
    [
        pytest.param(learner(max_iter=4, tol=None), (IRIS, TWO)[number % 2], id=name)
        for number, (name, learner) in enumerate(LEARNERS.items())
    ],
)


def in_every_storage(X, answer, names=tuple(STORAGES)):
    """Check that the answer has the same bits for X in every storage; return it."""
    found = {name: np.ascontiguousarray(answer(STORAGES[name](X))) for name in names}
    for name, bits in found.items():
        assert bits.tobytes() == found["dense"].tobytes(), name
    return found["dense"]


@IN_TURN
def test_calibration(model, problem):
    X, y = problem
    method, ensemble = ("sigmoid", True) if problem is IRIS else ("isotonic", False)

    def probabilities(X):
        calibrated = CalibratedClassifierCV(clone(model), method=method, ensemble=ensemble, cv=3).fit(X, y)
        return calibrated.predict_proba(X)

    found = in_every_storage(X, probabilities, ["dense", "CSR"])  # a calibration is slow
    assert found.shape == (len(y), len(np.unique(y)))
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert np.mean(np.unique(y)[found.argmax(axis=1)] == y) > 0.6


@IN_TURN
def test_grid_search(model, problem):
    X, y = problem
    grid = {"eta0": [0.5, 1.0], "tie": ["mistake", "positive"], "class_weight": [None, "balanced"]}
    folds = StratifiedKFold(3)

    def scores(X):
        search = GridSearchCV(model, grid, cv=folds).fit(X, y)
        assert search.best_estimator_.get_params() == {**model.get_params(), **search.best_params_}
        return search.cv_results_["mean_test_score"]

    found = in_every_storage(X, scores)
    by_hand = []
    for class_weight in grid["class_weight"]:
        for eta0 in grid["eta0"]:
            for tie in grid["tie"]:
                each = clone(model).set_params(class_weight=class_weight, eta0=eta0, tie=tie)
                parts = [each.fit(X[a], y[a]).score(X[b], y[b]) for a, b in folds.split(X, y)]
                by_hand.append(np.mean(parts))
    np.testing.assert_allclose(found, by_hand)


@pytest.mark.parametrize("learner", PASSES)
def test_grid_search_over_joint_decisions(learner):
    model = learner(max_iter=4, tol=None)
    grid = [
        {"multi_class": ["ovr"]},
        {"multi_class": ["joint"], "joint_update": ["max", "uniform", "proportional"]},
    ]
    found = in_every_storage(
        IRIS[0], lambda X: GridSearchCV(model, grid, cv=3).fit(X, IRIS[1]).cv_results_["mean_test_score"]
    )
    assert len(found) == 4


def test_standard_scaler(model, problem):
    X, y = problem
    pipeline = make_pipeline(StandardScaler(), clone(model)).fit(X, y)
    assert pipeline.score(X, y) > 0.6
    for storage in STORAGES.values():  # the scaler itself rounds dense and sparse columns differently
        scaler = StandardScaler(with_mean=False)
        scaled = scaler.fit_transform(storage(X))
        found = make_pipeline(scaler, clone(model)).fit(storage(X), y).decision_function(storage(X))
        assert found.tobytes() == clone(model).fit(scaled, y).decision_function(scaled).tobytes()


def test_one_hot_encoder(model, problem):
    """Its matrices are CSR of float64; the dense ones that it also makes give the same bits."""
    X, y = problem
    words = np.array([["small", "large"][int(value > 3)] for value in X[:, 1]] + ["other"])[: len(y)]
    table = np.column_stack([words, np.round(X[:, 3]).astype(int).astype(str)]).astype(object)
    found = {}
    for sparse in (True, False):
        encoder = OneHotEncoder(sparse_output=sparse, handle_unknown="ignore")
        pipeline = make_pipeline(encoder, clone(model)).fit(table, y)
        assert sp.issparse(pipeline[0].transform(table)) == sparse
        found[sparse] = pipeline.decision_function(table).tobytes()
        assert pipeline.predict([["never seen", "0"]]).shape == (1,)
    assert found[True] == found[False]


def test_columns_of_both_kinds(model):
    pd = pytest.importorskip("pandas")
    X, y = IRIS
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.where(X[:, 1] > 3, "wide", "thin"))
    columns = make_column_transformer(
        (OneHotEncoder(), ["kind"]), (StandardScaler(), list("abcd")), sparse_threshold=1.0
    )
    pipeline = make_pipeline(columns, clone(model)).fit(frame, y)
    assert sp.issparse(columns.fit_transform(frame))
    assert pipeline.score(frame, y) > 0.6
    search = GridSearchCV(pipeline, {f"{type(model).__name__.lower()}__eta0": [1, 0.5]}, cv=3).fit(frame, y)
    assert search.best_score_ > 0.6


@pytest.mark.parametrize("wrapper", [OneVsOneClassifier, OneVsRestClassifier])
def test_binary_problems_made_of_many_classes(model, wrapper):
    X, y = IRIS
    in_every_storage(X, lambda X: wrapper(clone(model)).fit(X, y).decision_function(X))


@pytest.mark.parametrize("selector", [RFE, SelectFromModel])
def test_selection_of_features(model, problem, selector):
    X, y = problem
    found = in_every_storage(X, lambda X: selector(clone(model)).fit(X, y).get_support())
    assert 0 < found.sum() < X.shape[1]


def test_ensembles(model, problem):
    X, y = problem
    several = [("one", clone(model)), ("two", clone(model).set_params(random_state=1))]
    for ensemble in (
        VotingClassifier(several),
        StackingClassifier(several, final_estimator=clone(model), cv=3),
        BaggingClassifier(clone(model), n_estimators=3, random_state=0),
    ):
        labels = in_every_storage(X, lambda X, ensemble=ensemble: clone(ensemble).fit(X, y).predict(X))
        assert np.isin(labels, y).all()
