"""Structured perceptrons: the answer is a whole sequence, or any other structure.

The loop is in ``chain.py``, the search in ``lattice.py``, what a beam needs in ``prefix.py``; what is not the
algorithm in ``run.py``.
"""

from .best import sequence_k_best
from .decode import sequence_decode, sequence_weights
from .general import structured_update
from .margins import sequence_margins
from .run import sequence_average, start_chain
