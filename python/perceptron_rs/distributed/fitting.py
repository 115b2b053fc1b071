"""A fit whose passes are made elsewhere: what the client does."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from perceptron_rs._core import ARITHMETIC_VERSION
from perceptron_rs.common.driver import Report, Schedule, follow
from perceptron_rs.common.labels import joined_labels
from perceptron_rs.common.mixing import Mixed
from perceptron_rs.common.progress import Observer
from perceptron_rs.distributed.partition import Encoding, Facts, Parse
from perceptron_rs.engines import get_engine
from perceptron_rs.models.classes import classes_to_json
from perceptron_rs.models.parameters import values_to_json
from perceptron_rs.models.values import decode, encode
from perceptron_rs.settings import Chain, Epoch, Linear, State
from perceptron_rs.stream.checkpoint import Checkpoint, start_of, watch_again
from perceptron_rs.stream.run import Place

#: Parameters that another run may change and yet go on from a checkpoint.
_NOT_OF_RUN = ("n_jobs", "engine", "verbose", "callback", "keep_on_interrupt", "warm_start", "max_iter")

__all__ = ["Cluster", "Family", "PartitionReport", "Plan", "Round", "all_labels", "fit"]


@dataclass(frozen=True, slots=True)
class PartitionReport:
    """What became of a partition in a fit.

    Parameters
    ----------
    rows : int
        Number of examples; of a sequence learner, of sequences.
    entries : int
        Number of stored values.
    digest : str
        Digest of rows, labels and weights, the same for dense and sparse storage.
    mistakes : int
        Number of mistakes in all epochs, over all classes.
    seconds : float
        Time of its passes.
    """

    rows: int
    entries: int
    digest: str
    mistakes: int = 0
    seconds: float = 0.0


class Round(NamedTuple):
    """What an epoch made: the mixed state, what is told of it, mistakes and seconds of each partition."""

    state: State
    epoch: Epoch
    mistakes: list[int]
    seconds: list[float]


class Cluster(Protocol):
    """Partitions on machines. Each method asks all of them."""

    def look(self, parse: Parse) -> list[Facts]:
        """Read the partitions."""

    def begin(self, encodings: Sequence[Encoding]) -> None:
        """Take what is needed of each to learn from it."""

    def round(
        self,
        state: State,
        engine: str,
        settings: Sequence[Linear | Chain],
        mixing: str,
        number: int,
        ended: Collection[int],
        digests: Sequence[str],
    ) -> Round:
        """Make a pass over each partition, with its settings, and mix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A fit that can begin, for all is known of the partitions."""

    state: State
    settings: Linear | Chain
    encodings: list[Encoding]
    schedule: Schedule
    observer: Observer
    publish: Callable[[Report], None]


class Family(NamedTuple):
    """What a fit on a cluster needs to know of learners."""

    #: Parameters that it does not have, and what they are then.
    refused: tuple[tuple[str, Any], ...]
    #: How the partitions of an estimator are read, on their workers.
    parse: Callable[[Any], Parse]
    plan: Callable[[Any, Sequence[Facts]], Plan]


def fit(
    estimator: Any, family: Family, cluster: Cluster, checkpoint: Any = None, *, resume: bool = False
) -> Report:
    """Fit an estimator to the partitions of a cluster.

    The file ``checkpoint`` is written after each epoch; with ``resume`` the fit goes on from it.
    """
    if resume and checkpoint is None:
        raise ValueError("resume=True needs checkpoint=, the file to go on from")
    refuse(estimator, family)
    get_engine(estimator.engine)
    facts = cluster.look(family.parse(estimator))
    check_columns(facts)
    plan = family.plan(estimator, facts)
    cluster.begin(plan.encodings)
    numbered = [replace(plan.settings, partition=p) for p in range(len(facts))]
    reports = [PartitionReport(fact.examples, fact.entries, fact.digest) for fact in facts]
    digests = [fact.digest for fact in facts]
    place, file = Place(plan.state), None
    if checkpoint is not None:
        identity = identity_of(estimator, plan, digests)
        file = Checkpoint(checkpoint, 0.0, identity, resume=resume)
        place = (file.load() or (place, []))[0]
        if len(place.done) > plan.schedule.max_iter:
            raise ValueError(
                f"max_iter={plan.schedule.max_iter} is less than the {len(place.done)} epochs of the "
                f"checkpoint; raise it, or remove the checkpoint"
            )
    done: list[Epoch] = []

    def make_round(state: State, number: int, ended: Collection[int]) -> tuple[State, Epoch, Sequence[State]]:
        if len(done) < len(place.done):  # an epoch of the checkpoint is told again
            done.append(place.done[len(done)])
            return place.state, done[-1], []
        made = cluster.round(state, estimator.engine, numbered, str(estimator.mixing), number, ended, digests)
        for p, (mistakes, seconds) in enumerate(zip(made.mistakes, made.seconds, strict=True)):
            before = reports[p]
            reports[p] = replace(
                before, mistakes=before.mistakes + mistakes, seconds=before.seconds + seconds
            )
        done.append(made.epoch)
        if file is not None and not made.epoch.interrupted:
            file.write(Place(made.state, tuple(done)))
        return made.state, made.epoch, []

    watch = None
    if plan.observer.is_needed:  # a checkpoint is written before it is asked
        watch = watch_again(plan.observer, len(place.done), last_is_open=True)
    report = follow(Mixed(plan.state, make_round), plan.settings, plan.schedule, watch)
    plan.publish(report)
    estimator.partition_report_ = reports
    return report


def identity_of(estimator: Any, plan: Plan, digests: Sequence[str]) -> dict[str, Any]:
    """Return what two fits have in common if one may go on from the other's checkpoint."""
    given = type(estimator)._local._get_param_names()
    parameters = values_to_json({name: getattr(estimator, name) for name in given if name not in _NOT_OF_RUN})
    of = {
        "learner": type(estimator).__name__,
        "parameters": parameters,
        "arithmetic_version": ARITHMETIC_VERSION,
        "start": start_of(plan.state, getattr(getattr(estimator, "encoder_", None), "vocabulary_", None)),
        "seed": plan.settings.seed,
        "classes": classes_to_json(estimator.classes_),
        "first_epoch": plan.schedule.first_epoch,
        # One digest of all: a file with those of small partitions would tell their labels to who tries.
        "partitions": [len(digests), sha256("".join(digests).encode()).hexdigest()],
    }
    plain = decode(encode(of))
    return {name: plain[name] for name in of}  # in this order: the first that differs is told


