"""CSV and Parquet on the command line: names, types, the column of labels."""

import sys

import numpy as np
import pytest

from perceptron_rs import Perceptron
from perceptron_rs.cli import modelfile

from .support import X, Y

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

NAMES = ["size", "price", "new"]
FRAME = pandas.DataFrame(X, columns=NAMES).assign(new=X[:, 2] > 0, kind=np.where(Y > 0, "yes", "no"))


def write(frame, path):
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False)
    return path


def test_names_and_labels(call, tmp_path):
    path, model = write(FRAME, tmp_path / "a.csv.gz"), tmp_path / "m"
    trained = call("train", path, "--model", model, "--json", "--quiet")
    assert trained.json["classes"] == ["no", "yes"]
    found, expected = modelfile.load_model(model), Perceptron().fit(X, FRAME["kind"])
    assert found.coef_.tobytes() == expected.coef_.tobytes()
    assert found.feature_names_in_.tolist() == NAMES
    assert call("predict", model, path).out.split() == FRAME["kind"].tolist()
    assert call("evaluate", model, path, "--json").json["errors"] == 0


def test_another_target_and_another_order(call, tmp_path):
    frame = FRAME[["kind", "new", "price", "size"]].assign(more="text")
    path, model = write(FRAME, tmp_path / "a.csv"), tmp_path / "m"
    other = write(frame, tmp_path / "b.csv")
    assert call("train", path, "--model", model, "--quiet").status == 0
    expected = FRAME["kind"].tolist()
    assert call("predict", model, other).out.split() == expected  # by name; what is more does not matter
    assert call("evaluate", model, other, "--target", "kind", "--json").json["errors"] == 0
    write(FRAME[NAMES], tmp_path / "c.csv")
    assert call("predict", model, tmp_path / "c.csv").out.split() == expected
    write(frame.drop(columns="more"), other)
    again = call("train", other, "--model", model, "--target", "kind", "--json").json
    assert (again["n_features"], again["classes"]) == (3, ["no", "yes"])


def test_no_header(call, refused, tmp_path):
    path, model = tmp_path / "a.csv", tmp_path / "m"
    np.savetxt(path, np.column_stack([X, Y]), delimiter=",", fmt="%g")
    assert "pass --no-header if the first line is an example" in refused("train", path, "--model", model)
    answer = call("train", path, "--model", model, "--no-header", "--json", "--quiet").json
    assert (answer["n_samples"], answer["n_features"], answer["classes"]) == (6, 3, [-1, 1])
    found = modelfile.load_model(model)
    assert found.coef_.tobytes() == Perceptron().fit(X, Y).coef_.tobytes()
    assert not hasattr(found, "feature_names_in_")
    assert call("predict", model, path, "--no-header").out.split() == [str(label) for label in Y]
    assert call("evaluate", model, path, "--no-header", "--target", "f3", "--json").json["errors"] == 0
    np.savetxt(path, X, delimiter=",", fmt="%g")
    assert call("predict", model, path, "--no-header").out.split() == [str(label) for label in Y]


def test_names_in_the_model_and_no_header(call, tmp_path):
    model = tmp_path / "m"
    assert call("train", write(FRAME, tmp_path / "a.csv"), "--model", model, "--quiet").status == 0
    path = tmp_path / "b.csv"
    for table in (X, np.column_stack([X, Y])):
        np.savetxt(path, table, delimiter=",", fmt="%g")
        assert call("predict", model, path, "--no-header").out.split() == FRAME["kind"].tolist()


def test_labels_that_look_like_numbers(call, tmp_path):
    """Where the model's classes are strings, so are the labels."""
    path, model = tmp_path / "a.csv", tmp_path / "m"
    path.write_text("x,y\n1,1\n2,1\n-1,b\n-2,b\n")
    assert call("train", path, "--model", model, "--json", "--quiet").json["classes"] == ["1", "b"]
    path.write_text("x,y\n1,1\n2,1\n")
    assert call("evaluate", model, path, "--json").json["errors"] == 0
    assert call("evaluate", model, path, "--json", "--target", "y").json["errors"] == 0


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        (
            "x,label\n1,a\n2,b\n",
            ("--target", "z"),
            "has no column 'z' for --target; its columns are 'x', 'label'",
        ),
        ("label\na\nb\n", (), "has no columns except the labels 'label'"),
    ],
)
def test_bad_tables(refused, tmp_path, text, options, expected):
    path = tmp_path / "a.csv"
    path.write_text(text)
    assert expected in refused("train", path, "--model", tmp_path / "m", *options)


