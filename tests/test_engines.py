"""Both engines satisfy one protocol: equal names, equal signatures, equal kinds of parameters."""

import inspect
import subprocess
import sys
import textwrap

import pytest

import perceptron_rs
from perceptron_rs import AveragedPerceptron, Perceptron, PocketPerceptron, _core, reference
from perceptron_rs.engines import ENGINES, Engine, Model, RunOfPlanes, get_engine

FUNCTIONS = [name for name, member in vars(Engine).items() if inspect.isfunction(member) and name[0] != "_"]


def parameters(function):
    """Names, kinds and defaults, without the self of a protocol's method."""
    found = inspect.signature(function).parameters.values()
    return [(p.name, p.kind, p.default) for p in found if p.name != "self"]


def test_the_protocol_is_what_the_reference_exports():
    given_on = {
        name for name, part in vars(reference).items() if name[0] != "_" and not inspect.ismodule(part)
    }
    assert {*FUNCTIONS, "ARITHMETIC_VERSION", "Model", "Rule"} == given_on


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signatures_are_those_of_the_protocol(engine, name):
    assert parameters(getattr(engine, name)) == parameters(getattr(Engine, name))


def test_the_core_exports_nothing_else():
    public = {name for name in dir(_core) if not name.startswith("_")}
    of_no_engine = {"read_svmlight", "read_svmlight_part", "smallest", "crc32", "Blake3", "row_digests"}
    of_no_engine |= {"attribute_rows", "SequenceWeights", "Draft", "Excerpt"}
    of_no_engine |= {"NGrams", "hashed_texts", "murmur3", "normalized", "added_rows"}  # texts
    assert public == {
        *FUNCTIONS,
        *of_no_engine,
        "ARITHMETIC_VERSION",
        "CoreRows",
        "Model",
        "Pass",
        "Rule",
        "Run",
    }


@pytest.mark.parametrize("name", ["epoch", "part", "end", "state", "tracked"])
def test_runs_are_those_of_the_protocol(name):
    for run in (_core.Run, reference.linear.model.ModelRun):
        assert parameters(getattr(run, name)) == parameters(getattr(RunOfPlanes, name))


@pytest.mark.parametrize("name", ["keys", "state", "learn", "scores", "first_largest", "copy"])
def test_models_are_those_of_the_protocol(name):
    for model in (_core.Model, reference.Model):
        assert parameters(getattr(model, name)) == parameters(getattr(Model, name))


@pytest.mark.parametrize("learner", ["perceptron", "averaged"])
def test_a_model_of_zeros_says_so(engine, learner):
    model = engine.Model(learner, 2, 3)
    assert model.is_zero
    for name, array in model.state().items():
        state = dict(model.state()) | {name: array + 1}
        assert not engine.Model.from_state(learner, state).is_zero, name


def test_one_arithmetic_version():
    assert _core.ARITHMETIC_VERSION == reference.ARITHMETIC_VERSION == perceptron_rs.ARITHMETIC_VERSION


def test_engines_are_found_by_name():
    assert ENGINES == ("rust", "reference")
    assert get_engine("rust") is _core
    assert get_engine("reference") is reference


@pytest.mark.parametrize("name", ["Rust", "", "numpy", None])
def test_unknown_engine(name):
    with pytest.raises(ValueError, match=r"engine must be one of \('rust', 'reference'\), got "):
        get_engine(name)


@pytest.mark.parametrize("learner", [Perceptron, AveragedPerceptron, PocketPerceptron])
def test_an_estimator_refuses_an_unknown_engine(learner):
    with pytest.raises(ValueError, match=r"'engine' parameter of .* must be a str among .*'numpy'"):
        learner(engine="numpy").fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize("learner", [Perceptron, AveragedPerceptron, PocketPerceptron])
def test_an_estimator_can_change_its_engine(learner):
    model = learner(engine="rust").fit([[1.0], [-2.0], [0.5]], [1, 0, 1])
    scores = model.decision_function([[0.25]])
    assert model.set_params(engine="reference").decision_function([[0.25]]).tobytes() == scores.tobytes()


WITHOUT_REFERENCE = """
    import sys

    sys.modules["perceptron_rs.reference"] = None  # an import of it fails

    import numpy as np

    import perceptron_rs as p

    X, y = np.eye(6), np.array([0, 1] * 3)
    p.VotedPerceptron(prediction="random").fit(X, y).predict(X)
    p.KernelPerceptron(prediction="random").fit(X, y).predict(X)
    blocks = [(X[:3], y[:3]), (X[3:], y[3:])]
    p.Perceptron(shuffle=True, max_iter=2, tol=None).fit_stream(blocks, classes=[0, 1])
"""


def test_the_core_draws_its_numbers_itself():
    subprocess.run([sys.executable, "-c", textwrap.dedent(WITHOUT_REFERENCE)], check=True)
