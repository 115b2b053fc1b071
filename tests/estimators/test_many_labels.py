"""Many labels of an example: the bits of a separate fit to each, from one pass over X."""

import copy
import pickle
import re
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.preprocessing import MultiLabelBinarizer

from perceptron_rs import (
    AveragedPerceptron,
    BudgetedKernelPerceptron,
    KernelPerceptron,
    MaxMarginClassifier,
    MultilayerPerceptron,
    Perceptron,
    PocketPerceptron,
    VotedPerceptron,
    digest,
    is_separable,
    load,
    max_margin,
    mistake_bounds,
    reproduce,
)
from perceptron_rs.engines import get_engine
from perceptron_rs.testing import assert_parity
from perceptron_rs.training.early_stopping import split

LINEAR = [Perceptron, AveragedPerceptron, VotedPerceptron, PocketPerceptron]
LEARNERS = [*LINEAR, KernelPerceptron, BudgetedKernelPerceptron]
PASSING = [learner for learner in LEARNERS if learner is not PocketPerceptron]
#: Labels on both sides of a word of bits.
N, D, LABELS = 40, 6, 35

OPTIONS = {
    Perceptron: [
        {"shuffle": True, "random_state": 5, "eta0": 0.3},
        {"tol": 1e-3, "n_iter_no_change": 2, "max_iter": 30},
        {"class_weight": {0: 1.0, 1: 2.5}, "tie": "positive"},
        {"class_weight": "balanced", "shuffle": False},
        {"penalty": "elasticnet", "alpha": 0.01, "random_state": 1},
        {"margin_threshold": 0.5, "max_mistakes_per_example": 3, "track_mistakes": True},
        {"added_feature": 1.5, "fit_intercept": False},
        {"n_jobs": 3},
    ],
    AveragedPerceptron: [
        {"n_partitions": 3, "mixing": "mistakes", "random_state": 2},
        {"random_state": 3},
        {"class_weight": "balanced", "tie": "positive"},
    ],
    VotedPerceptron: [{"random_state": 3}, {"prediction": "average"}, {"prediction": "last"}],
    PocketPerceptron: [
        {"random_state": 3},
        {"check": "ratchet", "average": True, "class_weight": "balanced"},
    ],
    KernelPerceptron: [
        {"kernel": "rbf", "random_state": 2, "class_weight": {0: 1, 1: 3}},
        {"kernel": "poly", "degree": 2, "fit_intercept": True, "prediction": "average"},
    ],
    BudgetedKernelPerceptron: [
        {"kernel": "rbf", "budget": 7, "budget_policy": "oldest"},
        {"kernel": "linear", "budget": 5, "budget_policy": "projectron"},
        {"kernel": "rbf", "budget": 6, "budget_policy": "forgetron"},
    ],
}
CASES = [(learner, options) for learner, several in OPTIONS.items() for options in several]


