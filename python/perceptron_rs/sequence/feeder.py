"""Sequences in memory, as `train` takes them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.audit.record import Method, recorded
from perceptron_rs.common.driver import Report, Schedule, follow
from perceptron_rs.common.early_stopping import split
from perceptron_rs.common.feeders import InMemory
from perceptron_rs.common.labels import label_array
from perceptron_rs.common.mixing import Mixed, in_threads, visited_bounds
from perceptron_rs.common.progress import Observer
from perceptron_rs.common.rows.selection import rows_of, select_rows, slice_rows
from perceptron_rs.common.threads import n_threads
from perceptron_rs.common.weights import CallWeights
from perceptron_rs.features import AttributeEncoder
from perceptron_rs.sequence.base import SequenceLearner
from perceptron_rs.sequence.input import as_token_lists, flat_labels, is_nested, read_sequences
from perceptron_rs.sequence.weights import beam_of, predictor_weights
from perceptron_rs.settings import Chain, Sequences, Settings

__all__ = ["SequencesInMemory"]


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
        method: Method,
        X: Any,
        y: Any,
        lengths: Any,
        *,
        classes: Any = None,
        encoder: AttributeEncoder | None = None,
        tracks: bool = False,
    ) -> None:
        super().__init__(method, X, y, classes=classes, tracks=tracks)
        self.lengths, self.encoder = lengths, encoder

    def read(self) -> NDArray[Any]:
        """Read the tokens, and return their labels as they are."""
        model, encoder = self.model, self.encoder
        if encoder is not None:
            if self.goes_on and vars(encoder) != vars(vars(model).get("encoder_") or encoder):
                raise ValueError("encoder must be that of the model, encoder_, with warm_start=True")
            vars(model).pop("encoder_", None)  # X is a matrix
        X = self.X = as_token_lists(self.X)
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
        others = split(self.engine, one_class, None, self.model.validation_fraction, self.seed)
        self.chosen = np.setdiff1d(np.arange(n, dtype=np.uint32), others).astype(np.uint32)
        held_out = self.held_out = ValidationSequences(self, others)
        self.scores, self.n_examples = held_out.scores, len(self.chosen)

    def learn(self, state: Any, settings: Settings, schedule: Schedule, observer: Observer | None) -> Report:
        """Learn in one run, or in partitions on threads."""
        assert isinstance(settings, Chain)
        model, data, labels, lengths = self.model, self.data, self.labels, self.some
        watch = observer if observer is not None and observer.is_needed else None
        with recorded(model, self.method, data.stored, labels, lengths=lengths):
            ends = visited_bounds(1 if self.is_pass else model.n_partitions, len(lengths), self.chosen)
            if len(ends) == 2:
                whole = Sequences(data.rows, labels, lengths=lengths, chosen=self.chosen)
                run: Any = self.engine.start(whole, state, settings)
            else:
                rounds = in_threads(
                    self.engine, self.partitions(ends), settings, str(model.mixing), n_threads(model)
                )
                run = Mixed(model._arrays(state), rounds)
            return follow(run, settings, schedule, watch, self.held_out)

    def partitions(self, ends: NDArray[np.int64]) -> list[Sequences]:
        """Cut the sequences into partitions, which begin at ``ends``."""
        engine, data, labels, lengths, some = self.engine, self.data, self.labels, self.some, self.chosen
        rows = np.concatenate([[0], np.cumsum(lengths)])
        found = []
        for begin, end in pairwise(ends.tolist()):
            first, last = int(rows[begin]), int(rows[end])
            own = None if some is None else some[(some >= begin) & (some < end)] - np.uint32(begin)
            stored = slice_rows(data.stored, first, last)
            found.append(
                Sequences(
                    rows_of(engine, stored, data.rows.shape[1]),
                    labels[first:last],
                    lengths=lengths[begin:end],
                    chosen=own,
                )
            )
        return found


class ValidationSequences:
    """Sequences that are not learnt from; called with a state, it counts their wrong tokens."""

    def __init__(self, feeder: SequencesInMemory, numbers: NDArray[np.intp]) -> None:
        data, lengths = feeder.data, feeder.some
        self.model, self.engine, self.lengths = feeder.model, feeder.engine, lengths[numbers]
        is_held_out = np.zeros(len(lengths), dtype=np.bool_)
        is_held_out[numbers] = True
        tokens = np.flatnonzero(np.repeat(is_held_out, lengths))
        stored = select_rows(data.stored, tokens)
        self.labels = feeder.labels[tokens]
        self.rows = rows_of(feeder.engine, stored, data.rows.shape[1])
        self.scores: list[float] = []

    def __call__(self, learnt: Any) -> NDArray[np.float64]:
        """Return the number of wrong tokens."""
        state = learnt if isinstance(learnt, dict) else learnt.state()
        path, _ = self.engine.sequence_decode(
            self.rows,
            self.lengths,
            weights=predictor_weights(self.engine, state, bool(self.model.averaged)),
            threads=n_threads(self.model),
            beam=beam_of(self.model),
        )
        wrong = int(np.count_nonzero(path != self.labels))
        self.scores.append((len(self.labels) - wrong) / len(self.labels))
        return np.array([float(wrong)])
