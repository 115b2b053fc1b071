"""``margin`` and ``separable``: what they print, and the exit status of each answer."""

import json
import math

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from perceptron_rs import is_separable, max_margin

from .support import X, Y, process

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


@pytest.mark.parametrize("bias", ["free", "augmented", "none"])
def test_margin_is_max_margin(call, text_file, bias):
    expected = max_margin(X, Y, bias=bias)
    answer = call("margin", text_file, "--bias", bias)
    assert answer.status == 0
    assert answer.out == f"{expected}\n"
    found = call("margin", text_file, "--bias", bias, "--json").json
    assert found == json.loads(json.dumps(expected.to_dict()))
    assert found["lower"] == expected.lower
    slow = call("margin", text_file, "--bias", bias, "--json", "--engine", "reference", "--threads", "2").json
    assert slow == found


def test_options_reach_the_search(call, text_file, hard):
    assert call("margin", hard, "--max-steps", "0", "--json").json["status"] == "undecided"
    rough = call("margin", text_file, "--tol", "0.5", "--solver", "wolfe", "--json").json
    assert rough["status"] == "separable"
    assert rough["solver"] == "wolfe"


def test_margin_of_inseparable_data_is_an_answer(call, noisy):
    answer = call("margin", noisy, "--json")
    assert answer.status == 0
    assert answer.json["status"] == "non_separable"
    assert answer.json["lower"] is None


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
    assert answer.status == 3
    assert answer.json["separable"] is False
    assert answer.json["support"]


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


def test_numbers_are_named_as_they_are_printed(call, text_file):
    plain, named = (call("margin", text_file, "--json", *more).json for more in ([], ["--positive", "1"]))
    assert plain["lower"] == named["lower"]
    assert plain["coef"] == named["coef"]


@pytest.fixture
def crossed(tmp_path):
    """XOR: no plane separates it, a polynomial of degree 2 does."""
    path = tmp_path / "xor.npz"
    np.savez(path, X=[[-1.0, -1], [1, 1], [-1, 1], [1, -1]], y=[-1, -1, 1, 1])
    return path


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        (["--kernel", "linear"], {"kernel": "linear"}),
        (
            ["--kernel", "poly", "--degree", 2, "--gamma", 1, "--coef0", 1],
            {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0},
        ),
        (
            ["--kernel", "rbf", "--gamma", 0.5, "--bias", "none"],
            {"kernel": "rbf", "gamma": 0.5, "bias": "none"},
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
    assert answer.status == (0 if parameters["kernel"] != "linear" else 3)
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


@pytest.mark.parametrize("command", ["margin", "separable"])
def test_kernel_options_that_do_nothing(call, command, crossed):
    for options, said in {
        ("--gamma", "1"): "--gamma has no effect without --kernel rbf or poly",
        ("--kernel", "linear", "--gamma", "1"): "--gamma has no effect without --kernel rbf or poly",
        ("--kernel", "rbf", "--degree", "2"): "--degree has no effect without --kernel poly",
        ("--kernel", "rbf", "--coef0", "2"): "--coef0 has no effect without --kernel poly",
        (
            "--kernel",
            "poly",
            "--coef0=-1",
        ): "argument --coef0: must be a finite number of at least 0, got '-1'",
        (
            "--kernel",
            "sigmoid",
        ): "--kernel: invalid choice: 'sigmoid'; choose from linear, poly, rbf, precomputed",
    }.items():
        answer = call(command, crossed, *options)
        assert answer.status == 2, options
        assert said in answer.err


def test_bad_data(refused, tmp_path):
    np.savez(tmp_path / "a.npz", X=[[np.nan], [1.0]], y=[0, 1])
    for command in ("margin", "separable"):
        assert "no such file" in refused(command, tmp_path / "no.svm")
        assert "nan" in refused(command, tmp_path / "a.npz").lower()


def test_exit_status_of_a_process(noisy):
    assert process("separable", noisy).status == 3
