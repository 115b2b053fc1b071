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


@pytest.mark.parametrize("base", [0, 1])
def test_later_files_are_read_as_the_first_one(call, refused, tmp_path, base):
    train, model, later, other = (tmp_path / name for name in ("a.svm", "m", "later.svm", "other.svm"))
    train.write_text(svmlight(X, Y, base))
    assert call("train", train, "--model", model, "--quiet").status == 0
    learnt = load(model)
    later.write_text(svmlight(LATER, Y, base))
    assert call("predict", model, later).out.split() == list(map(str, learnt.predict(LATER)))
    other.write_text(svmlight(X, Y, 1 - base))  # contradicts the model
    line = refused("evaluate", model, other)
    if base == 1:
        assert "has a column 0, but the model counts columns from 1" in line
        assert "--zero-based yes" in line
    else:
        assert "has 7 features, counted from 0 as by the model, but 6 are expected" in line
    # Whoever says what the file is, is believed.
    said = call("evaluate", model, other, "--zero-based", ["no", "yes"][base], "--json")
    assert said.json["errors"] == np.count_nonzero(learnt.predict(X) != Y)
    found = call("inspect", model, "--json", "--top", 6).json  # which numbers columns as the file does
    assert found["column_base"] == base
    named = {entry["feature"]: entry["weight"] for entry in found["weights"][0]["largest"]}
    assert named == {f"x{j + base}": weight for j, weight in enumerate(learnt.coef_[0].tolist()) if weight}
    assert f"features    6 counted from {base}, " in call("inspect", model).out
    learnt.partial_fit(X, Y).save(tmp_path / "again")
    assert describe(tmp_path / "again")["column_base"] == base
    learnt.fit(X, Y).save(tmp_path / "again")
    assert "column_base" not in describe(tmp_path / "again")


def test_a_model_of_python_counts_no_columns(call, tmp_path, stdin):
    """No line of a pipe is to wait for the last one, or somebody is told that it does."""
    model, svm = tmp_path / "m", ("--format", "svmlight")
    Perceptron().fit(X, Y).save(model)
    found = call("inspect", model, "--json").json
    assert (found["column_base"], found["weights"][0]["largest"][0]["feature"][0]) == (None, "x")
    errors = np.count_nonzero(load(model).predict(X) != Y)
    for base in (0, 1):
        (tmp_path / "a.svm").write_text(svmlight(X, Y, base))
        answer = call("evaluate", model, tmp_path / "a.svm", "--json")
        assert (answer.json["errors"], answer.err) == (errors, "")

    def piped(*argv):
        stdin(svmlight(X, Y).encode())
        return call(*argv)

    answer = piped("online", model, *svm)
    assert (answer.status, answer.out) == (2, "")
    assert "standard input: the model does not say whether columns count from 0" in answer.err
    assert "--zero-based yes or --zero-based no" in answer.err
    assert len(piped("online", model, *svm, "--zero-based", "no").out.splitlines()) == len(Y)
    answer = piped("predict", model, "-", *svm)
    assert answer.out == "".join(f"{label}\n" for label in load(model).predict(X))
    assert "all of it is read before the first answer; say --zero-based yes or --zero-based no" in answer.err
