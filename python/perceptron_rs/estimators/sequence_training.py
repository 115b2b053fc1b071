"""The epochs of a sequence learner: calls of the engine, history, early stopping."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import Engine, Rows, State, get_engine
from perceptron_rs.estimators.data import Examples
from perceptron_rs.estimators.parameters import draw_seed, n_threads
from perceptron_rs.estimators.stored_rows import chosen

__all__ = ["train"]


def train(model: Any, data: Examples, labels: NDArray[np.uint32], lengths: NDArray[np.int64]) -> None:
    """Learn, and publish weights and history on the model."""
    engine, rows = get_engine(model.engine), data.rows
    state = cold(rows.shape[1], len(model.classes_), pair=bool(model.transition_features))
    seed = draw_seed(model.random_state) if model.shuffle or model.early_stopping else None
    part, held_out = None, None
    if model.early_stopping:
        part, held_out = split(model, engine, data, labels, lengths, seed)
    # One call runs all epochs, unless somebody wants to look in between.
    each = 1 if model.verbose or held_out is not None else int(model.max_iter)
    lean = not model.verbose and held_out is None and bool(model.averaged)
    begin, sequence_errors, token_errors, scores = time.perf_counter(), [], [], []
    best: tuple[float, State] = (-1.0, {})
    idle, stopped = 0, ""
    for first in range(0, int(model.max_iter), each):
        report = engine.sequence_fit(
            rows,
            labels,
            lengths,
            state=state,
            eta0=float(model.eta0),
            seed=seed if model.shuffle else None,
            first_epoch=first,
            max_iter=each,
            beam=int(model.beam_width) if model.decode == "beam" else None,
            update=model.update,
            chosen=part,
            average_only=lean,
        )
        state, stopped = report["state"], report["stopped"]
        sequence_errors.append(report["sequence_errors"])
        token_errors.append(report["token_errors"])
        if held_out is not None:
            weights = answer(model, engine, state)
            scores.append(held_out.accuracy(model, engine, weights))
            idle = idle + 1 if scores[-1] <= best[0] else 0
            if idle == 0:
                best = (scores[-1], weights)
        if model.verbose:
            tail = f", accuracy {scores[-1]:.4%} held out" if scores else ""
            print(
                f"-- epoch {first + 1}: {report['sequence_errors'][-1]} wrong sequences, "
                f"{report['token_errors'][-1]} wrong tokens{tail}, {time.perf_counter() - begin:.2f} s"
            )
        if stopped == "clean" or idle >= model.n_iter_no_change:
            break
    model.sequence_errors_per_epoch_ = np.concatenate(sequence_errors)
    model.token_errors_per_epoch_ = np.concatenate(token_errors)
    model.n_iter_ = len(model.sequence_errors_per_epoch_)
    model.n_seen_ = int(state["seen"][0])
    model.converged_ = stopped == "clean"
    vars(model).pop("validation_scores_", None)
    if held_out is not None:
        model.validation_scores_ = np.array(scores)
    model._weights = best[1] if held_out is not None else answer(model, engine, state, is_average=lean)


def cold(columns: int, labels: int, *, pair: bool) -> State:
    """Return the state of a cold start."""
    shapes: dict[str, tuple[int, ...]] = {
        "emission": (columns, labels),
        "transition": (labels, labels),
        "start": (labels,),
        "end": (labels,),
    }
    if pair:
        shapes["pair"] = (columns, labels * labels)
    state: State = {f"{name}{u}": np.zeros(shape) for name, shape in shapes.items() for u in ("", "_u")}
    return state | {"seen": np.zeros(1, dtype=np.int64)}


def answer(model: Any, engine: Engine, state: State, *, is_average: bool = False) -> State:
    """Return the weights that predict; ``is_average``: the state holds them already."""
    if model.averaged and not is_average:
        return engine.sequence_average(state)
    return {name: array for name, array in state.items() if name != "seen" and not name.endswith("_u")}


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Sequences that are not learnt from."""

    rows: Rows
    labels: NDArray[np.uint32]
    lengths: NDArray[np.int64]

    def accuracy(self, model: Any, engine: Engine, weights: State) -> float:
        """Return the part of the tokens that these weights get right."""
        found, _ = engine.sequence_decode(
            self.rows,
            self.lengths,
            weights=weights,
            threads=n_threads(model),
            beam=int(model.beam_width) if model.decode == "beam" else None,
        )
        return float(np.count_nonzero(found == self.labels) / len(found))


def split(
    model: Any,
    engine: Engine,
    data: Examples,
    labels: NDArray[np.uint32],
    lengths: NDArray[np.int64],
    seed: int | None,
) -> tuple[NDArray[np.uint32], HeldOut]:
    """Return the numbers of the sequences to learn from, and the others."""
    n = len(lengths)
    count = max(1, round(n * float(model.validation_fraction)))
    if count >= n:
        raise ValueError(
            f"validation_fraction={model.validation_fraction} leaves nothing to learn from {n} sequences"
        )
    is_held_out = np.zeros(n, dtype=np.bool_)
    is_held_out[np.random.RandomState(seed).permutation(n)[:count]] = True
    numbers = np.flatnonzero(np.repeat(is_held_out, lengths))
    stored = chosen(data.stored, numbers)
    if "rows" in stored:
        rows = engine.dense_rows(stored["rows"])
    else:
        indptr, indices, values = (stored[f"rows_{name}"] for name in ("indptr", "indices", "values"))
        rows = engine.csr_rows(indptr, indices, values, data.rows.shape[1])
    return np.flatnonzero(~is_held_out).astype(np.uint32), HeldOut(
        rows, labels[numbers], lengths[is_held_out]
    )
