"""Sources: what is read part by part is what is read at once; what is wrong is named."""

from __future__ import annotations

import ast
import gc
import gzip
import io
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from perceptron_rs import AveragedPerceptron, Perceptron, digest
from perceptron_rs.io import Source, load_svmlight, open_arrays, open_svmlight
from perceptron_rs.io.svmlight import files as module

rng = np.random.default_rng(8)
X = sp.random(80, 30, 0.2, "csr", random_state=3)
X.data = np.round(X.data, 3)
Y = rng.integers(1, 4, 80)
SHORT = {"max_iter": 3, "tol": None, "shuffle": False}


@pytest.fixture
def text() -> bytes:
    file = io.BytesIO()
    dump_svmlight_file(X, Y, file, zero_based=False, comment="one\ntwo")
    return file.getvalue()


@pytest.fixture(params=[7, 100, 1 << 20])
def chunk(request, monkeypatch) -> int:
    monkeypatch.setattr(module, "_CHUNK", request.param)
    return request.param


def same(ours, peer):
    assert ours[0].shape == peer[0].shape
    for name in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(ours[0], name), getattr(peer[0], name))
    assert np.array_equal(ours[1], peer[1])


@pytest.mark.parametrize("zero_based", ["auto", True, False])
def test_open_files(text, chunk, zero_based):
    options = {"zero_based": zero_based}
    same(load_svmlight(io.BytesIO(text), **options), load_svmlight_file(io.BytesIO(text), **options))
    moved = text.replace(b" 1:", b" 0:")
    same(load_svmlight(io.BytesIO(moved)), load_svmlight_file(io.BytesIO(moved)))
    both = load_svmlight([io.BytesIO(text), io.BytesIO(text)], **options)
    same((both[0][:80], both[1][80:]), load_svmlight_file(io.BytesIO(text), **options))


# Where a line is longer than ``length``, scikit-learn reads it twice.
@pytest.mark.parametrize("suffix", [".svm", ".svm.gz"])
@pytest.mark.parametrize("length", [-1, 0, 333, 5000])
def test_parts_of_a_file_are_those_of_scikit_learn(tmp_path, text, chunk, length, suffix):
    text = b"".join(line for line in text.splitlines(True) if not line.startswith(b"#"))
    path = tmp_path / f"a{suffix}"
    path.write_bytes(gzip.compress(text, 1, mtime=0) if suffix.endswith("gz") else text)
    for offset in (0, 1, 39, 40, 1000):
        options = {"offset": offset, "length": length, "n_features": 30, "zero_based": False}
        peer = load_svmlight_file(io.BytesIO(text), **options)
        same(load_svmlight(path, **options), peer)
        same(load_svmlight(io.BytesIO(text), **options), peer)


@pytest.mark.parametrize("length", [40, 700])
def test_parts_cover_a_file_once(tmp_path, text, length):
    (tmp_path / "a").write_bytes(text)
    options = {"n_features": 30, "zero_based": False, "length": length}
    offsets = range(0, len(text), length)
    parts = [load_svmlight(tmp_path / "a", offset=offset, **options) for offset in offsets]
    same(
        (sp.vstack([part[0] for part in parts]).tocsr(), np.concatenate([part[1] for part in parts])), (X, Y)
    )


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"offset": -1}, ValueError, "offset must be at least 0"),
        ({"length": 2.5}, TypeError, "length must be an integer"),
        ({"path": ["a", "b"], "length": 3}, ValueError, "places in one file, got 2 files"),
        ({"path": io.StringIO("1 1:1")}, TypeError, "opened in binary mode"),
        ({"path": "none-*.svm"}, FileNotFoundError, "no file matches 'none-"),
    ],
)
def test_bad_arguments(options, error, text):
    with pytest.raises(error, match=text):
        load_svmlight(**({"path": io.BytesIO(b"1 1:1")} | options))


@pytest.mark.parametrize("suffix", ["svm", "svm.gz"])
def test_streamed_text_gives_the_bits_of_fit(tmp_path, text, chunk, suffix):
    lines = text.splitlines(True)
    for number, part in enumerate((lines[:30], lines[30:33], lines[33:])):
        packed = b"".join(part)
        name = f"part-{number}.{suffix}"
        (tmp_path / name).write_bytes(gzip.compress(packed, 1, mtime=0) if "gz" in suffix else packed)
    expected = AveragedPerceptron(**SHORT).fit(*load_svmlight(sorted(map(str, tmp_path.iterdir()))))
    source = open_svmlight(tmp_path / f"part-*.{suffix}")
    for options in ({}, {"block_size": 7}, {"classes": [1, 2, 3], "cache": tmp_path / "cache"}):
        assert digest(AveragedPerceptron(**SHORT).fit_stream(source, **options)) == digest(expected)


