"""
One data set, 1,000 orders
==========================

A perceptron stops at the first line that separates the classes. Which one it is depends on the order of
the examples. Here are all lines that 1,000 orders of the same 85 points lead to.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptron_rs import Perceptron, max_margin
from perceptron_rs.datasets import make_separable
from perceptron_rs.plots import MarginDisplay, OrdersDisplay

X, y = make_separable(85, margin=0.1, seed=2)

# %%
# Each line separates the classes: with ``tol=None``, training ends with an epoch without a mistake. A
# perceptron with ``margin_threshold`` goes on until all activations are that large, and comes closer to
# the line with the largest margin.

figure, axes = plt.subplots(1, 3, figsize=(13, 4.5), layout="constrained")
last = OrdersDisplay.from_estimator(Perceptron(tol=None), X, y, ax=axes[0])
wide = OrdersDisplay.from_estimator(Perceptron(margin_threshold=2.0, tol=None), X, y, ax=axes[1])
MarginDisplay.from_result(max_margin(X, y), X, y, ax=axes[2])
axes[0].set_title("perceptron")
axes[1].set_title("perceptron with margin")
axes[2].set_title("largest margin")
plt.show()

# %%
# The angle between each line and that of the largest margin shows it in numbers. The order also decides
# how long it takes.

best = max_margin(X, y)


def angles(coef):
    """Return the angles in degrees between normal vectors and that of the largest margin."""
    cosine = coef @ best.coef / np.linalg.norm(coef, axis=1) / np.linalg.norm(best.coef)
    return np.degrees(np.arccos(np.clip(cosine, -1, 1)))


models = [Perceptron(tol=None, random_state=seed).fit(X, y) for seed in range(1000)]
epochs = [model.n_iter_ for model in models]
mistakes = [model.n_mistakes_ for model in models]

figure, axes = plt.subplots(1, 2, figsize=(10, 3.5), layout="constrained")
bins = np.linspace(0, max(angles(last.coef).max(), angles(wide.coef).max()), 40)
axes[0].hist(angles(last.coef), bins, label="perceptron", color="#0072B2", alpha=0.7)
axes[0].hist(angles(wide.coef), bins, label="with margin", color="#D55E00", alpha=0.7)
axes[0].set(xlabel="angle to the largest margin, in degrees", ylabel="orders")
axes[0].legend()
axes[1].hist(mistakes, np.arange(min(mistakes), max(mistakes) + 2) - 0.5, color="#0072B2")
axes[1].set(xlabel="mistakes until no more are made", ylabel="orders")
plt.show()

# %%
# The theorem holds for every order: there are at most :math:`(R / \gamma)^2` mistakes.

bound = max_margin(X, y, bias="augmented").mistake_bound
print(f"epochs    {min(epochs)} to {max(epochs)}")
print(f"mistakes  {min(mistakes)} to {max(mistakes)}, at most {bound:.0f}")
