"""``predict``: one line an example, of data that is as the model needs it."""

import gzip
import json
import re

import numpy as np
import pytest

from perceptron_rs import AveragedPerceptron
from perceptron_rs.io import files
from perceptron_rs.io.text.lines import text_blocks

from .support import X, Y


@pytest.fixture
def three(tmp_path):
    """Data of three classes, and a model of it."""
    rng = np.random.default_rng(1)
    A, b = rng.standard_normal((40, 4)), np.array(["a", "b c", "d"])[rng.integers(0, 3, 40)]
    fitted = AveragedPerceptron(max_iter=3, tol=None).fit(A, b)
    fitted.save(tmp_path / "three.model")
    np.save(tmp_path / "three.npy", A)
    return tmp_path / "three.model", tmp_path / "three.npy", fitted, A


@pytest.mark.parametrize("block", [7, 8192])
def test_labels_and_exact_scores_whatever_the_block(call, three, model, text_file, monkeypatch, block):
    monkeypatch.setattr(files, "_FEW", block)
    path, data, fitted, A = three
    labels, scores = fitted.predict(A).tolist(), fitted.decision_function(A)

    def lines(*options):
        return call("predict", path, data, *options).out.splitlines()

    assert lines() == labels
    rows = [line.split("\t") for line in lines("--scores")]
    assert [row[0] for row in rows] == labels
    assert np.array([row[1:] for row in rows], dtype=float).tobytes() == scores.tobytes()
    records = [{"label": label, "scores": row} for label, row in zip(labels, scores.tolist(), strict=True)]
    assert list(map(json.loads, lines("--json", "--scores"))) == records
    assert call("predict", model, text_file, "--json").out.splitlines()[0] == '{"label": 1}'


def test_text_with_fewer_features_than_the_model(call, model, tmp_path):
    (tmp_path / "few.svm").write_text("0 1:2\n0 1:-3\n", encoding="ascii")
    assert call("predict", model, tmp_path / "few.svm", "--zero-based", "no").out == "1\n-1\n"


def test_more_features_than_the_model(refused, model, tmp_path):
    for command, columns in (("predict", 2), ("evaluate", 4)):
        np.savez(tmp_path / "a.npz", X=np.ones((2, columns)), y=Y[:2])
        line = refused(command, model, tmp_path / "a.npz")
        assert line == f"{tmp_path}/a.npz: has {columns} features, but 3 are expected"


@pytest.mark.parametrize("command", ["predict", "inspect"])  # a predictor, and an estimator
def test_bad_models(refused, tmp_path, text_file, command):
    data, bad = [] if command == "inspect" else [text_file], tmp_path / "bad.model"
    bad.write_bytes(b"no model at all")
    assert refused(command, bad, *data).startswith(f"cannot load '{bad}'")
    assert refused(command, tmp_path / "no", *data) == f"{tmp_path / 'no'}: no such file or directory"


def test_whole_float_classes_are_printed_as_integers(call, tmp_path):
    np.save(tmp_path / "a.npy", X)
    AveragedPerceptron().fit(X, Y.astype(float)).save(tmp_path / "m")
    assert call("predict", tmp_path / "m", tmp_path / "a.npy").out.split() == [str(label) for label in Y]


@pytest.mark.parametrize(("labels", "options"), [(["a\nb", "c"], ()), (["a\tb", "c"], ("--scores",))])
def test_classes_that_would_not_fit_into_a_line_are_refused(call, refused, tmp_path, labels, options):
    AveragedPerceptron().fit(X, np.repeat(labels, 3)).save(tmp_path / "m")
    np.save(tmp_path / "a.npy", X)
    argv = (tmp_path / "m", tmp_path / "a.npy", *options)
    assert "has a line end or a tab" in refused("predict", *argv)
    records = [json.loads(line) for line in call("predict", *argv, "--json").out.splitlines()]
    assert {record["label"] for record in records} <= set(labels)


