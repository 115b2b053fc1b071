"""What is told to the training need not be told again: the model keeps it."""

import pytest

from perceptron_rs import load
from perceptron_rs.estimator_attributes import attributes

ROWS = [(i % 2, i % 7 + 0.5, i % 2 * 3 - i % 3, "NA" if i % 9 == 4 else i % 5, i) for i in range(60)]
NAMES = ("y", "a", "b", "c", "id")


def table(rows=ROWS, *, delimiter=",", header=True, names=NAMES):
    lines = [names] if header else []
    return "".join(delimiter.join(map(str, row)) + "\n" for row in [*lines, *rows])


NAMED = ("--target", "y", "--drop", "id,c")
#: What the training is told, and the file that it is told about.
CASES = {
    "delimiter": (("--delimiter", ";", *NAMED), table(delimiter=";"), ".csv"),
    "decimal": (
        ("--decimal", ",", "--delimiter", ";", *NAMED),
        table(delimiter=";").replace(".", ","),
        ".csv",
    ),
    "columns": (("--target", "y", "--columns", "b,a"), table(), ".csv"),
    "no header": (("--no-header", "--target", "f0", "--drop", "f3,f4"), table(header=False), ".csv"),
    "hashed": (("--target", "y", "--drop", "id", "--hash-bits", "6", "--missing", "NA"), table(), ".csv"),
    "scaled": (("--target", "y", "--drop", "id,c", "--scale", "standard"), table(), ".csv"),
    "format": (("--format", "tsv", *NAMED), table(delimiter="\t"), ".csv"),
    "svmlight": (("--zero-based", "yes"), "".join(f"{y} 1:{a} 2:{b}\n" for y, a, b, *_ in ROWS), ".svm"),
    "text": (("--text",), "".join(f"{y}\tw{a} w{b} w{c}\n" for y, a, b, c, _ in ROWS), ".txt"),
    "keys": (
        ("--target", "kind", "--sample-weight", "w"),
        "".join(f'{{"kind": {y}, "w": {1 + i % 2}, "a": {a}, "b": {b}}}\n' for y, a, b, _, i in ROWS),
        ".jsonl",
    ),
    "dropped keys": (
        ("--target", "kind", "--drop", "id,w"),
        "".join(f'{{"kind": {y}, "w": {i}, "id": "n{i}", "a": {a}, "b": {b}}}\n' for y, a, b, _, i in ROWS),
        ".jsonl",
    ),
    "held out": (("--holdout", "0.2", *NAMED), table(), ".csv"),
}


@pytest.mark.parametrize("how", [(), ("--stream",)], ids=["memory", "stream"])
@pytest.mark.parametrize("case", CASES)
def test_every_command_reads_the_data_as_the_training_did(call, stdin, tmp_path, case, how):
    told, text, suffix = CASES[case]
    if case == "hashed" and how:
        pytest.skip("columns of both kinds have to be looked at")
    path, model, more = tmp_path / f"data{suffix}", tmp_path / "m", tmp_path / "more"
    path.write_text(text)
    shown = ("--format", "tsv") if case == "format" else ()  # a suffix that lies is told each time
    assert call("train", path, *told, *how, "--model", model, "--quiet", "--epochs", 5).status == 0
    expected = call("evaluate", model, path, *told[: 2 * (case == "format")], "--json").json
    assert expected["accuracy"] > 0.4
    assert call("reproduce", model, path, *shown).status == 0
    labels = call("predict", model, path, *shown).out.split()
    assert sum(str(row[0]) != label for row, label in zip(ROWS, labels, strict=True)) == expected["errors"]
    going_on = ("--continue", model, "--model", more, "--quiet", "--epochs", 2)
    assert call("train", path, *shown, *how, *going_on).status == 0
    kept, again = load(model).recipe_, load(more).recipe_
    same = ("target", "delimiter", "header", "drop", "decimal")
    assert attributes(kept, same) == attributes(again, same)
    assert call("reproduce", more, path, *shown).status == 0
    if case == "held out":  # what was held out is not learnt from later, unless that is told
        assert call("train", path, *how, *going_on, "--json").json["n_samples"] == 48
        assert call("train", path, *how, *going_on, "--json", "--holdout", 0).json["n_samples"] == 60
    stdin(text.encode())
    assert call("evaluate", model, "-", *shown, "--json").json == expected
    stdin(text.encode())
    online = call("online", model, "-", *shown, "--quiet")
    assert (online.status, len(online.out.split())) == (0, len(ROWS)), online


def test_what_is_told_later_goes_before(call, refused, tmp_path):
    path, model = tmp_path / "a.csv", tmp_path / "m"
    path.write_text(table(delimiter=";"))
    assert call("train", path, "--delimiter", ";", *NAMED, "--model", model, "--quiet").status == 0
    other = tmp_path / "b.csv"
    other.write_text(table(names=("label", *NAMES[1:])))
    said = refused("evaluate", model, other, "--delimiter", ",")
    assert "has no column 'y', which held the labels in the training; name another one with --target" in said
    told = ("--delimiter", ",", "--target", "label")
    assert (
        call("evaluate", model, other, *told, "--json").json == call("evaluate", model, path, "--json").json
    )
    tabs = tmp_path / "c.tsv"  # another format has its own delimiter
    tabs.write_text(table(delimiter="\t"))
    assert call("predict", model, tabs).out == call("predict", model, path).out
    features = tmp_path / "d.csv"  # to predict, labels are not needed
    features.write_text(table([row[1:3] for row in ROWS], delimiter=";", names=NAMES[1:3]))
    assert call("predict", model, features).out == call("predict", model, path).out


def test_what_is_told_later_is_told_though_it_is_the_default(call, refused, tmp_path):
    """A model knows better than defaults, but not than somebody who writes them."""
    first, second = tmp_path / "a.svm", tmp_path / "b.svm"
    first.write_text("1 1:1 2:2\n0 1:-1 2:1\n")
    second.write_text("1 0:1 1:2\n0 0:-1 1:1\n")
    model = tmp_path / "m"
    assert call("train", first, "--zero-based", "no", "--model", model, "--quiet").status == 0
    assert "has a column 0, but the model counts columns from 1" in refused("predict", model, second)
    assert call("predict", model, second, "--zero-based", "auto").out == call("predict", model, first).out
