"""The command that trains a model again and compares it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from perceptron_rs import load

from .support import X, Y, svmlight


@pytest.fixture(name="trained")
def fixture_trained(call, tmp_path):
    def run(*options, X=X, y=Y):
        (tmp_path / "a.svm").write_text(svmlight(X, y))
        assert call("train", *options, tmp_path / "a.svm", "--model", tmp_path / "m", "--quiet").status == 0
        return tmp_path / "m", tmp_path / "a.svm"

    return run


def test_what_train_has_made_is_reproduced(call, trained):
    model, data = trained("voted")
    answer = call("reproduce", model, data)
    assert answer.status == 0
    lines = [line.split(maxsplit=1) for line in answer.out.splitlines()]
    assert [first for first, _ in lines] == ["model", "again", "reproduced"]
    assert lines[0][1] == lines[1][1]
    assert lines[2][1] == "equal to the last bit"


def test_other_data(call, trained, tmp_path):
    model, data = trained()
    other = X.copy()
    other[1, 1] = 2
    data.write_text(svmlight(other, Y))
    answer = call("reproduce", model, data)
    assert answer.status == 1
    assert (
        answer.out.splitlines()[-1] == "different  other data: rows 0 to 5 differ in their entries or labels"
    )
    found = call("reproduce", model, data, "--json").json
    assert found["equal"] is False
    assert found["reason"] == "data"
    assert found["digest_again"] is None
    labels = Y.copy()
    labels[0] = -1
    np.save(tmp_path / "y.npy", labels)
    data.write_text(svmlight(X, Y))
    answer = call("reproduce", model, data, "--labels", tmp_path / "y.npy")
    assert "differ in their entries or labels" in answer.out


@pytest.mark.parametrize("stream", [(), ("--stream",)])
@pytest.mark.parametrize("kind", ["standard", "maxabs"])
def test_another_scale(call, trained, kind, stream):
    """Also of a column that is 0 in all examples, which no run would show."""
    A = np.column_stack([np.zeros(len(X)), X])
    path, data = trained("--scale", kind, *stream, X=A)
    answer = call("reproduce", path, data)
    assert answer.status == 0, answer
    model = load(path)
    scale = model._input.scale
    other = replace(scale, scale=(scale.scale[0] * 2, *scale.scale[1:]))
    model._input = replace(model._input, scale=other)
    model.save(path)
    answer = call("reproduce", path, data)
    assert answer.status == 1
    text = f"the scale of column 0 is {other.scale[0]!r} in the model, and that of the data is "
    assert f"{text}{scale.scale[0]!r}" in answer.out
    assert "can be read only once" in call("reproduce", path, "-").err


def test_the_other_engine(call, trained):
    found = call("reproduce", *trained("averaged"), "--engine", "reference", "--json").json
    assert found["equal"] is True
    assert found["digest"] == found["digest_again"]
