"""The space of weights of the six points: the half-plane of each, and the way of a run into their cone."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from perceptron_rs.datasets import lecture

slide = lecture("six_points")
X, y = slide.X, slide.y
figure, ax = plt.subplots(figsize=(5, 4))
grid = np.stack(np.meshgrid(np.linspace(-1, 4, 250), np.linspace(-3, 2, 250)), axis=-1)
allowed = (y * (grid @ X.T) > 0).sum(axis=-1)
levels = [-0.5, 2.5, 3.5, 4.5, 5.5, 6.5]
ax.contourf(grid[..., 0], grid[..., 1], allowed, levels=levels, cmap="Greys", alpha=0.6)
for x in X:
    ax.axline((0, 0), (-x[1], x[0]), color="black", linewidth=0.6)
path = np.array([[0, 0], *(step.w for step in slide.trace() if step.mistake)])
for tail, tip in pairwise(path):
    ax.annotate("", tip, tail, arrowprops={"arrowstyle": "-|>", "color": "C1", "lw": 2})
ax.set(xlim=(-1, 4), ylim=(-3, 2), xlabel="w1", ylabel="w2", aspect="equal")
