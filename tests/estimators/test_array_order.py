"""Weights that a user has set may lie in memory in any order: it is their numbers that count."""

import joblib
import numpy as np
import pytest
from scipy.sparse import csr_matrix
from tests.learners import LINEAR
from tests.support import averages, settled

from perceptron_rs import AveragedPerceptron, Perceptron, PocketPerceptron, VotedPerceptron, margin
from perceptron_rs.engines import get_engine
from perceptron_rs.state.fitted_attributes import flat

rng = np.random.default_rng(2)
X, Y = rng.standard_normal((40, 5)), rng.integers(0, 3, 40)
ORDERS = {
    "Fortran": np.asfortranarray,
    "transposed": lambda w: np.ascontiguousarray(w.T).T,
    "strided": lambda w: np.repeat(w, 2, axis=1)[:, ::2],
    "backwards": lambda w: np.ascontiguousarray(w[::-1, ::-1])[::-1, ::-1],
    "rows apart": lambda w: np.hstack([w, w])[:, : w.shape[1]],
}


@pytest.fixture(params=ORDERS)
def order(request):
    return ORDERS[request.param]


def learnt(model):
    return [model.coef_.tobytes(), model.intercept_.tobytes(), model.n_mistakes_]


@pytest.mark.parametrize(
    ("learner", "options"),
    [
        (AveragedPerceptron, {}),
        (Perceptron, {}),
        (Perceptron, {"penalty": "l2", "alpha": 0.01}),
        (Perceptron, {"penalty": "l1"}),
    ],
    ids=str,
)
def test_partial_fit_goes_on(order, learner, options, engine_name):
    models = [learner(engine=engine_name, max_iter=2, tol=None, **options).fit(X, Y) for _ in range(2)]
    state = models[1]._model.state()
    models[1]._publish({name: order(array) if array.ndim == 2 else array for name, array in state.items()})
    assert models[0].decision_function(X).tobytes() == models[1].decision_function(X).tobytes()
    for model in models:
        model.partial_fit(X[:20], Y[:20])
    assert learnt(models[0]) == learnt(models[1])


@pytest.mark.parametrize(
    ("learner", "engine_name"), [*((learner, "rust") for learner in LINEAR), (Perceptron, "reference")]
)
@pytest.mark.parametrize("method", ["warm", "start"])
def test_fit_goes_on(order, learner, method, engine_name):
    options = {"prediction": "average"} if learner is VotedPerceptron else {}
    model = learner(engine=engine_name, max_iter=2, tol=None, **options)
    if method == "start":
        start = rng.standard_normal((3, 5))
        pair = [learnt(model.fit(X, Y, coef_init=coef)) for coef in (start, order(start))]
    else:
        pair = []
        for change in (np.array, order):
            model.set_params(warm_start=False).fit(X, Y)
            for name in ("coef_", "last_coef_"):
                if name in flat(model) and np.shape(getattr(model, name)) == (3, 5):
                    setattr(model, name, change(getattr(model, name)))
            pair.append(learnt(model.set_params(warm_start=True).fit(X, Y)))
    assert pair[0] == pair[1]


def test_functions_of_the_engines(order, engine_name):
    engine = get_engine(engine_name)
    coef, ages = rng.standard_normal((3, 5)), rng.integers(0, 9, (3, 5))
    state = {
        "coef": coef,
        "coef_u": rng.standard_normal((3, 5)),
        "intercept": np.ones(3),
        "intercept_u": np.ones(3),
        "seen": np.array([4, 5, 6]),
        "ages": ages,
    }
    other = state | {name: order(state[name]) for name in ("coef", "coef_u", "ages")}
    for penalty in ((0.0, 0.01), (0.1, 0.2)):
        found = [settled(engine, one, 0.5, penalty).tobytes() for one in (state, other)]
        assert found[0] == found[1]
    found = [[part.tobytes() for part in averages(engine, one)] for one in (state, other)]
    assert found[0] == found[1]
    rows = engine.dense_rows(X)
    found = [engine.scores(rows, one["coef"], np.ones(3), threads=1).tobytes() for one in (state, other)]
    assert found[0] == found[1]


def test_the_margin_of_weights(order):
    w = rng.standard_normal((1, 5))
    model = Perceptron().fit(X, Y > 0)
    model.coef_ = w
    before = margin(model, X, Y > 0)
    model.coef_ = order(w)
    assert margin(model, X, Y > 0) == before


@pytest.mark.parametrize("learner", [Perceptron, AveragedPerceptron, PocketPerceptron])
def test_a_state_does_not_tell_which_rows_were_learnt(learner):
    X = np.zeros((9, 400))
    X[:, ::40] = np.random.default_rng(2).integers(-2, 3, (9, 10))
    whole = np.hstack([X[:, ::40]] * 3)  # so few columns that all of them are learnt
    for rows in (X, whole):
        states = [
            learner(max_iter=3, tol=None).fit(as_rows(rows), np.arange(9) % 3)._model.state()
            for as_rows in (np.asarray, csr_matrix)
        ]
        assert all(array.flags.c_contiguous for state in states for array in state.values())
        assert joblib.hash(states[0]) == joblib.hash(states[1])
