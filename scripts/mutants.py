"""Mutants: one small change of the package at a time, and whether a test notices.

A mutant is drawn from all that `changes` makes of the modules in ``MUTATED``: comparisons at their edge,
conditions that always or never hold, other constants, calls and arguments that are left out. It is put into a
copy of the package, and the tests that come by its lines are run, fast ones first, until one fails. A mutant
that no test notices is printed, and `make mutants` fails; unless scripts/equivalent.toml says why it changes
nothing.

Which tests come by which lines is measured by pytest-cov, once (``--survey``), and kept in .venv/mutants.

Of the tools that there are, mutmut rewrites functions, so that tests of signatures fail, and cosmic-ray runs
one command for all mutants. This script needs ``fork``: what takes long to import is imported once.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import shutil
import signal
import sys
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest
from coverage import CoverageData

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "perceptron_rs"
WORK = Path(sys.prefix) / "mutants"
EQUIVALENT = Path(__file__).with_name("equivalent.toml")

#: What stands above both engines, so that no test of parity sees it.
MUTATED = (
    "mixing",
    "parameters",
    "prediction",
    "rows",
    "schema",
    "state",
    "targets",
    "training",
    "stream",
    "audit",
    "rerun",
    "features",
    "teaching",
    "distributed",
    "margins/verification.py",
)
#: The tests that may notice. Those of processes, pages and golden files would, too, but late.
TESTS = (
    *("stream", "audit", "teaching", "margin", "distributed", "online", "estimators", "kernel", "structured"),
    *("models", "mlp", "io", "rows"),
    *("test_driver.py", "test_hostile.py", "test_interrupt.py", "test_notebook.py", "test_predictor.py"),
    *("test_errors.py", "test_ranges.py", "test_threads.py", "test_train.py", "test_turns.py"),
    *("cli/test_help.py", "cli/test_inspect.py", "cli/test_learner_options.py", "cli/test_reproduce.py"),
    *("cli/test_online.py", "cli/test_stream.py", "cli/test_usage.py"),
)
#: What nearly all tests import, but for the package.
PRELOADED = ("numpy", "scipy.sparse", "sklearn.utils.estimator_checks", "sklearn.datasets", "pandas")

_OTHER = dict(
    [
        *((ast.Lt, ast.LtE), (ast.LtE, ast.Lt), (ast.Gt, ast.GtE), (ast.GtE, ast.Gt)),
        *((ast.Eq, ast.NotEq), (ast.NotEq, ast.Eq), (ast.Is, ast.IsNot), (ast.IsNot, ast.Is)),
        *((ast.In, ast.NotIn), (ast.NotIn, ast.In), (ast.And, ast.Or), (ast.Or, ast.And)),
        *((ast.Add, ast.Sub), (ast.Sub, ast.Add), (ast.Mult, ast.Add), (ast.Div, ast.Mult)),
        *((ast.FloorDiv, ast.Mult), (ast.Mod, ast.Mult), (ast.BitOr, ast.BitAnd), (ast.BitAnd, ast.BitOr)),
    ]
)
_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}


class Mutant(NamedTuple):
    """A change of a module."""

    module: str
    function: str
    source: str  # the line where it begins
    before: str
    after: str
    line: int
    last: int
    place: tuple[int, int]  # in the bytes of the module

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.function}: {self.before!r} -> {self.after!r}"


def changes(node: ast.AST) -> Iterator[ast.AST | None]:
    """Yield what a node may be changed to; None: it is left out."""

    def other(**fields: object) -> ast.AST:
        found = copy.copy(node)
        for name, value in fields.items():
            setattr(found, name, value)
        return found

    match node:
        case ast.Compare(ops=[op]) if type(op) in _OTHER:
            yield other(ops=[_OTHER[type(op)]()])
        case ast.BoolOp(op=op, values=values):
            yield other(op=_OTHER[type(op)]())
            for k in range(len(values)):
                rest = values[:k] + values[k + 1 :]
                yield rest[0] if len(rest) == 1 else other(values=rest)
        case ast.BinOp(op=op) if type(op) in _OTHER:
            yield other(op=_OTHER[type(op)]())
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.Constant(value=bool() as value):
            yield other(value=not value)
        case ast.Constant(value=int() | float() as value):
            yield other(value=value + 1)
        case ast.Name(id=name, ctx=ast.Load()) if name in _NAMES:
            yield other(id=_NAMES[name])
        case ast.IfExp(body=body, orelse=orelse):
            yield from (body, orelse)
        case ast.Call(keywords=keywords):
            for k, keyword in enumerate(keywords):
                if keyword.arg is not None and not _is_text(keyword):
                    yield other(keywords=keywords[:k] + keywords[k + 1 :])
        case (
            ast.Tuple(elts=parts, ctx=ast.Load()) | ast.Set(elts=parts) | ast.List(elts=parts, ctx=ast.Load())
        ):
            if len(parts) > 2:
                yield from (other(elts=parts[:k] + parts[k + 1 :]) for k in range(len(parts)))
        case ast.Dict(keys=keys, values=values) if len(keys) > 1:
            for k in range(len(keys)):
                yield other(keys=keys[:k] + keys[k + 1 :], values=values[:k] + values[k + 1 :])
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise() | ast.Delete() | ast.Continue():
            yield None


def conditions(node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """Yield the conditions that a statement or loop asks, and what may be instead."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
        yield from ((node.test, False), (node.test, True))
    if isinstance(node, ast.comprehension):
        yield from ((test, True) for test in node.ifs)


