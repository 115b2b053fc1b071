"""Passive-aggressive steps on label sequences, against an enumeration of all sequences and their features."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs import SequencePerceptron


def features(X, y, labels, pair):
    """Return all that a sequence has with these labels, as whole numbers by name."""
    found: dict = {}

    def add(key, value):
        found[key] = found.get(key, 0) + value

    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        for j, value in enumerate(x):
            add(("emission", label, j), value)
            if pair and t > 0:
                add(("pair", y[t - 1], label, j), value)
        if t > 0:
            add(("transition", y[t - 1], label), 1)
    add(("start", y[0]), 1)
    add(("end", y[-1]), 1)
    return found


def learnt(sequences, labels, pair, rule, C, epochs):
    """Return the weights, and the wrong sequences and tokens of each epoch, in exact numbers but for the last
    bit of a step: the nearest float64 of the fraction.
    """
    w: dict = {}
    errors = []
    for _ in range(epochs):
        wrong = []
        for X, y in sequences:

            def score(z, X=X):
                return sum(
                    Fraction(w.get(key, 0)) * value for key, value in features(X, z, labels, pair).items()
                )

            # Steps of C are exact, and so are ties then; no others come within rounding errors.
            best = max(
                itertools.product(range(labels), repeat=len(y)),
                key=lambda z: (round(score(z), 9), [-k for k in z[::-1]]),
            )
            cost = sum(p != q for p, q in zip(y, best, strict=True))
            if not cost:
                continue
            change = features(X, y, labels, pair)
            for key, value in features(X, best, labels, pair).items():
                change[key] = change.get(key, 0) - value
            loss, square = cost + score(best) - score(y), sum(value**2 for value in change.values())
            tau = (
                min(Fraction(C), loss / square) if rule == "pa1" else loss / (square + 1 / (2 * Fraction(C)))
            )
            for key, value in change.items():
                w[key] = float(w.get(key, 0) + Fraction(float(tau)) * value)
            wrong.append(cost)
        errors.append((len(wrong), sum(wrong)))
        if not wrong:
            break
    return w, errors


@pytest.mark.parametrize(
    ("rule", "C"), [("pa1", 2.0**-7), ("pa1", 0.5), ("pa1", 20.0), ("pa2", 0.5), ("pa2", 20.0)]
)
@pytest.mark.parametrize("pair", [False, True])
def test_an_enumeration_learns_the_same(engine_name, rule, C, pair):
    rng = np.random.default_rng(11)
    lengths, labels, d = [3, 1, 4, 2, 4], 3, 3
    X = rng.integers(-3, 4, (sum(lengths), d))
    y = rng.integers(0, labels, len(X))
    y[:labels] = range(labels)
    ends = np.cumsum(lengths)
    sequences = [(X[e - n : e].tolist(), y[e - n : e].tolist()) for n, e in zip(lengths, ends, strict=True)]
    w, errors = learnt(sequences, labels, pair, rule, C, 4)
    options = {"transition_features": pair, "averaged": False, "shuffle": False, "max_iter": 4}
    model = SequencePerceptron(step=rule, C=C, engine=engine_name, **options).fit(X, y, lengths=lengths)
    assert errors == list(zip(model.sequence_errors_per_epoch_, model.token_errors_per_epoch_, strict=True))
    for k, j in itertools.product(range(labels), range(d)):
        assert model.coef_[k, j] == pytest.approx(w.get(("emission", k, j), 0), abs=1e-12)
    for before, k in itertools.product(range(labels), repeat=2):
        assert model.transition_[before, k] == pytest.approx(w.get(("transition", before, k), 0), abs=1e-12)
        for j in range(d if pair else 0):
            expected = w.get(("pair", before, k, j), 0)
            assert model.transition_coef_[before, k, j] == pytest.approx(expected, abs=1e-12)
    for k in range(labels):
        assert model.start_[k] == pytest.approx(w.get(("start", k), 0), abs=1e-12)
        assert model.end_[k] == pytest.approx(w.get(("end", k), 0), abs=1e-12)


def test_the_first_step_is_the_fraction(engine_name):
    """From zero the first labels are chosen: 3 of 4 labels differ, and so do ten of all features."""
    X, y = np.array([[1, 0], [0, 2], [0, 0], [1, 1]]), [0, 1, 1, 1]
    change = features(X.tolist(), y, 2, False)
    for key, value in features(X.tolist(), [0] * 4, 2, False).items():
        change[key] = change.get(key, 0) - value
    square = sum(value**2 for value in change.values())
    for C, tau in ((1.0, Fraction(3, square)), (0.0625, Fraction(1, 16))):
        model = SequencePerceptron(step="pa1", C=C, averaged=False, max_iter=1, engine=engine_name).fit(X, y)
        assert model.end_.tolist() == [-float(tau), float(tau)]
        assert model.transition_[1, 1] == float(tau) + float(tau)
    model = SequencePerceptron(step="pa2", C=0.25, averaged=False, max_iter=1, engine=engine_name).fit(X, y)
    assert model.end_[1] == float(Fraction(3, square + 2))


@pytest.mark.parametrize("update", ["full", "early", "max_violation"])
@pytest.mark.parametrize("rule", ["pa1", "pa2"])
def test_engines_and_storage_change_no_bit(rule, update):
    rng = np.random.default_rng(12)
    lengths = rng.integers(1, 8, 20)
    X = np.round(rng.normal(size=(lengths.sum(), 9)), 1)
    X[rng.random(X.shape) < 0.5] = 0
    y = rng.integers(0, 4, len(X))
    y[:4] = range(4)
    for pair in (False, True):
        options = {
            "transition_features": pair,
            "decode": "beam",
            "beam_width": 2,
            "update": update,
            "max_iter": 3,
        }
        models = [
            SequencePerceptron(step=rule, C=0.2, engine=engine, **options).fit(form, y, lengths=lengths)
            for engine, form in (
                ("reference", X),
                ("rust", X),
                ("rust", sp.csr_matrix(X)),
                ("reference", sp.csr_matrix(X)),
            )
        ]
        wide = sp.csr_matrix(X)
        wide = sp.csr_matrix((wide.data, wide.indices * 1001, wide.indptr), shape=(len(X), 9009))
        far = SequencePerceptron(step=rule, C=0.2, **options).fit(wide, y, lengths=lengths)
        assert far.coef_[:, ::1001].tobytes() == models[0].coef_.tobytes()
        for model in models[1:]:
            for name in ("coef_", "transition_", "start_", "end_"):
                assert getattr(model, name).tobytes() == getattr(models[0], name).tobytes(), name
            assert model.token_errors_per_epoch_.tolist() == models[0].token_errors_per_epoch_.tolist()


def test_a_beam_that_has_lost_a_better_truth_makes_no_step(engine_name):
    """The truth scores more than the answer by more than its cost, but the beam has lost it: a step of 0."""
    X, y = np.array([[1.0], [1.0]]), [1, 1]
    model = SequencePerceptron(
        step="pa1", decode="beam", beam_width=1, averaged=False, max_iter=1, engine=engine_name
    ).fit(np.ones((2, 1)), [0, 1])
    model.coef_, model.start_, model.end_ = np.zeros((2, 1)), np.array([1.0, 0.0]), np.zeros(2)
    model.transition_ = np.array([[0.0, 0.0], [0.0, 9.0]])
    before = model.transition_.tobytes()
    model.partial_fit(X, y)
    assert model.sequence_errors_per_epoch_.tolist() == [1]
    assert model.transition_.tobytes() == before


def test_what_has_no_meaning_is_refused():
    X, y = np.ones((2, 1)), [0, 1]
    for options, text in (
        ({"eta0": 2.0}, "eta0=2.0 is not available with step='pa1'"),
        ({"C": 0.0}, "The 'C' parameter of SequencePerceptron"),
        ({"step": "mira"}, "The 'step' parameter of SequencePerceptron"),
    ):
        with pytest.raises(ValueError, match=text):
            SequencePerceptron(**{"step": "pa1", **options}).fit(X, y)


def test_a_loss_that_is_not_finite_ends_the_fit(engine_name):
    X, y = np.array([[1e308], [1.0]]), [1, 0]
    model = SequencePerceptron(step="pa1", averaged=False, engine=engine_name).fit(np.ones((2, 1)), [0, 1])
    model.coef_ = np.array([[1e0], [-1e0]])
    with pytest.raises(ValueError, match="not finite"):
        model.partial_fit(X, y)
