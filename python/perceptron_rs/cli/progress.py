"""Lines on standard error: of each epoch, of progressive validation, of text that takes long to read."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from perceptron_rs.io.text.lines import watched
from perceptron_rs.parameters.epoch_record import EpochRecord

if TYPE_CHECKING:
    from perceptron_rs.sequence.progress import SequenceEpoch


class EpochLines:
    """The callback: it writes a line about each epoch, and on a terminal how long ``max_iter`` may take."""

    def __init__(self, max_iter: int = 0) -> None:
        self._left = max_iter if sys.stderr.isatty() else 0
        self._done = 0
        self._before = 0.0  # seconds until the end of the last epoch
        self._examples = self._mistakes = 0

    def __call__(self, record: EpochRecord | SequenceEpoch) -> bool:
        """Show one epoch; the fit goes on."""
        text = self._of_examples(record) if isinstance(record, EpochRecord) else _of_sequences(record)
        self._done += 1
        self._left -= self._left > 0
        left = f", at most {self._left * record.seconds / self._done:.0f} s left" if self._left else ""
        _line(f"epoch {record.epoch + 1}: {text}, {record.seconds:.2f} s{left}")
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
        self._clock, self._start, self._next = clock, clock(), 1.0

    def __call__(self, name: str, lines: int, n_bytes: int, share: float | None) -> None:
        """Hear how far it is: ``share`` is that of the file; None: nobody knows."""
        if not n_bytes:
            self._start, self._next = self._clock(), 1.0
        seconds = self._clock() - self._start
        if seconds < self._next:
            return
        while seconds >= self._next:
            self._next *= 2
        of_all = "" if share is None else f" ({share:.0%})"
        _line(f"reading {name}: {lines} lines, {n_bytes / 1e6:.0f} MB{of_all}, {seconds:.0f} s")


@contextmanager
def reading(*, quiet: bool) -> Iterator[None]:
    """Say how far the reading of text is, if it takes a while."""
    if quiet or sys.stderr is None:
        yield
        return
    with watched(ReadingLines()):
        yield


def _share(mistakes: int, examples: int) -> str:
    """Return mistakes as a share of the examples; several planes may be mistaken about one."""
    return f"{mistakes / examples:.4f}" if examples else "-"


def _line(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
