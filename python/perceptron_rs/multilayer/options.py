"""The options of `multilayer` learners on the command line. Only argparse may be imported here."""

from __future__ import annotations

from perceptron_rs.common import options
from perceptron_rs.common.options import Option, number, one_of

__all__ = ["OPTIONS"]

OPTIONS = (
    Option(
        "hidden_layer_sizes",
        "neurons in each hidden layer, such as 100 or 50,20 (100)",
        number(options.sizes, "N"),
    ),
    Option(
        "activation", "activation function of the hidden layers (relu)", one_of("logistic", "tanh", "relu")
    ),
    Option("learning_rate_init", "learning rate (0.01)", number(options.rate)),
    Option("batch_size", "examples per gradient step (1)", number(options.positive, "N")),
)
