"""Streamed epochs beside those in memory and beside vw, and how much memory a stream takes.

Figures of arrays, with few and many classes: the time of ``fit_stream``, in one block and in ten, beside
that of ``fit``. The rest is of the spam text of PERCEPTRON_RS_DATA, 20 times over, in svmlight form: the
speed of later epochs, from a cache, beside that of epochs in memory; the time of vw (the Python package
``vowpalwabbit``) with its own cache beside ``train --stream`` with three passes, whole processes both; the
largest resident set of a process that streams ``--gigabytes`` of text, four epochs with a cache, beside
300 MB (pages of the mapped cache count). The models are compared first; vw's must label 90 % of the examples
as they are.

    PERCEPTRON_RS_DATA=folder python benches/streams.py [--runs 5] [--gigabytes 4] [--write]
"""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import bars
import data
import numpy as np
from alternate import alternate
from scipy.sparse import csr_matrix
from threadpoolctl import threadpool_limits

from perceptron_rs import AveragedPerceptron, Perceptron, digest, load
from perceptron_rs.io import load_svmlight, open_svmlight

MEGABYTES = 300
EPOCHS = 6
#: Classes, and rows for which ``fit`` takes some milliseconds.
CLASSES = {2: 100_000, 20: 20_000, 200: 5_000, 1000: 2_000}


def written(path: Path, size: int) -> None:
    """Write the spam text again and again, until the file has so many bytes."""
    with gzip.open(data.folder() / "spam.train.svm.gz") as packed:
        text = packed.read()
    with path.open("wb") as file:
        while file.tell() < size:
            file.write(text)


def classes(figures: bars.Figures, runs: int) -> None:
    """Compare calls on arrays with random labels."""
    rng = np.random.default_rng(0)
    for K, n in CLASSES.items():
        y = np.append(np.arange(K), rng.integers(0, K, n - K))
        values, columns = rng.normal(size=20 * n), rng.integers(0, 20_000, 20 * n)
        sparse = csr_matrix((values, columns, np.arange(0, 20 * n + 1, 20)), (n, 20_000))
        sparse.sum_duplicates()
        for kind, X in (("dense", rng.normal(size=(n, 50))), ("CSR", sparse)):
            fit, *streams = times_of_calls(X, y, runs)
            for blocks, seconds in zip(("one block", "ten blocks"), streams, strict=True):
                case = f"fit_stream to fit, {kind}, K = {K}, {blocks}"
                ratio = figures.hold(case, seconds / fit, at_most=True)
                print(f"{kind:5} K = {K:4}: fit {fit * 1e3:6.1f} ms, {blocks} {ratio}", flush=True)


