"""Compare load_svmlight with scikit-learn's load_svmlight_file: how much faster is a file read.

The text is the spam set from the folder named by PERCEPTRON_RS_DATA, 20 times over, and decimal
numbers of some lengths by a fixed generator. Whole calls from the file to X and y; the runs
alternate, medians are compared. Before a time is printed, the answers are checked to have equal bits.

    python benches/svmlight.py [--runs 3] [--write]
"""

from __future__ import annotations

import gzip
import sys
import tempfile
from pathlib import Path

import bars
import data
import numpy as np
from alternate import alternate
from sklearn.datasets import load_svmlight_file

from perceptron_rs.io import load_svmlight

THREADS = 1, 2


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
    "spam x 20": (spam, ".svm"),
    "spam x 20, gzip": (spam, ".svm.gz"),
    "1e6 values, 6 digits": (lambda: decimals(".6g"), ".svm"),
    "1e6 values, 17 digits": (lambda: decimals(".17g"), ".svm"),
}


def check(ours, peer) -> None:
    (X, y), (PX, py) = ours, peer
    assert X.data.tobytes() == PX.data.tobytes()
    assert np.array_equal(X.indices, PX.indices)
    assert np.array_equal(X.indptr, PX.indptr)
    assert y.tobytes() == py.tobytes()


def run(path: Path, runs: int) -> list[float]:
    """Return the seconds of scikit-learn, and ours by number of threads."""
    calls = [lambda: load_svmlight_file(str(path))]
    calls += [lambda n=n: load_svmlight(path, n_jobs=n) for n in THREADS]
    peer = calls[0]()
    for call in calls[1:]:
        check(call(), peer)
    return alternate(runs, *calls)


def main() -> int:
    parser = bars.parser(__doc__)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    print(f"medians of {options.runs} runs")
    print(f"{'case':36} {'sklearn s':>10} {'ours s':>9} {'MB/s':>6}  ratio")
    figures = bars.Figures("svmlight", write=options.write, runs=options.runs)
    for name, (text, suffix) in CASES.items():
        if text is spam and data.folder() is None:
            print(f"{name:36} skipped: set PERCEPTRON_RS_DATA to the folder with the real data")
            continue
        content = text()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "text" + suffix)
            path.write_bytes(gzip.compress(content, 6) if suffix.endswith(".gz") else content)
            peer, *times = run(path, options.runs)
        for threads, ours in zip(THREADS, times, strict=True):
            case = f"{name}, {threads} thread{'s' if threads > 1 else ''}"
            speed = f"{peer:10.4f} {ours:9.4f} {len(content) / ours / 1e6:6.0f}"
            print(f"{case:36} {speed} ", figures.hold(case, peer / ours), flush=True)
    return figures.end()


if __name__ == "__main__":
    sys.exit(main())
