"""The online learners: what is done with the log of mistakes, and when a run ends."""

from .averaged import Averaged, average
from .feed import feed
from .fit import fit
from .one_pass import one_pass
from .perceptron import Perceptron, updates_until_right
from .pocket import Pocket
from .rule import Rule
from .settled import settled
from .voted import Voted, replay
from .votes import votes

__all__ = [
    "Averaged",
    "Perceptron",
    "Pocket",
    "Rule",
    "Voted",
    "average",
    "feed",
    "fit",
    "one_pass",
    "replay",
    "settled",
    "updates_until_right",
    "votes",
]
