"""A type checker finds the slips in a user's script, and nothing else."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Literal, get_args, get_origin

import pytest
import sklearn
from sklearn.base import BaseEstimator
from sklearn.utils.discovery import all_displays, all_estimators, all_functions

import perceptron_rs
from perceptron_rs import datasets, features, io, models, plots

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
    ("SequencePerceptron().fit(X, y).predict(X, allowed=3)", 'Argument "allowed"'),
    ('SequencePerceptron().fit(X, y).predict(X, forbidden=["DET"])', "List item 0"),
    ('MaxMarginClassifier(inseparable="ignore")', 'Argument "inseparable"'),
    ('MaxMarginClassifier(kernel="sigmoid")', 'Argument "kernel"'),
    ("MaxMarginClassifier().fit(X, y).margin_intervals_", 'no attribute "margin_intervals_"'),
    ("SequencePerceptron(callback=lambda record: record.models())", 'no attribute "models"'),
    ('joint_margin(X, y, kernel="cosine")', 'Argument "kernel"'),
    ("plots.HyperplaneDisplay.from_estimator(Perceptron(), X, y).boundaries_", 'no attribute "boundaries_"'),
    ('plots.HyperplaneDisplay.from_estimator("perceptron", X, y)', 'Argument 1 to "from_estimator"'),
    ('metrics.chunk_scores([["O"]], [["O"]])["accuracy"]', 'has no key "accuracy"'),
    ('datasets.lecture("seven_points")', 'Argument 1 to "lecture"'),
    ('max_margin(X, y, bias="fixed")', 'Argument "bias"'),
    ("max_margin(X, y).lowest", 'no attribute "lowest"'),
    ('is_separable(X, y, engine="python")', 'Argument "engine"'),
    ('trace(Perceptron(), X, y, every="epoch")', 'Argument "every"'),
    ("proof(trace(Perceptron(), X, y)).margins", 'no attribute "margins"'),
    ("dask.Perceptron(alphas=1.0)", 'Unexpected keyword argument "alphas"'),
    ('dask.AveragedPerceptron(mixing="median")', 'Argument "mixing"'),
    ("dask.SequencePerceptron(clients=None)", 'Unexpected keyword argument "clients"'),
    ("io.open_csv(3, target='y')", 'Argument 1 to "open_csv"'),
    ("io.StringIO()", 'no attribute "StringIO"'),
]


#: A script whose own names, and those of scikit-learn, `import *` leaves alone; complete without an error.
STAR = """import io
from perceptron_rs import *
from perceptron_rs import dask as clusters
from perceptron_rs.io import open_csv

clusters.Perceptron(client=None, alpha=0.5, penalty="l2", max_iter=3).fit([[1.0]], [1]).coef_
io.StringIO()
Perceptron().fit_stream(open_csv("a.csv", target="y", columns=["a"], hash_bits=3))
load_predictor("a").predict([[1.0]]).tolist()
"""


def test_a_script_with_names_of_its_own_is_right(found):
    assert found["star.py"] == []


def test_import_star_replaces_nothing_of_scikit_learn_but_its_perceptron():
    of_sklearn = {name for found in (all_estimators(), all_functions(), all_displays()) for name, _ in found}
    assert {*perceptron_rs.__all__} & (of_sklearn | {*sklearn.__all__}) == {"Perceptron"}
    stub = ast.parse(Path(perceptron_rs.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    assert ast.literal_eval(stub.body[-1].value) == perceptron_rs.__all__  # what type checkers read


def attributes(kind):
    """Return the attributes that the docstring lists."""
    text = inspect.getdoc(kind).partition("\nAttributes\n----------\n")[2]
    return re.findall(r"^(\w+_) :", re.split(r"\n\w[\w ]*\n---", text)[0], re.MULTILINE)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Return what mypy says of all scripts, in one run, by the name of the script."""
    folder = tmp_path_factory.mktemp("scripts")
    head = "from perceptron_rs import *\nfrom perceptron_rs import dask, datasets, io, metrics, plots\n\n"
    head += "X, y = [[1.0], [2.0]], [0, 1]\n"
    (folder / "star.py").write_text(STAR, encoding="utf-8")
    for number, (script, _) in enumerate(SLIPS):
        (folder / f"slip_{number}.py").write_text(head + script + "\n", encoding="utf-8")
    for kind in ESTIMATORS:
        lines = [f"m = {kind.__name__}({MADE.get(kind.__name__, '')}).fit(X, y)"]
        lines += [f"m.{name}" for name in attributes(kind)]
        (folder / f"right_{kind.__name__}.py").write_text(head + "\n".join(lines) + "\n", encoding="utf-8")
    # Dask's own sources would take a minute.
    (folder / "mypy.ini").write_text("[mypy]\n[mypy-dask.*,distributed.*]\nfollow_imports = skip\n", "utf-8")
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


def described(item):
    """Return the words that the docstring lists for each parameter that takes one of a few."""
    text = (inspect.getdoc(item) or "").partition("\nParameters\n----------\n")[2]
    lines = re.findall(r"^(\w+) : (\{\".*)$", re.split(r"\n\w[\w ]*\n---", text)[0], re.MULTILINE)
    return {name: set(re.findall(r'"([^"]+)"', kind.partition("default")[0])) for name, kind in lines}


def words(annotation):
    """Return the strings in the literals of a type."""
    if get_origin(annotation) is Literal:
        return {word for word in get_args(annotation) if isinstance(word, str)}
    return set().union(*(words(part) for part in get_args(annotation)))


MODULES = [perceptron_rs, datasets, features, io, models, plots]
NAMED = {f"{home.__name__}.{name}": getattr(home, name) for home in MODULES for name in home.__all__}
for kind in [item for item in NAMED.values() if inspect.isclass(item)]:
    for name, method in inspect.getmembers(kind, inspect.isroutine):
        if not name.startswith("_") and getattr(method, "__module__", "").startswith("perceptron_rs"):
            NAMED[f"{kind.__name__}.{name}"] = method
CHOOSING = {name: item for name, item in NAMED.items() if callable(item) and described(item)}


def test_there_are_choices():
    assert len(CHOOSING) >= 15


@pytest.mark.parametrize("name", CHOOSING)
def test_the_words_of_the_docstring_are_those_of_the_type(name):
    item = CHOOSING[name]
    known = sys.modules[item.__module__].__dict__
    signature = inspect.signature(item)
    for parameter, expected in described(item).items():
        annotation = signature.parameters[parameter].annotation
        found = eval(annotation, dict(known)) if isinstance(annotation, str) else annotation
        assert words(found) == expected, parameter
