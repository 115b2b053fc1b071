"""The commands that predict import neither scikit-learn nor SciPy, and print what the estimator says."""

import json
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import save_file

from perceptron_rs import (
    AveragedPerceptron,
    BudgetedKernelPerceptron,
    KernelPerceptron,
    MultilayerPerceptron,
    Perceptron,
    PocketPerceptron,
    VotedPerceptron,
)

from .support import environment, svmlight

rng = np.random.default_rng(6)
A = np.concatenate([rng.integers(-3, 4, (50, 4)) / 2, np.zeros((2, 4))])  # with ties
TWO, THREE = rng.integers(0, 2, 52), np.array(["a", "b", "c"])[rng.integers(0, 3, 52)]
FEW = {"max_iter": 3, "tol": None}
MODELS = [
    (Perceptron(**FEW), TWO),
    (Perceptron(**FEW, tie="positive", fit_intercept=False), TWO),
    (Perceptron(**FEW, multi_class="joint"), THREE),
    (AveragedPerceptron(**FEW), THREE),
    (PocketPerceptron(**FEW), THREE),
    (VotedPerceptron(**FEW), TWO),
    (KernelPerceptron(**FEW, multi_class="joint"), THREE),
    (BudgetedKernelPerceptron(**FEW, budget=9), TWO),
    (MultilayerPerceptron((3,), **FEW), THREE),
]
CODE = """
import sys
from perceptron_rs.cli import main
status = main(sys.argv[1:])
sys.exit([name for name in ("sklearn", "scipy", "joblib") if name in sys.modules] or status)
"""


def output_of(*argv):
    """Return what a command prints that imports none of these."""
    argv = [sys.executable, "-c", CODE, *map(str, argv)]
    done = subprocess.run(argv, capture_output=True, text=True, env=environment(), check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("number", range(len(MODELS)))
def test_the_answers_are_those_of_the_estimator(call, tmp_path, number):
    model, y = MODELS[number]
    model.fit(A, y)
    model.save(tmp_path / "m")
    (tmp_path / "a.svm").write_text(svmlight(A, [0] * len(A)))
    options = ("--scores", "--zero-based", "no")
    rows = call("predict", tmp_path / "m", tmp_path / "a.svm", *options).out.splitlines()
    labels, *scores = zip(*(row.split("\t") for row in rows), strict=True)
    assert list(labels) == [str(label) for label in model.predict(A).tolist()]
    found = np.array(scores, dtype=np.float64).T
    assert found.tobytes() == model.decision_function(A).reshape(len(A), -1).tobytes()


def test_probabilities(call, refused, tmp_path):
    np.save(tmp_path / "a.npy", A)
    model = VotedPerceptron(**FEW).fit(A, THREE)
    model.save(tmp_path / "m")
    shares = model.predict_proba(A).tolist()
    rows = call("predict", tmp_path / "m", tmp_path / "a.npy", "--probabilities").out.splitlines()
    assert [list(map(float, row.split("\t")[1:])) for row in rows] == shares
    out = call("predict", tmp_path / "m", tmp_path / "a.npy", "--probabilities", "--json").out.splitlines()
    assert [json.loads(row) for row in out] == [
        {"label": label, "probabilities": row}
        for label, row in zip(model.predict(A).tolist(), shares, strict=True)
    ]
    Perceptron().fit(A, THREE).save(tmp_path / "m")
    text = refused("predict", tmp_path / "m", tmp_path / "a.npy", "--probabilities")
    assert "holds a Perceptron that has none" in text
    assert "--scores" in text


@pytest.mark.parametrize("name", ["a.svm", "a.npy", "a.csv", "a.safetensors"])
def test_predict_imports_little(tmp_path, call, name):
    file, labels = tmp_path / name, tmp_path / "y.npy"
    np.save(labels, TWO)
    if name.endswith("svm"):
        file.write_text(svmlight(A, TWO))
        own = ()
    elif name.endswith("npy"):
        np.save(file, A)
        own = ("--labels", labels)
    elif name.endswith("safetensors"):
        save_file({"X": A, "y": np.array(TWO)}, file)
        own = ("--target", "y")
    else:
        rows = [",".join([*map(str, row), str(label)]) for row, label in zip(A.tolist(), TWO, strict=True)]
        file.write_text("\n".join(["a,b,c,d,y", *rows]))
        own = ()
    assert call("train", file, *own, "--model", tmp_path / "m", "--quiet").status == 0
    expected = call("predict", tmp_path / "m", file, "--scores").out
    assert output_of("predict", tmp_path / "m", file, "--scores") == expected
    assert output_of("evaluate", tmp_path / "m", file, *own, "--json").startswith('{"n_samples": 52')


@pytest.mark.parametrize("options", [(), ("--hash-columns", 64)])
def test_tag_imports_little(tmp_path, call, options):
    tokens = tmp_path / "tokens.tsv"
    tokens.write_text("the\tD\ndog\tN\n\nthe\tD\ncat\tN\nruns\tV\n")
    assert call("tag-train", tokens, "--model", tmp_path / "m", "--quiet", *options).status == 0
    assert output_of("tag", tmp_path / "m", tokens, "--tag-column", 2) == tokens.read_text() + "\n"
    assert '"token_accuracy": 1.0' in output_of("tag-evaluate", tmp_path / "m", tokens, "--json")
