"""The online learners: what is done with the log of mistakes, and when a run ends."""

from .averaged import Averaged, average
from .feed import feed
from .fit import fit
from .perceptron import Perceptron, updates_until_right
from .pocket import Pocket
from .rule import Rule
from .settled import settled

__all__ = [
    "Averaged",
    "Perceptron",
    "Pocket",
    "Rule",
    "average",
    "feed",
    "fit",
    "settled",
    "updates_until_right",
]
