"""The layers of the multilayer perceptron, and a run of an engine that trains them."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.audit.record import RECORD, Method, note_end, recorded
from perceptron_rs.common.driver import Schedule, drive
from perceptron_rs.common.early_stopping import Validation, publish_scores, selected, split
from perceptron_rs.common.parameters import n_threads
from perceptron_rs.common.planes import positive_labels
from perceptron_rs.common.rows.examples import Examples
from perceptron_rs.common.terms import check_terms
from perceptron_rs.common.weights import class_counts, class_weights, nothing_to_learn, sample_weights
from perceptron_rs.engines import Engine, Rows
from perceptron_rs.errors import ArgumentError, overflow
from perceptron_rs.settings import Data, Network

__all__ = ["check_same_problem", "learn", "report_mistakes", "sizes_of"]

_LARGEST = 2**31 - 1


def sizes_of(model: Any) -> tuple[int, ...]:
    """Return the number of neurons of each hidden layer."""
    given = model.hidden_layer_sizes
    sizes = [given] if isinstance(given, Integral) else list(given)
    if not all(isinstance(size, Integral) and 1 <= int(size) <= _LARGEST for size in sizes):
        raise ValueError(f"hidden_layer_sizes must be whole numbers of at least 1, got {given!r:.80}")
    return tuple(int(size) for size in sizes)


def check_same_problem(model: Any) -> None:
    """Raise if what was learnt before does not fit this call."""
    sizes = (model.n_features_in_, *sizes_of(model), model.n_outputs_)
    learnt = (len(model.coefs_[0]), *(len(intercept) for intercept in model.intercepts_))
    if sizes != learnt:
        raise ArgumentError(
            f"{{X}} and {{hidden_layer_sizes}} need layers of the sizes {sizes}, but {{estimator}} continues "
            f"with {learnt}",
            "set the sizes of the last fit, or begin anew by fit with {warm_start}",
            cause="other terms",
            settings={"warm_start": False},
        )
    check_terms(model)


def report_mistakes(model: Any, mistakes: NDArray[np.int64]) -> None:
    """Publish the mistakes of each epoch (n_iter, 1), and what follows from them."""
    model.mistakes_per_epoch_ = mistakes
    model.n_mistakes_ = int(mistakes.sum())
    calls = getattr(model, RECORD, ())
    is_whole = not calls or calls[-1].ended is None or calls[-1].ended[0] != "interrupt"
    model.converged_ = is_whole and bool(mistakes[-1, 0] == 0)


def weights_together(
    model: Any, weights: NDArray[np.float64] | None, labels: NDArray[np.uint32]
) -> NDArray[np.float64] | None:
    """Return the weight of each example times that of its class; None if all are 1."""
    if weights is None and model.class_weight is None:
        return None
    counts = class_counts(model.class_weight, labels, weights, len(model.classes_))
    planes = class_weights(model.class_weight, model.classes_, counts, model.n_outputs_)
    of_classes = planes[0] if len(planes) == 1 else planes[:, 1]
    with np.errstate(over="ignore", under="ignore"):
        together: NDArray[np.float64] = of_classes[labels] * (1.0 if weights is None else weights)
        total = np.add.accumulate(together)[-1]
    if not 0 < total < math.inf:
        if total == 0:
            raise nothing_to_learn()
        raise ArgumentError("{weights} are too large together", "scale them")
    return together


def learn(
    model: Any,
    engine: Engine,
    data: Examples,
    labels: NDArray[np.uint32],
    sample_weight: Any,
    *,
    method: Method,
    seed: int,
    shuffle: bool,
    max_iter: int,
    tol: float | None,
    early_stopping: bool = False,
    keep_on_interrupt: bool = False,
) -> str:
    """Learn, publish what was learnt, and return why it ended."""
    for name in ("alpha", "learning_rate_init"):
        if not math.isfinite(getattr(model, name)):
            raise ValueError(f"{name} must be a finite number, got {getattr(model, name)!r}")
    settings = Network(
        activation=str(model.activation),
        rate=float(model.learning_rate_init),
        alpha=float(model.alpha),
        batch_size=int(model.batch_size),
        seed=seed if shuffle else None,
        keep_on_interrupt=keep_on_interrupt,
    )
    schedule = Schedule(
        model._n_epochs,
        max_iter,
        None if tol is None else float(tol),
        int(model.n_iter_no_change),
        until_clean=False,
    )
    weights = sample_weights(sample_weight, labels)
    together = weights_together(model, weights, labels)
    if together is not None:
        data.assert_finite_in(together == 0, model)  # the engine does not meet these rows
    held_out = None
    if early_stopping:
        kept = None if together is None else np.flatnonzero(together)
        others = split(engine, labels, kept, model.validation_fraction, seed)
        held_out = validation(model, engine, selected(engine, data, others).rows, labels, weights, others)
        together = np.ones(len(labels)) if together is None else together
        together[others] = 0.0  # an example of weight 0 is not visited
    with recorded(model, method, data.stored, labels, weights):
        try:
            examples = Data(data.rows, labels, together)
            before = model._model_of(engine)
            report = drive(engine, examples, before, settings, schedule, held_out=held_out)
        except OverflowError as error:
            data.assert_finite(model)
            raise overflow(error, "learning_rate_init") from None
    if not len(report.losses):
        raise KeyboardInterrupt  # nothing was learnt that could be kept
    model._publish(report.state)
    model.loss_curve_ = report.losses[:, 0].tolist()
    model.loss_ = model.loss_curve_[-1]
    model.n_iter_ = len(model.loss_curve_)
    note_end(model, report.stopped, model.n_iter_)
    report_mistakes(model, report.mistakes)
    publish_scores(model, held_out)
    return report.stopped[0]


def validation(
    model: Any,
    engine: Engine,
    rows: Rows,
    labels: NDArray[np.uint32],
    weights: NDArray[np.float64] | None,
    others: NDArray[np.intp],
) -> Validation:
    """Return what judges a network by these ``rows``, which are the ``others`` of the examples."""

    def judge(learnt: Any) -> NDArray[np.float64]:
        return engine.mlp_scores(
            rows,
            learnt.state(),
            activation=str(model.activation),
            probabilities=False,
            threads=n_threads(model),
        )

    positive = positive_labels(1) if model.n_outputs_ == 1 else None
    return Validation(judge, labels[others], None if weights is None else weights[others], positive)
