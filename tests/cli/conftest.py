"""A small file of examples, a model of it, and the command called in this process."""

from __future__ import annotations

import io
import sys
import types
from typing import Any

import pytest

from perceptron_rs.cli import main

from .support import Answer, X, Y, svmlight


@pytest.fixture
def call(capsys):
    """Call the command in this process."""

    def run(*argv: Any) -> Answer:
        capsys.readouterr()
        status = main([str(argument) for argument in argv])
        return Answer(status, *capsys.readouterr())

    return run


@pytest.fixture
def stdin(monkeypatch):
    """Put bytes on standard input."""

    def put(data):
        monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(data)))

    return put


@pytest.fixture
def refused(call):
    """Call the command, expect an exit status and one line, perhaps with what to type, and return that."""

    def run(*argv: Any, status: int = 1) -> str:
        answer = call(*argv)
        assert answer.status == status, answer
        assert status == 1 or answer.out == ""  # wrong usage is said before the first answer
        assert answer.err.startswith("perceptrons: error: ")
        line, *others = answer.err.splitlines()
        assert [other[:18] for other in others] in ([], ["perceptrons: try: "])
        assert "Traceback" not in answer.err
        return line.removeprefix("perceptrons: error: ").rstrip()

    return run


@pytest.fixture
def text_file(tmp_path):
    """The examples as svmlight text, 1-based."""
    path = tmp_path / "data.svm"
    path.write_text(svmlight(X, Y), encoding="ascii")
    return path


@pytest.fixture
def model(tmp_path, text_file, call):
    """A model of them."""
    path = tmp_path / "a.model"
    assert call("train", text_file, "--model", path, "--quiet").status == 0
    return path


@pytest.fixture
def trained(call, tmp_path):
    """Train a tagger on a text; return the path of the model."""

    def run(text, *options, name="m"):
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
        argv = ("tag-train", tmp_path / f"{name}.txt", "--model", tmp_path / name, "--quiet", *options)
        assert call(*argv).status == 0
        return tmp_path / name

    return run
