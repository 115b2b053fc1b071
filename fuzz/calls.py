"""Draws calls of one estimator, with other parameters, copies, errors and Ctrl-C in between.

After each, both engines are alike, arrays that were read and models that were copied are what they were, and
what did not end well has changed nothing.

Written for `make fuzz`; `python fuzz/calls.py --seed S --case N` draws one case again.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import pickle
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import joblib
import numpy as np
import scipy.sparse as sp
from drawn import run
from engines import SHARED, drawn, examples, many_labels
from ml_dtypes import bfloat16
from numpy.typing import NDArray
from sklearn.base import clone

from perceptron_rs._core import Blake3
from perceptron_rs.registry import REGISTRY

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
CACHES = {"_answers"}


def by_joblib(model: Any) -> Any:
    """Return a model from a file in memory."""
    joblib.dump(model, file := io.BytesIO())
    file.seek(0)
    return joblib.load(file)


def mapped(model: Any) -> Any:
    """Return a model whose arrays are parts of a file."""
    with tempfile.TemporaryDirectory() as folder:  # the mapped file stays until nobody has it open
        joblib.dump(model, Path(folder, "model"))
        return joblib.load(Path(folder, "model"), mmap_mode="r")


COPIES: dict[str, Callable[[Any], Any]] = {
    "pickled": lambda model: pickle.loads(pickle.dumps(model)),
    "joblib": by_joblib,
    "mapped": mapped,
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "clone": clone,
}
#: What a call may raise that a caller has brought about.
ERRORS = (AttributeError, OverflowError, TypeError, ValueError)
#: Arrays that are held while more is learnt.
SHOWN = ("coef_", "intercept_", "n_seen_", "last_coef_", "last_intercept_")


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
    lambda A: A if A.dtype == bfloat16 else A.astype(A.dtype.newbyteorder()),
    np.ndarray.tolist,
]
#: How a matrix of many labels is given.
LABEL_FORMS: list[Callable[[NDArray[Any]], Any]] = [
    *[np.asarray] * 4,
    lambda Y: sp.csr_matrix(Y.astype("u1")),
    lambda Y: unsorted(Y.astype("i8")),
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
    return bits({name: value for name, value in model.__getstate__().items() if name not in CACHES})


def changed(random: np.random.Generator, model: Any) -> Call:
    """Give it other parameters."""
    names = [name for name in CHANGED if name in model.get_params()]
    some = random.choice(names, size=int(random.integers(1, 4)), replace=False)
    chosen = {str(name): CHANGED[name][random.integers(len(CHANGED[name]))] for name in some}

    def change(model: Any) -> None:
        model.set_params(**chosen)

    return f"set_params(**{chosen})", change


def replaced(random: np.random.Generator) -> Call:
    """Set what it has learnt."""
    name = str(random.choice(["coef_", "intercept_", "n_seen_", "sparsify"]))
    factor = int(random.integers(1, 4))

    def replace(model: Any) -> None:
        if hasattr(model, name):
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
    dtype = ["f8", "f8", "f8", "f4", "f2", bfloat16, "u1", "i2", "i4", "i8"][random.integers(10)]
    A: Any = X[rows]
    with np.errstate(all="ignore"):
        A = A.astype(dtype) if np.array_equal(A.astype(dtype), A) else A
    if random.random() < 0.05:
        A = A[:, :-1] if random.random() < 0.5 else np.hstack([A, A[:, :1]])
    labels = y[rows]
    weights: Any = random.choice([0.0, 1.0, 2.0, 0.3], len(labels)) if random.random() < 0.2 else None
    if weights is not None:
        weights = weights.astype(random.choice(["f8", "f8", "f4", "i8"]))
    if random.random() < 0.08 and A.size:  # an error in the midst of a pass
        match random.integers(3):
            case 0:
                A = A.astype("f8")
                A[-1, -1] = random.choice([np.inf, np.nan, 1.7e308, -1.7e308])
            case 1:
                labels = labels.copy().astype("i8" if labels.ndim == 2 else labels.dtype)
                labels[-1] = "9" if labels.dtype.kind == "U" else 9
            case _:
                weights = np.append(np.ones(len(labels) - 1), random.choice([-1.0, np.nan, 1e308]))
    # SciPy makes no matrices of half floats.
    forms = FORMS if A.dtype.itemsize > 2 or A.dtype.kind in "iu" else [np.asarray, np.asfortranarray]
    form = forms[random.integers(len(forms))]
    A = form(A)
    known = np.unique(y) if y.ndim == 1 else np.arange(y.shape[1])
    if labels.ndim == 2:
        labels = LABEL_FORMS[random.integers(len(LABEL_FORMS))](labels)
    elif random.random() < 0.02:
        labels = many_labels(random, len(labels))  # of another kind than before
    options: dict[str, Any] = {}
    names = ["fit", "fit_stream", *["partial_fit"] * 2, "predict_then_learn", "predict", "decision_function"]
    name = str(random.choice([name for name in names if hasattr(kind, name)]))
    if name != "fit" and random.random() < 0.8:
        options["classes"] = known
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


def interrupted(random: np.random.Generator, words: str, call: Call) -> Call:
    """End a fit by Ctrl-C in the report of an epoch."""
    last = int(random.integers(3))

    def stop(record: Any) -> None:
        if record.epoch == last:
            raise KeyboardInterrupt

    def work(model: Any) -> object:
        before = model.callback
        model.callback = stop
        try:
            return call[1](model)
        finally:
            model.callback = before

    return f"Ctrl-C in epoch {last} of {words}", work


def with_signal(model: Any, call: Callable[[Any], object], seconds: float) -> None:
    """Make a call with a Ctrl-C after some time: it does all, or nothing, and then is made once more."""
    before, whole = contents(model), copy.deepcopy(model)
    outcome(whole, call)
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    with contextlib.suppress(*ERRORS, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            call(model)
        finally:  # a drawn call may end by a Ctrl-C of its own, before this one
            signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, previous)
    now = contents(model)
    assert now in (before, contents(whole))
    if now == before:
        outcome(model, call)


def held(models: list[Any]) -> list[tuple[NDArray[Any], bytes]]:
    """Return arrays that the models show, and their bytes."""
    found = [getattr(model, name) for model in models for name in SHOWN if hasattr(model, name)]
    return [(array, array.tobytes()) for array in found if isinstance(array, np.ndarray)]


def check(random: np.random.Generator) -> str:
    """Compare all that is said and learnt in the life of an estimator."""
    name = str(random.choice([name for name in REGISTRY if name != "sequence"]))
    model = drawn(random, REGISTRY[name].kind, SHARED)
    models = [clone(model).set_params(engine=engine) for engine in ("rust", "reference")]
    X = examples(random)
    y = random.integers(0, random.choice([2, 2, 3, 6]), len(X))
    y[0], y[-1] = 0, 1
    y = y.astype(random.choice(["i8", "i8", "i8", "i4", "f8", "U2", "O"]))
    if model._learns_many and random.random() < 0.25:
        y = many_labels(random, len(X))
    story, arrays, others = [repr(model)], [], []
    for _ in range(int(random.integers(2, 12))):
        match random.integers(6):
            case 0:
                words, call = changed(random, model)
            case 1:
                words, call = replaced(random)
            case 2:
                words, call = str(random.choice(list(COPIES))), None
            case _:
                words, call = learnt(random, type(model), X, y)
                if random.random() < 0.1 and hasattr(model, "callback"):
                    words, call = interrupted(random, words, (words, call))
        story.append(words)
        if call is None:
            others += [(each, contents(each)) for each in models]
            models = [COPIES[words](each) for each in models]
        elif (
            random.random() < 0.1
            and not getattr(models[0], "keep_on_interrupt", False)
            and not words.startswith("set_params")  # scikit-learn's sets one after another
        ):
            seconds = float(random.exponential(0.0005))
            for each in models:
                with_signal(each, call, seconds)
        else:
            said = [outcome(each, call) for each in models]
            assert said[0] == said[1], (story, said)
        assert contents(models[0]) == contents(models[1]), story
        assert all(array.tobytes() == before for array, before in arrays), story
        if random.random() < 0.3:
            arrays += held(models)
    assert all(contents(other) == before for other, before in others), story
    return name


def outcome(model: Any, call: Callable[[Any], object]) -> Any:
    """Return what a call answers, or the error, after which the model is as it was."""
    before = contents(model)
    try:
        return bits(call(model))
    except (*ERRORS, KeyboardInterrupt) as error:
        said = type(error).__name__, str(error)
    assert contents(model) == before, said
    return said


if __name__ == "__main__":
    run(check)
