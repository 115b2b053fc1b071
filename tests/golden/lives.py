"""Lives of estimators: calls drawn by a rule, and the digest of all that a user sees of them.

The digests do not say what is right; the oracles of the other tests do. They say that a change of the code
that is no change of the arithmetic changes no answer, whatever was called before, on whatever storage.
"""

from __future__ import annotations

import copy
import hashlib
import pickle
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from words import HALVES, Case, draw

from perceptron_rs.errors import ArgumentError
from perceptron_rs.reference.order import splitmix64
from perceptron_rs.registry import REGISTRY

LIVES = """
A life is the calls of an estimator of this learner that lives.py draws from SplitMix64(seed): fits, passes,
streams, predictions, other parameters, copies and pickles, on dense and sparse rows; some are refused.
  digest   the SHA-256 of what each call answers, or of the type of its error, and after it of all public
           attributes
"""
#: Lives of each learner.
NUMBER = 40

PARAMETERS: dict[str, list[Any]] = {
    "eta0": [1.0, 0.5, 0.1],
    "fit_intercept": [True, False],
    "max_iter": [1, 2, 5],
    "tol": [None, 1e-3],
    "shuffle": [True, False],
    "random_state": [0, 7],
    "tie": ["mistake", "positive"],
    "multi_class": ["ovr", "joint"],
    "joint_update": ["max", "uniform"],
    "class_weight": [None, {0: 0.5, 1: 3.0}, {0: 0.0, 1: 1.0}],
    "early_stopping": [False, True],
    "margin_threshold": [0.0, 0.5],
    "added_feature": [0.0, 0.7],
    "max_mistakes_per_example": [None, 3],
    "track_mistakes": [True, False],
    "penalty": [None, "l1", "l2"],
    "alpha": [1e-4, 0.05],
    "warm_start": [True, False],
    "n_jobs": [1, 2],
    "n_partitions": [1, 1, 2],
    "averaged": [True, False],
    "check": ["run", "ratchet", "update", "epoch"],
    "prediction": ["vote", "average", "last", "random"],
    "kernel": ["linear", "poly", "rbf"],
    "gamma": [0.1, "scale"],
    "budget": [2, 10],
    "budget_policy": ["oldest", "random", "forgetron"],
    "hidden_layer_sizes": [(), (3,), (2, 4)],
    "activation": ["tanh", "relu"],
    "transition_features": [True, False],
    "decode": ["viterbi", "beam"],
    "beam_width": [1, 3],
    "update": ["full", "early"],
    "step": ["constant", "pa1", "pa2"],
    "C": [1.0, 0.1, 1e300],
}
FORMS: list[Callable[[Any], Any]] = [
    np.asarray,
    np.asarray,
    np.asfortranarray,
    sp.csr_matrix,
    sp.csr_matrix,
    sp.csc_matrix,
]
COPIES: list[Callable[[Any], Any]] = [
    copy.copy,
    copy.deepcopy,
    lambda model: pickle.loads(pickle.dumps(model)),
]


class Draw:
    """Choices by SplitMix64, the same for every version of NumPy and Python."""

    def __init__(self, seed: int) -> None:
        self.numbers = iter(splitmix64(seed, 100_000).tolist())

    def below(self, n: int) -> int:
        return next(self.numbers) % n

    def one(self, choices: list[Any]) -> Any:
        return choices[self.below(len(choices))]


def lives() -> Iterator[Case]:
    """Return the cases."""
    for place, name in enumerate(
        name for name in REGISTRY if name != "max-margin"
    ):  # which has one call alone
        for number in range(NUMBER):
            yield {"learner": name, "seed": str(1000 * place + number)}


def digest(case: Case, engine: str) -> str:
    """Return the digest of a life."""
    chosen, found = Draw(int(case["seed"])), hashlib.sha256()
    learner = REGISTRY[case["learner"]]
    model = learner.kind(engine=engine)
    model.set_params(max_iter=5)
    for _ in range(2 + chosen.below(5)):
        model.set_params(**other_parameters(chosen, model))
    n, d = 6 + chosen.below(30), chosen.one([1, 3, 8, 17, 300])
    classes = chosen.one([2, 2, 3, 6])
    dtype = chosen.one(["float64", "float64", "float32", "float16", "bfloat16", "int8", "uint8", "int32"])
    X = draw(dtype, int(case["seed"]), (n, d), chosen.one([0, 4, 7]))
    y = np.array([k if k < classes else chosen.below(classes) for k in range(n)])
    if model._learns_many and chosen.below(4) == 0:
        width = chosen.one([2, 33])
        y = np.array([[chosen.below(3) for _ in range(width)] for _ in range(n)]) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3 + chosen.below(7)):
            if chosen.below(5) == 0:
                model.set_params(**other_parameters(chosen, model))
            elif chosen.below(6) == 0:
                model = chosen.one(COPIES)(model)
            else:
                add(found, answer(chosen, model, X, y, is_sequence=learner.data == "sequences"))
            add(found, public(model))
    return found.hexdigest()


