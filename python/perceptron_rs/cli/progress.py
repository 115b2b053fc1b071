"""One line on standard error for each epoch, or a bar if a person is watching."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perceptron_rs.common.training.progress import EpochRecord
from perceptron_rs.io.text.lines import names_of, watched

if TYPE_CHECKING:
    from perceptron_rs.sequence.progress import SequenceEpoch

__all__ = ["Counts", "ReadingLines", "progress", "reading"]

_LARGE = 1 << 25  # bytes


@contextmanager
def progress(epochs: int, *, quiet: bool) -> Iterator[EpochLines | None]:
    """Give the callback that shows how a fit gets on; None if nothing is to be shown."""
    if quiet or sys.stderr is None:
        yield None
        return
    bar = _bar() if sys.stderr.isatty() else None
    if bar is None:
        yield EpochLines()
        return
    with bar:
        task = bar.add_task("", total=epochs)
        lines = EpochLines(lambda text: bar.update(task, advance=1, description=text))
        yield lines


class EpochLines:
    """The callback: it words each epoch and writes the line."""

    def __init__(self, write: Callable[[str], object] | None = None) -> None:
        self._write = write or _line
        self._before = 0.0  # seconds until the end of the last epoch
        self._examples = self._mistakes = 0

    def __call__(self, record: EpochRecord | SequenceEpoch) -> bool:
        """Show one epoch; the fit goes on."""
        text = self._of_examples(record) if isinstance(record, EpochRecord) else _of_sequences(record)
        self._write(f"epoch {record.epoch + 1}: {text}, {record.seconds:.2f} s")
        return False

    def _of_examples(self, record: EpochRecord) -> str:
        self._examples += record.n_examples
        self._mistakes += record.mistakes
        seconds, self._before = record.seconds - self._before, record.seconds
        learnt = record.n_examples - record.n_before  # in these seconds
        speed = f"{learnt / seconds:,.0f}" if seconds > 0 and learnt else "-"
        return (
            f"{self._examples} examples, "
            f"{record.mistakes} mistakes ({_share(record.mistakes, record.n_examples)}), "
            f"{self._mistakes} in all ({_share(self._mistakes, self._examples)}), {speed} rows/s"
        )


def _of_sequences(record: SequenceEpoch) -> str:
    score = record.validation_score
    held_out = "" if score is None else f", accuracy {score:.4f} held out"
    return f"{record.sequence_errors} wrong sentences, {record.token_errors} wrong tokens{held_out}"


class Counts:
    """A table of progressive validation: a row at 1, 2, 4, 8, ... examples, and at the end."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet or sys.stderr is None
        self._said = self._examples = self._mistakes = self._new = 0

    def add(self, examples: int, mistakes: int) -> None:
        """Count the examples of a block."""
        self._examples += examples
        self._mistakes += mistakes
        self._new += mistakes

    def tell(self) -> None:
        """Write a row, if it is time for one."""
        if self._examples >= max(1, 2 * self._said):
            self.say()

    def say(self) -> None:
        """Write a row, if there is anything new."""
        new = self._examples - self._said
        if new and not self._quiet:
            if not self._said:
                _line("  examples  mistakes      rate  since last row      rate")
            rates = (_share(self._mistakes, self._examples), _share(self._new, new))
            _line(f"{self._examples:10}{self._mistakes:10}{rates[0]:>10}{self._new:16}{rates[1]:>10}")
        self._said, self._new = self._examples, 0


class ReadingLines:
    """Lines about text that is read, when it has taken 1, 2, 4, 8, ... seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.begin()

    def begin(self) -> None:
        """Note that a file is read from its beginning."""
        self._next, self._start = 1.0, self._clock()

    def __call__(self, name: str, lines: int, n_bytes: int, share: float | None) -> None:
        """Hear how far it is: ``share`` is that of the file; None: nobody knows."""
        seconds = self._clock() - self._start
        if seconds < self._next:
            return
        while seconds >= self._next:
            self._next *= 2
        of_all = "" if share is None else f" ({share:.0%})"
        _line(f"reading {name}: {lines} lines, {n_bytes / 1e6:.0f} MB{of_all}, {seconds:.0f} s")


@contextmanager
def reading(files: Sequence[Any], *, quiet: bool) -> Iterator[None]:
    """Say that a file is read, and how far that is, if it takes a while."""
    if quiet or sys.stderr is None:
        yield
        return
    try:
        size = sum(Path(file).stat().st_size for file in files if isinstance(file, str))
    except OSError:
        size = 0
    if size >= _LARGE:
        _line(f"reading {names_of(files)}, {size / 1e6:.0f} MB")
    with watched(ReadingLines()):
        yield


def _share(mistakes: int, examples: int) -> str:
    """Return mistakes as a share of the examples; several planes may be mistaken about one."""
    return f"{mistakes / examples:.4f}" if examples else "-"


def _line(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _bar() -> Any:
    """Return a progress bar of rich; None if rich is not installed."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    except ImportError:
        return None
    columns = (BarColumn(bar_width=20), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
    return Progress(*columns, console=Console(stderr=True, highlight=False))
