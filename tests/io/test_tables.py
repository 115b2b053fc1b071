"""Tables as sources: the bits of a fit in memory; what is wrong names the file and the column."""

from __future__ import annotations

import gzip
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
import scipy.sparse as sp

from perceptron_rs import AveragedPerceptron, Perceptron, digest, load
from perceptron_rs.cli import main
from perceptron_rs.io import open_arrow, open_csv, open_examples, open_parquet
from perceptron_rs.io.files import ExampleFiles
from perceptron_rs.io.reading import Reading

rng = np.random.default_rng(15)
N = 40
X = np.round(rng.normal(size=(N, 4)), 2)
Y = np.array(["ham", "spam"])[rng.integers(0, 2, N)]
W = rng.integers(1, 4, N)
TABLE = pa.table({"y": Y, **{f"c{i}": X[:, i] for i in range(4)}, "w": W})
NAMED = pd.DataFrame(X, columns=[f"c{i}" for i in range(4)])
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
    expected = AveragedPerceptron(**SHORT).fit(NAMED, Y)
    source = OPEN[kind](pattern, target="y", columns=["c0", "c1", "c2", "c3"])
    found = AveragedPerceptron(**SHORT).fit_stream(source, block_size=9)
    assert digest(found) == digest(expected)
    assert found.feature_names_in_.tolist() == expected.feature_names_in_.tolist()
    weighted = OPEN[kind](pattern, target="y", sample_weight="w")
    expected = AveragedPerceptron(**SHORT).fit(NAMED, Y, sample_weight=W)
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
    expected = Perceptron(**SHORT).fit(NAMED, Y, sample_weight=W)
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
        ({"c2": [None] * N}, "row 1: column 'c2' has a missing value"),
        ({"c2": [0.0, np.nan, *[0.0] * (N - 2)]}, "row 2: column 'c2' has a missing value"),
        ({"c2": [0.0, -np.inf, *[0.0] * (N - 2)]}, "row 2: column 'c2' holds an infinity"),
        ({"c2": ["a"] * N}, "the table: column 'c2' holds strings, not numbers"),
        ({"y": [None, *Y[1:]]}, "row 1: the label in column 'y' is missing"),
        ({"y": [b"b"] * N}, "labels in column 'y' are binary"),
    ],
)
def test_bad_columns_are_named(change, text):
    table = pa.table({name: change.get(name, TABLE[name]) for name in TABLE.column_names})
    with pytest.raises(ValueError, match=text):
        Perceptron().fit_stream(open_arrow(table, target="y"))


def test_bad_files(tmp_path):
    (tmp_path / "a.csv").write_text("y,b\nx,1\nz,2\n")
    (tmp_path / "b.csv").write_text("y,c\nx,1\n")
    with pytest.raises(
        ValueError, match=r"a\.csv: has no column .label. for target; its columns are 'y', 'b'"
    ):
        open_csv(tmp_path / "a.csv", target="label")
    with pytest.raises(ValueError, match=r"b\.csv: its columns are 'c', but those of .*a\.csv are 'b'"):
        Perceptron().fit_stream(open_csv(tmp_path / "*.csv", target="y"))
    with pytest.raises(ValueError, match=r"a\.csv"):
        open_parquet(tmp_path / "a.csv", target="y")
    with pytest.raises(
        ValueError, match=r"a\.csv: is no file in Arrow's IPC format; if it is in its stream format"
    ):
        open_arrow(tmp_path / "a.csv", target="y")
    with pytest.raises(FileNotFoundError):
        open_csv(tmp_path / "none.csv", target="y")
    with pytest.raises(TypeError, match="path"):
        open_arrow(3, target="y")
    (tmp_path / "a.csv").write_text("y,b\nx,1\nz,2,3\n")
    with pytest.raises(ValueError, match=r"a\.csv: .*[Cc]olumns"):
        Perceptron().fit_stream(open_csv(tmp_path / "a.csv", target="y"))


