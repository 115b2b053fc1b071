"""Files with the right digest that say something else of themselves: refused, or a model that predicts."""

from __future__ import annotations

import contextlib
import copy
import itertools
import os
import random
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs import (
    AveragedPerceptron,
    BudgetedKernelPerceptron,
    KernelPerceptron,
    MultilayerPerceptron,
    Perceptron,
    PocketPerceptron,
    SequencePerceptron,
    VotedPerceptron,
    load,
    load_predictor,
)
from perceptron_rs.cli import main

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
#: Changes of each field.
TRIES = 60 if DEEP else 2

_rng = np.random.default_rng(5)
X, Y = _rng.integers(-9, 10, (24, 4)) / 4, np.arange(24) % 3
SENTENCES = [[{"bias", f"w={(i * j) % 5}"} for j in range(1, 4)] for i in range(6)]
TAGS = [[("a", "b")[(i + j) % 2] for j in range(1, 4)] for i in range(6)]
SPARSE = sp.csr_matrix(X)
GRAM = X @ X.T
TEXT = np.array(["ham", "spam", "wurst"])[Y]

#: A model of each kind, and what it predicts and goes on with.
KINDS = {
    "perceptron": (Perceptron(track_mistakes=True, class_weight={0: 2.0, 1: 1.0, 2: 1.0}), X, Y),
    "two classes": (Perceptron(early_stopping=True, max_iter=4), X, Y > 0),
    "penalty": (Perceptron(penalty="elasticnet", alpha=0.01, max_iter=3), SPARSE, TEXT),
    "joint": (AveragedPerceptron(multi_class="joint", max_iter=3), X, Y),
    "averaged": (AveragedPerceptron(max_iter=3), X, TEXT),
    "temperature": (AveragedPerceptron(max_iter=3), X, TEXT),
    "sigmoid": (VotedPerceptron(max_iter=3), X, TEXT),
    "pocket": (PocketPerceptron(max_iter=3, tol=None), X, Y),
    "voted": (VotedPerceptron(max_iter=3), X, Y),
    "voted sparse": (VotedPerceptron(max_iter=3, prediction="random"), SPARSE, Y > 0),
    "kernel": (KernelPerceptron(max_iter=3), X, Y),
    "kernel sparse": (KernelPerceptron("poly", max_iter=3, multi_class="joint"), SPARSE, TEXT),
    "precomputed": (KernelPerceptron("precomputed", max_iter=3), GRAM, Y),
    "precomputed sparse": (KernelPerceptron("precomputed", max_iter=3), sp.csr_matrix(GRAM), Y),
    "budget": (BudgetedKernelPerceptron(budget=5, budget_policy="random", max_iter=3), X, Y),
    "projectron": (
        BudgetedKernelPerceptron(budget=5, budget_policy="projectron", max_iter=3),
        SPARSE,
        Y,
    ),
    "multilayer": (MultilayerPerceptron(hidden_layer_sizes=(3, 2), max_iter=3), X, Y),
    "sequence": (SequencePerceptron(max_iter=3), SENTENCES, TAGS),
    "hashed": (SequencePerceptron(max_iter=3, hash_columns=32, transition_features=True), SENTENCES, TAGS),
}
VALUES = [
    None, True, False, 0, 1, -1, 2, 3, 7, 24, 25, 2**31, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 0.0, -0.5,
    0.5, 1e308, "", "a", "ab", "\t", "[", "(?", "linear", "precomputed", "random", "joint", "l1", "str",
    "int8", "float64", "\ud800",
    [], [1], ["a"], [0, 1], [[0, 1]], [[0, "2"]], [[0, True]], [[0, 1e400]], 10**400,
    {}, {"type": "str", "values": ["a", "b"]},
]  # fmt: skip
NUMBERS = [0, 1, -1, 2, 3, 4, 5, 23, 24, 25, 127, -128]
LARGE = [2**31 - 1, 2**31, 2**53, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), 0.5, -0.0, 1e300, -1e300, 5e-324]
TYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "i1",
    "U16": "<u2",
    "U8": "u1",
}


