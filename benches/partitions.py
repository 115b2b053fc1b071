"""What do partitions cost, and what do they save? Epochs over parts of MNIST and of news20.

    python benches/partitions.py [separable epochs accuracy rounds memory] [--write]

    separable    epochs until no mistake, for P = 1 ... 64
    epochs       an epoch on two workers of Dask beside one on half the rows, one thread
    accuracy     test accuracy after some epochs, for P = 1 ... 64
    rounds       seconds of a round of P tasks on a Dask cluster
    memory       4 GB of Parquet on two workers of 1 GB each; needs 15 GB of disk

Without a name, the first two. The figures of the first three have bars. It prints the tables of
docs/guide/partitions.rst. PERCEPTRON_RS_DATA names the folder of the real data; without it, what needs it is
left out.
"""

from __future__ import annotations

import os
import resource
import statistics
import sys
import time
import warnings
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import bars
import data
import numpy as np
from scipy.sparse import csr_matrix, vstack

from perceptron_rs import AveragedPerceptron, Perceptron

sys.modules["sparse"] = None  # dask would take sparse.py beside this for a library
PARTITIONS = (1, 2, 4, 8, 16, 32, 64)
EPOCHS = 10
SCALE = 100_000


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


def bench_accuracy(figures: bars.Figures) -> None:
    """Print accuracies after one epoch and after ten; P = 1 is one run over all rows."""
    for name, load in (("digits (MNIST)", digits), ("words (news20)", words)):
        train, test = load()
        rows = []
        for P in PARTITIONS:
            found = []
            for mixing in ("uniform", "mistakes"):
                for epochs in (1, EPOCHS):
                    model = AveragedPerceptron(n_partitions=P, mixing=mixing, max_iter=epochs, tol=None)
                    accuracy = model.fit(*train).score(*test)
                    figures.hold(f"accuracy, {name}, P={P}, {mixing}, {epochs} epochs", accuracy)
                    found.append(f"{accuracy:.4f}")
            rows.append((P, *found))
        print(name, "\n")
        head = [f"{mixing}, {epochs}" for mixing in ("uniform", "mistakes") for epochs in (1, EPOCHS)]
        table(("P", *head), rows)


def bench_separable(figures: bars.Figures) -> None:
    """Print the epochs until one is without a mistake: separable rows of a fixed generator."""
    X, y = data.planted(6400, 20, 0.02)
    rows = []
    for P in PARTITIONS:
        found = []
        for mixing in ("uniform", "mistakes"):
            model = Perceptron(n_partitions=P, mixing=mixing, tol=None, max_iter=5000).fit(X, y)
            assert model.converged_
            assert model.score(X, y) == 1
            figures.hold(f"epochs until no mistake, P={P}, {mixing}", model.n_iter_, at_most=True)
            found.append(model.n_iter_)
        rows.append((P, *found))
    table(("P", "uniform", "mistakes"), rows)


