"""Where a run begins, whatever its learner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from perceptron_rs.arrays.named import State
from perceptron_rs.float_mode import standard
from perceptron_rs.reference.kernel.budget import start_budget
from perceptron_rs.reference.kernel.train import start_kernel
from perceptron_rs.reference.linear.model import Model, start_linear
from perceptron_rs.reference.mlp.run import start_network
from perceptron_rs.reference.structured.run import start_chain
from perceptron_rs.settings import Budget, Chain, Data, Kernel, Linear, Network, Settings

#: Of learners of which no pass learns in place.
_STARTS: dict[type[Settings], Callable[[Any, State, Any], Any]] = {
    Budget: start_budget,
    Chain: start_chain,
    Kernel: start_kernel,
    Network: start_network,
}


@standard()
def start(data: Data, model: Model, settings: Settings) -> Any:
    """Begin a run of the learner of these settings with what a model has learnt, which is not modified.

    Raises ValueError if shapes do not agree.
    """
    if not isinstance(model, Model):
        raise TypeError(f"model must be a Model of this engine, got {type(model).__name__}")
    if type(settings) is Linear:
        return start_linear(data, model, settings)
    return OfArrays(_STARTS[type(settings)](data, model.state(), settings), model.learner)


class OfArrays:
    """A run whose state is a model of arrays by name."""

    def __init__(self, run: Any, learner: str) -> None:
        self.run, self.learner = run, learner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.run, name)

    def state(self) -> Any:
        """Return what has been learnt so far."""
        return Model.from_state(self.learner, self.run.state())
