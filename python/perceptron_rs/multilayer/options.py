"""The options of `multilayer` learners on the command line. Only argparse may be imported here."""

from __future__ import annotations

from perceptron_rs.common.options import kinds
from perceptron_rs.common.options.kinds import Option, number, one_of
from perceptron_rs.common.options.shared import CLASS_WEIGHT, STOPPING, epochs

__all__ = ["OPTIONS"]

_ALL = (
    *epochs(200, "0.0001", 10),
    *STOPPING,
    Option(
        "hidden_layer_sizes",
        "neurons in each hidden layer, such as 100 or 50,20 (100)",
        number(kinds.sizes, "N"),
    ),
    Option(
        "activation", "activation function of the hidden layers (relu)", one_of("logistic", "tanh", "relu")
    ),
    Option("alpha", "strength of the L2 penalty (0.0001)", number(kinds.amount)),
    Option("learning_rate_init", "learning rate (0.01)", number(kinds.rate)),
    CLASS_WEIGHT,
    Option("batch_size", "examples per gradient step (1)", number(kinds.positive, "N")),
)

#: By the names of the learners.
OPTIONS = {"multilayer": _ALL}
