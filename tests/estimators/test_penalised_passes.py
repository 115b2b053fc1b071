"""Passes of one call under a penalty: the bits of a run, at the cost of the entries."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from tests.support import contents, runs_in

from perceptron_rs import Perceptron, load
from perceptron_rs.engines import ENGINES
from perceptron_rs.models.contents import contents_of

rng = np.random.default_rng(5)
X = rng.standard_normal((60, 9))
X[rng.random(X.shape) < 0.4] = 0.0
X[17] = 0.0
Y = rng.integers(0, 3, 60)
PENALTIES = {
    "one factor": {"penalty": "l2", "alpha": 0.01},
    "each weight": {"penalty": "l2", "alpha": 0.05},
    "l1": {"penalty": "l1", "alpha": 0.02},
    "both": {"penalty": "elasticnet", "alpha": 0.03, "l1_ratio": 0.4},
}


def long_way(model, rows, y):
    with runs_in(model):
        model.partial_fit(rows, y)


@pytest.fixture(params=PENALTIES)
def penalty(request):
    return PENALTIES[request.param]


@pytest.mark.parametrize(
    ("options", "classes", "sparse"),
    [
        ({}, 2, False),
        ({}, 3, True),
        ({"multi_class": "joint"}, 2, True),
        ({"multi_class": "joint"}, 3, False),
        ({"eta0": 0.3, "track_mistakes": True}, 2, True),
        ({"eta0": 0.3, "track_mistakes": True}, 3, False),
    ],
    ids=str,
)
def test_single_rows_are_one_pass(penalty, options, classes, sparse, engine_name, runs):
    rows, y = sp.csr_array(X[:40]) if sparse else X[:40], Y[:40] % classes
    quick, checked, long = (
        Perceptron(engine=engine_name, **penalty, **options).partial_fit(
            rows[:1], y[:1], classes=np.arange(classes)
        )
        for _ in range(3)
    )
    for start, stop in [*((i, i + 1) for i in range(1, 24)), (24, 40)]:
        part = slice(start, stop)
        quick.partial_fit(rows[part], y[part], check_input=False)
        checked.partial_fit(rows[part], y[part])
        n_runs = len(runs)
        long_way(long, rows[part], y[part])
        assert len(runs) == n_runs + 1
        if start % 5 == 0:
            assert contents(quick) == contents(checked) == contents(long)
    assert len(runs) == 24
    whole = Perceptron(engine=engine_name, max_iter=1, tol=None, shuffle=False, **penalty, **options)
    whole.fit(rows, y)
    assert quick.coef_.tobytes() == whole.coef_.tobytes()
    assert quick.intercept_.tobytes() == whole.intercept_.tobytes()


def wide(n=120, d=20_000, k=12, seed=3):
    """Rows of few of many columns, some of which come again; one row is empty."""
    random = np.random.default_rng(seed)
    row = np.repeat(np.arange(n), k)
    columns, values = random.integers(0, d // 250, k * n) * 250, random.standard_normal(k * n)
    full = row != 7
    rows = sp.csr_matrix((values[full], (row[full], columns[full])), shape=(n, d))
    rows.data[::9] = 0.0
    return rows, random.integers(0, 3, n)


WIDE, LABELS = wide()


@pytest.mark.parametrize("options", [{}, {"multi_class": "joint"}, {"margin_threshold": 0.5}], ids=str)
def test_few_entries_among_many_columns(penalty, options, runs):
    quick, long = (
        Perceptron(**penalty, **options).partial_fit(WIDE[:2], LABELS[:2], classes=[0, 1, 2])
        for _ in range(2)
    )
    for start, stop in [*((i, i + 1) for i in range(2, 30)), (30, 40), (40, 120)]:
        quick.partial_fit(WIDE[start:stop], LABELS[start:stop], check_input=start % 2 > 0)
        long_way(long, WIDE[start:stop], LABELS[start:stop])
        if start % 5 == 0:
            assert contents(quick) == contents(long)
    assert len(runs) == 30
    dense = Perceptron(max_iter=1, tol=None, shuffle=False, **penalty, **options).fit(WIDE.toarray(), LABELS)
    assert quick.coef_.tobytes() == dense.coef_.tobytes()


@pytest.mark.parametrize(("d", "empty"), [(20_000, True), (20_005, False)])
def test_weights_that_are_settled_together_on_the_way(d, empty, runs):
    """With l2 = 1/64 that happens after 2,816 examples; all weights change then."""
    options = {"penalty": "l2", "alpha": 1 / 64}
    chosen = np.random.default_rng(1).integers(0, 120, 2830)
    rows, y = sp.csr_matrix(WIDE[chosen]), LABELS[chosen] % 2
    if empty:
        rows = sp.vstack([rows[:2800], sp.csr_matrix((30, 20_000))], format="csr")
    rows.resize(2830, d)
    quick, long = (Perceptron(**options).partial_fit(rows[:2812], y[:2812], classes=[0, 1]) for _ in range(2))
    for start, stop in [(2812, 2813), (2813, 2815), (2815, 2825), (2825, 2826), (2826, 2830)]:
        quick.partial_fit(rows[start:stop], y[start:stop], check_input=False)
        long_way(long, rows[start:stop], y[start:stop])
        assert contents(quick) == contents(long)
    assert len(runs) == 5
    assert quick._model.state()["ages"][0, 0] < 20


def test_classes_that_have_seen_different_numbers_of_examples(penalty, engine_name, runs):
    """As fits with ``tol`` leave them, where each class stops on its own."""
    quick, long = (Perceptron(engine=engine_name, **penalty) for _ in range(2))
    for model in (quick, long):
        model.set_params(class_weight={0: 0.0}).partial_fit(WIDE[:40], LABELS[:40], classes=[0, 1, 2])
        model.set_params(class_weight={2: 0.0}).partial_fit(WIDE[40:90], LABELS[40:90])
        model.set_params(class_weight=None)
        assert len(set(model.n_seen_.tolist())) == 3
    runs.clear()
    for i in range(1, 15):
        quick.partial_fit(WIDE[i : i + 1], LABELS[i : i + 1])
        long_way(long, WIDE[i : i + 1], LABELS[i : i + 1])
        assert contents(quick) == contents(long)
    assert len(runs) == 14


def test_classes_of_different_ages_take_the_long_way(penalty, engine_name, runs):
    """Class 2 weighs nothing for a while."""
    models = [Perceptron(engine=engine_name, **penalty) for _ in range(2)]
    for start, weights in enumerate([None, {2: 0.0}, None, None]):
        part = slice(10 * start, 10 * start + 10)
        for model in models:
            model.set_params(class_weight=weights, multi_class="ovr")
        models[0].partial_fit(WIDE[part], LABELS[part], classes=[0, 1, 2])
        if start:
            long_way(models[1], WIDE[part], LABELS[part])
        else:
            models[1].partial_fit(WIDE[part], LABELS[part], classes=[0, 1, 2])
        assert contents(models[0]) == contents(models[1])


def test_the_class_that_has_seen_most_is_settled_first(engine_name, runs):
    """The others have seen fewer examples, but their weights were settled when theirs were."""
    options = {"penalty": "l2", "alpha": 1 / 64, "engine": engine_name}
    few, rest = np.random.default_rng(1).integers(0, 120, (2, 2825))
    few, rest = few[:300], rest[300:]
    models = [Perceptron(class_weight={0: 0.0, 1: 1.0, 2: 1.0}, **options) for _ in range(2)]
    for model in models:
        model.partial_fit(WIDE[few], LABELS[few], classes=[0, 1, 2]).set_params(class_weight=None)
        model.partial_fit(WIDE[rest[:2510]], LABELS[rest[:2510]])
        assert len(set(model.n_seen_)) == 2
    runs.clear()
    for i in rest[2510:]:
        models[0].partial_fit(WIDE[[i]], LABELS[[i]], check_input=False)
        long_way(models[1], WIDE[[i]], LABELS[[i]])
        assert contents(models[0]) == contents(models[1])
    assert len(runs) == 15


def test_strengths_that_change_and_come_back(penalty):
    """What was worked out for one strength is not used with what is pending of another one."""
    rust, reference = (come_back(penalty, engine) for engine in ENGINES)
    assert contents(rust.set_params(engine="reference")) == contents(reference)


def come_back(penalty, engine):
    models = [Perceptron(engine=engine, **penalty) for _ in range(2)]
    for step, alpha in enumerate([0.01, 0.01, 0.02, 0.01, 0.03, 0.01, 0.01]):
        part = slice(5 * step, 5 * step + 5)
        for model in models:
            model.set_params(alpha=alpha)
        if step in (0, 2):
            for model in models:  # a list takes the long way
                model.partial_fit(X[part].tolist(), Y[part], classes=[0, 1, 2], sample_weight=[1.0] * 5)
        else:
            models[0].partial_fit(X[part], Y[part], check_input=False)
            long_way(models[1], X[part], Y[part])
        assert contents(models[0]) == contents(models[1])
    models[0].set_params(penalty=None).partial_fit(X[40:41], Y[40:41], check_input=False)
    long_way(models[1].set_params(penalty=None), X[40:41], Y[40:41])
    assert contents(models[0]) == contents(models[1])
    return models[0]


def test_weights_are_settled_when_they_are_read(penalty, engine_name):
    model = Perceptron(engine=engine_name, **penalty).partial_fit(X[:9], Y[:9], classes=[0, 1, 2])
    held, coef = contents(model), model.coef_
    assert contents(model) == held
    before = coef.tobytes()
    again = pickle.loads(pickle.dumps(model))
    for one in (model, again, copy.deepcopy(model)):
        one.partial_fit(X[9:10], Y[9:10])
        assert one.coef_.tobytes() == model.coef_.tobytes() != before
    assert coef.tobytes() == before
    assert not hasattr(Perceptron(**penalty), "coef_")


@pytest.mark.parametrize("options", [{}, {"multi_class": "joint"}], ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_scores_settle_the_weights_that_they_read(penalty, options, classes, engine_name):
    y = LABELS % classes
    model = Perceptron(engine=engine_name, **penalty, **options)
    model.partial_fit(WIDE[:9], y[:9], classes=np.arange(classes))
    read = copy.deepcopy(model)
    assert read.coef_.any()
    for rows in (WIDE[9:10], WIDE[5:9], WIDE[7:8], sp.csr_array(WIDE[3:20].astype(np.float32)), WIDE[20:100]):
        assert model.decision_function(rows).tobytes() == read.decision_function(rows).tobytes()
        assert model.predict(rows).tolist() == read.predict(rows).tolist()
    assert model.decision_function(WIDE[:1].toarray()).tobytes() == read.decision_function(WIDE[:1]).tobytes()
    model.coef_ = np.zeros_like(read.coef_)
    assert (model.decision_function(WIDE[9:12]) == model.decision_function(WIDE[7:8])).all()


def test_a_file_has_what_is_pending_and_nothing_else(penalty, tmp_path):
    model = Perceptron(**penalty).partial_fit(X[:9], Y[:9], classes=[0, 1, 2])
    tensors, _ = contents_of(model)
    assert tensors["coef"].tobytes() == model._model.state()["coef"].tobytes() != model.coef_.tobytes()
    assert tensors["ages"].dtype == np.int64
    assert (tensors["ages"] > 0).all()
    model.save(tmp_path / "pending")
    assert load(tmp_path / "pending").coef_.tobytes() == model.coef_.tobytes()
    model.sparsify().save(tmp_path / "sparse")
    assert load(tmp_path / "sparse").coef_.tobytes() == model.coef_.toarray().tobytes()
    model.coef_ = np.ones((3, 9))
    model.save(tmp_path / "set")
    assert load(tmp_path / "set").coef_.tobytes() == np.ones((3, 9)).tobytes()


def test_what_is_pending_is_not_shared(penalty):
    model = Perceptron(**penalty).partial_fit(WIDE[:2], LABELS[:2], classes=[0, 1, 2])
    model.partial_fit(WIDE[2:4], LABELS[2:4])
    other = copy.copy(model)
    before = contents(other)
    for i in range(4, 20):
        model.partial_fit(WIDE[i : i + 1], LABELS[i : i + 1], check_input=False)
    assert contents(other) == before


@pytest.mark.parametrize("name", ["one factor", "both"])
def test_a_large_model_learns_where_it_stands(name, runs):
    penalty, d = PENALTIES[name], (1 << 18) + 5
    rows = sp.csr_matrix(
        (np.arange(1.0, 13.0), np.array([0, 5, 9, d - 1] * 3), np.arange(0, 13, 4)), shape=(3, d)
    )
    y = np.array([0, 1, 0])
    quick, long = (Perceptron(**penalty).partial_fit(rows[:1], y[:1], classes=[0, 1]) for _ in range(2))

    def place():
        return quick._model.state()["coef"].__array_interface__["data"]

    held = place()
    for i in (1, 2, 1, 2):
        quick.partial_fit(rows[i], y[i : i + 1])
        long_way(long, rows[i], y[i : i + 1])
    assert place() == held
    assert len(runs) == 4
    for model in (quick, long):  # as a model file may have it: one weight is older than the others
        state = dict(model._model.state())
        state["ages"] = state["ages"] + (np.arange(d) == 7)
        model._publish(state)
    quick.partial_fit(rows[1], y[1:2])
    long_way(long, rows[1], y[1:2])
    assert contents(quick) == contents(long)
    assert quick.coef_.tobytes() == long.coef_.tobytes()


@pytest.mark.parametrize("value", [np.inf, 1e308])
def test_overflow_leaves_all_as_it_was(penalty, value, engine_name):
    model = Perceptron(engine=engine_name, **penalty).partial_fit(X[:9], Y[:9], classes=[0, 1, 2])
    assert len(model.coef_) == 3  # a run would read it
    before = contents(model)
    bad = np.full((3, 9), value)
    with pytest.raises(ValueError):
        model.partial_fit(bad, np.arange(3), check_input=False)
    assert contents(model) == before


def test_columns_without_entries_have_the_penalties_of_all_rows(penalty):
    wide = sp.csr_array(
        (X[:8].ravel(), (np.repeat(np.arange(8), 9), np.tile(np.arange(9) * 40, 8))), (8, 400)
    )
    empty, y, weights = sp.csr_array((8, 400)), Y[:8] % 2, np.arange(8) % 3  # with zeros: a run
    for rows in (empty, wide):
        for before in (0, 1):
            rust, reference = (
                Perceptron(fit_intercept=False, tie="positive", engine=engine)
                for engine in ("rust", "reference")
            )
            for model in (rust, reference):
                for _ in range(before):
                    model.partial_fit(empty, np.ones(8), classes=[0, 1])
                model.set_params(**penalty).partial_fit(rows, y, classes=[0, 1], sample_weight=weights)
            assert contents(rust.set_params(engine="reference")) == contents(reference)
