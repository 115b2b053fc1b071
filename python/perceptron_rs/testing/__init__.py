"""Check the promise of the package on data of one's own: one bit pattern, whatever computes it."""

from perceptron_rs.testing.assertions import assert_parity

__all__ = ["assert_parity"]
