"""Penalties: against fractions that shrink every weight after every example; laziness changes no bit."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tests.support import learn, of_core, settled

from perceptron_rs.engines import get_engine
from perceptron_rs.settings import Linear


@st.composite
def problems(draw):
    n, d = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    row = st.lists(st.integers(0, 2), min_size=d, max_size=d)
    return {
        "X": draw(st.lists(row, min_size=n, max_size=n)),
        "labels": draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)),
        "penalty": draw(st.sampled_from([(0.0, 0.5), (0.25, 0.0), (0.125, 0.5), (0.0, 0.0), (0.0, 3.0)])),
        "max_iter": draw(st.integers(1, 3)),
    }


def eager(X, labels, penalty, max_iter):
    """Return the weights of a run that penalises all of them after each example."""
    l1, l2 = (Fraction(strength) for strength in penalty)
    w, b = [Fraction(0)] * len(X[0]), 0
    for _ in range(max_iter):
        mistakes = 0
        for x, label in zip(X, labels, strict=True):
            y = 2 * label - 1
            if not y * (sum(p * q for p, q in zip(w, x, strict=True)) + b) > 0:
                mistakes += 1
                w = [p + y * q for p, q in zip(w, x, strict=True)]
                b += y
            sizes = [max(Fraction(0), max(Fraction(0), 1 - l2) * abs(p) - l1) for p in w]
            w = [size if p > 0 else -size for size, p in zip(sizes, w, strict=True)]
        if not mistakes:
            break
    return w, b


def test_a_common_factor_is_near_the_exact_run(trainer):
    """With l2 = 1/64 one factor stands for all weights; they are settled together on the way."""
    rng = np.random.default_rng(3)
    X, labels = rng.integers(0, 3, (4000, 3)).astype(np.int32), rng.integers(0, 2, 4000)
    state = {"coef": np.zeros((1, 3)), "intercept": np.zeros(1), "ages": np.zeros((1, 3), dtype=np.int64)}
    report = trainer.fit(
        X, labels, learner="perceptron", penalty=(0.0, 1 / 64), settle=False, state=trainer.start(3) | state
    )
    w, b, r, mistakes = [Fraction(0)] * 3, 0, Fraction(63, 64), 0
    for x, label in zip(X.tolist(), labels.tolist(), strict=True):
        y = 2 * label - 1
        if not y * (sum(p * q for p, q in zip(w, x, strict=True)) + b) > 0:
            w = [p + y * q for p, q in zip(w, x, strict=True)]
            b, mistakes = b + y, mistakes + 1
        # Digits beyond 200 bits are cut off, else the fractions grow without end.
        w = [Fraction(round(r * p * 2**200), 2**200) for p in w]
    ages = report["state"]["ages"]
    assert report["mistakes"].tolist() == [[mistakes]]
    assert report["state"]["intercept"][0] == b
    assert 0 < ages[0, 0] < 2900
    assert (ages == ages[0, 0]).all()
    coef = settled(trainer.engine, report["state"], 1.0, (0.0, 1 / 64))
    assert np.allclose(coef[0], [float(p) for p in w], rtol=1e-12, atol=0)


@pytest.mark.parametrize("joint", [None, "max"])
@pytest.mark.parametrize("sparse", [False, True])
def test_ages_that_differ_are_settled_before_one_factor_takes_over(joint, sparse):
    X, labels = np.array([[1.0, 2.0], [0.5, -1.0], [0.25, 3.0]]), np.array([0, 1, 2])
    mixed = start(2, 3, 0) | {"ages": np.tile([7, 3], (3, 1))}
    arguments = {"planes": 3, "penalty": (0.0, 0.01), "eta0": 1.0, "seed": None, "settle": False}
    arguments |= {"joint": joint, "sparse": sparse}
    for name in ("reference", "rust"):
        engine = get_engine(name)
        coef = settled(engine, mixed, 1.0, (0.0, 0.01))
        got = fit(engine, X, labels, mixed, **arguments)["state"]
        want = fit(engine, X, labels, start(2, 3, 0) | {"coef": coef}, **arguments)["state"]
        assert got["coef"].tobytes() == want["coef"].tobytes()
        assert (got["ages"] == 3).all()


@pytest.mark.parametrize("penalty", [(0.0, 0.01), (0.1, 0.01)], ids=["one factor", "each weight"])
@pytest.mark.parametrize("settle", [False, True])
def test_a_plane_that_visits_nothing(trainer, penalty, settle):
    """Nothing is settled before a first example that does not come; the end of an epoch settles all."""
    ages = np.array([[4, 1], [4, 1]])
    state = trainer.start(2, 2, coef=[[1.0, -0.5], [1.0, -0.5]]) | {"ages": ages}
    arguments = {"learner": "perceptron", "penalty": penalty, "positive": [0, 1], "state": state}
    # The second plane weighs examples of class 0 with 0, and there are no others.
    weights = [[1.0, 1.0], [0.0, 1.0]]
    got = trainer.fit(np.ones((3, 2)), [0, 0, 0], class_weight=weights, settle=settle, **arguments)["state"]
    assert got["seen"].tolist() == [3, 0]
    want = settled(trainer.engine, state, 1.0, penalty)
    assert got["coef"][1].tobytes() == (want if settle else state["coef"])[1].tobytes()
    assert got["ages"][1].tolist() == ([0, 0] if settle else [4, 1])
    assert (got["ages"][0] == got["ages"][0, 0]).all()


@pytest.mark.parametrize("settle", [False, True])
def test_a_state_without_columns_has_ages(trainer, settle):
    state = with_ages(trainer, 0, planes=2)
    states = []
    report = trainer.fit(
        np.ones((3, 0)),
        [0, 1, 1],
        positive=[0, 1],
        learner="perceptron",
        penalty=(0.0, 0.1),
        settle=settle,
        state=state,
        on_epoch=lambda *told: states.append(told[-1]),
        with_state=True,
    )
    for after in (report["state"], *states):
        assert (after["ages"].shape, after["ages"].dtype) == ((2, 0), np.int64)
    again = trainer.fit(
        np.ones((1, 0)), [1], positive=[0, 1], learner="perceptron", penalty=(0.0, 0.1), state=report["state"]
    )
    assert again["state"]["seen"].tolist() == [4, 4]


def with_ages(trainer, d, planes=1, ages=0, **changes):
    return trainer.start(d, planes, **changes) | {"ages": np.full((planes, d), ages)}


@given(problem=problems())
@pytest.mark.parametrize("storage", [np.float64, np.uint8])
def test_exact_fractions(trainer, storage, problem):
    X = problem.pop("X")
    w, b = eager(X, **problem)
    rows = np.array(X, dtype=storage)
    for X_stored in (rows, sp.csr_array(rows)):
        state = with_ages(trainer, len(X[0]))
        report = trainer.fit(X_stored, learner="perceptron", state=state, **problem)
        assert report["state"]["coef"][0].tolist() == [float(p) for p in w]
        assert report["state"]["intercept"][0] == b
        assert not report["state"]["ages"].any()


@st.composite
def runs(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = int(rng.integers(2, 40)), int(rng.integers(1, 20))
    X = np.where(rng.random((n, d)) < draw(st.sampled_from([0.2, 1.0])), rng.integers(-3, 4, (n, d)), 0)
    classes = int(rng.integers(2, 6))
    return {
        "X": X * draw(st.sampled_from([1.0, 1 / 3])),
        "labels": rng.integers(0, classes, n),
        "planes": classes,
        "penalty": draw(st.sampled_from([(0.0, 0.01), (0.02, 0.0), (0.003, 0.01), (0.1, 0.4)])),
        "eta0": draw(st.sampled_from([1.0, 0.7])),
        "joint": draw(st.sampled_from([None, "max", "uniform", "proportional"])),
        "ages": int(rng.choice([0, 0, 3, 5000])),
        "seed": draw(st.none() | st.integers(0, 5)),
    }


def fit(engine, X, labels, state, *, planes, settle=True, **arguments):
    X = sp.csr_array(X) if arguments.pop("sparse", False) else np.ascontiguousarray(X)
    rows = (
        engine.csr_rows(X.indptr, X.indices, X.data, X.shape[1]) if sp.issparse(X) else engine.dense_rows(X)
    )
    arguments = {"learner": "perceptron", "positive": range(planes), "threads": 2} | arguments
    return learn(engine, Linear, rows, labels, state, settle=settle, **arguments)


def start(d, planes, ages):
    """Start weights that are not 0, so that what is pending from before shows."""
    rng = np.random.default_rng(0)
    return {
        "coef": rng.standard_normal((planes, d)),
        "intercept": np.zeros(planes),
        "seen": np.full(planes, ages),
        "ages": np.full((planes, d), ages),
    }


@given(run=runs())
def test_engines_and_storages_agree(run):
    X, labels = run.pop("X"), run.pop("labels")
    state = start(X.shape[1], run["planes"], run.pop("ages"))
    narrow = [np.float32, np.int8, np.int32] if (np.floor(X) == X).all() else []
    for options in ({"max_iter": 3}, {"settle": False}):
        reports = [
            fit(get_engine(name), X.astype(storage), labels, state, sparse=sparse, **run, **options)
            for name in ("reference", "rust")
            for storage in (np.float64, *narrow)
            for sparse in (False, True)
        ]
        for report in reports[1:]:
            for name, values in reports[0]["state"].items():
                assert report["state"][name].tobytes() == values.tobytes(), name
            assert report["losses"].tobytes() == reports[0]["losses"].tobytes()
        coef = reports[0]["state"]["coef"]
        assert not (np.signbit(coef) & (coef == 0)).any(), "no weight is -0.0"


@given(run=runs(), cut=st.integers(0, 39))
@pytest.mark.parametrize("engine_name", ["reference", "rust"])
def test_batches_are_one_pass(engine_name, run, cut):
    engine, X, labels = get_engine(engine_name), run.pop("X"), run.pop("labels")
    run["seed"], cut = None, cut % len(X)
    state = start(X.shape[1], run["planes"], run.pop("ages"))
    whole = fit(engine, X, labels, state, settle=False, **run)["state"]
    for part in (slice(0, cut), slice(cut, len(X))):
        if part.start < part.stop:
            state = fit(engine, X[part], labels[part], state, settle=False, **run)["state"]
    for name, values in whole.items():
        assert state[name].tobytes() == values.tobytes(), name
    now = settled(engine, state, run["eta0"], run["penalty"])
    if whole["seen"][0] == len(X):
        fresh = start(X.shape[1], run["planes"], 0)
        assert now.tobytes() == fit(engine, X, labels, fresh, **run)["state"]["coef"].tobytes()
    other = get_engine("rust" if engine_name == "reference" else "reference")
    assert now.tobytes() == settled(other, state, run["eta0"], run["penalty"]).tobytes()


def test_stored_zeros_read_nothing(trainer):
    X = sp.csr_array(np.array([[1.0, 3.0], [2.0, 5.0]]))
    zeros = X.copy()
    zeros.data[1::2] = 0
    state = with_ages(trainer, 2, coef=[[1.0, 1.0]])
    arguments = {"learner": "perceptron", "penalty": (0.0, 0.5), "settle": False, "state": state}
    stored = trainer.fit(zeros, [0, 1], **arguments)["state"]
    absent = trainer.fit(zeros.toarray(), [0, 1], **arguments)["state"]
    assert stored["ages"].tolist() == absent["ages"].tolist() == [[1, 2]]
    assert stored["coef"].tobytes() == absent["coef"].tobytes()


@pytest.mark.parametrize("age", [1, 2, 1023, 1024, 1025, 123_456_789, 2**40])
@pytest.mark.parametrize("penalty", [(0.0, 1e-9), (1e-12, 0.0), (1e-13, 1e-10)], ids=str)
def test_ages_of_every_size(age, penalty):
    state = {"coef": np.array([[1.0, -2.5, 0.0]]), "ages": np.full((1, 3), age)}
    got = [settled(get_engine(name), state, 1.0, penalty) for name in ("reference", "rust")]
    assert got[0].tobytes() == got[1].tobytes()
    l1, l2 = penalty
    factor = np.exp(age * np.log1p(-l2))
    shrink = l1 * age if l2 == 0 else l1 * (1 - factor) / l2
    want = np.sign(state["coef"]) * np.maximum(0, factor * np.abs(state["coef"]) - shrink)
    assert np.allclose(got[0], want, rtol=1e-5, atol=1e-12)  # 1 - l2 is rounded


@pytest.mark.parametrize("n", [16_385, 16_386])
def test_a_coordinate_older_than_the_table_of_factors(n):
    """The second column is read by the first and by the last example."""
    X = np.zeros((n, 2))
    X[[0, -1], 1] = 1.0
    X[::1000, 0] = 0.1
    state, labels = start(2, planes=1, ages=0), np.ones(n, dtype=np.int64)
    reports = [
        fit(
            get_engine(name),
            X,
            labels,
            state,
            planes=1,
            penalty=(0.0, 1e-5),
            eta0=1.0,
            seed=None,
            sparse=True,
        )
        for name in ("reference", "rust")
    ]
    for name, values in reports[0]["state"].items():
        assert reports[1]["state"][name].tobytes() == values.tobytes(), name


@of_core
@pytest.mark.parametrize("penalty", [(-1.0, 0.0), (0.0, np.nan), (0.0, np.inf)], ids=str)
def test_strengths_that_are_none(trainer, penalty):
    with pytest.raises(ValueError, match=r"l[12] must be finite and at least 0"):
        trainer.fit(np.ones((2, 1)), [0, 1], learner="perceptron", penalty=penalty)


@of_core
def test_a_function_of_the_mistakes_has_no_penalty(trainer):
    with pytest.raises(ValueError, match="penalty must be None for a learner that is a function of the"):
        trainer.fit(np.ones((2, 1)), [0, 1], learner="averaged", penalty=(0.0, 0.1))


def test_pending_penalties_need_their_strengths(trainer):
    state = with_ages(trainer, 1, ages=2)
    with pytest.raises(ValueError, match=r"state lacks .strengths., which the learner needs"):
        trainer.fit(np.ones((2, 1)), [0, 1], learner="perceptron", penalty=None, state=state)


@pytest.mark.parametrize("ages", [np.full((1, 2), -1), np.zeros((1, 3), dtype=int)], ids=str)
def test_bad_ages(trainer, ages):
    state = trainer.start(2) | {"ages": ages}
    with pytest.raises(ValueError, match="ages must have the shape"):
        trainer.fit(np.ones((2, 2)), [0, 1], learner="perceptron", penalty=(0.0, 0.1), state=state)
