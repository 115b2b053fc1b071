"""The pocket estimator: what each attribute holds, and what a warm start continues from."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from perceptron_rs import AveragedPerceptron, Perceptron, PocketPerceptron, load
from perceptron_rs.state.fitted_attributes import flat
from perceptron_rs.testing import assert_parity

CHECKS = ("run", "ratchet", "update", "epoch")
FIXED = {"shuffle": False, "tol": None, "max_iter": 5}


def data(classes=2, n=60, seed=4):
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, (n, 3)).astype(np.float64)
    y = rng.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    return X, y


def errors_of(model, X, y, weight=None):
    """Return the errors of each class, by the activations; an activation of 0 predicts "not this class"."""
    scores = model.decision_function(X).reshape(len(y), -1)
    positive = [1] if scores.shape[1] == 1 else model.classes_
    wrong = np.array([(y == k) != (scores[:, i] > 0) for i, k in enumerate(positive)])
    return (wrong * (np.ones(len(y)) if weight is None else weight)).sum(axis=1)


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
def test_attributes(engine_name, check, average, classes):
    X, y = data(classes)
    model = PocketPerceptron(check=check, average=average, engine=engine_name, **FIXED)
    for name in ("coef_", "swaps_", "pocket_epoch_", "partial_fit"):
        assert not hasattr(model, name)
    model.fit(X, y)
    plain = Perceptron(engine=engine_name, **FIXED).fit(X, y)
    K = 1 if classes == 2 else classes
    assert model.last_coef_.tobytes() == plain.coef_.tobytes()
    assert model.last_intercept_.tobytes() == plain.intercept_.tobytes()
    assert model.coef_.shape == plain.coef_.shape
    assert model.pocket_errors_.tolist() == errors_of(model, X, y).tolist()
    assert model.pocket_errors_.dtype == np.float64
    assert (model.pocket_errors_ <= len(y)).all()
    assert model.pocket_run_.shape == model.pocket_epoch_.shape == (K,)
    for k in range(K):
        own = model.swaps_[model.swaps_["class"] == k]
        assert (np.diff(own["errors"]) < 0).all()
        assert (np.diff(own["t"]) + own["average"][1:] > 0).all()  # an average is counted after a vector
        assert own["errors"][-1] == model.pocket_errors_[k]
        assert own["epoch"][-1] == model.pocket_epoch_[k]
        assert ((own["t"] - 1) // len(y) == own["epoch"]).all()


def test_update_is_at_least_as_good_as_the_others_and_the_last():
    better = 0
    for seed in range(20):
        X, y = data(seed=seed)
        found = {check: PocketPerceptron(check=check, **FIXED).fit(X, y) for check in CHECKS}
        best = found["update"].pocket_errors_[0]
        assert all(model.pocket_errors_[0] >= best for model in found.values())
        last = errors_of(Perceptron(**FIXED).fit(X, y), X, y)[0]
        better += best < last
    assert better >= 10


def test_the_start_vector_may_stay():
    X, y = np.array([[0.0], [1.0]] * 4), [1, 0, 0, 1] * 2
    model = PocketPerceptron(**FIXED).fit(X, y, coef_init=[[0.0]], intercept_init=[1.0])
    assert model.pocket_errors_.tolist() == [4.0]
    assert (model.pocket_epoch_.tolist(), model.swaps_.shape, model.pocket_run_.tolist()) == ([-1], (0,), [0])
    assert model.coef_.tolist() == [[0.0]]


def test_sample_and_class_weights_count():
    X, y = data()
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 4, len(y)).astype(float)
    model = PocketPerceptron(check="update", class_weight={0: 3.0, 1: 0.5}, **FIXED)
    model.fit(X, y, sample_weight=weight)
    total = weight * np.where(y == 0, 3.0, 0.5)
    assert model.pocket_errors_.tolist() == errors_of(model, X, y, total).tolist()
    kept = weight > 0
    again = PocketPerceptron(check="update", class_weight={0: 3.0, 1: 0.5}, **FIXED)
    again.fit(X[kept], y[kept], sample_weight=weight[kept])
    assert again.coef_.tobytes() == model.coef_.tobytes()
    assert again.swaps_.tobytes() == model.swaps_.tobytes()


@pytest.mark.parametrize("check", CHECKS)
def test_a_warm_start_goes_on_from_the_pocket(engine_name, check):
    X, y = data(3)
    model = PocketPerceptron(check=check, warm_start=True, engine=engine_name, **FIXED).fit(X, y)
    first = {name: getattr(model, name) for name in ("coef_", "intercept_", "pocket_errors_", "n_seen_")}
    model.fit(X, y)
    cold = PocketPerceptron(check=check, engine=engine_name, **FIXED)
    cold.fit(X, y, coef_init=first["coef_"], intercept_init=first["intercept_"])
    for name in ("coef_", "intercept_", "last_coef_", "pocket_errors_", "pocket_run_"):
        assert getattr(model, name).tobytes() == getattr(cold, name).tobytes(), name
    assert (model.pocket_errors_ <= first["pocket_errors_"]).all()
    assert (model.n_seen_ == cold.n_seen_ + first["n_seen_"]).all()
    assert (model.swaps_["epoch"] == cold.swaps_["epoch"] + FIXED["max_iter"]).all()


def test_early_stopping_judges_the_pocket_and_counts_without_the_validation_part():
    X, y = data(n=200)
    model = PocketPerceptron(early_stopping=True, max_iter=30, n_iter_no_change=3).fit(X, y)
    whole = errors_of(model, X, y)[0]
    assert len(model.validation_scores_) == model.n_iter_
    missed = round((1 - model.validation_scores_.max()) * 20)
    assert abs(whole - model.pocket_errors_[0] - missed) <= np.count_nonzero(model.decision_function(X) == 0)


@pytest.mark.parametrize("name", ["partial_fit", "predict_then_learn", "fit_stream"])
def test_there_is_no_online_learning(name):
    """Nor what scikit-learn makes of such a method."""
    assert not hasattr(PocketPerceptron, name)
    assert not hasattr(PocketPerceptron(), f"set_{name}_request")


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("start", [False, True])
def test_a_file_and_a_pickle_keep_everything(tmp_path, classes, start):
    X, y = data(classes)
    model = PocketPerceptron(check="update", **FIXED)
    coef = model.fit(X, y).coef_, model.intercept_
    if start:  # no vector is better, so there are no swaps
        model.fit(X, y, coef_init=coef[0], intercept_init=coef[1])
    model.save(tmp_path / "model")
    for again in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert type(again) is PocketPerceptron
        assert flat(again).keys() == flat(model).keys()
        for name in (
            "coef_",
            "last_coef_",
            "last_intercept_",
            "swaps_",
            "pocket_errors_",
            "pocket_run_",
            "n_seen_",
        ):
            assert getattr(again, name).tobytes() == getattr(model, name).tobytes(), name
            assert getattr(again, name).dtype == getattr(model, name).dtype, name
        assert again.pocket_epoch_.tolist() == model.pocket_epoch_.tolist()


@pytest.mark.parametrize(
    ("name", "values", "pattern"),
    [
        ("_swap_plane", lambda v: v + 5, "swap_plane must hold sorted indices below 3"),
        ("_swap_plane", lambda v: v[::-1].copy(), "swap_plane must hold sorted indices below 3"),
        ("_swap_errors", lambda v: v + 1, "disagree about the errors"),
        ("_swap_average", lambda v: v + 2, "swap_average must hold numbers from 0 to 1"),
        ("_swap_t", lambda v: v[1:], "swap_t has the shape|swap_plane has the shape|has the shape"),
        ("pocket_run_", lambda v: v[1:], "pocket_run has the shape"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(tmp_path, name, values, pattern):
    X, y = data(3)
    model = PocketPerceptron(**FIXED).fit(X, y)
    model._publish(model._model.state() | {name.strip("_"): values(getattr(model, name))})
    with pytest.raises(ValueError, match=pattern):
        model.save(tmp_path / "model")


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    classes = draw(st.integers(2, 4))
    n, d = draw(st.integers(classes, 18)), draw(st.sampled_from([1, 3, 8, 17]))
    kind = draw(st.sampled_from(["small", "ones", "float", "wide", "huge"]))
    X = {
        "small": lambda: rng.integers(-3, 4, (n, d)).astype(np.int8),
        "ones": lambda: rng.integers(0, 2, (n, d)).astype(np.uint8),
        "float": lambda: rng.normal(size=(n, d)),
        "wide": lambda: rng.integers(-(2**31), 2**31, (n, d)).astype(np.int32),
        "huge": lambda: rng.normal(size=(n, d)) * 2.0**1018,
    }[kind]()
    X[rng.random((n, d)) < 0.4] = 0
    y = rng.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    weight = draw(st.sampled_from([None, "integers", "floats"]))
    if weight is not None:
        weight = rng.integers(0, 3, n).astype(float) if weight == "integers" else rng.random(n)
        weight[:classes] = 1
    start = {}
    if draw(st.booleans()):
        planes = 1 if classes == 2 else classes
        start["coef_init"] = rng.normal(size=(planes, d)).round(draw(st.integers(0, 3)))
    estimator = PocketPerceptron(
        check=draw(st.sampled_from(CHECKS)),
        average=draw(st.booleans()),
        fit_intercept=draw(st.booleans()),
        max_iter=draw(st.integers(1, 6)),
        tol=draw(st.sampled_from([None, 1e-3])),
        n_iter_no_change=1,
        shuffle=draw(st.booleans()),
        eta0=draw(st.sampled_from([1.0, 0.1])),
        class_weight=draw(st.sampled_from([None, "balanced", {0: 0.3, 1: 0.0}])),
        warm_start=draw(st.booleans()),
        tie=draw(st.sampled_from(["mistake", "positive"])),
        track_mistakes=draw(st.booleans()),
    )
    return estimator, X, y, weight, start


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@given(problems())
def test_every_way_gives_the_same_bits(problem):
    estimator, X, y, weight, start = problem
    assert_parity(estimator, X, y, sample_weight=weight, **start, threads=(2, 3))


def test_parity_looks_at_the_swaps():
    class LateSwap(PocketPerceptron):
        def _publish(self, state):
            if self.engine == "rust":
                state = state.state() | {"swap_t": state["swap_t"] + 1}
            super()._publish(state)

    X, y = data()
    with pytest.raises(AssertionError, match="differ in _swap_t at index"):
        assert_parity(LateSwap(**FIXED), X, y)


@pytest.mark.parametrize("step", [1.0, 2.0**20])
@pytest.mark.parametrize("value", [1, 7])
def test_sparse_scores_of_whole_weights(engine_name, step, value):
    """Weights within and beyond the bound of the exact path, and on it."""
    X, y = data(n=40)
    X = (X != 0) * value
    model = PocketPerceptron(engine=engine_name, **FIXED).fit(X, y)
    largest = (2**30 - 1) // int(X.sum(axis=1).max())
    for top in (step, largest, largest + 1):
        model.coef_ = np.array([[top, -top, 1.0]])
        want = (X @ model.coef_[0] + model.intercept_[0]).tolist()  # whole numbers: exact in any order
        assert model.decision_function(sp.csr_matrix(X.astype(np.int8))).tolist() == want


def epochs_by_rule(swaps, start, n_iter_no_change, tol):
    """Return after how many epochs a class stops whose pocket had these swaps."""
    best, idle, errors = np.inf, 0, start
    for epoch in range(10**6):
        here = swaps["errors"][swaps["epoch"] == epoch]
        errors = here[-1] if len(here) else errors
        idle = idle + 1 if errors > best - tol else 0
        best = min(best, errors)
        if idle == n_iter_no_change:
            return epoch + 1
    raise AssertionError


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(
    ("engine_name", "classes", "tol"),
    [
        *(("rust", classes, tol) for classes in (2, 3) for tol in (1e-3, 1.0, 3.0)),
        ("reference", 2, 3.0),
        ("reference", 3, 1.0),
    ],
)
def test_it_stops_when_the_pocket_has_not_improved(engine_name, check, tol, classes):
    X, y = data(classes)
    options = {"check": check, "engine": engine_name, "random_state": 3}
    model = PocketPerceptron(tol=tol, n_iter_no_change=4, **options).fit(X, y)
    long = PocketPerceptron(tol=None, max_iter=model.n_iter_ + 4, **options).fit(X, y)
    for k, stopped in enumerate(model.n_iter_per_class_):
        own = long.swaps_[long.swaps_["class"] == k]
        assert stopped == epochs_by_rule(own, len(y), 4, tol)
    if classes == 2:  # a fit of exactly so many epochs learns the same
        same = PocketPerceptron(tol=None, max_iter=model.n_iter_, **options).fit(X, y)
        assert same.coef_.tobytes() == model.coef_.tobytes()
        assert same.swaps_.tobytes() == model.swaps_.tobytes()
        assert same.last_coef_.tobytes() == model.last_coef_.tobytes()


def best_line(X, y):
    """Return the fewest errors of any line on points of the plane, in whole numbers.

    A best line can be moved until it passes through two of the points, without an error more if these two
    (and others on it) are then put on either side by a small turn or shift: cut the points of the line at
    each place, in both directions.
    """
    points = [(int(a), int(b)) for a, b in X]
    wanted = [1 if label else -1 for label in y]
    best = min(wanted.count(1), wanted.count(-1))
    for i, (ax, ay) in enumerate(points):
        for bx, by in points[:i]:
            dx, dy = bx - ax, by - ay
            if dx == dy == 0:
                continue
            side = [dx * (py - ay) - dy * (px - ax) for px, py in points]
            along = [dx * (px - ax) + dy * (py - ay) for px, py in points]
            on = [k for k, value in enumerate(side) if value == 0]
            off = sum((value > 0) != (t > 0) for value, t in zip(side, wanted, strict=True) if value)
            n_off = len(points) - len(on)
            for cut in {along[k] for k in on} | {min(along[k] for k in on) - 1}:
                wrong = sum((along[k] > cut) != (wanted[k] > 0) for k in on)
                for errors_on in (wrong, len(on) - wrong):
                    best = min(best, off + errors_on, n_off - off + errors_on)
    return best


def test_the_oracle_of_lines():
    assert best_line([[0, 0], [1, 1], [0, 1], [1, 0]], [1, 1, 0, 0]) == 1
    assert best_line([[0, 0], [1, 1], [2, 2], [3, 3]], [1, 0, 1, 0]) == 1
    assert best_line([[0, 0], [1, 1], [1, 1], [5, 0]], [1, 0, 1, 0]) == 1
    assert best_line([[0, 0], [1, 0], [0, 1], [4, 4]], [0, 0, 0, 1]) == 0


def noisy_plane(seed):
    """Return 16 points of whole numbers, whose classes a line separates but for a fifth of them."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 10, (16, 2)).astype(np.float64)
    y = ((X @ rng.integers(-3, 4, 2) + rng.integers(-3, 4) > 0) ^ (rng.random(16) < 0.2)).astype(int)
    y[:2] = 0, 1
    return X, y


