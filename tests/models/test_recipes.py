"""A loaded model that the command trained learns, exports and measures by its recipe, whatever is called.

The oracle is a pipeline of scikit-learn's transformers, made by hand, and a learner that knows no recipe.
"""

from __future__ import annotations

import copy
import pickle
import random
from itertools import islice

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from perceptron_rs import digest, load, load_predictor, margin, reproduce
from perceptron_rs.cli import main
from perceptron_rs.errors import OptionsError
from perceptron_rs.io import Source
from perceptron_rs.models import register_skl2onnx
from perceptron_rs.plots import HyperplaneDisplay

pytestmark = pytest.mark.filterwarnings("ignore:the fit reached")
rng = np.random.default_rng(3)
X = rng.normal(size=(40, 3)) * [1, 100, 0.01] + [0, 5, 1]
Y = np.where(X[:, 0] + X[:, 1] / 100 > 0, "b", "a")
WORDS = ["buy", "now", "cheap", "see", "you", "soon"]
TEXTS = [" ".join(rng.choice(WORDS, 4)) for _ in X]
LEARNERS = ["perceptron", "averaged", "voted", "pocket", "kernel", "budgeted-kernel", "multilayer"]
SCALERS = {"standard": StandardScaler(), "minmax": MinMaxScaler(), "maxabs": MaxAbsScaler()}


class Case:
    """A model of the command, what it learnt from, and the same without a recipe."""

    def __init__(self, folder, learner, recipe):
        self.path = folder / "m"
        kind = [] if recipe == "text" else ["--scale", recipe]
        if recipe == "text":
            (folder / "a.txt").write_text("".join(f"{y}\t{x}\n" for x, y in zip(TEXTS, Y, strict=True)))
            data, kind = ["a.txt"], ["--text", "--hash-bits", "6"]
            self.X, self.columns = np.array(TEXTS), HashingVectorizer(n_features=64).transform
        else:
            np.save(folder / "x.npy", X)
            np.save(folder / "y.npy", Y)
            data, kind = ["x.npy", "--labels", str(folder / "y.npy")], ["--scale", recipe]
            self.X, self.columns = X, clone(SCALERS[recipe]).fit(X).transform
        argv = [
            "train",
            learner,
            str(folder / data[0]),
            *data[1:],
            *kind,
            "--model",
            str(self.path),
            "--epochs",
        ]
        assert main([*argv, "3", "--quiet"]) == 0
        self.plain = clone(load(self.path)).fit(self.columns(self.X), Y)

    def part(self, some):
        return self.X[some].tolist() if isinstance(self.X[0], str) else self.X[some]


def learnt(model):
    return {name: array.tobytes() for name, array in model.predictor_.items()}


CALLS = {
    "partial_fit": lambda model, X, y: model.partial_fit(X, y),
    "unchecked": lambda model, X, y: model.partial_fit(X, y, check_input=False),
    "predict_then_learn": lambda model, X, y: model.predict_then_learn(X, y),
    "warm fit": lambda model, X, y: model.set_params(warm_start=True).fit(X, y),
    "warm stream": lambda model, X, y: model.set_params(warm_start=True).fit_stream(
        Source(batches=lambda: iter([(X[:10], y[:10]), (X[10:], y[10:])]))
    ),
    "fit": lambda model, X, y: model.set_params(warm_start=False).fit(X, y),
}
DRAWN = [(learner, recipe, call) for learner in LEARNERS for recipe in (*SCALERS, "text") for call in CALLS]


@pytest.mark.parametrize(("learner", "recipe", "call"), random.Random(1).sample(DRAWN, 40))
def test_what_learns_on_learns_from_the_columns_of_the_recipe(tmp_path, learner, recipe, call):
    case = Case(tmp_path, learner, recipe)
    model, plain, some, learn = load(case.path), case.plain, slice(5, 30), CALLS[call]
    assert digest(model.set_params(audit=False)) != digest(plain)
    assert learnt(model) == learnt(plain)
    if call == "fit" and recipe == "text":
        with pytest.raises(ValueError, match="Expected 2D array"):
            learn(model, case.part(some), Y[some])
        return
    given = case.part(some) if call == "fit" else case.columns(case.X)[some]
    for one, rows in ((model, case.part(some)), (plain.set_params(audit=False), given)):
        try:
            learn(one, rows, Y[some])
        except (AttributeError, OptionsError, TypeError) as error:
            pytest.skip(str(error))  # it has no such call
    assert learnt(model) == learnt(plain)
    model.save(case.path)
    predictor, answer = load_predictor(case.path), model.decision_function(case.part(some))
    for one in (predictor, load(case.path), pickle.loads(pickle.dumps(model)), copy.copy(model)):
        assert one.decision_function(case.part(some)).tobytes() == answer.tobytes()


