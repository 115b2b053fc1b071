"""Examples, learners under audit, and what tests of the record do with them."""

from __future__ import annotations

import re
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from perceptron_rs import (
    AveragedPerceptron,
    BudgetedKernelPerceptron,
    KernelPerceptron,
    MaxMarginClassifier,
    MultilayerPerceptron,
    Perceptron,
    PocketPerceptron,
    VotedPerceptron,
    load,
)

rng = np.random.default_rng(11)
X = rng.integers(-2, 3, (1300, 5)).astype(np.float64)
Y = np.array(["ham", "spam", "egg"])[np.argmax(X[:, :3] + rng.normal(size=(1300, 3)), axis=1)]
WEIGHT = rng.integers(0, 3, 1300).astype(np.float64)
CLASSES = np.unique(Y)

SHORT = {"max_iter": 3, "tol": None, "audit": True}
LEARNERS = [
    Perceptron(**SHORT),
    Perceptron(**SHORT, penalty="elasticnet", alpha=1e-3, class_weight="balanced"),
    Perceptron(**SHORT, multi_class="joint", joint_update="uniform", random_state=4),
    Perceptron(audit=True, early_stopping=True, max_iter=30),
    AveragedPerceptron(**SHORT, margin_threshold=0.5, max_mistakes_per_example=2),
    VotedPerceptron(**SHORT, prediction="random", max_vectors=50),
    PocketPerceptron(**SHORT, check="ratchet"),
    KernelPerceptron(max_iter=2, audit=True),
    KernelPerceptron(max_iter=2, audit=True, kernel="poly", multi_class="joint", shuffle=False),
    BudgetedKernelPerceptron(max_iter=2, audit=True, budget=20, budget_policy="random"),
    MultilayerPerceptron((4,), **SHORT),
    MaxMarginClassifier(inseparable="warn", max_steps=30, audit=True),
]
NAMES = [repr(learner).replace("\n", " ") for learner in LEARNERS]
STREAMS = [learner for learner in LEARNERS if hasattr(learner, "partial_fit")]
STREAMS = [learner for learner in STREAMS if not getattr(learner, "early_stopping", False)]
STREAMS = [clone(learner) for learner in STREAMS if getattr(learner, "class_weight", None) is None]

TAGGED = [[["a"], ["b"]], [["b"]]], [["x", "y"], ["y"]]


def fitted(learner, X=X, y=Y, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(learner).fit(X, y, **more)


def saved(model, folder):
    model.save(folder / "model")
    return load(folder / "model")


def refused(answer, reason, message):
    assert not answer
    assert answer.reason == reason
    assert re.search(message, answer.message), answer.message
