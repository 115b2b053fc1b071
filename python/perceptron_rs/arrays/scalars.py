"""What is a number: one answer for parameters, arguments, options and files. It imports no library."""

from __future__ import annotations

import math
from numbers import Integral, Real


def number(value: object, *, whole: bool = False) -> int | float | None:
    """Return the int, or the float, that a value is; None if it is none, or a float cannot hold it.

    Of the numbers of any library, those of Python and NumPy above all. Booleans are none.
    """
    if isinstance(value, bool) or type(value).__name__ == "timedelta64":  # NumPy calls that an integer
        return None
    if whole:
        return int(value) if isinstance(value, Integral) else None
    if not isinstance(value, Real):
        return None
    try:
        as_float = float(value)
    except OverflowError:
        return None
    return as_float if as_float == value or math.isnan(as_float) else None


def checked_number(name: str, value: object, *, whole: bool = False) -> int | float:
    """Return an argument as an int or a float.

    TypeError if it is no number; ValueError if float64 does not hold it.
    """
    checked = number(value, whole=whole)
    if checked is not None:
        return checked
    if not whole and isinstance(value, Real) and not isinstance(value, bool):
        raise ValueError(f"{name} must be a number that float64 holds, got {value!r:.80}; round it")
    raise TypeError(f"{name} must be a {'whole' if whole else 'real'} number, got {value!r:.80}")


def whole_number(name: str, value: object, low: int, high: int | None = None) -> int:
    """Return an argument as an int between two bounds; ValueError for anything else."""
    checked = number(value, whole=True)
    if checked is None or checked < low or (high is not None and checked > high):
        bounds = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{name} must be a whole number {bounds}, got {value!r:.80}")
    return int(checked)


def check_among(name: str, value: object, *known: object) -> None:
    """Raise ValueError unless an argument is one of these: words, True, False, None.

    What only says that it is equal to one of them, such as 1, is none.
    """
    words = [one for one in known if isinstance(one, str)]
    is_of_numpy = type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_")
    own = bool(value) if is_of_numpy else value
    if (isinstance(value, str) and value in words) or any(own is one for one in known):
        return
    *most, last = (f'"{one}"' if isinstance(one, str) else str(one) for one in known)
    raise ValueError(f"{name} must be {', '.join(most)} or {last}, got {value!r:.80}")
