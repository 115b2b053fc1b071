"""Examples in memory, as `train` takes them, and the method that predicts each before it is learnt from."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from perceptron_rs import _core
from perceptron_rs.arrays.csr import StoredRows
from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.arrays.named import arrays_of
from perceptron_rs.arrays.pieces import pieces
from perceptron_rs.audit.record import FitMethod, recorded
from perceptron_rs.engines import Engine, LearntModel, Run, RunState, rows_of
from perceptron_rs.mixing.rounds import Drafts, Mixed, in_threads, visited_bounds
from perceptron_rs.parameters.checks import validated
from perceptron_rs.parameters.groups import MistakeParameters, UpdateParameters
from perceptron_rs.parameters.threads import n_threads
from perceptron_rs.prediction.predictor import decide, predicted
from perceptron_rs.rows.examples import ValidatedRows, as_array, examples, unchecked
from perceptron_rs.rows.selection import slice_rows
from perceptron_rs.schema.columns import Places, repacked
from perceptron_rs.settings import Chain, Data, Linear, Settings
from perceptron_rs.targets.label_sets import LabelSets, bits, constant, is_indicator, warn_of_constant
from perceptron_rs.targets.labels import (
    classes_like,
    encode,
    encode_again,
    encode_new,
    new_classes,
    refuse_other_order,
    target_of,
)
from perceptron_rs.targets.weights import sample_weights
from perceptron_rs.training.driver import Report, Schedule, Watch, are_noted, drive, follow
from perceptron_rs.training.early_stopping import Validation, selected, split
from perceptron_rs.training.progress import Observer
from perceptron_rs.training.train import Feeder, is_one_decision, train

#: So many weights for each entry, and passes of partitions are tried in place: else copies cost less.
_WEIGHTS_PER_ENTRY = 4


class InMemory(Feeder):
    """Rows of a matrix: for a fit, or for one pass in their order.

    Parameters
    ----------
    method : {"fit", "partial_fit"}
    X, y, sample_weight
        The examples, as they were given.
    classes : array-like, default=None
        All classes that will ever occur, as a pass is given them; or those of a fit that is repeated.
    start : dict, default=None
        Weights to start from.
    checked : bool, default=True
        Whether X and y are looked at; if not, the estimator is fitted.
    tracks : bool, default=False
        Whether to note the activations of the examples.
    """

    #: How many classes there must be.
    least: ClassVar[int] = 2
    #: The examples as they are learnt from: over few columns, where those of all would take long.
    own: ValidatedRows

    def __init__(
        self,
        method: FitMethod,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike = None,
        *,
        classes: ArrayLike = None,
        start: Mapping[str, object] | None = None,
        checked: bool = True,
        tracks: bool = False,
    ) -> None:
        super().__init__(method, start)
        self.X, self.y, self.sample_weight, self.given_classes = X, y, sample_weight, classes
        self.checked, self.tracks = checked, tracks

    def open(self) -> None:
        """Read X and y."""
        self.find_labels()
        self.shown = None if self.is_pass else (self.X, self.y, self.sample_weight)
        if self.multilabel is not None and not self.is_pass:
            warn_of_constant(self.classes, *constant(self.labels, len(self.classes)))

    def find_labels(self) -> None:
        """Find the classes, and the labels as an engine has them."""
        model = self.model
        if not self.is_pass:
            y = self.read()
            if self.goes_on:
                self.classes = model.classes_
                self.labels = encode_again(y, self.classes, least=self.least)
            elif self.given_classes is not None:
                self.classes = classes_like(np.asarray(self.given_classes), y)
                self.labels = encode(y, self.classes, least=self.least)
            else:
                self.classes, self.labels = encode_new(y, least=self.least)
            return
        if not self.checked:
            self.data, self.classes = unchecked(model, self.engine, self.X), model.classes_
            n = self.data.rows.shape[0]
            is_array = isinstance(self.y, np.ndarray) and self.y.shape == (n,)
            y = self.y if is_array else target_of(model, self.y, n)
            self.accept(y)
            self.labels = encode(y, self.classes)
            return
        if self.given_classes is None and not self.goes_on and is_indicator(self.y):
            y = self.read()  # its columns are all labels that there are
            self.classes, self.labels = encode_new(y, least=self.least)
            return
        passed = new_classes(self.given_classes, model, least=self.least)
        y = self.read()
        if isinstance(y, LabelSets):
            refuse_other_order(self.given_classes, passed)
        self.classes = model.classes_ if self.goes_on else classes_like(passed, y)
        self.labels = encode(y, self.classes, least=self.least)

    def read(self) -> NDArray[np.generic] | LabelSets:
        """Read X, and return the labels as they are."""
        self.X = as_array(self.X)
        self.data = examples(self.model, self.engine, self.X, reset=not self.goes_on)
        y = target_of(self.model, self.y, self.data.rows.shape[0])
        self.accept(y)
        return y

    def n_wrong(self, decided: NDArray[np.generic]) -> int:
        """Return how many examples have other labels than `decide` has given."""
        if self.multilabel is None:
            return int(np.count_nonzero(decided != self.labels))
        shape, wrong = decided.shape, 0
        for piece in pieces(*shape):
            wrong += int(np.count_nonzero((decided[piece] != bits(self.labels[piece], shape[1])).any(axis=1)))
        return wrong

    def weigh(self) -> None:
        """Find the weights of examples and classes; look at the rows that the engine does not meet."""
        self.sample = sample_weights(self.sample_weight, self.labels)
        self.weighed = self.model._weigh(self, self.sample)
        if self.weighed.idle is not None:
            self.data.assert_finite_in(self.weighed.idle, self.model)
        self.n_examples = self.weighed.n_examples(len(self.labels))

    def hold_out(self) -> None:
        """Set aside the validation part of a fit that has one."""
        model, labels = self.model, self.labels
        if self.is_pass or not model.early_stopping:
            return
        held_out = split(self.engine, labels, self.weighed.rows, model.validation_fraction, self.seed)
        examples_of = cache(lambda: selected(self.engine, self.own, held_out))  # once `learn` has set that
        self.held_out = Validation(
            lambda state: model._activations(self, state, examples_of()),
            labels[held_out],
            None if self.sample is None else self.sample[held_out],
            None if is_one_decision(model) else self.positive,
            model.tie if isinstance(model, MistakeParameters) else "mistake",
        )
        self.weighed = self.weighed.without(held_out, len(labels))
        self.n_examples = self.weighed.n_examples(len(labels))

    def learn(
        self, state: LearntModel, settings: Settings, schedule: Schedule, observer: Observer | None
    ) -> Report:
        """Learn in one run, or in partitions on threads."""
        model, engine, few = self.model, self.engine, None
        cut = model if isinstance(model, UpdateParameters) and not self.is_pass else None
        watch: Watch | None = observer if observer is not None and observer.is_needed else None
        ends = [] if cut is None else self.bounds(cut.n_partitions).tolist()
        self.own = self.data
        with self.record(state):
            # States are asked for in between, which take as long as all columns of all planes.
            is_asked = len(ends) > 2 or (self.held_out is not None and not are_noted())
            if is_asked and cut is not None and isinstance(settings, Linear) and state.is_zero:
                few = FewColumns.of(self.data.stored, self.data.rows.shape[1], len(settings.positive))
                if few is not None:
                    self.own = few.data(engine)
                    state = engine.Model(settings.learner, len(settings.positive), few.places.width)
                    watch = None if watch is None else few.shown_to(watch)
            if cut is None or len(ends) == 2:
                report = drive(engine, self.whole(), state, settings, schedule, watch, self.held_out)
            else:
                assert isinstance(settings, Linear | Chain)
                alone = replace(settings, threads=1) if isinstance(settings, Linear) else settings
                parts = [self.part(begin, end) for begin, end in pairwise(ends)]
                threads = min(n_threads(model), len(parts))
                rounds = in_threads(engine, parts, alone, str.__str__(cut.mixing), threads)
                run = Mixed(self.begin(state, alone, threads), rounds)
                report = follow(run, settings, schedule, watch, self.held_out)
        return report if few is None else replace(report, state=few.spread(report.state))

    def begin(self, state: LearntModel, settings: Linear | Chain, threads: int) -> RunState | Drafts:
        """Return what rounds begin with: arrays; of planes in the core its model, or drafts of it."""
        if not (isinstance(state, _core.Model) and isinstance(settings, Linear)):
            return self.model._arrays(state)
        stored = self.own.stored
        if "rows_indices" in stored and state.is_zero and settings.is_plain:
            weights = len(settings.positive) * self.own.rows.shape[1]
            if weights > _WEIGHTS_PER_ENTRY * len(stored["rows_indices"]):
                return Drafts([_core.Draft(state) for _ in range(threads)])
        return state

    def record(self, state: LearntModel) -> AbstractContextManager[None]:
        """Return what adds the call to the record of the estimator."""
        return recorded(self.model, self.method, self.data.stored, self.labels, self.sample, state)

    def bounds(self, n_partitions: object) -> NDArray[np.int64]:
        """Return where each partition begins, and the end."""
        return visited_bounds(n_partitions, len(self.labels), self.weighed.rows)

    def whole(self) -> Data:
        """Return all examples as an engine takes them."""
        return Data(self.own.rows, self.labels, self.weighed.sample, self.stored_rows)

    def part(self, begin: int, end: int) -> Data:
        """Return those of a partition."""
        sample = self.weighed.sample
        rows = rows_of(self.engine, slice_rows(self.own.stored, begin, end), self.own.rows.shape[1])
        return Data(rows, self.labels[begin:end], None if sample is None else sample[begin:end])

    def assert_finite(self) -> None:
        """Raise if there is a NaN or an infinity in X."""
        self.data.assert_finite(self.model)


#: To rename the column of an entry takes about as long as an epoch's copies of so many weights.
_RENAMED = 8
#: Columns without entries are left out where they are so many times as many as those with entries.
_TIMES_FEWER = 2


class FewColumns(NamedTuple):
    """Rows of CSR over few columns, each in its lane: sums have the bits of those over all columns."""

    places: Places
    stored: StoredRows

    @classmethod
    def of(cls, stored: StoredRows, n_columns: int, planes: int) -> Self | None:
        """Return the rows over the columns of their entries; None if these are not few, or not all finite."""
        if "rows_indices" not in stored or planes * n_columns < _RENAMED * len(stored["rows_indices"]):
            return None
        is_there = np.zeros(n_columns, dtype=np.bool_)
        is_there[stored["rows_indices"]] = True
        columns = np.flatnonzero(is_there)
        if _TIMES_FEWER * len(columns) > n_columns:
            return None
        places = Places(np.append(columns, n_columns))
        rows = places.rows(stored)
        return None if rows is None else cls(places, rows)

    def data(self, engine: Engine) -> ValidatedRows:
        """Return the rows as an engine has them."""
        return ValidatedRows.of(engine, self.stored, self.places.width)

    def spread(self, state: RunState) -> RunState:
        """Return what a run that began with zeros has learnt: in all other columns there is nothing."""
        places = self.places
        if isinstance(state, _core.Model):
            whole = state.spread(places.columns, places.n_columns)
            if whole is not None:
                return whole
        return repacked(places.packed(arrays_of(state)))

    def shown_to(self, watch: Watch) -> Watch:
        """Return what sees a run over few columns as if it were one over all."""
        return lambda number, mistakes, losses, run: watch(number, mistakes, losses, _Shown(run, self))


class _Shown:
    """A run whose states have all columns; see `perceptron_rs.engines.Run`."""

    def __init__(self, run: Run, few: FewColumns) -> None:
        self._run, self._few = run, few
        self.epoch, self.end, self.tracked = run.epoch, run.end, run.tracked

    def state(self) -> RunState:
        """Return what has been learnt so far, of all columns."""
        return self._few.spread(self._run.state())


@validated
def predict_then_learn(
    self: Any, X: MatrixLike, y: ArrayLike, *, classes: ArrayLike = None, sample_weight: ArrayLike = None
) -> tuple[NDArray[np.generic], int]:
    """Predict each example before learning from it (progressive validation).

    Makes one pass in the given order and learns the same as ``partial_fit``. Each example is predicted
    with the current weights, learnt from the examples before it. Learners that predict with others,
    such as an average or a vote, use the current weights too, because these decide which examples are
    mistakes.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The examples.
    y : array-like of shape (n_samples,), or {array-like, sparse matrix} of shape (n_samples, n_labels)
        Class labels, or a matrix of many labels.
    classes : array-like of shape (n_classes,), default=None
        All classes that will ever occur in y. Required in the first call, unless y is a matrix. Labels of
        the data say their type.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the examples, above 0. An update is multiplied by the weight of its example.

    Returns
    -------
    y_pred : ndarray of shape (n_samples,), or {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Predicted classes, or labels.
    n_errors : int
        Number of wrong predictions: of many labels, of examples with a wrong one.

    Raises
    ------
    ValueError
        As for ``partial_fit``; also if an example has weight 0, because it is not visited.
    TypeError
        If an argument does not contain numbers (or, for labels, numbers or strings).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from perceptron_rs import Perceptron
    >>> X, y = load_iris(return_X_y=True)
    >>> model = Perceptron()
    >>> predicted, errors = model.predict_then_learn(X[::3], y[::3], classes=[0, 1, 2])
    >>> errors
    2
    """
    feeder = InMemory("partial_fit", X, y, sample_weight, classes=classes, tracks=True)
    train(self, feeder)
    assert feeder.activations is not None
    n_errors = feeder.n_wrong(decide(self, feeder.activations))
    return predicted(self, feeder.activations), n_errors
