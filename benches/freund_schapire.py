"""The digits table of Freund and Schapire, learnt anew and compared with the published figures.

Y. Freund, R. E. Schapire, "Large margin classification using the perceptron algorithm", Machine Learning 37,
1999, section 5: MNIST, raw pixels, K(x, z) = (1 + x.z)^d, one digit against the rest, T epochs over one
permutation. A run of the most epochs holds the shorter ones, as the beginnings of its log, so there is one
fit for each d, and one block of kernel values for all epochs and all kinds of prediction.

A class that ends an epoch without a mistake stops: it would make no more, so its last vector is given
the examples that are left.

    PERCEPTRON_RS_DATA=folder python benches/freund_schapire.py --degrees 2 --epochs 0.1 1 4 --out folder

The exit code is 1 if a figure is too far from the published one.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import data
import numpy as np
from drawn import counted, random_errors, until

from perceptron_rs import KernelPerceptron
from perceptron_rs.arrays.named import rows_in
from perceptron_rs.engines import get_engine, rows_of
from perceptron_rs.kernel.vectors import vote_state
from perceptron_rs.settings import KernelSpec

#: (d, T): the vote's error in percent, SupVec, Mistake. The errors of d = 4 are those of a rerun elsewhere.
PUBLISHED = {
    (1, 1): (8.5, 19_795, 25_461),
    (1, 4): (8.2, 28_322, 93_090),
    (2, 1): (2.8, 8_190, 10_201),
    (2, 10): (1.8, 12_963, 32_451),
    (3, 1): (2.3, 6_774, 8_475),
    (3, 10): (1.6, 9_883, 18_422),
    (4, 1): (2.2, 6_338, 7_977),
    (4, 10): (1.55, 8_673, 14_375),
}
POINTS, SHARE = 0.25, 0.02
ANSWERS = {
    "vote": "vote",
    "average": "average, unnormalised",
    "normalised average": "average, normalised",
    "last": "last, unnormalised",
    "normalised last": "last, normalised",
}
RANDOM = ("random, unnormalised", "random, normalised")
METHODS = (*ANSWERS.values(), *RANDOM)
COUNTS = ("SupVec", "Mistake")
BLOCK = 500
THREADS = os.cpu_count() or 1


def errors_of(model, X, y, limits):
    """Return the test errors after so many examples: (methods, limits)."""
    engine, vectors = get_engine("rust"), model._vectors
    stored_rows = rows_of(engine, rows_in(vectors), X.shape[1])
    names = engine.dense_rows(np.zeros((len(vectors["origin"]), 1), dtype=np.uint8))
    classes = len(model.classes_)
    logs = [(until(vectors, limit), np.full(classes, limit)) for limit in limits]
    states = [vote_state(log, seen, 0) for log, seen in logs]
    counts = counted(vectors, limits)
    labels = np.searchsorted(model.classes_, y)
    wrong = np.zeros((len(METHODS), len(limits)))
    with ThreadPoolExecutor(THREADS) as pool:
        for start in range(0, len(X), BLOCK):
            block, truth = X[start : start + BLOCK], labels[start : start + BLOCK]
            values = engine.kernel_matrix(
                engine.dense_rows(block), stored_rows, kernel=model._spec, threads=THREADS
            )
            rows = engine.dense_rows(values)
            for i, state in enumerate(states):
                found = engine.kernel_scores(
                    rows,
                    names,
                    state,
                    kernel=KernelSpec("precomputed"),
                    answers=[*ANSWERS],
                    tie="mistake",
                    threads=THREADS,
                )
                wrong[: len(ANSWERS), i] += (found.argmax(axis=2) != truth[:, np.newaxis]).sum(axis=0)
            work = ((row, label, vectors, counts) for row, label in zip(values, truth, strict=True))
            wrong[len(ANSWERS) :] += sum(pool.map(lambda one: random_errors(*one), work))
    return 100 * wrong / len(X)


def run(degree, epochs, train, test, seed, cache):
    """Return the figures of one degree, an entry for each number of epochs; ``cache`` in megabytes."""
    X, y = train
    order = np.random.default_rng(seed).permutation(len(X))
    limits = [round(T * len(X)) for T in epochs]
    model = KernelPerceptron(
        "poly",
        degree=degree,
        gamma=1.0,
        coef0=1.0,
        max_iter=-(-max(limits) // len(X)),
        shuffle=False,
        n_jobs=THREADS,
        cache_size=cache,
    )
    begin = time.perf_counter()
    model.fit(X[order], y[order])
    fitted = time.perf_counter()
    errors = errors_of(model, *test, limits)
    print(f"d = {degree}: fit {fitted - begin:.1f} s, test {time.perf_counter() - fitted:.1f} s", flush=True)
    logs = [until(model._vectors, limit)["log_row"] for limit in limits]
    return [
        {"d": degree, "T": T}
        | dict(zip(METHODS, errors[:, i].tolist(), strict=True))
        | {"SupVec": len(np.unique(log)), "Mistake": len(log)}
        for i, (T, log) in enumerate(zip(epochs, logs, strict=True))
    ]


def table(figures):
    """Return the lines of the table of one degree, the published figures in brackets."""
    published = {name: [""] * len(figures) for name in (*METHODS, *COUNTS)}
    for i, found in enumerate(figures):
        for name, value in zip(("vote", *COUNTS), PUBLISHED.get((found["d"], found["T"]), ()), strict=False):
            published[name][i] = f"({value:,})"
    lines = [
        (
            f"d = {figures[0]['d']}".ljust(24) + "".join(f"T = {found['T']:g}".ljust(18) for found in figures)
        ).rstrip()
    ]
    for name in (*METHODS, *COUNTS):
        form = "{:,d} {}" if name in COUNTS else "{:.2f} {}"
        cells = (form.format(found[name], text) for found, text in zip(figures, published[name], strict=True))
        lines.append(name.ljust(24) + "".join(cell.ljust(18) for cell in cells).rstrip())
    return lines


def misses(found):
    """Return in words what is too far from the published figures."""
    if (found["d"], found["T"]) not in PUBLISHED:
        return []
    error, *counts = PUBLISHED[found["d"], found["T"]]
    where = f"d = {found['d']}, T = {found['T']:g}"
    far = [
        f"{where}: {name} {found[name]:,} is not within {SHARE:.0%} of {count:,}"
        for name, count in zip(COUNTS, counts, strict=True)
        if abs(found[name] - count) > SHARE * count
    ]
    if abs(found["vote"] - error) > POINTS + 1e-9:
        far.append(f"{where}: error of the vote {found['vote']:.2f} is not within {POINTS} of {error}")
    return far


def plot(figures, path):
    """Draw the errors against T, one panel for each degree, three in a row."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    degrees = list(dict.fromkeys(found["d"] for found in figures))
    across = min(len(degrees), 3)
    down = -(-len(degrees) // across)
    canvas, axes = plt.subplots(down, across, figsize=(1.5 + 3.5 * across, 4 * down), squeeze=False)
    for panel in axes.flat[len(degrees) :]:
        panel.remove()
    for d, panel in zip(degrees, axes.flat, strict=False):
        rows = [found for found in figures if found["d"] == d]
        for name in METHODS:
            style = "--" if name.endswith(", normalised") else "-"
            panel.plot([row["T"] for row in rows], [row[name] for row in rows], style, marker=".", label=name)
        panel.set(xscale="log", xlabel="epochs T", title=f"d = {d}")
    for row in axes:
        row[0].set_ylabel("test error, %")
    axes[0, -1].legend(fontsize="small")
    canvas.tight_layout()
    canvas.savefig(path)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--degrees", type=int, nargs="+", default=[1, 2, 3, 4, 5, 6])
    parser.add_argument("--epochs", type=float, nargs="+", default=[0.1, 1, 2, 3, 4, 10, 30])
    parser.add_argument("--quick", action="store_true", help="d = 2, T = 0.1 and 1 alone")
    parser.add_argument("--seed", type=int, default=data.SEED, help="of the permutation")
    parser.add_argument("--cache", type=float, default=4000, help="megabytes for rows of kernel values")
    parser.add_argument("--out", type=Path, help="folder for the table, its figures as JSON, and the plot")
    given = parser.parse_args()
    if min(given.degrees) < 1 or min(given.epochs) <= 0:
        parser.error("degrees must be at least 1, and epochs above 0")
    if given.quick:
        given.degrees, given.epochs = [2], [0.1, 1.0]
    return given


def main() -> int:
    given = arguments()
    if data.folder() is None:
        print("skipped: set PERCEPTRON_RS_DATA to the folder with the real data")
        return 0
    with np.load(data.folder() / "mnist.npz") as parts:
        X, y = parts["X"], parts["y"]
    train, test = (X[:60000], y[:60000]), (X[60000:], y[60000:])
    figures, text = (
        [],
        ["Test error in %, counts; in brackets the published figures (errors of d = 4: a rerun elsewhere)."],
    )
    for degree in given.degrees:
        found = run(degree, sorted(given.epochs), train, test, given.seed, given.cache)
        lines = table(found)
        print(*lines, "", sep="\n", flush=True)
        figures += found
        text += ["", *lines]
    far = [line for found in figures for line in misses(found)]
    print(*far, sep="\n")
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
        name = given.out / "freund-schapire"
        name.with_suffix(".txt").write_text("\n".join(text + far) + "\n")
        about = {"seed": given.seed, "figures": figures, "far": far}
        name.with_suffix(".json").write_text(json.dumps(about, indent=1) + "\n")
        plot(figures, name.with_suffix(".svg"))
    return 1 if far else 0


if __name__ == "__main__":
    sys.exit(main())
