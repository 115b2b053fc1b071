"""One bit pattern: both engines, dense and sparse, every storage type, any number of threads."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from perceptron_rs import _core, reference

from .problems import bits, planted, rows_of, separate

BIASES = ("free", "augmented", "none")
STORAGE = ("float64", "float32", "int8", "int16", "int32")


@st.composite
def problems(draw):
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    n, d = draw(st.integers(1, 40)), draw(st.integers(0, 20))
    kind = draw(st.sampled_from(["small", "planted", "sparse", "offset", "scales"]))
    if kind == "planted" and d > 0:
        X, y = planted(n, d, 0.1, seed)
    else:
        X = rng.integers(-3, 4, size=(n, d)).astype(np.float64)
        y = rng.integers(0, 2, size=n)
    if kind == "sparse":
        X = np.where(rng.random((n, d)) < 0.05, X, 0.0)
    if kind == "offset":
        X = X + 1e6
    if kind == "scales":
        X = X * 10.0 ** rng.integers(-6, 7, size=d)
    return X, y


@given(
    problems(),
    st.sampled_from(BIASES),
    st.sampled_from(["margin", "separable"]),
    st.sampled_from([0, 1, 5, 10**5]),
)
def test_both_engines_and_both_storages_give_the_same_bits(problem, bias, goal, budget):
    X, y = problem
    found = {
        bits(separate(engine, storage(X), y, bias=bias, goal=goal, max_steps=budget)).__repr__()
        for engine in (_core, reference)
        for storage in (np.array, sp.csr_matrix)
    }
    assert len(found) == 1


@given(st.integers(0, 2**32 - 1), st.sampled_from(BIASES))
def test_no_storage_type_changes_a_bit(seed, bias):
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 10, size=(30, 5))
    y = X @ rng.normal(size=5) > 0
    found = {repr(bits(separate(_core, X.astype(dtype), y, bias=bias))) for dtype in STORAGE}
    found |= {repr(bits(separate(_core, sp.csr_matrix(X.astype(dtype)), y, bias=bias))) for dtype in STORAGE}
    assert len(found) == 1


@pytest.mark.parametrize("bias", BIASES)
def test_neither_threads_nor_instruction_sets_change_a_bit(bias):
    X, y = planted(5000, 7, 0.01)
    found = {repr(bits(separate(_core, X, y, bias=bias, threads=threads))) for threads in (1, 2, 3)}
    try:
        for name in _core._instruction_sets():
            _core._force_instruction_set(name)
            found.add(repr(bits(separate(_core, X, y, bias=bias))))
    finally:
        _core._force_instruction_set(None)
    assert len(found) == 1


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("kind", ["halves", "few", "one"])
def test_passes_over_samples_have_the_same_bits(kind, bias):
    # From 16,000 rows on, the first pass scores each eighth row; means are those of each fourth.
    n = 16_001
    X = np.random.default_rng(4).integers(-9, 10, size=(n, 3)).astype(np.float64)
    y = X @ [5.0, -1.0, 2.0] + 0.5 > 0
    if kind == "few":  # equal rows have equal scores
        X = np.sign(X)
    if kind == "one":  # a class of one row, which no sample holds
        y = np.arange(n) == 13
        X[13] = 50.0
    found = [separate(engine, X, y, bias=bias) for engine in (_core, reference)]
    assert bits(found[0]) == bits(found[1])
    assert found[0]["work"]["rows_scored"] % n > 2000


@given(problems(), st.booleans(), st.booleans())
def test_the_margin_of_a_plane_has_the_same_bits(problem, normalize, with_intercept):
    X, y = problem
    if X.shape[1] == 0:
        return
    rng = np.random.default_rng(len(X))
    coef, labels = rng.normal(size=X.shape[1]), np.asarray(y, dtype=np.uint32)
    intercept = 0.25 if with_intercept else None
    found = set()
    for engine in (_core, reference):
        for storage in (np.array, sp.csr_matrix):
            rows = rows_of(engine, storage(X))
            low, high, wrong = engine.margin(rows, labels, coef, intercept, normalize=normalize, threads=1)
            found.add((low.hex(), high.hex(), tuple(wrong)))
    assert len(found) == 1
