"""CSV: cells by our rules, one answer for every size of a block and by every path; what is refused."""

from __future__ import annotations

import csv
import io
import random
import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction import FeatureHasher

from perceptron_rs import Perceptron, load
from perceptron_rs.cli import main
from perceptron_rs.features.numerals import number_of
from perceptron_rs.io import open_csv
from perceptron_rs.io.files import ExampleFiles
from perceptron_rs.io.reading import Reading
from perceptron_rs.io.text.lines import Records, text_blocks

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
SIZES = (1, 7, 64, 1 << 20)


def by_stream(path, monkeypatch, size, **options):
    monkeypatch.setattr(text_blocks, "__defaults__", (size,))
    files = list(path) if isinstance(path, tuple) else path
    batches = list(open_csv(files, target="label", **options).batches())
    return np.concatenate([batch.X for batch in batches]), np.concatenate([batch.y for batch in batches])


def by_command(path, **options):
    data = ExampleFiles([str(path)], Reading(target="label", **options)).whole()
    return data.X, data.y


def every_answer(path, monkeypatch, **options):
    """Give the bytes and types that each path and size leads to."""
    for size in SIZES:
        for X, y in (by_stream(path, monkeypatch, size, **options), by_command(path, **options)):
            yield X.tobytes(), X.shape, y.tolist(), y.dtype.kind


def quoted(cell, rng):
    if rng.random() < 0.3 or any(c in cell for c in ',"\r\n'):
        return '"' + cell.replace('"', '""') + '"'
    return cell


@pytest.mark.parametrize("seed", range(6))
def test_drawn_files_give_one_answer(tmp_path, monkeypatch, seed):
    """The oracle is Python's own reader of CSV, and float()."""
    rng = random.Random(seed)
    end = rng.choice(["\n", "\r\n", "\n\n"])
    kinds = rng.choice(
        [["a\nb", 'say ""hi""', "x,y", 'in "it', " blank ", "1"], ["1", "0", "-12"], ["01", "1"]]
    )
    rows = []
    for _ in range(60):
        numbers = [repr(rng.gauss(0, 1) * 10.0 ** rng.randrange(-9, 9)), str(rng.randrange(-50, 50))]
        switch = rng.choice(["true", "False", "1", " 0 ", "+3.", ".5e-2"])
        rows.append([*numbers, switch, rng.choice(kinds)])
    lines = [["a", 'b "and\nso on"', "c", "label"], *rows]
    text = end.join(",".join(quoted(cell, rng) for cell in line) for line in lines)
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode() + rng.choice([b"", end.encode()]))
    read = [row for row in csv.reader(io.StringIO(path.read_text(), newline="")) if row][1:]
    assert len(read) == 60
    X = [
        [{"true": 1.0, "False": 0.0}.get(c.strip()) if c.strip()[-1] == "e" else float(c) for c in row[:3]]
        for row in read
    ]
    labels = [row[3] for row in read]
    whole = kinds == ["1", "0", "-12"]
    y = [int(label) for label in labels] if whole else labels
    expected = np.array(X).tobytes(), (60, 3), y, "i" if whole else "U"
    answers = list(every_answer(path, monkeypatch))
    assert len(answers) == 8
    for answer in answers:
        assert answer == expected


