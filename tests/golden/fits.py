"""Fits of every learner on examples made by rule: their digests are the same on every machine.

``python tests/golden/fits.py`` prints them with what computes, so that two machines can be compared where
nothing but the package is installed; ``reference`` after it names the other engine. All numbers of the
examples come from integers by one division, which rounds alike everywhere.
"""

from __future__ import annotations

import platform
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from perceptron_rs._core import ARITHMETIC_VERSION, __version__
from perceptron_rs.engines import instruction_sets
from perceptron_rs.models.comparison import digest
from perceptron_rs.registry import REGISTRY

N, WIDTH = 90, 13
#: Of the learners that have them. Few classes of such examples can be separated.
IN_EPOCHS = {"eta0": 0.1, "max_iter": 6, "tol": None, "random_state": 5, "budget": 20}
OTHERS = {"max_steps": 500, "inseparable": "warn"}


@dataclass(frozen=True, slots=True)
class Fit:
    """What came out of one fit."""

    learner: str
    data: str
    digest: str


def fits(engine: Literal["rust", "reference"] = "rust") -> Iterator[Fit]:
    """Fit every learner, by its name on the command line, to each kind of examples."""
    for learner in REGISTRY:
        for data in examples():
            yield Fit(learner, data, fitted(learner, data, engine))


def fitted(name: str, data: str, engine: str) -> str:
    """Return the digest of one fit."""
    learner = REGISTRY[name]
    model = learner.kind().set_params(engine=engine)
    parameters = IN_EPOCHS if learner.in_epochs else OTHERS
    model.set_params(**{key: parameters[key] for key in model.get_params() if key in parameters})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        lengths = {"lengths": [2, 7, 1] * (N // 10)} if learner.data == "sequences" else {}
        model.fit(examples()[data], labels(), **lengths)
    return digest(model)


def examples() -> dict[str, object]:
    """Return examples of three kinds: real numbers, bytes, and counts, of which few are not 0."""
    i, j = np.arange(N)[:, None], np.arange(WIDTH)
    mixed = i * i * 7 + j * j * 13 + i * j * 5
    counts = np.where(mixed % 3 == 0, mixed % 11, 0)
    return {
        "real": mixed % 31 / 3.0 - (i * 3 + j * 11) % 17 / 7.0,
        "bytes": (mixed % 251).astype(np.uint8),
        "counts": sp.csr_matrix(counts.astype(np.float64)),
    }


def labels() -> NDArray[np.int64]:
    """Return the label of each example, one of three."""
    i = np.arange(N)
    return (i * 5 + i // 7) % 3


def environment(engine: Literal["rust", "reference"]) -> dict[str, object]:
    """Return what computes."""
    return {
        "engine": engine,
        "instruction_set": instruction_sets()[-1] if engine == "rust" else None,
        "arithmetic_version": ARITHMETIC_VERSION,
        "perceptron_rs": __version__,
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {sys.byteorder}-endian",
        "system": platform.platform(),
    }


def main(engine: Literal["rust", "reference"] = "rust") -> None:
    """Print what computes, and a line for each fit."""
    for name, value in environment(engine).items():
        print(f"# {name.replace('_', ' ')}: {value}")
    for fit in fits(engine):
        print(f"{fit.digest}  {fit.learner} {fit.data}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
