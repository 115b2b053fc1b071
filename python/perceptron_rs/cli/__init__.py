"""The command ``perceptrons``.

Nothing here is imported before it is needed: ``--help`` reads the options and no library.
"""

from perceptron_rs.cli.run import main

__all__ = ["main"]
