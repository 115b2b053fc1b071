"""``sparsify`` and ``densify``: another form of ``coef_``, and the same bits of everything else."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Perceptron as Peer
from tests.learners import PASSES

from perceptron_rs import Perceptron, SequencePerceptron, load, margin, mistake_bounds
from perceptron_rs.features import AttributeEncoder
from perceptron_rs.io import load_svmlight

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 8)) * (RNG.random((60, 8)) < 0.4)
X[:, 2] = 0  # its weights stay 0


def labels(classes):
    return np.digitize(X[:, 0] + RNG.normal(size=60) / 4, np.linspace(-0.5, 0.5, classes - 1))


Y = {2: labels(2), 3: labels(3)}


@pytest.fixture(params=PASSES)
def learner(request):
    return request.param


@pytest.fixture(params=[2, 3])
def y(request):
    return Y[request.param]


@pytest.fixture
def pair(learner, engine_name, y):
    """Two estimators that have learnt the same; the second is sparse."""
    parameters = {"engine": engine_name, "max_iter": 3, "tol": None, "eta0": 0.3, "warm_start": True}
    models = [learner(**parameters).fit(X, y) for _ in range(2)]
    models[1].sparsify()
    return models


def learnt(model):
    """Return the bits of all that a model has learnt."""
    arrays = {"coef_": model.coef_, "intercept_": model.intercept_} | model.__getstate__()["_model"]
    return {name: (a.toarray() if sp.issparse(a) else a).tobytes() for name, a in arrays.items()}


def test_the_matrix_is_that_of_scikit_learn(pair):
    dense, sparse = pair
    peer = Peer().fit(X, Y[2]).sparsify().coef_
    assert type(sparse.coef_) is type(peer)
    assert sparse.coef_.dtype == np.float64
    assert sparse.coef_.shape == dense.coef_.shape
    assert sparse.coef_.nnz == np.count_nonzero(dense.coef_) < dense.coef_.size
    assert sparse.coef_.toarray().tobytes() == dense.coef_.tobytes()
    assert isinstance(sparse.intercept_, np.ndarray)


@pytest.mark.skipif("sparse_interface" not in sklearn.get_config(), reason="new in scikit-learn 1.9")
def test_the_setting_of_scikit_learn(pair):
    for interface, kind in (("sparray", sp.csr_array), ("spmatrix", sp.csr_matrix)):
        with sklearn.config_context(sparse_interface=interface):
            assert type(pair[1].sparsify().coef_) is kind


@pytest.mark.skipif("sparse_interface" not in sklearn.get_config(), reason="new in scikit-learn 1.9")
def test_the_setting_is_that_of_all_sparse_answers(tmp_path):
    sparse, many = sp.csr_matrix(X), sp.csr_matrix(np.eye(3, dtype=int)[Y[3]])
    dump_svmlight_file(X, Y[2], str(tmp_path / "x.svm"))
    tagger = SequencePerceptron().fit([[["a"], ["b"]]], [["x", "y"]])
    for interface, kind in (("sparray", sp.sparray), ("spmatrix", sp.spmatrix)):
        with sklearn.config_context(sparse_interface=interface):
            answers = [
                Perceptron().fit(sparse, many).predict(sparse),
                AttributeEncoder().fit_transform([["a"], ["b"]]),
                AttributeEncoder().fit([["a"]]).transform([["b"]]),
                tagger.sparse_coef_,
                load_svmlight(tmp_path / "x.svm")[0],
            ]
            assert [isinstance(answer, kind) for answer in answers] == [True] * 5
            assert tagger.predict([[["a"], ["b"]]]) == [["x", "y"]]


def test_both_ways_return_the_estimator_and_may_be_repeated(pair):
    dense, sparse = pair
    before = dense.coef_.tobytes()
    assert dense.densify() is dense
    assert dense.coef_.tobytes() == before
    assert sparse.sparsify() is sparse
    assert sp.issparse(sparse.coef_)
    assert sparse.densify() is sparse
    assert type(sparse.coef_) is np.ndarray
    assert learnt(sparse) == learnt(dense)


def test_not_fitted(learner):
    for method in ("sparsify", "densify"):
        with pytest.raises(NotFittedError, match=learner.__name__):
            getattr(learner(), method)()


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_predictions(pair, storage):
    dense, sparse = pair
    scores = [model.decision_function(storage(X)).tobytes() for model in pair]
    assert scores[0] == scores[1]
    assert np.array_equal(dense.predict(storage(X)), sparse.predict(storage(X)))
    assert sp.issparse(sparse.coef_)


def test_learning_goes_on(pair, y):
    for model in pair:
        model.partial_fit(X[::-1], y[::-1])
    assert learnt(pair[0]) == learnt(pair[1])
    pair[1].sparsify()
    guesses = [model.predict_then_learn(X, y)[0].tolist() for model in pair]
    assert guesses[0] == guesses[1]
    assert learnt(pair[0]) == learnt(pair[1])
    pair[1].sparsify()
    for model in pair:
        model.fit(X, y)  # warm
        assert type(model.coef_) is np.ndarray
    assert learnt(pair[0]) == learnt(pair[1])
    pair[1].sparsify().set_params(warm_start=False).fit(X, y)
    assert type(pair[1].coef_) is np.ndarray


def test_pending_penalties(engine_name):
    models = [Perceptron(engine=engine_name, penalty="l1", alpha=0.05) for _ in range(2)]
    for begin in range(0, 60, 20):
        for model in models:
            model.partial_fit(X[begin : begin + 20], Y[3][begin : begin + 20], classes=[0, 1, 2])
        assert "strengths" in models[1]._model.state()
        assert models[0].coef_.tobytes() == models[1].coef_.tobytes()
        models[1].sparsify()
    assert models[1].coef_.nnz < models[0].coef_.size


def test_files_are_the_same_bytes(pair, tmp_path):
    for number, model in enumerate(pair):
        model.save(tmp_path / str(number))
    assert (tmp_path / "0").read_bytes() == (tmp_path / "1").read_bytes()
    assert sp.issparse(pair[1].coef_)
    loaded = load(tmp_path / "1")
    assert type(loaded.coef_) is np.ndarray
    assert learnt(loaded) == learnt(pair[0])


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies(pair, how):
    other = how(pair[1])
    assert sp.issparse(other.coef_)
    assert other.decision_function(X).tobytes() == pair[0].decision_function(X).tobytes()
    other.densify()
    assert sp.issparse(pair[1].coef_)
    how(pair[0]).sparsify()
    assert type(pair[0].coef_) is np.ndarray


def test_an_error_leaves_them_sparse(pair, y):
    with pytest.raises(ValueError, match="sample_weight"):
        pair[1].partial_fit(X, y, sample_weight=-np.ones(60))
    assert sp.issparse(pair[1].coef_)
    assert learnt(pair[0]) == learnt(pair[1])


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_matrix, sp.coo_array])
def test_sparse_weights_are_taken_where_weights_are(kind):
    X, y = RNG.normal(size=(60, 8)), Y[2]
    model = Perceptron(max_iter=3, tol=None).fit(X, y)
    coef, b = model.coef_, model.intercept_
    assert margin(X, y, kind(coef), b) == margin(X, y, coef, b)
    found, expected = (mistake_bounds(X, y, w, b, coef_init=w, intercept_init=b) for w in (kind(coef), coef))
    assert repr(found) == repr(expected)
    fits = [clone(model).fit(X, y, coef_init=w, intercept_init=b) for w in (kind(coef), coef)]
    assert fits[0].coef_.tobytes() == fits[1].coef_.tobytes()
