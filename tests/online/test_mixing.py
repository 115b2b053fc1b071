"""Partitions that are learnt in parallel, against oracles in fractions and in floats."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tests.learners import PARTITIONED

from perceptron_rs import AveragedPerceptron, Perceptron, SequencePerceptron, load, reproduce
from perceptron_rs.engines import below, get_engine
from perceptron_rs.linear.predictor import PackedModel
from perceptron_rs.mixing.rounds import Mixed, in_threads, partition_bounds
from perceptron_rs.mixing.shares import (
    Sum,
    add_shares,
    apply_change,
    mix,
    reduce_tree,
    share_of_pass,
    weighted_mean,
)
from perceptron_rs.settings import Data, Epoch, Linear
from perceptron_rs.training.driver import Schedule, follow
from perceptron_rs.training.feeders import FewColumns

MIXINGS = ("uniform", "mistakes")
SETTINGS = Linear(learner="averaged", positive=np.array([1]), class_weight=np.ones((1, 2)), eta0=1.0)
#: The halves end with the weights (1, -1) and (2, 1), whose mean gets the first point wrong.
ONE_SHOT = np.array([[1.0, 2.0], [1.0, -1.0], [1.0, 0.0], [-2.0, -1.0]]), np.array([-1, 1, 1, -1])


def order(n, epoch, partition, seed=0):
    return get_engine("reference").permutation(n, seed=seed, epoch=epoch, partition=partition).tolist()


def dot(w, x):
    """Add products in the order of rule 3, for up to four columns."""
    products = [a * b for a, b in zip(w, x, strict=True)] + [0] * (4 - len(w))
    return (products[0] + products[2]) + (products[1] + products[3])


def in_pairs(terms):
    """Add the first 2^h terms, for the largest power of two below their number, and the others."""
    if len(terms) == 1:
        return terms[0]
    half = 1 << (len(terms) - 1).bit_length() - 1
    return in_pairs(terms[:half]) + in_pairs(terms[half:])


def oracle(X, y, cuts, mixing, epochs, number=Fraction):
    """Return w, the average, and the mistakes (epochs, P); planes without intercept, y = +1 or -1.

    Every vector is there in full: the sum of all is made of them one by one.
    """
    parts = [(X[a:b], y[a:b]) for a, b in pairwise(cuts)]
    w = [number(0)] * X.shape[1]
    total, T, made = list(w), 0, []
    for epoch in range(epochs):
        ends, counts = [], []
        for p, (rows, labels) in enumerate(parts):
            v, count = list(w), 0
            for i in order(len(rows), epoch, p):
                x = [number(int(value)) for value in rows[i]]
                if labels[i] * dot(v, x) <= 0:
                    v = [a + int(labels[i]) * b for a, b in zip(v, x, strict=True)]
                    count += 1
                total = [a + b for a, b in zip(total, v, strict=True)]
                T += 1
            ends.append(v)
            counts.append(count)
        weights = [1] * len(parts) if mixing == "uniform" or not any(counts) else counts
        made.append(counts)
        mixed = []
        for terms in zip(*ends, strict=True):
            found = in_pairs([k * term for k, term in zip(weights, terms, strict=True)])
            mixed.append(terms[0] if len(set(terms)) == 1 else found / sum(weights))
        w = mixed
    return w, [a / (T + 1) for a in total], np.array(made)


def integers(seed, n=24, d=4, reach=3):
    rng = np.random.default_rng(seed)
    return rng.integers(-reach, reach + 1, (n, d)).astype(np.float64), np.where(rng.random(n) < 0.5, -1, 1)


@pytest.mark.parametrize("engine", ["rust", "reference"])
@pytest.mark.parametrize("n_partitions", [2, 4, (3, 0, 20, 1)])
def test_exact_where_all_is_dyadic(engine, n_partitions):
    X, y = integers(1)
    w, average, made = oracle(X, y, partition_bounds(n_partitions, len(y)).tolist(), "uniform", 5)
    options = {"max_iter": 5, "tol": None, "fit_intercept": False, "engine": engine}
    plain = Perceptron(n_partitions=n_partitions, **options).fit(X, y)
    averaged = AveragedPerceptron(n_partitions=n_partitions, **options).fit(sp.csr_matrix(X), y)
    assert plain.coef_[0].tolist() == [float(number) for number in w]
    assert averaged.coef_[0].tolist() == [float(number) for number in average]
    for model in (plain, averaged):
        assert model.mistakes_per_epoch_[:, 0].tolist() == made.sum(axis=1).tolist()
        assert model.n_seen_.tolist() == [5 * len(y)]


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("n_partitions", [1, 3, 5, 7, (24,), (1, 22, 1), (1,) * 24 + (0,) * 6])
def test_every_addition_where_numbers_are_rounded(mixing, n_partitions):
    X, y = integers(2)
    cuts = partition_bounds(n_partitions, len(y)).tolist()
    w, average, made = oracle(X, y, cuts, mixing, 6, float)
    options = {"max_iter": 6, "tol": None, "fit_intercept": False, "n_partitions": n_partitions}
    model = Perceptron(mixing=mixing, **options).fit(X, y)
    assert model.coef_[0].tolist() == w
    assert model.mistakes_per_epoch_[:, 0].tolist() == made.sum(axis=1).tolist()
    averaged = AveragedPerceptron(mixing=mixing, **options).fit(X, y)
    np.testing.assert_allclose(
        averaged.coef_[0], [float(number) for number in average], rtol=1e-13, atol=1e-13
    )


@st.composite
def separable(draw):
    d = draw(st.integers(1, 4))
    u = draw(st.lists(st.integers(-3, 3), min_size=d, max_size=d).filter(any))
    row = st.lists(st.integers(-4, 4), min_size=d, max_size=d)
    rows = draw(st.lists(row, min_size=2, max_size=14))
    rows = [x for x in rows if np.dot(u, x) != 0]
    rows += [u, [-value for value in u]]
    X = np.array(rows, dtype=np.float64)
    return X, np.sign(X @ u).astype(int), np.array(u), draw(st.integers(1, 5))


@given(separable(), st.sampled_from(MIXINGS))
def test_bounds_on_mistakes_and_epochs(problem, mixing):
    """Weighted as they are mixed, the mistakes obey Novikoff's bound for any number of partitions."""
    X, y, u, P = problem
    P = min(P, len(X))
    squared = max(int(x @ x) for x in X)
    margin = min(int(abs(x @ u)) for x in X)
    bound = Fraction(squared * int(u @ u), margin**2)  # (R / gamma)^2
    model = Perceptron(
        n_partitions=P, mixing=mixing, fit_intercept=False, tol=None, max_iter=int(P * bound) + 2
    ).fit(X, y)
    assert model.converged_
    assert (model.predict(X) == y).all()
    epochs = len(model.mistakes_per_epoch_) - 1  # all but the last had a mistake
    assert epochs <= (P * bound if mixing == "uniform" else bound)
    _, _, made = oracle(X, y, partition_bounds(P, len(y)).tolist(), mixing, min(epochs, 12))
    weighted = sum(
        Fraction(int(k.sum()), P) if mixing == "uniform" else Fraction(int((k * k).sum()), int(k.sum()))
        for k in made
        if k.any()
    )
    assert weighted <= bound


