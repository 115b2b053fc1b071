"""Passes of partitions that are tried where the weights stand, and rounds of them."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs import AveragedPerceptron, Perceptron
from perceptron_rs.engines import get_engine
from perceptron_rs.mixing import rounds, shares
from perceptron_rs.settings import Data, Linear


@pytest.mark.parametrize("engine", ["rust", "reference"])
@pytest.mark.parametrize("joint", [None, "max"])
@pytest.mark.parametrize("learner", ["perceptron", "averaged"])
def test_a_draft_tells_what_a_run_would_lead_to_and_stays_as_it_is(learner, joint, engine):
    rng, engine = np.random.default_rng(5), get_engine(engine)
    X = sp.random(40, 30, 0.2, format="csr", random_state=5)
    data = Data(engine.csr_rows(X.indptr, X.indices, X.data, 30), rng.integers(0, 3, 40).astype(np.uint32))
    classes, weights = np.arange(3, dtype=np.uint32), rng.random((3, 2)) + 0.5
    settings = Linear(
        learner=learner,
        positive=classes,
        class_weight=weights,
        eta0=0.3,
        seed=2,
        joint=joint,
        track_mistakes=True,
    )
    draft, run = (
        engine.Draft(engine.Model(learner, 3, 30)),
        engine.start(data, engine.Model(learner, 3, 30), settings),
    )
    for number in range(4):
        before = draft.model().state()
        first, again = (draft.learn(data, settings, number) for _ in range(2))
        expected = run.epoch(number)
        for epoch, now, _ in (first, again):
            assert np.array_equal(epoch.mistakes, expected.mistakes)
            assert epoch.losses.tobytes() == expected.losses.tobytes()
            assert now["places"].tolist() == sorted(set(now["places"].tolist()))
        assert not number or first[2]["mistakes_per_example"].sum() == expected.mistakes.sum()
        for name, array in before.items():
            assert draft.model().state()[name].tobytes() == array.tobytes(), name
        draft.put(first[1])
        after = run.state().state()
        assert draft.model().state().keys() == after.keys()
        for name, array in after.items():
            assert draft.model().state()[name].tobytes() == array.tobytes(), name
        places = np.array([0, 7, 89])
        assert draft.at(places)["coef"].tolist() == after["coef"].T.ravel()[places].tolist()


@pytest.mark.parametrize("engine", ["rust", "reference"])
def test_a_draft_refuses_what_needs_another_loop(engine):
    engine = get_engine(engine)
    draft, y = engine.Draft(engine.Model("perceptron", 1, 4)), np.zeros(4, dtype=np.uint32)
    of = {"positive": np.array([1], dtype=np.uint32), "class_weight": np.ones((1, 2)), "eta0": 1.0}
    settings = Linear(learner="perceptron", **of)
    eye = sp.eye(4, format="csr")
    rows = engine.csr_rows(eye.indptr, eye.indices, eye.data, 4)
    for data, options in (
        (Data(engine.dense_rows(np.eye(4)), y), {}),
        (Data(rows, y), {"class_weight": np.zeros((1, 2))}),
        (Data(rows, y), {"penalty": (0.1, 0.0)}),
    ):
        with pytest.raises(ValueError, match="a draft takes sparse rows, one thread, no penalty"):
            draft.learn(data, replace(settings, **options), 0)


@pytest.mark.filterwarnings("ignore:ctrl-c ended the fit")
@pytest.mark.parametrize("learner", [Perceptron, AveragedPerceptron])
def test_what_ctrl_c_leaves_of_a_round_are_the_epochs_that_it_tells_of(learner):
    """Ctrl-C on each line of a round on drafts."""
    X, y = sp.random(12, 60, 0.05, format="csr", random_state=1), np.arange(12) % 6
    options = {"tol": None, "random_state": 0, "n_partitions": 2}
    expected = [learner(max_iter=n, **options).fit(X, y) for n in (1, 2)]
    files = {shares.__file__, rounds.__file__}
    left = -1

    def at_line(frame, event, _):
        nonlocal left
        if frame.f_code.co_filename not in files or frame.f_code.co_name == "epoch":
            return None
        left -= event == "line"
        if left == 0:
            raise KeyboardInterrupt
        return at_line

    n_lines = 0
    while left <= 0:
        n_lines, left = n_lines + 1, n_lines
        before = sys.gettrace()
        sys.settrace(at_line)
        try:
            model = learner(max_iter=2, keep_on_interrupt=True, **options).fit(X, y)
        except KeyboardInterrupt:
            continue  # before the first epoch, or behind the last
        finally:
            sys.settrace(before)
        if n_epochs := len(model.mistakes_per_epoch_):
            same = expected[n_epochs - 1]
            assert model._model.state()["coef"].tobytes() == same._model.state()["coef"].tobytes()
            assert model.n_seen_.tolist() == [n_epochs * 12] * 6
    assert n_lines > 300
