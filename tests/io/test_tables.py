"""Tables as sources: the bits of a fit in memory; what is wrong names the file and the column."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
import scipy.sparse as sp

from perceptron_rs import AveragedPerceptron, Perceptron, digest
from perceptron_rs.io import open_arrow, open_csv, open_parquet

rng = np.random.default_rng(15)
N = 40
X = np.round(rng.normal(size=(N, 4)), 2)
Y = np.array(["ham", "spam"])[rng.integers(0, 2, N)]
W = rng.integers(1, 4, N)
TABLE = pa.table({"y": Y, **{f"c{i}": X[:, i] for i in range(4)}, "w": W})
SHORT = {"max_iter": 3, "tol": None, "shuffle": False}


def written(folder, kind):
    """Two files of one data set."""
    for number, part in enumerate((TABLE[:25], TABLE[25:])):
        path = folder / f"part-{number}.{kind}"
        if kind == "parquet":
            pa.parquet.write_table(part, path, row_group_size=7)
        elif kind == "arrow":
            with pa.ipc.new_file(path, part.schema) as out:
                out.write_table(part, max_chunksize=6)
        else:
            pa.csv.write_csv(part, folder / "plain")
            text = (folder / "plain").read_bytes()
            path.write_bytes(gzip.compress(text, 1, mtime=0) if kind == "csv.gz" else text)
    return folder / f"part-*.{kind}"


OPEN = {"parquet": open_parquet, "arrow": open_arrow, "csv": open_csv, "csv.gz": open_csv}


@pytest.mark.parametrize("kind", OPEN)
def test_files_give_the_bits_of_fit(tmp_path, kind):
    pattern = written(tmp_path, kind)
    expected = AveragedPerceptron(**SHORT).fit(pd.DataFrame(X, columns=[f"c{i}" for i in range(4)]), Y)
    source = OPEN[kind](pattern, target="y", columns=["c0", "c1", "c2", "c3"])
    found = AveragedPerceptron(**SHORT).fit_stream(source, block_size=9)
    assert digest(found) == digest(expected)
    assert found.feature_names_in_.tolist() == expected.feature_names_in_.tolist()
    weighted = OPEN[kind](pattern, target="y", sample_weight="w")
    expected = AveragedPerceptron(**SHORT).fit(X, Y, sample_weight=W)
    assert digest(AveragedPerceptron(**SHORT).fit_stream(weighted)) == digest(expected)
    cache = {"cache": tmp_path / "cache"}
    AveragedPerceptron(**SHORT).fit_stream(weighted, **cache)
    with pytest.raises(ValueError, match=r"is not of these examples: they are read in another way"):
        AveragedPerceptron(**SHORT).fit_stream(source, **cache)


def test_a_column_that_begins_with_whole_numbers(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("b,y\n" + "1,0\n" * 300_000 + "0.5,1\n")
    source = open_csv(path, target="y")
    values = [batch.X for batch in source.batches()]
    assert len(values) > 1
    assert values[-1][-1].tolist() == [0.5]


@pytest.mark.parametrize("convert", [lambda t: t, pl.from_arrow, lambda t: t.to_pandas()])
def test_tables_of_any_library(convert):
    expected = Perceptron(**SHORT).fit(X, Y, sample_weight=W)
    source = open_arrow(convert(TABLE), target="y", sample_weight="w")
    assert digest(Perceptron(**SHORT).fit_stream(source, block_size=9)) == digest(expected)


def test_a_reader_is_read_once():
    source = open_arrow(TABLE.to_reader(), target="y", sample_weight="w")
    with pytest.raises(ValueError, match="read only once"):
        Perceptron().fit_stream(source)


def test_lists_are_sparse_rows_without_a_copy():
    S = sp.random(N, 9, 0.3, "csr", random_state=1)
    rows = {
        "indices": pa.ListArray.from_arrays(S.indptr, S.indices.astype(np.uint32)),
        "values": pa.ListArray.from_arrays(S.indptr, S.data),
        "y": Y,
    }
    table = pa.table(rows)
    expected = digest(Perceptron(**SHORT).fit(S, Y))
    for given in (table, pa.concat_tables([table[:7], table[7:]])):
        for n_features in (None, 9):
            source = open_arrow(given, target="y", n_features=n_features)
            assert digest(Perceptron(**SHORT).fit_stream(source, block_size=11)) == expected
    batch = next(open_arrow(table, target="y").batches())
    assert np.shares_memory(batch.X.data, table["values"].chunk(0).values.to_numpy())
    assert np.shares_memory(batch.X.indices, table["indices"].chunk(0).values.to_numpy())
    uneven = table.set_column(1, "values", pa.array([[1.0]] * N))
    with pytest.raises(ValueError, match="lists of the same lengths"):
        Perceptron().fit_stream(open_arrow(uneven, target="y"))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"c2": [None] * N}, "column 'c2' has missing values"),
        ({"c2": ["a"] * N}, "column 'c2' holds string, not numbers"),
        ({"y": [None, *Y[1:]]}, "column 'y' has missing values"),
        ({"y": [b"b"] * N}, "column 'y' holds binary"),
    ],
)
def test_bad_columns_are_named(change, text):
    table = pa.table({name: change.get(name, TABLE[name]) for name in TABLE.column_names})
    with pytest.raises(ValueError, match=text):
        Perceptron().fit_stream(open_arrow(table, target="y"))


def test_bad_files(tmp_path):
    (tmp_path / "a.csv").write_text("y,b\nx,1\nz,2\n")
    (tmp_path / "b.csv").write_text("y,c\nx,1\n")
    with pytest.raises(ValueError, match=r"a\.csv: has 0 columns 'label'; its columns are \['y', 'b'\]"):
        open_csv(tmp_path / "a.csv", target="label")
    with pytest.raises(ValueError, match=r"b\.csv: has 0 columns 'b'"):
        Perceptron().fit_stream(open_csv(tmp_path / "*.csv", target="y"))
    with pytest.raises(ValueError, match=r"a\.csv"):
        open_parquet(tmp_path / "a.csv", target="y")
    with pytest.raises(ValueError, match=r"a\.csv"):
        open_arrow(tmp_path / "a.csv", target="y")
    with pytest.raises(FileNotFoundError):
        open_csv(tmp_path / "none.csv", target="y")
    with pytest.raises(TypeError, match="path"):
        open_arrow(3, target="y")
    (tmp_path / "a.csv").write_text("y,b\nx,1\nz,2,3\n")
    with pytest.raises(ValueError, match=r"a\.csv: .*[Cc]olumns"):
        Perceptron().fit_stream(open_csv(tmp_path / "a.csv", target="y"))
