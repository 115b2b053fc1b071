"""One run of an engine for an estimator: what goes in, where the report goes, on which terms it goes on."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.audit.record import Method, begin_record, note_end, recorded
from perceptron_rs.common.driver import Report, Schedule, drive, publish_report
from perceptron_rs.common.early_stopping import Judge, Validation, publish_scores, selected, split
from perceptron_rs.common.parameters import draw_seed, n_threads, noise_settings
from perceptron_rs.common.planes import is_joint, joint_update, n_planes, positive_labels
from perceptron_rs.common.progress import Observer
from perceptron_rs.common.rows.examples import Examples, read
from perceptron_rs.common.terms import OF_KERNEL, check_terms, terms
from perceptron_rs.common.weights import class_weights, weighed
from perceptron_rs.engines import Rows, get_engine
from perceptron_rs.errors import ArgumentError, overflow
from perceptron_rs.kernel.answers import answers
from perceptron_rs.kernel.values import kernel_spec
from perceptron_rs.kernel.vectors import begun
from perceptron_rs.settings import Data, Linear
from perceptron_rs.stream.fit import Options, open_stream, publish_columns, refuse_in_stream, run_stream
from perceptron_rs.stream.run import Learner

__all__ = ["Train", "learn", "learn_stream", "start"]

#: Learns from examples, given other rows that a model names, the model and settings.
Train: TypeAlias = Callable[[Rows | None, Any, Linear], Report]


def start(model: Any, data: Examples) -> None:
    """Start from the vector 0; these examples settle gamma."""
    planes = n_planes(model, model.classes_)
    model._spec = kernel_spec(model, get_engine(model.engine), data.rows)
    empty = begun(planes, None if model.kernel == "precomputed" else model.n_features_in_)
    model._publish(empty | model._begin(planes) | {"seen": np.zeros(planes, dtype=np.int64)})
    model._n_epochs = 0
    begin_record(model)
    model._terms = terms(model)


def learn(
    model: Any,
    data: Examples,
    labels: NDArray[np.uint32],
    sample_weight: Any,
    *,
    first: bool,
    method: Method,
    max_iter: int,
    tol: float | None,
    shuffle: bool,
    early_stopping: bool = False,
    track_activations: bool = False,
) -> Report:
    """Run the engine once, from the vector 0 if it is the ``first`` call; publish what comes of it."""
    data.assert_finite(model)
    engine, n = get_engine(model.engine), len(labels)
    positive = positive_labels(n_planes(model, model.classes_))
    of_call = weighs = weighed(model, labels, sample_weight, len(positive))
    if first:
        start(model, data if weighs.rows is None else selected(engine, data, weighs.rows))
    check_terms(model)
    if model.kernel == "precomputed" and data.rows.shape[0] != data.rows.shape[1]:
        raise ArgumentError(
            f"{{X}} must be a square matrix with {{kernel}}, got shape {data.rows.shape}",
            values={"kernel": "precomputed"},
        )
    model._seed = seed = draw_seed(model.random_state)
    held_out = None
    if early_stopping:
        others = split(engine, labels, weighs.rows, model.validation_fraction, seed)
        held_out = Validation(
            judge_of(model, data, selected(engine, data, others)),
            labels[others],
            None if weighs.sample is None else weighs.sample[others],
            None if is_joint(model) else positive,
            str(model.tie),
        )
        weighs = weighs.without(others, n)
    observer = Observer(model, weighs.n_examples(n), publish=lambda model, state: model._keep(data, state))
    shared = settings_of(model, weighs.planes, seed if shuffle else None) | {
        "track_activations": track_activations
    }
    schedule = Schedule(model._n_epochs if shuffle else 0, max_iter, tol, int(model.n_iter_no_change))
    watch = observer if observer.is_needed else None

    def train(stored_rows: Rows | None, begin: Any, settings: Linear) -> Report:
        examples = Data(data.rows, labels, weighs.sample, stored_rows)
        return drive(engine, examples, begin, settings, schedule, watch, held_out)

    with recorded(model, method, data.stored, labels, of_call.sample):
        try:
            report: Report = model._run(engine, data, seed, shared, train)
        except OverflowError as error:
            raise overflow(error) from None
    note_end(model, report.stopped, int(report.n_iter.max()))
    publish_report(model, report, is_fit=method == "fit")
    publish_scores(model, held_out and held_out.scores)
    return report


def judge_of(model: Any, data: Examples, others: Examples) -> Judge:
    """Return what tells how the model would answer to the ``others``, as it is in a state of a run."""

    def judge(learnt: Any) -> NDArray[np.float64]:
        then = copy.copy(model)
        then._keep(data, learnt)
        return answers(then, get_engine(model.engine), others, then._answer())

    return judge


def settings_of(model: Any, class_weight: NDArray[np.float64], seed: int | None) -> dict[str, Any]:
    """Return the settings of a run that every kernel perceptron has."""
    return {
        "positive": positive_labels(len(class_weight)),
        "class_weight": class_weight,
        "eta0": float(model.eta0),
        "tie": str(model.tie),
        "seed": seed,
        "joint": joint_update(model),
        "track_mistakes": bool(model.track_mistakes),
        "keep_on_interrupt": bool(model.keep_on_interrupt),
        "kernel": model._spec,
        "threads": n_threads(model),
        **noise_settings(model),
    }


def learn_stream(model: Any, given: Any, classes: Any, options: Options, learner: Learner) -> Report:
    """Learn from a stream as `learn` does from examples in memory, and publish the same."""
    refuse_in_stream(model)
    for name, value, remedy in (
        ("warm_start", True, "set it to False"),
        ("kernel", "precomputed", "name a kernel, whose values are computed"),
        ("gamma", "scale", "set a number, or 'auto', which need no pass over all examples"),
    ):
        matters = name != "gamma" or model.kernel in OF_KERNEL
        if matters and getattr(model, name) == value:
            raise ArgumentError(
                f"{{{name}}} is not available with {{fit_stream}} of this learner",
                remedy,
                cause="stream" if name == "warm_start" else "",
                values={name: value},
            )
    engine = get_engine(model.engine)
    stream = open_stream(given, classes, options, counts=isinstance(model.class_weight, str))
    publish_columns(model, stream, reset=True)
    model.classes_ = stream.facts.classes
    start(model, read(engine, np.zeros((0, stream.facts.n_features))))
    class_weight = class_weights(model.class_weight, model.classes_, stream.facts.counts, len(model.n_seen_))
    model._seed = seed = draw_seed(model.random_state)
    shared = settings_of(model, class_weight, seed if options.shuffle else None)
    state, settings = model._begin_stream(shared, seed)
    schedule = Schedule(
        0,
        int(model.max_iter),
        None if model.tol is None else float(model.tol),
        int(model.n_iter_no_change),
    )
    observer = Observer(model, 0, publish=lambda model, state: model._keep_stream(state))
    report = run_stream(model, engine, stream, state, settings, schedule, observer, options, learner)
    model._keep_stream(report.state)
    publish_report(model, report, is_fit=True)
    return report
