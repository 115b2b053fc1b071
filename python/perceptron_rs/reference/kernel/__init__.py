"""The kernel perceptron: the perceptron on the rows of a Gram matrix. Start with ``train.py``."""

from .budget import start_budget
from .gram import kernel_matrix, scale_gamma
from .predict import kernel_scores
from .train import start_kernel

__all__ = ["kernel_matrix", "kernel_scores", "scale_gamma", "start_budget", "start_kernel"]
