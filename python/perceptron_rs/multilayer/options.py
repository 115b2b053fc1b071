"""The parameters of `multilayer` learners: what each may be, for validation and for the command line.

Nothing that takes time may be imported here.
"""

from __future__ import annotations

from perceptron_rs.common.options import kinds
from perceptron_rs.common.options.kinds import Option
from perceptron_rs.common.options.ranges import Text, Words
from perceptron_rs.common.options.shared import CLASS_WEIGHT, STOPPING, epochs

__all__ = ["OPTIONS"]

_ALL = (
    *epochs(200, "0.0001", 10),
    *STOPPING,
    Option(
        "hidden_layer_sizes",
        "neurons in each hidden layer, such as 100 or 50,20 (100)",
        Text({"type": kinds.sizes, "metavar": "N"}),
    ),
    Option(
        "activation", "activation function of the hidden layers (relu)", Words(("logistic", "tanh", "relu"))
    ),
    Option("alpha", "strength of the L2 penalty (0.0001)", kinds.AMOUNT),
    Option("learning_rate_init", "learning rate (0.01)", kinds.RATE),
    CLASS_WEIGHT,
    Option("batch_size", "examples per gradient step (1)", kinds.POSITIVE),
)

#: By the names of the learners.
OPTIONS = {"multilayer": _ALL}
