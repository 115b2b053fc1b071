"""The floating-point mode in which the reference computes."""

from perceptron_rs.float_mode import standard

__all__ = ["standard"]
