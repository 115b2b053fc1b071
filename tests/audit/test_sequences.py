"""Sequence learners that are trained again: from attributes, from matrices, from sources."""

from __future__ import annotations

import copy
import re
from itertools import pairwise

import numpy as np
import pytest

from perceptron_rs import SequencePerceptron, reproduce
from perceptron_rs.audit.digests import Digests
from perceptron_rs.features import AttributeEncoder
from perceptron_rs.io import Source, open_arrays

from .problems import refused, saved

rng = np.random.default_rng(8)
N = 1100  # sequences
LENGTHS = rng.integers(1, 4, N)
ENDS = np.concatenate([[0], np.cumsum(LENGTHS)])
WORDS = rng.integers(0, 12, ENDS[-1])
TAGS = np.array(["D", "N", "V"])[(WORDS + rng.integers(0, 2, len(WORDS))) % 3]
X = [[[f"w={word}", "bias"] for word in WORDS[a:b]] for a, b in pairwise(ENDS)]
Y = [TAGS[a:b].tolist() for a, b in pairwise(ENDS)]
MATRIX = np.eye(12, dtype=np.uint8)[WORDS]
SHORT = {"max_iter": 2, "audit": True}


def model_of(**options):
    return SequencePerceptron(**SHORT | options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"hash_columns": 32},
        {"min_count": 3, "transition_features": True},
        {"early_stopping": True},
        {"n_partitions": 2},
        {"audit": False},
    ],
    ids=str,
)
def test_a_fit_is_reproduced_from_its_file(options, tmp_path):
    model = saved(model_of(**options).fit(X, Y), tmp_path)
    answer = reproduce(model, X, Y)
    assert answer, answer.message
    encoder = AttributeEncoder(model.min_count, model.hash_columns)
    rows = encoder.fit_transform(token for sequence in X for token in sequence)
    assert reproduce(model, rows, TAGS, lengths=LENGTHS, encoder=encoder)


def test_a_matrix_and_its_source(tmp_path):
    model = model_of().fit(MATRIX, TAGS, lengths=LENGTHS)
    assert reproduce(model, MATRIX, TAGS, lengths=LENGTHS)
    for options in ({}, {"shuffle": "block", "block_size": 90}):
        model = saved(model_of().fit_stream((MATRIX, TAGS, None, LENGTHS), **options), tmp_path)
        assert reproduce(model, MATRIX, TAGS, lengths=LENGTHS)
        assert reproduce(model, open_arrays(MATRIX, TAGS, lengths=LENGTHS))
        assert reproduce(model, MATRIX, TAGS, lengths=LENGTHS, engine="reference")


def test_attributes_of_a_source(tmp_path):
    def source(x=X, y=Y):
        return Source(batches=lambda: ((x[k : k + 64], y[k : k + 64]) for k in range(0, N, 64)))

    for options in ({}, {"shuffle": "block", "block_size": 90, "cache": tmp_path / "cache"}):
        model = saved(model_of().fit_stream(source(), **options), tmp_path)
        assert reproduce(model, source())
        assert reproduce(model, X, Y)
    renamed = [[[name.replace("w=7", "w=77") for name in token] for token in sequence] for sequence in X]
    refused(reproduce(model, source(renamed)), "data", "is the attribute 'w=7' in the model, got 'w=77'")
    refused(reproduce(model, renamed, Y), "data", "is the attribute 'w=7' in the model, got 'w=77'")


@pytest.mark.parametrize("stream", [False, True])
def test_another_sequence_is_named(stream):
    model = model_of()
    model = model.fit_stream([(X, Y)]) if stream else model.fit(X, Y)

    def again(x, y):
        return reproduce(model, Source(batches=lambda: iter([(x, y)]))) if stream else reproduce(model, x, y)

    x, y = [list(sequence) for sequence in X], [list(tags) for tags in Y]
    x[1050] = [["w=0"]] * len(x[1050])
    refused(
        again(x, Y),
        "data",
        "^other data: sequences 0 to 1099 differ somewhere in their entries, labels or lengths; compare",
    )
    y[3][0] = "V" if y[3][0] != "V" else "N"
    refused(
        again(X, y),
        "data",
        "^other data: sequences 0 to 1099 differ somewhere in their entries, labels or lengths; compare",
    )
    joined = [*X[:500], X[500] + X[501], *X[502:]], [*Y[:500], Y[500] + Y[501], *Y[502:]]
    refused(again(*joined), "data", "sequences" if stream else "has learnt from 1100 sequences, got 1099")
    y[3][0] = "none"
    refused(again(X, y), "data", "the label 'none'")


