"""What a parameter may be is declared once: options, scikit-learn and model files agree at each end."""

import math
from argparse import ArgumentParser, ArgumentTypeError
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import get_args

import numpy as np
import pytest
from sklearn.utils._param_validation import InvalidParameterError, validate_parameter_constraints

from perceptron_rs.choices import Format
from perceptron_rs.io.text.paths import SUFFIXES
from perceptron_rs.parameters import kinds
from perceptron_rs.parameters.ranges import LARGEST, Choice, Other, Range, Switch

LEAST, MOST = 5e-324, 1.7976931348623157e308
#: Of each range: what is within at its ends, what is not, and its description.
ENDS = {
    "POSITIVE": ([1, 2**31 - 1], [0, 2**31, 1.5], "a whole number from 1 to 2147483647"),
    "COUNT": ([0, 2**31 - 1], [-1, 2**31, 0.5], "a whole number from 0 to 2147483647"),
    "SEED": ([0, 2**32 - 1], [-1, 2**32, 0.5], "a whole number from 0 to 4294967295"),
    "WINDOW": ([0, 100], [-1, 101, 0.5], "a whole number from 0 to 100"),
    "DEGREE": ([1, 100], [0, 101, 1.5], "a whole number from 1 to 100"),
    "HASH_BITS": ([1, 30], [0, 31, 1.5], "a whole number from 1 to 30"),
    "RATE": ([LEAST, MOST], [0, -1.0, math.inf, math.nan, None], "a finite number above 0"),
    "AMOUNT": ([0, MOST], [-LEAST, math.inf, math.nan, None], "a finite number of at least 0"),
    "TOLERANCE": ([0, MOST, None], [-LEAST, math.inf, "x"], "a finite number of at least 0, or none"),
    "FINITE": ([-MOST, MOST], [-math.inf, math.inf, math.nan], "a finite number"),
    "UNIT_INTERVAL": ([0, 1], [-LEAST, math.nextafter(1, 2), math.nan], "a number from 0 to 1"),
    "OPEN_UNIT_INTERVAL": ([LEAST, math.nextafter(1, 0)], [0, 1, math.nan], "a number above 0 and below 1"),
    "HELD_OUT": ([0, math.nextafter(1, 0)], [-LEAST, 1], "a number of at least 0 and below 1"),
    "THREADS": (
        [-LARGEST, LARGEST, None],
        [0, -(2**31), 2**31, 1.5],
        "a whole number from -2147483647 to 2147483647, but not 0, or none",
    ),
    "RATIO": ([math.nextafter(1, 2), math.inf], [1, math.nan], "a number above 1"),
}
RANGES = [(getattr(kinds, name), *ends) for name, ends in ENDS.items()]
WORDS = Range(0, closed="neither", words=("scale", "auto"))
RANGES += [
    (WORDS, ["scale", "auto", LEAST], [0, "x", None], "scale, auto or a finite number above 0"),
    (Range(1, whole=True, none=True), [1, 2**70, None], [0, 1.5], "a whole number of at least 1, or none"),
]


def test_every_range_is_here():
    assert {name for name, value in vars(kinds).items() if isinstance(value, Range)} == ENDS.keys()
    assert LARGEST == 2**31 - 1


def is_valid(values, value):
    """Return whether scikit-learn's validation takes it."""
    try:
        validate_parameter_constraints({"it": values.constraint()}, {"it": value}, caller_name="Learner")
    except InvalidParameterError:
        return False
    return True


@pytest.mark.parametrize(("values", "within", "beyond", "text"), RANGES, ids=str)
def test_the_ends_of_a_range(values, within, beyond, text):
    assert str(values) == text
    assert values.option() == {"type": values, "metavar": "N" if values.whole else "X"}
    for value in within:
        found = values(str(value))
        assert found == value
        assert isinstance(found, int) == (values.whole and value is not None)
        assert values.accepts(value)
        assert is_valid(values, value) or value == math.inf  # the ratio is no parameter
    assert values.none == (None in within) == (values("NONE" if values.none else str(within[0])) is None)
    for value in beyond:
        with pytest.raises(ArgumentTypeError, match=f"^must be {text}, got '{value}'$"):
            values(str(value))
        assert not values.accepts(value)
        assert not is_valid(values, value)
    assert not values.accepts(True)  # which is 1 in Python alone


@pytest.mark.parametrize(
    ("values", "accepted", "refused"),
    [
        (Choice(("a", "b")), ["a", "b"], ["c", None, True]),
        (Choice(("a",), none=True), ["a", None], ["c", True]),
        (Switch(), [True, False], [1.5, "true", None]),
        (Range(1, 9, whole=True, many=0), [1, [4, 0], ()], [0, 10, True, [-1], [True], [4.0]]),
        (Range(-9, 9, whole=True, never=0), [-9, np.int8(1)], [0, False, 1.0]),
        (Range(0, 1), [1, np.float32(0.1), Fraction(1, 2)], [True, Fraction(1, 3), np.longdouble("0.1")]),
        (Range(0), [2**70], [2**70 + 1, 10**400, Decimal(1), np.array(1.0)]),
    ],
    ids=str,
)
def test_what_is_no_range(values, accepted, refused):
    for value in accepted:
        assert values.accepts(value)
        assert is_valid(values, value)
    for value in refused:
        assert not values.accepts(value)
        assert not is_valid(values, value)


