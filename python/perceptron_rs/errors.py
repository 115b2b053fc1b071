"""Errors about arguments: what is wrong and what helps, apart from the words of Python.

Whoever offers the same arguments under other names, as the command line does, says them in its own words.
"""

from __future__ import annotations

import re
import sys
import warnings
from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from string import Formatter
from typing import Any, Self

#: Returns how an argument is written: its name, and its value, if that is said.
Say = Callable[..., str]

_NOUNS = {
    "estimator": "the estimator",
    "data": "X and y",
    "weights": "sample_weight and class_weight",
    "width": "n_features of a perceptron_rs.io.Source",
}


def say_in_python(name: str, *value: object) -> str:
    """Return an argument as those who call Python write it."""
    return f"{name}={value[0]!r:.200}" if value else _NOUNS.get(name, name)


class ArgumentError(ValueError):
    """An argument cannot be as it is, or does not go with another one.

    Parameters
    ----------
    problem : str
        What is wrong. Arguments stand in braces, by their names; beside them nouns and names of methods,
        which are others elsewhere: "estimator", "data" (X and y), "weights", "width". A name may have a
        literal value: "{header=False}".
    remedy : str, default=""
        What helps, in the same form.
    cause : str, default=""
        By what those know the error who have another remedy.
    place : str, default=""
        What goes before the text: a file, and perhaps a line of it.
    values, settings : mapping, default={}
        Values of arguments of the problem and of the remedy, which are then written with them.
    **facts : object
        What else stands in braces, written as it is.

    Examples
    --------
    >>> from perceptron_rs.errors import ArgumentError
    >>> error = ArgumentError("{eta0} must be above {least}", "raise {eta0}", values={"eta0": -1}, least=0)
    >>> print(error)
    eta0=-1 must be above 0; raise eta0
    >>> error.text(lambda name, *value: "--" + " ".join([name, *map(str, value)]))
    '--eta0 -1 must be above 0; raise --eta0'
    """

    def __init__(
        self,
        problem: str,
        remedy: str = "",
        *,
        cause: str = "",
        place: str = "",
        values: Mapping[str, object] | None = None,
        settings: Mapping[str, object] | None = None,
        **facts: Any,
    ) -> None:
        self.problem, self.remedy, self.cause, self.place = problem, remedy, cause, place
        self.values, self.settings, self.facts = dict(values or {}), dict(settings or {}), facts
        super().__init__(self.text(say_in_python))

    @property
    def argument(self) -> str | None:
        """The name of the first argument."""
        names = (name for _, name, _, _ in Formatter().parse(self.problem) if name and name not in self.facts)
        return next(names, None)

    def text(self, say: Say, remedies: Mapping[str, str] | None = None) -> str:
        """Return the text in other words.

        Parameters
        ----------
        say : callable
            Returns how an argument of this name is written; with a second argument, how it is set to that
            value.
        remedies : mapping, default={}
            Other remedies, by causes.
        """
        remedy = (remedies or {}).get(self.cause, self.remedy)
        parts = ((self.problem, self.values), (remedy, self.settings))
        return self.place + "; ".join(self._filled(text, values, say) for text, values in parts if text)

    def _filled(self, template: str, values: Mapping[str, object], say: Say) -> str:
        text = ""
        for literal, name, how, form in Formatter().parse(template):
            text += literal
            if name is None:
                continue
            if "=" in name:
                name, _, value = name.partition("=")
                text += say(name, literal_eval(value))
            elif name in self.facts:
                fact = self.facts[name]
                text += format(repr(fact) if form == "r" else fact, how or "")
            else:
                text += say(name, *([values[name]] if name in values else []))
        return text

    def at(self, place: str) -> Self:
        """Return the same error with a place before what it says."""
        error = type(self).__new__(type(self))
        vars(error).update(vars(self) | {"place": place + self.place})
        error.args = (error.text(say_in_python),)
        return error

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (type(self), vars(self), self.args)


class OptionsError(ArgumentError):
    """Arguments that do not go together, or not with what is read, whatever it holds."""


def _remade(kind: type[ArgumentError], state: dict[str, object], args: tuple[object, ...]) -> ArgumentError:
    """Return an error that another process has sent."""
    error = kind.__new__(kind)
    vars(error).update(state)
    error.args = args
    return error


def with_article(noun: str) -> str:
    """Return a noun behind its article."""
    return f"{'an' if noun[:1] in 'AEIOUaeiou' else 'a'} {noun}"


def located(error: Exception, place: str) -> ValueError:
    """Return the error as a ValueError whose text begins with a place; problem and remedy stay apart."""
    return error.at(place) if isinstance(error, ArgumentError) else ValueError(f"{place}{error}")


def one_line(error: BaseException) -> str:
    """Return the text of any error in one line; its type if it has no text."""
    text = " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename is not None else ""
        return f"{where}{error.strerror.lower()}"
    return text or type(error).__name__


@contextmanager
def about(name: object) -> Iterator[None]:
    """Name the file in whatever goes wrong while a library reads it, which becomes a ValueError."""
    try:
        yield
    except (OptionsError, BrokenPipeError):
        raise
    except MemoryError as error:
        text = str(error) or "the data does not fit"
        raise MemoryError(text if str(name) in text else f"{name}: {text}") from error
    except Exception as error:
        if isinstance(error, ArgumentError):
            raise (error if error.place or str(name) in str(error) else error.at(f"{name}: ")) from error
        # Readers of damaged files raise what their parts raise: zlib.error, BadZipFile, struct.error, ...
        text, place = one_line(error), f"{name}: "
        place = place if text.startswith(place) or str(name) not in text else ""
        raise ArgumentError("{text}", place=place, text=text.removeprefix(place)) from error


def named_overflow(error: OverflowError, rate: str = "eta0") -> ArgumentError:
    """Return an engine's error for a number that is not finite, with the name of the learning rate."""
    problem, _, remedy = str(error).partition("; ")
    return ArgumentError("{text}", remedy.replace("eta0", f"{{{rate}}}"), text=problem)


#: Packages whose frames stand between a warning and the line that it is about.
_NOT_CALLERS = ("perceptron_rs", "sklearn", "contextlib")


class naming:  # noqa: N801  called like a function
    """Put ``argument`` in front of the text of a library's error that does not name it."""

    # No generators here: they would take longer than a small pass.
    __slots__ = ("argument",)

    def __init__(self, argument: str) -> None:
        self.argument = argument

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if isinstance(error, NotImplementedError):  # of pandas, about values in runs
            raise TypeError(f"{self.argument} holds what makes no array, {error}; decode it first") from error
        if not isinstance(error, (TypeError, ValueError, OverflowError)):
            return
        if isinstance(error, ArgumentError):
            return
        text = str(error)
        if kind in (TypeError, ValueError) and re.search(rf"\b{self.argument}\b", text):
            return
        if isinstance(error, TypeError):
            raise TypeError(f"{self.argument}: {text}") from error
        raise ArgumentError(f"{{{self.argument}}}: {{text}}", text=text) from error


def warn_caller(text: str | ArgumentError, category: type[Warning]) -> None:
    """Warn of a line of the caller: the first one outside of this package and of what wraps its methods."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_CALLERS:
        frame, level = frame.f_back, level + 1
    warnings.warn(category(text), stacklevel=level)


def refuse_no_name(name: str, argument: str = "path") -> None:
    """Raise ValueError for what no file can be called."""
    if not name or "\0" in name:
        raise ValueError(
            f"{argument} must hold names of files, got {name!r:.80}; it may not be empty or hold a NUL byte"
        )
