"""The record of a training in a model file: what it holds, what comes back, and what is refused."""

from __future__ import annotations

import copy
import re

import numpy as np
import pytest

from perceptron_rs import ARITHMETIC_VERSION, AveragedPerceptron, load
from perceptron_rs.models import describe


@pytest.fixture(name="parts")
def fixture_parts(tools, folder):
    model = tools.fitted(AveragedPerceptron, 3, audit=True)
    return tools.take_apart(folder.saved(model.partial_fit(*tools.data())))


def test_what_a_file_says(tools, tmp_path):
    model = tools.fitted(AveragedPerceptron, 3, audit=True, class_weight={1: 2.0}, eta0=0.5)
    model.set_params(eta0=1.0).save(tmp_path / "m")
    (call,) = describe(tmp_path / "m")["calls"]
    digests = describe(tmp_path / "m")["digests"]
    parameters = call.pop("parameters")
    assert call == {
        "method": "fit",
        "n_features": 4,
        "sizes": [[40, 1]],
        "weighted": False,
        "arithmetic_version": ARITHMETIC_VERSION,
    }
    assert parameters["eta0"] == 0.5
    assert parameters["class_weight"] == [[1, 2.0]]
    assert digests["key"] is None
    ((size, digest),) = digests["blocks"]
    assert (size, len(digest)) == (40, 64)
    model.audit = False
    model.fit(*tools.data())
    model.save(tmp_path / "m")
    assert "digests" not in describe(tmp_path / "m")
    model.partial_fit(*tools.data())
    model.save(tmp_path / "m")
    assert "calls" not in describe(tmp_path / "m")


def test_what_comes_back(tools, tmp_path):
    start = np.full((3, 4), 0.25)
    X, y = tools.data()
    model = AveragedPerceptron(audit=True, warm_start=True, max_iter=2, tol=None)
    model.fit(X, y, coef_init=start, sample_weight=np.ones(40)).fit(X, y)
    for row in range(3):
        model.partial_fit(X[row : row + 1], y[row : row + 1])
    model.save(tmp_path / "m")
    found = load(tmp_path / "m")
    assert found._calls == model._calls
    assert [call.sizes for call in found._calls] == [((40, 1),), ((40, 1),), ((1, 3),)]
    assert found._calls[0].start["coef"].tobytes() == start.tobytes()
    assert found._calls[0].start["intercept"].tobytes() == np.zeros(3).tobytes()
    found.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def zeros(*shape):
    return "F64", list(shape), np.zeros(shape).tobytes()


ODD = "each of its calls must be as a fit has left it"
WRONG = {
    "no list": (lambda calls: {}, "list of one or more"),
    "empty": (lambda calls: [], "list of one or more"),
    "text": (lambda calls: ["fit"], ODD),
    "more": (lambda calls: [calls[0] | {"speed": 1}], ODD),
    "less": (lambda calls: [{"method": "fit"}], ODD),
    "method": (lambda calls: [calls[0] | {"method": "save"}], ODD),
    "sizes": (lambda calls: [calls[0] | {"sizes": [[0, 1]]}], ODD),
    "pairs": (lambda calls: [calls[0] | {"sizes": [[40]]}], ODD),
    "twice": (lambda calls: [calls[0] | {"sizes": [[20, 2]]}], ODD),
    "columns": (lambda calls: [calls[0] | {"n_features": -1}], ODD),
    "version": (lambda calls: [calls[0] | {"arithmetic_version": "1"}], ODD),
    "weighted": (lambda calls: [calls[0] | {"weighted": 0}], ODD),
    "end": (lambda calls: [calls[0] | {"ended": ["tol", 1]}], ODD),
    "parameter": (lambda calls: [calls[0] | {"parameters": {"speed": 1}}], "no parameter 'speed'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_no_training_leaves_is_refused(tools, folder, parts, name):
    change, pattern = WRONG[name]
    document = copy.deepcopy(parts[0])
    folder.loaded(tools.put_together(document, parts[1]))
    document["calls"] = change(document["calls"])
    text = folder.refusal(tools.put_together(document, parts[1]))
    assert re.search(pattern, text), text


LEFT = "its digests must be as a fit has left them"
WRONG_DIGESTS = {
    "no object": ([], LEFT),
    "less": ({"blocks": []}, LEFT),
    "key": ({"key": "secret", "blocks": []}, LEFT),
    "no pairs": ({"key": None, "blocks": [40]}, LEFT),
    "no digest": ({"key": None, "blocks": [[80, "x" * 64]]}, LEFT),
    "nothing": ({"key": None, "blocks": [[0, None], [80, None]]}, LEFT),
    "few": ({"key": None, "blocks": [[40, "0" * 64], [40, None]]}, LEFT),
    "others": ({"key": None, "blocks": [[40, None]]}, "must have the 80 examples of its calls"),
}


@pytest.mark.parametrize("name", WRONG_DIGESTS)
def test_digests_that_no_training_leaves_are_refused(tools, folder, parts, name):
    digests, pattern = WRONG_DIGESTS[name]
    text = folder.refusal(tools.put_together(parts[0] | {"digests": digests}, parts[1]))
    assert re.search(pattern, text), text
    without = {part: value for part, value in parts[0].items() if part != "calls"}
    assert "belong to no call" in folder.refusal(tools.put_together(without, parts[1]))


def test_start_weights_without_their_call(tools, folder, parts):
    document, tensors = copy.deepcopy(parts)
    del document["digests"]
    coef, both = {"start_of_record_coef": zeros(3, 4)}, {"start_of_record_intercept": zeros(3)}
    assert "must be the weights and intercepts" in folder.refusal(
        tools.put_together(document, tensors | coef)
    )
    both |= coef
    folder.loaded(tools.put_together(document, tensors | both))
    wrong = both | {"start_of_record_coef": ("F64", [1], np.array([np.inf]).tobytes())}
    assert "finite float64" in folder.refusal(tools.put_together(document, tensors | wrong))
    document["calls"] = document["calls"][1:]
    assert "of a first fit" in folder.refusal(tools.put_together(document, tensors | both))
    del document["calls"]
    assert "belongs to no call" in folder.refusal(tools.put_together(document, tensors | both))
