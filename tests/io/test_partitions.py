"""Sources that are cut into parts: each example is in one of them, in order, wherever it is read."""

from __future__ import annotations

import gzip
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from perceptron_rs.features import column_attributes
from perceptron_rs.io import (
    Batch,
    Source,
    open_arrays,
    open_csv,
    open_parquet,
    open_sentences,
    open_svmlight,
)

RNG = np.random.default_rng(0)
X = RNG.integers(0, 3, (47, 4)).astype(np.float32)
Y = RNG.integers(0, 2, 47)


def read(parts):
    """Return what the parts hold, read as in another process."""
    batches = [pickle.loads(pickle.dumps(part))() for part in parts]
    assert all(isinstance(batch, Batch) for batch in batches)
    rows = [batch.X.toarray() if sp.issparse(batch.X) else np.asarray(batch.X) for batch in batches]
    return np.concatenate(rows), np.concatenate([batch.y for batch in batches]), [len(part) for part in rows]


@pytest.fixture
def svmlight(tmp_path):
    files = [tmp_path / "a.svm", tmp_path / "b.svm"]
    for file, part in zip(files, (slice(0, 20), slice(20, 47)), strict=True):
        dump_svmlight_file(X[part], Y[part], str(file), zero_based=True)
    return files


@pytest.mark.parametrize("n", [1, 2, 3, 7, 47, 400, 3000])  # the last are more than bytes
def test_ranges_of_bytes(svmlight, n):
    parts = open_svmlight(svmlight, n_features=4, zero_based=True).partitions(n)
    rows, y, lengths = read(parts)
    assert len(lengths) == n
    np.testing.assert_array_equal(rows, X)
    assert y.tolist() == Y.tolist()


def test_a_range_may_begin_where_a_line_does(tmp_path):
    file = tmp_path / "even.svm"
    file.write_text("".join(f"{i % 2} 0:{i}\n" for i in range(8)))  # lines of 6 bytes
    _, _, lengths = read(open_svmlight(file, n_features=1, zero_based=True).partitions(4))
    assert sum(lengths) == 8
    assert max(lengths) <= 3


TAGGED = "\ufeff\n\nthe\tD\nwhale\u00e9\tN\n\n \t\n\u00a0\na\tD\r\n\r\nno\tX\nend\tN"


@pytest.mark.parametrize("n", [1, 2, 3, 10, 83, 500])
def test_ranges_of_sentences(tmp_path, n):
    files = [tmp_path / name for name in ("a.tsv", "b.tsv", "c.tsv")]
    for file, text in zip(files, (TAGGED, "", "one\tI\n\ntwo\tI\n\n"), strict=True):
        file.write_bytes(text.encode())
    source = open_sentences(files, attributes=column_attributes)
    whole = Batch(*next(source.batches()))
    assert len(whole.X) == 5
    parts = source.partitions(n)
    assert len(parts) == n
    found = [pickle.loads(pickle.dumps(part))() for part in parts]
    assert [sentence for part in found for sentence in part.X] == whole.X
    assert [tags for part in found for tags in part.y] == whole.y
    assert n < 3 or max(len(part.X) for part in found) < 5


def test_a_wrong_line_of_a_range_of_sentences_is_named(tmp_path):
    file = tmp_path / "a.tsv"
    file.write_text("a\tX\n\n" * 20 + "b\tc\tX\n\n" * 20)  # right by themselves
    parts = open_sentences(file, attributes=column_attributes).partitions(4)
    assert len(parts[0]().X) > 5
    with pytest.raises(
        ValueError, match=r"a\.tsv: line (5|6|7)\d has 3 columns, but the lines before have 2;"
    ) as error:
        parts[3]()
    line = int(str(error.value).split("line ")[1].split()[0])
    assert file.read_text().split("\n")[line - 1] == "b\tc\tX"
    assert file.read_text().split("\n")[line - 2] == ""


