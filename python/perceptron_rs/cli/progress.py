"""One line on standard error for each epoch, or a bar if a person is watching."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perceptron_rs import EpochRecord

__all__ = ["progress"]


@contextmanager
def progress(epochs: int, *, quiet: bool) -> Iterator[Callable[[EpochRecord], bool] | None]:
    """Give the callback that shows how a fit gets on; None if nothing is to be shown."""
    if quiet or sys.stderr is None:
        yield None
        return
    bar = _bar() if sys.stderr.isatty() else None
    if bar is None:
        yield Lines()
        return
    with bar:
        task = bar.add_task("", total=epochs)
        lines = Lines(lambda text: bar.update(task, advance=1, description=text))
        yield lines


class Lines:
    """The callback: it words each epoch and writes the line."""

    def __init__(self, write: Callable[[str], object] | None = None) -> None:
        self._write = write or (lambda text: print(text, file=sys.stderr, flush=True))
        self._before = 0.0  # seconds until the end of the last epoch

    def __call__(self, record: EpochRecord) -> bool:
        """Show one epoch; the fit goes on."""
        visits = record.n_examples * len(record.mistakes_per_class)
        rate = record.mistakes / visits if visits else 0.0
        seconds, self._before = record.seconds - self._before, record.seconds
        speed = f"{record.n_examples / seconds:,.0f}" if seconds > 0 else "-"
        self._write(
            f"epoch {record.epoch + 1}: {record.mistakes} mistakes, error rate {rate:.4f}, "
            f"{speed} rows/s, {record.seconds:.2f} s"
        )
        return False


def _bar() -> Any:
    """Return a progress bar of rich; None if rich is not installed."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    except ImportError:
        return None
    columns = (BarColumn(bar_width=20), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
    return Progress(*columns, console=Console(stderr=True, highlight=False))
