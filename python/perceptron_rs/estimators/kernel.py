"""The kernel perceptron as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from perceptron_rs.engines import Engine, KernelSpec, Rows, State, get_engine
from perceptron_rs.estimators.data import Examples, examples
from perceptron_rs.estimators.errors import restored_on_error
from perceptron_rs.estimators.fitting import _publish_report
from perceptron_rs.estimators.kernel_values import (
    KERNELS,
    callable_values,
    check_kernel,
    kernel_spec,
    matrix_of,
)
from perceptron_rs.estimators.kernel_vectors import begun, continued, counts_of, rows_of, state_of, stored
from perceptron_rs.estimators.labels import encode, encode_new, label_array, new_classes
from perceptron_rs.estimators.parameters import (
    CONSTRAINTS,
    JOINT,
    NOISE,
    check_parameters,
    draw_seed,
    n_threads,
)
from perceptron_rs.estimators.planes import is_joint, joint_update, n_planes, positive_labels
from perceptron_rs.estimators.progress import Callback, Observer
from perceptron_rs.estimators.vectors import drawn
from perceptron_rs.estimators.weights import class_weights, sample_weights, unvisited
from perceptron_rs.reference.arith.environment import standard

__all__ = ["KernelPerceptron"]

PREDICTIONS = ("vote", "average", "last", "random")
#: What the engines call them.
_ANSWERS = {"vote": "vote", "average": "average", "last": "last", "random": "drawn"}
_LEFT_OUT = ("early_stopping", "validation_fraction")
_MEGABYTE = 1 << 20


class KernelPerceptron(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""The perceptron in the space of a kernel.

    What is learnt is the log of mistakes: each mistake on an example :math:`x_k`, with the step
    :math:`c_k`, adds :math:`c_k K(x_k, x)` to the activation of every x. With the polynomial kernel of
    degree d that is a perceptron over all products of d features, which are never computed [1]_. More
    than two classes are learnt one against the rest, or jointly.

    All kinds of prediction come from the same fit, so ``prediction`` and ``normalize`` may be
    changed afterwards: the vote of all vectors that the run went through, their average, the last one, or
    one drawn at random [2]_.

    The time of a fit is mostly that of the kernel values of all examples with each mistaken one; that of
    a prediction is that of its kernel values with all mistaken examples.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        :math:`x \cdot z`; :math:`(\gamma x \cdot z + r)^d`; :math:`\exp(-\gamma \|x - z\|^2)`;
        :math:`\tanh(\gamma x \cdot z + r)`; X is the matrix of kernel values, of every example with every
        one that was fitted; or a function of two matrices of examples that returns the kernel values
        of each row of the first with each one of the second. A callable is asked for all
        values of a fit, which are kept meanwhile.
    degree : int, default=3
        d, at least 1.
    gamma : {"scale", "auto"} or float, default="scale"
        :math:`\gamma`, in (0, inf). "scale" is one divided by the number of features and the variance of
        X (1 if that is 0), "auto" one divided by the number of features. ``partial_fit`` and a warm start
        keep the first one.
    coef0 : float, default=0.0
        r, finite.
    prediction : {"vote", "average", "last", "random"}, default="vote"
        What predicts: the vote of all vectors, each with the number of examples that it survived; their
        average over the examples; the last vector; or one vector for each class, drawn at random by
        the survival counts when the estimator is fitted.
    normalize : bool, default=False
        Whether each activation is divided by the norm of its vector in the space of the kernel, for all
        kinds but the vote, which it cannot change. Classes are then compared by their distances.
    fit_intercept : bool, default=False
        Whether to learn an intercept.
    max_iter : int, default=10
        Largest number of epochs of a ``fit``, in [1, 2**31 - 1].
    tol : float or None, default=None
        A class stops when its mean loss has failed ``n_iter_no_change`` times in a row to be
        lower by ``tol`` than the best one, in [0, inf). It always stops at the end of an epoch without
        a mistake. With None, only that and ``max_iter`` end a fit.
    shuffle : bool, default=True
        Whether ``fit`` visits the examples in a new random order in each epoch.
    verbose : int, default=0
        Above 0, a line about each epoch is printed.
    eta0 : float, default=1.0
        Learning rate, in (0, inf). It only scales the activations.
    n_jobs : int or None, default=None
        Number of threads, as joblib reads it. It changes no bit of any result.
    random_state : int, RandomState instance or None, default=0
        Key of the random orders and of the vector that ``prediction="random"`` draws: an int in
        [0, 2**32 - 1] is the key itself, otherwise one number is drawn in each call that learns.
    n_iter_no_change : int, default=5
        See ``tol``. In [1, 2**31 - 1].
    class_weight : dict, "balanced" or None, default=None
        Factor >= 0 of the steps on the examples of each class, ``{label: weight}``, 1 for classes
        that it does not name. "balanced" is ``n_samples / (n_classes * count of the class)``. With
        more than two classes it applies to a class's own examples, and not where they are the rest.
    warm_start : bool, default=False
        Whether ``fit`` goes on from the last one: its vectors, counters and number of epochs.
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
    multi_class : {"ovr", "joint"}, default="ovr"
        More than two classes: each against the rest, or all of them in one decision.
    update : {"max", "uniform", "proportional"}, default="max"
        How a joint decision spreads the downward part of an update over the classes that are
        not below the true one.
    track_mistakes : bool, default=False
        Whether to count the mistakes made on each example (``mistakes_per_example_``).
    cache_size : float, default=200
        Megabytes for rows of kernel values that may be needed again, in (0, inf). A row that is not kept
        is computed again, with the same bits.
    engine : {"rust", "reference"}, default="rust"
        What computes. Both give the same bits; the reference is slow, and made to be read.
    callback : callable or None, default=None
        Called with an `EpochRecord` after each epoch. If it returns true, the fit ends there.
    keep_on_interrupt : bool, default=False
        Whether Ctrl-C ends a fit with what it has learnt so far, and a warning. Otherwise
        ``KeyboardInterrupt`` is raised and the estimator is as it was before.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,), int64
        The mistaken examples: their rows in the X of the ``fit`` or ``partial_fit`` that stored them.
    support_vectors_ : ndarray or csr_matrix of shape (n_support, n_features)
        The mistaken examples, in their own storage; without rows for a precomputed kernel.
    dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support), float64
        Sum of the steps made on each of them, for the last vectors.
    mistakes_per_support_ : ndarray of shape (1, n_support) or (n_classes, n_support), int64
        Number of updates made on each of them.
    intercept_ : ndarray of shape (1,) or (n_classes,), float64
        The last intercepts.
    n_vectors_ : int or ndarray of shape (n_classes,), int64
        Number of vectors: one more than the updates. One number for two classes.
    survival_ : ndarray of shape (n_vectors_,), int64, or list of such
        Survival count of each vector, the start first. One array for two classes.
    classes_ : ndarray of shape (n_classes,)
        The distinct labels, sorted.
    n_iter_ : int
        Epochs run by the last ``fit``, the largest over the classes; 1 after ``partial_fit``.
    n_iter_per_class_ : ndarray of shape (1,) or (n_classes,), int64
        Epochs run for each class.
    n_mistakes_ : int
        Mistakes in the last ``fit`` or ``partial_fit``.
    mistakes_per_epoch_ : ndarray of shape (n_iter_,) or (n_iter_, n_classes), int64
        Mistakes in each epoch of the last call; 0 after a class has stopped.
    converged_ : bool
        Whether every class ended on an epoch without a mistake.
    mistakes_per_example_ : ndarray of shape (n_samples,) or (n_samples, n_classes), int64
        Mistakes made on each example in the last call; with ``track_mistakes`` only.
    n_seen_ : ndarray of shape (1,) or (n_classes,), int64
        Examples seen by each class since the last cold start, over all calls.
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
    VotedPerceptron : The same in the space of the features themselves.

    References
    ----------
    .. [1] M. A. Aizerman, E. M. Braverman and L. I. Rozonoer, "Theoretical foundations of the potential
       function method in pattern recognition learning", Automation and Remote Control 25, 1964.
    .. [2] Y. Freund and R. E. Schapire, "Large margin classification using the perceptron algorithm",
       Machine Learning 37, 1999, pages 277-296: figure 1, and sections 3 and 5.

    Examples
    --------
    >>> import numpy as np
    >>> from perceptron_rs import KernelPerceptron
    >>> X = np.array([[0, 0], [1, 1], [0, 1], [1, 0]])
    >>> y = np.array([0, 0, 1, 1])  # exclusive or: no line separates it
    >>> model = KernelPerceptron(kernel="poly", degree=2, gamma=1.0, coef0=1.0, max_iter=100).fit(X, y)
    >>> model.converged_
    True
    >>> model.set_params(prediction="last").predict(X)
    array([0, 0, 1, 1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: rule for name, rule in CONSTRAINTS.items() if name not in _LEFT_OUT},
        **NOISE,
        **JOINT,
        "kernel": [StrOptions(set(KERNELS)), callable],
        "degree": [Interval(Real, 1, None, closed="left")],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="neither")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "prediction": [StrOptions(set(PREDICTIONS))],
        "normalize": ["boolean"],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
    }

    classes_: NDArray[Any]
    intercept_: NDArray[np.float64]
    n_seen_: NDArray[np.int64]
    n_iter_: int
    _vectors: State
    _norm: NDArray[np.float64]
    _spec: KernelSpec
    _seed: int
    _n_epochs: int

    def __init__(
        self,
        kernel: str | Callable[[Any, Any], Any] = "rbf",
        *,
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        prediction: str = "vote",
        normalize: bool = False,
        fit_intercept: bool = False,
        max_iter: int = 10,
        tol: float | None = None,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float = 1.0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        n_iter_no_change: int = 5,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        tie: str = "mistake",
        margin: float = 0.0,
        added_feature: float = 0.0,
        max_mistakes_per_example: int | None = None,
        multi_class: str = "ovr",
        update: str = "max",
        track_mistakes: bool = False,
        cache_size: float = 200,
        engine: str = "rust",
        callback: Callback | None = None,
        keep_on_interrupt: bool = False,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.prediction = prediction
        self.normalize = normalize
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.tie = tie
        self.margin = margin
        self.added_feature = added_feature
        self.max_mistakes_per_example = max_mistakes_per_example
        self.multi_class = multi_class
        self.update = update
        self.track_mistakes = track_mistakes
        self.cache_size = cache_size
        self.engine = engine
        self.callback = callback
        self.keep_on_interrupt = keep_on_interrupt

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from X and y in epochs, until the stopping rule ends it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples. C-contiguous arrays and CSR matrices of float64, float32, int8, uint8,
            int16, uint16 or int32 are read in place; anything else is converted once. With
            ``kernel="precomputed"``, the kernel values of all pairs of examples.
        y : array-like of shape (n_samples,)
            The class of each example: whole numbers, booleans or strings, at least two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Factor >= 0 of each example's step. An example of weight 0 is left out altogether.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If an argument has a wrong shape, length or value, or if training overflows. The
            estimator is then as it was before the call.
        TypeError
            If an argument holds something else than numbers (labels: numbers or strings).

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If ``max_iter`` ended the fit, unless ``tol`` is None, or if Ctrl-C did.
        """
        with restored_on_error(self), standard():
            self._check()
            warm = bool(self.warm_start) and hasattr(self, "classes_")
            data = examples(self, get_engine(self.engine), X, reset=not warm)
            classes, labels = encode_new(label_array(self, y, data.rows.shape[0]))
            if warm and not np.array_equal(classes, self.classes_):
                raise ValueError(
                    f"warm_start=True goes on from a fit with the classes {self.classes_.tolist()!r:.200}, "
                    f"but y holds {classes.tolist()!r:.200}; set warm_start=False"
                )
            if not warm:
                self._begin(data, classes)
            stopped = self._learn(
                data,
                labels,
                sample_weight,
                max_iter=int(self.max_iter),
                tol=None if self.tol is None else float(self.tol),
                shuffle=bool(self.shuffle),
            )
            self._n_epochs += self.n_iter_
            self._warn(stopped)
        return self

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one pass over X and y in the given order, going on from what was learnt before.

        Batches one after another give what one pass over all of them gives. The attributes that
        report a fit (``n_iter_``, ``mistakes_per_epoch_``, ``n_mistakes_``, ``converged_``, ...)
        describe this call alone. Not with ``kernel="precomputed"``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples.
        y : array-like of shape (n_samples,)
            The class of each example.
        classes : array-like of shape (n_classes,), default=None
            All classes that will ever be seen; needed in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Factor >= 0 of each example's step.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If an argument has a wrong shape, length or value, if y holds a class that is not in
            ``classes_``, or if training overflows. The estimator is then as it was before.
        TypeError
            If an argument holds something else than numbers (labels: numbers or strings).
        """
        with restored_on_error(self), standard():
            self._check(for_partial_fit=True)
            if self.kernel == "precomputed":
                raise ValueError("kernel='precomputed' is not available with partial_fit; use fit")
            first = not hasattr(self, "classes_")
            given = new_classes(classes, self)
            data = examples(self, get_engine(self.engine), X, reset=first)
            y = label_array(self, y, data.rows.shape[0])
            if first:
                self._begin(data, given)
            labels = encode(y, self.classes_)
            self._learn(data, labels, sample_weight, max_iter=1, tol=None, shuffle=False)
        return self

    def _check(self, *, for_partial_fit: bool = False) -> None:
        check_parameters(self, for_partial_fit=for_partial_fit)
        check_kernel(self)
        if self.prediction not in PREDICTIONS:
            raise ValueError(f"prediction must be one of {PREDICTIONS}, got {self.prediction!r}")

    def _warn(self, stopped: list[str]) -> None:
        if self.tol is not None and "max_iter" in stopped:
            warnings.warn(
                f"max_iter={self.max_iter} epochs ended the fit before the stopping rule did; "
                f"raise max_iter, or set tol=None if the number of epochs is meant",
                ConvergenceWarning,
                stacklevel=4,
            )
        if "interrupt" in stopped:
            warnings.warn(
                f"ctrl-c ended the fit in epoch {self._n_epochs} (counted from 1); "
                f"what was learnt until then is kept",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _begin(self, data: Examples, classes: NDArray[Any]) -> None:
        """Start from the vector 0."""
        planes = n_planes(self, classes)
        self.classes_ = classes
        data.assert_finite(self)
        self._spec = kernel_spec(self, get_engine(self.engine), data.rows)
        columns = None if self.kernel == "precomputed" else self.n_features_in_
        self._vectors = begun(planes, columns)
        self._norm = np.zeros(planes)
        self.intercept_ = np.zeros(planes)
        self.n_seen_ = np.zeros(planes, dtype=np.int64)
        self._n_epochs = 0

    def _learn(
        self,
        data: Examples,
        labels: NDArray[np.uint32],
        sample_weight: Any,
        *,
        max_iter: int,
        tol: float | None,
        shuffle: bool,
    ) -> list[str]:
        """Run the engine once, publish what comes of it, and return why each class stopped."""
        data.assert_finite(self)
        engine, planes = get_engine(self.engine), len(self._norm)
        if planes != n_planes(self, self.classes_):
            raise ValueError(
                f"multi_class={self.multi_class!r} differs from that of the fit that this one goes on from"
            )
        weights = sample_weights(sample_weight, labels)
        class_weight = class_weights(self.class_weight, self.classes_, labels, planes)
        idle = unvisited(weights, class_weight, labels, is_joint(self))
        observer = Observer(self, engine, len(labels) if idle is None else int((~idle).sum()), None)
        most = self.max_mistakes_per_example
        seed = draw_seed(self.random_state)
        rows = self._fit_rows(engine, data)
        try:
            report = engine.kernel_fit(
                rows,
                labels,
                weights,
                kernel=self._spec,
                cache_bytes=min(int(float(self.cache_size) * _MEGABYTE), 2**62),
                state={
                    "sums": self._sums(engine, data, rows),
                    "intercept": np.asarray(self.intercept_, np.float64),
                    "norm": self._norm,
                    "seen": self.n_seen_,
                },
                positive=positive_labels(planes),
                class_weight=class_weight,
                eta0=float(self.eta0),
                tie=str(self.tie),
                fit_intercept=bool(self.fit_intercept),
                seed=seed if shuffle else None,
                first_epoch=self._n_epochs if shuffle else 0,
                max_iter=max_iter,
                tol=tol,
                n_iter_no_change=int(self.n_iter_no_change),
                track_mistakes=bool(self.track_mistakes),
                threads=n_threads(self),
                margin=float(self.margin),
                added_feature=float(self.added_feature),
                max_mistakes_per_example=None if most is None else int(most),
                joint=joint_update(self),
                on_epoch=observer if observer.is_needed else None,
                keep_on_interrupt=bool(self.keep_on_interrupt),
            )
        except OverflowError as error:
            raise ValueError(str(error)) from None
        if observer.interrupted:
            report["stopped"] = ["interrupt" if why == "callback" else why for why in report["stopped"]]
        state = report["state"]
        self._vectors = continued(
            self._vectors,
            state,
            None if self.kernel == "precomputed" else data.stored,
            fit_intercept=bool(self.fit_intercept),
        )
        self.intercept_, self._norm, self.n_seen_ = state["intercept"], state["norm"], state["seen"]
        self._seed = seed
        _publish_report(self, report)
        return report["stopped"]

    def _fit_rows(self, engine: Engine, data: Examples) -> Rows:
        """Return the rows that the engine learns from: those of the Gram matrix of a callable."""
        if not callable(self.kernel):
            if self.kernel == "precomputed" and data.rows.shape[0] != data.rows.shape[1]:
                raise ValueError(
                    f"X must be a square matrix with kernel='precomputed', got shape {data.rows.shape}"
                )
            return data.rows
        X = matrix_of(data.stored, self.n_features_in_)
        return engine.dense_rows(callable_values(self.kernel, X, X))

    def _sums(self, engine: Engine, data: Examples, rows: Rows) -> NDArray[np.float64]:
        """Return S (K, n) of the examples under the vectors so far."""
        if len(self._vectors["origin"]) == 0:
            return np.zeros((len(self._norm), data.rows.shape[0]))
        if self.kernel == "precomputed":
            rows = self._chosen_columns(engine, data)
        answers = self._answers(engine, data, rows if self.kernel == "precomputed" else None, "sum")
        return np.ascontiguousarray(answers.T)

    def _chosen_columns(self, engine: Engine, data: Examples) -> Rows:
        """Return precomputed rows with the columns of the stored examples alone."""
        origin = self._vectors["origin"]
        if "rows" in data.stored:
            return engine.dense_rows(np.ascontiguousarray(data.stored["rows"][:, origin]))
        matrix = matrix_of(data.stored, data.rows.shape[1])[:, origin].tocsr()
        matrix.sort_indices()
        return engine.csr_rows(matrix.indptr, matrix.indices, matrix.data, matrix.shape[1])

    def _answers(self, engine: Engine, data: Examples, rows: Rows | None, answer: str) -> NDArray[np.float64]:
        """Return one kind of answer (n, K); ``rows``: kernel values with the stored rows, if known."""
        counts = counts_of(self._vectors, self.n_seen_)
        state = state_of(self._vectors, self.n_seen_, drawn(counts, self._seed))
        columns = self.n_features_in_
        if callable(self.kernel):
            X = matrix_of(data.stored, columns)
            others = matrix_of(stored(self._vectors), columns)
            rows = engine.dense_rows(callable_values(self.kernel, X, others))
        if rows is None:
            rows, others = data.rows, rows_of(self._vectors, engine, columns)
        else:
            others = engine.dense_rows(np.zeros((len(self._vectors["origin"]), 1), dtype=np.uint8))
        try:
            found = engine.kernel_scores(
                rows, others, state, kernel=self._spec, answers=[answer], threads=n_threads(self)
            )
        except OverflowError as error:
            raise ValueError(str(error)) from None
        return found[:, 0]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the normalised vote on every example, or the activation of what else predicts.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples; with ``kernel="precomputed"``, their kernel values with all examples that were
            fitted.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For ``prediction="vote"`` the votes for less those against, divided by their number, in
            [-1, 1]. Otherwise the activation, divided by the norm of its vector if ``normalize`` is
            set. For two classes it is for ``classes_[1]`` (of a joint decision, by how much it exceeds that
            for ``classes_[0]``); otherwise there is one column a class. The bits depend neither on the
            storage of X, nor on the batch, nor on ``n_jobs``.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If X has a wrong shape, holds a NaN or an infinity, or makes an activation overflow.
        """
        check_is_fitted(self)
        with standard():
            self._check()
            engine = get_engine(self.engine)
            data = examples(self, engine, X, reset=False)
            data.assert_finite(self)
            rows = self._chosen_columns(engine, data) if self.kernel == "precomputed" else None
            answer = _ANSWERS[self.prediction]
            if self.normalize and answer != "vote":
                answer = f"normalised {answer}"
            scores = self._answers(engine, data, rows, answer)
            if answer == "vote":
                number = np.array([count.sum() for count in counts_of(self._vectors, self.n_seen_)])
                scores = scores / np.maximum(number, 1)
            if scores.shape[1] == 1:
                return scores.reshape(-1)
            if len(self.classes_) == 2:  # a joint decision of two classes
                difference: NDArray[np.float64] = scores[:, 1] - scores[:, 0]
                return difference
            return scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of every example.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples, as for ``decision_function``.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            For two classes ``classes_[1]`` where the score is positive (or 0, under
            ``tie="positive"``); otherwise the class of the largest score, the first of equals.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            index = (scores >= 0 if self.tie == "positive" else scores > 0).astype(np.intp)
        else:
            index = np.argmax(scores, axis=1)
        return self.classes_[index]

    @property
    def support_(self) -> NDArray[np.int64]:
        """Rows in X of the mistaken examples."""
        return self._vectors["origin"]

    @property
    def support_vectors_(self) -> Any:
        """The mistaken examples."""
        if self.kernel == "precomputed":
            return np.zeros((0, 0))
        return matrix_of(stored(self._vectors), self.n_features_in_)

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """Sum of the steps made on each of the mistaken examples."""
        return self._per_support(self._vectors["log_step"])

    @property
    def mistakes_per_support_(self) -> NDArray[np.int64]:
        """Number of updates made on each of the mistaken examples."""
        return self._per_support(np.ones(len(self._vectors["log_row"]), dtype=np.int64))

    def _per_support(self, values: NDArray[Any]) -> NDArray[Any]:
        log = self._vectors
        found = np.zeros((len(self._norm), len(log["origin"])), dtype=values.dtype)
        planes = np.repeat(np.arange(len(found)), np.diff(log["log_start"]))
        np.add.at(found, (planes, log["log_row"]), values)
        return found

    @property
    def n_vectors_(self) -> int | NDArray[np.int64]:
        """Number of vectors, of each class."""
        numbers: NDArray[np.int64] = np.diff(self._vectors["log_start"]) + 1
        return int(numbers[0]) if len(numbers) == 1 else numbers

    @property
    def survival_(self) -> NDArray[np.int64] | list[NDArray[np.int64]]:
        """Survival count of each vector, of each class."""
        counts = counts_of(self._vectors, self.n_seen_)
        return counts[0] if len(counts) == 1 else counts

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
