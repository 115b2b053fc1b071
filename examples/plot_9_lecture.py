"""
A lecture hour
==============

The perceptron in the order of a lecture, as a notebook: download it at the end of this page, run it cell
by cell, and change what you like.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptron_rs import (
    AveragedPerceptron,
    KernelPerceptron,
    Perceptron,
    is_separable,
    max_margin,
    proof,
    trace,
)
from perceptron_rs.datasets import lecture, make_noisy, make_separable, xor
from perceptron_rs.plots import HyperplaneDisplay, MistakesDisplay, ProofDisplay, UpdateDisplay

# %%
# 1. A line and a rule
# --------------------
#
# A line :math:`w \cdot x + b = 0` divides the plane. The perceptron looks at one example after the other. If
# it is on the wrong side, the example is added to the weights with its sign: :math:`w \leftarrow w + y x`.
# This is the table of a lecture, with six points and no intercept, where a point on the line counts as
# positive:

table = lecture("six_points")
steps = table.trace()
print(steps)

# %%
# Each update turns the normal vector towards a positive example, or away from a negative one.

updates = [step for step in steps if step.mistake]
figure, axes = plt.subplots(1, len(updates), figsize=(12, 5.2), layout="constrained")
for ax, step in zip(axes, updates, strict=True):
    UpdateDisplay.from_step(step, table.X, table.y, ax=ax)
plt.show()

# %%
# *Exercise.* Change the order of the six points. Is the line a different one? How many mistakes are made?
#
# 2. How long does it take?
# -------------------------
#
# After a few epochs there are no more mistakes. The theorem says how many there can be at most:
# :math:`(R / \gamma)^2`, whatever the number of examples and columns.

X, y = make_separable(60, 2, margin=0.01, seed=36)
model = Perceptron(tol=None).fit(X, y)
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
HyperplaneDisplay.from_estimator(model, X, y, ax=axes[0])
MistakesDisplay.from_estimator(model, ax=axes[1])
plt.show()
bound = max_margin(X, y, bias="augmented").mistake_bound
print(f"{model.n_mistakes_} mistakes, at most {bound:.0f}")

# %%
# Its proof has two inequalities. Both hold after each update of each run, so look at one:

run = proof(trace(Perceptron(tol=None), *make_separable(200, 20, margin=0.1)))
ProofDisplay.from_proof(run)
plt.show()
print(run)

# %%
# *Exercise.* Draw 2,000 points instead of 200, in 200 columns instead of 20. How many mistakes are made now?
#
# 3. No line separates the classes
# --------------------------------
#
# Some of these labels are wrong, and no line separates the classes. So the mistakes never end, and the last
# weights are as good or bad as the last examples. The average of all weights is better.

X, y = make_noisy(200, 2, margin=0.1, flipped=0.1, seed=33)
figure, axes = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
for ax, kind in zip(axes, (Perceptron, AveragedPerceptron), strict=True):
    model = kind(max_iter=20, tol=None).fit(X, y)
    HyperplaneDisplay.from_estimator(model, X, y, ax=ax)
    ax.set_title(f"{kind.__name__}: {np.sum(model.predict(X) != y)} of {len(y)} wrong")
plt.show()

# %%
# 4. The exclusive or
# -------------------
#
# Four points are enough. With products of features as features, a plane separates them.

X, y = xor()
print("separable:", is_separable(X, y))
model = KernelPerceptron("poly", degree=2, gamma=1.0, coef0=1.0, max_iter=50, prediction="last")
HyperplaneDisplay.from_estimator(model.fit(X, y), X, y)
plt.show()

# %%
# *Exercise.* Which degree separates three bits by their parity?
