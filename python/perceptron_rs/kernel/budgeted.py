"""The kernel perceptron on a budget as a scikit-learn estimator."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.csr import StoredRows
from perceptron_rs.arrays.named import arrays_of, rows_in, without_rows
from perceptron_rs.engines import Engine, LearntModel, RunState, State, rows_of
from perceptron_rs.errors import OptionsError
from perceptron_rs.kernel.base import KernelLearner
from perceptron_rs.kernel.parameters import BudgetedKernelPerceptronParameters
from perceptron_rs.kernel.predictor import BUDGETED, BudgetedKernelPerceptronPredictor
from perceptron_rs.kernel.vectors import log_of
from perceptron_rs.rows.selection import concatenate_rows, select_rows
from perceptron_rs.schema.schema import Schema
from perceptron_rs.settings import Budget, Data
from perceptron_rs.state.fixed_parameters import OF_KERNEL
from perceptron_rs.stream.fit import StreamFit
from perceptron_rs.stream.run import Block, Carrier
from perceptron_rs.targets.planes import is_joint, n_planes
from perceptron_rs.training.train import Feeder


def empty_sets(planes: int, width: int) -> State:
    """Return empty sets, each shared by so many classes."""
    sets, whole = planes // width, np.zeros(0, dtype=np.int64)
    return {
        "kept_start": np.zeros(sets + 1, dtype=np.int64),
        "kept_row": whole,
        "kept_number": whole,
        "kept_step": np.zeros((0, width)),
        "kept_mistakes": np.zeros(sets, dtype=np.int64),
        "kept_harm": np.zeros(sets),
        "kept_factor": np.zeros(0),
    }


def updated_sets(
    kept: State, before: StoredRows, origin: NDArray[np.int64], new: StoredRows, first_row: int = 0
) -> tuple[State, StoredRows, NDArray[np.int64]]:
    """Return the sets after a run, the rows of their members, and the number of each row in X.

    The run numbered the rows stored ``before``, which came from ``origin``, and then the ``new`` ones, the
    first of which is row ``first_row``.
    """
    distinct, place = np.unique(kept["kept_row"], return_inverse=True)
    old = distinct[distinct < len(origin)]
    fresh = distinct[len(old) :] - len(origin)
    rows = select_rows(before, old)
    if len(fresh):
        rows = concatenate_rows(rows, select_rows(new, fresh))
    origins = np.concatenate([origin[old], fresh + first_row]).astype(np.int64)
    return kept | {"kept_row": place.reshape(-1).astype(np.int64)}, rows, origins


class BudgetCarrier(Carrier):
    """The sets of a run over a stream: the members, their rows, and where these stand in the stream."""

    def __init__(self, model: KernelLearner, engine: Engine) -> None:
        self.model, self.engine = model, engine

    def begin(self, block: Block, state: RunState) -> tuple[Data, RunState]:
        """Return what an engine starts with."""
        block.assert_finite(self.model)
        arrays = arrays_of(state)
        rows = rows_of(self.engine, rows_in(arrays), self.model.n_features_in_)
        sets = {name: w for name, w in without_rows(arrays).items() if name != "origin"}
        return Data(block.data.rows, block.labels, block.weights, rows), sets

    def end(self, block: Block, before: RunState, after: State) -> State:
        """Return the state with the rows that are still named."""
        stored = rows_in(arrays_of(before))
        kept, rows, origin = updated_sets(after, stored, before["origin"], block.data.stored, block.first)
        return kept | rows | {"origin": origin}


def unique_members(state: State) -> tuple[State, StoredRows, NDArray[np.int64]]:
    """Return the sets of a run over a stream with each row stored once, as after a run in memory."""
    origin, index, place = np.unique(state["origin"], return_index=True, return_inverse=True)
    kept = {name: w for name, w in state.items() if name.startswith("kept")}
    kept["kept_row"] = place.reshape(-1).astype(np.int64)[kept["kept_row"]]
    return kept, select_rows(rows_in(state), index), origin


class BudgetedKernelPerceptron(
    BudgetedKernelPerceptronParameters, KernelLearner, BudgetedKernelPerceptronPredictor, StreamFit
):
    r"""Kernel perceptron that keeps a bounded number of mistakes, for endless streams.

    It learns like `KernelPerceptron`: a mistake on an example :math:`x_k`, with the step :math:`c_k`, adds
    :math:`c_k K(x_k, x)` to the activation of every x. It keeps at most ``budget`` mistakes. When the
    budget is full, ``budget_policy`` makes room for a new one, so that memory and the time for each example
    stay bounded. It predicts with the last vector.

    There is no intercept, because it would keep a trace of every discarded mistake. Add a column of ones to
    X, or set ``coef0``, to have one.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, default="rbf"
        Kernel :math:`K(x, z)`. "linear": :math:`x \cdot z`. "poly": :math:`(\gamma x \cdot z + r)^d`.
        "rbf": :math:`\exp(-\gamma \|x - z\|^2)`. "sigmoid": :math:`\tanh(\gamma x \cdot z + r)`.
        "precomputed": X is the matrix of kernel values of each example with each training example.
    budget : int, default=100
        Maximum number of mistakes to keep, for each class or for a joint decision as a whole, in
        [1, 2**31 - 1]. It cannot change between calls that continue a run.
    budget_policy : {"oldest", "random", "forgetron", "projectron"}, default="oldest"
        How to make room for a mistake when the budget is full. "oldest": discard the oldest mistake.
        "random": discard one at random [1]_. "forgetron": discard the oldest, after shrinking all steps so
        that the harm of discarding is bounded [2]_. "projectron": discard nothing, but project the new
        mistake onto the span of those kept, in the feature space of the kernel [3]_. The mistake bounds of
        the last two hold for kernels with values K(x, x) of at most 1, such as "rbf". "projectron" needs a
        positive definite kernel: neither "sigmoid", nor "poly" with ``coef0`` below 0.
    projection_distance : float, default=0.0
        With "projectron", a mistake whose distance from the span of those kept is at most this is projected
        even if there is room, in [0, inf).
    degree : int, default=3
        Degree d of the "poly" kernel, from 1 to 100. Ignored by other kernels.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient :math:`\gamma` of "poly", "rbf" and "sigmoid", in (0, inf). "scale" is
        ``1 / (n_features * X.var())``, or 1 if the variance is 0; "auto" is ``1 / n_features``.
        ``partial_fit`` and a warm start keep the first value.
    coef0 : float, default=0.0
        Constant term r of "poly" and "sigmoid", finite. Ignored by other kernels.
    max_iter : int, default=10
        Maximum number of epochs in a call of ``fit``, in [1, 2**31 - 1].
    tol : float or None, default=None
        Stopping criterion, in [0, inf). Training stops for a class when its mean loss has not improved on
        the best loss by at least ``tol`` for ``n_iter_no_change`` consecutive epochs. It also stops after
        an epoch without a mistake. If None, only such an epoch and ``max_iter`` end training.
    shuffle : bool, default=True
        Whether to shuffle the examples before each epoch of ``fit``.
    verbose : int, default=0
        If above 0, print a line about each epoch.
    eta0 : float, default=1.0
        Learning rate, in (0, inf). A power of two only scales the activations. Other values also change how
        they are rounded, and so possibly which examples are mistakes. Thresholds such as ``tol`` do not scale
        with it.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all
        processors. It does not change any bit of the results.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffling and of ``budget_policy="random"``. An int in [0, 2**32 - 1] is used in every
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
        Whether ``fit`` continues from the previous call, with its vectors, counters and number of epochs.
    tie : {"mistake", "positive"}, default="mistake"
        How to treat an activation of exactly 0. With "mistake", it is a mistake for every class, and a
        model of two classes predicts the negative one. With "positive", it counts as positive in training
        and in prediction.
    margin_threshold : float, default=0.0
        An example that is classified correctly, but with an activation of no more than this in size, still
        counts as a mistake, in [0, inf). Not available with ``multi_class="joint"``.
    max_mistakes_per_example : int or None, default=None
        Maximum number of updates on one example in a call, for each class. If None, there is no limit.
    multi_class : {"ovr", "joint"}, default="ovr"
        With "ovr", each class is learnt against the rest, independently of the others. With "joint", an
        example is a mistake if another class scores at least as high as the true one, and the classes
        involved are updated together.
    joint_update : {"max", "uniform", "proportional"}, default="max"
        Which classes a joint update moves down. "max": the one with the highest score. "uniform": all that
        score at least as high as the true class, in equal parts. "proportional": the same ones, in
        proportion to how far they exceed it. Ignored with "ovr".
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
    support_ : ndarray of shape (n_support,), int64
        Indices of the misclassified examples that are kept: their rows in the X of the call of ``fit`` or
        ``partial_fit`` that stored them.
    support_vectors_ : ndarray or csr_matrix of shape (n_support, n_features)
        The examples that are kept, in the storage type of X. There are no rows if the kernel is
        precomputed.
    dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support), float64
        Sum of the steps on each of them: the coefficients of the model.
    mistakes_per_support_ : ndarray of shape (1, n_support) or (n_classes, n_support), int64
        Number of mistakes on each of them that are kept.
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
        Number of mistakes in the last ``fit`` or ``partial_fit``.
    mistakes_per_epoch_ : ndarray of shape (n_iter_, 1) or (n_iter_, n_classes), int64
        Number of mistakes in each epoch of the last call; 0 for a class that has already stopped.
    loss_curve_ : list of float
        Mean perceptron loss of an example in each epoch, before its update, averaged over the classes; a
        class that has stopped counts as 0. Only available after ``fit``.
    converged_ : bool
        Whether the last epoch of every class was without a mistake.
    mistakes_per_example_ : ndarray of shape (n_samples, 1) or (n_samples, n_classes), int64
        Number of mistakes on each example in the last call. Only available with ``track_mistakes=True``.
    n_seen_ : ndarray of shape (1,) or (n_classes,), int64
        Number of examples visited for each class since the last cold start, over all calls; with
        ``early_stopping``, those up to the best epoch.
    validation_scores_ : ndarray of shape (n_iter_, 1) or (n_iter_, n_classes), float64
        Accuracy on the validation set after each epoch. Only available with ``early_stopping=True``.
    predictor_ : dict of str to ndarray
        What predicts: all arrays that a prediction is computed from, by name. The log of mistakes,
        the rows that it names and the gamma of their kernel.
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
    KernelPerceptron : Keeps every mistake, and predicts with any of its vectors.

    References
    ----------
    .. [1] G. Cavallanti, N. Cesa-Bianchi and C. Gentile, "Tracking the best hyperplane with a simple budget
       perceptron", Machine Learning 69, 2007, pages 143-167: the randomized budget perceptron.
    .. [2] O. Dekel, S. Shalev-Shwartz and Y. Singer, "The Forgetron: a kernel-based perceptron on a budget",
       SIAM Journal on Computing 37, 2008, pages 1342-1372: the self-tuned Forgetron.
    .. [3] F. Orabona, J. Keshet and B. Caputo, "Bounded kernel-based online learning", Journal of Machine
       Learning Research 10, 2009, pages 2643-2666: algorithm 2.

    Examples
    --------
    >>> import numpy as np
    >>> from perceptron_rs import BudgetedKernelPerceptron
    >>> random = np.random.default_rng(0)
    >>> model = BudgetedKernelPerceptron(gamma=1.0, budget=30, budget_policy="projectron")
    >>> for _ in range(10):
    ...     X = random.normal(size=(200, 2))
    ...     model = model.partial_fit(X, X[:, 0] * X[:, 1] > 0, classes=[False, True])
    >>> model.support_vectors_.shape
    (30, 2)
    """

    _continues_in_streams: ClassVar[bool] = False
    _schema: ClassVar[Schema] = BUDGETED
    _fixed: ClassVar[tuple[str, ...]] = (*KernelLearner._fixed, "budget", "budget_policy")

    @property
    def _members(self) -> State:
        """The sets of members, as arrays of the engines."""
        return {name: array for name, array in self._model.state().items() if name.startswith("kept")}

    def _cold_arrays(self, planes: int) -> State:
        self._policy_seed = None
        return empty_sets(planes, planes if is_joint(self) else 1)

    def _begin(self, feeder: Feeder) -> LearntModel:
        engine, data = feeder.engine, feeder.data
        if self._policy_seed is None:
            self._policy_seed = feeder.seed
        origin, members = self.support_, self._members
        if self.kernel == "precomputed":
            feeder.stored_rows = engine.dense_rows(np.zeros((0, data.rows.shape[1]), dtype=np.uint8))
            members = members | {"kept_row": origin[members["kept_row"]]}
        else:
            feeder.stored_rows = rows_of(engine, rows_in(self._vectors), self.n_features_in_)
        return self._owned(engine, members | {"seen": self.n_seen_})

    def _keep(self, feeder: Feeder, state: RunState) -> None:
        kept = {name: state[name] for name in self._members}
        if feeder.method == "fit_stream":
            assert isinstance(state, dict)  # of a run over blocks
            sets = unique_members(state)
        elif self.kernel == "precomputed":
            none = np.zeros(0, dtype=np.int64)
            rows = {"rows": np.zeros((feeder.data.rows.shape[0], 1), dtype=np.uint8)}
            sets = updated_sets(kept, {"rows": rows["rows"][:0]}, none, rows)
        else:
            sets = updated_sets(kept, rows_in(self._vectors), self.support_, feeder.data.stored)
        kept, stored, origin = sets
        log = log_of(kept, n_planes(self, self.classes_))
        self._publish(kept | log | stored | {"origin": origin, "seen": state["seen"]})

    def _check_stream(self) -> None:
        super()._check_stream()
        for name, value, refused, remedy in (
            ("kernel", self.kernel, "precomputed", "name a kernel, whose values are computed"),
            ("gamma", self.gamma, "scale", "set a number, or 'auto', which need no pass over all examples"),
        ):
            matters = name != "gamma" or self.kernel in OF_KERNEL
            if matters and value == refused:
                raise OptionsError(
                    f"{{{name}}} is not available with {{fit_stream}} of this learner",
                    remedy,
                    values={name: value},
                )

    def _carry(self, feeder: Feeder, state: LearntModel) -> tuple[Carrier, State]:  # noqa: ARG002
        empty = rows_in(self._vectors) | {"origin": self.support_, "seen": self.n_seen_}
        return BudgetCarrier(self, feeder.engine), self._members | empty

    def _settings(self, feeder: Feeder) -> Budget:
        assert self._policy_seed is not None
        return Budget(
            **self._common_settings(feeder, Budget),
            policy=str.__str__(self.budget_policy),
            policy_seed=self._policy_seed,
            distance=float(self.projection_distance),
        )

    def _check_parameters(self, *, for_partial_fit: bool = False) -> None:
        if callable(self.kernel):
            raise ValueError(
                "a callable kernel is not available with a budget; name a kernel, or compute the matrix of "
                "kernel values and set kernel='precomputed'"
            )
        super()._check_parameters(for_partial_fit=for_partial_fit)
