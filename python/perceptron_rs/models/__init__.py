"""Estimators as files, exact ones in the safetensors format; as models of other libraries.

A model file holds arrays and one JSON text, and no code: reading one runs nothing that it says.
`perceptron_rs.models.container` describes its bytes, `perceptron_rs.models.reader` what is refused. What must
know all learners stands above them, in `perceptron_rs.learners`.
"""

from perceptron_rs.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
