"""The reference engine: the specification that the compiled core must match to the last bit.

Written to be read, like a lecture. ``lessons/`` has the algorithms as textbooks print them: whole loops on
dense rows, without options. ``linear/perceptron.py`` has the loop with all that an engine adds; what other
learners make of its mistakes is in ``linear/averaged.py``, ``voted.py`` and ``pocket.py``, and each option
has one file. ``structured/chain.py`` has the loop on label sequences, ``mlp/train.py`` that of layers of
neurons. What is not the algorithm is in the ``run.py`` of each folder. ``arith/`` and ``order.py`` are the
contract.
"""

from perceptron_rs.reference.arith import elementary
from perceptron_rs.reference.kernel import kernel_matrix, kernel_scores, scale_gamma
from perceptron_rs.reference.linear import (
    Draft,
    Model,
    Rule,
    average,
    replay,
    settled,
    updates_until_right,
    votes,
)
from perceptron_rs.reference.margin import margin, separate
from perceptron_rs.reference.mlp import mlp_scores, mlp_start
from perceptron_rs.reference.order import permutation
from perceptron_rs.reference.rows import csr_rows, dense_rows, scores
from perceptron_rs.reference.start import start
from perceptron_rs.reference.structured import (
    sequence_average,
    sequence_decode,
    sequence_k_best,
    sequence_margins,
    sequence_weights,
    structured_update,
)

#: Raised by one whenever any learned bit changes.
ARITHMETIC_VERSION = 2