def test_one_mean_of_finished_perceptrons_can_fail():
    """Each half is learnt without a mistake, yet their mean makes one; mixing after each epoch does not."""
    X, y = ONE_SHOT
    halves = [
        Perceptron(fit_intercept=False, tol=None).fit(X[part], y[part])
        for part in (slice(0, len(y) // 2), slice(len(y) // 2, None))
    ]
    assert all(half.converged_ for half in halves)
    once = (halves[0].coef_[0] + halves[1].coef_[0]) / 2
    assert (y * (X @ once) <= 0).any()
    model = Perceptron(n_partitions=2, fit_intercept=False, tol=None).fit(X, y)
    assert model.converged_
    assert (model.predict(X) == y).all()


def attributes(model):
    found = {}
    for name, value in model.__getstate__().items():
        if isinstance(value, dict) and name.startswith("_"):
            found |= {f"{name}.{key}": np.asarray(part).tobytes() for key, part in value.items()}
        elif isinstance(value, np.ndarray):
            found[name] = value.tobytes()
    return found


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"multi_class": "joint", "joint_update": "proportional"},
        {"mixing": "mistakes", "class_weight": "balanced", "tie": "positive"},
        {"mixing": "mistakes", "early_stopping": True, "tol": 1e-3, "max_iter": 60},
        {"margin_threshold": 0.5, "track_mistakes": True, "eta0": 0.3},
        {"fit_intercept": False, "shuffle": False, "n_partitions": (0, 30, 2, 28)},
        {"class_weight": {0: 0.0}, "mixing": "mistakes", "n_partitions": (1,) * 60 + (0,)},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", PARTITIONED)
def test_engines_storages_and_threads_agree(kind, options):
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((60, 4)).round(1), rng.integers(0, 3, 60)
    weights = rng.integers(0, 3, 60) * 0.5
    found = []
    for engine, form, threads in (
        ("reference", np.asarray, 1),
        ("reference", sp.csr_matrix, 3),
        ("rust", np.asarray, 1),
        ("rust", np.asarray, 3),
        ("rust", sp.csr_matrix, 2),
    ):
        settings = {"n_partitions": 4, "max_iter": 5, "tol": None} | options
        model = kind(engine=engine, n_jobs=threads, **settings)
        found.append(attributes(model.fit(form(X), y, sample_weight=weights)))
    assert all(each == found[0] for each in found[1:])


def test_a_penalty_is_settled_before_weights_are_mixed():
    X, y = integers(3)
    found = [
        Perceptron(penalty="l1", alpha=0.01, n_partitions=3, max_iter=4, tol=None, engine=engine).fit(X, y)
        for engine in ("rust", "reference")
    ]
    assert found[0].coef_.tobytes() == found[1].coef_.tobytes()
    assert (found[0].coef_ != Perceptron(n_partitions=3, max_iter=4, tol=None).fit(X, y).coef_).any()


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
@pytest.mark.parametrize(
    "penalty", [{"penalty": "l2", "alpha": 0.25}, {"penalty": "l1", "alpha": 0.125}], ids=str
)
def test_what_partial_fit_has_left_pending_is_taken_once(engine_name, mixing, multi_class, penalty):
    X, y = np.diag([8.0, 8.0, 8.0, 8.0])[[0, 2, 1, 3, 0, 1]], np.array([1, 0, 1, 0, 1, 0])
    options = {"shuffle": False, "tol": None, "max_iter": 3, "multi_class": multi_class, "mixing": mixing}
    model = Perceptron(engine=engine_name, **options, **penalty).partial_fit(X[:2], y[:2], classes=[0, 1])
    settled = {
        "coef_init": model.coef_,
        "intercept_init": model.intercept_,
    }  # in these fits no number is rounded
    model.set_params(warm_start=True, n_partitions=2).fit(X, y)
    expected = Perceptron(engine=engine_name, n_partitions=2, **options, **penalty).fit(X, y, **settled)
    assert model.coef_.tolist() == expected.coef_.tolist()
    assert "strengths" not in model._model.state()


@pytest.mark.parametrize("kind", PARTITIONED)
@pytest.mark.parametrize("mixing", MIXINGS)
def test_one_partition_is_a_plain_fit_bit_for_bit(kind, mixing):
    rng = np.random.default_rng(7)
    X, y = rng.standard_normal((40, 3)), rng.integers(0, 2, 40).astype(np.uint32)
    plain = kind(max_iter=6, tol=None).fit(X, y)
    for n_partitions in (1, [40]):
        model = kind(max_iter=6, tol=None, mixing=mixing, n_partitions=n_partitions).fit(X, y)
        assert attributes(model) == attributes(plain)
        # A pass is over all of its examples, however many the partition of a fit has.
        passed = kind(mixing=mixing, n_partitions=n_partitions).partial_fit(X[:9], y[:9], classes=[0, 1])
        assert attributes(passed) == attributes(kind().partial_fit(X[:9], y[:9], classes=[0, 1]))
    # The rule itself, of which the estimator knows a short way.
    engine = get_engine("rust")
    settings = Linear(
        learner=kind._schema.algorithm,
        positive=np.array([1], dtype=np.uint32),
        class_weight=np.ones((1, 2)),
        eta0=1.0,
        seed=0,
    )
    expected = plain._model.state()
    state = {name: np.zeros_like(array) for name, array in expected.items()}
    rounds = in_threads(engine, [Data(engine.dense_rows(X), y)], settings, mixing, 1)
    report = follow(Mixed(state, rounds), settings, Schedule(max_iter=6))
    for name, array in expected.items():
        assert report.state[name].tobytes() == array.tobytes()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("options", [{"class_weight": {0: 0.0}}, {"multi_class": "joint"}], ids=str)
@pytest.mark.parametrize("kind", PARTITIONED)
def test_wide_weights_are_mixed_as_narrow_ones(kind, options, mixing, form):
    """Columns far apart, each in the lane that it has among few."""
    rng = np.random.default_rng(9)
    groups = np.array([0, 1, 1023, 1024, 1025, 2047, 2048, 2500])
    columns = (groups[:, np.newaxis] * 8 + np.arange(8)).reshape(-1)
    narrow, y = rng.standard_normal((30, 64)).round(2), rng.integers(0, 3, 30)
    narrow[rng.random(narrow.shape) < 0.5] = 0
    wide = np.zeros((30, 20_011))
    wide[:, columns] = narrow
    options = {"n_partitions": 5, "mixing": mixing, "max_iter": 4, "tol": None} | options
    found, expected = kind(**options).fit(form(wide), y), kind(**options).fit(narrow, y)
    assert found.coef_[:, columns].tobytes() == expected.coef_.tobytes()
    assert found.intercept_.tobytes() == expected.intercept_.tobytes()
    assert np.count_nonzero(found.coef_) == np.count_nonzero(expected.coef_) > 0
    assert found.mistakes_per_epoch_.tolist() == expected.mistakes_per_epoch_.tolist()


@pytest.mark.parametrize("columns", [1, 20_000])
@pytest.mark.parametrize(
    ("kind", "values"), [(Perceptron, (1.5e308, 1.6e308)), (AveragedPerceptron, (0.8e308, 0.7e308))]
)
def test_what_overflows_when_it_is_mixed_is_an_error(kind, values, columns):
    """No pass has overflowed: the sum of the weights has, or that of all vectors alone."""
    X = sp.csr_matrix(((values[0], -values[1]), ([0, 1], [0, 0])), shape=(2, columns))
    model = kind(n_partitions=2, fit_intercept=False, max_iter=1, tol=None)
    with pytest.raises(ValueError, match=r"overflowed in epoch 0 .* is not finite after mixing"):
        model.fit(X, [1, 0])
    assert not hasattr(model, "classes_")


def test_partitions_have_orders_of_their_own():
    X, y = integers(4, n=40)
    same = np.concatenate([X, X]), np.concatenate([y, y])
    model = Perceptron(n_partitions=2, max_iter=1, tol=None, track_mistakes=True).fit(*same)
    halves = model.mistakes_per_example_[:40], model.mistakes_per_example_[40:]
    assert (halves[0] != halves[1]).any()
    still = Perceptron(n_partitions=2, max_iter=1, tol=None, track_mistakes=True, shuffle=False).fit(*same)
    assert (still.mistakes_per_example_[:40] == still.mistakes_per_example_[40:]).all()
    assert order(40, 0, 1) != order(40, 0, 0)
    assert below(10**9, seed=0, epoch=0, partition=1) != below(10**9, seed=0, epoch=0, partition=0)


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("options", [{}, {"transition_features": True, "early_stopping": True}], ids=str)
def test_sequences(mixing, options):
    rng = np.random.default_rng(11)
    lengths = rng.integers(1, 6, 30)
    X = rng.integers(0, 2, (lengths.sum(), 6)).astype(np.float64)
    y = rng.integers(0, 3, len(X))
    found = []
    for engine, form, threads in (
        ("reference", np.asarray, 1),
        ("rust", np.asarray, 2),
        ("rust", sp.csr_matrix, 1),
    ):
        model = SequencePerceptron(
            n_partitions=4, mixing=mixing, max_iter=4, engine=engine, n_jobs=threads, **options
        )
        found.append(attributes(model.fit(form(X), y, lengths=lengths)))
    assert all(each == found[0] for each in found[1:])
    plain = SequencePerceptron(max_iter=4, **options).fit(X, y, lengths=lengths)
    assert attributes(plain) != found[0]


def test_sequences_are_mixed_as_their_definition_says():
    """Passes over each partition by itself, and means of the dense weights."""
    rng = np.random.default_rng(12)
    lengths = np.full(12, 3)
    X, y = rng.integers(0, 2, (36, 5)).astype(np.float64), rng.integers(0, 3, 36)
    options = {"max_iter": 1, "averaged": False, "shuffle": False}
    parts = [
        SequencePerceptron(**options).partial_fit(X[rows], y[rows], lengths=lengths[:4], classes=np.unique(y))
        for rows in (slice(0, 12), slice(12, 24), slice(24, 36))
    ]
    model = SequencePerceptron(n_partitions=3, **options).fit(X, y, lengths=lengths)
    for name in ("coef_", "transition_", "start_", "end_"):
        terms = [getattr(part, name) for part in parts]
        np.testing.assert_array_equal(getattr(model, name), (terms[0] + terms[1] + terms[2]) / 3)
    assert model.n_seen_ == 12
    vectors = [SequencePerceptron(**options | {"averaged": True}) for _ in range(3)]
    sums = np.zeros_like(model.coef_)
    for p, part in enumerate(vectors):
        rows = slice(12 * p, 12 * p + 12)
        part.partial_fit(X[rows], y[rows], lengths=lengths[:4], classes=np.unique(y))
        sums += part.coef_ * 5  # of the start vector, 0, and four others
    averaged = SequencePerceptron(n_partitions=3, **options | {"averaged": True}).fit(X, y, lengths=lengths)
    np.testing.assert_allclose(averaged.coef_, sums / 13, rtol=1e-14, atol=1e-14)


def test_files_and_records_keep_partitions(tmp_path):
    X, y = integers(6)
    model = AveragedPerceptron(n_partitions=(4, 20), mixing="mistakes", audit=True).fit(X, y)
    model.save(tmp_path / "model")
    read = load(tmp_path / "model")
    assert read.n_partitions == (4, 20)
    assert read.mixing == "mistakes"
    assert reproduce(read, X, y, engine="reference")


def test_warm_start_goes_on():
    X, y = integers(8)
    whole = AveragedPerceptron(n_partitions=2, max_iter=6, tol=None).fit(X, y)
    parts = AveragedPerceptron(n_partitions=2, max_iter=3, tol=None, warm_start=True).fit(X, y).fit(X, y)
    assert parts.coef_.tobytes() == whole.coef_.tobytes()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"n_partitions": 0}, "n_partitions"),
        ({"n_partitions": (4, 4)}, "add up to the number of examples, 24; got"),
        ({"n_partitions": (-1, 25)}, "n_partitions.*each an int in the range .0, "),
        ({"n_partitions": 2, "mixing": "median"}, "mixing"),
        ({"n_partitions": 2, "added_feature": 1.0}, "added_feature=1.0 is not available with n_partitions=2"),
        ({"n_partitions": 2, "max_mistakes_per_example": 3}, "set max_mistakes_per_example=None"),
    ],
    ids=str,
)
def test_what_partitions_do_not_have_is_refused(options, text):
    X, y = integers(9)
    with pytest.raises(ValueError, match=text):
        Perceptron(**options).fit(X, y)


