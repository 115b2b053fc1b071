"""CSR rows: the bits of dense ones, and what is refused before it can do harm."""

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs import _core
from perceptron_rs.engines import forced_instruction_set, instruction_sets
from perceptron_rs.rows.selection import concatenate_rows, select_columns

TYPES = ["float64", "float32", "int8", "uint8", "int16", "uint16", "int32"]
INDICES = [np.int32, np.int64]


def parts(index=np.int32, dtype=np.float64, **changes):
    """Return the matrix [[1, 0, 2], [0, 0, 0], [0, 3, 0]]."""
    arrays = {
        "indptr": np.array([0, 2, 2, 3], dtype=index),
        "indices": np.array([0, 2, 1], dtype=index),
        "values": np.array([1, 2, 3], dtype=dtype),
        "n_columns": 3,
    }
    for name, value in changes.items():
        arrays[name] = np.array(value, dtype=index) if isinstance(value, list) else value
    return arrays


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("dtype", TYPES)
def test_accepted(engine, dtype, index):
    rows = engine.csr_rows(**parts(index, dtype))
    assert tuple(rows.shape) == (3, 3)
    assert rows.canonical
    scores = engine.scores(rows, np.array([[1.0, 10.0, 100.0]]), np.zeros(1), threads=1)
    assert scores.tolist() == [[201.0], [0.0], [30.0]]


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("dtype", TYPES)
def test_a_fit_has_the_bits_of_a_dense_one(trainer, dtype, index):
    rng = np.random.default_rng(0)
    X = (rng.integers(0, 100, (80, 37)) * (rng.random((80, 37)) < 0.2)).astype(dtype)
    if X.dtype.kind == "f":
        X *= X.dtype.type(0.1)
        X[X == 0] *= -1  # zeros of either sign
    labels = rng.integers(0, 3, 80)
    sparse = sp.csr_matrix(X)
    sparse.indices, sparse.indptr = sparse.indices.astype(index), sparse.indptr.astype(index)
    start = trainer.start(37, 3, coef=rng.standard_normal((3, 37)), intercept=rng.standard_normal(3))
    arguments = {"positive": [0, 1, 2], "max_iter": 5, "eta0": 0.3, "seed": 1, "state": start}
    dense, csr = trainer.fit(X, labels, **arguments), trainer.fit(sparse, labels, **arguments)
    for name in dense["state"]:
        assert csr["state"][name].tobytes() == dense["state"][name].tobytes(), name
    assert csr["losses"].tobytes() == dense["losses"].tobytes()


@pytest.mark.parametrize("planes", [3, 5, 9, 16, 20, 21, 25, 32, 45])
def test_planes_together_have_the_bits_of_each_alone(trainer, planes):
    rng = np.random.default_rng(planes)
    X = rng.standard_normal((60, 90)) * (rng.random((60, 1)) > rng.random((60, 90)))  # 0 to 90 entries
    labels, rows = rng.integers(0, planes, 60), sp.csr_matrix(X)
    arguments = {"max_iter": 1, "eta0": 0.3}
    coef = rng.standard_normal((planes, 90))
    together = trainer.fit(
        rows, labels, positive=list(range(planes)), state=trainer.start(90, planes, coef=coef), **arguments
    )
    for k in range(planes):
        alone = trainer.fit(
            rows, labels, positive=[k], state=trainer.start(90, 1, coef=coef[k : k + 1]), **arguments
        )
        assert together["state"]["coef"][k].tobytes() == alone["state"]["coef"][0].tobytes()
        assert together["state"]["intercept"][k] == alone["state"]["intercept"][0]
    state = together["state"]
    scores = trainer.scores(rows, state["coef"], state["intercept"])
    for k in range(planes):
        alone = trainer.scores(rows, state["coef"][k : k + 1], state["intercept"][k : k + 1])
        assert scores[:, k].tobytes() == alone[:, 0].tobytes()


