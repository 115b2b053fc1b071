"""
Ten problems, graded
====================

The first ten of the :doc:`twenty problems </course/problems>`, as a notebook: download it at the end of this
page, write your answers, and run the cells. The package computes what is right, so no connection is needed.
"""

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

from perceptron_rs import Perceptron, trace, updates_until_right
from perceptron_rs.datasets import lecture
from perceptron_rs.plots import UpdateDisplay

six = lecture("six_points")
plain = {"fit_intercept": False, "shuffle": False, "tol": None}
corners = [[0, 0], [0, 1], [1, 0], [1, 1]]


def run(X, y, **settings):
    """Return the steps of the first epoch."""
    return [*trace(Perceptron(max_iter=1, **settings), X, y, every="example")]


def epochs(labels):
    """Return in how many epochs the four corners are learnt; 0 if they are not in 100."""
    model = Perceptron(shuffle=False, max_iter=100, tol=None).fit(corners, labels)
    return model.n_iter_ if model.converged_ else 0


#: What is right, computed when it is asked for.
RIGHT = {
    1: lambda: (np.array([3, -4]) @ [1, 2] + 10) / np.linalg.norm([3, -4]),
    2: lambda: (np.array([3, 1]) @ [1, 2]) / (np.array([1, 2]) @ [1, 2]) * np.array([1, 2]),
    3: lambda: np.array([2, 3]) @ [0, -2],
    4: lambda: run([[2, 0], [1, 2], [0, 1]], [1, -1, 1], **plain)[-1].w,
    5: lambda: Perceptron(shuffle=False, tol=None).fit([[2, 0], [1, 2], [0, 1]], [1, -1, 1]).n_mistakes_,
    6: lambda: run(six.X[::-1], six.y[::-1], **plain)[-1].w,
    7: lambda: updates_until_right([1, 2], 1, [-7, 0]),
    8: lambda: run([[1, 1], [2, 1]], [1, -1], shuffle=False, tol=None)[-1].w,
    9: lambda: np.array([-2, 1]) @ [[1, -1, 1], [3, 0, 1]],
    10: lambda: [epochs(labels) for labels in ([0, 0, 0, 1], [0, 1, 1, 1], [0, 1, 1, 0])],
}


def numbers(answer):
    """Return the numbers of an answer in one row: of 1, "1/2", [1, 2], ([1, 2], -1), [[1, 2]] or an array."""
    if np.iterable(answer) and not isinstance(answer, str):
        return [number for part in answer for number in numbers(part)]
    return [float(Fraction(answer) if isinstance(answer, str) else answer)]


def grade(number, answer):
    """Say whether an answer is right: a number, or the numbers of a vector."""
    if answer is None:
        return f"problem {number}: no answer yet"
    try:
        found, right = numbers(answer), numbers(RIGHT[number]())
    except (TypeError, ValueError, ZeroDivisionError):
        return f"problem {number}: write a number, or a list of numbers"
    is_right = len(found) == len(right) and np.allclose(found, right, rtol=0, atol=1e-6)
    return f"problem {number}: {'right' if is_right else 'not yet'}"


# %%
# Write your answers here instead of None.
#
# 1. How far is (1, 2) from the line :math:`3 x_1 - 4 x_2 + 10 = 0`, with the sign of its side?
# 2. The projection of (3, 1) on (1, 2).
# 3. With :math:`w = (2, 3)`, what is :math:`w \cdot (0, -2)`? It is a point of the line with :math:`b = 6`.
# 4. Without an intercept: (2, 0) is positive, (1, 2) negative, (0, 1) positive. The weights after an epoch.
# 5. The same points with an intercept: the number of updates until an epoch has none.
# 6. The six points of :func:`~perceptron_rs.datasets.lecture` in the reverse order, ``tie="mistake"``, no
#    intercept: the weights after an epoch.
# 7. The weights are (-7, 0): how often can the positive example (1, 2) be a mistake in a row?
# 8. (1, 1) is positive, (2, 1) negative, with an intercept: the two weights after an epoch.
# 9. Two mistakes on (1, -1), which is negative, and one on (3, 0), which is positive: w and b, ([0, 0], 0).
# 10. In how many epochs are AND, OR and XOR learnt, in the order (0, 0), (0, 1), (1, 0), (1, 1)? 0 for never.

answers = dict.fromkeys(RIGHT)
answers[2] = [1, 2]  # an example of an answer
for number, answer in answers.items():
    print(grade(number, answer))

# %%
# The points of problem 6, with its last update:

last = [step for step in run(six.X[::-1], six.y[::-1], **plain) if step.mistake][-1]
UpdateDisplay.from_step(last, six.X[::-1], six.y[::-1])
plt.show()
