"""Lists of labels on the command line: trained, predicted, counted, and trained again."""

import json

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, hamming_loss
from sklearn.preprocessing import MultiLabelBinarizer

from perceptron_rs import AveragedPerceptron, load
from perceptron_rs.io import load_svmlight

N, D = 60, 5


@pytest.fixture(name="lists")
def fixture_lists(tmp_path):
    random = np.random.default_rng(5)
    X = random.integers(-3, 4, size=(N, D))
    Y = X @ random.integers(-2, 3, size=(D, 4)) > 3
    Y[:2] = False
    path = tmp_path / "lists.svm"
    with path.open("w") as file:
        for x, y in zip(X, Y, strict=True):
            labels = ",".join(str(3 * k + 1) for k in np.flatnonzero(y))
            file.write(labels + "".join(f" {j}:{v}" for j, v in enumerate(x, 1) if v) + "\n")
    return path


def of(path):
    X, y = load_svmlight(path, multilabel=True, n_features=D)
    return X, MultiLabelBinarizer(classes=[1, 4, 7, 10]).fit_transform(y)


@pytest.mark.parametrize("more", [[], ["--stream"], ["--stream", "--classes", "10,1,4,7"]])
def test_the_command_learns_as_python_does(call, lists, tmp_path, more):
    model = tmp_path / "m.model"
    common = ["--multilabel", "--epochs", "3", "--tol", "none", "--no-shuffle", "--model", model, "--quiet"]
    answer = call("train", "averaged", lists, *common, *more)
    assert answer.status == 0, answer
    assert "4 labels" in answer.out
    X, Y = of(lists)
    expected = AveragedPerceptron(max_iter=3, tol=None, shuffle=False).fit(X, Y)
    found = load(model)
    assert found.classes_.tolist() == [1, 4, 7, 10]
    assert found.coef_.tobytes() == expected.coef_.tobytes()
    predicted = expected.predict(X)
    labels = [[3 * k + 1 for k in np.flatnonzero(row)] for row in predicted]
    lines = [",".join(map(str, row)) for row in labels]
    assert call("predict", model, lists).out.split("\n") == [*lines, ""]
    records = list(map(json.loads, call("predict", model, lists, "--json", "--scores").out.splitlines()))
    assert [record["labels"] for record in records] == labels
    assert [record["scores"] for record in records] == expected.decision_function(X).tolist()
    result = call("evaluate", model, lists, "--json").json
    assert result["accuracy"] == pytest.approx(accuracy_score(Y, predicted))
    assert result["hamming_loss"] == pytest.approx(hamming_loss(Y, predicted))
    assert result["macro_f1"] == pytest.approx(f1_score(Y, predicted, average="macro", zero_division=0))
    figures = [entry["f1"] for entry in result["classes"]]
    assert figures == pytest.approx(f1_score(Y, predicted, average=None, zero_division=0).tolist())
    assert "hamming" in call("evaluate", model, lists).out
    assert call("reproduce", model, lists).out.splitlines()[-1].startswith("reproduced")


def test_lines_of_standard_input(call, stdin, lists, tmp_path):
    model = tmp_path / "m.model"
    stdin(lists.read_bytes())
    more = ("--format", "svmlight", "--multilabel", "--tol", "none", "--epochs", 2)
    answer = call("train", "perceptron", "-", *more, "--model", model)
    assert answer.status == 0, answer
    expected = call("predict", model, lists).out
    unlabelled = b"".join(b" ".join(line.split(b" ")[1:]) + b"\n" for line in lists.read_bytes().splitlines())
    stdin(unlabelled)
    assert call("predict", model, "-", "--format", "svmlight", "--unlabelled").out == expected


def test_held_out_examples_are_right_if_all_labels_are(call, lists, tmp_path):
    options = ("--multilabel", "--holdout", 0.2, "--tol", "none", "--epochs", 2, "--json")
    answer = call("train", "perceptron", lists, *options, "--model", tmp_path / "m")
    result = json.loads(answer.out)["holdout"]
    X, Y = of(lists)
    held = np.diff(np.floor(np.arange(N + 1) * 0.2)) > 0
    wrong = (load(tmp_path / "m").predict(X)[held] != Y[held]).any(axis=1)
    assert (result["n_samples"], result["errors"]) == (held.sum(), wrong.sum())


def test_what_has_no_lists_says_so(call, refused, lists, model, tmp_path):
    own, short = tmp_path / "m.model", tmp_path / "short.svm"
    short.write_text("1,2 1:1\n3 2:1\n")
    few = ("--multilabel", "--model", own, "--tol", "none", "--epochs", "1", "--quiet")
    assert call("train", lists, *few).status == 0
    for words, status, text in (
        (f"train {short} --model n", 1, '"1,2" is a list of labels; say --multilabel, or keep'),
        (
            f"train multilayer {lists} --multilabel --model n",
            2,
            "does not take many labels; choose a learner",
        ),
        (f"online {own} {lists}", 2, "answers with one; go on with train --stream --continue"),
        (f"evaluate {own} {lists} --no-multilabel", 2, "--no-multilabel: the model has learnt a list of"),
        (f"evaluate {model} {lists} --multilabel", 2, "the model has learnt one label for each example"),
    ):
        assert text in refused(*words.split(), status=status)
