"""What do partitions cost, and what do they save? Epochs over P partitions of MNIST and of news20.

    python benches/partitions.py accuracy     test accuracy and mistakes after some epochs, for P = 1 ... 64
    python benches/partitions.py separable    epochs until no mistake, for P = 1 ... 64
    python benches/partitions.py rounds       seconds of a round of P tasks on a Dask cluster, and of its mix

The tables of docs/guide/scale.rst are printed by it.

    PERCEPTRON_RS_DATA=folder python benches/partitions.py accuracy
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings

import data
import numpy as np

from perceptron_rs import AveragedPerceptron, Perceptron
from perceptron_rs.common.mixing import mix
from perceptron_rs.settings import Epoch, Linear

PARTITIONS = (1, 2, 4, 8, 16, 32, 64)
EPOCHS = 10


def table(head, rows) -> None:
    """Print a list-table of reStructuredText."""
    print(".. list-table::\n   :header-rows: 1\n")
    for row in (head, *rows):
        for j, cell in enumerate(row):
            print(f"   {'* -' if j == 0 else '  -'} {cell}")
    print(flush=True)


def digits():
    """Return MNIST, 60,000 rows to learn from and 10,000 to test."""
    with np.load(data.folder() / "mnist.npz") as parts:
        test = np.ascontiguousarray(parts["X"][60000:]), parts["y"][60000:]
    return data.mnist(), test


def words():
    """Return news20, four fifths to learn from and the rest to test."""
    X, y = data.news20()
    cut = X.shape[0] * 4 // 5
    return (X[:cut], y[:cut]), (X[cut:], y[cut:])


def bench_accuracy() -> None:
    """Print accuracies after one epoch and after ten; P = 1 is one run over all rows."""
    for name, load in (("digits (MNIST)", digits), ("words (news20)", words)):
        train, test = load()
        rows = []
        for P in PARTITIONS:
            found = []
            for mixing in ("uniform", "mistakes"):
                for epochs in (1, EPOCHS):
                    model = AveragedPerceptron(n_partitions=P, mixing=mixing, max_iter=epochs, tol=None)
                    found.append(f"{model.fit(*train).score(*test):.4f}")
            rows.append((P, *found))
        print(name, "\n")
        head = [f"{mixing}, {epochs}" for mixing in ("uniform", "mistakes") for epochs in (1, EPOCHS)]
        table(("P", *head), rows)


def bench_separable() -> None:
    """Print the epochs until one is without a mistake: separable rows of a fixed generator."""
    X, y = data.planted(6400, 20, 0.02)
    rows = []
    for P in PARTITIONS:
        fits = [
            Perceptron(n_partitions=P, mixing=mixing, tol=None, max_iter=5000).fit(X, y)
            for mixing in ("uniform", "mistakes")
        ]
        assert all(fit.converged_ for fit in fits)
        rows.append((P, *(fit.n_iter_ for fit in fits)))
    table(("P", "uniform", "mistakes"), rows)


def seconds_of(work, runs=3):
    """Return the median seconds of some runs."""
    found = []
    for _ in range(runs):
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return statistics.median(found)


def bench_rounds() -> None:
    """Print the seconds of rounds whose partitions have one row: what is left is their cost."""
    from distributed import Client, LocalCluster

    from perceptron_rs import dask

    settings = Linear(
        learner="perceptron",
        positive=np.array([1], dtype=np.uint32),
        class_weight=np.ones((1, 2)),
        eta0=1.0,
    )
    rows = []
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        for P in (2, 8, 32):
            for d in (10**3, 10**5, 10**6):
                state = {
                    "coef": np.ones((1, d)),
                    "intercept": np.zeros(1),
                    "seen": np.zeros(1, dtype=np.int64),
                }
                epoch = Epoch(np.ones(1, dtype=np.int64), np.zeros(1), np.zeros(1), interrupted=False)
                ends = [(state | {"coef": state["coef"] * p}, epoch) for p in range(P)]
                mixed = seconds_of(lambda ends=ends, state=state: mix(settings, state, ends, "uniform", 0))
                rng = np.random.default_rng(0)
                parts = [rng.standard_normal((2, d)).astype(np.float32) for _ in range(P)]
                times: list[float] = []
                model = dask.Perceptron(
                    client=client,
                    tol=None,
                    max_iter=6,
                    callback=lambda record, times=times: times.append(record.seconds),
                )
                model.fit(parts, [np.array([0, 1])] * P)
                between = np.diff(times) if len(times) > 1 else np.array([np.nan])
                rows.append((P, f"{d:,}", f"{np.median(between):.3f}", f"{mixed:.4f}"))
    table(("P", "d", "seconds of a round", "of these the mix"), rows)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for name in sys.argv[1:]:
        {"accuracy": bench_accuracy, "separable": bench_separable, "rounds": bench_rounds}[name]()
