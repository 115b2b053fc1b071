"""Epochs: the visiting order, one pass of each plane that still runs, and when a plane stops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import OnEpoch, Report, State
from perceptron_rs.reference.arith import foreign, standard
from perceptron_rs.reference.error import overflow
from perceptron_rs.reference.online.averaged import Averaged
from perceptron_rs.reference.online.check import check_alone, check_decisions, check_fit, check_steps
from perceptron_rs.reference.online.feed import feed
from perceptron_rs.reference.online.perceptron import Perceptron
from perceptron_rs.reference.online.pocket import Pocket
from perceptron_rs.reference.online.problem import decisions
from perceptron_rs.reference.online.rule import Rule
from perceptron_rs.reference.online.stopping import Criterion
from perceptron_rs.reference.online.voted import Voted
from perceptron_rs.reference.order import permutation
from perceptron_rs.reference.rows import Cursor

__all__ = ["fit"]

RULES: dict[str, type[Rule]] = {
    "perceptron": Perceptron,
    "averaged": Averaged,
    "pocket": Pocket,
    "voted": Voted,
}


@standard()
def fit(
    rows: Any,
    labels: NDArray[np.uint32],
    sample_weight: NDArray[np.float64] | None,
    *,
    learner: str,
    state: State,
    positive: NDArray[np.uint32],
    class_weight: NDArray[np.float64],
    eta0: float,
    tie: str,
    fit_intercept: bool,
    seed: int | None,
    first_epoch: int,
    max_iter: int,
    tol: float | None,
    n_iter_no_change: int,
    track_mistakes: bool,
    threads: int,  # noqa: ARG001  one thread: the bits do not depend on their number
    margin: float = 0.0,
    added_feature: float = 0.0,
    max_mistakes_per_example: int | None = None,
    joint: str | None = None,
    penalty: tuple[float, float] | None = None,
    settle: bool = True,
    check: str = "run",
    record: bool = False,
    on_epoch: OnEpoch | None = None,
    with_state: bool = False,
    keep_on_interrupt: bool = False,
) -> Report:
    """Run epochs until every plane has stopped.

    Parameters
    ----------
    rows : made by ``dense_rows`` or ``csr_rows``
        n examples of d columns.
    labels : uint32 array of shape (n,)
        Class of each example.
    sample_weight : float64 array of shape (n,), or None for ones
        An example whose weight is 0 in every plane is left out before the order is drawn.
    learner : "perceptron", "averaged", "pocket" or "voted"
    state : dict of arrays
        See `perceptron_rs.engines.State`; not modified.
    positive : uint32 array of shape (K,)
        The class that plane k tells from the others.
    class_weight : float64 array of shape (K, 2)
        Weights of the negative and of the positive examples of each plane.
    eta0 : float
        Learning rate, above 0.
    tie : "mistake" or "positive"
        Whether an activation of exactly 0 is always a mistake, or predicts +1.
    fit_intercept : bool
        If False, the intercept keeps its start value.
    seed : int or None
        Key of a new permutation in every epoch; None visits the rows as they stand.
    first_epoch : int
        Number of the first epoch, for the permutations and for errors.
    max_iter : int
        Largest number of epochs, at least 1.
    tol : float or None
        A plane stops when its mean loss has not improved by ``tol`` on the best one
        ``n_iter_no_change`` times in a row. An epoch without mistake always stops it.
    n_iter_no_change : int
    track_mistakes : bool
        Whether to count the mistakes made on each example.
    threads : int
    margin : float
        tau, at least 0: an example that is right by no more than this is a mistake.
    added_feature : float
        delta, at least 0: the value of a feature that each example has for itself in this call.
    max_mistakes_per_example : int or None
        How many updates an example may cause in this call, in each plane.
    joint : "max", "uniform", "proportional" or None
        The planes are the classes of one decision, and this is how the downward part of an update
        is spread over the error set. ``positive`` is then 0, 1, ...; K is 1 in the report.
    penalty : tuple of two floats, or None
        Strengths of the l1 and of the l2 penalty that each example takes from the weights, for
        the perceptron only. A weight is settled when an example with a value other than 0 reads it;
        of an l2 penalty alone that is not strong, all are settled together (see ``rows/pending.py``).
    settle : bool
        Whether all weights are settled at the end of each epoch. If not, what is pending stays in
        the state, and ``max_iter`` is 1.
    check : "run", "ratchet", "update" or "epoch"
        When the pocket's learner counts errors; see ``pocket.py``.
    record : bool
        Whether to report the activations of the last epoch, each before the update that it led to.
    on_epoch : callable, optional
        Called after each whole epoch with its number, the mistakes and the losses of each plane,
        and the state so far (None unless ``with_state``). It returns True to end the run, or an
        array of K booleans to end those planes.
    with_state : bool
        Whether ``on_epoch`` is to see the state: that costs a copy an epoch.
    keep_on_interrupt : bool
        Whether Ctrl-C ends the run as if it had been its last epoch. What is kept is, here, the
        state after the last whole epoch; in the core, after the last block of examples.

    Returns
    -------
    Report
        The new state and the story of the run; see `perceptron_rs.engines.Report`.

    Raises
    ------
    OverflowError
        If an activation, the step of a mistake, or at the end of an epoch a number of the state,
        or at the end the answer of the learner, is not finite. The text names the epoch.
    ValueError
        If arguments do not fit together.
    """
    check_fit(rows, labels, sample_weight, learner, RULES, state, positive, class_weight, tie, max_iter)
    check_decisions(labels, positive, tie, margin, added_feature, max_mistakes_per_example, joint)
    check_steps(state, learner, max_iter, penalty, eta0, settle, joint)
    tolerates = (margin, added_feature, max_mistakes_per_example) != (0, 0, None)
    check_alone(learner, RULES[learner].one_plane_at_a_time, joint, tolerates, check)
    state = {name: values + 0 for name, values in state.items()}  # a copy; + 0 turns -0.0 into +0.0
    rule: Rule = RULES[learner](state, fit_intercept)
    found = decisions(
        labels,
        sample_weight,
        positive,
        class_weight,
        eta0,
        tie,
        fit_intercept,
        margin,
        added_feature,
        max_mistakes_per_example,
        joint,
        penalty,
        state.get("ages"),
    )
    rule.begin(rows, found, check)
    numbers = range(len(found))
    kept = np.flatnonzero(np.any([decision.weight for decision in found], axis=0))
    mistakes: list[list[int]] = [[] for _ in found]
    losses: list[list[float]] = [[] for _ in found]
    counts = np.zeros((len(labels), len(found)), dtype=np.int64)
    stopped = ["" for _ in found]
    criteria = [Criterion(max_iter, tol, n_iter_no_change) for _ in found]
    activations = np.full((len(labels), len(positive)), np.nan)
    epoch = first_epoch
    memory: State | None = None

    def run_epoch(running: list[int]) -> dict[int, tuple[list[int], float]]:
        """Rows of the mistakes, and mean loss, of each decision that goes on."""
        order = kept
        if seed is not None:
            order = kept[permutation(len(kept), seed=seed, epoch=epoch, partition=0)]
        rule.start_epoch(epoch, order)
        done = {}
        for k in running:
            planes, visit = (
                found[k].planes,
                replace(
                    found[k].visit,
                    order=order[found[k].weight[order] != 0],
                    activations=activations[:, found[k].planes],
                ),
            )
            at = Cursor(pos=0, t=int(state["seen"][planes][0]), loss=0.0)
            try:
                log = feed(rows, visit, at, state, rule)
            except FloatingPointError:
                raise overflow(epoch) from None
            state["seen"][planes] = at.t
            if visit.pending is not None:
                if settle:
                    visit.pending.settle(state["coef"][planes])
                state["ages"][planes] = visit.pending.ages
            if not all(np.isfinite(values[planes]).all() for values in state.values()):
                raise overflow(epoch)
            # Of a joint mistake, the entry of the true class counts.
            made = [entry.row for entry in log if not joint or labels[entry.row] == entry.plane]
            done[k] = made, at.loss / max(at.pos, 1)
            rule.end_epoch(k, clean=not made)
        return done

    for epoch in range(first_epoch, first_epoch + max_iter):
        running = [k for k in numbers if not stopped[k]]
        before: State = {}
        try:
            if keep_on_interrupt:
                remembered = rule.memory()
                before = _copy(state)
            done = run_epoch(running)
        except KeyboardInterrupt:
            if not keep_on_interrupt:
                raise
            for name, values in before.items():
                state[name][...] = values
            memory = remembered if before else None
            stopped = [reason or "interrupt" for reason in stopped]
            break
        for k, (made, loss) in done.items():
            mistakes[k].append(len(made))
            losses[k].append(loss)
            np.add.at(counts[:, k], made, 1)
            stopped[k] = criteria[k].reason_to_stop(len(made), loss, len(losses[k]))
        if on_epoch is not None:
            now = [done.get(k, ([], 0.0)) for k in numbers]
            made_now = np.array([len(made) for made, _ in now])
            lost_now = np.array([loss for _, loss in now])
            snapshot = _copy(state | rule.memory()) if with_state else None
            with foreign():
                ends = on_epoch(epoch, made_now, lost_now, snapshot)
            marked = _marked(ends, len(found))
            stopped = [
                reason or ("callback" if ends else "") for reason, ends in zip(stopped, marked, strict=True)
            ]
        for k in done:
            if stopped[k]:
                rule.end_training(k)
        if all(stopped):
            break
    if not all(np.isfinite(values).all() for values in rule.answer()):
        raise overflow(epoch)

    return {
        "state": state | (rule.memory() if memory is None else memory),
        "mistakes": _table(mistakes).astype(np.int64),
        "losses": _table(losses),
        "n_iter": np.array([len(epochs) for epochs in mistakes], dtype=np.int64),
        "stopped": stopped,
        "mistakes_per_example": counts if track_mistakes else None,
        "activations": activations if record else None,
    }


def _marked(ends: Any, n: int) -> NDArray[np.bool_]:
    """Which decisions the callback ends."""
    if ends is None or isinstance(ends, (bool, np.bool_)):
        return np.full(n, bool(ends))
    if isinstance(ends, np.ndarray) and ends.dtype == np.bool_ and ends.shape == (n,):
        return ends
    raise TypeError(f"on_epoch must return None, True, False or an array of {n} booleans, got {ends!r}")


def _copy(state: State) -> State:
    return {name: values.copy() for name, values in state.items()}


def _table(planes: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """One row an epoch, one column a plane; 0 after a plane has stopped."""
    table = np.zeros((max(len(epochs) for epochs in planes), len(planes)))
    for k, epochs in enumerate(planes):
        table[: len(epochs), k] = epochs
    return table
