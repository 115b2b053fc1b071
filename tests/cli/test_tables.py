"""CSV and Parquet on the command line: names, types, the column of labels.

What cells are, and what is no table, is in ``tests/io/test_csv.py`` and ``tests/io/test_tables.py``.
"""

import numpy as np
import pytest

from perceptron_rs import load

from .support import X, Y

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

NAMES = ["size", "price", "new"]
FRAME = pandas.DataFrame(X, columns=NAMES).assign(new=X[:, 2] > 0, kind=np.where(Y > 0, "yes", "no"))
KINDS = FRAME["kind"].tolist()


def write(frame, path):
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False)
    return path


@pytest.fixture
def table(call, tmp_path):
    """A table, and a model of it."""
    path = write(FRAME, tmp_path / "a.csv")
    assert call("train", path, "--model", tmp_path / "m", "--quiet").status == 0
    return path, tmp_path / "m"


def test_another_target_and_another_order(call, refused, table, tmp_path):
    path, model = table
    assert load(model).feature_names_in_.tolist() == NAMES
    frame = FRAME[["kind", "new", "price", "size"]].assign(more="text")
    other = write(frame, tmp_path / "b.csv")
    for file in (path, other, write(FRAME[NAMES], tmp_path / "c.csv")):  # by name; more does not matter
        assert call("predict", model, file).out.split() == KINDS
    assert call("evaluate", model, other, "--target", "kind", "--json").json["errors"] == 0
    write(FRAME[["kind", *NAMES]], other)
    assert "its last column 'new' is a feature" in refused("evaluate", model, other)
    again = call("train", other, "--model", model, "--target", "kind", "--json").json
    assert (again["n_features"], again["classes"]) == (3, ["no", "yes"])
    write(FRAME.drop(columns=["price"]), path)
    assert "lacks 1 of the model's columns, 'price' first" in refused("predict", model, path)


def test_labels_that_look_like_numbers(call, tmp_path):
    """Where the model's classes are strings, so are the labels."""
    path, model = tmp_path / "a.csv", tmp_path / "m"
    path.write_text("x,y\n1,1\n2,1\n-1,b\n-2,b\n")
    assert call("train", path, "--model", model, "--json", "--quiet").json["classes"] == ["1", "b"]
    path.write_text("x,y\n1,1\n2,1\n")
    for options in ((), ("--target", "y")):
        assert call("evaluate", model, path, "--json", *options).json["errors"] == 0


BAD = [
    ("x,label\n1,a\n2,b\n", ("--target", "z"), "has no column 'z' for --target; its columns are 'x', "),
    ("x,label\n1,a\n2,b\n", ("--columns", "z"), "has no column 'z' for --columns"),
    ("label\na\nb\n", (), "has no columns except the labels 'label'"),
    ("x,y,\n1,0,\n2,1,6\n", ("--drop", ""), "leaves its last column '' out; name the column of the labels"),
    (
        "x,w,y\n1,1,a\n-1,2,b\n",
        ("--columns", "x,y"),
        "holds the labels, so it is no feature; leave it out of --co",
    ),
]


@pytest.mark.parametrize("command", [("train", "--model", "m"), ("train", "--stream", "--model", "m")])
@pytest.mark.parametrize(("text", "options", "expected"), BAD)
def test_bad_tables(refused, tmp_path, monkeypatch, command, text, options, expected):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(text)
    assert expected in refused(*command, "a.csv", *options)


@pytest.mark.parametrize("text", ["\n\n\n", "size,price,new,kind\n\n\n"], ids=["blank", "header"])
def test_a_table_without_rows_is_called_so_by_all(call, table, tmp_path, stdin, text):
    model, none = table[1], tmp_path / "none.csv"
    none.write_text(text)
    train = ("train", "--format", "csv", "--model", tmp_path / "n")
    assert "contains no examples" in call(*train, "--stream", "--classes", "0,1", none).err
    for argv in (train, *((command, model) for command in ("predict", "evaluate", "online"))):
        for data, name in ((none, none), ("-", "standard input")):
            stdin(text.encode())
            answer = call(*argv, data)
            assert (answer.status, answer.err) == (1, f"perceptrons: error: {name}: contains no examples\n")
