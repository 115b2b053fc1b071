"""Mistakes of 20 orders for each of 8 margins, in 2 columns and in 20, with the bound."""

import matplotlib.pyplot as plt
import numpy as np

from perceptron_rs import Perceptron
from perceptron_rs.datasets import make_separable

gammas = np.geomspace(0.002, 0.4, 8)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
for ax, d in zip(axes, (2, 20), strict=True):
    for gamma in gammas:
        X, y = make_separable(200, d, margin=gamma, seed=1)
        made = [Perceptron(tol=None, random_state=seed).fit(X, y).n_mistakes_ for seed in range(20)]
        assert max(made) <= 2 / gamma**2
        ax.loglog([gamma] * 20, made, ".", color="C0", alpha=0.4)
    ax.loglog(gammas, 2 / gammas**2, "k--", label="the bound")
    ax.set(xlabel="margin", title=f"{d} columns")
axes[0].set_ylabel("mistakes of a run")
axes[1].legend()
