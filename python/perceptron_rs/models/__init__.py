"""Estimators as files, exact ones in the safetensors format; as models of other libraries.

A model file holds arrays and one JSON text, and no code: reading one runs nothing that it says.
`perceptron_rs.models.container` describes its bytes, `perceptron_rs.models.reader` what is refused. What must
know all learners stands above them, in `perceptron_rs.learners`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perceptron_rs.learners import describe as describe
    from perceptron_rs.learners import load as load
    from perceptron_rs.learners import register_skl2onnx as register_skl2onnx
    from perceptron_rs.models.writer import save as save
else:
    from perceptron_rs.lazy import attach

    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "learners": ["describe", "load", "register_skl2onnx"],
            "models.writer": ["save"],
        },
    )
