"""``online``, ``trace`` and ``completion``."""

import json
import subprocess
import sys

import numpy as np
import pytest

from perceptron_rs import PocketPerceptron, load, trace
from perceptron_rs.cli.progress import Counts
from perceptron_rs.cli.readers import source

from .support import X, Y, command, environment, svmlight

TEXT = svmlight(X, Y).encode()


@pytest.mark.parametrize("size", [1, 1 << 20])
def test_each_example_is_predicted_before_it_is_learnt(call, stdin, model, tmp_path, monkeypatch, size):
    monkeypatch.setattr(source.text_blocks, "__defaults__", (size,))
    flipped = svmlight(X, -Y).encode()  # so that there is something to learn
    expected = load(model)
    found, errors = expected.predict_then_learn(X, -Y)
    stdin(flipped)
    answer = call("online", model, "--save", tmp_path / "new")
    assert answer.out.split() == [str(label) for label in found]
    assert load(tmp_path / "new").coef_.tobytes() == expected.coef_.tobytes()
    assert answer.err.splitlines()[-1].endswith(f"{errors} in all ({errors / 6:.4f})")
    assert not np.array_equal(load(model).coef_, expected.coef_)  # stays as it was
    again = call("online", model, "--save", model, "--quiet", "--json")  # of an empty standard input
    assert again.status == 1
    stdin(flipped)
    answer = call("online", model, "-", "--save", model, "--quiet", "--json")
    assert [json.loads(line)["label"] for line in answer.out.splitlines()] == found.tolist()
    assert load(model).coef_.tobytes() == expected.coef_.tobytes()
    stdin(TEXT)
    assert call("predict", model, "-").status == 0  # the model still knows what its data looks like


def test_learners_that_need_all_examples(refused, tmp_path):
    PocketPerceptron().fit(X, Y).save(tmp_path / "m")
    line = refused("online", tmp_path / "m")
    assert "holds a PocketPerceptron, which learns from all examples at once" in line


def test_lines_at_doubling_counts(capsys):
    counts = Counts(quiet=False)
    for mistakes in (1, 0, 1, 1, 0, 0, 0, 0, 1):
        counts.add(1, mistakes)
    counts.say()
    counts.say()
    assert capsys.readouterr().err.splitlines() == [
        "1 examples, 1 mistakes since the last line (1.0000), 1 in all (1.0000)",
        "2 examples, 0 mistakes since the last line (0.0000), 1 in all (0.5000)",
        "4 examples, 2 mistakes since the last line (1.0000), 3 in all (0.7500)",
        "8 examples, 0 mistakes since the last line (0.0000), 3 in all (0.3750)",
        "9 examples, 1 mistakes since the last line (1.0000), 4 in all (0.4444)",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX pipes")
def test_a_coprocess_that_learns(model, tmp_path):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    expected, _ = load(model).predict_then_learn(X, -Y)
    with subprocess.Popen(command("online", model), env=environment(), text=True, **pipes) as child:
        for line, label in zip(svmlight(X, -Y).splitlines(keepends=True), expected, strict=True):
            child.stdin.write(line)
            child.stdin.flush()
            assert child.stdout.readline() == f"{label}\n"
        child.stdin.close()
        assert child.wait(timeout=60) == 0


def test_trace(call, text_file):
    from perceptron_rs import AveragedPerceptron

    steps = trace(AveragedPerceptron(max_iter=3), X, Y)
    options = ("averaged", text_file, "--epochs", 3)
    assert call("trace", *options, "--limit", 4).out == steps.table(limit=4) + "\n"
    lines = call("trace", *options, "--json", "--limit", 2, "--every", "example").out.splitlines()
    records = [json.loads(line) for line in lines]
    expected = list(trace(AveragedPerceptron(max_iter=3), X, Y, every="example"))[:2]
    assert [(r["t"], r["row"], r["w"], r["mistake"]) for r in records] == [
        (s.t, s.row, s.w.tolist(), s.mistake) for s in expected
    ]


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion(call, shell):
    pytest.importorskip("shtab")
    script = call("completion", shell).out
    for word in ("tag-evaluate", "--margin-threshold", "budgeted-kernel"):
        assert word in script


def test_completion_without_shtab(refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert "pip install shtab" in refused("completion", "bash")