def times_of_calls(X, y, runs: int) -> list[float]:
    """Return the seconds of fit, and of fit_stream in one block and in ten."""
    model = Perceptron(max_iter=5, tol=None, shuffle=False)
    sizes = [len(y), -(-len(y) // 10)]
    of_memory = digest(model.fit(X, y))
    assert all(digest(model.fit_stream((X, y), block_size=size)) == of_memory for size in sizes)
    streams = (lambda size=size: model.fit_stream((X, y), block_size=size) for size in sizes)
    return alternate(runs, lambda: model.fit(X, y), *streams)


def speed(figures: bars.Figures, folder: Path, runs: int) -> None:
    path = folder / "spam.svm"
    written(path, 20 * (1 << 23))
    X, y = load_svmlight(path)
    for learner in (Perceptron, AveragedPerceptron):

        def epochs(number: int, streamed: bool, learner=learner):
            model = learner(max_iter=number, tol=None, shuffle=False)
            if streamed:
                return model.fit_stream(open_svmlight(path), cache=folder / "cache")
            return model.fit(X, y)

        assert digest(epochs(2, True)) == digest(epochs(2, False))
        made = epochs(1 + EPOCHS, False).n_iter_ - 1  # it ends with an epoch without a mistake
        times = alternate(
            runs,
            *(
                lambda number=number, streamed=streamed: epochs(number, streamed)
                for streamed in (False, True)
                for number in (1, 1 + EPOCHS)
            ),
        )
        memory, stream = (times[1] - times[0]) / made, (times[3] - times[2]) / made
        ratio = figures.hold(f"{learner.__name__}, epochs from the cache", memory / stream)
        print(
            f"{learner.__name__:20} epoch of {len(y)} rows, {X.nnz} entries: in memory {memory:.3f} s, "
            f"from the cache {stream:.3f} s, {ratio}",
            flush=True,
        )


def processes(figures: bars.Figures, folder: Path, runs: int) -> None:
    """Compare whole processes: text in, three passes, a model file out."""
    if find_spec("vowpalwabbit") is None:
        print("vw skipped: pip install vowpalwabbit")
        return
    text, theirs, line = folder / "spam.svm", folder / "spam.vw", folder / "line.svm"
    line.write_text("+1 1:1\n-1 2:1\n")
    theirs.write_bytes(re.sub(rb"(?m)^([+-]?1) ", rb"\1 | ", text.read_bytes()))
    caches = [folder / "ours.cache", folder / "vw.cache"]
    ours = f"perceptron_rs train averaged {text} --stream --cache {caches[0]} --epochs 3 --tol none"
    ours += f" --model {folder}/m"
    vw = f"vowpalwabbit -d {theirs} --cache_file {caches[1]} --passes 3 --holdout_off --loss_function hinge"

    def run(command: str, cache: Path) -> None:
        cache.unlink(missing_ok=True)
        arguments = [sys.executable, "-m", *command.split(), "--quiet"]
        # An installed package has its bytecode; a process that may not write it compiles all modules anew.
        env = os.environ | {"PYTHONDONTWRITEBYTECODE": ""}
        subprocess.run(arguments, check=True, capture_output=True, env=env)

    run(f"{vw} -f {folder}/vw", caches[1])
    check = f"vowpalwabbit -d {theirs} -t -i {folder}/vw --binary --quiet -p {folder}/labels"
    subprocess.run([sys.executable, "-m", *check.split()], check=True, capture_output=True)
    X, y = load_svmlight(text)
    assert (np.loadtxt(folder / "labels") == y).mean() > 0.9
    run(ours, caches[0])
    in_memory = AveragedPerceptron(max_iter=3, tol=None, shuffle=False).fit(X, y.astype(int))
    # The command's digest has the form of the text, too.
    np.testing.assert_array_equal(load(folder / "m").coef_, in_memory.coef_)
    times = alternate(
        runs,
        lambda: run(ours, caches[0]),
        lambda: run(f"{vw} -f {folder}/vw", caches[1]),
        lambda: run(ours.replace(str(text), str(line)), caches[0]),
    )
    print(
        f"3 passes, whole process: train averaged --stream {times[0]:.2f} s ({times[2]:.2f} s "
        f"with two examples), vw {times[1]:.2f} s, {figures.hold('3 passes, to vw', times[1] / times[0])}",
        flush=True,
    )


def child(path: Path) -> None:
    """Stream a file; print the seconds and the largest resident set."""
    start = time.perf_counter()
    model = AveragedPerceptron(max_iter=4, tol=None)
    model.fit_stream(open_svmlight(path), cache=path.with_suffix(".cache"))
    # Not ru_maxrss: that of a child begins with the parent's.
    status = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    print(time.perf_counter() - start, peak, model.n_seen_[0] // 4)


def memory(figures: bars.Figures, folder: Path, gigabytes: float) -> None:
    path = folder / "large.svm"
    written(path, int(gigabytes * 1e9))
    done = subprocess.run([sys.executable, __file__, "--child", path], check=True, capture_output=True)
    seconds, peak, rows = done.stdout.split()
    ratio = figures.hold("memory, beside 300 MB", int(peak) / (MEGABYTES * 1e6), at_most=True)
    print(
        f"{path.stat().st_size / 1e9:.1f} GB of text, {int(rows)} rows, 4 epochs: {float(seconds):.0f} s, "
        f"at most {int(peak) / 1e6:.0f} MB, {ratio}"
    )


def main() -> int:
    parser = bars.parser(__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--gigabytes", type=float, default=4.0)
    parser.add_argument("--child", type=Path)
    options = parser.parse_args()
    if options.child is not None:
        child(options.child)
        return 0
    figures = bars.Figures("streams", write=options.write)
    classes(figures, options.runs)
    if data.folder() is None:
        print("the rest is skipped: set PERCEPTRON_RS_DATA to the folder with the real data")
        return figures.end()
    with tempfile.TemporaryDirectory() as folder:
        speed(figures, Path(folder), options.runs)
        processes(figures, Path(folder), options.runs)
        memory(figures, Path(folder), options.gigabytes)
    return figures.end()


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(main())
