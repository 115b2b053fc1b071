"""``margin`` and ``separable``: what they print, and the exit status of each answer."""

import json
import math

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from perceptron_rs import is_separable, max_margin

from .support import X, Y

NOISE = np.array([1, -1, 1, -1, -1, 1])
CROSSED = np.array([[-1.0, -1], [1, 1], [-1, 1], [1, -1]])  # XOR: a polynomial of degree 2 separates it
DATA = {
    "two": (X, Y),
    "three": (X, ["a", "a", "b", "b", "c", "b"]),
    "noisy": (np.vstack([X, X]), np.concatenate([Y, NOISE])),
    "hard": load_breast_cancer(return_X_y=True),  # a first guess does not separate them
    "crossed": (CROSSED, [-1, -1, 1, 1]),
    "gram": ((CROSSED @ CROSSED.T + 1) ** 2, [-1, -1, 1, 1]),
}


@pytest.fixture
def on(call, tmp_path):
    """Call a command on some data."""

    def run(command, name, *options):
        A, b = DATA[name]
        np.savez(tmp_path / f"{name}.npz", X=A, y=b)
        return call(command, tmp_path / f"{name}.npz", *options)

    return run


POLY = ("--kernel", "poly", "--degree", 2, "--gamma", 1, "--coef0", 1)


@pytest.mark.parametrize(
    ("data", "options", "parameters"),
    [
        ("two", (), {}),
        ("two", ("--bias", "augmented", "--tol", 0.5), {"bias": "augmented", "tol": 0.5}),
        ("two", ("--bias", "none", "--engine", "reference", "--threads", 2), {"bias": "none"}),
        ("crossed", POLY, {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0}),
        ("crossed", ("--kernel", "rbf", "--gamma", "auto"), {"kernel": "rbf", "gamma": "auto"}),
        ("gram", ("--kernel", "precomputed"), {"kernel": "precomputed"}),
    ],
)
def test_they_are_max_margin_and_is_separable(on, data, options, parameters):
    expected = max_margin(*DATA[data], **parameters)
    answer = on("margin", data, *options)
    assert (answer.status, answer.out) == (0, f"{expected}\n")
    assert on("margin", data, *options, "--json").json == json.loads(json.dumps(expected.to_dict()))
    parameters.pop("tol", None)
    decided, result = is_separable(*DATA[data], explain=True, **parameters)
    answer = on("separable", data, *(option for option in options if option not in ("--tol", 0.5)), "--json")
    told = {"separable": decided, **json.loads(json.dumps(result.to_dict()))}
    assert (answer.status, answer.json) == (0 if decided else 3, told)


@pytest.mark.parametrize(
    ("data", "options", "status", "text"),
    [
        ("two", (), 0, "separable"),
        ("noisy", (), 3, "not separable"),
        ("hard", ("--max-steps", "0"), 4, "undecided"),
    ],
)
def test_the_exit_status_is_the_answer(on, data, options, status, text):
    answer = on("separable", data, *options)
    assert (answer.status, answer.out, answer.err) == (status, f"{text}\n", "")
    answer = on("separable", data, *options, "--json")
    assert (answer.status, answer.json["separable"]) == (status, {0: True, 3: False, 4: None}[status])


def test_what_json_holds(on):
    found = on("separable", "two", "--json").json
    assert (Y * (X @ found["coef"] + found["intercept"]) > 0).all()
    assert 0 < found["lower"] <= found["upper"] < math.inf
    assert on("separable", "noisy", "--json").json["support"]
    answer = on("margin", "noisy", "--json")
    assert (answer.status, answer.json["status"], answer.json["lower"]) == (0, "non_separable", None)


def test_one_class_against_the_rest(on):
    expected = max_margin(X, np.array([1, 1, 0, 0, 0, 0]))
    found = on("margin", "three", "--positive", "a", "--json").json
    assert (found["lower"], found["upper"]) == (expected.lower, expected.upper)
    assert on("separable", "three", "--positive", "a").status == 0


@pytest.mark.parametrize(
    ("data", "options", "status", "text"),
    [
        (
            "three",
            (),
            1,
            "3 classes (a, b, c), but a margin is between two; choose one with --positive LABEL",
        ),
        ("three", ("--positive", "d"), 1, "--positive d: no example has this label"),
        (
            "two",
            ("--kernel", "precomputed"),
            1,
            "must be a square matrix with --kernel precomputed, got shape (6",
        ),
        ("two", ("--gamma", "1"), 2, "--gamma has no effect without --kernel rbf or poly"),
        ("two", ("--kernel", "rbf", "--degree", "2"), 2, "--degree has no effect without --kernel poly"),
        ("two", ("--kernel", "poly", "--coef0=-1"), 2, "must be a finite number of at least 0, got '-1'"),
        ("two", ("--kernel", "sigmoid"), 2, "choose from linear, poly, rbf, precomputed"),
    ],
)
def test_what_is_refused(on, data, options, status, text):
    for command in ("margin", "separable"):
        answer = on(command, data, *options)
        assert (answer.status, text in answer.err) == (status, True), answer.err
