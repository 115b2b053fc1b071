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
        for epoch, _, _ in (first, again):
            assert np.array_equal(epoch.mistakes, expected.mistakes)
            assert epoch.losses.tobytes() == expected.losses.tobytes()
        assert not number or first[2]["mistakes_per_example"].sum() == expected.mistakes.sum()
        for name, array in before.items():
            assert draft.model().state()[name].tobytes() == array.tobytes(), name
        draft.put(first[1])
        after = run.state().state()
        assert draft.model().state().keys() == after.keys()
        for name, array in after.items():
            assert draft.model().state()[name].tobytes() == array.tobytes(), name


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
    assert n_lines > 200


def in_pairs(terms):
    """Add neighbours, then neighbours of these sums; an odd one waits."""
    while len(terms) > 1:
        pairs = [terms[i] + terms[i + 1] for i in range(0, len(terms) - 1, 2)]
        terms = pairs + terms[len(terms) - len(terms) % 2 :]
    return terms[0]


def by_definition(before, passes, ks):
    """Mix arrays as ARITHMETIC.md says, number by number: no part of an engine does it so."""
    P, T = len(passes), before["seen"]
    after = {"seen": T + sum(each["seen"] - T for each in passes)}
    for name in ("coef", "intercept"):
        first = before[name]

        def of_planes(numbers, like=first):
            numbers = np.broadcast_to(np.asarray(numbers, dtype=np.float64), len(like))
            return numbers.reshape(-1, *[1] * (like.ndim - 1))

        weights = [np.where(sum(ks) == 0, 1, k) for k in ks]
        w = [each[name] for each in passes]
        mixed = in_pairs([of_planes(k) * term for k, term in zip(weights, w, strict=True)])
        mixed = mixed / of_planes(sum(weights)) + 0.0
        after[name] = np.where(np.all([term == w[0] for term in w], axis=0), w[0], mixed)
        if (name_u := f"{name}_u") not in before:
            continue
        u, first_u = [each[name_u] for each in passes], before[name_u]
        counted = in_pairs([of_planes(each["seen"] + 1) * each[name] for each in passes])
        gained = of_planes(after["seen"] + 1) * after[name] - counted
        gained = gained + (P - 1) * (of_planes(T + 1) * first)
        mixed_u = (in_pairs(u) - (P - 1) * first_u) + gained + 0.0
        is_same = np.all([(a == first) & (b == first_u) for a, b in zip(w, u, strict=True)], axis=0)
        after[name_u] = np.where(is_same, first_u, mixed_u)
    return after


@pytest.mark.parametrize("mixing", ["uniform", "mistakes"])
@pytest.mark.parametrize("penalty", [None, (0.01, 0.0), (0.0, 0.1)])
@pytest.mark.parametrize("form", ["dense", "sparse", "of few columns", "drafts"])
@pytest.mark.parametrize("learner", ["perceptron", "averaged"])
def test_the_core_mixes_as_the_definition_says(learner, form, penalty, mixing):
    """Passes over other columns each, over the same, and over all; one class ends before the others."""
    rng, engine = np.random.default_rng(7), get_engine("rust")
    penalty = penalty if (learner, form != "drafts") == ("perceptron", True) else None
    found_zeros = 0
    for planes, joint, P, d in ((1, None, 4, 2500), (3, None, 5, 40), (3, None, 2, 1100), (3, "max", 3, 900)):
        dense = np.zeros((10 * P, d))
        for part in range(P):
            columns = rng.choice(d, 12 if form == "of few columns" else d - 10, replace=False)
            dense[10 * part : 10 * part + 10, columns] = rng.standard_normal((10, len(columns))).round(1)
        dense[rng.random(dense.shape) < 0.4] = 0
        dense[:, 3] = 5e-324 * (np.arange(10 * P) < 10)  # half of it is 0, whose sign is lost
        parts = []
        for part in range(P):
            X = dense[10 * part : 10 * part + 10] if part != 1 else np.zeros((0, d))
            csr = sp.csr_matrix(X)
            rows = engine.csr_rows(csr.indptr, csr.indices, csr.data, d)
            y = rng.integers(0, max(planes, 2), len(X)).astype(np.uint32)
            parts.append(Data(engine.dense_rows(X.copy()) if form == "dense" else rows, y))
        settings = Linear(
            learner=learner,
            positive=np.arange(planes, dtype=np.uint32) + (planes == 1),
            class_weight=np.ones((planes, 2)) if joint else rng.random((planes, 2)) + 0.5,
            eta0=0.5,
            seed=2,
            joint=joint,
            penalty=penalty,
        )
        model = zero = engine.Model(learner, planes, d)
        draft = _core.Draft(model) if form == "drafts" else None
        for number in range(5):
            before, passes, work, ks = model.state(), [], [], []
            for p, data in enumerate(parts):
                own = replace(settings, partition=p)
                run = engine.start(data, model, own)
                if number > 2 and planes > 1 and not joint and draft is None:
                    run.end(1)
                epoch = run.epoch(number)
                passes.append(run.state().state())
                ks.append(np.ones_like(epoch.mistakes) if mixing == "uniform" else epoch.mistakes)
                work.append(run if draft is None else draft.learn(data, own, number)[1])
            mixed, visits = (model if draft is None else draft).mixed(work, ks)
            if draft is not None:
                draft.put(mixed)
                mixed = draft.model()
            found, expected = mixed.state(), by_definition(before, passes, ks)
            assert visits.tolist() == [(each["seen"] - before["seen"]).tolist() for each in passes]
            assert found.keys() == before.keys()
            for name, array in expected.items():
                assert found[name].tobytes() == array.tobytes(), (name, number)
            found_zeros += int(np.count_nonzero(expected["coef"][:, 3] == 0))
            model = mixed
        assert zero.is_zero
    assert found_zeros or penalty


