"""Small data to learn about perceptrons with: a margin that is known, noise, XOR, tables of lectures."""

from perceptron_rs.datasets.generators import eighty_five_points, make_noisy, make_separable, two_moons, xor
from perceptron_rs.datasets.lectures import LECTURES, Lecture, lecture

__all__ = [
    "LECTURES",
    "Lecture",
    "eighty_five_points",
    "lecture",
    "make_noisy",
    "make_separable",
    "two_moons",
    "xor",
]