def test_columns_from_0_that_a_late_line_tells(tmp_path):
    path = tmp_path / "late"
    path.write_bytes(b"1 1:1 2:1\n2 2:3\n" * 9 + b"1 0:1 4:1\n")
    expected = Perceptron(**SHORT).fit(*load_svmlight(path))
    for cache in (None, tmp_path / "cache"):
        found = Perceptron(**SHORT).fit_stream(open_svmlight(path), block_size=4, cache=cache)
        assert digest(found) == digest(expected)
        assert found.n_features_in_ == 5
    with pytest.raises(ValueError, match=r"late, line 19, column 3: .*0"):
        Perceptron().fit_stream(open_svmlight(path, zero_based=False))
    with pytest.raises(ValueError, match="needs 5; raise it"):
        Perceptron().fit_stream(open_svmlight(path, n_features=3))
    with pytest.raises(ValueError, match="X has 5 features, but 3"):
        Perceptron().fit_stream(open_svmlight(path, n_features=3, zero_based=True), classes=[1, 2])


def test_a_pipe_is_read_once(text):
    reader, writer = os.pipe()
    os.write(writer, text)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        assert open_svmlight(pipe).name == "the open file"  # which is called by its number elsewhere
        source = open_svmlight(pipe, n_features=30, zero_based=False)
        model = Perceptron(max_iter=1, tol=None).fit_stream(source, classes=[1, 2, 3])
    assert digest(model) == digest(Perceptron(max_iter=1, tol=None, shuffle=False).fit(X, Y.astype(float)))
    with pytest.raises(ValueError, match="read only once"):
        Perceptron().fit_stream(open_svmlight(io.BytesIO(text)))


def test_errors_name_the_line(tmp_path, chunk):
    path = tmp_path / "bad.svm"
    path.write_bytes(b"1 1:1\n# nothing\n\n2 1:1\n" * 50 + b"1 1:1 x:2\n")
    model = Perceptron()
    with pytest.raises(ValueError, match=r"bad\.svm, line 201, column 7"):
        model.fit_stream(open_svmlight(path))
    assert not hasattr(model, "classes_")


def test_bad_files(tmp_path):
    packed = gzip.compress(b"".join(b"%d 1:%d\n" % (i % 2, i) for i in range(5000)), 1, mtime=0)
    for name, data, text in (
        ("cut.gz", packed[:-20], "cut.gz: the gzip data ends early"),
        ("worse.gz", packed[:900] + bytes(9) + packed[909:], "worse.gz: the gzip data is damaged"),
        ("plain.gz", b"1 1:1\n", "plain.gz: the gzip data is damaged or none"),
        ("zip.svm", b"PK\x03\x04", "zip.svm: is a zip archive; unpack it first"),
        ("empty.svm", b"", "empty.svm: the file is empty"),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ValueError, match=text):
            Perceptron().fit_stream(open_svmlight(tmp_path / name))
    with pytest.raises(FileNotFoundError):
        open_svmlight(tmp_path / "none")


def test_a_header_that_claims_terabytes(tmp_path):
    path = tmp_path / "X.npy"
    np.save(path, np.zeros((1000, 10)))
    claimed = path.read_bytes().replace(b"(1000, 10), }         ", b"(1000000000000, 10), }", 1)
    path.write_bytes(claimed)
    with pytest.raises(ValueError, match=r"X\.npy: .*write it with numpy\.save"):
        open_arrays(path, Y)


class Parsing:
    """Garbage that parses when it is collected."""

    def __init__(self):
        self.itself = self

    def __del__(self):
        ast.literal_eval("[[1]]")


def test_a_header_is_read_whatever_else_is_parsed_meanwhile(tmp_path):
    """A collection of garbage may run other code in the middle of a header; a thread may as well."""
    np.save(tmp_path / "X.npy", np.ones((3, 2)))
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()  # a collection is quick then
    try:
        for objects in range(1, 150):
            gc.collect()
            Parsing()
            gc.set_threshold(objects)
            (part,) = open_arrays(tmp_path / "X.npy", [0, 1, 1]).partitions(1)
            gc.set_threshold(*before)
            assert part().X.tolist() == [[1, 1]] * 3
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def test_mapped_arrays(tmp_path):
    dense = np.asfortranarray(X.toarray())
    parts = {"dense": dense, "data": X.data, "indices": X.indices, "indptr": X.indptr, "y": Y}
    for name, array in parts.items():
        np.save(tmp_path / f"{name}.npy", array)
    path: dict[str, Path] = {name: tmp_path / f"{name}.npy" for name in parts}
    expected = digest(Perceptron(**SHORT).fit(X, Y))
    sources = [
        open_arrays(path["dense"], path["y"]),
        open_arrays((path["data"], path["indices"], path["indptr"], 30), path["y"]),
        open_arrays(X.tocsc(), Y),
        open_arrays(X.toarray().tolist(), Y.tolist()),
    ]
    for source in sources:
        assert digest(Perceptron(**SHORT).fit_stream(source, block_size=11)) == expected
    (tmp_path / "y.npy").write_bytes(b"no array")
    with pytest.raises(ValueError, match=r"write it with numpy.save"):
        open_arrays(path["dense"], path["y"])
    with pytest.raises(ValueError, match="X has 80 rows, but y has 79"):
        open_arrays(path["dense"], Y[1:])
    with pytest.raises(ValueError, match="indptr must end with"):
        open_arrays((X.data[:-9], X.indices[:-9], X.indptr, 30), Y)
    wrong = X.indices.copy()
    wrong[70] = 40
    with pytest.raises(ValueError, match="40"):
        Perceptron().fit_stream(open_arrays((X.data, wrong, X.indptr, 30), Y))