def test_defaults_find_the_best_line_of_small_noisy_sets(engine_name):
    """Mostly the best of all lines, never better than that; the errors are those of the predictions."""
    missed = []
    for seed in range(40 if engine_name == "rust" else 3):
        X, y = noisy_plane(seed)
        model = PocketPerceptron(engine=engine_name).fit(X, y)
        errors = model.pocket_errors_[0]
        assert errors == np.count_nonzero(model.predict(X) != y)
        missed.append(errors - best_line(X, y))
    print(missed)
    assert min(missed) == 0
    assert max(missed) <= 1
    assert missed.count(0) >= len(missed) // 4 * 3


@pytest.mark.parametrize("tie", ["mistake", "positive"])
@pytest.mark.parametrize("low", [0, -1])
@pytest.mark.parametrize("inverted", [False, True])
def test_defaults_find_the_best_line_of_exclusive_or(engine_name, inverted, low, tie):
    X, y = np.array([[low, low], [low, 1], [1, low], [1, 1]]), np.array([-1, 1, 1, -1])
    y = -y if inverted else y
    for seed in range(20 if engine_name == "rust" else 2):
        model = PocketPerceptron(random_state=seed, tie=tie, engine=engine_name).fit(X, y)
        assert model.pocket_errors_[0] == 1 == best_line(X, y > 0)
        assert model.score(X, y) == 0.75


