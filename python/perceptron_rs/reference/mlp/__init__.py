"""Layers of neurons: the algorithm in ``train.py``, predictions in ``scores.py``, all else in ``run.py``."""