def test_columns_that_the_model_needs(refused, call, tmp_path):
    path, model = write(FRAME, tmp_path / "a.csv"), tmp_path / "m"
    assert call("train", path, "--model", model, "--quiet").status == 0
    write(FRAME.drop(columns=["price"]), path)
    assert "lacks 1 of the model's columns, 'price' first" in refused("predict", model, path)
    write(FRAME[["kind", *NAMES]], path)
    assert "its last column 'new' is a feature" in refused("evaluate", model, path)


def test_a_missing_library_is_named(refused, tmp_path, monkeypatch):
    files = [write(FRAME, tmp_path / name) for name in ("a.parquet", "a.csv")]
    for name in ("pyarrow", "pyarrow.parquet", "pyarrow.csv"):
        monkeypatch.setitem(sys.modules, name, None)
    for path in files:
        line = refused("train", path, "--model", tmp_path / "m")
        assert line == f"{path}: tables are read by pyarrow, which is not installed: pip install pyarrow"


def test_damaged_parquet(refused, tmp_path):
    path = write(FRAME, tmp_path / "a.parquet")
    path.write_bytes(path.read_bytes()[:-5])
    assert str(path) in refused("train", path, "--model", tmp_path / "m")


@pytest.mark.parametrize("more", [[], ["--stream"]])
def test_a_last_column_without_a_name_holds_no_labels(refused, call, tmp_path, more):
    """As of lines that end with a delimiter."""
    path, model = tmp_path / "a.csv", tmp_path / "m"
    for last in ("", "5", "7"):
        path.write_text(f"x,y,\n1,0,{last}\n2,1,6\n")
        said = refused("train", path, "--model", model, *more)
        assert "column 3 has no name" in said
        assert "--drop ''" in said
    said = refused("train", path, "--model", model, "--drop", "", *more)
    assert "leaves its last column '' out; name the column of the labels with --target" in said
    assert call("train", path, "--model", model, "--drop", "", "--target", "y", "--quiet", *more).status == 0
    assert modelfile.load_model(model).feature_names_in_.tolist() == ["x"]


@pytest.mark.parametrize("text", ["\n\n\n", "a,b,y\n\n\n"], ids=["blank", "header"])
def test_a_table_without_rows_is_called_so_by_all(call, tmp_path, stdin, text):
    (tmp_path / "a.csv").write_text("a,b,y\n1,2,0\n2,1,1\n")
    assert call("train", tmp_path / "a.csv", "--model", tmp_path / "m", "--quiet").status == 0
    (tmp_path / "none.csv").write_text(text)
    for data in (tmp_path / "none.csv", "-"):
        for argv in (
            ("train", data, "--format", "csv", "--model", tmp_path / "n"),
            ("train", data, "--format", "csv", "--model", tmp_path / "n", "--stream", "--classes", "0,1"),
            *((command, tmp_path / "m", data) for command in ("predict", "evaluate", "online")),
        ):
            stdin(text.encode())
            if data == "-" and "--stream" in argv:
                continue  # it takes more passes
            answer = call(*argv)
            name = "standard input" if data == "-" else data
            assert (answer.status, answer.err) == (1, f"perceptrons: error: {name}: contains no examples\n")


def test_columns_names_neither_labels_nor_weights(refused, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,w,y\n1,1,a\n-1,2,b\n")
    for command in (("train", "--model", tmp_path / "m"), ("parity",)):
        for more in ((), ("--target", "y"), ("--hash-bits", 5)):
            told = refused(*command, path, "--columns", "x,y", *more)
            assert "the column 'y' holds the labels, so it is no feature; leave it out of --columns" in told
        told = refused(*command, path, "--columns", "x,w", "--sample-weight", "w")
        assert "the column 'w' holds the weights, so it is no feature; leave it out of --columns" in told
