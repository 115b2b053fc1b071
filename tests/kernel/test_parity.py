"""The kernel perceptrons in every way that there is: the same bits."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from perceptron_rs import BudgetedKernelPerceptron, KernelPerceptron
from perceptron_rs.state.fitted_attributes import flat
from perceptron_rs.testing import assert_parity

TYPES = (np.float64, np.float32, np.int8, np.uint8, np.int16, np.uint16, np.int32)
PARAMETERS = {
    "kernel": st.sampled_from(["linear", "poly", "rbf", "sigmoid", "precomputed"]),
    "gamma": st.sampled_from(["scale", "auto", 0.01, 1.0]),
    "coef0": st.sampled_from([0.0, 1.0, -0.3]),
    "degree": st.integers(1, 4),
    "fit_intercept": st.booleans(),
    "max_iter": st.integers(1, 4),
    "shuffle": st.booleans(),
    "eta0": st.sampled_from([1.0, 0.1]),
    "random_state": st.integers(0, 3),
    "track_mistakes": st.booleans(),
    "max_mistakes_per_example": st.sampled_from([None, 1, 2]),
}
DECISIONS = [
    {},
    {"tie": "positive"},
    {"margin_threshold": 0.7, "added_feature": 0.4},
    *({"multi_class": "joint", "joint_update": update} for update in ("max", "uniform", "proportional")),
]


@st.composite
def problems(draw):
    """Examples that all storage types hold, or reals; few values, so that ties and equal rows occur."""
    n, d = draw(st.integers(2, 40)), draw(st.integers(1, 20))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    dtype = draw(st.sampled_from(TYPES))
    X = random.integers(0, draw(st.sampled_from([2, 5, 100])), (n, d)).astype(dtype)
    if dtype in (np.float64, np.float32):
        X = (random.normal(size=(n, d)) * draw(st.sampled_from([1.0, 1e-3]))).astype(dtype)
    X[random.random((n, d)) < draw(st.sampled_from([0.0, 0.5, 0.95]))] = 0
    y = np.concatenate([[0, 1], random.integers(0, draw(st.integers(2, 4)), n - 2)])
    return X, y, random.integers(0, 3, n) / 2 if draw(st.booleans()) else None


def told(model, X):
    """All that a fit has learnt and says, as bytes."""
    log = {name: array for name, array in model._model.state().items() if not name.startswith("rows")}
    log |= {name: value for name, value in flat(model).items() if isinstance(value, np.ndarray)}
    for prediction in ("vote", "average", "last", "random"):
        for normalize in (False, True):
            model.set_params(prediction=prediction, normalize=normalize)
            try:
                log[f"{prediction}, {normalize}"] = model.decision_function(X)
            except ValueError as error:
                refused = normalize and prediction == "vote" and model.multi_class == "joint"
                if ("normalize=True" if refused else "not finite") not in str(error):
                    raise
    return {name: (str(array.dtype), array.shape, array.tobytes()) for name, array in log.items()}


def learnt(parameters, X, y, weights):
    try:
        model = KernelPerceptron(**parameters).fit(X, y, sample_weight=weights)
    except ValueError as error:
        if not any(word in str(error) for word in ("overflow", "weight")):
            raise
        return str(error)
    return told(model, X)


@given(
    problem=problems(),
    parameters=st.fixed_dictionaries(PARAMETERS),
    decision=st.sampled_from(DECISIONS),
    ways=st.lists(
        st.tuples(st.booleans(), st.sampled_from([1e-9, 1e-4, 5e-4, 1.0]), st.integers(1, 4)),
        min_size=2,
        max_size=3,
    ),
)
def test_kernels_storages_caches_and_threads(problem, parameters, decision, ways):
    """Caches of 100 and 500 bytes hold a few rows at most: others are evicted and computed again."""
    X, y, weights = problem
    if parameters["kernel"] == "precomputed":
        X = X.astype(np.float64) @ X.T.astype(np.float64)
    parameters = parameters | decision
    expected = learnt(parameters | {"engine": "reference"}, X, y, weights)
    for sparse, cache_size, threads in ways:
        storage = sp.csr_matrix(X) if sparse else X.astype(np.float64)
        found = learnt(parameters | {"cache_size": cache_size, "n_jobs": threads}, storage, y, weights)
        assert found == expected, (sparse, cache_size, threads)


@pytest.mark.parametrize(
    ("classes", "parameters"),
    [
        (3, {"kernel": "poly", "degree": 2, "coef0": 1.0, "fit_intercept": True}),
        (2, {"kernel": "rbf", "gamma": 0.05, "normalize": True, "cache_size": 1e-4}),
        (3, {"kernel": "sigmoid", "gamma": 0.01, "multi_class": "joint"}),
        (2, {"kernel": "linear", "class_weight": "balanced", "warm_start": True}),
        (3, {"kernel": "rbf", "gamma": 0.05, "budget": 5, "budget_policy": "random"}),
        (2, {"kernel": "poly", "gamma": 0.1, "budget": 3, "budget_policy": "projectron"}),
    ],
)
def test_every_way_of_assert_parity(parameters, classes):
    random = np.random.default_rng(classes)
    X, y = random.integers(0, 9, (16, 6)).astype(np.uint8), random.integers(0, classes, 16)
    X = X if parameters["kernel"] == "poly" else X / 8  # of whole numbers there are twice as many ways
    kind = BudgetedKernelPerceptron if "budget" in parameters else KernelPerceptron
    assert_parity(kind(max_iter=2, **parameters), X, y, batch_sizes=(7,))


def test_evicted_rows_on_more_examples_than_a_window():
    random = np.random.default_rng(0)
    X, y = random.integers(0, 256, (400, 8)).astype(np.uint8), random.integers(0, 2, 400)
    expected = learnt({"kernel": "rbf", "max_iter": 2, "gamma": 1e-4, "engine": "reference"}, X, y, None)
    for cache_size, threads in ((0.025, 4), (1e-9, 2), (200, 3)):  # eight rows, none, all
        ways = {"kernel": "rbf", "max_iter": 2, "gamma": 1e-4, "cache_size": cache_size, "n_jobs": threads}
        assert learnt(ways, X, y, None) == expected


@pytest.mark.parametrize(
    ("policy", "multi_class"), [(None, "ovr"), (None, "joint"), ("oldest", "joint"), ("projectron", "ovr")]
)
def test_far_more_columns_than_entries(policy, multi_class):
    """Rows are listed by their entries: the bits of rows that are written out, and of few columns."""
    few = sp.random(20, 90, 0.1, format="csr", random_state=1)
    # Between two columns come 16 without an entry: each column stays in its lane.
    wide = sp.csr_matrix((few.data, few.indices * 17, few.indptr), shape=(20, 90 * 17))
    y = np.random.default_rng(2).integers(0, 3, 20)
    options = {"kernel": "rbf", "gamma": 0.5, "max_iter": 2, "tol": None, "multi_class": multi_class}
    if policy is not None:
        options |= {"budget": 10, "budget_policy": policy}
    model = (KernelPerceptron if policy is None else BudgetedKernelPerceptron)(**options)
    assert_parity(model, wide, y, batch_sizes=(7,))
    scores = model.fit(few, y).decision_function(few)
    # Of a number for each column of the last there is no memory.
    vast = sp.csr_matrix((few.data, few.indices * np.int64(2**33 + 1), few.indptr), shape=(20, 2**40))
    for X in (wide, vast):
        assert model.fit(X, y).decision_function(X).tobytes() == scores.tobytes()
