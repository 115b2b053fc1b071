"""The reference engine: the specification that the compiled core must match to the last bit.

Written to be read, like a lecture. ``lessons/`` has the algorithms as textbooks print them: whole loops on
dense rows, without options. ``linear/perceptron.py`` has the loop with all that an engine adds; what other
learners make of its mistakes is in ``linear/averaged.py``, ``voted.py`` and ``pocket.py``, and each option
has one file. ``structured/chain.py`` has the loop on label sequences, ``mlp/train.py`` that of layers of
neurons. What is not the algorithm is in the ``run.py`` of each folder. ``arith/`` and ``order.py`` are the
contract.
"""

from perceptron_rs.reference.arith import elementary
from perceptron_rs.reference.kernel.gram import kernel_matrix, scale_gamma
from perceptron_rs.reference.kernel.predict import kernel_scores
from perceptron_rs.reference.linear.model import Model, Rule
from perceptron_rs.reference.linear.right import updates_until_right
from perceptron_rs.reference.linear.voted import replay, votes
from perceptron_rs.reference.margin.plane import margin
from perceptron_rs.reference.margin.separate import separate
from perceptron_rs.reference.mlp.run import mlp_start
from perceptron_rs.reference.mlp.scores import mlp_scores
from perceptron_rs.reference.order import permutation
from perceptron_rs.reference.rows import csr_rows, dense_rows, scores
from perceptron_rs.reference.start import start
from perceptron_rs.reference.structured.best import sequence_k_best
from perceptron_rs.reference.structured.decode import sequence_decode, sequence_weights
from perceptron_rs.reference.structured.general import structured_update
from perceptron_rs.reference.structured.margins import sequence_margins
from perceptron_rs.reference.structured.run import sequence_average

#: Raised by one whenever any learned bit changes.
ARITHMETIC_VERSION = 2