@pytest.mark.parametrize("lengths", [(5,), []], ids=str)
def test_invalid_lengths_are_refused(lengths):
    X, y = integers(9)
    with pytest.raises(ValueError, match="add up to the number of examples, 24; got"):
        Perceptron(n_partitions=lengths).fit(X, y)
    with pytest.raises(ValueError, match="add up to the number of examples, 6; got"):
        SequencePerceptron(n_partitions=lengths).fit(X, y, lengths=[4] * 6)


def test_partial_fit_has_no_partitions():
    X, y = integers(9)
    Perceptron(n_partitions=[24]).fit(X, y).partial_fit(X[:3], y[:3])  # one partition is the whole
    with pytest.raises(ValueError, match="n_partitions=2 is not available with partial_fit"):
        Perceptron(n_partitions=2).partial_fit(X, y, classes=[-1, 1])
    with pytest.raises(ValueError, match="n_partitions=2 is not available with partial_fit"):
        SequencePerceptron(n_partitions=2).partial_fit(X, y, classes=[-1, 1])


def test_a_mean_that_overflows_is_an_error():
    X, y = np.array([[1e308], [1e308], [1e308]]), np.array([1, 1, -1])
    model = Perceptron(n_partitions=2, fit_intercept=False, max_iter=2)
    with pytest.raises(ValueError, match="overflowed in epoch 0"):
        model.fit(X * [1.0], y)
    assert not hasattr(model, "coef_")


