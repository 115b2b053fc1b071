"""Files that are sound as files, with the right digest, but say what no saved model says."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path

import numpy as np
import pytest

from perceptron_rs import ARITHMETIC_VERSION, AveragedPerceptron


@pytest.fixture(name="parts")
def fixture_parts(tools, folder):
    return tools.take_apart(folder.saved(tools.fitted(AveragedPerceptron, 3, track_mistakes=True)))


def floats(*shape, value=1.0):
    return "F64", list(shape), np.full(shape, value).tobytes()


def counts(*shape, value=1):
    return "I64", list(shape), np.full(shape, value, dtype=np.int64).tobytes()


def test_the_unchanged_parts_load(tools, folder, parts):
    folder.loaded(tools.put_together(*parts))


DOCUMENTS = {
    "newer format": ({"format_version": 8}, "format version 8, and this .* reads 7; install a newer"),
    "older format": ({"format_version": 6}, "format version 6, and this .* reads 7; fit and save the model"),
    "format 0": ({"format_version": 0}, "is not a version"),
    "format true": ({"format_version": True}, "is not a version"),
    "format text": ({"format_version": "1"}, "is not a version"),
    "no format": ({"format_version": ...}, "is not a version"),
    "newer arithmetic": (
        {"arithmetic_version": ARITHMETIC_VERSION + 1},
        f"version {ARITHMETIC_VERSION + 1} of the arithmetic, and this .* has {ARITHMETIC_VERSION}; install",
    ),
    "arithmetic text": ({"arithmetic_version": "1"}, "is not a version"),
    "no arithmetic": ({"arithmetic_version": ...}, "is not a version"),
    "unknown part": ({"penalty": {}}, "unknown part 'penalty'; it needs a newer"),
    "no classes": ({"classes": ...}, "lacks classes"),
    "no estimator": ({"estimator": ...}, "lacks estimator"),
    "unknown estimator": (
        {"estimator": "gamble"},
        "'gamble', and this .* has perceptron, averaged.*; install",
    ),
    "class as estimator": ({"estimator": "os.system"}, "'os.system'"),
    "list as estimator": ({"estimator": ["averaged"]}, "estimator"),
    "other estimator": ({"estimator": "perceptron"}, "unknown tensor 'coef_u'; the file needs a newer"),
    "parameters list": ({"parameters": []}, "parameters must be a JSON object"),
    "names too few": ({"feature_names": ["a", "b", "c"]}, "list of 4 strings"),
    "names of numbers": ({"feature_names": ["a", "b", "c", 4]}, "list of 4 strings"),
    "names text": ({"feature_names": "abcd"}, "list of 4 strings"),
    "history list": ({"history": [1]}, "history must hold"),
}
CLASSES = {
    "three": [0, 1],
    "none": [],
    "one": [0],
    "unsorted": [0, 2, 1],
    "twice": [0, 1, 1],
    "bool": [0, True, 2],
    "float": [0, 1.0, 2],
    "text": [0, "1", 2],
    "deep": [0, [1], 2],
    "too large": [0, 1, 2**63],
}
PARAMETERS = {
    "unknown": ({"speed": 3}, "no parameter 'speed'; the file needs a newer"),
    "callback": ({"callback": None}, "no parameter 'callback'"),
    "range": ({"max_iter": 0}, "max_iter"),
    "huge": ({"n_iter_no_change": 2**63}, "n_iter_no_change"),
    "type": ({"eta0": "1"}, "eta0"),
    "null": ({"eta0": None}, "eta0"),
    "list": ({"tol": [1]}, "The .tol. parameter"),
    "object": ({"class_weight": {"a": 1}}, "class_weight must not be a JSON dict"),
    "engine": ({"engine": "os"}, "engine"),
    "tie": ({"tie": "x"}, "tie"),
    "seed": ({"random_state": -1}, "random_state"),
    "pairs": ({"class_weight": [["a", 1, 2]]}, "pairs"),
    "pair text": ({"class_weight": ["ab"]}, "pairs"),
    "label": ({"class_weight": [[["a"], 1]]}, "pairs"),
    "null label": ({"class_weight": [[None, 1]]}, "pairs"),
    "weight": ({"class_weight": [["a", "1"]]}, "one number of at least 0 for each label"),
    "twice": ({"class_weight": [[1, 1], [True, 2]]}, "one number of at least 0 for each label"),
    "word": ({"class_weight": "equal"}, "class_weight"),
}
HISTORY = {
    "negative": {"n_iter": -1},
    "other": {"n_iter": 2},
    "bool": {"n_mistakes": True},
    "huge": {"epochs": 2**53 + 1},
    "text": {"epochs": "3"},
    "other mistakes": {"n_mistakes": 0},
    "number": {"converged": 1},
    "missing": {"converged": ...},
    "unknown": {"best": 1},
}


def changed(whole, changes):
    whole = copy.deepcopy(whole) | changes
    return {name: value for name, value in whole.items() if value is not ...}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_descriptions(tools, folder, parts, name):
    changes, pattern = DOCUMENTS[name]
    text = folder.refusal(tools.put_together(changed(parts[0], changes), parts[1]))
    assert re.search(pattern, text), text


@pytest.mark.parametrize("name", CLASSES)
def test_classes(tools, folder, parts, name):
    document = changed(parts[0], {"classes": {"type": "int64", "values": CLASSES[name]}})
    assert "classes" in folder.refusal(tools.put_together(document, parts[1]))


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("float16", [0.0, 1.0, 2049.0]), ("float16", [0.0, 1.0, 1e300]), ("float64", [0, 1, 2]),
        ("str", ["a", "b", "c\0"]), ("str", [1, 2, 3]), ("bool", [False, True, True]), ("uint8", [0, 1, 256]),
        ("uint64", [-1, 0, 1]), ("complex128", [0.0, 1.0, 2.0]), ("O", ["a", "b", "c"]),
        ("<U9999999", ["a", "b", "c"]), (None, [0, 1, 2]), (["int64"], [0, 1, 2]), ("int64", "abc"),
        ("int64", {"0": 1}),
    ],
)  # fmt: skip
def test_types_of_classes(tools, folder, parts, kind, values):
    document = changed(parts[0], {"classes": {"type": kind, "values": values}})
    assert "classes" in folder.refusal(tools.put_together(document, parts[1]))


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters(tools, folder, parts, name):
    changes, pattern = PARAMETERS[name]
    document = changed(parts[0], {"parameters": changed(parts[0]["parameters"], changes)})
    text = folder.refusal(tools.put_together(document, parts[1]))
    assert re.search(pattern, text), text


@pytest.mark.parametrize("name", HISTORY)
def test_histories(tools, folder, parts, name):
    document = changed(parts[0], {"history": changed(parts[0]["history"], HISTORY[name])})
    text = folder.refusal(tools.put_together(document, parts[1]))
    assert "history" in text or "epochs" in text or "mistakes" in text


def test_each_missing_tensor(tools, folder, parts):
    document, tensors = parts
    for name in tensors:
        rest = {other: value for other, value in tensors.items() if other != name}
        if name in ("mistakes_per_example", "loss_curve"):
            folder.loaded(tools.put_together(document, rest))
        else:
            assert f"{name} is missing" in folder.refusal(tools.put_together(document, rest))


def test_an_unknown_tensor(tools, folder, parts):
    for name in ("votes", "coef_v", "", "__class__", "classes_"):
        text = folder.refusal(tools.put_together(parts[0], parts[1] | {name: floats(3)}))
        assert f"unknown tensor {name!r}" in text


def test_each_tensor_of_another_type_or_shape(tools, folder, parts):
    document, tensors = parts
    for name, (dtype, shape, _) in tensors.items():
        make, other = (floats, counts) if dtype == "F64" else (counts, floats)
        wrong = [other(*shape), make(*shape, 1), make(0), make(*shape[:-1], 0)]
        if name != "mistakes_per_example":
            wrong += [make(shape[0] + 1, *shape[1:]), make()]
        if name.startswith("coef"):
            wrong += [make(shape[0], shape[1] + 1), make(*reversed(shape))]
        for tensor in wrong:
            text = folder.refusal(tools.put_together(document, tensors | {name: tensor}))
            assert f"tensor {name} " in text or (name == "coef" and "tensor coef_u " in text), (
                name,
                tensor[:2],
                text,
            )


def test_numbers_that_no_fit_leaves(tools, folder, parts):
    document, tensors = parts
    for name, (dtype, shape, _) in tensors.items():
        bad = (np.nan, np.inf, -np.inf) if dtype == "F64" else (-1, 2**53 + 1, 2**63 - 1, -(2**63))
        for value in bad:
            tensor = (floats if dtype == "F64" else counts)(*shape, value=value)
            text = folder.refusal(tools.put_together(document, tensors | {name: tensor}))
            assert f"tensor {name} " in text


def test_weights_whose_average_overflows(tools, folder, parts):
    document, tensors = parts
    huge = {"coef": floats(3, 4, value=1e308), "coef_u": floats(3, 4, value=-1e308)}
    assert "their average is not finite" in folder.refusal(tools.put_together(document, tensors | huge))


def test_a_digest_that_differs(tools, folder, parts):
    document, tensors = parts
    for digest in ("0" * 64, "", None, 3, ...):
        wrong = changed(document, {"sha256": digest})
        texts = {"perceptron_rs": json.dumps(wrong)}
        assert "the digest differs" in folder.refusal(tools.build(tensors, texts))


def test_a_parameter_that_the_file_does_not_know_gets_its_default(tools, folder, parts):
    parameters = changed(parts[0]["parameters"], {"n_iter_no_change": ...})
    loaded = folder.loaded(tools.put_together(parts[0] | {"parameters": parameters}, parts[1]))
    assert loaded.n_iter_no_change == AveragedPerceptron().n_iter_no_change


def test_an_older_arithmetic_is_said(tools, folder, parts, monkeypatch):
    monkeypatch.setattr("perceptron_rs.models.reader.ARITHMETIC_VERSION", ARITHMETIC_VERSION + 1)
    with pytest.warns(
        UserWarning, match=f"learnt by version {ARITHMETIC_VERSION} of the arithmetic"
    ) as caught:
        folder.loaded(tools.put_together(*parts))
    assert Path(caught[0].filename).name == "conftest.py"  # where load was called
