"""The learners, as scikit-learn estimators."""

from perceptron_rs.estimators.averaged import AveragedPerceptron
from perceptron_rs.estimators.perceptron import Perceptron

__all__ = ["AveragedPerceptron", "Perceptron"]