def test_stored_zeros_change_nothing(trainer):
    stored = sp.csr_matrix((np.array([1.0, 0.0, -0.0, 2.0]), [0, 1, 2, 2], [0, 3, 4]), shape=(2, 3))
    plain = sp.csr_matrix(stored.toarray())
    a, b = (trainer.fit(X, [0, 1], max_iter=5, eta0=0.1)["state"] for X in (stored, plain))
    for name in a:
        assert a[name].tobytes() == b[name].tobytes(), name


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 2.0**-140])
@pytest.mark.parametrize("w", [0.0, 1.0, -3.0])
def test_what_is_no_integer_is_not_computed_as_one(trainer, dtype, value, w):
    """Among integers, where exact sums would be taken: 0 times infinity is not a number."""
    X = sp.csr_matrix(np.array([[2, 0, 1], [0, value, 3], [1, 1, 1]], dtype=dtype))
    scores = trainer.scores(X, [[w, w, w]], 0.5)[:, 0]
    with np.errstate(invalid="ignore"):
        expected = [w * 3 + 0.5, w * value + w * 3 + 0.5, w * 3 + 0.5]
    assert np.array_equal(scores, expected, equal_nan=True)


@pytest.mark.parametrize("index", INDICES)
def test_one_fault_among_many_rows_is_found(engine, index):
    rng = np.random.default_rng(3)
    lengths = np.r_[rng.integers(0, 40, 700), 9000, rng.integers(0, 40, 300)]
    indptr = np.r_[0, np.cumsum(lengths)]
    indices = np.concatenate([np.sort(rng.choice(10_000, n, replace=False)) for n in lengths])

    def rows(changed):
        return engine.csr_rows(indptr.astype(index), changed.astype(index), np.ones(len(indices)), 10_000)

    assert rows(indices).canonical
    for row in [*rng.permutation(1001)[:100], *np.flatnonzero(lengths > 1)[[0, -1]], 700]:
        for place in (indptr[row], indptr[row + 1] - 2) if lengths[row] > 1 else ():
            equal, outside = indices.copy(), indices.copy()
            equal[place] = equal[place + 1]
            assert not rows(equal).canonical
            equal[place : place + 2] = 10_000, 5
            last = indptr[row + 1] - 1
            outside[last] = 10_000
            for changed, entry in (equal, place), (outside, last):
                with pytest.raises(ValueError, match=rf"(row {row} must be .*|got 10000 at entry {entry}\b)"):
                    rows(changed)


CANONICAL = {
    "empty": ([0], [], True),
    "empty rows": ([0, 0, 0, 0], [], True),
    "sorted": ([0, 2, 2, 4], [1, 2, 0, 2], True),
    "falls only between rows": ([0, 0, 2, 2, 3, 3], [1, 2, 0], True),
    "equal only between rows": ([0, 1, 2, 3], [1, 1, 1], True),
    "unsorted": ([0, 2, 3], [2, 1, 0], False),
    "unsorted in the last row": ([0, 0, 1, 3], [1, 2, 0], False),
    "duplicate": ([0, 1, 3], [0, 1, 1], False),
}


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("case", CANONICAL)
def test_canonical(engine, trainer, case, index):
    indptr, indices, canonical = CANONICAL[case]
    arrays = parts(index, indptr=indptr, indices=indices, values=np.ones(len(indices)))
    rows = engine.csr_rows(**arrays)
    assert rows.canonical == canonical
    n = len(indptr) - 1
    X = sp.csr_matrix((n, 3))
    X.indptr, X.indices, X.data = arrays["indptr"], arrays["indices"], arrays["values"]
    if canonical:
        assert trainer.scores(X, np.ones(3), 0.0).shape == (n, 1)
    else:
        with pytest.raises(ValueError, match="sorted and unique in every row; call sort_indices"):
            trainer.scores(X, np.ones(3), 0.0)
        with pytest.raises(ValueError, match="sorted and unique in every row; call sort_indices"):
            trainer.fit(X, [0] * n)


