"""Where a run begins, whatever its learner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perceptron_rs.float_mode import standard
from perceptron_rs.reference.kernel import start_budget, start_kernel
from perceptron_rs.reference.linear.model import Model, start_linear
from perceptron_rs.reference.mlp import start_network
from perceptron_rs.reference.structured import start_chain
from perceptron_rs.settings import Budget, Chain, Data, Kernel, Linear, Network, Sequences, Settings
from perceptron_rs.state import State

if TYPE_CHECKING:
    from perceptron_rs.engines import Run

__all__ = ["start"]


@standard()
def start(data: Data, model: Model, settings: Settings) -> Run:
    """Begin a run of the learner of these settings with what a model has learnt, which is not modified.

    Raises ValueError if shapes do not agree.
    """
    if not isinstance(model, Model):
        raise TypeError(f"model must be a Model of this engine, got {type(model).__name__}")
    if type(settings) is Linear:
        return start_linear(data, model, settings)
    return OfArrays(_start_arrays(data, model.state(), settings), model.learner)


def _start_arrays(data: Data, state: State, settings: Settings) -> Run:
    """Begin a run of a learner of which no pass learns in place."""
    if isinstance(settings, Chain) and isinstance(data, Sequences):
        return start_chain(data, state, settings)
    if isinstance(settings, Network):
        return start_network(data, state, settings)
    if isinstance(settings, Budget):
        return start_budget(data, state, settings)
    assert isinstance(settings, Kernel)
    return start_kernel(data, state, settings)


class OfArrays:
    """A run whose state is a model of arrays by name."""

    def __init__(self, run: Run, learner: str) -> None:
        self.run, self.learner = run, learner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.run, name)

    def state(self) -> Any:
        """Return what has been learnt so far."""
        return Model.from_state(self.learner, self.run.state())
