"""Run the core's tests on every machine that can be had here, and write the table of docs/exactness.rst.

``python scripts/machines.py`` takes all, ``python scripts/machines.py wasm riscv64`` writes the rows of these
anew. A machine whose tests fail ends the script. On this machine the package runs, too: its rows also have
the digests of ``tests/golden/fits.py``, one for each instruction set and one of the reference.
"""

from __future__ import annotations

import csv
import hashlib
import re
import subprocess
import sys
from pathlib import Path

from perceptron_rs import _core

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "golden"))

from fits import fits  # noqa: E402

FILE = ROOT / "docs" / "machines.csv"
HEAD = (
    "machine",
    "run by",
    "addresses",
    "byte order",
    "golden tests",
    "all tests of the core",
    "digest of fits",
)
#: Names, as in ``make test-NAME``, and what stands in the table.
MACHINES = {
    "aarch64": ("AArch64, Linux", "qemu-user", "64 bits", "little"),
    "riscv64": ("RISC-V, Linux", "qemu-user", "64 bits", "little"),
    "s390x": ("s390x, Linux", "qemu-user", "64 bits", "big"),
    "wasm": ("WebAssembly, WASI", "wasmtime", "32 bits", "little"),
    "windows": ("x86-64, Windows", "Wine", "64 bits", "little"),
}
HERE = ("x86-64, Linux", "the processor", "64 bits", "little")


def counts(*command: str) -> tuple[str, str]:
    """Run tests, and return how many of the golden ones and of all have passed."""
    print("+", *command, flush=True)
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    results = dict(re.findall(r"^test (\S+) \.\.\. (.*)$", done.stdout, re.MULTILINE))
    bad = [name for name, result in results.items() if result not in ("ok", "ignored")]
    if done.returncode or bad or not results:
        sys.exit(f"{done.stdout[-3000:]}\n{' '.join(command)} failed: {bad}")
    passed = [name for name, result in results.items() if result == "ok"]
    golden = [name for name in passed if name.startswith("outside::golden")]
    return str(len(golden)), str(len(passed))


def digest(engine: str) -> str:
    """Return one digest of all lines of ``tests/golden/fits.py``."""
    lines = (f"{fit.digest}  {fit.learner} {fit.data}\n" for fit in fits("rust" if engine else "reference"))
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]


def here() -> list[tuple[str, ...]]:
    """Return the rows of this machine."""
    tests = counts("cargo", "test")
    found = []
    for name in _core._instruction_sets():
        _core._force_instruction_set(name)
        found.append((f"{HERE[0]}, {name}", *HERE[1:], *tests, digest(name)))
    _core._force_instruction_set(None)
    return [*found, (f"{HERE[0]}, reference", *HERE[1:], "", "", digest(""))]


def main() -> None:
    """Write the rows of the machines that are named, and leave the others as they are."""
    names = sys.argv[1:] or ["here", *MACHINES]
    known = FILE.read_text(encoding="utf-8") if FILE.exists() else ""
    rows = {row[0]: tuple(row) for row in list(csv.reader(known.splitlines()))[1:]}
    for name in names:
        new = here() if name == "here" else [(*MACHINES[name], *counts("make", f"test-{name}"), "")]
        rows |= {row[0]: row for row in new}
    with FILE.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([HEAD, *rows.values()])


if __name__ == "__main__":
    main()