MALFORMED = {
    "no indptr": ({"indptr": []}, "indptr"),
    "indptr starts late": ({"indptr": [1, 2, 2, 3]}, "indptr"),
    "indptr starts negative": ({"indptr": [-1, 2, 2, 3]}, "indptr"),
    "indptr falls": ({"indptr": [0, 2, 1, 3]}, "indptr"),
    "indptr negative": ({"indptr": [0, -2, 2, 3]}, "indptr"),
    "indptr ends early": ({"indptr": [0, 2, 2, 2]}, "indptr"),
    "indptr ends late": ({"indptr": [0, 2, 2, 4]}, "indptr"),
    "indptr far out": ({"indptr": [0, 2, 2**31 - 1, 3]}, "indptr"),
    "indices too short": ({"indices": [0, 2]}, "indices"),
    "values too short": ({"values": np.ones(2)}, "indices"),
    "index out of range": ({"indices": [0, 3, 1]}, "indices"),
    "index negative": ({"indices": [0, -1, 1]}, "indices"),
    "no columns": ({"n_columns": 0}, "indices"),
}


@pytest.mark.parametrize("case", MALFORMED)
@pytest.mark.parametrize("index", INDICES)
def test_malformed(engine, case, index):
    changes, name = MALFORMED[case]
    with pytest.raises(ValueError, match=name):
        engine.csr_rows(**parts(index, **changes))


@pytest.mark.parametrize("name", ["indptr", "indices", "values"])
def test_strided_arrays(engine, name):
    arrays = parts()
    arrays[name] = np.repeat(arrays[name], 2)[::2]
    with pytest.raises(ValueError, match="contiguous"):
        engine.csr_rows(**arrays)


@pytest.mark.parametrize("name", ["indptr", "indices", "values"])
def test_arrays_of_two_axes(engine, name):
    arrays = parts()
    arrays[name] = arrays[name][:, np.newaxis]
    said = {
        "values": (ValueError, r"values must have 1 axes, got shape \(3, 1\); reshape it"),
        "indptr": (TypeError, "indptr and indices must both be .* vectors, got int32 and int32"),
    }
    kind, text = said.get(name, said["indptr"])
    with pytest.raises(kind, match=text):
        engine.csr_rows(**arrays)


TYPE_ERRORS = {
    "indices of another width": {"indices": np.array([0, 2, 1], dtype=np.int64)},
    "unsigned indices": {"indices": np.array([0, 2, 1], dtype=np.uint32)},
    "unsigned both": {
        "indices": np.array([0, 2, 1], dtype=np.uint32),
        "indptr": np.array([0, 2, 2, 3], dtype=np.uint32),
    },
    "float indptr": {"indptr": np.array([0.0, 2.0, 2.0, 3.0])},
    "int64 values": {"values": np.array([1, 2, 3], dtype=np.int64)},
    "bool values": {"values": np.array([True, True, True])},
    "complex values": {"values": np.array([1j, 2, 3])},
    "big-endian values": {"values": np.array([1, 2, 3], dtype=">f8")},
}


@pytest.mark.parametrize("case", TYPE_ERRORS)
def test_types_that_do_not_fit(engine, case):
    arrays = parts(**TYPE_ERRORS[case])
    if "values" in case:
        text = rf"values has dtype {arrays['values'].dtype}; convert it to one of float64, .*, bfloat16$"
    else:
        found = f"{arrays['indptr'].dtype} and {arrays['indices'].dtype}"
        text = f"indptr and indices must both be int32 or both int64 vectors, got {found}; convert them first"
    with pytest.raises(TypeError, match=text):
        engine.csr_rows(**arrays)


def test_nothing_is_written(trainer):
    X = sp.random(20, 9, density=0.4, format="csr", random_state=0)
    before = X.data.tobytes(), X.indices.tobytes(), X.indptr.tobytes()
    for array in (X.data, X.indices, X.indptr):
        array.setflags(write=False)
    trainer.fit(X, [0, 1] * 10, max_iter=3)
    assert (X.data.tobytes(), X.indices.tobytes(), X.indptr.tobytes()) == before


