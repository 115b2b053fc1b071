"""The voted perceptron as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import arrays_of, rows_in, settled_arrays, without_rows
from perceptron_rs.arrays.scalars import whole_number
from perceptron_rs.engines import Engine, LearntModel, LinearModel, RunState, State, get_engine
from perceptron_rs.estimator_attributes import check_is_fitted
from perceptron_rs.linear.base import LinearLearner
from perceptron_rs.linear.parameters import VotedPerceptronParameters
from perceptron_rs.linear.passes import partial_fit
from perceptron_rs.linear.predictor import VOTED_PREDICTIONS, VotedPerceptronPredictor
from perceptron_rs.linear.vectors import (
    LAST,
    MistakeLog,
    Vectors,
    VotedModel,
    cold_vectors,
    each_vector,
    extended_vectors,
    last_model,
    newest_vectors,
)
from perceptron_rs.parameters.threads import n_threads
from perceptron_rs.rows.examples import ValidatedRows
from perceptron_rs.rows.selection import select_rows
from perceptron_rs.schema.mistake_log import survival_counts
from perceptron_rs.schema.schema import Schema
from perceptron_rs.settings import Data
from perceptron_rs.state.turns import consistent
from perceptron_rs.stream.fit import StreamFit
from perceptron_rs.stream.run import Block, Carrier
from perceptron_rs.training.feeders import predict_then_learn
from perceptron_rs.training.train import Feeder

_OF_STREAM = "stream_"


class VectorCarrier(Carrier):
    """The vectors of a run over a stream: in its state under names of their own, with the rows so far."""

    def __init__(self, engine: Engine, most: int | None, *, fit_intercept: bool) -> None:
        self.engine, self.most, self.fit_intercept = engine, most, fit_intercept

    def begin(self, block: Block, state: RunState) -> tuple[Data, RunState]:
        """Return what an engine starts with: a run begins with an empty log."""
        return super().begin(block, {name: state[name] for name in LAST})

    def end(self, block: Block, before: RunState, after: State) -> State:
        """Return the state with the mistakes of a block added to the log."""
        made = MistakeLog.of(after, block.data, fit_intercept=self.fit_intercept, first_row=block.first)
        vectors = extended_vectors(stream_vectors(arrays_of(before)), made)
        vectors = newest_vectors(vectors, self.engine, self.most)
        state = {name: w for name, w in after.items() if not name.startswith("log_")}
        return state | stream_state(vectors)


def stream_state(vectors: Vectors) -> State:
    """Return the vectors as they stand in the state of a run over a stream."""
    return {f"{_OF_STREAM}{name}": w for name, w in vectors.items()}


def stream_vectors(state: State) -> Vectors:
    """Return the vectors in the state of a run over a stream."""
    return {name.removeprefix(_OF_STREAM): w for name, w in state.items() if name.startswith(_OF_STREAM)}


def unique_rows(state: State) -> Vectors:
    """Return these vectors with each row stored once, as a run in memory leaves them; or nothing."""
    vectors = stream_vectors(state)
    if not vectors or len(vectors["log_row"]) == 0:
        return vectors
    _, entry, place = np.unique(vectors["log_origin"], return_index=True, return_inverse=True)
    rows = select_rows(rows_in(vectors), vectors["log_row"][entry])
    return without_rows(vectors) | rows | {"log_row": place.reshape(-1).astype(np.int64)}


class VotedPerceptron(VotedPerceptronParameters, LinearLearner, StreamFit, VotedPerceptronPredictor):
    r"""Voted perceptron: predicts by a weighted vote of all weight vectors of the run.

    Training makes the same updates as `Perceptron`. Each mistake makes a new weight vector. The survival
    count of a vector is the number of examples from the mistake that made it up to, but not including, the
    next mistake. The initial vector counts the examples before the first mistake. To predict, each vector
    casts as many votes as its survival count, so vectors that soon made another mistake have few
    votes [1]_.

    The model stores the initial vector, each misclassified row once, in its own storage type, and the log
    of mistakes. `predict` recomputes the vectors from these, a few at a time. It takes about ``n_vectors_``
    times as long as that of `AveragedPerceptron`. All five kinds of prediction use the same fit, so
    ``prediction`` can be changed afterwards. Memory and the time of a prediction grow with the mistakes;
    ``max_vectors`` bounds both.

    Parameters
    ----------
    prediction : {"vote", "average", "last", "random", "longest"}, default="vote"
        How to predict. "vote": all vectors vote. "average": with their average over the examples, as
        `AveragedPerceptron` does. "last": with the last vector, as `Perceptron` does. "random": with one
        vector, drawn when the estimator is fitted, with a probability proportional to its survival count.
        "longest": with the vector of the largest survival count; in a tie, the first one.
    max_vectors : int or None, default=None
        Maximum number of vectors to keep for each class, at least 1. If there are more at the end of a
        call, the oldest are dropped: the oldest remaining vector becomes the initial one, and rows that are
        no longer needed are forgotten. Dropped vectors no longer vote and cannot be drawn. The average and
        the last weights remain those of the whole run. If None, all vectors are kept.
    fit_intercept : bool, default=True
        Whether to learn an intercept. If False, the intercept keeps its initial value, which is 0 unless
        ``fit`` is given another one.
    max_iter : int, default=1000
        Maximum number of epochs in a call of ``fit``, in [1, 2**31 - 1].
    tol : float or None, default=0.001
        Stopping criterion, in [0, inf). Training stops for a class when its mean loss has not improved on
        the best loss by at least ``tol`` for ``n_iter_no_change`` consecutive epochs. It also stops after
        an epoch without a mistake. If None, only such an epoch and ``max_iter`` end training.
    shuffle : bool, default=True
        Whether to shuffle the examples before each epoch of ``fit``.
    verbose : int, default=0
        If above 0, print a line about each epoch.
    eta0 : float, default=1.0
        Learning rate, in (0, inf). With initial weights of 0, a power of two only scales the learnt
        weights. Other values also change how they are rounded, and so possibly which examples are mistakes.
        Thresholds such as ``tol`` do not scale with it.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all
        processors. It does not change any bit of the results.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffling and of ``prediction="random"``. An int in [0, 2**32 - 1] is used in every
        call. Otherwise, each call that learns draws its seed from the given generator, or from NumPy's
        global one if None.
    early_stopping : bool, default=False
        Whether to stop by the accuracy on a validation set instead of the training loss, and to keep what was
        learnt by the best epoch. If True, ``fit`` sets aside a stratified fraction of the examples, drawn by
        ``random_state``. Training stops for a class when its validation accuracy has not improved on the best
        one by at least ``tol`` for ``n_iter_no_change`` consecutive epochs. See :doc:`/guide/stopping`.
    validation_fraction : float, default=0.1
        Fraction of the examples that ``early_stopping`` sets aside, in (0, 1).
    n_iter_no_change : int, default=5
        Number of consecutive epochs without improvement before training stops, in [1, 2**31 - 1]. See
        ``tol``.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, at least 0, as ``{label: weight}``. Classes that are not named have
        weight 1. An update is multiplied by the weight of its example's class. "balanced" uses
        ``n_samples / (n_classes * count of the class)``. With more than two classes, the weight applies to
        a class's own examples where the class is learnt, and not where they belong to the rest.
    warm_start : bool, default=False
        Whether ``fit`` continues from the previous call, with its weights, counters and number of epochs.
    tie : {"mistake", "positive"}, default="mistake"
        How to treat an activation of exactly 0. With "mistake", it is a mistake for every class, no vote, and
        a model of two classes predicts the negative one. With "positive", it counts as positive in training,
        votes and predictions.
    margin_threshold : float, default=0.0
        An example that is classified correctly, but with an activation of no more than this in size, still
        counts as a mistake, in [0, inf).
    added_feature : float, default=0.0
        Value of an extra feature that each example has to itself during training, in [0, inf). If above 0,
        every data set becomes separable.
    max_mistakes_per_example : int or None, default=None
        Maximum number of updates on one example in a call, for each class. If None, there is no limit.
    track_mistakes : bool, default=False
        Whether to count the mistakes on each example, as ``mistakes_per_example_``.
    engine : {"rust", "reference"}, default="rust"
        Implementation to use. Both give the same bits; the reference is slow, and written to be read.
    callback : callable or None, default=None
        Function that is called with an `EpochRecord` after each epoch. If it returns true, training stops.
    keep_on_interrupt : bool, default=False
        Whether Ctrl-C ends ``fit`` with a warning and keeps what has been learnt so far. If False,
        ``KeyboardInterrupt`` is raised, and the estimator stays as it was before the call.
    audit : bool, default=False
        Whether to keep digests of the examples, in model files too. `reproduce` can then name the first block
        of examples that differs. ``random_state`` must be an integer.
    audit_key : str, path object, bytes or None, default=None
        Key of the digests: a file that holds it (32 bytes, or 64 hexadecimal digits), or 32 bytes. Without
        the key nobody can test whether a model has learnt from some examples. It is not shown, and not
        written to model files; pickles hold the name of the file alone.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features), float64
        Weights after the last update, whatever ``prediction`` is. Training continues from them. With two
        classes, there is one row, for ``classes_[1]``. Weights that are assigned are the only vector, which
        has no votes yet.
    intercept_ : ndarray of shape (1,) or (n_classes,), float64
        Intercepts after the last update.
    n_vectors_ : ndarray of shape (1,) or (n_classes,), int64
        Number of weight vectors: 1 plus the number of mistakes since the last cold start, unless
        ``max_vectors`` has dropped some.
    survival_ : list of 1 or n_classes ndarrays of shape (n_vectors_[k],), int64
        Survival count of each vector, the initial vector first. They add up to ``n_seen_``, unless vectors
        were dropped.
    support_ : list of 1 or n_classes ndarrays of shape (n_vectors_[k],), int64
        For each vector, the row of the mistake that made it, in the X of that call of ``fit`` or
        ``partial_fit``; -1 for an initial vector that no mistake made.
    calibration_ : object
        What ``calibrate`` has found, with ``method``, ``slope`` and ``intercept``. Only available after it.
    recipe_ : object
        How texts, dictionaries or unscaled numbers become columns. Only of a file that holds such a recipe.
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted. Of a matrix y of many labels, the numbers of its columns, or what
        ``partial_fit`` is told that they are; n_classes is then their number everywhere, also if it is 2.
    multilabel_ : bool
        Whether y had any number of labels for each example.
    n_iter_ : int
        Number of epochs of the last ``fit``, the maximum over the classes; 1 after ``partial_fit``.
    n_iter_per_class_ : ndarray of shape (1,) or (n_classes,), int64
        Number of epochs for each class.
    n_mistakes_ : int
        Number of mistakes, and so of updates, in the last ``fit`` or ``partial_fit``.
    mistakes_per_epoch_ : ndarray of shape (n_iter_, 1) or (n_iter_, n_classes), int64
        Number of mistakes in each epoch of the last call; 0 for a class that has already stopped.
    loss_curve_ : list of float
        Mean perceptron loss of an example in each epoch, before its update, averaged over the classes; a
        class that has stopped counts as 0. Only available after ``fit``.
    converged_ : bool
        Whether the last epoch of every class was without a mistake. For the setting of the convergence
        theorem, set ``tol=None`` and a large ``max_iter``.
    mistakes_per_example_ : ndarray of shape (n_samples, 1) or (n_samples, n_classes), int64
        Number of mistakes on each example in the last call. Only available with ``track_mistakes=True``.
    n_seen_ : ndarray of shape (1,) or (n_classes,), int64
        Number of examples visited for each class since the last cold start, over all calls; with
        ``early_stopping``, those up to the best epoch.
    t_ : int
        Maximum of ``n_seen_``, plus 1.
    validation_scores_ : ndarray of shape (n_iter_, 1) or (n_iter_, n_classes), float64
        Accuracy on the validation set after each epoch. Only available with ``early_stopping=True``.
    predictor_ : dict of str to ndarray
        What predicts: all arrays that a prediction is computed from, by name. The vectors and ``n_seen`` with
        ``prediction="vote"``, else ``coef`` and ``intercept`` of the chosen vectors.
    n_features_in_ : int
        Number of features seen during ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen during ``fit``. Only available if X has feature names that are all
        strings.

    Raises
    ------
    ValueError
        Raised by ``fit`` if a parameter is out of range or the input contains invalid values.

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

    _continues_in_streams: ClassVar[bool] = False
    _schema: ClassVar[Schema] = VotedPerceptronPredictor._schema
    _predictions: ClassVar[tuple[str, ...]] = VOTED_PREDICTIONS

    _model: VotedModel

    partial_fit = partial_fit
    predict_then_learn = predict_then_learn

    @property
    def n_vectors_(self) -> NDArray[np.int64]:
        """Number of weight vectors for each class."""
        numbers: NDArray[np.int64] = np.diff(self._vectors["log_start"]) + 1
        return numbers

    @property
    @consistent
    def survival_(self) -> list[NDArray[np.int64]]:
        """Survival count of each vector, for each class."""
        return survival_counts(self._vectors, self.n_seen_)

    @property
    def support_(self) -> list[NDArray[np.int64]]:
        """Row of the mistake that made each vector, for each class."""
        logs = np.split(self._vectors["log_origin"], self._vectors["log_start"][1:-1])
        return [np.append(first, log) for first, log in zip(self._vectors["first_row"], logs, strict=True)]

    @consistent
    def vectors(self, *, class_index: int = 0) -> Iterator[tuple[NDArray[np.float64], float, int]]:
        """Yield each weight vector of the run, with its intercept and its votes, from the first to the last.

        They are made one at a time from the log of mistakes, with the bits of training.

        Parameters
        ----------
        class_index : int, default=0
            With more than two classes, the index in ``classes_`` of the class whose vectors to yield. Two
            classes share their vectors, which have the index 0.

        Yields
        ------
        coef : ndarray of shape (n_features,), float64
            Weights. The first ones are the initial weights.
        intercept : float
            Intercept.
        votes : int
            Survival count of the vector.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If ``class_index`` is no such index.

        Examples
        --------
        >>> from perceptron_rs import VotedPerceptron
        >>> X, y = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], [-1, 1, 1, -1, -1, 1]
        >>> model = VotedPerceptron(fit_intercept=False, shuffle=False, max_iter=1, tol=None).fit(X, y)
        >>> for coef, _, votes in model.vectors():
        ...     print(coef, votes)
        [0. 0.] 0
        [ 1. -2.] 2
        [ 2. -1.] 2
        [3. 1.] 2
        """
        check_is_fitted(self)
        index = whole_number("class_index", class_index, 0, len(self.n_seen_) - 1)
        vectors = each_vector(self._vectors, get_engine(self.engine), index)
        votes = self.survival_[index].tolist()
        return ((w.copy(), float(b), count) for (w, b), count in zip(vectors, votes, strict=True))

    def _prediction_parameters(self) -> dict[str, object]:
        return super()._prediction_parameters() | {"prediction": self.prediction, "seed": self._model.seed}

    def _prediction_arrays(self) -> State:
        return {}

    def _settled_state(self, names: Collection[str]) -> State:  # noqa: ARG002
        return self._state()

    def _start(self, feeder: Feeder) -> LinearModel:
        """Return the last vector to go on from; the others stay on the estimator meanwhile."""
        model = super()._start(feeder)
        assert isinstance(model, VotedModel)
        self._model = model
        return model.last

    def _carry(self, feeder: Feeder, state: LearntModel) -> tuple[Carrier, State]:  # noqa: ARG002
        carrier = VectorCarrier(feeder.engine, self._most(), fit_intercept=bool(self.fit_intercept))
        return carrier, self._arrays(self._model) | stream_state(cold_vectors(self._model.last))

    def _keep(self, feeder: Feeder, state: RunState) -> None:
        self._publish(self._made(feeder, state))

    def _activations(self, feeder: Feeder, state: RunState, examples: ValidatedRows) -> NDArray[np.float64]:
        return self._scores_under(self._made(feeder, state), examples.rows, n_threads(self))

    def _made(self, feeder: Feeder, state: RunState) -> VotedModel:
        """Return the model that a state of a run makes."""
        if feeder.method == "fit_stream":
            assert isinstance(state, dict)  # of a run over blocks
            return VotedModel(
                feeder.engine, last_model(feeder.engine, state), unique_rows(state), feeder.seed
            )
        log = {name: state[name] for name in ("log_start", "log_row", "log_t", "log_step")}
        made = MistakeLog.of(log, feeder.data, fit_intercept=bool(self.fit_intercept))
        return self._model.after(state, made, self._most(), feeder.seed)

    def _most(self) -> int | None:
        return None if self.max_vectors is None else int(self.max_vectors)

    def _cold(self, engine: Engine, planes: int, columns: int, numbers: State) -> VotedModel:
        start = super()._cold(engine, planes, columns, numbers)
        return VotedModel(engine, start, cold_vectors(start), 0)

    def _arrays(self, state: LearntModel) -> State:
        return settled_arrays(state)

    def _owned(self, engine: Engine, state: RunState) -> VotedModel:
        return state if isinstance(state, VotedModel) else self._model_from(engine, arrays_of(state))
