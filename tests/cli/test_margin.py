"""``margin`` and ``separable``: what they print, and the exit status of each answer."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from perceptron_rs import is_separable, max_margin

from .support import X, Y

NOISE = np.array([1, -1, 1, -1, -1, 1])
DATA = {
    "two": (X, Y),
    "three": (X, ["a", "a", "b", "b", "c", "b"]),
    "noisy": (np.vstack([X, X]), np.concatenate([Y, NOISE])),
    "hard": load_breast_cancer(return_X_y=True),  # a first guess does not separate them
}


@pytest.fixture
def on(call, tmp_path):
    """Call a command on some data."""

    def run(command, name, *options):
        A, b = DATA[name]
        np.savez(tmp_path / f"{name}.npz", X=A, y=b)
        return call(command, tmp_path / f"{name}.npz", *options)

    return run


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        (("--bias", "augmented", "--tol", 0.5), {"bias": "augmented", "tol": 0.5}),
        (("--bias", "none", "--engine", "reference", "--threads", 2), {"bias": "none"}),
        (("--kernel", "poly", "--degree", 2, "--gamma", 1), {"kernel": "poly", "degree": 2, "gamma": 1.0}),
    ],
)
def test_they_are_max_margin_and_is_separable(on, options, parameters):
    expected = max_margin(X, Y, **parameters)
    answer = on("margin", "two", *options)
    assert (answer.status, answer.out) == (0, f"{expected}\n")
    assert on("margin", "two", *options, "--json").json == json.loads(json.dumps(expected.to_dict()))
    parameters.pop("tol", None)
    decided, result = is_separable(X, Y, explain=True, **parameters)
    answer = on("separable", "two", *(option for option in options if option not in ("--tol", 0.5)), "--json")
    told = {"separable": decided, **json.loads(json.dumps(result.to_dict()))}
    assert (answer.status, answer.json) == (0, told)


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


def test_one_class_against_the_rest(on):
    expected = max_margin(X, np.array([1, 1, 0, 0, 0, 0]))
    found = on("margin", "three", "--positive", "a", "--json").json
    assert (found["lower"], found["upper"]) == (expected.lower, expected.upper)
    assert on("separable", "three", "--positive", "a").status == 0


def test_two_classes_are_asked_for(on):
    for options, text in (
        ((), "3 classes (a, b, c), but a margin is between two; choose one with --positive LABEL"),
        (("--positive", "d"), "--positive d: no example has this label, but a, b, c"),
    ):
        for command in ("margin", "separable"):
            answer = on(command, "three", *options)
            assert (answer.status, text in answer.err) == (1, True), answer.err
