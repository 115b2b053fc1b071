"""``train FILE`` on files as people have them: a useful model, or one line to type that gives one."""

import csv
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from .odd_shapes import SHAPES
from .shapes import reviews, table
from .support import process


def commands_of(answer, name):
    """Return what an answer says to type: programs that make another file, and the command."""
    found = re.search(rf"^{name} *(.*perceptrons (?:train|tag-train|evaluate) .*)$", answer, re.MULTILINE)
    return found and found[1].split(" && ")


PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def run(line):
    """Run what is to be typed in a shell."""
    subprocess.run(line, shell=True, check=True, env=os.environ | {"PATH": PATH})


def typed_instead(call, answer):
    """Run what an error says to type, programs too, and return the answer."""
    instead = commands_of(answer.err, "perceptrons: try:")
    assert instead is not None, answer.err
    assert answer.err.count("\n") == 2  # the error, and what to type
    files = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    *before, command = instead
    for line in before:
        if line.startswith("pip "):
            pytest.skip(f"needs {line.split()[-1]}")
        if shutil.which(shlex.split(line)[0], path=PATH) is None:
            pytest.skip(f"needs {line.split()[0]}")
        run(line)
    assert {path: path.read_bytes() for path in files} == files  # none was written over
    return call(*shlex.split(command, comments=True)[1:])


@pytest.mark.parametrize("shape", SHAPES)
def test_a_file_that_people_have(call, tmp_path, monkeypatch, shape):
    monkeypatch.chdir(tmp_path)
    name, write = SHAPES[shape]
    write(tmp_path / name)
    answer = call("train", name)
    for _ in range(2):  # such as to make a table of a pickle, and then to learn from it
        if answer.status != 0:
            answer = typed_instead(call, answer)
    for _ in range(2):  # such as to leave a column out, and then to scale
        assert answer.status == 0, answer.err
        steps = commands_of(answer.out, "next")
        if "held out" not in answer.out or steps is None:
            break
        answer = call(*shlex.split(steps[-1], comments=True)[1:])
    assert "tokens" in answer.out or not name.startswith("ner")
    if "tokens" in answer.out:  # of tagged sentences: none was wrong in the last epoch
        assert re.search(r"^mistakes +0 tokens", answer.out, re.MULTILINE)
    else:
        later = call("evaluate", re.search(r"^model +(.*), \d+ bytes", answer.out, re.MULTILINE)[1], name)
        if later.status != 0:
            later = typed_instead(call, later)
        assert later.status == 0, later.err
        assert float(re.search(r"^held out +accuracy ([0-9.]+)", answer.out, re.MULTILINE)[1]) >= 0.74


