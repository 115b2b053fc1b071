"""Inside the tools of scikit-learn."""

from __future__ import annotations

import copy
import pickle

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from tests.learners import LINEAR

import perceptron_rs
from perceptron_rs import AveragedPerceptron, Perceptron
from perceptron_rs.registry import REGISTRY

ALL_LEARNERS = {name: learner.kind for name, learner in REGISTRY.items() if learner.is_linear}

X, Y = load_iris(return_X_y=True)


# What scikit-learn is told stands above the engines.
@pytest.fixture(params=[*((learner, "rust") for learner in LINEAR), (LINEAR[0], "reference")])
def model(request):
    learner, engine = request.param
    return learner(engine=engine, max_iter=5, tol=None)


def test_public_names():
    learners = {learner.__name__ for learner in ALL_LEARNERS.values()}
    learners |= {
        "BudgetedKernelPerceptron",
        "KernelPerceptron",
        "MultilayerPerceptron",
        "SequencePerceptron",
        "StructuredPerceptron",
    }
    margins = {"InseparableError", "MarginInterval", "MarginResult", "MaxMarginClassifier", "MistakeBounds"}
    margins |= {
        "UndecidedError",
        "VerificationError",
        "hull_weights",
        "is_separable",
        "margin",
        "max_margin",
        "mistake_bounds",
    }
    margins |= {"JointMargin", "joint_margin", "kernel_matrix"}
    others = {
        "ARITHMETIC_VERSION",
        "CheckedRow",
        "EpochRecord",
        "LeaveOneOut",
        "LectureCheck",
        "Predictor",
        "Proof",
        "Reproduction",
        "SequenceEpoch",
        "Step",
        "Trace",
        "__version__",
        "check_lecture",
        "digest",
        "hinge_loss",
        "leave_one_out",
        "load",
        "load_predictor",
        "perceptron_loss",
        "proof",
        "reproduce",
        "trace",
        "updates_until_right",
        "verify",
    }
    of_scikit_learn = {"LeaveOneOut", "hinge_loss"}  # `import *` leaves these alone
    assert perceptron_rs.__all__ == sorted((learners | margins | others) - of_scikit_learn)
    assert all(hasattr(perceptron_rs, name) for name in of_scikit_learn)
    assert isinstance(perceptron_rs.ARITHMETIC_VERSION, int)
    assert perceptron_rs.__version__.count(".") >= 1


def test_parameters_are_scikit_learns():
    from sklearn.linear_model import Perceptron as Peer

    ours, peers = Perceptron().get_params(), Peer().get_params()
    assert {name: ours[name] for name in peers} == peers
    assert set(ours) - set(peers) == {
        "C",
        "added_feature",
        "audit",
        "audit_key",
        "callback",
        "engine",
        "keep_on_interrupt",
        "margin_threshold",
        "max_mistakes_per_example",
        "mixing",
        "multi_class",
        "n_partitions",
        "step",
        "tie",
        "track_mistakes",
        "joint_update",
    }
    assert set(ours) - set(AveragedPerceptron().get_params()) == {"penalty", "alpha", "l1_ratio"}


def test_clone_and_set_params(model):
    model.set_params(eta0=0.5, tie="positive").fit(X, Y)
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert not hasattr(fresh, "coef_")
    assert not hasattr(fresh, "t_")


def go_on(model):
    """Learn from more, in the way that the estimator has."""
    if hasattr(model, "partial_fit"):
        return model.partial_fit(X, Y)
    return model.set_params(warm_start=True).fit(X, Y)


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_predict_and_go_on_alone(model, how):
    model.fit(X, Y)
    other = how(model)
    assert other.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    before = model.coef_.tobytes()
    go_on(other)
    assert model.coef_.tobytes() == before


def test_joblib_memory_map(model, tmp_path):
    model.fit(X, Y)
    joblib.dump(model, tmp_path / "model")
    read_only = joblib.load(tmp_path / "model", mmap_mode="r")
    assert read_only.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    assert go_on(read_only).coef_.tobytes() == go_on(model).coef_.tobytes()


def test_pipeline_grid_search_and_scores(model):
    search = GridSearchCV(
        make_pipeline(StandardScaler(), model), {f"{type(model).__name__.lower()}__eta0": [1, 2]}
    )
    search.fit(X, Y)
    assert search.best_score_ > 0.7
    assert cross_val_score(model, X, Y, cv=3).shape == (3,)
    fitted = model.fit(X, Y)
    assert fitted.score(X, Y) == np.mean(fitted.predict(X) == Y)


def test_metadata_routing(model):
    weight = np.where(Y == 0, 3.0, 1.0)
    expected = clone(model).fit(X, Y, sample_weight=weight).coef_
    with sklearn.config_context(enable_metadata_routing=True):
        routed = make_pipeline(clone(model).set_fit_request(sample_weight=True))
        routed.fit(X, Y, sample_weight=weight)
    assert routed[-1].coef_.tobytes() == expected.tobytes()


def test_feature_names(model):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcd"))
    model.fit(frame, Y)
    assert model.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["b", "a", "c", "d"]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)
    model.fit(X, Y)
    assert not hasattr(model, "feature_names_in_")


def test_tags(model):
    tags = get_tags(model)
    assert is_classifier(model)
    assert tags.input_tags.sparse
    assert tags.classifier_tags.multi_class
    assert tags.target_tags.required


def test_joblib_context_sets_the_threads(model, monkeypatch):
    from perceptron_rs.parameters.threads import n_threads

    assert n_threads(model) == 1
    with joblib.parallel_config(n_jobs=2):
        assert n_threads(model) == joblib.effective_n_jobs(None)
    assert n_threads(model.set_params(n_jobs=-1)) >= 1


def test_parameter_validation_names_the_parameter(model):
    for name, value in {
        "eta0": 0,
        "tol": -1,
        "max_iter": 0,
        "tie": "neither",
        "engine": "gpu",
        "n_jobs": 1.5,
        "class_weight": "heavy",
        "random_state": -1,
        "track_mistakes": "yes",
        "n_iter_no_change": 0,
        "shuffle": 2,
    }.items():
        with pytest.raises(ValueError, match=name):
            clone(model).set_params(**{name: value}).fit(X, Y)
