"""Layers of neurons."""

from .network import mlp_scores, mlp_start
from .train import mlp_fit

__all__ = ["mlp_fit", "mlp_scores", "mlp_start"]
