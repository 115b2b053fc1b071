"""``online``."""

import copy
import json
import signal
import sys

import numpy as np
import pytest
from sklearn.feature_extraction import FeatureHasher

from perceptron_rs import PocketPerceptron, digest, load
from perceptron_rs.cli.commands import online
from perceptron_rs.cli.progress import Counts
from perceptron_rs.io.text.lines import text_blocks

from .support import X, Y, asked, start, svmlight

TEXT = svmlight(X, Y).encode()


@pytest.mark.parametrize("size", [1, 1 << 20])
def test_each_example_is_predicted_before_it_is_learnt(call, stdin, model, tmp_path, monkeypatch, size):
    monkeypatch.setattr(text_blocks, "__defaults__", (size,))
    flipped = svmlight(X, -Y).encode()  # so that there is something to learn
    expected = load(model)
    found, errors = expected.predict_then_learn(X, -Y)
    stdin(flipped)
    answer = call("online", model, "--save", tmp_path / "new")
    assert answer.out.split() == [str(label) for label in found]
    assert load(tmp_path / "new").coef_.tobytes() == expected.coef_.tobytes()
    assert answer.err.splitlines()[-1].split()[:3] == ["6", str(errors), f"{errors / 6:.4f}"]
    assert not np.array_equal(load(model).coef_, expected.coef_)  # stays as it was
    again = call("online", model, "--save", model, "--quiet", "--json")  # of an empty standard input
    assert again.status == 1
    stdin(flipped)
    answer = call("online", model, "-", "--save", model, "--quiet", "--json")
    assert [json.loads(line)["label"] for line in answer.out.splitlines()] == found.tolist()
    assert load(model).coef_.tobytes() == expected.coef_.tobytes()
    stdin(TEXT)
    assert call("predict", model, "-").status == 0  # the model still knows what its data looks like


def test_learners_that_need_all_examples(refused, tmp_path):
    PocketPerceptron().fit(X, Y).save(tmp_path / "m")
    line = refused("online", tmp_path / "m", status=2)
    assert "holds a PocketPerceptron, which learns from all examples at once" in line


def test_a_table_of_rows_at_doubling_counts(capsys):
    counts = Counts(quiet=False)
    for mistakes in (1, 0, 1, 1, 0, 0, 0, 0, 1):
        counts.add(1, mistakes)
        counts.tell()
    counts.say()
    counts.say()
    assert capsys.readouterr().err.splitlines() == [
        "  examples  mistakes      rate  since last row      rate",
        "         1         1    1.0000               1    1.0000",
        "         2         1    0.5000               0    0.0000",
        "         4         3    0.7500               2    1.0000",
        "         8         3    0.3750               0    0.0000",
        "         9         4    0.4444               1    1.0000",
    ]


def test_dictionaries_are_learnt_as_they_come(call, stdin, refused, tmp_path):
    """As Vowpal Wabbit and river write them; ``tests/io/test_json_lines.py`` has their columns."""
    rows = [{"words": 3, "from": "ann"}, {"from": "bob"}, {"words": 0.5, "from": "bob", "new": True}] * 4
    labels, weights = ["spam", "ham", "ham"] * 4, [1.0, 2.0, 0.5] * 4
    lines = [
        json.dumps({"x": x, "y": y, "w": w} if w != 1 else {"_label": {"Label": y, "Weight": 1.0}, **x})
        for x, y, w in zip(rows, labels, weights, strict=True)
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(lines[:6]))
    out = ("--model", tmp_path / "m", "--quiet", "--hash-bits", 10, "--epochs", 2)
    assert call("train", tmp_path / "a.jsonl", *out).status == 0
    expected = load(tmp_path / "m")

    def piped(*argv, text):
        stdin("\n".join(text).encode())
        return call(*argv)

    answer = piped("online", tmp_path / "m", "--save", tmp_path / "n", "--quiet", text=lines[6:])
    X = FeatureHasher(1 << 10).transform(rows[6:])
    found, _ = expected.predict_then_learn(X, labels[6:], sample_weight=weights[6:])
    assert answer.out.split() == found.tolist()
    assert load(tmp_path / "n").coef_.tobytes() == expected.coef_.tobytes()
    skipped = piped("online", tmp_path / "m", "--skip-bad", text=[lines[0], "{", '{"_label": "x"}', lines[2]])
    assert (skipped.status, len(skipped.out.split())) == (0, 2)
    assert "2 lines were skipped, the first: standard input, line 2: is not JSON: " in skipped.err
    stdin(b'{"words": 3, "from": "ann"}\n')
    assert "line 1: has no label; name its key with --target" in refused("online", tmp_path / "m")
    answers = piped("predict", tmp_path / "m", "-", text=map(json.dumps, rows[6:])).out.split()
    assert answers == load(tmp_path / "m").predict(X).tolist()


