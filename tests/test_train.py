"""The steps of a call that learns stand in one place, and so all learners have them."""

import ast
import copy
import pickle
import warnings
from collections import defaultdict
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import perceptron_rs
from perceptron_rs import (
    BudgetedKernelPerceptron,
    KernelPerceptron,
    MultilayerPerceptron,
    Perceptron,
    SequencePerceptron,
    VotedPerceptron,
)
from perceptron_rs.training.driver import noted_calls
from tests.support import contents

PACKAGE = Path(perceptron_rs.__file__).parent
#: Who else calls a step: learners whose examples are no rows, or whose fit is no run.
OTHERS = {"sequence/structured.py", "margins/classifier.py"}
STEPS = {
    "draw_seed": {"testing/parity.py"},  # one, for all ways that are compared
    "Schedule": set(),
    "note_end": set(),
    "check_parameters": set(),
    "Turn": {"linear/passes.py"},  # a pass in one call of the model
    "learning": {"prediction/scoring.py"},  # of a calibration
    "fixed_parameters": {"models/contents.py"},  # of a model that is loaded
}

rng = np.random.default_rng(3)
X = rng.normal(size=(60, 3))
Y = (X @ [1.0, -2.0, 0.5] + rng.normal(size=60) > 0).astype(int)


@cache
def callers():
    """Return the files of the package that call a function of each name."""
    found = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                found[node.func.id].add(path.relative_to(PACKAGE).as_posix())
    return found


@pytest.mark.parametrize("step", STEPS)
def test_a_step_of_a_call_stands_in_one_place(step):
    assert callers()[step] - OTHERS - STEPS[step] <= {"training/train.py"}


@pytest.mark.parametrize("kind", [Perceptron, VotedPerceptron, KernelPerceptron, MultilayerPerceptron])
def test_a_warning_that_is_an_error_leaves_the_estimator_as_it_was(kind):
    model = kind(max_iter=2, tol=None).fit(X, Y).set_params(tol=1e-9)
    before = contents(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ConvergenceWarning, match="max_iter=2"):
            model.fit(-X, Y)
    assert contents(model) == before


@pytest.mark.parametrize("kind", [Perceptron, KernelPerceptron, MultilayerPerceptron, SequencePerceptron])
def test_a_warning_points_at_the_caller(kind):
    labels = np.arange(30)  # as many classes as examples
    with pytest.warns(UserWarning, match="number of unique classes") as caught:
        kind(max_iter=1).set_params(**({"tol": None} if kind is not SequencePerceptron else {})).fit(
            X[:30], labels
        )
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("kind", [Perceptron, VotedPerceptron, KernelPerceptron, BudgetedKernelPerceptron])
def test_epochs_are_numbered_from_the_cold_start_on(kind, shuffle):
    epochs = []
    model = kind(max_iter=2, tol=None, shuffle=shuffle, warm_start=True)
    model.set_params(callback=lambda record: epochs.append(record.epoch))
    model.fit(X, Y).fit(X, Y)
    assert epochs == [0, 1, 2, 3]
    model.set_params(warm_start=False).fit(X, Y)
    assert epochs[4:] == [0, 1]


@pytest.mark.parametrize("kind", [Perceptron, BudgetedKernelPerceptron])
def test_streams_and_passes_leave_nothing_of_an_earlier_fit(kind):
    model = kind(max_iter=2, tol=None, **({} if kind is Perceptron else {"gamma": 0.5}))
    assert len(model.set_params(early_stopping=True).fit(X, Y).validation_scores_) == 2
    assert not hasattr(model.set_params(early_stopping=False).fit_stream((X, Y)), "validation_scores_")
    model.set_params(early_stopping=True, track_mistakes=True).fit(X, Y)
    model.set_params(early_stopping=False).partial_fit(X[:20], Y[:20])
    for other in (model, copy.copy(model), pickle.loads(pickle.dumps(model))):
        assert other.mistakes_per_example_.shape == (20, 1)
        assert not hasattr(other, "validation_scores_")
        assert not hasattr(other, "loss_curve_")


def test_the_report_of_a_run_becomes_attributes():
    model, labels = Perceptron(max_iter=4, tol=None, track_mistakes=True), np.arange(60) % 3
    with noted_calls() as calls:
        model.fit(X, labels)
    report = calls[0].report
    assert model.mistakes_per_epoch_.tolist() == report.mistakes.tolist()
    assert model.mistakes_per_example_.tolist() == report.tracked["mistakes_per_example"].tolist()
    assert model.n_iter_per_class_.tolist() == report.n_iter.tolist() == [model.n_iter_] * 3
    assert model.n_mistakes_ == report.mistakes.sum()
    assert model.loss_curve_ == [sum(each) / 3 for each in report.losses.tolist()]
    assert model.converged_ is (set(report.stopped) == {"clean"})
    model.set_params(track_mistakes=False, callback=lambda record: None).partial_fit(X, labels)  # in a run
    assert not hasattr(model, "loss_curve_")
    assert not hasattr(model, "mistakes_per_example_")