#: By suffix: the lines of a training, a good one, a bad one, and how many lines are a header.
LINES = {
    ".svm": ("1 1:1 2:0.5\n2 1:-1\n", "1 1:1", "1 2:1 1:1", 0),
    ".csv": ("a,b,y\n1,2,p\n-1,0,n\n", "1,2,p", "1,x,p", 1),
    ".jsonl": ('{"n": 1, "y": "p"}\n{"n": -1, "y": "n"}\n', '{"n": 1}', '{"n": "\\ud800"}', 0),
    ".txt": ("p\tbuy now\nn\tsee you\n", "buy now", "q\tsee you", 0),
}


def trained(call, tmp_path, suffix):
    """Return a model of such lines, and what `predict` needs beside a file of them."""
    text, good, bad, before = LINES[suffix]
    data, options = (
        tmp_path / f"train{suffix}",
        {".txt": ["--text"], ".svm": []}.get(suffix, ["--target", "y"]),
    )
    data.write_text(text)
    assert call("train", data, *options, "--model", tmp_path / "m", "--quiet").status == 0
    return tmp_path / "m", "".join(text.splitlines(keepends=True)[:before]), good + "\n", bad + "\n"


@pytest.mark.parametrize("block", [1, 5, 1 << 20])
@pytest.mark.parametrize("suffix", LINES)
def test_all_lines_before_a_bad_one_are_answered(call, stdin, tmp_path, monkeypatch, suffix, block):
    monkeypatch.setattr(text_blocks, "__defaults__", (block,))
    model, head, good, bad = trained(call, tmp_path, suffix)
    text = head + 9 * good + bad + 2 * good
    line = f"line {10 + len(head.splitlines())}"
    for data, options, n in ((text, [], 9), (text, ["--skip-bad"], 11), (bad + good, ["--skip-bad"], 1)):
        data = data if data is text else head + data
        stdin(data.encode())
        (tmp_path / f"new{suffix}.gz").write_bytes(gzip.compress(data.encode()))
        for name in ("-", tmp_path / f"new{suffix}.gz"):
            answer = call("predict", model, name, *options)
            assert (answer.status, len(answer.out.splitlines())) == (0 if options else 1, n), answer.err
            assert ("1 lines were skipped" if options else line) in answer.err


def test_text_is_answered_up_to_where_it_is_no_text_or_cut(call, tmp_path):
    model, _, good, _ = trained(call, tmp_path, ".txt")
    whole = gzip.compress(good.encode() * 5000 + bytes(range(65, 91)) * 500, mtime=0)
    for name, data in (
        ("a.txt", good.encode() * 5000 + b"\xe9\n" + good.encode()),
        ("a.txt.gz", whole[:-12]),
    ):
        (tmp_path / name).write_bytes(data)
        answer = call("predict", model, tmp_path / name)
        assert (answer.status, len(answer.out.splitlines())) == (1, 5000), answer.err


def test_rows_of_tables_and_arrays_before_a_bad_one_are_answered(call, tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    AveragedPerceptron(max_iter=3).fit(X, Y).save(tmp_path / "m")
    rows = np.tile(X[0], (9000, 1))
    rows[8500, 1] = np.nan
    np.save(tmp_path / "a.npy", rows)
    parquet.write_table(pa.table({str(i): rows[:, i] for i in range(3)}), tmp_path / "a.parquet")
    for name in ("a.npy", "a.parquet"):
        for options, status, n in (([], 1, 8500), (["--skip-bad"], 0, 8999)):
            answer = call("predict", tmp_path / "m", tmp_path / name, "--unlabelled", *options)
            assert (answer.status, len(answer.out.splitlines())) == (status, n), answer.err
            assert re.search(
                f"{name}[,:] row 8501: .*NaN in column 1|row 8501: column '1' has a missing", answer.err
            )


def test_no_good_line_is_an_error(call, stdin, model):
    stdin(b"1 2;3\n\xe9\n")
    answer = call("predict", model, "-", "--skip-bad")
    assert (answer.status, answer.out) == (1, "")
    assert answer.err.startswith("2 lines were skipped, the first: standard input, line 1, column 3: ")
    assert "error: standard input: contains no examples" in answer.err
