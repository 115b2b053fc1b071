"""Kernel perceptrons in model files: the same bits come back, and what is unsound is refused."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from tests.support import bits

import perceptron_rs
from perceptron_rs import BudgetedKernelPerceptron, KernelPerceptron
from perceptron_rs.models.container import pack, unpack

from .conftest import again, at, change

from_random = np.random.default_rng(3)
X, Y = from_random.integers(-9, 10, (50, 6)) / 4, from_random.integers(0, 3, 50)
KINDS = [
    {},
    {"kernel": "poly", "degree": 2, "coef0": 0.1, "gamma": "auto", "fit_intercept": True},
    {"kernel": "sigmoid", "gamma": 0.1, "multi_class": "joint"},
    {"kernel": "linear", "track_mistakes": True, "n_jobs": 2, "prediction": "last", "normalize": True},
    {"budget": 9, "budget_policy": "random", "random_state": 7},
    {"budget": 9, "budget_policy": "forgetron", "multi_class": "joint"},
    {"budget": 9, "budget_policy": "projectron", "projection_distance": 0.1},
    {"early_stopping": True, "class_weight": "balanced"},
    {"early_stopping": True, "multi_class": "joint", "budget": 9},
    {"prediction": "random", "random_state": 7, "margin_threshold": 0.5, "added_feature": 0.25},
]


def content(model):
    """All that an estimator holds, arrays as bits."""
    return {name: bits(value) for name, value in model.__getstate__().items()}


LABELS = (Y, Y > 0, np.array(["a", "b", "c"])[Y])


@pytest.mark.parametrize(("parameters", "labels"), zip(KINDS, itertools.cycle(LABELS)), ids=str)
def test_everything_comes_back(tmp_path, parameters, labels):
    for storage in (X, sp.csr_matrix(X), X.astype(np.float32), (X * 4).astype(np.int8)):
        kind = BudgetedKernelPerceptron if "budget" in parameters else KernelPerceptron
        model = kind(max_iter=3).set_params(**parameters).fit(storage, labels)
        loaded = again(model, tmp_path)
        assert content(loaded) == content(model)
        assert loaded.decision_function(X).tobytes() == model.decision_function(X).tobytes()
        for prediction in ("vote", "average", "last", "random") if "budget" not in parameters else ():
            scores = [m.set_params(prediction=prediction).decision_function(X) for m in (model, loaded)]
            assert scores[0].tobytes() == scores[1].tobytes()


def test_what_goes_on_from_a_file_is_the_same_run(tmp_path):
    whole, parts = KernelPerceptron(gamma=0.1), KernelPerceptron(gamma=0.1)
    whole.partial_fit(X, Y, classes=range(3))
    for begin in range(0, 50, 20):
        part = slice(begin, begin + 20)
        parts = again(parts.partial_fit(X[part], Y[part], classes=range(3)), tmp_path)
    assert parts.decision_function(X).tobytes() == whole.decision_function(X).tobytes()
    once = KernelPerceptron(max_iter=4).fit(X, Y)
    warm = again(KernelPerceptron(max_iter=2, warm_start=True).fit(X, Y), tmp_path).fit(X, Y)
    assert warm.decision_function(X).tobytes() == once.decision_function(X).tobytes()
    assert warm.gamma == "scale"
    assert warm._spec == once._spec


def test_precomputed_values_and_a_fit_without_mistakes(tmp_path):
    gram = X @ X.T
    model = KernelPerceptron("precomputed", max_iter=2).fit(gram, Y)
    assert again(model, tmp_path).decision_function(gram).tobytes() == model.decision_function(gram).tobytes()
    idle = KernelPerceptron("precomputed", tie="positive", max_iter=1).fit(gram[:2, :2] * 0, [0, 1])
    assert content(again(idle, tmp_path)) == content(idle)
    idle = KernelPerceptron(tie="positive").partial_fit(X[:1], [1], classes=[0, 1])
    assert idle.n_mistakes_ == 0
    assert content(again(idle, tmp_path)) == content(idle)


def test_what_cannot_be_saved(tmp_path):
    refusals = {
        "kernel is a function, which a model file cannot hold": KernelPerceptron(lambda A, B: A @ B.T),
        "kernel='poly' differs from the fit .* which had 'rbf'": KernelPerceptron(),
        "RandomState": KernelPerceptron(random_state=np.random.RandomState(0)),
    }
    for words, model in refusals.items():
        model.fit(X, Y)
        if "poly" in words:
            model.kernel = "poly"
        with pytest.raises(ValueError, match=words):
            model.save(tmp_path / "m")
    with pytest.raises(ValueError, match="not fitted"):
        KernelPerceptron().save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


def tell(**parts):
    return lambda document, tensors: document["history"].update(parts)


UNSOUND = [
    *(
        (lambda document, tensors, name=name: tensors.pop(name), "missing")
        for name in (
            *("intercept", "norm", "seen", "kernel", "n_iter_per_class", "mistakes_per_epoch"),
            *(f"{name}" for name in ("log_start", "log_row", "log_t", "log_step", "log_bias")),
            *(f"{name}" for name in ("log_norm", "origin", "rows")),
        )
    ),
    (change("kernel", at(0, 0.0)), "gamma must be finite and above 0"),
    (change("kernel", at(0, np.nan)), "NaN or an infinity"),
    (change("kernel", at(2, 0.0)), "degree of its kernel must be a whole number"),
    (change("kernel", at(2, 2.5)), "degree of its kernel must be a whole number"),
    (change("kernel", at(2, 2.0**31)), "degree of its kernel must be a whole number"),
    (change("kernel", lambda a: a[:2]), "kernel has the shape"),
    (change("rows", at((0, 0), np.inf)), "finite numbers of a stored type"),
    (change("rows", lambda a: a.astype(np.int64)), "finite numbers of a stored type"),
    (change("rows", lambda a: a[1:]), "rows has the shape"),
    (change("rows", lambda a: a[:, 1:].copy()), "rows has the shape"),
    (change("rows", lambda a: a.reshape(-1)), "do not agree"),
    (change("origin", at(0, -1)), "counts of at most"),
    (change("origin", lambda a: a[1:]), "rows has the shape"),
    (change("log_row", at(0, 10**6)), "must name one of"),
    (change("log_row", at(0, -1)), "counts of at most"),
    (change("log_row", lambda a: a.astype(np.int32)), "must be of int64"),
    (change("log_t", at(0, 0)), "must rise within each plane"),
    (change("log_t", at(-1, 10**6)), "must rise within each plane"),
    (change("log_t", at(1, 1)), "must rise within each plane"),
    (change("log_step", at(0, np.nan)), "NaN or an infinity"),
    (change("log_step", lambda a: a[1:]), "log_step has the shape"),
    (change("log_bias", at(0, 9.0)), "do not lead to the intercept"),
    (change("log_norm", at(-1, 9e9)), "do not lead to the intercept and norm"),
    (change("intercept", at(0, 9.0)), "do not lead to the intercept"),
    (change("intercept", lambda a: a[1:]), "intercept has the shape"),
    (change("norm", at(0, 9.0)), "do not lead to the intercept and norm"),
    (change("seen", at(0, 3)), "must rise within each plane"),
    (change("seen", at(0, 2**53 + 2)), "counts of at most"),
    (change("log_start", at(0, 1)), "must rise from 0"),
    (change("log_start", at(1, 10**6)), "must rise from 0"),
    (change("log_start", at(-1, 10**6)), "must rise from 0"),
    (change("log_start", lambda a: a[1:]), "log_start has the shape"),
    (change("mistakes_per_epoch", at((0, 0), 1000)), "disagree about the number of epochs or mistakes"),
    (change("mistakes_per_epoch", lambda a: a[1:]), "mistakes_per_epoch has the shape"),
    (change("n_iter_per_class", lambda a: a * 0), "disagree about the number of epochs or mistakes"),
    (tell(n_mistakes=1), "disagree about the number of epochs or mistakes"),
    (tell(n_features=5), "rows has the shape"),
    (tell(seed=-1), "history must hold counts"),
    (tell(converged=1), "history must hold counts"),
    (tell(more=1), "history must hold"),
    (lambda document, tensors: document.update(history=[]), "history must hold"),
    (lambda document, tensors: document["parameters"].update(kernel="precomputed"), "rows"),
    (lambda document, tensors: document["parameters"].update(kernel="cubic"), "kernel"),
    (lambda document, tensors: document["parameters"].update(gamma=0), "gamma"),
    (lambda document, tensors: document["parameters"].update(multi_class="joint"), "n_iter_per_class"),
    (lambda document, tensors: document["classes"].update(values=[0, 1]), "has the shape"),
    (lambda document, tensors: tensors.update(more=np.zeros(1)), "unknown tensor 'more'"),
    (lambda document, tensors: document.update(surprise=1), "unknown part 'surprise'"),
    (lambda document, tensors: document.update(estimator="multilayer"), "no parameter"),
]


@pytest.mark.parametrize(("spoil", "message"), UNSOUND)
def test_unsound_files(tmp_path, spoil, message):
    KernelPerceptron(max_iter=2).fit(X, Y).save(tmp_path / "m")
    refuse(tmp_path, spoil, message)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (change("rows_indices", at(0, 6)), "do not agree"),
        (change("rows_indices", at(0, -1)), "do not agree"),
        (change("rows_indices", lambda a: a[::-1].copy()), "columns out of order"),
        (change("rows_indptr", at(-1, 10**6)), "do not agree"),
        (change("rows_indptr", lambda a: a[1:]), "do not agree|has the shape"),
        (change("rows_values", lambda a: a[1:]), "do not agree"),
        (change("rows_values", at(0, np.nan)), "finite numbers of a stored type"),
        (lambda document, tensors: tensors.update(rows=np.zeros((1, 6))), "missing or unexpected"),
    ],
)
def test_unsound_sparse_files(tmp_path, spoil, message):
    KernelPerceptron(max_iter=2).fit(sp.csr_matrix(X), Y).save(tmp_path / "m")
    refuse(tmp_path, spoil, message)


def refuse(tmp_path, spoil, message):
    document, tensors = unpack(tmp_path / "m")
    spoil(document, tensors)
    (tmp_path / "m").write_bytes(pack(document, tensors))
    with pytest.raises(ValueError, match="cannot load") as caught:
        perceptron_rs.load(tmp_path / "m")
    assert any(part in str(caught.value) for part in message.split("|")), caught.value


def test_a_cut_or_changed_file(tmp_path):
    model = KernelPerceptron(max_iter=1).fit(X[:6, :2], Y[:6])
    model.save(tmp_path / "m")
    whole = (tmp_path / "m").read_bytes()
    for place in range(0, len(whole), 7):
        changed = bytearray(whole)
        changed[place] ^= 4
        for damaged in (whole[:place], bytes(changed)):
            (tmp_path / "m").unlink()  # some file systems wait for the disk where a file is written over
            (tmp_path / "m").write_bytes(damaged)
            with pytest.raises(ValueError, match="cannot load"):
                perceptron_rs.load(tmp_path / "m")


ON_A_BUDGET = [
    *(
        (lambda document, tensors, name=name: tensors.pop(f"kept_{name}"), f"kept_{name} is missing")
        for name in ("start", "row", "number", "step", "mistakes", "harm", "factor", "seed")
    ),
    (change("kept_start", at(1, 0)), "budget must be at least 18"),
    (change("kept_start", at(1, 10**6)), "kept_start must rise"),
    (change("kept_row", at(0, 10**6)), "kept_row must name one of"),
    (change("kept_number", at(0, 10**6)), "kept_number must rise"),
    (change("kept_mistakes", at(0, 0)), "kept_number must rise"),
    (change("kept_mistakes", at(0, 10**6)), "kept_number must rise"),
    (change("kept_step", lambda a: a[:, :0]), "kept_step has the shape"),
    (change("kept_harm", at(0, np.nan)), "NaN or an infinity"),
    (change("kept_factor", lambda a: a[1:]), "kept_factor must have the shape"),
    (change("kept_seed", at(0, -1)), "counts of at most"),
    (lambda document, tensors: document["parameters"].update(budget=3), "budget must be at least 9"),
    (lambda document, tensors: document["parameters"].update(budget=None), "budget"),
    (lambda document, tensors: document["parameters"].update(prediction="vote"), "no parameter 'prediction'"),
    (lambda document, tensors: document.update(estimator="kernel"), "no parameter 'budget'"),
]


@pytest.mark.parametrize(("spoil", "message"), ON_A_BUDGET)
def test_unsound_files_of_a_budget(tmp_path, spoil, message):
    terms = {"budget": 9, "budget_policy": "projectron"}
    BudgetedKernelPerceptron(max_iter=2, **terms).fit(X, Y).save(tmp_path / "m")
    refuse(tmp_path, spoil, message)


@pytest.mark.parametrize("policy", ["oldest", "random", "forgetron", "projectron"])
def test_a_stream_on_a_budget_goes_on_from_a_file(tmp_path, policy):
    terms = {"gamma": 0.1, "budget": 9, "budget_policy": policy}
    whole, parts = BudgetedKernelPerceptron(**terms), BudgetedKernelPerceptron(**terms)
    whole.partial_fit(X, Y, classes=range(3))
    for begin in range(0, 50, 20):
        part = slice(begin, begin + 20)
        parts = again(parts.partial_fit(X[part], Y[part], classes=range(3)), tmp_path)
    assert parts.decision_function(X).tobytes() == whole.decision_function(X).tobytes()
    assert parts.n_seen_.tolist() == [50, 50, 50]
    with pytest.raises(ValueError, match="budget=20 differs from the fit"):
        parts.set_params(budget=20).save(tmp_path / "m")
