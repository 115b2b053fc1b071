"""``train``: the same model as the estimator's, and OUT is looked at before anything is read."""

import os
import re
import time
import types

import numpy as np
import pytest

from perceptron_rs import load
from perceptron_rs.cli.learning import LEARNER_NAMES
from perceptron_rs.cli.training import common as training
from perceptron_rs.registry import REGISTRY

from .support import X, Y, svmlight

LEARNERS = {name: learner.kind for name, learner in REGISTRY.items() if name in LEARNER_NAMES}


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_model_is_that_of_the_estimator(call, tmp_path, learner):
    rng = np.random.default_rng(3)
    A, b = rng.integers(-3, 4, (60, 5)) / 4, rng.integers(0, 2, 60) * 2 - 1  # not to be separated
    A[0] = 1
    path, out = tmp_path / "noise.svm", tmp_path / "out.model"
    path.write_text(svmlight(A, b), encoding="ascii")
    options = ("--epochs", 6, "--tol", "none", "--seed", 5, "--quiet")
    answer = call("train", learner, path, "--model", out, *options)
    assert (answer.status, answer.err) == (0, "")
    found = load(out)
    expected = LEARNERS[learner](max_iter=6, tol=None, random_state=5, audit=True).fit(A, b)
    assert found.decision_function(A).tobytes() == expected.decision_function(A).tobytes()
    assert type(found) is type(expected)
    assert found.get_params() == expected.get_params()  # no callback, and no thread, of this run
    assert found.mistakes_per_epoch_.tolist() == expected.mistakes_per_epoch_.tolist()
    assert (found.classes_.tolist(), found.classes_.dtype) == ([-1, 1], np.int64)  # the text holds floats


def test_the_output(call, text_file, tmp_path):
    answer = call("train", text_file, "--model", tmp_path / "m")
    assert answer.out.startswith("learner   averaged\ndata      6 examples of 3 features, 2 classes\n")
    lines = answer.err.splitlines()
    assert lines[0].startswith("epoch 1: ")
    assert lines[-1].startswith(f"epoch {len(lines)}: {6 * len(lines)} examples, 0 mistakes (0.0000), ")
    assert lines[-1].endswith(" s")


