"""Tensors of safetensors files, and lists of half floats: mapped, and the bits of the numbers in memory."""

from __future__ import annotations

import builtins
import json
import pickle
import struct

import ml_dtypes
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet
from safetensors.numpy import save_file
from sklearn.base import clone

import perceptron_rs
from perceptron_rs import AveragedPerceptron, Perceptron, is_separable, max_margin
from perceptron_rs.engines import get_engine
from perceptron_rs.io import load_safetensors, open_arrow, open_parquet, open_safetensors
from perceptron_rs.rows.examples import examples

PERCEPTRONS = [
    getattr(perceptron_rs, name)
    for name in perceptron_rs.__all__
    if name.endswith("Perceptron") and not name.startswith(("Sequence", "Structured"))
]
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 8)).astype(np.float16)
Y = RANDOM.integers(0, 3, 60)


def written(path, tensors):
    """A safetensors file, also of bfloat16, which the library of NumPy may not write."""
    kinds = {
        "float16": "F16",
        "float32": "F32",
        "bfloat16": "BF16",
        "int64": "I64",
        "uint8": "U8",
        "bool": "BOOL",
    }
    header, data = {}, b""
    for name, array in tensors.items():
        part = np.ascontiguousarray(array).tobytes()
        header[name] = {
            "dtype": kinds[array.dtype.name], "shape": list(array.shape),
            "data_offsets": [len(data), len(data) + len(part)],
        }  # fmt: skip
        data += part
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


@pytest.mark.parametrize("kind", [np.float16, ml_dtypes.bfloat16, np.float32, np.uint8, np.int64])
@pytest.mark.parametrize("offset", [0, 1])
def test_tensors_are_mapped(tmp_path, kind, offset):
    """Also at odd places of the file."""
    with np.errstate(invalid="ignore"):
        values = (X * 3).astype(np.float32).astype(kind)
    tensors = {"before": np.zeros(offset, dtype=np.uint8), "a": values, "b": np.zeros((60, 2), np.float32)}
    path = written(tmp_path / "x.safetensors", tensors)
    mapped = load_safetensors(path, "a")
    assert isinstance(mapped, np.memmap)
    assert (mapped.dtype, mapped.shape) == (values.dtype, values.shape)
    assert mapped.tobytes() == values.tobytes()
    expected = AveragedPerceptron(max_iter=3, tol=None).fit(values.astype(np.float64), Y)
    assert AveragedPerceptron(max_iter=3, tol=None).fit(mapped, Y).coef_.tobytes() == expected.coef_.tobytes()


def test_the_only_matrix_needs_no_name(tmp_path):
    save_file({"X": X, "y": Y}, tmp_path / "x.safetensors", {"format": "np"})
    assert load_safetensors(tmp_path / "x.safetensors").tobytes() == X.tobytes()
    assert load_safetensors(str(tmp_path / "x.safetensors"), "y").tolist() == Y.tolist()
    save_file({"X": np.zeros((0, 3), np.float16)}, tmp_path / "empty.safetensors")
    assert load_safetensors(tmp_path / "empty.safetensors").shape == (0, 3)


@pytest.mark.parametrize(
    ("learner", "engine"), [*((learner, "rust") for learner in PERCEPTRONS), (PERCEPTRONS[0], "reference")]
)
def test_every_learner_reads_mapped_bfloat16(tmp_path, learner, engine):
    """Whole and in parts, with a copy in a cache and without; also where columns have names."""
    values = X.astype(ml_dtypes.bfloat16)
    path = written(tmp_path / "x.safetensors", {"X": values, "y": Y})
    fixed = {
        "MultilayerPerceptron": {"tol": 1e9, "n_iter_no_change": 1},  # it ends so, without a warning
        "BudgetedKernelPerceptron": {"tol": None, "gamma": 1.0},
    }
    model = learner(max_iter=2, engine=engine, **fixed.get(learner.__name__, {"tol": None}))
    mapped, wide = load_safetensors(path, "X"), values.astype(np.float64)
    expected = clone(model).fit(wide, Y)
    found = clone(model).fit(mapped, Y)
    assert found.decision_function(mapped).tobytes() == expected.decision_function(wide).tobytes()
    assert found.predict(mapped[::-1]).tolist() == expected.predict(wide[::-1]).tolist()
    with pytest.raises(ValueError, match="X has 7 features"):
        found.predict(mapped[:, :7])
    bad = mapped.copy()
    bad[3, 2] = np.inf
    with pytest.raises(ValueError, match="X contains infinity"):
        clone(model).fit(bad, Y)
    with pytest.raises(ValueError, match="X contains infinity"):
        found.predict(bad)
    if hasattr(model, "fit_stream"):
        source = open_safetensors(path, "X", target="y")
        streamed = clone(model).fit_stream((wide, Y), block_size=7)
        again = clone(model).fit_stream(source, block_size=7, cache=tmp_path / "cache")
        for other in (again, clone(model).fit_stream(source, block_size=7)):
            assert other.decision_function(wide).tobytes() == streamed.decision_function(wide).tobytes()


