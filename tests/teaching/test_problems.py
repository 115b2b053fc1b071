"""The notebook of problems grades: the solutions of the page are right, others are not yet."""

from __future__ import annotations

import runpy
from fractions import Fraction
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

SOLUTIONS = {
    1: 1,
    2: [1, 2],
    3: -6,
    4: [1, -1],
    5: 14,
    6: [3, -1],
    7: 2,
    8: [-1, 0],
    9: [1, 2, -1],
    10: [9, 6, 0],
}


@pytest.fixture(scope="module")
def notebook():
    mpl.use("agg")
    return runpy.run_path(str(Path(__file__).parents[2] / "examples" / "plot_problems.py"))


@pytest.mark.parametrize("number", SOLUTIONS)
def test_a_solution_is_right_and_nothing_else(notebook, number):
    grade, solution = notebook["grade"], SOLUTIONS[number]
    other = [value + 1 for value in solution] if isinstance(solution, list) else solution + 1
    assert grade(number, solution) == f"problem {number}: right"
    assert grade(number, other) == f"problem {number}: not yet"
    assert grade(number, [1, 2, 3, 4]) == f"problem {number}: not yet"
    assert grade(number, None) == f"problem {number}: no answer yet"


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        (1, "1"),
        (1, Fraction(1)),
        (1, np.float32(1)),
        (2, np.array([[1, 2]], np.int8)),
        (2, ["1", "4/2"]),
        (5, np.array(14)),
        (6, ((3.0,), (-1.0,))),
        (9, ([1, 2], -1)),
        (9, (np.array([1.0, 2.0]), np.array([-1.0]))),
        (10, (9, 6, False)),
    ],
)
def test_a_right_answer_in_another_form_is_right(notebook, number, answer):
    assert notebook["grade"](number, answer) == f"problem {number}: right"


@pytest.mark.parametrize("answer", ["one", "1/0", [1, None], object(), 1j, {"w": 1}, [[1], ["x"]]])
def test_what_is_no_number_is_said_to_be_none(notebook, answer):
    assert notebook["grade"](1, answer) == "problem 1: write a number, or a list of numbers"


@pytest.mark.parametrize(
    "answer", [14.0001, -14, float("nan"), float("inf"), [], [14, 14], [[14], [0]], "14.5"]
)
def test_a_wrong_answer_is_not_right_yet(notebook, answer):
    assert notebook["grade"](5, answer) == "problem 5: not yet"


def test_each_problem_can_be_graded(notebook):
    assert set(notebook["RIGHT"]) == set(SOLUTIONS)
