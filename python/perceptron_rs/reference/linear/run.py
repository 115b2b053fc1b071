"""All of a run that is not the algorithm: what goes in and out, the order of an epoch, finite numbers.

A run learns one decision a plane, or one of all planes together. Each has its own examples: those whose
weight is not 0 for it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.float_mode import standard
from perceptron_rs.reference.error import overflow
from perceptron_rs.reference.linear.averaged import Averaged
from perceptron_rs.reference.linear.joint import learn_jointly, of_class
from perceptron_rs.reference.linear.noise import Noise
from perceptron_rs.reference.linear.penalty import Shrinking, penalised
from perceptron_rs.reference.linear.perceptron import Learner, Log, Plane, learn
from perceptron_rs.reference.linear.pocket import Pocket, pocket_arrays
from perceptron_rs.reference.linear.voted import Voted, log_arrays
from perceptron_rs.reference.order import permutation
from perceptron_rs.reference.rows import check_canonical
from perceptron_rs.settings import Data, Epoch, Linear, State

__all__ = ["Decision", "Run", "check_shapes", "decisions", "start_linear"]


@dataclass
class Decision:
    """What judges an example and ends on its own. Arrays have an entry for each of the n examples."""

    classes: range  # numbers of its planes
    planes: list[Plane]
    learners: list[Learner]  # one a plane
    t: int  # examples seen, T
    y: NDArray[Any]  # -1.0 or 1.0; of a joint decision the class
    s: NDArray[np.float64]  # weights; an example of weight 0 is left out
    c: NDArray[np.float64]  # steps
    theta: NDArray[np.float64]  # the largest margin that is a mistake
    own: NDArray[np.float64]  # what an example adds to its own activation
    noise: Noise
    seen: NDArray[np.float64]  # (n, planes): activations of the last visits
    made: NDArray[np.int64]  # mistakes
    goes_on: bool = True

    def epoch(self, number: int, x: Any, order: NDArray[Any], settings: Linear) -> tuple[int, float]:
        """Return mistakes and mean loss of an epoch; FloatingPointError where rule 9 says so."""
        visits = order[self.s[order] != 0]
        joint, todo = settings.joint, visits.tolist()
        log: Any
        if joint is None:
            (plane,) = self.planes
            log, loss = learn(x, self.y, self.c, self.own, self.theta, plane, todo, self.t, self.seen)
            logs: list[Log] = [log]
        else:
            log, loss = learn_jointly(
                x, self.y, self.c, self.theta, self.planes, todo, self.t, self.seen, joint
            )
            logs = [of_class(log, k) for k in range(len(self.planes))]
        self.t += len(todo)
        if not np.isfinite(self.seen[visits] + self.own[visits, np.newaxis]).all():
            raise FloatingPointError
        for plane, learner, mistakes in zip(self.planes, self.learners, logs, strict=True):
            if isinstance(plane, Shrinking) and settings.settle:
                plane.settle()
            learner.epoch(number, x, todo, mistakes)
            if not (plane.is_finite() and learner.is_finite()):
                raise FloatingPointError
        self.noise.epoch(log, self.own, self.theta)
        self.made[[i for _, i, _ in log]] += 1
        return len(log), loss / max(len(todo), 1)

    def end(self, x: Any, interrupted: bool) -> None:
        """Let the learners finish; FloatingPointError if what they predict with is not finite."""
        self.goes_on = False
        for plane, learner in zip(self.planes, self.learners, strict=True):
            if not interrupted:
                learner.end(x)
            if not all(np.isfinite(numbers).all() for numbers in learner.answer(plane, self.t)):
                raise FloatingPointError


class Run:
    """A learner at work on examples x; see `perceptron_rs.engines.Run`."""

    def __init__(
        self, x: Any, found: list[Decision], settings: Linear, memory: Callable[[list[Decision]], State]
    ) -> None:
        self.x, self.decisions, self.settings, self.memory = x, found, settings, memory
        self.kept = np.flatnonzero(np.any([decision.s for decision in found], axis=0))
        self.number, self.interrupted = -1, False  # of the last epoch; whether Ctrl-C ended it

    @standard()
    def epoch(self, number: int) -> Epoch:
        """Visit all examples once, for the decisions that go on."""
        self.number, order, D = number, self.kept, len(self.decisions)
        if self.settings.seed is not None:
            order = order[permutation(len(order), seed=self.settings.seed, epoch=number, partition=0)]
        done = Epoch(np.zeros(D, dtype=np.int64), np.zeros(D), interrupted=False)
        before = copy.deepcopy(self.decisions) if self.settings.keep_on_interrupt else None
        try:
            for k, decision in enumerate(self.decisions):
                if decision.goes_on:
                    done.mistakes[k], done.losses[k] = decision.epoch(number, self.x, order, self.settings)
        except KeyboardInterrupt:
            if before is None:
                raise
            self.decisions, self.interrupted = before, True
            return Epoch(np.zeros(D, dtype=np.int64), np.zeros(D), interrupted=True)
        except FloatingPointError:
            raise overflow(number) from None
        return done

    @standard()
    def end(self, decision: int) -> None:
        """Say that a decision goes on no more."""
        try:
            self.decisions[decision].end(self.x, self.interrupted)
        except FloatingPointError:
            raise overflow(self.number) from None

    def state(self) -> State:
        """Return the weights and all that the learner keeps, as arrays of their own."""
        seen = [decision.t for decision in self.decisions for _ in decision.planes]
        return self.memory(self.decisions) | {"seen": np.array(seen, dtype=np.int64)}

    def mistakes_per_example(self) -> NDArray[np.int64]:
        """Return the mistakes made on each example."""
        return np.stack([decision.made for decision in self.decisions], axis=1)

    def activations(self) -> NDArray[np.float64]:
        """Return the activations of the last visit of each example."""
        return np.concatenate([decision.seen for decision in self.decisions], axis=1)


def check_shapes(arrays: Mapping[str, NDArray[Any] | None], shapes: dict[str, tuple[int, ...]]) -> None:
    """Raise ValueError for an array whose shape is another one."""
    for name, needed in shapes.items():
        values = arrays[name]
        if values is not None and values.shape != needed:
            raise ValueError(f"{name} must have shape {needed} for these rows and planes, got {values.shape}")


def decisions(data: Data, settings: Linear, planes: list[Plane], seen: NDArray[np.int64]) -> list[Decision]:
    """Lay out what is to be learnt; the learners are still to be added."""
    n, labels, K = data.rows.shape[0], data.labels, len(planes)
    check_canonical(data.rows)
    check_shapes(
        {"labels": labels, "sample_weight": data.sample_weight}, {"labels": (n,), "sample_weight": (n,)}
    )
    if settings.joint and n and labels.max() >= K:
        raise ValueError(f"labels must be below {K} for a joint decision, got {labels.max()}")
    found = []
    for classes in [range(K)] if settings.joint else [range(k, k + 1) for k in range(K)]:
        k = classes[0]
        y = np.ones(n) if settings.joint else np.where(labels == settings.positive[k], 1.0, -1.0)
        own = settings.class_weight[labels if settings.joint else k, 1]
        s = np.where(y > 0, own, settings.class_weight[k, 0])
        s = s if data.sample_weight is None else data.sample_weight * s
        # Where sign(0) is +1, a margin of exactly tau is right if y is 1: the largest wrong one is below.
        tau = float(settings.margin)
        largest = np.nextafter(tau, -np.inf) if settings.tie == "positive" else tau
        found.append(
            Decision(
                classes=classes,
                planes=[planes[k] for k in classes],
                learners=[],
                t=int(seen[k]),
                y=labels.astype(np.intp) if settings.joint else y,
                s=s,
                c=(settings.eta0 * s) * y,
                theta=np.where(y > 0, largest, tau),
                own=np.zeros(n),
                noise=Noise(n, settings.added_feature, settings.max_mistakes_per_example),
                seen=np.full((n, len(classes)), np.nan),
                made=np.zeros(n, dtype=np.int64),
            )
        )
    return found


def start_linear(data: Data, state: State, settings: Linear) -> Run:
    """Begin a run of a linear learner."""
    K, d = len(settings.positive), data.rows.shape[1]
    check_state(state, settings.learner, {"coef": (K, d), "intercept": (K,), "seen": (K,)})
    if settings.learner == "averaged":
        check_state(state, settings.learner, {"coef_u": (K, d), "intercept_u": (K,)})
    check_ages(state, settings)
    given = {name: values + 0 for name, values in state.items()}  # a copy; + 0 turns -0.0 into +0.0

    def plane_of(k: int, suffix: str = "") -> Plane:
        w, b = given[f"coef{suffix}"][k].copy(), float(given[f"intercept{suffix}"][k])
        return Plane(w, b, settings.fit_intercept)

    planes = [plane_of(k) for k in range(K)]
    if settings.penalty is not None:
        planes = penalised(planes, given["ages"], settings.eta0, *settings.penalty)
    found = decisions(data, settings, planes, given["seen"])
    for decision in found:
        for k in decision.classes:
            if settings.learner == "averaged":
                learner: Learner = Averaged(plane_of(k, "_u"))
            elif settings.learner == "voted":
                learner = Voted()
            elif settings.learner == "pocket":
                y, s, theta = decision.y, decision.s, decision.theta
                learner = Pocket(plane_of(k), data.rows, y, s, theta, decision.t, settings.check)
            else:
                learner = Learner()
            decision.learners.append(learner)
    return Run(data.rows, found, settings, lambda found: given | memory(found))


def check_state(state: State, learner: str, shapes: dict[str, tuple[int, ...]]) -> None:
    """Raise ValueError if a state lacks an array, or it has another shape."""
    for name in shapes:
        if name not in state:
            raise ValueError(f"state lacks {name!r}, which the learner {learner!r} needs")
    check_shapes(state, shapes)


def check_ages(state: State, settings: Linear) -> None:
    """Raise ValueError for penalties that are pending where there is none, or that cannot be."""
    ages = state.get("ages")
    if settings.penalty is None:
        if ages is not None and ages.any():
            raise ValueError("state has pending penalties; pass the penalty that it was learnt with")
    elif ages is None or ages.shape != state["coef"].shape or ages.dtype != np.int64 or (ages < 0).any():
        raise ValueError("ages must have the shape of coef and hold whole numbers of at least 0")
    elif settings.joint and (ages != ages[0]).any():
        raise ValueError("ages must be the same for all classes of a joint decision")


def memory(found: list[Decision]) -> State:
    """Return weights and intercepts, and what the learners keep, as arrays."""
    planes = [plane for decision in found for plane in decision.planes]
    learners = [learner for decision in found for learner in decision.learners]
    state = weights(planes)
    if ages := [plane.ages() for plane in planes if isinstance(plane, Shrinking)]:
        state["ages"] = np.array(ages)
    if sums := [learner.u for learner in learners if isinstance(learner, Averaged)]:
        state |= weights(sums, "_u")
    if logs := [learner.log for learner in learners if isinstance(learner, Voted)]:
        state |= log_arrays(logs)
    if pockets := [learner for learner in learners if isinstance(learner, Pocket)]:
        state |= pocket_arrays(pockets)
    return state


def weights(planes: list[Plane], suffix: str = "") -> State:
    """Return those of some planes."""
    return {
        f"coef{suffix}": np.array([plane.w for plane in planes]),
        f"intercept{suffix}": np.array([plane.b for plane in planes]),
    }
