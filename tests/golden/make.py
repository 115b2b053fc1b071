"""Write the golden files from the reference engine, or check that they are current (``--check``).

Each line of a file is a case: inputs, most of them by rule, and outputs as the bits of the float64
numbers. The head of each file says how to read it; both test runners do.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from perceptron_rs.arrays.named import State
from perceptron_rs.engines import ENGINES, Engine, get_engine
from perceptron_rs.reference.order import splitmix64
from perceptron_rs.registry import REGISTRY
from perceptron_rs.settings import Chain, Data, Linear, Sequences
from perceptron_rs.training.driver import Schedule, follow

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))  # this file is also loaded by its path

from fits import examples, fitted  # noqa: E402
from kernels import KERNEL, kernel, kernel_cases  # noqa: E402
from layers import LAYERS, layer_cases, layers  # noqa: E402
from lives import LIVES, digest, lives  # noqa: E402
from margins import MARGIN, margin_cases, margins  # noqa: E402
from words import DRAW, FORMAT, HALVES, TYPES, Case, bits, draw, floats, rows, whole  # noqa: E402

DOT = """
kind=drawn: x = draw(type, x_seed, length, zeros), w = draw(float64, w_seed, length, 0).
kind=given: x and w are listed.
dot is w . x by the rule of eight lanes, both with x dense and with its zeros left out.
"""
ORDER = """
kind=numbers: the first numbers of SplitMix64(seed).
kind=order: the visiting order of n examples in an epoch of a partition.
"""
FIT = """
Inputs. X (n x d) = draw(type, seed, n*d, zeros). The same answer must come out with X dense, and
as CSR with its zeros left out, for 32-bit and 64-bit indices. With z the numbers of a generator:
  labels         z mod classes, from SplitMix64(seed + 1)
  weights        of the samples, from SplitMix64(seed + 2): none; quarters: (z >> 61) * 2^-2 (some
                 are 0); any: (z >> 11) * 2^-53; whole: z >> 62
  positive       the class that is positive in each of the K planes
  class_weight   K x 2: of the negatives, of the positives
  start          zero: all arrays of the state are 0. drawn: the start coef (K x d) = draw(float64, seed
                 + 3, K*d, 0), intercept (K) likewise with seed + 4, coef_u with seed + 5, intercept_u
                 with seed + 6 (the plain perceptron has no u)
  start_seen     T of each plane at the start
  eta0, tie, fit_intercept (0 or 1), first_epoch, max_iter, n_iter_no_change: as they are named
  step, C        of passive-aggressive steps, if there are any
  joint          max, if all planes decide together
  shuffle        none, or the seed of the permutations (partition 0)
  tol            none, or a float64
Outputs. E epochs were run, by the plane that ran longest; after a plane has stopped its entries are 0.
  n_iter, stopped   (K)
  mistakes, losses  (E x K)
  per_example       (n x K) mistakes
  coef (K x d), intercept (K), seen (K): the state
"""
FIT_AVERAGED = """\
  coef_u (K x d), intercept_u (K): the state, too
  mean_coef (K x d), mean_intercept (K): the average
"""
FIT_VOTED = """\
  log_start (K+1), log_row, log_t, log_step: the log, plane by plane; plane k has the entries
    log_start[k] .. log_start[k+1]
  log_count: examples that each vector survived, those of a plane after another, the start vector first
  votes (n x K): of all vectors on the rows of X
  half_coef, half_coef_u (K x d), half_intercept, half_intercept_u (K): the weights and the sums u, from
    u = 0, after the first half (rounded down) of the entries of each plane
"""
FIT_POCKET = """\
  check (an input): when errors are counted; average (an input): 1 if the average is a candidate, too
  pocket_coef (K x d), pocket_intercept, pocket_errors, pocket_run (K): the pocket
  swap_plane, swap_epoch, swap_t, swap_errors, swap_average: what was put there, plane after plane
"""
DIGESTS = """
The fits of fits.py, which prints them, too.
  digest   of the model that this learner has learnt from these examples
"""
SEQUENCES = """
Inputs. X (n x d) = draw(type, seed, n*d, zeros); labels z mod classes, from SplitMix64(seed + 1). The same
answer must come out with X dense, and as CSR with its zeros left out, for 32-bit and 64-bit indices.
  lengths        of the sequences, one after another; they add up to n
  with_pair      1: there are weights of a column for a label after another
  beam           none, or how many labels of each token are kept
  update         full, early or max_violation
  eta0, first_epoch, max_iter: as they are named
  step, C        of passive-aggressive steps, if there are any
  shuffle        none, or the seed of the permutations of the sequences
