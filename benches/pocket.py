"""What does the pocket cost: the time of a fit, against that of the plain perceptron on the same data.

Same epochs in the same order, one thread; the runs alternate, medians are compared. Before a time is
printed the answer is checked: the last weights are the plain perceptron's, and the errors are those
that the pocket's weights make, counted by NumPy. Real data is read from the folder named by
PERCEPTRON_RS_DATA.

    python benches/pocket.py [--runs 5] [--write]
"""

from __future__ import annotations

import sys
import warnings

import bars
import data
import numpy as np
from alternate import alternate

from perceptron_rs import Perceptron, PocketPerceptron

EPOCHS = 10
CHECKS = "run", "epoch"  # the ratchet counts all examples at each good run: hundreds of times a fit


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
    parser = bars.parser(__doc__)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    figures = bars.Figures("pocket", write=options.write)
    print(f"{'case':28} {'check':8} {'plain s':>9} {'pocket s':>9}  ratio; errors (of last), swaps")
    for name, load in CASES.items():
        if data.folder() is None and not name.startswith("dense"):
            print(f"{name:28} skipped: set PERCEPTRON_RS_DATA to the folder with the real data")
            continue
        X, y = load()
        parameters = {"max_iter": EPOCHS, "tol": None, "shuffle": False}
        models = {"plain": Perceptron(**parameters)}
        models |= {check: PocketPerceptron(check=check, **parameters) for check in CHECKS}
        fits = [lambda model=model: model.fit(X, y) for model in models.values()]  # noqa: B023
        plain, *pockets = alternate(options.runs, *fits)
        for check, pocket in zip(CHECKS, pockets, strict=True):
            errors, last = checked(models["plain"], models[check], X, y)
            ratio = figures.hold(f"{name}, {check}", pocket / plain, at_most=True)
            print(
                f"{name:28} {check:8} {plain:9.4f} {pocket:9.4f}  {ratio}; {errors} ({last}), "
                f"{len(models[check].swaps_)}",
                flush=True,
            )
    return figures.end()


if __name__ == "__main__":
    sys.exit(main())
