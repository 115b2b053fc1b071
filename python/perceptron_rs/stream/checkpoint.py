"""Checkpoints: where a run over a stream stands, in a file that is written whole or not at all.

The file is of the kind of model files (`perceptron_rs.models.container`): safetensors, with a digest.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs._core import ARITHMETIC_VERSION
from perceptron_rs.arrays.named import arrays_of
from perceptron_rs.engines import Run, RunState
from perceptron_rs.errors import ArgumentError, located
from perceptron_rs.io.text.paths import PathLike
from perceptron_rs.models.container import pack, unpack
from perceptron_rs.models.document import json_text, json_value
from perceptron_rs.models.files import path_of, write_whole
from perceptron_rs.models.values import values_to_json
from perceptron_rs.parameters.checks import parameters_without_effect
from perceptron_rs.prediction.predictor import Predictor
from perceptron_rs.schema.columns import COLUMNS, check_columns, packed, unpacked
from perceptron_rs.settings import Budget, Epoch, Settings
from perceptron_rs.stream.run import Place
from perceptron_rs.training.driver import Schedule, Watch

_STATE = "state_"
_SHOWN = 200  # letters of what a run was of


class CheckpointExistsError(ArgumentError, FileExistsError):
    """The file is there, and nobody has said to go on from it."""


class Checkpoint:
    """A file that is replaced every so many seconds.

    Parameters
    ----------
    path : str or path-like
    every : float
        Seconds from one to the next, at least 0; it is written behind a block.
    identity : dict
        What the run is of: a checkpoint of another one is refused, and the first name that differs is said.
    sums : list of int, default=None
        Checksums of the blocks that the run has seen, where no file tells that they are still the same.
    resume : bool
        Whether to go on from the file if it is there. If not, it may not be there.
    """

    def __init__(
        self,
        path: PathLike,
        every: float,
        identity: dict[str, object],
        sums: list[int] | None = None,
        *,
        resume: bool,
    ) -> None:
        self.path, self.every, self.identity = path_of(path), every, identity
        self.sums = [] if sums is None else sums
        #: Those of the file that was loaded.
        self.seen: list[int] = []
        self.last = time.monotonic()
        if (
            not self.path.parent.is_dir()
        ):  # it would be seen when the first one is written, after an hour perhaps
            raise FileNotFoundError(
                f"checkpoint {str(self.path)!r}: there is no such folder; make it, or name another file"
            )
        if not resume and self.path.exists():
            raise CheckpointExistsError(
                "checkpoint {path!r} is there",
                "set {resume} to go on from it, or remove it",
                cause="resume",
                settings={"resume": True},
                path=str(self.path),
            )

    def load(self, max_iter: int) -> tuple[Place, list[str]] | None:
        """Return where the run stood, and why its decisions have ended, if all have; None without a file.

        ValueError if the file is not sound, or of another run, or of more epochs than ``max_iter``.
        """
        if not Path(self.path).exists():
            return None
        try:
            document, tensors = unpack(self.path)
            if "checkpoint" not in document:
                raise ValueError("it is a model and no checkpoint; name another file")
        except ValueError as error:
            raise located(error, f"checkpoint {str(self.path)!r}: ") from None
        stored: Any = document["checkpoint"]
        for name, value in self.identity.items():
            if stored["of"].get(name) != value:
                raise ValueError(
                    f"checkpoint {str(self.path)!r} is of another run: "
                    f"{_first_difference(name, stored['of'].get(name), value)}; give the same, or remove the "
                    f"checkpoint"
                )
        self.seen = stored["sums"]
        state = {name.removeprefix(_STATE): w for name, w in tensors.items() if name.startswith(_STATE)}
        if COLUMNS in state:
            try:
                check_columns(state[COLUMNS])
                state = unpacked(state)
            except ValueError as error:
                raise located(error, f"checkpoint {str(self.path)!r}: ") from None
        numbers = (tensors["mistakes"], tensors["losses"], tensors["objectives"])
        done = tuple(Epoch(*parts, interrupted=False) for parts in zip(*numbers, strict=True))
        if len(done) > max_iter:
            raise ArgumentError(
                f"{{max_iter}} is less than the {len(done)} epochs of the checkpoint",
                "raise it, or remove the checkpoint",
                values={"max_iter": max_iter},
            )
        so_far = tuple(tensors["so_far"]) if "so_far" in tensors else None
        place = Place(state, done, stored["blocks"], so_far, stored["examples"])
        return place, stored["ended"]

    def save(self, place: Callable[[], Place]) -> None:
        """Write the file, if it is time to: only then is asked where the run stands."""
        if time.monotonic() - self.last >= self.every:
            self.write(place())

    def write(self, place: Place, ended: Sequence[str] = ()) -> None:
        """Write the file; ``ended`` says why each decision has ended, if all have."""
        arrays = packed(arrays_of(place.state))
        tensors = {f"{_STATE}{name}": np.ascontiguousarray(array) for name, array in arrays.items()}
        for name in ("mistakes", "losses", "objectives"):
            tensors[name] = np.array([getattr(epoch, name) for epoch in place.done])
        if place.so_far is not None:
            tensors["so_far"] = np.array(place.so_far)
        document = {
            "of": self.identity,
            "blocks": place.blocks,
            "examples": place.examples,
            "ended": list(ended),
            "sums": list(self.sums),
        }
        write_whole(self.path, pack({"checkpoint": document}, tensors))
        self.last = time.monotonic()


def _first_difference(name: str, before: Any, now: Any) -> str:
    """Return the first part of two descriptions that differs, as it was and as it is."""
    if isinstance(before, dict) and isinstance(now, dict):
        key = next(key for key in {**before, **now} if before.get(key) != now.get(key))
        within = key if name == "parameters" else f"{name}, {key}"
        return _first_difference(within, before.get(key), now.get(key))
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        before, now = next((old, new) for old, new in zip(before, now, strict=True) if old != new)
    texts = repr(before), repr(now)
    at = next((i for i, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), 0) - _SHOWN // 2
    shown = [f"...{text[at:]}" if len(text) > _SHOWN and at > 0 else text for text in texts]
    old, new = (f"{text[:_SHOWN]}..." if len(text) > _SHOWN else text for text in shown)
    return f"{name}: {old}, now {new}"


def watch_again(ask: Watch, n_known: int, *, last_is_open: bool) -> Watch:
    """Return the observer of a resumed run, in which the first ``n_known`` epochs are repeated reports.

    ``ask`` is asked about those that are new. The others did not end the run; but of the last of them this
    may be open, or have been the word of a callback: whether it is the end is for who asks now to say.
    """
    numbers = count(1)

    def watch(
        epoch: int, mistakes: NDArray[np.int64], losses: NDArray[np.float64], run: Run
    ) -> bool | NDArray[np.bool_]:
        number = next(numbers)
        is_known = number < n_known or (number == n_known and not last_is_open)
        return False if is_known else ask(epoch, mistakes, losses, run)

    return watch


def check_resume(checkpoint: object, *, resume: bool) -> None:
    """Raise ArgumentError for a run that shall go on from no file."""
    if resume and checkpoint is None:
        raise ArgumentError("{resume} needs {checkpoint}, the file to go on from", values={"resume": True})


def identity_of(
    model: Predictor,
    parameters: dict[str, object],
    state: RunState,
    settings: Settings,
    schedule: Schedule,
    **examples: object,
) -> dict[str, object]:
    """Return what two runs have in common if one may go on from the other's checkpoint.

    ``examples`` is what there is to say of these. Errors name the first that differs.
    """
    may_differ = {*parameters_without_effect(type(model)), "max_iter"}  # a run that goes on may be longer
    of = {
        "learner": type(model).__name__,
        "parameters": values_to_json({k: v for k, v in parameters.items() if k not in may_differ}),
        "arithmetic_version": ARITHMETIC_VERSION,
        **examples,
        "start": start_text(state),
        "seed": settings.seed,
        "seed of the budget": settings.policy_seed if isinstance(settings, Budget) else None,
        "first_epoch": schedule.first_epoch,
    }
    plain: Any = json_value(json_text(of))
    return {name: plain[name] for name in of}


def start_text(state: RunState) -> str:
    """Return a text that identifies the weights that a run starts from."""
    is_zero = not isinstance(state, dict) and state.is_zero  # so that nobody need look at all zeros
    if is_zero or not any(map(np.any, arrays_of(state).values())):
        return "nothing learnt"
    digest = hashlib.blake2b(digest_size=16)
    for name, array in sorted(arrays_of(state).items()):
        digest.update(repr((name, array.dtype.str, array.shape)).encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return f"weights with the digest {digest.hexdigest()}"