def test_a_mean_of_equal_numbers_is_that_number():
    tenth = np.full(5, 0.1)
    weights = [np.array([1])] * 7
    assert weighted_mean([tenth] * 7, weights).tolist() == tenth.tolist()
    added = tenth + tenth + tenth + tenth + tenth + tenth + tenth
    assert (added / 7 != tenth).any()  # what adding up makes of it
    halves = weighted_mean([np.array([1.0, 2.0]), np.array([2.0, 2.0])], [np.array([0])] * 2)
    assert halves.tolist() == [1.5, 2.0]


def told(K=1, mistakes=1):
    return Epoch(np.full(K, mistakes), np.zeros(K), np.zeros(K), interrupted=False)


def test_what_no_pass_has_changed_keeps_its_sum():
    before = {"coef": np.array([[1 / 3, 0.1]]), "coef_u": np.array([[0.1, 0.7]]), "seen": np.array([10])}
    shares = [
        share_of_pass(before, before | {"seen": before["seen"] + n}, told(), "uniform") for n in (3, 1, 2)
    ]
    change, _ = mix(SETTINGS, before, shares, 0)
    after = apply_change(before, change)
    assert after["seen"].tolist() == [16]
    assert after["coef_u"].tobytes() == before["coef_u"].tobytes()
    assert after["coef"].tobytes() == before["coef"].tobytes()