@pytest.mark.parametrize("by", ["target", "labels", "file"])
@pytest.mark.parametrize("cuts", [[60], [25, 1, 34]])
def test_streams_learn_the_same_bits(tmp_path, by, cuts):
    begin = 0
    for i, n in enumerate(cuts):
        part = slice(begin, begin := begin + n)
        save_file({"layer": X[part], "truth": Y[part], "other": X[part] * 2}, tmp_path / f"{i}.safetensors")
    np.save(tmp_path / "y.npy", Y)
    (tmp_path / "y.npy").rename(tmp_path / "labels")
    given = {"target": {"target": "truth"}, "labels": {"labels": Y}, "file": {"labels": tmp_path / "labels"}}[
        by
    ]
    source = open_safetensors(tmp_path / "*.safetensors", "layer", **given)
    assert (source.n_rows, source.n_features) == X.shape
    for options in ({}, {"shuffle": "block", "block_size": 7}):
        found = Perceptron(max_iter=3, tol=None).fit_stream(source, **options)
        expected = Perceptron(max_iter=3, tol=None).fit_stream((X, Y), **options)
        assert found.coef_.tobytes() == expected.coef_.tobytes()
    parts = [pickle.loads(pickle.dumps(part))() for part in source.partitions(4)]
    assert np.concatenate([part.X for part in parts]).tobytes() == X.tobytes()
    assert np.concatenate([part.y for part in parts]).tolist() == Y.tolist()


def test_margins_of_mapped_halves(tmp_path):
    y = (X[:, 0] > 0) * 1
    save_file({"X": X}, tmp_path / "x.safetensors")
    mapped = load_safetensors(tmp_path / "x.safetensors")
    assert is_separable(mapped, y)
    assert max_margin(mapped, y).lower == max_margin(X.astype(np.float64), y).lower
    bad = X.astype(ml_dtypes.bfloat16)
    bad[3, 2] = np.nan
    with pytest.raises(ValueError, match=r"Input X contains NaN in row 3 \(counted from 0\), column 2"):
        is_separable(bad, y)


def test_what_is_refused(tmp_path, monkeypatch):
    path = written(tmp_path / "x.safetensors", {"a": X, "b": X, "bf": X.astype(ml_dtypes.bfloat16), "y": Y})
    with pytest.raises(ValueError, match=r"x.safetensors: has 3 tensors of two dimensions; name one"):
        load_safetensors(path)
    with pytest.raises(ValueError, match="has no tensor 'c'; it has 'a', 'b', 'bf', 'y'"):
        load_safetensors(path, "c")
    with pytest.raises(ValueError, match=r"give one of target, .* got neither"):
        open_safetensors(path, "a")
    with pytest.raises(ValueError, match=r"give one of target, .* got both"):
        open_safetensors(path, "a", target="y", labels=Y)
    with pytest.raises(ValueError, match=r"x.safetensors: the tensor must have two dimensions"):
        open_safetensors(path, "y", target="y")
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples|60"):
        open_safetensors(path, "a", labels=Y[:-1])
    save_file({"a": X[:, :3]}, tmp_path / "y.safetensors")
    with pytest.raises(ValueError, match=r"y.safetensors: .* those of .*x.safetensors have 8 features"):
        open_safetensors([path, tmp_path / "y.safetensors"], "a", labels=np.r_[Y, Y])
    whole = path.read_bytes()
    damaged = [
        b"",
        b"{}",
        whole[:5],
        whole[:20],
        whole[:-1],
        whole + b"0",
        whole[:8] + b"x" * 40 + whole[48:],
    ]
    damaged += [struct.pack("<Q", 2**62) + whole[8:], whole.replace(b"60, 8", b"61, 8", 1)]
    for broken in damaged:
        path.write_bytes(broken)
        with pytest.raises(ValueError, match=r"x.safetensors: is no safetensors file, or was cut"):
            load_safetensors(path, "a")
    path.write_bytes(whole)
    text = whole.replace(b'"F16"', b'"C64"', 1).replace(b"[60, 8]", b"[60, 2]", 1)
    path.write_bytes(text)
    with pytest.raises(ValueError, match=r"'a' is of C64; save it as one of F64|is no safetensors file"):
        load_safetensors(path, "a")
    path.write_bytes(whole)

    def without(name, *rest, load=builtins.__import__):
        if name == "ml_dtypes":
            raise ImportError(name)
        return load(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match="the package ml_dtypes alone; install that"):
        load_safetensors(path, "bf")
    assert load_safetensors(path, "a").shape == X.shape


