"""``inspect``: its two forms, and the record of a model; and what trainings of each family say.

What is shown of a model of each family is in ``tests/models/test_summary.py``.
"""

import numpy as np
import pytest

from perceptron_rs import KernelPerceptron, Perceptron, digest, load
from perceptron_rs.models import describe

from .support import X, Y, svmlight

RANDOM = np.random.default_rng(8)
A = RANDOM.integers(-3, 4, (60, 4)) / 2
A[0] = 1
B = (A[:, 0] * A[:, 1] > 0).astype(int) + (A[:, 2] > 1)  # no planes separate them


@pytest.fixture
def inspected(call, tmp_path):
    """What is said of a model: as JSON and as text."""

    def run(model, *options):
        path = tmp_path / "inspected"
        model.save(path)
        return call("inspect", path, "--json", *options).json, call("inspect", path, *options).out

    return run


@pytest.fixture
def trained(call, tmp_path):
    def run(*options):
        (tmp_path / "data.svm").write_text(svmlight(A, B), encoding="ascii")
        answer = call("train", *options, tmp_path / "data.svm", "--model", tmp_path / "m")
        assert answer.status == 0
        return answer, load(tmp_path / "m")

    return run


def test_an_averaged_perceptron(call, model):
    found, out, expected = (
        call("inspect", model, "--json", "--top", 2).json,
        call("inspect", model).out,
        load(model),
    )
    assert (found["estimator"], found["parameters"]) == ("AveragedPerceptron", expected.get_params())
    assert (found["n_features"], found["classes"], found["bytes"]) == (3, [-1, 1], model.stat().st_size)
    assert found["history"]["mistakes_per_epoch"] == expected.mistakes_per_epoch_.tolist()
    assert found["history"]["converged"] is True
    (plane,) = found["weights"]
    order = sorted(range(3), key=lambda j: -abs(expected.coef_[0, j]))[:2]
    assert plane["class"] == 1
    assert plane["largest"] == [{"feature": f"x{j + 1}", "weight": expected.coef_[0, j]} for j in order]
    for part in (
        "format ",
        "estimator   AveragedPerceptron\n",
        "classes     -1 1\n",
        "  eta0 = 1.0\n",
        "  tol = 0.001\n",
    ):
        assert part in out
    assert f"weights for class 1, intercept {float(expected.intercept_[0])!r}\n" in out
    assert f"mistakes    {expected.n_mistakes_}; by epoch: " in out


def test_the_record(inspected, tmp_path):
    key = tmp_path / "key"
    key.write_bytes(bytes(32))
    model = Perceptron(audit=True, audit_key=key).fit(X, Y)
    for row in range(3):
        model.partial_fit(X[row : row + 1], Y[row : row + 1])
    found, text = inspected(model)
    document = describe(tmp_path / "inspected")
    for name in ("format_version", "written_by", "arithmetic_version", "calls", "digests"):
        assert found[name] == document[name]
    versions = f"{document['written_by']}, arithmetic {document['arithmetic_version']}"
    assert text.splitlines()[1:7] == [
        f"digest      {digest(model)}",
        f"versions    {versions}, format {document['format_version']}",
        "record      fit of 6 examples with 3 columns",
        "record      partial_fit of 3 examples with 3 columns, 3 calls",
        f"digests     1 of 9 examples, with the key {document['digests']['key']}",
        "estimator   Perceptron",
    ]
    line = "record      fit of 6 examples with 3 columns, from weights that it was given\n"
    assert line in inspected(Perceptron(audit=True).fit(X, Y, coef_init=np.ones((1, 3))))[1]
    found, text = inspected(model.set_params(audit=False, audit_key=None).partial_fit(X, Y))
    assert (found["calls"], "record      none: the training cannot be repeated\n" in text) == (None, True)
    assert inspected(Perceptron().partial_fit(X, Y, classes=[-1, 1]))[0]["history"]["n_iter"] == 1


def test_what_trainings_of_other_families_say(trained):
    answer, model = trained(
        "multilayer", "--hidden-layer-sizes", "6,3", "--activation", "tanh", "--epochs", 9
    )
    said = "the fit reached --epochs 9 before the stopping criterion; raise --epochs, or set --tol none to"
    assert said in answer.err
    assert f"loss      {model.loss_curve_[-1]:.6g} in the last epoch\n" in answer.out
    answer, model = trained("multilayer", "--hidden-layer-sizes", "6,3", "--epochs", 9, "--json")
    assert answer.json["losses"] == model.loss_curve_
    assert answer.json["mistakes_per_epoch"] == np.asarray(model.mistakes_per_epoch_).tolist()
    answer, _ = trained("kernel", "--kernel", "poly", "--epochs", 9)
    assert (answer.err.startswith("epoch 1: "), "mistakes" in answer.out) == (True, True)


def test_precomputed_values(call, refused, tmp_path):
    gram = A @ A.T
    np.savez(tmp_path / "gram.npz", X=gram, y=B)
    np.savez(tmp_path / "some.npz", X=gram[:7], y=B[:7])
    options = ("train", "kernel", "--kernel", "precomputed", "--quiet", "--model", tmp_path / "m")
    assert call(*options, tmp_path / "gram.npz").status == 0
    expected = KernelPerceptron("linear").fit(A, B).predict(A[:7])
    assert call("predict", tmp_path / "m", tmp_path / "some.npz").out.split() == list(map(str, expected))
    said = refused(*options, tmp_path / "some.npz")
    assert "the data must be a square matrix with --kernel precomputed, got shape (7, 60)" in said