def wide(seed, P, touched, K=2, d=4000, mistakes=(0, 3)):
    """Return a state of many weights, and what P passes have made of it: some columns differ."""
    rng = np.random.default_rng(seed)
    names = ("coef", "coef_u", "intercept", "intercept_u")
    shapes = [(K, d), (K, d), (K,), (K,)]
    before = {name: rng.standard_normal(shape) for name, shape in zip(names, shapes, strict=True)}
    before["seen"] = np.full(K, 7)
    passes = []
    for _ in range(P):
        after = {name: array.copy() for name, array in before.items()}
        columns = rng.choice(d, touched, replace=False)
        after["coef"][:, columns] += rng.standard_normal((K, touched))
        after["coef_u"][:, columns] += rng.standard_normal((K, touched))
        after["seen"] += rng.integers(1, 9)
        passes.append((after, told(K)._replace(mistakes=rng.integers(*mistakes, K))))
    return before, passes


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("touched", [1, 40, 300, 3000])
@pytest.mark.parametrize("P", [1, 2, 3, 7])
def test_shares_of_few_columns_mix_to_the_same_bits(monkeypatch, mixing, touched, P):
    """Told by what has changed, apart or added on the way, and told in full."""
    before, passes = wide(touched + P, P, touched)
    found = []
    for large in (1 << 12, 1 << 30):
        monkeypatch.setattr("perceptron_rs.mixing.shares._LARGE", large)
        shares = [share_of_pass(before, after, epoch, mixing) for after, epoch in passes]
        if large == 1 << 12:
            assert (shares[0].numbers["coef"][0].places is not None) == (touched < 1000)
        found.append(apply_change(before, mix(SETTINGS, before, shares, 0)[0]))
        whole = reduce_tree(shares, lambda a, b: add_shares(before, a, b))
        is_added = P > 1 and (large > 1 << 12 or touched * P >= 1000)
        assert isinstance(whole.numbers["coef"], Sum) == is_added
    for name, array in found[0].items():
        assert array.tobytes() == found[1][name].tobytes(), name


