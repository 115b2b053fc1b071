"""Readers of data files: whole, or batch by batch for ``fit_stream``."""

from perceptron_rs.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
