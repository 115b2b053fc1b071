"""When a decision ends, and what is told of it: a run whose epochs are written down, and no learner."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from perceptron_rs import MultilayerPerceptron, Perceptron
from perceptron_rs.settings import Epoch
from perceptron_rs.training.driver import Schedule, follow, noted_calls, spliced


class Script:
    """A run that tells of each epoch what is written: mistakes and objectives of its decisions.

    Its state is the number of epochs of each decision.
    """

    def __init__(self, mistakes, objectives, interrupt_at=None):
        self.mistakes, self.objectives = np.array(mistakes, ndmin=2), np.array(objectives, ndmin=2)
        self.interrupt_at, self.told, self.ended = interrupt_at, [], []

    def epoch(self, number):
        k = len(self.told)
        self.told.append(number)
        is_cut = k == self.interrupt_at
        return Epoch(
            self.mistakes[:, k], 10 * self.objectives[:, k], self.objectives[:, k], interrupted=is_cut
        )

    def end(self, decision):
        assert decision not in self.ended
        self.ended.append(decision)

    def state(self):
        return {"epochs": np.full(len(self.mistakes), len(self.told))}

    def tracked(self):
        return {}


def story(script, *, watch=None, held_out=None, keep_on_interrupt=False, **schedule):
    settings = SimpleNamespace(decisions=len(script.mistakes), keep_on_interrupt=keep_on_interrupt)
    report = follow(
        script, settings, Schedule(**{"max_iter": 9, "n_iter_no_change": 1} | schedule), watch, held_out
    )
    assert sorted(script.ended) == list(range(settings.decisions))
    return report


@pytest.mark.parametrize(
    ("objectives", "options", "n_iter", "why"),
    [
        # An epoch that is better by just tol is better.
        ([8, 7, 6, 5, 4, 3, 2, 1, 0], {"tol": 1.0}, 9, "max_iter"),
        ([8, 7, 6.25, 5], {"tol": 1.0}, 3, "tol"),
        ([8, 8], {"tol": 0.0}, 9, "max_iter"),
        ([8, 9], {"tol": 0.0}, 2, "tol"),
        ([8, 9, 9, 9], {"tol": -1.0}, 9, "max_iter"),
        # The best of all epochs is what counts, also of those that were not better by tol.
        ([8, 9, 8.5, 7], {"tol": 0.0, "n_iter_no_change": 2}, 3, "tol"),
        ([8, 7.5, 6.75, 5], {"tol": 1.0, "n_iter_no_change": 2}, 3, "tol"),
        # Epochs in a row: a better one in between begins to count anew.
        ([8, 9, 7, 9, 6, 9, 9], {"tol": 0.5, "n_iter_no_change": 2}, 7, "tol"),
        ([8, 9, 9, 9], {"tol": 0.5, "n_iter_no_change": 3}, 4, "tol"),
        ([1, 2, 3, 4], {"tol": None}, 9, "max_iter"),
        ([1, 2], {"tol": None, "max_iter": 1}, 1, "max_iter"),
    ],
)
def test_tol_watches_the_objective(objectives, options, n_iter, why):
    written = (objectives + 9 * objectives[-1:])[:9]
    report = story(Script([1] * 9, written), **options)
    assert (report.n_iter.tolist(), report.stopped) == ([n_iter], [why])
    assert report.losses[:, 0].tolist() == [10 * o for o in written[:n_iter]]


@pytest.mark.parametrize(
    ("mistakes", "objectives", "options", "n_iter", "why"),
    [
        ([1, 0], [8, 9], {"tol": 0.0}, 2, "clean"),  # it would be the end by tol, too
        ([1, 0], [8, 7], {"max_iter": 2}, 2, "clean"),  # and by max_iter
        ([1, 1], [8, 9], {"tol": 0.0, "max_iter": 2}, 2, "tol"),
        ([0, 1], [8, 9], {"tol": 0.0, "until_clean": False}, 2, "tol"),
        ([0, 0], [8, 7], {"until_clean": False, "max_iter": 2}, 2, "max_iter"),
    ],
)
def test_of_several_reasons_the_first_is_told(mistakes, objectives, options, n_iter, why):
    for ends in (False, True):
        watch = partial(lambda ends, k, *_: ends and k == 1, ends)
        report = story(Script(mistakes, objectives), watch=watch, **options)
        assert (report.n_iter.tolist(), report.stopped) == ([n_iter], [why])


def test_each_decision_ends_by_itself():
    script = Script([[1, 1, 1, 1], [1, 0, 5, 5], [1, 1, 1, 1]], [[4, 3, 2, 1], [4, 3, 0, 0], [4, 3, 3, 0]])
    seen = []

    def watch(number, mistakes, losses, run):
        seen.append((number, mistakes.tolist(), losses.tolist(), run is script))
        return np.array([len(seen) == 4, False, False])

    report = story(script, watch=watch, tol=0.5, first_epoch=7)
    assert report.n_iter.tolist() == [4, 2, 3]
    assert report.n_iter.dtype == np.int64
    assert report.stopped == ["callback", "clean", "tol"]
    assert script.told == [7, 8, 9, 10]
    assert script.ended == [1, 2, 0]
    assert [number for number, *_ in seen] == script.told
    assert seen[1] == (8, [1, 0, 1], [30.0, 30.0, 30.0], True)


def test_the_first_of_the_best_epochs_is_kept():
    """Of each decision; and what is held out says when to stop, not what the epoch was."""
    judged = np.array([[5, 4, 4, 6, 4, 4], [5, 6, 7, 1, 1, 9]], dtype=float)

    def lost(state):
        return judged[:, state["epochs"][0] - 1]

    script = Script(np.ones((2, 6), dtype=int), np.zeros((2, 6)))
    report = story(script, held_out=lost, max_iter=6)
    assert report.stopped == ["max_iter", "max_iter"]
    assert report.state["epochs"].tolist() == [2, 4]
    report = story(
        Script(np.ones((2, 6), dtype=int), np.zeros((2, 6))), held_out=lost, tol=0.5, n_iter_no_change=2
    )
    assert (report.n_iter.tolist(), report.stopped) == ([4, 3], ["tol", "tol"])
    assert report.state["epochs"].tolist() == [2, 1]


def test_what_a_class_keeps_is_of_its_best_epoch():
    """Of k kept rows the factor has k * (k + 1) / 2 numbers, and none unless the policy projects."""

    def state(lengths, epoch):
        sizes = [k * (k + 1) // 2 for k in lengths]
        rows, factors = (
            [f"{epoch}{plane}{i}" for plane, n in enumerate(each) for i in range(n)]
            for each in (lengths, sizes)
        )
        return {
            "kept_start": np.cumsum([0, *lengths]),
            "kept_row": np.array(rows, dtype=int),
            "kept_factor": np.array(factors, dtype=int),
        }

    early, late = state([2, 0, 3, 1], 1), state([3, 2, 1, 4], 2)
    found = spliced(early, late, np.array([False, True, False, True]))
    assert found["kept_start"].tolist() == [0, 2, 4, 7, 11]
    assert found["kept_row"].tolist() == [100, 101, 210, 211, 120, 121, 122, 230, 231, 232, 233]
    assert found["kept_factor"].tolist() == [
        *range(100, 103), *range(210, 213), *range(120, 126), *range(230, 240)
    ]  # fmt: skip
    early["kept_factor"] = late["kept_factor"] = np.zeros(0)
    found = spliced(early, late, np.array([False, True, False, True]))
    assert found["kept_factor"].tolist() == []
    assert found["kept_start"].tolist() == [0, 2, 4, 7, 11]


def test_a_run_has_an_epoch():
    with pytest.raises(ValueError, match="max_iter must be at least 1, got 0"):
        story(Script([1], [1]), max_iter=0)


def test_calls_are_noted_in_their_block_alone():
    with noted_calls() as calls:
        Perceptron().fit([[1.0], [-1.0]], [1, 0])
        MultilayerPerceptron(max_iter=1, tol=None).fit([[1.0], [-1.0]], [1, 0])  # which has no planes
    Perceptron().fit([[1.0], [-1.0]], [1, 0])
    assert len(calls) == 1


def test_what_ctrl_c_ends():
    script = Script([[1, 1, 1], [0, 1, 1]], [[3, 2, 1], [3, 2, 1]], interrupt_at=2)
    report = story(script, keep_on_interrupt=True)
    assert report.stopped == ["interrupt", "clean"]
    assert report.n_iter.tolist() == [3, 1]
    assert len(report.mistakes) == 3


def test_the_epoch_that_ctrl_c_cut_short_is_judged_for_those_that_go_on():
    """A class that has ended before has learnt nothing in it, whatever its loss would be."""
    judged = np.array([[5, 6, 4], [1, 9, 0]], dtype=float)
    script = Script([[1, 1, 1], [0, 1, 1]], [[3, 2, 1], [3, 2, 1]], interrupt_at=2)

    def lost(state):
        return judged[:, state["epochs"][0] - 1]

    report = story(script, held_out=lost, keep_on_interrupt=True)
    assert report.stopped == ["interrupt", "clean"]
    assert report.state["epochs"].tolist() == [3, 1]


def test_it_converged_if_each_class_did(engine_name):
    """One class is told from the others by its second column; no plane tells the other two apart."""
    X, y = np.array([[0.0, 5.0], [1.0, -5.0], [1.0, -5.0]] * 4), np.array([0, 1, 2] * 4)
    with pytest.warns(ConvergenceWarning):
        model = Perceptron(max_iter=9, tol=1e-9, n_iter_no_change=20, engine=engine_name).fit(X, y)
    assert model.n_iter_per_class_[0] < 9
    assert model.converged_ is False
    assert Perceptron(engine=engine_name).fit(X[:2], y[:2]).converged_ is True