INDICES = {
    "numbers": pd.Index(range(N, 0, -1)),
    "named": pd.Index([f"id{i}" for i in range(N)], name="id"),
    "like a feature": pd.Index(range(7, N + 7), name="c1"),
    "multi": pd.MultiIndex.from_product([range(8), list("abcde")], names=["a", None]),
    "dates": pd.date_range("2020", periods=N, name="when"),
    "range": pd.RangeIndex(N, name="range"),
}


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize(
    "kind", ["parquet", "feather", "frame", "table", "partitions", "command", "streamed"]
)
def test_an_index_of_pandas_is_never_learnt_from(tmp_path, index, kind):
    """Nor is it the last column, which holds the labels: they are last."""
    names = [f"c{i}" for i in range(4)]
    frame = pd.DataFrame(X, columns=names, index=INDICES[index]).assign(y=Y)
    expected = Perceptron(**SHORT).fit(frame[names], Y)
    path = tmp_path / f"a.{kind}"
    if kind in ("parquet", "partitions", "command", "streamed"):
        path = path.with_suffix(".parquet")
        frame.to_parquet(path)
    if kind == "feather":
        pa.feather.write_feather(pa.Table.from_pandas(frame), path)
    if kind in ("command", "streamed"):
        argv = [
            "train",
            "perceptron",
            path,
            "--model",
            tmp_path / "m",
            "--epochs",
            3,
            "--tol",
            "none",
            "--quiet",
        ]
        argv += ["--no-shuffle"] if kind == "command" else ["--stream"]
        assert main([str(word) for word in argv]) == 0
        found = load(tmp_path / "m")
    elif kind == "partitions":
        (part,) = open_parquet(path, target="y").partitions()
        found = Perceptron(**SHORT).fit(pd.DataFrame(part().X, columns=names), part().y)
    else:
        given = {"frame": frame, "table": pa.Table.from_pandas(frame)}.get(kind, path)
        source = (open_parquet if kind == "parquet" else open_arrow)(given, target="y")
        found = Perceptron(**SHORT).fit_stream(source)
    assert found.feature_names_in_.tolist() == names
    assert found.coef_.tobytes() == expected.coef_.tobytes()
    assert found.classes_.tolist() == ["ham", "spam"]


def test_an_index_is_taken_where_it_is_named(tmp_path):
    frame = pd.DataFrame({"x": [1.0, 2.0]}, index=pd.Index([5, 9], name="id"))
    frame.to_parquet(tmp_path / "a.parquet")
    for source in (open_arrow(frame, target="id"), open_parquet(tmp_path / "a.parquet", target="id")):
        (batch,) = source.batches()
        assert batch.y.tolist() == [5, 9]
    (batch,) = open_arrow(frame.assign(y=[0, 1]), target="y", columns=["id", "x"]).batches()
    assert batch.X.tolist() == [[5, 1], [9, 2]]
    with pytest.raises(ValueError, match=r"drop has no effect"):
        open_arrow(frame, target="x", columns=["id"], drop=["x"])
    with pytest.raises(ValueError, match=r"has 1 features, but n_features says 2"):
        open_arrow(frame, target="id", n_features=2)


def test_decimals_are_the_nearest_numbers(tmp_path):
    values = [Decimal(int(v)).scaleb(-10) for v in rng.integers(-(10**18), 10**18, 500)]
    for kind in (pa.decimal128(30, 10), pa.decimal256(50, 10)):
        table = pa.table({"x": pa.array(values, kind), "y": pa.array([Decimal(i % 3) for i in range(500)])})
        pa.parquet.write_table(table, tmp_path / "a.parquet")
        data = ExampleFiles([str(tmp_path / "a.parquet")], Reading()).whole()
        for X_found, y in (
            (data.X, data.y),
            next(open_parquet(tmp_path / "a.parquet", target="y").batches())[:2],
        ):
            assert X_found.ravel().tolist() == [float(value) for value in values]
            assert (y.dtype.kind, y.tolist()) == ("i", [i % 3 for i in range(500)])