def test_a_file_that_is_cut_while_it_is_mapped_is_an_error(tmp_path):
    save_file({"X": X, "y": Y}, tmp_path / "x.safetensors")
    source = open_safetensors(tmp_path / "x.safetensors", target="y")
    with (tmp_path / "x.safetensors").open("r+b") as file:
        file.truncate(200)
    with pytest.raises(ValueError, match="was cut"):
        Perceptron().fit_stream(source)


@pytest.mark.parametrize("kind", ["fixed", "list", "large"])
@pytest.mark.parametrize("form", ["parquet", "feather", "memory"])
def test_lists_of_halves_are_rows(tmp_path, kind, form):
    flat, ends = pa.array(X.ravel()), np.arange(61) * 8
    column = {
        "fixed": lambda: pa.FixedSizeListArray.from_arrays(flat, 8),
        "list": lambda: pa.ListArray.from_arrays(pa.array(ends, pa.int32()), flat),
        "large": lambda: pa.LargeListArray.from_arrays(pa.array(ends), flat),
    }[kind]()
    table = pa.table({"embedding": column, "y": Y})
    if form == "parquet":
        parquet.write_table(table, tmp_path / "x", row_group_size=25)
        source = open_parquet(tmp_path / "x", target="y")
    elif form == "feather":
        feather.write_feather(table, tmp_path / "x", compression="uncompressed")
        source = open_arrow(tmp_path / "x", target="y")
    else:
        source = open_arrow(table.slice(0, 60), target="y")
    for batch in source.batches():
        assert batch.X.dtype == np.float16
        assert not batch.X.flags.owndata, "it is copied"
    found = Perceptron(max_iter=3, tol=None).fit_stream(source)
    expected = Perceptron(max_iter=3, tol=None).fit_stream((X, Y))
    assert found.coef_.tobytes() == expected.coef_.tobytes()
    assert found.feature_names_in_[3] == "embedding[3]"


def test_lists_beside_numbers_and_some_of_their_places():
    column = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 8)
    table = pa.table({"e": column, "size": np.arange(60, dtype=np.int8), "y": Y})
    names = ["e[2]", "e[3]", "size", "e[1]", "e[0]"]
    (batch,) = open_arrow(table, target="y", columns=names).batches()
    expected = np.column_stack([X[:, 2], X[:, 3], np.arange(60), X[:, 1], X[:, 0]])
    assert batch.X.tolist() == expected.tolist()
    (batch,) = open_arrow(table, target="y").batches()
    assert batch.X.tolist() == np.column_stack([X, np.arange(60)]).tolist()


@pytest.mark.parametrize("kind", [np.float16, ml_dtypes.bfloat16])
def test_nothing_is_copied(tmp_path, kind):
    path = written(tmp_path / "x.safetensors", {"pad": np.zeros(64, dtype=np.uint8), "X": X.astype(kind)})
    if path.read_bytes().index(X.astype(kind).tobytes()) % 2:  # as every writer does, begin at an even place
        path = written(
            tmp_path / "y.safetensors", {"pads": np.zeros(64, dtype=np.uint8), "X": X.astype(kind)}
        )
    mapped = load_safetensors(path, "X")
    found = examples(Perceptron(), get_engine("rust"), mapped, reset=True)
    assert found.values.ctypes.data == mapped.ctypes.data
