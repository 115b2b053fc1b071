"""``margin`` and ``separable``: what they print, and the exit status of each answer."""

import json
import math

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from perceptron_rs import is_separable, max_margin

from .support import X, Y

NOISE = np.array([1, -1, 1, -1, -1, 1])


@pytest.fixture
def noisy(tmp_path):
    """Examples that no plane separates."""
    path = tmp_path / "noisy.npz"
    np.savez(path, X=np.vstack([X, X]), y=np.concatenate([Y, NOISE]))
    return path


@pytest.fixture
def hard(tmp_path):
    """Examples that a first guess does not separate."""
    path = tmp_path / "hard.npz"
    A, b = load_breast_cancer(return_X_y=True)
    np.savez(path, X=A, y=b)
    return path


@pytest.fixture
def three(tmp_path):
    path = tmp_path / "three.npz"
    np.savez(path, X=X, y=["a", "a", "b", "b", "c", "b"])
    return path


OPTIONS = [
    ((), {}),
    (
        ("--bias", "augmented", "--tol", 0.5, "--solver", "wolfe"),
        {"bias": "augmented", "tol": 0.5, "solver": "wolfe"},
    ),
    (("--bias", "none", "--engine", "reference", "--threads", 2), {"bias": "none"}),
]


@pytest.mark.parametrize(("options", "parameters"), OPTIONS)
def test_margin_is_max_margin(call, text_file, options, parameters):
    expected = max_margin(X, Y, **parameters)
    answer = call("margin", text_file, *options)
    assert (answer.status, answer.out) == (0, f"{expected}\n")
    found = call("margin", text_file, *options, "--json").json
    assert found == json.loads(json.dumps(expected.to_dict()))
    assert call("margin", text_file, *options, "--json", "--positive", 1).json["lower"] == found["lower"]


def test_separable(call, text_file):
    answer = call("separable", text_file)
    assert (answer.status, answer.out, answer.err) == (0, "separable\n", "")


def test_undecided(call, hard):
    answer = call("separable", hard, "--max-steps", "0")
    assert (answer.status, answer.out, answer.err) == (4, "undecided\n", "")
    assert call("separable", hard, "--max-steps", "0", "--json").json["separable"] is None


def test_not_separable(call, noisy):
    answer = call("separable", noisy)
    assert (answer.status, answer.out) == (3, "not separable\n")
    answer = call("separable", noisy, "--json")
    assert (answer.status, answer.json["separable"]) == (3, False)
    assert answer.json["support"]
    answer = call("margin", noisy, "--json")
    assert (answer.status, answer.json["status"], answer.json["lower"]) == (0, "non_separable", None)


def test_json_holds_a_separating_plane(call, text_file):
    found = call("separable", text_file, "--json").json
    assert found["separable"] is True
    assert (Y * (X @ found["coef"] + found["intercept"]) > 0).all()
    assert 0 < found["lower"] <= found["upper"] < math.inf


def test_one_class_against_the_rest(call, refused, three):
    line = refused("margin", three)
    assert "holds 3 classes (a, b, c), but a margin is between two; choose one with --positive LABEL" in line
    assert "holds 3 classes" in refused("separable", three)
    expected = max_margin(X, np.array([1, 1, 0, 0, 0, 0]))
    found = call("margin", three, "--positive", "a", "--json").json
    assert (found["lower"], found["upper"]) == (expected.lower, expected.upper)
    assert call("separable", three, "--positive", "a").status == 0
    assert "--positive d: no example has this label" in refused("separable", three, "--positive", "d")


@pytest.fixture
def crossed(tmp_path):
    """XOR: no plane separates it, a polynomial of degree 2 does."""
    path = tmp_path / "xor.npz"
    np.savez(path, X=[[-1.0, -1], [1, 1], [-1, 1], [1, -1]], y=[-1, -1, 1, 1])
    return path


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        (
            ["--kernel", "poly", "--degree", 2, "--gamma", 1, "--coef0", 1],
            {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0},
        ),
        (["--kernel", "rbf", "--gamma", "auto"], {"kernel": "rbf", "gamma": "auto"}),
    ],
)
def test_a_kernel_reaches_the_search(call, crossed, options, parameters):
    with np.load(crossed) as file:
        A, b = file["X"], file["y"]
    expected = json.loads(json.dumps(max_margin(A, b, **parameters).to_dict()))
    assert call("margin", crossed, *options, "--json").json == expected
    decided, result = is_separable(A, b, explain=True, **parameters)
    answer = call("separable", crossed, *options, "--json")
    assert answer.status == 0
    assert answer.json == {"separable": decided, **json.loads(json.dumps(result.to_dict()))}


def test_a_matrix_of_kernel_values(call, refused, tmp_path, crossed, text_file):
    with np.load(crossed) as file:
        A, b = file["X"], file["y"]
    path = tmp_path / "gram.npz"
    np.savez(path, X=(A @ A.T + 1) ** 2, y=b)
    same = [call("margin", path, "--kernel", "precomputed", "--json")]
    same.append(
        call("margin", crossed, "--kernel", "poly", "--degree", 2, "--gamma", 1, "--coef0", 1, "--json")
    )
    assert [answer.json["lower"] for answer in same] == [same[0].json["lower"]] * 2
    assert same[0].json["lower"] == pytest.approx(math.sqrt(2))  # sqrt(2) x1 x2 is 1 of the six features
    line = refused("margin", text_file, "--kernel", "precomputed")
    assert line == "the data must be a square matrix with --kernel precomputed, got shape (6, 3)"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--gamma", "1"), "--gamma has no effect without --kernel rbf or poly"),
        (("--kernel", "rbf", "--degree", "2"), "--degree has no effect without --kernel poly"),
        (("--kernel", "poly", "--coef0=-1"), "--coef0: must be a finite number of at least 0, got '-1'"),
        (("--kernel", "sigmoid"), "invalid choice: 'sigmoid'; choose from linear, poly, rbf, precomputed"),
    ],
)
def test_kernel_options_that_do_nothing(call, crossed, options, text):
    answer = call("margin", crossed, *options)
    assert (answer.status, text in answer.err) == (2, True), answer.err
