"""How separable data is: certified margins, proofs of the opposite, and the hard-margin separator."""

from perceptron_rs.margins.classifier import MaxMarginClassifier
from perceptron_rs.margins.maximum import is_separable, max_margin
from perceptron_rs.margins.measure import margin
from perceptron_rs.margins.mistakes import mistake_bounds
from perceptron_rs.margins.result import InseparableError, MarginInterval, MarginResult, MistakeBounds
from perceptron_rs.margins.verification import VerificationError, hull_weights, verify

__all__ = [
    "InseparableError",
    "MarginInterval",
    "MarginResult",
    "MaxMarginClassifier",
    "MistakeBounds",
    "VerificationError",
    "hull_weights",
    "is_separable",
    "margin",
    "max_margin",
    "mistake_bounds",
    "verify",
]
