"""Pictures of what perceptrons learn, as Display classes in the manner of scikit-learn.

Each has a method ``from_estimator``, ``from_data`` or the like that computes what is shown, ``plot(ax=None)``
that draws it, and the attributes ``ax_``, ``figure_`` and those of the artists. They need matplotlib:
``pip install matplotlib``.

Each class says what its marks and lines mean; docs/course/index.rst has them in one table.
"""

from perceptron_rs.plots.learning import ErrorsDisplay, MistakesDisplay, PocketDisplay, SurvivalDisplay
from perceptron_rs.plots.plane import (
    DistanceDisplay,
    HyperplaneDisplay,
    OrdersDisplay,
    UpdateDisplay,
    animate,
)
from perceptron_rs.plots.progress import ProgressDisplay
from perceptron_rs.plots.proof import MarginDisplay, ProofDisplay
from perceptron_rs.plots.vectors import SumDisplay

__all__ = [
    "DistanceDisplay",
    "ErrorsDisplay",
    "HyperplaneDisplay",
    "MarginDisplay",
    "MistakesDisplay",
    "OrdersDisplay",
    "PocketDisplay",
    "ProgressDisplay",
    "ProofDisplay",
    "SumDisplay",
    "SurvivalDisplay",
    "UpdateDisplay",
    "animate",
]