def drawn(seed=0, n=N, d=D, labels=LABELS):
    """Return X and Y; each label has examples of both kinds."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)).round(2)
    Y = (X @ random.normal(size=(d, labels)) + random.normal(size=(n, labels)) > 0.8).astype(np.int64)
    Y[0], Y[1] = 1, 0
    return X, Y


def alone(learner, options, X, y, weights=None):
    return learner(**options).fit(X, y, sample_weight=weights)


def bits(values):
    return np.ascontiguousarray(values).tobytes()


@pytest.mark.parametrize(
    ("learner", "options", "weighted"), [(*case, number % 2 == 1) for number, case in enumerate(CASES)]
)
def test_each_label_has_the_bits_of_a_fit_of_its_own(learner, options, weighted, engine_name):
    X, Y = drawn(labels=3 if engine_name == "reference" else LABELS)
    weights = np.random.default_rng(1).integers(0, 4, size=N) / 2 if weighted else None
    options = {"tol": None, "max_iter": 4, "engine": engine_name} | options
    model = alone(learner, options, X, Y, weights)
    assert model.multilabel_
    assert model.classes_.tolist() == list(range(Y.shape[1]))
    scores = model.decision_function(X)
    predicted = model.predict(X)
    assert scores.shape == predicted.shape == Y.shape
    assert predicted.dtype == np.int64
    for k, y in enumerate(Y.T):
        own = alone(learner, options, X, y, weights)
        assert bits(scores[:, k]) == bits(own.decision_function(X)), k
        assert predicted[:, k].tolist() == own.predict(X).tolist()
        assert model.n_seen_[k] == own.n_seen_[0]
        assert model.n_iter_per_class_[k] == own.n_iter_
        assert model.mistakes_per_epoch_[: own.n_iter_, k].tolist() == own.mistakes_per_epoch_[:, 0].tolist()
        if hasattr(own, "coef_"):
            assert bits(model.coef_[k]) == bits(own.coef_[0])
            assert bits(model.intercept_[k]) == bits(own.intercept_[0])
        if hasattr(own, "mistakes_per_example_"):
            assert bits(model.mistakes_per_example_[:, k]) == bits(own.mistakes_per_example_[:, 0])
    assert model.score(X, Y) == (predicted == Y).all(axis=1).mean()


@pytest.mark.parametrize("learner", LEARNERS)
def test_scikit_learns_wrappers_agree(learner):
    X, Y = drawn(labels=4)
    options = {"random_state": 3, "max_iter": 5, "tol": None}
    model = learner(**options).fit(X, Y)
    for wrapper in (MultiOutputClassifier, OneVsRestClassifier):
        assert model.predict(X).tolist() == wrapper(learner(**options)).fit(X, Y).predict(X).tolist()


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_storage_of_labels_gives_the_same(learner):
    X, Y = drawn()
    model = learner(max_iter=3, tol=None, random_state=0)
    expected = bits(model.fit(X, Y).decision_function(X))
    every = sp.csr_matrix((Y.ravel(), np.tile(np.arange(LABELS), N), np.arange(0, Y.size + 1, LABELS)))
    assert every.nnz == Y.size  # zeros, too
    for given in (
        Y.astype(bool), (2 * Y).astype(np.uint8).view(bool)[:, ::-1][:, ::-1],  # bytes that are no 1
        Y.astype(np.float32), Y.tolist(), np.asfortranarray(Y), Y.astype(np.uint8)[:, ::1],
        sp.csr_matrix(Y), sp.csc_array(Y.astype(bool)), sp.coo_matrix(Y.astype(float)), every,
    ):  # fmt: skip
        model.fit(X, given)
        assert bits(model.decision_function(X)) == expected
        assert sp.issparse(model.predict(X)) == sp.issparse(given)
        found = model.predict(X)
        assert model.score(X, given) == model.score(X, Y)
        found = found.toarray() if sp.issparse(found) else found
        assert found.tolist() == (model.decision_function(X) > 0).astype(int).tolist()


@pytest.mark.parametrize(
    ("learner", "checked"),
    [*((learner, True) for learner in PASSING), *((learner, False) for learner in LINEAR[:3])],
)
def test_passes_over_parts_are_one_pass(learner, checked, engine_name):
    X, Y = drawn(labels=4)
    options = {"engine": engine_name} | ({} if learner in LINEAR else {"kernel": "poly", "gamma": 0.5})
    model, more = learner(**options), {} if checked else {"check_input": False}
    for rows in (slice(0, 7), slice(7, 8), slice(8, N)):
        model.partial_fit(X[rows], Y[rows], **more)
    for k, y in enumerate(Y.T):
        own = learner(**options).partial_fit(X, y, classes=[0, 1])
        assert bits(model.decision_function(X)[:, k]) == bits(own.decision_function(X))


@pytest.mark.parametrize("learner", PASSING)
def test_predict_then_learn_counts_rows_with_any_wrong_label(learner):
    X, Y = drawn(labels=4)
    predicted, errors = learner().predict_then_learn(X, Y)
    each = [learner().predict_then_learn(X, y, classes=[0, 1])[0] for y in Y.T]
    assert predicted.tolist() == np.stack(each, axis=1).tolist()
    assert errors == (predicted != Y).any(axis=1).sum()


def test_columns_may_have_names():
    X, Y = drawn(labels=3)
    model = Perceptron().partial_fit(X, Y, classes=["a", "b", "c"])
    assert model.classes_.tolist() == ["a", "b", "c"]
    unsorted = ["c", "a", "b"]  # of which `classes_` would call the first column "a"
    for call in (
        Perceptron().partial_fit,
        model.partial_fit,
        lambda X, Y, classes: Perceptron().fit_stream((X, Y), classes),
    ):
        with pytest.raises(ValueError, match="classes name the columns of y, and must be sorted, got"):
            call(X, Y, classes=unsorted)
    assert bits(model.coef_) == bits(Perceptron().partial_fit(X, Y).coef_)
    with pytest.raises(
        ValueError, match=r"y has 4 columns, one for each label, but classes are \['a', 'b', 'c'\]"
    ):
        model.partial_fit(X, np.hstack([Y, Y[:, :1]]))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, lambda y: pa.table(dict(y))])
def test_columns_with_names_do_not_move(frame):
    X, Y = drawn(labels=2)
    right, other = (
        frame(pd.DataFrame({name: Y[:, "ab".index(name)] for name in names})) for names in ("ab", "ba")
    )
    model = Perceptron().partial_fit(X, right, classes=["a", "b"])
    before = digest(model)
    for call in (
        lambda: model.partial_fit(X, other),
        lambda: Perceptron().partial_fit(X, other, classes=["a", "b"]),
        lambda: model.score(X, other),
        lambda: model.calibrate(X, other, method="sigmoid"),
        lambda: Perceptron().fit_stream([(X, other)], ["a", "b"]),
    ):
        with pytest.raises(
            ValueError, match="y has the column 'b' where classes have 'a'; put the columns into"
        ):
            call()
    with pytest.raises(ValueError, match="y has 'b' as column 0, and not 'a' as in the first batch"):
        Perceptron().fit_stream([(X, right), (X, other)])
    assert digest(model) == before
    unknown = frame(pd.DataFrame(Y, columns=["u", "v"]))
    assert digest(Perceptron().partial_fit(X, unknown, classes=["a", "b"])) == before


@pytest.mark.parametrize("learner", LEARNERS)
def test_validation_part_is_one_for_all_labels(learner, engine_name, monkeypatch):
    """Otherwise they are separate fits."""
    X, Y = drawn(n=60, labels=3)
    weights = np.random.default_rng(1).integers(0, 4, size=60) / 2
    options = {"early_stopping": True, "random_state": 7, "max_iter": 6, "n_iter_no_change": 2}
    options |= {"engine": engine_name, "class_weight": "balanced"}
    many = learner(**options).fit(X, Y, sample_weight=weights)
    part = partial(split, get_engine("reference"))
    visited = np.flatnonzero(weights)
    drawn_once = part(np.zeros((60, 1), dtype=np.uint32), visited, 0.1, 7)
    assert len(drawn_once) == -(-len(visited) // 10)
    monkeypatch.setattr("perceptron_rs.training.feeders.split", lambda *_: drawn_once)
    assert many.validation_scores_.shape == (many.n_iter_, 3)
    for k, y in enumerate(Y.T):
        own = alone(learner, options, X, y, weights)
        assert bits(many.decision_function(X)[:, k]) == bits(own.decision_function(X))
        assert bits(many.validation_scores_[: own.n_iter_, k]) == bits(own.validation_scores_[:, 0])
        assert many.n_seen_[k] == own.n_seen_[0]


@pytest.mark.parametrize("learner", PASSING)
def test_labels_of_all_or_none_are_said_and_learnt(learner):
    X, Y = drawn(labels=4)
    Y[:, 1], Y[:, 3] = 1, 0
    with pytest.warns(UserWarning, match="present in all") as caught:
        model = learner(tol=None, max_iter=1, shuffle=False).fit(X, Y)
    assert {str(warning.message) for warning in caught} == {
        "Label 1 is present in all training examples.", "Label not 3 is present in all training examples.",
    }  # fmt: skip
    for k, y in enumerate(Y.T):
        own = learner().partial_fit(X, y, classes=[0, 1])
        assert bits(model.decision_function(X)[:, k]) == bits(own.decision_function(X))


@pytest.mark.parametrize(
    ("Y", "pattern"),
    [
        (
            [[0, 1], [1, 2], [0, 0], [1, 1]],
            "y has more than one column, so it must hold 0 and 1 alone.*got 2; for several classes",
        ),
        ([[-1, 1], [1, 1], [1, 1], [1, 1]], "got -1;"),
        ([[0, 0.5], [1, 0], [0, 0], [1, 1]], r"got 0\.5;"),
        ([[0, np.nan], [1, 0], [0, 0], [1, 1]], "got nan;"),
        ([["a", "b"]] * 4, "lists of labels.*MultiLabelBinarizer"),
        ([[0, 1]] * 3, "X has 4 rows, but y has 3"),
        ([(0, 1), (1,), (), (0,)], "MultiLabelBinarizer"),
        (sp.csr_matrix([[0, 3]] * 4), "got 3;"),
        (np.ma.masked_array(np.eye(4), mask=np.eye(4)), "y is a masked array"),
        (np.array([["0", "1"]] * 4, dtype=object), "lists of labels.*MultiLabelBinarizer"),
        (np.array([[0, 1], [1, None], [0, 0], [1, 1]]), "got None; drop examples with a missing label"),
        (pd.DataFrame({"a": [0, None, 1, 1], "b": [1, 1, 0, 0]}, dtype="Int64"), "got <NA>; drop examples"),
        ([{"a", "b"}] * 4, "lists of labels.*MultiLabelBinarizer"),
        (pd.Series([["a"], ["a", "b"], [], ["b"]]), "lists of labels.*MultiLabelBinarizer"),
        (np.eye(4) * (1 + 1j), r"got \(1\+1j\);"),
    ],
)
def test_other_matrices_are_refused(Y, pattern):
    with pytest.raises(ValueError, match=re.compile(pattern)):
        Perceptron().fit(np.eye(4), Y)


def test_what_goes_on_keeps_its_kind_of_labels():
    X, Y = drawn(labels=3)
    many, one = Perceptron(warm_start=True).fit(X, Y), Perceptron(warm_start=True).fit(X, Y @ [1, 2, 0])
    for call in (many.fit, many.partial_fit, lambda X, y: many.partial_fit(X, y, check_input=False)):
        before = bits(many.coef_)
        with pytest.raises(ValueError, match=r"y has one label for each example, but .* many; pass such"):
            call(X, Y[:, 0])
        assert bits(many.coef_) == before
    for call in (one.fit, one.partial_fit, lambda X, y: one.partial_fit(X, y, check_input=False)):
        with pytest.raises(
            ValueError, match=r"y has many labels for each example, but .* from one; pass such"
        ):
            call(X, Y)
    assert not one.fit(X, Y[:, 0]).multilabel_ if one.set_params(warm_start=False) else None


def test_what_goes_on_predicts_a_matrix_as_that_of_the_first_call():
    X, Y = drawn(labels=3)
    for first, second in ((sp.csr_matrix(Y), Y), (Y, sp.csr_matrix(Y))):
        model = Perceptron().partial_fit(X, first).partial_fit(X, second)
        assert sp.issparse(model.predict(X)) == sp.issparse(first)


def test_class_weights_are_of_0_and_1():
    X, Y = drawn(labels=3)
    with pytest.raises(
        ValueError, match=r"class_weight must have the weights .* got the key 2; to weigh labels"
    ):
        Perceptron(class_weight={0: 1, 1: 2, 2: 5}).fit(X, Y)


def test_rows_without_a_label_do_not_take_part_if_those_weigh_nothing():
    X, Y = drawn(labels=3)
    has_some = Y.any(axis=1)
    assert not has_some.all()
    options = {"fit_intercept": False, "n_partitions": 3, "max_iter": 3, "tol": None, "random_state": 1}
    model = AveragedPerceptron(class_weight={0: 0, 1: 1}, **options)
    whole, few = clone(model).fit(X, Y), clone(model).fit(X[has_some], Y[has_some])
    assert whole.n_seen_.tolist() == few.n_seen_.tolist()
    assert whole.coef_.tobytes() == few.coef_.tobytes()
    assert whole.mistakes_per_epoch_.tolist() == few.mistakes_per_epoch_.tolist()


def test_rows_whose_weights_round_to_0_are_looked_at():
    X, Y = drawn(labels=3)
    weights = np.ones(N)
    X[1], weights[1] = np.nan, 5e-324  # it has no label; times 0.1 that is 0 for all of them
    with pytest.raises(ValueError, match="NaN"):
        Perceptron(class_weight={0: 0.1, 1: 3}).fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize("learner", [Perceptron, AveragedPerceptron, KernelPerceptron])
def test_joint_decisions_have_one_class(learner):
    X, Y = drawn(labels=3)
    with pytest.raises(ValueError, match=r"multi_class='joint' judges .* set multi_class='ovr'"):
        learner(multi_class="joint").fit(X, Y)


@pytest.mark.parametrize("function", [is_separable, max_margin, mistake_bounds])
def test_functions_of_one_label_say_so(function):
    X, Y = drawn(labels=3)
    with pytest.raises(ValueError, match="this call does not take many labels; call it for each column"):
        function(X, Y)


@pytest.mark.parametrize("learner", [MultilayerPerceptron, MaxMarginClassifier])
def test_other_learners_name_those_that_do(learner):
    X, Y = drawn(labels=3)
    calls = [learner().fit] + ([learner().partial_fit] if hasattr(learner, "partial_fit") else [])
    for call in calls:
        with pytest.raises(ValueError, match=f"{learner.__name__} does not take many labels; Perceptron, "):
            call(X, Y)


def test_an_oracle_of_integers():
    """The textbook's loop, with Python's integers."""
    random = np.random.default_rng(2)
    X, Y = random.integers(-3, 4, size=(30, 5)), random.integers(0, 2, size=(30, 40))
    model = Perceptron(shuffle=False, tol=None, max_iter=3).fit(X, Y)
    for k, y in enumerate(Y.T.tolist()):
        w, b = [0] * 5, 0
        for _ in range(3):
            for x, held in zip(X.tolist(), y, strict=True):
                sign = 2 * held - 1
                if sign * (sum(a * z for a, z in zip(w, x, strict=True)) + b) <= 0:
                    w, b = [a + sign * z for a, z in zip(w, x, strict=True)], b + sign
        assert (model.coef_[k].tolist(), model.intercept_[k]) == (w, b)


def test_lists_of_labels_are_made_a_matrix():
    X = np.eye(3)
    names = MultiLabelBinarizer().fit([("a", "b"), (), ("b",)])
    model = Perceptron().fit(X, names.transform([("a", "b"), (), ("b",)]))
    assert names.inverse_transform(model.predict(X)) == [("a", "b"), (), ("b",)]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_files_and_pickles_keep_the_kind_of_labels(learner, form, tmp_path):
    X, Y = drawn(labels=2)  # as many as planes of two classes in a joint decision
    model = learner(max_iter=3, tol=None, random_state=0).fit(X, form(Y))
    model.save(tmp_path / "model")
    for other in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert other.multilabel_
        assert sp.issparse(other.predict(X)) == (form is sp.csr_matrix)
        assert bits(other.decision_function(X)) == bits(model.decision_function(X))
        assert digest(other) == digest(model)
    if learner is not PocketPerceptron:
        assert bits(load(tmp_path / "model").partial_fit(X, Y).n_seen_) == bits(
            model.partial_fit(X, Y).n_seen_
        )


def test_digests_tell_sets_of_labels_from_classes():
    X, Y = drawn(labels=3)
    model = Perceptron(max_iter=1, tol=None).fit(X, Y)
    other = Perceptron(max_iter=1, tol=None).fit(X, np.arange(N) % 3)
    other.coef_, other.intercept_ = model.coef_, model.intercept_
    assert digest(model) != digest(other)
    assert digest(model) == digest(clone(model).fit(X, sp.csr_matrix(Y)))


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_way_gives_the_same_bits(learner):
    X, Y = drawn(n=12, labels=33 if learner is Perceptron else 3)  # bits of labels are in words of 32
    options = {} if learner in LINEAR else {"kernel": "linear"}
    X = X.round() if learner is Perceptron else X  # of integers there are twice as many ways
    assert_parity(learner(max_iter=2, tol=None, random_state=1, **options), X, Y)


@pytest.mark.parametrize("learner", [Perceptron, VotedPerceptron, KernelPerceptron])
def test_trainings_are_made_again(learner):
    X, Y = drawn(labels=4)
    model = learner(audit=True, random_state=3, max_iter=4, tol=None).fit(X, Y)
    assert reproduce(model, X, Y)
    other = Y.copy()
    other[5, 2] ^= 1
    found = reproduce(model, X, other)
    assert found.reason == "data"
    assert "labels" in found.message


@pytest.mark.parametrize("learner", LINEAR[:2])
def test_no_other_model_is_made_of_it(learner):
    X, Y = drawn(labels=3)
    with pytest.raises(ValueError, match=r"many labels for each example.*use coef_ and intercept_"):
        learner().fit(X, Y).to_sklearn()


def test_a_pass_over_one_label_after_many_has_a_remedy_that_exists():
    model = Perceptron().partial_fit([[0.0], [1.0]], [[0, 1], [1, 0]])
    with pytest.raises(ValueError, match=r"continues from many; pass such a y, or fit anew$"):
        model.partial_fit([[0.0], [1.0]], [0, 1])
