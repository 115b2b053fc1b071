"""The steps of every call that learns, from its arguments to the attributes of a fitted estimator.

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

from perceptron_rs.arrays.likes import ArrayLike
from perceptron_rs.arrays.named import State, arrays_of
from perceptron_rs.audit.record import FitMethod, note_end
from perceptron_rs.choices import ClassWeight
from perceptron_rs.engines import Engine, LearntModel, Rows, RunState, get_engine
from perceptron_rs.errors import ArgumentError, OptionsError, named_overflow, warn_caller
from perceptron_rs.float_mode import standard
from perceptron_rs.parameters.checks import are_valid, check_parameters, draw_seed, is_aggressive
from perceptron_rs.prediction.estimator import Estimator
from perceptron_rs.rows.examples import ValidatedRows
from perceptron_rs.settings import Settings
from perceptron_rs.sklearn_base import CallbackSupportMixin, ConvergenceWarning, with_callbacks
from perceptron_rs.state.fixed_parameters import check_fixed_parameters, fixed_parameters
from perceptron_rs.state.turns import Turn, change
from perceptron_rs.targets.label_sets import LabelSets
from perceptron_rs.targets.planes import is_joint, is_multilabel, n_planes, positive_labels
from perceptron_rs.targets.weights import CallWeights, class_weights, count_classes, label_weights, unvisited
from perceptron_rs.training.driver import Report, Schedule
from perceptron_rs.training.early_stopping import ValidationPart
from perceptron_rs.training.progress import FitTask, Observer


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
    #: Number of examples that an epoch visits; 0 if it is not known.
    n_examples: int = 0
    held_out: ValidationPart | None = None
    #: X, y and the weights, as scikit-learn's callbacks are told of them; None: they see no such call.
    shown: tuple[Any, ArrayLike, ArrayLike] | None = None
    #: Further rows that the start state names.
    stored_rows: Rows | None = None
    report: Report
    #: Whether the call returns the prediction for each example before the update on it.
    tracks: bool = False
    #: What that was, (n, K), unless all weights are above 0.
    activations: NDArray[np.float64] | None = None

    def __init__(self, method: FitMethod, start: Mapping[str, object] | None = None) -> None:
        self.method: FitMethod = method
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
                "pass such a {y}, or fit anew" if self.is_pass else "pass such a {y}, or set {warm_start}",
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

    @abstractmethod
    def learn(
        self, state: LearntModel, settings: Settings, schedule: Schedule, observer: Observer | None
    ) -> Report:
        """Learn from the examples, and add that to the record."""

    def assert_finite(self) -> None:  # noqa: B027  not where blocks are looked at one by one
        """Raise if there is a NaN or an infinity in the examples."""


class Trainable(Estimator):
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
    #: The learning rate: an overflow asks to lower it.
    _rate: ClassVar[str] = "eta0"
    #: Whether more than two outputs are one decision, as those of a softmax.
    _is_softmax: ClassVar[bool] = False
    #: What is learnt of columns, which a cold start must not find.
    _columns_of_data: ClassVar[tuple[str, ...]] = ()
    #: What watches the epochs, for learners with a callback.
    _observer: ClassVar[type[Observer] | None] = Observer
    #: Whether an epoch without a mistake ends a fit.
    _until_clean: ClassVar[bool] = True

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

    def _class_weights(
        self, classes: NDArray[np.generic], counts: NDArray[np.int64] | None
    ) -> NDArray[np.float64]:
        """Return the weights (K, 2) of the planes, where the classes have so many examples."""
        if is_multilabel(self):
            return label_weights(self.class_weight, counts, len(classes))
        return class_weights(self.class_weight, classes, counts, n_planes(self, classes))

    def _weigh(self, feeder: Feeder, sample: NDArray[np.float64] | None) -> CallWeights:
        """Return what examples weigh that have these weights."""
        labels = feeder.labels
        is_balanced = isinstance(self.class_weight, str)
        counts = count_classes(labels, sample, len(feeder.classes)) if is_balanced else None
        planes = self._class_weights(feeder.classes, counts)
        return CallWeights(sample, planes, unvisited(sample, planes, labels, is_one_decision(self)))

    def _activations(self, feeder: Feeder, state: RunState, examples: ValidatedRows) -> NDArray[np.float64]:
        """Return what examples get in a state of a run, (m, K): activations or votes."""
        raise NotImplementedError  # of sequences, whose feeder holds out by their tokens

    def _arrays(self, state: LearntModel) -> State:
        """Return a state as arrays, for runs over blocks and partitions."""
        return arrays_of(state)

    def _schedule(self, feeder: Feeder) -> Schedule:
        """Return how long to learn."""
        if feeder.is_pass:
            return Schedule(until_clean=self._until_clean)
        return Schedule(
            self._n_epochs,
            int(self.max_iter),
            None if self.tol is None else float(self.tol),
            int(self.n_iter_no_change),
            self._until_clean,
        )

    def _reported(self, feeder: Feeder) -> dict[str, Any]:
        """Return the fields of what has been learnt that say how the run went."""
        report = feeder.report
        if feeder.tracks:
            activations = feeder.activations = report.tracked["activations"]  # NaN where none was computed
            if np.isnan(activations).any():
                raise ArgumentError(
                    "{weights} must be above 0, because examples of weight 0 are not visited",
                    "use {predict} and {partial_fit} instead",
                )
        if not feeder.is_pass and not np.isfinite(report.losses).all():
            raise ArgumentError(
                "training overflowed: the losses of an epoch are not finite",
                f"scale the features or lower {{{rate_of(self)}}}",
            )
        return {
            "n_iter_per_class": report.n_iter,
            "n_iter": int(report.n_iter.max()),
            "n_mistakes": int(report.mistakes.sum()),
            "mistakes_per_epoch": report.mistakes,
            "converged": all(reason == "clean" for reason in report.stopped),
            "loss_curve": None if feeder.is_pass else report.losses.mean(axis=1).tolist(),
            "mistakes_per_example": report.tracked.get("mistakes_per_example"),
        }

    def _validate_params(self) -> None:
        # Called by scikit-learn before each ``fit``: a third of the time of a fit to few examples.
        if not are_valid(self):
            super()._validate_params()

    def _check_parameters(self, *, for_partial_fit: bool = False) -> None:
        check_parameters(self, for_partial_fit=for_partial_fit)


def rate_of(learner: Trainable) -> str:
    """Return the parameter that an overflow asks to lower."""
    return "C" if is_aggressive(learner) else learner._rate


def is_one_decision(learner: Trainable) -> bool:
    """Whether all planes judge an example together."""
    return is_joint(learner) or (learner._is_softmax and len(learner.classes_) > 2)


def _learn(learner: Trainable, feeder: Feeder, turn: Turn) -> None:
    """Take the steps of a call, in their order."""
    if not feeder.is_pass:  # a pass has looked at them before: see `validated`
        learner._check_parameters()
    is_fitted = learner._learnt.classes is not None
    feeder.goes_on = is_fitted and len(feeder.start) < 2 and (feeder.is_pass or bool(learner.warm_start))
    # A pass changes the numbers in place. It would have to copy them if a twin shared them.
    feeder.model = learner if feeder.goes_on and feeder.is_pass else turn.twin()
    _open(feeder.model, feeder)
    if not (feeder.is_pass and feeder.model._learn_at_once(feeder)):
        feeder.model = turn.twin()
        _learn_in_epochs(feeder.model, feeder)


def _open(learner: Trainable, feeder: Feeder) -> None:
    """Let the examples say their classes and columns; a cold start begins with these."""
    feeder.engine = get_engine(learner.engine)
    if learner._columns_of_data and not feeder.goes_on:
        change(learner, **dict.fromkeys(learner._columns_of_data))
    feeder.open()
    if not feeder.goes_on:
        of_data = {"classes": feeder.classes, "label_matrix": feeder.multilabel}
        change(learner, **of_data, fixed=fixed_parameters(learner), n_epochs=0, record=())
    elif feeder.start:
        change(learner, n_epochs=0, record=())


def _learn_in_epochs(learner: Trainable, feeder: Feeder) -> None:
    """Run, from what was learnt before or from nothing, and keep what that leads to."""
    if feeder.goes_on:
        check_fixed_parameters(learner)
    feeder.weigh()
    try:
        state = learner._start(feeder)
        feeder.hold_out()
        task = None
        if feeder.shown is not None and isinstance(learner, CallbackSupportMixin):
            task = FitTask(learner, *feeder.shown)
        settings, schedule = learner._settings(feeder), learner._schedule(feeder)
        observer = None if learner._observer is None else learner._observer(learner, feeder, task)
        report = feeder.report = feeder.learn(state, settings, schedule, observer)
    except OverflowError as error:
        feeder.assert_finite()
        raise named_overflow(error, rate_of(learner)) from None
    note_end(learner, report.stopped, int(report.n_iter.max()))
    learner._keep(feeder, report.state)
    how = learner._reported(feeder)
    scores = None if feeder.held_out is None else feeder.held_out.per_epoch(report.losses.shape)
    n_epochs = learner._n_epochs + (0 if feeder.is_pass else how["n_iter"])
    change(learner, **how, validation_scores=scores, n_epochs=n_epochs)
    if task is not None:
        task.end()


def _warn(learner: Trainable, feeder: Feeder) -> None:
    """Warn the caller of a fit that did not end by its stopping rule."""
    if feeder.is_pass:
        return
    if learner.tol is not None and "max_iter" in feeder.report.stopped:
        warn_caller(
            ArgumentError(
                "the fit reached {max_iter} before the stopping criterion",
                "raise {max_iter}, or set {tol=None} to use a fixed number of epochs",
                values={"max_iter": learner.max_iter},
            ),
            ConvergenceWarning,
        )
    if "interrupt" in feeder.report.stopped:
        warn_caller(
            f"ctrl-c ended the fit in epoch {learner._n_epochs} (counted from 1); "
            f"what was learnt until then is kept",
            ConvergenceWarning,
        )


def train(learner: Trainable, feeder: Feeder) -> None:
    """Let an estimator learn from examples; after an exception it is what it was before."""
    with Turn(learner) as turn:
        try:
            if not feeder.is_pass and isinstance(learner, CallbackSupportMixin):
                _learn_with_callbacks(turn.twin(), feeder, turn)
            else:
                with standard():
                    _learn(learner if feeder.is_pass else turn.twin(), feeder, turn)
        finally:
            feeder.held_out = (
                None  # it knows the feeder: both would keep examples and weights until collected
            )
        if turn.model is not None:
            _warn(turn.model, feeder)
            if feeder.goes_on and learner._learnt.calibration is not None:
                warn_caller(
                    "a model that has learnt on is no longer calibrated, so it has lost its probabilities; "
                    "calibrate it again with examples that were held out",
                    UserWarning,
                )
            turn.publish()


_learn_with_callbacks = with_callbacks(standard()(_learn))