def test_a_chain_of_passes(tmp_path):
    model = model_of(hash_columns=16)
    for first in range(0, N, 100):
        model.partial_fit(X[first : first + 100], Y[first : first + 100], classes=["D", "N", "V"])
    (call,) = model._calls
    assert call.sizes == ((100, 11),)
    model = saved(model, tmp_path)
    assert reproduce(model, X, Y)
    named = model_of().partial_fit(X[:600], Y[:600], classes=["D", "N", "V"]).partial_fit(X[600:], Y[600:])
    assert reproduce(named, X, Y)
    with pytest.raises(ValueError, match="no record"):
        reproduce(SequencePerceptron().partial_fit(X[:9], Y[:9], classes=["D", "N", "V"]), X[:9], Y[:9])


def test_fits_that_go_on(tmp_path):
    whole = SequencePerceptron(max_iter=5).fit(X, Y)
    model = saved(SequencePerceptron(max_iter=2, warm_start=True, audit=True).fit(X, Y), tmp_path)
    model.set_params(max_iter=3).fit(X, Y)
    assert np.array_equal(model.coef_, whole.coef_)  # the orders are those of epochs 2, 3 and 4
    assert model.n_iter_ == 3
    model.fit_stream([(X, Y)])
    assert [call.method for call in model._calls] == ["fit", "fit", "fit_stream"]
    assert reproduce(saved(model, tmp_path), X, Y)
    with pytest.raises(ValueError, match="must give attributes, as the model has learnt from"):
        model.fit_stream((MATRIX, TAGS, None, LENGTHS))
    other = AttributeEncoder().fit([["w=1"]])
    with pytest.raises(ValueError, match="encoder must be that of the model"):
        model.fit_encoded(other, MATRIX[:, :1], TAGS, lengths=LENGTHS)


def test_other_attributes_in_the_same_columns_are_named():
    model = model_of().fit(X, Y)
    encoder = AttributeEncoder()
    rows = encoder.fit_transform(token for sequence in X for token in sequence)
    names, n = list(encoder.vocabulary_), encoder.n_columns_
    others = {name if name != names[3] else "other": column for name, column in encoder.vocabulary_.items()}
    hashed = "the model has a vocabulary of attributes, the training had 64 columns of a hash"
    for changes, text in (
        ({"vocabulary_": others}, f"column 3 is the attribute {names[3]!r} in the model, got 'other'"),
        ({"n_columns_": n - 1}, f"the model has learnt from {n} attributes, got {n - 1}"),
        ({"n_columns": 64}, hashed),
    ):
        other = copy.copy(encoder)
        vars(other).update(changes)
        answer = reproduce(model, rows, TAGS, lengths=LENGTHS, encoder=other)
        refused(answer, "data", f"^other data: {re.escape(text)}$")


def test_what_cannot_be_repeated_is_said():
    with pytest.raises(ValueError, match="X must be a matrix, as the model has learnt from"):
        reproduce(model_of().fit(MATRIX, TAGS, lengths=LENGTHS), X, Y)
    with pytest.raises(ValueError, match="X must be attributes, as the model has learnt from"):
        reproduce(model_of().fit(X, Y), MATRIX, TAGS, lengths=LENGTHS)


def test_sequences_are_the_examples_of_digests():
    """The lengths are a part of their own: the same tokens may be cut in other places."""
    labels = np.zeros(len(WORDS), dtype=np.uint32)
    whole = Digests().with_call({"rows": MATRIX}, 12, labels, lengths=LENGTHS)
    assert [size for size, _ in whole.blocks] == [N]
    other = LENGTHS.copy()
    place = int(np.flatnonzero(other[:-1] != other[1:])[0])
    other[place], other[place + 1] = other[place + 1], other[place]
    assert Digests().with_call({"rows": MATRIX}, 12, labels, lengths=other) != whole
