"""The k best label sequences and the margins of tokens, beside an enumeration of all label sequences.

The bits of a margin are those of sums from both ends: ``expected_margins`` adds up each sequence that way.
Rounding keeps order, so the largest of these sums is what the two passes find.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_rs import SequencePerceptron, _core, reference

from .support import rows_of, to_engine


def problem(seed, labels, lengths, *, whole, pair=False, d=2):
    """Return rows and weights: whole numbers, which tie often, or floats."""
    random = np.random.default_rng(seed)
    draw = (lambda *n: random.integers(-1, 2, n) * 1.0) if whole else (lambda *n: random.normal(size=n))
    weights = {
        "emission": draw(d, labels), "transition": draw(labels, labels),
        "start": draw(labels), "end": draw(labels),
    }  # fmt: skip
    if pair:
        weights["pair"] = draw(d, labels * labels)
    return draw(sum(lengths), d), weights


def terms(X, weights, y):
    """Return e of each token of a label sequence, and pair of each but the first."""
    labels, found = len(weights["start"]), []

    def activation(x, w):  # rule 3 of two columns: each has a lane of its own
        return (x[0] * w[0] + 0.0) + (x[1] * w[1] + 0.0)

    for t, x in enumerate(X):
        e = activation(x, weights["emission"][:, y[t]])
        if t == 0:
            e = e + weights["start"][y[t]]
        if t == len(X) - 1:
            e = e + weights["end"][y[t]]
        pair = 0.0
        if t:
            pair = weights["transition"][y[t - 1], y[t]]
            if "pair" in weights:
                pair = activation(x, weights["pair"][:, y[t - 1] * labels + y[t]]) + pair
        found.append((e, pair))
    return found


def prefixes(X, weights, y):
    """Return the scores of a label sequence: of each prefix without the last emission, and with it."""
    found = []
    for t, (e, pair) in enumerate(terms(X, weights, y)):
        bracket = found[-1][1] + pair if t else 0.0
        found.append((bracket, bracket + e if t else e))
    return found


def both_ends(X, weights, y):
    """Return for each token what comes before it, with it, plus what follows, added from the end."""
    all_terms, rest = terms(X, weights, y), [0.0]
    for e, pair in all_terms[:0:-1]:
        rest.append(pair + (e + rest[-1]))
    return [before + after for (_, before), after in zip(prefixes(X, weights, y), rest[::-1], strict=True)]


def enumerated(X, weights, may=lambda y: True):
    """Return all label sequences and their scores in the order that is promised."""
    found = []
    for y in itertools.product(range(len(weights["start"])), repeat=len(X)):
        if may(y):
            scores = prefixes(X, weights, y)
            key = [-scores[-1][1], y[-1]]
            for t in range(len(y) - 1, 0, -1):
                key += [-scores[t][0], y[t - 1]]
            found.append((key, list(y), float(scores[-1][1])))
    return [(y, score) for _, y, score in sorted(found)]


def k_best(engine, X, lengths, weights, k, **limits):
    """Return the answers for each sequence."""
    labels, scores, counts = engine.sequence_k_best(
        rows_of(engine, X), np.array(lengths), weights=to_engine(weights), k=k, threads=2, **limits
    )
    assert (labels.dtype, scores.dtype, counts.dtype) == (np.uint32, np.float64, np.int64)
    labels, scores, found = labels.tolist(), scores.tolist(), []
    for length, count in zip(lengths, counts.tolist(), strict=True):
        found.append([(labels[i * length :][:length], scores[i]) for i in range(count)])
        labels, scores = labels[count * length :], scores[count:]
    assert (labels, scores) == ([], [])
    return found


def margins(engine, X, lengths, weights, **limits):
    return engine.sequence_margins(
        rows_of(engine, X), np.array(lengths), weights=to_engine(weights), threads=2, **limits
    )


def expected_margins(X, weights, ways):
    best = ways[0][0]
    scores = [(y, both_ends(X, weights, y)) for y, _ in ways]
    owns = [max(s[t] for y, s in scores if y[t] == label) for t, label in enumerate(best)]
    seconds = [
        max((s[t] for y, s in scores if y[t] != label), default=-np.inf) for t, label in enumerate(best)
    ]
    return [max(own - second, 0.0) for own, second in zip(owns, seconds, strict=True)]


PROBLEMS = {
    "seed": st.integers(0, 2**32),
    "labels": st.integers(1, 3),
    "lengths": st.lists(st.integers(1, 4), min_size=1, max_size=3),
    "whole": st.booleans(),
    "pair": st.booleans(),
}


@given(k=st.integers(1, 90), **PROBLEMS)
def test_k_best_and_margins_are_those_of_the_enumeration(engine, seed, labels, lengths, whole, pair, k):
    X, weights = problem(seed, labels, lengths, whole=whole, pair=pair)
    found = k_best(engine, X, lengths, weights, k)
    path, distances = margins(engine, X, lengths, weights)
    begin = 0
    for length, answers in zip(lengths, found, strict=True):
        part = slice(begin, begin := begin + length)
        ways = enumerated(X[part], weights)
        assert answers == ways[:k]
        assert path[part].tolist() == ways[0][0]
        assert distances[part].tolist() == expected_margins(X[part], weights, ways)
        if whole and len(ways) > 1:
            assert min(distances[part]) == ways[0][1] - ways[1][1]


@given(**PROBLEMS)
def test_margins_are_near_the_exact_ones(engine, seed, labels, lengths, whole, pair):
    """In fractions there is no order of a sum."""
    X, weights = problem(seed, labels, lengths, whole=whole, pair=pair)
    exact = [[Fraction(x) for x in row] for row in X.tolist()]
    fractions = {name: np.vectorize(Fraction, otypes=[object])(w) for name, w in weights.items()}
    path, distances = margins(engine, X, lengths, weights)
    begin = 0
    for length in lengths:
        part = slice(begin, begin := begin + length)
        ways = {
            y: prefixes(exact[part], fractions, y)[-1][1]
            for y in itertools.product(range(labels), repeat=length)
        }
        for t, (label, margin) in enumerate(zip(path[part], distances[part], strict=True)):
            others = [score for y, score in ways.items() if y[t] != label]
            if not others:
                assert margin == np.inf
            elif whole:
                assert Fraction(margin) == max(ways.values()) - max(others)
            else:
                assert margin == pytest.approx(float(max(ways.values()) - max(others)), abs=1e-12)


@pytest.mark.parametrize("pair", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_limits_hold_for_all_of_them(engine, seed, pair):
    lengths, labels = [4, 1, 3], 3
    X, weights = problem(seed, labels, lengths, whole=seed % 2 == 0, pair=pair)
    random = np.random.default_rng(seed)
    allowed = random.random((sum(lengths), labels)) < 0.7
    allowed[:, 0] = True
    forbidden = random.random((labels, labels)) < 0.4
    forbidden[0, 0] = False
    limits = {"allowed": allowed, "forbidden": forbidden}
    found = k_best(engine, X, lengths, weights, 100, **limits)
    _, distances = margins(engine, X, lengths, weights, **limits)
    begin = 0
    for length, answers in zip(lengths, found, strict=True):
        part = slice(begin, begin := begin + length)

        def may(y, part=part):
            return allowed[part][range(len(y)), y].all() and not forbidden[y[:-1], y[1:]].any()

        ways = enumerated(X[part], weights, may)
        assert answers == ways
        assert distances[part].tolist() == expected_margins(X[part], weights, ways)


@pytest.mark.parametrize("beam", [1, 2])
def test_a_beam_leaves_the_labels_that_it_keeps(beam):
    lengths, labels = [5, 7], 4
    X, weights = problem(3, labels, lengths, whole=False)
    answers = [k_best(engine, X, lengths, weights, 50, beam=beam) for engine in (reference, _core)]
    distances = [margins(engine, X, lengths, weights, beam=beam)[1] for engine in (reference, _core)]
    assert answers[0] == answers[1]
    assert distances[0].tobytes() == distances[1].tobytes()
    for length, ways in zip(lengths, answers[0], strict=True):
        assert len(ways) == min(50, beam**length)
        assert all(len({y[t] for y, _ in ways}) <= beam for t in range(length))
    if beam == 1:
        assert np.isinf(distances[0]).all()


@pytest.mark.parametrize("pair", [False, True])
def test_both_engines_agree_on_long_sequences(pair):
    lengths, labels = [60, 1, 25], 9
    X, weights = problem(5, labels, lengths, whole=False, pair=pair)
    answers = [k_best(engine, X, lengths, weights, 40) for engine in (reference, _core)]
    distances = [margins(engine, X, lengths, weights)[1] for engine in (reference, _core)]
    assert answers[0] == answers[1]
    assert distances[0].tobytes() == distances[1].tobytes()
    assert [len(ways) for ways in answers[0]] == [40, 9, 40]


def test_sums_that_overflow_are_an_error(engine):
    X, lengths = np.eye(2), [2]
    weights = {name: np.zeros(shape) for name, shape in
               {"emission": (2, 2), "transition": (2, 2), "start": 2, "end": 2}.items()}  # fmt: skip
    weights["emission"][:, 1] = -1e308
    weights["transition"][1] = -1e308
    with pytest.raises(OverflowError, match="a score of sequence 0 is not finite"):
        k_best(engine, X, lengths, weights, 4)
    assert k_best(engine, X, lengths, weights, 2)[0] == [([0, 0], 0.0), ([0, 1], -1e308)]
    weights["emission"][:, 0] = 1e308
    weights["transition"][1] = 0
    weights["emission"][1] = 0
    with pytest.raises(OverflowError, match="a score of sequence 0 is not finite"):
        margins(engine, X, lengths, weights)
    with pytest.raises(ValueError, match="k must be at least 1"):
        k_best(engine, X, lengths, weights, 0)


SENTENCES = [[["w=the"], ["w=dog"], ["w=barks"]], [["w=the"], ["w=bark"]], []]
TAGS = [["D", "N", "V"], ["D", "N"], []]


def fitted(**parameters):
    return SequencePerceptron(**parameters).fit(SENTENCES, TAGS)


@pytest.mark.parametrize("averaged", [True, False])
def test_the_estimator_gives_them_in_the_form_of_x(averaged):
    model = fitted(averaged=averaged)
    best = model.predict_k(SENTENCES, 3)
    assert [len(ways) for ways in best] == [3, 3, 1]
    assert best[2] == [([], 0.0)]
    assert [ways[0][0] for ways in best] == model.predict(SENTENCES)
    assert [ways[0][1] for ways in best] == model.decode_scores(SENTENCES).tolist()
    assert list(map(len, model.predict_margins(SENTENCES))) == [3, 2, 0]
    assert min(model.predict_margins(SENTENCES)[0]) == best[0][0][1] - best[0][1][1]
    assert model.predict_k([[], []], 2) == [[([], 0.0)]] * 2
    assert model.predict_margins([[], []]) == [[], []]
    only = model.predict_k([SENTENCES[1]], 9, allowed=[{"D"}, None], forbidden=[("D", "D")])
    assert sorted(labels for labels, _ in only[0]) == [["D", "N"], ["D", "V"]]

    X, y = np.eye(3)[[0, 1, 2, 0, 1]], np.array([3, 1, 3, 3, 1])
    model = SequencePerceptron(averaged=averaged).fit(X, y, lengths=[3, 0, 2])
    best = model.predict_k(X, 2, lengths=[3, 0, 2])
    assert [[labels.tolist() for labels, _ in ways] for ways in best][1] == [[]]
    assert (
        np.concatenate([ways[0][0] for ways in best]).tolist() == model.predict(X, lengths=[3, 0, 2]).tolist()
    )
    assert model.predict_margins(X, lengths=[3, 0, 2]).shape == (5,)


@pytest.mark.parametrize("k", [0, -1, 2**70, 1.5, "2", True])
def test_k_is_a_count(k):
    if k == 2**70:
        assert len(fitted().predict_k(SENTENCES[:1], k)[0]) == 27
        return
    with pytest.raises((ValueError, TypeError), match="k must be"):
        fitted().predict_k(SENTENCES, k)


def test_features_have_names():
    model = fitted(averaged=False, transition_features=True)
    coef, names = model.coef_, list(model.encoder_.vocabulary_)
    states = model.state_features_
    assert states
    for (name, tag), weight in states.items():
        assert weight == coef[model.classes_.tolist().index(tag), names.index(name)]
    assert len(states) == np.count_nonzero(coef)
    pairs = model.transition_features_
    assert pairs == {
        (a, b): model.transition_[i, k]
        for i, a in enumerate(model.classes_)
        for k, b in enumerate(model.classes_)
        if model.transition_[i, k]
    }
    assert len(model.bigram_features_) == np.count_nonzero(model.transition_coef_) > 0
    for (name, before, tag), weight in model.bigram_features_.items():
        i, k = (model.classes_.tolist().index(label) for label in (before, tag))
        assert weight == model.transition_coef_[i, k, names.index(name)]


def test_features_without_names_have_numbers():
    hashed = fitted(hash_columns=8)
    assert {type(name) for name, _ in hashed.state_features_} == {int}
    with pytest.raises(AttributeError, match="transition_features=True"):
        hashed.bigram_features_  # noqa: B018
    with pytest.raises(AttributeError, match="cannot be set"):
        hashed.state_features_ = {}
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(np.eye(2), columns=["height", "width"])
    named = SequencePerceptron().fit(table, ["a", "b"], lengths=[1, 1])
    assert {name for name, _ in named.state_features_} == {"height", "width"}
