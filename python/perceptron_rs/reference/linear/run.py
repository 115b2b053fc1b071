"""All of a run that is not the algorithm: what goes in and out, the order of an epoch, finite numbers.

A run learns one decision a plane, or one of all planes together. Each has its own examples: those whose
weight is not 0 for it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import State
from perceptron_rs.float_mode import standard
from perceptron_rs.reference.error import overflow
from perceptron_rs.reference.linear.aggressive import LARGEST_WRONG, PassiveAggressive
from perceptron_rs.reference.linear.averaged import Averaged
from perceptron_rs.reference.linear.joint import learn_jointly, of_class
from perceptron_rs.reference.linear.noise import Noise
from perceptron_rs.reference.linear.penalty import Shrinking, penalised
from perceptron_rs.reference.linear.perceptron import Learner, Log, Plane, Steps, learn, weights
from perceptron_rs.reference.linear.pocket import Pocket
from perceptron_rs.reference.linear.voted import Voted
from perceptron_rs.reference.order import permutation
from perceptron_rs.reference.rows import check_canonical
from perceptron_rs.settings import Data, Epoch, EpochPart, Linear

#: The learners, by the names that settings give them.
LEARNERS = {"perceptron": Learner, "averaged": Averaged, "pocket": Pocket, "voted": Voted}


@dataclass
class Decision:
    """What judges an example and ends on its own. Arrays have an entry for each of the n examples."""

    classes: range  # numbers of its planes
    planes: list[Plane]
    y: NDArray[Any]  # -1.0 or 1.0; of a joint decision the class
    s: NDArray[np.float64]  # weights; an example of weight 0 is left out
    steps: Steps
    theta: NDArray[np.float64]  # the largest margin that is a mistake
    own: NDArray[np.float64]  # what an example adds to its own activation
    noise: Noise | None
    seen: NDArray[np.float64]  # (n, planes): activations of the last visits
    made: NDArray[np.int64]  # mistakes
    learners: list[Learner] = field(default_factory=list)  # one a plane
    goes_on: bool = True

    def epoch(
        self, number: int, x: Any, order: NDArray[Any], settings: Linear, before: float
    ) -> tuple[int, float, int]:
        """Return mistakes, the sum of losses and visits of an epoch; FloatingPointError as rule 9 says.

        ``before`` is the sum to go on from.
        """
        visits = order[self.s[order] != 0]
        todo, y, steps, theta, seen = visits.tolist(), self.y, self.steps, self.theta, self.seen
        log: Any
        if settings.joint is None:
            log, loss = learn(x, y, steps, self.own, theta, self.planes[0], todo, seen, before)
            logs: list[Log] = [log]
        else:
            log, loss = learn_jointly(x, y, steps, theta, self.planes, todo, seen, settings.joint, before)
            logs = [of_class(log, k) for k in self.classes]
        if not np.isfinite(self.seen[visits] + self.own[visits, np.newaxis]).all():
            raise FloatingPointError
        for plane, learner, mistakes in zip(self.planes, self.learners, logs, strict=True):
            if isinstance(plane, Shrinking) and settings.settle:
                plane.settle()
            learner.epoch(number, x, todo, mistakes)
            if not (plane.is_finite() and learner.is_finite()):
                raise FloatingPointError
        if self.noise is not None:
            self.noise.epoch(log, self.own, self.theta)
        self.made[[i for _, i, _ in log]] += 1
        return len(log), loss, len(todo)

    def end(self, x: Any, interrupted: bool) -> None:
        """Let the learners finish; FloatingPointError if what they predict with is not finite."""
        self.goes_on = False
        for plane, learner in zip(self.planes, self.learners, strict=True):
            if not interrupted:
                learner.end(x)
            if not all(np.isfinite(numbers).all() for numbers in learner.answer(plane)):
                raise FloatingPointError


class Run:
    """A learner at work on examples x; see `perceptron_rs.engines.Run`."""

    def __init__(
        self, x: Any, decisions: list[Decision], settings: Linear, memory: Callable[[list[Decision]], State]
    ) -> None:
        self.x, self.decisions, self.settings, self.memory = x, decisions, settings, memory
        self.kept = np.flatnonzero(np.any([decision.s for decision in decisions], axis=0))
        self.number, self.interrupted = -1, False  # of the last epoch; whether Ctrl-C ended it

    def epoch(self, number: int) -> Epoch:
        """Visit all examples once, for the decisions that go on. After Ctrl-C they can be as they were."""
        with standard():
            decisions, done = self._visit(number, np.zeros(len(self.decisions)))
            losses = done.losses / np.maximum(done.visits, 1)
            ends = zip(decisions, losses.tolist(), strict=True)
            goals = [one.learners[0].objective(loss) if one.goes_on else loss for one, loss in ends]
        told = Epoch(done.mistakes, losses, np.array(goals), interrupted=False)
        self.decisions, self.interrupted = decisions, False  # no signal is answered between here and the end
        return told

    def part(self, number: int, losses: NDArray[np.float64]) -> EpochPart:
        """Visit examples of an epoch; ``losses`` are the sums of those before."""
        with standard():
            decisions, done = self._visit(number, losses)
        self.decisions, self.interrupted = decisions, False  # as in epoch
        return done

    def _visit(self, number: int, losses: NDArray[np.float64]) -> tuple[list[Decision], EpochPart]:
        """Return the decisions as they are after the visits, and what these counted."""
        self.number, self.interrupted, order, D = number, True, self.kept, len(self.decisions)
        check_shapes({"losses": losses}, {"losses": (D,)})
        decisions = copy.deepcopy(self.decisions) if self.settings.keep_on_interrupt else self.decisions
        done = EpochPart(np.zeros(D, np.int64), losses.copy(), np.zeros(D, np.int64), interrupted=False)
        if self.settings.seed is not None:
            key = {"seed": self.settings.seed, "epoch": number, "partition": self.settings.partition}
            order = order[permutation(len(order), **key)]
        try:
            for k, decision in enumerate(decisions):
                if decision.goes_on:
                    told = decision.epoch(number, self.x, order, self.settings, float(losses[k]))
                    done.mistakes[k], done.losses[k], done.visits[k] = told
        except FloatingPointError:
            raise overflow(number) from None
        return decisions, done

    @standard()
    def end(self, decision: int) -> None:
        """Say that a decision goes on no more."""
        try:
            self.decisions[decision].end(self.x, self.interrupted)
        except FloatingPointError:
            raise overflow(self.number) from None

    def state(self) -> State:
        """Return the weights and all that the learner keeps, as arrays of their own."""
        seen = [plane.t for decision in self.decisions for plane in decision.planes]
        return self.memory(self.decisions) | {"seen": np.array(seen, dtype=np.int64)}

    def tracked(self) -> State:
        """Return the mistakes on each example, and the activations of its last visit."""
        tracked: State = {}
        if self.settings.track_mistakes:
            tracked["mistakes_per_example"] = np.stack([decision.made for decision in self.decisions], axis=1)
        if self.settings.track_activations:
            tracked["activations"] = np.concatenate([decision.seen for decision in self.decisions], axis=1)
        return tracked


def check_shapes(arrays: State, shapes: dict[str, tuple[int, ...]]) -> None:
    """Raise ValueError for an array that is missing or whose shape is another one."""
    for name, needed in shapes.items():
        if name not in arrays:
            raise ValueError(f"state lacks {name!r}, which the learner needs")
        if arrays[name].shape != needed:
            shape = arrays[name].shape
            raise ValueError(f"{name} must have shape {needed} for these rows and planes, got {shape}")


def check_labels(labels: NDArray[np.uint32], n: int, settings: Linear) -> None:
    """Raise ValueError for labels that are not what the planes look for."""
    if labels.ndim == 1:
        check_shapes({"labels": labels}, {"labels": (n,)})
        if settings.joint and n and labels.max() >= (K := len(settings.positive)):
            raise ValueError(f"labels must be below {K} for a joint decision, got {labels.max()}")
        return
    if settings.joint:
        raise ValueError("labels must be one class each for a joint decision, got sets")
    words = int(settings.positive.max()) // 32 + 1
    if labels.ndim != 2 or len(labels) != n or labels.shape[1] < words:
        raise ValueError(f"labels must have the shape ({n}, {words}), got {labels.shape}")


def has_class(labels: NDArray[np.uint32], k: int) -> NDArray[np.bool_]:
    """Whether each example has class k: as its only one, or among others, by bit k % 32 of word k // 32."""
    if labels.ndim == 2:
        labels, k = labels[:, k // 32] >> np.uint32(k % 32) & np.uint32(1), 1
    return np.asarray(labels == k)


def decisions(data: Data, settings: Linear, planes: list[Plane]) -> list[Decision]:
    """Lay out what is to be learnt; the learners are still to be added."""
    n, labels, K = data.rows.shape[0], data.labels, len(planes)
    check_canonical(data.rows)
    weight = np.ones(n) if data.sample_weight is None else data.sample_weight
    check_shapes({"sample_weight": weight}, {"sample_weight": (n,)})
    check_labels(labels, n, settings)
    delta, most = settings.added_feature, settings.max_mistakes_per_example
    laid_out = []
    for classes in [range(K)] if settings.joint else [range(k, k + 1) for k in range(K)]:
        k = classes[0]
        y = np.ones(n) if settings.joint else np.where(has_class(labels, settings.positive[k]), 1.0, -1.0)
        of_positives = settings.class_weight[labels if settings.joint else k, 1]
        s = weight * np.where(y > 0, of_positives, settings.class_weight[k, 0])
        # Where sign(0) is +1, a margin of exactly tau is right if y is 1: the largest wrong one is below.
        tau = float(settings.margin_threshold)
        largest = np.nextafter(tau, -np.inf) if settings.tie == "positive" else tau
        theta, steps = np.where(y > 0, largest, tau), Steps((settings.eta0 * s) * y)
        if settings.step != "constant":
            theta = np.full(n, LARGEST_WRONG)
            steps = PassiveAggressive(settings.step, settings.C, y, s, planes=2 if settings.joint else 1)
        laid_out.append(
            Decision(
                classes=classes,
                planes=[planes[k] for k in classes],
                y=labels.astype(np.intp) if settings.joint else y,
                s=s,
                steps=steps,
                theta=theta,
                own=np.zeros(n),
                noise=None if delta == 0 and most is None else Noise(n, delta, most),
                seen=np.full((n, len(classes)), np.nan),
                made=np.zeros(n, dtype=np.int64),
            )
        )
    return laid_out


def learner_of(name: str) -> type[Learner]:
    """Return the learner of a name."""
    if name not in LEARNERS:
        raise ValueError(f"learner must be one of {', '.join(LEARNERS)}, got {name!r}")
    return LEARNERS[name]


def linear_decisions(data: Data, state: State, settings: Linear) -> list[Decision]:
    """Return the decisions of a linear learner that begins with the numbers of a model."""
    K, d, learner = len(settings.positive), data.rows.shape[1], learner_of(settings.learner)
    check_shapes(state, {name: (K, d) if name.startswith("coef") else (K,) for name in learner.begins_with})
    planes = [Plane.of(state, k, settings.fit_intercept) for k in range(K)]
    if settings.penalty is not None:
        planes = penalised(planes, state["ages"], settings.eta0, *settings.penalty)
        if settings.joint and (state["ages"] != state["ages"][0]).any():
            raise ValueError("ages must be the same for all classes of a joint decision")
    laid_out = decisions(data, settings, planes)
    for decision in laid_out:
        decision.learners = [learner(state, k, data.rows, decision, settings) for k in decision.classes]
    return laid_out


def memory(decisions: list[Decision]) -> State:
    """Return weights and intercepts, and what the learners keep, as arrays."""
    planes = [plane for decision in decisions for plane in decision.planes]
    learners = [learner for decision in decisions for learner in decision.learners]
    last = weights(planes)
    if ages := [plane.ages() for plane in planes if isinstance(plane, Shrinking)]:
        last["ages"] = np.array(ages)
    return type(learners[0]).arrays(learners, last)