@pytest.mark.parametrize(
    "kind", [pa.list_(pa.float32(), 3), pa.list_(pa.float64()), pa.large_list(pa.int8())]
)
def test_lists_of_one_length_are_features(tmp_path, kind):
    lists = rng.integers(-9, 9, (N, 3))
    table = pa.table({"a": X[:, 0], "e": pa.array(lists.tolist(), kind), "y": Y})
    pa.parquet.write_table(table, tmp_path / "a.parquet", row_group_size=7)
    names, expected = ["a", "e[0]", "e[1]", "e[2]"], np.column_stack([X[:, 0], lists])
    sources = [open_parquet(tmp_path / "a.parquet", target="y"), open_arrow(table, target="y")]
    for source in sources:
        assert source.feature_names == tuple(names)
        found = np.concatenate([batch.X for batch in source.batches()])
        assert found.astype(float).tobytes() == expected.tobytes()
    parts = sources[0].partitions()
    assert np.concatenate([part().X for part in parts]).astype(float).tobytes() == expected.tobytes()
    model = tmp_path / "m"
    argv = ["--quiet", "--epochs", "3", "--tol", "none", "--no-shuffle"]
    assert main(["train", "perceptron", str(tmp_path / "a.parquet"), "--model", str(model), *argv]) == 0
    assert load(model).feature_names_in_.tolist() == names
    assert load(model).coef_.tobytes() == Perceptron(**SHORT).fit(expected, Y).coef_.tobytes()
    assert main(["evaluate", str(model), str(tmp_path / "a.parquet"), "--quiet"]) == 0
    assert main(["predict", str(model), str(tmp_path / "a.parquet")]) == 0


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([[1.0, 2.0], [3.0]], "row 2: column 'e' has a list of 1 numbers where others have 2"),
        ([[1.0, 2.0], [3.0, 4.0, 5.0]], "row 2: column 'e' has a list of 3 numbers"),
        ([[1.0, 2.0], None], "row 2: column 'e' has no list"),
        ([[1.0, 2.0], [3.0, None]], "row 2: column 'e' has a missing value"),
        ([["a"], ["b"]], "column 'e' holds strings, not numbers"),
        ([[], []], "row 1: column 'e' has no list of numbers"),
        ([None, [1.0, 2.0]], "row 1: column 'e' has no list of numbers"),
    ],
)
def test_lists_that_are_no_features(rows, text):
    with pytest.raises(ValueError, match=text):
        list(open_arrow(pa.table({"e": rows, "y": ["a", "b"]}), target="y").batches())


@pytest.mark.parametrize("kind", ["parquet", "arrow", "csv", "frame"])
def test_a_missing_label_names_its_row_in_the_file(tmp_path, kind):
    labels = ["a", "b"] * 10
    table = pa.table({"x": [float(i) for i in range(20)], "y": [*labels[:13], None, *labels[14:]]})
    path = tmp_path / f"a.{kind}"
    if kind == "parquet":
        pa.parquet.write_table(table, path, row_group_size=5)
    elif kind == "arrow":
        with pa.ipc.new_file(path, table.schema) as out:
            out.write_table(table, max_chunksize=6)
    elif kind == "csv":
        table.to_pandas().to_csv(path, index=False)
    opened = {"parquet": open_parquet, "csv": open_csv}.get(kind, open_arrow)
    source = opened(table.to_pandas() if kind == "frame" else path, target="y")
    with pytest.raises(ValueError, match="row 14: the label in column 'y' is missing"):
        Perceptron().fit_stream(source)
    if kind == "parquet":
        with pytest.raises(ValueError, match="row 14: the label in column 'y' is missing"):
            source.partitions()[2]()