@pytest.mark.parametrize("name", instruction_sets())
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_scores_of_short_rows_have_the_bits_of_dense_ones(dtype, name):
    """Around the numbers of planes and of entries at which another loop takes over; with the last column."""
    rng, d = np.random.default_rng(2), 37
    for longest in (0, 1, 3, 4, 5, 16, 17, 19, 20):
        rows = [rng.permutation(d)[: rng.integers(0, longest + 1)] for _ in range(300)]
        rows[0], rows[1] = np.arange(longest), np.full(min(longest, 1), d - 1)
        dense = np.zeros((300, d), dtype)
        for row, columns in zip(dense, rows, strict=True):
            row[columns] = rng.standard_normal(len(columns)) * 10.0 ** rng.integers(-8, 8, len(columns))
        X = sp.csr_matrix(dense)
        for planes in (2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 20, 29, 31, 32, 33):
            w, b = (
                rng.standard_normal((planes, d)) * 10.0 ** rng.integers(-8, 8, (planes, d)),
                rng.random(planes),
            )
            with forced_instruction_set(name):
                found = _core.scores(_core.csr_rows(X.indptr, X.indices, X.data, d), w, b, threads=1)
                expected = _core.scores(_core.dense_rows(dense), w, b, threads=1)
            assert found.tobytes() == expected.tobytes(), (longest, planes)


@pytest.mark.parametrize("columns", [400_000, 500_000])
def test_scores_of_few_long_rows_on_threads(columns):
    """Of fewer entries than columns: plane by plane; else rows are shared out."""
    random = np.random.default_rng(0)
    indices = np.sort(random.permutation(columns)[:150_000]).astype(np.int32)
    values = random.standard_normal(450_000)
    rows = _core.csr_rows(np.arange(4, dtype=np.int32) * 150_000, np.tile(indices, 3), values, columns)
    coef, intercept = random.standard_normal((8, columns)), np.arange(8.0)
    one = _core.scores(rows, coef, intercept, threads=1)
    for threads in (2, 3):
        assert _core.scores(rows, coef, intercept, threads=threads).tobytes() == one.tobytes()
    for k in (0, 7):
        alone = _core.scores(rows, coef[k : k + 1], intercept[k : k + 1], threads=2)
        assert alone[:, 0].tobytes() == one[:, k].tobytes()


@pytest.mark.parametrize("numbers", [[4, 0, 4, 2], [1], [], list(range(6))], ids=str)
@pytest.mark.parametrize("columns", [6, 2**53])
def test_chosen_columns(numbers, columns):
    """Of very many columns, too; some have no entries."""

    class Engine:
        @staticmethod
        def csr_rows(indptr, indices, values, columns):
            return sp.csr_matrix((values, indices, indptr), (len(indptr) - 1, columns))

    dense = np.array([[0.0, 1, 0, 0, 2, 0], [0, 0, 0, 0, 0, 0], [0, 0, 3, 0, 4, 0], [5, 0, 6, 0, 7, 0]])
    rows = sp.csr_matrix(dense)
    stored = {"rows_indptr": rows.indptr, "rows_indices": rows.indices, "rows_values": rows.data}
    found = select_columns(Engine, stored, np.array(numbers, dtype=np.int64), columns)
    assert found.has_sorted_indices
    assert found.toarray().tolist() == dense[:, numbers].tolist()


@pytest.mark.parametrize("entries", [2**31 - 1, 2**31])
def test_rows_of_more_entries_than_32_bits_count(entries):
    """Where each row begins says how many there are; the entries themselves need not be there."""
    numbers = {"rows_indices": np.zeros(1, dtype=np.int32), "rows_values": np.ones(1)}
    parts = [np.array([0, 3, 7]), np.array([0, entries - 9]), np.array([0, 1, 2])]
    found = concatenate_rows(*({"rows_indptr": ends} | numbers for ends in parts))
    assert found["rows_indptr"].tolist() == [0, 3, 7, entries - 2, entries - 1, entries]
    kind = np.int32 if entries < 2**31 else np.int64
    assert found["rows_indptr"].dtype == found["rows_indices"].dtype == kind
    assert (found["rows_indices"].tolist(), found["rows_values"].tolist()) == ([0] * 3, [1.0] * 3)
