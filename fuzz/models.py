"""Draws damage to model files: each is refused by name, or holds a model that works.

Written for `make fuzz`; `python fuzz/models.py --seed S --case N` draws one case again.
"""

from __future__ import annotations

import copy
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from drawn import run

import perceptron_rs
from perceptron_rs import BudgetedKernelPerceptron, KernelPerceptron, MultilayerPerceptron, SequencePerceptron
from perceptron_rs.models.container import pack, unpack
from perceptron_rs.registry import REGISTRY

DATA = np.random.default_rng(3)
X, Y = DATA.integers(-9, 10, (30, 4)) / 4, DATA.integers(0, 3, 30)
LENGTHS = [10, 5, 15]
LARGE = [-1, 2**31 - 1, 2**31, 2**53, 2**53 + 1, 2**62, -(2**63), 255, 7, 1, 0]
FLOATS = [np.nan, np.inf, -np.inf, -0.0, 1e308, -1e308, 5e-324, 0.5, 1.0]
OTHERS = [None, True, -1, 0, 1, 3, 2**53 + 1, 2**70, 0.5, 1e400, "", "rbf", "joint", [], {}, [1], "x" * 50]


@cache
def models() -> list[bytes]:
    """Return the files of small models of every kind."""
    made: list[Any] = []
    for name in (name for name, learner in REGISTRY.items() if learner.is_linear):
        learner = REGISTRY[name].kind
        made += [learner(max_iter=3).fit(X, labels) for labels in (Y, Y > 0, np.array(["a", "b", "c"])[Y])]
    made += [
        REGISTRY[name].kind(max_iter=2, multi_class="joint").fit(X, Y) for name in ("perceptron", "averaged")
    ]
    made.append(REGISTRY["perceptron"].kind(penalty="l1").partial_fit(X, Y, classes=[0, 1, 2]))
    for parameters in (
        {},
        {"kernel": "poly", "degree": 2, "fit_intercept": True, "track_mistakes": True},
        {"kernel": "linear", "multi_class": "joint"},
        *(
            {"budget": 5, "budget_policy": policy}
            for policy in ("oldest", "random", "forgetron", "projectron")
        ),
        {"budget": 5, "multi_class": "joint"},
    ):
        learner = BudgetedKernelPerceptron if "budget" in parameters else KernelPerceptron
        made.append(learner(max_iter=2, random_state=1, **parameters).fit(X, Y))
    made += [
        KernelPerceptron(max_iter=2, multi_class=how).fit(sp.csr_array(X), Y) for how in ("ovr", "joint")
    ]
    made += [REGISTRY["voted"].kind(max_iter=2).fit(sp.csr_array(X), Y)]
    made.append(MultilayerPerceptron((3, 2), max_iter=2).fit(X, Y))
    made += [
        SequencePerceptron(max_iter=2, transition_features=pair).fit(X, Y, lengths=LENGTHS)
        for pair in (False, True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        files = []
        for model in made:
            model.save(path)
            files.append(path.read_bytes())
    return files


def other(random: np.random.Generator, choices: list[Any]) -> Any:
    """Return one of them, which may be changed."""
    return copy.deepcopy(choices[random.integers(len(choices))])


def change_tensor(random: np.random.Generator, tensors: dict[str, np.ndarray[Any, Any]]) -> None:
    """Change numbers, the length, the shape, the type or the name of one array, or leave it out."""
    name = str(random.choice(sorted(tensors)))
    array = tensors[name].copy()
    kind = random.integers(12)
    if kind < 8 and array.size:
        place = int(random.integers(array.size))
        flat = array.reshape(-1)
        if array.dtype.kind == "f":
            flat[place] = other(random, FLOATS) if random.random() < 0.7 else flat[place] * 2
        else:
            number = (
                other(random, LARGE) if random.random() < 0.5 else int(flat[place]) + random.integers(-2, 3)
            )
            limits = np.iinfo(array.dtype)
            flat[place] = min(max(number, limits.min), limits.max)
    elif kind == 8:
        array = np.concatenate([array, array[-1:]]) if random.random() < 0.5 else array[:-1]
    elif kind == 9:
        array = array.reshape(array.shape[::-1]) if random.random() < 0.5 else array.reshape(-1)
    elif kind == 10:
        array = array.astype(random.choice(["f8", "i8", "i4", "u1", "f4"]))
    else:
        del tensors[name]
        if random.random() < 0.5:
            return
        name += "_"
    tensors[name] = np.ascontiguousarray(array)


def change_document(random: np.random.Generator, document: Any) -> None:
    """Change one value somewhere in the description, or leave it out."""
    place: Any = document
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = keys[random.integers(len(keys))]
        if isinstance(place[key], dict | list) and place[key] and random.random() < 0.9:
            place = place[key]
            continue
        if random.random() < 0.1:
            del place[key]
        else:
            place[key] = other(random, OTHERS)
        return


def damaged(random: np.random.Generator, file: bytes) -> bytes:
    """Change a few bytes, which a digest guards."""
    changed = bytearray(file)
    for _ in range(random.integers(1, 4)):
        place = int(random.integers(len(changed)))
        match random.integers(3):
            case 0:
                changed[place] = random.integers(256)
            case 1:
                del changed[place : place + int(random.integers(1, 9))]
            case _:
                changed[place:place] = random.bytes(int(random.integers(1, 9)))
    return bytes(changed)


def crafted(random: np.random.Generator, path: Path) -> bytes | None:
    """Return a file with a right digest that says something else."""
    document, tensors = unpack(path)
    for _ in range(random.integers(1, 3)):
        if random.random() < 0.75 and tensors:
            change_tensor(random, tensors)
        else:
            change_document(random, document)
    document.pop("format_version", None)
    try:
        return pack(document, tensors)
    except (ValueError, TypeError, OverflowError):
        return None  # nothing that a file can say


def use(model: Any) -> None:
    """Do with a model what can be done; a ValueError says why it cannot."""
    sequences = {"lengths": LENGTHS} if isinstance(model, SequencePerceptron) else {}
    width = getattr(model, "n_features_in_", 4)
    rows = X if width == 4 else np.ones((30, min(int(width), 1000)))
    for call in (
        lambda: model.predict(rows, **sequences),
        lambda: None if sequences else model.decision_function(rows),
        lambda: model.set_params(prediction="average").predict(rows),
        lambda: model.set_params(prediction="vote").predict(rows),
        lambda: model.partial_fit(rows, model.classes_[np.arange(30) % len(model.classes_)]),
        lambda: model.predict(rows, **sequences),
    ):
        try:
            call()
        except (ValueError, TypeError, AttributeError) as error:
            if "panicked" in str(error):
                raise RuntimeError("the core has panicked") from error


def check(random: np.random.Generator) -> str:
    """Load one file that was changed."""
    file: bytes | None = other(random, models())
    assert file is not None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        path.write_bytes(file)
        file = crafted(random, path) if random.random() < 0.8 else damaged(random, file)
        if file is None:
            return "not written"
        path.write_bytes(file)
        try:
            model = perceptron_rs.load(path)
        except ValueError as error:
            if not str(error).startswith("cannot load '"):
                raise RuntimeError("not refused by name") from error
            return "refused"
        use(model)
    return "loaded"


if __name__ == "__main__":
    run(check)
