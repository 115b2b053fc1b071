"""Whole programs: labelled text in, a model file out, and the labels of other text, beside LIBLINEAR and vw.

LIBLINEAR is that of Debian (package ``liblinear-tools``), vw the Python package ``vowpalwabbit``; one that is
missing is skipped. Data are the mails and the census of PERCEPTRON_RS_DATA. The programs solve different
problems, so no two models are equal: a figure is the time of another program's training to that of
``perceptrons train averaged``, ten epochs, and stands beside the share of test examples that each labels
right. Labels are checked first: ours are those of the loaded model, LIBLINEAR's are the signs of X w for the
weights of its file, and nine of ten must be right.

    PERCEPTRON_RS_DATA=folder python benches/programs.py [--runs 5] [--write]
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import bars
import data
import numpy as np
from alternate import alternate
from sklearn.datasets import dump_svmlight_file

from perceptron_rs import load
from perceptron_rs.io import load_svmlight

EPOCHS = 10
PYTHON = [sys.executable, "-m"]


def run(*words: object) -> str:
    # An installed package has its bytecode; a process that may not write it compiles all modules anew.
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": ""}
    command = [str(word) for word in words]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def ours_learns(folder: Path) -> None:
    options = f"--epochs {EPOCHS} --tol none --quiet --model".split()
    run(*PYTHON, "perceptron_rs", "train", "averaged", folder / "train.svm", *options, folder / "ours")


def ours_labels(folder: Path, X) -> np.ndarray:
    found = np.array(run(*PYTHON, "perceptron_rs", "predict", folder / "ours", folder / "test.svm").split())
    found = found.astype(float)
    assert (found == load(folder / "ours").predict(X)).all()
    return found


def liblinear_learns(folder: Path) -> None:
    run("liblinear-train", "-q", folder / "train.svm", folder / "liblinear")


def liblinear_labels(folder: Path, X) -> np.ndarray:
    run("liblinear-predict", "-q", folder / "test.svm", folder / "liblinear", folder / "labels")
    found = np.loadtxt(folder / "labels")
    head, weights = (folder / "liblinear").read_text().split("\nw\n")
    names = [float(name) for name in re.findall(r"^label (\S+) (\S+)$", head, re.MULTILINE)[0]]
    w = np.array(weights.split(), dtype=float)
    assert (found == np.where(X[:, : len(w)] @ w > 0, *names)).all()
    return found


def vw_learns(folder: Path) -> None:
    options = f"-k --passes {EPOCHS} --holdout_off --loss_function hinge --quiet --cache_file".split()
    run(*PYTHON, "vowpalwabbit", "-d", folder / "train.vw", *options, folder / "cache", "-f", folder / "vw")


def vw_labels(folder: Path, _) -> np.ndarray:
    options = ["-t", "--binary", "--quiet", "-i", folder / "vw", "-p", folder / "labels"]
    run(*PYTHON, "vowpalwabbit", "-d", folder / "test.vw", *options)
    return np.loadtxt(folder / "labels")


PROGRAMS = {
    "perceptrons": (ours_learns, ours_labels),
    "LIBLINEAR": (liblinear_learns, liblinear_labels),  # a linear SVM: squared hinge, C = 1, the dual problem
    "vw": (vw_learns, vw_labels),  # hinge loss, with the adaptive steps that are its default
}


def write_mails(folder: Path) -> None:
    for part in ("train", "test"):
        with gzip.open(data.folder() / f"spam.{part}.svm.gz") as packed:
            (folder / f"{part}.svm").write_bytes(packed.read())


def write_census(folder: Path) -> None:
    X, y, n = data.census_parts()
    X = X.astype(np.float64)
    order = np.random.default_rng(data.SEED).permutation(n)
    dump_svmlight_file(X[order], y[order], str(folder / "train.svm"), zero_based=False)
    dump_svmlight_file(X[n:], y[n:], str(folder / "test.svm"), zero_based=False)


def compare(figures: bars.Figures, case: str, folder: Path, programs: list[str], runs: int) -> None:
    for part in ("train", "test"):
        text = (folder / f"{part}.svm").read_bytes()
        (folder / f"{part}.vw").write_bytes(re.sub(rb"(?m)^([+-]?1) ", rb"\1 | ", text))
    columns = load_svmlight(folder / "train.svm")[0].shape[1]
    X, y = load_svmlight(folder / "test.svm", n_features=columns)
    right = {}
    for name in programs:
        learns, labels = PROGRAMS[name]
        learns(folder)
        right[name] = float(np.mean(labels(folder, X) == y))
        assert right[name] > 0.9, name
    times = alternate(runs, *(lambda name=name: PROGRAMS[name][0](folder) for name in programs))
    for name, seconds in zip(programs, times, strict=True):
        held = ""
        if name != "perceptrons":
            held = figures.hold(
                f"{case}, {name}", seconds / times[0], right=right[name], ours=right["perceptrons"]
            )
        print(f"{case}, {name:12} {seconds:6.2f} s, {100 * right[name]:.2f} % right {held}", flush=True)


def main() -> int:
    parser = bars.parser(__doc__)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    if data.folder() is None:
        print("skipped: set PERCEPTRON_RS_DATA to the folder with the real data")
        return 0
    programs = ["perceptrons", "LIBLINEAR", "vw"]
    if shutil.which("liblinear-train") is None:
        programs.remove("LIBLINEAR")
        print("LIBLINEAR skipped: apt-get install liblinear-tools")
    if find_spec("vowpalwabbit") is None:
        programs.remove("vw")
        print("vw skipped: pip install vowpalwabbit")
    figures = bars.Figures("programs", write=options.write)
    for case, write in {"mails": write_mails, "census": write_census}.items():
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder))
            compare(figures, case, Path(folder), programs, options.runs)
    return figures.end()


if __name__ == "__main__":
    sys.exit(main())
