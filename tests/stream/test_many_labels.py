"""Many labels of an example in streams: the bits of a pass over all of them at once."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs import (
    AveragedPerceptron,
    BudgetedKernelPerceptron,
    Perceptron,
    SequencePerceptron,
    VotedPerceptron,
    reproduce,
)
from perceptron_rs.io import Source, open_arrays

N, D, LABELS = 40, 6, 35


def drawn():
    random = np.random.default_rng(3)
    return random.integers(-3, 4, size=(N, D)).astype(float), random.integers(0, 2, size=(N, LABELS))


def bits(values):
    return np.ascontiguousarray(values).tobytes()


def batches(X, Y, form=np.asarray, sizes=(7, 1, 20, 12)):
    ends = np.cumsum([0, *sizes])
    return Source(batches=lambda: ((X[a:b], form(Y[a:b])) for a, b in pairwise(ends)))


@pytest.mark.parametrize(
    ("options", "form"),
    [
        ({}, np.asarray),
        ({"class_weight": "balanced"}, sp.csr_matrix),
        ({"class_weight": {0: 1, 1: 2}}, lambda Y: Y.astype(bool).tolist()),
    ],
)
@pytest.mark.parametrize(
    "learner", [Perceptron, AveragedPerceptron, VotedPerceptron, BudgetedKernelPerceptron]
)
def test_blocks_give_the_bits_of_all_at_once(learner, form, options, engine_name, are_few, tmp_path):
    X, Y = drawn()
    options = options | {"max_iter": 3, "tol": None, "shuffle": False, "engine": engine_name}
    if learner is BudgetedKernelPerceptron:
        options |= {"kernel": "linear", "budget": 5}
    if engine_name == "reference":
        Y = Y[:, :3]
    whole = learner(**options).fit(X, Y)
    for given, more in (
        (batches(X, Y, form), {}),
        ((X, form(Y)), {"block_size": 9}),
        (batches(X, Y, form), {"cache": tmp_path / "cache", "classes": range(Y.shape[1])}),
    ):
        model = learner(**options).fit_stream(given, **more)
        assert model.multilabel_
        assert model.classes_.tolist() == list(range(Y.shape[1]))
        assert bits(model.decision_function(X)) == bits(whole.decision_function(X))
        assert model.loss_curve_ == whole.loss_curve_
        assert model.predict(X).tolist() == whole.predict(X).tolist()


def test_a_checkpoint_goes_on(tmp_path):
    X, Y = drawn()
    whole = AveragedPerceptron(max_iter=4, tol=None).fit_stream((X, Y))
    model = AveragedPerceptron(max_iter=2, tol=None).fit_stream((X, Y), checkpoint=tmp_path / "c")
    model = AveragedPerceptron(max_iter=4, tol=None).fit_stream(
        (X, Y), checkpoint=tmp_path / "c", resume=True
    )
    assert bits(model.coef_) == bits(whole.coef_)


def test_columns_of_a_stream_may_have_names():
    X, Y = drawn()
    model = Perceptron().fit_stream((X, Y[:, :2]), classes=["cat", "dog"])
    assert model.classes_.tolist() == ["cat", "dog"]
    with pytest.raises(
        ValueError, match=r"y has a column for each of the labels \[0, 1, 2\], but classes are"
    ):
        Perceptron().fit_stream((X, Y[:, :3]), classes=["cat", "dog"])


def test_labels_that_a_source_names_take_no_pass():
    """What can be read only once is enough then."""
    X, Y = drawn()
    names, once = ("cat", "dog", "eel"), {"n_features": D, "again": False}
    model = Perceptron(max_iter=1, tol=None, shuffle=False)
    with pytest.raises(ValueError, match="make it one pass, with classes"):
        model.fit_stream(Source(batches=lambda: iter([(X, Y[:, :3])]), **once))
    model.fit_stream(Source(batches=lambda: iter([(X, Y[:, :3])]), labels=names, **once))
    assert tuple(model.classes_) == names
    expected = Perceptron(max_iter=1, tol=None, shuffle=False).fit(X, Y[:, :3])
    assert bits(model.coef_) == bits(expected.coef_)


@pytest.mark.parametrize(
    ("others", "pattern"),
    [
        (np.zeros((5, 3), dtype=int), r"as many columns in each batch, one for each label, got \[3, 35\]"),
        (np.zeros(5, dtype=int), r"as many columns in each batch, one for each label, got \[1, 35\]"),
        (np.full((5, 35), 2), "must hold 0 and 1 alone"),
    ],
)
def test_batches_of_other_labels_are_refused(others, pattern):
    X, Y = drawn()
    source = Source(batches=lambda: iter([(X[:20], Y[:20]), (X[20:25], others)]))
    with pytest.raises(ValueError, match=pattern):
        Perceptron().fit_stream(source)


def test_a_learner_of_one_label_refuses_them():
    X, Y = drawn()
    with pytest.raises(ValueError, match="many labels"):
        SequencePerceptron().fit_stream((X, Y, None, [N]))


def test_trainings_from_streams_are_made_again():
    X, Y = drawn()
    model = Perceptron(audit=True, max_iter=3, tol=None, random_state=0).fit_stream((X, Y), block_size=7)
    assert reproduce(model, open_arrays(X, Y))
    assert reproduce(model, X, Y)
    other = Y.copy()
    other[9, 34] ^= 1
    assert reproduce(model, X, other).reason == "data"


def test_labels_of_all_or_none_are_said():
    X, Y = drawn()
    Y[:, 1], Y[:, 3] = 1, 0
    with (
        pytest.warns(UserWarning, match="Label 1 is present in all training examples"),
        pytest.warns(UserWarning, match="Label not 3 is present in all training examples"),
    ):
        Perceptron(max_iter=1, tol=None).fit_stream(batches(X, Y))