def mutants(path: Path) -> list[Mutant]:
    """Return all mutants of a module."""
    text, starts, found = path.read_bytes(), [0], []
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    module = path.relative_to(PACKAGE).as_posix()

    def add(function: str, old: ast.expr | ast.stmt, new: ast.AST | None) -> None:
        last, column = old.end_lineno or old.lineno, old.end_col_offset or old.col_offset
        place = starts[old.lineno - 1] + old.col_offset, starts[last - 1] + column
        after = "pass" if new is None else ast.unparse(new)
        source, before = (
            text[a:b].decode().strip() for a, b in (starts[old.lineno - 1 : old.lineno + 1], place)
        )
        found.append(Mutant(module, function, source, before, after, old.lineno, last, place))

    def walk(node: ast.AST, function: str) -> None:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            function = f"{function}.{node.name}".lstrip(".")
        for test, value in conditions(node):
            add(function, test, ast.Constant(value=value))
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list", "type_params", "bases"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.expr | ast.stmt) and not _is_text(child):
                    for new in changes(child):
                        add(function, child, new)
                if isinstance(child, ast.Raise) or _is_open_length(node, child):
                    continue
                if isinstance(child, ast.AST) and not _is_text(child):
                    walk(child, function)

    walk(ast.parse(text), "")
    return found


