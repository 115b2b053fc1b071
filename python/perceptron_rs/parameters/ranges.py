"""What the values of parameters may be: one declaration for scikit-learn's validation and for options.

Nothing is imported here that takes time, so that ``--help`` is quick.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict

from perceptron_rs.arrays.scalars import number

if TYPE_CHECKING:
    from argparse import Action

LARGEST = 2**31 - 1


class OptionKeywords(TypedDict, total=False):
    """What argparse is to know of an option."""

    type: Callable[[str], object]
    metavar: str | tuple[str, ...]
    choices: tuple[str, ...]
    action: str | type[Action]
    const: object
    nargs: int


class Values(Protocol):
    """What a parameter may be."""

    def option(self) -> OptionKeywords:
        """Return what argparse is to know of an option that sets it."""

    def constraint(self) -> list[object]:
        """Return what scikit-learn's validation is to know of it."""

    def accepts(self, value: object) -> bool:
        """Whether a value may be one, as of JSON."""


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers between two bounds.

    Parameters
    ----------
    low, high : float or None
        The bounds; None: there is none.
    closed : {"both", "left", "neither"}
        Which of the bounds are in the range.
    whole : bool
        Whether they are whole numbers.
    words : tuple of str
        Words that are allowed, too.
    none : bool
        Whether None is allowed, too, which is an option's word none.
    infinite : bool
        Whether numbers may be infinite.
    many : int or None
        The least number of a list, where it may also be a list of whole numbers; an option cannot say it.
    never : int or None
        A number that it must not be.
    """

    low: float | None = None
    high: float | None = None
    closed: Literal["both", "left", "neither"] = "both"
    whole: bool = False
    words: tuple[str, ...] = ()
    none: bool = False
    infinite: bool = False
    many: int | None = None
    never: int | None = None

    def __call__(self, text: str) -> Any:
        """Return the value that a text stands for; `ArgumentTypeError` if it is none."""
        if self.none and text.lower() == "none":
            return None
        if text in self.words:
            return text
        try:
            value = int(text) if self.whole else float(text)
        except ValueError:
            value = math.nan
        if not self._holds(value):
            from argparse import ArgumentTypeError

            raise ArgumentTypeError(f"must be {self}, got {text!r}")
        return value

    def _holds(self, value: float) -> bool:
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        if not (low <= value <= high) or (abs(value) == math.inf and not self.infinite):
            return False
        if value == self.never:
            return False
        return not (value == self.low and self.closed == "neither") and not (
            value == self.high and self.closed != "both"
        )

    def __str__(self) -> str:
        kind = "whole number" if self.whole else "number" if self.infinite or self.high else "finite number"
        text = f"a {kind}"
        if self.high is not None and self.closed == "both":
            text += f" from {self.low} to {self.high}"
        elif self.low is not None:
            text += f" above {self.low}" if self.closed == "neither" else f" of at least {self.low}"
            text += f" and below {self.high}" if self.high is not None else ""
        text += "" if self.never is None else f", but not {self.never}"
        if self.words:
            text = f"{', '.join(self.words)} or {text}"
        return f"{text}, or none" if self.none else text

    def option(self) -> OptionKeywords:
        """Return what argparse is to know of an option that sets it."""
        return {"type": self, "metavar": "N" if self.whole else "X"}

    def constraint(self) -> list[object]:
        """Return what scikit-learn's validation is to know of it."""
        from perceptron_rs.sklearn_base import ListOfNumbers, Number, StrOptions

        closed = "left" if self.high is None and self.closed == "both" else self.closed
        kind = Integral if self.whole else Real
        constraints: list[object] = [
            Number(kind, self.low, self.high, closed=closed, number=self._number, never=self.never),
            *([StrOptions(set(self.words))] if self.words else []),
        ]
        if self.many is not None:
            constraints.append(ListOfNumbers(kind, self.many, self.high, closed="both", number=self._number))
        return [*constraints, None] if self.none else constraints

    def accepts(self, value: object) -> bool:
        """Whether a value may be one, as of JSON."""
        if value is None or isinstance(value, str):
            return self.none if value is None else value in self.words
        if isinstance(value, list | tuple) and self.many is not None:
            own = replace(self, low=self.many, many=None)
            return all(own.accepts(part) for part in value)
        read = self._number(value)
        return read is not None and self._holds(read)

    def _number(self, value: object) -> int | float | None:
        return number(value, whole=self.whole)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some words; ``none``: or None, which an option that is left out stands for.

    ``also`` is what else a parameter may be, as scikit-learn's validation takes it.
    """

    words: tuple[str, ...]
    none: bool = False
    also: tuple[object, ...] = ()

    def __str__(self) -> str:
        return f"one of {self.words}" + (" or None" if self.none else "")

    def option(self) -> OptionKeywords:
        """Return what argparse is to know of an option that sets it."""
        return {"choices": self.words}

    def constraint(self) -> list[object]:
        """Return what scikit-learn's validation is to know of it."""
        from perceptron_rs.sklearn_base import StrOptions

        return [StrOptions(set(self.words)), *self.also, *([None] if self.none else [])]

    def accepts(self, value: object) -> bool:
        """Whether a value may be one, as of JSON."""
        return value in self.words if isinstance(value, str) else self.none and value is None


@dataclass(frozen=True, slots=True)
class Switch:
    """True or False."""

    def option(self) -> OptionKeywords:
        """Return what argparse is to know of an option that sets it."""
        from argparse import BooleanOptionalAction

        return {"action": BooleanOptionalAction}

    def constraint(self) -> list[object]:
        """Return what scikit-learn's validation is to know of it."""
        return ["boolean"]

    def accepts(self, value: object) -> bool:
        """Whether a value may be one, as of JSON."""
        return isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class Other:
    """What scikit-learn's validation and argparse are to know, where no other kind says both.

    Parameters
    ----------
    known : callable
        Returns what scikit-learn's validation is to know.
    keywords : dict
        What argparse is to know of an option.
    accepted : callable
        Whether a value of JSON may be one; all may where a file has none, or its reader looks closer.
    """

    known: Callable[[], list[object]]
    keywords: OptionKeywords = field(default_factory=OptionKeywords)
    accepted: Callable[[object], bool] = lambda value: True  # noqa: ARG005

    def option(self) -> OptionKeywords:
        """Return what argparse is to know of an option that sets it."""
        return self.keywords.copy()

    def constraint(self) -> list[object]:
        """Return what scikit-learn's validation is to know of it."""
        return self.known()

    def accepts(self, value: object) -> bool:
        """Whether a value may be one, as of JSON."""
        return self.accepted(value)


def check_value(name: str, values: Values, value: object) -> None:
    """Raise scikit-learn's error, a ValueError and a TypeError, unless an argument is one of these values."""
    if not values.accepts(value):
        from perceptron_rs.sklearn_base import InvalidParameterError

        raise InvalidParameterError(f"{name} must be {values}, got {value!r:.80}")
