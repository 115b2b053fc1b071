"""safetensors files as DATA: options name their tensors, and later commands take those of the training.

That tensors have the bits of arrays, in memory and in streams, is in ``tests/io/test_tensors.py``.
"""

from __future__ import annotations

import json

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import save_file

from perceptron_rs import AveragedPerceptron, is_separable, load
from perceptron_rs.io import load_safetensors

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 5))
Y = np.where(X[:, 0] > X[:, 1], 7, -2)
LAYERS = {"low": X.astype(ml_dtypes.bfloat16), "high": (2 * X[:, ::-1]).astype(ml_dtypes.bfloat16)}
NAMED = ("--columns", "high", "--target", "truth")
SHORT = ("--epochs", 3, "--tol", "none", "--no-shuffle", "--quiet")


@pytest.fixture(name="path")
def fixture_path(tmp_path):
    """Two layers in bfloat16, labels and weights."""
    weights = RANDOM.integers(1, 4, 60).astype(np.float64)
    save_file({**LAYERS, "truth": Y, "heavy": weights}, tmp_path / "x.safetensors")
    return tmp_path / "x.safetensors"


@pytest.mark.parametrize("stream", [(), ("--stream",)])
def test_later_commands_take_the_tensors_of_the_training(call, path, tmp_path, stream):
    def predicted(data, *options):
        return call("predict", tmp_path / "m", data, "--scores", "--json", *options).out.splitlines()

    train, weighted = ("train", "averaged", path), ("--sample-weight", "heavy")
    assert call(*train, *NAMED, *SHORT, *stream, *weighted, "--model", tmp_path / "m").status == 0
    model, high = AveragedPerceptron(max_iter=3, tol=None, shuffle=False), load_safetensors(path, "high")
    model.fit(high, Y, sample_weight=load_safetensors(path, "heavy"))
    assert load(tmp_path / "m").coef_.tobytes() == model.coef_.tobytes()
    answer = call("evaluate", tmp_path / "m", path, "--json")
    assert (answer.json["accuracy"], answer.err) == (model.score(high, Y), "")
    scores = [json.loads(line)["scores"] for line in predicted(path)]
    assert np.ravel(scores).tolist() == model.decision_function(high).tolist()
    assert "reproduced" in call("reproduce", tmp_path / "m", path, *weighted).out
    low = predicted(path, "--columns", "low")
    np.save(tmp_path / "low.npy", load_safetensors(path, "low").astype(np.float32))
    assert predicted(tmp_path / "low.npy") == low != predicted(path)
    assert call(*train, "--continue", tmp_path / "m", "--model", tmp_path / "n").status == 0
    assert call("evaluate", tmp_path / "n", path).status == 0


def test_several_files_margins_and_labels_beside(call, path, tmp_path):
    np.save(tmp_path / "y.npy", Y)
    beside = ("--columns", "high", "--labels", tmp_path / "y.npy")
    found = call("separable", path, *beside, "--json").json["separable"]
    assert found == bool(is_separable(load_safetensors(path, "high"), Y))
    assert call("margin", path, *NAMED).out == call("margin", path, *beside).out
    parts = (tmp_path / "0.safetensors", tmp_path / "1.safetensors")
    for file, rows in zip(parts, (slice(20), slice(20, 60)), strict=True):
        save_file({"high": LAYERS["high"][rows].copy(), "truth": Y[rows].copy()}, file)
    for given, name in (((path,), "m"), (parts, "n")):
        assert call("train", *given, *NAMED, "--quiet", "--model", tmp_path / name).status == 0
    assert load(tmp_path / "m").coef_.tobytes() == load(tmp_path / "n").coef_.tobytes()


WRONG = [
    (("--target", "truth"), 1, "has 2 tensors of two dimensions; name one as --columns; it has '"),
    (("--columns", "low", "--target", "y"), 1, "name one as --target"),
    ((*NAMED, "--sample-weight", "w"), 1, "has no tensor 'w'; it has '"),
    (("--columns", "low"), 1, "must be said; name it as --target NAME, or pass them with --labels FILE.npy"),
    (("--columns", "low,high", "--target", "truth"), 2, "--columns must name one tensor"),
    ((*NAMED, "--labels", "y.npy"), 2, "--labels and --target both say the labels"),
    (("--target", "truth", "--drop", "low"), 2, "--drop is for csv, tsv, parquet and jsonl, and"),
]


@pytest.mark.parametrize(("options", "status", "text"), WRONG)
def test_wrong_names(refused, path, tmp_path, options, status, text):
    assert text in refused("train", path, *options, "--model", tmp_path / "m", status=status)
    assert not (tmp_path / "m").exists()
