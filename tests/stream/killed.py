"""A run that is killed again and again; prints how often. Each attempt is a fork of what is imported once."""

import os
import random
import signal
import sys
import threading
from pathlib import Path

import numpy as np

from perceptron_rs import AveragedPerceptron, digest
from perceptron_rs.io import open_arrays


def attempt(folder: Path, after: int | None) -> str:
    """Run in a child, killed behind so many events; return the digest, or nothing if it was killed."""
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        left = after

        def count(*_: object) -> None:
            nonlocal left
            assert left is not None
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        if after is not None:
            threading.setprofile(count)
            sys.setprofile(count)
        os.write(writer, digest(fit(folder)).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        found = answer.read()
    os.waitpid(child, 0)
    return found


def fit(folder: Path) -> AveragedPerceptron:
    return AveragedPerceptron(max_iter=6, tol=0.0).fit_stream(
        open_arrays(folder / "data.npy", folder / "labels.npy"),
        block_size=16,
        cache=folder / "cache",
        checkpoint=folder / "run",
        checkpoint_every=0.0,
        resume=True,
    )


def main(folder: Path, kills: int) -> None:
    draw, numbers = random.Random(kills), np.random.default_rng(6)
    X = numbers.normal(size=(100, 5))
    np.save(folder / "data.npy", X)
    np.save(folder / "labels.npy", (X[:, 0] + numbers.normal(size=100) > 0).astype(np.int8))
    expected = digest(
        AveragedPerceptron(max_iter=6, tol=0.0, shuffle=False).fit(X, np.load(folder / "labels.npy"))
    )
    killed = 0
    while killed < kills:
        found = attempt(folder, draw.randrange(1, 30_000))
        killed += not found
        if found:  # it came to its end: from the start again
            assert found == expected
            for name in ("cache", "run"):
                (folder / name).unlink()
    assert attempt(folder, None) == expected
    print(killed)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
