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


def test_what_no_test_can_see_is_not_drawn(mutants, tmp_path, monkeypatch):
    monkeypatch.setattr(mutants, "PACKAGE", tmp_path)
    (tmp_path / "m.py").write_text("if TYPE_CHECKING:\n    import x\ny = a.reshape(n, -1)\n")
    assert [each.after for each in mutants.mutants(tmp_path / "m.py")] == ["1"]


def test_every_equivalent_mutant_can_be_drawn(mutants):
    assert mutants.listed_as_equivalent()
    assert all(one["reason"] for one in tomllib.loads(mutants.EQUIVALENT.read_text("utf-8"))["mutant"])


def test_a_listed_mutant_whose_line_has_changed_must_be_judged_anew(mutants, tmp_path, monkeypatch):
    module = tmp_path / "m.py"
    monkeypatch.setattr(mutants, "PACKAGE", tmp_path)
    monkeypatch.setattr(mutants, "EQUIVALENT", tmp_path / "equivalent.toml")
    place = ("m.py", "f", "return x + 1", "1", "2")
    names = ("module", "function", "source", "before", "after")
    lines = [f'{name} = "{value}"' for name, value in zip(names, place, strict=True)]
    mutants.EQUIVALENT.write_text("\n".join(["[[mutant]]", *lines, 'reason = "None."']))
    module.write_text("def f(x):\n    return x + 1\n")
    assert mutants.listed_as_equivalent() == {place}
    module.write_text("def f(x):\n    return x - 1\n")
    with pytest.raises(ValueError, match=r"judge them anew:\n\('m.py', 'f', 'return x \+ 1', '1', '2'\)"):
        mutants.listed_as_equivalent()
    module.unlink()
    with pytest.raises(ValueError, match="not there"):
        mutants.listed_as_equivalent()


def test_a_test_that_fails_without_a_mutant_has_not_noticed_it(mutants, tmp_path, monkeypatch):
    """Such as one that the survey knows and that is no longer there, which pytest says by an error, too."""
    package = tmp_path / "python" / "perceptron_rs"
    package.mkdir(parents=True)
    text = "def f(x):\n    return x + 1\n"
    (package / "m.py").write_text(text)
    monkeypatch.setattr(mutants, "PACKAGE", package)
    monkeypatch.setattr(mutants, "WORK", tmp_path)
    (mutant,) = (one for one in mutants.mutants(package / "m.py") if one.after == "2")

    def notices(with_mutant, without):
        def failed(tests, most):
            assert most == 9
            if (package / "m.py").read_text() == text:
                assert tests == with_mutant
                return without
            assert tests == ["a", "b"]
            return with_mutant

        monkeypatch.setattr(mutants, "_failed", failed)
        return mutants.is_noticed(mutant, ["a", "b"], 9)

    assert notices(["b"], [])
    assert not notices([], ["a"])
    with pytest.raises(ValueError, match=r"^b: fails without a mutant, too"):
        notices(["b"], ["b"])
    assert (package / "m.py").read_text() == text


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


def test_forks_of_a_process_that_has_the_package_would_not_run_its_copy(mutants, tmp_path, monkeypatch):
    monkeypatch.setattr(mutants, "WORK", tmp_path)
    monkeypatch.setitem(sys.modules, "perceptron_rs", SimpleNamespace())
    with pytest.raises(RuntimeError, match="would run on it and not on its copy"):
        mutants._failed(["a"], 9)