def test_partitions_without_mistakes_count_where_others_have_none_either():
    before, passes = wide(1, 4, 3, d=5)
    mistakes = np.array([[0, 0], [0, 2], [0, 0], [0, 1]])
    shares = [
        share_of_pass(before, after, epoch._replace(mistakes=made), "mistakes")
        for (after, epoch), made in zip(passes, mistakes, strict=True)
    ]
    w = apply_change(before, mix(SETTINGS, before, shares, 0)[0])["coef"]
    terms = [after["coef"] for after, _ in passes]
    plain = ((terms[0][0] + terms[1][0]) + (terms[2][0] + terms[3][0])) / 4
    weighted = (2 * terms[1][1] + terms[3][1]) / 3
    same = np.all([term == terms[0] for term in terms], axis=0)
    np.testing.assert_array_equal(w, np.where(same, terms[0], [plain, weighted]))


def test_a_tree_adds_neighbours():
    assert reduce_tree(list("abcdefg"), "({} {})".format) == "(((a b) (c d)) ((e f) g))"
    assert reduce_tree(["a"], "({} {})".format) == "a"


def test_a_class_that_has_ended_is_visited_no_more():
    rng = np.random.default_rng(13)
    X, y = rng.standard_normal((30, 3)), rng.integers(0, 3, 30)
    X[y == 0, 0] += 20
    model = AveragedPerceptron(n_partitions=3, max_iter=12, tol=None).fit(X, y)
    assert model.n_iter_per_class_[0] < 12
    assert model.n_seen_.tolist() == (30 * model.n_iter_per_class_).tolist()