def test_around_the_origin_the_ratchet_never_counts_the_best_line_of_exclusive_or():
    """Each vector is wrong on the next example of its epoch, so no run is longer than none."""
    X, y = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]]), np.array([-1, 1, 1, -1])
    for seed in range(10):
        model = PocketPerceptron(check="ratchet", average=False, random_state=seed).fit(X, y)
        assert model.swaps_.shape == (0,)


@pytest.mark.parametrize(("n", "check"), [(300, "update"), (301, "ratchet")])
def test_few_examples_are_counted_after_every_update(engine_name, n, check):
    X, y = data(n=n)
    auto, chosen = (
        PocketPerceptron(check=name, engine=engine_name, **FIXED).fit(X, y) for name in ("auto", check)
    )
    assert auto.swaps_.tobytes() == chosen.swaps_.tobytes()
    other = PocketPerceptron(check="ratchet" if check == "update" else "update", **FIXED).fit(X, y)
    assert auto.swaps_.tobytes() != other.swaps_.tobytes()
    X, y = np.vstack([X, X[:5]]), np.append(y, y[:5])  # of weight 0: they are not visited
    weighted = clone(auto).fit(X, y, sample_weight=np.arange(n + 5) < n)
    assert weighted.coef_.tobytes() == auto.coef_.tobytes()


