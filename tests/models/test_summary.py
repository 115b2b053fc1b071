"""What a model of each family is said to be, as ``inspect`` shows it: its weights, exactly."""

import json

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.support import OF_FILE

from perceptron_rs import (
    AveragedPerceptron,
    BudgetedKernelPerceptron,
    KernelPerceptron,
    MaxMarginClassifier,
    MultilayerPerceptron,
)
from perceptron_rs.models.summary import summary_of, summary_text
from perceptron_rs.registry import REGISTRY
from perceptron_rs.schema.schema import name_of

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

X = np.array([[2, 1, 0], [3, 1, 1], [-1, 2, 0], [-2, -1, 1], [4, 0, 0], [-3, 1, 1]], dtype=np.float64)
RANDOM = np.random.default_rng(8)
A = RANDOM.integers(-3, 4, (60, 4)) / 2
A[0] = 1
B = (A[:, 0] * A[:, 1] > 0).astype(int) + (A[:, 2] > 1)  # no planes separate them


def summary(model, top=10):
    """Return what is said of a model: as JSON and as text."""
    family = REGISTRY[name_of(model)].part("summary")
    found = summary_of(model, family, top)
    text = summary_text(found | OF_FILE, family)
    return json.loads(json.dumps(found, default=str)), text


def test_names_classes_and_zeros():
    """Each class has its weights; those that are 0 are not among the largest."""
    frame = pytest.importorskip("pandas").DataFrame(X * [1, 1, 0], columns=["left", "right", "none"])
    model = AveragedPerceptron(max_iter=3, tol=None, class_weight={"a": 2.0})
    found, _ = summary(model.fit(frame, ["a", "b", "c", "a", "b", "c"]))
    assert [plane["class"] for plane in found["weights"]] == ["a", "b", "c"]
    for plane in found["weights"]:
        assert sorted(entry["feature"] for entry in plane["largest"]) == ["left", "right"]
    assert found["parameters"]["class_weight"] == {"a": 2.0}
    _, out = summary(model, top=0)
    assert ("weights for class c" in out, "left" in out) == (True, False)


def test_a_separator_of_largest_margin():
    X = np.array([[0.0, 0], [0, 3], [4, 0], [4, 3], [4, 5]])
    model = MaxMarginClassifier().fit(X, ["left", "left", "right", "right", "right"])
    found, text = summary(model)
    (plane,), n = found["planes"], len(model.support_)
    assert (plane["class"], plane["status"], plane["n_support"]) == ("right", "separable", n)
    assert plane["margin"] == model.margin_interval_[0].tolist()
    assert plane["largest"][0] == {"feature": "x0", "weight": model.coef_[0, 0]}
    assert "estimator   MaxMarginClassifier\n" in text
    assert f"class right: separable, margin in [{float(model.margin_[0])!r}, " in text
    curved = MaxMarginClassifier(kernel="rbf").fit(X, [0, 1, 1, 0, 2])
    planes = summary(curved)[0]["planes"]
    assert [plane["margin"] for plane in planes] == curved.margin_interval_.tolist()
    assert [plane["largest"] for plane in planes] == [[], [], []]
    with pytest.warns(ConvergenceWarning, match="no plane separates"):
        found, text = summary(model.set_params(inseparable="warn").fit(X, [0, 1, 1, 0, 0]))
    assert (found["planes"][0]["margin"], "class 1: non_separable; " in text) == ([None, None], True)


def test_a_kernel_perceptron():
    model = KernelPerceptron("poly", degree=2, coef0=1.0, gamma=1.0, max_iter=9).fit(A, B)
    found, text = summary(model, top=3)
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


def test_a_kernel_perceptron_on_a_budget():
    model = BudgetedKernelPerceptron(gamma=1.0, budget=9, budget_policy="random").fit(A, B)
    found, text = summary(model, top=3)
    assert found["n_support"] == len(model.support_)
    assert [set(plane) for plane in found["planes"]] == [{"class", "most_mistaken"}] * 3
    assert "estimator   BudgetedKernelPerceptron\n" in text
    assert "class 0: examples with the most mistakes\n" in text


