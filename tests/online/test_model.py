"""A model of an engine: what it refuses, what it shows in any floating-point mode, runs of parts."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.arith.environments import MODES, mode

from perceptron_rs import AveragedPerceptron, VotedPerceptron, _core
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


def examples(engine, X, y):
    rows = (
        engine.csr_rows(X.indptr, X.indices, X.data, X.shape[1]) if sp.issparse(X) else engine.dense_rows(X)
    )
    return Data(rows, y.astype(np.uint32), None)


def settings(learner="perceptron", **more):
    planes = {"positive": np.arange(3, dtype=np.uint32), "class_weight": np.ones((3, 2)), "eta0": 1.0}
    return Linear(learner=learner, settle=False, **(planes | more))


#: Rows of few columns, and of more columns than a part has entries; of ones, that have an exact path.
X = np.random.default_rng(5).normal(size=(40, 4))
WIDE = sp.random(40, 2_000, 0.002, "csr", random_state=np.random.default_rng(5))
ONES = sp.csr_matrix((np.ones(WIDE.nnz), WIDE.indices, WIDE.indptr), WIDE.shape)
Y = np.random.default_rng(6).integers(0, 3, 40)
#: Some begin with one part, so as to go on in the same form; some change it.
PARTS = {
    "dense": [X[:10], X[10:25], X[25:25], X[25:]],
    "bytes": [np.uint8(X[:5] > 0), np.uint8(X[5:] > 0) * 200],
    "sparse": [sp.csr_matrix(X[:20]), sp.csr_matrix(X[20:])],
    "wide": [WIDE[:3], WIDE[3:20], WIDE[20:]],
    "ones": [ONES[:20], ONES[20:30], ONES[30:]],
    "another form": [X[:10], sp.csr_matrix(X[10:30]), X[30:]],
}


@pytest.mark.parametrize(
    ("learner", "more"),
    [
        ("perceptron", {}),
        ("perceptron", {"class_weight": np.array([[1.0, 2.0], [0.0, 1.0], [3.0, 1.0]])}),
        ("perceptron", {"penalty": (0.01, 0.1)}),
        ("averaged", {}),
        ("averaged", {"joint": "max"}),
    ],
)
@pytest.mark.parametrize("parts", PARTS)
def test_a_run_goes_on_with_other_examples(engine, parts, learner, more):
    blocks, asked = PARTS[parts], settings(learner, **more)
    ends = np.cumsum([0, *(block.shape[0] for block in blocks)])
    data = [
        examples(engine, block, Y[first:last])
        for block, first, last in zip(blocks, ends[:-1], ends[1:], strict=True)
    ]
    model, decisions = engine.Model(learner, 3, blocks[0].shape[1]), asked.decisions
    run = engine.start(data[0], model, asked)
    for epoch in range(4):
        if epoch == 2 and decisions > 1:
            run.end(1)
        losses, apart = np.zeros(decisions), np.zeros(decisions)
        for part in data:
            done = run.part(epoch, losses, part)
            assert run.last_part is done
            # Another run for each part, with a copy of what was learnt.
            other = engine.start(part, model, asked)
            if epoch >= 2 and decisions > 1:
                other.end(1)
            told = other.part(epoch, apart)
            model, losses, apart = other.state(), done.losses, told.losses
            assert [x.tolist() for x in done[:3]] == [x.tolist() for x in told[:3]]
            assert same_state(run.state(), model)
    for decision in range(decisions):
        run.end(decision)
    assert same_state(run.state(), model)


def same_state(one, other):
    one, other = one.state(), other.state()
    return {k: x.tobytes() for k, x in one.items()} == {k: x.tobytes() for k, x in other.items()}


@pytest.mark.parametrize("name", ["track_mistakes", "track_activations"])
def test_a_run_over_parts_keeps_nothing_of_each_example(name):
    engine = get_engine("rust")
    run = engine.start(examples(engine, X, Y), engine.Model("perceptron", 3, 4), settings(**{name: True}))
    with pytest.raises(ValueError, match="keeps nothing of each example"):
        run.part(0, np.zeros(3), examples(engine, X, Y))


def test_parts_have_the_columns_of_the_run():
    engine = get_engine("rust")
    run = engine.start(examples(engine, X, Y), engine.Model("perceptron", 3, 4), settings())
    with pytest.raises(ValueError, match="rows must have 4 columns, got 3"):
        run.part(0, np.zeros(3), examples(engine, np.ascontiguousarray(X[:, :3]), Y))


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


@pytest.mark.parametrize("planes", [1, 2, 3, 4, 5, 6, 64, 65, 130])
@pytest.mark.parametrize("by_column", [False, True])
def test_columns_that_hold_anything_are_those_that_numpy_finds(by_column, planes):
    rng, engine = np.random.default_rng(planes), get_engine("rust")
    coef = np.zeros((planes, 1_100))
    coef[rng.integers(0, planes, 60), rng.integers(0, 1_100, 60)] = rng.standard_normal(60)
    coef[-1, [0, 700, -1]] = 5e-324
    state = {"coef": coef, "intercept": np.zeros(planes), "seen": np.zeros(planes, dtype=np.int64)}
    model = engine.Model.from_state("perceptron", state)
    if by_column:
        model = _core.Draft(model).model()
    columns = np.flatnonzero(coef.any(axis=0))
    assert model.columns().tolist() == columns.tolist()
    used, numbers = model.used("coef")
    assert (used.tolist(), numbers.tobytes()) == (columns.tolist(), coef[:, columns].tobytes())
    mixed = rng.permutation(1_100)
    assert model.state(mixed)["coef"].tobytes() == coef[:, mixed].tobytes()


@pytest.mark.parametrize("penalty", [(0.01, 0.0), (0.0, 0.01), (0.0, 0.5)])
def test_columns_that_no_row_has_are_as_old_as_the_runs(engine, penalty):
    """Each example settles the weights that it reads; a factor near 1 is pending on all weights together."""
    ages, d = np.zeros(3_000), 3_000
    rows = sp.csr_matrix((np.ones(4), np.array([2_000, 5, 5, 77]), np.arange(5)), (4, d))
    model = engine.Model("perceptron", 3, d)
    for _ in range(2):
        run = engine.start(examples(engine, rows, np.array([0, 1, 2, 0])), model, settings(penalty=penalty))
        run.epoch(0)
        model = run.state()
        for column in rows.indices:
            if penalty != (0.0, 0.01):
                ages[column] = 0
            ages += 1
        assert model.state()["ages"].tolist() == [ages.tolist()] * 3