@pytest.mark.parametrize(
    "kind", ["Int64", "boolean", "int64[pyarrow]", "bool[pyarrow]", "category", "string"]
)
def test_labels_keep_their_type(kind):
    values = [True, False, True] if "bool" in kind else [2**53, 2**53 + 1, 2**53]
    frame = pd.DataFrame({"x": [1.0, -1.0, 2.0], "y": pd.Series(values).astype(kind)})
    (batch,) = open_arrow(frame, target="y").batches()
    assert batch.y.tolist() == ([str(value) for value in values] if kind == "string" else values)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 2.0, 1.0], [1, 2, 1]),
        ([1.0, float("nan"), 2.0], "row 2: the label in column 'y' is missing"),
        ([1.0, 2.0, 0.5], "row 3: the label in column 'y' is 0.5; labels must be whole numbers"),
        ([1.0, 2.0, float("inf")], "row 3: the label in column 'y' is inf"),
        ([Decimal("1.0"), Decimal("2.5"), Decimal("3.0")], "row 2: the label in column 'y' is 2.5"),
    ],
)
def test_labels_that_are_floats_are_whole_numbers(tmp_path, values, expected):
    pa.parquet.write_table(pa.table({"x": [1.0, 2.0, 3.0], "y": values}), tmp_path / "a.parquet")

    def by_source():
        return next(open_parquet(tmp_path / "a.parquet", target="y").batches()).y

    for read in (by_source, lambda: ExampleFiles([str(tmp_path / "a.parquet")], Reading()).whole().y):
        if isinstance(expected, str):
            with pytest.raises(Exception, match=expected):
                read()
        else:
            assert (read().tolist(), read().dtype) == (expected, np.int64)


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ([[1.0, 2.0], [3.0, 4.0, 5.0]], "row 2: column 'e' has a list of 3 numbers where others have 2"),
        ([["u", "v"], ["w"]], "row 2: column 'e' has a list of 1 numbers where others have 2"),
        ([b"u", b"v"], "column 'e' holds binary, neither numbers nor strings; encode it, or leave it out"),
        ([{"u": 1}, {"u": 2}], "column 'e' holds struct<u: int64>, neither numbers nor strings"),
        ([[[1.0]], [[2.0]]], "column 'e' holds list<"),
    ],
)
def test_what_cannot_be_hashed_is_named(tmp_path, column, said):
    """Values behind the first list's length were left out."""
    pa.parquet.write_table(pa.table({"e": column, "y": ["a", "b"]}), tmp_path / "a.parquet")
    with pytest.raises(ValueError) as caught:
        Perceptron().fit_stream(open_examples(tmp_path / "a.parquet", hash_bits=6))
    assert said in str(caught.value)


def test_categories_are_strings_to_later_files(tmp_path):
    frame = pd.DataFrame({"c": pd.Categorical(["u", "v"]), "y": ["a", "b"]})
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_csv(tmp_path / "a.csv", index=False)
    model = str(tmp_path / "m")
    assert (
        main(
            [
                "train",
                "perceptron",
                str(tmp_path / "a.parquet"),
                "--hash-bits",
                "6",
                "--model",
                model,
                "--quiet",
            ]
        )
        == 0
    )
    assert main(["evaluate", model, str(tmp_path / "a.csv")]) == 0


