"""``inspect``: what a model is, and its weights, exactly."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from perceptron_rs import AveragedPerceptron, MaxMarginClassifier, Perceptron, digest
from perceptron_rs.cli import modelfile
from perceptron_rs.models import describe

from .support import X, Y


def test_json(call, model):
    found = call("inspect", model, "--json", "--top", 2).json
    expected = modelfile.load_model(model)
    assert found["estimator"] == "Perceptron"
    assert found["parameters"] == expected.get_params()
    assert (found["n_features"], found["classes"]) == (3, [-1, 1])
    assert found["history"]["mistakes_per_epoch"] == expected.mistakes_per_epoch_.tolist()
    assert found["history"]["converged"] is True
    (plane,) = found["weights"]
    assert plane["class"] == 1
    order = sorted(range(3), key=lambda j: -abs(expected.coef_[0, j]))[:2]
    assert plane["largest"] == [{"feature": f"x{j + 1}", "weight": expected.coef_[0, j]} for j in order]
    assert found["bytes"] == model.stat().st_size


def test_text(call, model):
    out = call("inspect", model).out
    expected = modelfile.load_model(model)
    for part in (
        "format ",
        "estimator   Perceptron\n",
        "classes     -1 1\n",
        "  eta0 = 1.0\n",
        "  tol = 0.001\n",
    ):
        assert part in out
    assert f"weights for class 1, intercept {float(expected.intercept_[0])!r}\n" in out
    assert f"mistakes    {expected.n_mistakes_}; by epoch: " in out


def test_the_record(call, tmp_path):
    key = tmp_path / "key"
    key.write_bytes(bytes(32))
    model = Perceptron(audit=True, audit_key=key).fit(X, Y)
    for row in range(3):
        model.partial_fit(X[row : row + 1], Y[row : row + 1])
    model.save(tmp_path / "m")
    found, document = call("inspect", tmp_path / "m", "--json").json, describe(tmp_path / "m")
    for name in ("format_version", "written_by", "arithmetic_version", "calls", "digests"):
        assert found[name] == document[name]
    assert found["digest"] == digest(model)
    lines = call("inspect", tmp_path / "m").out.splitlines()
    versions = f"{document['written_by']}, arithmetic {document['arithmetic_version']}"
    assert lines[1:7] == [
        f"digest      {digest(model)}",
        f"versions    {versions}, format {document['format_version']}",
        "record      fit of 6 examples with 3 columns",
        "record      partial_fit of 3 examples with 3 columns, 3 calls",
        f"digests     1 of 9 examples, with the key {document['digests']['key']}",
        "estimator   Perceptron",
    ]
    Perceptron(audit=True).fit(X, Y, coef_init=np.ones((1, 3))).save(tmp_path / "n")
    line = "record      fit of 6 examples with 3 columns, from weights that it was given\n"
    assert line in call("inspect", tmp_path / "n").out
    model.set_params(audit=False, audit_key=None).partial_fit(X, Y).save(tmp_path / "m")
    assert "record      none: the training cannot be repeated\n" in call("inspect", tmp_path / "m").out
    assert call("inspect", tmp_path / "m", "--json").json["calls"] is None


def test_names_classes_and_zeros(call, tmp_path):
    """Each class has its weights; those that are 0 are not among the largest."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X * [1, 1, 0], columns=["left", "right", "none"])
    y = np.array(["a", "b", "c", "a", "b", "c"])
    fitted = AveragedPerceptron(max_iter=3, tol=None, class_weight={"a": 2.0}).fit(frame, y)
    modelfile.save_model(fitted, tmp_path / "m")
    found = call("inspect", tmp_path / "m", "--json").json
    assert [plane["class"] for plane in found["weights"]] == ["a", "b", "c"]
    for plane in found["weights"]:
        assert sorted(entry["feature"] for entry in plane["largest"]) == ["left", "right"]
    assert found["parameters"]["class_weight"] == {"a": 2.0}
    out = call("inspect", tmp_path / "m", "--top", 0).out
    assert "weights for class c" in out
    assert "left" not in out


def test_a_model_that_was_never_fitted_by_epochs(call, tmp_path):
    model = Perceptron().partial_fit(X, Y, classes=[-1, 1])
    modelfile.save_model(model, tmp_path / "m")
    assert call("inspect", tmp_path / "m", "--json").json["history"]["n_iter"] == 1


def test_a_separator_of_largest_margin(call, tmp_path):
    X = np.array([[0.0, 0], [0, 3], [4, 0], [4, 3], [4, 5]])
    model = MaxMarginClassifier().fit(X, ["left", "left", "right", "right", "right"])
    model.save(tmp_path / "m")
    (plane,) = call("inspect", tmp_path / "m", "--json").json["planes"]
    assert (plane["class"], plane["status"], plane["n_support"]) == (
        "right",
        "separable",
        len(model.support_),
    )
    assert plane["margin"] == model.margin_interval_[0].tolist()
    assert plane["largest"][0] == {"feature": "x0", "weight": model.coef_[0, 0]}
    text = call("inspect", tmp_path / "m").out
    assert "estimator   MaxMarginClassifier\n" in text
    assert f"class right: separable, margin in [{float(model.margin_[0])!r}, " in text
    curved = MaxMarginClassifier(kernel="rbf").fit(X, [0, 1, 1, 0, 2])
    curved.save(tmp_path / "m")
    planes = call("inspect", tmp_path / "m", "--json").json["planes"]
    assert [plane["margin"] for plane in planes] == curved.margin_interval_.tolist()
    assert [plane["largest"] for plane in planes] == [[], [], []]
    with pytest.warns(ConvergenceWarning, match="no plane separates"):
        model.set_params(inseparable="warn").fit(X, [0, 1, 1, 0, 0]).save(tmp_path / "m")
    assert call("inspect", tmp_path / "m", "--json").json["planes"][0]["margin"] == [None, None]
    assert "class 1: non_separable; " in call("inspect", tmp_path / "m").out