CELLS = [
    "1",
    "+1",
    "-.5",
    "1.",
    ".",
    "1e5",
    "1e",
    "1e999",
    "-1e-400",
    "nan",
    "inf",
    "Infinity",
    "0x10",
    "1_0",
    "1d5",
]
CELLS += [
    "\u0661",
    "1 2",
    " 1 ",
    "\t1",
    "- 1",
    "--1",
    "1,5",
    "1'000",
    "2020-01-02",
    "yes",
    "True",
    "tRUE",
    "false",
    "t",
    "∞",
]


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("beside", ["7", "true"])
def test_what_a_cell_stands_for_as_a_feature(tmp_path, monkeypatch, cell, beside):
    """By the grammar alone, whatever else is in the column, and whether it is read as text or at once."""
    path = tmp_path / "a.csv"
    path.write_text(f'x,label\n{beside},a\n"{cell}",b\n')
    plain = cell.strip(" \t")
    value = {"True": 1.0, "false": 0.0}.get(plain)
    if value is None and NUMBER.fullmatch(plain) and np.isfinite(float(plain)):
        value = float(plain)
    if value is None:
        for read in (lambda: by_stream(path, monkeypatch, 5), lambda: by_command(path)):
            with pytest.raises(Exception, match=re.escape(f"row 2: column 'x' holds {cell!r}")):
                read()
    else:
        for read in (by_stream(path, monkeypatch, 5), by_command(path)):
            assert read[0].tolist()[1] == [value]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["0", "1", "-5"], [0, 1, -5]),
        (["0", "1", "01"], ["0", "1", "01"]),
        (["+1", "-1"], ["+1", "-1"]),
        (["-0", "1"], ["-0", "1"]),
        (["1", "0x10"], ["1", "0x10"]),
        (["1e5", "2"], ["1e5", "2"]),
        (["1.0", "2.000e+00", "3"], [1, 2, 3]),
        (["9007199254740993", "9007199254740992"], [2**53 + 1, 2**53]),
        (["9223372036854775808", "1"], ["9223372036854775808", "1"]),
        (["true", "false"], ["true", "false"]),
        (["2020-01-02", "2020-01-03"], ["2020-01-02", "2020-01-03"]),
        (["NA", "DE"], ["NA", "DE"]),
        (["inf", "nan"], ["inf", "nan"]),
        ([" 1", "2 "], [1, 2]),
        ([" a", "a "], [" a", "a "]),
        (["1", "a"], ["1", "a"]),
    ],
)
def test_labels(tmp_path, monkeypatch, cells, expected):
    """Integers only if all of the file are; the cell that says otherwise may come in any block."""
    path = tmp_path / "a.csv"
    path.write_text("x,label\n" + "".join(f"1,{cell}\n" for cell in cells))
    for _, shape, y, kind in every_answer(path, monkeypatch):
        assert (shape, y, kind) == ((len(cells), 1), expected, "U" if isinstance(expected[0], str) else "i")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,label\n1,a\n2,\n3,b\n", "row 2: the label in column 'label' is missing"),
        ('x,label\n1,a\n2,""\n3,b\n', "row 2: the label in column 'label' is missing"),
        ("x,label\n1,a\n,b\n3,b\n", "row 2: column 'x' has a missing value"),
        ("x,label\n1,0\n2, \n3,1\n", "row 2: the label in column 'label' is missing"),
        ("x,label\n1,a\n2,\t \n3,b\n", "row 2: the label in column 'label' is missing"),
        ("x,label\n1,a\n  ,b\n3,b\n", "row 2: column 'x' has a missing value"),
        ("x,label\n1,0\n2,0.5\n", "holds the label 0.5; labels must be whole numbers or strings"),
        ("x,label\n1,0\n2,NA\n", "holds numbers and 'NA'; if that stands for a missing value, pass"),
        ("x,label\n1,a\nNA,b\n", "row 2: column 'x' holds 'NA', .*stands for a missing value, pass"),
        ("x,label\n1,a\n2,b,\n3,c\n", "row 2: has 3 cells, but the header names 2 columns: '2,b,'"),
        ("x,label\n1,a\n2\n3,c\n", "row 2: has 1 cells, but the header names 2 columns"),
        ("x,x,label\n1,2,a\n3,4,b\n", "two columns are called 'x'"),
        (",x,label\n0,1,a\n1,2,b\n", "column 1 has no name, like the index of a pandas data frame"),
        ("Unnamed: 0,x,label\n0,1,a\n1,2,b\n", r"column 1 has no name \('Unnamed: 0'\)"),
        ("x,,label\n0,1,a\n1,2,b\n", "column 2 has no name"),
        ("x, ,label\n0,1,a\n1,2,b\n", "column 2 has no name"),
        ("x;label\n1;a\n", "has one column, 'x;label'; if ';' separates its columns, pass .*delimiter.*';'"),
        ("x\tlabel\n1\ta\n", r"if '\\t' separates its columns, pass .*delimiter.*'\\t'"),
        ('x,label\n"1,5",a\n', "'1,5', which is not a number; to read it as one, .*decimal.*','"),
        ('x,label\n"1,234",a\n', "say what comes before a fraction: .*decimal.*'.'"),
        ("x;label\n$5;a\n", "has one column"),
        ('x,label\n"1;2",a\n', "if ';' separates the columns, pass"),
        ("x,y,label\n1,5;2,a\n", "column 'y' holds '5;2', .*if ';' separates the columns, pass .*delimiter"),
        (
            'x,label\n1,a\n2,"b\n3,c\n',
            r"the record that begins '2,\"b\\n3,c\\n' opens a quote that is never closed",
        ),
        ("y , label\n1,a\n", "its columns are 'y ', ' label'"),
        ("", "empty"),
        ("\n\n", "a.csv"),
    ],
)
def test_what_is_refused(tmp_path, monkeypatch, text, message):
    path = tmp_path / "a.csv"
    path.write_text(text)
    for read in (
        lambda: by_command(path),
        lambda: by_stream(path, monkeypatch, 5),
    ):
        with pytest.raises(Exception, match=message) as caught:
            read()
        assert "a.csv" in str(caught.value)
        assert "CellError" not in type(caught.value).__name__
        if "pass " in message or "leave it out" in message:
            python = re.search(r"(delimiter|drop|missing)=", str(caught.value)) is not None
            assert python == isinstance(caught.value, ValueError)


