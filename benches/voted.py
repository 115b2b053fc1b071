"""What does the vote cost? Time and memory of VotedPerceptron, on one thread.

On the uint8 MNIST images, one digit against the rest, two epochs: prediction of the 10,000 test rows
against a loop of NumPy, ``sign(X @ W.T)``, over blocks of the stored dense vectors; the bytes of the
model against those of these vectors; the time of a fit against that of Perceptron. Then a run of some 60,000
mistakes at 784 columns, in a process of its own: the memory that prediction takes above the model.

    PERCEPTRON_RS_DATA=folder python benches/voted.py [--write]
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import bars
import data
import numpy as np
from threadpoolctl import threadpool_limits

from perceptron_rs import Perceptron, VotedPerceptron

RUNS = 5
#: Too little to tell from pages of the allocator, beside 200 MiB.
ROOM = 10 * 2**20
BLOCK = 256


def timed(*works):
    """Return the median seconds of each work; the runs alternate."""
    seconds = [[] for _ in works]
    for _ in range(RUNS):
        for work, found in zip(works, seconds, strict=True):
            begin = time.perf_counter()
            work()
            found.append(time.perf_counter() - begin)
    return [statistics.median(found) for found in seconds]


def bench_digit(figures: bars.Figures) -> None:
    X, y = data.mnist()
    with np.load(data.folder() / "mnist.npz") as parts:
        test, labels = np.ascontiguousarray(parts["X"][60000:]), parts["y"][60000:]
    parameters = {"max_iter": 2, "tol": None}
    model = VotedPerceptron(**parameters).fit(X, y == 3)
    log = model._vectors
    steps = log["log_step"][:, np.newaxis] * log["rows"][log["log_row"]]
    W = np.concatenate([log["coef"], steps]).cumsum(axis=0)
    b = np.concatenate([log["intercept"], log["log_bias"]]).cumsum()
    counts, wide = model.survival_[0].astype(np.float64), test.astype(np.float64)

    def loop():
        votes = np.zeros(len(wide))
        for first in range(0, len(W), BLOCK):
            part = slice(first, first + BLOCK)
            sums = wide @ W[part].T + b[part]
            votes += np.sign(sums) @ counts[part]
        return votes / counts.sum()

    assert model.decision_function(test).tolist() == loop().tolist()
    for kind in ("vote", "average", "longest", "random", "last"):
        wrong = np.mean(model.set_params(prediction=kind).predict(test) != (labels == 3))
        print(f"test error, {kind:8} {wrong:.4f}")
    model.set_params(prediction="vote")
    ours, numpy = timed(lambda: model.decision_function(test), loop)
    ratio = figures.hold("predict, to NumPy's loop", numpy / ours)
    print(f"predict: {model.n_vectors_[0]} vectors, {ours:.2f} s, NumPy {numpy:.2f} s, {ratio}")
    size = sum(array.nbytes for array in log.values()) / W.nbytes
    print("model, of the dense vectors:", figures.hold("bytes of the dense vectors", size, at_most=True))
    voted, plain = timed(
        lambda: VotedPerceptron(**parameters).fit(X, y == 3),
        lambda: Perceptron(**parameters).fit(X, y == 3),
    )
    ratio = figures.hold("fit, to Perceptron", voted / plain, at_most=True)
    print(f"fit: {voted * 1e3:.0f} ms, Perceptron {plain * 1e3:.0f} ms, {ratio}")


def child(dtype: str) -> None:
    """Print by how many bytes the resident set grows while some 60,000 vectors vote on 1,000 rows."""
    random = np.random.default_rng(data.SEED)
    X = random.integers(0, 200, (4000, 784)).astype(dtype) / (1 if dtype == "uint8" else 7)
    X, y = np.ascontiguousarray(X, dtype=dtype), random.integers(0, 2, 4000)
    model = VotedPerceptron(max_iter=38, tol=None).fit(X, y)  # labels of a coin: no plane separates them
    X = X[:1000].copy()
    model.predict(X[:2])  # what is made late does not count
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again here
    before = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    begin = time.perf_counter()
    model.predict(X)
    seconds = time.perf_counter() - begin
    status = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    print(max(peak - before, 0), seconds, model.n_vectors_[0])


def main() -> int:
    if sys.argv[1:] and sys.argv[1] != "--write":
        child(sys.argv[1])
        return 0
    options = bars.parser(__doc__).parse_args()
    if data.folder() is None:
        print("skipped: set PERCEPTRON_RS_DATA to the folder with the real data")
        return 0
    figures = bars.Figures("voted", write=options.write)
    with threadpool_limits(1):
        bench_digit(figures)
    for dtype in ("uint8", "float64"):
        done = subprocess.run([sys.executable, __file__, dtype], check=True, capture_output=True, text=True)
        grown, seconds, vectors = map(float, done.stdout.split())
        ratio = figures.hold(f"memory of a vote, {dtype}", (grown + ROOM) / (200 * 2**20), at_most=True)
        print(
            f"{vectors:,.0f} vectors, 1000 rows, {dtype}: {seconds:.1f} s, {grown / 2**20:.1f} MiB, {ratio}"
        )
    return figures.end()


if __name__ == "__main__":
    sys.exit(main())