@pytest.mark.parametrize("n_partitions", [7, 2**31 - 1])
def test_there_are_no_more_partitions_than_examples(n_partitions, tmp_path):
    with pytest.raises(ValueError, match=f"n_partitions={n_partitions} must be at most the number of .*, 6"):
        Perceptron(n_partitions=n_partitions).fit(np.eye(6), [0, 1] * 3)
    model = Perceptron().fit(np.eye(6), [0, 1] * 3).set_params(n_partitions=n_partitions, warm_start=True)
    model.save(tmp_path / "m")
    with pytest.raises(ValueError, match="must be at most the number"):
        load(tmp_path / "m").fit(np.eye(6), [0, 1] * 3)


@pytest.mark.parametrize("lengths", [[True, 5], [1.0, 5.0], [-1, 7], [[6]], ["a"], {6}, range(6, 7)])
def test_lengths_are_whole_numbers_that_add_up(lengths):
    with pytest.raises(ValueError, match="n_partitions"):
        Perceptron(n_partitions=lengths).fit(np.eye(6), [0, 1] * 3)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_partitions": 3},
        {"n_partitions": 3, "mixing": "mistakes", "n_jobs": 2},
        {"n_partitions": 3, "penalty": "l1", "alpha": 0.01},
        {"n_partitions": 2, "early_stopping": True},
        {"early_stopping": True},
        {"early_stopping": True, "penalty": "l2", "alpha": 0.01, "shuffle": False},
        {"early_stopping": True, "multi_class": "joint"},
    ],
    ids=str,
)
@pytest.mark.parametrize("engine", ["rust", "reference"])
@pytest.mark.parametrize("cls", [Perceptron, AveragedPerceptron])
def test_few_columns_of_many_learn_what_all_columns_learn(engine, cls, parameters, tmp_path, monkeypatch):
    if cls is AveragedPerceptron and "penalty" in parameters:
        return  # which has none
    rng = np.random.default_rng(0)
    X = sp.csr_matrix((rng.normal(size=60), rng.integers(0, 700, 60), np.arange(0, 61, 3)), shape=(20, 700))
    X.sum_duplicates()
    y, files = np.arange(20) % 3, []
    for of in (FewColumns.of, lambda *_: None):
        monkeypatch.setattr(FewColumns, "of", of)
        seen: list[bytes] = []
        options = {"max_iter": 3, "tol": None, "random_state": 1, "engine": engine, **parameters}
        model = cls(**options, callback=lambda record, seen=seen: seen.append(record.model().coef_.tobytes()))
        model.fit(X, y)
        # The core makes one of all columns at once; arrays stay packed.
        assert isinstance(model._model, PackedModel) == (engine == "reference" and len(files) == 0)
        model.set_params(callback=None).save(tmp_path / "model")
        files.append([(tmp_path / "model").read_bytes(), model.coef_.tobytes(), model.predict(X).tobytes()])
        files[-1] += seen
        model.set_params(n_partitions=1, early_stopping=False)
        files[-1].append(model.partial_fit(X[:4], y[:4]).coef_.tobytes())
    assert files[0] == files[1]


def test_columns_are_left_out_where_they_are_many():
    X = sp.csr_matrix(np.eye(4, 64))
    stored = {"rows_indptr": X.indptr, "rows_indices": X.indices, "rows_values": X.data}
    few = FewColumns.of(stored, 64, 1)
    assert few is not None
    assert few.stored["rows_indices"].tolist() == [0, 1, 2, 3]
    assert FewColumns.of(stored, 7, 9) is None
    assert FewColumns.of(stored, 31, 1) is None
    assert FewColumns.of({"rows": np.zeros((1, 100))}, 100, 1) is None
