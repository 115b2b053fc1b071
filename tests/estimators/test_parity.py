"""Both engines, every storage, instruction set, number of threads and batch size: equal bits."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris
from tests.learners import LINEAR
from tests.support import BASELINE

from perceptron_rs import (
    MultilayerPerceptron,
    Perceptron,
    VotedPerceptron,
)
from perceptron_rs.testing import assert_parity

WIDTHS = (1, 2, 3, 7, 8, 9, 15, 16, 17, 33)
VALUES = {
    "bits": lambda rng, shape: rng.integers(0, 2, shape).astype(np.uint8),
    "small": lambda rng, shape: rng.integers(-100, 101, shape).astype(np.int8),
    "int32": lambda rng, shape: rng.integers(-(2**31), 2**31, shape).astype(np.int32),
    "float32": lambda rng, shape: rng.normal(size=shape).astype(np.float32),
    "float64": lambda rng, shape: rng.normal(size=shape) * 10.0 ** rng.integers(-8, 9, shape),
    "tiny": lambda rng, shape: rng.normal(size=shape) * 2.0**-1070,
    "huge": lambda rng, shape: rng.normal(size=shape) * 2.0 ** rng.integers(1000, 1020, shape),
}


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    classes = draw(st.integers(2, 4))
    n = draw(st.integers(classes, 18))
    d = draw(st.sampled_from(WIDTHS))
    X = VALUES[draw(st.sampled_from(sorted(VALUES)))](rng, (n, d))
    X[rng.random((n, d)) < draw(st.sampled_from([0.0, 0.5, 0.9]))] = 0
    y = rng.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    weights = draw(st.sampled_from(["none", "integers", "floats"]))
    sample_weight = None
    if weights == "integers":
        sample_weight = rng.integers(0, 4, n).astype(float)
        sample_weight[:classes] = 1
    elif weights == "floats":
        sample_weight = rng.random(n)
    start = {}
    planes = 1 if classes == 2 else classes
    if draw(st.booleans()):
        start["coef_init"] = rng.normal(size=(planes, d)) * (rng.random((planes, d)) < 0.7)
    if draw(st.booleans()):
        start["intercept_init"] = rng.integers(-2, 3, planes).astype(float)
    estimator = draw(st.sampled_from(LINEAR))(
        fit_intercept=draw(st.booleans()),
        max_iter=draw(st.integers(1, 5)),
        tol=draw(st.sampled_from([None, 0.0, 1e-3])),
        n_iter_no_change=draw(st.integers(1, 2)),
        shuffle=draw(st.booleans()),
        eta0=draw(st.sampled_from([1.0, 2.0, 0.1, 1e-3])),
        random_state=draw(st.integers(0, 2**32 - 1)),
        class_weight=draw(st.sampled_from([None, "balanced", {0: 2.0}, {0: 0.3, 1: 0.0}])),
        warm_start=draw(st.booleans()),
        tie=draw(st.sampled_from(["mistake", "positive"])),
        track_mistakes=draw(st.booleans()),
    )
    return estimator, X, y, sample_weight, start


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@given(problems())
def test_every_way_gives_the_same_bits(problem):
    estimator, X, y, sample_weight, start = problem
    assert_parity(estimator, X, y, sample_weight=sample_weight, **start, threads=(2, 3))


@pytest.mark.parametrize("learner", LINEAR)
def test_real_data(learner):
    X, y = load_digits(return_X_y=True)
    assert_parity(learner(max_iter=2, tol=None), X[:20].astype(np.uint8), y[:20], batch_sizes=(16,))
    X, y = load_iris(return_X_y=True)
    assert_parity(learner(max_iter=3, tol=None), sp.csc_matrix(X[::3]).tocsr(), y[::3], batch_sizes=(32,))


class NextFloat(Perceptron):
    """A perceptron whose compiled engine is wrong in the last bit of one weight."""

    def _publish(self, state):
        super()._publish(state)
        if self.engine == "rust":
            numbers = {name: array.copy() for name, array in self._model.state().items()}
            numbers["coef"][0, 1] = np.nextafter(numbers["coef"][0, 1], np.inf)
            super()._publish(numbers)


def test_names_the_first_difference():
    X, y = load_iris(return_X_y=True)
    pattern = (
        r"\[reference, dense float64\] and \[rust \(\w+\), dense float64\] differ in coef_ at index "
        r"\(0, 1\): (-?0x1\.[0-9a-f]+p[+-]\d+) != (-?0x1\.[0-9a-f]+p[+-]\d+)"
    )
    with pytest.raises(AssertionError) as caught:
        assert_parity(NextFloat(max_iter=2, tol=None), X, y)
    match = re.fullmatch(pattern, str(caught.value))
    assert match, str(caught.value)
    assert np.nextafter(float.fromhex(match[1]), np.inf) == float.fromhex(match[2])


class OneMistakeMore(Perceptron):
    """A perceptron that counts differently when it has more than one thread."""

    def _publish(self, state):
        super()._publish(state)
        if self.n_jobs == 2:
            numbers = self._model.state()
            super()._publish(numbers | {"seen": numbers["seen"] + 1})


def test_names_the_threads():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(
        AssertionError, match=r"2 threads\] differ in n_seen_ at index \(0,\): .*450.* != .*451"
    ):
        assert_parity(OneMistakeMore(max_iter=3, tol=None, shuffle=False), X, y)


@pytest.mark.parametrize("learner", LINEAR)
def test_overflow_is_the_same_everywhere(learner):
    X = np.full((4, 3), 1e308)
    assert_parity(learner(max_iter=3, tol=None), X, [0, 1, 0, 1])


def test_instruction_set_is_automatic_again():
    from perceptron_rs import _core

    X, y = load_iris(return_X_y=True)
    before = _core._instruction_sets()
    assert_parity(Perceptron(max_iter=1, tol=None), X[::10], y[::10])
    assert _core._instruction_sets() == before
    assert before[0] == BASELINE


def test_bad_arguments_are_no_difference():
    with pytest.raises(ValueError, match="NaN"):
        assert_parity(Perceptron(), [[np.nan], [1.0]], [0, 1])


def test_a_class_that_weighs_nothing_is_learnt_from_by_the_other_planes():
    X, y = np.random.default_rng(4).normal(size=(12, 3)), np.arange(12) % 3
    for model in (VotedPerceptron(class_weight={0: 0.0}), Perceptron(class_weight={0: 0.0})):
        assert_parity(model, X, y, batch_sizes=(3,), threads=(1,))
    assert_parity(
        MultilayerPerceptron(class_weight={0: 0.0}, batch_size=1, max_iter=2, tol=None),
        X,
        y,
        batch_sizes=(2,),
        threads=(1,),
    )
