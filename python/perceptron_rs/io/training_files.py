"""Files to learn from: some examples are held out; a first pass finds what is to be known of the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.errors import OptionsError, about
from perceptron_rs.io.batches import Batch
from perceptron_rs.io.examples import Examples, held_out, is_held_out
from perceptron_rs.io.files import ExampleFiles
from perceptron_rs.io.hashed.hasher import Mask
from perceptron_rs.io.reading import TABLES, TEXT_TABLES, Reading
from perceptron_rs.io.source import Source
from perceptron_rs.io.text.lines import check_files, is_pipe, name_of_file, text_blocks

if TYPE_CHECKING:
    from perceptron_rs.io.tables.layout import Layout

#: What does not change the examples that are read.
_NOT_ABOUT_VALUES = ("first", "threads", "max_ratio", "classes", "ngrams_of", "categories", "notes", "given")


class TrainingFiles(ExampleFiles):
    """Files that a model learns from, whole or as a stream.

    Parameters
    ----------
    files : sequence of str or binary file
        Their names; or what is open, such as a pipe.
    reading : Reading
        The options.
    holdout : float or None, default=None
        The share of the examples that a stream leaves out.
    calibration : float or None, default=None
        The share, of all, that calibrates: a part of that one.
    """

    def __init__(
        self,
        files: Sequence[Any],
        reading: Reading,
        holdout: float | None = None,
        calibration: float | None = None,
    ) -> None:
        super().__init__(files, reading)
        self.holdout, self.calibration = holdout, calibration
        #: Number of the examples that are learnt from; None, as long as no pass has come to their end.
        self.rows: int | None = None
        self._asks_base = self._holds_zero = False
        self._left_out: Examples | None = None

    def learnt(self, fit: Any = None) -> Examples:
        """Read all examples, and return those that are not held out; ``fit`` is a scaler, as for `source`."""
        self._prepare(fit)
        data = self.whole()
        held = held_out(len(data), self.holdout)
        masks: tuple[Mask, ...] = (None,) if held is None else (~held, held)
        if fit is None:
            parts = [data.chosen(mask) for mask in masks]
        else:
            self._fit_to(fit, data, masks[0])
            parts = self._fitted(fit, data, masks)
        data, self._left_out = parts[0], None if held is None else parts[1]
        self.rows = len(data)
        return data

    def target(self, data: Examples) -> Any:
        """Return the labels of examples as ``fit`` takes them."""
        if not self.reading.multilabel:
            return data.labels
        from perceptron_rs.targets.label_sets import LabelSets

        return replace(LabelSets.of_indicator(data.labels), classes=np.array(self.reading.list_labels))

    def source(self, fit: object = None) -> Source:
        """Return the examples for ``fit_stream``, but those that are held out.

        ``fit`` is a scaler, with the methods ``add(X)`` and ``scale()``, that a first pass fits.
        """
        own = self.reading
        strings = own.asks_strings(self.form)
        needs_more = strings or fit is not None or self.holdout is not None
        if self.is_read_once and (needs_more or own.asks_labels(self.form)):
            raise OptionsError(
                "{name} can be read only once, but {scale}, {holdout}, the strings of a hashed table and "
                "whether all labels are integers take a pass of their own",
                "name a file" if needs_more else "say the labels with {classes}, or name a file",
                name=self.name,
            )
        check_files(self.files)
        if own.multilabel and own.list_labels is None:
            self._find_labels()
            own = self.reading
        self._asks_base = self.form == "svmlight" and own.zero_based == "auto"
        width = own.n_features  # of what is read, one more where columns are counted as if from 0
        if self._asks_base:
            self.reading = replace(own, zero_based=True, n_features=None)
        if strings and self.form in TEXT_TABLES:
            self.reading = self._with_kinds(self.reading)
            strings = False
        if strings or fit is not None:
            self._prepare(fit)
            self._first_pass(fit, width)
        bits = self.reading.hash_bits
        return Source(
            batches=self._batches,
            n_features=width or self.reading.n_features or (None if bits is None else 1 << bits),
            labels=self.reading.list_labels,
            is_shifted=None if self._asks_base else False,
            files=() if any(map(is_pipe, self.files)) else tuple(map(Path, self.files)),
            again=not self.is_read_once,
            reading=self._how(),
            name=self.name,
        )

    def _how(self) -> str:
        """Return the options of reading that are not at their defaults, for errors about a change."""
        settings = vars(self.reading) | {"holdout": self.holdout}
        usual = vars(Reading()) | {"holdout": None}
        return ", ".join(
            f"{name}={value!r}"
            for name, value in settings.items()
            if name not in _NOT_ABOUT_VALUES and value != usual[name]
        )

    def opened(self) -> Source:
        """Return the examples for ``fit_stream``, with the names of the columns of the first file."""
        if self.form not in TABLES:
            return self.source()
        names = self._names()
        return replace(self.source(), feature_names=names)

    def _names(self) -> tuple[str, ...] | None:
        """Return the names of the columns of the first file that has any; its header is read, and no more."""
        reading, layout = self.reading, None
        check_files(self.files)
        for file in self.files:
            with about(name_of_file(file)):
                layout = self._layout(file)
            if layout is not None:
                is_named = reading.header is not False and reading.hash_bits is None
                return layout.names if is_named else None
        raise ValueError(f"{self.name}: contains no examples")

    def _layout(self, file: Any) -> Layout | None:
        """Return the roles of the columns of a table; None if it has no line."""
        from perceptron_rs.io.tables.tables import CsvLines, rows_of_file, table_file

        if self.form == "parquet":
            return rows_of_file(table_file(file), name_of_file(file), self.reading).layout
        lines = CsvLines(name_of_file(file), self.form, self.reading)
        with closing(text_blocks(file, max_ratio=self.reading.max_ratio, records=lines.records)) as blocks:
            next((rest for _, text in blocks if (rest := lines.after_header(text)) is not None), None)
        return lines.layout

    @property
    def zero_based(self) -> bool | None:
        """Whether the columns count from 0, once all were read; None of other formats than svmlight."""
        if self.form != "svmlight":
            return None
        if self._asks_base:
            return self._holds_zero
        known = self.reading.zero_based
        return self.last.zero_based if isinstance(known, str) else known

    def came_from(self, rows: int, *, holds_zero: bool) -> None:
        """Take what a cache knows of all examples: perhaps only the beginning of the files was read."""
        self.rows, self._holds_zero = rows, holds_zero

    def left_out(self, n_features: int) -> Iterator[Examples]:
        """Give the examples that were not learnt from, once; by now it is known how columns are counted."""
        if self._left_out is not None:
            data, self._left_out = self._left_out, None
            return iter([data])
        self._settle(n_features)
        return self._streamed(held=True)

    def left_out_for(self, n_features: int) -> Iterator[tuple[Examples, bool]]:
        """Give the examples of `left_out`, those that test apart from those that calibrate."""
        number, share = 0, (self.calibration or 0.0) / (self.holdout or 1.0)
        for data in self.left_out(n_features):
            first, number = number, number + len(data)
            own = is_held_out(first, number, share)
            for calibrates, chosen in ((False, ~own), (True, own)):
                if chosen.any():
                    yield data.chosen(chosen), calibrates

    def _batches(self) -> Iterator[Batch]:
        rows = 0
        for data in self._streamed(held=False):
            rows += len(data)
            yield Batch(data.X, data.y, data.weights)
        # They have all been told once.
        self.rows, self.reading = rows, replace(self.reading, ngrams_of=None, notes=None)

    def _streamed(self, *, held: bool) -> Iterator[Examples]:
        number = 0
        if self.reading.asks_labels(self.form):
            self.reading = self._with_kinds(self.reading)
        for data in self.parts(may_wait=True):
            if self.reading.categories is not None and self.reading.categories.is_full:
                self._judge_categories()
            if self._asks_base and not self._holds_zero:
                self._holds_zero = bool((data.rows.indices == 0).any())
            first, number = number, number + len(data)
            if self.holdout is None:
                yield data
                continue
            chosen = is_held_out(first, number, self.holdout) == held
            if chosen.any():
                yield data.chosen(chosen)
        self._judge_categories()

    def _settle(self, n_features: int) -> None:
        """Fix the number of columns, and whether they count from 0, for what is read from here on."""
        if self._asks_base:
            self.reading = replace(self.reading, zero_based=self._holds_zero)
        self.reading, self._asks_base = replace(self.reading, n_features=n_features), False

    def _first_pass(self, fit: Any, n_features: int | None) -> None:
        """Find the strings of a table, the width of text and the numbers of a scaler."""
        texts: dict[str, None] = {}
        if self.form == "svmlight" and self.reading.n_features is None:
            width = max((data.shape[1] for data in self._streamed(held=False)), default=1)
            self._settle(n_features or width - (self._asks_base and not self._holds_zero))
        for data in self._streamed(held=False):
            texts |= dict.fromkeys(data.hashed[1] if data.hashed else ())
            if fit is not None:
                self._fit_to(fit, data)
        if self.reading.asks_strings(self.form):
            self.reading = replace(self.reading, texts=tuple(texts))
        if fit is not None:
            self.reading = replace(self.reading, scale=fit.scale(), in_blocks=False)

    def add_to(self, fit: Any, n: int) -> None:
        """Let a scale learn from the first n of the examples that are not held out."""
        self._prepare(fit)
        for data in self._streamed(held=False):
            if n > 0:
                self._fit_to(fit, data.slice(0, n))
            n -= len(data)

    def _prepare(self, fit: Any) -> None:
        """Read texts apart from what is beside them, if a scale is to be learnt of one of these."""
        if fit is not None and (fit.of_texts or self.reading.text_columns):
            self.reading = replace(self.reading, in_blocks=True)

    def _fit_to(self, fit: Any, data: Examples, chosen: NDArray[np.bool_] | None = None) -> None:
        """Let a scale learn from examples, or from some of them."""
        if self.reading.in_blocks:
            fit.add(data.rows.learnable(chosen, of_texts=fit.of_texts))
        else:
            fit.add(data.X if chosen is None else data.X[chosen])

    def _fitted(self, fit: Any, data: Examples, masks: Sequence[Mask]) -> list[Examples]:
        """Return parts of examples as the scale leaves them, and take it for later ones."""
        rows: Any = data.rows
        in_blocks = self.reading.in_blocks
        self.reading = replace(self.reading, scale=fit.scale(), in_blocks=False)
        if in_blocks:
            several = self.reading.hasher(self.form).weighed(rows, masks)
            return [data.chosen(mask, some) for mask, some in zip(masks, several, strict=True)]
        data = replace(data, rows=self.reading.scale.applied(rows))
        return [data.chosen(mask) for mask in masks]
