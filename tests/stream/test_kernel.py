"""The budgeted kernel perceptron over blocks keeps what a fit in memory keeps."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from perceptron_rs import BudgetedKernelPerceptron, digest
from perceptron_rs.io import Source

rng = np.random.default_rng(12)
N = 60
X = np.round(rng.normal(size=(N, 3)), 1)
Y = np.array(["a", "b", "c"])[rng.integers(0, 3, N)]
SHORT = {"max_iter": 3, "shuffle": False, "gamma": 0.5, "budget": 7}
LEARNERS = [
    BudgetedKernelPerceptron(**SHORT),
    BudgetedKernelPerceptron(**SHORT, budget_policy="random", multi_class="joint", tol=1e-3),
    BudgetedKernelPerceptron(**SHORT, budget_policy="forgetron", class_weight="balanced"),
    BudgetedKernelPerceptron(**SHORT, budget_policy="projectron", margin_threshold=0.1),
    BudgetedKernelPerceptron(max_iter=2, shuffle=False, kernel="linear", budget=100),
]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def story(model):
    return digest(model), model.mistakes_per_epoch_.tolist(), model.support_.tolist(), model.loss_curve_


@pytest.mark.parametrize("learner", LEARNERS)
def test_blocks_change_no_bit(learner, engine_name):
    model = clone(learner).set_params(engine=engine_name)
    n, sizes = (25, [7]) if engine_name == "reference" else (N, [7, N])
    for given in (X[:n], sp.csr_matrix(X[:n])):
        expected = clone(model).fit(given, Y[:n])
        for size in sizes:
            found = clone(model).fit_stream((given, Y[:n]), block_size=size)
            assert story(found) == story(expected)
            assert found.predict(X).tolist() == expected.predict(X).tolist()


class StoppedError(Exception):
    """What ends a run."""


def test_a_run_goes_on(tmp_path):
    def source(stop_at):
        given = []

        def between(first, last):
            given.append(first)
            if len(given) == stop_at:
                raise StoppedError
            return X[first:last] + 0.0, Y[first:last]

        return Source(batches=lambda: iter([(X, Y)]), between=between, n_rows=N, n_features=3)

    options = {"shuffle": "block", "block_size": 8}
    expected = story(BudgetedKernelPerceptron(**SHORT).fit_stream((X, Y), **options))
    options |= {"checkpoint": tmp_path / "run", "checkpoint_every": 0, "resume": True}
    with pytest.raises(StoppedError):
        BudgetedKernelPerceptron(**SHORT).fit_stream(source(22), **options)
    assert story(BudgetedKernelPerceptron(**SHORT).fit_stream(source(None), **options)) == expected


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"gamma": "scale"}, "gamma='scale' is not available .* set a number"),
        ({"kernel": "precomputed"}, "kernel='precomputed' is not available"),
        ({"warm_start": True}, "warm_start=True is not available"),
        ({"track_mistakes": True}, "track_mistakes=True"),
    ],
)
def test_what_needs_all_examples_is_refused(parameters, text):
    with pytest.raises(ValueError, match=text):
        BudgetedKernelPerceptron(**(SHORT | parameters)).fit_stream((X, Y))


def test_a_value_that_is_not_finite_is_named():
    with pytest.raises(ValueError, match="contains NaN"):
        BudgetedKernelPerceptron(gamma=1.0).fit_stream((np.where(X > 1.5, np.nan, X), Y), block_size=9)
