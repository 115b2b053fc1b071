"""Draws calls of one estimator, with other parameters in between: after each, both engines are alike.

Written for `make fuzz`; `python fuzz/calls.py --seed S --case N` draws one case again.
"""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from drawn import run
from engines import SHARED, drawn, examples
from numpy.typing import NDArray
from sklearn.base import clone

from perceptron_rs._core import Blake3
from perceptron_rs.registry import LEARNERS

CHANGED: dict[str, list[Any]] = SHARED | {
    "warm_start": [True, False],
    "n_jobs": [None, 1, 2],
    "audit": [False, False, True],
    "n_partitions": [1, 2, 3],
    "mixing": ["uniform", "mistakes"],
    "keep_on_interrupt": [True, False],
    "joint_update": ["max", "uniform", "proportional"],
}
#: What reading fills.
CACHES = {"_average", "_settled_coef"}
COPIES: dict[str, Callable[[Any], Any]] = {
    "pickled": lambda model: pickle.loads(pickle.dumps(model)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "clone": clone,
}


def unsorted(A: NDArray[Any]) -> Any:
    """Store the entries of each row from its end on, and a zero, with indices of 64 bits."""
    rows = [[*np.flatnonzero(row)[::-1], *np.flatnonzero(row == 0)[:1]] for row in A]
    columns = np.array([j for row in rows for j in row], dtype=np.int64)
    numbers = A[np.repeat(np.arange(len(A)), [len(row) for row in rows]), columns]
    ends = np.cumsum([0, *(len(row) for row in rows)], dtype=np.int64)
    return sp.csr_matrix((numbers, columns, ends), A.shape)


#: How rows are stored, often in a form that is read in place.
FORMS: list[Callable[[NDArray[Any]], Any]] = [
    *[np.asarray] * 5,
    *[sp.csr_matrix] * 4,
    unsorted,
    sp.csr_array,
    sp.csc_matrix,
    sp.coo_array,
    np.asfortranarray,
    lambda A: np.repeat(A, 2, axis=1)[:, ::2],
    lambda A: A.astype(A.dtype.newbyteorder()),
    np.ndarray.tolist,
]
#: What is done to a model, in words and as a function.
Call: TypeAlias = tuple[str, Callable[[Any], object]]


def bits(value: Any) -> Any:
    """Return a value to compare, but for the engine's name."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, Blake3):  # of a block that is not whole
        return value.digest()
    if sp.issparse(value):
        return bits([value.data, value.indices, value.indptr])
    if isinstance(value, dict):
        return {name: bits(part) for name, part in value.items() if name != "engine"}
    if isinstance(value, list | tuple):
        return [bits(part) for part in value]
    names = getattr(value, "__slots__", None) or getattr(value, "__dict__", None)
    return bits({name: getattr(value, name) for name in names}) if names else repr(value)


def contents(model: Any) -> Any:
    """Return all that a model holds."""
    return bits({name: value for name, value in vars(model).items() if name not in CACHES})


def changed(random: np.random.Generator, model: Any) -> Call:
    """Give it other parameters."""
    names = [name for name in CHANGED if name in model.get_params()]
    some = random.choice(names, size=int(random.integers(1, 4)), replace=False)
    chosen = {str(name): CHANGED[name][random.integers(len(CHANGED[name]))] for name in some}

    def change(model: Any) -> None:
        model.set_params(**chosen)

    return f"set_params(**{chosen})", change


def replaced(random: np.random.Generator) -> Call:
    """Set what it has learnt, or take a copy in its place."""
    name = str(random.choice(["coef_", "intercept_", "n_seen_", "sparsify", *COPIES]))
    factor = int(random.integers(1, 4))

    def replace(model: Any) -> None:
        if name in COPIES:
            new = vars(COPIES[name](model))
            vars(model).clear()
            vars(model).update(new)
        elif hasattr(model, name):
            value = getattr(model, name)
            if name == "sparsify":
                value()
            else:
                setattr(model, name, value * factor)

    return f"{name} ({factor})", replace


def learnt(random: np.random.Generator, kind: type, X: NDArray[np.float64], y: NDArray[Any]) -> Call:
    """Learn from some rows, or predict them."""
    rows = np.arange(len(X))
    if random.random() < 0.7:
        rows = np.sort(random.choice(len(X), int(random.integers(0, len(X) + 1))))
    dtype = random.choice(["f8", "f8", "f8", "f4", "u1", "i2", "i4", "i8"])
    A: Any = X[rows]
    with np.errstate(all="ignore"):
        A = A.astype(dtype) if np.array_equal(A.astype(dtype), A) else A
    if random.random() < 0.05:
        A = A[:, :-1] if random.random() < 0.5 else np.hstack([A, A[:, :1]])
    form = FORMS[random.integers(len(FORMS))]
    A = form(A)
    labels = y[rows]
    weights = random.choice([0.0, 1.0, 2.0, 0.3], len(labels)) if random.random() < 0.2 else None
    options: dict[str, Any] = {}
    names = ["fit", "fit_stream", *["partial_fit"] * 2, "predict_then_learn", "predict", "decision_function"]
    name = str(random.choice([name for name in names if hasattr(kind, name)]))
    if name != "fit" and random.random() < 0.8:
        options["classes"] = np.unique(y)
    if name == "partial_fit" and random.random() < 0.6:
        options["check_input"] = False
    if name == "fit_stream":
        options["block_size"] = int(random.integers(1, 8))
        options["shuffle"] = "block" if random.random() < 0.5 else False

    def learn(model: Any) -> object:
        method = getattr(model, name)
        if name in ("predict", "decision_function"):
            return method(A)
        if name == "fit_stream":
            found = method((A, labels, weights), **options)
        else:
            found = method(A, labels, **options)
        return None if found is model else found

    if name != "fit_stream":
        options["sample_weight"] = weights
        accepted = inspect.signature(getattr(kind, name)).parameters
        options = {option: value for option, value in options.items() if option in accepted}
    return f"{name}(X{rows.tolist()} {dtype} {form}, {weights}, **{options})", learn


def check(random: np.random.Generator) -> str:
    """Compare all that is said and learnt in the life of an estimator."""
    name = str(random.choice([name for name in LEARNERS if name != "sequence"]))
    model = drawn(random, LEARNERS[name].kind, SHARED)
    models = [clone(model).set_params(engine=engine) for engine in ("rust", "reference")]
    X = examples(random)
    y = random.integers(0, random.choice([2, 2, 3, 6]), len(X))
    y[0], y[-1] = 0, 1
    y = y.astype(random.choice(["i8", "i8", "i8", "i4", "f8", "U2", "O"]))
    story = [repr(model)]
    for _ in range(int(random.integers(2, 12))):
        match random.integers(5):
            case 0:
                words, call = changed(random, model)
            case 1:
                words, call = replaced(random)
            case _:
                words, call = learnt(random, type(model), X, y)
        story.append(words)
        said = [outcome(model, call) for model in models]
        assert said[0] == said[1], (story, said)
        assert contents(models[0]) == contents(models[1]), story
    return name


def outcome(model: Any, call: Callable[[Any], object]) -> Any:
    """Return what a call answers, or the error, after which the model is as it was."""
    before = contents(model)
    try:
        return bits(call(model))
    except (AttributeError, OverflowError, TypeError, ValueError) as error:
        said = type(error).__name__, str(error)
    assert contents(model) == before, said
    return said


if __name__ == "__main__":
    run(check)
