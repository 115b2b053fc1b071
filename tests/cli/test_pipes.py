"""Examples from standard input, in every format; answers leave as soon as their examples have come."""

import gzip
import io
import os
import sys
import threading

import numpy as np
import pytest

from perceptron_rs import digest, load
from perceptron_rs.io.text.lines import text_blocks

from .support import X, Y, svmlight

TEXT = svmlight(X, Y).encode()
UNLABELLED = "".join(line.partition(" ")[2] + "\n" for line in TEXT.decode().splitlines()).encode()
ROWS = [",".join(map(repr, row)) for row in X.tolist()]
CSV = "a,b,c,y\n" + "".join(f"{row},{label}\n" for row, label in zip(ROWS, Y.tolist(), strict=True))


def npz():
    file = io.BytesIO()
    np.savez(file, X=X, y=Y)
    return file.getvalue()


def parquet():
    arrow = pytest.importorskip("pyarrow")
    file = io.BytesIO()
    columns = {name: X[:, j] for j, name in enumerate("abc")} | {"y": Y}
    pytest.importorskip("pyarrow.parquet").write_table(arrow.table(columns), file)
    return file.getvalue()


FORMS = {
    "svmlight": lambda: gzip.compress(TEXT),
    "csv": CSV.encode,
    "tsv": lambda: gzip.compress(CSV.replace(",", "\t").encode()),
    "npz": npz,
    "npz ": lambda: gzip.compress(npz()),
    "parquet": lambda: gzip.compress(parquet()),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_format(call, stdin, model, tmp_path, form):
    def piped(*argv):
        stdin(FORMS[form]())
        return call(*argv)

    argv = ("train", "-", "--format", form.strip(), "--model", tmp_path / "m", "--quiet")
    assert piped(*argv).status == 0
    assert load(tmp_path / "m").coef_.tobytes() == load(model).coef_.tobytes()
    assert piped("predict", tmp_path / "m", "-").out.split() == [str(label) for label in Y]
    assert piped("evaluate", tmp_path / "m", "-", "--json").json["errors"] == 0


def test_the_format_must_be_known(call, refused, stdin, model, tmp_path):
    stdin(TEXT)
    said = refused("train", "-", "--model", tmp_path / "m", status=2)
    assert "standard input has no suffix that says its format; add --format" in said
    stdin(TEXT)
    assert call("predict", model, "-").status == 0  # as the data of the training
    file = io.BytesIO()
    np.save(file, X)
    stdin(file.getvalue())
    assert call("predict", model, "-", "--format", "npy").out.split() == [str(label) for label in Y]


def test_errors_name_the_line_and_the_column(refused, stdin, model, monkeypatch):
    monkeypatch.setattr(text_blocks, "__defaults__", (10,))
    for data, text in (
        (b"1 1:2\n1 1:2\n1 1:2 2;3\n", "standard input, line 3, column 7: "),
        (b"1:2\n1:2\n1:2 2;3\n", "standard input, line 3, column 5: "),
        (b"1 4:2\n", "standard input, line 1: has 4 features, counted from 1 as by the model"),
        (b"1 0:2\n", "standard input, line 1: has a column 0"),
        (b"# nothing\n", "standard input: contains no examples"),
        (gzip.compress(TEXT, mtime=0)[:-9], "standard input: the gzip data ends early"),
    ):
        stdin(data)
        assert refused("predict", model, "-").startswith(text)
    stdin(UNLABELLED)
    assert "line 1, column 1" in refused("evaluate", model, "-")
    monkeypatch.setattr(sys, "stdin", None)
    assert refused("predict", model, "-") == "standard input: is closed; name a file"


ONE_PASS = {
    "svmlight": (TEXT, ("--features", 3, "--zero-based", "no")),
    "csv": (CSV.encode(), ("--features", 3)),
    "lines": (b"-1\ta b\n1\tb c\n" * 3, ()),
}


@pytest.fixture
def fifo(tmp_path):
    """A named pipe, which a thread writes to once."""

    def put(data, name="pipe"):
        os.mkfifo(tmp_path / name)
        threading.Thread(target=(tmp_path / name).write_bytes, args=(data,), daemon=True).start()
        return tmp_path / name

    return put


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX pipes")
@pytest.mark.parametrize("form", ONE_PASS)
def test_one_pass_of_a_pipe_into_a_new_model(call, fifo, stdin, tmp_path, form):
    if form == "csv":
        pytest.importorskip("pyarrow")
    data, options = ONE_PASS[form]
    (tmp_path / "file").write_bytes(data)
    argv = ("--format", form, "--stream", "--epochs", 1, "--quiet", "--model")
    assert call("train", tmp_path / "file", *argv, tmp_path / "whole").status == 0
    for data_of in (lambda: fifo(data), lambda: stdin(data) or "-"):
        answer = call("train", data_of(), *argv, tmp_path / "m", "--classes", "-1,1", *options)
        assert answer.status == 0, answer.err
        assert digest(load(tmp_path / "m")) == digest(load(tmp_path / "whole"))
    assert call("reproduce", tmp_path / "m", tmp_path / "file", "--format", form).status == 0
    assert call("predict", tmp_path / "m", fifo(data, "bare")).status == 0  # the model knows the format


@pytest.mark.parametrize(
    ("options", "remedy"),
    [((), "say the labels with --classes, or name a file"), (("--scale", "standard"), "name a file")],
)
def test_what_needs_all_of_a_pipe_first_is_refused(refused, tmp_path, monkeypatch, options, remedy):
    monkeypatch.setattr(sys, "stdin", None)  # it would be said that it is closed
    kept = ("--stream", "--cache", tmp_path / "cache", "--model", tmp_path / "m")
    said = refused("train", "-", "--format", "csv", *kept, *options, status=2)
    assert said.startswith("standard input can be read only once, but --scale, --holdout, ")
    assert said.endswith(f"take a pass of their own; {remedy}")


@pytest.mark.parametrize(
    ("options", "lacking"),
    [
        ((), "--epochs 1, --classes, --features, --zero-based yes or --zero-based no"),
        (("--epochs", 1, "--features", 3), "--classes, --zero-based yes or --zero-based no"),
        (("--epochs", 1, "--class-weight", "balanced"), "another --class-weight than 'balanced', --classes"),
    ],
)
def test_what_needs_a_second_pass_says_so_before_it_begins(refused, tmp_path, monkeypatch, options, lacking):
    monkeypatch.setattr(sys, "stdin", None)  # it would be said that it is closed
    train = ("train", "-", "--format", "svmlight", "--stream", "--model", tmp_path / "m")
    said = refused(*train, *options, status=2)
    assert "standard input can be read only once" in said
    assert f"keep what is read with --cache FILE, or make it one pass, with {lacking}" in said


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX pipes")
def test_commands_on_named_pipes(call, refused, fifo, model, text_file, tmp_path):
    expected = load(model).coef_.tobytes()
    for suffix, data in ((".svm", TEXT), (".svm.gz", gzip.compress(TEXT)), (".npz", npz())):

        def pipe(use, suffix=suffix, data=data):
            return fifo(data, f"{use}{suffix}")

        assert call("train", pipe("t"), "--model", tmp_path / "m", "--quiet").status == 0
        assert load(tmp_path / "m").coef_.tobytes() == expected
        assert call("predict", model, pipe("p")).out.split() == [str(label) for label in Y]
        assert call("evaluate", model, pipe("e"), "--json").json["errors"] == 0
        assert call("reproduce", model, pipe("r")).status == 0
        assert call("margin", pipe("g"), "--json").status == 0
    cached = call(
        "train", fifo(TEXT, "c.svm"), "--stream", "--cache", tmp_path / "c", "--model", tmp_path / "s"
    )
    assert cached.status == 0, cached.err
    again = fifo(b"", "again.svm")
    assert "can be read only once" in refused("reproduce", tmp_path / "s", again, status=2)
    assert "has 9 features, counted from 1" in refused("evaluate", model, fifo(b"1 9:1\n", "wide.svm"))
    refused("train", fifo(b"1 a b\n", "odd.svm"))  # without a look at it for what to type, which would wait
