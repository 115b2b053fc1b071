"""The voted perceptron as a scikit-learn estimator."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from perceptron_rs.common.data import Examples
from perceptron_rs.common.drawn import drawn
from perceptron_rs.common.parameters import CONSTRAINTS, NOISE, n_threads
from perceptron_rs.common.progress import Callback
from perceptron_rs.engines import Engine, Rows, State
from perceptron_rs.linear.base import LinearLearner
from perceptron_rs.linear.fitting import read_state
from perceptron_rs.linear.vectors import (
    Vectors,
    ballots,
    begun,
    continued,
    counts_of,
    forgotten,
    rows_of,
)

__all__ = ["PREDICTIONS", "VotedPerceptron"]

PREDICTIONS = ("vote", "average", "last", "random", "longest")
Weights = tuple[NDArray[np.float64], NDArray[np.float64]]
_NOT_SET = (
    "{name} of a VotedPerceptron is that of the last of its vectors and cannot be set; "
    "start a fit from it by {name}init, or take Perceptron"
)


class _Run(NamedTuple):
    """What a call of the engine started with."""

    engine: Engine
    data: Examples
    vectors: Vectors
    seed: int


class VotedPerceptron(LinearLearner):
    r"""The perceptron that lets all weights it went through vote.

    The run is that of `Perceptron`: the same mistakes in the same order. Each mistake makes a new weight
    vector; its survival count is the number of examples from the one that made it to the last one before
    the next mistake. The start vector counts the examples before the first mistake. To
    predict, each vector votes for a side with its count, so that the weights that a late mistake made have
    few votes [1]_.

    What is kept is the start vector, each mistaken row once, in its own storage, and the
    log of mistakes. `predict` makes the vectors again from that, a few at a time; it takes about
    ``n_vectors_`` times as long as that of `AveragedPerceptron`. All five kinds of prediction come from the
    same fit, so ``prediction`` may be changed afterwards. Each call of ``partial_fit`` copies
    the log so far, so many calls with few examples take a time that is quadratic in their number; give it
    batches, or set ``max_vectors``.

    Parameters
    ----------
    prediction : {"vote", "average", "last", "random", "longest"}, default="vote"
        What predicts: the vote of all vectors; their average over the examples, which is that of
        `AveragedPerceptron`; the last vector, which is that of `Perceptron`; one vector, drawn at random
        by the survival counts when the estimator is fitted; or the one of the largest count, the first of
        equals.
    max_vectors : int or None, default=None
        How many vectors of each class are kept, at least 1. If there are more at the end of a call that
        learns, the oldest are dropped: the oldest one that is kept becomes the start vector, and the rows
        that no other needs are forgotten. The dropped ones vote no more and cannot be drawn. The
        average and the last weights are those of the whole run still.
    fit_intercept : bool, default=True
        Whether to learn an intercept. If False it keeps its start value, 0 unless given.
    max_iter : int, default=1000
        Largest number of epochs of a ``fit``, in [1, 2**31 - 1].
    tol : float or None, default=1e-3
        A class stops when its mean loss has failed ``n_iter_no_change`` times in a row to be
        lower by ``tol`` than the best one, in [0, inf). It always stops at the end of an epoch without
        a mistake. With None, only that and ``max_iter`` end a fit.
    shuffle : bool, default=True
        Whether ``fit`` visits the examples in a new random order in each epoch.
    verbose : int, default=0
        Above 0, a line about each epoch is printed.
    eta0 : float, default=1.0
        Learning rate, in (0, inf). From start weights 0 a power of two only scales the weights;
        other values also change how they are rounded, and so which examples are mistakes.
    n_jobs : int or None, default=None
        Number of threads, as joblib reads it. It changes no bit of any result.
    random_state : int, RandomState instance or None, default=0
        Key of the random orders and of the vector that ``prediction="random"`` draws: an int in
        [0, 2**32 - 1] is the key itself, otherwise one number is drawn in each call that learns.
    early_stopping : bool, default=False
        Whether ``fit`` keeps a stratified part of the examples aside and stops by the accuracy there,
        instead of the loss: a class stops when its accuracy has failed ``n_iter_no_change`` times in
        a row to be higher by ``tol`` than the best one. The part is not learnt from.
    validation_fraction : float, default=0.1
        The part that ``early_stopping`` keeps aside, in (0, 1).
    n_iter_no_change : int, default=5
        See ``tol``. In [1, 2**31 - 1].
    class_weight : dict, "balanced" or None, default=None
        Factor >= 0 of the steps on the examples of each class, ``{label: weight}``, 1 for classes
        that it does not name. "balanced" is ``n_samples / (n_classes * count of the class)``. With
        more than two classes it applies to a class's own examples, and not where they are the rest.
    warm_start : bool, default=False
        Whether ``fit`` goes on from the last one: its weights, counters and number of epochs.
    tie : {"mistake", "positive"}, default="mistake"
        With "mistake", an activation of exactly 0 is a mistake for every class, and two-class
        prediction is positive above 0 only. With "positive", 0 counts as positive for both.
    margin : float, default=0.0
        An example that is right by no more than this is a mistake, in [0, inf). Not with "joint".
    added_feature : float, default=0.0
        Value of a feature that each example has for itself while it is learnt from, in [0, inf). Above
        0, every data set can be separated. Not with "joint".
    max_mistakes_per_example : int or None, default=None
        Largest number of updates that an example may cause in a call, for each class.
    track_mistakes : bool, default=False
        Whether to count the mistakes made on each example (``mistakes_per_example_``).
    engine : {"rust", "reference"}, default="rust"
        What computes. Both give the same bits; the reference is slow, and made to be read.
    callback : callable or None, default=None
        Called with an `EpochRecord` after each epoch. If it returns true, the fit ends there.
    keep_on_interrupt : bool, default=False
        Whether Ctrl-C ends a fit with what it has learnt so far, and a warning. Otherwise
        ``KeyboardInterrupt`` is raised and the estimator is as it was before.
    audit : bool, default=False
        Whether to keep digests of the examples, in model files too, so that `reproduce` can name the first
        block of examples that differs. ``random_state`` must then be an integer.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features), float64
        The last weights, whatever ``prediction`` is, and those that learning goes on from; one row for
        two classes, for the activation of ``classes_[1]``.
    intercept_ : ndarray of shape (1,) or (n_classes,), float64
        The last intercepts.
    n_vectors_ : ndarray of shape (1,) or (n_classes,), int64
        Number of weight vectors: one more than the mistakes since the last cold start, unless
        ``max_vectors`` has dropped some.
    survival_ : list of 1 or n_classes ndarrays of shape (n_vectors_[k],), int64
        Survival count of each vector, from the start vector on. They add up to ``n_seen_``, unless
        vectors were dropped.
    support_ : list of 1 or n_classes ndarrays of shape (n_vectors_[k],), int64
        Row of the mistake that made each vector, in the X of the ``fit`` or ``partial_fit`` that it was
        made in; -1 for a start vector that no mistake made.
    classes_ : ndarray of shape (n_classes,)
        The distinct labels, sorted.
    n_iter_ : int
        Epochs run by the last ``fit``, the largest over the classes; 1 after ``partial_fit``.
    n_iter_per_class_ : ndarray of shape (1,) or (n_classes,), int64
        Epochs run for each class.
    n_mistakes_ : int
        Mistakes, which are updates, in the last ``fit`` or ``partial_fit``.
    mistakes_per_epoch_ : ndarray of shape (n_iter_, 1) or (n_iter_, n_classes), int64
        Mistakes in each epoch of the last call; 0 after a class has stopped.
    converged_ : bool
        Whether every class ended on an epoch without a mistake.
    mistakes_per_example_ : ndarray of shape (n_samples, 1) or (n_samples, n_classes), int64
        Mistakes made on each example in the last call; with ``track_mistakes`` only.
    n_seen_ : ndarray of shape (1,) or (n_classes,), int64
        Examples seen by each class since the last cold start, over all calls.
    t_ : int
        One more than the largest of ``n_seen_``.
    validation_scores_ : ndarray of shape (n_iter_, 1) or (n_iter_, n_classes), float64
        Accuracy on the validation part after each epoch; with ``early_stopping`` only.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X has names that are all strings.

    Raises
    ------
    ValueError
        By ``fit``, for a parameter out of its range, and for an input that holds wrong values.

    See Also
    --------
    AveragedPerceptron : Predicts with the average alone, in the time of one vector.
    Perceptron : Predicts with the last weights.

    References
    ----------
    .. [1] Y. Freund and R. E. Schapire, "Large margin classification using the perceptron algorithm",
       Machine Learning 37, 1999, pages 277-296: figure 1, and section 5 for the kinds of prediction.

    Examples
    --------
    >>> import numpy as np
    >>> from perceptron_rs import VotedPerceptron
    >>> X = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]])
    >>> y = np.array([-1, 1, 1, -1, -1, 1])
    >>> model = VotedPerceptron(fit_intercept=False, shuffle=False, max_iter=1, tol=None).fit(X, y)
    >>> model.survival_  # of the weights (0, 0), (1, -2), (2, -1) and (3, 1)
    [array([0, 2, 2, 2])]
    >>> model.support_
    [array([-1,  0,  2,  4])]
    >>> model.decision_function([[1, 3]]) * 6  # the votes -2, -2 and 2
    array([-2.])
    >>> model.set_params(prediction="last").decision_function([[1, 3]])
    array([6.])
    """

    _learner: ClassVar[str] = "voted"
    _stored: ClassVar[dict[str, str]] = {"coef": "_coef", "intercept": "_intercept", "seen": "n_seen_"}
    _computed: ClassVar[tuple[str, ...]] = ("n_vectors_", "survival_", "support_")
    _predictions: ClassVar[tuple[str, ...]] = PREDICTIONS
    _draws: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CONSTRAINTS,
        **NOISE,
        "prediction": [StrOptions(set(PREDICTIONS))],
        "max_vectors": [Interval(Integral, 1, None, closed="left"), None],
    }

    _coef: NDArray[np.float64]
    _intercept: NDArray[np.float64]
    _vectors: Vectors
    _seed: int
    _run: _Run  # while an engine learns
    _answers: dict[str, Weights]  # of the kinds of prediction that were asked for

    def __init__(
        self,
        *,
        prediction: str = "vote",
        max_vectors: int | None = None,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float = 1.0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        tie: str = "mistake",
        margin: float = 0.0,
        added_feature: float = 0.0,
        max_mistakes_per_example: int | None = None,
        track_mistakes: bool = False,
        engine: str = "rust",
        callback: Callback | None = None,
        keep_on_interrupt: bool = False,
        audit: bool = False,
    ) -> None:
        self.prediction = prediction
        self.max_vectors = max_vectors
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.tie = tie
        self.margin = margin
        self.added_feature = added_feature
        self.max_mistakes_per_example = max_mistakes_per_example
        self.track_mistakes = track_mistakes
        self.engine = engine
        self.callback = callback
        self.keep_on_interrupt = keep_on_interrupt
        self.audit = audit

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The last weights."""
        return self._coef

    @coef_.setter
    def coef_(self, _: Any) -> None:
        raise AttributeError(_NOT_SET.format(name="coef_"))

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The last intercepts."""
        return self._intercept

    @intercept_.setter
    def intercept_(self, _: Any) -> None:
        raise AttributeError(_NOT_SET.format(name="intercept_"))

    @property
    def n_vectors_(self) -> NDArray[np.int64]:
        """Number of weight vectors, of each class."""
        numbers: NDArray[np.int64] = np.diff(self._vectors["log_start"]) + 1
        return numbers

    @property
    def survival_(self) -> list[NDArray[np.int64]]:
        """Survival count of each vector, of each class."""
        return counts_of(self._vectors, self.n_seen_)

    @property
    def support_(self) -> list[NDArray[np.int64]]:
        """Row in X of the mistake that made each vector, of each class."""
        logs = np.split(self._vectors["log_origin"], self._vectors["log_start"][1:-1])
        return [np.append(first, log) for first, log in zip(self._vectors["first_row"], logs, strict=True)]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the normalised vote on every example, or the activation of what else predicts.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For ``prediction="vote"`` the votes for less those against, divided by their number, in
            [-1, 1]; a vector with w.x + b = 0 votes for. Otherwise w.x + b. For two classes
            it is for ``classes_[1]``; otherwise there is one column a class. The bits depend
            neither on the storage of X, nor on the batch, nor on ``n_jobs``.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If X has a wrong shape, holds a NaN or an infinity, or makes a vote overflow.
        """
        return super().decision_function(X)

    def _begin(self, engine: Engine, data: Examples, state: State, seed: int | None) -> None:
        if self.max_vectors is not None and not (
            isinstance(self.max_vectors, Integral) and self.max_vectors >= 1
        ):
            raise ValueError(f"max_vectors must be a whole number above 0 or None, got {self.max_vectors!r}")
        vectors = self._vectors if state["seen"].any() else begun(state)
        self._run = _Run(engine, data, vectors, int(seed or 0))

    def _continued(self, state: State) -> Vectors:
        """Return the vectors of the run so far."""
        engine, data, vectors, _ = self._run
        vectors = continued(vectors, state, data, fit_intercept=bool(self.fit_intercept))
        return forgotten(vectors, engine, None if self.max_vectors is None else int(self.max_vectors))

    def _publish(self, state: State) -> None:
        super()._publish(state)
        self._answers = {}
        if "log_start" in state:
            self._vectors, self._seed = self._continued(state), self._run.seed
            del self._run

    def _activations(self, engine: Engine, state: State, rows: Rows) -> NDArray[np.float64]:
        vectors = self._continued(state)
        if self.prediction == "vote":
            return ballots(vectors, state["seen"], engine, rows, n_threads(self))
        return engine.scores(
            rows, *self._weights(engine, vectors, state, self._run.seed), threads=n_threads(self)
        )

    def _judge(self, engine: Engine, rows: Rows) -> NDArray[np.float64]:
        if self.prediction not in PREDICTIONS:
            raise ValueError(f"prediction must be one of {PREDICTIONS}, got {self.prediction!r}")
        if self.prediction == "vote":
            return ballots(self._vectors, self.n_seen_, engine, rows, n_threads(self))
        # Filled, not set: predicting leaves ``__dict__`` as it is.
        if self.prediction not in self._answers:
            weights = self._weights(engine, self._vectors, read_state(self), self._seed)
            if not all(np.isfinite(numbers).all() for numbers in weights):
                raise ValueError(
                    f"prediction={self.prediction!r} needs weights that are not finite; scale the features"
                )
            self._answers[self.prediction] = weights
        return engine.scores(rows, *self._answers[self.prediction], threads=n_threads(self))

    def _weights(self, engine: Engine, vectors: Vectors, state: State, seed: int) -> Weights:
        """Return the weights and intercepts of a kind of prediction that is no vote."""
        if self.prediction == "last":
            return state["coef"], state["intercept"]
        counts = counts_of(vectors, state["seen"])
        if self.prediction == "average":
            numbers = np.diff(vectors["log_start"])
        elif self.prediction == "longest":
            numbers = np.array([count.argmax() for count in counts], dtype=np.int64)
        else:
            numbers = drawn(counts, seed)
        found = engine.replay(rows_of(vectors, engine), vectors, upto=numbers)
        if self.prediction == "average":
            return engine.average(found | {"seen": state["seen"]})
        return found["coef"], found["intercept"]
