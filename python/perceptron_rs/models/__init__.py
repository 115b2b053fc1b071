"""Estimators as files: exact model files in the safetensors format, and weights as text.

A model file holds arrays and one JSON text, and no code: reading one runs nothing that it says.
`perceptron_rs.models.container` describes its bytes, `perceptron_rs.models.reader` what is refused.
"""

from perceptron_rs.models.reader import describe, load
from perceptron_rs.models.text import dump_text, read_text
from perceptron_rs.models.writer import save

__all__ = ["describe", "dump_text", "load", "read_text", "save"]
