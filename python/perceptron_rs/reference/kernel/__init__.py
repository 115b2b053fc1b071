"""The kernel perceptron: the perceptron on the rows of a Gram matrix. Start with ``train.py``."""
