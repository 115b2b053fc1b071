"""The comparison of counts of instructions fails with the name of the case; no valgrind is needed here."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.test_release import script

FILE = """version: 1
desc: Trigger: Client Request: fit csr
positions: line
ob=/usr/lib/python3.11
fn=call
0 100
cob=/package/_core.abi3.so
cfn=0x10
calls=2 0
0 7000
+3 20
ob=/package/_core.abi3.so
fn=0x10
0 6500
* 500
totals: 7120
"""


@pytest.fixture
def counting(monkeypatch, tmp_path):
    """Return the script with a table of its own, and counts in place of callgrind's."""
    module = script(Path(__file__).parents[2] / "scripts" / "instructions.py")
    names = "fit csr", f"{module.SINGLE}, dense"
    counts = {name: {"compiled": 100_000, "call": 400_000} for name in names}
    here = module.builders()
    monkeypatch.setattr(module, "TABLE", tmp_path / "table.json")
    monkeypatch.setattr(module, "counted", lambda: counts)
    monkeypatch.setattr(module, "builders", lambda: here)
    module.TABLE.write_text(module.written(counts), encoding="utf-8")
    return SimpleNamespace(module=module, counts=counts, here=here, single=names[1])


@pytest.mark.parametrize(
    ("kind", "name", "factor"),
    [
        ("compiled", "fit csr", 1.021),
        ("compiled", "fit csr", 0.979),
        ("compiled", "single", 1.021),
        ("call", "single", 1.051),
        ("call", "single", 0.949),
    ],
)
def test_a_change_fails_with_the_name_of_the_case(counting, capsys, kind, name, factor):
    name = counting.single if name == "single" else name
    assert counting.module.compared() == 0
    counting.counts[name][kind] = int(counting.counts[name][kind] * factor)
    capsys.readouterr()
    assert counting.module.compared() == 1
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{name}: {factor - 1:+.1%} ({kind}: ")
    assert "make instructions" in last


def test_what_is_allowed_passes(counting):
    counting.counts[counting.single] = {"compiled": 101_900, "call": 381_000}
    counting.counts["fit csr"]["call"] *= 2  # Python's part of a fit
    assert counting.module.compared() == 0


def test_cases_that_are_not_in_both_fail(counting, capsys):
    counting.counts["new"] = counting.counts.pop("fit csr")
    assert counting.module.compared() == 1
    assert capsys.readouterr().out.startswith("fit csr: no such case any more\nnew: not counted before\n")


@pytest.mark.parametrize("key", ["compiler", "instruction set"])
def test_counts_of_another_compiler_are_not_compared(counting, capsys, key):
    counting.counts["fit csr"]["compiled"] *= 2
    counting.here[key] = "another"
    assert counting.module.compared() == 0
    assert f"nothing is compared: table.json is of {key} " in capsys.readouterr().out


def test_another_python_leaves_the_compiled_module(counting, capsys):
    counting.here["python"] = "another"
    counting.counts[counting.single]["call"] *= 2
    assert counting.module.compared() == 0
    counting.counts[counting.single]["compiled"] *= 2
    assert counting.module.compared() == 1
    assert "whole calls are not compared" in capsys.readouterr().out


def test_costs_of_called_functions_count_once(counting, tmp_path):
    path = tmp_path / "counts.1"
    path.write_text(FILE, encoding="utf-8")
    assert counting.module.of_file(path) == ("fit csr", {"compiled": 7000, "call": 7120})


def test_the_table_has_all_cases(tmp_path):
    module = script(Path(__file__).parents[2] / "scripts" / "instructions.py")
    table = json.loads(module.TABLE.read_text(encoding="utf-8"))
    assert [name for name, _ in module.works(tmp_path)] == list(table["counts"])
    assert {"compiler", "instruction set", "profile", "python", "numpy"} == set(table["built by"])
