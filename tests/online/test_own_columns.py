"""Runs over CSR rows with few entries learn on the columns of these alone; nobody is to see it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from tests.support import run_of

from perceptron_rs.arrays.named import zeros
from perceptron_rs.engines import Engine, State, get_engine
from perceptron_rs.settings import Data, Linear

#: Weights that a run may begin with, in columns of the rows and in others.
HUGE = 1.7e308
BEGINS = ("zeros", "written zeros", "whole", "drawn", "-0.0", "huge", "infinite", "nan")


def drawn_rows(rng: np.random.Generator, n: int, columns: int) -> sp.csr_matrix:
    """Return rows of few entries, some of them in the same lane, some of them 0, some rows empty."""
    few = rng.choice(columns, 12, replace=False) // rng.choice([1, 8]) * rng.choice([1, 8])
    entries = [np.unique(rng.choice(few % columns, rng.integers(0, 5))) for _ in range(n)]
    indptr = np.cumsum([0, *map(len, entries)])
    dtype = rng.choice(["float64", "float32", "int8", "uint16"])
    values = rng.integers(0, 5, indptr[-1]) * (rng.choice([1, 0.3]) if dtype.startswith("f") else 1)
    index = rng.choice(["int32", "int64"])
    return sp.csr_matrix(
        (values.astype(dtype), np.concatenate(entries).astype(index), indptr.astype(index)),
        shape=(n, columns),
    )


def drawn_state(rng: np.random.Generator, begin: str, planes: int, X: sp.csr_matrix) -> State:
    """Return what a run begins with. What is not finite stands in one of the other columns."""
    shape = (planes, X.shape[1])
    coef = zeros(shape) if begin == "zeros" else np.zeros(shape)
    other = np.setdiff1d(np.arange(shape[1]), X.indices)[rng.integers(3)]
    if begin in ("whole", "drawn", "huge", "infinite", "nan"):
        coef[:, ::7] = rng.integers(-3, 3, (planes, len(range(0, shape[1], 7))))
    if begin == "drawn":
        coef /= 7
    if begin == "-0.0":
        coef -= 0.0
        coef *= -1
    if begin in ("huge", "infinite", "nan"):
        coef[-1, other] = {"huge": HUGE, "infinite": -np.inf, "nan": np.nan}[begin]
    seen = np.zeros(planes, dtype=np.int64) if rng.integers(2) else np.full(planes, 5)
    return {"coef": coef, "intercept": rng.integers(-1, 2, planes) * 1.0, "seen": seen}


def drawn_settings(rng: np.random.Generator, learner: str, planes: int, eta0: float) -> Linear:
    own: dict[str, Any] = {"check": str(rng.choice(["run", "ratchet", "update", "epoch"]))}
    own["average"] = bool(rng.integers(2))
    own["tie"] = str(rng.choice(["mistake", "positive"]))
    if learner == "voted" and planes > 1 and rng.integers(2):
        own = {"joint": str(rng.choice(["max", "uniform", "proportional"]))}
    elif learner == "voted":
        own = {"margin_threshold": float(rng.choice([0, 0.5])), "added_feature": float(rng.choice([0, 0.7]))}
    if learner == "voted":
        own["max_mistakes_per_example"] = None if rng.integers(2) else 2
    return Linear(
        learner=learner,
        positive=np.arange(planes, dtype=np.uint32) + (planes == 1),
        class_weight=rng.choice([1.0, 1.0, 0.0, 0.3], (planes, 2)),
        eta0=eta0,
        fit_intercept=bool(rng.integers(2)),
        seed=None if rng.integers(2) else 3,
        track_mistakes=bool(rng.integers(2)),
        track_activations=bool(rng.integers(2)),
        threads=int(rng.integers(1, 3)),
        **own,
    )


def story(engine: Engine, X: Any, labels: Any, weight: Any, state: State, settings: Linear) -> list[Any]:
    """Return all that a run shows of itself: the arrays after each epoch, or its error."""
    is_sparse = sp.issparse(X)
    rows = engine.csr_rows(X.indptr, X.indices, X.data, X.shape[1]) if is_sparse else engine.dense_rows(X)
    told: list[Any] = []
    try:
        run = run_of(engine, Data(rows, labels, weight, None), state, settings)
        for epoch in range(3):
            told += [array.tobytes() for array in run.epoch(epoch)[:3]]
            if epoch == 1:
                run.end(0)
            now = run.state()
            told += [(name, now[name].dtype, now[name].shape, now[name].tobytes()) for name in sorted(now)]
        told += sorted((name, array.tobytes()) for name, array in run.tracked().items())
    except (OverflowError, ValueError) as error:
        told.append(str(error))
    return told


@pytest.mark.parametrize("learner", ["pocket", "voted"])
@pytest.mark.parametrize("begin", BEGINS)
def test_a_run_is_that_over_all_columns(learner: str, begin: str) -> None:
    rng = np.random.default_rng([BEGINS.index(begin), learner == "voted"])
    core, reference = get_engine("rust"), get_engine("reference")
    for _ in range(40):
        planes, columns = int(rng.choice([1, 3, 5])), int(rng.choice([150, 400, 1000]))
        X = drawn_rows(rng, int(rng.integers(1, 9)), columns)
        labels = rng.integers(0, max(planes, 2), X.shape[0]).astype(np.uint32)
        weight = None if rng.integers(2) else rng.choice([0.0, 0.5, 2.0], X.shape[0])
        state = drawn_state(rng, begin, planes, X)
        eta0 = float(rng.choice([1.0, 0.1, 1e300]))
        settings = drawn_settings(rng, learner, planes, eta0)
        before = {name: array.tobytes() for name, array in state.items()}
        own = story(core, X, labels, weight, state, settings)
        assert own == story(core, X.toarray(), labels, weight, state, settings)
        assert own == story(reference, X, labels, weight, state, settings)
        assert before == {name: array.tobytes() for name, array in state.items()}


def test_weights_that_begin_as_zeros_take_memory_where_they_are_learnt() -> None:
    """Weights that predict stand by column; those of other columns are pages that nobody has written to."""
    engine, columns, planes = get_engine("rust"), 1 << 20, 5
    rows = engine.csr_rows(np.array([0, 1, 2]), np.array([5, 1 << 19]), np.array([1.0, 2.0]), columns)
    state = {"coef": zeros((planes, columns)), "intercept": np.zeros(planes)}
    state["seen"] = np.zeros(planes, dtype=np.int64)
    settings = Linear(
        learner="pocket",
        positive=np.arange(planes, dtype=np.uint32),
        class_weight=np.ones((planes, 2)),
        eta0=1.0,
        check="epoch",
    )
    run = run_of(engine, Data(rows, np.array([0, 1], dtype=np.uint32), None, None), state, settings)
    run.epoch(0)
    for name in ("coef", "last_coef"):
        coef = run.state()[name]
        assert coef.shape == (planes, columns)
        assert coef.flags.c_contiguous
        assert not coef.flags.writeable
        assert set(np.nonzero(coef[0])[0]) == {5, 1 << 19}
