"""Measure how fast ``predict -`` turns text on a pipe into labels, and when the first answer comes.

The text is the spam set from the folder named by PERCEPTRON_RS_DATA, many times over. ``cat`` writes it to
the pipe; the time of a process that reads one line is taken off. The labels are compared with those of the
estimator first. Figures: the time of ``wc`` for the same text beside ours; that of a process that imports
NumPy beside the first answer of ``predict big.svm | head -1``.

    python benches/pipe.py [--copies 60] [--runs 3] [--write]
"""

from __future__ import annotations

import gzip
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import bars
import data
from alternate import alternate

from perceptron_rs import AveragedPerceptron
from perceptron_rs.io import load_svmlight


def shell(line: str) -> bytes:
    return subprocess.run(line, shell=True, capture_output=True, check=True).stdout


def main() -> int:
    parser = bars.parser(__doc__)
    parser.add_argument("--copies", type=int, default=60)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = gzip.decompress((data.folder() / "spam.train.svm.gz").read_bytes())
        one, big, model = (Path(folder, name) for name in ("one.svm", "big.svm", "model"))
        one.write_bytes(text)
        X, y = load_svmlight(one, zero_based=False)
        learnt = AveragedPerceptron(max_iter=5, tol=None).fit(X, y.astype(int))
        learnt.save(model)
        with big.open("wb") as file:
            for _ in range(arguments.copies):
                file.write(text)
        command = f"{shlex.quote(sys.executable)} -m perceptron_rs predict {model} --zero-based no"
        piped = f"{command} --format svmlight -"
        expected = "".join(f"{label}\n" for label in learnt.predict(X)).encode()
        assert shell(f"cat {one} | {piped}") == expected
        whole, start, first, words, numpy = alternate(
            arguments.runs,
            lambda: shell(f"cat {big} | {piped} > {folder}/out"),
            lambda: shell(f"head -1 {one} | {piped}"),
            lambda: shell(f"{command} {big} | head -1"),
            lambda: shell(f"cat {big} | wc"),
            lambda: shell(f"{shlex.quote(sys.executable)} -c 'import numpy'"),
        )
        assert Path(folder, "out").read_bytes() == expected * arguments.copies
        size = big.stat().st_size / 1e6
        figures = bars.Figures("pipe", write=arguments.write)
        ratio = figures.hold("text on a pipe, to wc", words / (whole - start))
        print(f"{size:.0f} MB of text on a pipe: {size / (whole - start):.0f} MB/s, {ratio}")
        print(
            f"first answer of a file: {first:.2f} s,", figures.hold("first answer, to NumPy", numpy / first)
        )
    return figures.end()


if __name__ == "__main__":
    sys.exit(main())