def test_a_multilayer_perceptron():
    model = MultilayerPerceptron((6, 3), activation="tanh", max_iter=9).fit(A, B)
    found, text = summary(model)
    assert found["history"] == {
        "n_iter": model.n_iter_,
        "epochs": model.n_iter_,
        "converged": model.converged_,
        "n_mistakes": model.n_mistakes_,
        "mistakes_per_epoch": np.asarray(model.mistakes_per_epoch_).tolist(),
        "loss_curve": model.loss_curve_,
    }
    assert [(layer["inputs"], layer["outputs"]) for layer in found["layers"]] == [(4, 6), (6, 3), (3, 3)]
    assert found["layers"][0]["largest_weight"] == np.abs(model.coefs_[0]).max()
    assert "layers      4 6 3 3, output softmax\n" in text
    assert "hidden_layer_sizes = (6, 3)\n" in text


@pytest.mark.parametrize("epochs", [20, 21])
def test_a_line_holds_twenty_numbers_and_the_last(epochs):
    model = AveragedPerceptron(max_iter=epochs, tol=None).fit(A, B > 0)
    made = [str(mistakes) for mistakes in model.mistakes_per_epoch_.sum(axis=1).tolist()]
    assert len(made) == epochs
    shown = " ".join(made[:20]) + (f" ... {made[-1]}" if epochs > 20 else "")
    assert f"mistakes    {model.n_mistakes_}; by epoch: {shown}\n" in summary(model)[1]


def test_every_line_of_a_model_with_a_record():
    """Each line, as the description says it."""
    calls = [
        {"method": "fit", "sizes": [[6, 1]], "n_features": 2, "ended": ["callback"]},
        {"method": "partial_fit", "sizes": [[3, 2], [1, 1]], "n_features": 2},
    ]
    family = REGISTRY["averaged"].part("summary")
    model = AveragedPerceptron(max_iter=1, tol=None).fit(X[:, :2], [0, 1, 0, 1, 0, 1])
    found = summary_of(model, family, 0) | OF_FILE
    found |= {"bytes": 7, "digest": "d", "written_by": "w", "arithmetic_version": 5, "format_version": 6}
    found |= {"calls": calls, "starts_from_weights": True}
    for key, said in ((None, ""), ("k", ", with the key k")):
        digests = {"blocks": [[6, "x"], [7, None]], "key": key}
        lines = summary_text(found | {"digests": digests}, family).splitlines()
        until = lines.index("parameters")
        assert lines[:until] == [
            "format      safetensors, 7 bytes",
            "digest      d",
            "versions    w, arithmetic 5, format 6",
            "record      fit of 6 examples with 2 columns, ended by callback, from weights that it was given",
            "record      partial_fit of 7 examples with 2 columns, 3 calls",
            f"digests     1 of 6 examples{said}",
            "estimator   AveragedPerceptron",
            "classes     0 1",
            f"features    2, {np.count_nonzero(model.coef_)} weights are not 0",
            *lines[9:until],
        ]
        begins = [line.split("  ")[0] for line in lines[9:until]]
        assert begins == ["epochs", "mistakes", "seen"]
        assert f"seen        {' '.join(map(str, model.n_seen_.tolist()))} examples" in lines
        assert len(lines) > until + len(model.get_params())


def test_lines_that_only_some_models_have():
    family = REGISTRY["averaged"].part("summary")
    found = summary_of(AveragedPerceptron(max_iter=1).fit(X, [0, 1, 0, 1, 0, 1]), family, 0) | OF_FILE
    found["history"] = {
        "n_iter": 2,
        "converged": True,
        "loss_curve": [0.5, 0.25],
        "n_mistakes": 3,
        "n_seen": 7,
        "mistakes_per_epoch": [[1, 0], [2, 0]],
        "token_errors_per_epoch": [3, 2],
    }
    call = {"method": "partial_fit", "sizes": [[3, 2]], "n_features": 3}
    one = "record      partial_fit of 6 examples with 3 columns, 2 calls"
    for calls, records in (
        (None, ["record      none: the training cannot be repeated"]),
        ([call] * 20, [one] * 20),
        ([call] * 21, [one] * 20 + ["record      and 1 more, which --json shows"]),
    ):
        lines = summary_text(found | {"calls": calls}, family).splitlines()
        assert [line for line in lines if line.startswith("record")] == records
    first = lines.index("epochs      2, converged")
    assert lines[first + 1 : first + 5] == [
        "losses      0.5 0.25",
        "mistakes    3; by epoch: 1 2",
        "mistakes    tokens by epoch: 3 2",
        "seen        7 sequences",
    ]
