"""Whoever looks at the state after an epoch changes nothing of what follows, whatever the run keeps."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tests.support import learn

from perceptron_rs.engines import get_engine
from perceptron_rs.settings import Linear

ARRAYS = ("mistakes", "losses", "n_iter", "mistakes_per_example", "activations")


@st.composite
def runs(draw):
    """Draw rows, labels, a start, and whatever can be asked of a run."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d, planes = (int(random.integers(low, high)) for low, high in [(1, 40), (0, 9), (1, 6)])
    learner = draw(st.sampled_from(["perceptron", "averaged", "pocket", "voted"]))
    joint = (
        draw(st.sampled_from([None, None, "max", "uniform"])) if planes > 1 and learner != "pocket" else None
    )
    X = random.integers(-3, 4, (n, d)) * draw(st.sampled_from([1, 1, 0.3]))
    state = {
        "coef": random.integers(-2, 3, (planes, d)) * 1.0,
        "intercept": random.integers(-2, 3, planes) * 1.0,
        "seen": random.integers(0, 9, planes),
    }
    if joint:
        state["seen"][:] = state["seen"][0]
    if learner == "averaged":
        state |= {"coef_u": state["coef"] * 3, "intercept_u": state["intercept"] * 3}
    options = {
        "learner": learner,
        "joint": joint,
        "positive": np.arange(planes, dtype=np.uint32),
        "class_weight": random.integers(0 if draw(st.booleans()) else 1, 3, (planes, 2)) * 1.0,
        "fit_intercept": draw(st.booleans()),
        "seed": draw(st.none() | st.integers(0, 9)),
        "max_iter": draw(st.integers(1, 6)),
        "tol": draw(st.sampled_from([None, 0.0, 0.2])),
        "n_iter_no_change": draw(st.integers(1, 3)),
        "threads": draw(st.integers(1, 3)),
        "check": draw(st.sampled_from(["run", "ratchet", "update", "epoch"]))
        if learner == "pocket"
        else "run",
    }
    if learner != "pocket":
        options["max_mistakes_per_example"] = draw(st.none() | st.integers(1, 3))
        if not joint:
            options["added_feature"] = draw(st.sampled_from([0.0, 0.0, 0.5]))
            options["margin_threshold"] = draw(st.sampled_from([0.0, 1.0]))
    if learner == "perceptron" and draw(st.booleans()):
        options["penalty"] = draw(st.sampled_from([(0.0, 0.01), (0.02, 0.0), (0.1, 0.4)]))
        ages = random.integers(0, draw(st.sampled_from([1, 3, 40])), (planes, d))
        state["ages"] = np.tile(ages[:1], (planes, 1)) if joint else ages
        if options["max_iter"] == 1:
            options["settle"] = draw(st.booleans())
    weight = draw(st.sampled_from([None, random.integers(0, 3, n) * 1.0]))
    return X, random.integers(0, planes + 1 - bool(joint), n), weight, state, options, draw(st.booleans())


def fit(engine, X, labels, weight, state, options, sparse, **changes):
    X = X.astype(np.float64)
    X = sp.csr_array(X) if sparse else X
    parts = (X.indptr, X.indices, X.data, X.shape[1]) if sparse else (X,)
    rows = engine.csr_rows(*parts) if sparse else engine.dense_rows(*parts)
    defaults = {
        "eta0": 1.0,
        "tie": "mistake",
        "first_epoch": 2,
        "track_mistakes": True,
        "track_activations": True,
    }
    arguments = defaults | options | changes
    return learn(engine, Linear, rows, labels, state, sample_weight=weight, **arguments)


def assert_same(a, b):
    assert a.keys() == b.keys()
    for name in a:
        assert (a[name].dtype, a[name].shape) == (b[name].dtype, b[name].shape), name
        # Where two infinities met there is no number; the sign of such a NaN is not promised.
        assert np.nan_to_num(a[name], nan=0.5).tobytes() == np.nan_to_num(b[name], nan=0.5).tobytes(), name


def numbers(report):
    return report["state"] | {name: report[name] for name in ARRAYS}


@given(run=runs())
def test_a_watched_run_is_the_run(run):
    """In both engines, the run with an observer and the one without are one; so are the engines."""
    reports = []
    for name in ("rust", "reference"):
        engine = get_engine(name)
        reports.append(fit(engine, *run))
        told = []
        watched = fit(
            engine, *run, on_epoch=lambda *told_now, told=told: told.append(told_now), with_state=True
        )
        reports.append(watched)
        reports.append(fit(engine, *run, on_epoch=lambda *_: None))
        assert len(told) == len(watched["mistakes"])
        if run[4]["learner"] != "pocket":  # its last run is counted behind the last epoch
            assert_same(told[-1][-1], watched["state"])
        # What is shown is a copy: to write to it changes nothing.
        assert_same(numbers(fit(engine, *run, on_epoch=spoil, with_state=True)), numbers(watched))
    for report in reports[1:]:
        assert report["stopped"] == reports[0]["stopped"]
        assert_same(numbers(report), numbers(reports[0]))


def spoil(_epoch, mistakes, losses, state):
    for values in (mistakes, losses, *state.values()):
        if values.flags.writeable:
            values[...] = -1


@pytest.mark.parametrize("option", [{"max_mistakes_per_example": 2}, {"added_feature": 0.5}], ids=str)
def test_ages_that_differ_between_planes(trainer, option):
    """The planes begin apart, because their ages differ; after an epoch these are the same."""
    random = np.random.default_rng(0)
    X, labels = random.normal(size=(30, 4)), random.integers(0, 3, 30)
    state = trainer.start(4, 3) | {"ages": np.array([[0] * 4, [5] * 4, [1, 2, 3, 4]])}
    run = {
        "learner": "perceptron",
        "positive": [0, 1, 2],
        "penalty": (0.0, 0.01),
        "max_iter": 4,
        "state": state,
    }
    quiet = trainer.fit(X, labels, **run, **option)
    for threads in (1, 3):
        told = trainer.fit(
            X, labels, **run, **option, threads=threads, on_epoch=lambda *_: None, with_state=True
        )
        assert_same(told["state"], quiet["state"])


def recorded(X, y, epochs):
    """Return the activations of the last epoch of a plane that starts from 0, in whole numbers."""
    w = [0] * len(X[0])
    for _ in range(epochs):
        activations, clean = [], True
        for x, sign in zip(X, y, strict=True):
            activations.append(sum(p * q for p, q in zip(w, x, strict=True)))
            if sign * activations[-1] <= 0:
                w, clean = [p + sign * q for p, q in zip(w, x, strict=True)], False
        if clean:
            break
    return activations


@pytest.mark.parametrize("with_state", [False, True])
def test_recorded_activations_of_planes_that_end_at_different_times(trainer, with_state):
    random = np.random.default_rng(4)
    labels = random.integers(0, 3, 25)  # classes 1 and 2 are noise
    X = np.column_stack([np.where(labels == 0, 3, -3), random.integers(-1, 2, (25, 2))])
    report = trainer.fit(
        X.astype(np.int8),
        labels,
        learner="perceptron",
        positive=[0, 1, 2],
        fit_intercept=False,
        max_iter=30,
        track_activations=True,
        on_epoch=lambda *_: None,
        with_state=with_state,
    )
    assert report["n_iter"][0] < report["n_iter"][1] == 30, "both kinds are there"
    for k in range(3):
        y = np.where(labels == k, 1, -1).tolist()
        assert report["activations"][:, k].tolist() == recorded(X.tolist(), y, 30)
