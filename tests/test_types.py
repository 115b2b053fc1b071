"""A type checker finds the slips in a user's script, and nothing else."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import pytest
from sklearn.base import BaseEstimator

import perceptron_rs

PUBLIC = [getattr(perceptron_rs, name) for name in perceptron_rs.__all__]
ESTIMATORS = [kind for kind in PUBLIC if inspect.isclass(kind) and issubclass(kind, BaseEstimator)]
MADE = {"StructuredPerceptron": "lambda x, y: [0.0], lambda x, w: 0"}

SLIPS = [
    ("m = Perceptron().fit(X, y)\nm.cof_", 'has no attribute "cof_"'),
    ("Perceptron().set_params(eta0=2.0).partial_fit(X, y).interceptt_", 'no attribute "interceptt_"'),
    ('Perceptron(penalty="l3")', 'Argument "penalty"'),
    ('AveragedPerceptron(multi_class="ovo")', 'Argument "multi_class"'),
    ('VotedPerceptron(prediction="mean")', 'Argument "prediction"'),
    ('PocketPerceptron(check="often")', 'Argument "check"'),
    ("PocketPerceptron().fit(X, y).pocket_error_", 'no attribute "pocket_error_"'),
    ('KernelPerceptron("gaussian")', 'Argument 1 to "KernelPerceptron"'),
    ("KernelPerceptron().fit(X, y).support_vector_", 'no attribute "support_vector_"'),
    ('BudgetedKernelPerceptron(budget_policy="newest")', 'Argument "budget_policy"'),
    ('MultilayerPerceptron(activation="sign")', 'Argument "activation"'),
    ("MultilayerPerceptron().fit(X, y).coef_", 'no attribute "coef_"'),
    ('SequencePerceptron(decode="greedy")', 'Argument "decode"'),
    ("SequencePerceptron().fit(X, y).encoders_", 'no attribute "encoders_"'),
    ('MaxMarginClassifier(inseparable="ignore")', 'Argument "inseparable"'),
    ('max_margin(X, y, bias="fixed")', 'Argument "bias"'),
    ("max_margin(X, y).lowest", 'no attribute "lowest"'),
    ('is_separable(X, y, engine="python")', 'Argument "engine"'),
    ('trace(Perceptron(), X, y, every="epoch")', 'Argument "every"'),
    ("proof(trace(Perceptron(), X, y)).margins", 'no attribute "margins"'),
]


def attributes(kind):
    """Return the attributes that the docstring lists."""
    text = inspect.getdoc(kind).partition("\nAttributes\n----------\n")[2]
    return re.findall(r"^(\w+_) :", re.split(r"\n\w[\w ]*\n---", text)[0], re.MULTILINE)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Return what mypy says of all scripts, in one run, by the name of the script."""
    folder = tmp_path_factory.mktemp("scripts")
    head = "from perceptron_rs import *\n\nX, y = [[1.0], [2.0]], [0, 1]\n"
    for number, (script, _) in enumerate(SLIPS):
        (folder / f"slip_{number}.py").write_text(head + script + "\n", encoding="utf-8")
    for kind in ESTIMATORS:
        lines = [f"m = {kind.__name__}({MADE.get(kind.__name__, '')}).fit(X, y)"]
        lines += [f"m.{name}" for name in attributes(kind)]
        (folder / f"right_{kind.__name__}.py").write_text(head + "\n".join(lines) + "\n", encoding="utf-8")
    scripts = sorted(path.name for path in folder.glob("*.py"))
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", ".mypy_cache"]
    done = subprocess.run([*command, *scripts], cwd=folder, capture_output=True, text=True, check=False)
    assert not done.stderr
    said = {script: [] for script in scripts}
    for line in done.stdout.splitlines():
        said[line.partition(":")[0]].append(line)
    return said


@pytest.mark.parametrize("number", range(len(SLIPS)))
def test_a_slip_is_found(found, number):
    (line,) = found[f"slip_{number}.py"]
    assert SLIPS[number][1] in line


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_all_documented_attributes_are_known(found, kind):
    assert len(attributes(kind)) >= 4
    assert found[f"right_{kind.__name__}.py"] == []
