"""Estimators as files, exact ones in the safetensors format; as models of other libraries.

A model file holds arrays and one JSON text, and no code: reading one runs nothing that it says.
`perceptron_rs.models.container` describes its bytes, `perceptron_rs.models.reader` what is refused. What must
know all learners stands above them, in `perceptron_rs.learners`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perceptron_rs.learners import describe, load, register_skl2onnx
    from perceptron_rs.models.writer import save

__all__ = ["describe", "load", "register_skl2onnx", "save"]

#: Where each name lives: importing all of them imports scikit-learn.
_HOME = {
    "describe": "learners",
    "load": "learners",
    "register_skl2onnx": "learners",
    "save": "models.writer",
}

if not TYPE_CHECKING:  # a type checker would take it as leave to read any name

    def __getattr__(name):
        """Import a public name when it is first asked for."""
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(f"perceptron_rs.{_HOME[name]}"), name)
        return value
