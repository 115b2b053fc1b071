"""Examples that need not fit into memory, as a source for ``fit_stream``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from perceptron_rs.cli.errors import UsageError
from perceptron_rs.cli.readers.data import Data, is_held_out
from perceptron_rs.cli.readers.examples import TABLES, TEXT_TABLES, TEXTS, blocks, format_of, with_label_kind
from perceptron_rs.cli.readers.source import (
    Place,
    check_file,
    files_of,
    is_pipe,
    is_read_once,
    name_of,
)
from perceptron_rs.cli.readers.wanted import Wanted
from perceptron_rs.io import Batch, Source
from perceptron_rs.models.input import ScaleFit

__all__ = ["Stream", "takes_own_pass"]


def takes_own_pass(place: Place, wanted: Wanted, scale: str | None, holdout: float | None) -> bool:
    """Whether something must be known of all examples before any is learnt from."""
    form = format_of(place, wanted)
    of_data = _asks_labels(form, wanted) or _asks_strings(form, wanted)
    return of_data or scale is not None or holdout is not None


def _asks_labels(form: str, wanted: Wanted) -> bool:
    """Whether all labels tell whether they are integers."""
    is_text = form in TEXT_TABLES or form == "lines"
    return is_text and wanted.label_kind is None and wanted.beside is None


def _asks_strings(form: str, wanted: Wanted) -> bool:
    """Whether all cells tell which columns of a table are strings to hash."""
    return form in TABLES and wanted.hash_bits is not None and wanted.texts is None


class Stream:
    """Examples that are read as often as they are asked for.

    Parameters
    ----------
    place : str or tuple of str
        The file, or "-"; or several files.
    wanted : Wanted
        What the command and the model need of it.
    scale : str or None
        The scaler that a first pass is to fit.
    holdout : float or None
        The share of the examples that is left out.
    """

    def __init__(self, place: Place, wanted: Wanted, scale: str | None, holdout: float | None) -> None:
        self.place, self.form, self.holdout = place, format_of(place, wanted), holdout
        #: Number of the examples that are learnt from; None, as long as no pass has come to their end.
        self.rows: int | None = None
        self.data, self._holds_zero = Data(np.zeros((0, 0))), False
        #: Whether the file is to tell if its columns count from 0: it is read as if they did.
        self._asks = self.form == "svmlight" and wanted.zero_based == "auto"
        self._features = wanted.features  # which are one more where columns are counted as if from 0
        self.wanted = replace(wanted, zero_based=True, features=None) if self._asks else wanted
        is_text = self.form in TEXT_TABLES
        #: Whether a pass must find what the labels are.
        self._asks_labels = _asks_labels(self.form, wanted)
        is_hashed = _asks_strings(self.form, wanted)
        if is_read_once(place) and takes_own_pass(place, wanted, scale, holdout):
            others = ["keep what is read with --cache FILE"] if self.form in TEXTS else []
            if not (is_hashed or scale is not None or holdout is not None):
                others.insert(0, "say the labels with --classes")
            remedy = ", ".join([*others, "or name a file"])
            raise UsageError(
                f"{name_of(place)} can be read only once, but --scale, --holdout, the strings of a hashed "
                f"table and whether all labels are integers take a pass of their own; {remedy}"
            )
        check_file(place)
        if is_hashed and is_text:
            self._find_kinds()
        if (is_hashed and not is_text) or scale is not None:
            self._first_pass(scale)

    @property
    def zero_based(self) -> bool | None:
        """Whether the columns count from 0, once all were read; None of other formats than svmlight."""
        if self.form != "svmlight":
            return None
        return self._holds_zero if self._asks else self.wanted.zero_based is True

    @property
    def source(self) -> Source:
        """The examples that are learnt from."""
        bits = self.wanted.hash_bits
        return Source(
            batches=self._learnt,
            n_features=self._features or self.wanted.features or (1 << bits if bits is not None else None),
            is_shifted=None if self._asks else False,
            files=() if any(map(is_pipe, files_of(self.place))) else tuple(map(Path, files_of(self.place))),
            again=not is_read_once(self.place),
            reading=repr(replace(self.wanted, threads=None, max_ratio=None, classes=None))
            + repr(self.holdout),
            name=name_of(self.place),
        )

    def came_from(self, cache: str) -> None:
        """Take from a cache what reading the file would have told: perhaps only its beginning was read."""
        from perceptron_rs.stream.cache import contents

        self.rows, self._holds_zero = contents(cache)

    def held_out(self, n_features: int) -> Iterator[Data]:
        """Give the examples that were not learnt from; by now it is known how columns are counted."""
        self._settle(not self._holds_zero, n_features)
        return self._read(held_out=True)

    def _learnt(self) -> Iterator[Batch]:
        rows = 0
        for data in self._read(held_out=False):
            rows += len(data)
            yield Batch(data.rows, data.labels)
        self.rows = rows

    def _read(self, *, held_out: bool) -> Iterator[Data]:
        number = 0
        if self._asks_labels:
            self._find_kinds()
        for data in blocks(self.place, self.wanted, may_wait=True):
            self.data = data
            if self._asks and not self._holds_zero:
                self._holds_zero = bool((data.rows.indices == 0).any())
            first, number = number, number + len(data)
            if self.holdout is None:
                yield data
                continue
            held = is_held_out(first, number, self.holdout)
            chosen = held if held_out else ~held
            if chosen.any():
                yield data.chosen(chosen)

    def _find_kinds(self) -> None:
        """Find what the labels are, and which columns to hash hold text: all cells of the data say it."""
        self._asks_labels = False
        if self.form == "lines":
            self.wanted = with_label_kind(files_of(self.place), self.wanted)
            return
        from perceptron_rs.cli.readers.tables import with_kinds

        self.wanted = with_kinds(files_of(self.place), self.form, self.wanted)

    def _settle(self, is_shifted: bool, n_features: int) -> None:
        """Read on with columns that are counted as by the model."""
        if self._asks:
            self.wanted = replace(self.wanted, zero_based=not is_shifted)
        self.wanted, self._asks = replace(self.wanted, features=n_features), False

    def _first_pass(self, scale: str | None) -> None:
        """Find the strings of a table, the width of text and the numbers of a scaler."""
        texts: dict[str, None] = {}
        width, fit = 1, None if scale is None else ScaleFit(scale)
        if self.form == "svmlight" and self.wanted.features is None:
            for data in self._read(held_out=False):
                width = max(width, data.shape[1])
            is_shifted = self._asks and not self._holds_zero
            self._settle(is_shifted, self._features or width - is_shifted)
        for data in self._read(held_out=False):
            texts |= dict.fromkeys(data.hashed[1] if data.hashed else ())
            if fit is not None:
                fit.add(data.X)
        self.wanted = replace(
            self.wanted,
            texts=tuple(texts)
            if self.wanted.hash_bits is not None and not self.wanted.texts
            else self.wanted.texts,
            scale=self.wanted.scale if fit is None else fit.scale(),
        )