def refuse(estimator: Any, family: Family) -> None:
    """Raise ValueError for parameters that a fit on a cluster does not have."""
    for name, without in family.refused:
        value = getattr(estimator, name)
        if value is not without and value != without:
            raise ValueError(
                f"{name}={value!r:.80} is not available on a cluster, whose partitions are the blocks of X; "
                f"set {name}={without}"
            )


def check_columns(facts: Sequence[Facts]) -> None:
    """Raise ValueError if partitions have other columns than others. Attributes are another matter."""
    if not facts:
        raise ValueError("X must have at least one block")
    of_rows = [(p, fact) for p, fact in enumerate(facts) if fact.examples]
    for p, fact in of_rows:
        first, one = of_rows[0]
        if (fact.attributes is None) != (one.attributes is None):
            raise ValueError(f"partitions {first} and {p} must both hold attributes, or both a matrix")
        if fact.attributes is None and (fact.columns, fact.names) != (one.columns, one.names):
            raise ValueError(
                f"partition {p} must have the columns of partition {first}, {one.columns} of them, "
                f"got {fact.columns} or other names; give all blocks the same columns"
            )


def all_labels(facts: Sequence[Facts]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the labels of all partitions, and how often each is among them; some more than once."""
    of_rows = [fact for fact in facts if fact.examples]
    labels = joined_labels([fact.classes for fact in of_rows] or [np.zeros(0)])
    return labels, np.concatenate([fact.counts for fact in of_rows] or [np.zeros(0, dtype=np.int64)])
