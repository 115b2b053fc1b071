"""Several files, a pattern or a folder as DATA, in every command: read as if they were one file.

That readers make one matrix of them is in ``tests/io``: test_text, test_svmlight, test_csv and test_examples.
"""

import gzip
import lzma
import os

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
    "words.txt": lambda path, rows: path.write_text(words(rows)),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_command(call, tmp_path, form):
    if "csv" in form:
        pytest.importorskip("pyarrow")
    write, whole, folder = FORMS[form], tmp_path / form, tmp_path / "folder"
    folder.mkdir()
    write(whole, slice(None))
    for number, rows in enumerate(PARTS):
        write(folder / f"{number}{form}", rows)
    files, text = sorted(folder.iterdir()), ("--text",) if form == "words.txt" else ()
    for stream in ((), ("--stream",)):
        train = ("train", "averaged", "--quiet", *text, *stream, "--model")
        for number, given in enumerate(([whole], [folder], [folder / "*"], files)):
            assert call(*train, tmp_path / f"{number}", *given).status == 0
        coefs = [load(tmp_path / f"{number}").coef_.tobytes() for number in range(4)]
        assert len(set(coefs)) == 1
    for command in ("predict", "evaluate", "reproduce"):
        answers = {call(command, tmp_path / "0", *given) for given in ([whole], files)}
        assert (len(answers), answers.pop().status) == (1, 0)
    if not text:
        assert call("train", *files, "--quiet", "--model", tmp_path / "p").status == 0  # a file is no learner
        assert call("margin", *files).out == call("margin", whole).out


def test_files_that_do_not_go_together(call, refused, tmp_path, text_file):
    out = ("--model", tmp_path / "m", "--quiet")
    assert call("train", text_file, "-", *out).status == 2
    (tmp_path / "a.csv").write_text("a,y\n1,1\n-1,0\n")
    (tmp_path / "b.csv").write_text("b,y\n1,1\n-1,0\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "mixed").mkdir()
    for name in ("README.md", "a.csv.gz", "b.csv"):
        (tmp_path / "mixed" / name).write_text("")
    for other in ("LICENSE", "a.csv~"):  # which an editor keeps; it was learnt from, too
        (tmp_path / other[0]).mkdir()
        for name in (other, "a.csv"):
            (tmp_path / other[0] / name).write_text("a,y\n1,1\n-1,0\n")
    both = (tmp_path / "a.csv", tmp_path / "b.csv")
    pytest.importorskip("pyarrow")
    for given, text in (
        (both, f"{both[1]}: its columns are 'b', but those of {both[0]} are 'a'"),
        ((*both, "--stream"), "b.csv: its columns are 'b'"),
        ((tmp_path / "none-*.svm",), "no file matches"),
        ((tmp_path / "empty",), "is a folder without files"),
        (
            (tmp_path / "mixed",),
            "holds 'README.md' beside 'a.csv.gz'; name the files of the data by a pattern",
        ),
        ((tmp_path / "L", "--format", "csv"), "holds 'LICENSE' beside 'a.csv'; name"),
        ((tmp_path / "a", "--format", "csv"), "holds 'a.csv~' beside 'a.csv'; name"),
    ):
        assert text in refused("train", *given, *out)


def test_sentences(call, tmp_path):
    text = "the\tD\ndog\tN\n\na\tD\ncat\tN\n\n"
    both, whole = (tmp_path / "a.tsv", tmp_path / "b.tsv"), tmp_path / "whole.tsv"
    whole.write_text(text * 2)
    for file in both:
        file.write_text(text.rstrip())
    for options in ((), ("--stream",)):
        for given, name in ((both, "m"), ([whole], "n")):
            assert call("tag-train", *given, "--quiet", "--model", tmp_path / name, *options).status == 0
        assert load(tmp_path / "m").coef_.tobytes() == load(tmp_path / "n").coef_.tobytes()
    for name, *more in (("tag-evaluate",), ("tag", "--tag-column", 2)):
        outs = {call(name, tmp_path / "m", *given, *more).out for given in (both, [whole])}
        assert len(outs) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_among_files_that_are_read_twice(refused, tmp_path):
    (tmp_path / "a.csv").write_text("a,y\n1,0\n2,1\n")
    os.mkfifo(tmp_path / "b.csv")
    both = (tmp_path / "a.csv", tmp_path / "b.csv")
    said = refused("train", *both, "--model", tmp_path / "m", status=2)
    assert "one can be read only once, but several files of csv are read twice; pipe them all" in said
