"""Several files, a pattern or a folder as DATA, in every command: read as if they were one file."""

import gzip
import lzma
import os

import numpy as np
import pytest

from perceptron_rs import load

from .support import X, Y, svmlight

PARTS = (slice(0, 2), slice(2, 4), slice(4, 6))


def table(rows):
    cells = ([*row, label] for row, label in zip(X[rows].tolist(), Y[rows].tolist(), strict=True))
    return "a,b,c,y\n" + "".join(",".join(map(repr, row)) + "\n" for row in cells)


def words(rows):
    lines = zip(Y[rows], X[rows].astype(int).astype(str).tolist(), strict=True)
    return "".join(f"{label}\t{' '.join(row)}\n" for label, row in lines)


FORMS = {
    "a.svm.gz": lambda path, rows: path.write_bytes(gzip.compress(svmlight(X[rows], Y[rows]).encode())),
    "a.csv.xz": lambda path, rows: path.write_bytes(lzma.compress(table(rows).encode())),
    "a.npz": lambda path, rows: np.savez(path, X=X[rows], y=Y[rows]),
    "words.txt": lambda path, rows: path.write_text(words(rows)),
}


@pytest.fixture(name="data", params=FORMS)
def fixture_data(request, tmp_path):
    """The whole file, a folder of its parts, and options."""
    if "csv" in request.param:
        pytest.importorskip("pyarrow")
    write, folder = FORMS[request.param], tmp_path / "folder"
    folder.mkdir()
    write(tmp_path / request.param, slice(None))
    for number, rows in enumerate(PARTS):
        write(folder / f"{number}{request.param}", rows)
    return tmp_path / request.param, folder, ("--text",) if "words" in request.param else ()


def test_every_command(call, tmp_path, data):
    whole, folder, options = data
    files = sorted(folder.iterdir())
    train = ("train", "averaged", "--quiet", *options, "--model")
    assert call(*train, tmp_path / "m", whole).status == 0
    expected = load(tmp_path / "m")
    for given in ([folder], [folder / "*"], files):
        answer = call(*train[:2], *given, *train[2:], tmp_path / "n")
        assert answer.status == 0, answer.err
        found = load(tmp_path / "n")
        assert found.coef_.tobytes() == expected.coef_.tobytes()
        assert found.classes_.tolist() == expected.classes_.tolist()
    if whole.suffix != ".npz":
        for place, name in (([whole], "s"), (files, "t")):
            assert call(*train, tmp_path / name, "--stream", *place).status == 0
        assert load(tmp_path / "s").coef_.tobytes() == load(tmp_path / "t").coef_.tobytes()
    for command in ("predict", "evaluate"):
        assert call(command, tmp_path / "m", *files).out == call(command, tmp_path / "m", whole).out
    if whole.suffix != ".txt":
        answer = call("train", *files, "--quiet", "--model", tmp_path / "p")  # a file is no learner
        assert answer.status == 0, answer.err
        assert call("margin", *files).out == call("margin", whole).out
    assert "reproduced" in call("reproduce", tmp_path / "m", *files).out


def test_files_that_do_not_go_together(call, refused, tmp_path, text_file):
    out = ("--model", tmp_path / "m", "--quiet")
    assert call("train", text_file, "-", *out).status == 2
    (tmp_path / "a.csv").write_text("a,y\n1,1\n-1,0\n")
    (tmp_path / "b.csv").write_text("b,y\n1,1\n-1,0\n")
    assert "is csv, but" in refused("train", text_file, tmp_path / "a.csv", *out)
    pytest.importorskip("pyarrow")
    said = refused("train", tmp_path / "a.csv", tmp_path / "b.csv", *out)
    assert said.startswith(
        f"{tmp_path / 'b.csv'}: its columns are 'b', but those of {tmp_path / 'a.csv'} are 'a'"
    )
    said = refused("train", tmp_path / "a.csv", tmp_path / "b.csv", "--stream", *out)
    assert "b.csv: its columns are 'b'" in said
    assert "no file matches" in refused("train", tmp_path / "none-*.svm", *out)
    (tmp_path / "empty").mkdir()
    assert "is a folder without files" in refused("train", tmp_path / "empty", *out)


def test_columns_counted_from_0_in_one_of_the_files(call, tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1 2:3\n0 2:1\n")
    (tmp_path / "b.svm").write_text("1 0:1 1:3\n")
    both = (tmp_path / "a.svm", tmp_path / "b.svm")
    (tmp_path / "c.svm").write_text("".join(path.read_text() for path in both))
    for options in ((), ("--stream",)):
        for given, name in ((both, "m"), ([tmp_path / "c.svm"], "n")):
            assert call("train", *given, "--quiet", "--model", tmp_path / name, *options).status == 0
        assert load(tmp_path / "m").coef_.tobytes() == load(tmp_path / "n").coef_.tobytes()
    for path in both:
        path.write_text(path.read_text().replace("1 ", "").replace("0 2", "2"))
    (tmp_path / "c.svm").write_text("".join(path.read_text() for path in both))
    model = load(tmp_path / "m")
    vars(model).pop("_column_base")  # as one that was trained in Python
    model.save(tmp_path / "m")
    scores = call("predict", "--scores", tmp_path / "m", *both).out
    assert scores == call("predict", "--scores", tmp_path / "m", tmp_path / "c.svm").out


def test_sentences(call, tmp_path):
    text = "the\tD\ndog\tN\n\na\tD\ncat\tN\n\n"
    (tmp_path / "whole.tsv").write_text(text * 2)
    for name in ("a.tsv", "b.tsv"):
        (tmp_path / name).write_text(text.rstrip())
    both = (tmp_path / "a.tsv", tmp_path / "b.tsv")
    for options in ((), ("--stream",)):
        for given, name in ((both, "m"), ([tmp_path / "whole.tsv"], "n")):
            assert call("tag-train", *given, "--quiet", "--model", tmp_path / name, *options).status == 0
        assert load(tmp_path / "m").coef_.tobytes() == load(tmp_path / "n").coef_.tobytes()
    for command in (("tag-evaluate",), ("tag", "--tag-column", 2)):
        name, *more = command
        assert (
            call(name, tmp_path / "m", *both, *more).out
            == call(name, tmp_path / "m", tmp_path / "whole.tsv", *more).out
        )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_among_files_that_are_read_twice(call, tmp_path):
    (tmp_path / "a.csv").write_text("a,y\n1,0\n2,1\n")
    os.mkfifo(tmp_path / "b.csv")
    answer = call("train", tmp_path / "a.csv", tmp_path / "b.csv", "--model", tmp_path / "m")
    assert answer.status == 2
    assert "one can be read only once, but several files of csv are read twice; pipe them all" in answer.err