def test_a_function_is_no_value_of_json():
    values = Choice(("a",), also=(callable,))
    assert is_valid(values, len)
    assert not values.accepts(len)
    assert values.option() == {"choices": ("a",)}
    assert Other(lambda: [dict], {"metavar": "X"}).option() == {"metavar": "X"}
    assert Other(list).option() == {}
    assert Other(list).accepts(1)


#: What commands share; words, and what is read of them, or None: they are refused.
SHARED = [
    (kinds.add_model, "m", {"model": "m"}),
    (kinds.add_model, "", None),
    (partial(kinds.add_data, text="examples"), "a b", {"data": ["a", "b"]}),
    (partial(kinds.add_data, text="examples"), "", None),
    (partial(kinds.add_data, text="examples", piped=True), "a b", {"data": ["a", "b"]}),
    (partial(kinds.add_data, text="examples", piped=True), "", {"data": ["-"]}),
    (kinds.add_output, "", {"json": False, "quiet": False}),
    (kinds.add_output, "--json --quiet", {"json": True, "quiet": True}),
    (kinds.add_threads, "", {"threads": None}),
    (kinds.add_threads, "--n-jobs -1", {"threads": -1}),
    (kinds.add_threads, "--threads 0", None),
    (kinds.add_engine, "", {"engine": "rust"}),
    (kinds.add_engine, "--engine reference", {"engine": "reference"}),
    (kinds.add_engine, "--engine other", None),
    (
        partial(kinds.add_training, kept="its options"),
        "--model o",
        {"model": "o", "continued": None, "keep_on_interrupt": False},
    ),
    (
        partial(kinds.add_training, kept="its options"),
        "--model o --continue c --keep-on-interrupt",
        {"model": "o", "continued": "c", "keep_on_interrupt": True},
    ),
    (
        partial(kinds.add_training, kept="its options"),
        "--continue c",
        {"model": None, "continued": "c", "keep_on_interrupt": False},
    ),
    (partial(kinds.add_tag_column, text="the column"), "", {}),
    (partial(kinds.add_tag_column, text="the column"), "--tag-column 3", {"tag_column": 3}),
    (partial(kinds.add_tag_column, text="the column"), "--tag-column 0", None),
    (kinds.add_audit, "", {"no_audit": False, "audit_key": None}),
    (kinds.add_audit, "--no-audit --audit-key k", {"no_audit": True, "audit_key": "k"}),
]


@pytest.mark.parametrize(("add", "words", "found"), SHARED)
def test_options_that_commands_share(add, words, found, capsys):
    place = ArgumentParser(add_help=False)
    add(place)
    assert all(action.help for action in place._actions)
    if found is None:
        with pytest.raises(SystemExit):
            place.parse_args(words.split())
        assert "error:" in capsys.readouterr().err
    else:
        assert vars(place.parse_args(words.split())) == found


def test_values_of_options():
    assert [kinds.threads(text) for text in ("-32768", "-1", "1", "32768")] == [-(2**15), -1, 1, 2**15]
    assert (kinds.sizes("none"), kinds.sizes("5"), kinds.sizes("5,3,5")) == ((), (5,), (5, 3, 5))
    assert (kinds.numbers("5"), kinds.numbers("5,3")) == ((5,), (5, 3))
    assert kinds.names("a,b") == ("a", "b")
    assert (kinds.character(";"), kinds.character("\\t"), kinds.character("\t")) == (";", "\t", "\t")
    for read, text, said in (
        (kinds.threads, "0", "must not be 0"),
        (kinds.threads, "-32769", "whole number from -32768"),
        (kinds.threads, "32769", "to 32768"),
        (kinds.sizes, "5,0", "whole number from 1"),
        (kinds.sizes, "", "whole number from 1"),
        (kinds.numbers, "5,3,5", "must name each number once, got '5,3,5'"),
        (kinds.numbers, "none", "whole number from 1"),
        *(
            (kinds.character, text, "must be one character of ASCII")
            for text in ("", ";;", "\u00e4", *'"\r\n')
        ),
    ):
        with pytest.raises(ArgumentTypeError, match=said):
            read(text)
    assert kinds.parsed(int, "N").option() == {"type": int, "metavar": "N"}
    assert kinds.parsed(int, "N").constraint() == []
    place = ArgumentParser()
    place.add_argument("--flag", **kinds.FLAG.option())
    assert [place.parse_args(words).flag for words in ([], ["--flag"])] == [None, True]
    assert set(get_args(Format)) == {
        *SUFFIXES.values(),
        "lines",
    }  # lines of raw text have no suffix of their own
