"""A learner is a class of the reference, a schema, parameters and an estimator: nothing else has its name."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import perceptron_rs
from perceptron_rs import models, reference, registry
from perceptron_rs.cli.run import main
from perceptron_rs.linear import parameters, predictor
from perceptron_rs.linear.base import LinearLearner
from perceptron_rs.linear.parameters import LinearParameters
from perceptron_rs.linear.predictor import LinearPredictor
from perceptron_rs.reference.linear import run
from perceptron_rs.reference.linear.perceptron import Learner, Plane, weights
from perceptron_rs.schema.schema import COUNTS, EPOCHS, RUN_COUNTS, Array, Schema


class ReferenceMean(Learner):
    """The mean of all weight vectors, each counted once."""

    begins_with = (*Learner.begins_with, "coef_sum", "intercept_sum", "intercept_number")

    def __init__(self, state, k, x, decision, settings):
        self.plane = Plane.of(state, k, settings.fit_intercept)
        self.sum = Plane.of(state, k, settings.fit_intercept, "_sum")
        self.number = state["intercept_number"][k]

    def epoch(self, number, x, order, log):
        for _, i, c in log:
            self.plane.update(c, x[i])
            self.sum.w += self.plane.w
            self.sum.b += self.plane.b
            self.number += 1

    @classmethod
    def arrays(cls, learners, last):
        numbers = np.array([learner.number for learner in learners])
        return last | weights([learner.sum for learner in learners], "_sum") | {"intercept_number": numbers}

    @staticmethod
    def predictor(arrays):
        number = np.maximum(arrays["intercept_number"], 1)
        return arrays["coef_sum"] / number[:, np.newaxis], arrays["intercept_sum"] / number


MEAN = Schema(
    "mean",
    (
        Array("coef", "Kd", shown="last_coef_"),
        Array("intercept", "K", shown="last_intercept_"),
        Array("seen", "K", COUNTS, shown="n_seen_", reported=True),
        Array("coef_sum", "Kd"),
        Array("intercept_sum", "K"),
        Array("intercept_number", "K"),
        *EPOCHS,
    ),
    RUN_COUNTS,
)


@dataclass(kw_only=True, eq=False, repr=False)
class MeanPerceptronParameters(LinearParameters):
    """Of `MeanPerceptron`."""


class MeanPerceptronPredictor(LinearPredictor):
    _schema = MEAN


class MeanPerceptron(MeanPerceptronParameters, LinearLearner):
    _schema = MEAN


@pytest.fixture(autouse=True)
def _known(monkeypatch):
    monkeypatch.setitem(run.LEARNERS, "mean", ReferenceMean)
    entry = registry.Entry("linear", "MeanPerceptron", "the mean of all weight vectors")
    monkeypatch.setitem(registry.REGISTRY, "mean", entry)
    monkeypatch.setattr(registry.Entry, "kind", property(lambda learner: MeanPerceptron))
    for module, part in ((parameters, MeanPerceptronParameters), (predictor, MeanPerceptronPredictor)):
        monkeypatch.setattr(module, part.__name__, part, raising=False)


X = np.random.default_rng(0).integers(-4, 5, (40, 3)).astype(np.float64)
Y = np.where(X @ [1, -2, 1] > 0, "yes", "no")


def fitted(**options):
    return MeanPerceptron(engine="reference", max_iter=2, tol=None, shuffle=False, **options)


def test_it_learns():
    w, b, vectors = np.zeros(3), 0.0, []
    for x, y in [*zip(X, np.where(Y == "yes", 1, -1), strict=True)] * 2:
        if y * (x @ w + b) <= 0:
            w, b = w + y * x, b + y
            vectors.append([*w, b])
    model = fitted().fit(X, Y)
    np.testing.assert_array_equal([*model.coef_[0], *model.intercept_], np.mean(vectors, axis=0))
    np.testing.assert_array_equal(model.last_coef_[0], w)
    assert model.score(X, Y) > 0.8


def test_it_goes_on():
    twice = fitted(warm_start=True).fit(X, Y).fit(X, Y)
    assert perceptron_rs.digest(twice) == perceptron_rs.digest(fitted().set_params(max_iter=4).fit(X, Y))


def test_it_is_saved_inspected_and_validated(tmp_path, capsys):
    model = fitted().fit(X, Y)
    model.save(tmp_path / "m")
    again = perceptron_rs.load(tmp_path / "m")
    assert type(again) is MeanPerceptron
    assert perceptron_rs.digest(again) == perceptron_rs.digest(model)
    assert models.describe(tmp_path / "m")["estimator"] == "mean"
    assert main(["inspect", str(tmp_path / "m")]) == 0
    assert "MeanPerceptron" in capsys.readouterr().out
    with pytest.raises(ValueError, match="'eta0' parameter of MeanPerceptron must be"):
        fitted(eta0=-1).fit(X, Y)


def test_a_name_that_is_unknown_is_refused():
    with pytest.raises(ValueError, match=r"learner must be one of perceptron, .*mean, got 'men'"):
        reference.Model("men", 1, 2)


def _names_in(path):
    """Return the names and strings of a module, without its docstrings."""
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    strings = {node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in docstrings}
    return strings | {getattr(node, field, None) for node in nodes for field in ("id", "name")}


def test_few_files_of_the_package_name_a_learner():
    """Three of its own, with the lesson, and five lists."""
    package = Path(perceptron_rs.__file__).parent
    parts = ("", "Parameters", "Predictor")
    names = {"pocket", "Pocket", *(f"PocketPerceptron{part}" for part in parts)}
    paths = [*package.rglob("*.py"), *package.rglob("*.pyi")]
    found = {path.relative_to(package) for path in paths if _names_in(path) & names}
    own = {"linear/pocket.py", "reference/linear/pocket.py", "reference/lessons/pocket.py"}
    listed = {"__init__.pyi", "registry.py", "linear/parameters.py", "linear/predictor.py"}
    assert found == set(map(Path, own | listed | {"reference/linear/run.py"}))


def test_few_files_of_the_core_name_a_learner():
    """Its own, and one list; settings know what the pocket alone has."""
    rust = Path(__file__).parents[1] / "rust"
    paths = {path: re.sub("//.*", "", path.read_text("utf-8")) for path in rust.rglob("*.rs")}
    found = {path.relative_to(rust) for path, code in paths.items() if re.search("pocket", code, re.I)}
    listed = {"online/mod.rs", "online/run/problem.rs", "python/settings.rs"}
    assert found == set(map(Path, {"online/pocket.rs"} | listed))