def other_parameters(chosen: Draw, model: Any) -> dict[str, Any]:
    """Draw a parameter that the learner has, and its value."""
    known = model.get_params()
    name = chosen.one([name for name in PARAMETERS if name in known])
    return {name: chosen.one(PARAMETERS[name])}


def answer(chosen: Draw, model: Any, X: Any, y: Any, *, is_sequence: bool) -> Any:
    """Draw a call, make it, and return what it answers."""
    methods = ["fit", "fit", "partial_fit", "partial_fit", "predict_then_learn", "fit_stream", "predict"]
    methods += ["decision_function"]
    name = chosen.one([name for name in methods if hasattr(model, name)])
    begin = chosen.below(len(X) // 2) if chosen.below(3) else 0
    end = len(X) if chosen.below(2) else begin + 1 + chosen.below(len(X) - begin)
    # SciPy makes no matrices of half floats.
    A = chosen.one(FORMS if X.dtype.name not in HALVES else [np.asarray, np.asfortranarray])(X[begin:end])
    labels: Any = y[begin:end]
    options: dict[str, Any] = {}
    if is_sequence:
        half = len(labels) // 2
        options["lengths"] = [half, len(labels) - half] if half else [len(labels)]
    elif name in ("fit", "partial_fit", "predict_then_learn") and chosen.below(3) == 0:
        weights = np.array([chosen.one([0.0, 1.0, 2.0, 0.3]) for _ in labels])
        options["sample_weight"] = weights.astype(chosen.one(["float64", "float32"]))
    if name == "partial_fit" and not is_sequence and hasattr(model, "coef_") and chosen.below(2):
        options["check_input"] = False
    if name in ("partial_fit", "predict_then_learn", "fit_stream"):
        options["classes"] = np.unique(y) if y.ndim == 1 else np.arange(y.shape[1])
    if y.ndim == 2:
        labels = chosen.one([np.asarray, np.asarray, sp.csr_matrix])(labels)
    try:
        if name in ("predict", "decision_function"):
            return getattr(model, name)(A, **options)
        if name == "fit_stream":
            lengths = options.pop("lengths", None)
            given = (A, labels) if lengths is None else (A, labels, None, lengths)
            found = model.fit_stream(given, block_size=3, **options)
        else:
            found = getattr(model, name)(A, labels, **options)
    except (AttributeError, OverflowError, TypeError, ValueError) as error:
        # A class of ours is named by the one that users know.
        return next(kind.__name__ for kind in type(error).__mro__ if not issubclass(kind, ArgumentError))
    return None if found is model else found


def public(model: Any) -> dict[str, Any]:
    """Return all public attributes of what was learnt."""
    known = ("coef_", "intercept_", *dir(type(model)), *vars(model))
    names = {name for name in known if name.endswith("_") and name[0] != "_"}
    found = {}
    for name in sorted(names):
        try:
            found[name] = getattr(model, name)
        except (AttributeError, ValueError):  # not fitted; not available with these parameters
            continue
    return found


def add(found: Any, value: Any) -> None:
    """Hash a value with its type and shape."""
    if sp.issparse(value):
        value = value.toarray()
    if isinstance(value, np.ndarray) and value.dtype != object:
        found.update(f"{value.dtype.str} {value.shape}".encode())
        found.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, dict):
        for name, part in value.items():
            found.update(str(name).encode())
            add(found, part)
    elif isinstance(value, list | tuple | np.ndarray):
        found.update(f"{len(value)}:".encode())
        for part in value:
            add(found, part)
    elif isinstance(value, str | int | float | np.generic | None):
        found.update(repr(value.item() if isinstance(value, np.generic) else value).encode())
    else:
        add(found, getattr(value, "__dict__", None) or type(value).__name__)
