"""What an estimator hands out is plain, and stays as it is: arrays, hashes, copies, models in processes."""

import copy
import pickle

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.support import contents

from perceptron_rs import (
    AveragedPerceptron,
    BudgetedKernelPerceptron,
    KernelPerceptron,
    MultilayerPerceptron,
    Perceptron,
    PocketPerceptron,
    VotedPerceptron,
)
from perceptron_rs.engines import ENGINES

RNG = np.random.default_rng(5)
X = RNG.integers(-9, 10, (60, 40)).astype(float)
X[RNG.random(X.shape) < 0.6] = 0
Y = RNG.integers(0, 3, 60)
ONCE = {"max_iter": 2, "tol": None}
LINEAR = [
    Perceptron(**ONCE),
    Perceptron(penalty="l2", **ONCE),
    Perceptron(multi_class="joint", eta0=0.3, **ONCE),
    AveragedPerceptron(**ONCE),
    PocketPerceptron(**ONCE),
    VotedPerceptron(**ONCE),
]
ALL = [
    *LINEAR,
    KernelPerceptron("linear", **ONCE),
    BudgetedKernelPerceptron(gamma=0.1, budget=9, **ONCE),
    MultilayerPerceptron(**ONCE),
]


def arrays(model):
    """Return all arrays that a fitted estimator shows, within lists and dicts, too."""
    names = [name for name in dir(model) if name.endswith("_") and name[0] != "_" and hasattr(model, name)]
    found, left = [], [getattr(model, name) for name in names]
    for value in left:
        if isinstance(value, np.ndarray):
            found.append(value)
        elif isinstance(value, list | tuple | dict):
            left.extend(value.values() if isinstance(value, dict) else value)
    return found


def ways(model, wide):
    """Yield the names of ways to learn from dense and sparse rows, many and few, and what does it."""
    rows = sp.csr_matrix(wide)
    yield "warm fit", lambda: model.set_params(warm_start=True).fit(wide, Y)
    if hasattr(model, "partial_fit"):
        yield "dense", lambda: model.partial_fit(wide[:9], Y[:9])
        yield "sparse", lambda: model.partial_fit(rows[9:20], Y[9:20])
        yield "weighted", lambda: model.partial_fit(wide[:9], Y[:9], sample_weight=np.ones(9, dtype="f4"))
    if hasattr(model, "fit_stream"):
        blocks = [(rows[:30], Y[:30]), (rows[30:], Y[30:])]
        yield "stream", lambda: model.set_params(warm_start=False).fit_stream(blocks, classes=[0, 1, 2])
    if hasattr(model, "coef_") and hasattr(model, "partial_fit"):
        for k in range(20, 26):
            row, label = rows[k : k + 1], Y[k : k + 1]
            yield "a row", lambda row=row, label=label: model.partial_fit(row, label, check_input=False)
    yield "cold fit", lambda: model.set_params(warm_start=False).fit(rows, Y)


@pytest.mark.parametrize(
    ("model", "columns", "engine"),
    [
        *((model, 40, engine) for model in ALL for engine in ENGINES),
        *((model, 1200, "rust") for model in LINEAR),
        (LINEAR[0], 1200, "reference"),
    ],
    ids=str,
)
def test_arrays_that_are_held_never_change(model, columns, engine):
    """Whatever is learnt later; nor do copies, and each reading has the same bits."""
    wide = np.zeros((60, columns))
    wide[:, RNG.permutation(columns)[:40]] = X
    model = clone(model).set_params(engine=engine).fit(wide, Y)
    held, copies = [], []
    for name, learn in ways(model, wide):
        now = arrays(model)
        assert [array.tobytes() for array in arrays(model)] == [array.tobytes() for array in now]
        held += [(name, array, array.tobytes()) for array in now]
        copies.append((copy.copy(model), copy.deepcopy(model), model.decision_function(wide).tobytes()))
        learn()
        assert [name for name, array, bits in held if array.tobytes() != bits] == []
    for light, deep, scores in copies:
        assert {each.decision_function(wide).tobytes() for each in (light, deep)} == {scores}


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (KernelPerceptron("linear"), ("intercept_", "n_vectors_", "survival_")),
        (BudgetedKernelPerceptron(gamma=0.1, budget=9), ()),
    ],
    ids=str,
)
def test_what_a_kernel_learner_shows_cannot_be_set(model, names, engine_name):
    """It has no weights to start from; and nobody writes to its arrays."""
    model = clone(model).set_params(engine=engine_name).fit(X, Y)
    before = contents(model)
    for name in (*names, "n_seen_", "support_", "support_vectors_", "dual_coef_", "mistakes_per_support_"):
        with pytest.raises(AttributeError, match=f"{name} shows what this .* cannot be set; fit it again"):
            setattr(model, name, getattr(model, name))
    assert contents(model) == before
    for array in (model.n_seen_, model.support_, *model._model.state().values()):
        if array.size:
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 1


