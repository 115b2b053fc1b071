"""Compare load_svmlight with scikit-learn's load_svmlight_file: how much faster is a file read.

The text is the spam set from the folder named by PERCEPTRON_RS_DATA, 20 times over, and decimal
numbers of some lengths by a fixed generator. Whole calls from the file to X and y; the runs
alternate, medians are compared. Before a time is printed, the answers are checked to have equal bits.

    python benches/svmlight.py [--runs 3] [--json FILE]
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import data
import numpy as np
import sklearn
from sklearn.datasets import load_svmlight_file

from perceptron_rs import __version__
from perceptron_rs.io import load_svmlight

BARS = {1: 12.0, 2: 18.0}  # ratio by threads


def spam() -> bytes:
    return gzip.decompress((data.folder() / "spam.train.svm.gz").read_bytes()) * 20


def decimals(form: str) -> bytes:
    random = np.random.default_rng(data.SEED)
    lines = []
    for _ in range(20_000):
        columns = np.sort(random.choice(2000, 50, replace=False)) + 1
        entries = zip(columns.tolist(), random.standard_normal(50).tolist(), strict=True)
        lines.append("1 " + " ".join(f"{column}:{value:{form}}" for column, value in entries))
    return "\n".join(lines).encode()


CASES = {
    "spam x 20": (spam, ".svm", BARS),
    "spam x 20, gzip": (spam, ".svm.gz", {}),
    "1e6 values, 6 digits": (lambda: decimals(".6g"), ".svm", {}),
    "1e6 values, 17 digits": (lambda: decimals(".17g"), ".svm", {}),
}


def check(ours, peer) -> None:
    (X, y), (PX, py) = ours, peer
    assert X.data.tobytes() == PX.data.tobytes()
    assert np.array_equal(X.indices, PX.indices)
    assert np.array_equal(X.indptr, PX.indptr)
    assert y.tobytes() == py.tobytes()


def seconds(call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def run(path: Path, runs: int) -> dict[str, float]:
    calls = {"peer": lambda: load_svmlight_file(str(path))}
    calls |= {str(n): lambda n=n: load_svmlight(path, n_jobs=n) for n in BARS}
    check(calls["2"](), calls["peer"]())
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(runs):
        for name, call in calls.items():
            times[name].append(seconds(call))
    return {name: statistics.median(values) for name, values in times.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", help="also write the results to this file")
    options = parser.parse_args()
    print(f"perceptrons {__version__}, scikit-learn {sklearn.__version__}; medians of {options.runs} runs")
    print(f"{'case':24} {'threads':>7} {'sklearn s':>10} {'ours s':>9} {'ratio':>7} {'bar':>5} {'MB/s':>6}")
    results = []
    for name, (text, suffix, bars) in CASES.items():
        if text is spam and data.folder() is None:
            print(f"{name:24} skipped: set PERCEPTRON_RS_DATA to the folder with the real data")
            continue
        content = text()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "text" + suffix)
            path.write_bytes(gzip.compress(content, 6) if suffix.endswith(".gz") else content)
            times = run(path, options.runs)
        for threads in BARS:
            ours, bar = times[str(threads)], bars.get(threads)
            ratio = times["peer"] / ours
            results.append({"case": name, "threads": threads, "scikit-learn": times["peer"], "ours": ours})
            results[-1] |= {"ratio": ratio, "bar": bar}
            figures = f"{times['peer']:10.4f} {ours:9.4f} {ratio:6.1f}x {bar or '':>5}"
            below = "  BELOW BAR" if bar and ratio < bar else ""
            print(f"{name:24} {threads:7} {figures} {len(content) / ours / 1e6:6.0f}{below}", flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
