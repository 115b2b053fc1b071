"""Each verdict of docs/course/lectures.csv is computed anew: turned round, it fails."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from .claims import CLAIMS
from .claims.history import EVENTS, WORKS, history

COURSE = Path(__file__).parents[2] / "docs" / "course"
with (COURSE / "lectures.csv").open(encoding="utf-8", newline="") as file:
    ROWS = list(csv.DictReader(file))
ANSWERS = {"right": True, "if": (True, False), "wrong": False}


@pytest.mark.parametrize("name", sorted({row["test"] for row in ROWS}))
def test_verdicts(name):
    (answer,) = {row["verdict"] for row in ROWS if row["test"] == name}
    found = CLAIMS[name]()
    found = tuple(map(bool, found)) if isinstance(found, tuple) else bool(found)
    assert found == ANSWERS[answer]


def test_each_claim_has_a_passage():
    assert {row["test"] for row in ROWS} == set(CLAIMS)


def test_what_is_not_plainly_right_says_what_is_right_and_why():
    text = (COURSE / "derivations.rst").read_text(encoding="utf-8")
    derived = re.findall(r"^\.\. derivation:: (\w+)\n", text, re.MULTILINE)
    assert len(derived) == len(set(derived))
    assert set(derived) == {row["test"] for row in ROWS if row["verdict"] != "right"}
    for row in ROWS:
        assert bool(row["right"]) == (row["verdict"] != "right"), row
        assert len(row["says"]) <= 110, row  # no more than a line of it
    for part in re.split(r"^\.\. derivation:: ", text, flags=re.MULTILINE)[1:]:
        assert ">>> " in part or part.startswith("it_is_the_oldest"), part[:60]  # a run shows it


def test_each_year_of_the_history_is_that_of_a_work():
    prose, listed = history().split("In the order of their years")
    for entry, (name, year, place) in zip(listed.split(" - ")[1:], WORKS, strict=True):
        assert all(words in entry for words in (name, f"{year}", place)), entry
    for found in re.finditer(r"\b(?:1[89]|20)\d\d\b", prose):
        around = prose[max(0, found.start() - 260) : found.end() + 160]
        names = [name for name, year, *_ in (*WORKS, *EVENTS) if year == int(found.group())]
        assert any(name in around for name in names), around
