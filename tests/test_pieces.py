"""Work over examples by classes goes in pieces: NumPy never looks at more of it in one call."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from perceptron_rs import AveragedPerceptron, Perceptron, digest
from perceptron_rs.arrays import pieces
from perceptron_rs.models.container import content_digest

random = np.random.default_rng(0)
X = random.normal(size=(300, 4))
Y = (X[:, :3] > 0).astype(np.int64)
WORDS = np.array(["a", "b", "c"])[X[:, :3].argmax(axis=1)]
CALLS = {
    "early stopping": lambda: AveragedPerceptron(early_stopping=True, max_iter=4).fit(X, WORDS),
    "with weights": lambda: Perceptron(early_stopping=True, max_iter=4).fit(
        X, WORDS, sample_weight=np.arange(300) / 7
    ),
    "many labels": lambda: Perceptron(early_stopping=True, max_iter=4).fit(X, Y),
    "sparse labels": lambda: Perceptron(max_iter=4).fit(X, sp.csr_array(Y)),
    "one class": lambda: Perceptron(max_iter=4).fit(X, Y[:, 0]),
}


def told(make):
    model = make()
    y = (
        Y
        if getattr(model, "multilabel_", False)
        else (WORDS if model.classes_.dtype.kind == "U" else Y[:, 0])
    )
    found = model.predict(X)
    rows = found.toarray() if sp.issparse(found) else found
    scores = getattr(model, "validation_scores_", np.zeros(0)).tolist()
    return (
        digest(model),
        rows.tolist(),
        model.score(X, y),
        model.score(X, y, sample_weight=np.arange(300)),
        scores,
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("make", CALLS.values(), ids=CALLS)
def test_pieces_change_no_answer(make, monkeypatch):
    expected = told(make)
    monkeypatch.setattr(pieces, "NUMBERS", 10)
    assert told(make) == expected


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_digest_is_of_all_numbers_in_their_order(order, monkeypatch):
    tensors = {"w": np.asarray(X, order=order), "b": X[0], "n": np.array(3), "none": np.zeros((0, 4))}
    expected = content_digest("{}", {name: np.array(array, order="C") for name, array in tensors.items()})
    monkeypatch.setattr(pieces, "NUMBERS", 7)
    assert content_digest("{}", tensors) == expected


@pytest.mark.parametrize(("n", "cost", "sizes"), [(0, 1, []), (25, 1, [10, 10, 5]), (3, 99, [1, 1, 1])])
def test_a_piece_holds_so_many_numbers_at_most(n, cost, sizes, monkeypatch):
    monkeypatch.setattr(pieces, "NUMBERS", 10)
    found = list(pieces.pieces(n, cost))
    assert [piece.stop - piece.start for piece in found] == sizes
    assert_array_equal(np.concatenate([np.arange(n)[piece] for piece in found] or [[]]), np.arange(n))
