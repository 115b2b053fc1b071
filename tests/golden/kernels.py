"""Cases of kernel.txt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from words import TYPES, Case, bits, draw, floats, rows, whole

from perceptron_rs.engines import Engine
from perceptron_rs.reference.order import splitmix64
from perceptron_rs.settings import Data, Kernel, KernelSpec
from perceptron_rs.training.driver import Schedule, follow

KERNEL = """
Inputs. X (n x d) = draw(type, seed, n*d, zeros), times 2^-shift if it is float64. The same answer must
come out with X dense, and as CSR with its zeros left out, for 32-bit and 64-bit indices, for any cache and
number of threads. With z the numbers of a generator:
  labels         z mod classes, from SplitMix64(seed + 1)
  weights        of the samples, from SplitMix64(seed + 2): none, or quarters: (z >> 61) * 2^-2
  kernel, gamma, coef0, degree: of the kernel (precomputed: d = n, X is the Gram matrix)
  positive       the class that is positive in each of the K planes
  class_weight   K x 2: of the negatives, of the positives
  joint          none, or how a joint decision spreads the downward part of an update
  eta0, tie, fit_intercept (0 or 1), margin, added_feature, first_epoch, max_iter: as they are named
  most           none, or the largest number of updates for each example and plane
  shuffle        none, or the seed of the permutations (partition 0)
The run starts from nothing and stops at max_iter, or after an epoch without a mistake. Outputs:
  scale          one divided by d and the variance of X
  values         the kernel values of the first 3 rows with all rows
  n_iter, stopped (K, or one if joint), mistakes (E x K, or E), per_example (n x K, or n)
  intercept, norm, seen (K); norm is the squared norm N of the last vectors
  log_start (K+1), log_row, log_t, log_step, log_norm: the log, plane by plane
  scores         (n x 8 x K) answers of the vectors for the rows of X: S, last, average, vote, drawn, and the
                 normalised last, average and drawn. Drawn is the vector whose number is half (rounded down)
                 of that of the entries of its plane.
