"""The sequence learner on a cluster: how a partition is read, and what its columns are in all."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.distributed.fitting import Partitions
from perceptron_rs.distributed.partition import Encoding, Parse, Parsed, PartitionFacts
from perceptron_rs.engines import get_engine
from perceptron_rs.estimator_attributes import feature_names
from perceptron_rs.features import AttributeEncoder
from perceptron_rs.io.batches import Batch
from perceptron_rs.rows.examples import examples
from perceptron_rs.rows.lengths import check_lengths
from perceptron_rs.sequence.input import as_token_lists, flat_labels, flat_tokens, is_nested
from perceptron_rs.sequence.perceptron import SequencePerceptron
from perceptron_rs.targets.labels import label_array


def parse(batch: Batch, hash_columns: int | None) -> Parsed:
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
    model = SequencePerceptron()  # whose checks these are
    data = examples(model, get_engine("rust"), X, reset=True)
    names = feature_names(model)
    return Parsed(
        data.stored,
        X.shape[1],
        None if names is None else tuple(map(str, names)),
        label_array(model, y, X.shape[0]),
        None,
        lengths[lengths > 0],
        attributes,
    )


class SequencePartitions(Partitions):
    """Sequences, whose attributes may need one vocabulary for all partitions."""

    model: Any  # a sequence learner on a cluster
    refused = (*Partitions.refused, "warm_start")
    least = 1

    def parse(self) -> Parse:
        """Return what reads a partition."""
        return partial(parse, hash_columns=self.model.hash_columns)

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
