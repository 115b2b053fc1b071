"""``evaluate``: the figures of scikit-learn, and labels that do not go with the model."""

import numpy as np
import pytest
from sklearn.metrics import classification_report, confusion_matrix

from perceptron_rs import Perceptron

from .support import X, Y


@pytest.fixture
def noisy(tmp_path):
    """Data on which a model errs: labels of ``classes``, and the model's predictions."""

    def make(classes):
        rng = np.random.default_rng(2)
        A, b = rng.standard_normal((80, 3)), np.array(classes)[rng.integers(0, len(classes), 80)]
        fitted = Perceptron(max_iter=4, tol=None).fit(A, b)
        fitted.save(tmp_path / "m")
        np.savez(tmp_path / "a.npz", X=A, y=b)
        return tmp_path / "m", tmp_path / "a.npz", b, fitted.predict(A)

    return make


@pytest.mark.parametrize("classes", [[-1, 1], ["a", "b", "c", "d"]])
def test_figures(call, noisy, classes):
    model, data, y, found = noisy(classes)
    answer = call("evaluate", model, data, "--json").json
    expected = classification_report(y, found, output_dict=True, zero_division=0.0)
    errors = np.count_nonzero(y != found)
    assert (answer["n_samples"], answer["errors"], answer["accuracy"]) == (80, errors, expected["accuracy"])
    assert [entry["label"] for entry in answer["classes"]] == classes
    for entry in answer["classes"]:
        peer = expected[str(entry["label"])]
        assert [entry["precision"], entry["recall"], entry["f1"], entry["support"]] == list(peer.values())
    assert answer["confusion"] == confusion_matrix(y, found).tolist()


def test_the_table(call, model, text_file, noisy):
    out = call("evaluate", model, text_file).out
    assert out.startswith("accuracy  1.0000\nerrors    0 of 6\nmacro F1  1.0000\n\nclass      precision")
    rows = [line.split() for line in out.splitlines()]
    assert ["-1", "1.0000", "1.0000", "1.0000", "3"] in rows
    assert rows[-2:] == [["-1", "3", "0"], ["1", "0", "3"]]
    assert "confusion" in call("evaluate", *noisy(list(range(20)))[:2]).out
    assert "confusion" not in call("evaluate", *noisy(list(range(21)))[:2]).out


def test_labels_that_the_model_does_not_know(call, refused, model, noisy, tmp_path):
    path = tmp_path / "b.npz"

    def labelled(y, own=model):
        np.savez(path, X=X, y=y)
        return ("evaluate", own, path)

    answer = call(*labelled(np.where(np.arange(6) < 2, 7, Y)), "--json")
    assert answer.json["errors"] == 2
    assert [entry["label"] for entry in answer.json["classes"]] == [-1, 1, 7]
    said = "2 examples have labels that the model does not know, '7' first; they count as errors"
    assert answer.err == f"perceptrons: warning: {path}: {said}\n"
    assert call("evaluate", model, path, "--quiet").err == answer.err
    words = labelled(np.where(Y > 0, "yes", "no"))
    assert "its labels are strings, but the model's classes are numbers (-1, 1)" in refused(*words)
    strings, *_ = noisy(["ham", "spam"])
    line = refused(*labelled(Y, strings))
    assert line.startswith(f"{path}: its labels are numbers, but the model's classes are strings")
    line = refused(*labelled(Y + 5))
    assert "no label is one of the model's classes (-1, 1); its first label is '6'" in line
    Perceptron().fit(X, Y.astype(float)).save(tmp_path / "floats")
    assert call(*labelled(Y, tmp_path / "floats"), "--json").json["accuracy"] == 1