@pytest.mark.parametrize("tie", ["mistake", "positive"])
def test_an_activation_of_0_is_the_error_that_the_prediction_makes_it(engine_name, tie):
    X, y = np.array([[-1.0], [-1.0], [0.0], [0.0], [0.0]]), np.array([-1, -1, -1, -1, 1])
    model = PocketPerceptron(tie=tie, fit_intercept=False, engine=engine_name).fit(X, y)
    assert model.coef_[0, 0] > 0
    assert (
        model.pocket_errors_[0] == np.count_nonzero(model.predict(X) != y) == (2 if tie == "positive" else 1)
    )


def test_zeros_do_not_stay_where_one_class_is_rare():
    """They would have the fewest errors, and be of no use beside the weights of other classes."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(300, 2)), rng.integers(0, 10, 300)
    assert (PocketPerceptron(n_iter_no_change=5).fit(X, y).coef_ != 0).any(axis=1).all()


@pytest.mark.parametrize("check", ["auto", "epoch"])
@pytest.mark.parametrize(("n", "d", "noise"), [(60, 2, 0.2), (200, 5, 0.1), (2000, 10, 0.1)])
def test_defaults_never_have_more_training_errors_than_the_average(check, n, d, noise):
    """On sets drawn with noise in the labels: than that of the same run, nor than the paper's algorithm."""
    gained = 0
    for seed in range(20 if n < 1000 else 5):
        rng = np.random.default_rng([n, d, seed])
        X = rng.normal(size=(n, d))
        y = (X @ rng.normal(size=d) + 0.3 > 0) ^ (rng.random(n) < noise)
        run = {"tol": None, "max_iter": 12}
        mine, paper, average = (
            np.count_nonzero(model.fit(X, y).predict(X) != y)
            for model in (
                PocketPerceptron(check=check, **run),
                PocketPerceptron(check=check, average=False, **run),
                AveragedPerceptron(**run),
            )
        )
        assert mine <= min(paper, average)
        gained += mine < paper
    assert gained > 2 or n < 100, "the average wins too seldom to show anything"


