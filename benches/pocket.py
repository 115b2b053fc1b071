"""What does the pocket cost: the time of a fit, against that of the plain perceptron on the same data.

Same epochs in the same order, one thread; the runs alternate, medians are compared. Before a time is
printed the answer is checked: the last weights are the plain perceptron's, and the errors are those
that the pocket's weights make, counted by NumPy. Real data is read from the folder named by
PERCEPTRON_RS_DATA.

    python benches/pocket.py [--runs 5] [--check CHECK ...]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings

import data
import numpy as np

from perceptron_rs import Perceptron, PocketPerceptron

EPOCHS = 10
BAR = 3.0  # for check="run" on the census set


def digit():
    X, y = data.mnist()
    return X, y == 3


CASES = {
    "CSR census int8": data.census,
    "uint8 MNIST one digit": digit,
    "dense float64 20000 x 100": lambda: data.dense(20_000, 100, "float64"),
}


def checked(plain, pocket, X, y):
    assert plain.coef_.tobytes() == pocket.last_coef_.tobytes(), "the run is another one"
    errors = np.count_nonzero(pocket.predict(X) != y)
    assert errors == pocket.pocket_errors_[0], (errors, pocket.pocket_errors_)
    return errors, np.count_nonzero(plain.predict(X) != y)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--check", nargs="*", default=["run", "ratchet", "epoch"])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    missed = 0
    print(f"{'case':28} {'check':8} {'plain s':>9} {'pocket s':>9} {'ratio':>7}  errors (of last), swaps")
    for name, load in CASES.items():
        if data.folder() is None and not name.startswith("dense"):
            print(f"{name:28} skipped: set PERCEPTRON_RS_DATA to the folder with the real data")
            continue
        X, y = load()
        parameters = {"max_iter": EPOCHS, "tol": None, "shuffle": False}
        models = {"plain": Perceptron(**parameters)}
        models |= {check: PocketPerceptron(check=check, **parameters) for check in options.check}
        times: dict[str, list[float]] = {model: [] for model in models}
        for _ in range(options.runs):
            for key, model in models.items():
                start = time.perf_counter()
                model.fit(X, y)
                times[key].append(time.perf_counter() - start)
        plain = statistics.median(times["plain"])
        for check in options.check:
            errors, last = checked(models["plain"], models[check], X, y)
            pocket = statistics.median(times[check])
            below = check == "run" and name == "CSR census int8" and pocket > BAR * plain
            missed += below
            print(
                f"{name:28} {check:8} {plain:9.4f} {pocket:9.4f} {pocket / plain:6.2f}x  {errors} ({last}), "
                f"{len(models[check].swaps_)}{'  ABOVE BAR' if below else ''}",
                flush=True,
            )
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
