"""The commands on learners that have not one weight a feature: kernel, budgeted and multilayer."""

import numpy as np
import pytest

from perceptron_rs import KernelPerceptron
from perceptron_rs.cli import modelfile

from .support import svmlight

RANDOM = np.random.default_rng(8)
A = RANDOM.integers(-3, 4, (60, 4)) / 2
B = (A[:, 0] * A[:, 1] > 0).astype(int) + (A[:, 2] > 1)  # no planes separate them
KERNEL = ("kernel", "--kernel", "poly", "--degree", 2, "--coef0", 1, "--gamma", 1, "--epochs", 9)
BUDGETED = ("budgeted-kernel", "--gamma", 1, "--budget", 9, "--budget-policy", "random")
LAYERS = ("multilayer", "--hidden-layer-sizes", "6,3", "--activation", "tanh", "--epochs", 9)


@pytest.fixture(name="data")
def fixture_data(tmp_path):
    A[0] = 1
    path = tmp_path / "data.svm"
    path.write_text(svmlight(A, B), encoding="ascii")
    return path


def test_inspect_a_kernel_perceptron(call, data, tmp_path):
    out = tmp_path / "m"
    assert call("train", *KERNEL, data, "--model", out, "--quiet").status == 0
    model = modelfile.load_model(out)
    found = call("inspect", out, "--json", "--top", 3).json
    assert found["kernel"] == {"name": "poly", "gamma": 1.0, "coef0": 1.0, "degree": 2}
    assert found["n_support"] == len(model.support_)
    assert found["history"]["mistakes_per_epoch"] == model.mistakes_per_epoch_.tolist()
    assert [plane["n_vectors"] for plane in found["planes"]] == model.n_vectors_.tolist()
    for plane, counts, steps in zip(
        found["planes"], model.mistakes_per_support_, model.dual_coef_, strict=True
    ):
        assert len(plane["most_mistaken"]) == 3
        assert plane["most_mistaken"][0]["mistakes"] == counts.max()
        for entry in plane["most_mistaken"]:
            place = model.support_.tolist().index(entry["row"])
            assert (entry["mistakes"], entry["step"]) == (counts[place], steps[place])
    text = call("inspect", out).out
    assert "estimator   KernelPerceptron\n" in text
    assert "kernel      name=poly gamma=1.0 coef0=1.0 degree=2\n" in text
    assert f"support     {len(model.support_)} examples\n" in text


def test_inspect_a_kernel_perceptron_on_a_budget(call, data, tmp_path):
    out = tmp_path / "m"
    assert call("train", *BUDGETED, data, "--model", out, "--quiet").status == 0
    model = modelfile.load_model(out)
    found = call("inspect", out, "--json", "--top", 3).json
    assert found["n_support"] == len(model.support_)
    assert [set(plane) for plane in found["planes"]] == [{"class", "most_mistaken"}] * 3
    text = call("inspect", out).out
    assert "estimator   BudgetedKernelPerceptron\n" in text
    assert "class 0: examples with the most mistakes\n" in text


def test_inspect_a_multilayer_perceptron(call, data, tmp_path):
    out = tmp_path / "m"
    assert call("train", *LAYERS, data, "--model", out, "--quiet", "--tol", "none").status == 0
    model = modelfile.load_model(out)
    found = call("inspect", out, "--json").json
    assert found["history"] == {
        "n_iter": 9,
        "epochs": 9,
        "converged": model.converged_,
        "n_mistakes": model.n_mistakes_,
        "mistakes_per_epoch": model.mistakes_per_epoch_.tolist(),
        "loss_curve": model.loss_curve_,
    }
    assert [(layer["inputs"], layer["outputs"]) for layer in found["layers"]] == [(4, 6), (6, 3), (3, 3)]
    assert found["layers"][0]["largest_weight"] == np.abs(model.coefs_[0]).max()
    text = call("inspect", out).out
    assert "layers      4 6 3 3, output softmax\n" in text
    assert "hidden_layer_sizes = (6, 3)\n" in text


def test_the_story_of_a_fit(call, data, tmp_path):
    found = call("train", *KERNEL, data, "--model", tmp_path / "m", "--quiet", "--json").json
    assert (found["learner"], len(found["mistakes_per_epoch"])) == ("kernel", found["n_iter"])
    answer = call("train", *KERNEL, data, "--model", tmp_path / "m")
    assert answer.err.startswith("epoch 1: ")
    assert "mistakes" in answer.out
    found = call("train", *LAYERS, data, "--model", tmp_path / "m", "--quiet", "--json").json
    assert len(found["losses"]) == found["n_iter"] <= 9
    assert len(found["mistakes_per_epoch"]) == found["n_iter"]
    answer = call("train", *LAYERS, data, "--model", tmp_path / "m")
    assert "the maximum of 9 epochs was reached before the stopping criterion; raise --epochs" in answer.err
    assert f"loss      {found['losses'][-1]:.6g} in the last epoch\n" in answer.out


def test_precomputed_values(call, tmp_path):
    gram = A @ A.T
    np.savez(tmp_path / "gram.npz", X=gram, y=B)
    np.savez(tmp_path / "some.npz", X=gram[:7], y=B[:7])
    options = ("kernel", "--kernel", "precomputed", "--quiet")
    assert call("train", *options, tmp_path / "gram.npz", "--model", tmp_path / "m").status == 0
    expected = KernelPerceptron("linear").fit(A, B)
    out = call("predict", tmp_path / "m", tmp_path / "some.npz").out
    assert out.split() == [str(label) for label in expected.predict(A[:7])]
    answer = call("train", *options, tmp_path / "some.npz", "--model", tmp_path / "n")
    assert (answer.status, answer.out) == (1, "")
    assert "the data must be a square matrix with --kernel precomputed, got shape (7, 60)" in answer.err
