"""What may be said of a run over data larger than memory: one field an option of the commands that train.

Nothing may be imported here that takes time, so that ``--help`` is quick.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from perceptron_rs.common.options import kinds
from perceptron_rs.common.options.groups import allowed
from perceptron_rs.common.options.kinds import parsed

__all__ = ["StreamOptions"]

_STREAM = {"stream": (True,)}
_CHECKPOINT = {**_STREAM, "checkpoint": ()}


@dataclass(frozen=True, kw_only=True)
class StreamOptions:
    """Whether there is one, and the arguments of ``fit_stream``."""

    classes: tuple[str, ...] | None = field(
        default=None,
        metadata=allowed(
            parsed(kinds.labels, "LABEL,..."),
            "all labels, instead of a pass that finds them; a pipe needs this, --features and --epochs 1",
            default="",
            needs=_STREAM,
        ),
    )
    stream: bool = field(
        default=False,
        metadata=allowed(
            kinds.FLAG,
            "read DATA in blocks, once for each epoch, in its own order, or with --shuffle and --cache in "
            "shuffled blocks",
        ),
    )
    block_size: int | None = field(
        default=None,
        metadata=allowed(
            kinds.POSITIVE,
            "number of examples in a block",
            default="as many as take about 8 MB; with --shuffle, 16384",
            needs=_STREAM,
        ),
    )
    cache: str | None = field(
        default=None,
        metadata=allowed(
            parsed(str, "FILE"),
            "keep the examples in the binary file FILE, for later epochs and runs",
            default="",
            needs=_STREAM,
        ),
    )
    checkpoint: str | None = field(
        default=None,
        metadata=allowed(
            parsed(str, "FILE"),
            "write the state of the run to FILE at intervals, for --resume",
            default="",
            needs=_STREAM,
        ),
    )
    checkpoint_every: float = field(
        default=60.0,
        metadata=allowed(parsed(kinds.AMOUNT, "SECONDS"), "time between two of them", needs=_CHECKPOINT),
    )
    resume: bool = field(
        default=False,
        metadata=allowed(kinds.FLAG, "go on from --checkpoint, if the file is there", needs=_CHECKPOINT),
    )
