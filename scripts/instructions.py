"""Count the instructions of kernels and small fits, and compare them with the counts that are committed.

``make instructions`` writes benches/results/instructions.json anew. ``make test-instructions`` compares, and
fails with the names of the cases that take 2 % more or fewer instructions than is written there. Callgrind
counts, so neither other programs nor the clock matter. What is counted is a call of each case, after a first
one; of three calls the least is taken, as now and then one makes room in a table of Python's:

compiled   instructions within the compiled module alone, built with the profile "quick", as `make test` does.
           The numbers of another compiler, or of another instruction set, are not compared.
call       the whole call, with Python, NumPy and the C library. It is compared for single rows, whose time is
           spent there, and only where Python and NumPy are the same; 5 % are allowed, as Python's cache of
           attributes depends on addresses (seen: from 2 % fewer to 4 % more).

Valgrind runs no AVX-512, so on x86-64 the core uses AVX2, and what is compiled for AVX-512 is not counted.
`n_jobs` is 1.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import perceptron_rs as p
from perceptron_rs import _core
from perceptron_rs.io import load_svmlight, open_svmlight

TABLE = Path(__file__).parents[1] / "benches" / "results" / "instructions.json"
ALLOWED = {"compiled": 0.02, "call": 0.05}
CALLS = 3
INSTALL = "valgrind is not installed; on Debian and Ubuntu: apt-get install valgrind"
BUILD = (
    "the compiled module is not built with the profile quick; run make instructions or make test-instructions"
)
#: The cases whose whole calls are compared, too.
SINGLE = "rows one by one"
#: What callgrind is told, by macros of its header.
REQUESTS = """
#include <valgrind/callgrind.h>
void start(void) { CALLGRIND_START_INSTRUMENTATION; }
void zero(void) { CALLGRIND_ZERO_STATS; }
void dump(const char *name) { CALLGRIND_DUMP_STATS_AT(name); }
"""
#: Everything that would make a second run differ from the first.
FIXED = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
EPOCHS: dict[str, Any] = {"max_iter": 2, "tol": None}

Counts = dict[str, dict[str, int]]
Works = Iterator[tuple[str, Callable[[], object]]]


def dense(n: int, d: int, classes: int) -> tuple[Any, Any]:
    """Return rows of small integers, which all types can hold, and labels of which some are wrong."""
    random = np.random.default_rng(1)
    X = random.integers(0, 256, (n, d)).astype(np.float64)
    y = (X[:, :classes] if classes > 2 else X[:, :2] + X[:, 2:4]).argmax(axis=1)
    drawn = random.random(n) < 0.05
    y[drawn] = random.integers(0, classes, drawn.sum())
    return X, y


def csr(n: int, d: int, entries: int, classes: int) -> tuple[Any, Any]:
    """Return sparse rows, and labels of which some are wrong."""
    random = np.random.default_rng(2)
    columns = np.sort([random.permutation(d)[:entries] for _ in range(n)], axis=1).astype(np.int32)
    values = random.integers(-8, 9, n * entries) / 8 + 1 / 16
    X = sparse.csr_matrix((values, columns.ravel(), np.arange(n + 1, dtype=np.int32) * entries), (n, d))
    y = (X @ random.standard_normal((d, classes))).argmax(axis=1)
    drawn = random.random(n) < 0.05
    y[drawn] = random.integers(0, classes, drawn.sum())
    return X, y


def fits() -> Works:
    """Yield whole fits of every learner."""
    two, ten = dense(5000, 100, 2), dense(1000, 100, 10)
    sparse_two, sparse_ten = csr(3000, 2000, 40, 2), csr(1500, 2000, 40, 10)
    for name in ("float64", "float32", "uint8"):
        for whole, y, classes in ((*two, 2), (*ten, 10)):
            X = whole.astype(name)
            yield f"fit {name}, K={classes}", partial(p.Perceptron(**EPOCHS).fit, X, y)
    yield "fit csr, K=2", partial(p.Perceptron(**EPOCHS).fit, *sparse_two)
    yield "fit csr, K=10", partial(p.Perceptron(**EPOCHS).fit, *sparse_ten)
    yield "fit csr, penalty", partial(p.Perceptron(penalty="l2", **EPOCHS).fit, *sparse_two)
    yield "fit joint float64", partial(p.Perceptron(multi_class="joint", **EPOCHS).fit, *ten)
    yield "fit joint csr", partial(p.Perceptron(multi_class="joint", **EPOCHS).fit, *sparse_ten)
    yield "fit averaged float64, K=2", partial(p.AveragedPerceptron(**EPOCHS).fit, *two)
    yield "fit averaged csr, K=10", partial(p.AveragedPerceptron(**EPOCHS).fit, *sparse_ten)
    yield "fit voted float64, K=2", partial(p.VotedPerceptron(**EPOCHS).fit, *two)
    yield "fit voted csr, K=10", partial(p.VotedPerceptron(**EPOCHS).fit, *sparse_ten)
    yield "fit pocket float64, K=2", partial(p.PocketPerceptron(**EPOCHS).fit, *two)
    few = csr(150, 2000, 40, 10)
    yield "fit pocket csr, K=10", partial(p.PocketPerceptron(**EPOCHS).fit, *few)
    X, y = two[0][:400, :50] / 256, two[1][:400]
    yield "fit kernel rbf", partial(p.KernelPerceptron(max_iter=2).fit, X, y)
    bytes_ = two[0][:400].astype(np.uint8)
    yield "fit kernel poly, bytes", partial(p.KernelPerceptron("poly", max_iter=2).fit, bytes_, y)
    S, t = sparse_two[0][:300], sparse_two[1][:300]
    yield "fit kernel linear, csr", partial(p.KernelPerceptron("linear", max_iter=2).fit, S, t)
    for policy in ("oldest", "forgetron", "projectron"):
        model = p.BudgetedKernelPerceptron(budget=30, budget_policy=policy, max_iter=2)
        yield f"fit budget {policy}", partial(model.fit, X, y)
    yield "fit multilayer", partial(p.MultilayerPerceptron((20,), max_iter=2, batch_size=8).fit, X, y)
    parity = np.arange(400) % 2
    yield "fit max margin", partial(p.MaxMarginClassifier().fit, X[:, :6] + 1.1 * parity[:, None], parity)


def sequences() -> Works:
    """Yield a fit to sequences, and their decoding."""
    X, y = csr(600, 400, 8, 6)
    lengths = np.full(60, 10)
    model = p.SequencePerceptron(max_iter=2)
    yield "fit sequence viterbi", partial(model.fit, X, y, lengths=lengths)
    beam = p.SequencePerceptron(max_iter=2, decode="beam", update="early")
    yield "fit sequence beam", partial(beam.fit, X, y, lengths=lengths)
    model = p.SequencePerceptron(max_iter=2).fit(X, y, lengths=lengths)
    yield "predict sequence", partial(model.predict, X, lengths=lengths)


def single_rows() -> Works:
    """Yield passes over 50 rows, one by one."""
    for form, (X, y) in (("dense", dense(50, 20, 2)), ("csr", csr(50, 1000, 20, 2))):
        rows = [(X[i : i + 1], y[i : i + 1]) for i in range(50)]
        for words, checks in (("checked", True), ("unchecked", False)):
            model = p.Perceptron().partial_fit(X, y, classes=[0, 1])

            def learn(model: Any = model, rows: Any = rows, checks: bool = checks) -> None:
                for x, label in rows:
                    model.partial_fit(x, label, check_input=checks)

            yield f"{SINGLE}, {form}, {words}", learn
    X, y = dense(5000, 20, 2)
    averaged = p.AveragedPerceptron().partial_fit(X, y, classes=[0, 1])
    yield "predict, then learn, float64", partial(averaged.predict_then_learn, X, y)


def scores() -> Works:
    """Yield decisions of fitted models."""
    for name in ("float64", "float32", "uint8"):
        for classes in (2, 10):
            X, y = dense(10000 // classes, 100, classes)
            X = X.astype(name)
            model = p.Perceptron(**EPOCHS).fit(X, y)
            yield f"scores {name}, K={classes}", partial(model.decision_function, X)
    for classes in (2, 10):
        X, y = csr(3000, 2000, 40, classes)
        model = p.Perceptron(**EPOCHS).fit(X, y)
        yield f"scores csr, K={classes}", partial(model.decision_function, X)
    X, y = dense(200, 50, 2)
    voted, kernel = p.VotedPerceptron(**EPOCHS).fit(X, y), p.KernelPerceptron(max_iter=2).fit(X / 256, y)
    yield "scores voted", partial(voted.decision_function, X)
    yield "scores kernel rbf", partial(kernel.decision_function, X / 256)


def text(folder: Path) -> Works:
    """Yield the reader of svmlight text, a stream of it, and the digest of an audit."""
    X, y = csr(1000, 2000, 40, 2)
    path = folder / "data.svm"
    ends = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    lines = (
        f"{y[i]} " + " ".join(f"{X.indices[k]}:{X.data[k]:.6g}" for k in range(*end))
        for i, end in enumerate(ends)
    )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    options: dict[str, Any] = {"n_features": 2000, "zero_based": True}
    yield "read svmlight text", partial(load_svmlight, path, n_jobs=1, **options)
    model = p.Perceptron(max_iter=1, tol=None)
    yield "stream of svmlight text", lambda: model.fit_stream(open_svmlight(path, **options), classes=[0, 1])
    audited = p.Perceptron(audit=True, **EPOCHS)
    yield "fit audited csr", partial(audited.fit, X, y)


def works(folder: Path) -> Works:
    """Yield all cases: their names, and what is counted."""
    for cases in (fits(), sequences(), single_rows(), scores(), text(folder)):
        yield from cases


def child(folder: Path) -> None:
    """Run all cases, under callgrind: it writes a file into the folder for each."""
    _core._force_instruction_set(instruction_set())
    warnings.simplefilter("ignore")
    cases = list(works(folder))
    for _, work in cases:
        work()
    callgrind = ctypes.CDLL(str(folder / "requests.so"))
    gc.collect()
    gc.disable()
    callgrind.start()
    for name, work in cases * CALLS:
        callgrind.zero()
        work()
        callgrind.dump(name.encode())


def of_file(path: Path) -> tuple[str, dict[str, int]]:
    """Return the name of a case and its counts from a file of callgrind's."""
    name, compiled, call, within, inclusive = "", 0, 0, False, False
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.startswith("desc: Trigger: Client Request: "):
                name = line.removeprefix("desc: Trigger: Client Request: ").strip()
            elif line.startswith("ob="):
                within = "_core" in Path(line[3:].strip()).name
            elif line.startswith("calls="):
                inclusive = True  # the next line is what the called function takes: it is listed there, too
            elif line[0] in "0123456789+-*":
                cost = 0 if inclusive else int(line.split()[1])
                compiled, call, inclusive = compiled + cost * within, call + cost, False
    return name, {"compiled": compiled, "call": call}