def test_a_missing_value_is_what_the_caller_says(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("x,label\n1,a\n2,NA\n")
    for answer in every_answer(path, monkeypatch):
        assert answer[2] == ["a", "NA"]
    for read in (
        lambda: by_command(path, missing=("NA",)),
        lambda: by_stream(path, monkeypatch, 5, missing=("NA",)),
    ):
        with pytest.raises(Exception, match="row 2: the label in column 'label' is missing"):
            read()


#: Cells, the mark before a fraction, and the number; None: it is none.
NUMERALS = [
    ("$1,200.50", ".", 1200.5),
    ("-$1,234,567", ".", -1234567.0),
    ("€ +5", ".", 5.0),
    ("12%", ".", 12.0),
    (" 12.5 % ", ".", 12.5),
    ("1'200.5 CHF", ".", 1200.5),
    ("1 200", ".", 1200.0),
    ("US$.5", ".", 0.5),
    ("1.5e3", ".", 1500.0),
    ("0.1", ".", 0.1),
    ("1.200,50 €", ",", 1200.5),
    ("1\u00a0200,5", ",", 1200.5),
    ("12,5 %", ",", 12.5),
    ("1.200", ",", 1200.0),
    ("0,125", ",", 0.125),
    ("7", ",", 7.0),
    ("1.5", ",", None),
    ("1,5", ".", None),
    ("0,125", ".", None),
    ("1,20,000", ".", None),
    ("12,34", ".", None),
    ("-$-5", ".", None),
    ("5 kg", ".", None),
    ("$", ".", None),
    ("1.2.3", ",", None),
]


@pytest.mark.filterwarnings("ignore:.*'x' holds")
@pytest.mark.parametrize(("cell", "mark", "expected"), NUMERALS)
def test_numbers_as_people_write_them(tmp_path, monkeypatch, cell, mark, expected):
    """The same in memory and in parts of any size; hashed, they are numbers, and others are categories."""
    assert number_of(cell, mark) == expected
    path = tmp_path / "a.csv"
    path.write_text(f'x,n,label\n"{cell}",1,a\n"{cell}",-2,b\n')
    rows = [{"x": cell if expected is None else expected, "n": n} for n in (1, -2)]
    batches = open_csv(path, target="label", decimal=mark, hash_bits=4).batches()
    expected_rows = FeatureHasher(16).transform(rows).toarray()
    np.testing.assert_array_equal(sp.vstack([batch.X for batch in batches]).toarray(), expected_rows)
    if expected is None:
        for read in (
            lambda: by_command(path, decimal=mark),
            lambda: by_stream(path, monkeypatch, 5, decimal=mark),
        ):
            with pytest.raises(ValueError, match=r"row 1: column 'x' holds .* which is not a number[:;] "):
                read()
        return
    for found, *_ in every_answer(path, monkeypatch, decimal=mark):
        assert found == np.array([[expected, 1.0], [expected, -2.0]]).tobytes()


IRIS = "5.1,3.5,1.4,0.2,Iris-setosa\n4.9,3.0,1.4,0.2,Iris-setosa\n7.0,3.2,4.7,1.4,Iris-versicolor\n\n"


def test_a_file_without_a_header_loses_nothing(tmp_path):
    path = tmp_path / "iris.data"
    path.write_text(IRIS)
    with pytest.raises(ValueError, match=r"looks like an example \('5.1', '3.5', .*pass header=False"):
        open_csv(path, target="Iris-setosa")
    found = open_csv(path, target="f4", header=False)
    (batch,) = found.batches()
    assert batch.X.tolist() == [[5.1, 3.5, 1.4, 0.2], [4.9, 3.0, 1.4, 0.2], [7.0, 3.2, 4.7, 1.4]]
    assert batch.y.tolist() == ["Iris-setosa", "Iris-setosa", "Iris-versicolor"]
    assert found.feature_names is None
    model = Perceptron(max_iter=2, tol=None, shuffle=False).fit_stream(found)
    expected = Perceptron(max_iter=2, tol=None, shuffle=False).fit(batch.X, batch.y)
    assert model.coef_.tobytes() == expected.coef_.tobytes()


@pytest.mark.parametrize(
    ("text", "is_refused"),
    [
        (IRIS, True),
        ("1,2,3,4\n5,6,7,4\n5,6,7,3\n", True),  # its last column has labels that are called like it
        ("0,1,2,label\n5,6,7,a\n8,9,7,b\n", False),  # of pandas' data frame without names
        ("0,1,2,3\n5,6,7,0\n8,9,7,1\n", False),
        ("1,2,3,label\n5,6,7,a\n8,9,7,b\n", False),
        ("5,0,4,label\n5,6,7,a\n8,9,7,b\n", True),
        ("39, 77516, <=50K\n50, 83311, <=50K\n28, 338409, >50K\n", True),
        ("0,0,1\n1,0,0\n", True),
        ("true,False,spam\ntrue,true,ham\nfalse,true,spam\n", True),
        ("1.5,true,7\n2,true,8\n3,false,7\n", True),
        ("a,b,2\n1,2,x\n3,4,2\n", False),  # a is no number, so this is no example
        ("a,b,c\n1,2,x\n3,4,z\n", False),
        ("a1,-2,c\n1,2,x\n3,4,z\n", False),
        ("a,b,x\n1,2,x\n3,4,z\n", False),
    ],
)
@pytest.mark.parametrize("streams", [False, True])
def test_first_lines_that_look_like_examples(tmp_path, capsys, text, is_refused, streams):
    path = tmp_path / "a.csv"
    path.write_text(text)
    argv = [
        "train",
        "perceptron",
        str(path),
        "--model",
        str(tmp_path / "m"),
        "--quiet",
        *(["--stream"] if streams else []),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert main(argv) == int(is_refused)
        if is_refused:
            assert (
                "pass --no-header if the first line is an example, or --header if" in capsys.readouterr().err
            )
            n = len([line for line in text.splitlines() if line])
            if not text.startswith("a"):
                capsys.readouterr()
                assert main([*argv, "--no-header", "--json"]) == 0
                assert f'"n_samples": {n},' in capsys.readouterr().out
            if n > 2 and not text.startswith("39"):
                assert main([*argv, "--header"]) == 0
    target = text.splitlines()[0].split(",")[-1]
    if is_refused:
        with pytest.raises(ValueError, match="header=True"):
            list(open_csv(path, target=target).batches())
    else:
        assert list(open_csv(path, target=target).batches())


def test_a_column_without_a_name_is_left_out(tmp_path, capsys):
    frame = pd.DataFrame({"x": [1.0, -1.0, 2.0], "label": ["a", "b", "a"]}, index=[7, 5, 3])
    path, model = tmp_path / "a.csv", tmp_path / "m"
    frame.to_csv(path)
    argv = ["train", "perceptron", str(path), "--model", str(model), "--quiet"]
    assert main(argv) == 1
    assert "leave it out (--drop '')" in capsys.readouterr().err
    assert main([*argv, "--drop", ""]) == 0
    assert load(model).feature_names_in_.tolist() == ["x"]
    with pytest.raises(ValueError, match=r"leave it out \(drop=\[''\]\)"):
        open_csv(path, target="label")
    assert open_csv(path, target="label", drop=[""]).feature_names == ("x",)


def test_where_records_end():
    """By brute force: drawn texts of these characters, against a walk over their characters."""
    rng = random.Random(0)
    records = Records("it", ",")
    for _ in range(4000):
        text = "".join(rng.choice('"a,\n"') for _ in range(rng.randrange(1, 14))).encode()
        whole, inside, begins, i, ends = 0, False, True, 0, []
        while i < len(text):
            c = text[i : i + 1]
            if inside:
                if c == b'"' and text[i + 1 : i + 2] == b'"':
                    i += 1
                elif c == b'"':
                    if i + 1 == len(text):
                        inside = True  # the next character may be another quote
                        break
                    inside = False
            elif begins and c == b'"':
                inside = True
            elif c == b"\n":
                whole = i + 1
                ends.append(whole)
            begins = not inside and c in b",\n"
            i += 1
        assert records.end(text) == whole, text
        assert records.ends(text) == sorted({*ends, len(text)}), text


def test_a_quote_that_is_never_closed_ends_early(tmp_path, monkeypatch):
    from perceptron_rs.io.text import lines

    monkeypatch.setattr(lines, "_LONGEST", 1000)
    path = tmp_path / "a.csv"
    path.write_text('x,label\n1,"a\n' + "2,b\n" * 100_000)
    for read in (lambda: by_stream(path, monkeypatch, 512), lambda: by_command(path)):
        with pytest.raises(Exception, match=r"a\.csv: the record that begins '1,\"a.*not closed within"):
            read()


def test_lines_end_within_quotes_beyond_a_megabyte(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("x,y,label\n" + '1,2,"one\nline"\n3,4,"other"\n' * 60_000)
    for read in (
        lambda: by_command(path),
        lambda: by_stream(path, monkeypatch, 1 << 20),
    ):
        X, y = read()
        assert (X.shape, set(y.tolist())) == ((120_000, 2), {"one\nline", "other"})


def test_a_pipe_is_read_once_and_says_so(tmp_path):
    import os

    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(ValueError, match="can be read only once, but tables are read more than once"):
        open_csv(tmp_path / "pipe.csv", target="label")


@pytest.mark.parametrize("last", ["01", "2"])
def test_labels_of_several_files_are_of_one_kind(tmp_path, monkeypatch, last):
    paths = (str(tmp_path / "a.csv"), str(tmp_path / "b.csv"))
    (tmp_path / "a.csv").write_text("x,label\n1,1\n2,3\n")
    (tmp_path / "b.csv").write_text(f"label,x\n{last},4\n")
    expected = (["1", "3", "01"], "U") if last == "01" else ([1, 3, 2], "i")
    data = ExampleFiles(paths, Reading(target="label")).whole()
    assert (data.y.tolist(), data.y.dtype.kind, data.X.tolist()) == (*expected, [[1], [2], [4]])
    X, y = by_stream(paths, monkeypatch, 7)
    assert (y.tolist(), y.dtype.kind, X.tolist()) == (*expected, [[1], [2], [4]])


@pytest.mark.parametrize(
    ("text", "is_refused"),
    [
        ("39,State-gov,<=50K\n50,Private,<=50K\n28,Private,>50K\n", True),
        ("red,big,yes\nblue,small,no\nred,small,yes\n", True),
        ("1.5,big,yes\n2,small,no\n3,small,maybe\n", True),
        ("size,color,a\n2,red,a\n3,blue,b\n", False),  # a column of numbers has a name
        ("2020,color,kind\n2,red,a\n3,blue,b\n", False),
    ],
)
@pytest.mark.parametrize("streams", [False, True])
def test_first_lines_with_text_that_look_like_examples(tmp_path, capsys, text, is_refused, streams):
    path = tmp_path / "a.csv"
    path.write_text(text)
    argv = ["train", "perceptron", str(path), "--hash-bits", "5", "--model", str(tmp_path / "m"), "--quiet"]
    assert main([*argv, *(["--stream"] if streams else [])]) == int(is_refused)
    if is_refused:
        assert "pass --no-header if the first line is an example" in capsys.readouterr().err
        assert main([*argv, "--no-header", "--json"]) == 0
        assert '"n_samples": 3' in capsys.readouterr().out


@pytest.mark.parametrize("options", [(), ("--stream",)])
def test_more_classes_than_half_of_the_examples_are_told(tmp_path, capsys, options):
    path = tmp_path / "a.csv"
    path.write_text("x,id\n" + "".join(f"{i % 7},{i}\n" for i in range(50)))
    assert (
        main(["train", "perceptron", str(path), "--model", str(tmp_path / "m"), "--epochs", "1", *options])
        == 0
    )
    assert "unique classes is greater than 50% of the number of samples" in capsys.readouterr().err


def test_hashed_columns_are_those_of_scikit_learn(tmp_path):
    """Of numbers the name is hashed, of text the name and the value; a column with one word is text."""
    (tmp_path / "a.csv").write_text("n,w,label\n1.5,x,0\n2,,1\n")
    (tmp_path / "b.csv").write_text("n,w,label\n,7,0\n")
    source = open_csv([tmp_path / "a.csv", tmp_path / "b.csv"], target="label", hash_bits=5)
    expected = FeatureHasher(32).transform([{"n": 1.5, "w": "x"}, {"n": 2.0}, {"w": "7"}])
    found = sp.vstack([batch.X for batch in source.batches()])
    assert (found != expected).nnz == 0
    assert Perceptron().fit_stream(source).n_features_in_ == 32


def test_what_separates_the_columns_is_not_suggested(tmp_path):
    for delimiter, cell in ((",", "1,000"), (";", "1;2"), ("\t", "1\t2")):
        path = tmp_path / "a.csv"
        path.write_text(f'x{delimiter}label\n"{cell}"{delimiter}a\n1{delimiter}b\n')
        with pytest.raises(ValueError, match="which is not a number") as caught:
            list(open_csv(path, target="label", delimiter=delimiter).batches())
        assert "delimiter=" not in str(caught.value)
        path.write_text(f'x|label\n"{cell}"|a\n1|b\n')
        with pytest.raises(ValueError, match="delimiter="):
            list(open_csv(path, target="label", delimiter="|").batches())
