"""The general learner: against the chain, against the mistake bound, and on a matching."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from perceptron_rs import SequencePerceptron, StructuredPerceptron
from perceptron_rs.state.fitted_attributes import flat

LABELS, D = 3, 4
OFFSETS = (0, LABELS * D, LABELS * D + LABELS**2, LABELS * D + LABELS**2 + LABELS)
SIZE = OFFSETS[3] + LABELS


def chain_feature(x, y):
    """Emissions by column and label, transitions, starts, ends: laid end to end."""
    phi = np.zeros(SIZE)
    for row, label in zip(x, y, strict=True):
        phi[np.arange(D) * LABELS + label] += row
    for before, label in itertools.pairwise(y):
        phi[OFFSETS[1] + before * LABELS + label] += 1
    phi[OFFSETS[2] + y[0]] += 1
    phi[OFFSETS[3] + y[-1]] += 1
    return phi


def sparse_feature(x, y):
    return sp.csr_matrix(chain_feature(x, y)[np.newaxis])


def dict_feature(x, y):
    phi = chain_feature(x, y)
    return {int(j): phi[j] for j in np.flatnonzero(phi)}


def all_sequences(x):
    return itertools.product(range(LABELS), repeat=len(x))


def chain_inference(x, w):
    # Ties as in Viterbi's algorithm: the lowest label at each step back from the end.
    return min(all_sequences(x), key=lambda y: (-(w * chain_feature(x, y)).sum(), y[::-1]))


def problem(seed, sequences=6):
    random = np.random.default_rng(seed)
    X = [random.integers(-2, 3, (random.integers(1, 5), D)) for _ in range(sequences)]
    return X, [tuple(random.integers(0, LABELS, len(x)).tolist()) for x in X]


@pytest.mark.parametrize("feature", [chain_feature, sparse_feature, dict_feature])
@pytest.mark.parametrize("eta0", [1.0, 3.0])
def test_learns_the_bits_of_the_chain(engine_name, feature, eta0):
    X, y = problem(1)
    parameters = {"max_iter": 4, "eta0": eta0, "random_state": 5, "engine": engine_name}
    general = StructuredPerceptron(feature, chain_inference, n_features=SIZE, **parameters).fit(X, y)
    lengths = [len(x) for x in X]
    chain = SequencePerceptron(**parameters).fit(np.concatenate(X), np.concatenate(y), lengths=lengths)
    parts = (chain.coef_.T, chain.transition_, chain.start_, chain.end_)
    assert np.concatenate([part.ravel() for part in parts]).tobytes() == general.coef_.tobytes()
    assert general.mistakes_per_epoch_[:, 0].tolist() == chain.sequence_errors_per_epoch_.tolist()
    assert general.n_seen_ == chain.n_seen_
    found = np.split(chain.predict(np.concatenate(X), lengths=lengths), np.cumsum(lengths)[:-1])
    assert general.predict(X) == [tuple(z.tolist()) for z in found]


def test_the_engines_agree_on_floats():
    X, y = problem(2)
    X = [x * 0.1 for x in X]
    models = [
        StructuredPerceptron(feature, chain_inference, n_features=SIZE, eta0=0.3, engine=engine).fit(X, y)
        for feature in (chain_feature, dict_feature)
        for engine in ("rust", "reference")
    ]
    assert len({model.coef_.tobytes() + model.last_coef_.tobytes() for model in models}) == 1


@pytest.mark.parametrize("feature", [chain_feature, dict_feature])
def test_functions_may_fill_the_same_object_in_each_call(feature):
    row, answer, columns = np.zeros(SIZE), [], {}

    def filled(x, y):
        if feature is chain_feature:
            row[:] = feature(x, y)
            return row
        columns.clear()
        columns.update(feature(x, y))
        return columns

    def inference(x, w):
        answer[:] = chain_inference(x, w)
        return answer

    X, y = problem(2)
    usual = StructuredPerceptron(feature, chain_inference, n_features=SIZE).fit(X, y)
    lists = StructuredPerceptron(filled, inference, n_features=SIZE)
    assert lists.fit(X, [*map(list, y)]).coef_.tobytes() == usual.coef_.tobytes()
    assert [*map(tuple, lists.predict(X))] == list(usual.predict(X))
    answers, mistakes = lists.predict_then_learn(X, [*map(list, y)])
    assert ([*map(tuple, answers)], mistakes) == usual.predict_then_learn(X, y)


@pytest.mark.parametrize("seed", range(5))
def test_no_more_mistakes_than_the_bound(engine_name, seed):
    random = np.random.default_rng(seed)
    truth = random.normal(size=SIZE)
    truth /= np.sqrt((truth**2).sum())
    X, y, gamma, radius = [], [], math.inf, 0.0
    while len(X) < 12:
        x = random.integers(-2, 3, (random.integers(1, 4), D))
        best = chain_inference(x, truth)
        phi = chain_feature(x, best)
        differences = [phi - chain_feature(x, z) for z in all_sequences(x) if z != best]
        margin = min((truth * difference).sum() for difference in differences)
        if margin < 0.1:
            continue
        X.append(x)
        y.append(best)
        gamma = min(gamma, margin)
        radius = max([radius, *(np.sqrt((difference**2).sum()) for difference in differences)])
    model = StructuredPerceptron(chain_feature, chain_inference, max_iter=10_000, engine=engine_name).fit(
        X, y
    )
    assert model.converged_
    assert 0 < model.mistakes_per_epoch_.sum() <= (radius / gamma) ** 2
    lengths = [len(x) for x in X]
    chain = SequencePerceptron(max_iter=10_000, engine=engine_name)
    chain.fit(np.concatenate(X), np.concatenate(y), lengths=lengths)
    assert chain.converged_
    assert chain.sequence_errors_per_epoch_.sum() <= (radius / gamma) ** 2


def match_feature(x, y):
    return x[np.arange(len(y)), list(y)].sum(axis=0)


def match(x, w):
    return max(itertools.permutations(range(len(x))), key=lambda y: (match_feature(x, y) * w).sum())


def matchings(n=15):
    random = np.random.default_rng(0)
    X = [random.integers(-3, 4, (3, 3, 4)) for _ in range(n)]
    return X, [match(x, np.array([3.0, -1.0, 0.5, 2.0])) for x in X]


def wrong_pairs(y, z):
    return sum(a != b for a, b in zip(y, z, strict=True))


def test_matching_and_loss(engine_name):
    X, y = matchings()
    model = StructuredPerceptron(match_feature, match, loss=wrong_pairs, max_iter=100, engine=engine_name)
    model.fit(X, y)
    assert model.converged_
    assert model.score(X, y) >= 0.9
    assert model.loss_per_epoch_[0] >= 2 * model.mistakes_per_epoch_[0] > 0
    assert model.loss_per_epoch_[-1] == 0
    assert model.loss_curve_ == (model.loss_per_epoch_ / model.n_seen_ * model.n_iter_).tolist()
    last = StructuredPerceptron(match_feature, match, averaged=False, max_iter=100, engine=engine_name).fit(
        X, y
    )
    assert last.coef_.tobytes() == model.last_coef_.tobytes()
    assert last.score(X, y) == 1.0


def test_the_weights_are_not_the_callers_to_write():
    def greedy(x, w):
        w[0] = 1.0
        return (0, 1, 2)

    X, y = matchings(2)
    with pytest.raises(ValueError, match="read-only"):
        StructuredPerceptron(match_feature, greedy).fit(X, y)


def test_clone_pickle():
    X, y = matchings(4)
    model = StructuredPerceptron(match_feature, match, max_iter=3)
    assert clone(model).get_params() == model.get_params()
    model.fit(X, y)
    assert pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"X": []}, "X and y must have equal lengths"),
        ({"joint_feature": lambda x, y: {0: 1.0}}, "n_features must be given"),
        ({"joint_feature": lambda x, y: {9: 1.0}, "n_features": 4}, "below the number of weights, 4, got 9"),
        ({"joint_feature": lambda x, y: {0.5: 1.0}, "n_features": 4}, "whole numbers as columns, got 0.5"),
        (
            {"joint_feature": lambda x, y: {0: math.nan}, "n_features": 4},
            "must return finite numbers, got nan",
        ),
        (
            {"joint_feature": lambda x, y: np.ones(4 + x[0, 0, 0]), "inference": lambda x, w: ()},
            "must return vectors of length",
        ),
        ({"n_features": 3}, "n_features=3, but joint_feature returns vectors of length 4"),
        ({"loss": lambda y, z: -1.0}, "loss must return a finite number of at least 0"),
        ({"eta0": 0.0}, "eta0"),
        ({"eta0": 1e308, "joint_feature": lambda x, y: match_feature(x, y) * 1e5}, "overflowed"),
    ],
)
def test_bad_input(engine_name, changes, text):
    X, y = matchings(6)
    parameters = {"joint_feature": match_feature, "inference": match, "engine": engine_name} | changes
    X = parameters.pop("X", X)
    model = StructuredPerceptron(**parameters)
    with pytest.raises((ValueError, TypeError), match=text):
        model.fit(X, y)
    assert not hasattr(model, "coef_")


def test_batches_are_one_pass_and_predictions_come_first(engine_name):
    X, y = problem(3, sequences=9)
    X = [x * 0.1 for x in X]
    parameters = {"n_features": SIZE, "eta0": 0.3, "engine": engine_name}
    whole = StructuredPerceptron(chain_feature, chain_inference, max_iter=1, shuffle=False, **parameters)
    whole.fit(X, y)
    for size in (1, 2, 9):
        stream, told = (StructuredPerceptron(chain_feature, chain_inference, **parameters) for _ in range(2))
        found, expected, errors = [], [], 0
        for begin in range(0, 9, size):
            part = slice(begin, begin + size)
            answers, wrong = told.predict_then_learn(X[part], y[part])
            found, errors = found + answers, errors + wrong
            for i in range(*part.indices(9)):
                last = stream.last_coef_ if i else np.zeros(SIZE)
                expected.append(chain_inference(X[i], last))
                stream.partial_fit(X[i : i + 1], y[i : i + 1])
                stream = pickle.loads(pickle.dumps(stream)) if size == 1 else stream
        assert found == expected
        assert errors == sum(answer != truth for answer, truth in zip(expected, y, strict=True))
        for model in (stream, told):
            assert model.coef_.tobytes() == whole.coef_.tobytes()
            assert model.last_coef_.tobytes() == whole.last_coef_.tobytes()
            assert model.n_seen_ == 9
    assert told.mistakes_per_epoch_.tolist() == whole.mistakes_per_epoch_.tolist()  # one call, at the end


def test_what_a_pass_goes_on_from_is_not_changed_by_an_error(engine_name):
    X, y = problem(3)
    model = StructuredPerceptron(chain_feature, chain_inference, engine=engine_name).fit(X, y)

    def learnt():
        arrays = {name: value for name, value in flat(model).items() if isinstance(value, np.ndarray)}
        return {name: value.tobytes() for name, value in (arrays | model._model.state()).items()}

    before = learnt()
    with pytest.raises(ValueError, match="equal lengths"):
        model.partial_fit(X, y[1:])
    model.joint_feature = lambda x, y: np.append(chain_feature(x, y), 1.0)
    with pytest.raises(ValueError, match="vectors of length 27 before, and of length 28 now"):
        model.partial_fit(X, y)
    model.joint_feature = lambda x, y: chain_feature(x, y) * (np.inf if len(x) == 2 else 1)
    with pytest.raises(ValueError, match="finite"):
        model.partial_fit(X, [tuple(reversed(z)) for z in y])
    assert learnt() == before


@pytest.mark.parametrize("sizes", [(0, 0), (3, 3), (3, 2)])
@pytest.mark.parametrize("column", [-1, 0, 2, 3, 2**40])
def test_columns_that_are_not_there(engine, sizes, column):
    w, u = (np.zeros(size) for size in sizes)
    one = np.array([column]), np.ones(1)
    if sizes[0] != sizes[1]:
        message = "w and u must have equal lengths, got 3 and 2"
    else:
        message = f"columns must be at least 0 and below the number of weights, {sizes[0]}, got {column}"
    arguments = {"step": 1.0, "t": 1}
    if sizes == (3, 3) and 0 <= column < 3:
        engine.structured_update(w, u, one, one, **arguments)
    else:
        with pytest.raises(ValueError, match=message):
            engine.structured_update(w, u, one, one, **arguments)
    assert not w.any()
    assert not u.any()
