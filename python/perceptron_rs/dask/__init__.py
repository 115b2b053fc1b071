"""Learn from what lies on the workers of a Dask cluster, with the bits of one machine.

The classes are those of `perceptron_rs`, with one more parameter, ``client``. Each block of X is a partition:
a fit has the bits of a local one with ``n_partitions`` set to the lengths of the blocks, for any number of
workers, and after workers died.

This needs the extra ``dask``.
"""

from perceptron_rs.dask.estimators import AveragedPerceptron, Perceptron, SequencePerceptron
from perceptron_rs.distributed.fitting import PartitionReport
from perceptron_rs.distributed.partition import PartitionChangedError, PartitionError

__all__ = [
    "AveragedPerceptron",
    "PartitionChangedError",
    "PartitionError",
    "PartitionReport",
    "Perceptron",
    "SequencePerceptron",
]