"""
ANSWERS = (
    "sum",
    "last",
    "average",
    "vote",
    "drawn",
    "normalised last",
    "normalised average",
    "normalised drawn",
)


def kernel(engine: Engine, case: Case, layout: str) -> Case:
    """Outputs of a case of kernel.txt."""
    n, d, seed = (int(case[name]) for name in ("n", "d", "seed"))
    positive = np.array(case["positive"].split(","), dtype=np.uint32)
    K = len(positive)
    X = draw(case["type"], seed, (n, d), int(case["zeros"]))
    if case["type"] == "float64":
        X = X * 2.0 ** -int(case["shift"])
    matrix = rows(engine, X, layout)
    number = {
        name: float(floats(case[name])[0]) for name in ("gamma", "coef0", "eta0", "margin", "added_feature")
    }
    spec = KernelSpec(case["kernel"], number["gamma"], number["coef0"], int(case["degree"]))
    z = splitmix64(seed + 2, n)
    settings = Kernel(
        kernel=spec,
        cache_bytes=1000,
        positive=positive,
        class_weight=floats(case["class_weight"]).reshape(K, 2),
        eta0=number["eta0"],
        tie=case["tie"],
        fit_intercept=case["fit_intercept"] == "1",
        seed=None if case["shuffle"] == "none" else int(case["shuffle"]),
        track_mistakes=True,
        threads=2,
        margin_threshold=number["margin"],
        added_feature=number["added_feature"],
        max_mistakes_per_example=None if case["most"] == "none" else int(case["most"]),
        joint=None if case["joint"] == "none" else case["joint"],
    )
    zeros = {
        "sums": np.zeros((K, n)),
        "intercept": np.zeros(K),
        "norm": np.zeros(K),
        "seen": np.zeros(K, dtype=np.int64),
    }
    labels = (splitmix64(seed + 1, n) % np.uint64(int(case["classes"]))).astype(np.uint32)
    weights = None if case["weights"] == "none" else (z >> np.uint64(61)) * 0.25
    schedule = Schedule(int(case["first_epoch"]), int(case["max_iter"]))
    run = engine.start(Data(matrix, labels, weights), engine.Model.from_state("kernel", zeros), settings)
    report = follow(run, settings, schedule)
    per_example = report.tracked.get("mistakes_per_example")
    assert per_example is not None
    after = report.state.state()
    found = {
        "scale": bits(engine.scale_gamma(matrix)),
        "values": bits(engine.kernel_matrix(matrix, matrix, kernel=spec, threads=2)[:3]),
        "n_iter": whole(report.n_iter),
        "stopped": ",".join(report.stopped),
        "mistakes": whole(report.mistakes),
        "per_example": whole(per_example),
    }
    found |= {name: bits(after[name]) for name in ("intercept", "norm", "log_step", "log_norm")}
    found |= {name: whole(after[name]) for name in ("seen", "log_start", "log_row", "log_t")}
    found["scores"] = bits(_scores(engine, matrix, spec, after, case))
    return found


def _scores(engine: Engine, matrix: Any, spec: KernelSpec, after: Any, case: Case) -> Any:
    """Let all vectors judge the rows that they were learnt from."""
    start = after["log_start"]
    logs = np.split(after["log_t"], start[1:-1])
    counts = [np.diff([1, *log, last + 1]) for log, last in zip(logs, after["seen"], strict=True)]
    vectors = after | {
        "log_bias": after["log_step"] * float(case["fit_intercept"] == "1"),
        "log_count": np.concatenate(counts).astype(np.int64),
        "log_norm": np.insert(after["log_norm"], start[:-1], 0.0),
        "intercept": np.zeros(len(start) - 1),
        "drawn": np.diff(start) // 2,
    }
    return engine.kernel_scores(
        matrix, matrix, vectors, kernel=spec, answers=ANSWERS, tie=case["tie"], threads=2
    )


def kernel_cases() -> Iterator[Case]:
    """Each kernel on each type; then what changes the run."""
    base = {"n": "12", "d": "9", "type": "float64", "shift": "3", "zeros": "2", "seed": "0", "classes": "2"}
    base |= {"weights": "none", "kernel": "rbf", "gamma": bits(0.3), "coef0": bits(0.7), "degree": "3"}
    base |= {
        "positive": "1",
        "class_weight": bits([1, 1]),
        "joint": "none",
        "eta0": bits(1),
        "tie": "mistake",
    }
    base |= {"fit_intercept": "0", "margin": bits(0), "added_feature": bits(0), "most": "none"}
    base |= {"shuffle": "none", "first_epoch": "0", "max_iter": "4"}
    three = {"positive": "0,1,2", "classes": "4", "class_weight": bits([1] * 6)}
    joint = three | {"classes": "3"}
    given = {"kernel": "precomputed", "d": "12"}
    small = {"int8": 2.0**-14, "uint8": 2.0**-17, "int16": 2.0**-30, "uint16": 2.0**-33, "int32": 2.0**-62}
    changes: list[Case] = []
    for name in ("linear", "poly", "rbf", "sigmoid"):
        for dtype in TYPES:
            gamma = bits(0.3 * small[dtype] if dtype in small else 0.003 if dtype == "float32" else 0.3)
            changes += [{"kernel": name, "type": dtype, "gamma": gamma, "shuffle": "7"}]
        changes += [three | {"kernel": name, "shuffle": "8", "fit_intercept": "1", "eta0": bits(0.3)}]
        changes += [
            three | joint | {"kernel": name, "joint": how} for how in ("max", "uniform", "proportional")
        ]
    changes += [given | {"type": dtype} for dtype in ("float64", "int8", "uint16")]
    changes += [
        given | joint | {"joint": "max", "zeros": "6"},
        given | three | {"shuffle": "3", "fit_intercept": "1"},
    ]
    changes += [{"kernel": "poly", "degree": degree, "coef0": bits(-0.4)} for degree in ("1", "2", "7")]
    changes += [
        {"d": d, "kernel": "poly", "type": "int8", "gamma": bits(2.0**-12)} for d in ("1", "8", "16", "33")
    ]
    changes += [
        {"tie": "positive"},
        {"tie": "positive", "fit_intercept": "1", "kernel": "sigmoid"},
        {
            "weights": "quarters",
            "class_weight": bits([0.7, 1.9]),
            "eta0": bits(0.1),
            "first_epoch": "4",
            "shuffle": "1",
        },
        {"margin": bits(1.5), "added_feature": bits(0.5), "most": "2", "max_iter": "6"},
        {"zeros": "7", "kernel": "linear"},
        {"n": "40", "max_iter": "3", "kernel": "poly", "shuffle": "5"},
        three | {"weights": "quarters", "class_weight": bits([1, 0, 1, 1, 0, 1]), "shuffle": "5"},
        joint | {"most": "1", "joint": "uniform"},
    ]
    for i, change in enumerate(changes):
        yield base | {"seed": str(1000 * (i + 1))} | change
