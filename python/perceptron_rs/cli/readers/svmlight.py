"""Examples from svmlight text: whole files, or lines as they come, with labels or without."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.cli.errors import CommandError
from perceptron_rs.cli.readers.data import Data
from perceptron_rs.cli.readers.source import name_of
from perceptron_rs.cli.readers.wanted import Wanted
from perceptron_rs.io.svmlight_text import SvmlightText
from perceptron_rs.packed import MAX_RATIO

__all__ = ["SvmlightLines", "read_svmlight"]

_NO_LABEL = re.compile(r"(.*, line \d+, column 1: .* is not a number);")


class SvmlightLines:
    """Reads parts of svmlight text; whether they have labels is told by the first line.

    Parameters
    ----------
    name : str
        What errors call the file.
    wanted : Wanted
        What the command and the model need of it.
    """

    def __init__(self, name: str, wanted: Wanted) -> None:
        self._name, self._wanted = name, wanted
        base = None if isinstance(wanted.zero_based, str) else wanted.zero_based
        is_labelled = True if wanted.labels else wanted.labelled
        self._text = SvmlightText(name, base, n_features=wanted.features, is_labelled=is_labelled)

    def part(self, first: int, text: bytes) -> Data:
        """Return the examples in whole lines, the first of which has this number."""
        try:
            rows, y, zero_based = self._text.part(first, text)
        except ValueError as error:
            _explain(error, self._name, self._wanted)
            raise
        if self._wanted.features is not None and rows.shape[1] > self._wanted.features:
            raise CommandError(_too_wide(self._name, rows.shape[1], self._wanted, zero_based))
        return Data(rows, y, zero_based=zero_based)


def read_svmlight(paths: tuple[str, ...], wanted: Wanted) -> Data:
    """Return the examples of whole files, on several threads."""
    try:
        X, y, zero_based = _load(paths, wanted)
    except ValueError as error:
        _explain(error, name_of(paths), wanted)
        if wanted.features is not None and "n_features" in str(error):
            X, _, zero_based = _load(paths, replace(wanted, features=None))
            raise CommandError(_too_wide(name_of(paths), X.shape[1], wanted, zero_based)) from error
        raise
    return Data(X, y, zero_based=zero_based)


def _load(paths: tuple[str, ...], wanted: Wanted) -> tuple[Any, NDArray[np.float64], bool]:
    from perceptron_rs.io.svmlight import load_with_base

    return load_with_base(
        list(map(Path, paths)),
        n_features=wanted.features,
        zero_based=wanted.zero_based,
        max_ratio=wanted.max_ratio or MAX_RATIO,
        n_jobs=wanted.threads,
    )


def _explain(error: ValueError, name: str, wanted: Wanted) -> None:
    if no_label := _NO_LABEL.match(str(error)):
        raise CommandError(
            f"{no_label[1]}, as the label of svmlight text is; of raw text, a label, a tab and words on each "
            f"line, say --tokens, and of a table or arrays --format"
        ) from error
    if wanted.base_of_model and "has the column 0" in str(error):
        raise CommandError(
            f"{name}: has a column 0, but the model counts columns from 1, like the file it was trained on; "
            "if both count from 0, train with --zero-based yes"
        ) from error


def _too_wide(name: str, width: int, wanted: Wanted, zero_based: bool) -> str:
    counted = f", counted from {int(not zero_based)} as by the model" if wanted.base_of_model else ""
    return (
        f"{name}: has {width} features{counted}, but {wanted.features} are expected; "
        f"to expect more features than the training file has, train with --features N"
    )
