"""Whether a file of svmlight text counts columns from 0 or 1 stays with the model."""

import numpy as np
import pytest

from perceptron_rs import Perceptron, load
from perceptron_rs.models import describe

from .support import svmlight

rng = np.random.default_rng(5)
X = np.round(rng.normal(size=(80, 6)), 2)
Y = np.where(X[:, 1] > X[:, 2], 1, -1)
LATER = X * [0, 1, 1, 1, 1, 1]  # without the column 0


@pytest.fixture(params=[0, 1], ids=["from 0", "from 1"])
def base(request):
    return request.param


@pytest.fixture
def model(call, tmp_path, base):
    (tmp_path / "train.svm").write_text(svmlight(X, Y, base))
    assert call("train", tmp_path / "train.svm", "--model", tmp_path / "m", "--quiet").status == 0
    return tmp_path / "m"


def test_a_later_file_without_the_first_column_is_read_as_the_first_one(call, tmp_path, base, model):
    later, expected = tmp_path / "later.svm", load(model).predict(LATER)
    later.write_text(svmlight(LATER, Y, base))
    errors = call("evaluate", model, later, "--json").json["errors"]
    assert errors == np.count_nonzero(expected != Y)
    assert call("predict", model, later).out.split() == list(map(str, expected))


def test_a_file_that_contradicts_the_model_is_refused(refused, call, tmp_path, base, model):
    (tmp_path / "other.svm").write_text(svmlight(X, Y, 1 - base))
    line = refused("evaluate", model, tmp_path / "other.svm")
    if base == 1:
        assert "has a column 0, but the model counts columns from 1" in line
        assert "--zero-based yes" in line
    else:
        assert "has 7 features, counted from 0 as by the model, but 6 are expected" in line
    # Whoever says what the file is, is believed.
    said = call("evaluate", model, tmp_path / "other.svm", "--zero-based", ["no", "yes"][base], "--json")
    assert said.json["errors"] == np.count_nonzero(load(model).predict(X) != Y)


def test_inspect_numbers_columns_as_the_file_does(call, model, base):
    learnt = load(model)
    found = call("inspect", model, "--json", "--top", 6).json
    assert found["column_base"] == base
    named = {entry["feature"]: entry["weight"] for entry in found["weights"][0]["largest"]}
    assert named == {f"x{j + base}": weight for j, weight in enumerate(learnt.coef_[0].tolist()) if weight}
    assert f"features    6 counted from {base}, " in call("inspect", model).out


def test_the_base_goes_from_file_to_file_and_ends_with_a_new_fit(tmp_path, model, base):
    learnt = load(model)
    learnt.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == model.read_bytes()
    assert describe(model)["column_base"] == base
    learnt.partial_fit(X, Y).save(tmp_path / "again")
    assert describe(tmp_path / "again")["column_base"] == base
    learnt.fit(X, Y).save(tmp_path / "again")
    assert "column_base" not in describe(tmp_path / "again")


def test_a_model_of_other_data_has_no_base(call, tmp_path):
    Perceptron().fit(X, Y).save(tmp_path / "m")
    found = call("inspect", tmp_path / "m", "--json").json
    assert found["column_base"] is None
    assert found["weights"][0]["largest"][0]["feature"].startswith("x")
    for base in (0, 1):
        (tmp_path / "data.svm").write_text(svmlight(X, Y, base))
        answer = call("evaluate", tmp_path / "m", tmp_path / "data.svm", "--json")
        assert answer.json["errors"] == np.count_nonzero(load(tmp_path / "m").predict(X) != Y)


def test_a_pipe_to_a_model_of_python_that_counts_no_columns(call, tmp_path, stdin):
    """No line of a pipe is to wait for the last one, or somebody is told that it does."""
    Perceptron().fit(X, Y).save(tmp_path / "m")
    text, svm = svmlight(X, Y).encode(), ("--format", "svmlight")
    stdin(text)
    answer = call("online", tmp_path / "m", *svm)
    assert (answer.status, answer.out) == (2, "")
    assert "standard input: the model does not say whether columns count from 0" in answer.err
    assert "--zero-based yes or --zero-based no" in answer.err
    stdin(text)
    assert len(call("online", tmp_path / "m", *svm, "--zero-based", "no").out.splitlines()) == len(Y)
    stdin(text)
    answer = call("predict", tmp_path / "m", "-", *svm)
    assert answer.out == "".join(f"{label}\n" for label in load(tmp_path / "m").predict(X))
    assert "all of it is read before the first answer; say --zero-based yes or --zero-based no" in answer.err
    (tmp_path / "a.svm").write_bytes(text)
    assert call("predict", tmp_path / "m", tmp_path / "a.svm").err == ""
