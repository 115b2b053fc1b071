"""Figures of the benches, each held against what the same bench has found before.

A figure is a ratio of two times of one process, run in turns, or of two sizes: so it hardly depends on how
busy a machine is. Its bar is what ``benches/results/<bench>.json`` says of the machine that the file names,
less a tenth (more a tenth, where less is better). A bench ends in exit code 1 if a figure misses its bar, or
has none.

``--write`` keeps the figures of a run as the next bars; those of cases that were not run stay.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

from perceptron_rs import __version__

RESULTS = Path(__file__).parent / "results"
SHARE = 0.9


def processor() -> str:
    """Return the name of the processor, as far as the system tells."""
    cpus = Path("/proc/cpuinfo")
    lines = cpus.read_text(encoding="utf-8").splitlines() if cpus.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def about() -> dict[str, Any]:
    """Return on what the figures are measured."""
    return {
        "perceptrons": __version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "processor": processor(),
        "processors": os.cpu_count(),
        "date": time.strftime("%Y-%m-%d"),
    }


def parser(text: str | None) -> argparse.ArgumentParser:
    """Return the parser of a bench: its first line, and the option that keeps the figures."""
    made = argparse.ArgumentParser(description=(text or "").split("\n")[0])
    made.add_argument("--write", action="store_true", help="keep the figures as the bars of the next runs")
    return made


class Figures:
    """The figures of one run of a bench.

    >>> figures = Figures("sparse", write=options.write)
    >>> print("fit", figures.hold("fit", peer / ours))
    fit 3.21x (bar 2.9)
    >>> sys.exit(figures.end())
    """

    def __init__(self, bench: str, *, write: bool, **said: Any) -> None:
        self.path, self.write, self.said = RESULTS / f"{bench}.json", write, said
        self.kept: dict[str, Any] = json.loads(self.path.read_text("utf-8")) if self.path.exists() else {}
        self.before = {result["case"]: result for result in self.kept.get("results", [])}
        self.found: dict[str, dict[str, Any]] = {}
        self.missed: list[str] = []

    def hold(self, case: str, ratio: float, *, at_most: bool = False, **more: Any) -> str:
        """Note a figure; return it in words, with its bar."""
        self.found[case] = {"case": case, "ratio": ratio, **more}
        said = f"{ratio:.3g}x"
        if case not in self.before:
            if not self.write:
                self.missed.append(case)
            return f"{said} (no bar)"
        was = self.before[case]["ratio"]
        bar = was / SHARE if at_most else was * SHARE
        reached = ratio <= bar if at_most else ratio >= bar
        if not reached:
            self.missed.append(case)
        return f"{said} ({'at most' if at_most else 'bar'} {bar:.3g}){'' if reached else '  BELOW BAR'}"

    def end(self, **more: Any) -> int:
        """Print which figures miss their bars, keep all (and ``more``) if asked to, return the exit code."""
        measured = self.kept.get("about", {})
        if self.before and measured.get("processor") != processor():
            print(f"the bars are of another processor: {measured.get('processor')}")
        print(f"{len(self.found) - len(self.missed)} of {len(self.found)} figures reach their bars")
        for case in self.missed:
            print(f"missed: {case}")
        if not self.write:
            return int(bool(self.missed))
        results = list((self.before | self.found).values())
        text = json.dumps({"about": about() | self.said, "results": results, **more}, indent=1)
        self.path.write_text(text + "\n", encoding="utf-8")
        return 0