def test_no_program_writes_over_a_file(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = "".join(
        f"{'good' if i % 2 else 'bad'} film of two hours with the number {i}\n" for i in range(60)
    )
    for name in "films.txt", "films.labels.txt":
        Path(name).write_text(lines)
    instead = commands_of(call("train", "films.txt").err, "perceptrons: try:")
    assert [line.rpartition("> ")[2] for line in instead[:-1]] == ["films.labels.2.txt"]


def test_files_that_nobody_can_read(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    unreadable = {
        "cut.zip": b"PK\x03\x04",
        "deep.json": b"{" + b'"a":{' * 100_000,
        "none.log": b"# a\n",
        "chat.jsonl": b'{"messages": [1]}\n' * 20,
        "dump.sql": b"INSERT INTO t VALUES (1, 'yes');\n" * 20,
        "braces.jsonl": b'{"{0}": ["a b"], "label": "x"}\n' * 20,
        "binary.log": b"a b\n\x02 c\n" * 20,
    }
    np.savez("halves.npz", X=np.ones((40, 2)), y=np.arange(40) / 2)
    unreadable["halves.npz"] = Path("halves.npz").read_bytes()
    for name, data in unreadable.items():
        Path(name).write_bytes(data)
        answer = call("train", name)
        assert (answer.status != 0, "try:" in answer.err) == (True, False), name
        answer = call("convert", name)
        assert (answer.status, answer.out) == (1, ""), name
        assert re.fullmatch(f"perceptrons: error: {name}: .*\n", answer.err), name
    assert call("convert", "no.csv").err == "perceptrons: error: no.csv: no such file or directory\n"


def test_lines_without_labels(call, tmp_path, monkeypatch):
    """Somebody writes the labels; what is printed before makes the place for them, and works after."""
    monkeypatch.chdir(tmp_path)
    lines = (f"Mar  1 10:00:{i % 60:02} web: the door {('opens', 'is shut')[i % 2]}\n" for i in range(60))
    Path("syslog").write_text("".join(lines))
    line = re.search("^perceptrons: try: (.*)$", call("train", "syslog").err, re.MULTILINE)[1]
    program, _, later = line.partition("   # ")
    assert "in syslog.labels.txt, write a label in place of each LABEL; then type: " in later
    run(program)
    path = Path("syslog.labels.txt")
    written = path.read_text().splitlines()
    assert {text.partition("\t")[0] for text in written} == {"LABEL"}
    path.write_text("".join(text.replace("LABEL", "ab"["opens" in text]) + "\n" for text in written))
    answer = call(*shlex.split(later.rpartition("type: ")[2])[1:])
    assert "a 30, b 30" in answer.out, answer.err
    assert "try:" not in call("predict", f"{path.stem}.model", "binary").err


def test_no_pickle_is_opened_for_a_look(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.pkl").write_bytes(b"cos\nsystem\n(S'touch ran'\ntR.")
    error = call("train", "a.pkl").err
    assert "perceptrons: try: python -c 'import pandas, sys; " in error
    assert "# a pickle can run anything: only of somebody whom you trust" in error
    Path("a.pkl").write_bytes(b"(S'numpy x y'\ncos\nsystem\n(S'touch ran'\ntR.")
    error = call("train", "a.pkl").err
    assert "perceptrons: try: perceptrons convert a.pkl > a.new.npz && " in error
    assert "# a pickle can run anything: only of somebody whom you trust" in error
    assert not Path("ran").exists()


def test_a_process_has_the_line_of_another_library(tmp_path):
    """No command imports pandas, and this line needs none of it."""
    (tmp_path / "a.xlsx").write_bytes(b"PK\x03\x04")
    line = " pandas.read_excel(f).to_csv(sys.stdout, index=False)"
    assert line in process("train", tmp_path / "a.xlsx").err


HOSTILE = ['"]; open("ran", "w"); x = ["', "'); open('ran', 'w'); ('", '{open("ran", "w")}', "$(touch ran)"]
HOSTILE += ["`touch ran`", "'; touch ran; '", "a\\", "%s"]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_run_nothing_however_they_are_written(call, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with Path("a.csv").open("w", newline="") as file:
        rows = ([f"{i}.5 kg", i % 7, "red", "yn"[i % 2]] for i in range(60))
        csv.writer(file).writerows([[name, name, "colour", "label"], *rows])
    one = [{name: {name: i % 7}, "said": ["red", "blue"][i % 2], "label": "yn"[i % 2]} for i in range(60)]
    Path("a.json").write_text(json.dumps({name: one}))
    talks = [{name: [{"content": "red one"}, {"content": "yn"[i % 2]}]} for i in range(60)]
    Path("b.json").write_text(json.dumps(talks))
    for file in ("a.csv", "a.json", "b.json"):
        answer = call("train", file)
        assert not Path("ran").exists(), file
        assert "try:" in answer.err, file
        assert typed_instead(call, answer).status == 0, file
        assert not Path("ran").exists(), file


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", "{" + '"a":{"b":{"c":1},"d":{"e":2}},' * 4000 + '"x":'),
        ("a.txt", "a/A" * 50_000 + "b"),
        ("b.txt", " __label__a" * 20_000 + " b"),
        ("c.txt", " " * 200_000 + "x"),
        ("a.csv", "a,b\n" + f"+{' ' * 100_000}x,{'1' * 100_000}x\n" * 20),
    ],
)
def test_a_text_that_patterns_fit_in_many_ways(call, tmp_path, monkeypatch, name, text):
    """A pattern that tries them all would take hours."""
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(text)
    assert call("train", name).status != 0


@pytest.mark.parametrize("target", ["price", "kind"])
def test_a_target_that_somebody_names(call, tmp_path, monkeypatch, target):
    monkeypatch.chdir(tmp_path)
    rows = ((i * 37 % 200, 7 * i % 200 + 0.5, "ab"[i % 200 > 99], i % 3) for i in range(200))
    Path("a.csv").write_text(table(rows, ["area", "price", "kind", "label"]))
    answer = call("train", "a.csv", "--target", target)
    answer = answer if answer.status == 0 else typed_instead(call, answer)
    assert ("<=" in answer.out) == (target == "price")
    assert "2 classes" in answer.out


def test_one_label_alone_is_no_reason_to_learn_another_column(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("x,sex,bought\n" + "".join(f"{i},{'mf'[i % 2]},no\n" for i in range(50)))
    assert "try:" not in call("train", "a.csv").err


@pytest.mark.parametrize(
    ("typed", "instead"),
    [
        (("train", "a.csv", "--target", "Label"), "--target label"),
        (("train", "a.csv", "--target=LABEL"), "--target=label"),
        (("train", "a.csv", "--drop", "x,Y "), "--drop x,y"),
        (("train", "--stream", "a.csv", "--drop", "X"), "--drop x"),
        (("separable", "a.csv", "--target", "Label"), "--target label"),
        (("train", "a.jsonl", "--target", "Label"), "--target label"),
    ],
)
def test_a_name_in_other_letters(call, tmp_path, monkeypatch, typed, instead):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("x,y,z,label\n" + "".join(f"{i},{i % 2},1,{'ab'[i > 20]}\n" for i in range(40)))
    records = "".join(f'{{"x": {i}, "label": "{"ab"[i > 20]}"}}\n' for i in range(40))
    Path("a.jsonl").write_text(records)
    answer = call(*typed)
    line = re.search(r"^perceptrons: try: perceptrons (.*)$", answer.err, re.MULTILINE)[1]
    assert instead in line
    assert call(*shlex.split(line)).status == 0


@pytest.mark.parametrize("shape", ["titanic", "money_and_percent", "sms", "fasttext_many", "conll2003"])
def test_proofs_read_what_train_reads(call, tmp_path, monkeypatch, shape):
    monkeypatch.chdir(tmp_path)
    name, write = SHAPES[shape]
    write(tmp_path / name)
    for command in "separable", "margin":
        error = call(command, name).err
        line = re.search(rf"^perceptrons: try: (perceptrons {command} .*)$", error, re.MULTILINE)
        if shape in ("fasttext_many", "conll2003"):  # several labels, and tags
            assert "try:" not in error
            continue
        assert line is not None
        assert "--scale" not in line[1]
        answer = call(*shlex.split(line[1])[1:])
        assert "error" not in answer.err
        assert "separable" in answer.out


def test_a_row_without_names(call, stdin, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(
        '"of, all";text;y\n' + "".join(f"x;{('bad', 'good')[i % 2]} {i};{i % 2}\n" for i in range(40))
    )
    assert call("train", "a.csv", "--delimiter", ";", "--text-columns", "text").status == 0
    stdin(b"x;a good one\n")
    answer = call("predict", "a.model", "-")
    before = re.search(
        r"^perceptrons: try: \((.*); cat\) \| perceptrons predict a.model -$", answer.err, re.M
    )[1]
    stdin(subprocess.run(before, shell=True, check=True, capture_output=True).stdout + b"x;a good one\n")
    assert call("predict", "a.model", "-").out == "1\n"
    stdin(b"x;a good one;1\n")  # with its label
    line = re.search(r"^perceptrons: try: \(echo (.*); cat\)", call("online", "a.model", "-").err, re.M)[1]
    stdin(f"{shlex.split(line)[0]}\nx;a good one;1\n".encode())
    assert call("online", "a.model", "-", "--save", "b.model").out == "1\n"


def test_a_feature_that_is_called_like_labels(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(
        "x,y,color\n" + "".join(f"{i / 9},{i % 7 / 2},{'rb'[i > 20]}\n" for i in range(40))
    )
    for command in "train", "separable":
        line = commands_of(call(command, "a.csv").err.replace("separable", "train"), "perceptrons: try:")[0]
        assert line == "perceptrons train a.csv --target color"
        assert call(command, *shlex.split(line)[2:]).status == 0


#: Files of a regression: their names, what is above the numbers, a row, and what is below the median.
NUMBERS = {
    "whole.csv": ("area,rooms,sex,price\n", "{a},{i},{s},{f:.0f}\n"),
    "fractions.csv": ("area,text,target\n", "{a},words of {i},{p}\n"),
    "money.csv": ("brand,fuel,price\n", '{i},{s},"${f:,.2f}"\n'),
    "euros.csv": ("brand;fuel;price\n", "{i};{s};9.{a:03d},25 €\n"),
    "bare.csv": ("", "{a},{i}.5,{f}\n"),
    "trees": ("", "{f} 1:{a} 2:1\n"),
    "numbers.svm": ("# of trees\n", "{f} 1:{a} 2:1\n"),
    "numbers.jsonl": ("", '{{"area": {a}, "target": {f}}}\n'),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_become_two_classes(call, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    head, row = NUMBERS[name]
    numbers = ((i, i * 37 % 200) for i in range(200))
    rows = (row.format(i=i % 5, a=a, f=7000 + 3.25 * a, p=a / 200, s="mf"[i % 2]) for i, a in numbers)
    Path(name).write_text(head + "".join(rows))
    answer = call("train", name)
    assert "this is a classifier" in answer.err
    answer = typed_instead(call, answer)
    assert "2 classes" in answer.out
    assert (">0.5" in answer.out) == ("fractions" in name)
    model = re.search(r"^model +(.*), \d+ bytes", answer.out, re.MULTILINE)[1]
    error = call("evaluate", model, name).err  # whose classes may be others
    assert "error" in error
    assert "try:" not in error


@pytest.mark.parametrize(
    ("name", "row"),
    [("many.csv", '"ask for the word{0}, {1}",{0}\n'), ("many", "{0} {2}:1 60:1\n"), ("all", "{1} {2}:1\n")],
)
def test_many_classes_are_no_numbers(call, tmp_path, monkeypatch, name, row):
    monkeypatch.chdir(tmp_path)
    head = "text,label\n" if name.endswith(".csv") else ""
    Path(name).write_text(head + "".join(row.format(i % 40, i, i % 40 + 1) for i in range(400)))
    answer = call("train", name)
    assert "two classes" not in answer.err
    answer = typed_instead(call, answer)
    assert "40 classes" in answer.out or "400 different numbers" in answer.err


@pytest.mark.parametrize("mark", [":fine ", " ::: ", ","])
def test_what_ends_a_label(call, tmp_path, monkeypatch, mark):
    monkeypatch.chdir(tmp_path)
    lines = (f"{('bad', 'good')[y]}{mark}{t}{', or' * (i % 3)}\n" for i, (y, t) in enumerate(reviews()))
    Path("a.txt").write_text("".join(lines))
    answer = typed_instead(call, call("train", "a.txt"))
    assert ("2 classes" in answer.out) or ("fine" in mark and "bad:fine" in answer.out), answer.out


def test_labels_by_another_name_are_no_feature(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = ((i, "ham" if y else "spam", t, y) for i, (y, t) in enumerate(reviews()))
    Path("mail.csv").write_text(table(rows, ["", "label", "text", "label_num"]))
    assert "--target label --text-columns text --drop ,label_num" in call("train", "mail.csv").err


def test_a_class_for_each_number(call, tmp_path, monkeypatch, refused):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("x,target,z\n" + "".join(f"{i},{i * 3},1\n" for i in range(200)))
    error = refused("train", "a.csv", "--target", "target")
    assert "the labels are 200 different numbers in 200 examples, and this is a classifier" in error
    assert "298.5, the median" in error
    answer = call("train", "averaged", "a.csv", "--target", "target")
    assert (answer.status, "200 classes" in answer.out) == (0, True)


def test_columns_of_a_class_each_are_no_features(call, refused, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    SHAPES["a_column_for_each_class"][1](Path("a.csv"))
    assert "of its last columns, from 'none' on, one holds 1 in each row" in refused(
        "train", "perceptron", "a.csv"
    )
    answer = call("train", "a.csv", "--target", "yes")  # who says so knows more
    assert (answer.status, "of 4 features, 2 classes" in answer.out) == (0, True)


def test_what_reads_tables_is_installed_first(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    SHAPES["titanic"][1](tmp_path / "train.csv")
    monkeypatch.setattr("perceptron_rs.cli.proposal.files.find_spec", lambda name: None)
    instead = commands_of(call("train", "train.csv").err, "perceptrons: try:")
    assert instead[0] == "pip install pyarrow"


def test_there_are_forty():
    assert len(SHAPES) >= 40
