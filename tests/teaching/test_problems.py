"""The notebook of problems grades: the solutions of the page are right, others are not yet."""

from __future__ import annotations

import runpy
from pathlib import Path

import matplotlib as mpl
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


def test_each_problem_can_be_graded(notebook):
    assert set(notebook["RIGHT"]) == set(SOLUTIONS)
