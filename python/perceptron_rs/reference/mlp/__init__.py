"""Layers of neurons: the algorithm in ``train.py``, all else in ``run.py``."""

from .run import mlp_scores, mlp_start, start_network

__all__ = ["mlp_scores", "mlp_start", "start_network"]
