"""A model of an engine: what it refuses, what it shows in any floating-point mode, runs that put into it."""

import numpy as np
import pytest
from tests.arith.environments import MODES, mode

from perceptron_rs import AveragedPerceptron, VotedPerceptron
from perceptron_rs.engines import get_engine
from perceptron_rs.settings import Data, Linear

COEF = np.array([[4.0, -3.0, 0.5], [1.0, 2.0, 3.0]])
STATE = {"coef": COEF, "intercept": np.zeros(2), "seen": np.full(2, 40)}
AGES = np.array([[7, 1, 0], [40, 3, 2]])


@pytest.fixture(name="engine", params=["rust", "reference"])
def fixture_engine(request):
    return get_engine(request.param)


@pytest.mark.parametrize("engine", ["rust", "reference"])
@pytest.mark.parametrize(
    "strengths",
    [(0, 0, 0.1), (-1, 0, 0.01), (1, -1, 0), (1, 0, -5), (np.nan, 0, 0), (1, np.nan, 0), (1, 0, np.inf),
     (np.inf, 0, 0), (1e300, 1e300, 0), (1.0, 0.1)],
)  # fmt: skip
def test_strengths_that_no_penalty_has(engine, strengths):
    state = STATE | {"ages": AGES, "strengths": np.array(strengths, dtype=np.float64)}
    with pytest.raises(ValueError, match="strengths must be eta0"):
        get_engine(engine).Model.from_state("perceptron", state)


@pytest.mark.parametrize("age", [-1, -(2**63)])
def test_ages_that_are_no_counts_of_examples(engine, age):
    state = STATE | {"ages": np.where(AGES == 3, age, AGES), "strengths": np.array([1.0, 0.01, 0.0])}
    with pytest.raises(ValueError, match="ages must have the shape"):
        engine.Model.from_state("perceptron", state)


@pytest.mark.parametrize("name", MODES)
def test_weights_are_settled_in_the_mode_of_the_contract(engine, name):
    state = STATE | {"coef": COEF / 7, "ages": AGES, "strengths": np.array([0.3, 0.001, 0.01])}
    state["intercept"] = np.array([-0.0, 1.0])
    with mode(MODES["standard"]):
        expected = {key: array.copy() for key, array in settled(engine, state).items()}
    with mode(MODES[name]):
        found = settled(engine, state)
    for key, array in expected.items():
        assert found[key].tobytes() == array.tobytes()


def settled(engine, state):
    model = engine.Model.from_state("perceptron", state)
    return model.state() | {"settled": model["coef"], "shown": model.coef, "b": model["intercept"]}


@pytest.mark.parametrize("eta0", [5e-324, 1e-323, 1e-310])
@pytest.mark.parametrize("parameters", [{}, {"n_partitions": 2}])
@pytest.mark.parametrize("engine_name", ["rust", "reference"])
def test_averages_that_underflow_are_no_negative_zeros(eta0, parameters, engine_name):
    X, y = np.array([[1.0, -1.0], [-1.0, 2.0], [2.0, 1.0]] * 3), np.arange(9) % 2
    common = {"eta0": eta0, "max_iter": 5, "tol": None, "engine": engine_name}
    models = [AveragedPerceptron(**common, **parameters).fit(X, y)]
    if not parameters:
        models.append(VotedPerceptron(**common, prediction="average").fit(X, y))
    for model in models:
        for numbers in (model.coef_, model.intercept_, *model.predictor_.values()):
            assert not np.signbit(numbers[numbers == 0]).any()


@pytest.mark.parametrize("learner", ["perceptron", "averaged"])
def test_a_run_that_has_been_put_is_over(learner):
    engine = get_engine("rust")
    rows, labels = engine.dense_rows(np.eye(3)), np.array([0, 1, 0], dtype=np.uint32)
    settings = Linear(learner=learner, positive=np.ones(1, np.uint32), class_weight=np.ones((1, 2)), eta0=1.0)
    model = engine.Model(learner, 1, 3)
    run = engine.start(Data(rows, labels, None), model, settings)
    run.epoch(0)
    run.put("note")
    for call in (run.state, run.tracked, lambda: run.put(None), lambda: run.epoch(1), lambda: run.end(0)):
        with pytest.raises(ValueError, match="the run is over"):
            call()
    assert (model.last_pass.note, model["seen"].tolist()) == ("note", [3])


@pytest.mark.parametrize(
    ("coef", "ages", "columns"),
    [
        ([[0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]], None, [1, 3]),
        ([[0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]], [[4, 3, 2, 1], [8, 7, 6, 5]], [1, 3]),
        (np.zeros((2, 4)), [[0, 0, 1, 0], [0, 0, 0, 0]], [0]),
        (np.zeros((2, 4)), None, []),
    ],
)
def test_a_state_of_some_columns(engine, coef, ages, columns):
    state = STATE | {"coef": np.array(coef)}
    if ages is not None:
        state |= {"ages": np.array(ages), "strengths": np.array([1.0, 0.01, 0.0])}
    model = engine.Model.from_state("perceptron", state)
    found = model.columns()
    assert (found.dtype, found.tolist()) == (np.dtype(np.int64), columns)
    few = model.state(found)
    for name, array in model.state().items():
        own = array[:, columns] if array.ndim == 2 else array
        assert (few[name].tobytes(), few[name].shape) == (own.tobytes(), own.shape)


def test_columns_of_sums_count_and_no_column_is_beyond_the_last(engine):
    u = np.array([[0.0, 0.0, 3.0], [0.0, 0.0, 0.0]])
    state = STATE | {"coef": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]), "coef_u": u}
    model = engine.Model.from_state("averaged", state | {"intercept_u": np.zeros(2)})
    assert model.columns().tolist() == [0, 2]
    for column in (3, -4):
        with pytest.raises((IndexError, ValueError)):
            model.state(np.array([column]))
