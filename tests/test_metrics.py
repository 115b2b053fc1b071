"""Chunks of tags: beside a reading of the schemes that shares nothing with the package."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_rs.metrics import are_chunked, chunk_scores, chunks
from perceptron_rs.targets.chunk_tags import SCHEMES, tag_parts


def of(tags, scheme=None):
    """The chunks of tags, among those of all examples here."""
    return chunks([KNOWN[tag] for tag in tags], scheme)


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
    assert of(tags.split()) == expected


def by_pattern(tags):
    """The chunks of BIO tags of kinds x and y, by a regular expression on one letter a tag."""
    letters = {"B-x": "X", "I-x": "x", "B-y": "Y", "I-y": "y", "O": "o"}
    text = "".join(letters[tag] for tag in tags)
    return {(found.start(), found.end(), found[0][0].lower()) for found in re.finditer("Xx*|x+|Yy*|y+", text)}


SENTENCE = st.lists(st.sampled_from(["B-x", "I-x", "B-y", "I-y", "O"]), max_size=8)


@given(SENTENCE)
def test_bio_by_pattern(tags):
    assert of(tags) == by_pattern(tags)


@given(st.lists(st.tuples(SENTENCE, SENTENCE), max_size=4))
def test_figures_by_sets(pairs):
    pairs = [(a[: len(b)], b[: len(a)]) for a, b in pairs]
    found = chunk_scores([a for a, _ in pairs], [b for _, b in pairs])
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
    ("tags", "parts"),
    [
        (["O", "B-x"], [("O", ""), ("B", "x")]),
        (["I-x", "O"], [("I", "x"), ("O", "")]),
        (["B", "I", "O"], [("B", "_"), ("I", "_"), ("O", "")]),
        (["B_PER", "I_PER", "O"], [("B", "PER"), ("I", "PER"), ("O", "")]),
        (["PER-B", "PER-I", "O"], [("B", "PER"), ("I", "PER"), ("O", "")]),
        (["first-name_B", "O"], [("B", "first-name"), ("O", "")]),
        (["B-first-name", "B-first_name"], [("B", "first-name"), ("B", "first_name")]),
        (["B-I", "O", "S-B"], [("B", "I"), ("O", ""), ("S", "B")]),
        (["PER-B", "B", "E", "O"], [("B", "PER"), ("B", "_"), ("E", "_"), ("O", "")]),
        (["N", "V", "O"], None),
        (["B-x", "x"], None),
        (["B-x", "x-I", "O"], None),
        (["B-", "O"], None),
        (["-B", "O"], None),
    ],
)
def test_which_tags_are_of_chunks(tags, parts):
    assert tag_parts(tags) == (None if parts is None else dict(zip(tags, parts, strict=True)))
    assert are_chunked(tag_parts(tags)) is (parts is not None)


@pytest.mark.parametrize("tags", [["O"], ["O", "S-x"]])
def test_tags_that_may_be_of_words(tags):
    assert not are_chunked(tag_parts(tags))
    assert chunk_scores([tags], [tags])["support"] == len(tags) - 1


@pytest.mark.parametrize(
    ("y_true", "y_pred", "scheme", "text"),
    [
        ([["N"]], [["V"]], None, "must be positions in chunks"),
        ([["B-x"]], [["S-x"]], "iob2", "no such tag as 'S-x'"),
        ([["B-x"]], [["B-x"]], "bio", "scheme must be .*\"bilou\" or None, got 'bio'"),
        ([["B-x"], ["O"]], [["B-x"], []], None, "sentence 1 has 1 tags in y_true, and 0 in y_pred"),
        ([["B-x"], ["O"]], [["B-x"]], None, "y_true has 2 sentences, and y_pred 1; give the same ones"),
    ],
)
def test_bad_tags(y_true, y_pred, scheme, text):
    with pytest.raises(ValueError, match=text):
        chunk_scores(y_true, y_pred, scheme=scheme)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (["B-x", "O"], "a list of tags for each sentence, got 'B-x' as sentence 0; .* write \\[y_true\\]"),
        (np.array(["B-x", "O"]), "got np.str_\\('B-x'\\) as sentence 0"),
        ([1, 2], "a list of tags for each sentence, got 1 as sentence 0"),
        ([["O"], [1, 2]], "tags must be strings such as B-NP, got 1 in sentence 1 of y_true"),
        ([["O", None]], "got None in sentence 0 of y_true"),
        ([["O"], None], "got None as sentence 1"),
        (None, "y_true must be a list of the tags of each sentence, got None"),
        ("O", "y_true must be a list of the tags of each sentence, got 'O'"),
    ],
)
def test_what_are_no_sentences_of_tags_is_named(given, text):
    with pytest.raises(TypeError, match=text):
        chunk_scores(given, [["O"]])


#: Chunks of strict schemes as regular expressions, of one kind.
STRICT = {"iob2": "BI*", "iobes": "BI*E|S", "bilou": "BI*L|U"}


@given(st.sampled_from(sorted(SCHEMES)), st.lists(st.sampled_from(["B", "I", "E", "S", "O"]), max_size=9))
def test_strict_chunks_by_pattern(scheme, positions):
    """Those of tags of one kind; what is between two of them, or is begun and not ended, is none."""
    last, single = SCHEMES[scheme]
    positions = [{"E": last or "O", "S": single or "O"}.get(position, position) for position in positions]
    expected = {(m.start(), m.end(), "x") for m in re.finditer(STRICT[scheme], "".join(positions))}
    assert (
        of([position if position == "O" else f"{position}-x" for position in positions], scheme) == expected
    )


@pytest.mark.parametrize(
    ("scheme", "tags", "expected"),
    [  # as seqeval's mode="strict" has them
        ("iob2", "I-x B-x I-y O", {(1, 2, "x")}),
        ("iob2", "B-x I-x I-y B-y", {(0, 2, "x"), (3, 4, "y")}),
        ("iobes", "B-x E-y S-x", {(2, 3, "x")}),
        ("iobes", "B-x I-y E-x", set()),
        ("iobes", "B-x B-x E-x E-x", {(1, 3, "x")}),
        ("iobes", "S-x I-x E-x", {(0, 1, "x")}),
        ("bilou", "B-x I-x L-x U-y B-y", {(0, 3, "x"), (3, 4, "y")}),
    ],
)
def test_strict_chunks_of_several_kinds(scheme, tags, expected):
    assert of(tags.split(), scheme) == expected


KNOWN = tag_parts(["O", "B-x-y", "I-x-y", *(f"{position}-{kind}" for position in "BIESLU" for kind in "xy")])
