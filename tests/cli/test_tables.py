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


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.parquet"])
def test_names_and_labels(call, tmp_path, name):
    path, model = write(FRAME, tmp_path / name), tmp_path / "m"
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


def test_numbers_are_read_to_the_last_bit(tmp_path):
    values = np.random.default_rng(0).standard_normal(2000) * 10.0 ** np.arange(-100, 100).repeat(10)
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "".join(f"{value!r},1\n" for value in values.tolist()))
    from perceptron_rs.io.files import ExampleFiles
    from perceptron_rs.io.reading import Reading

    found = ExampleFiles([str(path)], Reading()).whole()
    assert found.X.tobytes() == values.tobytes()


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
        ("x,y,label\n1,2,a\n,2,b\n", (), "row 2: column 'x' has a missing value"),
        ("x,y,label\n1,2,a\n3,2,\n4,2,b\n", (), "row 2: the label in column 'label' is missing"),
        ("x,y,label\n1,red,a\n3,blue,b\n", (), "row 1: column 'y' holds 'red', which is not a number"),
        (
            "x,label\n1,a\n2,b\n",
            ("--target", "z"),
            "has no column 'z' for --target; its columns are 'x', 'label'",
        ),
        ("label\na\nb\n", (), "has no columns except the labels 'label'"),
        ("x,y\n", (), "a.csv"),
        ("\n", (), "a.csv"),
        ("x,y\n1,2,3\n1\n", (), "a.csv"),
        ("x,y\n1,0.5\n2,1.5\n", (), "must be whole numbers or strings"),
    ],
)
def test_bad_tables(refused, tmp_path, text, options, expected):
    path = tmp_path / "a.csv"
    path.write_text(text)
    assert expected in refused("train", path, "--model", tmp_path / "m", *options)


def test_two_columns_of_one_name(refused, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,x,y\n1,2,a\n3,4,b\n")
    assert "two columns are called 'x'" in refused("train", path, "--model", tmp_path / "m")


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


@pytest.mark.parametrize("kind", ["category", "int8", "bool", "string"])
def test_types_of_labels_in_parquet(call, tmp_path, kind):
    labels = FRAME["kind"] if kind in ("category", "string") else pandas.Series(Y > 0)
    path = write(FRAME.assign(kind=labels.astype(kind)), tmp_path / "a.parquet")
    answer = call("train", path, "--model", tmp_path / "m", "--json", "--quiet").json
    expected = {"int8": [0, 1], "bool": [False, True]}.get(kind, ["no", "yes"])
    assert answer["classes"] == expected


def test_small_types_stay_small(tmp_path):
    from perceptron_rs.io.files import ExampleFiles
    from perceptron_rs.io.reading import Reading

    frame = pandas.DataFrame(X.astype(np.int8), columns=NAMES).assign(y=Y)
    path = write(frame, tmp_path / "a.parquet")
    X_found = ExampleFiles([str(path)], Reading()).whole().X
    assert X_found.dtype == np.int8
    assert X_found.flags.c_contiguous


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


def test_a_column_that_is_left_out_holds_no_labels(refused, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y,id\n1,0,5\n2,1,6\n")
    assert "its last column 'id' out" in refused("train", path, "--model", tmp_path / "m", "--drop", "id")


def test_two_columns_of_one_name_in_parquet(refused, tmp_path):
    pyarrow, parquet = (pytest.importorskip(name) for name in ("pyarrow", "pyarrow.parquet"))
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table([[1.0, 2.0], [3.0, 4.0], [0, 1]], names=["x", "x", "y"]), path)
    for more in ([], ["--stream"]):
        said = refused("train", path, "--model", tmp_path / "m", *more)
        assert "two columns are called 'x'; give each a name of its own" in said


def test_names_of_columns_are_no_words_of_the_command(refused, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("2019,2020,y\n1,2,0\n3,1,1\n")
    assert "('2019', '2020', 'y')" in refused("train", path, "--model", tmp_path / "m")


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