@pytest.mark.parametrize("learner", ["perceptron", "averaged", "pocket", "multilayer"])
@pytest.mark.parametrize("recipe", SCALERS)
def test_exports_scale_as_the_predictor_does(tmp_path, learner, recipe):
    case = Case(tmp_path, learner, recipe)
    model, scores = load(case.path), load_predictor(case.path).decision_function(X)
    outputs = onnx_outputs(model.to_onnx())
    assert outputs[0].tolist() == load_predictor(case.path).predict(X).tolist()
    if learner != "multilayer":
        np.testing.assert_allclose(outputs[1], scores, rtol=1e-12, atol=1e-12)
    pipeline = model.to_sklearn()
    assert pipeline.score(X, Y) == model.score(X, Y)
    if learner != "multilayer":
        np.testing.assert_allclose(pipeline.decision_function(X), scores, rtol=1e-9, atol=1e-9)


def onnx_outputs(graph):
    return onnxruntime.InferenceSession(graph.SerializeToString()).run(None, {"X": X})


def test_a_pipeline_of_skl2onnx_scales_too(tmp_path):
    skl2onnx = pytest.importorskip("skl2onnx")
    register_skl2onnx()
    model = load(Case(tmp_path, "averaged", "standard").path)
    types = [("X", skl2onnx.common.data_types.DoubleTensorType([None, 3]))]
    graph = skl2onnx.to_onnx(model, initial_types=types)
    np.testing.assert_allclose(onnx_outputs(graph)[1], model.decision_function(X), rtol=1e-12, atol=1e-12)


def test_names_of_columns_stand_at_the_scaler(tmp_path):
    text = "u,v,w,y\n" + "".join(",".join(map(str, [*x, y])) + "\n" for x, y in zip(X, Y, strict=True))
    (tmp_path / "a.csv").write_text(text)
    argv = [
        "train",
        str(tmp_path / "a.csv"),
        "--scale",
        "standard",
        "--model",
        str(tmp_path / "m"),
        "--quiet",
    ]
    assert main(argv) == 0
    model = load(tmp_path / "m")
    pipeline = model.to_sklearn()
    assert pipeline.feature_names_in_.tolist() == ["u", "v", "w"]
    records = [dict(zip("uvw", x, strict=True)) for x in X]
    frame = pd.DataFrame(X, columns=list("uvw"))
    assert model.predict(records).tolist() == model.predict(X).tolist() == pipeline.predict(frame).tolist()


def test_columns_of_texts_are_not_exported(tmp_path):
    model = load(Case(tmp_path, "averaged", "text").path)
    for export in (model.to_onnx, model.to_sklearn):
        with pytest.raises(ValueError, match=r"trained on texts or names.*; predict with load_predictor"):
            export()


@pytest.mark.parametrize("recipe", ["standard", "text"])
def test_a_model_with_a_recipe_is_reproduced_from_raw_examples(tmp_path, recipe):
    case = Case(tmp_path, "averaged", recipe)
    given = case.part(slice(None))
    assert reproduce(load(case.path), given, Y)
    answer = reproduce(load(case.path), case.columns(case.X), Y)
    assert bool(answer) == (recipe == "text"), "columns of texts are taken as they are"


def test_a_stream_is_reproduced_from_raw_batches(tmp_path):
    np.savetxt(tmp_path / "a.csv", np.c_[X, Y == "b"], "%.17g", ",", header="u,v,w,y", comments="")
    argv = ["train", "perceptron", str(tmp_path / "a.csv"), "--scale", "standard", "--stream", "--quiet"]
    assert main([*argv, "--model", str(tmp_path / "m")]) == 0
    y = (Y == "b").astype(int)
    source = Source(batches=lambda: ((X[i : i + 7], y[i : i + 7]) for i in range(0, 40, 7)))
    assert reproduce(load(tmp_path / "m"), source)


def test_margins_and_plots_are_of_raw_examples(tmp_path):
    case = Case(tmp_path, "perceptron", "standard")
    found = margin(load(case.path), X, Y)
    assert found == margin(case.plain, case.columns(X), Y)
    np.save(tmp_path / "x.npy", X[:, :2])
    argv = [
        "train",
        "perceptron",
        str(tmp_path / "x.npy"),
        "--labels",
        str(tmp_path / "y.npy"),
        "--scale",
        "standard",
    ]
    assert main([*argv, "--model", str(case.path), "--quiet"]) == 0
    display = HyperplaneDisplay.from_estimator(load(case.path), X[:, :2], Y)
    points = [p for line in display.lines_ for path in line.get_paths() for p in islice(path.vertices, 5)]
    assert np.abs(load(case.path).decision_function(points)).max() < 0.1


def test_a_short_pass_does_not_pass_the_recipe_by(tmp_path):
    case = Case(tmp_path, "perceptron", "standard")
    models = load(case.path), case.plain
    for model, rows in zip(models, (X, case.columns(X)), strict=True):
        model.set_params(audit=False)
        for row in range(40):
            model.partial_fit(rows[row : row + 1], Y[row : row + 1], check_input=False)
    assert learnt(models[0]) == learnt(models[1])