def _is_text(node: ast.AST) -> bool:
    """Whether it is for people or checkers of types."""
    if isinstance(node, ast.Assign | ast.AnnAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        is_alias = isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias"
        return is_alias or (isinstance(target, ast.Name) and target.id in ("__all__", "__slots__"))
    if isinstance(node, ast.keyword) and node.arg == "strict":  # which says what holds
        return True
    return isinstance(node, ast.JoinedStr | ast.Assert | ast.Import | ast.ImportFrom)


def _is_open_length(node: ast.AST, child: object) -> bool:
    """Whether it is the -1 of a ``reshape``, to which any number below 0 is the same."""
    match node:
        case ast.Call(func=ast.Attribute(attr="reshape")):
            return isinstance(child, ast.UnaryOp)
    return False


class Survey:
    """Which tests come by which lines, and how long they take."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = json.loads((WORK / "seconds.json").read_text())
        self.data = CoverageData(str(WORK / "coverage"))
        self.data.read()
        self.lines: dict[str, dict[int, list[str]]] = {}

    def tests(self, mutant: Mutant, most: float) -> list[str]:
        """Return tests that come by a mutant, in the order to run them, of at most so many seconds."""
        if mutant.module not in self.lines:
            files = (f for f in self.data.measured_files() if f.endswith(f"/perceptron_rs/{mutant.module}"))
            self.lines[mutant.module] = self.data.contexts_by_lineno(next(files, ""))
        lines = self.lines[mutant.module]
        found = {test for line in range(mutant.line, mutant.last + 1) for test in lines.get(line, ())}
        if not any(found):  # it is run when the module is imported
            found = {test for tests in lines.values() for test in tests}
        cases: dict[str, list[str]] = defaultdict(list)  # of each test
        for test in {test.rpartition("|")[0] for test in found} & self.seconds.keys():
            cases[test.partition("[")[0]].append(test)
        turns = [
            (turn, self.seconds[test], test)
            for each in cases.values()
            for turn, test in enumerate(sorted(each, key=self.seconds.__getitem__))
        ]
        chosen, total = [], 0.0
        for _, seconds, test in sorted(turns):  # one case of each test, then another one of each
            total += seconds
            if total <= most or not chosen:
                chosen.append(test)
        return chosen


class _Seconds:
    """How long tests take, as pytest tells."""

    def __init__(self) -> None:
        self.of: dict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.of[report.nodeid] += report.duration


class _FirstFailure:
    """Notes which test fails in a file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.file.write_text(report.nodeid)


def survey() -> None:
    """Run the tests, and note by which lines they come.

    A process of its own does so: in this one, the package is never imported.
    """
    WORK.mkdir(parents=True, exist_ok=True)
    worker = os.fork()
    if worker == 0:
        os.environ["COVERAGE_FILE"] = str(WORK / "coverage")
        os.chdir(ROOT)
        seconds = _Seconds()
        options = [
            "-q",
            "-p",
            "no:cacheprovider",
            "--cov=perceptron_rs",
            "--cov-context=test",
            "--cov-report=",
        ]
        status = pytest.main([*options, *(f"tests/{name}" for name in TESTS)], plugins=[seconds])
        if not status:
            (WORK / "seconds.json").write_text(json.dumps(seconds.of))
        os._exit(status)
    if os.waitpid(worker, 0)[1]:
        sys.exit("tests fail without a mutant")


def listed_as_equivalent() -> set[tuple[str, ...]]:
    """Return the mutants that equivalent.toml lists, each by its place and change.

    Raises
    ------
    ValueError
        If one of them is no mutant of the package as it is: its line has changed, and must be judged anew.
    """
    listed = {tuple(one.values())[:5] for one in tomllib.loads(EQUIVALENT.read_text("utf-8"))["mutant"]}
    files = [PACKAGE / module for module in {module for module, *_ in listed}]
    there = {mutant[:5] for file in files if file.is_file() for mutant in mutants(file)}
    if stale := sorted(listed - there):
        lines = "\n".join(map(repr, stale))
        raise ValueError(f"{EQUIVALENT.name} lists mutants that are not there, judge them anew:\n{lines}")
    return listed


def is_noticed(mutant: Mutant, tests: list[str], most: float) -> bool:
    """Run tests on a copy of the package with a mutant; return whether one fails, or does not end in time.

    Raises
    ------
    ValueError
        If it does so without the mutant, too.
    """
    module = WORK / "python" / "perceptron_rs" / mutant.module
    text = module.read_bytes()
    begin, end = mutant.place
    after = mutant.after if mutant.after == "pass" else f"({mutant.after})"
    module.write_bytes(text[:begin] + after.encode() + text[end:])
    failed = _failed(tests, most)
    module.write_bytes(text)
    if failed and _failed(failed, most):
        raise ValueError(f"{', '.join(failed)}: fails without a mutant, too; mend it, or measure by --survey")
    return bool(failed)


def _failed(tests: list[str], most: float) -> list[str]:
    """Run tests on the copy until one fails; return that one, or all of them if they cannot be run at all."""
    (WORK / "tests.txt").write_text("\n".join(tests))
    failed = WORK / "failed.txt"
    failed.write_text("")
    if "perceptron_rs" in sys.modules:
        raise RuntimeError("the package is imported here, so that tests would run on it and not on its copy")
    worker = os.fork()
    if worker == 0:
        os.setsid()
        log = os.open(WORK / "log", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        package = WORK / "python"
        os.environ.update(PYTHONPATH=str(package), PYTHONDONTWRITEBYTECODE="1")
        sys.dont_write_bytecode = True
        sys.path[:0] = [str(package), str(ROOT)]
        os.chdir(ROOT)
        options = ["-x", "-q", "-p", "no:cacheprovider", f"@{WORK / 'tests.txt'}"]
        os._exit(pytest.main(options, plugins=[_FirstFailure(failed)]))
    limit, found = time.monotonic() + most, (0, 0)
    while not found[0]:
        time.sleep(0.02)
        found = os.waitpid(worker, os.WNOHANG)
        if not found[0] and time.monotonic() > limit:
            os.killpg(worker, signal.SIGKILL)
            found = os.waitpid(worker, 0)
    return [] if found[1] == 0 else failed.read_text().splitlines() or tests


def main() -> None:
    """Draw mutants and run tests on them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("modules", nargs="*", default=MUTATED, help="files or folders of the package")
    parser.add_argument("--number", type=int, default=100, help="how many are drawn; 0: all (default: 100)")
    parser.add_argument("--seed", type=int, default=0, help="which are drawn (default: 0)")
    parser.add_argument("--seconds", type=float, default=60.0, help="of tests for each mutant (default: 60)")
    parser.add_argument("--survey", action="store_true", help="measure anew which tests come by which lines")
    options = parser.parse_args()
    left_out = listed_as_equivalent()
    if options.survey or not (WORK / "seconds.json").exists():
        survey()
    paths = [PACKAGE / module for module in options.modules]
    files = [file for path in paths for file in ([path] if path.is_file() else sorted(path.rglob("*.py")))]
    every = [mutant for file in files for mutant in mutants(file)]
    drawn = [mutant for mutant in every if mutant[:5] not in left_out]
    if 0 < options.number < len(drawn):
        drawn = sorted(random.Random(options.seed).sample(drawn, options.number))
    shutil.rmtree(WORK / "python", ignore_errors=True)
    not_copied = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, WORK / "python" / "perceptron_rs", ignore=not_copied)
    for name in PRELOADED:
        import_module(name)
    runs, survived, begin = Survey(), 0, time.monotonic()
    for number, mutant in enumerate(drawn, 1):
        tests = runs.tests(mutant, options.seconds)
        if not tests or not is_noticed(mutant, tests, 60 + 5 * options.seconds):
            survived += 1
            print(f"not noticed by {len(tests)} tests: {mutant}", flush=True)
        if number % 25 == 0:
            print(f"{number} of {len(drawn)}, {time.monotonic() - begin:.0f} s", flush=True)
    print(f"{survived} of {len(drawn)} mutants are not noticed, of {len(every)} that there are")
    sys.exit(survived > 0)


if __name__ == "__main__":
    main()