def test_a_file_named_like_a_learner(call, refused, text_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text_file.rename("voted.svm")
    assert call("train", "voted.svm", "--model", "m").out.startswith("learner   averaged\n")
    assert call("train", "voted", "voted.svm", "--model", "m").out.startswith("learner   voted\n")
    assert refused("train", "votes.svm", "--model", "m") == "votes.svm: no such file or directory"


@pytest.mark.parametrize(("labels", "whose"), [([0, 1] * 3, ""), ([0, 1, 2] * 2, " of 3 hyperplanes")])
def test_whose_mistakes_are_added_up(call, tmp_path, labels, whose):
    np.savez(tmp_path / "a.npz", X=X, y=labels)
    argv = ("train", tmp_path / "a.npz", "--model", tmp_path / "m", "--epochs", 2, "--tol", "none", "--quiet")
    made = call(*argv, "--json").json["mistakes_per_epoch"]
    assert f"mistakes  {np.sum(made)}{whose}, {sum(made[-1])} in the last epoch\n" in call(*argv).out


def test_json_and_quiet(call, text_file, tmp_path):
    argv = ("train", text_file, "--model", tmp_path / "m", "--json", "--quiet", "--epochs", 1)
    answer = call(*argv)
    found = answer.json
    assert found["learner"] == "averaged"
    assert re.fullmatch("perceptrons: warning: the fit reached --epochs 1 .*\n", answer.err)
    assert (found["n_iter"], len(found["mistakes_per_epoch"])) == (1, 1)
    assert (found["n_samples"], found["n_features"], found["classes"]) == (6, 3, [-1, 1])
    assert found["bytes"] == (tmp_path / "m").stat().st_size
    assert set(found["seconds"]) == {"read", "fit", "save"}
    assert "validation_scores" not in found
    found = call(*argv, "--early-stopping", "--validation-fraction", 0.4).json
    assert len(found["validation_scores"]) == found["n_iter"]


def test_an_early_end_is_a_warning(call, text_file, tmp_path):
    argv = ("train", text_file, "--model", tmp_path / "m", "--epochs", 1)
    last = call(*argv).err.splitlines()[-1]
    assert last.startswith("perceptrons: warning: the fit reached --epochs 1 before the stopping criterion; ")
    assert "warning" not in call(*argv, "--tol", "none").err


OUT = {
    "folder": "is a directory; name a file in it",
    "no/m": "cannot write to the folder ",
    "file/m": "not a directory",
    "pipe": "is a device or a pipe; name a regular file",
}


@pytest.mark.parametrize("name", OUT)
def test_where_no_model_can_be_written(refused, tmp_path, name):
    """It is said before DATA is opened, which does not exist, and leaves no trace."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    if name == "pipe" and not hasattr(os, "mkfifo"):
        pytest.skip("needs named pipes")
    if name == "pipe":
        os.mkfifo(tmp_path / "pipe")
    before = sorted(tmp_path.rglob("*"))
    line = refused("train", tmp_path / "no.svm", "--model", tmp_path / name)
    assert line.startswith(f"--model {tmp_path / name}: ")
    assert OUT[name] in line
    assert sorted(tmp_path.rglob("*")) == before


def test_where_the_system_lets_nobody_write(refused, text_file, tmp_path, monkeypatch):
    def no_file(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", no_file)  # root may write everywhere
    out = ("--model", tmp_path / "m")
    said = f"cannot write to the folder {tmp_path}: permission denied"
    assert refused("train", "no.svm", *out).endswith(said)
    (tmp_path / "m").touch()
    monkeypatch.setattr("os.access", lambda *_: False)
    assert "may not be written to; save under another name" in refused("train", "no.svm", *out)


@pytest.mark.parametrize(
    ("words", "whose"),
    [
        ("train a.svm --model a.svm", "the data"),
        ("train a.svm --labels y.npy --model ./y.npy", "--labels"),
        ("train a.svm --audit-key key --model link", "--audit-key"),
        ("train a.svm --stream --cache new --model new", "--cache"),
        ("train a.svm --stream --checkpoint new --model new", "--checkpoint"),
        ("tag-train a.tsv --model a.tsv", "the data"),
        ("online m a.svm --save a.svm", "the data"),
    ],
)
def test_nothing_is_written_over_what_is_read(refused, text_file, model, tmp_path, monkeypatch, words, whose):
    monkeypatch.chdir(tmp_path)
    text_file.rename("a.svm")
    model.rename("m")
    np.save("y.npy", Y)
    (tmp_path / "key").write_bytes(bytes(32))
    (tmp_path / "link").symlink_to("key")
    (tmp_path / "a.tsv").write_text("the\tD\ndog\tN\n")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    option, path = words.split()[-2:]
    said = refused(*words.split(), status=2)
    assert said == f"{option} {path.removeprefix('./')}: is the file of {whose}; name another one"
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_an_old_model_stays_after_an_error(refused, model, tmp_path):
    before = model.read_bytes()
    bad = tmp_path / "bad.svm"
    bad.write_text("1 1:1\n-1 1:oops\n", encoding="ascii")
    assert str(bad) in refused("train", bad, "--model", model)
    overflow = tmp_path / "overflow.svm"
    overflow.write_text("1 1:1e200\n-1 1:1e200\n", encoding="ascii")
    assert "overflow" in refused("train", overflow, "--model", model)
    assert model.read_bytes() == before


def test_class_weight_of_no_class(refused, text_file, tmp_path):
    said = refused("train", text_file, "--model", tmp_path / "m", "--class-weight", "2=1")
    assert "the data has no class '2', but -1, 1" in said


def test_reading_does_not_take_the_time_of_an_import(call, text_file, tmp_path, monkeypatch):
    """The first look at the clock comes when there is an estimator, and so scikit-learn."""
    order, made, look = [], training.learner, time.perf_counter
    monkeypatch.setattr(training, "learner", lambda *rest: order.append("made") or made(*rest))
    clock = types.SimpleNamespace(perf_counter=lambda: order.append("look") or look())
    monkeypatch.setattr(training, "time", clock)
    assert call("train", text_file, "--model", tmp_path / "m", "--quiet").status == 0
    assert order == ["made", "look", "look", "look", "look"]
