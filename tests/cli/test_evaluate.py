"""``evaluate``: the figures of scikit-learn, and labels that do not go with the model."""

import numpy as np
import pytest
from sklearn.metrics import classification_report, confusion_matrix

from perceptron_rs import Perceptron
from perceptron_rs.cli import modelfile

from .support import X, Y


@pytest.fixture
def noisy(tmp_path):
    """Data on which a model errs: labels of ``kind``, and the model's predictions."""

    def make(classes):
        rng = np.random.default_rng(2)
        A, b = rng.standard_normal((80, 3)), np.array(classes)[rng.integers(0, len(classes), 80)]
        fitted = Perceptron(max_iter=4, tol=None).fit(A, b)
        modelfile.save_model(fitted, tmp_path / "m")
        np.savez(tmp_path / "a.npz", X=A, y=b)
        return tmp_path / "m", tmp_path / "a.npz", b, fitted.predict(A)

    return make


@pytest.mark.parametrize("classes", [[-1, 1], ["a", "b", "c", "d"]])
def test_figures(call, noisy, classes):
    model, data, y, found = noisy(classes)
    answer = call("evaluate", model, data, "--json").json
    expected = classification_report(y, found, output_dict=True, zero_division=0.0)
    assert answer["n_samples"] == 80
    assert answer["errors"] == np.count_nonzero(y != found) > 0
    assert answer["accuracy"] == expected["accuracy"]
    assert [entry["label"] for entry in answer["classes"]] == classes
    for entry in answer["classes"]:
        peer = expected[str(entry["label"])]
        assert [entry["precision"], entry["recall"], entry["f1"], entry["support"]] == list(peer.values())
    assert answer["confusion"] == confusion_matrix(y, found).tolist()


def test_the_table(call, model, text_file):
    out = call("evaluate", model, text_file).out
    assert out.startswith("accuracy  1.0000\nerrors    0 of 6\n\nclass      precision")
    rows = [line.split() for line in out.splitlines()]
    assert ["-1", "1.0000", "1.0000", "1.0000", "3"] in rows
    assert rows[-2:] == [["-1", "3", "0"], ["1", "0", "3"]]


def test_many_classes_have_no_matrix(call, noisy):
    model, data, *_ = noisy(list(range(21)))
    answer = call("evaluate", model, data)
    assert "confusion" not in answer.out
    assert "confusion" in call("evaluate", *noisy(list(range(20)))[:2]).out


def test_labels_that_the_model_does_not_know_are_errors(call, model, tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, X=X, y=np.where(np.arange(6) < 2, 7, Y))
    answer = call("evaluate", model, path, "--json")
    assert answer.json["errors"] == 2
    assert [entry["label"] for entry in answer.json["classes"]] == [-1, 1, 7]
    assert answer.err == (
        f"perceptrons: warning: {path}: 2 examples have labels that the model does not know, '7' first; "
        "they count as errors\n"
    )
    assert call("evaluate", model, path, "--quiet").err == ""


def test_numbers_for_strings_and_strings_for_numbers(refused, noisy, model, text_file, tmp_path):
    np.save(tmp_path / "y.npy", np.where(Y > 0, "yes", "no"))
    line = refused("evaluate", model, text_file, "--labels", tmp_path / "y.npy")
    assert "its labels are strings, but the model's classes are numbers (-1, 1)" in line
    strings, *_ = noisy(["ham", "spam"])
    line = refused("evaluate", strings, text_file)
    assert line.startswith(f"{text_file}: its labels are numbers, but the model's classes are strings")


def test_no_label_in_common(refused, model, tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, X=X, y=Y + 5)
    line = refused("evaluate", model, path)
    assert "no label is one of the model's classes (-1, 1); its first label is '6'" in line


def test_float_labels_in_the_model(call, tmp_path):
    modelfile.save_model(Perceptron().fit(X, Y.astype(float)), tmp_path / "m")
    np.savez(tmp_path / "a.npz", X=X, y=Y)
    assert call("evaluate", tmp_path / "m", tmp_path / "a.npz", "--json").json["accuracy"] == 1
