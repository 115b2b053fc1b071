"""Check on your own data that all ways of computing a model give the same bits."""

from perceptron_rs.testing.parity import assert_parity

__all__ = ["assert_parity"]