def counted() -> Counts:
    """Run the cases under callgrind, and return their counts by name."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "requests.c"
        source.write_text(REQUESTS, encoding="utf-8")
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", folder / "requests.so", source], check=True)
        options = ("--instr-atstart=no", "--compress-strings=no", f"--callgrind-out-file={folder}/counts")
        command = ["valgrind", "--quiet", "--tool=callgrind", *options, sys.executable, __file__]
        subprocess.run([*command, "--child", folder], check=True, env=os.environ | FIXED)
        counts: Counts = {}
        for path in sorted(folder.glob("counts.*"), key=lambda path: int(path.suffix[1:])):
            case, found = of_file(path)
            before = counts.setdefault(case, found)
            counts[case] = {kind: min(count, before[kind]) for kind, count in found.items()}
        return counts


def instruction_set() -> str:
    """Return the best one that valgrind runs."""
    return next(name for name in reversed(_core._instruction_sets()) if name != "avx512")


def builders() -> dict[str, str]:
    """Return what the counts depend on. A compiled module says which compiler built it."""
    found = re.search(rb"rustc version ([^\0]+)", Path(_core.__file__).read_bytes())
    return {
        "compiler": found[1].decode() if found else "unknown",
        "instruction set": instruction_set(),
        "profile": "quick",
        "python": sys.version,
        "numpy": np.__version__,
    }


def written(counts: Counts) -> str:
    """Return the text of the table."""
    rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(count)}" for name, count in counts.items())
    return f'{{"built by": {json.dumps(builders())},\n "counts": {{\n{rows}\n }}}}\n'


def other(table: dict[str, Any], *keys: str) -> str:
    """Return in what the table is of something else than is here, or nothing."""
    here = builders()
    parts = (f"{key} {table['built by'][key]}" for key in keys if table["built by"][key] != here[key])
    return ", ".join(parts)


def faults(table: dict[str, Any], counts: Counts, *, single: bool) -> list[str]:
    """Return the cases that differ by more than is allowed; `single`: also in whole calls for single rows."""
    before = table["counts"]
    found = [f"{name}: not counted before" for name in counts if name not in before]
    found += [f"{name}: no such case any more" for name in before if name not in counts]
    for name in before.keys() & counts.keys():
        for kind in ("compiled", "call") if single and name.startswith(SINGLE) else ("compiled",):
            then, now = before[name][kind], counts[name][kind]
            if abs(now - then) > ALLOWED[kind] * then:
                change = f"{now / then - 1:+.1%} ({kind}: {then:,} instructions, now {now:,})"
                found.append(f"{name}: {change}")
    return sorted(found)


def compared() -> int:
    """Count and compare with the table; print what differs, and return the exit code."""
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    if of := other(table, "compiler", "instruction set"):
        print(f"nothing is compared: {TABLE.name} is of {of}; make instructions counts anew")
        return 0
    if of := other(table, "python", "numpy"):
        print(f"whole calls are not compared: {TABLE.name} is of {of}")
    counts = counted()
    if found := faults(table, counts, single=not of):
        print(*found, "if that is meant, make instructions writes the new counts", sep="\n")
        return 1
    print(f"{len(counts)} cases: as in {TABLE.name}")
    return 0


def main() -> int:
    """Write the table, or compare with it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child)
        return 0
    if shutil.which("valgrind") is None:
        sys.exit(INSTALL)
    if not Path(sys.prefix, "quick").exists():
        sys.exit(BUILD)
    if options.check:
        return compared()
    TABLE.write_text(written(counted()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
