"""``python -m perceptron_rs`` is the command ``perceptrons``."""

import sys

from perceptron_rs.cli import main

if __name__ == "__main__":
    sys.exit(main())
