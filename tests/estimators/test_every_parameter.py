"""Every parameter of every learner does something, is refused, or says in its documentation what it needs.

It is tried in a fit, in one where what it needs is at its default, and where a fit goes on from another.
"""

from __future__ import annotations

import inspect
import re
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

import perceptron_rs
from perceptron_rs import (
    BudgetedKernelPerceptron,
    KernelPerceptron,
    MaxMarginClassifier,
    MultilayerPerceptron,
    PocketPerceptron,
    SequencePerceptron,
    StructuredPerceptron,
)
from perceptron_rs.audit import RECORD
from perceptron_rs.registry import REGISTRY
from perceptron_rs.state.fitted_attributes import flat

LEARNERS = [*(learner.kind for learner in REGISTRY.values()), StructuredPerceptron]

rng = np.random.default_rng(3)
# Equal rows with other labels: nothing is ever learnt to the end, and some activations are 0.
X = rng.integers(-1, 2, (60, 4)).astype(np.float64)
Y = np.argmax(X[:, :3] + rng.normal(size=(60, 3)), axis=1)
APART = X + 3 * np.eye(4)[Y]
WORDS = [[[f"a{X[i + j, 0]}", f"w{i + j}"] for j in range(6)] for i in range(0, 60, 6)]
TAGS = [[f"t{label}" for label in Y[i : i + 6]] for i in range(0, 60, 6)]


def joint_feature(x: Any, y: Any) -> Any:
    return np.outer(np.eye(3)[y], x).ravel()


def inference(x: Any, w: Any) -> int:
    return int(np.argmax(w[:12].reshape(3, 4) @ x))


#: What keeps the fits short and lets most parameters matter.
BASE: dict[Any, dict[str, Any]] = {
    BudgetedKernelPerceptron: {"max_iter": 3, "gamma": 0.2},
    KernelPerceptron: {"max_iter": 3, "gamma": 0.2},
    MaxMarginClassifier: {"inseparable": "warn"},
    MultilayerPerceptron: {"hidden_layer_sizes": (5,), "max_iter": 4, "tol": None},
    SequencePerceptron: {"max_iter": 3},
    StructuredPerceptron: {"joint_feature": joint_feature, "inference": inference, "max_iter": 3},
}
OF_MOST = {"max_iter": 4, "tol": None}

#: No bit depends on these; they have tests of their own.
OTHERS = {
    "n_jobs": "threads",
    "engine": "both give the same bits",
    "cache_size": "memory",
    "verbose": "lines that are printed",
    "callback": "is told",
    "keep_on_interrupt": "Ctrl-C",
    "audit": "the record of the training",
    "audit_key": "digests in the record",
}

