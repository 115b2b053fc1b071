"""The sequence learner on a cluster: how a partition is read, and how a fit to many begins and ends."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.common.driver import Schedule
from perceptron_rs.common.labels import encode_new, label_array
from perceptron_rs.common.parameters import draw_seed
from perceptron_rs.common.rows.examples import examples
from perceptron_rs.distributed.fitting import Family, Plan, all_labels
from perceptron_rs.distributed.partition import Encoding, Facts, Parsed
from perceptron_rs.engines import get_engine
from perceptron_rs.features import AttributeEncoder
from perceptron_rs.io.source import Batch
from perceptron_rs.sequence.fitting import beam_of, cold, publish, publish_state
from perceptron_rs.sequence.input import check_lengths, flat_labels, flat_tokens, in_lists, is_nested
from perceptron_rs.sequence.perceptron import SequencePerceptron
from perceptron_rs.sequence.progress import SequenceObserver
from perceptron_rs.settings import Chain

__all__ = ["SEQUENCES"]


def parse(batch: Batch, hash_columns: int | None) -> Parsed:
    """Read sequences. Attributes get columns of this partition alone, unless they are hashed."""
    X, y, sample_weight, lengths = batch._replace(X=in_lists(batch.X))
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
    names = getattr(model, "feature_names_in_", None)
    return Parsed(
        data.stored,
        X.shape[1],
        None if names is None else tuple(map(str, names)),
        label_array(model, y, X.shape[0]),
        None,
        lengths[lengths > 0],
        attributes,
    )


def plan(estimator: Any, facts: Sequence[Facts]) -> Plan:
    """Put what is known before the fit on the estimator, and plan the fit."""
    for name in ("encoder_", "template_", "feature_names_in_"):
        vars(estimator).pop(name, None)
    estimator._n_epochs = 0
    first = next((fact for fact in facts if fact.examples), facts[0])
    columns: list[NDArray[np.int64]] | list[None] = [None] * len(facts)
    estimator.n_features_in_ = first.columns
    if first.names is not None:
        estimator.feature_names_in_ = np.array(first.names, dtype=object)
    if first.attributes is not None:
        encoder = AttributeEncoder(min_count=estimator.min_count, n_columns=estimator.hash_columns).fit(())
        if estimator.hash_columns is None:
            encoder.vocabulary_ = vocabulary(facts, int(estimator.min_count))
            encoder.n_columns_ = len(encoder.vocabulary_)
            columns = [columns_of(fact, encoder.vocabulary_) for fact in facts]
        estimator.encoder_, estimator.n_features_in_ = encoder, encoder.n_columns_
    classes, _ = encode_new(all_labels(facts)[0], "the labels of all partitions", least=1)
    estimator.classes_ = classes
    return Plan(
        state=cold(estimator.n_features_in_, len(classes), pair=bool(estimator.transition_features)),
        settings=Chain(
            eta0=float(estimator.eta0),
            seed=draw_seed(estimator.random_state) if estimator.shuffle else None,
            beam=beam_of(estimator),
            update=str(estimator.update),
            keep_on_interrupt=bool(estimator.keep_on_interrupt),
        ),
        encodings=[Encoding(classes, own) for own in columns],
        schedule=Schedule(max_iter=int(estimator.max_iter)),
        observer=SequenceObserver(estimator, sum(fact.examples for fact in facts), None, publish_state),
        publish=lambda report: publish(estimator, report),
    )


def vocabulary(facts: Sequence[Facts], min_count: int) -> dict[str, int]:
    """Return the columns of attributes, in the order of their first occurrence over all partitions."""
    uses: dict[str, int] = {}
    for fact in facts:
        if fact.attributes and fact.uses is not None:
            for name, count in zip(fact.attributes, fact.uses.tolist(), strict=True):
                uses[name] = uses.get(name, 0) + count
    return {name: j for j, name in enumerate(name for name, count in uses.items() if count >= min_count)}


def columns_of(fact: Facts, vocabulary: dict[str, int]) -> NDArray[np.int64]:
    """Return the columns of the attributes of a partition; -1 of those that are left out."""
    return np.array([vocabulary.get(name, -1) for name in fact.attributes or ()], dtype=np.int64)


SEQUENCES = Family(
    refused=(
        ("n_partitions", 1),
        ("early_stopping", False),
        ("warm_start", False),
        ("audit", False),
        ("audit_key", None),
    ),
    parse=lambda estimator: partial(parse, hash_columns=estimator.hash_columns),
    plan=plan,
)
