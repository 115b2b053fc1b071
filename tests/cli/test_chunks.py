"""Chunks of tags: beside a reading of the schemes that shares nothing with the command."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_rs.cli.figures import chunks, of_chunks
from perceptron_rs.cli.figures import figures_of_chunks as figures


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("", set()),
        ("O O", set()),
        ("B-x I-x O", {(0, 2, "x")}),
        ("B-x B-x", {(0, 1, "x"), (1, 2, "x")}),
        ("B-x I-y", {(0, 1, "x"), (1, 2, "y")}),
        ("I-x I-x", {(0, 2, "x")}),
        ("O I-x O I-x", {(1, 2, "x"), (3, 4, "x")}),
        ("I-x B-x I-x", {(0, 1, "x"), (1, 3, "x")}),
        ("S-x S-x", {(0, 1, "x"), (1, 2, "x")}),
        ("U-x I-x L-x", {(0, 1, "x"), (1, 3, "x")}),
        ("B-x I-x E-x I-x", {(0, 3, "x"), (3, 4, "x")}),
        ("B-x-y I-x-y", {(0, 2, "x-y")}),
    ],
)
def test_by_hand(tags, expected):
    assert chunks(tags.split()) == expected


def by_pattern(tags):
    """The chunks of BIO tags of kinds x and y, by a regular expression on one letter a tag."""
    letters = {"B-x": "X", "I-x": "x", "B-y": "Y", "I-y": "y", "O": "o"}
    text = "".join(letters[tag] for tag in tags)
    return {(found.start(), found.end(), found[0][0].lower()) for found in re.finditer("Xx*|x+|Yy*|y+", text)}


SENTENCE = st.lists(st.sampled_from(["B-x", "I-x", "B-y", "I-y", "O"]), max_size=8)


@given(SENTENCE)
def test_bio_by_pattern(tags):
    assert chunks(tags) == by_pattern(tags)


@given(st.lists(st.tuples(SENTENCE, SENTENCE), max_size=4))
def test_figures_by_sets(pairs):
    pairs = [(a[: len(b)], b[: len(a)]) for a, b in pairs]
    found = figures([a for a, _ in pairs], [b for _, b in pairs])
    for name, entry in [(None, found), *((entry["kind"], entry) for entry in found["kinds"])]:
        true, guessed = (
            {(i, *c) for i, pair in enumerate(pairs) for c in by_pattern(pair[side]) if name in (None, c[2])}
            for side in (0, 1)
        )
        assert (entry["support"], entry["found"]) == (len(true), len(guessed))
        right = len(true & guessed)
        assert entry["precision"] == (right / len(guessed) if guessed else 0)
        assert entry["recall"] == (right / len(true) if true else 0)
        assert entry["f1"] == (2 * right / (len(true) + len(guessed)) if true or guessed else 0)


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (["O", "B-x"], True),
        (["I-x", "O"], True),
        (["O"], False),
        (["N", "V", "O"], False),
        (["B", "I", "O"], False),
        (["O", "S-x"], False),
        (["B-x", "x"], False),
    ],
)
def test_which_tags_are_of_chunks(tags, expected):
    assert of_chunks(tags) == expected
