"""A schema: one array more is in files, digests, comparisons and reports; it names all that is kept."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs import (
    AveragedPerceptron,
    BudgetedKernelPerceptron,
    KernelPerceptron,
    MaxMarginClassifier,
    MultilayerPerceptron,
    Perceptron,
    PocketPerceptron,
    SequencePerceptron,
    VotedPerceptron,
    digest,
)
from perceptron_rs.linear import summary
from perceptron_rs.models.comparison import arrays, difference
from perceptron_rs.models.contents import contents_of, restore
from perceptron_rs.models.summary import summary_of
from perceptron_rs.schema.schema import COUNTS, Array
from perceptron_rs.state.fitted_attributes import flat
from perceptron_rs.testing import assert_parity

rng = np.random.default_rng(8)
X = rng.integers(-4, 5, (12, 3)) / 2
Y = np.arange(12) % 3


class Counting(Perceptron):
    """A perceptron that also counts the columns that are not 0: one line more in its schema."""

    _schema: ClassVar = replace(
        Perceptron._schema,
        parts=(*Perceptron._schema.parts, Array("nonzero", "d", COUNTS, attribute="nonzero_", reported=True)),
    )

    nonzero_: np.ndarray

    def fit(self, X, y, **options):
        super().fit(X, y, **options)
        self.nonzero_ = (self.support(X) != 0).sum(axis=0)
        return self

    def support(self, X):
        return sp.csr_matrix(X).toarray()


class Mistaken(Counting):
    """The same, but what is counted depends on how the examples are stored."""

    def support(self, X):
        return sp.csr_matrix(X).toarray() + sp.issparse(X)


def fitted():
    return Counting(max_iter=3, tol=None).fit(X, Y)


def test_one_line_of_a_schema_is_all_that_a_new_array_needs():
    model, other = fitted(), fitted()
    tensors, document = contents_of(model)
    assert tensors["nonzero"].tolist() == np.count_nonzero(X, axis=0).tolist()
    again = Counting(max_iter=3, tol=None)
    again.classes_ = model.classes_
    restore(again, tensors, document)
    assert again.nonzero_.tolist() == model.nonzero_.tolist()
    assert digest(again) == digest(model) == digest(other)
    assert difference("a", arrays(model), "b", arrays(again)) is None

    other.nonzero_ = other.nonzero_ + 1
    assert digest(other) != digest(model)
    found = difference("a", arrays(model), "b", arrays(other))
    assert found is not None
    assert "nonzero_ at index (0,)" in found

    shown = summary_of(model, summary, top=1)
    assert shown["history"]["nonzero"] == model.nonzero_.tolist()
    assert shown["arrays"]["nonzero"] == ["int64", [3]]
    for copied in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert digest(copied) == digest(model)


def test_parity_sees_a_new_array():
    with pytest.raises(AssertionError, match=r"CSR .* differ in nonzero_ at index"):
        assert_parity(Mistaken(max_iter=2, tol=None), X, Y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tensors: tensors.pop("nonzero"), "nonzero is missing"),
        (lambda tensors: tensors.update(nonzero=np.zeros(3)), "nonzero must be of int64"),
        (lambda tensors: tensors.update(nonzero=np.zeros(4, np.int64)), r"nonzero has the shape \(4,\)"),
        (lambda tensors: tensors.update(nonzero=np.array([0, 0, -1])), "nonzero must hold counts"),
    ],
)
def test_its_checks_hold_for_a_new_array(change, message):
    tensors, document = contents_of(fitted())
    change(tensors)
    again = Counting()
    again.classes_ = fitted().classes_
    with pytest.raises(ValueError, match=message):
        restore(again, tensors, document)


TOKENS, TAGS = [[["a"], ["b"]], [["b"], ["a"]]], [["A", "B"], ["B", "A"]]
MODELS = [
    Perceptron(),
    Perceptron(penalty="l1", alpha=0.01),
    AveragedPerceptron(),
    PocketPerceptron(),
    VotedPerceptron(),
    KernelPerceptron(),
    BudgetedKernelPerceptron(budget=4),
    MultilayerPerceptron((3, 2)),
    SequencePerceptron(),
    SequencePerceptron(transition_features=True),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_schema_names_every_array_that_the_engine_s_model_holds(model):
    model = model.fit(TOKENS, TAGS) if isinstance(model, SequencePerceptron) else model.fit(X, Y)
    if hasattr(type(model), "penalty"):
        model.partial_fit(X[:1], Y[:1])
    held = set(model._model.state())
    if isinstance(model, BudgetedKernelPerceptron):  # the log is made of the members
        held = {name for name in held if not name.startswith("log_")}
    assert held == held & set(contents_of(model)[0])


def test_a_learner_without_a_model_of_the_engine_names_its_attributes():
    model = MaxMarginClassifier(kernel="rbf").fit(X[:2], Y[:2])
    attributes = {part.attribute for part in model._schema.parts_of(model)} | {*model._schema.counts.values()}
    kept = {name for name in flat(model) if name.endswith("_") or name in ("_spec", "_stored_support")}
    assert kept - attributes == {"classes_", "margin_"}  # the second is an end of the interval