@pytest.mark.parametrize("of_drafts", [False, True])
@pytest.mark.parametrize("entries", [0, 1])
def test_a_mixture_that_is_not_finite_is_none(entries, of_drafts):
    """The sum of two intercepts, or of two weights, each of which is finite."""
    engine, one = get_engine("rust"), np.ones(1, dtype=np.int64)
    rows = engine.csr_rows(np.array([0, entries]), np.zeros(entries, dtype=np.int64), np.ones(entries), 1)
    of = {"positive": np.array([1], dtype=np.uint32), "class_weight": np.ones((1, 2))}
    settings = Linear(learner="perceptron", eta0=1e308, fit_intercept=not entries, **of)
    model = engine.Model("perceptron", 1, 1)
    mixer, work = _core.Draft(model) if of_drafts else model, []
    for weight in (1.5, 1.6):
        data = Data(rows, np.ones(1, dtype=np.uint32), np.array([weight]))
        run = engine.start(data, model, settings)
        run.epoch(0)
        work.append(mixer.learn(data, settings, 0)[1] if of_drafts else run)
    assert mixer.mixed(work[:1], [one])[0] is not None
    if of_drafts:
        assert mixer.mixed(work, [one, one])[0] is None
        return
    other = engine.start(Data(rows, np.ones(1, dtype=np.uint32), np.array([1.5])), model, settings)
    other.epoch(0)
    assert mixer.mixed([other, work[1]], [one, one])[0] is None


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


LARGEST = np.finfo(np.float64).max


def data_of(engine, dense, labels, form="sparse"):
    X = sp.csr_matrix(dense)
    csr = engine.csr_rows(X.indptr, X.indices, X.data, X.shape[1])
    return Data(csr if form == "sparse" else engine.dense_rows(dense), np.array(labels, dtype=np.uint32))


@pytest.mark.parametrize("mixing", ["uniform", "mistakes"])
@pytest.mark.parametrize("of_drafts", [False, True])
def test_planes_that_have_seen_other_numbers_of_examples_are_mixed_with_these(of_drafts, mixing):
    """Of the passes one is over dense rows, one over all columns by column, and one over few."""
    rng, engine, (K, d) = np.random.default_rng(3), get_engine("rust"), (3, 700)
    state = {name: rng.standard_normal((K, d)) for name in ("coef", "coef_u")}
    state |= {name: rng.standard_normal(K) for name in ("intercept", "intercept_u")}
    state["seen"] = np.array([3, 40, 700])
    model = engine.Model.from_state("averaged", state)
    settings = Linear(
        learner="averaged", positive=np.arange(K, dtype=np.uint32), class_weight=np.ones((K, 2)), eta0=0.3
    )
    mixer, passes, work, ks = _core.Draft(model) if of_drafts else model, [], [], []
    mixer_before = (mixer.model() if of_drafts else mixer).coef.copy()  # what predicts has been asked for
    for part, width in enumerate((d, d, 5)):
        dense = np.zeros((6, d))
        dense[:, rng.choice(d, width, replace=False)] = rng.standard_normal((6, width))
        form = "sparse" if part or of_drafts else "dense"
        data, own = data_of(engine, dense, rng.integers(0, K, 6), form), replace(settings, partition=part)
        run = engine.start(data, model, own)
        epoch = run.epoch(0)
        passes.append(run.state().state())
        ks.append(np.ones_like(epoch.mistakes) if mixing == "uniform" else epoch.mistakes)
        work.append(mixer.learn(data, own, 0)[1] if of_drafts else run)
    mixed, _ = mixer.mixed(work, ks)
    if of_drafts:
        mixer.put(mixed)
        mixed = mixer.model()
    for name, array in by_definition(state, passes, ks).items():
        assert mixed[name].tobytes() == array.tobytes(), name
    again = engine.Model.from_state("averaged", {name: array.copy() for name, array in mixed.state().items()})
    assert mixed.coef.tobytes() == again.coef.tobytes() != mixer_before.tobytes()


