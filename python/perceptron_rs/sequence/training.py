"""The fit of a sequence learner: one call of the engine, and its story."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from perceptron_rs.common.parameters import draw_seed, n_threads
from perceptron_rs.common.rows.examples import Examples
from perceptron_rs.engines import SequenceReport, State, get_engine
from perceptron_rs.sequence.progress import Observer

__all__ = ["train", "train_on"]


def train(model: Any, data: Examples, labels: NDArray[np.uint32], lengths: NDArray[np.int64]) -> None:
    """Learn, and publish weights and history on the model."""
    seed = draw_seed(model.random_state) if model.shuffle or model.early_stopping else None
    part, held_out, held_out_tokens = None, None, 0
    if model.early_stopping:
        part, held_out = split(model, len(lengths), seed)
        held_out_tokens = int(lengths[held_out].sum())
    observer = Observer(model, len(lengths) if part is None else len(part), held_out_tokens)
    report = get_engine(model.engine).sequence_fit(
        data.rows,
        labels,
        lengths,
        state=cold(data.rows.shape[1], len(model.classes_), pair=bool(model.transition_features)),
        eta0=float(model.eta0),
        seed=seed if model.shuffle else None,
        first_epoch=0,
        max_iter=int(model.max_iter),
        beam=int(model.beam_width) if model.decode == "beam" else None,
        update=model.update,
        chosen=part,
        held_out=held_out,
        patience=int(model.n_iter_no_change),
        threads=n_threads(model),
        answer="average" if model.averaged else "last",
        on_epoch=observer if observer.is_needed else None,
        keep_on_interrupt=bool(model.keep_on_interrupt),
    )
    vars(model).pop("_state", None)
    model._weights = {name: array for name, array in report["state"].items() if name != "seen"}
    _publish(model, report)
    vars(model).pop("validation_scores_", None)
    if held_out is not None:
        right = held_out_tokens - report["held_out_errors"]
        model.validation_scores_ = (right / held_out_tokens).reshape(-1, 1)
    _warn(model, report, observer)


def train_on(model: Any, data: Examples, labels: NDArray[np.uint32], lengths: NDArray[np.int64]) -> None:
    """Learn from one pass in the given order, going on from the state that the last one has left."""
    engine, pair = get_engine(model.engine), bool(model.transition_features)
    state = vars(model).get("_state") or cold(data.rows.shape[1], len(model.classes_), pair=pair)
    if ("pair_indptr" in state) != pair:
        raise ValueError(
            f"transition_features={pair} differs from the calls that this one goes on from; set it again, or "
            f"begin anew by fit"
        )
    observer = Observer(model, len(lengths), 0)
    report = engine.sequence_fit(
        data.rows,
        labels,
        lengths,
        state=state,
        eta0=float(model.eta0),
        seed=None,
        first_epoch=0,
        max_iter=1,
        beam=int(model.beam_width) if model.decode == "beam" else None,
        update=model.update,
        threads=n_threads(model),
        answer="state",
        on_epoch=observer if observer.is_needed else None,
        keep_on_interrupt=bool(model.keep_on_interrupt),
    )
    model._state = report["state"]
    if model.averaged:
        model._weights = engine.sequence_average(model._state)
    else:
        model._weights = {name: w for name, w in model._state.items() if not name.endswith("_u")}
    model._weights.pop("seen", None)
    _publish(model, report)
    _warn(model, report, observer)


def _publish(model: Any, report: SequenceReport) -> None:
    model.sequence_errors_per_epoch_ = report["sequence_errors"]
    model.token_errors_per_epoch_ = report["token_errors"]
    model.n_iter_ = len(report["sequence_errors"])
    model.n_seen_ = report["seen"]
    model.converged_ = report["stopped"] == "clean"


def _warn(model: Any, report: SequenceReport, observer: Observer) -> None:
    if report["stopped"] == "interrupt" or observer.interrupted:
        warnings.warn(
            f"ctrl-c ended the fit in epoch {model.n_iter_} (counted from 1); "
            f"what was learnt until then is kept",
            ConvergenceWarning,
            stacklevel=3,
        )


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


def split(model: Any, n: int, seed: int | None) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the numbers of the sequences to learn from, and the others."""
    count = max(1, round(n * float(model.validation_fraction)))
    if count >= n:
        raise ValueError(
            f"validation_fraction={model.validation_fraction} leaves nothing to learn from {n} sequences"
        )
    is_held_out = np.zeros(n, dtype=np.bool_)
    is_held_out[np.random.RandomState(seed).permutation(n)[:count]] = True
    return np.flatnonzero(~is_held_out).astype(np.uint32), np.flatnonzero(is_held_out).astype(np.uint32)