@contextmanager
def cluster(**options):
    """Give a client of two workers of one thread each."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", **options) as made,
        Client(made) as client,
    ):
        yield client


def seconds_per_epoch(model, *data):
    """Return the median seconds from epoch to epoch of a fit, and the fitted model."""
    times: list[float] = []
    model.set_params(callback=lambda record: times.append(record.seconds))
    model.fit(*data)
    return statistics.median(np.diff(times)), model


def halves(values):
    n = (values.shape[0] + 1) // 2  # as n_partitions=2 has it
    return [values[:n], values[n:]]


def bench_epochs(figures: bars.Figures) -> None:
    """Print an epoch on two workers beside one by a single thread on half the rows.

    The ratio is to that, or to 80 ms where that is less: for less, nobody needs a cluster. Between the two,
    both halves on two threads of one process: what the machine and the mix make of it. These have the bits of
    the cluster.
    """
    from perceptron_rs import dask

    rng = np.random.default_rng(0)
    dense = rng.standard_normal((SCALE * 10, 100), dtype=np.float32)
    noisy = np.sign(dense[:, 0] + rng.standard_normal(len(dense), dtype=np.float32)).astype(np.int8)
    cases = [
        ("1,000,000 x 100 float32", "Perceptron", (dense, noisy)),
        ("1,000,000 x 100 float32", "AveragedPerceptron", (dense, noisy)),
        ("1,000 x 20", "Perceptron", (dense[:1000, :20].copy(), noisy[:1000])),
    ]
    if data.folder():
        pixels, labels = data.mnist()
        cases += [
            ("digits (MNIST), uint8", "AveragedPerceptron", (pixels, labels)),
            ("digits / 255, float32", "AveragedPerceptron", (pixels / np.float32(255), labels)),
            ("words (news20)", "AveragedPerceptron", data.news20()),
            ("census", "AveragedPerceptron", data.census()),
        ]
    rows = []
    with cluster() as client:
        for name, learner, (X, y) in cases:
            own = {"Perceptron": Perceptron, "AveragedPerceptron": AveragedPerceptron}[learner]
            few = {"max_iter": 12, "tol": None}
            half, _ = seconds_per_epoch(own(**few), halves(X)[0], halves(y)[0])
            threads, here = seconds_per_epoch(own(n_partitions=2, n_jobs=2, **few), X, y)
            workers = getattr(dask, learner)(client=client, **few)
            epoch, there = seconds_per_epoch(workers, halves(X), halves(y))
            assert here.coef_.tobytes() == there.coef_.tobytes(), f"{name}: the cluster learns other bits"
            ratio = epoch / max(half, 0.08)
            said = figures.hold(f"epoch on two workers, {learner}, {name}", ratio, at_most=True)
            rows.append((name, learner, f"{half:.3f}", f"{threads:.3f}", f"{epoch:.3f}", said))
    table(("data", "learner", "half, one thread", "both, two threads", "on Dask", "ratio"), rows)


def bench_memory(_: bars.Figures) -> None:
    """Write 10^7 rows of 100 float32 by row groups, learn from them, and print what the workers needed."""
    import pyarrow as pa
    from pyarrow import parquet

    from perceptron_rs import dask
    from perceptron_rs.io import open_parquet

    groups, rows, columns = 100, SCALE, 100
    names = [f"x{j}" for j in range(columns)]
    schema = pa.schema([(name, pa.float32()) for name in names] + [("y", pa.int8())])
    with TemporaryDirectory() as folder:
        file, begin = Path(folder, "rows.parquet"), time.perf_counter()
        with parquet.ParquetWriter(file, schema, compression="none", use_dictionary=False) as writer:
            for g in range(groups):
                rng = np.random.default_rng(g)
                X = rng.standard_normal((columns, rows), dtype=np.float32)
                y = np.sign(X[0] + rng.standard_normal(rows, dtype=np.float32)).astype(np.int8)
                writer.write_table(pa.table([*X, y], schema=schema), row_group_size=rows)
        print(
            f"{file.stat().st_size / 1e9:.2f} GB written in {time.perf_counter() - begin:.0f} s", flush=True
        )
        with cluster(memory_limit="1GB", local_directory=folder) as client:
            begin, times = time.perf_counter(), []
            model = dask.Perceptron(
                client=client, max_iter=3, tol=None, callback=lambda record: times.append(record.seconds)
            )
            before = list(client.run(os.getpid).values())
            model.fit(open_parquet(file, target="y").partitions())
            seconds = time.perf_counter() - begin
            peaks = [peak / 1e6 for peak in client.run(peak_memory).values()]
            assert before == list(client.run(os.getpid).values()), "a worker was ended"
            print(f"{seconds:.0f} s, epochs {np.diff(times)} s, peak of each worker {peaks} GB")
            print(f"accuracy {model.score(open_parquet(file, target='y').partitions()[:4]):.4f}")


def peak_memory() -> int:
    """Return the most memory that this process has had, in kB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def touching(d, rows, entries, seed):
    """Return sparse rows with so many entries of d columns each."""
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, d, (rows, entries))
    columns.sort(axis=1)
    ends = np.arange(rows + 1) * entries
    return csr_matrix((np.ones(rows * entries), columns.reshape(-1), ends), shape=(rows, d))


def twice(row):
    """Return a row and its half."""
    return np.concatenate([row, row / 2]) if isinstance(row, np.ndarray) else vstack([row, row / 2], "csr")


def bench_rounds(_: bars.Figures) -> None:
    """Print the seconds of rounds whose partitions have few rows: what is left is their cost.

    Rows touch all columns, or 100 of them. Each partition has a row of one class and its half, of the other:
    no epoch is clean, and each changes all weights that the rows touch.
    """
    from perceptron_rs import dask

    rows = []
    with cluster() as client:
        for P in (2, 8, 32):
            for d in (10**3, 10**5, 10**6, 10**7):
                found = []
                for entries in (d, 100):
                    if P * entries > 10**8 // 2:
                        found.append("")
                        continue
                    if entries == d:
                        rng = np.random.default_rng(0)
                        parts = [twice(rng.standard_normal((1, d), dtype=np.float32)) for _ in range(P)]
                    else:
                        parts = [twice(touching(d, 1, entries, p)) for p in range(P)]
                    model = dask.Perceptron(client=client, tol=None, max_iter=6)
                    labels = [np.array([0, 1])] * P
                    found.append(f"{seconds_per_epoch(model, parts, labels)[0]:.3f}")
                rows.append((P, f"{d:,}", *found))
    table(("P", "d", "dense rows", "rows of 100 entries"), rows)


BENCHES = {
    "separable": bench_separable,
    "epochs": bench_epochs,
    "accuracy": bench_accuracy,
    "rounds": bench_rounds,
    "memory": bench_memory,
}


def main() -> int:
    parser = bars.parser(__doc__)
    parser.add_argument("names", nargs="*", choices=BENCHES, default=["separable", "epochs"])
    options = parser.parse_args()
    figures = bars.Figures("partitions", write=options.write)
    for name in options.names:
        BENCHES[name](figures)
    return figures.end()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
