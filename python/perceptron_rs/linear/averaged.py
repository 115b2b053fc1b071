"""The averaged perceptron as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.common.parameters import CONSTRAINTS, JOINT, NOISE
from perceptron_rs.common.progress import Callback
from perceptron_rs.common.sparse_weights import SparseWeights, dense
from perceptron_rs.engines import Engine, State, get_engine
from perceptron_rs.linear.base import LinearLearner
from perceptron_rs.linear.fitting import read_state

__all__ = ["AveragedPerceptron"]


class AveragedPerceptron(SparseWeights, LinearLearner):
    r"""The perceptron that predicts with the average of all weights it went through.

    The run is that of `Perceptron`: the same mistakes in the same order. With w_0 for the start
    weights and w_t for those after the t-th example, it predicts with
    ``(w_0 + w_1 + ... + w_T) / (T + 1)``. Weights that lived long count much, so that late mistakes on
    noisy examples do little harm. T counts the examples since the last cold start, over epochs, calls
    of ``partial_fit`` and warm starts.

    Parameters
    ----------
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
        Key of the random orders: an int in [0, 2**32 - 1] is the key itself, otherwise one number
        is drawn in each ``fit`` that shuffles.
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
    multi_class : {"ovr", "joint"}, default="ovr"
        With "ovr", each class is learnt against the rest, on its own. With "joint", an example is a
        mistake if another class scores as high as its own, and all of them are updated together.
    update : {"max", "uniform", "proportional"}, default="max"
        What a joint update moves down: the class that scored highest; all that scored as high as the
        true one or higher, in equal parts; or in proportion to their excess. Unused with "ovr".
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
        Averaged weights, computed when first read; one row for two classes, for the activation of
        ``classes_[1]``. A CSR matrix after ``sparsify``, which leaves ``last_coef_`` dense.
    intercept_ : ndarray of shape (1,) or (n_classes,), float64
        Averaged intercepts.
    last_coef_ : ndarray of the shape of ``coef_``, float64
        The last weights, which are those of `Perceptron`, and those that learning goes on from.
    last_intercept_ : ndarray of the shape of ``intercept_``, float64
        The last intercepts.
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
    Perceptron : Predicts with the last weights.

    References
    ----------
    .. [1] Y. Freund and R. E. Schapire, "Large margin classification using the perceptron algorithm",
       Machine Learning 37, 1999, pages 277-296.
    .. [2] M. Collins, "Discriminative training methods for hidden Markov models: theory and experiments
       with perceptron algorithms", EMNLP 2002, pages 1-8.

    Examples
    --------
    >>> import numpy as np
    >>> from perceptron_rs import AveragedPerceptron
    >>> X = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]])
    >>> y = np.array([-1, 1, 1, -1, -1, 1])
    >>> model = AveragedPerceptron(fit_intercept=False, shuffle=False, max_iter=1, tol=None).fit(X, y)
    >>> model.last_coef_
    array([[3., 1.]])
    >>> model.coef_ * 7  # the sum of the start weights and those after each of the six examples
    array([[12., -4.]])
    """

    _learner: ClassVar[str] = "averaged"
    _stored: ClassVar[dict[str, str]] = {
        "coef": "last_coef_",
        "intercept": "last_intercept_",
        "seen": "n_seen_",
        "coef_u": "_coef_u",
        "intercept_u": "_intercept_u",
    }

    _caches: ClassVar[tuple[str, ...]] = ("_average",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {**CONSTRAINTS, **JOINT, **NOISE}

    last_coef_: NDArray[np.float64]
    last_intercept_: NDArray[np.float64]
    _average: list[tuple[NDArray[np.float64], NDArray[np.float64]]]  # empty until it is read

    def __init__(
        self,
        *,
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
        multi_class: str = "ovr",
        update: str = "max",
        margin: float = 0.0,
        added_feature: float = 0.0,
        max_mistakes_per_example: int | None = None,
        track_mistakes: bool = False,
        engine: str = "rust",
        callback: Callback | None = None,
        keep_on_interrupt: bool = False,
        audit: bool = False,
    ) -> None:
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
        self.multi_class = multi_class
        self.update = update
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
        """Averaged weights."""
        return self._averaged()[0]

    @coef_.setter
    def coef_(self, coef: Any) -> None:
        self._average = [(coef, self._averaged_or_none()[1])]

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Averaged intercepts."""
        return self._averaged()[1]

    @intercept_.setter
    def intercept_(self, intercept: Any) -> None:
        self._average = [(self._averaged_or_none()[0], intercept)]

    def _averaged(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        # A list that is filled, not an attribute that is set: reading leaves ``__dict__`` as it is.
        if not self._average:
            self._average.append(get_engine(self.engine).average(read_state(self)))
        return self._average[0]

    def _averaged_or_none(self) -> tuple[Any, Any]:
        """Return the averages; None in the place of each that an unfitted estimator has not been given."""
        is_known = "last_coef_" in vars(self) or vars(self).get("_average")
        return self._averaged() if is_known else (None, None)

    def _check_saved(self) -> None:
        if not self._average:
            return  # neither read nor set
        own = self._answer(get_engine(self.engine), read_state(self))
        for name, expected, found in zip(("coef_", "intercept_"), own, self._average[0], strict=True):
            if not np.array_equal(dense(found), expected):
                raise ValueError(
                    f"{name} has been set, and a model file holds the sums that it is computed from; set it "
                    f"again after load, or keep the estimator by pickle"
                )

    def _answer(self, engine: Engine, state: State) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return engine.average(state)

    def _publish(self, state: State) -> None:
        super()._publish(state)
        self._average = []
