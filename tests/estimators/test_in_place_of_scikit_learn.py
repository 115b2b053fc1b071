"""scikit-learn's own tests that use its Perceptron, with ours in its place.

Each test module of the installed scikit-learn that imports Perceptron is imported anew while
``sklearn.linear_model.Perceptron`` is ours, as for a user who changes the import. The tests in it that use
the name, at once or through a helper, are collected here under a name that begins with that of their module.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path

import pytest
import sklearn
import sklearn.linear_model

from perceptron_rs import Perceptron

ROOT = Path(sklearn.__file__).parent
#: Tests that a deliberate difference makes fail, "folder/module::test", with the difference. All others pass.
CANNOT_PASS: dict[str, str] = {}

# They are written for scikit-learn's own filters; some use what it deprecates.
pytestmark = pytest.mark.filterwarnings("ignore")

Definition = ast.FunctionDef | ast.ClassDef


def modules():
    """Return the syntax trees of the test modules that import Perceptron, by path."""
    found = {}
    for path in sorted(ROOT.glob("**/tests/test_*.py")):
        text = path.read_text(encoding="utf-8")
        if "Perceptron" in text:
            tree = ast.parse(text)
            imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
            if any(alias.name == "Perceptron" for node in imports for alias in node.names):
                found[path] = tree
    return found


def names_in(node):
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def users(tree):
    """Return the names of the definitions of a module that use Perceptron, at once or through another."""
    definitions = {node.name: names_in(node) for node in tree.body if isinstance(node, Definition)}
    found = {"Perceptron"}
    while more := {name for name, used in definitions.items() if used & found} - found:
        found |= more
    return found - {"Perceptron"}


def import_with_ours(path):
    """Import a test module under a name of its own, with our Perceptron where it looks for scikit-learn's."""
    name = ".".join(["sklearn", *path.relative_to(ROOT).with_suffix("").parts, "with_ours"])
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sklearn.linear_model, "Perceptron", Perceptron)
        patch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
    return module


MODULES = modules()
if not MODULES:
    pytest.skip("the tests of scikit-learn are not installed", allow_module_level=True)
IMPORTED = {path: import_with_ours(path) for path in MODULES}
COLLECTED = {}
for path, tree in MODULES.items():
    folder, name = path.parents[1].name, path.stem
    for user in sorted(users(tree)):
        if user.startswith("test_"):
            test, key = getattr(IMPORTED[path], user), f"{folder}/{name}::{user}"
            if key in CANNOT_PASS:
                test = pytest.mark.xfail(strict=True, reason=CANNOT_PASS[key])(test)
            COLLECTED[key] = test
            globals()[f"test_{folder}_{name.removeprefix('test_')}_{user.removeprefix('test_')}"] = test
del test


def test_they_use_ours():
    for module in IMPORTED.values():
        assert module.Perceptron is Perceptron
    assert not any(name.endswith("with_ours") for name in sys.modules)


def test_none_is_left_out():
    """Every use of the name is in a test that is collected, or in a helper that only serves such tests."""
    for tree in MODULES.values():
        rest = [node for node in tree.body if not isinstance(node, Definition)]
        assert not any("Perceptron" in names_in(node) for node in rest)
        assert any(name.startswith("test_") for name in users(tree))
    own = {key.split("::")[1] for key in COLLECTED if key.startswith("linear_model/test_perceptron::")}
    assert {"test_perceptron_accuracy", "test_perceptron_correctness", "test_perceptron_l1_ratio"} <= own


def test_the_exceptions_exist():
    assert set(CANNOT_PASS) <= set(COLLECTED)
