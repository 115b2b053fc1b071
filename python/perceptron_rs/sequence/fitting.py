"""The fit of a sequence learner: one run of an engine, what goes in, and where its report goes."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.audit.record import Method, begin_record, note_end, recorded
from perceptron_rs.common.driver import Report, Schedule, follow
from perceptron_rs.common.early_stopping import split
from perceptron_rs.common.mixing import Mixed, cuts, in_threads
from perceptron_rs.common.parameters import draw_seed, n_threads
from perceptron_rs.common.rows.examples import Examples
from perceptron_rs.common.rows.selection import chosen, part, rows_of
from perceptron_rs.common.terms import check_terms, terms
from perceptron_rs.engines import Engine, get_engine
from perceptron_rs.errors import ArgumentError
from perceptron_rs.features import AttributeEncoder
from perceptron_rs.io.source import Batch, Source, as_source
from perceptron_rs.sequence.input import flat_labels, flat_tokens, in_lists, is_nested
from perceptron_rs.sequence.progress import SequenceObserver
from perceptron_rs.settings import Chain, Sequences, State
from perceptron_rs.stream.fit import Options, open_stream, publish_columns, refuse_in_stream, run_stream

__all__ = ["beam_of", "begin", "cold", "dense", "learn", "learn_stream", "predicting", "start_model"]


def learn(
    model: Any,
    data: Examples,
    labels: NDArray[np.uint32],
    lengths: NDArray[np.int64],
    begin: Any,
    *,
    one_pass: bool,
    track_answers: bool = False,
) -> Report:
    """Learn in epochs, or from one pass in the given order; publish what was learnt on the model."""
    engine = get_engine(model.engine)
    seed = None if one_pass or not (model.shuffle or model.early_stopping) else draw_seed(model.random_state)
    some, held_out = None, None
    if model.early_stopping:
        assert seed is not None
        one_class = np.zeros(len(lengths), dtype=np.uint32)  # sequences are not told apart by their tags
        others = split(engine, one_class, None, model.validation_fraction, seed).astype(np.uint32)
        some = np.setdiff1d(np.arange(len(lengths), dtype=np.uint32), others)
        held_out = HeldOutPart(model, engine, data, labels, lengths, others)
    n_sequences = len(lengths) if some is None else len(some)
    observer = SequenceObserver(
        model, n_sequences, None if held_out is None else held_out.scores, publish_state
    )
    settings = Chain(
        eta0=float(model.eta0),
        seed=seed if model.shuffle else None,
        beam=beam_of(model),
        update=str(model.update),
        track_answers=track_answers,
        keep_on_interrupt=bool(model.keep_on_interrupt) and not track_answers,  # it would lack answers
    )
    schedule = Schedule(
        first_epoch=0 if one_pass else getattr(model, "_n_epochs", 0),
        max_iter=1 if one_pass else int(model.max_iter),
        tol=None if held_out is None else 1.0,  # a token
        n_iter_no_change=int(model.n_iter_no_change),
    )
    watch = observer if observer.is_needed else None
    method: Method = "partial_fit" if one_pass else "fit"
    with recorded(model, method, data.stored, labels, lengths=lengths):
        ends = cuts(1 if one_pass else model.n_partitions, len(lengths), some)
        if len(ends) == 2:
            run = engine.start(Sequences(data.rows, labels, lengths=lengths, chosen=some), begin, settings)
        else:
            parts = partitions(engine, data, labels, lengths, some, ends)
            run = Mixed(
                begin.state(), in_threads(engine, parts, settings, str(model.mixing), n_threads(model))
            )
        report = follow(run, settings, schedule, watch, held_out)
    note_end(model, report.stopped, int(report.n_iter.max()))
    publish(model, report, n_sequences, is_fit=not one_pass)
    if held_out is not None:
        model.validation_scores_ = np.array(held_out.scores).reshape(-1, 1)
    return report


def learn_stream(model: Any, given: Any, classes: Any, options: Options) -> Report:
    """Learn from a stream as `learn` does from sequences in memory, and publish the same."""
    refuse_in_stream(model)
    engine = get_engine(model.engine)
    goes_on = begin(model)
    if goes_on:
        if classes is not None and not np.array_equal(np.unique(classes), model.classes_):
            raise ArgumentError(
                "{warm_start} continues a fit with the classes {known!r:.200}, "
                "but {classes} is {given!r:.200}",
                "leave it out, or set {warm_start}",
                values={"warm_start": True},
                settings={"warm_start": False},
                known=model.classes_.tolist(),
                given=classes,
            )
        classes = model.classes_
    stream = open_stream(encoded(model, source_of(given), goes_on=goes_on), classes, options, least=1)
    publish_columns(model, stream, reset=not goes_on)
    if not goes_on:
        model.classes_ = stream.facts.classes
    state = start_model(model, stream.facts.n_features, goes_on=goes_on).state()
    settings = Chain(
        eta0=float(model.eta0),
        seed=draw_seed(model.random_state) if options.shuffle else None,
        beam=beam_of(model),
        update=str(model.update),
        keep_on_interrupt=bool(model.keep_on_interrupt),
    )
    schedule = Schedule(first_epoch=model._n_epochs, max_iter=int(model.max_iter))
    observer = SequenceObserver(model, 0, None, publish_state)
    report = run_stream(model, engine, stream, state, settings, schedule, observer, options)
    publish(model, report, stream.facts.n_rows)
    return report


def begin(model: Any) -> bool:
    """Return whether the model goes on from what it has learnt; if not, let it forget how it was trained."""
    if model.warm_start and hasattr(model, "classes_"):
        model._n_epochs = getattr(model, "_n_epochs", 0)
        return True
    for name in ("encoder_", "template_"):
        vars(model).pop(name, None)
    begin_record(model)
    model._n_epochs = 0
    return False


def start_model(model: Any, columns: int, *, goes_on: bool) -> Any:
    """Return what a run starts with: what was learnt before, or nothing."""
    engine = get_engine(model.engine)
    if not goes_on:
        model._terms = terms(model)
        return model._owned(engine, cold(columns, len(model.classes_), pair=bool(model.transition_features)))
    check_terms(model)
    return model._model_of(engine)


def source_of(given: Any) -> Source:
    """Return a source, also of a tuple (X, y) of lists of sequences."""
    if isinstance(given, tuple) and given and is_nested(X := in_lists(given[0])):
        return Source(batches=lambda: iter([(X, *given[1:])]), name="the sequences")
    return as_source(given)


def encoded(model: Any, source: Source, *, goes_on: bool) -> Source:
    """Return a source of matrices; attributes are encoded by the encoder of the model, fitted if need be."""
    batches = source.batches()
    first = next((batch for batch in batches if not _holds_nothing(batch)), None)
    if not source.again and first is not None:
        source = replace(source, batches=lambda: chain([first], batches))
    nested = first is not None and is_nested(in_lists(first[0]))
    if goes_on and first is not None and nested != hasattr(model, "encoder_"):
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
        tokens = (token for batch in source.batches() for token in flat_tokens(in_lists(batch[0]))[0])
        model.encoder_ = encoder.fit(() if model.hash_columns is not None else tokens)
    encoder = model.encoder_

    def change(batch: Batch) -> Batch:
        if batch.sample_weight is not None:
            raise ValueError("a batch of lists of sequences must be (X, y), without sample_weight")
        tokens, lengths = flat_tokens(in_lists(batch.X))
        return Batch(encoder.transform(tokens), flat_labels(batch.y, lengths), None, lengths)

    names = "\0".join(encoder.vocabulary_).encode("utf-8", "surrogatepass")  # none, if they are hashed
    reading = f"{source.reading}, hash_columns={encoder.n_columns}, {sha256(names).hexdigest()}"
    return replace(source.mapped(change, encoder.n_columns_), reading=reading)


def _holds_nothing(batch: Any) -> bool:
    """Whether it is a batch of an empty list, which does not tell of what."""
    return isinstance(batch, tuple) and len(batch) > 1 and isinstance(batch[0], list) and not batch[0]


def publish_state(model: Any, learnt: Any) -> None:
    """Put what was learnt on the model."""
    model._publish(learnt)
    model._average = []
    model._weights  # noqa: B018  an average that is not finite is an error of the fit


def publish(model: Any, report: Report, n_sequences: float | None = None, *, is_fit: bool = True) -> None:
    """Put what was learnt, and the story of the run, on the model.

    An epoch had so many sequences; by default, all that the weights have seen, in equal parts.
    """
    publish_state(model, report.state)
    if n_sequences is None:
        n_sequences = model.n_seen_ / max(1, len(report.mistakes))
    model.sequence_errors_per_epoch_ = report.mistakes[:, 0]
    model.token_errors_per_epoch_ = report.losses[:, 0].astype(np.int64)
    model.loss_curve_ = (report.losses[:, 0] / max(1, n_sequences)).tolist()
    model.n_iter_ = len(report.mistakes)
    if is_fit:
        model._n_epochs += model.n_iter_
    model.converged_ = report.stopped == ["clean"]
    vars(model).pop("validation_scores_", None)


def partitions(
    engine: Engine,
    data: Examples,
    labels: NDArray[np.uint32],
    lengths: NDArray[np.int64],
    some: NDArray[np.uint32] | None,
    ends: NDArray[np.int64],
) -> list[Sequences]:
    """Cut the sequences, of which ``some`` are learnt from, into partitions, which begin at ``ends``."""
    rows = np.concatenate([[0], np.cumsum(lengths)])
    found = []
    for begin, end in pairwise(ends.tolist()):
        first, last = int(rows[begin]), int(rows[end])
        own = None if some is None else some[(some >= begin) & (some < end)] - np.uint32(begin)
        stored = part(data.stored, first, last)
        found.append(
            Sequences(
                rows_of(engine, stored, data.rows.shape[1]),
                labels[first:last],
                lengths=lengths[begin:end],
                chosen=own,
            )
        )
    return found


class HeldOutPart:
    """Sequences that are not learnt from; called with a state, it counts their wrong tokens."""

    def __init__(
        self,
        model: Any,
        engine: Engine,
        data: Examples,
        labels: NDArray[np.uint32],
        lengths: NDArray[np.int64],
        numbers: NDArray[np.uint32],
    ) -> None:
        self.model, self.engine, self.lengths = model, engine, lengths[numbers]
        is_held_out = np.zeros(len(lengths), dtype=np.bool_)
        is_held_out[numbers] = True
        tokens = np.flatnonzero(np.repeat(is_held_out, lengths))
        stored = chosen(data.stored, tokens)
        self.labels = labels[tokens]
        self.rows = rows_of(engine, stored, data.rows.shape[1])
        self.scores: list[float] = []

    def __call__(self, learnt: Any) -> NDArray[np.float64]:
        """Return the number of wrong tokens."""
        state = learnt if isinstance(learnt, dict) else learnt.state()
        path, _ = self.engine.sequence_decode(
            self.rows,
            self.lengths,
            weights=predicting(self.engine, state, bool(self.model.averaged)),
            threads=n_threads(self.model),
            beam=beam_of(self.model),
        )
        wrong = int(np.count_nonzero(path != self.labels))
        self.scores.append((len(self.labels) - wrong) / len(self.labels))
        return np.array([float(wrong)])


def beam_of(model: Any) -> int | None:
    """Return how many labels of a token a search keeps; None: all."""
    return int(model.beam_width) if model.decode == "beam" else None


def cold(columns: int, labels: int, *, pair: bool) -> State:
    """Return the state of a cold start."""
    state: State = {"seen": np.zeros(1, dtype=np.int64)}
    for u in ("", "_u"):
        for name in ("emission", "pair") if pair else ("emission",):
            state[f"{name}_indptr{u}"] = np.zeros(columns + 1, dtype=np.int64)
            state[f"{name}_indices{u}"] = np.zeros(0, dtype=np.int32)
            state[f"{name}_data{u}"] = np.zeros(0)
        state[f"transition{u}"] = np.zeros((labels, labels))
        state[f"start{u}"], state[f"end{u}"] = np.zeros(labels), np.zeros(labels)
    return state


def predicting(engine: Engine, state: State, averaged: bool) -> State:
    """Return the weights that predict: the averages, or the last ones."""
    if averaged:
        return engine.sequence_average(state)
    return {name: w for name, w in state.items() if not name.endswith("_u") and name != "seen"}


def dense(weights: State, name: str, planes: int) -> NDArray[np.float64]:
    """Return a matrix of sparse weights in full."""
    indptr = weights[f"{name}_indptr"]
    out = np.zeros((len(indptr) - 1, planes))
    out[np.repeat(np.arange(len(out)), np.diff(indptr)), weights[f"{name}_indices"]] = weights[f"{name}_data"]
    return out