@pytest.mark.parametrize("average", [False, True])
def test_a_warm_fit_on_other_columns(average, tmp_path):
    """A pocket knows in which columns it has weights, or finds them: of a pickle, a file, a matrix."""
    rng = np.random.default_rng(1)

    def rows(columns):
        X = sp.lil_matrix((30, 4000))
        for i in range(30):
            X[i, rng.choice(columns, 2, replace=False)] = rng.integers(-3, 4, 2)
        return X.tocsr()

    first, second = rows(np.arange(0, 4000, 400)), rows(np.arange(1, 4000, 500))
    y = rng.integers(0, 3, 30)
    model = PocketPerceptron(average=average, warm_start=True, **FIXED).fit(first, y)
    dense = clone(model).fit(first.toarray(), y)
    others = [model, clone(model).fit(first, y), pickle.loads(pickle.dumps(model))]
    model.save(tmp_path / "model")
    others.append(load(tmp_path / "model"))
    dense.fit(second.toarray(), y).fit(first.toarray(), y)
    for other in others:
        other.fit(second, y).fit(first, y)
        assert_same_pocket(other, dense)
    for other in (dense, *others):
        other.coef_ = np.where(np.arange(4000) % 7 == 0, 0.5, 0.0) * np.ones((3, 1))
        other.fit(second if other is not dense else second.toarray(), y)
        assert_same_pocket(other, dense)


def assert_same_pocket(model, expected):
    for name in ("coef_", "intercept_", "last_coef_", "pocket_errors_", "pocket_run_", "swaps_", "n_seen_"):
        assert getattr(model, name).tobytes() == getattr(expected, name).tobytes(), name


def test_a_pocket_that_was_set_has_counted_nothing(engine_name, tmp_path):
    X, y = data(3)
    model = PocketPerceptron(engine=engine_name, **FIXED).fit(X, y)
    for name in ("pocket_errors_", "pocket_run_", "last_coef_", "last_intercept_", "n_seen_"):
        with pytest.raises(AttributeError):
            setattr(model, name, getattr(model, name) * 0)
        with pytest.raises(ValueError, match="read-only"):
            getattr(model, name)[0] = 0
    model.coef_ = np.ones((3, 3))
    model.save(tmp_path / "model")
    for other in (model, pickle.loads(pickle.dumps(model)), load(tmp_path / "model")):
        for name in ("pocket_errors_", "pocket_run_", "pocket_epoch_", "swaps_"):
            assert not hasattr(other, name)
        assert other.last_coef_.tolist() == other.coef_.tolist() == np.ones((3, 3)).tolist()
        assert other.n_seen_.tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="coef_"):
        model.coef_ = np.full((3, 3), np.nan)
    assert model.coef_.tolist() == np.ones((3, 3)).tolist()
