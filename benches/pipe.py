"""Measure how fast ``predict -`` turns text on a pipe into labels, and when the first answer comes.

The text is the spam set from the folder named by PERCEPTRON_RS_DATA, many times over. ``cat`` writes it to
the pipe; the time of a process that reads one line is taken off. The labels are compared with those of the
estimator first. The bars are 150 MB/s, and 0.3 s for ``predict big.svm | head -1``.

    python benches/pipe.py [--copies 60] [--runs 3]
"""

from __future__ import annotations

import argparse
import gzip
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import data
from alternate import alternate

from perceptron_rs import AveragedPerceptron
from perceptron_rs.cli.modelfile import keep_base
from perceptron_rs.io import load_svmlight


def shell(line: str) -> bytes:
    return subprocess.run(line, shell=True, capture_output=True, check=True).stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--copies", type=int, default=60)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = gzip.decompress((data.folder() / "spam.train.svm.gz").read_bytes())
        one, big, model = (Path(folder, name) for name in ("one.svm", "big.svm", "model"))
        one.write_bytes(text)
        X, y = load_svmlight(one, zero_based=False)
        learnt = AveragedPerceptron(max_iter=5, tol=None).fit(X, y.astype(int))
        keep_base(learnt, zero_based=False)
        learnt.save(model)
        with big.open("wb") as file:
            for _ in range(arguments.copies):
                file.write(text)
        command = f"{shlex.quote(sys.executable)} -m perceptron_rs predict {model}"
        expected = "".join(f"{label}\n" for label in learnt.predict(X)).encode()
        assert shell(f"cat {one} | {command} -") == expected
        whole, start, first = alternate(
            arguments.runs,
            lambda: shell(f"cat {big} | {command} - > {folder}/out"),
            lambda: shell(f"head -1 {one} | {command} -"),
            lambda: shell(f"{command} {big} | head -1"),
        )
        assert Path(folder, "out").read_bytes() == expected * arguments.copies
        size = big.stat().st_size / 1e6
        print(f"{size:.0f} MB of text on a pipe: {size / (whole - start):.0f} MB/s (bar: 150)")
        print(f"first answer of a file: {first:.2f} s (bar: 0.3)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
