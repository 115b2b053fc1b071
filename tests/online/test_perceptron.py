"""The perceptron: printed examples, an exact oracle, identities."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

TRACE = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]), [0, 1, 1, 0, 0, 1]
XOR = np.array([[0, 0], [1, 1], [0, 1], [1, 0]]), [1, 1, 0, 0]
MIDPOINTS = np.array([[1, 1], [2, 2], [1, 2], [2, 1]]), [1, 1, 0, 0]


def walk(trainer, X, labels, **changes):
    """Weights and intercept after each example of one pass, by passes of one example."""
    state, steps = trainer.start(X.shape[1]), []
    for i in range(len(X)):
        state = trainer.fit(X[i : i + 1], labels[i : i + 1], state=state, **changes)["state"]
        steps.append((*state["coef"][0].tolist(), state["intercept"][0]))
    return steps


@pytest.mark.parametrize("tie", ["mistake", "positive"])
def test_trace(trainer, tie):
    X, labels = TRACE[0].astype(np.int8), TRACE[1]
    steps = walk(trainer, X, labels, fit_intercept=False, tie=tie)
    weights = [(1, -2), (1, -2), (2, -1), (2, -1), (3, 1), (3, 1)]
    assert steps == [(*w, 0) for w in weights]
    report = trainer.fit(X, labels, fit_intercept=False, tie=tie, max_iter=9, track_mistakes=True)
    assert report["mistakes_per_example"].ravel().tolist() == [1, 0, 1, 0, 1, 0]
    assert report["state"]["coef"].tolist() == [[3, 1]]
    assert report["stopped"] == ["clean"]
    assert report["mistakes"].ravel().tolist() == [3, 0]


def test_printed_as_converging_but_not_separable(trainer):
    X, labels = MIDPOINTS[0].astype(np.float64), MIDPOINTS[1]
    assert walk(trainer, X, labels) == [(1, 1, 1), (1, 1, 1), (0, -1, 0), (0, -1, 0)]
    report = trainer.fit(X, labels, max_iter=500)
    assert report["stopped"] == ["max_iter"]
    assert report["mistakes"].min() > 0


def test_xor(trainer):
    X, labels = XOR[0].astype(np.float64), XOR[1]
    assert walk(trainer, X, labels) == [(0, 0, 1), (0, 0, 1), (0, -1, 0), (-1, -1, -1)]


@pytest.mark.parametrize("tie", ["mistake", "positive"])
@pytest.mark.parametrize("seed", [None, 0, 1])
def test_xor_never_converges(trainer, tie, seed):
    X, labels = XOR[0].astype(np.int8), XOR[1]
    report = trainer.fit(X, labels, tie=tie, seed=seed, max_iter=1000)
    assert report["n_iter"].tolist() == [1000]
    assert report["mistakes"].min() > 0


@pytest.mark.parametrize(
    ("tie", "label", "wrong"), [("mistake", 0, 1), ("mistake", 1, 1), ("positive", 0, 1), ("positive", 1, 0)]
)
def test_tie_rules(trainer, tie, label, wrong):
    """An activation of exactly 0, from zeros and from cancellation."""
    for state in (trainer.start(2), trainer.start(2, coef=[1, 1], intercept=-2)):
        report = trainer.fit(np.ones((1, 2)), [label], tie=tie, state=state)
        assert report["mistakes"].tolist() == [[wrong]]
        assert report["losses"].tolist() == [[0.0]]


def exact(X, y, s, order, *, tie, intercept, w, b, epochs):
    """The perceptron in Python's integers: last weights, mistakes per epoch and per example, losses."""
    w, mistakes, counts, losses = list(w), [], [0] * len(y), []
    for epoch in range(epochs):
        before, loss, visits = sum(counts), 0, [i for i in order(epoch) if s[i]]
        for i in visits:
            a = sum(p * q for p, q in zip(w, X[i], strict=True)) + b
            right = y[i] * a > 0 or (tie == "positive" and y[i] == 1 and a == 0)
            if not right:
                w = [p + s[i] * y[i] * q for p, q in zip(w, X[i], strict=True)]
                b += intercept * s[i] * y[i]
                counts[i] += 1
                loss += max(0, -y[i] * a)
        mistakes.append(sum(counts) - before)
        losses.append(loss / max(len(visits), 1))
        if mistakes[-1] == 0:
            break
    return w, b, mistakes, counts, losses