LONG = {"max_iter": 60, "tol": 0.5}
#: Another value of each parameter, and the other parameters that it needs.
VALUES: dict[str, tuple[Any, dict[str, Any]]] = {
    "added_feature": (0.7, {}),
    "C": (0.01, {"step": "pa1"}),
    "alpha": (0.5, {"penalty": "l2"}),
    "averaged": (False, {}),
    "bias": ("none", {}),
    "check": ("epoch", {}),
    "class_weight": ({0: 0.25}, {}),
    "coef0": (1.5, {"kernel": "poly"}),
    "degree": (2, {"kernel": "poly"}),
    "early_stopping": (True, {}),
    "eta0": (0.375, {}),
    "fit_intercept": (False, {}),
    "gamma": (0.5, {}),
    "kernel": ("linear", {}),
    "l1_ratio": (0.9, {"penalty": "elasticnet", "alpha": 0.1}),
    "margin_threshold": (3.0, {}),
    "max_iter": (1, {}),
    "max_mistakes_per_example": (1, {}),
    "max_vectors": (3, {}),
    "mixing": ("mistakes", {"n_partitions": 3}),
    "multi_class": ("joint", {}),
    "n_iter_no_change": (1, LONG),
    "n_partitions": (3, {}),
    "normalize": (True, {"prediction": "last"}),
    "penalty": ("l1", {"alpha": 0.1}),
    "prediction": ("average", {}),
    "random_state": (7, {}),
    "shuffle": (False, {}),
    "step": ("pa1", {}),
    "tie": ("positive", {}),
    "tol": (0.5, {"max_iter": 60}),
    "track_mistakes": (True, {}),
    "joint_update": ("uniform", {"multi_class": "joint"}),
    "validation_fraction": (0.5, {"early_stopping": True}),
    "warm_start": (True, {}),
}
OWN: dict[Any, dict[str, tuple[Any, dict[str, Any]]]] = {
    BudgetedKernelPerceptron: {
        "budget": (5, {}),
        "budget_policy": ("random", {"budget": 5}),
        "projection_distance": (0.9, {"budget": 200, "budget_policy": "projectron", "max_iter": 1}),
        "tie": ("positive", {"kernel": "linear"}),
    },
    KernelPerceptron: {
        "fit_intercept": (True, {}),
        "tie": ("positive", {"kernel": "linear"}),  # no sum of another one is exactly 0
    },
    MaxMarginClassifier: {
        "kernel": ("rbf", {}),
        "gamma": (0.5, {"kernel": "rbf"}),
        "max_steps": (1, {}),
        "inseparable": ("raise", {}),
        "solver": ("descent", {}),
        "tol": (0.5, {"solver": "descent"}),
    },
    MultilayerPerceptron: {
        "activation": ("tanh", {}),
        "alpha": (0.5, {}),
        "batch_size": (4, {}),
        "hidden_layer_sizes": ((7,), {}),
        "learning_rate_init": (0.1, {}),
        "n_iter_no_change": (1, {"max_iter": 40, "tol": 0.5}),
    },
    PocketPerceptron: {
        "average": (False, {"max_iter": 1}),
        "check": ("epoch", {"average": False}),
        "tol": (0.5, {"max_iter": 60, "n_iter_no_change": 5}),
    },
    SequencePerceptron: {
        "beam_width": (1, {"decode": "beam"}),
        "constraints": ([(None, TAGS[0][0])], {}),
        "decode": ("beam", {"beam_width": 1}),
        "hash_columns": (5, {}),
        "min_count": (4, {}),
        "n_iter_no_change": (1, {"early_stopping": True, "max_iter": 30}),
        "transition_features": (True, {}),
        "update": ("early", {"decode": "beam", "beam_width": 1}),
    },
    StructuredPerceptron: {
        "inference": (lambda x, w: inference(-x, w), {}),
        "joint_feature": (lambda x, y: 2.0 * joint_feature(x, y), {}),
        "loss": (lambda y, z: 2.0 * (y != z), {}),
        "n_features": (15, {}),
    },
}


def value_of(learner: Any, name: str) -> tuple[Any, dict[str, Any]]:
    return OWN.get(learner, {}).get(name) or VALUES[name]


def parameters(learner: Any) -> list[str]:
    return sorted(set(learner._get_param_names()) - set(OTHERS))


CASES = [
    pytest.param(learner, name, id=f"{learner.__name__}-{name}")
    for learner in LEARNERS
    for name in parameters(learner)
]


def made(learner: Any, **changes: Any) -> Any:
    return learner(**(BASE.get(learner, OF_MOST) | changes))