All weights and sums start at 0. Outputs, with K classes:
  sequence_errors, token_errors  of each epoch run; stopped; seen: T
  emission (d x K), transition (K x K), start, end (K), with with_pair=1 pair (d x K*K): the last weights
  the same with _u: the sums u; with mean_: the averages
  path (n): the best labels of each row by the averages, with the beam; scores: of each sequence
"""
HEADS = {
    "dot": FORMAT + DRAW + DOT,
    "order": FORMAT + ORDER,
    "perceptron": FORMAT + DRAW + FIT,
    "averaged": FORMAT + DRAW + FIT + FIT_AVERAGED,
    "pocket": FORMAT + DRAW + FIT + FIT_POCKET,
    "voted": FORMAT + DRAW + FIT + FIT_VOTED,
    "sequences": FORMAT + DRAW + SEQUENCES,
    "kernel": FORMAT + DRAW + KERNEL,
    "multilayer": FORMAT + DRAW + LAYERS,
    "margin": FORMAT + DRAW + MARGIN,
    "digests": FORMAT + DIGESTS,
    "lives": FORMAT + DRAW + LIVES,
}


def dot(engine: Engine, case: Case, layout: str) -> Case:
    """Outputs of a case of dot.txt."""
    if case["kind"] == "given":
        x, w = floats(case["x"]), floats(case["w"])
    else:
        length = int(case["length"])
        x = draw(case["type"], int(case["x_seed"]), (length,), int(case["zeros"]))
        w = draw("float64", int(case["w_seed"]), (length,))
    return {
        "dot": bits(engine.scores(rows(engine, x[np.newaxis], layout), w[np.newaxis], np.zeros(1), threads=1))
    }


def order(engine: Engine, case: Case, layout: str) -> Case:
    """Outputs of a case of order.txt."""
    if case["kind"] == "numbers":
        return {"numbers": whole(splitmix64(int(case["seed"]), 5))}
    key = {name: int(case[name]) for name in ("seed", "epoch", "partition")}
    return {"order": whole(engine.permutation(int(case["n"]), **key))}


def fit(engine: Engine, case: Case, layout: str, learner: str) -> Case:
    """Outputs of a case of perceptron.txt, averaged.txt, pocket.txt or voted.txt."""
    n, d, seed = (int(case[name]) for name in ("n", "d", "seed"))
    positive = np.array(case["positive"].split(","), dtype=np.uint32)
    K = len(positive)
    labels = (splitmix64(seed + 1, n) % np.uint64(int(case["classes"]))).astype(np.uint32)
    z = splitmix64(seed + 2, n)
    sample_weight = {
        "none": None,
        "quarters": (z >> np.uint64(61)) * 0.25,
        "any": (z >> np.uint64(11)) * 2.0**-53,
        "whole": (z >> np.uint64(62)) * 1.0,
    }[case["weights"]]
    shapes = {"coef": (K, d), "intercept": (K,), "coef_u": (K, d), "intercept_u": (K,)}
    state: State = {
        name: draw("float64", seed + 3 + i, shape) if case["start"] == "drawn" else np.zeros(shape)
        for i, (name, shape) in enumerate(shapes.items())
        if learner == "averaged" or not name.endswith("_u")
    }
    state["seen"] = np.array(case["start_seen"].split(","), dtype=np.int64)
    settings = Linear(
        learner=learner,
        positive=positive,
        class_weight=floats(case["class_weight"]).reshape(K, 2),
        eta0=float(floats(case["eta0"])[0]),
        tie=case["tie"],
        fit_intercept=case["fit_intercept"] == "1",
        seed=None if case["shuffle"] == "none" else int(case["shuffle"]),
        track_mistakes=True,
        joint=case.get("joint"),
        **steps(case),
        check=case.get("check", "run"),
        average=case.get("average") == "1",
    )
    schedule = Schedule(
        first_epoch=int(case["first_epoch"]),
        max_iter=int(case["max_iter"]),
        tol=None if case["tol"] == "none" else float(floats(case["tol"])[0]),
        n_iter_no_change=int(case["n_iter_no_change"]),
    )
    X = rows(engine, draw(case["type"], seed, (n, d), int(case["zeros"])), layout)
    model = engine.Model.from_state(learner, state)
    report = follow(engine.start(Data(X, labels, sample_weight), model, settings), settings, schedule)
    per_example = report.tracked.get("mistakes_per_example")
    assert per_example is not None
    after = report.state.state()
    answer = {
        "n_iter": whole(report.n_iter),
        "stopped": ",".join(report.stopped),
        "mistakes": whole(report.mistakes),
        "losses": bits(report.losses),
        "per_example": whole(per_example),
        "coef": bits(after["coef"]),
        "intercept": bits(after["intercept"]),
        "seen": whole(after["seen"]),
    }
    if learner == "averaged":
        answer |= {"coef_u": bits(after["coef_u"]), "intercept_u": bits(after["intercept_u"])}
        answer |= {"mean_coef": bits(report.state.coef), "mean_intercept": bits(report.state.intercept)}
    if learner == "pocket":
        for name in ("coef", "intercept"):
            answer |= {f"pocket_{name}": bits(after[name]), name: bits(after[f"last_{name}"])}
        answer |= {name: bits(after[name]) for name in ("pocket_errors", "swap_errors")}
        integers = ("pocket_run", "swap_plane", "swap_epoch", "swap_t", "swap_average")
        answer |= {name: whole(after[name]) for name in integers}
    if learner == "voted":
        bias = after["log_step"] * (case["fit_intercept"] == "1")
        answer |= log(engine, X, state, after | {"log_bias": bias}, case["tie"])
    return answer


def steps(case: Case) -> dict[str, Any]:
    """Return the settings of steps that are not constant."""
    return {"step": case["step"], "C": float(floats(case["C"])[0])} if "step" in case else {}


def log(engine: Engine, rows: Any, start: State, after: State, tie: str) -> Case:
    """Outputs of a voted perceptron: its log, and what the engine makes of it."""
    logs = np.split(after["log_t"], after["log_start"][1:-1])
    counts = [
        np.diff([first + 1, *t, last + 1])
        for first, t, last in zip(start["seen"], logs, after["seen"], strict=True)
    ]
    vectors = after | {"coef": start["coef"], "intercept": start["intercept"]}
    vectors["log_count"] = np.concatenate(counts)
    vectors |= {"coef_u": np.zeros_like(start["coef"]), "intercept_u": np.zeros_like(start["intercept"])}
    half = engine.replay(rows, vectors, upto=np.diff(after["log_start"]) // 2)
    found = {name: whole(after[name]) for name in ("log_start", "log_row", "log_t")}
    found |= {"log_step": bits(after["log_step"]), "log_count": whole(vectors["log_count"])}
    found["votes"] = whole(engine.votes(rows, rows, vectors, tie=tie, threads=1))
    return found | {f"half_{name}": bits(values) for name, values in half.items()}


def sequences(engine: Engine, case: Case, layout: str) -> Case:
    """Outputs of a case of sequences.txt."""
    n, d, seed, K = (int(case[name]) for name in ("n", "d", "seed", "classes"))
    X = rows(engine, draw(case["type"], seed, (n, d), int(case["zeros"])), layout)
    labels = (splitmix64(seed + 1, n) % np.uint64(K)).astype(np.uint32)
    lengths = np.array(case["lengths"].split(","), dtype=np.int64)
    state: State = {"seen": np.zeros(1, dtype=np.int64)}
    matrices = {"emission": K} | ({"pair": K * K} if case["with_pair"] == "1" else {})
    for u in ("", "_u"):
        for name in matrices:
            state[f"{name}_indptr{u}"] = np.zeros(d + 1, dtype=np.int64)
            state[f"{name}_indices{u}"] = np.zeros(0, dtype=np.int32)
            state[f"{name}_data{u}"] = np.zeros(0)
        state |= {f"transition{u}": np.zeros((K, K)), f"start{u}": np.zeros(K), f"end{u}": np.zeros(K)}
    beam = None if case["beam"] == "none" else int(case["beam"])
    settings = Chain(
        eta0=float(floats(case["eta0"])[0]),
        seed=None if case["shuffle"] == "none" else int(case["shuffle"]),
        beam=beam,
        update=case["update"],
        **steps(case),
    )
    model = engine.Model.from_state("chain", state)
    run = engine.start(Sequences(X, labels, lengths=lengths), model, settings)
    report = follow(run, settings, Schedule(int(case["first_epoch"]), int(case["max_iter"])))
    after = report.state.state()
    means = engine.sequence_average(after)
    path, scores = engine.sequence_decode(X, lengths, weights=means, threads=1, beam=beam)
    found = {"sequence_errors": whole(report.mistakes), "token_errors": whole(report.losses.astype(np.int64))}
    found |= {"stopped": report.stopped[0], "seen": whole(after["seen"])}

    def dense(state: State, name: str, u: str = "") -> np.ndarray:
        if name not in matrices:
            return state[f"{name}{u}"]
        out = np.zeros((d, matrices[name]))
        columns = np.repeat(np.arange(d), np.diff(state[f"{name}_indptr{u}"]))
        out[columns, state[f"{name}_indices{u}"]] = state[f"{name}_data{u}"]
        return out

    names = ["emission", "transition", "start", "end", *list(matrices)[1:]]
    found |= {f"{name}{u}": bits(dense(after, name, u)) for u in ("", "_u") for name in names}
    found |= {f"mean_{name}": bits(dense(means, name)) for name in names}
    return found | {"path": whole(path), "scores": bits(scores)}


def life(engine: Engine, case: Case, layout: str) -> Case:
    """Outputs of a case of lives.txt."""
    return {"digest": digest(case, next(name for name in ENGINES if get_engine(name) is engine))}


def answer(engine: Engine, file: str, case: Case, layout: str = "dense") -> Case:
    """Outputs of a case."""
    if file in ("perceptron", "averaged", "pocket", "voted"):
        return fit(engine, case, layout, learner=file)
    others = {"dot": dot, "order": order, "sequences": sequences, "kernel": kernel, "multilayer": layers}
    others |= {"margin": margins, "lives": life, "digests": digests}
    return others[file](engine, case, layout)


def text(file: str, every: int = 1) -> str:
    """Contents of a golden file; with ``every``, of each so-many-th case."""
    special = {"dot": dot_cases, "order": order_cases, "pocket": pocket_cases, "sequences": sequence_cases}
    special |= {"kernel": kernel_cases, "multilayer": layer_cases, "margin": margin_cases, "lives": lives}
    special |= {"digests": digest_cases, "perceptron": plane_cases, "averaged": plane_cases}
    from_rules = special.get(file, fit_cases)
    lines = [f"# {line}".rstrip() for line in HEADS[file].splitlines()] + [""]
    engine = get_engine("reference")
    for case in itertools.islice(from_rules(), None, None, every):
        lines.append(" ".join(f"{key}={value}" for key, value in (case | answer(engine, file, case)).items()))
    return "\n".join(lines) + "\n"


def digest_cases() -> Iterator[Case]:
    for learner, data in itertools.product(REGISTRY, examples()):
        yield {"learner": learner, "data": data}


def digests(engine: Engine, case: Case, _layout: str) -> Case:
    """Outputs of a case of digests.txt."""
    name = next(name for name in ENGINES if get_engine(name) is engine)
    return {"digest": fitted(case["learner"], case["data"], name)}


def dot_cases() -> Iterator[Case]:
    lengths = [0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257]
    lengths += [1023, 1024, 1025, 2047, 2048, 2049]
    for i, (dtype, length) in enumerate(itertools.product(TYPES, lengths)):
        case = {"kind": "drawn", "type": dtype, "length": str(length), "zeros": str(i % 4)}
        yield case | {"x_seed": str(2 * i), "w_seed": str(2 * i + 1)}
    for x, w in (
        ([0.0, -0.0], [-1.0, -1.0]),
        ([-0.0] * 9, [1.0] * 9),
        ([5e-324, 1e-310, 2.2250738585072014e-308], [1.0, 3.0, 0.5]),
        ([1e-160, 1e-200], [1e-160, -1e-200]),
        ([1e308, -1e308, 1e308], [1.0, 1.0, 0.5]),
        ([1e308, 1.0], [10.0, 1.0]),
        ([1e308] + [1.0] * 7 + [-1e308], [10.0] + [1.0] * 7 + [10.0]),
        ([1e308, -1e308], [10.0, 10.0]),
        ([1.7e308, 1.0, 1.0, 1.0, 1.7e308, -1.7e308], [1.0] * 6),
    ):
        yield {"kind": "given", "x": bits(x), "w": bits(w)}
    for i, (dtype, length) in enumerate(itertools.product(HALVES, [1, 7, 8, 9, 33, 257, 1025])):
        case = {"kind": "drawn", "type": dtype, "length": str(length), "zeros": str(i % 4)}
        yield case | {"x_seed": str(2 * i + 1000), "w_seed": str(2 * i + 1001)}


def order_cases() -> Iterator[Case]:
    for seed in (1234567, 0, 2**64 - 1):
        yield {"kind": "numbers", "seed": str(seed)}
    keys = [(0, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0), (2**64 - 1, 2**64 - 1, 2**64 - 1)]
    for n, (seed, epoch, partition) in itertools.product([0, 1, 2, 3, 10, 65], keys):
        case = {"kind": "order", "n": str(n), "seed": str(seed), "epoch": str(epoch)}
        yield case | {"partition": str(partition)}
    yield {"kind": "order", "n": "2000", "seed": "42", "epoch": "7", "partition": "0"}


def fit_cases() -> Iterator[Case]:
    """One base case, and what changes against it."""
    base = {
        "n": "24",
        "d": "9",
        "type": "float64",
        "zeros": "2",
        "seed": "0",
        "classes": "2",
        "weights": "none",
    }
    base |= {"positive": "1", "class_weight": bits([1, 1]), "start": "zero", "start_seen": "0"}
    base |= {"eta0": bits(1), "tie": "mistake", "fit_intercept": "1", "shuffle": "none", "first_epoch": "0"}
    base |= {"max_iter": "4", "tol": "none", "n_iter_no_change": "5"}
    four = {"positive": "0,1,2,3", "classes": "5", "class_weight": bits([1] * 8), "start_seen": "0,0,0,0"}
    weighted = {"weights": "any", "class_weight": bits([0.7, 1.9]), "eta0": bits(0.1)}
    changes: list[Case] = [{"type": dtype} for dtype in TYPES]
    changes += [{"type": dtype, "shuffle": "17", "eta0": bits(0.1)} for dtype in TYPES]
    changes += [four | {"type": dtype, "shuffle": "18"} for dtype in TYPES]
    changes += [{"d": d, "max_iter": "30"} for d in ("1", "7", "8", "16", "17", "33")]
    for tie, fit_intercept in itertools.product(["mistake", "positive"], ["0", "1"]):
        changes += [{"tie": tie, "fit_intercept": fit_intercept, "zeros": "7", "type": "int8"}]
    changes += [weighted, weighted | {"shuffle": "3"}]
    changes += [weighted | {"start": "drawn", "start_seen": "100", "first_epoch": "4", "shuffle": "19"}]
    changes += [
        {"weights": "quarters", "shuffle": "1"},
        {"weights": "whole", "type": "int16", "shuffle": "1"},
    ]
    changes += [{"class_weight": bits([0, 1]), "max_iter": "9"}]
    changes += [{"start": "drawn", "fit_intercept": "0"}, {"start": "drawn", "start_seen": str(2**40)}]
    changes += [{"tol": bits(1e-3), "n_iter_no_change": k, "max_iter": "40", "shuffle": "2"} for k in "125"]
    changes += [
        four | {"tol": bits(0.05), "n_iter_no_change": "2", "max_iter": "40", "d": "6", "n": "18"},
        four | {"weights": "any", "class_weight": bits([1, 2, 1, 0.3, 1, 0.1, 1, 7]), "eta0": bits(0.3)},
        four | {"weights": "quarters", "class_weight": bits([1, 0, 1, 1, 0, 1, 0, 0]), "shuffle": "5"},
        four | {"start": "drawn", "start_seen": "7,0,30,9", "first_epoch": "2", "shuffle": "5", "n": "100"},
        four | {"type": "uint8", "n": "70", "d": "64", "max_iter": "15", "zeros": "6"},
        # Whole numbers whose sums pass 2^53 in the middle of the run.
        {"type": "int16", "n": "100", "d": "16", "eta0": bits(4096), "max_iter": "8", "shuffle": "6"},
        {"type": "int32", "n": "50", "d": "5", "max_iter": "8", "weights": "whole"},
        *({"type": dtype, "shuffle": "17", "eta0": bits(0.1)} for dtype in HALVES),
        *(four | {"type": dtype, "shuffle": "18"} for dtype in HALVES),
    ]
    for i, change in enumerate(changes):
        yield base | {"seed": str(1000 * (i + 1))} | change


def plane_cases() -> Iterator[Case]:
    """Return the cases of a fit, and then some of them with passive-aggressive steps."""
    cases = list(fit_cases())
    yield from cases
    ways = itertools.cycle(itertools.product(("pa1", "pa2"), (0.01, 1.0, 30.0)))
    for case, (step, C) in zip(cases[::3], ways, strict=False):
        yield case | {"step": step, "C": bits(C), "eta0": bits(1)}
    for (step, C), dtype in zip(ways, (*TYPES, *HALVES), strict=False):
        change = {"classes": "4", "positive": "0,1,2,3", "class_weight": bits([1, 2, 1, 0.3, 1, 0.1, 1, 7])}
        change |= {"start_seen": "0,0,0,0", "type": dtype, "weights": "any", "joint": "max", "shuffle": "3"}
        yield cases[0] | change | {"step": step, "C": bits(C), "seed": "77000"}


def pocket_cases() -> Iterator[Case]:
    """Return those of the others, with each check in turn and more rows; then each check on the same.

    The average is a candidate in two of three, and in half of these.
    """
    checks = ("run", "ratchet", "update", "epoch")
    cases = list(fit_cases())
    for case, check, average in zip(cases, itertools.cycle(checks), itertools.cycle("011")):
        yield case | {"n": str(max(40, int(case["n"]))), "check": check, "average": average}
    for seed, check, average in itertools.product(("900", "901"), checks, "01"):
        change = {"n": "60", "d": "5", "max_iter": "12", "seed": seed, "shuffle": "4"}
        yield cases[0] | change | {"check": check, "average": average}


def sequence_cases() -> Iterator[Case]:
    base = {"n": "24", "d": "5", "type": "int8", "zeros": "4", "seed": "0", "classes": "3", "with_pair": "0"}
    base |= {"lengths": "1,4,2,6,3,8", "beam": "none", "update": "full", "eta0": bits(1)}
    base |= {"shuffle": "none", "first_epoch": "0", "max_iter": "3"}
    beams = [("1", "full"), ("2", "early"), ("2", "max_violation"), ("9", "full")]
    changes: list[Case] = [{"type": dtype, "shuffle": "5"} for dtype in TYPES]
    changes += [{"classes": k, "max_iter": "2", "d": "2"} for k in ("1", "2", "7", "8", "9", "16", "17")]
    changes += [{"with_pair": "1", "type": dtype, "d": "3"} for dtype in ("int8", "float64")]
    for (beam, update), dtype in itertools.product(beams, ("int8", "float64")):
        changes += [{"beam": beam, "update": update, "type": dtype, "classes": "4", "eta0": bits(0.3)}]
    changes += [{"d": "40", "max_iter": "60", "n": "9", "lengths": "2,1,6"}]
    # Whole numbers whose bound is passed in the middle of the run.
    changes += [{"type": "int16", "eta0": bits(64), "shuffle": "2", "first_epoch": "3", "max_iter": "6"}]
    changes += [{"beam": "2", "update": "max_violation", "with_pair": "1", "d": "2", "type": "float32"}]
    for (beam, update), step, with_pair in itertools.product(beams, ("pa1", "pa2"), "01"):
        change = {
            "beam": beam,
            "update": update,
            "step": step,
            "with_pair": with_pair,
            "d": "17",
            "zeros": "6",
        }
        changes += [change | {"type": "float64", "C": bits({"pa1": 0.1, "pa2": 1.0}[step]), "shuffle": "4"}]
    for i, change in enumerate(changes):
        yield base | {"seed": str(1000 * (i + 1))} | change


def main() -> int:
    """Write, or check."""
    stale = []
    for file in HEADS:
        path, contents = FOLDER / f"{file}.txt", text(file)
        if not path.exists() or path.read_text(encoding="utf-8") != contents:
            stale.append(path.name)
            if "--check" not in sys.argv:
                path.write_text(contents, encoding="utf-8")
    print("not current:" if "--check" in sys.argv else "written:", *stale or ["none"])
    return int(bool(stale) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
