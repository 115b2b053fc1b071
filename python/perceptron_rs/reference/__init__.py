"""The reference engine: the specification that the compiled core must match to the last bit.

Written to be read. Start with ``online/perceptron.py`` and ``online/averaged.py`` (the learners), then
``rows/learn.py`` (the loop), ``online/fit.py`` (epochs), ``order.py`` and ``arith/`` (the contract).
"""

from perceptron_rs.reference.margin import margin, separate
from perceptron_rs.reference.online import average, fit, one_pass, replay, settled, updates_until_right, votes
from perceptron_rs.reference.order import permutation
from perceptron_rs.reference.rows import csr_rows, dense_rows, scores
from perceptron_rs.reference.structured import (
    sequence_average,
    sequence_decode,
    sequence_fit,
    structured_update,
)

__all__ = [
    "ARITHMETIC_VERSION",
    "average",
    "csr_rows",
    "dense_rows",
    "fit",
    "margin",
    "one_pass",
    "permutation",
    "replay",
    "scores",
    "separate",
    "sequence_average",
    "sequence_decode",
    "sequence_fit",
    "settled",
    "structured_update",
    "updates_until_right",
    "votes",
]

#: Raised by one whenever any learned bit changes.
ARITHMETIC_VERSION = 1
