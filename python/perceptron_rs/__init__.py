"""The perceptron family: scikit-learn's API, a Rust core, one bit pattern everywhere.

Names are imported when they are first used: importing scikit-learn takes seconds, and neither
``import perceptron_rs`` nor ``perceptrons --help`` needs it.
"""

from perceptron_rs.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
# ``import *`` replaces nothing of scikit-learn's but its Perceptron.
__all__ = [name for name in __all__ if name not in ("LeaveOneOut", "hinge_loss")]
