"""Readers of data files."""

from perceptron_rs.io.svmlight import load_svmlight

__all__ = ["load_svmlight"]