def learn(model: Any, method: str = "fit") -> Any:
    data: tuple[Any, Any] = {
        MaxMarginClassifier: (APART if getattr(model, "solver", "") == "descent" else X, Y),
        SequencePerceptron: (WORDS, TAGS),
        StructuredPerceptron: (list(X), Y.tolist()),
    }.get(type(model), (X, Y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return getattr(model, method)(*data)


def told(value: Any) -> Any:
    """Return a value as something that can be compared."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return sorted((key, told(part)) for key, part in value.items())
    if isinstance(value, list | tuple):
        return [told(part) for part in value]
    if hasattr(value, "state"):  # the model of an engine
        return told(value.state())
    assert " at 0x" not in repr(value), "an address tells nothing, or too much"
    return repr(value)


#: What is kept of calls and their parameters.
OF_CALLS = {"_fixed_values", "_rule", RECORD}


def outcome(model: Any) -> Any:
    """Return all that a fit has left, and what it says of the examples."""
    names = set(flat(model)) - set(model.get_params()) - OF_CALLS - {"results_", "encoder_"}
    says = {
        SequencePerceptron: lambda: model.predict(WORDS),
        StructuredPerceptron: lambda: model.predict(list(X)),
    }.get(type(model), lambda: model.decision_function(X))
    return told({name: flat(model)[name] for name in names}), told(says())


def differ(one: Any, other: Any) -> bool:
    """Whether a change was seen: another outcome, or an error that refuses it."""
    expected = outcome(one())
    try:
        return bool(outcome(other()) != expected)
    except ValueError:
        return True


def test_every_parameter_is_tried():
    classes = [getattr(perceptron_rs, name) for name in perceptron_rs.__all__]
    assert {kind for kind in classes if hasattr(kind, "_get_param_names")} == set(LEARNERS)
    known = {name for learner in LEARNERS for name in learner._get_param_names()}
    assert known == {*OTHERS, *VALUES, *(name for own in OWN.values() for name in own)}


@pytest.mark.parametrize(("learner", "name"), CASES)
def test_it_does_something_and_its_documentation_names_what_it_needs(learner, name):
    value, needs = value_of(learner, name)
    if name == "warm_start":
        again = [
            learn(learn(made(learner, warm_start=warm)).set_params(random_state=1)) for warm in (False, True)
        ]
        assert outcome(again[0]) != outcome(again[1])
        return
    assert differ(
        lambda: learn(made(learner, **needs)), lambda: learn(made(learner, **(needs | {name: value})))
    )
    if not needs or differ(lambda: learn(made(learner)), lambda: learn(made(learner, **{name: value}))):
        return
    text = re.search(rf"\n{name} : .*?(?=\n\w+ : |\n\n)", inspect.getdoc(learner), re.DOTALL)
    assert text is not None
    assert any(need in text[0] or str(given) in text[0] for need, given in needs.items()), text[0]


#: ``partial_fit`` is one pass in the given order, which visits an example once.
OF_EPOCHS = {
    "added_feature",
    "early_stopping",
    "max_iter",
    "max_mistakes_per_example",
    "mixing",
    "n_iter_no_change",
    "random_state",
    "shuffle",
    "tol",
    "validation_fraction",
    "warm_start",
}


def go_on(learner: Any, method: str, name: str) -> bool:
    value, needs = value_of(learner, name)

    def run(changes: dict[str, Any]) -> Any:
        model = made(learner, **(needs | ({"warm_start": True} if method == "fit" else {})))
        if method == "fit":
            learn(model)
        else:
            model.partial_fit(X, Y, classes=[0, 1, 2])
        return learn(model.set_params(**changes), method)

    return differ(lambda: run({}), lambda: run({name: value}))


@pytest.mark.parametrize(
    ("learner", "name"),
    [
        case
        for case in CASES
        if "warm_start" in case.values[0]._get_param_names() and case.values[1] != "warm_start"
    ],
)
def test_it_does_something_or_is_refused_in_a_warm_start(learner, name):
    assert go_on(learner, "fit", name)


@pytest.mark.parametrize(
    ("learner", "name"),
    [
        case
        for case in CASES
        if issubclass(case.values[0], ClassifierMixin)
        and hasattr(case.values[0], "partial_fit")
        and case.values[1] not in OF_EPOCHS
    ],
)
def test_it_does_something_or_is_refused_in_partial_fit(learner, name):
    assert go_on(learner, "partial_fit", name)


@pytest.mark.parametrize(
    "learner", [learner for learner in LEARNERS if "n_jobs" in learner._get_param_names()]
)
def test_threads_are_used_by_fit_or_its_documentation_says_by_what(learner, monkeypatch):
    asked = []

    def effective_n_jobs(n_jobs):
        asked.append(n_jobs)
        return n_jobs or 1

    monkeypatch.setattr("joblib.effective_n_jobs", effective_n_jobs)
    model = learn(made(learner, n_jobs=3))
    if 3 not in asked:
        text = re.search(r"\nn_jobs : .*?(?=\n\w+ : )", inspect.getdoc(learner), re.DOTALL)
        assert text is not None
        assert re.search(r"threads (that predict|of predictions)", text[0])
    asked.clear()
    outcome(model)
    assert asked == [3] * len(asked) != []
