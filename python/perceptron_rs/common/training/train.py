"""A call that learns, whatever learns and wherever the examples are: from the arguments to what it leaves.

`train` alone knows the steps and their order. A feeder has the examples (`InMemory`, sequences in memory,
blocks of a stream, partitions of a cluster). A learner has its start, its settings, and what it keeps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.array_likes import ArrayLike
from perceptron_rs.audit.record import Method, begin_record, note_end
from perceptron_rs.choices import ClassWeight
from perceptron_rs.common.errors import warn_caller
from perceptron_rs.common.fixed_parameters import check_fixed_parameters, fixed_parameters
from perceptron_rs.common.owner import Owner
from perceptron_rs.common.parameters import check_parameters, draw_seed, is_aggressive
from perceptron_rs.common.rows.examples import ValidatedRows
from perceptron_rs.common.targets.label_sets import LabelSets
from perceptron_rs.common.targets.planes import (
    is_joint,
    is_multilabel,
    keep_label_matrix,
    n_planes,
    positive_labels,
)
from perceptron_rs.common.targets.weights import (
    CallWeights,
    class_counts,
    class_weights,
    label_weights,
    unvisited,
)
from perceptron_rs.common.training.driver import HeldOut, Report, Schedule
from perceptron_rs.common.training.progress import Observer
from perceptron_rs.common.training.sklearn_callbacks import FitTask
from perceptron_rs.common.turns import Turn
from perceptron_rs.engines import Engine, LearntModel, Rows, RunState, get_engine
from perceptron_rs.errors import ArgumentError, OptionsError, overflow
from perceptron_rs.float_mode import standard
from perceptron_rs.settings import Settings
from perceptron_rs.sklearn_base import CallbackSupportMixin, ConvergenceWarning, with_callbacks
from perceptron_rs.state import State, arrays_of

__all__ = ["Feeder", "Trainable", "train"]


class Feeder(ABC):
    """The examples of a call. Its steps set attributes, in this order: `open`, `weigh`, `hold_out`, `learn`.

    Parameters
    ----------
    method : {"fit", "partial_fit", "fit_stream"}
    start : dict, default=None
        Weights that the caller gives to start from, by name; None among them is not given.
    """

    #: The estimator that learns: a twin of the caller's, or that itself.
    model: Trainable
    engine: Engine
    #: Whether it goes on from what was learnt before.
    goes_on: bool
    classes: NDArray[np.generic]
    #: Those of a stream or a cluster hold no examples.
    data: ValidatedRows
    #: Classes (n,), or words of bits (n, W): see `label_sets`.
    labels: NDArray[np.uint32]
    #: As what matrix many labels of an example were given, "dense" or "sparse"; None: one of each.
    multilabel: str | None = None
    #: As it was given.
    sample_weight: ArrayLike = None
    weighed: CallWeights
    #: How many are visited in an epoch; 0: nobody has counted them.
    n_examples: int = 0
    held_out: HeldOut | None = None
    #: Accuracies of the validation part, epoch by epoch, if there is one.
    scores: list[Any] | None = None
    #: Further rows that the start state names.
    stored_rows: Rows | None = None
    report: Report
    #: Whether the call returns the prediction for each example before the update on it.
    tracks: bool = False
    #: What that was, (n, K), unless all weights are above 0.
    activations: NDArray[np.float64] | None = None

    def __init__(self, method: Method, start: Mapping[str, object] | None = None) -> None:
        self.method: Method = method
        self.is_pass = method == "partial_fit"
        self.start = {} if start is None else {name: w for name, w in start.items() if w is not None}

    @property
    def shuffles(self) -> bool:
        """Whether the examples are shuffled."""
        return not self.is_pass and bool(self.model.shuffle)

    @cached_property
    def seed(self) -> int:
        """Seed of all random numbers of this call, drawn from ``random_state`` when it is first read."""
        return draw_seed(self.model.random_state)

    @property
    def order(self) -> int | None:
        """Seed of the orders."""
        return self.seed if self.shuffles else None

    @property
    def positive(self) -> NDArray[np.uint32]:
        """The class that each plane tells from the others, (K,)."""
        return positive_labels(len(self.weighed.planes))

    def accept(self, y: NDArray[np.generic] | LabelSets) -> None:
        """Note whether examples have many labels; ValueError if the learner cannot go on with these."""
        self.accept_kind(y.kind if isinstance(y, LabelSets) else None)

    def accept_kind(self, multilabel: str | None) -> None:
        """Note as what matrix examples have many labels, None if one each; ValueError as for `accept`."""
        self.multilabel = multilabel
        if self.multilabel is not None and is_joint(self.model):
            raise OptionsError(
                "{multi_class} judges an example by its one class, but {y} has many labels",
                "set {multi_class}",
                values={"multi_class": "joint"},
                settings={"multi_class": "ovr"},
            )
        if self.goes_on and is_multilabel(self.model) != (self.multilabel is not None):
            now, before = ("many labels", "one") if self.multilabel else ("one label", "many")
            raise ArgumentError(
                f"{{y}} has {now} for each example, but {{estimator}} continues from {before}",
                "pass such a {y}, or set {warm_start}",
                cause="other terms",
                settings={"warm_start": False},
            )

    @abstractmethod
    def open(self) -> None:
        """Find the classes and the columns; put the columns on the model."""

    @abstractmethod
    def weigh(self) -> None:
        """Find the weights of examples and classes."""

    def hold_out(self) -> None:  # noqa: B027  most feeders have none
        """Set examples aside that say when to stop."""

    def task(self) -> FitTask | None:
        """Return the fit as scikit-learn's callbacks see it."""
        return None

    @abstractmethod
    def learn(
        self, state: LearntModel, settings: Settings, schedule: Schedule, observer: Observer | None
    ) -> Report:
        """Learn from the examples, and add that to the record."""

    def assert_finite(self) -> None:  # noqa: B027  not where blocks are looked at one by one
        """Raise if there is a NaN or an infinity in the examples."""


