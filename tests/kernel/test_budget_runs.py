"""Runs on a budget: one engine against the other, blocks against one pass, and what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_rs.engines import get_engine
from perceptron_rs.settings import KernelSpec
from tests.support import of_core

from .budget_support import LINEAR, POLICIES, RBF, SIGNS, THREE, budget_run, nothing
from .support import SQUARE, assert_same

KERNELS = (LINEAR, SQUARE, RBF, KernelSpec("sigmoid", gamma=0.05, coef0=0.1))


@st.composite
def cases(draw):
    planes, n = draw(st.sampled_from([1, 2, 3])), draw(st.integers(1, 90))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    storage = draw(st.sampled_from(["float64", "float32", "uint8", "int32", "csr"]))
    X = random.normal(size=(n, 4)) if "float" in storage else random.integers(0, 6, (n, 4))
    X = (
        sp.csr_matrix((X * (random.random((n, 4)) < 0.4)).astype(float))
        if storage == "csr"
        else X.astype(storage)
    )
    joint = draw(st.sampled_from([None, "max", "uniform", "proportional"])) if planes > 1 else None
    changes = {
        "kernel": draw(st.sampled_from(KERNELS)),
        "policy": draw(st.sampled_from(POLICIES)),
        "budget": draw(st.sampled_from([1, 2, 7, 40])),
        "policy_seed": draw(st.integers(0, 2**32)),
        "distance": draw(st.sampled_from([0.0, 0.3])),
        "joint": joint,
        "eta0": draw(st.sampled_from([1.0, 0.3])),
        "seed": draw(st.sampled_from([None, 5])),
        "max_iter": draw(st.integers(1, 3)),
        "max_mistakes_per_example": draw(st.sampled_from([None, 1])),
    }
    if not joint:
        changes["margin_threshold"] = draw(st.sampled_from([0.0, 0.5]))
        changes["tie"] = draw(st.sampled_from(["mistake", "positive"]))
        changes["class_weight"] = random.integers(0, 3, (planes, 2)) / 2.0
    if draw(st.booleans()):
        changes["sample_weight"] = random.integers(0, 3, n) / 2.0
    return X, random.integers(0, max(2, planes), n), planes, changes


def outcome(engine, X, y, planes, changes):
    try:
        return budget_run(engine, X, y, planes, **changes)
    except OverflowError as error:
        return str(error)


@settings(max_examples=60, deadline=None)
@given(case=cases())
def test_the_engines_agree(case):
    X, y, planes, changes = case
    first = outcome(get_engine("reference"), X, y, planes, dict(changes))
    assert_same(first, outcome(get_engine("rust"), X, y, planes, dict(changes)))
    if not isinstance(first, str):
        sizes = np.diff(first["state"]["kept_start"])
        assert sizes.max() <= changes["budget"]


@settings(max_examples=25, deadline=None)
@given(case=cases(), cuts=st.lists(st.integers(0, 90), max_size=4))
def test_blocks_give_what_one_pass_gives(case, cuts):
    X, y, planes, changes = case
    changes |= {"seed": None, "max_iter": 1, "track_mistakes": False, "max_mistakes_per_example": None}
    weights = changes.pop("sample_weight", None)
    engine = get_engine("rust")
    whole = outcome(engine, X, y, planes, changes | {"sample_weight": weights})
    if isinstance(whole, str):
        return
    state, stored, mistakes = nothing(planes, planes if changes.get("joint") else 1), X[:0], 0
    ends = sorted({min(cut, X.shape[0]) for cut in cuts} | {X.shape[0]})
    for begin, end in zip([0, *ends], ends, strict=False):
        if begin == end:
            continue
        part = None if weights is None else weights[begin:end]
        more = {"state": state, "stored": stored, "sample_weight": part}
        report = budget_run(engine, X[begin:end], y[begin:end], planes, **(changes | more))
        state, mistakes = dict(report["state"]), mistakes + report["mistakes"].sum()
        both = (
            np.vstack([stored.toarray(), X[begin:end].toarray()])
            if sp.issparse(X)
            else np.vstack([stored, X[begin:end]])
        )
        stored = sp.csr_matrix(both) if sp.issparse(X) else both.astype(X.dtype)
    assert mistakes == whole["mistakes"].sum()
    numbers = stored[state["kept_row"]], X[whole["state"]["kept_row"]]
    assert (numbers[0] != numbers[1]).sum() == 0
    for name in (
        "seen",
        "kept_start",
        "kept_number",
        "kept_step",
        "kept_mistakes",
        "kept_harm",
        "kept_factor",
    ):
        assert_same(state[name], whole["state"][name], name)


def test_precomputed_values_are_those_of_the_rows(engine):
    random = np.random.default_rng(2)
    X, y = random.integers(0, 4, (50, 3)), random.integers(0, 2, 50)
    gram = (1.0 + X @ X.T) ** 2
    for policy in POLICIES:
        changes = {"policy": policy, "budget": 6, "max_iter": 3, "seed": 1}
        direct = budget_run(engine, X, y, kernel=SQUARE, **changes)
        stored = np.zeros((0, 50))
        assert_same(
            direct, budget_run(engine, gram, y, stored=stored, kernel=KernelSpec("precomputed"), **changes)
        )


def test_what_is_not_finite_ends_the_run(engine):
    X = np.array([[1e160, 0.0], [0.0, 1e160], [1e160, 1e160]])
    for policy in POLICIES:
        with pytest.raises(OverflowError, match="training overflowed in epoch 2"):
            budget_run(engine, X, [1, 0, 1], policy=policy, budget=1, first_epoch=2)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"stored": np.zeros((0, 5))}, "rows must have 5 columns, like the other rows, got 2"),
        ({"kernel": KernelSpec("precomputed")}, "rows must have 3 columns, .* to be a Gram matrix, got 2"),
    ],
)
def test_bad_arguments_are_refused(engine, changes, words):
    with pytest.raises(ValueError, match=words):
        budget_run(engine, THREE, SIGNS, **changes)


@of_core
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"budget": 0}, "budget must be at least 1, got 0"),
        ({"policy": "newest"}, "policy must be .*newest"),
        ({"distance": -1.0}, "distance must be finite and at least 0, got -1"),
        ({"distance": np.nan}, "distance must be finite and at least 0, got"),
    ],
)
def test_bad_settings_are_refused(engine, changes, words):
    with pytest.raises(ValueError, match=words):
        budget_run(engine, THREE, SIGNS, **changes)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kept_start", [0, 2]),
        ("kept_start", [1, 1]),
        ("kept_row", [3]),
        ("kept_row", [-1]),
        ("kept_number", [1, 2]),
        ("kept_step", [[np.nan]]),
        ("kept_step", [[1.0, 1.0]]),
        ("kept_mistakes", [-1]),
        ("kept_harm", [np.inf]),
        ("kept_factor", [1.0, 1.0]),
    ],
)
def test_states_that_do_not_agree_are_refused(engine, name, value):
    sound = nothing() | {
        "kept_start": np.array([0, 1]),
        "kept_row": np.array([2]),
        "kept_number": np.array([1]),
        "kept_step": np.array([[1.0]]),
        "kept_mistakes": np.array([1]),
        "kept_factor": np.array([1.0]),
    }
    changes = {"stored": THREE, "policy": "projectron"}
    budget_run(engine, THREE, SIGNS, state=sound, **changes)
    with pytest.raises(ValueError, match=name if name != "kept_start" else "kept_start must rise from 0"):
        budget_run(engine, THREE, SIGNS, state=sound | {name: np.array(value)}, **changes)


def test_more_kept_than_the_budget_is_refused(engine):
    state = budget_run(engine, THREE, SIGNS, budget=3)["state"]
    with pytest.raises(ValueError, match="budget must be at least 3, what is kept already, got 2"):
        budget_run(engine, THREE, SIGNS, state=state, stored=THREE)


def test_an_interrupted_epoch_leaves_no_trace_in_the_reference():
    calls = []

    def stop(epoch, *_):
        calls.append(epoch)
        return epoch == 1

    run = {"policy": "forgetron", "max_iter": 5, "seed": 1}
    for name in ("rust", "reference"):
        ended = budget_run(get_engine(name), THREE, SIGNS, on_epoch=stop, **run)
        assert_same(
            ended["state"], budget_run(get_engine(name), THREE, SIGNS, **(run | {"max_iter": 2}))["state"]
        )
    assert calls == [0, 1, 0, 1]
