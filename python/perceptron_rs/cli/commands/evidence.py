"""``perceptrons evidence``: train a model again on its data, and write down what came out, and of what."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

from perceptron_rs.cli.commands.reproduce import again
from perceptron_rs.cli.modelfile import check_writable
from perceptron_rs.cli.status import Status, UsageError
from perceptron_rs.errors import about
from perceptron_rs.io.text.lines import is_read_once, names_of
from perceptron_rs.models.files import write_whole
from perceptron_rs.rerun.evidence import Evidence


def run(arguments: Namespace) -> int:
    """Write what was compared and what came out; the exit status is that of ``reproduce``."""
    if is_read_once(arguments.data):
        raise UsageError(
            f"{names_of(arguments.data)}: evidence names files, which can be read again; name one"
        )
    if arguments.out is not None:
        check_writable(Path(arguments.out), arguments, "--out", "model")
    beside = [arguments.labels] if "labels" in arguments else []
    evidence = Evidence(arguments.model, [*arguments.data, *beside])
    model, answer = again(arguments)
    text = json.dumps(evidence.of(model, answer, arguments.engine), indent=2) + "\n"
    if arguments.out is None:
        print(text, end="")
    else:
        with about(Path(arguments.out)):
            write_whole(arguments.out, text.encode())
        print(f"{'reproduced' if answer else 'different '} {answer.message}")
    return Status.SUCCESS if answer else Status.FAILURE
