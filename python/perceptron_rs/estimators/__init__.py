"""The learners, as scikit-learn estimators."""

from perceptron_rs.estimators.averaged import AveragedPerceptron
from perceptron_rs.estimators.kernel import KernelPerceptron
from perceptron_rs.estimators.multilayer import MultilayerPerceptron
from perceptron_rs.estimators.perceptron import Perceptron
from perceptron_rs.estimators.pocket import PocketPerceptron
from perceptron_rs.estimators.progress import EpochRecord
from perceptron_rs.estimators.sequence import SequencePerceptron
from perceptron_rs.estimators.sequence_progress import SequenceEpoch
from perceptron_rs.estimators.structured import StructuredPerceptron
from perceptron_rs.estimators.voted import VotedPerceptron

__all__ = [
    "AveragedPerceptron",
    "EpochRecord",
    "KernelPerceptron",
    "MultilayerPerceptron",
    "Perceptron",
    "PocketPerceptron",
    "SequenceEpoch",
    "SequencePerceptron",
    "StructuredPerceptron",
    "VotedPerceptron",
]
