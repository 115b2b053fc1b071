"""A fit whose passes are made elsewhere: what the client does."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.audit.record import RECORD
from perceptron_rs.common.driver import Schedule, follow, publish_report
from perceptron_rs.common.labels import encode_new
from perceptron_rs.common.mixing import Mixed
from perceptron_rs.common.parameters import draw_seed
from perceptron_rs.common.planes import n_planes, positive_labels
from perceptron_rs.common.progress import Observer
from perceptron_rs.common.weights import class_weights
from perceptron_rs.distributed.partition import Facts
from perceptron_rs.engines import get_engine
from perceptron_rs.linear.fitting import check_same_problem, read_state, settings_of, start_state
from perceptron_rs.linear.penalty import forget_pending, keep_pending, take_pending
from perceptron_rs.models.classes import classes_to_json
from perceptron_rs.models.parameters import values_to_json
from perceptron_rs.models.values import decode, encode
from perceptron_rs.settings import Epoch, Linear, State
from perceptron_rs.stream.checkpoint import Checkpoint
from perceptron_rs.stream.run import Place

#: Parameters that another run may change and yet go on from a checkpoint.
_NOT_OF_RUN = ("n_jobs", "engine", "verbose", "callback", "keep_on_interrupt", "warm_start", "max_iter")

__all__ = ["Cluster", "Encoded", "PartitionReport", "Round", "fit"]


@dataclass(frozen=True, slots=True)
class PartitionReport:
    """What became of a partition in a fit.

    Parameters
    ----------
    rows : int
        Number of examples.
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


@dataclass(frozen=True, slots=True)
class Encoded:
    """What a partition says of itself when its labels are class indices."""

    entries: int
    digest: str


@dataclass(frozen=True, slots=True)
class Round:
    """What an epoch made: the mixed state, what is told of it, mistakes and seconds of each partition."""

    state: State
    epoch: Epoch
    mistakes: list[int]
    seconds: list[float]


class Cluster(Protocol):
    """Partitions on machines. Each method asks all of them, and waits."""

    def look(self) -> list[Facts]:
        """Read the partitions."""

    def encode(self, classes: NDArray[Any]) -> list[Encoded]:
        """Turn labels into class indices."""

    def round(
        self,
        state: State,
        engine: str,
        settings: Sequence[Linear],
        mixing: str,
        number: int,
        ended: Collection[int],
        digests: Sequence[str],
    ) -> Round:
        """Make a pass over each partition, with its settings, and mix."""


def fit(estimator: Any, cluster: Cluster, checkpoint: Any = None, *, resume: bool = False) -> list[str]:
    """Fit an estimator to the partitions of a cluster; return why each decision ended.

    The file ``checkpoint`` is written after each epoch; with ``resume`` the fit goes on from it.
    """
    if resume and checkpoint is None:
        raise ValueError("resume=True needs checkpoint=, the file to go on from")
    refuse(estimator)
    get_engine(estimator.engine)
    facts = cluster.look()
    state = read_state(estimator) if estimator.warm_start and hasattr(estimator, "classes_") else None
    classes, counts = describe(estimator, facts)
    if state is None:
        state = start_state(estimator, classes, None, None, None)
        estimator._n_epochs = 0
        forget_pending(estimator)
    else:
        check_same_problem(estimator, state, classes)
    estimator.classes_ = classes
    vars(estimator).pop(RECORD, None)
    encoded = cluster.encode(classes)
    K = n_planes(estimator, classes)
    planes = class_weights(estimator.class_weight, classes, counts, K)
    seed = draw_seed(estimator.random_state) if estimator.shuffle else None
    settings = replace(settings_of(estimator, positive_labels(K), planes, seed, settle=True), threads=1)
    numbered = [replace(settings, partition=p) for p in range(len(facts))]
    reports = [
        PartitionReport(fact.rows, each.entries, each.digest)
        for fact, each in zip(facts, encoded, strict=True)
    ]

    digests, place, file = [each.digest for each in encoded], Place(take_pending(estimator, state)), None
    if checkpoint is not None:
        identity = identity_of(estimator, classes, seed, digests)
        file = Checkpoint(checkpoint, 0.0, identity, resume=resume)
        place = (file.load() or (place, []))[0]
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

    def publish(model: Any, state: State) -> None:
        model._publish(keep_pending(model, get_engine(model.engine), state))

    observer = Observer(estimator, int(counts.sum()), None, publish)
    tol = None if estimator.tol is None else float(estimator.tol)
    schedule = Schedule(estimator._n_epochs, int(estimator.max_iter), tol, int(estimator.n_iter_no_change))
    run = Mixed(take_pending(estimator, state), make_round)
    report = follow(run, settings, schedule, observer if observer.is_needed else None)
    publish(estimator, report.state)
    publish_report(estimator, report, is_fit=True)
    estimator._n_epochs += estimator.n_iter_
    estimator.partition_report_ = reports
    return report.stopped


def identity_of(
    estimator: Any, classes: NDArray[Any], seed: int | None, digests: Sequence[str]
) -> dict[str, Any]:
    """Return what two fits have in common if one may go on from the other's checkpoint."""
    given = type(estimator)._local._get_param_names()
    parameters = values_to_json({name: getattr(estimator, name) for name in given if name not in _NOT_OF_RUN})
    of = {
        "parameters": parameters,
        "seed": seed,
        "classes": classes_to_json(classes),
        "first_epoch": estimator._n_epochs,
        "partitions": list(digests),
    }
    plain = decode(encode(of))
    return {name: plain[name] for name in of}  # in this order: the first that differs is told


def refuse(estimator: Any) -> None:
    """Raise ValueError for parameters that a fit on a cluster does not have."""
    for name, without in (
        ("n_partitions", 1),
        ("early_stopping", False),
        ("track_mistakes", False),
        ("audit", False),
        ("added_feature", 0),
        ("max_mistakes_per_example", None),
    ):
        value = getattr(estimator, name)
        if value is not without and value != without:
            raise ValueError(
                f"{name}={value!r:.80} is not available on a cluster, whose partitions are the blocks of X; "
                f"set {name}={without}"
            )


def describe(estimator: Any, facts: Sequence[Facts]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Note the columns on the estimator; return the classes and how often they occur.

    Raises
    ------
    ValueError
        If partitions have other columns than others.
    """
    if not facts:
        raise ValueError("X must have at least one block")
    first = next((p for p, fact in enumerate(facts) if fact.rows), 0)
    for p, fact in enumerate(facts):
        if fact.rows and (fact.columns, fact.names) != (facts[first].columns, facts[first].names):
            raise ValueError(
                f"partition {p} must have the columns of partition {first}, {facts[first].columns} of them, "
                f"got {fact.columns} or other names; give all blocks the same columns"
            )
    estimator.n_features_in_ = facts[first].columns
    vars(estimator).pop("feature_names_in_", None)
    if facts[first].names is not None:
        estimator.feature_names_in_ = np.array(facts[first].names, dtype=object)
    labels = np.concatenate([fact.classes for fact in facts if fact.rows] or [np.zeros(0)])
    classes, indices = encode_new(labels, "the labels of all partitions")
    counts = np.zeros(len(classes), dtype=np.int64)
    np.add.at(counts, indices, np.concatenate([fact.counts for fact in facts if fact.rows]))
    return classes, counts
