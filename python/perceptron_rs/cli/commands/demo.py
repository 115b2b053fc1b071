"""``perceptron-rs demo``: train on data that ships with scikit-learn, and compare every bit."""

from __future__ import annotations

from argparse import Namespace

__all__ = ["run"]


def run(arguments: Namespace) -> int:  # noqa: ARG001
    """Run the demo; return 1 if a bit differs."""
    from perceptron_rs.demo import main

    return main()