class Trainable(Owner):
    """An estimator that `train` teaches; a subclass gives its start, its settings and what it keeps."""

    tol: float | None
    max_iter: int
    n_iter_no_change: int
    warm_start: bool
    callback: Any  # a function of a record of the family, or None
    verbose: int
    shuffle: bool
    random_state: int | np.random.RandomState | None
    class_weight: ClassWeight | None
    early_stopping: bool
    validation_fraction: float
    classes_: NDArray[np.generic]
    n_iter_: int
    validation_scores_: NDArray[np.float64]
    _n_epochs: int  # run by fits since the last cold start: the next one's number
    _fixed_values: dict[str, object]  # the parameters of `_fixed` with which it was learnt
    #: Whether an epoch without a mistake ends a fit.
    _until_clean: ClassVar[bool] = True

    @property
    def _rate(self) -> str:
        """The parameter that an overflow asks to lower."""
        return "C" if is_aggressive(self) else "eta0"

    def _forget(self) -> None:
        """Forget what a cold start must not find."""

    @abstractmethod
    def _start(self, feeder: Feeder) -> LearntModel:
        """Return what a run starts with: what was learnt before, or a cold start."""

    @abstractmethod
    def _settings(self, feeder: Feeder) -> Settings:
        """Return the settings of a run."""

    def _keep(self, feeder: Feeder, state: RunState) -> None:  # noqa: ARG002
        """Keep what has been learnt; in the midst of a run, on a copy."""
        self._publish(state)

    def _learn_at_once(self, feeder: Feeder) -> bool:  # noqa: ARG002
        """Make a pass in one call of the engine; False: that cannot be, and nothing has been learnt."""
        return False

    def _is_one_decision(self) -> bool:
        """Whether all planes judge an example together."""
        return is_joint(self)

    def _n_planes(self, classes: NDArray[np.generic]) -> int:
        """Return the number of weight vectors, or of output neurons."""
        return n_planes(self, classes)

    def _class_weights(self, feeder: Feeder, counts: NDArray[np.int64] | None) -> NDArray[np.float64]:
        """Return the weights (K, 2) of the planes, where the classes have so many examples."""
        return self._class_weights_for(feeder.classes, counts)

    def _class_weights_for(
        self, classes: NDArray[np.generic], counts: NDArray[np.int64] | None
    ) -> NDArray[np.float64]:
        if is_multilabel(self):
            return label_weights(self.class_weight, counts, len(classes))
        return class_weights(self.class_weight, classes, counts, self._n_planes(classes))

    def _weigh(self, feeder: Feeder, sample: NDArray[np.float64] | None) -> CallWeights:
        """Return what examples weigh that have these weights."""
        labels = feeder.labels
        planes = self._class_weights(
            feeder, class_counts(self.class_weight, labels, sample, len(feeder.classes))
        )
        return CallWeights(sample, planes, unvisited(sample, planes, labels, self._is_one_decision()))

    def _activations(self, feeder: Feeder, state: RunState, examples: ValidatedRows) -> NDArray[np.float64]:
        """Return what examples get in a state of a run, (m, K): activations or votes."""
        raise NotImplementedError

    def _arrays(self, state: LearntModel) -> State:
        """Return a state as arrays, for runs over blocks and partitions."""
        return arrays_of(state)

    def _tolerance(self, feeder: Feeder) -> float | None:  # noqa: ARG002
        """Return the improvement of an epoch that keeps a fit going; None: ``max_iter`` alone ends it."""
        return None if self.tol is None else float(self.tol)

    def _schedule(self, feeder: Feeder) -> Schedule:
        """Return how long to learn."""
        if feeder.is_pass:
            return Schedule(until_clean=self._until_clean)
        return Schedule(
            self._n_epochs,
            int(self.max_iter),
            self._tolerance(feeder),
            int(self.n_iter_no_change),
            self._until_clean,
        )

    def _observer(self, feeder: Feeder, task: FitTask | None) -> Observer | None:
        """Return the observer of the epochs."""
        return Observer(self, feeder.n_examples, task, lambda model, state: model._keep(feeder, state))

    @abstractmethod
    def _publish_report(self, feeder: Feeder) -> None:
        """Put what the run reports on the estimator."""

    def _check_parameters(self, *, for_partial_fit: bool = False) -> None:
        """Raise ValueError for what scikit-learn's look at single parameters lets through."""
        check_parameters(self, for_partial_fit=for_partial_fit)

    def _warn(self, feeder: Feeder) -> None:
        """Warn the caller of a fit that did not end by its stopping rule."""
        if feeder.is_pass:
            return
        if self.tol is not None and "max_iter" in feeder.report.stopped:
            warn_caller(
                ArgumentError(
                    "the fit reached {max_iter} before the stopping criterion",
                    "raise {max_iter}, or set {tol=None} to use a fixed number of epochs",
                    values={"max_iter": self.max_iter},
                ),
                ConvergenceWarning,
            )
        if "interrupt" in feeder.report.stopped:
            warn_caller(
                f"ctrl-c ended the fit in epoch {self._n_epochs} (counted from 1); "
                f"what was learnt until then is kept",
                ConvergenceWarning,
            )

    def _learn(self, feeder: Feeder, turn: Turn) -> None:
        """Take the steps of a call, in their order."""
        if not feeder.is_pass:  # a pass has looked at them before: see `validated`
            self._check_parameters()
        is_fitted = "classes_" in vars(self)
        feeder.goes_on = is_fitted and len(feeder.start) < 2 and (feeder.is_pass or bool(self.warm_start))
        # A short pass is made where the numbers stand: as long as a twin has them, too, they would be copied.
        feeder.model = self if feeder.goes_on and feeder.is_pass else turn.twin()
        feeder.model._open(feeder)
        if not (feeder.is_pass and feeder.model._learn_at_once(feeder)):
            feeder.model = turn.twin()
            feeder.model._learn_in_epochs(feeder)

    def _open(self, feeder: Feeder) -> None:
        """Let the examples say their classes and columns; a cold start begins with these."""
        feeder.engine = get_engine(self.engine)
        if not feeder.goes_on:
            self._forget()
        feeder.open()
        if not feeder.goes_on:
            self.classes_ = feeder.classes
            keep_label_matrix(self, feeder.multilabel)
        if not feeder.goes_on or feeder.start:
            self._n_epochs = 0
            begin_record(self)
        if not feeder.goes_on:
            self._fixed_values = fixed_parameters(self)

    def _learn_in_epochs(self, feeder: Feeder) -> None:
        """Run, from what was learnt before or from nothing, and keep what that leads to."""
        if feeder.goes_on:
            check_fixed_parameters(self)
        feeder.weigh()
        try:
            state = self._start(feeder)
            feeder.hold_out()
            task = feeder.task()
            settings, schedule = self._settings(feeder), self._schedule(feeder)
            report = feeder.report = feeder.learn(state, settings, schedule, self._observer(feeder, task))
        except OverflowError as error:
            feeder.assert_finite()
            raise overflow(error, self._rate) from None
        note_end(self, report.stopped, int(report.n_iter.max()))
        self._keep(feeder, report.state)
        self._publish_report(feeder)
        vars(self).pop("validation_scores_", None)
        if feeder.scores is not None:
            self.validation_scores_ = np.array(feeder.scores).reshape(len(feeder.scores), -1)
        if not feeder.is_pass:
            self._n_epochs += self.n_iter_
        if task is not None:
            task.end()


def train(learner: Trainable, feeder: Feeder) -> None:
    """Let an estimator learn from examples; after an exception it is what it was before."""
    with Turn(learner) as turn:
        if not feeder.is_pass and isinstance(learner, CallbackSupportMixin):
            _learn_with_callbacks(turn.twin(), feeder, turn)
        else:
            with standard():
                (learner if feeder.is_pass else turn.twin())._learn(feeder, turn)
        if turn.model is not None:
            turn.model._warn(feeder)
            turn.publish()


_learn_with_callbacks = with_callbacks(standard()(Trainable._learn))