@pytest.mark.parametrize("model", ALL, ids=str)
def test_equal_models_have_equal_hashes(model):
    """Of joblib, which looks at what is pickled; what has been read in between is no part of a model."""
    wide = np.hstack([X, np.zeros((60, 1200))]) if model in LINEAR else X
    first, other = clone(model).fit(sp.csr_matrix(wide), Y), clone(model).fit(sp.csr_matrix(wide), Y)
    other.predict(wide)
    arrays(other)
    copies = [copy.copy(first), copy.deepcopy(first), pickle.loads(pickle.dumps(first)), other]
    assert {joblib.hash(each) for each in copies} == {joblib.hash(first)}
    if hasattr(first, "partial_fit"):
        assert joblib.hash(first.partial_fit(wide[::-1], Y[::-1])) != joblib.hash(other)
        assert joblib.hash(other.partial_fit(wide[::-1], Y[::-1])) == joblib.hash(first)


def scores_and_more(model, rows, labels):
    """Predict with a model that another process shares, and learn on it here."""
    scores = model.decision_function(rows).tobytes()
    model.set_params(warm_start=True).fit(rows, labels)
    return scores, model.decision_function(rows).tobytes()


def test_models_are_shared_by_processes():
    """In the processes of loky, arrays of more than a byte are memory-mapped, and cannot be written to."""
    models = [clone(model).fit(X, Y) for model in LINEAR]
    expected = [scores_and_more(copy.deepcopy(model), X, Y) for model in models]
    before = [joblib.hash(model) for model in models]
    calls = [joblib.delayed(scores_and_more)(model, X, Y) for model in models]
    found = joblib.Parallel(n_jobs=2, backend="loky", max_nbytes=1)(calls)
    assert found == expected
    assert [joblib.hash(model) for model in models] == before


@pytest.mark.parametrize("model", ALL, ids=str)
def test_a_model_that_is_mapped_learns_and_leaves_its_file(model, tmp_path, engine_name):
    """It has copied what it has learnt: others may write to the file."""
    model, path = clone(model).set_params(engine=engine_name).fit(X, Y), tmp_path / "model"
    joblib.dump(model, path)
    file, mapped = path.read_bytes(), joblib.load(path, mmap_mode="r")
    shown = [*arrays(mapped), *mapped._learnt.model.state().values()]
    assert all(getattr(array, "_mmap", None) is None for array in shown)  # a copy of a memmap has none
    for (name, learn), (_, alone) in zip(ways(mapped, X), ways(model, X), strict=True):
        assert mapped.decision_function(X).tobytes() == model.decision_function(X).tobytes(), name
        learn()
        alone()
        assert path.read_bytes() == file
    assert joblib.hash(mapped) == joblib.hash(model)


@pytest.mark.parametrize("learner", ALL, ids=str)
def test_rows_are_scored_without_the_tags(learner, monkeypatch):
    """scikit-learn's search for them takes a part of the time of a row that is known to be good."""
    model = clone(learner).fit(X, Y)
    expected = model.predict(X[:1])
    monkeypatch.setattr(type(model), "__sklearn_tags__", None)
    assert model.predict(X[:1]) == expected
    monkeypatch.undo()
    with pytest.raises(NotFittedError):
        clone(learner).predict(X[:1])
