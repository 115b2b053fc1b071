"""The perceptron family: scikit-learn's API, a Rust core, one bit pattern everywhere."""

from importlib.metadata import version

from perceptron_rs._core import ARITHMETIC_VERSION
from perceptron_rs.estimators import AveragedPerceptron, EpochRecord, Perceptron
from perceptron_rs.models import load
from perceptron_rs.online import updates_until_right

__all__ = [
    "ARITHMETIC_VERSION",
    "AveragedPerceptron",
    "EpochRecord",
    "Perceptron",
    "__version__",
    "load",
    "updates_until_right",
]

__version__ = version("perceptron-rs")