@st.composite
def problems(draw):
    n, d = draw(st.integers(1, 12)), draw(st.integers(1, 5))
    values = st.integers(-3, 3)
    return {
        "X": draw(st.lists(st.lists(values, min_size=d, max_size=d), min_size=n, max_size=n)),
        "labels": draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)),
        "sample_weight": draw(st.none() | st.lists(st.integers(0, 3), min_size=n, max_size=n)),
        "class_weight": draw(st.lists(st.integers(0, 2), min_size=2, max_size=2)),
        "eta0": draw(st.integers(1, 3)),
        "tie": draw(st.sampled_from(["mistake", "positive"])),
        "intercept": draw(st.booleans()),
        "w": draw(st.lists(values, min_size=d, max_size=d)),
        "b": draw(values),
        "seed": draw(st.none() | st.integers(0, 2**32)),
        "epochs": draw(st.integers(1, 6)),
        "dtype": draw(st.sampled_from(["float64", "float32", "int8", "int16", "int32"])),
        "sparse": draw(st.booleans()),
    }


@given(problem=problems())
def test_equals_the_exact_loop(trainer, problem):
    X = np.array(problem["X"], dtype=problem["dtype"])
    labels, sample_weight = problem["labels"], problem["sample_weight"]
    n, d = X.shape
    s = [
        problem["class_weight"][label] * w for label, w in zip(labels, sample_weight or [1] * n, strict=True)
    ]
    kept = [i for i in range(n) if s[i]]

    def order(epoch):
        if problem["seed"] is None:
            return kept
        drawn = trainer.engine.permutation(len(kept), seed=problem["seed"], epoch=3 + epoch, partition=0)
        return [kept[i] for i in drawn]

    y = [2 * label - 1 for label in labels]
    w, b, mistakes, counts, losses = exact(
        problem["X"],
        y,
        [problem["eta0"] * weight for weight in s],
        order,
        tie=problem["tie"],
        intercept=problem["intercept"],
        w=problem["w"],
        b=problem["b"],
        epochs=problem["epochs"],
    )
    report = trainer.fit(
        sp.csr_matrix(X) if problem["sparse"] else X,
        labels,
        sample_weight=sample_weight,
        class_weight=[problem["class_weight"]],
        learner="perceptron",
        state=trainer.start(d, coef=problem["w"], intercept=problem["b"], seen=100),
        eta0=float(problem["eta0"]),
        tie=problem["tie"],
        fit_intercept=problem["intercept"],
        seed=problem["seed"],
        first_epoch=3,
        max_iter=problem["epochs"],
        track_mistakes=True,
    )
    state = report["state"]
    assert state["coef"].tolist() == [w]
    assert state["intercept"].tolist() == [b]
    assert state["seen"].tolist() == [100 + len(kept) * len(mistakes)]
    assert report["mistakes"].ravel().tolist() == mistakes
    assert report["losses"].ravel().tolist() == losses
    assert report["n_iter"].tolist() == [len(mistakes)]
    assert report["stopped"] == ["clean" if mistakes[-1] == 0 else "max_iter"]

    # The learned weights are the start plus the rows, as often as they were mistaken.
    alpha = report["mistakes_per_example"]
    assert alpha.dtype == np.int64
    assert alpha.ravel().tolist() == counts
    c = np.array(counts) * problem["eta0"] * np.array(s) * np.array(y)
    assert (np.array(problem["w"]) + c @ np.array(problem["X"])).tolist() == w


@given(
    x=st.lists(st.integers(-9, 9), min_size=1, max_size=20),
    label=st.integers(0, 1),
    s=st.integers(1, 5),
    intercept=st.booleans(),
)
def test_an_update_moves_its_activation_by_c0_times_the_square_plus_one(trainer, x, label, s, intercept):
    X, y = np.array([x], dtype=np.int32), 2 * label - 1
    state = trainer.start(len(x), coef=[-y * v for v in x], intercept=-y)
    report = trainer.fit(X, [label], sample_weight=[s], eta0=0.5, state=state, fit_intercept=intercept)
    assert report["mistakes"].tolist() == [[1]]
    before = trainer.scores(X, state["coef"], state["intercept"])[0, 0]
    after = trainer.scores(X, report["state"]["coef"], report["state"]["intercept"])[0, 0]
    assert y * (after - before) == 0.5 * s * (sum(v * v for v in x) + intercept)


def test_two_steps_of_2_to_the_30(trainer):
    """Their sum does not fit into 32 bits."""
    X = sp.csr_matrix(np.array([[1.0], [0.0], [0.0], [1.0], [0.0]]))
    report = trainer.fit(X, [1, 0, 0, 1, 1], learner="perceptron", eta0=2.0**30)
    assert report["state"]["coef"].tolist() == [[2.0**31]]
