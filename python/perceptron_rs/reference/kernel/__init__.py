"""The kernel perceptron: the perceptron on the rows of a Gram matrix. Start with ``train.py``."""

from .budget import start_budget
from .gram import kernel_matrix, scale_gamma
from .predict import kernel_scores
from .train import start_kernel
