"""The algorithms as textbooks print them: each a whole loop, on dense rows, in the order of the rows.

Start with ``perceptron.py``. The others stand beside it, and repeat its loop. They have no options; what the
engine adds (sparse rows, random orders, weights of examples, state) is in the other folders. On what both can
do, they have the same bits.
"""

from .averaged import averaged_perceptron
from .kernel import kernel_activation, kernel_perceptron, polynomial
from .perceptron import perceptron
from .pocket import pocket_perceptron
from .voted import vote, voted_perceptron

__all__ = [
    "averaged_perceptron",
    "kernel_activation",
    "kernel_perceptron",
    "perceptron",
    "pocket_perceptron",
    "polynomial",
    "vote",
    "voted_perceptron",
]
