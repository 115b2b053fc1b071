"""Passes of one call: the bits and attributes of a run, and what was read before is never written to."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from tests.estimators.passes import KINDS, NUMBER, OPTIONS, X, begun, by_runs, one_by_one
from tests.learners import PASSES
from tests.support import contents, runs_in

from perceptron_rs import Perceptron, reproduce


@pytest.mark.parametrize(
    ("engine_name", "kind", "options"),
    [
        *(("rust", kind, {}) for kind in KINDS),
        *(("rust", kind, options) for kind in ("str", "two") for options in OPTIONS[1:]),
        # What labels are is found out before an engine is asked.
        *(("reference", ("str", "two")[number % 2], options) for number, options in enumerate(OPTIONS)),
    ],
    ids=str,
)
@pytest.mark.parametrize("learner", PASSES)
def test_single_rows_are_one_pass(learner, options, kind, engine_name, runs):
    y = KINDS[kind]
    model = one_by_one(begun(learner, y, engine=engine_name, **options), X, y)
    assert not runs
    checked = begun(learner, y, engine=engine_name, **options)
    for i in range(1, 60):
        checked.partial_fit(X[i : i + 1], y[i : i + 1])
    assert contents(model) == contents(checked)
    if "added_feature" not in options and "max_mistakes_per_example" not in options:
        whole = learner(engine=engine_name, max_iter=1, tol=None, shuffle=False, **options).fit(X, y)
        assert model.coef_.tobytes() == whole.coef_.tobytes()
        assert model.intercept_.tobytes() == whole.intercept_.tobytes()
        assert model.n_seen_.tolist() == whole.n_seen_.tolist()


@pytest.mark.parametrize(
    "options",
    [
        *OPTIONS,
        {"class_weight": {0: 0.5, 2: 3.0}},
        {"track_mistakes": True},
        {"audit": True, "random_state": 3},
    ],
    ids=str,
)
@pytest.mark.parametrize("weights", [None, np.linspace(0.1, 3.0, 60)], ids=["alike", "weighted"])
@pytest.mark.parametrize("learner", PASSES)
def test_the_first_call(learner, weights, options, engine_name, runs):
    """What a run would leave, without one; with ``audit`` it is left to a run, which begins the record."""
    given = X, NUMBER, np.unique(NUMBER)
    quick, long = (learner(engine=engine_name, **options) for _ in range(2))
    quick.partial_fit(*given, sample_weight=weights)
    assert len(runs) == bool(options.get("audit"))
    with runs_in(long):
        long.partial_fit(*given, sample_weight=weights)
    assert contents(quick) == contents(long)
    again = learner(engine=engine_name, **options)
    predicted, errors = again.predict_then_learn(X, NUMBER, classes=np.unique(NUMBER), sample_weight=weights)
    assert (errors, again.coef_.tobytes()) == (np.count_nonzero(predicted != NUMBER), quick.coef_.tobytes())


@pytest.mark.parametrize("value", [np.nan, 1e308])
@pytest.mark.parametrize("learner", PASSES)
def test_a_first_call_that_fails(learner, value, engine_name):
    model = learner(engine=engine_name, eta0=1e5)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=r"NaN|overflow"):
        model.partial_fit(np.where(X == 0, value, X), NUMBER, classes=np.unique(NUMBER))
    assert vars(model) == before


@pytest.mark.parametrize("weights", [[1.0, 2.0, 4.0], [0.3, 1.7, 0.1]])
@pytest.mark.parametrize("learner", PASSES)
def test_weights_of_examples(learner, weights, engine_name, runs):
    weights = np.resize(weights, 60)
    models = [begun(learner, NUMBER, engine=engine_name) for _ in range(3)]
    for i in range(1, 60):
        for model, check in zip(models, (True, False), strict=False):
            part = slice(i, i + 1)
            model.partial_fit(X[part], NUMBER[part], sample_weight=weights[part], check_input=check)
    assert not runs
    models[2].partial_fit(X[1:], NUMBER[1:], sample_weight=weights[1:].tolist())
    assert not runs
    assert contents(models[0]) == contents(models[1])
    for model in models[:2]:
        assert model.coef_.tobytes() == models[2].coef_.tobytes()
        assert model.intercept_.tobytes() == models[2].intercept_.tobytes()


@pytest.mark.parametrize("dtype", ["f2", "f4", ">f4", "i1", "u2", "i4", "i8", "u8", "bool"])
def test_weights_of_every_type(dtype, engine_name, runs):
    weights = np.resize([1.0, 2.0, 3.0], 60).astype(dtype)
    models = [begun(Perceptron, NUMBER, engine=engine_name) for _ in range(2)]
    for given, model in zip((weights, weights.astype(np.float64)), models, strict=True):
        model.partial_fit(X[1:3], NUMBER[1:3], sample_weight=given[1:3], check_input=False)
        model.partial_fit(X, NUMBER, sample_weight=given, check_input=False)
    assert not runs
    assert contents(models[0]) == contents(models[1])


@pytest.mark.parametrize("learner", PASSES)
def test_a_pass_over_no_row(learner, engine_name):
    """It tells of itself what others tell, and learns nothing."""
    model = begun(learner, NUMBER, engine=engine_name, track_mistakes=True)
    before = model.coef_.tobytes(), model.intercept_.tobytes(), model.n_seen_.tolist()
    model.partial_fit(X[:0], NUMBER[:0], check_input=False)
    assert (model.n_mistakes_, model.mistakes_per_example_.shape, model.n_iter_) == (0, (0, 3), 1)
    assert (model.coef_.tobytes(), model.intercept_.tobytes(), model.n_seen_.tolist()) == before


ASKED = [
    {"class_weight": {0: 0.5, 2: 3.0}},
    {"track_mistakes": True},
    {"audit": True, "random_state": 3},
    {
        "multi_class": "joint",
        "class_weight": {1: 2},
        "track_mistakes": True,
        "audit": True,
        "random_state": 3,
    },
]


@pytest.mark.parametrize("weights", [None, np.linspace(0.1, 3.0, 60)], ids=["alike", "weighted"])
@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("learner", PASSES)
def test_what_a_run_would_tell(learner, asked, weights, engine_name, runs):
    quick, checked, long = (begun(learner, NUMBER, engine=engine_name, **asked) for _ in range(3))
    with runs_in(long):
        for start, stop in [*((i, i + 1) for i in range(1, 15)), (15, 30)]:
            part = slice(start, stop)
            given = {
                "X": X[part],
                "y": NUMBER[part],
                "sample_weight": None if weights is None else weights[part],
            }
            quick.partial_fit(**given, check_input=False)
            checked.partial_fit(**given)
            long.partial_fit(**given)
    assert contents(quick) == contents(checked) == contents(long)
    assert len(runs) == 15 + 3 * bool(asked.get("audit"))
    if asked.get("audit") and weights is None:
        assert reproduce(quick, X[:30], NUMBER[:30])


def test_weights_of_classes_that_change_in_their_place(engine_name):
    model, checked = (begun(Perceptron, NUMBER, engine=engine_name, class_weight={0: 2.0}) for _ in range(2))
    with runs_in(checked):
        for i, weight in [(1, 2.0), (2, 3.0), (3, 0.0), (4, 0.25), (5, -1.0)]:
            for one, check in ((model, False), (checked, True)):
                one.class_weight[0] = weight
                if weight < 0:
                    with pytest.raises(ValueError, match="class_weight"):
                        one.partial_fit(X[i : i + 1], NUMBER[i : i + 1], check_input=check)
                else:
                    one.partial_fit(X[i : i + 1], NUMBER[i : i + 1], check_input=check)
    assert contents(model) == contents(checked)


@pytest.mark.parametrize("check_input", [True, False])
def test_the_record_of_a_call_that_fails(check_input, engine_name):
    model = begun(Perceptron, NUMBER, engine=engine_name, audit=True, random_state=3)
    one_by_one(model, X, NUMBER, 1, 5)
    before = contents(model)
    with pytest.raises(ValueError, match=r"inf|overflow"):
        model.partial_fit(np.full((1, 9), np.inf), NUMBER[9:10], check_input=check_input)
    assert contents(model) == before
    one_by_one(model, X, NUMBER, 5, 9)
    whole = begun(Perceptron, NUMBER, engine=engine_name, audit=True, random_state=3)
    assert contents(one_by_one(whole, X, NUMBER, 1, 9)) == contents(model)


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan, np.inf])
def test_odd_weights_take_the_long_way(weight, engine_name, runs):
    model, checked = (begun(Perceptron, NUMBER, engine=engine_name) for _ in range(2))
    weights, before = np.array([weight, 1.0]), contents(model)
    if weight == 0:
        model.partial_fit(X[1:3], NUMBER[1:3], sample_weight=weights, check_input=False)
        checked.partial_fit(X[2:3], NUMBER[2:3])
        assert model.coef_.tobytes() == checked.coef_.tobytes()
    else:
        with pytest.raises(ValueError, match="sample_weight"):
            model.partial_fit(X[1:3], NUMBER[1:3], sample_weight=weights, check_input=False)
        assert contents(model) == before


@pytest.mark.parametrize(
    "storage", [np.float64, np.float32, np.int8, np.uint8, np.int16, np.uint16, np.int32]
)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("learner", PASSES)
def test_every_storage(learner, sparse, storage, engine_name, runs):
    dense = np.abs(X * 9).round().astype(storage)
    rows = sp.csr_matrix(dense) if sparse else dense
    model = one_by_one(begun(learner, NUMBER, engine=engine_name), rows, NUMBER)
    assert not runs
    checked = begun(learner, NUMBER, engine=engine_name).partial_fit(dense[1:], NUMBER[1:])
    assert model.coef_.tobytes() == checked.coef_.tobytes()


def test_exact_values():
    """An oracle of plain integers: two classes, by hand."""
    values, y = np.round(X * 4), np.minimum(NUMBER, 1)
    model = begun(Perceptron, y)
    model.coef_, model.intercept_ = np.zeros((1, 9)), np.zeros(1)
    one_by_one(model, values, y, start=0)
    w, b = [0] * 9, 0
    for x, label in zip(values.astype(int).tolist(), y.tolist(), strict=True):
        sign = 2 * label - 1
        if sign * (sum(p * q for p, q in zip(w, x, strict=True)) + b) <= 0:
            w, b = [p + sign * q for p, q in zip(w, x, strict=True)], b + sign
    assert model.coef_.tolist() == [w]
    assert model.intercept_.tolist() == [b]


@pytest.mark.parametrize("learner", PASSES)
def test_a_few_rows_at_once(learner, engine_name, runs):
    model = begun(learner, NUMBER, engine=engine_name)
    for start, stop in [(1, 3), (3, 19), (19, 36), (36, 60)]:
        model.partial_fit(X[start:stop], NUMBER[start:stop], check_input=False)
    assert not runs
    checked = begun(learner, NUMBER, engine=engine_name)
    for start, stop in [(1, 36), (36, 60)]:
        checked.partial_fit(X[start:stop], NUMBER[start:stop])
    assert contents(model) == contents(checked)


def test_what_was_read_is_not_written_to(engine_name):
    model = begun(Perceptron, NUMBER, engine=engine_name)
    held = [model.coef_, model.intercept_, model.n_seen_]
    before, twin = [value.tobytes() for value in held], copy.copy(model)
    one_by_one(model, X, NUMBER)
    assert [value.tobytes() for value in held] == before
    assert twin.n_seen_[0] == 1


@pytest.mark.parametrize("learner", PASSES)
def test_averages_are_made_anew(learner, engine_name):
    model = begun(learner, NUMBER, engine=engine_name)
    seen = set()
    for i in range(1, 20):
        model.partial_fit(X[i : i + 1], NUMBER[i : i + 1], check_input=False)
        seen.add(model.coef_.tobytes())
    assert len(seen) > 5
    checked = begun(learner, NUMBER, engine=engine_name).partial_fit(X[1:20], NUMBER[1:20])
    assert model.coef_.tobytes() == checked.coef_.tobytes()


@pytest.mark.parametrize("learner", PASSES)
def test_pickled_copied_and_cloned_in_the_middle(learner, engine_name):
    model = one_by_one(begun(learner, NUMBER, engine=engine_name), X, NUMBER, stop=30)
    others = [pickle.loads(pickle.dumps(model)), copy.copy(model), copy.deepcopy(model)]
    for one in (model, *others):
        one_by_one(one, X, NUMBER, 30)
    assert all(contents(other) == contents(model) for other in others)
    assert not hasattr(clone(model), "coef_")


@pytest.mark.parametrize("learner", PASSES)
def test_many_estimators_in_turns(learner, engine_name):
    """With parameters of their own."""
    steps = [0.5 + k for k in range(5)]
    models = [begun(learner, NUMBER, engine=engine_name, eta0=step) for step in steps]
    for i in range(1, 4):
        for model in models:
            model.partial_fit(X[i : i + 1], NUMBER[i : i + 1], check_input=False)
    for step, model in zip(steps, models, strict=True):
        checked = begun(learner, NUMBER, engine=engine_name, eta0=step).partial_fit(X[1:4], NUMBER[1:4])
        assert model.coef_.tobytes() == checked.coef_.tobytes()


#: Many weights.
MOST = 1 << 18


def large(learner, d, entries=3):
    """A model of very many weights, and rows with labels for it."""
    random = np.random.default_rng(4)
    columns = np.sort(random.choice(d, (6, entries)), axis=1)
    indptr = np.arange(0, 7) * entries
    rows = sp.csr_matrix((random.standard_normal(6 * entries), columns.ravel(), indptr), shape=(6, d))
    y = np.array([0, 1, 1, 0, 1, 0])
    return learner(eta0=0.5).partial_fit(rows[:1], y[:1], classes=[0, 1]), rows, y


def place(array):
    return array.__array_interface__["data"][0]


@pytest.mark.parametrize("learner", PASSES)
def test_a_large_model_learns_where_it_stands(learner, runs):
    model, rows, y = large(learner, MOST + 5)
    name = "coef_" if learner is Perceptron else "last_coef_"
    before = place(getattr(model, name))
    for i in range(1, 6):
        model.partial_fit(rows[i], y[i : i + 1])
    assert place(getattr(model, name)) == before
    assert not runs
    whole = learner(eta0=0.5, max_iter=1, tol=None, shuffle=False).fit(rows, y)
    assert whole.n_mistakes_ > 2
    assert model.coef_.tobytes() == whole.coef_.tobytes()


@pytest.mark.parametrize("learner", PASSES)
def test_many_entries_of_a_large_model(learner):
    model, rows, y = large(learner, MOST + 5, entries=MOST // 4)
    checked = copy.deepcopy(model)
    for i in (1, 2):
        model.partial_fit(rows[i], y[i : i + 1])
    assert contents(model) == contents(by_runs(checked, rows, y, 1, 3))


def test_what_was_read_of_a_large_model_is_copied():
    model, rows, y = large(Perceptron, 4 * MOST + 1)
    held, right = model.coef_, (model.predict(rows) == y)[1:]
    before = held.tobytes()
    mistaken = 1 + int(np.argmin(right))
    assert not right[mistaken - 1]
    model.partial_fit(rows[mistaken], y[mistaken : mistaken + 1])
    assert held.tobytes() == before
    assert model.coef_.tobytes() != before


def test_threads_with_an_estimator_each():
    def work(seed):
        order = np.random.default_rng(seed).permutation(60)
        return one_by_one(begun(Perceptron, NUMBER), X[order], NUMBER[order], start=0).coef_.tobytes()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(20))) == [work(seed) for seed in range(20)]
