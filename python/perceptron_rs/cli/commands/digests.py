"""``perceptrons digests``: the digest of every fit of `perceptron_rs.golden`, to compare two machines."""

from __future__ import annotations

import json
import platform
import sys
from argparse import Namespace

from perceptron_rs.cli.commands.evidence import processor

__all__ = ["run"]


def run(arguments: Namespace) -> int:
    """Print what computes, and a line for each fit."""
    from perceptron_rs import _core
    from perceptron_rs.golden import fits

    about = {
        "perceptrons": _core.__version__,
        "arithmetic_version": _core.ARITHMETIC_VERSION,
        "engine": arguments.engine,
        # The core takes the widest; the reference is NumPy's business.
        "instruction_set": _core._instruction_sets()[-1] if arguments.engine == "rust" else None,
        "processor": processor(),
        "machine": f"{platform.machine()}, {sys.maxsize.bit_length() + 1} bits, {sys.byteorder}-endian",
        "system": platform.platform(),
        "python": platform.python_version(),
    }
    found = []
    if not arguments.json:
        for name, value in about.items():
            print(f"# {name.replace('_', ' ')}: {value}")
    for fit in fits(arguments.engine):
        found.append({"learner": fit.learner, "examples": fit.data, "sha256": fit.digest})
        if not arguments.json:
            print(f"{fit.digest}  {fit.learner} {fit.data}", flush=True)
    if arguments.json:
        print(json.dumps({**about, "fits": found}))
    return 0
