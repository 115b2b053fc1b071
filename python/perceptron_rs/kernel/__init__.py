"""The kernel perceptron, also on a budget."""
