"""The learners by the names that the command line and model files give them."""

from __future__ import annotations

from perceptron_rs.estimators.averaged import AveragedPerceptron
from perceptron_rs.estimators.kernel import KernelPerceptron
from perceptron_rs.estimators.multilayer import MultilayerPerceptron
from perceptron_rs.estimators.perceptron import Perceptron
from perceptron_rs.estimators.pocket import PocketPerceptron
from perceptron_rs.estimators.sequence import SequencePerceptron
from perceptron_rs.estimators.voted import VotedPerceptron

__all__ = ["LEARNERS", "LINEAR_LEARNERS", "SEQUENCE_LEARNERS"]

#: Those with one weight a feature, from which a fit may start, and which are printed as text.
LINEAR_LEARNERS: dict[str, type] = {
    "perceptron": Perceptron,
    "averaged": AveragedPerceptron,
    "pocket": PocketPerceptron,
    "voted": VotedPerceptron,
}

LEARNERS: dict[str, type] = LINEAR_LEARNERS | {
    "kernel": KernelPerceptron,
    "multilayer": MultilayerPerceptron,
}

#: Those that label sequences; the commands on single examples do not take them.
SEQUENCE_LEARNERS: dict[str, type] = {"sequence": SequencePerceptron}
