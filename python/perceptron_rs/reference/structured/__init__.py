"""Structured perceptrons: the answer is a whole sequence, or any other structure."""

from .chain import sequence_average, sequence_fit
from .decode import sequence_decode
from .general import structured_update

__all__ = ["sequence_average", "sequence_decode", "sequence_fit", "structured_update"]
