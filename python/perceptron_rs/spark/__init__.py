"""Learn from the partitions of a Spark data frame, with the bits of one machine.

The classes are those of `perceptron_rs`, with parameters that name the columns. Each partition of the data
frame is a partition of the fit. Needs no barrier mode: an epoch is an ordinary job, whose tasks Spark
repeats.

This needs the extra ``spark``, and Java 17.
"""

from perceptron_rs.distributed.fitting import PartitionReport
from perceptron_rs.distributed.partition import PartitionChangedError, PartitionError
from perceptron_rs.spark.estimators import AveragedPerceptron, Perceptron, SequencePerceptron

__all__ = [
    "AveragedPerceptron",
    "PartitionChangedError",
    "PartitionError",
    "PartitionReport",
    "Perceptron",
    "SequencePerceptron",
]
