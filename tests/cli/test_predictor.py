"""Linear models predict from svmlight text without scikit-learn: the same bytes as with it."""

import subprocess
import sys

import numpy as np
import pytest

from perceptron_rs import AveragedPerceptron, Perceptron, PocketPerceptron, VotedPerceptron
from perceptron_rs.cli import modelfile
from perceptron_rs.cli.commands import predict
from perceptron_rs.models.container import pack, unpack

from .support import environment, svmlight

rng = np.random.default_rng(6)
A = rng.integers(-3, 4, (50, 4)) / 2
TWO, THREE = rng.integers(0, 2, 50), np.array(["a", "b", "c"])[rng.integers(0, 3, 50)]
MODELS = [
    (Perceptron(max_iter=3, tol=None), TWO),
    (Perceptron(max_iter=3, tol=None, tie="positive"), TWO),
    (Perceptron(max_iter=3, tol=None, multi_class="joint"), TWO),
    (Perceptron(max_iter=3, tol=None, multi_class="joint"), THREE),
    (AveragedPerceptron(max_iter=3, tol=None), THREE),
    (AveragedPerceptron(max_iter=3, tol=None), TWO),
    (PocketPerceptron(max_iter=3, tol=None), THREE),
]


@pytest.fixture(name="text", scope="module")
def fixture_text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "a.svm"
    zeros = np.zeros((2, 4))  # a tie, unless there is an intercept
    path.write_text(svmlight(np.concatenate([A, zeros]), [0] * 52))
    return path


@pytest.mark.parametrize("number", range(len(MODELS)))
@pytest.mark.parametrize("options", [(), ("--scores",), ("--json", "--scores")])
def test_the_answers_are_those_of_the_estimator(call, tmp_path, text, monkeypatch, number, options):
    model, y = MODELS[number]
    model.fit(A, y)
    modelfile.keep_base(model, zero_based=False)
    model.save(tmp_path / "m")
    assert modelfile.load_predictor(tmp_path / "m") is not None
    light = call("predict", tmp_path / "m", text, *options)
    monkeypatch.setattr(predict, "load_predictor", lambda path: None)
    assert light == call("predict", tmp_path / "m", text, *options)
    assert light.status == 0


def test_scikit_learn_is_not_imported(tmp_path, text):
    model = Perceptron().fit(A, TWO)
    modelfile.keep_base(model, zero_based=False)
    model.save(tmp_path / "m")
    code = """
import sys
from perceptron_rs.cli import main
status = main(sys.argv[1:])
sys.exit([name for name in ("sklearn", "scipy", "joblib") if name in sys.modules] or status)
"""
    argv = [sys.executable, "-c", code, "predict", tmp_path / "m", text]
    done = subprocess.run(argv, capture_output=True, text=True, env=environment(), check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 52


def test_what_goes_the_usual_way(call, tmp_path, text):
    for model in (
        VotedPerceptron(max_iter=2, tol=None),
        Perceptron(engine="reference", max_iter=2, tol=None),
    ):
        model.fit(A, TWO).save(tmp_path / "m")
        assert modelfile.load_predictor(tmp_path / "m") is None
    lazy = Perceptron(penalty="l2", max_iter=2, tol=None).partial_fit(A, TWO, classes=[0, 1])
    modelfile.keep_base(lazy, zero_based=False)
    lazy.save(tmp_path / "m")
    out = call("predict", tmp_path / "m", text, "--scores").out.splitlines()
    assert [float(line.split()[1]) for line in out[:50]] == lazy.decision_function(A).tolist()


@pytest.mark.parametrize("part", ["shape", "type", "nan", "missing", "classes", "version"])
def test_a_file_that_is_not_sound_is_refused_as_by_load(call, refused, tmp_path, text, part):
    model = AveragedPerceptron(max_iter=2, tol=None).fit(A, TWO)
    modelfile.keep_base(model, zero_based=False)
    model.save(tmp_path / "m")
    document, tensors = unpack(tmp_path / "m")
    document.pop("format_version")
    if part == "shape":
        tensors["coef_u"] = tensors["coef_u"][:, :2].copy()
    elif part == "type":
        tensors["seen"] = tensors["seen"].astype(np.float64)
    elif part == "nan":
        tensors["coef"][0, 0] = np.nan
    elif part == "missing":
        del tensors["intercept_u"]
    elif part == "classes":
        document["classes"] = {"type": "int64", "values": [1, 0]}
    else:
        document["arithmetic_version"] = 10**6
    (tmp_path / "bad").write_bytes(pack(document, tensors))
    assert modelfile.load_predictor(tmp_path / "bad") is None
    assert "cannot load" in refused("predict", tmp_path / "bad", text)