def test_arrays_in_several_files_are_refused_with_a_remedy(tmp_path):
    np.save(tmp_path / "X-0.npy", np.eye(3))
    for given in (
        tmp_path,
        str(tmp_path / "X-*.npy"),
        [tmp_path / "X-0.npy"],
        [str(tmp_path / "X-0.npy")] * 2,
    ):
        with pytest.raises(ValueError, match=r"X must be one \.npy file, got .*perceptron_rs\.io\.Source"):
            open_arrays(given, [0, 1, 0])


@pytest.mark.parametrize(
    ("y", "text"), [(["a", float("nan"), "b"], "label in row 1 .* is missing"), ([0, "a", 1], "int and str")]
)
def test_lists_of_labels_are_those_of_fit(y, text):
    """NumPy would make text of all of them."""
    for learn in (Perceptron().fit, open_arrays):
        with pytest.raises(ValueError, match=text):
            learn(np.eye(3), y)
    many = [2**53, 2**53 + 1, 2**53]
    assert Perceptron().fit_stream(open_arrays(np.eye(3), many)).classes_.tolist() == [2**53, 2**53 + 1]


@pytest.mark.parametrize("kind", ["X", "parts", "scipy"])
def test_archives_of_arrays(tmp_path, kind):
    """As the command reads them; labels in the file, or beside it."""
    rows, path = sp.csr_matrix(X), tmp_path / "a.npz"
    if kind == "X":
        np.savez(path, X=X.toarray(), y=Y)
    elif kind == "parts":
        names = {name: getattr(rows, name) for name in ("data", "indices", "indptr", "shape")}
        np.savez(path, **names, y=Y)
    else:
        sp.save_npz(path, rows)
    source = open_arrays(path, Y if kind == "scipy" else None)
    found = Perceptron(**SHORT).fit_stream(source)
    assert found.coef_.tobytes() == Perceptron(**SHORT).fit(X, Y).coef_.tobytes()
    if kind == "scipy":
        with pytest.raises(ValueError, match="y must hold class labels, got None"):
            open_arrays(path)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_list_of_batches_is_one_table(sparse):
    A = X if sparse else X.toarray()
    batches = [(A[a : a + 30], Y[a : a + 30]) for a in range(0, 80, 30)]
    of_list = Perceptron(**SHORT).fit_stream(batches, shuffle="block")  # which other sources need a cache for
    assert digest(of_list) == digest(Perceptron(**SHORT).fit_stream((A, Y), shuffle="block"))


@pytest.mark.parametrize(
    ("batch", "text"),
    [
        ((np.ones((2, 29)), Y[:2]), "as many columns in each batch"),
        ((np.ones((2, 30)), Y[:3]), "inconsistent numbers of samples"),
        ((np.ones((2, 30)), None), "y must hold class labels"),
        ((np.ones((2, 30)), np.array(1)), "one label for each example"),
        ((np.ones((2, 30)), Y[:2], np.ones(1)), "a weight for each of 2 examples"),
        ((np.ones((2, 30)), np.array(["a", "b"])), "numbers, and others are text"),
        (np.ones((2, 30)), "a batch must be a tuple"),
    ],
)
def test_other_lists_are_judged_as_sources_are(batch, text):
    batches = [(X.toarray(), Y), batch]
    for given in batches, Source(batches=lambda: iter(batches)):
        with pytest.raises((ValueError, TypeError), match=text):
            Perceptron(**SHORT).fit_stream(given, classes=[1, 2, 3])


def test_weights_of_a_list_belong_to_their_batch():
    batches = [(X.toarray(), Y, np.ones(79)), (X.toarray(), Y, np.ones(81))]
    with pytest.raises(ValueError, match="80 examples"):
        Perceptron(**SHORT).fit_stream(batches, classes=[1, 2, 3])
