"""A fit over partitions on other machines: the part of the client."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from hashlib import sha256
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import MatrixLike
from perceptron_rs.arrays.named import State, arrays_of
from perceptron_rs.audit import RECORD
from perceptron_rs.distributed.partition import Encoding, EpochTask, Parse, Parsed, PartitionFacts
from perceptron_rs.distributed.weights import Mixture
from perceptron_rs.engines import LearntModel, get_engine
from perceptron_rs.estimator_attributes import attributes, feature_names, parameter_names
from perceptron_rs.features import AttributeEncoder
from perceptron_rs.io.batches import Batch
from perceptron_rs.io.text.paths import PathLike
from perceptron_rs.linear.perceptron import Perceptron
from perceptron_rs.mixing.rounds import Mixed
from perceptron_rs.models.values import classes_to_json
from perceptron_rs.parameters.checks import parameters_in_memory
from perceptron_rs.parameters.groups import UpdateParameters, group_of
from perceptron_rs.rows.examples import ValidatedRows, examples
from perceptron_rs.rows.real_numbers import check_lengths
from perceptron_rs.rows.storage import to_stored
from perceptron_rs.sequence.input import as_token_lists, flat_labels, flat_tokens, is_nested
from perceptron_rs.sequence.perceptron import SequencePerceptron
from perceptron_rs.settings import Chain, Epoch, Linear, Settings
from perceptron_rs.stream.checkpoint import Checkpoint, check_resume, identity_of, watch_again
from perceptron_rs.stream.run import Place
from perceptron_rs.targets.label_sets import assert_n_labels, indicator, is_indicator, warn_of_constant
from perceptron_rs.targets.labels import encode_again, encode_new, joined_labels, label_array
from perceptron_rs.targets.weights import CallWeights, nothing_to_learn, sample_weights
from perceptron_rs.training.driver import Report, Schedule, follow
from perceptron_rs.training.progress import Observer
from perceptron_rs.training.train import Feeder, Trainable, is_one_decision


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


class Cluster(Protocol):
    """Partitions on machines. Each method asks all of them."""

    def look(self, parse: Parse) -> list[PartitionFacts]:
        """Read the partitions."""

    def begin(
        self, encodings: Sequence[Encoding], settings: Sequence[Linear | Chain], digests: Sequence[str]
    ) -> None:
        """Take what is needed of each partition to learn from it."""

    def round(self, state: State, task: EpochTask) -> tuple[State, Mixture]:
        """Make a pass over each partition, and mix."""


class Partitions(Feeder):
    """Examples that lie in partitions on a cluster; a family says how they are read.

    Parameters
    ----------
    cluster : Cluster
    checkpoint : str or path-like, or None
        File that is written after each epoch.
    resume : bool
        Whether to go on from it, if it is there.
    local : type
        The learner that knows of no cluster.
    """

    #: Parameters that a fit on a cluster does not have, beside those that take all examples in memory.
    refused: ClassVar[tuple[str, ...]] = ("audit", "audit_key")
    #: How many classes there must be.
    least: ClassVar[int] = 2

    facts: list[PartitionFacts]
    encodings: list[Encoding]
    #: How many examples each class has; of many labels, how many have not and have each, (K, 2).
    counts: NDArray[np.int64]

    def __init__(
        self, cluster: Cluster, checkpoint: PathLike | None, *, resume: bool, local: type[Trainable]
    ) -> None:
        super().__init__("fit")
        check_resume(checkpoint, resume=resume)
        self.cluster, self.checkpoint, self.resume, self.local = cluster, checkpoint, resume, local

    @abstractmethod
    def parse(self) -> Parse:
        """Return what reads a partition, on its worker."""

    def encode(self) -> list[Encoding]:
        """Return the encoding of each partition, when the classes are known."""
        return [Encoding(self.classes)] * len(self.facts)

    def open(self) -> None:
        """Have the partitions read; find the classes and columns of all."""
        model = self.model
        declared = {parameter.name: parameter for parameter in fields(group_of(self.local))}
        for name in (*(parameter.name for parameter in parameters_in_memory(self.local)), *self.refused):
            value, without = getattr(model, name), declared[name].default
            if value is not without and value != without:
                raise ValueError(
                    f"{name}={value!r:.80} is not available on a cluster, whose partitions are the blocks of "
                    f"X; set {name}={without}"
                )
        facts = self.facts = self.cluster.look(self.parse())
        has_many_labels = check_alike(facts)
        of_rows = [fact for fact in facts if fact.examples]
        first = (of_rows or facts)[0]
        model.n_features_in_ = first.columns
        model.feature_names_in_ = None if first.names is None else np.array(first.names, dtype=object)
        self.accept_kind("dense" if has_many_labels else None)
        if self.multilabel is None:
            self.count_classes(of_rows)
        else:
            self.count_labels(of_rows)
        self.encodings = self.encode()

    def count_classes(self, facts: Sequence[PartitionFacts]) -> None:
        """Find the classes of all partitions, and how many examples each has."""
        labels = joined_labels([fact.classes for fact in facts] or [np.zeros(0)])
        if self.goes_on:
            self.classes, indices = self.model.classes_, encode_again(labels, self.model.classes_)
        else:
            name = "y in all partitions"
            self.classes, indices = encode_new(labels, name, least=self.least)
        self.counts = np.zeros(len(self.classes), dtype=np.int64)
        for_each = [fact.counts for fact in facts] or [np.zeros(0, dtype=np.int64)]
        np.add.at(self.counts, indices, np.concatenate(for_each))

    def count_labels(self, facts: Sequence[PartitionFacts]) -> None:
        """Find how many examples have each of many labels, and how many have not."""
        columns, known = facts[0].classes, self.model.classes_ if self.goes_on else facts[0].classes
        assert_n_labels(len(columns), known)
        self.classes, self.counts = known, np.add.reduce([fact.counts for fact in facts])
        warn_of_constant(known, self.counts[:, 0] == 0, self.counts[:, 1] == 0)

    def weigh(self) -> None:
        """Find the weights of the classes; those of examples are with them."""
        self.weighed = CallWeights(None, self.model._class_weights(self.classes, self.counts), None)
        self.n_examples = int(self.counts[0].sum() if self.multilabel else self.counts.sum())

    def learn(
        self, state: LearntModel, settings: Settings, schedule: Schedule, observer: Observer | None
    ) -> Report:
        """Make a pass over each partition in each epoch, and mix. No record is kept of it."""
        assert isinstance(settings, Linear | Chain)
        assert observer is not None
        model, cluster, facts = self.model, self.cluster, self.facts
        setattr(model, RECORD, None)
        numbered = [replace(settings, partition=p) for p in range(len(facts))]
        reports = [PartitionReport(fact.examples, fact.entries, fact.digest) for fact in facts]
        digests = [fact.digest for fact in facts]
        cluster.begin(self.encodings, numbered, digests)
        assert isinstance(model, UpdateParameters)
        begin = model._arrays(state)
        place, file = Place(begin), None
        if self.checkpoint is not None:
            # One digest of all: a file with those of small partitions would tell their labels to who tries.
            partitions = [len(digests), sha256("".join(digests).encode()).hexdigest()]
            parameters = attributes(model, parameter_names(self.local))
            classes = classes_to_json(model.classes_)
            identity = identity_of(
                model, parameters, begin, settings, schedule, classes=classes, partitions=partitions
            )
            file = Checkpoint(self.checkpoint, 0.0, identity, resume=self.resume)
            place = (file.load(schedule.max_iter) or (place, []))[0]
        done: list[Epoch] = []

        def make_round(
            state: State, number: int, ended: Collection[int]
        ) -> tuple[State, Epoch, Sequence[State]]:
            if len(done) < len(place.done):  # repeat the report of an epoch of the checkpoint
                done.append(place.done[len(done)])
                return arrays_of(place.state), done[-1], []
            task = EpochTask(model.engine, str.__str__(model.mixing), number, tuple(sorted(ended)))
            after, made = cluster.round(state, task)
            for p, (mistakes, seconds) in enumerate(zip(made.mistakes, made.seconds, strict=True)):
                before = reports[p]
                reports[p] = replace(
                    before, mistakes=before.mistakes + mistakes, seconds=before.seconds + seconds
                )
            done.append(made.epoch)
            if file is not None and not made.epoch.interrupted:
                file.write(Place(after, tuple(done)))
            return after, made.epoch, []

        # A checkpoint is written before the observer is asked.
        watch = watch_again(observer, len(place.done), last_is_open=True)
        report = follow(Mixed(begin, make_round), settings, schedule, watch)
        model.partition_report_ = reports
        return report


def check_alike(facts: Sequence[PartitionFacts]) -> bool:
    """Return whether examples have many labels; ValueError if partitions have other columns or labels.

    Attributes are another matter: each partition has its own.
    """
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
        if fact.is_multilabel != one.is_multilabel:
            raise ValueError(f"partitions {first} and {p} must both have one label for each example, or many")
        if fact.is_multilabel and len(fact.classes) != len(one.classes):
            raise ValueError(
                f"y of partition {p} must have the columns of partition {first}, {len(one.classes)} of them, "
                f"one for each label, got {len(fact.classes)}"
            )
    return bool(of_rows) and of_rows[0][1].is_multilabel


def parse_rows(batch: Batch) -> Parsed:
    """Read examples."""
    X, y, sample_weight, lengths = batch
    if lengths is not None:
        raise ValueError("lengths are for a SequencePerceptron; a block must be (X, y[, sample_weight])")
    if not X.shape[0]:
        return Parsed({"rows": to_stored(np.zeros(X.shape))}, X.shape[1], None, np.asarray(y).reshape(-1)[:0])
    model, n = Perceptron(), X.shape[0]
    data, names = _read(model, X)
    labels: NDArray[np.generic] = indicator(y, n) if is_indicator(y) else label_array(model, y, n)
    weights = sample_weights(sample_weight, labels, of_part=True)  # others may have examples to learn from
    if weights is not None:
        data.assert_finite_in(weights == 0, model, None)  # the engine does not meet these rows
    return Parsed(data.stored, X.shape[1], names, labels, weights)


def _read(
    model: Perceptron | SequencePerceptron, X: MatrixLike
) -> tuple[ValidatedRows, tuple[str, ...] | None]:
    """Return examples, and the names of their columns; the checks are those of the model."""
    data = examples(model, get_engine("rust"), X, reset=True)
    names = feature_names(model)
    return data, None if names is None else tuple(map(str, names))


class LinearPartitions(Partitions):
    """Examples of a linear learner."""

    def parse(self) -> Parse:
        """Return what reads a partition."""
        return parse_rows

    def weigh(self) -> None:
        """Find the weights of the classes; refuse those that leave nothing to learn."""
        super().weigh()
        # Of examples whose own weight is not 0.
        counts, planes = self.counts, self.weighed.planes
        if is_one_decision(self.model):
            planes = planes[:, 1]
        elif not self.multilabel:
            held = counts[-len(planes) :]  # two classes have one plane, that of the second
            counts = np.column_stack([counts.sum() - held, held])
        if not ((counts > 0) & (planes > 0)).any():
            raise nothing_to_learn()

    def learn(
        self, state: LearntModel, settings: Settings, schedule: Schedule, observer: Observer | None
    ) -> Report:
        """Learn; each partition is learnt from on one thread."""
        assert isinstance(settings, Linear)
        return super().learn(state, replace(settings, threads=1), schedule, observer)


def parse_sequences(batch: Batch, hash_columns: int | None) -> Parsed:
    """Read sequences. Attributes get columns of this partition alone, unless they are hashed."""
    X, y, sample_weight, lengths = batch._replace(X=as_token_lists(batch.X))
    if sample_weight is not None:
        raise ValueError("sample_weight is not for sequences; a block must be (X, y[, None, lengths])")
    attributes: tuple[str, ...] | None = None
    if not (len(X) if isinstance(X, (list, tuple)) else X.shape[0]):
        no_lengths = np.zeros(0, dtype=np.int64)
        return Parsed({"rows": np.zeros((0, 1))}, 1, None, np.zeros(0), None, no_lengths)
    if is_nested(X):
        tokens, lengths = flat_tokens(X)
        encoder = AttributeEncoder(n_columns=hash_columns)
        X, y = encoder.fit_transform(tokens), flat_labels(y, lengths)
        attributes = tuple(encoder.vocabulary_)
    lengths = check_lengths(lengths, X.shape[0])
    model = SequencePerceptron()
    data, names = _read(model, X)
    labels = label_array(model, y, X.shape[0])
    return Parsed(data.stored, X.shape[1], names, labels, None, lengths[lengths > 0], attributes)


class SequencePartitions(Partitions):
    """Sequences, whose attributes may need one vocabulary for all partitions."""

    model: Any  # a sequence learner on a cluster
    refused = (*Partitions.refused, "warm_start")
    least = 1

    def parse(self) -> Parse:
        """Return what reads a partition."""
        return partial(parse_sequences, hash_columns=self.model.hash_columns)

    def encode(self) -> list[Encoding]:
        """Return the encoding of each partition; make the encoder of the model, if there are attributes."""
        model, facts = self.model, self.facts
        columns: list[NDArray[np.int64]] | list[None] = [None] * len(facts)
        first = next((fact for fact in facts if fact.examples), facts[0])
        if first.attributes is not None:
            encoder = AttributeEncoder(min_count=model.min_count, n_columns=model.hash_columns).fit(())
            if model.hash_columns is None:
                encoder.vocabulary_ = vocabulary(facts, int(model.min_count))
                encoder.n_columns_ = len(encoder.vocabulary_)
                columns = [attribute_columns(fact, encoder.vocabulary_) for fact in facts]
            model.encoder_, model.n_features_in_ = encoder, encoder.n_columns_
        return [Encoding(self.classes, own) for own in columns]

    def weigh(self) -> None:
        """Count the sequences."""
        super().weigh()
        self.n_examples = sum(fact.examples for fact in self.facts)


def vocabulary(facts: Sequence[PartitionFacts], min_count: int) -> dict[str, int]:
    """Return the columns of attributes, in the order of their first occurrence over all partitions."""
    uses: dict[str, int] = {}
    for fact in facts:
        if fact.attributes and fact.uses is not None:
            for name, count in zip(fact.attributes, fact.uses.tolist(), strict=True):
                uses[name] = uses.get(name, 0) + count
    return {name: j for j, name in enumerate(name for name, count in uses.items() if count >= min_count)}


def attribute_columns(fact: PartitionFacts, vocabulary: dict[str, int]) -> NDArray[np.int64]:
    """Return the columns of the attributes of a partition; -1 of those that are left out."""
    return np.array([vocabulary.get(name, -1) for name in fact.attributes or ()], dtype=np.int64)