@pytest.mark.parametrize("of_drafts", [False, True])
@pytest.mark.parametrize("entries", [0, 1])
def test_sums_of_a_mixture_that_are_not_finite_are_none(entries, of_drafts):
    """The weights are finite, and the sums of each pass."""
    engine, K = get_engine("rust"), 1
    state = {"coef": np.zeros((K, 1)), "coef_u": np.zeros((K, 1)), "seen": np.array([9])}
    model = engine.Model.from_state(
        "averaged", state | {"intercept": np.zeros(K), "intercept_u": np.zeros(K)}
    )
    of = {"positive": np.array([1], dtype=np.uint32), "class_weight": np.ones((1, 2))}
    settings = Linear(learner="averaged", eta0=9e306, fit_intercept=not entries, **of)
    data, one = data_of(engine, np.full((1, 1), float(entries)), [1]), np.ones(1, dtype=np.int64)
    mixer, work = _core.Draft(model) if of_drafts else model, []
    for _ in range(3):
        run = engine.start(data, model, settings)
        run.epoch(0)
        work.append(mixer.learn(data, settings, 0)[1] if of_drafts else run)
    assert mixer.mixed(work, [one] * 3)[0] is None


@pytest.mark.parametrize("way", ["at once", "a run", "dense runs", "runs", "drafts", "a draft", "planes"])
@pytest.mark.parametrize("name", ["coef", "coef_u"])
def test_a_number_near_the_largest_overflows_whatever_was_learnt_elsewhere(name, way):
    """A bound of all numbers says that none need be looked at: it holds for those of other columns, too."""
    engine, d = get_engine("rust"), 2_500
    learner = "averaged" if name == "coef_u" else "perceptron"
    state = {"coef": np.zeros((1, d)), "intercept": np.zeros(1), "seen": np.zeros(1, dtype=np.int64)}
    if learner == "averaged":
        state |= {"coef_u": np.zeros((1, d)), "intercept_u": np.zeros(1)}
    zero = {key: array.copy() for key, array in state.items()}
    state[name][0, :2] = LARGEST, -LARGEST
    of = {"positive": np.array([1], dtype=np.uint32), "class_weight": np.ones((1, 2))}
    settings = Linear(learner=learner, eta0=1e300, fit_intercept=False, **of)
    there, elsewhere = np.zeros((1, d)), np.zeros((1, d))
    there[0, :2], elsewhere[0, 2400] = 1, 1e-300
    model, k = engine.Model.from_state(learner, state), np.ones(1, dtype=np.int64)
    data = data_of(engine, elsewhere, [1], "dense" if way == "dense runs" else "sparse")
    if way == "a run":
        run = engine.start(data, model, settings)
        run.epoch(0)
        model = run.state()
    elif way.endswith("runs"):
        runs = [engine.start(data, model, settings) for _ in range(2)]
        for run in runs:
            run.epoch(0)
        model, _ = model.mixed(runs, [k, k])
    elif way == "planes":
        other, model = model, engine.Model.from_state(learner, zero)
        assert model.take_planes(other, [0])
    elif way != "at once":
        draft = _core.Draft(model)
        now = draft.learn(data, settings, 0)[1]
        if way == "drafts":
            draft.put(draft.mixed([now, now], [k, k])[0])
        with pytest.raises(OverflowError):
            draft.learn(data_of(engine, there, [1]), settings, 1)
        model = draft.model()
    assert set(np.abs(model.state()[name][0, :2])) == {LARGEST}
    run = engine.start(data_of(engine, there, [1]), model, settings)
    with pytest.raises(OverflowError):
        run.epoch(1)
