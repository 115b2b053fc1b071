"""How much memory does a fit take above what its data takes? Ours against scikit-learn's Perceptron.

Each fit runs in a process of its own on the uint8 MNIST images, one digit against the rest; the
figure is the peak of the resident set during the fit less the resident set before it. A kernel that
is a callable takes what ``cache_size`` allows, and room for the rows of a few examples: its whole Gram
matrix would take 488 MiB.

    PERCEPTRON_RS_DATA=folder python benches/memory.py [--write]
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import bars
import data

CACHE = 8.0
#: Too little to tell from pages of the allocator.
ROOM = 2.0


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def problem(name: str):
    if name == "callable":
        import numpy as np

        from perceptron_rs import KernelPerceptron

        random = np.random.default_rng(0)
        X, y = random.standard_normal((8000, 20)), random.integers(0, 2, 8000)
        kernel = lambda rows, others: rows @ others.T  # noqa: E731
        return KernelPerceptron(kernel, cache_size=CACHE, max_iter=1, tol=None), X, y
    if name == "ours":
        from perceptron_rs import Perceptron
    else:
        from sklearn.linear_model import Perceptron
    X, y = data.mnist()
    return Perceptron(max_iter=1, tol=None, shuffle=False), X, y == 3


def child(name: str) -> None:
    model, X, y = problem(name)
    model.fit(X[:100], y[:100])  # what is imported late is no part of the figure
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again here
    before = resident()
    model.fit(X, y)
    status = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    print(max(peak - before, 0))


def main() -> int:
    if sys.argv[1:] and sys.argv[1] != "--write":
        child(sys.argv[1])
        return 0
    options = bars.parser(__doc__).parse_args()
    if data.folder() is None:
        print("skipped: set PERCEPTRON_RS_DATA to the folder with the real data")
        return 0
    grown = {
        name: int(subprocess.run([sys.executable, __file__, name], check=True, capture_output=True).stdout)
        for name in ("ours", "scikit-learn", "callable")
    }
    for name, size in grown.items():
        print(f"{name:13} {size / 2**20:8.1f} MiB above the data")
    figures, room = bars.Figures("memory", write=options.write), ROOM * 2**20
    share = (grown["ours"] + room) / (grown["scikit-learn"] + room)
    print("ours beside scikit-learn:", figures.hold("ours beside scikit-learn", share, at_most=True))
    held = (grown["callable"] + room) / (CACHE * 2**20)
    print("callable beside its cache:", figures.hold("callable beside its cache", held, at_most=True))
    return figures.end()


if __name__ == "__main__":
    sys.exit(main())