# These predict by more than the last weights.
@pytest.mark.parametrize("learner", ["averaged", "voted", "kernel"])
@pytest.mark.parametrize("options", [(), ("--class-weight", "a=0")])
@pytest.mark.parametrize("classes", ["ab", "abc"])
def test_the_weights_that_answer_do_not_depend_on_those_of_the_example(
    call, tmp_path, learner, options, classes
):
    rng = np.random.default_rng(0)
    rows, weights = rng.integers(-3, 4, (40, 2)), rng.integers(0, 2, 40)
    labels = rng.choice(list(classes), 40)
    for name, part in (("old", slice(20)), ("new", slice(20, 40))):
        zipped = zip(rows[part].tolist(), weights[part].tolist(), labels[part].tolist(), strict=True)
        lines = "".join(f"{a},{b},{w},{label}\n" for (a, b), w, label in zipped)
        (tmp_path / f"{name}.csv").write_text("a,b,w,y\n" + lines)
    old, new, out = tmp_path / "old.csv", tmp_path / "new.csv", tmp_path / "out"
    given = ("--sample-weight", "w", "--quiet")
    trained = call("train", learner, old, "--model", tmp_path / "m", "--epochs", 2, *given, *options)
    assert trained.status == 0
    answers = call("online", tmp_path / "m", new, "--save", out, *given).out.split()
    model, zero = load(tmp_path / "m"), "a" if options else ""
    names, model.feature_names_in_ = model.feature_names_in_, None
    for x, w, label, answer in zip(rows[20:], weights[20:], labels[20:], answers, strict=True):
        alike = copy.copy(model).set_params(class_weight=None)
        assert alike.predict_then_learn([x], [label])[0].tolist() == [answer]
        if w and (label != zero or classes == "abc"):
            model.partial_fit([x], [label])
    model.feature_names_in_ = names
    assert digest(load(out)) == digest(model)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_what_was_learnt_is_saved_when_a_signal_ends_it(model, tmp_path, number, status):
    expected = load(model)
    expected.predict_then_learn(X[:4], -Y[:4])
    with start("online", model, "--save", tmp_path / "m") as child:
        for line in svmlight(X[:4], -Y[:4]).splitlines(keepends=True):
            assert asked(child, line)
        child.send_signal(number)
        assert child.wait(timeout=600) == status
        assert "\n         4 " in child.stderr.read()
    assert load(tmp_path / "m").coef_.tobytes() == expected.coef_.tobytes()


def test_a_bad_line_ends_it_after_what_was_learnt_is_saved_or_is_skipped(call, stdin, model, tmp_path):
    lines, out = svmlight(X, -Y).encode().splitlines(keepends=True), tmp_path / "m"
    bad = [b"1 1;2\n", b"7 1:1\n", b"1 9:1\n", b"\xe9 1:1\n"]

    def online(*parts, options=()):
        stdin(b"".join(parts))
        return call("online", model, "--save", out, *options)

    expected = load(model)
    expected.predict_then_learn(X[:4], -Y[:4])
    for line in bad:
        answer = online(*lines[:4], line, *lines[4:])
        assert (answer.status, len(answer.out.split())) == (1, 4)
        assert "error: standard input, line 5" in answer.err
        assert load(out).coef_.tobytes() == expected.coef_.tobytes()
        out.unlink()
    assert online(b"?", *lines[:1]).status == 1  # nothing was learnt
    assert not out.exists()
    expected = load(model)
    found, _ = expected.predict_then_learn(X, -Y)
    for options in (("--skip-bad",), ("--skip-bad", "--save-every", 2)):
        answer = online(bad[0], *lines[:2], bad[1], *lines[2:4], *bad[2:], *lines[4:], options=options)
        assert (answer.status, answer.out.split()) == (0, [str(label) for label in found]), answer.err
        said = "4 lines were skipped, the first: standard input, line 1, column 3: "
        assert answer.err.splitlines()[-1].startswith(said)
        assert load(out).coef_.tobytes() == expected.coef_.tobytes()


def test_bad_lines_of_a_table(call, tmp_path):
    pytest.importorskip("pyarrow")
    data, rows = tmp_path / "a.csv", ["1,2,x\n", "-1,1,y\n", "3,3,x\n", "2,-1,y\n"]
    data.write_text("a,b,kind\n" + "".join(rows))
    assert call("train", data, "--model", tmp_path / "m", "--quiet").status == 0
    mixed = "a,b,kind\n" + rows[0] + "1,?,x\n" + rows[1] + "1,1,z\n" + rows[2]
    for text, status, answers, said in (
        (mixed, 0, 3, "2 lines were skipped, the f"),
        ('a,b,more,y\n1,2,"p\nq",x\n1,2,"\n","x",\n3,3,"\n?\n",x\n', 0, 2, "a.csv, line 4: "),
        ("b,kind\n1,x\n", 1, 0, "lacks 1 of the model's columns"),
    ):
        data.write_text(text)
        answer = call("online", tmp_path / "m", data, *(() if status else ("--skip-bad",)))
        assert (answer.status, len(answer.out.split()), said in answer.err) == (status, answers, True)


@pytest.mark.parametrize("kept", [False, True])
def test_each_save_is_of_what_was_learnt_until_then(call, stdin, model, tmp_path, monkeypatch, kept):
    monkeypatch.setattr(text_blocks, "__defaults__", (1,))
    saved = []
    monkeypatch.setattr(online, "save_model", lambda model, path: saved.append(model.coef_.copy()))
    stdin(svmlight(X, -Y).encode())
    options = ("--save", tmp_path / "m", "--save-every", 2) if kept else ("--save", tmp_path / "m")
    assert call("online", model, *options).status == 0
    expected, at = load(model), []
    for k in range(6):
        expected.predict_then_learn(X[k : k + 1], -Y[k : k + 1])
        at.append(expected.coef_.copy())
    assert np.array_equal(saved, [at[1], at[3], at[5]] if kept else [at[5]])


def test_an_unknown_label_names_its_file_in_every_format(refused, model, tmp_path):
    """Also where all of the file is read before the first answer."""
    np.savez(tmp_path / "a.npz", X=np.ones((2, 3)), y=np.array([1, 7]))
    (tmp_path / "a.svm").write_text("1 1:1\n7 1:1\n")
    (tmp_path / "a.csv").write_text("a,b,c,y\n1,1,1,1\n1,1,1,7\n")
    for name, line in (("a.npz", ", row 2"), ("a.svm", ", line 2"), ("a.csv", ", line 3")):
        said = refused("online", model, tmp_path / name, "--quiet")
        assert said.startswith(
            f"{tmp_path / name}{line}: the label '7' is none of the model's classes, -1, 1;"
        )
