"""What may be said of a run over data larger than memory: one field an option of the commands that train.

Nothing may be imported here that takes time, so that ``--help`` is quick.
"""

from __future__ import annotations

from dataclasses import dataclass

from perceptron_rs.parameters import kinds
from perceptron_rs.parameters.groups import parameter
from perceptron_rs.parameters.kinds import parsed

_STREAM = {"stream": (True,)}
_CHECKPOINT = {**_STREAM, "checkpoint": ()}


@dataclass(frozen=True, kw_only=True)
class StreamOptions:
    """Whether there is one, and the arguments of ``fit_stream``."""

    classes: tuple[str, ...] | None = parameter(
        None,
        parsed(kinds.labels, "LABEL,..."),
        "all labels, instead of a pass that finds them; a pipe needs this, --features and --epochs 1",
        default="",
        needs=_STREAM,
    )
    stream: bool = parameter(
        False,
        kinds.FLAG,
        "read DATA in blocks, once for each epoch, in its own order, or with --shuffle and --cache in "
        "shuffled blocks",
    )
    block_size: int | None = parameter(
        None,
        kinds.POSITIVE,
        "number of examples in a block",
        default="as many as take about 8 MB; with --shuffle, 16384",
        needs=_STREAM,
    )
    cache: str | None = parameter(
        None,
        parsed(kinds.named_file, "FILE"),
        "keep the examples in the binary file FILE, for later epochs and runs",
        default="",
        needs=_STREAM,
    )
    checkpoint: str | None = parameter(
        None,
        parsed(kinds.named_file, "FILE"),
        "write the state of the run to FILE at intervals, for --resume",
        default="",
        needs=_STREAM,
    )
    checkpoint_every: float = parameter(
        60.0, parsed(kinds.AMOUNT, "SECONDS"), "time between two of them", needs=_CHECKPOINT
    )
    resume: bool = parameter(
        False, kinds.FLAG, "go on from --checkpoint, if the file is there", needs=_CHECKPOINT
    )
