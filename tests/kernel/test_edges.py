"""No columns, numbers that are not finite, and what is let go."""

import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs import _core
from perceptron_rs.settings import KernelSpec

from .budget_support import LINEAR, budget_run
from .support import SQUARE, kernel_run, rows_of, scores, vectors


@pytest.mark.parametrize("kernel", [SQUARE, LINEAR, KernelSpec("rbf", gamma=0.5)])
def test_rows_without_columns(engine, kernel):
    rows, others = rows_of(engine, np.zeros((2, 0))), rows_of(engine, np.zeros((3, 0)))
    found = engine.kernel_matrix(rows, others, kernel=kernel, threads=1)
    assert found.tolist() == [[0.0 if kernel is LINEAR else 1.0] * 3] * 2
    assert engine.scale_gamma(rows) == 1.0


def test_one_row_whose_activation_overflows_is_enough(engine):
    signs = np.array([[1.0], [-1.0]])
    state = vectors(kernel_run(engine, signs, [1, 0], kernel=LINEAR, max_iter=1))
    stored, X = 1e200 * signs, np.array([[1e200], [1.0]])
    assert np.isfinite(scores(engine, X[1:], stored, state, kernel=LINEAR)).all()
    for rows in (X, X[::-1]):
        with pytest.raises(OverflowError, match="not finite"):
            scores(engine, rows, stored, state, kernel=LINEAR)


def test_the_variance_of_many_columns_takes_many_looks(engine):
    # 16 rows are read between two questions to the monitor.
    X = np.zeros((40, 20_000), dtype=np.int8)
    X[:, ::2] = 1
    assert engine.scale_gamma(rows_of(engine, X)) == 1 / (20_000 * 0.25)


def test_listed_rows_with_an_infinite_value_overflow(engine):
    X = np.zeros((2, 90))
    X[:, 0], X[1, 1] = 1.0, np.inf
    with pytest.raises(OverflowError):
        budget_run(engine, sp.csr_matrix(X), [1, 0], max_iter=2)


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is in Linux's /proc")
def test_examples_that_go_leave_their_memory():
    """Of 6000 examples of 16 KB each, most are mistaken; two are kept at a time."""
    random = np.random.default_rng(0)
    X, y = random.integers(-9, 10, (6000, 2000)).astype(np.int8), random.integers(0, 2, 6000)

    def peak():
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024

    budget_run(_core, X[:100], y[:100])
    Path("/proc/self/clear_refs").write_text("5")  # what has been the peak is forgotten
    before = peak()
    report = budget_run(_core, X, y, max_iter=1)
    assert report["mistakes"].sum() > 2000
    assert peak() - before < 16, "MB"
