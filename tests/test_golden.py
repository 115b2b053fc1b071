"""Both engines against the golden files, and the files against the script that makes them."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

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
    ("file", "layout"),
    [
        (file, layout)
        for file in FILES
        for layout in ("dense", "int32", "int64")
        if file not in ("lives", "digests") or layout == "dense"  # these have their own
    ],
)
def test_engines(engine, file, layout):
    found = cases(file)
    assert len(found) >= FILES[file], "cases are missing"
    for number, case in enumerate(found, start=1):
        for name, value in make.answer(engine, file, case, layout).items():
            assert value == case[name], f"{file}.txt, case {number}, {name}: {case}"


def test_files_are_current():
    done = subprocess.run(
        [sys.executable, FOLDER / "make.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_cases_cover_every_way_to_stop():
    for file in ("perceptron", "averaged"):
        stops = {reason for case in cases(file) for reason in case["stopped"].split(",")}
        assert stops == {"clean", "tol", "max_iter"}
    assert {case["type"] for case in cases("averaged")} == {*make.TYPES, *make.HALVES}
