"""The multilayer perceptron."""
