"""Both engines against the golden files, and the files against the script that makes them."""

import importlib.util
from pathlib import Path

import pytest

from perceptron_rs import _core
from perceptron_rs.engines import get_engine

FOLDER = Path(__file__).parent / "golden"
#: At least so many cases of each.
FILES = {
    "dot": 190,
    "order": 30,
    "perceptron": 45,
    "averaged": 45,
    "pocket": 50,
    "voted": 45,
    "sequences": 25,
    "kernel": 50,
    "multilayer": 35,
    "margin": 140,
    "digests": 27,
    "lives": 300,
}

spec = importlib.util.spec_from_file_location("golden_make", FOLDER / "make.py")
make = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make)


def cases(file):
    lines = (FOLDER / f"{file}.txt").read_text(encoding="utf-8").splitlines()
    return [
        dict(token.split("=", 1) for token in line.split())
        for line in lines
        if line and not line.startswith("#")
    ]


@pytest.mark.parametrize(
    ("name", "file", "layout"),
    [
        (name, file, layout)
        for name, layout in (("rust", "dense"), ("rust", "int32"), ("rust", "int64"), ("reference", "int32"))
        for file in FILES
        if file not in ("lives", "digests") or layout == "dense"  # these have their own
    ],
)
def test_engines(name, file, layout):
    """The reference on dense rows writes the files, as the next test says."""
    engine, found = get_engine(name), cases(file)
    assert len(found) >= FILES[file], "cases are missing"
    # The margins of the reference take longest, and its sparse rows are read in one way for all of them.
    every = 9 if (name, file, layout) == ("reference", "margin", "int32") else 1
    for number, case in list(enumerate(found, start=1))[::every]:
        for output, value in make.answer(engine, file, case, layout).items():
            assert value == case[output], f"{file}.txt, case {number}, {output}: {case}"


@pytest.mark.parametrize("file", make.HEADS)
def test_files_are_current(file):
    """What the reference writes now, to the last byte: cases, their order and what is learnt."""
    assert file in FILES
    # Of lives, every third: all of them are the work of `make lint`, and of the compiled engine above.
    every = 3 if file == "lives" else 1
    head, _, lines = (FOLDER / f"{file}.txt").read_text(encoding="utf-8").partition("\n\n")
    expected = [f"{head}\n\n", *lines.splitlines(keepends=True)[::every]]
    assert make.text(file, every) == "".join(expected)


def test_the_cases_cover_every_way_to_stop():
    for file in ("perceptron", "averaged"):
        stops = {reason for case in cases(file) for reason in case["stopped"].split(",")}
        assert stops == {"clean", "tol", "max_iter"}
    assert {case["type"] for case in cases("averaged")} == {*make.TYPES, *make.HALVES}


def test_a_machine_prints_the_digests_of_the_file(capsys):
    """Two machines are compared so, by the workflow and by whoever has the repository."""
    importlib.import_module("fits").main("rust")
    lines = capsys.readouterr().out.splitlines()
    about = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# "))
    assert about["engine"] == "rust"
    assert about["instruction set"] in _core._instruction_sets()
    found = [line for line in lines if not line.startswith("#")]
    assert found == [f"{case['digest']}  {case['learner']} {case['data']}" for case in cases("digests")]
