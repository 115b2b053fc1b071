"""One run of an engine for an estimator: what goes in, and where the report goes."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.audit.record import Method, begin_record, note_end, recorded
from perceptron_rs.common.driver import Report, Schedule, drive, follow, publish_report
from perceptron_rs.common.early_stopping import Validation, publish_scores, selected, split
from perceptron_rs.common.labels import check_classes
from perceptron_rs.common.mixing import Mixed, cuts, in_threads
from perceptron_rs.common.parameters import draw_seed, n_threads, noise_settings
from perceptron_rs.common.planes import is_joint, joint_update, n_planes, positive_labels
from perceptron_rs.common.progress import Observer
from perceptron_rs.common.rows.examples import Examples
from perceptron_rs.common.rows.selection import part, rows_of
from perceptron_rs.common.sklearn_callbacks import FitTask
from perceptron_rs.common.terms import check_terms, terms
from perceptron_rs.common.weights import class_weights, start_value, weighed
from perceptron_rs.engines import Engine, get_engine
from perceptron_rs.errors import ArgumentError, overflow
from perceptron_rs.linear.penalty import strengths
from perceptron_rs.settings import Data, Linear
from perceptron_rs.stream.fit import Options, open_stream, publish_columns, refuse_in_stream, run_stream

__all__ = [
    "check_same_problem",
    "learn",
    "learn_stream",
    "publish",
    "settings_of",
    "start_state",
]


def start_state(
    estimator: Any, classes: NDArray[Any], previous: Any, coef_init: Any, intercept_init: Any
) -> Any:
    """Return the state of a cold start; weights that are not given are the ``previous`` ones or 0."""
    estimator._terms = terms(estimator)
    engine, planes = get_engine(estimator.engine), n_planes(estimator, classes)
    columns = estimator.n_features_in_
    shapes = {"coef": (planes, columns), "intercept": (planes,)}
    state = {}
    for name, given in (("coef", coef_init), ("intercept", intercept_init)):
        if given is not None:
            state[name] = start_value(given, f"{name}_init", shapes[name])
        elif previous is not None:
            state[name] = previous[name]
    return estimator._start(engine, planes, columns, **state)


def publish(estimator: Any, state: Any) -> None:
    """Keep what has been learnt on the estimator."""
    estimator._publish(state)


def check_same_problem(estimator: Any, state: Any, classes: NDArray[Any]) -> None:
    """Raise if numbers learnt before do not fit the classes and columns of this call."""
    check_terms(estimator)
    check_classes(classes)
    if classes is not estimator.classes_ and not np.array_equal(classes, estimator.classes_):
        raise ArgumentError(
            "{warm_start} continues a fit with the classes {known!r:.200}, but {y} holds {found!r:.200}",
            "set {warm_start} or give both start values",
            cause="other classes",
            values={"warm_start": True},
            settings={"warm_start": False},
            known=estimator.classes_.tolist(),
            found=classes.tolist(),
        )
    needed = (n_planes(estimator, classes), estimator.n_features_in_)
    shape = state.shape
    if shape != needed:
        raise ArgumentError(
            f"{{data}} need weights of the shape {needed}, but {{estimator}} continues with weights of the "
            f"shape {shape}",
            "set {warm_start} or pass {X} with the same features",
            cause="other terms",
            settings={"warm_start": False},
        )


def partitions(
    engine: Engine,
    data: Examples,
    labels: NDArray[np.uint32],
    weights: NDArray[np.float64] | None,
    ends: NDArray[np.int64],
) -> list[Data]:
    """Cut the examples into partitions, which begin at ``ends``."""
    return [
        Data(
            rows_of(engine, part(data.stored, begin, end), data.rows.shape[1]),
            labels[begin:end],
            None if weights is None else weights[begin:end],
        )
        for begin, end in pairwise(ends.tolist())
    ]


def settings_of(
    estimator: Any,
    positive: NDArray[np.uint32],
    planes: NDArray[np.float64],
    seed: int | None,
    **options: Any,
) -> Linear:
    """Return the settings of a run; ``options`` are those that depend on the call."""
    return Linear(
        learner=estimator._learner,
        positive=positive,
        class_weight=planes,
        eta0=float(estimator.eta0),
        tie=str(estimator.tie),
        fit_intercept=bool(estimator.fit_intercept),
        seed=seed,
        joint=joint_update(estimator),
        penalty=strengths(estimator),
        track_mistakes=bool(estimator.track_mistakes),
        keep_on_interrupt=bool(estimator.keep_on_interrupt),
        threads=n_threads(estimator, len(positive)),
        **noise_settings(estimator),
        **options,
    )


def learn(
    estimator: Any,
    engine: Engine,
    data: Examples,
    labels: NDArray[np.uint32],
    sample_weight: Any,
    state: Any,
    task: FitTask | None = None,
    *,
    early_stopping: bool = False,
    first_epoch: int,
    max_iter: int,
    tol: float | None,
    shuffle: bool,
    settle: bool,
    track_activations: bool = False,
) -> Report:
    """Learn, and publish the new state and the story of the run on the estimator.

    ``task`` tells scikit-learn's callbacks.
    """
    n, positive = len(labels), positive_labels(n_planes(estimator, estimator.classes_))
    of_call = weighs = weighed(estimator, labels, sample_weight, len(positive))
    if weighs.idle is not None:
        data.assert_finite_in(weighs.idle, estimator)  # the engine does not meet these rows
    needs_seed = shuffle or estimator._draws or early_stopping
    seed = draw_seed(estimator.random_state) if needs_seed else None
    held_out = None
    if early_stopping:
        assert seed is not None
        others = split(engine, labels, weighs.rows, estimator.validation_fraction, seed)
        validation = selected(engine, data, others).rows
        held_out = Validation(
            lambda state: estimator._activations(engine, state, validation),
            labels[others],
            None if weighs.sample is None else weighs.sample[others],
            None if is_joint(estimator) else positive,
            str(estimator.tie),
        )
        weighs = weighs.without(others, n)
    observer = Observer(estimator, weighs.n_examples(n), task, publish)
    begins = estimator._begin(engine, data, state, seed)
    settings = settings_of(
        estimator,
        positive,
        weighs.planes,
        seed if shuffle else None,
        settle=settle,
        track_activations=track_activations,
        **estimator._own_settings(weighs.n_examples(n)),
    )
    method: Method = "fit" if settle else "partial_fit"
    with recorded(estimator, method, data.stored, labels, of_call.sample, state):
        try:
            schedule = Schedule(first_epoch, max_iter, tol, int(estimator.n_iter_no_change))
            watch = observer if observer.is_needed else None
            ends = cuts(getattr(estimator, "n_partitions", 1) if settle else 1, n, weighs.rows)
            if len(ends) == 2:
                whole = Data(data.rows, labels, weighs.sample)
                report = drive(engine, whole, begins, settings, schedule, watch, held_out)
            else:
                parts = partitions(engine, data, labels, weighs.sample, ends)
                alone = replace(settings, threads=1)
                rounds = in_threads(engine, parts, alone, str(estimator.mixing), n_threads(estimator))
                report = follow(Mixed(estimator._arrays(state), rounds), settings, schedule, watch, held_out)
        except OverflowError as error:
            data.assert_finite(estimator)
            raise overflow(error) from None
    note_end(estimator, report.stopped, int(report.n_iter.max()))
    publish(estimator, report.state)
    publish_report(estimator, report, is_fit=settle)
    publish_scores(estimator, held_out and held_out.scores)
    return report


def learn_stream(estimator: Any, given: Any, classes: Any, options: Options) -> Report:
    """Learn from a stream as `learn` does from examples in memory, and publish the same."""
    refuse_in_stream(estimator)
    engine = get_engine(estimator.engine)
    balanced = isinstance(estimator.class_weight, str)
    goes_on = bool(estimator.warm_start) and hasattr(estimator, "classes_")
    if goes_on and classes is None:
        classes = estimator.classes_
    stream = open_stream(given, classes, options, counts=balanced)
    classes = stream.facts.classes
    publish_columns(estimator, stream, reset=not goes_on)
    if goes_on:
        state = estimator._model_of(engine)
        check_same_problem(estimator, state, classes)
    else:
        estimator.classes_, estimator._n_epochs = classes, 0
        state = start_state(estimator, classes, None, None, None)
        begin_record(estimator)
    positive = positive_labels(n_planes(estimator, classes))
    planes = class_weights(estimator.class_weight, classes, stream.facts.counts, len(positive))
    task = FitTask(estimator, given, None, None)

    seed = draw_seed(estimator.random_state) if options.shuffle or estimator._draws else None
    settings = settings_of(estimator, positive, planes, seed if options.shuffle else None, settle=False)
    learner, state = estimator._begin_stream(engine, state, seed)
    report = run_stream(
        estimator,
        engine,
        stream,
        state,
        settings,
        Schedule(
            estimator._n_epochs,
            int(estimator.max_iter),
            None if estimator.tol is None else float(estimator.tol),
            int(estimator.n_iter_no_change),
        ),
        Observer(estimator, 0, task, publish),
        options,
        learner,
    )
    publish(estimator, report.state)
    publish_report(estimator, report, is_fit=True)
    publish_scores(estimator, None)
    estimator._n_epochs += estimator.n_iter_
    task.end()
    return report
