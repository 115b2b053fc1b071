"""Bad X: a typed error that names X, and nothing changed, wherever it is given."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse as sp
from tests.learners import LINEAR

from perceptron_rs import KernelPerceptron, Perceptron

METHODS = ("cold fit", "fit", "warm fit", "partial_fit", "first partial_fit")
N, D = 12, 4
GOOD = np.arange(N * D, dtype=np.float64).reshape(N, D) % 7 - 3
Y = np.arange(N) % 3


def with_value(value, dtype=np.float64):
    X = GOOD.astype(dtype)
    X[5, 2] = value
    return X


def sparse(form="csr", **parts):
    """Return the good matrix with some parts assigned afterwards, as scipy lets one do."""
    X = getattr(sp, f"{form}_matrix")(GOOD)
    for name, change in parts.items():
        setattr(X, name, change(getattr(X, name).copy()))
    return X


def put(index, value):
    def change(array):
        array[index] = value
        return array

    return change


AT = r"in row 5 \(counted from 0\), column 2; fill it in"
BAD_X = {
    "NaN": (with_value(np.nan), ValueError, f"NaN {AT}"),
    "infinity": (with_value(np.inf), ValueError, f"infinity .* {AT}"),
    "-infinity": (with_value(-np.inf), ValueError, f"infinity .* {AT}"),
    "NaN float32": (with_value(np.nan, np.float32), ValueError, f"NaN {AT}"),
    "infinity float16": (with_value(np.inf, np.float16), ValueError, f"infinity .* {AT}"),
    "longdouble too large": (
        with_value(np.longdouble("1e400"), np.longdouble),
        ValueError,
        f"infinity .* {AT}",
    ),
    "NaN in CSR": (sparse(data=put(3, np.nan)), ValueError, r"NaN in row 1 \(counted from 0\), column 0;"),
    "infinity in CSR": (sparse(data=put(3, np.inf)), ValueError, "infinity"),
    "NaN in CSC": (sparse("csc", data=put(3, np.nan)), ValueError, "NaN"),
    "NaN in object": (with_value(np.nan, object), ValueError, f"NaN {AT}"),
    "None in object": (with_value(None, object), ValueError, f"NaN {AT}"),
    "complex": (GOOD.astype(complex), ValueError, "complex"),
    "complex in object": (with_value(1j, object), TypeError, "complex"),
    "complex CSR": (sp.csr_matrix(GOOD.astype(complex)), ValueError, "complex"),
    "strings": (GOOD.astype(str), ValueError, "<U"),
    "bytes": (GOOD.astype("S5"), ValueError, r"\|S5"),
    "strings in object": (with_value("1", object), ValueError, "string"),
    "list of strings": ([["a", "b", "c", "d"]] * N, ValueError, "string|str"),
    "datetime": (GOOD.astype("M8[s]"), TypeError, "datetime64"),
    "timedelta": (GOOD.astype("m8[s]"), TypeError, "timedelta64"),
    "structured": (np.zeros((N, D), dtype=[("a", "f8")]), TypeError, r"\('a', '<f8'\)"),
    "dict in object": (with_value({}, object), TypeError, "dict"),
    "integer too large": (with_value(10**400, object), ValueError, "large"),
    "masked": (np.ma.masked_equal(GOOD, 0), ValueError, "masked"),
    "np.matrix": (GOOD.view(np.matrix), TypeError, "matrix"),
    "one-dimensional": (GOOD[0], ValueError, "2D"),
    "three-dimensional": (GOOD[None], ValueError, "dim 3"),
    "scalar": (3.0, ValueError, "2D"),
    "no rows": (GOOD[:0], ValueError, "0 sample"),
    "no columns": (GOOD[:, :0], ValueError, "0 feature"),
    "ragged": ([[1, 2], [3]], ValueError, "inhomogeneous"),
    "None": (None, ValueError, "2D"),
    "text": ("abc", ValueError, "2D|string"),
    "index too large": (sparse(indices=put(0, D)), ValueError, "indices"),
    "index far too large": (sparse(indices=put(0, 2**31 - 1)), ValueError, "indices"),
    "negative index": (sparse(indices=put(0, -1)), ValueError, "indices"),
    "64-bit index too large": (
        sparse(indices=lambda a: put(0, 2**40)(a.astype(np.int64))),
        ValueError,
        "indices",
    ),
    "indptr decreases": (sparse(indptr=put(2, 99)), ValueError, "indptr"),
    "indptr negative": (sparse(indptr=put(1, -5)), ValueError, "indptr"),
    # Which 32 bits would take for the right number.
    "indptr negative of 64 bits": (
        sparse(indptr=lambda a: put(1, int(a[1]) - 2**32)(a.astype(np.int64))),
        ValueError,
        "indptr",
    ),
    "indptr large of 64 bits": (
        sparse(indptr=lambda a: put(1, int(a[1]) + 2**32)(a.astype(np.int64))),
        ValueError,
        "indptr",
    ),
    "indptr starts late": (sparse(indptr=put(0, 1)), ValueError, "indptr"),
    "indptr ends too high": (sparse(indptr=put(-1, 10**6)), ValueError, "indptr"),
    "indptr too short": (sparse(indptr=lambda a: a[:-1]), ValueError, "indptr"),
    "indptr too long": (sparse(indptr=lambda a: np.append(a, a[-1])), ValueError, "indptr"),
    "indptr empty": (sparse(indptr=lambda a: a[:0]), ValueError, "indptr"),
    "indptr float": (sparse(indptr=lambda a: a.astype(float)), ValueError, "indptr"),
    "indptr huge uint64": (
        sparse(indptr=lambda a: put(2, 2**63 + 1)(a.astype(np.uint64))),
        ValueError,
        "indptr",
    ),
    "indices float": (sparse(indices=lambda a: a.astype(float)), ValueError, "indices"),
    "indices short": (sparse(indices=lambda a: a[:-3]), ValueError, "indices"),
    "indices two-dimensional": (sparse(indices=lambda a: a[:, None]), ValueError, "indices"),
    "indices a list": (sparse(indices=lambda a: a.tolist()), ValueError, "indices"),
    "data short": (sparse(data=lambda a: a[:-3]), ValueError, "values|data"),
    "data a list": (sparse(data=lambda a: a.tolist()), ValueError, "data"),
    "indptr a list": (sparse(indptr=lambda a: a.tolist()), ValueError, "indptr"),
    "data None": (sparse(data=lambda a: None), ValueError, "data"),
    "data two-dimensional": (sparse(data=lambda a: a[:, None]), ValueError, "data"),
    "data strings": (sparse(data=lambda a: a.astype(str)), ValueError, "<U"),
    "data structured": (sparse(data=lambda a: np.zeros(len(a), [("a", "f8")])), TypeError, "'a'"),
    "CSC index": (sparse("csc", indices=put(0, N)), ValueError, "ind"),
    "CSC index far": (sparse("csc", indices=put(0, 2**30)), ValueError, "ind"),
    "CSC index negative": (sparse("csc", indices=put(0, -(2**30))), ValueError, "ind"),
    "CSC indptr": (sparse("csc", indptr=put(2, 99)), ValueError, "ind"),
    "CSC indptr negative": (sparse("csc", indptr=put(1, -(2**20))), ValueError, "ind"),
    "CSC indptr end": (sparse("csc", indptr=put(-1, 10**6)), ValueError, "ind"),
    "CSC short": (sparse("csc", indices=lambda a: a[:-3]), ValueError, "ind"),
    "CSC float": (sparse("csc", indices=lambda a: a + 0.5), ValueError, "indices"),
    "CSC a list": (sparse("csc", indices=lambda a: a.tolist()), ValueError, "indices"),
    "BSR index": (sparse("bsr", indices=put(0, 2**20)), ValueError, "ind"),
    "BSR indptr": (sparse("bsr", indptr=put(1, -(2**20))), ValueError, "ind"),
    "COO row": (sparse("coo", row=put(0, 2**20)), ValueError, "row"),
    "COO row negative": (sparse("coo", row=put(0, -(2**20))), ValueError, "row"),
    "COO col": (sparse("coo", col=put(0, 2**20)), ValueError, "col"),
    "COO row past the end": (sparse("coo", row=put(0, N)), ValueError, "row"),
    "COO col past the end": (sparse("coo", col=put(0, D)), ValueError, "col"),
    "COO col negative": (sparse("coo", col=put(0, -1)), ValueError, "col"),
    "COO short": (sparse("coo", data=lambda a: a[:-2]), ValueError, "row, col and data"),
    "LIL column": (sparse("lil", rows=lambda a: put(0, [2**20, *a[0][1:]])(a)), ValueError, "indices|column"),
    "LIL lengths": (sparse("lil", rows=lambda a: put(0, [0])(a)), ValueError, "rows and data"),
    "DIA offsets": (sparse("dia", offsets=lambda a: a[:-1]), ValueError, "offset"),
}


#: One of each kind, for the methods that look at X in the same place as ``fit``.
KINDS = (
    "NaN",
    "infinity in CSR",
    "complex",
    "list of strings",
    "masked",
    "no rows",
    "index too large",
    "CSC short",
)


# What an engine itself refuses, tests/rows tries on both.
@pytest.mark.parametrize(
    ("engine_name", "method", "name"),
    [("rust", "fit", name) for name in BAD_X]
    + [("rust", method, name) for method in METHODS if method != "fit" for name in KINDS]
    + [("reference", "fit", name) for name in KINDS],
)
def test_bad_x(attempt, engine_name, name, method):
    X, error, pattern = BAD_X[name]
    able = [learner for learner in LINEAR if "partial" not in method or hasattr(learner, "partial_fit")]
    assert len(able) >= 2
    for learner in able:
        attempt(learner, engine_name, method, error, pattern, "X", X=X)


@pytest.mark.parametrize(
    ("engine_name", "method", "name"),
    [("rust", "decision_function", name) for name in BAD_X]
    + [("rust", method, name) for method in ("predict", "score") for name in KINDS]
    + [("reference", "decision_function", name) for name in KINDS],
)
def test_bad_x_in_prediction(frozen, engine_name, name, method):
    X, error, pattern = BAD_X[name]
    model = Perceptron(engine=engine_name, tol=None, max_iter=2).fit(GOOD, Y)
    before, given = frozen(model.__getstate__()), frozen(X)
    with pytest.raises(error) as caught:
        getattr(model, method)(X, *([Y] if method == "score" else []))
    assert re.search(pattern, str(caught.value), re.IGNORECASE), str(caught.value)
    assert re.search(r"\bX\b", str(caught.value)), str(caught.value)
    assert frozen(model.__getstate__()) == before
    assert frozen(X) == given


@pytest.mark.parametrize("learner", [Perceptron, KernelPerceptron])
@pytest.mark.parametrize(("of_classes", "of_examples"), [({0: 0.0}, [1.0, 0.0]), ({0: 0.0, 1: 0.0}, None)])
def test_weights_that_leave_nothing(learner, of_classes, of_examples):
    """Also where those of the classes, and those of the examples, leave something alone."""
    with pytest.raises(ValueError, match="leave no example of positive weight; there is nothing to learn"):
        learner(class_weight=of_classes).fit([[1.0], [2.0]], [0, 1], sample_weight=of_examples)
