"""Cases of margin.txt."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from words import Case, bits, draw, floats, rows, whole

from perceptron_rs.engines import Engine
from perceptron_rs.reference.order import splitmix64

MARGIN = """
Inputs. X (n x d) = draw(type, seed, n*d, zeros); of float64, column j times 2^(exponent + j spread). The same
answer must come out with X dense, and as CSR with its zeros left out, for 32-bit and 64-bit indices.
  labels         drawn: z mod 2, from SplitMix64(seed + 1); order: 1 where the unscaled column 0 exceeds
                 column 1; both: 0, 1, 0, ..., and row 1 equals row 0
  bias, solver, goal, max_steps, tol (a float64): as they are named
Outputs.
  status, proof, solver_run; lower, upper, radius; coef (d), intercept; support, dual_weights
  work           passes, rows_scored, majors, refinements, sweeps
  own            both ends of the margin of that plane, then the same without the division by its norm; none
                 if its weights are all 0
  own_wrong      rows on the wrong side of it, at most the first 60
  drawn, drawn_wrong   the same of coef = draw(float64, seed + 2, d, 0), intercept likewise with seed + 3
"""


def margins(engine: Engine, case: Case, layout: str) -> Case:
    """Outputs of a case of margin.txt."""
    n, d, seed = (int(case[name]) for name in ("n", "d", "seed"))
    X = draw(case["type"], seed, (n, d), int(case["zeros"]))
    labels = (splitmix64(seed + 1, n) % np.uint64(2)).astype(np.uint32)
    if case["labels"] == "order":
        labels = (X[:, 0] > X[:, 1]).astype(np.uint32)
    if case["labels"] == "both":
        labels, X[1] = np.arange(n, dtype=np.uint32) % 2, X[0]
    if case["type"] == "float64":
        X = np.ldexp(X, int(case["exponent"]) + int(case["spread"]) * np.arange(d))
    matrix = rows(engine, X, layout)
    names = ("bias", "solver", "goal")
    found = engine.separate(
        matrix,
        labels,
        tol=float(floats(case["tol"])[0]),
        max_steps=int(case["max_steps"]),
        threads=1,
        **{name: case[name] for name in names},
    )
    coef = {"own": found["coef"], "drawn": draw("float64", seed + 2, (d,))}
    b = {"own": float(found["intercept"]), "drawn": float(draw("float64", seed + 3, (1,))[0])}
    out = {"status": found["status"], "proof": str(found["proof"]).lower(), "solver_run": found["solver"]}
    out |= {name: bits(found[name]) for name in ("lower", "upper", "radius", "coef", "intercept")}
    out |= {name: whole(found[name]) for name in ("support", "dual_weights")}
    out["work"] = whole(list(found["work"].values()))
    for name, w in coef.items():
        ends, wrong = "none", "none"
        if w.any():
            both = [
                engine.margin(matrix, labels, w, b[name], normalize=normalize, threads=1)
                for normalize in (True, False)
            ]
            ends, wrong = bits([end for low, high, _ in both for end in (low, high)]), whole(both[0][2][:60])
        out |= {name: ends, f"{name}_wrong": wrong}
    return out


def margin_cases() -> Iterator[Case]:
    """Each kind of labels with each bias and goal; then what changes the way to the answer."""
    base = {"n": "12", "d": "3", "type": "float64", "zeros": "0", "seed": "0", "exponent": "0", "spread": "0"}
    base |= {"labels": "order", "bias": "free", "solver": "wolfe", "goal": "margin"}
    base |= {"max_steps": "1000", "tol": bits(1e-6)}
    changes: list[Case] = []
    biases = ("free", "augmented", "none")
    for labels, bias, dtype in itertools.product(("order", "drawn", "both"), biases, ("float64", "int8")):
        for zeros in ("0", "4"):
            changes += [{"labels": labels, "bias": bias, "type": dtype, "zeros": zeros}]
    for bias, solver in itertools.product(biases, ("descent", "auto")):
        changes += [{"bias": bias, "solver": solver, "n": n, "d": "5", "zeros": "5"} for n in ("9", "60")]
        changes += [{"bias": bias, "solver": solver, "goal": "separable", "n": "40", "max_steps": "9"}]
        changes += [{"bias": bias, "solver": solver, "n": "40", "labels": "drawn", "max_steps": "50"}]
    sizes = (("1", "2"), ("2", "2"), ("40", "9"), ("70", "33"))
    for bias in biases:
        for change in [{"n": n, "d": d} for n, d in sizes] + [
            {"n": "30", "max_steps": steps} for steps in "013"
        ]:
            changes += [{"bias": bias} | change]
        for goal in ("margin", "separable"):
            changes += [{"bias": bias, "solver": "auto", "goal": goal, "n": "60", "d": "60", "zeros": "7"}]
        changes += [{"bias": bias, "n": "30", "d": "20", "zeros": "7", "labels": "drawn"}]
        for change in ({}, {"type": "int8", "labels": "drawn"}):
            changes += [{"bias": bias, "n": "30", "d": "8", "goal": "separable"} | change]
        changes += [{"bias": bias, "tol": bits(tol), "n": "50", "d": "6"} for tol in (1e-15, 0.3)]
        changes += [{"bias": bias, "exponent": power, "n": "20"} for power in ("-900", "-40", "40", "900")]
        for labels, spread in itertools.product(("order", "drawn"), ("-60", "45")):
            changes += [{"bias": bias, "spread": spread, "labels": labels, "n": "8"}]
        changes += [{"bias": bias, "spread": "-60", "labels": "drawn", "n": "4", "d": "8"}]
        # From 16,000 rows on passes begin with samples; nothing is known of rows that are all 0.
        changes += [{"bias": bias, "n": "16001", "type": dtype} for dtype in ("float64", "int8")]
        changes += [{"bias": bias, "n": "6", "zeros": "8", "labels": labels} for labels in ("drawn", "both")]
        changes += [{"bias": bias, "n": "200", "type": "int8", "d": "2", "tol": bits(1e-12)}]
        changes += [{"bias": bias, "n": "5", "labels": "drawn", "d": "2", "spread": "900"}]
    for i, change in enumerate(changes):
        yield base | {"seed": str(100 * (i + 1))} | change