def places(document, at=()):
    """Give the path of every value in a JSON document."""
    if at:
        yield at
    parts = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in parts:
        if isinstance(value, (dict, list)):
            yield from places(value, (*at, key))
        else:
            yield (*at, key)


def with_value(document, at, draw):
    """Return a document that says something else at one place, or nothing."""
    document = copy.deepcopy(document)
    inside = document
    for key in at[:-1]:
        inside = inside[key]
    act = draw.randrange(6)
    if act == 0:
        del inside[at[-1]]
    elif act == 1 and isinstance(inside, list):
        inside.insert(at[-1], inside[at[-1]])
    elif act == 2 and isinstance(inside[at[-1]], (int, float)):
        inside[at[-1]] += draw.choice((-1, 1))
    else:
        inside[at[-1]] = draw.choice(VALUES)
    return document


def with_tensor(tensors, name, draw):
    """Return tensors of which one has another number, type, shape or length, or is not there."""
    kind, shape, numbers = tensors[name]
    array = np.frombuffer(numbers, TYPES[kind]).reshape(shape).copy()
    act = draw.randrange(10)
    if act == 0:
        return {other: tensor for other, tensor in tensors.items() if other != name}
    if act == 1:
        other = draw.choice(sorted(tensors))
        return tensors | {name: tensors[other], other: tensors[name]}
    if act == 2:
        kind = draw.choice(sorted(TYPES))
        with np.errstate(all="ignore"):
            array = array.astype(TYPES[kind])
    elif act == 3:
        axis = draw.randrange(max(1, array.ndim))
        array = array[:-1] if axis == 0 else array[:, :-1]
    elif act == 4:
        array = np.concatenate([array, array[-1:]])
    elif act == 5:
        array = array.reshape(draw.choice([(-1,), (1, *array.shape), (*array.shape, 1), array.shape[::-1]]))
    elif array.size:
        for place in draw.sample(range(array.size), min(array.size, draw.choice((1, 1, 2)))):
            with np.errstate(all="ignore"):
                value = np.float64(draw.choice(NUMBERS if act < 9 else LARGE))
                array.reshape(-1)[place] = value.astype(array.dtype)
    return tensors | {name: (kind, list(array.shape), np.ascontiguousarray(array).tobytes())}


