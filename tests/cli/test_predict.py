"""``predict``: one line an example, of data that is as the model needs it."""

import json

import numpy as np
import pytest

from perceptron_rs import AveragedPerceptron
from perceptron_rs.cli.commands import predict

from .support import X, Y


@pytest.fixture
def three(tmp_path):
    """Data of three classes, and a model of it."""
    rng = np.random.default_rng(1)
    A, b = rng.standard_normal((40, 4)), np.array(["a", "b c", "d"])[rng.integers(0, 3, 40)]
    fitted = AveragedPerceptron(max_iter=3, tol=None).fit(A, b)
    fitted.save(tmp_path / "three.model")
    np.save(tmp_path / "three.npy", A)
    return tmp_path / "three.model", tmp_path / "three.npy", fitted, A


@pytest.mark.parametrize("block", [7, 8192])
def test_labels_and_exact_scores_whatever_the_block(call, three, model, text_file, monkeypatch, block):
    monkeypatch.setattr(predict, "BLOCK", block)
    path, data, fitted, A = three
    labels, scores = fitted.predict(A).tolist(), fitted.decision_function(A)

    def lines(*options):
        return call("predict", path, data, *options).out.splitlines()

    assert lines() == labels
    rows = [line.split("\t") for line in lines("--scores")]
    assert [row[0] for row in rows] == labels
    assert np.array([row[1:] for row in rows], dtype=float).tobytes() == scores.tobytes()
    records = [{"label": label, "scores": row} for label, row in zip(labels, scores.tolist(), strict=True)]
    assert list(map(json.loads, lines("--json", "--scores"))) == records
    assert call("predict", model, text_file, "--json").out.splitlines()[0] == '{"label": 1}'


def test_text_with_fewer_features_than_the_model(call, model, tmp_path):
    (tmp_path / "few.svm").write_text("0 1:2\n0 1:-3\n", encoding="ascii")
    assert call("predict", model, tmp_path / "few.svm", "--zero-based", "no").out == "1\n-1\n"


def test_more_features_than_the_model(refused, model, tmp_path):
    for command, columns in (("predict", 2), ("evaluate", 4)):
        np.savez(tmp_path / "a.npz", X=np.ones((2, columns)), y=Y[:2])
        line = refused(command, model, tmp_path / "a.npz")
        assert line == f"{tmp_path}/a.npz: has {columns} features, but 3 are expected"


@pytest.mark.parametrize("command", ["predict", "inspect"])  # a predictor, and an estimator
def test_bad_models(refused, tmp_path, text_file, command):
    data, bad = [] if command == "inspect" else [text_file], tmp_path / "bad.model"
    bad.write_bytes(b"no model at all")
    assert refused(command, bad, *data).startswith(f"cannot load '{bad}'")
    assert refused(command, tmp_path / "no", *data) == f"{tmp_path / 'no'}: no such file or directory"


def test_whole_float_classes_are_printed_as_integers(call, tmp_path):
    np.save(tmp_path / "a.npy", X)
    AveragedPerceptron().fit(X, Y.astype(float)).save(tmp_path / "m")
    assert call("predict", tmp_path / "m", tmp_path / "a.npy").out.split() == [str(label) for label in Y]


@pytest.mark.parametrize(("labels", "options"), [(["a\nb", "c"], ()), (["a\tb", "c"], ("--scores",))])
def test_classes_that_would_not_fit_into_a_line_are_refused(call, refused, tmp_path, labels, options):
    AveragedPerceptron().fit(X, np.repeat(labels, 3)).save(tmp_path / "m")
    np.save(tmp_path / "a.npy", X)
    argv = (tmp_path / "m", tmp_path / "a.npy", *options)
    assert "has a line end or a tab" in refused("predict", *argv)
    records = [json.loads(line) for line in call("predict", *argv, "--json").out.splitlines()]
    assert {record["label"] for record in records} <= set(labels)
