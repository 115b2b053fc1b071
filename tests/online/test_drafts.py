"""Passes of partitions that are tried where the weights stand, and rounds of them."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs import AveragedPerceptron, Perceptron, _core
from perceptron_rs.engines import get_engine
from perceptron_rs.mixing import rounds, shares
from perceptron_rs.settings import Data, Linear


@pytest.mark.parametrize("joint", [None, "max"])
@pytest.mark.parametrize("learner", ["perceptron", "averaged"])
def test_a_draft_tells_what_a_run_would_lead_to_and_stays_as_it_is(learner, joint):
    rng, engine = np.random.default_rng(5), get_engine("rust")
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
        _core.Draft(engine.Model(learner, 3, 30)),
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


def test_a_draft_refuses_what_needs_another_loop():
    engine = get_engine("rust")
    draft, y = _core.Draft(engine.Model("perceptron", 1, 4)), np.zeros(4, dtype=np.uint32)
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


@pytest.mark.parametrize("mixing", ["uniform", "mistakes"])
@pytest.mark.parametrize("penalty", [None, (0.01, 0.0), (0.0, 0.1)])
@pytest.mark.parametrize("form", ["dense", "sparse", "of few columns"])
@pytest.mark.parametrize("learner", ["perceptron", "averaged"])
def test_the_core_mixes_models_as_shares_of_arrays_are_mixed(learner, form, penalty, mixing):
    """Passes over other columns each, over the same, and over all; one class ends before the others."""
    rng, engine = np.random.default_rng(7), get_engine("rust")
    d = 900 if form == "of few columns" else 6
    dense = np.zeros((30, d))
    for part in range(3):
        columns = rng.choice(d, 6, replace=False)
        dense[10 * part : 10 * part + 10, columns] = rng.standard_normal((10, 6)).round(1)
    dense[rng.random((30, d)) < 0.4] = 0
    penalty = penalty if learner == "perceptron" else None
    for planes, joint in ((1, None), (3, None), (3, "max")):
        parts = []
        for begin, end in ((0, 10), (10, 20), (20, 20), (20, 30)):
            X = sp.csr_matrix(dense[begin:end])
            csr = engine.csr_rows(X.indptr, X.indices, X.data, d)
            rows = engine.dense_rows(dense[begin:end].copy()) if form == "dense" else csr
            parts.append(Data(rows, rng.integers(0, max(planes, 2), end - begin).astype(np.uint32)))
        positive = np.arange(planes, dtype=np.uint32) + (planes == 1)
        settings = Linear(
            learner=learner,
            positive=positive,
            class_weight=np.ones((planes, 2)) if joint else rng.random((planes, 2)) + 0.5,
            eta0=0.3,
            seed=2,
            joint=joint,
            penalty=penalty,
        )
        make_round = rounds.in_threads(engine, parts, settings, mixing, 1)
        model = engine.Model(learner, planes, d)
        core, arrays = rounds.Mixed(model, make_round), rounds.Mixed(model.state(), make_round)
        for number in range(5):
            found, expected = core.epoch(number), arrays.epoch(number)
            assert found.mistakes.tolist() == expected.mistakes.tolist()
            assert found.losses.tobytes() == expected.losses.tobytes()
            state = core.state().state()
            assert state.keys() == arrays.state().keys()
            for name, array in arrays.state().items():
                assert state[name].tobytes() == array.tobytes(), (name, number)
            if number == 2 and planes > 1 and not joint:
                core.end(1)
                arrays.end(1)
        assert model.is_zero


def test_runs_are_mixed_once_and_by_the_model_that_they_began_with():
    engine = get_engine("rust")
    of = {"positive": np.array([1], dtype=np.uint32), "class_weight": np.ones((1, 2)), "eta0": 1.0}
    data = Data(engine.dense_rows(np.eye(4)), np.array([0, 1, 0, 1], dtype=np.uint32))
    model, k = engine.Model("perceptron", 1, 4), np.ones(1, dtype=np.int64)
    run = engine.start(data, model, Linear(learner="perceptron", **of))
    run.epoch(0)
    with pytest.raises(ValueError, match="k must have 1 arrays, got 0"):
        model.mixed([run], [])
    mixed, visits = model.mixed([run], [k])
    assert (visits.tolist(), mixed.state()["seen"].tolist()) == ([[4]], [4])
    with pytest.raises(ValueError, match="a run learns no more once its numbers have been given out"):
        model.mixed([run], [k])
    for other, weight in (
        (engine.Model("perceptron", 1, 5), k),
        (engine.Model("perceptron", 2, 4), k),
        (engine.Model("averaged", 1, 4), k),
        (model, np.ones(3, dtype=np.int64)),
    ):
        run = engine.start(data, model, Linear(learner="perceptron", **of))
        with pytest.raises(ValueError, match="runs must have begun with this model"):
            other.mixed([run], [weight])
