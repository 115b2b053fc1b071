"""The averaged perceptron: the cached sum against the explicit average, in exact fractions."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tests.support import averages

TRACE = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], dtype=np.int8), [0, 1, 1, 0, 0, 1]


def explicit_average(X, y, *, tie, intercept, w, b, passes):
    """(w_0 + w_1 + ... + w_T) / (T + 1), each vector with its intercept at the end."""
    v = [Fraction(value) for value in [*w, b]]
    total, count = list(v), 1
    for _ in range(passes):
        for x, sign in zip(X, y, strict=True):
            a = sum(p * q for p, q in zip(v, [*x, 1], strict=True))
            if not (sign * a > 0 or (tie == "positive" and sign == 1 and a == 0)):
                v = [p + sign * q for p, q in zip(v, [*x, intercept], strict=True)]
            total = [p + q for p, q in zip(total, v, strict=True)]
            count += 1
    return [float(value / count) for value in total]  # correctly rounded


def check_average(engine, state, expected):
    coef, intercept = averages(engine, state)
    assert [*coef[0].tolist(), intercept[0]] == expected


@st.composite
def problems(draw):
    n, d = draw(st.integers(1, 10)), draw(st.integers(1, 4))
    values = st.integers(-5, 5)
    return {
        "X": draw(st.lists(st.lists(values, min_size=d, max_size=d), min_size=n, max_size=n)),
        "labels": draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)),
        "tie": draw(st.sampled_from(["mistake", "positive"])),
        "intercept": draw(st.booleans()),
        "w": draw(st.lists(values, min_size=d, max_size=d)),
        "b": draw(values),
        "passes": draw(st.integers(1, 4)),
        "cuts": draw(st.lists(st.integers(0, n), max_size=3)),
        "sparse": draw(st.booleans()),
    }


@given(problem=problems())
def test_equals_the_explicit_average(trainer, problem):
    X = np.array(problem["X"], dtype=np.int16)
    y = [2 * label - 1 for label in problem["labels"]]
    rule = {"tie": problem["tie"], "fit_intercept": problem["intercept"]}
    state = trainer.start(X.shape[1], coef=problem["w"], intercept=problem["b"])
    for _ in range(problem["passes"]):
        data = sp.csr_matrix(X) if problem["sparse"] else X
        state = trainer.fit(data, problem["labels"], state=state, **rule)["state"]
    expected = explicit_average(
        problem["X"],
        y,
        tie=problem["tie"],
        intercept=int(problem["intercept"]),
        w=problem["w"],
        b=problem["b"],
        passes=problem["passes"],
    )
    assert state["seen"].tolist() == [len(y) * problem["passes"]]
    check_average(trainer.engine, state, expected)

    # The same numbers come out however the stream of examples is cut.
    cut = trainer.start(X.shape[1], coef=problem["w"], intercept=problem["b"])
    ends = sorted({0, len(y), *problem["cuts"]})
    for _ in range(problem["passes"]):
        for start, end in itertools.pairwise(ends):
            cut = trainer.fit(X[start:end], problem["labels"][start:end], state=cut, **rule)["state"]
    for name in state:
        assert cut[name].tobytes() == state[name].tobytes(), name


def test_without_its_counter_the_cached_sum_is_wrong(trainer):
    """One source prints u += y x. The check that the right one passes must refuse it."""
    X, labels = TRACE
    report = trainer.fit(X, labels, fit_intercept=False)
    y = [2 * label - 1 for label in labels]
    expected = explicit_average(X.tolist(), y, tie="mistake", intercept=0, w=[0, 0], b=0, passes=1)
    assert expected == [12 / 7, -4 / 7, 0]
    check_average(trainer.engine, report["state"], expected)
    uncounted = report["state"] | {"coef_u": report["state"]["coef"]}  # the sum of y x is w itself
    with pytest.raises(AssertionError):
        check_average(trainer.engine, uncounted, expected)


@given(problem=problems(), seed=st.integers(0, 99))
def test_last_weights_are_the_perceptrons(trainer, problem, seed):
    X = np.array(problem["X"]) * 0.1
    arguments = {"seed": seed, "max_iter": problem["passes"], "tie": problem["tie"], "eta0": 0.3}
    plain = trainer.fit(X, problem["labels"], learner="perceptron", **arguments)
    averaged = trainer.fit(X, problem["labels"], **arguments)
    for name in ("coef", "intercept", "seen"):
        assert averaged["state"][name].tobytes() == plain["state"][name].tobytes()
    for name in ("mistakes", "losses", "n_iter"):
        assert averaged[name].tobytes() == plain[name].tobytes()


def test_rounding_on_arbitrary_data(trainer):
    """Word by word: u += (t c) x with t c computed once, ((T+1) w - u) / (T+1)."""
    rng = np.random.default_rng(0)
    X, labels = rng.standard_normal((50, 9)), rng.integers(0, 2, 50)
    weights = rng.random(50)
    report = trainer.fit(X, labels, sample_weight=weights, eta0=0.1, max_iter=4, seed=5)
    w, b, u, ub, t = [0.0] * 9, 0.0, [0.0] * 9, 0.0, 0
    for epoch in range(4):
        for i in trainer.engine.permutation(50, seed=5, epoch=epoch, partition=0).tolist():
            x, y, t = X[i].tolist(), 2.0 * labels[i] - 1.0, t + 1
            a = trainer.scores(X[i : i + 1], w, b)[0, 0]
            if not y * a > 0:
                c = float((0.1 * weights[i]) * y)
                w, b = [p + c * q for p, q in zip(w, x, strict=True)], b + c
                u, ub = [p + (t * c) * q for p, q in zip(u, x, strict=True)], ub + t * c
    state = report["state"]
    assert state["coef"][0].tolist() == w
    assert state["intercept"].tolist() == [b]
    assert state["coef_u"][0].tolist() == u
    assert state["intercept_u"].tolist() == [ub]
    mean = [((t + 1) * p - q) / (t + 1) for p, q in zip([*w, b], [*u, ub], strict=True)]
    check_average(trainer.engine, state, mean)


def test_planes_are_averaged_each_over_its_own_examples(trainer):
    X = np.array([[1, 0], [0, 1], [-1, -1], [2, 1]], dtype=np.int8)
    labels, positive = [0, 1, 2, 0], [0, 1, 2]
    together = trainer.fit(X, labels, positive=positive, max_iter=30)
    means = averages(trainer.engine, together["state"])
    for k in positive:
        alone = trainer.fit(X, labels, positive=[k], max_iter=30)
        assert alone["n_iter"][0] == together["n_iter"][k]
        for mean, single in zip(means, averages(trainer.engine, alone["state"]), strict=True):
            assert mean[k].tobytes() == single[0].tobytes()
    assert len(set(together["state"]["seen"].tolist())) > 1, "all planes stopped together"


@pytest.mark.parametrize("sparse", [False, True])
def test_no_start_value_stays_minus_zero(trainer, sparse):
    """Rule 4 holds for the sums too, where no entry of a CSR matrix reaches them."""
    X = np.array([[1.0, 0.0], [2.0, 0.0]])
    start = trainer.start(2, 2)
    zeros = {name: np.full_like(values, -0.0) for name, values in start.items() if name != "seen"}
    for labels in ([0, 0], [1, 0]):
        state = trainer.fit(
            sp.csr_matrix(X) if sparse else X, labels, positive=[0, 2], state=start | zeros, max_iter=2
        )["state"]
        for name in zeros:
            assert not (np.signbit(state[name]) & (state[name] == 0)).any(), name
