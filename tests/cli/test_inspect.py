"""``inspect``: what a model of each family is, and its weights, exactly; and how each is trained."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from perceptron_rs import AveragedPerceptron, KernelPerceptron, MaxMarginClassifier, Perceptron, digest, load
from perceptron_rs.models import describe

from .support import X, Y, svmlight

RANDOM = np.random.default_rng(8)
A = RANDOM.integers(-3, 4, (60, 4)) / 2
A[0] = 1
B = (A[:, 0] * A[:, 1] > 0).astype(int) + (A[:, 2] > 1)  # no planes separate them
KERNEL = ("kernel", "--kernel", "poly", "--degree", 2, "--coef0", 1, "--gamma", 1, "--epochs", 9)
BUDGETED = ("budgeted-kernel", "--gamma", 1, "--budget", 9, "--budget-policy", "random")
LAYERS = ("multilayer", "--hidden-layer-sizes", "6,3", "--activation", "tanh", "--epochs", 9)


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


def test_a_perceptron(call, model):
    found, out, expected = (
        call("inspect", model, "--json", "--top", 2).json,
        call("inspect", model).out,
        load(model),
    )
    assert (found["estimator"], found["parameters"]) == ("Perceptron", expected.get_params())
    assert (found["n_features"], found["classes"], found["bytes"]) == (3, [-1, 1], model.stat().st_size)
    assert found["history"]["mistakes_per_epoch"] == expected.mistakes_per_epoch_.tolist()
    assert found["history"]["converged"] is True
    (plane,) = found["weights"]
    order = sorted(range(3), key=lambda j: -abs(expected.coef_[0, j]))[:2]
    assert plane["class"] == 1
    assert plane["largest"] == [{"feature": f"x{j + 1}", "weight": expected.coef_[0, j]} for j in order]
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


def test_names_classes_and_zeros(inspected):
    """Each class has its weights; those that are 0 are not among the largest."""
    frame = pytest.importorskip("pandas").DataFrame(X * [1, 1, 0], columns=["left", "right", "none"])
    model = AveragedPerceptron(max_iter=3, tol=None, class_weight={"a": 2.0})
    found, _ = inspected(model.fit(frame, ["a", "b", "c", "a", "b", "c"]))
    assert [plane["class"] for plane in found["weights"]] == ["a", "b", "c"]
    for plane in found["weights"]:
        assert sorted(entry["feature"] for entry in plane["largest"]) == ["left", "right"]
    assert found["parameters"]["class_weight"] == {"a": 2.0}
    _, out = inspected(model, "--top", 0)
    assert ("weights for class c" in out, "left" in out) == (True, False)


def test_a_separator_of_largest_margin(inspected):
    X = np.array([[0.0, 0], [0, 3], [4, 0], [4, 3], [4, 5]])
    model = MaxMarginClassifier().fit(X, ["left", "left", "right", "right", "right"])
    found, text = inspected(model)
    (plane,), n = found["planes"], len(model.support_)
    assert (plane["class"], plane["status"], plane["n_support"]) == ("right", "separable", n)
    assert plane["margin"] == model.margin_interval_[0].tolist()
    assert plane["largest"][0] == {"feature": "x0", "weight": model.coef_[0, 0]}
    assert "estimator   MaxMarginClassifier\n" in text
    assert f"class right: separable, margin in [{float(model.margin_[0])!r}, " in text
    curved = MaxMarginClassifier(kernel="rbf").fit(X, [0, 1, 1, 0, 2])
    planes = inspected(curved)[0]["planes"]
    assert [plane["margin"] for plane in planes] == curved.margin_interval_.tolist()
    assert [plane["largest"] for plane in planes] == [[], [], []]
    with pytest.warns(ConvergenceWarning, match="no plane separates"):
        found, text = inspected(model.set_params(inseparable="warn").fit(X, [0, 1, 1, 0, 0]))
    assert (found["planes"][0]["margin"], "class 1: non_separable; " in text) == ([None, None], True)


def test_a_kernel_perceptron(inspected, trained):
    answer, model = trained(*KERNEL)
    assert (answer.err.startswith("epoch 1: "), "mistakes" in answer.out) == (True, True)
    found, text = inspected(model, "--top", 3)
    assert found["kernel"] == {"name": "poly", "gamma": 1.0, "coef0": 1.0, "degree": 2}
    assert found["n_support"] == len(model.support_)
    assert found["history"]["mistakes_per_epoch"] == model.mistakes_per_epoch_.tolist()
    assert [plane["n_vectors"] for plane in found["planes"]] == model.n_vectors_.tolist()
    parts = found["planes"], model.mistakes_per_support_, model.dual_coef_
    for plane, counts, steps in zip(*parts, strict=True):
        assert len(plane["most_mistaken"]) == 3
        assert plane["most_mistaken"][0]["mistakes"] == counts.max()
        for entry in plane["most_mistaken"]:
            place = model.support_.tolist().index(entry["row"])
            assert (entry["mistakes"], entry["step"]) == (counts[place], steps[place])
    assert "estimator   KernelPerceptron\n" in text
    assert "kernel      name=poly gamma=1.0 coef0=1.0 degree=2\n" in text
    assert f"support     {len(model.support_)} examples\n" in text


def test_a_kernel_perceptron_on_a_budget(inspected, trained):
    _, model = trained(*BUDGETED)
    found, text = inspected(model, "--top", 3)
    assert found["n_support"] == len(model.support_)
    assert [set(plane) for plane in found["planes"]] == [{"class", "most_mistaken"}] * 3
    assert "estimator   BudgetedKernelPerceptron\n" in text
    assert "class 0: examples with the most mistakes\n" in text


def test_a_multilayer_perceptron(inspected, trained):
    answer, model = trained(*LAYERS, "--json")
    assert answer.json["losses"] == model.loss_curve_
    found, text = inspected(model)
    assert found["history"] == {
        "n_iter": model.n_iter_,
        "epochs": model.n_iter_,
        "converged": model.converged_,
        "n_mistakes": model.n_mistakes_,
        "mistakes_per_epoch": answer.json["mistakes_per_epoch"],
        "loss_curve": model.loss_curve_,
    }
    assert [(layer["inputs"], layer["outputs"]) for layer in found["layers"]] == [(4, 6), (6, 3), (3, 3)]
    assert found["layers"][0]["largest_weight"] == np.abs(model.coefs_[0]).max()
    assert "layers      4 6 3 3, output softmax\n" in text
    assert "hidden_layer_sizes = (6, 3)\n" in text
    answer, _ = trained(*LAYERS)
    assert "the maximum of 9 epochs was reached before the stopping criterion; raise --epochs" in answer.err
    assert f"loss      {model.loss_curve_[-1]:.6g} in the last epoch\n" in answer.out


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
