"""Files of rounded weights, and without small ones: smaller, with predictions and digests of their own."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs import (
    AveragedPerceptron,
    KernelPerceptron,
    MaxMarginClassifier,
    MultilayerPerceptron,
    Perceptron,
    PocketPerceptron,
    VotedPerceptron,
    digest,
    load,
    load_predictor,
    reproduce,
)
from perceptron_rs.cli import main
from perceptron_rs.models import describe, save

from .conftest import put_together, take_apart

rng = np.random.default_rng(7)
X = sp.random_array((200, 5000), density=0.004, rng=rng, format="csr")
Y = rng.integers(0, 3, 200)
LINEAR = [Perceptron, AveragedPerceptron, PocketPerceptron]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("prune", [None, 0.02])
@pytest.mark.parametrize("dtype", ["float32", "float16", None])
@pytest.mark.parametrize("learner", LINEAR)
def test_what_is_read_has_the_rounded_weights(tmp_path, learner, dtype, prune, classes):
    if dtype is None and prune is None:
        return
    model = learner(max_iter=5, tol=None).fit(X, np.minimum(Y, classes - 1))
    model.calibrate(X, np.roll(np.minimum(Y, classes - 1), 1))
    before = model.save()
    model.save(tmp_path / "m", dtype=dtype, prune=prune)
    assert model.save() == before, "the model is as it was"
    coef = model.coef_.copy()
    if prune is not None:
        coef[:, np.abs(coef).max(axis=0) < prune] = 0
    if dtype is not None:
        coef = coef.astype(dtype).astype(float)
    found = load(tmp_path / "m")
    assert (found.coef_.tobytes(), found.intercept_.tobytes()) == (coef.tobytes(), model.intercept_.tobytes())
    scores = found.decision_function(X).tobytes()
    for engine in ("rust", "reference"):
        predictor = load_predictor(tmp_path / "m", engine=engine)
        assert predictor.decision_function(X).tobytes() == scores
        assert predictor.predict_proba(X).tobytes() == found.predict_proba(X).tobytes()
    if coef.tobytes() != model.coef_.tobytes():
        assert digest(found) != digest(model)
    assert save(model, dtype=dtype, prune=prune) == (tmp_path / "m").read_bytes()
    assert found.save(dtype=dtype) == (tmp_path / "m").read_bytes()
    with pytest.raises(ValueError, match=r"has no record of its training.* file that save made smaller"):
        reproduce(found, X, Y)
    if hasattr(found, "partial_fit"):
        with pytest.warns(UserWarning, match="no longer calibrated"):
            found.partial_fit(X[:5], found.classes_[[0, 1, 0, 1, 0]])
    if dtype is not None:
        assert (tmp_path / "m").stat().st_size < 0.6 * len(before)


def test_inspect_says_so(tmp_path, capsys):
    AveragedPerceptron().fit(X, Y).save(tmp_path / "m", dtype="float16")
    assert main(["inspect", str(tmp_path / "m")]) == 0
    assert "weights     rounded to float16\n" in capsys.readouterr().out
    assert describe(tmp_path / "m")["rounded"]["dtype"] == "float16"


@pytest.mark.parametrize("option", [{"dtype": "float32"}, {"prune": 0.1}])
@pytest.mark.parametrize(
    "model",
    [
        KernelPerceptron(),
        VotedPerceptron(),
        MultilayerPerceptron(max_iter=3, tol=None),
        MaxMarginClassifier(),
    ],
)
def test_learners_without_such_weights(tmp_path, model, option):
    rows = rng.normal(size=(20, 3))
    model.fit(rows, (rows[:, 0] > 0).astype(int))
    with pytest.raises(ValueError, match=f"{next(iter(option))} is of .*; leave it out"):
        model.save(tmp_path / "m", **option)
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"dtype": "int8"}, 'dtype must be "float32", "float16" or None, got \'int8\''),
        ({"dtype": "float16"}, "dtype='float16' does not hold the largest weight, 1e"),
        ({"prune": -1.0}, "prune must be a finite number of at least 0, got -1.0"),
        ({"prune": np.nan}, "prune must be a finite number"),
        ({"prune": "much"}, "prune must be a finite number"),
    ],
)
def test_values_that_cannot_be(option, said):
    model = Perceptron().fit([[1e6, 0.0], [-1e6, 0.0]], [0, 1])
    with pytest.raises(ValueError, match=said):
        model.save(**option)


def test_hostile_rounded_tensors_are_refused():
    document, tensors = take_apart(AveragedPerceptron().fit(X, Y).save(dtype="float16"))
    said = document["rounded"]
    for rounded, text in [
        ({"dtype": "float16"}, "must hold a dtype"),
        (said | {"dtype": "float64"}, "must hold a dtype"),
        (said | {"tensors": "coef"}, "must hold a dtype"),
        (said | {"tensors": ["other"]}, "must be there"),
        (said | {"tensors": [1]}, "must be there"),
        (said | {"tensors": ["n_seen"]}, "must be there"),
        (said | {"tensors": []}, "coef"),
    ]:
        bad = put_together(document | {"rounded": rounded}, tensors)
        for read in (load, load_predictor):
            with pytest.raises(ValueError, match=text):
                read(bad)
