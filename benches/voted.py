"""What does the vote cost? Time and memory of VotedPerceptron, on one thread.

On the uint8 MNIST images, one digit against the rest, two epochs: prediction of the 10,000 test rows
against a loop of NumPy, ``sign(X @ W.T)``, over blocks of the stored dense vectors; the bytes of the
model against those of these vectors; the time of a fit against that of Perceptron. Then a run of 60,000
mistakes at 784 columns, made up, in a process of its own: the memory that prediction takes above the model.

    PERCEPTRON_RS_DATA=folder python benches/voted.py
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import data
import numpy as np
from threadpoolctl import threadpool_limits

from perceptron_rs import Perceptron, VotedPerceptron
from perceptron_rs.linear.vectors import begun

BARS = {"predict": 1.0, "bytes": 1 / 7, "fit": 1.15, "memory": 200 * 2**20}
RUNS = 5
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


def verdict(name: str, value: float) -> str:
    return "" if value <= BARS[name] else "  BELOW BAR"


def bench_digit() -> None:
    X, y = data.mnist()
    with np.load(data.folder() / "mnist.npz") as parts:
        test, labels = np.ascontiguousarray(parts["X"][60000:]), parts["y"][60000:]
    parameters = {"max_iter": 2, "tol": None}
    model = VotedPerceptron(**parameters).fit(X, y == 3)
    log = model._vectors
    steps = log["log_step"][:, np.newaxis] * log["rows"][log["log_row"]]
    W = np.concatenate([log["coef"], steps]).cumsum(axis=0)
    b = np.concatenate([log["intercept"], log["log_bias"]]).cumsum()
    counts, wide = model.survival_.astype(np.float64), test.astype(np.float64)

    def loop():
        votes = np.zeros(len(wide))
        for first in range(0, len(W), BLOCK):
            part = slice(first, first + BLOCK)
            sums = wide @ W[part].T + b[part]
            votes += np.where(sums >= 0, 1.0, -1.0) @ counts[part]
        return votes / counts.sum()

    assert model.decision_function(test).tolist() == loop().tolist()
    for kind in ("vote", "average", "longest", "random", "last"):
        wrong = np.mean(model.set_params(prediction=kind).predict(test) != (labels == 3))
        print(f"test error, {kind:8} {wrong:.4f}")
    model.set_params(prediction="vote")
    ours, numpy = timed(lambda: model.decision_function(test), loop)
    ratio = ours / numpy
    print(f"predict: {model.n_vectors_} vectors, {ours:.2f} s, NumPy {numpy:.2f} s, ratio {ratio:.2f}"
          f" (bar 1.00){verdict('predict', ratio)}")  # fmt: skip
    size = sum(array.nbytes for array in log.values()) / W.nbytes
    print(f"model: 1/{1 / size:.1f} of the dense vectors (bar 1/7){verdict('bytes', size)}")
    voted, plain = timed(
        lambda: VotedPerceptron(**parameters).fit(X, y == 3),
        lambda: Perceptron(**parameters).fit(X, y == 3),
    )
    ratio = voted / plain
    print(f"fit: {voted * 1e3:.0f} ms, Perceptron {plain * 1e3:.0f} ms, ratio {ratio:.2f} (bar 1.15)"
          f"{verdict('fit', ratio)}")  # fmt: skip


def child(dtype: str) -> None:
    """Print by how many bytes the resident set grows while 60,000 vectors vote."""
    random = np.random.default_rng(data.SEED)
    mistakes, columns = 60_000, 784
    X = random.integers(0, 200, (1000, columns)).astype(dtype) / (1 if dtype == "uint8" else 7)
    X = np.ascontiguousarray(X, dtype=dtype)
    y = np.tile([0, 1], 500)
    model = VotedPerceptron(max_iter=1, tol=None).fit(X, y)
    rows = np.tile(X, (mistakes // len(X), 1))
    steps = random.choice([-1.0, 1.0], mistakes)
    state = {"coef": np.zeros((1, columns)), "intercept": np.zeros(1)}
    number = np.arange(mistakes)
    model._vectors = begun(state) | {
        "log_start": np.array([0, mistakes]),
        "log_row": number,
        "log_t": number + 1,
        "log_step": steps,
        "log_bias": steps,
        "log_origin": number,
        "rows": rows,
    }
    model.n_seen_ = np.array([mistakes])
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again here
    before = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    begin = time.perf_counter()
    model.predict(X)
    seconds = time.perf_counter() - begin
    status = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    print(max(peak - before, 0), seconds)


def main() -> int:
    if len(sys.argv) > 1:
        child(sys.argv[1])
        return 0
    if data.folder() is None:
        print("skipped: set PERCEPTRON_RS_DATA to the folder with the real data")
        return 0
    with threadpool_limits(1):
        bench_digit()
    for dtype in ("uint8", "float64"):
        done = subprocess.run([sys.executable, __file__, dtype], check=True, capture_output=True, text=True)
        grown, seconds = map(float, done.stdout.split())
        print(f"60,000 vectors, 1000 rows, {dtype}: {float(seconds):.1f} s, {grown / 2**20:.1f} MiB above "
              f"the model (bar 200){verdict('memory', grown)}")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
