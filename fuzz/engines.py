"""Draws learners, parameters and data: every engine, storage and number of threads gives the same bits.

Written for `make fuzz`; `python fuzz/engines.py --seed S --case N` draws one case again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from drawn import run
from sklearn.exceptions import NotFittedError

from perceptron_rs import SequencePerceptron
from perceptron_rs.registry import REGISTRY
from perceptron_rs.testing import assert_parity

SHARED: dict[str, list[Any]] = {
    "eta0": [1.0, 1.0, 0.5, 0.1, 3.0, 1e-155, 1e150],
    "fit_intercept": [True, False],
    "max_iter": [1, 2, 5],
    "tol": [None, 1e-3, 0.0],
    "n_iter_no_change": [1, 2, 5],
    "shuffle": [True, False],
    "random_state": [0, 1, 7],
    "tie": ["mistake", "positive"],
    "multi_class": ["ovr", "joint"],
    "class_weight": [None, "balanced", {0: 0.5, 1: 3.0}, {0: 0.0, 1: 1.0}],
    "early_stopping": [False, True],
    "margin_threshold": [0.0, 0.5, 3.0],
    "added_feature": [0.0, 0.7, 2.0],
    "max_mistakes_per_example": [None, 1, 3],
    "track_mistakes": [True, False],
    "penalty": ["l1", "l2", "elasticnet"],
    "alpha": [1e-4, 0.05, 1.0],
    "l1_ratio": [0.0, 0.15, 1.0],
    "averaged": [True, False],
    "check": ["run", "ratchet", "update", "epoch"],
    "prediction": ["vote", "average", "last", "random"],
    "normalize": [True, False],
    "kernel": ["linear", "poly", "rbf", "sigmoid"],
    "gamma": ["scale", "auto", 0.1],
    "coef0": [0.0, 1.0, -0.3],
    "degree": [1, 2, 5],
    "budget": [1, 3, 10],
    "budget_policy": ["oldest", "random", "forgetron", "projectron"],
    "projection_distance": [0.0, 0.1],
    "hidden_layer_sizes": [(), (3,), (2, 4)],
    "activation": ["tanh", "relu", "logistic"],
    "step": ["constant", "pa1", "pa2"],
    "C": [1.0, 0.03, 1e-300, 1e300],
}
CHAIN: dict[str, list[Any]] = {
    "averaged": [True, False],
    "max_iter": [1, 3],
    "shuffle": [True, False],
    "random_state": [0, 5],
    "eta0": [1.0, 0.1],
    "transition_features": [True, False],
    "decode": ["viterbi", "beam"],
    "beam_width": [1, 2, 4],
    "update": ["full", "early", "max_violation"],
    "step": ["constant", "pa1", "pa2"],
    "C": [1.0, 0.03, 1e-300, 1e300],
}


def drawn(random: np.random.Generator, learner: type, choices: dict[str, list[Any]]) -> Any:
    """Return an estimator with a few parameters of its own."""
    known = learner().get_params()
    names = [name for name in choices if name in known]
    some = random.choice(names, size=min(len(names), int(random.integers(1, 7))), replace=False)
    return learner(**{name: choices[name][random.integers(len(choices[name]))] for name in some})


def examples(random: np.random.Generator) -> np.ndarray[Any, Any]:
    """Return a few rows: whole numbers, fractions, or numbers near the ends of their type."""
    n, d = int(random.integers(2, 20)), int(random.integers(1, 12))
    X = random.integers(0, 4, (n, d)).astype(np.float64)
    match random.integers(5):
        case 0:
            X = random.normal(size=(n, d)) * 2.0 ** random.integers(-12, 12, (n, d))
        case 1:
            X = random.integers(-128, 256, (n, d)).astype(np.float64)
        case 2:
            X *= random.choice([1e-160, 1e-300, 1e100, 2.0**30])
        case _:
            pass
    X[random.random((n, d)) < random.choice([0.0, 0.5, 0.9])] = 0.0
    return X


def many_labels(random: np.random.Generator, n: int) -> np.ndarray[Any, Any]:
    """Return any number of labels for each row, as a matrix; all may have a label, or none."""
    shares = random.choice([0.0, 0.1, 0.5, 1.0], int(random.choice([2, 3, 33])))
    Y: np.ndarray[Any, Any] = random.random((n, len(shares))) < shares
    return Y.astype(random.choice(["?", "u1", "i8", "f8"]))


def chains(random: np.random.Generator) -> str:
    """Learn label sequences in both engines, with both kinds of search."""
    X = examples(random)
    n, classes = len(X), int(random.integers(2, 6))
    y = random.integers(0, classes, n)
    y[0], y[-1] = 0, 1
    cuts = np.unique(np.concatenate([[0], random.integers(0, n + 1, 3), [n]]))
    lengths = np.diff(cuts)
    model = drawn(random, SequencePerceptron, CHAIN)
    answers = []
    for engine in ("reference", "rust"):
        try:
            model.set_params(engine=engine).fit(X, y, lengths=lengths)
            weights = {name: array.tobytes() for name, array in model._weights.items()}
            predicted = np.concatenate([np.ravel(part) for part in model.predict(X, lengths=lengths)])
            answers.append((weights, predicted.tolist(), model.n_iter_))
        except (ValueError, TypeError) as error:
            answers.append((type(error).__name__, str(error), 0))
    assert answers[0] == answers[1], (model, answers)
    return "sequence"


def check(random: np.random.Generator) -> str:
    """Compare all ways for one case."""
    name = str(random.choice(list(REGISTRY)))
    if name == "sequence":
        return chains(random)
    model, X = drawn(random, REGISTRY[name].kind, SHARED), examples(random)
    y = random.integers(0, random.choice([2, 2, 3, 6]), len(X))
    y[0], y[-1] = 0, 1
    if model._learns_many and random.random() < 0.2:
        y = many_labels(random, len(X))
    weights = random.choice([0.0, 1.0, 2.0, 0.3], len(X)) if random.random() < 0.2 else None
    try:
        assert_parity(model, X, y, sample_weight=weights, batch_sizes=(3,), threads=(2,))
    except (ValueError, TypeError, NotFittedError):
        return "refused"  # parameters that exclude each other
    except AssertionError as error:
        raise AssertionError(f"{model}: {error}") from error
    return name


if __name__ == "__main__":
    run(check)