def outcome(folder, file, X, y):
    """Return whether a file is refused; what it holds otherwise predicts, and goes on learning."""
    model = folder.loaded_or_none(file)
    if model is None:
        return "refused"
    wide = X
    if not isinstance(X, list) and X.shape[1] != model.n_features_in_:
        ends = np.minimum(np.arange(len(y) + 1), 1)
        wide = sp.csr_matrix(([1.0], [0], ends), shape=(len(y), model.n_features_in_))
    try:
        model.predict(wide)
        if hasattr(model, "predict_proba"):
            model.predict_proba(wide)
    except (ValueError, MemoryError) as error:
        expected = (
            "overflow",
            "not finite",
            "not enough memory",
            "since the calibration",
        )  # a file may say 2**53 columns
        if isinstance(X, list) and not hasattr(model, "encoder_"):
            expected = ("the model was fitted to one",)  # a file may say so: a matrix
        assert any(text in str(error) for text in expected), error  # noqa: PT017
    with contextlib.suppress(ValueError, MemoryError):  # of other classes, or of parameters for other data
        model.set_params(max_iter=1)
        (model.fit if isinstance(X, list) else model.set_params(warm_start=True).fit)(wide, y)
    return "loaded"


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_of_every_kind_of_model(tools, folder, kind):
    model, X, y = KINDS[kind]
    draw = random.Random(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
        if kind in ("temperature", "sigmoid"):
            model.calibrate(X, y, method=kind)
        document, tensors = tools.take_apart(folder.saved(model))
        del document["sha256"]
        crafted = [(document, name) for name in tensors] + [(at, None) for at in places(document)]
        found = []
        for (at, name), _ in itertools.product(crafted, range(TRIES)):
            if name is None:
                file = tools.put_together(with_value(document, at, draw), tensors)
            else:
                file = tools.put_together(document, with_tensor(tensors, name, draw))
            found.append(outcome(folder, file, X, y))
    assert "refused" in found
    assert "loaded" in found


@pytest.mark.parametrize("kind", KINDS)
def test_both_readers_refuse_the_same_parameters(tools, kind):
    model, X, y = KINDS[kind]
    draw = random.Random(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        document, tensors = tools.take_apart(model.fit(X, y).save())
        document.pop("sha256")
        verdicts = set()
        for name in document["parameters"]:
            for value in VALUES if DEEP else draw.sample(VALUES, 8):
                crafted = document | {"parameters": document["parameters"] | {name: value}}
                file = tools.put_together(crafted, tensors)
                taken = [is_taken(reader, file) for reader in (load, load_predictor)]
                assert taken[0] == taken[1], (name, value)
                verdicts.add(taken[0])
    assert verdicts == {False, True}


def is_taken(reader, file):
    """Whether a file is read; if not, the error says so."""
    try:
        reader(file)
    except ValueError as error:
        assert str(error).startswith("cannot load "), error  # noqa: PT017
        return False
    return True


LINES = "1 1:1.5 3:2\n0 2:-1\n1 1:4 2:0.5\n"
CELLS = "a;s;y\n1.5;x;p\n2.5;z;n\n;x;p\n0.5;7;n\n"
OBJECTS = '{"y": "p", "n": 1.5, "s": "x"}\n{"y": "n", "n": -1, "w": {"q": 2}}\n'
WORDS = "spam\tBuy now\nham\tsee you soon\nspam\tcheap now\n"
TAGGED = "the\tD\ndog\tN\n\na\tD\ncat\tN\n"
#: How a file is learnt from: the command, the name and the text of the file, and options.
RECIPES = {
    "svmlight": ("train", "a.svm", LINES, ("--scale", "maxabs")),
    "table": ("train", "a.csv", CELLS.replace(";", ","), ("--hash-bits", "4", "--drop", "a")),
    "delimited": ("train", "a.csv", CELLS, ("--delimiter", ";", "--hash-bits", "4", "--missing", "NA")),
    "scaled": ("train", "a.csv", "a,b,y\n1,2,p\n3,1,n\n", ("--scale", "minmax")),
    "json": ("train", "a.jsonl", OBJECTS, ("--target", "y", "--hash-bits", "5")),
    "calibrated": ("train", "a.txt", 9 * WORDS, ("--text", "--holdout", "0.3", "--calibrate", "0.2")),
    "text": ("train", "a.txt", WORDS, ("--text", "--ngrams", "1", "2", "--stop-words", "english")),
    "tf-idf": ("train", "a.txt", WORDS, ("--text", "--tf-idf", "--hash-bits", "6")),
    "sentences": ("tag-train", "a.conll", TAGGED, ()),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", RECIPES)
def test_every_field_of_every_recipe(tools, folder, kind, capsys):
    command, name, text, options = RECIPES[kind]
    (folder.path / name).write_text(text)
    given, path = str(folder.path / name), str(folder.path / "given.safetensors")
    assert main([command, given, "--model", path, "--quiet", *options]) == 0
    document, tensors = tools.take_apart((folder.path / "given.safetensors").read_bytes())
    document.pop("sha256")
    draw, found = random.Random(kind), []
    crafted = [at for at in places(document) if at[0] in ("input", "encoder") or at[1:] == ("n_jobs",)]
    for at, _ in itertools.product(crafted, range(2 * TRIES)):
        is_refused = (
            folder.loaded_or_none(tools.put_together(with_value(document, at, draw), tensors)) is None
        )
        try:
            load_predictor(path)
        except ValueError as error:
            assert str(error).startswith("cannot load '"), error  # noqa: PT017
            assert is_refused, at
            assert main([command.replace("train", "predict").replace("tag-predict", "tag"), path, given]), at
        else:
            main([command.replace("train", "predict").replace("tag-predict", "tag"), path, given])
        found.append(is_refused)
    capsys.readouterr()
    assert True in found
    assert False in found
