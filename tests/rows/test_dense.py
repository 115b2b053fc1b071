"""Dense rows: what can be read in place, and what is refused."""

import ml_dtypes
import numpy as np
import pytest

TYPES = ["float64", "float32", "int8", "uint8", "int16", "uint16", "int32", "float16", ml_dtypes.bfloat16]


@pytest.mark.parametrize("dtype", TYPES)
def test_accepted(engine, dtype):
    for shape in [(3, 4), (1, 1), (0, 3), (3, 0), (0, 0)]:
        rows = engine.dense_rows(np.zeros(shape, dtype=dtype))
        assert tuple(rows.shape) == shape
        assert rows.canonical


def test_read_only_is_fine_and_nothing_is_written(trainer):
    X = np.arange(12.0).reshape(4, 3)
    X.setflags(write=False)
    before = X.tobytes()
    trainer.fit(X, [0, 1, 1, 0], max_iter=3)
    assert X.tobytes() == before


def test_read_in_place(trainer):
    """What is written after wrapping is seen: nothing was copied."""
    X = np.zeros((2, 3), dtype=np.int16)
    rows = trainer.engine.dense_rows(X)
    X[1] = [1, 2, 3]
    scores = trainer.engine.scores(rows, np.ones((1, 3)), np.zeros(1), threads=1)
    assert scores.tolist() == [[0.0], [6.0]]


@pytest.mark.parametrize(
    "dtype",
    [
        ">f2",
        ml_dtypes.float8_e5m2,
        "longdouble",
        "complex128",
        "bool",
        "uint32",
        "int64",
        "uint64",
        ">f8",
        ">i4",
        "O",
        "U3",
        "M8[s]",
    ],
)
def test_other_types(engine, dtype):
    with pytest.raises(TypeError, match="values"):
        engine.dense_rows(np.empty((2, 2), dtype=dtype))


def misaligned():
    return np.frombuffer(bytearray(8 * 4 + 1), dtype=np.uint8)[1:].view(np.float64).reshape(2, 2)


LAYOUTS = {
    "fortran": np.asfortranarray(np.ones((2, 3))),
    "strided": np.ones((2, 6))[:, ::2],
    "reversed": np.ones((2, 3))[::-1],
    "vector": np.ones(3),
    "three axes": np.ones((1, 2, 3)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_other_layouts(engine, layout):
    with pytest.raises(ValueError, match="values"):
        engine.dense_rows(LAYOUTS[layout])


def test_misaligned(engine):
    X = misaligned()
    assert not X.flags.aligned
    with pytest.raises((TypeError, ValueError), match="aligned"):
        engine.dense_rows(X)


@pytest.mark.parametrize("dtype", TYPES)
def test_the_storage_type_does_not_change_a_fit(trainer, dtype):
    rng = np.random.default_rng(0)
    X, labels = rng.integers(0, 100, (60, 11)), rng.integers(0, 3, 60)
    arguments = {"positive": [0, 1, 2], "max_iter": 4, "eta0": 0.1, "seed": 1}
    wide = trainer.fit(X.astype(np.float64), labels, **arguments)["state"]
    state = trainer.fit(X.astype(dtype), labels, **arguments)["state"]
    for name in wide:
        assert state[name].tobytes() == wide[name].tobytes(), name


def test_no_columns(trainer):
    report = trainer.fit(np.zeros((3, 0)), [1, 1, 0])
    assert report["mistakes"].tolist() == [[2]]
    assert report["state"]["intercept"].tolist() == [0.0]


def test_no_rows(trainer):
    report = trainer.fit(np.zeros((0, 2)), [])
    assert report["stopped"] == ["clean"]
    assert report["losses"].tolist() == [[0.0]]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("n", "d", "planes"), [(16, 512, 8), (69, 33, 126), (18, 400, 11)])
def test_scores_of_many_planes_are_those_of_one_row_or_one_plane(engine, dtype, n, d, planes):
    rng = np.random.default_rng(d)
    X = (rng.normal(size=(n, d)) * 20).clip(-100 if np.dtype(dtype).kind != "u" else 0, 100).astype(dtype)
    w, b = rng.normal(size=(planes, d)) * (rng.random((planes, d)) < 0.9), rng.normal(size=planes)
    together = engine.scores(engine.dense_rows(X), w, b, threads=1)
    for i in range(0, n, 5):
        assert (
            engine.scores(engine.dense_rows(X[i : i + 1]), w, b, threads=1).tobytes() == together[i].tobytes()
        )
    for k in {0, 3, planes - 1}:
        one = engine.scores(engine.dense_rows(X), w[k : k + 1], b[k : k + 1], threads=1)
        assert one[:, 0].tobytes() == together[:, k].tobytes()
