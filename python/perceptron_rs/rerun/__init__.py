"""A model trained again from its record: `reproduce`, in Python and on the command line.

Its examples may be arrays, sequences, or a source that is read in blocks (`examples`).
"""

from perceptron_rs.rerun.reproduction import Reproduction, reproduce

__all__ = ["Reproduction", "reproduce"]
