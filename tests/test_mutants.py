"""The script that draws mutants: what it names is there. `make mutants` runs it."""

from __future__ import annotations

import ast
import sys
import tomllib
from types import SimpleNamespace

import pytest

from tests.test_release import ROOT, script


@pytest.fixture(scope="module")
def mutants():
    with pytest.MonkeyPatch.context() as patch:  # it is of the group "mutation", which tests do not need
        patch.setitem(sys.modules, "coverage", SimpleNamespace(CoverageData=None))
        return script(ROOT / "scripts" / "mutants.py")


def test_files_that_are_named_exist(mutants):
    for name in mutants.TESTS:
        assert (ROOT / "tests" / name).exists(), name
    for name in mutants.MUTATED:
        assert (mutants.PACKAGE / name).exists(), name


def test_every_equivalent_mutant_can_be_drawn(mutants):
    """One whose line has changed since must be judged anew."""
    listed = tomllib.loads(mutants.EQUIVALENT.read_text(encoding="utf-8"))["mutant"]
    drawn = {
        name: {one[:5] for one in mutants.mutants(mutants.PACKAGE / name)}
        for name in {one["module"] for one in listed}
    }
    for one in listed:
        *place, reason = one.values()
        assert tuple(place) in drawn[one["module"]], one
        assert reason


def test_a_mutant_is_a_change_of_one_place(mutants, tmp_path, monkeypatch):
    monkeypatch.setattr(mutants, "PACKAGE", tmp_path)
    text = "def f(x, y=2):\n    if x < y and x:\n        return g(a=x)\n    return min(x, -1)\n"
    (tmp_path / "m.py").write_text(text)
    found = mutants.mutants(tmp_path / "m.py")
    assert {mutant.after for mutant in found} == {
        *("3", "False", "True", "x < y or x", "x", "x < y", "x <= y"),
        *("g()", "max", "1", "2"),
    }
    for mutant in found:
        begin, end = mutant.place
        assert text[begin:end] == mutant.before
        ast.parse(text[:begin] + f"({mutant.after})" + text[end:])
