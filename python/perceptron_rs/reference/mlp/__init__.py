"""Layers of neurons: the algorithm in ``train.py``, predictions in ``scores.py``, all else in ``run.py``."""

from .run import mlp_start, start_network
from .scores import mlp_scores
