"""What the values of options must be."""

from __future__ import annotations

import math
from argparse import ArgumentTypeError

__all__ = [
    "amount",
    "count",
    "finite",
    "fraction",
    "gamma",
    "positive",
    "rate",
    "ratio",
    "seed",
    "sizes",
    "threads",
    "tolerance",
    "window",
]


def _whole(text: str, low: int, high: int) -> int:
    try:
        number = int(text)
    except ValueError:
        number = low - 1
    if not low <= number <= high:
        raise ArgumentTypeError(f"must be a whole number from {low} to {high}, got {text!r}")
    return number


def positive(text: str) -> int:
    """Return a whole number above 0."""
    return _whole(text, 1, 2**31 - 1)


def count(text: str) -> int:
    """Return a whole number, 0 or more."""
    return _whole(text, 0, 2**31 - 1)


def seed(text: str) -> int:
    """Return a whole number of 32 bits."""
    return _whole(text, 0, 2**32 - 1)


def threads(text: str) -> int:
    """Return a number of threads as joblib reads it: negative ones count from all processors."""
    number = _whole(text, -(2**15), 2**15)
    if number == 0:
        raise ArgumentTypeError("must not be 0; 1 is one thread, -1 one for each processor")
    return number


def rate(text: str) -> float:
    """Return a finite number above 0."""
    number = _number(text)
    if not 0 < number < math.inf:
        raise ArgumentTypeError(f"must be a finite number above 0, got {text!r}")
    return number


def amount(text: str) -> float:
    """Return a finite number, 0 or more."""
    number = _number(text)
    if not 0 <= number < math.inf:
        raise ArgumentTypeError(f"must be a finite number from 0 up, got {text!r}")
    return number


def ratio(text: str) -> float:
    """Return a number from 0 to 1."""
    number = _number(text)
    if not 0 <= number <= 1:
        raise ArgumentTypeError(f"must be a number from 0 to 1, got {text!r}")
    return number


def fraction(text: str) -> float:
    """Return a number between 0 and 1."""
    number = _number(text)
    if not 0 < number < 1:
        raise ArgumentTypeError(f"must be a number above 0 and below 1, got {text!r}")
    return number


def tolerance(text: str) -> float | None:
    """Return a finite number, 0 or more; None for the word none."""
    if text.lower() == "none":
        return None
    number = _number(text)
    if not 0 <= number < math.inf:
        raise ArgumentTypeError(f"must be a finite number from 0 up, or none, got {text!r}")
    return number


def finite(text: str) -> float:
    """Return a finite number."""
    number = _number(text)
    if not math.isfinite(number):
        raise ArgumentTypeError(f"must be a finite number, got {text!r}")
    return number


def gamma(text: str) -> float | str:
    """Return a finite number above 0, or a rule that finds one."""
    if text in ("scale", "auto"):
        return text
    number = _number(text)
    if not 0 < number < math.inf:
        raise ArgumentTypeError(f"must be scale, auto or a finite number above 0, got {text!r}")
    return number


def sizes(text: str) -> tuple[int, ...]:
    """Return whole numbers above 0, which are separated by commas; none for the word none."""
    return () if text == "none" else tuple(positive(part) for part in text.split(","))


def window(text: str) -> int:
    """Return how many neighbours of a word are looked at."""
    return _whole(text, 0, 100)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
