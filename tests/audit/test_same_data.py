"""The same examples in another form, other examples in the same form, and the other engine."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from perceptron_rs import (
    KernelPerceptron,
    MultilayerPerceptron,
    Perceptron,
    SequencePerceptron,
    digest,
    reproduce,
)
from perceptron_rs.audit import record
from perceptron_rs.engines import get_engine
from perceptron_rs.features import AttributeEncoder
from perceptron_rs.io import open_arrays
from perceptron_rs.testing.parity import ways

from .problems import CLASSES, LEARNERS, SHORT, TAGGED, WEIGHT, X, Y, fitted, refused, rng, saved

TWO = (Y == "ham").astype(np.int64)
SETS = (X[:, :3] > 0).astype(np.int64)


@pytest.mark.parametrize(
    ("y", "again", "is_equal"),
    [
        (Y, Y.astype("U40"), True),
        (Y.astype("U40"), Y.tolist(), True),
        (TWO, TWO.tolist(), True),
        (TWO, TWO.astype(np.int32), False),
        (TWO, TWO.astype(np.uint64), False),
        (TWO.astype(np.float32), TWO, False),
    ],
)
def test_a_training_on_labels_of_another_type_makes_classes_of_that_type(y, again, is_equal, tmp_path):
    lengths = {"lengths": [13] * 100}
    for model, more in (
        (Perceptron(**SHORT).fit(X, y), {}),
        (Perceptron(**SHORT).fit_stream((X, y)), {}),
        (Perceptron(audit=True).partial_fit(X, y, classes=np.unique(y).tolist()), {}),
        (SequencePerceptron(max_iter=2, audit=True).fit(X, y, **lengths), lengths),
        (SequencePerceptron(max_iter=2, audit=True).fit_stream([(X, y, None, [13] * 100)]), lengths),
    ):
        for known in (model, saved(model, tmp_path)):
            answer = reproduce(known, X, again, **more)
            assert bool(answer) == is_equal, answer.message
            assert is_equal or "give such labels" in answer.message


def test_strings_and_objects_that_are_strings_are_the_same_labels(tmp_path):
    objects = Y.astype(object)
    for learn in (
        lambda y: Perceptron(**SHORT).fit(X, y),
        lambda y: Perceptron(audit=True).partial_fit(X, y, classes=CLASSES),
        lambda y: SequencePerceptron(max_iter=2, audit=True).fit(X, y, lengths=[13] * 100),
    ):
        model = saved(learn(objects), tmp_path)
        lengths = {"lengths": [13] * 100} if isinstance(model, SequencePerceptron) else {}
        assert reproduce(model, X, objects, **lengths)
        assert reproduce(model, X, Y, **lengths)
    model = Perceptron(**SHORT).fit_stream((X, objects))
    assert model.classes_.dtype.kind == "U"
    assert reproduce(model, X, objects)


@pytest.mark.parametrize(
    "learn",
    [
        lambda: Perceptron().fit(X, SETS),
        lambda: Perceptron(audit=True).partial_fit(X, SETS),
        lambda: Perceptron().fit_stream((X, SETS)),
        lambda: KernelPerceptron(max_iter=1).fit(X, SETS),
    ],
)
def test_columns_of_many_labels_have_their_numbers(learn):
    model = learn()
    assert reproduce(model, X, SETS)
    model.classes_ = model.classes_ + 1
    refused(reproduce(model, X, SETS), "data", "classes of the labels are .0, 1, 2. .* model .1, 2, 3.")


def test_names_of_columns_of_labels_are_given_again(tmp_path):
    model = saved(Perceptron(audit=True).partial_fit(X, SETS, classes=["a", "b", "c"]), tmp_path)
    refused(reproduce(model, X, SETS), "data", "name the columns by classes, if the training did")
    assert reproduce(model, X, SETS, classes=["a", "b", "c"])
    assert reproduce(model, X, pd.DataFrame(SETS, columns=["a", "b", "c"]))
    refused(reproduce(model, X, SETS[:, :2]), "data", "has learnt 3 labels, got 2 columns of y")


def test_names_of_columns_are_named_whichever_side_has_them():
    frame = pd.DataFrame(X).add_prefix("x")
    refused(reproduce(Perceptron(**SHORT).fit(X, TWO), frame, TWO), "data", "columns have the names .'x0', ")
    other = frame.rename(columns={"x1": "z"})
    refused(reproduce(Perceptron(**SHORT).fit(frame, TWO), other, TWO), "data", "column 1 has the name 'x1'")


def test_booleans_are_no_labels_of_a_model_of_numbers():
    for model, lengths in (
        (Perceptron(**SHORT).fit(X, TWO), {}),
        (SequencePerceptron(max_iter=2, audit=True).fit(X, TWO, lengths=[13] * 100), {"lengths": [13] * 100}),
    ):
        answer = reproduce(model, X, TWO == 1, **lengths)
        refused(answer, "data", "0 has the label (True|False), which is no class of the model")


@pytest.mark.parametrize("form", [list, tuple, np.array])
def test_a_list_a_tuple_and_an_array_are_the_same_parameter(form, tmp_path):
    for learner in (
        Perceptron(**SHORT, n_partitions=form([300, 1000])),
        MultilayerPerceptron(form([3, 2]), **SHORT),
    ):
        assert reproduce(learner.fit(X, Y), X, Y)
        assert reproduce(saved(learner, tmp_path), X, Y)
        name = "n_partitions" if hasattr(learner, "n_partitions") else "hidden_layer_sizes"
        setattr(learner, name, form([1000, 300]))
        assert reproduce(learner, X, Y).reason == "parameters"


def test_one_weight_for_all_examples():
    model = Perceptron(**SHORT).fit(X, Y, sample_weight=2)
    assert reproduce(model, X, Y, 2)
    assert reproduce(model, X, Y, np.full(len(Y), 2))
    assert "labels or weights" in reproduce(model, X, Y, 3).message


def test_what_does_not_belong_to_the_examples_is_refused():
    model = Perceptron(**SHORT).fit_stream((X, Y))
    sequences = SequencePerceptron(max_iter=2, audit=True).fit(X, Y, lengths=[13] * 100)
    for arguments, more, text in (
        ((model, X, Y), {"lengths": [1300]}, "lengths must be None for Perceptron"),
        ((model, X, Y), {"encoder": AttributeEncoder()}, "encoder must be None for Perceptron"),
        ((sequences, X, Y, WEIGHT), {"lengths": [13] * 100}, "sample_weight must be None for sequences"),
        ((model, open_arrays(X, Y), Y), {}, "y must be None with a source"),
        ((model, open_arrays(X, Y), None, WEIGHT), {}, "sample_weight must be None with a source"),
    ):
        with pytest.raises(ValueError, match=text):
            reproduce(*arguments, **more)


def test_a_malformed_matrix_is_refused():
    M = sp.csc_matrix(X)
    M.indices = M.indices + 10**7
    with pytest.raises(ValueError, match=r"ind(ices|ex values) must be < 1300"):
        reproduce(Perceptron(**SHORT).fit(X, Y), M, Y)


def test_names_of_columns(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcde"))
    model = saved(fitted(LEARNERS[0], frame), tmp_path)
    assert reproduce(model, frame, Y)
    assert reproduce(model, X, Y), "an array has no names"
    refused(
        reproduce(model, frame.rename(columns={"c": "C"}), Y), "data", "column 2 has the name 'c' .* got 'C'"
    )


@pytest.mark.parametrize("engine", ["rust", "reference"])
def test_the_other_engine_is_a_witness(engine, monkeypatch):
    model = fitted(Perceptron(**SHORT, engine=engine), X[:200], Y[:200])
    asked = []
    monkeypatch.setattr(
        "perceptron_rs.training.train.get_engine", lambda name: asked.append(name) or get_engine(name)
    )
    for witness in ("rust", "reference", None):
        assert reproduce(model, X[:200], Y[:200], engine=witness)
        assert set(asked) == {engine if witness is None else witness}
        asked.clear()


def test_large_data_is_digested_beside_the_training(monkeypatch):
    wide = rng.normal(size=(3000, 100))
    y = (wide[:, 0] > 0).astype(int)
    with monkeypatch.context() as patch:
        threads = Mock(wraps=ThreadPoolExecutor)
        patch.setattr(record, "ThreadPoolExecutor", threads)
        fitted(Perceptron(**SHORT), wide[:30], y[:30])
        assert not threads.called
        model = fitted(Perceptron(**SHORT), wide, y)
        assert threads.call_count == 1
    assert reproduce(model, sp.csr_matrix(wide), y)
    assert model._calls[0].digests == fitted(Perceptron(**SHORT), sp.csr_matrix(wide), y)._calls[0].digests
    wide[2999, 99] = 0
    refused(
        reproduce(model, wide, y),
        "data",
        "rows 2000 to 2999 differ somewhere in their entries or labels; compare them with a copy",
    )
    bad = wide.copy()
    bad[5, 5] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        fitted(Perceptron(**SHORT), bad, y)


@pytest.mark.parametrize("learner", [LEARNERS[0], LEARNERS[5], LEARNERS[8]])
def test_the_digest_is_that_of_parity(learner):
    model = fitted(learner, X[:60], Y[:60])
    for way in ways(learner, X[:60], Y[:60], batch_sizes=()):
        assert way.digest == digest(model)
        break


def test_digest_of_sequences_and_of_nothing():
    models = [SequencePerceptron(max_iter=3, engine=engine).fit(*TAGGED) for engine in ("rust", "reference")]
    other = SequencePerceptron(max_iter=1).fit(*TAGGED)
    assert digest(models[0]) == digest(models[1]) != digest(other)
    with pytest.raises(NotFittedError):
        digest(Perceptron())
