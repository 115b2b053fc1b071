"""Where a run begins, whatever its learner."""

from __future__ import annotations

from perceptron_rs.float_mode import standard
from perceptron_rs.reference.kernel import start_budget, start_kernel
from perceptron_rs.reference.linear.run import Run, start_linear
from perceptron_rs.settings import Budget, Data, Kernel, Linear, State

__all__ = ["start"]


@standard()
def start(data: Data, state: State, settings: Linear) -> Run:
    """Begin a run of the learner of these settings; ``state`` is not modified.

    Raises ValueError if shapes do not agree.
    """
    if isinstance(settings, Budget):
        return start_budget(data, state, settings)
    if isinstance(settings, Kernel):
        return start_kernel(data, state, settings)
    return start_linear(data, state, settings)
