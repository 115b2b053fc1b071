"""``train FILE`` and nothing else: the learner, the model's file, what was read, and the trial on a tenth."""

import random
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from perceptron_rs import AveragedPerceptron, load

from .shapes import SHAPES


@pytest.fixture
def table(tmp_path, monkeypatch):
    """60 rows of a column that counts them, one that tells the class, and one of another size."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    X = np.column_stack([np.arange(60), rng.integers(0, 9, 60), rng.integers(0, 9000, 60)])
    y = np.where(X[:, 1] + X[:, 2] / 3000 > 5, "yes", "no")
    lines = ["id,a,b,y", *(",".join(map(str, (*row, label))) for row, label in zip(X, y, strict=True))]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    return X.astype(float), y


def of_parts(X, y, scaler=None):
    """Return the errors of models that have learnt from nine tenths each, on the others."""
    errors, part = 0, np.zeros(len(y), dtype=int)
    for n, i in enumerate(sorted(range(len(y)), key=lambda i: y[i])):
        part[i] = n % 10
    for k in range(10):
        known, asked = X[part != k], X[part == k]
        if scaler is not None:
            known, asked = scaler.fit(known).transform(known), scaler.transform(asked)
        errors += int((AveragedPerceptron().fit(known, y[part != k]).predict(asked) != y[part == k]).sum())
    return errors


def test_it_is_the_averaged_perceptron_and_is_tried_on_each_tenth(call, table):
    X, y = table
    answer, found = call("train", "data.csv", "--drop", "id"), load("data.model")
    assert type(found) is AveragedPerceptron
    X = X[:, 1:]
    assert found.coef_.tobytes() == AveragedPerceptron().fit(X, y).coef_.tobytes()  # of all examples
    errors = of_parts(X, y)
    usual = max((y == "yes").mean(), (y == "no").mean())
    text = f"held out  accuracy {1 - errors / 60:.4f}, {errors} errors of 60 examples: each tenth, by a model"
    assert f"{text} that learnt from the others; always the most frequent class: {usual:.4f}\n" in answer.out
    assert f"classes   yes {(y == 'yes').sum()}, no {(y == 'no').sum()}\n" in answer.out
    assert (
        f"columns   a  numbers from 0 to 8\n          b  numbers from {X[:, 1].min():.6g} to " in answer.out
    )
    assert "left out  columns that --drop names: id\n" in answer.out
    better = 1 - of_parts(X, y, StandardScaler()) / 60
    assert better > 1 - errors / 60
    step = "perceptrons train data.csv --drop id --scale standard"
    step += f"   # accuracy {better:.4f} on the same examples"
    assert f"next      {step}\n          perceptrons predict data.model NEW.csv\n" in answer.out
    assert "scale of the columns" not in answer.out
    out = call("train", "data.csv", "--drop", "id", "--scale", "standard").out
    assert "has learnt from all of them; the scale of the columns is that of all in the trial, too\n" in out
    result = call("train", "data.csv", "--drop", "id", "--json").json
    assert result["trial"]["errors"] == errors
    assert result["model"] == "data.model"


def test_a_column_that_counts_the_rows_is_named(call, table):
    out = call("train", "data.csv").out
    assert "columns   id  numbers from 0 to 59; it counts the rows\n" in out
    assert "next      perceptrons train data.csv --drop id\n" in out


@pytest.mark.parametrize("more", [["--holdout", 0], ["--holdout", 0.2], ["--stream"]])
def test_no_trial_where_somebody_says_how_to_judge_or_cannot_wait(call, table, more):
    assert "held out" not in call("train", "data.csv", *more).out
    assert "held out" not in call("train", "averaged", "data.csv", "--model", "m").out


def test_few_examples_are_not_tried(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "few.svm").write_text("1 1:1\n-1 1:-1\n")
    assert "held out" not in call("train", "few.svm").out
    (tmp_path / "rare.svm").write_text("1 1:1\n" * 29 + "-1 1:-1\n")  # nine tenths hold one class
    assert "held out" not in call("train", "rare.svm").out


def test_of_many_examples_every_tenth_is_held_out(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("many.csv").write_text("x,y\n" + "".join(f"{i % 7},{'ab'[i % 7 > 3]}\n" for i in range(1000)))
    out = call("train", "many.csv").out
    assert "errors of 100 examples: every tenth, by a model that learnt from the other 900; always" in out


def test_each_class_is_held_out_where_a_file_repeats_its_classes_in_turn(call, tmp_path, monkeypatch):
    """Every tenth row of a file is of one class then, which the trial would not have learnt."""
    monkeypatch.chdir(tmp_path)
    Path("turns.csv").write_text("x,y\n" + "".join(f"{i % 10 * 1000},c{i % 10 > 8}\n" for i in range(2000)))
    assert (
        "held out  accuracy 1.0000, 0 errors of 200 examples"
        in call("train", "turns.csv", "--scale", "standard").out
    )


def test_the_scale_of_few_flowers(call, tmp_path, monkeypatch):
    """Fifteen flowers held out would not tell that a scale helps: nothing would be wrong less often."""
    monkeypatch.chdir(tmp_path)
    SHAPES["iris_uci"][1](Path("iris.csv"))
    out = call("train", "iris.csv", "--no-header").out
    found = re.search(r"^next .*--scale standard   # accuracy ([0-9.]+) on the same", out, re.MULTILINE)
    assert float(found[1]) > float(re.search(r"^held out +accuracy ([0-9.]+)", out, re.MULTILINE)[1])


def test_the_model_has_the_name_of_the_data(call, refused, table, tmp_path):
    (tmp_path / "data.model").write_text("something else")
    said = refused("train", "data.csv", status=2)
    assert said == "data.model: is there, and no model file; name another one with --model OUT"
    assert (tmp_path / "data.model").read_text() == "something else"
    (tmp_path / "data.model").unlink()
    assert [call("train", "data.csv").status for _ in range(2)] == [0, 0]  # its own model may be written anew
    said = "DATA is no single file, so the model has no name; name its file with --model OUT"
    for words in (["-", "--format", "svmlight"], ["data.csv", "data.csv"], ["*.csv"]):
        assert refused("train", *words, status=2) == said


def test_what_is_not_learnt_because_of_its_name(refused, tmp_path, monkeypatch):
    """The last column holds the labels, unless another one is called so: then somebody must say it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("Label,x\n" + "1,2\n0,5\n" * 20)
    said = refused("train", "a.csv")
    assert re.search(r"last column, 'x', unless --target names another one, and 'Label' is called like", said)
    assert said.endswith("set --target Label, to either")


def test_who_says_how_to_read_is_told_nothing_else(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("a;b\n" + "1;0\n3;1\n" * 20)
    for words in (["a.csv"], ["--epochs", "3", "a.csv"]):
        told = f"perceptrons: try: perceptrons train {' '.join(words)} --delimiter ';'\n"
        assert told in call("train", *words).err
    assert "try" not in call("train", "a.csv", "--target", "b", "--no-header").err
    assert "try" not in call("train", "averaged", "a.csv").err


def test_a_model_that_knows_nothing_is_called_useless(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw = random.Random(0)
    rows = [(draw.random(), draw.choice("ab")) for _ in range(300)]
    for name, told in ("noise", lambda x, y: y), ("known", lambda x, y: "ab"[x > 0.5]):
        Path(f"{name}.csv").write_text("x,y\n" + "".join(f"{x},{told(x, y)}\n" for x, y in rows))
    assert "--target NAME" in re.search("^useless .*", call("train", "noise.csv").out, re.MULTILINE)[0]
    assert "useless" not in call("train", "known.csv").out
