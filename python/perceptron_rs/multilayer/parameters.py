"""The parameters of `multilayer` learners. Nothing that takes time may be imported here."""

from dataclasses import dataclass, field
from typing import Any

from perceptron_rs.choices import Activation, ClassWeight, words
from perceptron_rs.common.options import kinds
from perceptron_rs.common.options.groups import (
    CLASS_WEIGHT,
    MAX_ITER,
    N_ITER_NO_CHANGE,
    TOL,
    EpochParameters,
    allowed,
    parameter,
)
from perceptron_rs.common.options.ranges import Choice, Other

__all__ = ["MultilayerPerceptronParameters"]


def _sizes() -> list[object]:
    return ["array-like", *kinds.POSITIVE.constraint()]


@dataclass(kw_only=True, eq=False, repr=False)
class MultilayerPerceptronParameters(EpochParameters):
    """Of `MultilayerPerceptron`."""

    hidden_layer_sizes: Any = field(
        default=(100,),
        metadata=allowed(
            Other(_sizes, {"type": kinds.sizes, "metavar": "N"}),
            "neurons in each hidden layer, such as 100 or 50,20",
        ),
        kw_only=False,
    )
    activation: Activation = parameter(
        "relu", Choice(words(Activation)), "activation function of the hidden layers"
    )
    alpha: float = parameter(0.0001, kinds.AMOUNT, "strength of the L2 penalty")
    batch_size: int = parameter(1, kinds.POSITIVE, "examples per gradient step")
    learning_rate_init: float = parameter(0.01, kinds.RATE, "learning rate")
    class_weight: ClassWeight | None = field(default=None, metadata=CLASS_WEIGHT)
    max_iter: int = field(default=200, metadata=MAX_ITER)
    tol: float | None = field(default=1e-4, metadata=TOL)
    n_iter_no_change: int = field(default=10, metadata=N_ITER_NO_CHANGE)
