"""X in every type and layout: the same bits, no copy where none is needed, nothing modified."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from perceptron_rs import (
    BudgetedKernelPerceptron,
    KernelPerceptron,
    MultilayerPerceptron,
    Perceptron,
    VotedPerceptron,
    is_separable,
    joint_margin,
    load,
    max_margin,
)
from perceptron_rs.arrays.csr import without_duplicates
from perceptron_rs.engines import get_engine
from perceptron_rs.io import open_arrays
from perceptron_rs.rows.examples import examples
from perceptron_rs.rows.storage import to_stored

#: Types that the engine reads where they are.
STORED = ("f8", "f4", "f2", "i4", "i2", "u2", "i1", "u1")
RNG = np.random.default_rng(6)
SMALL = RNG.integers(0, 100, (30, 5))
Y = RNG.integers(0, 3, 30)
Y[:3] = [0, 1, 2]


def learnt(X, engine, y=Y):
    model = Perceptron(engine=engine, tol=None, max_iter=4).fit(X, y)
    return model.coef_.tobytes(), model.intercept_.tobytes(), model.decision_function(X).tobytes()


@pytest.fixture(scope="module")
def expected():
    return learnt(SMALL.astype(np.float64), "reference")


TYPES = [
    "f8",
    "f4",
    "f2",
    ml_dtypes.bfloat16,
    ">f2",
    "g",
    "i1",
    "u1",
    "i2",
    "u2",
    "i4",
    "u4",
    "i8",
    "u8",
    ">f8",
    ">i4",
    ">f4",
    ">u2",
    "O",
]


@pytest.mark.parametrize("dtype", TYPES)
def test_types(engine_name, expected, dtype):
    X = SMALL.astype(dtype)
    before = X.copy()
    assert learnt(X, engine_name) == expected
    np.testing.assert_array_equal(X, before)
    if dtype not in ("g", "O"):
        matrix = sp.csr_matrix(SMALL)
        matrix.data = matrix.data.astype(dtype)
        assert learnt(matrix, engine_name) == expected


def test_bool(engine_name):
    bits = SMALL > 50
    assert learnt(bits, engine_name) == learnt(bits.astype(float), engine_name)
    assert learnt(sp.csr_matrix(bits), engine_name) == learnt(bits.astype(float), engine_name)


@pytest.mark.parametrize(
    ("values", "stored"),
    [
        (np.array([[True, False]]), np.uint8),
        (np.array([[2**31 - 1, -(2**31)]]), np.int32),
        (np.array([[2**31, 0]]), np.float64),
        (np.array([[2**31]], dtype=np.uint32), np.float64),
        (np.array([[7]], dtype=np.uint64), np.uint8),
        (np.array([[0, 255]]), np.uint8),
        (np.array([[-128, 127]]), np.int8),
        (np.array([[0, 256]]), np.uint16),
        (np.array([[-1, 128]]), np.int16),
        (np.array([[65536]], dtype=np.uint32), np.int32),
        (np.array([[-32769]]), np.int32),
        (np.array([[2**64 - 1]], dtype=np.uint64), np.float64),
        (np.array([[1.5]], dtype=np.longdouble), np.float64),
        (np.array([[1, Fraction(1, 3)]], dtype=object), np.float64),
        (np.array([[1.5]], dtype=">f4"), np.float32),
    ],
)
def test_conversions(values, stored):
    found = to_stored(values)
    assert found.dtype == stored
    np.testing.assert_array_equal(found, values.astype(np.float64))


@pytest.mark.parametrize("dtype", [*STORED, ml_dtypes.bfloat16])
def test_stored_types_are_not_copied(engine_name, dtype):
    model, engine = Perceptron(), get_engine(engine_name)
    X = np.ascontiguousarray(SMALL.astype(dtype))
    for given in (X, X[3:9]):
        found = examples(model, engine, given, reset=True).values
        assert found.ctypes.data == given.ctypes.data
        assert found.dtype == given.dtype
    X.flags.writeable = False
    assert examples(model, engine, X, reset=True).values.ctypes.data == X.ctypes.data
    for index in (np.int32, np.int64):
        matrix = sp.csr_matrix(SMALL)
        matrix.data = matrix.data.astype(dtype)
        matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
        found = examples(model, engine, matrix, reset=True)
        assert found.values.ctypes.data == matrix.data.ctypes.data
        assert found.indptr.ctypes.data == matrix.indptr.ctypes.data


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_boolean_is_true_unless_its_byte_is_0(engine_name, order):
    """C code may leave other bytes than 0 and 1; NumPy takes them for true, and its comparisons go wrong."""
    random = np.random.default_rng(0)
    X, y = random.random((40, 5)) < 0.5, random.random(40) < 0.5
    odd = np.array(np.where(X, 7, 0), dtype=np.uint8, order=order).view(np.bool_)
    odd_y = np.where(y, random.integers(1, 256, 40), 0).astype(np.uint8).view(np.bool_)
    model, other = (Perceptron(engine=engine_name, max_iter=3, tol=None) for _ in range(2))
    model.fit(X, y)
    assert other.fit(odd, odd_y).coef_.tobytes() == model.coef_.tobytes()
    assert other.classes_.tolist() == [False, True]
    assert other.score(odd, odd_y) == model.score(X, y)
    weights = sp.csr_matrix(X)
    weights.data = np.full(weights.nnz, 3, dtype=np.uint8).view(np.bool_)
    assert other.fit(weights, y).coef_.tobytes() == model.coef_.tobytes()


def test_bool_is_not_copied(engine_name):
    X = SMALL > 50
    found = examples(Perceptron(), get_engine(engine_name), X, reset=True).values
    assert found.ctypes.data == X.ctypes.data
    assert found.dtype == np.uint8


LAYOUTS = {
    "fortran": np.asfortranarray,
    "rows strided": lambda X: np.repeat(X, 2, axis=0)[::2],
    "columns strided": lambda X: np.repeat(X, 3, axis=1)[:, ::3],
    "reversed": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "misaligned": lambda X: (
        np.frombuffer(b"\0" + X.tobytes(), dtype=np.uint8)[1:].view(X.dtype).reshape(X.shape)
    ),
    "read-only": lambda X: np.frombuffer(X.tobytes(), dtype=X.dtype).reshape(X.shape),
    "list": lambda X: X.tolist(),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["f8", "u1", "i4"])
def test_layouts(engine_name, expected, layout, dtype):
    X = LAYOUTS[layout](np.ascontiguousarray(SMALL.astype(dtype)))
    np.testing.assert_array_equal(X, SMALL)
    assert learnt(X, engine_name) == expected


@pytest.mark.parametrize("dtype", ["f4", "u1"])
def test_memory_map(engine_name, expected, tmp_path, dtype):
    np.save(tmp_path / "X.npy", SMALL.astype(dtype))
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    found = examples(Perceptron(), get_engine(engine_name), X, reset=True).values
    assert found.ctypes.data == X.ctypes.data
    assert learnt(X, engine_name) == expected


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"])
@pytest.mark.parametrize("kind", ["matrix", "array"])
def test_sparse_formats(engine_name, expected, form, kind):
    X = getattr(sp, f"{form}_{kind}")(SMALL)
    before = X.copy()
    assert learnt(X, engine_name) == expected
    np.testing.assert_array_equal(X.toarray(), before.toarray())
    assert X.format == form


@pytest.mark.parametrize("indices", [np.int32, np.int64, np.int16, np.uint32, ">i4"])
@pytest.mark.parametrize("indptr", [np.int32, np.int64])
def test_index_types(engine_name, expected, indices, indptr):
    X = sp.csr_matrix(SMALL)
    X.indices, X.indptr = X.indices.astype(indices), X.indptr.astype(indptr)
    assert learnt(X, engine_name) == expected


@pytest.mark.parametrize("dtype", ["u1", "f4", "f8"])
def test_unsorted_and_duplicate_entries(engine_name, dtype):
    indptr = np.array([0, 4, 4, 7, 8], dtype=np.int32)
    indices = np.array([3, 0, 3, 1, 2, 2, 2, 0], dtype=np.int32)
    data = np.array([1, 2, 200, 4, 100, 100, 100, 5], dtype=dtype)
    X = sp.csr_matrix((data, indices, indptr), shape=(4, 5))
    dense = np.zeros((4, 5))
    np.add.at(dense, (np.repeat(np.arange(4), np.diff(indptr)), indices), data.astype(np.float64))
    assert dense[2, 2] == 300  # more than uint8 holds
    assert learnt(X, engine_name, Y[:4]) == learnt(dense, engine_name, Y[:4])
    np.testing.assert_array_equal(X.indices, [3, 0, 3, 1, 2, 2, 2, 0])
    np.testing.assert_array_equal(X.data, data)
    assert X.indices.ctypes.data == indices.ctypes.data


def test_duplicates_are_added_in_stored_order():
    data = np.array([1e16, 1.0, -1e16, 1.0])
    indptr, indices, values = without_duplicates(np.array([0, 4, 4]), np.array([1, 1, 1, 1]), data)
    assert values.tolist() == [((1e16 + 1.0) - 1e16) + 1.0]
    assert indptr.tolist() == [0, 1, 1]
    assert indices.tolist() == [1]


def test_unsorted_rows_keep_their_types():
    given = (np.array([0, 2]), np.array([1, 0]), np.array([1, 2], dtype=np.int8))
    given = (given[0].astype(np.int32), given[1].astype(np.int32), given[2])
    indptr, indices, values = without_duplicates(*given)
    assert (indptr.dtype, indices.dtype, values.dtype) == (np.int32, np.int32, np.int8)
    assert (indices.tolist(), values.tolist()) == ([0, 1], [2, 1])


def pandas_frame(X):
    return pytest.importorskip("pandas").DataFrame(X, columns=list("abcde"))


def pandas_mixed(X):
    frame = pandas_frame(X)
    return frame.astype({"a": "int8", "b": "float32", "c": "Int64", "d": "bool", "e": "float64"}).astype(
        {"d": "int8"}
    )


def pandas_sparse(X):
    pd = pytest.importorskip("pandas")
    return pandas_frame(X).astype(pd.SparseDtype("float64", 0.0))


def polars_frame(X):
    return pytest.importorskip("polars").DataFrame(X, schema=list("abcde"))


def arrow_table(X):
    return pytest.importorskip("pyarrow").table({name: X[:, j] for j, name in enumerate("abcde")})


@pytest.mark.parametrize("frame", [pandas_frame, pandas_mixed, pandas_sparse, polars_frame, arrow_table])
def test_data_frames(engine_name, frame):
    values = SMALL.copy()
    if frame is pandas_mixed:
        values[:, 3] = values[:, 3] > 50
    X = frame(values)
    model = Perceptron(engine=engine_name, tol=None, max_iter=4).fit(X, Y)
    plain = Perceptron(engine=engine_name, tol=None, max_iter=4).fit(values, Y)
    assert model.coef_.tobytes() == plain.coef_.tobytes()
    assert model.decision_function(X).tobytes() == plain.decision_function(values).tobytes()
    if frame in (pandas_frame, pandas_mixed, pandas_sparse) or hasattr(model, "feature_names_in_"):
        assert model.feature_names_in_.tolist() == list("abcde")


def test_labels_as_series(engine_name, expected):
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    X = SMALL.astype(float)
    for y in (pd.Series(Y), pd.Series(Y).astype("Int64"), pl.Series(Y), Y.tolist()):
        assert learnt(X, engine_name, y) == expected
    names = np.array(["a", "b", "c"])[Y]
    for y in (pd.Series(names), pd.Series(names).astype("category"), pl.Series(names), names.tolist()):
        assert learnt(X, engine_name, y) == expected


@pytest.mark.parametrize("dtype", ["f8", "f4", "u1"])
@pytest.mark.parametrize("columns", [5, 70])
def test_any_number_of_classes(dtype, columns):
    X = np.random.default_rng(columns).integers(0, 100, (30, columns)).astype(dtype)
    if dtype != "u1":
        X *= np.asarray(0.37, dtype)
    for classes in range(2, 14):  # planes share the loads of a row in groups of several sizes
        y = np.arange(30) % classes
        assert learnt(X, "rust", y) == learnt(X, "reference", y)


@pytest.mark.parametrize("bytes_of_row", [8, 504, 512, 520])
@pytest.mark.parametrize("dtype", STORED)
def test_scores_of_any_number_of_rows(dtype, bytes_of_row):
    """Rows of up to 512 bytes are scored together; the oracle adds eight lanes column by column."""
    d = bytes_of_row // np.dtype(dtype).itemsize
    X = RNG.integers(0, 100, (11, d)).astype(dtype)
    if X.dtype.kind == "f":
        X /= 7
    w = RNG.standard_normal(d)
    model = Perceptron(max_iter=1, tol=None).fit(X[:2], [0, 1])
    model.coef_, model.intercept_ = w[np.newaxis], np.array([0.3])
    lanes = np.zeros((11, 8))
    for j in range(d):
        lanes[:, j % 8] += X[:, j].astype(np.float64) * w[j]
    t = lanes[:, :4] + lanes[:, 4:]
    u = t[:, :2] + t[:, 2:]
    expected = u[:, 0] + u[:, 1] + 0.3
    for start in range(3):
        for stop in range(start + 1, 12):
            assert model.decision_function(X[start:stop]).tobytes() == expected[start:stop].tobytes()


@pytest.mark.parametrize("learner", [VotedPerceptron, KernelPerceptron, BudgetedKernelPerceptron])
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_rows_of_16_bits_are_kept_in_a_type_that_files_have(tmp_path, learner, dtype):
    X = np.random.default_rng(0).integers(-8, 8, (60, 7)) / 4
    y = X[:, 0] + X[:, 1] > 0
    wanted = learner().fit(X, y).decision_function(X).tobytes()
    sparse = sp.csr_matrix(X)
    sparse.data = sparse.data.astype(dtype)
    for given in (X.astype(dtype), np.asfortranarray(X.astype(dtype)), sparse):
        model = learner().fit(given, y)
        assert model.decision_function(given).tobytes() == wanted
        model.save(tmp_path / "model")
        assert load(tmp_path / "model").decision_function(X).tobytes() == wanted


@pytest.mark.parametrize("name", ["id", None])
@pytest.mark.parametrize("learner", [Perceptron, KernelPerceptron, VotedPerceptron, MultilayerPerceptron])
def test_the_index_of_pandas_is_no_feature(learner, name):
    """Arrow tables keep it as a column, and a note that it is one."""
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    X, y = np.array([[1, 2], [2, 1], [3, 5], [4, 0]]), np.array([0, 1, 0, 1])
    frame = pandas.DataFrame(X, columns=["a", "b"], index=pandas.Index([40, 10, 30, 20], name=name))
    table, labels = arrow.Table.from_pandas(frame), arrow.Table.from_pandas(frame.assign(y=y)[["y"]])
    assert table.num_columns == 3
    model = learner(max_iter=3, tol=None)
    expected = clone(model).fit(X, y)
    forms = [table, table.to_batches()[0]]
    for given in forms:
        found = clone(model).fit(given, y)
        assert found.n_features_in_ == 2
        assert found.decision_function(given).tobytes() == expected.decision_function(X).tobytes()
    assert clone(model).fit(frame, y).predict(table).tolist() == expected.predict(X).tolist()
    learners = [clone(model).partial_fit(table, y, classes=[0, 1])]
    if hasattr(model, "fit_stream"):
        learners += [clone(model).fit_stream([(given, y)]) for given in forms]
        learners += [clone(model).fit_stream(open_arrays(table, y))]
    for found in learners:
        assert found.n_features_in_ == 2
    with pytest.warns(match="column-vector"):
        assert clone(model).fit(frame, labels).classes_.tolist() == [0, 1]


def test_what_is_proved_is_not_of_the_index():
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"a": [1, 1, 2, 2]}, index=pandas.Index([1, 2, 2**53 + 1, 4], name="id"))
    table, y = arrow.Table.from_pandas(frame), [0, 1, 0, 1]
    assert not is_separable(table, y)
    y = [0, 0, 1, 1]
    assert str(max_margin(table, y)) == str(max_margin(frame, y))
    for found in (joint_margin(table, y), joint_margin(frame, y)):
        assert found.coef.shape == (2, 1)
