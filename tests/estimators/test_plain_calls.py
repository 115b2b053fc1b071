"""A checked pass over a plain row is made where the numbers stand, and refuses what the long way refuses."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from tests.learners import PASSES
from tests.support import contents

from perceptron_rs import Perceptron
from perceptron_rs.linear import passes

rng = np.random.default_rng(3)
X = rng.integers(0, 9, (12, 5)).astype(float)
Y = np.arange(12) % 3
ROW, LABEL = X[3:4], Y[3:4]


class OfUser(np.ndarray):
    """A subclass of arrays, whose answers may be others."""


def csr(**parts):
    """Return a CSR matrix with other arrays than SciPy would take."""
    matrix = sp.csr_matrix(ROW)
    for name, part in parts.items():
        setattr(matrix, name, part)
    return matrix


def aligned_nowhere():
    memory = np.zeros(5 * 8 + 1, dtype=np.uint8)
    return np.frombuffer(memory.data, dtype=np.float64, count=5, offset=1).reshape(1, 5)


TYPES = ["f8", "f4", "f2", "i1", "u1", "i2", "u2", "i4", "i8", "u4", "u8", "?", "g", "c16", "O", "U3", ">f8"]
ROWS = {
    **{f"dtype {name}": ROW.astype(name) for name in TYPES},
    "Fortran": np.asfortranarray(X[:4]),
    "every second": X[::2],
    "backwards": X[::-1],
    "not aligned": aligned_nowhere(),
    "no row": X[:0],
    "no column": X[:1, :0],
    "one axis": X[3],
    "three axes": X[None],
    "narrow": X[:1, :4],
    "wide": np.ones((1, 6)),
    "NaN": np.where(np.arange(5) == 2, np.nan, ROW),
    "infinity": np.where(np.arange(5) == 2, -np.inf, ROW),
    "huge": np.full((1, 5), 1e308),
    "subclass": ROW.view(OfUser),
    "masked": np.ma.masked_equal(ROW, ROW[0, 0]),
    "list": ROW.tolist(),
    "ragged": [[1.0, 2.0], [1.0]],
    "dictionaries": [{"a": 1.0}],
    "csr": csr(),
    "csr array": sp.csr_array(ROW),
    "csr, no row": sp.csr_matrix((0, 5)),
    "csr, wide": sp.csr_matrix(np.ones((1, 6))),
    "csr, out of order": csr(indices=csr().indices[::-1].copy()),
    "csr, twice": csr(indices=np.zeros_like(csr().indices)),
    "csr, beyond": csr(indices=csr().indices + 4),
    "csr, below": csr(indices=csr().indices - 9),
    "csr, long": csr(indices=csr().indices.astype("i8"), indptr=csr().indptr.astype("i8")),
    "csr, mixed": csr(indices=csr().indices.astype("i8")),
    "csr, unsigned": csr(indices=csr().indices.astype("u4"), indptr=csr().indptr.astype("u4")),
    "csr, of floats": csr(indices=csr().indices.astype("f8")),
    "csr, a list": csr(indices=csr().indices.tolist()),
    "csr, short": csr(indptr=csr().indptr[:1]),
    "csr, few values": csr(data=csr().data[:1]),
    **{f"csr, {name}": csr(data=csr().data.astype(name)) for name in ("f4", "i8", "?", "c16", "O")},
    "csr, NaN": csr(data=csr().data * np.nan),
    "csc": sp.csc_matrix(ROW),
    "None": None,
}
LABELS = {
    **{
        f"dtype {name}": LABEL.astype(name) for name in ("i8", "i4", "u1", "f8", ">i8", "O", "?", "U1", "c16")
    },
    "True": np.array([True], dtype=object),
    "unknown": np.array([7]),
    "broken": np.array([0.5]),
    "NaN": np.array([np.nan]),
    "column": LABEL[:, None],
    "too many": Y[:2],
    "none": Y[:0],
    "scalar": np.array(1),
    "list": [0],
    "masked": np.ma.masked_equal(LABEL, LABEL[0]),
    "indicator": np.eye(3, dtype=int)[:1],
    "date": LABEL.astype("M8[D]"),
}
SETTINGS = {
    "max_iter": ("x", 2.0, True, 0, 7),
    "eta0": (True, -1.0, np.float32(0.5), 2**1024, "1", float("nan")),
    "n_jobs": (True, 2, 0, "x"),
    "random_state": ("x", 3, -1),
    "class_weight": ("balanced", {0: 2.0}, {0: "2"}, {0: 0.0}, {9: 1.0}, [1.0]),
    "verbose": (True, 1, "x"),
    "audit": (True, 1),
    "callback": (3, print),
    "early_stopping": (True, "x"),
    "tie": ("positive", 3),
    "warm_start": (True, "x"),
    "tol": ("x", None, -1.0),
}


@pytest.fixture
def the_long_way(monkeypatch):
    """Return what makes learners take no other."""

    def take():
        monkeypatch.setattr(passes, "_learn_in_place", lambda *_, **__: False)

    return take


def outcome(learner, change, rows, labels, classes=None, method="partial_fit"):
    """Return what a pass learns, or refuses, and of what it warns."""
    model = learner().partial_fit(X, Y, classes=[0, 1, 2]).partial_fit(X[:1], Y[:1])  # which keeps its rule
    change(model)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            answer = getattr(model, method)(rows, labels, classes=classes)
            found, told_first = (
                None,
                None if answer is model else (answer[0].dtype, answer[0].tolist(), answer[1]),
            )
        except (TypeError, ValueError) as error:
            found, told_first = (type(error), str(error)), None
    about = [(warning.category, str(warning.message)) for warning in told]
    return (
        found,
        told_first,
        about,
        {name: value for name, value in contents(model).items() if name != "_rule"},
    )


def compared(learner, cases, the_long_way):
    found = {name: outcome(learner, *case) for name, case in cases.items()}
    the_long_way()
    expected = {name: outcome(learner, *case) for name, case in cases.items()}
    assert {name: said for name, (said, *_) in found.items()} == {
        name: said for name, (said, *_) in expected.items()
    }
    assert found == expected
    assert {said is None for said, *_ in found.values()} == {False, True}


def unchanged(model):
    pass


@pytest.mark.parametrize("learner", PASSES)
def test_rows_of_all_kinds(learner, the_long_way):
    compared(learner, {name: (unchanged, rows, LABEL) for name, rows in ROWS.items()}, the_long_way)


@pytest.mark.parametrize("learner", PASSES)
def test_labels_of_all_kinds(learner, the_long_way):
    compared(learner, {name: (unchanged, ROW, labels) for name, labels in LABELS.items()}, the_long_way)


@pytest.mark.parametrize("learner", PASSES)
def test_classes_of_all_kinds(learner, the_long_way):
    known = np.arange(3)
    masked, other = np.ma.masked_equal(known, 1), known.view(OfUser)
    lists = (
        [0, 1, 2],
        [0.0, True, 2],
        [2, 1, 0],
        [0, 1],
        [0, 1, 2, 3],
        ["0", "1", "2"],
        [[0, 1, 2]],
        [known, 3],
    )
    arrays = (
        known,
        known * 1.0,
        known[::-1],
        known[:2],
        known + 1,
        known[None],
        known.astype("O"),
        masked,
        other,
    )
    others = (0, 1, 2), range(3), 3, "012", {0, 1, 2}, known.astype("U1"), known.astype(">i8")
    cases = {repr(kind): (unchanged, ROW, LABEL, kind) for kind in (*lists, *arrays, *others)}
    compared(learner, cases, the_long_way)


@pytest.mark.parametrize("learner", PASSES)
def test_rows_and_labels_that_are_predicted_first(learner, the_long_way):
    cases = {name: (rows, LABEL) for name, rows in ROWS.items()}
    cases |= {f"y: {name}": (ROW, labels) for name, labels in LABELS.items()}
    cases["several"] = X[2:], Y[2:]
    cases = {name: (unchanged, *given, None, "predict_then_learn") for name, given in cases.items()}
    compared(learner, cases, the_long_way)


def test_parameters_of_all_kinds(the_long_way):
    """Also those that no pass reads, and values that are equal to valid ones."""
    cases = {
        (name, str(value)): (lambda model, name=name, value=value: setattr(model, name, value), ROW, LABEL)
        for name, values in SETTINGS.items()
        for value in values
    }
    compared(Perceptron, cases, the_long_way)


@pytest.mark.parametrize("attribute", ["classes_", "n_features_in_", "feature_names_in_"])
def test_attributes_that_a_caller_has_set(attribute, the_long_way):
    values = {
        "classes_": (
            np.arange(2),
            np.arange(4),
            np.array([5, 6, 7]),
            np.array(["a", "b", "c"]),
            np.arange(1),
        ),
        "n_features_in_": (4, 5, 6),
        "feature_names_in_": (np.array(list("abcde"), dtype=object),),
    }[attribute]
    cases = {
        str(value): (lambda model, value=value: setattr(model, attribute, value), ROW, LABEL)
        for value in values
    }
    cases["none"] = (unchanged, ROW, LABEL)
    cases["no row"] = (unchanged, X[:0], Y[:0])
    compared(Perceptron, cases, the_long_way)


@pytest.mark.parametrize("learner", PASSES)
def test_a_row_is_looked_at_by_the_engine_alone(learner, engine_name, monkeypatch):
    """Neither scikit-learn nor the steps of a call that learns are needed."""
    model = learner(engine=engine_name).partial_fit(X, Y, classes=[0, 1, 2])
    model.partial_fit(ROW, LABEL)
    monkeypatch.setattr("perceptron_rs.linear.passes.train", None)
    before = model.n_seen_.max()
    for rows in (ROW, ROW.astype("f4"), sp.csr_matrix(ROW), sp.csr_array(ROW)):
        model.partial_fit(rows, LABEL)
    for classes in ([0, 1, 2], np.arange(3)):
        model.partial_fit(ROW, LABEL, classes=classes)
    monkeypatch.setattr("perceptron_rs.training.feeders.train", None)
    assert model.predict_then_learn(ROW, LABEL, classes=[0, 1, 2])[0].shape == (1,)
    assert model.n_seen_.max() == before + 7
    with pytest.raises(TypeError, match="NoneType"):
        model.partial_fit(ROW.tolist(), LABEL)
