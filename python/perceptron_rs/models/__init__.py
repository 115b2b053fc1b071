"""Estimators as files, exact ones in the safetensors format; as text; as models of other libraries.

A model file holds arrays and one JSON text, and no code: reading one runs nothing that it says.
`perceptron_rs.models.container` describes its bytes, `perceptron_rs.models.reader` what is refused.
"""

from perceptron_rs.models.onnx import register_skl2onnx
from perceptron_rs.models.reader import describe, load
from perceptron_rs.models.text import dump_text, read_text
from perceptron_rs.models.writer import save

__all__ = ["describe", "dump_text", "load", "read_text", "register_skl2onnx", "save"]
