"""Sequences in memory, as `train` takes them."""

from __future__ import annotations

from contextlib import AbstractContextManager

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.arrays.named import arrays_of
from perceptron_rs.audit.record import FitMethod, recorded
from perceptron_rs.engines import LearntModel, RunState, rows_of
from perceptron_rs.features import AttributeEncoder
from perceptron_rs.mixing.rounds import visited_bounds
from perceptron_rs.parameters.threads import n_threads
from perceptron_rs.rows.selection import select_rows, slice_rows
from perceptron_rs.sequence.base import SequenceLearner
from perceptron_rs.sequence.input import as_token_lists, flat_labels, is_nested, read_sequences, token_lists
from perceptron_rs.sequence.limits import constrained, limits_of
from perceptron_rs.sequence.schema import beam_of, predictor_weights
from perceptron_rs.settings import Sequences
from perceptron_rs.state.turns import change
from perceptron_rs.targets.labels import label_array
from perceptron_rs.targets.weights import CallWeights
from perceptron_rs.training.early_stopping import ValidationPart, split
from perceptron_rs.training.feeders import InMemory


class SequencesInMemory(InMemory):
    """Sequences of tokens: for a fit, or for one pass in their order.

    Parameters
    ----------
    method : {"fit", "partial_fit"}
    X, y, lengths
        The sequences, as they were given.
    classes : array-like, default=None
        All classes that will ever occur, as a pass is given them.
    encoder : AttributeEncoder, default=None
        What has made the rows.
    tracks : bool, default=False
        Whether to note the answers to the tokens.
    """

    model: SequenceLearner
    least = 1
    #: Numbers of the sequences that are learnt from; None: all.
    chosen: NDArray[np.uint32] | None = None

    def __init__(
        self,
        method: FitMethod,
        X: MatrixLike,
        y: ArrayLike,
        lengths: ArrayLike,
        *,
        classes: ArrayLike = None,
        encoder: AttributeEncoder | None = None,
        tracks: bool = False,
    ) -> None:
        super().__init__(method, X, y, classes=classes, tracks=tracks)
        self.lengths, self.encoder = lengths, encoder

    def read(self) -> NDArray[np.generic]:
        """Read the tokens, and return their labels as they are."""
        model, encoder = self.model, self.encoder
        if encoder is not None:
            if self.goes_on and vars(encoder) != vars(getattr(model, "encoder_", encoder)):
                raise ValueError("encoder must be that of the model, encoder_, with warm_start=True")
            change(model, encoder=None)  # X is a matrix
        X = self.X = token_lists(model, self.X) if self.goes_on else as_token_lists(self.X)
        self.data, self.lengths = read_sequences(model, X, self.lengths, reset=not self.goes_on)
        if encoder is not None:
            if encoder.n_columns_ != self.data.rows.shape[1]:
                raise ValueError(
                    f"encoder has {encoder.n_columns_} columns, but X has {self.data.rows.shape[1]}; "
                    f"pass the rows that it made"
                )
            model.encoder_ = encoder
        labels = flat_labels(self.y, self.lengths) if is_nested(X) else self.y
        return label_array(model, labels, self.data.rows.shape[0])

    def weigh(self) -> None:
        """Count the sequences that have tokens: all weigh the same."""
        self.some = self.lengths[self.lengths > 0]
        self.weighed = CallWeights(None, np.ones((1, 2)), None)
        self.n_examples = len(self.some)

    def hold_out(self) -> None:
        """Set aside the validation part of a fit that has one."""
        if self.is_pass or not self.model.early_stopping:
            return
        n = len(self.some)
        one_class = np.zeros(n, dtype=np.uint32)  # sequences are not told apart by their tags
        held_out = split(self.engine, one_class, None, self.model.validation_fraction, self.seed)
        self.chosen = np.setdiff1d(np.arange(n, dtype=np.uint32), held_out).astype(np.uint32)
        self.held_out, self.n_examples = ValidationSequences(self, held_out), len(self.chosen)

    def record(self, state: LearntModel) -> AbstractContextManager[None]:  # noqa: ARG002
        """Return what adds the call to the record of the estimator."""
        return recorded(self.model, self.method, self.data.stored, self.labels, lengths=self.some)

    def bounds(self, n_partitions: object) -> NDArray[np.int64]:
        """Return at which sequence each partition begins, and the end."""
        return visited_bounds(n_partitions, len(self.some), self.chosen)

    def whole(self) -> Sequences:
        """Return all sequences as an engine takes them."""
        return Sequences(self.data.rows, self.labels, lengths=self.some, chosen=self.chosen)

    def part(self, begin: int, end: int) -> Sequences:
        """Return those of a partition."""
        chosen = self.chosen
        first, last = (int(self.some[:number].sum()) for number in (begin, end))  # their tokens
        return Sequences(
            rows_of(self.engine, slice_rows(self.data.stored, first, last), self.data.rows.shape[1]),
            self.labels[first:last],
            lengths=self.some[begin:end],
            chosen=None if chosen is None else chosen[(chosen >= begin) & (chosen < end)] - np.uint32(begin),
        )


class ValidationSequences(ValidationPart):
    """Sequences that are not learnt from: the accuracy of their tokens, and how many are wrong."""

    def __init__(self, feeder: SequencesInMemory, numbers: NDArray[np.intp]) -> None:
        super().__init__()
        data, lengths = feeder.data, feeder.some
        self.model, self.engine, self.lengths = feeder.model, feeder.engine, lengths[numbers]
        is_held_out = np.zeros(len(lengths), dtype=np.bool_)
        is_held_out[numbers] = True
        tokens = np.flatnonzero(np.repeat(is_held_out, lengths))
        stored = select_rows(data.stored, tokens)
        self.labels = feeder.labels[tokens]
        self.rows = rows_of(feeder.engine, stored, data.rows.shape[1])

    def measure(self, state: RunState) -> tuple[float, NDArray[np.float64]]:
        """Return the accuracy, and the number of wrong tokens."""
        model = self.model
        pairs = constrained(model.constraints, None, model.classes_)
        allowed, forbidden = limits_of(None, pairs, model.classes_, self.lengths)
        path, _ = self.engine.sequence_decode(
            self.rows,
            self.lengths,
            weights=predictor_weights(self.engine, arrays_of(state), bool(self.model.averaged)),
            threads=n_threads(self.model),
            beam=beam_of(self.model),
            allowed=allowed,
            forbidden=forbidden,
        )
        wrong = int(np.count_nonzero(path != self.labels))
        return (len(self.labels) - wrong) / len(self.labels), np.array([float(wrong)])
