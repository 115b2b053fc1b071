"""Lines on standard error: of each epoch, and of progressive validation."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

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


def _share(mistakes: int, examples: int) -> str:
    """Return mistakes as a share of the examples; several planes may be mistaken about one."""
    return f"{mistakes / examples:.4f}" if examples else "-"


def _line(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