@pytest.mark.parametrize("n", [None, 1, 2, 5])
def test_row_groups(tmp_path, n):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    files = []
    for part in (slice(0, 20), slice(20, 47)):
        table = pa.table({f"x{j}": X[part, j] for j in range(4)} | {"y": Y[part], "w": X[part, 0] + 1})
        files.append(tmp_path / f"{part.start}.parquet")
        parquet.write_table(table, files[-1], row_group_size=10)
    parts = open_parquet(files, target="y", sample_weight="w").partitions(n)
    rows, y, lengths = read(parts)
    assert lengths == {None: [10, 10, 10, 10, 7], 1: [47], 2: [20, 27], 5: [10, 10, 10, 10, 7]}[n]
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows, X)
    assert y.tolist() == Y.tolist()
    assert np.concatenate([part().sample_weight for part in parts]).tolist() == (X[:, 0] + 1).tolist()
    with pytest.raises(ValueError, match="number of row groups, 5, got 6"):
        open_parquet(files, target="y").partitions(6)


def test_ranges_of_arrays_and_of_files(tmp_path):
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", Y)
    in_files = open_arrays(tmp_path / "X.npy", tmp_path / "y.npy").partitions(4)
    assert max(len(pickle.dumps(part)) for part in in_files) < 500 < X.nbytes  # paths, no rows
    for parts in (in_files, open_arrays(X, Y).partitions(4), open_arrays(sp.csr_matrix(X), Y).partitions(4)):
        rows, y, lengths = read(parts)
        assert lengths == [11, 12, 12, 12]
        np.testing.assert_array_equal(rows, X)
        assert y.tolist() == Y.tolist()
    assert read(open_arrays(X, Y).partitions(60))[1].tolist() == Y.tolist()
    lengths = np.array([20, 2, 20, 5])
    parts = open_arrays(X, Y, None, lengths).partitions(2)
    assert [part().lengths.tolist() for part in parts] == [[20, 2], [20, 5]]
    assert read(parts)[2] == [22, 25]


def test_a_row_group_without_rows(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({"x": X[:, 0], "y": Y})
    with parquet.ParquetWriter(tmp_path / "a.parquet", table.schema) as file:
        for part in (table[:0], table, table[:0]):
            file.write_table(part)
    parts = open_parquet(tmp_path / "a.parquet", target="y").partitions()
    assert len(parts) == 3
    _, y, lengths = read(parts)
    assert lengths == [0, 47, 0]
    assert y.tolist() == Y.tolist()


@pytest.mark.parametrize(
    ("source", "n", "text"),
    [
        (lambda file: open_svmlight(file, n_features=4, zero_based=True), None, "n must be given"),
        (lambda file: open_svmlight(file, n_features=4), 2, "n_features and zero_based must be given"),
        (lambda file: open_svmlight(file, zero_based=True), 2, "n_features and zero_based must be given"),
        (lambda file: open_svmlight(file, n_features=4, zero_based=True), 0, "at least 1"),
        (lambda file: open_arrays(X, Y), None, "n must be given"),
        (lambda file: open_sentences(file, attributes=len), None, "n must be given"),
        (lambda file: Source(batches=lambda: iter([(X, Y)])), 2, "cannot be cut into partitions"),
        (lambda file: open_arrays(X, Y).mapped(lambda batch: batch, 4), 2, "cannot be cut"),
    ],
)
def test_what_cannot_be_cut(svmlight, source, n, text):
    with pytest.raises(ValueError, match=text):
        source(svmlight[0]).partitions(n)


def test_compressed_text_and_tables_of_text_cannot_be_cut(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "a.svm.gz").write_bytes(gzip.compress(b""))
    with pytest.raises(ValueError, match="can only be read from its beginning"):
        open_svmlight(tmp_path / "a.svm.gz", n_features=1, zero_based=True).partitions(2)
    with pytest.raises(ValueError, match="can only be read from its beginning"):
        open_sentences(tmp_path / "a.svm.gz", attributes=len).partitions(2)
    (tmp_path / "a.csv").write_text("x,y\n1,0\n")
    with pytest.raises(ValueError, match="cannot be cut"):
        open_csv(tmp_path / "a.csv", target="y").partitions(2)
