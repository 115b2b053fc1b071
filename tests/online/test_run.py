"""A run between its epochs: looks at the state, decisions that end, epochs that go on from a state."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.support import run_of

from perceptron_rs.engines import get_engine
from perceptron_rs.settings import Budget, Data, Kernel, KernelSpec, Linear

RBF = KernelSpec("rbf", gamma=0.25)
N, D, K = 40, 6, 3
LINEAR = {
    "perceptron": {"learner": "perceptron"},
    "averaged": {"learner": "averaged"},
    "voted": {"learner": "voted"},
    "pocket": {"learner": "pocket"},
    "joint": {"learner": "averaged", "joint": "uniform"},
    "noise": {"learner": "perceptron", "added_feature": 0.5, "max_mistakes_per_example": 2},
    "l2": {"learner": "perceptron", "penalty": (0.0, 0.01)},
    "l1 pending": {"learner": "perceptron", "penalty": (0.01, 0.01), "settle": False},
}
OTHERS = {
    "kernel": (Kernel, {"kernel": RBF, "cache_bytes": 5000}),
    "budget": (Budget, {"kernel": RBF, "budget": 7, "policy": "random", "policy_seed": 1, "distance": 0.0}),
}
KINDS = {name: (Linear, given) for name, given in LINEAR.items()} | OTHERS


def values(name: str) -> np.ndarray:
    random = np.random.default_rng(3)
    if name == "fractions":
        return random.normal(size=(N, D))
    return random.integers(0, 4, (N, D)).astype(name)


def rows_of(engine, X: np.ndarray, storage: str):
    if storage == "dense":
        return engine.dense_rows(np.ascontiguousarray(X))
    indptr = np.concatenate([[0], np.cumsum((X != 0).sum(axis=1))]).astype(np.int32)
    return engine.csr_rows(indptr, np.nonzero(X)[1].astype(np.int32), X[X != 0], X.shape[1])


def begin(engine, kind: str, X: np.ndarray, storage: str = "dense", state=None):
    cls, given = KINDS[kind]
    rows, labels = rows_of(engine, X, storage), np.arange(N, dtype=np.uint32) * 7 % 5 % K
    stored = rows_of(engine, X[:0], storage) if cls is Budget else None
    settings = cls(
        positive=np.arange(K, dtype=np.uint32),
        class_weight=np.ones((K, 2)),
        eta0=1.0,
        seed=5,
        track_mistakes=True,
        **given,
    )
    return run_of(engine, Data(rows, labels, None, stored), state or zeros(cls, kind), settings)


def zeros(cls: type[Linear], kind: str) -> dict[str, np.ndarray]:
    seen = np.zeros(K, dtype=np.int64)
    if cls is Kernel:
        return {"sums": np.zeros((K, N)), "intercept": np.zeros(K), "norm": np.zeros(K), "seen": seen}
    if cls is Budget:
        none = np.zeros(0, dtype=np.int64)
        return {
            "kept_start": np.zeros(K + 1, dtype=np.int64),
            "kept_row": none,
            "kept_number": none,
            "kept_step": np.zeros((0, 1)),
            "kept_mistakes": np.zeros(K, dtype=np.int64),
            "kept_harm": np.zeros(K),
            "kept_factor": np.zeros(0),
            "seen": seen,
        }
    state = {"coef": np.zeros((K, D)), "intercept": np.zeros(K), "seen": seen}
    if LINEAR[kind]["learner"] == "averaged":
        state |= {"coef_u": np.zeros((K, D)), "intercept_u": np.zeros(K)}
    if "penalty" in LINEAR[kind]:
        state["ages"] = np.zeros((K, D), dtype=np.int64)
    return state


def told(run, epochs) -> dict[str, bytes]:
    """Everything that a run tells, as bytes."""
    arrays = run.state() | run.tracked()
    arrays |= {
        f"epoch {e}": np.array([*made, *loss, *lowered]) for e, (made, loss, lowered, _) in enumerate(epochs)
    }
    return {
        name: array.tobytes() + str((array.dtype, array.shape)).encode() for name, array in arrays.items()
    }


CASES = list(itertools.product(KINDS, ("fractions", "uint8"), ("dense", "csr")))


@pytest.mark.parametrize(("kind", "name", "storage"), CASES)
def test_a_look_at_the_state_changes_nothing(kind, name, storage):
    X, ends = values(name), [0] if kind == "joint" else [2, 0, 3]
    seen = []
    for engine_name, looks in itertools.product(("rust", "reference"), (False, True)):
        run, epochs = begin(get_engine(engine_name), kind, X, storage), []
        for number in range(max(ends) + 1):
            epochs.append(run.epoch(number))
            if looks:
                for array in run.state().values():
                    if array.flags.writeable:
                        array[...] = 77
            for k in np.flatnonzero(np.equal(ends, number)):
                run.end(int(k))
        seen.append(told(run, epochs))
    assert all(other == seen[0] for other in seen[1:])


@pytest.mark.parametrize("engine_name", ["rust", "reference"])
@pytest.mark.parametrize("kind", ["perceptron", "averaged", "joint", "l2", "l1 pending"])
def test_a_run_goes_on_from_a_state(engine_name, kind):
    engine, X = get_engine(engine_name), values("fractions")
    whole = begin(engine, kind, X)
    whole.epoch(0)
    given = whole.state()
    before = {name: array.copy() for name, array in given.items()}
    later = begin(engine, kind, X, state=given)
    for run in (whole, later):
        run.epoch(1)
    want, got = whole.state(), later.state()
    assert {name: array.tobytes() for name, array in want.items()} == {
        name: array.tobytes() for name, array in got.items()
    }
    assert all(np.array_equal(given[name], before[name]) for name in before), "the state was modified"


def test_a_run_is_used_by_one_call_at_a_time():
    engine, X = get_engine("rust"), values("fractions")
    gram = engine.kernel_matrix(engine.dense_rows(X), engine.dense_rows(X), kernel=RBF, threads=1)
    runs, told = [], []

    def ask(number: int) -> np.ndarray:
        with pytest.raises(RuntimeError, match="borrowed"):
            runs[0].state()
        told.append(number)
        return gram[number]

    settings = Kernel(
        positive=np.array([1], dtype=np.uint32),
        class_weight=np.ones((1, 2)),
        eta0=1.0,
        kernel=KernelSpec("precomputed"),
        cache_bytes=1 << 20,
        ask=ask,
    )
    state = {"sums": np.zeros((1, N)), "intercept": np.zeros(1), "norm": np.zeros(1)}
    data = Data(engine.dense_rows(X), np.arange(N, dtype=np.uint32) % 2)
    runs.append(run_of(engine, data, state | {"seen": np.zeros(1, dtype=np.int64)}, settings))
    runs[0].epoch(0)
    assert told


@pytest.mark.parametrize("engine_name", ["rust", "reference"])
def test_a_run_begins_with_a_model_and_ends_with_one(engine_name):
    engine = get_engine(engine_name)
    data = Data(engine.dense_rows(values("fractions")), np.arange(N, dtype=np.uint32) % 2)
    settings = Linear(
        learner="perceptron", positive=np.array([1], dtype=np.uint32), class_weight=np.ones((1, 2)), eta0=1.0
    )
    model = engine.Model("perceptron", 1, D)
    with pytest.raises(TypeError, match="model"):
        engine.start(data, dict(model.state()), settings)
    run = engine.start(data, model, settings)
    run.epoch(0)
    assert type(run.state()) is engine.Model
    assert (model.is_zero, run.state().is_zero) == (True, False)


def test_sums_of_losses_of_a_part_are_of_all_decisions(engine):
    run = begin(engine, "perceptron", values("fractions"))
    with pytest.raises(ValueError, match="losses must have"):
        run.part(0, np.zeros(K + 1))
