"""``import perceptron_rs`` imports nothing until it is needed; for its users it looks as if it did."""

import ast
import importlib.util
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

import perceptron_rs

HEAVY = ("numpy", "scipy", "sklearn", "pandas", "joblib", "rich", "pyarrow")


def modules_after(code):
    """Return which of the heavy libraries a new process has imported after ``code``."""
    script = f"{code}\nimport sys\nprint(*[name for name in {HEAVY} if name in sys.modules])"
    folder = str(Path(perceptron_rs.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {folder!r})\n{script}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()[-1].split()


def test_nothing_is_imported_before_it_is_needed():
    assert modules_after("import perceptron_rs; dir(perceptron_rs); perceptron_rs.__version__") == []


def test_every_public_name_is_there():
    for name in perceptron_rs.__all__:
        assert name in dir(perceptron_rs)
        assert getattr(perceptron_rs, name) is getattr(perceptron_rs, name)
    scope = {}
    exec("from perceptron_rs import *", scope)
    assert set(perceptron_rs.__all__) <= set(scope)


@pytest.mark.parametrize(
    "package", [perceptron_rs, perceptron_rs.features, perceptron_rs.io, perceptron_rs.models]
)
def test_type_checkers_see_the_names_that_there_are(package):
    stub = ast.parse(Path(package.__file__).with_suffix(".pyi").read_text("utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    seen = {(node.module, *vars(alias).values()) for node in imports for alias in node.names}
    for module, name, same, *_ in seen:
        assert name == same
        if module == package.__name__:  # a module, which may need what is not installed
            assert name not in package.__all__
            assert importlib.util.find_spec(f"{module}.{name}")
        else:
            assert getattr(package, name) is getattr(importlib.import_module(module), name)
    assert {*package.__all__} <= {name for _, name, *_ in seen} <= {*dir(package)}


def test_every_module_is_there_without_an_import_of_its_own():
    assert "sklearn" in modules_after(
        "import perceptron_rs as p; p.testing.assert_parity; p.models; p.engines; p.reference; p.features; "
        "p.metrics; p.errors"
    )


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="module 'perceptron_rs' has no attribute 'Perceptrons'"):
        perceptron_rs.Perceptrons  # noqa: B018
    with pytest.raises(ImportError, match="Perceptrons"):
        from perceptron_rs import Perceptrons  # noqa: F401


def test_an_estimator_is_unpickled_where_nothing_is_imported_yet(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(pickle.dumps(perceptron_rs.Perceptron(eta0=0.5)))
    code = f"import pickle; assert pickle.load(open({str(path)!r}, 'rb')).eta0 == 0.5"
    assert "sklearn" in modules_after(code)
    assert pickle.loads(pickle.dumps(perceptron_rs.Perceptron)) is perceptron_rs.Perceptron


def test_nothing_below_the_registry_asks_it_which_learners_there_are():
    """The linter sees imports; this sees the names of modules in strings. A package's table of names may."""
    root = Path(perceptron_rs.__file__).parent
    above = {
        "cli",
        "rerun",
        "learners.py",
        "registry.py",
        "__init__.py",
        "__main__.py",
        "testing",
    }
    files = [path for path in root.rglob("*.py") if path.relative_to(root).parts[0] not in above]
    assert len(files) > 200
    asking = [
        path for path in files if re.search("perceptron_rs[.](registry|learners)", path.read_text("utf-8"))
    ]
    assert asking == [root / "models" / "__init__.py"]
