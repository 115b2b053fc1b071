"""Weights as text, exact to the last bit: to read, to compare line by line, and to start from.

A file of ASCII lines, whose parts are separated by tabs::

    perceptrons weights 1
    classes    str        "ham"   "spam"
    features   2
    intercept   -0x1.0000000000000p+0
    "free"     0x1.8000000000000p+1
    "hello"    -0x1.0000000000000p+1

There is one number for two classes, for the second of them, and one for each class otherwise. The numbers
are those of `float.hex`; names are JSON strings, and without names a feature is its column, counted from 0.
Each line ends with a newline, so that a file that was cut shows it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.common.predictor import hyperplanes
from perceptron_rs.errors import ArgumentError, located
from perceptron_rs.models.classes import classes_from_json, classes_to_json
from perceptron_rs.models.files import open_regular, write_whole
from perceptron_rs.models.values import decode
from perceptron_rs.text import open_text
from perceptron_rs.typed import check_is_fitted

__all__ = ["dump_text", "read_text"]

_TITLE = "perceptrons weights"
_VERSION = 1
# As float.hex writes it; float.fromhex would also take "10" for 16.
_NUMBER = re.compile(r"-?0x[01]\.[0-9a-f]{1,13}p[+-][0-9]{1,4}")

Weights = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[Any]]


def dump_text(estimator: Any, file: str | os.PathLike[str] | TextIO) -> None:
    """Write the weights of an estimator as text.

    Parameters
    ----------
    estimator : Perceptron, AveragedPerceptron or VotedPerceptron
        A fitted estimator. Written is what predicts: of the averaged one, the averages; of the voted one,
        what ``prediction`` says, which must not be "vote".
    file : str, path object or text stream
        File to write, or an object with a method ``write``. An existing file is replaced completely or not
        at all.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the estimator is not fitted.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import sys
    >>> from perceptron_rs import Perceptron
    >>> from perceptron_rs.models import dump_text
    >>> model = Perceptron().fit([[1, 0], [0, 3]], ["ham", "spam"])
    >>> dump_text(model, sys.stdout)  # doctest: +NORMALIZE_WHITESPACE
    perceptrons weights 1
    classes str "ham" "spam"
    features 2
    intercept 0x0.0p+0
    0 -0x1.0000000000000p+0
    1 0x1.8000000000000p+1
    """
    check_is_fitted(estimator)
    if getattr(estimator, "prediction", None) == "vote" and hasattr(estimator, "coef_"):
        raise ArgumentError(
            "{kind} predicts by the votes of many hyperplanes",
            "set {prediction} to write the last one, or another prediction",
            settings={"prediction": "last"},
            kind=type(estimator).__name__,
        )
    planes = hyperplanes(estimator)
    if planes is None:
        raise ValueError(
            f"estimator must be a linear learner, got {type(estimator).__name__}; use its save()"
        )
    if isinstance(file, str | os.PathLike):
        write_whole(file, "".join(_lines(estimator, *planes)).encode("ascii"))
    else:
        for line in _lines(estimator, *planes):
            file.write(line)


def _lines(estimator: Any, coef: NDArray[np.float64], intercept: NDArray[np.float64]) -> Iterator[str]:
    classes = classes_to_json(estimator.classes_)
    names = getattr(estimator, "feature_names_in_", None)
    yield f"{_TITLE} {_VERSION}\n"
    yield "\t".join(["classes", classes["type"], *map(json.dumps, classes["values"])]) + "\n"
    yield f"features\t{coef.shape[1]}\n"
    yield "\t".join(["intercept", *map(float.hex, intercept.tolist())]) + "\n"
    for column in range(coef.shape[1]):
        name = str(column) if names is None else json.dumps(str(names[column]))
        yield "\t".join([name, *map(float.hex, coef[:, column].tolist())]) + "\n"


def read_text(
    file: str | os.PathLike[str] | TextIO, *, feature_names: Sequence[str] | None = None
) -> Weights:
    """Read weights written by `dump_text`, for ``coef_init`` and ``intercept_init`` of ``fit``.

    Parameters
    ----------
    file : str, path object or text stream
        File to read, or an iterable of its lines.
    feature_names : sequence of str, default=None
        Names of the features. If the text has names too, they must be the same, in the same order.

    Returns
    -------
    coef : ndarray of shape (1, n_features) or (n_classes, n_features), float64
        Weights, with the bits that were written. For two classes, there are two rows if they were learnt
        jointly.
    intercept : ndarray of shape (1,) or (n_classes,), float64
        The intercepts.
    classes : ndarray of shape (n_classes,)
        Class labels of the rows.

    Raises
    ------
    ValueError
        If the text was not written by `dump_text`, is truncated, or has an invalid line. The message names
        the line.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import io
    >>> from perceptron_rs import Perceptron
    >>> from perceptron_rs.models import dump_text, read_text
    >>> X, y = [[1, 0], [0, 3]], ["ham", "spam"]
    >>> text = io.StringIO()
    >>> dump_text(Perceptron().fit(X, y), text)
    >>> coef, intercept, classes = read_text(io.StringIO(text.getvalue()))
    >>> coef
    array([[-1.,  3.]])
    >>> Perceptron().fit(X, y, coef_init=coef, intercept_init=intercept).n_mistakes_
    0
    """
    if isinstance(file, str | os.PathLike):
        opened, _ = open_regular(file)
        with opened, open_text(opened, name=os.fspath(file), is_checked=False) as text:
            return _read((line.decode("ascii", "replace") for line in text), os.fspath(file), feature_names)
    return _read(iter(file), str(getattr(file, "name", "the text")), feature_names)


def _read(lines: Iterator[str], where: str, feature_names: Sequence[str] | None) -> Weights:
    number = 0

    def next_parts(meaning: str) -> list[str]:
        nonlocal number
        line = next(lines, "")
        if not line.endswith("\n"):
            end = "in" if line else "after"
            raise ValueError(
                f"it ends {end} line {number + bool(line)}, but {meaning} is missing; the text is truncated"
            )
        number += 1
        return line.rstrip("\r\n").split("\t")

    try:
        _check_title(next_parts("the title"))
        classes = _classes(next_parts("the line of classes"))
        columns = _count(next_parts("the number of features"))
        parts = next_parts("the intercept")
        joint = len(parts) == 3  # a joint decision of two classes has weights for both
        planes = 1 if len(classes) == 2 and not joint else len(classes)
        rows = [_numbers(parts, "intercept", planes)]
        names = []
        for column in range(columns):
            parts = next_parts(f"feature {column} of {columns}")
            names.append(_name(parts[0], column))
            rows.append(_numbers(parts, parts[0], planes))
        number += 1
        if next(lines, ""):
            raise ValueError(f"there are more lines than the {columns} features of line 3; remove them")
        number = 3
        _check_names(names, feature_names)
    except ValueError as error:
        place = "" if str(error).startswith("it ends") else f", line {number}"
        raise located(error, f"{where}{place}: ") from None
    table = np.array(rows, dtype=np.float64)
    return np.ascontiguousarray(table[1:].T), table[0].copy(), classes


def _check_title(parts: list[str]) -> None:
    found = re.fullmatch(rf"{_TITLE} ([0-9]{{1,9}})", parts[0]) if len(parts) == 1 else None
    if found is None:
        raise ArgumentError(
            "expected {title!r}, got {found!r:.80}",
            "give a file written by {dump_text}",
            title=f"{_TITLE} {_VERSION}",
            found=parts[0],
        )
    if int(found[1]) != _VERSION:
        raise ValueError(
            f"the text has the version {found[1]}, and this perceptrons reads {_VERSION}; "
            f"install a newer perceptrons"
        )


def _classes(parts: list[str]) -> NDArray[Any]:
    if parts[0] != "classes" or len(parts) < 2:
        raise ValueError(f"expected 'classes' and their names, separated by tabs, got {parts[0]!r:.80}")
    values = [decode(part) for part in parts[2:]]
    return classes_from_json({"type": parts[1], "values": values})


def _count(parts: list[str]) -> int:
    if parts[0] != "features" or len(parts) != 2 or not re.fullmatch(r"[0-9]{1,15}", parts[1]):
        raise ValueError("expected 'features', a tab and their number")
    if int(parts[1]) == 0:
        raise ValueError("the number of features must be at least 1")
    return int(parts[1])


def _numbers(parts: list[str], name: str, planes: int) -> list[float]:
    if parts[0] != name:
        raise ValueError(f"expected {name!r}, got {parts[0]!r:.80}")
    if len(parts) != planes + 1:
        raise ValueError(f"expected {planes} numbers, got {len(parts) - 1}")
    for part in parts[1:]:
        if not _NUMBER.fullmatch(part):
            raise ValueError(f"expected a number as float.hex writes it, such as 0x1.8p+1, got {part!r:.80}")
    try:
        return [float.fromhex(part) for part in parts[1:]]
    except OverflowError:
        raise ValueError("a number is beyond the range of float64") from None


def _name(text: str, column: int) -> str | None:
    if text == str(column):
        return None
    name = decode(text) if text.startswith('"') else None
    if not isinstance(name, str):
        raise ValueError(f"expected column {column} or a name as a JSON string, got {text!r:.80}")
    return name


def _check_names(names: list[str | None], feature_names: Sequence[str] | None) -> None:
    given = [name for name in names if name is not None]
    if given and len(given) != len(names):
        raise ValueError("some features have names and others have none; name all or none")
    if feature_names is None or not given:
        return
    for column, (name, wanted) in enumerate(zip(given, feature_names, strict=False)):
        if name != wanted:
            raise ValueError(f"column {column} is {name!r:.80}, but that of the data is {wanted!r:.80}; "
                             f"put the columns of the data in that order")  # fmt: skip
    if len(given) != len(feature_names):
        raise ValueError(f"the text has {len(given)} features, but the data has {len(feature_names)}")
