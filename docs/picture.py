"""Write the picture of the README: ``python docs/picture.py FILE``, or ``make picture``."""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("agg")
import matplotlib.pyplot as plt
from PIL import Image

from perceptron_rs import KernelPerceptron, Perceptron, max_margin, proof, trace
from perceptron_rs.datasets import make_separable, two_moons
from perceptron_rs.plots import HyperplaneDisplay, MarginDisplay, OrdersDisplay, ProofDisplay


def draw() -> Any:
    """Return the figure: four things to see."""
    figure, axes = plt.subplots(1, 4, figsize=(13, 3.5), layout="constrained")
    X, y = make_separable(60, margin=0.1, seed=2)
    OrdersDisplay.from_estimator(Perceptron(tol=None), X, y, n_orders=200, ax=axes[0])
    axes[0].set_title("the lines of 200 orders")
    ProofDisplay.from_proof(
        proof(trace(Perceptron(tol=None), *make_separable(60, 20, margin=0.05))), ax=axes[1]
    )
    axes[1].set_title("the theorem, replayed on a run")
    MarginDisplay.from_result(max_margin(X, y), X, y, ax=axes[2])
    axes[2].set_title("the largest margin, certified")
    X, y = two_moons(100, noise=0.15, seed=0)
    kernel = KernelPerceptron("rbf", gamma=3.0, max_iter=20).fit(X, y)
    HyperplaneDisplay.from_estimator(kernel, X, y, ax=axes[3])
    axes[3].set_title("a kernel perceptron")
    for ax in axes[[0, 2, 3]]:
        ax.set(xlabel="", ylabel="", xticks=[], yticks=[], aspect="auto")
    return figure


if __name__ == "__main__":
    whole = BytesIO()  # of 64 colours it has a third of the size
    draw().savefig(whole, dpi=80)
    Image.open(whole).convert("RGB").quantize(64).save(Path(sys.argv[1]), optimize=True)
