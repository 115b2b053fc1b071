"""``perceptrons digests``: the digest of every fit of `testing.golden`, to compare two machines."""

from __future__ import annotations

import json
from argparse import Namespace

__all__ = ["run"]


def run(arguments: Namespace) -> int:
    """Print what computes, and a line for each fit."""
    from perceptron_rs.audit.environment import environment
    from perceptron_rs.testing.golden import fits

    about = environment(arguments.engine)
    if arguments.json:
        found = [
            {"learner": fit.learner, "examples": fit.data, "sha256": fit.digest}
            for fit in fits(arguments.engine)
        ]
        print(json.dumps({**about, "fits": found}))
        return 0
    for name, value in about.items():
        print(f"# {name.replace('_', ' ')}: {value}")
    for fit in fits(arguments.engine):
        print(f"{fit.digest}  {fit.learner} {fit.data}", flush=True)
    return 0
