"""Errors of libraries name the argument that they are about, and keep their kind."""

import pytest

from perceptron_rs.errors import ArgumentError, naming


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (ValueError("is bad"), ArgumentError, "X: is bad"),
        (TypeError("is bad"), TypeError, "X: is bad"),
        (OverflowError("is bad"), ArgumentError, "X: is bad"),
        # Those that name it are left as they are, but for what is no plain error of an argument.
        (ValueError("X is bad"), ValueError, "X is bad"),
        (TypeError("bad X"), TypeError, "bad X"),
        (ValueError("XX is bad"), ArgumentError, "X: XX is bad"),
        (OverflowError("X is bad"), ArgumentError, "X: X is bad"),
        (UnicodeError("X is bad"), ArgumentError, "X: X is bad"),
        (ArgumentError("{y} is bad"), ArgumentError, "y is bad"),
        (KeyError("bad"), KeyError, "'bad'"),
    ],
    ids=repr,
)
def test_the_argument_is_named_once(error, kind, text):
    with pytest.raises(Exception, match=f"^{text}$") as caught, naming("X"):
        raise error
    assert type(caught.value) is kind
    assert caught.value is error or caught.value.__cause__ is error


def test_without_an_error_nothing_happens():
    with naming("X"):
        found = 1
    assert found == 1
