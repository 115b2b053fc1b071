"""The kernel perceptron: the perceptron on the rows of a Gram matrix. Start with ``train.py``."""

from .budget import kernel_fit_budget
from .gram import kernel_matrix, scale_gamma
from .predict import kernel_scores
from .train import kernel_fit

__all__ = ["kernel_fit", "kernel_fit_budget", "kernel_matrix", "kernel_scores", "scale_gamma"]