@pytest.mark.parametrize("columns", [["x", "x"], ["e", "e[0]"]])
def test_a_feature_is_named_once(tmp_path, columns):
    table = pa.table({"x": [1.0, -1.0], "e": [[1.0, 2.0], [3.0, 4.0]], "y": ["a", "b"]})
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    for source in (
        lambda: open_arrow(table, target="y", columns=columns),
        lambda: open_parquet(tmp_path / "a.parquet", target="y", columns=columns),
        lambda: open_examples(tmp_path / "a.parquet", target="y", columns=columns),
    ):
        with pytest.raises(ValueError, match=r"the feature '(x|e\[0\])' is there twice; name it once"):
            Perceptron().fit_stream(source())


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_labels_and_weights_are_no_features(tmp_path, suffix):
    table = pa.table({"x": [1.0, -1.0], "w": [1.0, 2.0], "y": [1, 0]})
    path = tmp_path / f"a.{suffix}"
    if suffix == "csv":
        pa.csv.write_csv(table, path)
    elif suffix == "parquet":
        pa.parquet.write_table(table, path)
    openers = {
        "csv": [open_csv],
        "parquet": [open_parquet],
        "arrow": [lambda _, **how: open_arrow(table, **how)],
    }
    for opener in [*openers[suffix], *([open_examples] if suffix != "arrow" else [])]:
        with pytest.raises(
            ValueError, match="'y' holds the labels, so it is no feature; leave it out of colu"
        ):
            Perceptron().fit_stream(opener(path, target="y", columns=["x", "y"]))
        with pytest.raises(
            ValueError, match="'w' holds the weights, so it is no feature; leave it out of col"
        ):
            Perceptron().fit_stream(opener(path, target="y", sample_weight="w", columns=["x", "w"]))


def test_a_missing_library_is_named(tmp_path, monkeypatch):
    paths = [tmp_path / "a.parquet", tmp_path / "a.csv"]
    pa.parquet.write_table(TABLE, paths[0])
    pa.csv.write_csv(TABLE, paths[1])
    for name in ("pyarrow", "pyarrow.parquet", "pyarrow.csv"):
        monkeypatch.setitem(sys.modules, name, None)
    for path in paths:
        with pytest.raises((ImportError, ValueError), match="pyarrow, which is not installed: pip install"):
            ExampleFiles([str(path)], Reading(target="y")).whole()


def test_parquet_is_read_in_parts(tmp_path):
    """A stream holds some rows at a time, also of one row group."""
    pa.parquet.write_table(
        pa.table({"a": np.arange(70_000) % 9, "y": np.arange(70_000) % 2}), tmp_path / "a.parquet"
    )
    assert [len(batch.y) for batch in open_parquet(tmp_path / "a.parquet", target="y").batches()] == [
        65_536,
        4_464,
    ]


@pytest.mark.parametrize("compression", ["uncompressed", "lz4"])
def test_the_format_parquet_is_that_of_arrow_files_too(tmp_path, compression):
    """Whole, in parts, as a stream and of a pipe, with the examples of Parquet."""
    pa.feather.write_feather(TABLE, tmp_path / "a.feather", compression, chunksize=6)
    pa.parquet.write_table(TABLE, tmp_path / "a.parquet")
    reading = Reading(format="parquet", target="y", sample_weight="w")
    expected = ExampleFiles([str(tmp_path / "a.parquet")], reading).whole()
    feather = str(tmp_path / "a.feather")
    with Path(feather).open("rb") as pipe:
        found = [[ExampleFiles([file], reading).whole()] for file in (feather, pipe)]
    found.append(list(ExampleFiles([feather], reading).parts()))
    assert list(map(len, found)) == [1, 1, 7]
    for parts in found:
        assert np.concatenate([part.X for part in parts]).tobytes() == expected.X.tobytes()
        assert np.concatenate([part.labels for part in parts]).tolist() == expected.labels.tolist()
        assert np.concatenate([part.weights for part in parts]).tolist() == expected.weights.tolist()
    streamed = open_examples(feather, format="parquet", target="y", sample_weight="w")
    models = [
        AveragedPerceptron(**SHORT).fit_stream(source)
        for source in (streamed, open_examples(tmp_path / "a.parquet", target="y", sample_weight="w"))
    ]
    assert digest(models[0]) == digest(models[1])
    Path(feather).write_bytes(Path(feather).read_bytes()[:99])
    with pytest.raises(ValueError, match=r"a\.feather: "):
        ExampleFiles([feather], reading).whole()


