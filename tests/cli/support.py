"""Small examples, and the command as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import perceptron_rs

#: Two classes that a line separates, and one feature that says nothing.
X = np.array([[2, 1, 0], [3, 1, 1], [-1, 2, 0], [-2, -1, 1], [4, 0, 0], [-3, 1, 1]], dtype=np.float64)
Y = np.array([1, 1, -1, -1, 1, -1])


@dataclass(frozen=True)
class Answer:
    """What a call came to."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def command(*argv: Any) -> list[str]:
    return [sys.executable, "-m", "perceptron_rs", *map(str, argv)]


def environment() -> dict[str, str]:
    """Return an environment in which a process finds the same package."""
    found = os.environ | {"PYTHONPATH": str(Path(perceptron_rs.__file__).parents[1])}
    found.pop("PYTHONUNBUFFERED", None)  # what is still in a buffer at the end is part of several tests
    return found


def start(*argv: Any, **options: Any) -> subprocess.Popen[Any]:
    """Start the command, or ``line``; its streams are pipes of text, if nothing else is said."""
    usual = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | {"text": True}
    return subprocess.Popen(options.pop("line", command(*argv)), **usual | {"env": environment()} | options)


def asked(child: subprocess.Popen[Any], text: str, n_lines: int = 1) -> str:
    """Give a process a text, and nothing more until it has answered with some lines; return them."""
    child.stdin.write(text)
    child.stdin.flush()
    return "".join(child.stdout.readline() for _ in range(n_lines))


def process(*argv: Any, **options: Any) -> Answer:
    """Call the command, or ``line``, as a process of its own."""
    with start(*argv, **options) as child:
        out, err = child.communicate(timeout=600)
    return Answer(child.returncode, out, err)


def script(code: str, *argv: Any) -> Answer:
    """Run code in a process of its own."""
    return process(line=[sys.executable, "-c", code, *map(str, argv)])


def svmlight(X: Any, y: Any, first: int = 1) -> str:
    """Return examples as text; ``first`` is the number of the first column."""
    lines = []
    for row, label in zip(X, y, strict=True):
        entries = [f"{j + first}:{value!r}" for j, value in enumerate(row.tolist()) if value]
        lines.append(" ".join([str(label), *entries]))
    return "\n".join(lines) + "\n"
