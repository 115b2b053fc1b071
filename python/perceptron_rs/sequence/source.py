"""Sequences of a stream: attributes become columns by the encoder of the model."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING

from perceptron_rs.arrays.likes import MatrixLike
from perceptron_rs.errors import ArgumentError
from perceptron_rs.features import AttributeEncoder
from perceptron_rs.io.batches import Batch
from perceptron_rs.io.source import Source, as_source
from perceptron_rs.sequence.input import (
    as_token_lists,
    assert_columns,
    flat_labels,
    flat_tokens,
    is_nested,
    token_lists,
)

if TYPE_CHECKING:
    from perceptron_rs.sequence.base import SequenceLearner


def sequence_source(model: SequenceLearner, examples: object, *, goes_on: bool) -> Source:
    """Return a source, also of a tuple (X, y) of lists of sequences."""
    if isinstance(examples, tuple) and examples and is_nested(X := _lists(model, examples[0], goes_on)):
        return Source(batches=lambda: iter([(X, *examples[1:])]), name="the sequences")
    return as_source(examples)


def encoded(model: SequenceLearner, source: Source, *, goes_on: bool) -> Source:
    """Return a source of matrices; attributes are encoded by the encoder of the model, fitted if need be."""
    batches = iter(source.batches())
    first = next((batch for batch in batches if not _holds_nothing(batch)), None)
    if not source.again and first is not None:
        source = replace(source, batches=lambda: chain([first], batches))
    lists = partial(_lists, model, goes_on=goes_on)
    nested = first is not None and is_nested(lists(first[0]))
    if goes_on and first is not None and nested != (model._learnt.encoder is not None):
        needed = "matrices" if nested else "attributes"
        raise ValueError(f"{source.name} must give {needed}, as the model has learnt from; fit anew")
    if not nested:
        return source
    if not goes_on:
        encoder = AttributeEncoder(min_count=model.min_count, n_columns=model.hash_columns)
        if model.hash_columns is None and not source.again:
            raise ArgumentError(
                "{name} can be read only once, but the vocabulary takes a pass of its own",
                "set {hash_columns}",
                name=source.name,
            )
        tokens = (token for batch in source.batches() for token in flat_tokens(lists(batch[0]))[0])
        model.encoder_ = encoder.fit(() if model.hash_columns is not None else tokens)
        assert_columns(encoder)
    encoder = model.encoder_

    def change(batch: Batch) -> Batch:
        if batch.sample_weight is not None:
            raise ValueError("a batch of lists of sequences must be (X, y), without sample_weight")
        tokens, lengths = flat_tokens(lists(batch.X))
        return Batch(encoder.transform(tokens), flat_labels(batch.y, lengths), None, lengths)

    names = sha256(repr(list(encoder.vocabulary_)).encode())  # none, if they are hashed
    reading = f"{source.reading}, hash_columns={encoder.n_columns}, {names.hexdigest()}"
    return replace(source.mapped(change, encoder.n_columns_), reading=reading)


def _lists(model: SequenceLearner, X: MatrixLike, goes_on: bool) -> MatrixLike:
    return token_lists(model, X) if goes_on else as_token_lists(X)


def _holds_nothing(batch: object) -> bool:
    """Whether it is a batch of an empty list, which does not tell of what."""
    return isinstance(batch, tuple) and len(batch) > 1 and isinstance(batch[0], list) and not batch[0]