def test_the_command_predicts_for_sparse_rows(tmp_path, capsys):
    """As many features as the model has, also where the file has fewer."""
    columns = {"indices": [[0, 3], [1], [2, 0]], "values": [[1.0, 2.0], [0.5], [1.0, 1.0]], "y": [1, 0, 1]}
    train, test, model = (str(tmp_path / name) for name in ("a.parquet", "b.parquet", "m"))
    pa.parquet.write_table(pa.table(columns), train)
    pa.parquet.write_table(pa.table(columns).slice(1), test)
    assert main(["train", "perceptron", train, "--model", model, "--quiet"]) == 0
    capsys.readouterr()
    for command, told in (("predict", "0\n1\n"), ("evaluate", "accuracy  1.0000")):
        assert main([command, model, test]) == 0
        assert capsys.readouterr().out.startswith(told)


def several(folder, form, *parts):
    """Write a file for each part, with labels of two classes; return their names."""
    for number, columns in enumerate(parts):
        pd.DataFrame({**columns, "y": ["p", "n"]}).pipe(
            lambda frame, path: frame.to_csv(path, index=False) if form == "csv" else frame.to_parquet(path),
            folder / f"{number}.{form}",
        )
    return [str(folder / f"{number}.{form}") for number in range(len(parts))]


def commands(files, folder):
    """The calls of the command that read several files."""
    for how in ([], ["--stream"], ["--hash-bits", "5"], ["--stream", "--hash-bits", "5"]):
        yield main(
            ["train", "perceptron", *files, "--target", "y", "--model", str(folder / "m"), "--quiet", *how]
        )


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("others", [{"a": [2, -2], "c": [9, 9]}, {"c": [2, -2]}, {"c": [9, 9], "a": [2, -2]}])
def test_files_with_other_columns_are_refused_by_every_reader(tmp_path, form, others, capsys):
    files = several(tmp_path, form, {"a": [1, -1]}, others)
    for order in (files, files[::-1]):
        with pytest.raises(
            ValueError, match=r"its columns are .*, but those of .* are .*; name those to use"
        ):
            Perceptron().fit_stream(OPEN[form](order, target="y"))
        assert set(commands(order, tmp_path)) == {1}
        assert capsys.readouterr().err.count("its columns are") == 4
    if form == "parquet":
        with pytest.raises(ValueError, match="its columns are"):
            open_parquet(files, target="y").partitions(1)[0]()
    if "a" in others:
        source = OPEN[form](files, target="y", columns=["a"])
        assert Perceptron().fit_stream(source).feature_names_in_.tolist() == ["a"]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_columns_in_another_order_are_read_by_name(tmp_path, form):
    files = several(tmp_path, form, {"a": [1, -1], "b": [5, 6]}, {"b": [7, 8], "a": [2, -2]})
    model = Perceptron(shuffle=False).fit_stream(OPEN[form](files, target="y"))
    expected = Perceptron(shuffle=False).fit([[1, 5], [-1, 6], [2, 7], [-2, 8]], ["p", "n"] * 2)
    assert model.coef_.tobytes() == expected.coef_.tobytes()
    assert set(commands(files, tmp_path)) == {0}
    main(
        [
            "train",
            "perceptron",
            *files,
            "--target",
            "y",
            "--model",
            str(tmp_path / "m"),
            "--no-shuffle",
            "--quiet",
        ]
    )
    assert load(tmp_path / "m").coef_.tobytes() == expected.coef_.tobytes()
    if form == "parquet":
        part = open_parquet(files, target="y").partitions(1)[0]()
        assert part.X.tolist() == [[1, 5], [-1, 6], [2, 7], [-2, 8]]


def test_lists_of_other_lengths_in_other_files(tmp_path):
    files = several(tmp_path, "parquet", {"e": [[1.0, 2.0]] * 2}, {"e": [[1.0, 2.0, 3.0]] * 2})
    with pytest.raises(ValueError, match=r"its columns are 'e\[0\]', 'e\[1\]', 'e\[2\]', but those of"):
        Perceptron().fit_stream(open_parquet(files, target="y"))
