"""``partial_fit(check_input=False)`` learns the same bits, and what the engine refuses is still refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning
from tests.learners import ONLINE
from tests.support import contents

from perceptron_rs import Perceptron

rng = np.random.default_rng(3)
X = rng.integers(0, 4, (60, 5)).astype(np.float64)
Y = np.array(["a", "b", "c"])[rng.integers(0, 3, 60)]
CLASSES = ["a", "b", "c"]


@pytest.mark.parametrize("storage", [np.float64, np.float32, np.uint8])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("learner", ONLINE)
def test_the_same_bits(learner, sparse, storage, engine_name):
    rows = sp.csr_array(X.astype(storage)) if sparse else X.astype(storage)
    checked, unchecked = learner(engine=engine_name), learner(engine=engine_name)
    for start in range(0, 60, 20):
        part = slice(start, start + 20)
        checked.partial_fit(rows[part], Y[part], CLASSES)
        unchecked.partial_fit(rows[part], Y[part], CLASSES, check_input=False)
    assert contents(unchecked) == contents(checked)


def misaligned(shape):
    return np.ndarray(shape, np.float64, bytearray(8 * int(np.prod(shape)) + 1), offset=1)


BAD = {
    "columns": (np.ones((1, 4)), Y[:1], "X has 4 features, but .* is expecting"),
    "type": (np.ones((1, 5), dtype=np.int64), Y[:1], "float64"),
    "axes": (np.ones(5), Y[:1], None),
    "order": (np.asfortranarray(np.ones((2, 5))), Y[:2], "contiguous"),
    "alignment": (misaligned((2, 5)), Y[:2], "aligned, got strides"),
    "rows": (np.ones((2, 5)), Y[:1], "y has 1 entries"),
    "label": (np.ones((1, 5)), np.array(["d"]), "y"),
    "format": (sp.csc_array(np.eye(5)), Y[:5], "CSR matrix"),
    "no matrix": ([[1.0] * 5], Y[:1], "CSR matrix"),
    "labels in a matrix": (np.ones((2, 5)), np.array([["a", "b"], ["b", "a"]]), "y"),
    "nan": (np.full((1, 5), np.nan), Y[:1], "NaN"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("learner", ONLINE)
def test_what_the_engine_refuses(learner, name, engine_name):
    rows, labels, message = BAD[name]
    model = learner(engine=engine_name).partial_fit(X, Y, CLASSES)
    before = contents(model)
    with pytest.raises((ValueError, TypeError), match=message):
        model.partial_fit(rows, labels, check_input=False)
    assert contents(model) == before


NOT_OF_A_PASS = {"class_weight": "balanced", "early_stopping": True, "n_partitions": 2}


@pytest.mark.parametrize(
    ("learner", "name"),
    [(learner, name) for learner in ONLINE for name in NOT_OF_A_PASS if hasattr(learner(), name)],
)
def test_what_a_pass_does_not_have_is_refused(learner, name, engine_name):
    """As it is with checks: "balanced" would mean other weights in each call."""
    model = learner(engine=engine_name).partial_fit(X, Y, CLASSES)
    model.partial_fit(X, Y, check_input=False).set_params(**{name: NOT_OF_A_PASS[name]})
    before = contents(model)
    with pytest.raises(ValueError, match=f"{name}.* partial_fit"):
        model.partial_fit(X, Y, check_input=False)
    assert contents(model) == before


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_a_subclass_is_read_as_an_array(engine_name):
    models = [Perceptron(engine=engine_name).partial_fit(X, Y, CLASSES) for _ in range(2)]
    for model, rows in zip(models, (X, np.matrix(X)), strict=True):
        model.partial_fit(rows, Y, check_input=False)
    assert contents(models[0]) == contents(models[1])


def test_the_first_call_is_checked(engine_name):
    with pytest.raises(ValueError, match="NaN"):
        Perceptron(engine=engine_name).partial_fit([[np.nan]], [0], [0, 1], check_input=False)


def test_labels_in_a_column(engine_name):
    models = [Perceptron(engine=engine_name).partial_fit(X, Y, CLASSES) for _ in range(2)]
    models[0].partial_fit(X, Y)
    with pytest.warns(DataConversionWarning):
        models[1].partial_fit(X, Y[:, np.newaxis], check_input=False)
    assert contents(models[0]) == contents(models[1])
