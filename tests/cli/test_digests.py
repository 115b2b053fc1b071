"""``digests``: a line for each fit of the golden file, and what computed it."""

import sys
from pathlib import Path

import perceptron_rs
from perceptron_rs import _core
from perceptron_rs.registry import LEARNERS

GOLDEN = Path(__file__).parents[1] / "golden" / "digests.txt"


def test_lines_are_those_of_the_golden_file(call):
    answer = call("digests")
    assert (answer.status, answer.err) == (0, "")
    lines = answer.out.splitlines()
    about = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# "))
    assert about["perceptron rs"] == perceptron_rs.__version__
    assert about["engine"] == "rust"
    assert about["instruction set"] in _core._instruction_sets()
    assert about["machine"].endswith(f"{sys.byteorder}-endian")
    found = [line for line in lines if not line.startswith("#")]
    cases = [dict(part.split("=") for part in line.split()) for line in text_of_cases()]
    assert found == [f"{case['digest']}  {case['learner']} {case['data']}" for case in cases]


def text_of_cases():
    lines = GOLDEN.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_json_and_the_reference(call, monkeypatch):
    few = {"perceptron": LEARNERS["perceptron"]}
    monkeypatch.setattr("perceptron_rs.testing.golden.LEARNERS", few)
    found = call("digests", "--engine", "reference", "--json").json
    assert (found["engine"], found["instruction_set"]) == ("reference", None)
    assert [fit["examples"] for fit in found["fits"]] == ["real", "bytes", "counts"]
    assert call("digests", "--json").json["fits"] == found["fits"]
