"""Joint multiclass: against exact fractions, against the binary learner, tied scores, both engines."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tests.support import learn, of_core

from perceptron_rs.engines import get_engine
from perceptron_rs.settings import Linear

JOINT = ["max", "uniform", "proportional"]
CLASSES = 3


def exact(X, labels, s, W, b, joint, epochs, most=None):
    """Return what a run in fractions leaves behind; joint updates by the text of the definition."""
    W, b, made, mistakes, losses = [list(w) for w in W], list(b), [0] * len(X), [], []
    for _ in range(epochs):
        before, loss = sum(made), Fraction(0)
        for i, (x, y) in enumerate(zip(X, labels, strict=True)):
            score = [sum(p * q for p, q in zip(w, x, strict=True)) + b_k for w, b_k in zip(W, b, strict=True)]
            wrong = [r for r in range(len(W)) if r != y and score[r] >= score[y]]
            if not wrong:
                continue
            loss += max(score[r] - score[y] for r in wrong)
            if most is not None and made[i] >= most:
                continue
            made[i] += 1
            excess = {r: score[r] - score[y] for r in wrong}
            if joint == "max":
                steps = {min(wrong, key=lambda r: (-score[r], r)): s[i]}
            elif joint == "uniform" or not any(excess.values()):
                steps = {r: s[i] / len(wrong) for r in wrong}
            else:
                steps = {r: s[i] * e / sum(excess.values()) for r, e in excess.items()}
            for k, c in [(y, s[i]), *((r, -c) for r, c in steps.items())]:
                W[k] = [p + c * q for p, q in zip(W[k], x, strict=True)]
                b[k] += c
        mistakes.append(sum(made) - before)
        losses.append(loss / len(X))
        if mistakes[-1] == 0:
            break
    return W, b, made, mistakes, losses


@st.composite
def problems(draw, classes=CLASSES):
    n, d = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    row = st.lists(st.integers(0, 4), min_size=d, max_size=d)
    return (
        draw(st.lists(row, min_size=n, max_size=n)),
        draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n)),
        draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)),
    )


@given(problem=problems(), most=st.none() | st.integers(1, 2))
@pytest.mark.parametrize("storage", [np.float64, np.uint8, np.int16])
def test_max_is_exact_on_integers(trainer, storage, problem, most):
    X, labels, weight = problem
    start = [[1] * len(X[0]), [0] * len(X[0]), [-1] * len(X[0])]
    W, b, made, mistakes, losses = exact(X, labels, weight, start, [0, 1, 0], "max", 5, most)
    state = trainer.start(len(X[0]), CLASSES, coef=start, intercept=[0, 1, 0])
    rows = np.array(X, dtype=storage)
    for X_stored in (rows, sp.csr_array(rows)):
        report = trainer.fit(
            X_stored,
            labels,
            sample_weight=weight,
            positive=range(CLASSES),
            joint="max",
            max_iter=5,
            max_mistakes_per_example=most,
            state=state,
            track_mistakes=True,
        )
        assert report["state"]["coef"].tolist() == W
        assert report["state"]["intercept"].tolist() == b
        assert report["mistakes_per_example"].tolist() == [[count] for count in made]
        assert report["mistakes"].ravel().tolist() == mistakes
        assert report["losses"].ravel().tolist() == [float(loss) for loss in losses]
        assert report["state"]["seen"].tolist() == [len(X) * len(mistakes)] * CLASSES
        assert report["n_iter"].tolist() == [len(mistakes)]


@given(problem=problems(), seen=st.lists(st.integers(0, 9), min_size=CLASSES, max_size=CLASSES))
def test_each_class_is_averaged_over_all_its_weights(trainer, problem, seen):
    """Classes that learnt one by one before have not all seen as many examples."""
    X, labels, weight = problem
    W, b = [[1] * len(X[0]), [0] * len(X[0]), [-1] * len(X[0])], [0, 1, 0]
    state = trainer.start(len(X[0]), CLASSES, coef=W, intercept=b, seen=seen)
    arguments = {"sample_weight": weight, "positive": range(CLASSES), "joint": "max", "state": state}
    report = trainer.fit(np.array(X, dtype=np.float64), labels, **arguments)
    totals = [[(t + 1) * value for value in (*w, b_k)] for t, w, b_k in zip(seen, W, b, strict=True)]
    for one in zip(X, labels, weight, strict=True):
        W, b, *_ = exact(*([value] for value in one), W, b, "max", 1)
        planes = [(*w, b_k) for w, b_k in zip(W, b, strict=True)]
        totals = [[p + q for p, q in zip(*pair, strict=True)] for pair in zip(totals, planes, strict=True)]
    after = report["state"]
    assert after["seen"].tolist() == [t + len(X) for t in seen]
    for k, T in enumerate(after["seen"]):
        last, u = ([*after[f"coef{suffix}"][k], after[f"intercept{suffix}"][k]] for suffix in ("", "_u"))
        assert [(T + 1) * w - u_j for w, u_j in zip(last, u, strict=True)] == totals[k]


@given(problem=problems())
@pytest.mark.parametrize("joint", ["uniform", "proportional"])
def test_shared_steps(trainer, joint, problem):
    """One pass: fractions agree within rounding, and the first mistakes are the same ones."""
    X, labels, weight = problem
    zero = [[Fraction(0)] * len(X[0])] * CLASSES
    W, b, made, *_ = exact(
        X[:4], labels[:4], [Fraction(s) for s in weight], zero, [Fraction(0)] * 3, joint, 1
    )
    report = trainer.fit(
        np.array(X[:4], dtype=np.float64),
        labels[:4],
        sample_weight=weight[:4],
        positive=range(CLASSES),
        joint=joint,
        track_mistakes=True,
    )
    if report["mistakes_per_example"].ravel().tolist() != made:
        return  # a tie that rounding decides: what follows is another run
    assert np.allclose(report["state"]["coef"], np.array(W, dtype=float), atol=1e-9)
    assert np.allclose(report["state"]["intercept"], np.array(b, dtype=float), atol=1e-9)


def test_shares_by_hand(trainer):
    """Scores (0, 3, 1) for class 0, c = 1: E = {1, 2}, excesses 3 and 1."""
    X, state = np.array([[1.0]]), trainer.start(1, 3, coef=[[0], [3], [1]])
    moves = {"max": [1, -1, 0], "uniform": [1, -0.5, -0.5], "proportional": [1, -0.75, -0.25]}
    for joint, moved in moves.items():
        arguments = {"positive": [0, 1, 2], "joint": joint, "state": state, "fit_intercept": False}
        report = trainer.fit(X, [0], **arguments)
        assert (report["state"]["coef"] - state["coef"]).ravel().tolist() == moved
        assert report["losses"].tolist() == [[3.0]]
        tied = trainer.fit(X, [0], **arguments | {"state": trainer.start(1, 3)})
        equal = [1, -1, 0] if joint == "max" else [1, -0.5, -0.5]
        assert tied["state"]["coef"].ravel().tolist() == equal, "lowest class; without excess as uniform"


@given(st.integers(0, 2**32 - 1), st.sampled_from(JOINT))
def test_two_classes_are_the_binary_learner(trainer, seed, joint):
    rng = np.random.default_rng(seed)
    X, labels = rng.standard_normal((15, 3)), rng.integers(0, 2, 15)
    weight = rng.integers(0, 3, 15).astype(float)
    arguments = {"sample_weight": weight, "max_iter": 4, "seed": 3, "track_mistakes": True}
    one = trainer.fit(X, labels, **arguments)
    two = trainer.fit(X, labels, positive=[0, 1], joint=joint, **arguments)
    for name in ("coef", "intercept", "coef_u", "intercept_u"):
        assert two["state"][name][1].tobytes() == one["state"][name][0].tobytes(), name
        assert (two["state"][name][0] + one["state"][name][0] == 0).all(), name
    for name in ("mistakes", "mistakes_per_example", "n_iter", "stopped"):
        assert np.array_equal(two[name], one[name]), name


@given(st.integers(0, 2**32 - 1), st.sampled_from(JOINT), st.booleans())
def test_engines_storages_and_batches_agree(seed, joint, integers):
    rng = np.random.default_rng(seed)
    n, d, classes = int(rng.integers(2, 40)), int(rng.integers(1, 20)), int(rng.integers(2, 12))
    X = rng.integers(0, 5, (n, d)) if integers else np.where(rng.random((n, d)) < 0.5, rng.random((n, d)), 0)
    labels = rng.integers(0, classes, n)
    state = {
        "coef": rng.integers(-2, 3, (classes, d)).astype(float),
        "intercept": np.zeros(classes),
        "seen": rng.integers(0, 100, classes),
        "coef_u": np.zeros((classes, d)),
        "intercept_u": np.zeros(classes),
    }
    weights = np.ones((classes, 2))
    weights[:, 1] = rng.integers(0, 3, classes)

    def run(engine, rows, labels, state):
        arguments = {"eta0": 1.0 if integers else 0.3, "track_mistakes": True, "threads": 2, "joint": joint}
        arguments |= {"positive": range(classes), "class_weight": weights}
        return learn(engine, Linear, rows, labels, state, learner="averaged", **arguments)

    reports = []
    for name in ("reference", "rust"):
        engine = get_engine(name)
        for storage in [np.float64] + [np.uint8, np.int8, np.float32] * integers:
            stored = X.astype(storage)
            csr = sp.csr_array(stored)
            reports.append(run(engine, engine.dense_rows(stored), labels, state))
            rows = engine.csr_rows(csr.indptr, csr.indices, csr.data, d)
            reports.append(run(engine, rows, labels, state))
        half, last = n // 2, state
        for part in (slice(0, half), slice(half, n)):
            if part.start < part.stop and weights[labels[part], 1].any():
                last = run(engine, engine.dense_rows(X[part].astype(float)), labels[part], last)["state"]
        for key in last:
            assert last[key].tobytes() == reports[0]["state"][key].tobytes(), key
    for report in reports[1:]:
        for key in state:
            assert report["state"][key].tobytes() == reports[0]["state"][key].tobytes(), key
        for key in ("mistakes", "losses", "mistakes_per_example"):
            assert report[key].tobytes() == reports[0][key].tobytes(), key


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"joint": "other"}, "joint must be"),
        ({"tie": "positive"}, 'tie must be "mistake" for a joint decision'),
        ({"margin_threshold": 1.0}, "margin_threshold must be 0 for a joint decision, got 1"),
        ({"added_feature": 0.5}, "added_feature must be 0 for a joint decision, got 0.5"),
        ({"positive": [1, 0, 2]}, "positive must be 0, 1, "),
        ({"positive": [0]}, "positive must be 0, 1, "),
    ],
    ids=str,
)
@of_core
def test_what_a_joint_decision_refuses(trainer, changes, message):
    arguments = {"positive": [0, 1, 2], "joint": "max"} | changes
    with pytest.raises(ValueError, match=message):
        trainer.fit(np.ones((3, 1)), [0, 1, 2], **arguments)


def test_labels_without_a_plane_are_refused(trainer):
    with pytest.raises(ValueError, match="labels must be below 2 for a joint decision, got 2"):
        trainer.fit(np.ones((3, 1)), [0, 1, 2], positive=[0, 1], joint="max")


def test_a_score_that_is_not_finite(trainer):
    """Also one of a class that is not in the error set."""
    state = trainer.start(1, 3, coef=[[1.0], [0.0], [-1e308]])
    with pytest.raises(OverflowError, match="epoch 0"):
        trainer.fit(np.array([[1e10]]), [0], positive=[0, 1, 2], joint="max", state=state)
