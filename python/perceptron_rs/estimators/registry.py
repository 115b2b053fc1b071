"""The learners by the names that the command line and model files give them."""

from __future__ import annotations

from perceptron_rs.estimators.averaged import AveragedPerceptron
from perceptron_rs.estimators.perceptron import Perceptron
from perceptron_rs.estimators.pocket import PocketPerceptron

__all__ = ["LEARNERS"]

LEARNERS: dict[str, type] = {
    "perceptron": Perceptron,
    "averaged": AveragedPerceptron,
    "pocket": PocketPerceptron,
}
