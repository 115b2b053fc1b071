"""Dual coordinate descent: bits, certificates, agreement with Wolfe's method, the hand-over to it."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from perceptron_rs import _core, max_margin, reference, verify

from .problems import bits, gap, planted, rows_of, separate

BIASES = ("free", "augmented", "none")


def random_labels(n, d, entries, seed):
    """Sparse rows of more columns than rows: any labels can be separated, and almost all rows are support."""
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, entries / d, format="csr", random_state=seed)
    X.data -= 0.5
    X.sort_indices()
    y = rng.random(n) < 0.5
    y[:2] = True, False
    return X, y


@st.composite
def problems(draw):
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    n, d = draw(st.integers(1, 25)), draw(st.integers(1, 12))
    X = rng.integers(-3, 4, size=(n, d)).astype(np.float64)
    if draw(st.booleans()):
        X = X * 10.0 ** rng.integers(-3, 4, size=d)
    if draw(st.booleans()):
        X = np.where(rng.random((n, d)) < 0.3, X, 0.0)
    return X, rng.integers(0, 2, size=n)


@given(
    problems(),
    st.sampled_from(BIASES),
    st.sampled_from(["descent", "auto"]),
    st.sampled_from(["margin", "separable"]),
    st.sampled_from([0, 1, 2, 40]),
)
def test_both_engines_and_both_storages_give_the_same_bits(problem, bias, solver, goal, budget):
    X, y = problem
    options = {"bias": bias, "solver": solver, "goal": goal, "max_steps": budget}
    found = {
        repr(bits(separate(engine, storage(X), y, **options)))
        for engine in (_core, reference)
        for storage in (np.asarray, sp.csr_matrix)
    }
    assert len(found) == 1


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("solver", ["descent", "auto"])
def test_the_bits_of_a_longer_run(bias, solver):
    X, y = random_labels(60, 120, 6, seed=1)
    runs = [
        separate(engine, X, y, bias=bias, solver=solver, threads=threads)
        for engine, threads in ((_core, 1), (_core, 3), (reference, 1))
    ]
    assert runs[0]["status"] == "separable"
    assert runs[0]["work"]["sweeps"] > 5
    assert bits(runs[0]) == bits(runs[1]) == bits(runs[2])


def test_the_storage_type_changes_no_bit():
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 10, (30, 40)) * (rng.random((30, 40)) < 0.2)
    y = rng.random(30) < 0.5
    found = {
        repr(bits(separate(_core, X.astype(dtype), y, solver="descent")))
        for dtype in ("float64", "float32", "int8", "int16", "int32")
    }
    assert len(found) == 1


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("seed", range(5))
def test_both_solvers_find_the_same_margin(bias, seed):
    X, y = planted(80, 6, 0.3, seed) if seed % 2 else random_labels(40, 90, 5, seed)
    signs = np.where(y, 1, -1)
    found = {s: max_margin(X, signs, bias=bias, solver=s) for s in ("wolfe", "descent", "auto")}
    for solver, result in found.items():
        if bias == "none" and result.status != "separable":
            assert (
                result.status == "non_separable"
            )  # the planted planes have an intercept of 0, so only by chance
            continue
        assert result.status == "separable"
        assert result.solver == ("descent" if solver == "descent" else "wolfe")
        verify(result, X, signs)
        assert (result.upper - result.lower) / result.upper <= 1e-8
    assert max(r.lower for r in found.values()) <= min(r.upper for r in found.values())


@pytest.mark.parametrize("engine", [_core, reference])
def test_the_interval_contains_the_exact_margin(engine):
    # The nearest points are (0, 1) and (3, 1): nothing of either class lies between their verticals.
    X = np.array([[0.0, 1.0], [-1.0, 5.0], [3.0, 1.0], [4.0, -2.0]])
    found = separate(engine, X, [0, 0, 1, 1], solver="descent", tol=1e-10)
    assert found["lower"] <= 1.5 <= found["upper"]
    assert gap(found) <= 1e-10


@pytest.mark.parametrize("bias", BIASES)
def test_it_hands_over_to_a_corral_of_its_rows(bias):
    X, y = random_labels(80, 200, 6, seed=3)
    found = separate(_core, X, y, bias=bias, solver="auto", tol=1e-12)
    assert found["solver"] == "wolfe"
    assert found["work"]["sweeps"] > 0
    assert found["work"]["majors"] > 0
    assert gap(found) <= 1e-12


def test_dense_data_of_few_columns_never_sweeps():
    X, y = planted(300, 5, 0.1)
    assert separate(_core, X, y, solver="auto")["work"]["sweeps"] == 0


def test_a_gap_that_descent_reaches_soon_needs_no_corral():
    X, y = random_labels(80, 200, 6, seed=3)
    found = separate(_core, X, y, solver="auto", tol=0.1)
    assert found["solver"] == "descent"
    assert found["work"]["majors"] == 0
    assert gap(found) <= 0.1


def test_a_separating_plane_ends_the_question_of_separability():
    X, y = random_labels(80, 200, 6, seed=3)
    asked = separate(_core, X, y, solver="descent", goal="separable")
    found = separate(_core, X, y, solver="descent")
    assert asked["status"] == "separable"
    assert asked["work"]["sweeps"] < found["work"]["sweeps"]


@pytest.mark.parametrize("engine", [_core, reference])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("max_steps", [0, 1])
def test_a_small_budget(engine, bias, max_steps):
    X, y = random_labels(20, 50, 5, seed=2)
    found = separate(engine, X, y, bias=bias, solver="descent", max_steps=max_steps)
    assert found["work"]["sweeps"] == max_steps
    full = separate(engine, X, y, bias=bias)
    assert found["upper"] >= full["lower"]
    assert found["lower"] <= full["upper"]


@pytest.mark.parametrize("tol", [1e300, 0.5, 1e-300])
def test_any_tol(tol):
    X, y = random_labels(20, 50, 5, seed=2)
    found = separate(_core, X, y, solver="descent", tol=tol, max_steps=3000)
    assert found["status"] == "separable"
    assert gap(found) <= max(tol, 1e-12)
    assert verify_solution(found, X, y)


def verify_solution(found, X, y):
    """The lower end, row by row, in rational arithmetic."""
    w = [Fraction(float(c)) for c in found["coef"]]
    square = sum(c * c for c in w)
    for row, label in zip(X.toarray(), y, strict=True):
        a = sum(Fraction(float(x)) * c for x, c in zip(row, w, strict=True)) + Fraction(found["intercept"])
        a = a if label else -a
        if not (a > 0 and a * a >= Fraction(found["lower"]) ** 2 * square):
            return False
    return True


@pytest.mark.parametrize("bias", BIASES)
def test_what_cannot_be_separated_gets_no_false_certificate(bias):
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0], [2.0, 0.5]])
    found = separate(_core, X, [1, 1, 0, 0, 1], bias=bias, solver="descent", max_steps=500)
    assert found["status"] in ("undecided", "margin_at_most", "non_separable")
    assert found["lower"] == -math.inf


def test_one_long_row_among_short_ones():
    # The step of the intercept must suit the many short rows.
    X, y = random_labels(100, 300, 5, seed=5)
    X = X.tolil()
    X[0] = X[0] * 1000
    X = X.tocsr()
    found = separate(_core, X, y, solver="descent", tol=1e-6, max_steps=2000)
    assert gap(found) <= 1e-6


@pytest.mark.parametrize("scale", [2.0**-900, 2.0**-30, 2.0**40, 2.0**900])
def test_a_power_of_two_scales_the_interval_and_nothing_else(scale):
    X, y = random_labels(30, 60, 5, seed=6)
    plain, scaled = (separate(_core, X * factor, y, solver="descent") for factor in (1.0, scale))
    assert scaled["work"] == plain["work"]
    assert scaled["lower"] == pytest.approx(plain["lower"] * scale, rel=1e-13)
    assert np.array_equal(scaled["dual_weights"], plain["dual_weights"])


def test_a_row_of_zeros_without_bias():
    X = sp.csr_matrix([[0.0, 0.0], [1.0, 2.0]])
    for engine in (_core, reference):
        found = separate(engine, X, [1, 0], bias="none", solver="descent", max_steps=50)
        assert found["status"] != "separable"
        assert rows_of(engine, X).shape == (2, 2)
