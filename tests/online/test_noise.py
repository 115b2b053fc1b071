"""Noise tolerance: the margin, the added feature, the bound on updates; against exact integers."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tests.support import of_core

STORAGES = [np.float64, np.int8, np.uint8]


@st.composite
def problems(draw):
    n, d = draw(st.integers(1, 10)), draw(st.integers(1, 3))
    row = st.lists(st.integers(0, 3), min_size=d, max_size=d)
    return {
        "X": draw(st.lists(row, min_size=n, max_size=n)),
        "labels": draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)),
        "weight": draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)),
        "max_iter": draw(st.integers(1, 8)),
        "margin_threshold": draw(st.integers(0, 6)),
        "added_feature": draw(st.integers(0, 3)),
        "max_mistakes_per_example": draw(st.none() | st.integers(1, 3)),
        "tie": draw(st.sampled_from(["mistake", "positive"])),
        "seed": draw(st.none() | st.integers(0, 3)),
    }


def exact(X, y, s, order, *, margin_threshold, added_feature, max_mistakes_per_example, tie, max_iter):
    """Return what a run in Python's integers leaves behind."""
    w, b, v, made = [0] * len(X[0]), 0, [0] * len(X), [0] * len(X)
    mistakes, losses = [], []
    for epoch in range(max_iter):
        before, loss, visits = sum(made), 0, order(epoch)
        for i in visits:
            own = v[i] * added_feature
            a = sum(p * q for p, q in zip(w, X[i], strict=True)) + b + own
            m = y[i] * a
            loss += max(0, -m)
            right = m > margin_threshold or (tie == "positive" and y[i] == 1 and a >= margin_threshold)
            if right or (max_mistakes_per_example is not None and made[i] >= max_mistakes_per_example):
                continue
            made[i] += 1
            c = s[i] * y[i]
            w = [p + c * q for p, q in zip(w, X[i], strict=True)]
            b += c
            v[i] += c * added_feature
        mistakes.append(sum(made) - before)
        losses.append(loss / max(len(visits), 1))
        if mistakes[-1] == 0:
            break
    return w, b, made, mistakes, losses


@given(problem=problems())
@pytest.mark.parametrize("storage", STORAGES)
def test_exact_integers(trainer, storage, problem):
    X, labels, weight = problem.pop("X"), problem.pop("labels"), problem.pop("weight")
    kept = np.flatnonzero(weight)

    def order(epoch):
        if problem["seed"] is None:
            return kept
        return kept[trainer.engine.permutation(len(kept), seed=problem["seed"], epoch=epoch, partition=0)]

    rows = np.array(X, dtype=storage)
    for X_stored in (rows, sp.csr_array(rows)):
        report = trainer.fit(
            X_stored, labels, sample_weight=weight, positive=[0, 1], track_mistakes=True, **problem
        )
        for k in (0, 1):
            y = [1 if label == k else -1 for label in labels]
            rest = {name: value for name, value in problem.items() if name != "seed"}
            w, b, made, mistakes, losses = exact(X, y, weight, order, **rest)
            assert report["state"]["coef"][k].tolist() == w
            assert report["state"]["intercept"][k] == b
            assert report["mistakes_per_example"][:, k].tolist() == made
            assert report["mistakes"][: len(mistakes), k].tolist() == mistakes
            assert report["losses"][: len(losses), k].tolist() == losses


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5), st.integers(0, 1)), min_size=1, max_size=8),
    st.sampled_from([0.1, 1.0, 30.0]),
)
def test_every_data_set_converges_with_an_added_feature(trainer, rows, delta):
    """Also one that contradicts itself: the bound of Block and Novikoff holds in the larger space."""
    X = np.array([row[:2] for row in rows], dtype=np.float64)
    labels = [row[2] for row in rows]
    report = trainer.fit(X, labels, added_feature=delta, max_iter=10**6)
    assert report["stopped"] == ["clean"]
    # With v_i = y_i / delta alone every margin is 1, and the squared norm of (w, b, v) is n / delta^2.
    radius = max(float(x @ x) for x in X) + 1 + delta**2
    assert report["mistakes"].sum() <= radius * len(X) / delta**2


def test_contradictory_labels_converge(trainer):
    X = np.ones((4, 2))
    report = trainer.fit(X, [0, 1, 0, 1], added_feature=1.0, max_iter=1000)
    assert report["stopped"] == ["clean"]
    assert trainer.fit(X, [0, 1, 0, 1], max_iter=1000)["stopped"] == ["max_iter"]


def test_all_used_up_is_a_clean_epoch(trainer):
    report = trainer.fit(
        np.ones((3, 1)), [0, 1, 1], max_mistakes_per_example=2, max_iter=99, track_mistakes=True
    )
    assert report["stopped"] == ["clean"]
    assert report["mistakes_per_example"].max() == 2
    assert report["mistakes"].ravel()[-1] == 0
    assert report["losses"].ravel()[-1] > 0, "the loss is computed as usual"
    assert report["state"]["seen"].tolist() == [3 * report["n_iter"][0]], "it keeps its place in T"


def test_what_is_kept_starts_anew_in_each_call(trainer):
    arguments = {"added_feature": 2.0, "max_mistakes_per_example": 1}
    X, labels = np.ones((2, 1)), [0, 1]
    once = trainer.fit(X, labels, **arguments)
    again = trainer.fit(X, labels, state=once["state"], **arguments)
    assert once["mistakes"].tolist() == again["mistakes"].tolist() == [[2]]


@pytest.mark.parametrize("with_state", [False, True])
def test_it_goes_on_over_epochs_that_are_told_of(trainer, with_state):
    rng = np.random.default_rng(0)
    X, labels = rng.integers(0, 9, (30, 4)).astype(np.uint8), rng.integers(0, 3, 30)
    arguments = {
        "positive": [0, 1, 2],
        "added_feature": 0.7,
        "max_mistakes_per_example": 4,
        "max_iter": 12,
        "track_mistakes": True,
        "threads": 2,
    }
    quiet = trainer.fit(X, labels, **arguments)
    told = trainer.fit(X, labels, **arguments, on_epoch=lambda *_: None, with_state=with_state)
    for name in quiet["state"]:
        assert quiet["state"][name].tobytes() == told["state"][name].tobytes(), name
    assert quiet["mistakes_per_example"].max() == 4


def test_a_larger_margin_makes_more_mistakes(trainer):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 5))
    labels = (X[:, 0] > 0).astype(int)
    totals = [
        trainer.fit(X, labels, margin_threshold=margin, max_iter=5)["mistakes"].sum()
        for margin in (0, 0.5, 2, 8)
    ]
    assert all(a < b for a, b in pairwise(totals))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"margin_threshold": -1.0}, "margin_threshold must be finite and at least 0, got -1"),
        ({"margin_threshold": np.nan}, "margin_threshold must be finite"),
        ({"added_feature": np.inf}, "added_feature must be finite"),
        ({"max_mistakes_per_example": 0}, "max_mistakes_per_example must be at least 1, got 0"),
    ],
    ids=str,
)
@of_core
def test_bad_values(trainer, changes, message):
    with pytest.raises(ValueError, match=message):
        trainer.fit(np.ones((2, 1)), [0, 1], **changes)


def test_overflow_of_the_added_weight(trainer):
    with pytest.raises(OverflowError, match="epoch 0"):
        trainer.fit(np.zeros((2, 1)), [0, 1], added_feature=1e308, eta0=1e10)
