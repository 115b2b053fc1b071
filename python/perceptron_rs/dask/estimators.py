"""The learners on a Dask cluster."""

from __future__ import annotations

import math
from itertools import chain
from typing import Any, ClassVar, Self

import dask.array as da
import numpy as np
from dask import delayed
from dask.base import is_dask_collection
from distributed import Client, default_client

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike, shape_of
from perceptron_rs.dask.cluster import DaskCluster, blocks, is_lazy, row_blocks
from perceptron_rs.distributed.estimators import ClusterLearner
from perceptron_rs.distributed.partition import batch_of
from perceptron_rs.io.batches import Batch
from perceptron_rs.io.text.paths import PathLike
from perceptron_rs.linear.averaged import AveragedPerceptron as LocalAveragedPerceptron
from perceptron_rs.linear.perceptron import Perceptron as LocalPerceptron
from perceptron_rs.sequence.input import is_nested
from perceptron_rs.sequence.perceptron import SequencePerceptron as LocalSequencePerceptron
from perceptron_rs.sklearn_base import fit_context
from perceptron_rs.targets.label_sets import indicator
from perceptron_rs.targets.labels import label_array
from perceptron_rs.targets.planes import is_multilabel


class DaskLearner(ClusterLearner):
    """A learner whose examples lie in blocks on a cluster.

    Parameters
    ----------
    client : distributed.Client or None
        Client of the cluster. By default, the one that was made last.
    """

    _own: ClassVar[dict[str, list[object]]] = {"client": [Client, None]}

    client: Client | None = None

    @staticmethod
    def _is_distributed(X: object) -> bool:
        """Whether it is a collection of Dask or a delayed object, or a list that begins with one."""
        first = X[0] if isinstance(X, list | tuple) and X else X
        return is_dask_collection(first) or (first is not X and DaskLearner._is_distributed(first))

    def __sklearn_clone__(self) -> Self:
        """Return a learner with the same parameters and the same client."""
        return type(self)(**self.get_params(deep=False))

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike = None,
        *,
        sample_weight: ArrayLike = None,
        checkpoint: PathLike | None = None,
        resume: bool = False,
    ) -> Self:
        """Fit the model to the blocks of X and y, on the workers that have them.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features), or list of blocks
            The examples. Blocks are NumPy arrays, SciPy's sparse matrices or data frames, or
            ``dask.delayed`` promises of them; each is a partition. A block can also be a
            `perceptron_rs.io.Batch`, a promise of one, or a callable that returns one on the worker, such as
            the `perceptron_rs.io.Source.partitions` of files; y must then be None.
        y : Dask collection or list with a block for each of X, or array-like of shape (n_samples,)
            Class labels; of `Perceptron` and `AveragedPerceptron` also many labels of each example, as a
            matrix of 0 and 1 of shape (n_samples, n_labels).
        sample_weight : like y, default=None
            Weights of the examples.
        checkpoint : str or path-like, default=None
            File that is written after each epoch, for a fit that may be killed.
        resume : bool, default=False
            Whether to go on from ``checkpoint`` if it is there: from its last epoch, with the same bits. Data
            and parameters must be the same, except for ``max_iter``.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If an argument has an invalid shape, length or value, or if training overflows. The estimator then
            stays as it was before the call. Errors of a block name its partition.
        TypeError
            If X is no Dask collection, or an argument does not contain numbers.
        PartitionError
            If a partition ended each worker that tried it.
        PartitionChangedError
            If a block that was read again, because its worker died, has other rows than at first.
        """
        cluster = DaskCluster(self._client(), blocks(X, y, sample_weight))
        return self._fit_to(cluster, checkpoint, resume=resume)

    def predict(self, X: MatrixLike) -> Any:
        """Predict the class of each example, or the label of each token.

        Parameters
        ----------
        X : Dask collection, list of blocks, {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples. Blocks can be those that ``fit`` takes; their labels are not looked at.

        Returns
        -------
        y : dask.array.Array, list of dask.delayed.Delayed or ndarray
            Of shape (n_samples,), or (n_samples, n_labels) of many labels, computed block by block when asked
            for: an array of Dask for a collection of it, a list of promises for a list of blocks.
        """
        dtype = np.dtype(np.int64) if is_multilabel(self) else self.classes_.dtype
        return self._by_block("predict", X, dtype)

    def score(self, X: MatrixLike, y: ArrayLike = None, sample_weight: ArrayLike = None) -> float:
        """Return the accuracy on the given examples and labels, computed where they are.

        Parameters
        ----------
        X, y : as for ``fit``
            Examples and their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the examples, only for data in memory.

        Returns
        -------
        float
            Mean accuracy; of a sequence learner, of the tokens.

        Raises
        ------
        ValueError
            If there are weights for blocks, or an argument has an invalid shape or length.
        """
        if not is_lazy(X):
            return float(self.to_local().score(X, y, *([] if sample_weight is None else [sample_weight])))
        if sample_weight is not None:
            raise ValueError("sample_weight must be None for blocks; compute the predictions and weight them")
        model = delayed(self.to_local(), traverse=False)
        counts = [delayed(right)(model, block.X, block.y) for block in blocks(X, y)]
        answers: list[tuple[int, int]] = self._client().gather(self._client().compute(counts))
        good, n = map(sum, zip(*answers, strict=True))
        accuracy: float = good / n
        return accuracy

    def _client(self) -> Client:
        if self.client is not None:
            return self.client
        try:
            return default_client()
        except ValueError:
            raise ValueError(
                "client is None, and no client was made before; make one by distributed.Client()"
            ) from None

    def _by_block(self, method: str, X: MatrixLike, dtype: np.dtype[np.generic]) -> Any:
        local = self.to_local()
        if not is_lazy(X):
            return getattr(local, method)(X)
        model, array = delayed(local, traverse=False), is_dask_collection(X)
        parts = row_blocks(X) if array else [block.X for block in blocks(X, X)]
        answers = [delayed(answer)(model, method, part) for part in parts]
        if not array:
            return answers
        lengths = X.chunks[0] if hasattr(X, "chunks") else [math.nan] * len(answers)
        width = output_columns(local, method)
        shapes = [(n, *width) for n in lengths]
        return da.concatenate(
            [da.from_delayed(part, shape, dtype) for part, shape in zip(answers, shapes, strict=True)]
        )


class LinearOnDask(DaskLearner):
    """A linear learner on a cluster."""

    def decision_function(self, X: MatrixLike) -> Any:
        r"""Return the activation :math:`w \cdot x + b` of each example.

        Parameters
        ----------
        X : Dask collection, list of blocks, {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples.

        Returns
        -------
        scores : dask.array.Array, list of dask.delayed.Delayed or ndarray
            Of shape (n_samples,) or (n_samples, n_classes), computed block by block when asked for, as by
            ``predict``.
        """
        return self._by_block("decision_function", X, np.dtype(np.float64))


def output_columns(model: Any, method: str) -> tuple[int, ...]:
    """Return the number of columns of what a method answers; nothing, if that is a vector."""
    is_matrix = is_multilabel(model) or (method == "decision_function" and len(model.classes_) > 2)
    return (len(model.classes_),) if is_matrix else ()


def answer(model: object, method: str, X: MatrixLike) -> Any:
    """Return what a method of a model says of a block; nothing of a block without rows."""
    batch = Batch(*(X() if callable(X) else X)) if callable(X) or isinstance(X, tuple) else Batch(X, None)
    if (shape := shape_of(batch.X)) is not None and not shape[0]:
        return np.zeros((0, *output_columns(model, method)))
    lengths = {} if batch.lengths is None else {"lengths": batch.lengths}
    return getattr(model, method)(batch.X, **lengths)


def right(model: Any, X: MatrixLike, y: ArrayLike) -> tuple[int, int]:
    """Return how many examples of a block are predicted correctly, and how many there are."""
    batch = batch_of(X, y)
    predicted, truth = answer(model, "predict", batch), batch.y
    if is_nested(batch.X):
        predicted, truth = (list(chain.from_iterable(labels)) for labels in (predicted, truth))
    if not len(predicted):
        return 0, 0
    if is_multilabel(model):
        is_right = (predicted == indicator(truth, len(predicted))).all(axis=1)
    else:
        is_right = np.asarray(predicted) == label_array(model, truth, len(predicted))
    return int(np.count_nonzero(is_right)), len(predicted)


class Perceptron(LinearOnDask, LocalPerceptron):  # type: ignore[misc]
    """`perceptron_rs.Perceptron` on a Dask cluster.

    Each epoch visits all blocks of X side by side, and mixes the weights; see `perceptron_rs.Perceptron`
    for the parameters and attributes, and :doc:`/guide/scale` for the rule. Not available are
    ``n_partitions``, ``early_stopping``, ``track_mistakes``, ``audit``, ``added_feature`` and
    ``max_mistakes_per_example``.

    Parameters
    ----------
    client : distributed.Client or None, default=None
        Client of the cluster. By default, the one that was made last.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all
        processors. It does not change any bit of the results.
    engine : {"rust", "reference"}, default="rust"
        Implementation to use. Both give the same bits; the reference is slow, and written to be read.
    audit : bool, default=False
        Whether to keep digests of the examples, in model files too. `~perceptron_rs.reproduce` can then name
        the first block of examples that differs. ``random_state`` must be an integer.
    audit_key : str, path object, bytes or None, default=None
        Key of the digests: a file that holds it (32 bytes, or 64 hexadecimal digits), or 32 bytes. Without
        the key nobody can test whether a model has learnt from some examples. It is not shown, and not
        written to model files; pickles hold the name of the file alone.
    max_iter : int, default=1000
        Maximum number of epochs in a call of ``fit``, in [1, 2**31 - 1].
    n_iter_no_change : int, default=5
        Number of consecutive epochs without improvement before training stops, in [1, 2**31 - 1]. See
        ``tol``.
    shuffle : bool, default=True
        Whether to shuffle the examples before each epoch of ``fit``.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffling. An int in [0, 2**32 - 1] gives the same orders in each call of ``fit``.
        Otherwise, each ``fit`` that shuffles draws its seed from the given generator, or from NumPy's
        global one if None.
    early_stopping : bool, default=False
        Whether to stop by the accuracy on a validation set instead of the training loss, and to keep what was
        learnt by the best epoch. If True, ``fit`` sets aside a stratified fraction of the examples, drawn by
        ``random_state``. Training stops for a class when its validation accuracy has not improved on the best
        one by at least ``tol`` for ``n_iter_no_change`` consecutive epochs. See :doc:`/guide/stopping`.
    validation_fraction : float, default=0.1
        Fraction of the examples that ``early_stopping`` sets aside, in (0, 1).
    warm_start : bool, default=False
        Whether ``fit`` continues from the previous call, with its weights, counters and number of epochs.
    keep_on_interrupt : bool, default=False
        Whether Ctrl-C ends ``fit`` with a warning and keeps what has been learnt so far. If False,
        ``KeyboardInterrupt`` is raised, and the estimator stays as it was before the call.
    tol : float or None, default=0.001
        Stopping criterion, in [0, inf). Training stops for a class when its mean loss has not improved on
        the best loss by at least ``tol`` for ``n_iter_no_change`` consecutive epochs. It also stops after
        an epoch without a mistake. If None, only such an epoch and ``max_iter`` end training.
    eta0 : float, default=1.0
        Learning rate, in (0, inf). With initial weights of 0, a power of two only scales the learnt
        weights. Other values also change how they are rounded, and so possibly which examples are mistakes.
        Thresholds such as ``tol`` do not scale with it.
    tie : {"mistake", "positive"}, default="mistake"
        How to treat an activation of exactly 0. With "mistake", it is a mistake for every class, and a
        model of two classes predicts the negative one. With "positive", it counts as positive in training
        and in prediction.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, at least 0, as ``{label: weight}``. Classes that are not named have
        weight 1. An update is multiplied by the weight of its example's class. "balanced" uses
        ``n_samples / (n_classes * count of the class)``. With more than two classes, the weight applies to
        a class's own examples where the class is learnt, and not where they belong to the rest.
    track_mistakes : bool, default=False
        Whether to count the mistakes on each example, as ``mistakes_per_example_``.
    verbose : int, default=0
        If above 0, print a line about each epoch.
    callback : callable or None, default=None
        Function that is called with an `~perceptron_rs.EpochRecord` after each epoch. If it returns true,
        training stops.
    fit_intercept : bool, default=True
        Whether to learn an intercept. If False, the intercept keeps its initial value, which is 0 unless
        ``fit`` is given another one.
    multi_class : {"ovr", "joint"}, default="ovr"
        With "ovr", each class is learnt against the rest, independently of the others. With "joint", an
        example is a mistake if another class scores at least as high as the true one, and the classes
        involved are updated together.
    joint_update : {"max", "uniform", "proportional"}, default="max"
        Which classes a joint update moves down. "max": the one with the highest score. "uniform": all that
        score at least as high as the true class, in equal parts. "proportional": the same ones, in
        proportion to how far they exceed it. Ignored with "ovr".
    margin_threshold : float, default=0.0
        An example that is classified correctly, but with an activation of no more than this in size, still
        counts as a mistake, in [0, inf). Not available with ``multi_class="joint"``.
    max_mistakes_per_example : int or None, default=None
        Maximum number of updates on one example in a call, for each class. If None, there is no limit.
    added_feature : float, default=0.0
        Value of an extra feature that each example has to itself during training, in [0, inf). If above 0,
        every data set becomes separable. Not available with ``multi_class="joint"``.
    step : {"constant", "pa1", "pa2"}, default="constant"
        Length of an update. "constant": the learning rate ``eta0``. "pa1", "pa2": passive-aggressive steps,
        PA-I and PA-II, also known as MIRA: the larger the loss of an example, the longer its step.
        :doc:`/guide/steps` says what the loss is, what counts as a mistake, and which parameters these
        steps exclude.
    C : float, default=1.0
        Aggressiveness, in (0, inf): "pa1" makes the shortest step that leaves no loss, at most C;
        "pa2" makes each step shorter, the more so the smaller C is. Ignored with ``step="constant"``.
    n_partitions : int or array-like of int, default=1
        Number of contiguous parts of the examples that ``fit`` learns from side by side, in [1, 2**31 - 1],
        and no more than there are examples; or the number of examples in each, which may be 0. In each
        epoch, every partition is visited once from the same weights, and the weights that this leads to are
        mixed. See :doc:`/guide/scale`. If ``n_jobs`` allows it, the partitions are visited in parallel. Not
        available with ``partial_fit``, ``added_feature`` and ``max_mistakes_per_example``.
    mixing : {"uniform", "mistakes"}, default="uniform"
        How to mix the weights of the partitions. "uniform": their mean. "mistakes": their mean weighted by
        the number of mistakes on each partition. Ignored with ``n_partitions=1``.
    penalty : {"l2", "l1", "elasticnet"} or None, default=None
        Penalty that shrinks the weights at each example, whether it is a mistake or not.
    alpha : float, default=0.0001
        Strength of the penalty, in [0, inf).
    l1_ratio : float, default=0.15
        Mixing parameter of "elasticnet", in [0, 1]: 0 is "l2", 1 is "l1".

    Attributes
    ----------
    partition_report_ : list of PartitionReport
        Rows, entries, digest, mistakes and seconds of each partition. Further attributes are those of
        `perceptron_rs.Perceptron`.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.utils import shuffle
    >>> from perceptron_rs.dask import Perceptron
    >>> X, y = shuffle(*load_iris(return_X_y=True), random_state=0)
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as client:
    ...     model = Perceptron(client=client, max_iter=10, tol=None)
    ...     model = model.fit(da.from_array(X, chunks=(50, 4)), da.from_array(y, chunks=50))
    >>> [report.rows for report in model.partition_report_]
    [50, 50, 50]
    >>> bool((model.coef_ == model.to_local().fit(X, y).coef_).all())
    True
    """


class AveragedPerceptron(LinearOnDask, LocalAveragedPerceptron):  # type: ignore[misc]
    """`perceptron_rs.AveragedPerceptron` on a Dask cluster: as `Perceptron` of this module.

    Predicts with the mean of all weight vectors of all blocks and epochs.

    Parameters
    ----------
    client : distributed.Client or None, default=None
        Client of the cluster. By default, the one that was made last.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all
        processors. It does not change any bit of the results.
    engine : {"rust", "reference"}, default="rust"
        Implementation to use. Both give the same bits; the reference is slow, and written to be read.
    audit : bool, default=False
        Whether to keep digests of the examples, in model files too. `~perceptron_rs.reproduce` can then name
        the first block of examples that differs. ``random_state`` must be an integer.
    audit_key : str, path object, bytes or None, default=None
        Key of the digests: a file that holds it (32 bytes, or 64 hexadecimal digits), or 32 bytes. Without
        the key nobody can test whether a model has learnt from some examples. It is not shown, and not
        written to model files; pickles hold the name of the file alone.
    max_iter : int, default=1000
        Maximum number of epochs in a call of ``fit``, in [1, 2**31 - 1].
    n_iter_no_change : int, default=5
        Number of consecutive epochs without improvement before training stops, in [1, 2**31 - 1]. See
        ``tol``.
    shuffle : bool, default=True
        Whether to shuffle the examples before each epoch of ``fit``.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffling. An int in [0, 2**32 - 1] gives the same orders in each call of ``fit``.
        Otherwise, each ``fit`` that shuffles draws its seed from the given generator, or from NumPy's
        global one if None.
    early_stopping : bool, default=False
        Whether to stop by the accuracy on a validation set instead of the training loss, and to keep what was
        learnt by the best epoch. If True, ``fit`` sets aside a stratified fraction of the examples, drawn by
        ``random_state``. Training stops for a class when its validation accuracy has not improved on the best
        one by at least ``tol`` for ``n_iter_no_change`` consecutive epochs. See :doc:`/guide/stopping`.
    validation_fraction : float, default=0.1
        Fraction of the examples that ``early_stopping`` sets aside, in (0, 1).
    warm_start : bool, default=False
        Whether ``fit`` continues from the previous call, with its weights, counters and number of epochs.
    keep_on_interrupt : bool, default=False
        Whether Ctrl-C ends ``fit`` with a warning and keeps what has been learnt so far. If False,
        ``KeyboardInterrupt`` is raised, and the estimator stays as it was before the call.
    tol : float or None, default=0.001
        Stopping criterion, in [0, inf). Training stops for a class when its mean loss has not improved on
        the best loss by at least ``tol`` for ``n_iter_no_change`` consecutive epochs. It also stops after
        an epoch without a mistake. If None, only such an epoch and ``max_iter`` end training.
    eta0 : float, default=1.0
        Learning rate, in (0, inf). With initial weights of 0, a power of two only scales the learnt
        weights. Other values also change how they are rounded, and so possibly which examples are mistakes.
        Thresholds such as ``tol`` do not scale with it.
    tie : {"mistake", "positive"}, default="mistake"
        How to treat an activation of exactly 0. With "mistake", it is a mistake for every class, and a
        model of two classes predicts the negative one. With "positive", it counts as positive in training
        and in prediction.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, at least 0, as ``{label: weight}``. Classes that are not named have
        weight 1. An update is multiplied by the weight of its example's class. "balanced" uses
        ``n_samples / (n_classes * count of the class)``. With more than two classes, the weight applies to
        a class's own examples where the class is learnt, and not where they belong to the rest.
    track_mistakes : bool, default=False
        Whether to count the mistakes on each example, as ``mistakes_per_example_``.
    verbose : int, default=0
        If above 0, print a line about each epoch.
    callback : callable or None, default=None
        Function that is called with an `~perceptron_rs.EpochRecord` after each epoch. If it returns true,
        training stops.
    fit_intercept : bool, default=True
        Whether to learn an intercept. If False, the intercept keeps its initial value, which is 0 unless
        ``fit`` is given another one.
    multi_class : {"ovr", "joint"}, default="ovr"
        With "ovr", each class is learnt against the rest, independently of the others. With "joint", an
        example is a mistake if another class scores at least as high as the true one, and the classes
        involved are updated together.
    joint_update : {"max", "uniform", "proportional"}, default="max"
        Which classes a joint update moves down. "max": the one with the highest score. "uniform": all that
        score at least as high as the true class, in equal parts. "proportional": the same ones, in
        proportion to how far they exceed it. Ignored with "ovr".
    margin_threshold : float, default=0.0
        An example that is classified correctly, but with an activation of no more than this in size, still
        counts as a mistake, in [0, inf). Not available with ``multi_class="joint"``.
    max_mistakes_per_example : int or None, default=None
        Maximum number of updates on one example in a call, for each class. If None, there is no limit.
    added_feature : float, default=0.0
        Value of an extra feature that each example has to itself during training, in [0, inf). If above 0,
        every data set becomes separable. Not available with ``multi_class="joint"``.
    step : {"constant", "pa1", "pa2"}, default="constant"
        Length of an update. "constant": the learning rate ``eta0``. "pa1", "pa2": passive-aggressive steps,
        PA-I and PA-II, also known as MIRA: the larger the loss of an example, the longer its step.
        :doc:`/guide/steps` says what the loss is, what counts as a mistake, and which parameters these
        steps exclude.
    C : float, default=1.0
        Aggressiveness, in (0, inf): "pa1" makes the shortest step that leaves no loss, at most C;
        "pa2" makes each step shorter, the more so the smaller C is. Ignored with ``step="constant"``.
    n_partitions : int or array-like of int, default=1
        Number of contiguous parts of the examples that ``fit`` learns from side by side, in [1, 2**31 - 1],
        and no more than there are examples; or the number of examples in each, which may be 0. In each
        epoch, every partition is visited once from the same weights, and the weights that this leads to are
        mixed. See :doc:`/guide/scale`. If ``n_jobs`` allows it, the partitions are visited in parallel. Not
        available with ``partial_fit``, ``added_feature`` and ``max_mistakes_per_example``.
    mixing : {"uniform", "mistakes"}, default="uniform"
        How to mix the weights of the partitions. "uniform": their mean. "mistakes": their mean weighted by
        the number of mistakes on each partition. Ignored with ``n_partitions=1``.
    """


class SequencePerceptron(DaskLearner, LocalSequencePerceptron):  # type: ignore[misc]
    """`perceptron_rs.SequencePerceptron` on a Dask cluster.

    A block holds sequences: a `perceptron_rs.io.Batch`, a promise of one, or a callable that returns one on
    the worker. ``Batch(X, y)`` has lists of the attributes and labels of each sequence,
    ``Batch(X, y, None, lengths)`` the tokens of all, one after another. Without ``hash_columns``, the
    vocabulary is that of all blocks. Not available are ``n_partitions``,
    ``early_stopping``, ``warm_start``, ``audit`` and weights of
    examples.

    Parameters
    ----------
    client : distributed.Client or None, default=None
        Client of the cluster. By default, the one that was made last.
    n_jobs : int, default=None
        Number of threads of predictions, and of passes over partitions. The results do not depend on it.
    engine : {"rust", "reference"}, default="rust"
        Implementation to use. Both give the same bits; the reference is slow, and written to be read.
    audit : bool, default=False
        Whether to keep digests of the examples, in model files too. `~perceptron_rs.reproduce` can then name
        the first block of examples that differs. ``random_state`` must be an integer.
    audit_key : str, path object, bytes or None, default=None
        Key of the digests: a file that holds it (32 bytes, or 64 hexadecimal digits), or 32 bytes. Without
        the key nobody can test whether a model has learnt from some examples. It is not shown, and not
        written to model files; pickles hold the name of the file alone.
    max_iter : int, default=10
        Maximum number of epochs. Training stops earlier after an epoch without a mistake.
    n_iter_no_change : int, default=2
        Number of epochs without improvement before ``early_stopping`` stops training.
    shuffle : bool, default=True
        Whether to shuffle the sequences before each epoch.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffling and of the choice of the validation set.
    early_stopping : bool, default=False
        Whether to hold out some sequences for validation, and stop when the accuracy on their tokens has
        not improved for ``n_iter_no_change`` epochs. The weights of the best epoch are kept.
    validation_fraction : float, default=0.1
        Fraction of the sequences that ``early_stopping`` holds out.
    warm_start : bool, default=False
        Whether ``fit`` continues from the previous call, with its weights and number of epochs.
    keep_on_interrupt : bool, default=False
        Whether Ctrl-C ends ``fit`` with a warning and keeps what has been learnt so far. If False,
        ``KeyboardInterrupt`` is raised, and the estimator stays as it was before the call.
    step : {"constant", "pa1", "pa2"}, default="constant"
        Length of an update. "constant": the learning rate ``eta0``. "pa1", "pa2": passive-aggressive steps,
        PA-I and PA-II, also known as MIRA: the larger the loss of an example, the longer its step.
        :doc:`/guide/steps` says what the loss is, what counts as a mistake, and which parameters these
        steps exclude.
    C : float, default=1.0
        Aggressiveness, in (0, inf): "pa1" makes the shortest step that leaves no loss, at most C;
        "pa2" makes each step shorter, the more so the smaller C is. Ignored with ``step="constant"``.
    n_partitions : int or array-like of int, default=1
        Number of contiguous parts of the sequences that ``fit`` learns from side by side, in [1, 2**31 - 1],
        and no more than there are sequences; or the number of sequences in each, which may be 0. In each
        epoch, every partition is visited once from the same weights, and the weights that this leads to are
        mixed. See :doc:`/guide/scale`. If ``n_jobs`` allows it, the partitions are visited in parallel. Not
        available with ``partial_fit``.
    mixing : {"uniform", "mistakes"}, default="uniform"
        How to mix the weights of the partitions. "uniform": their mean. "mistakes": their mean weighted by
        the number of mistakes on each partition. Ignored with ``n_partitions=1``.
    averaged : bool, default=True
        Whether to predict with the averaged weights or with the last ones.
    transition_features : bool, default=False
        Whether to also learn weights of a token's features for pairs of its label and the previous one.
        These are n_features * n_classes**2 weights, so use it with few labels.
    eta0 : float, default=1.0
        Learning rate, above 0. It scales the weights; predictions can only change through rounding.
    decode : {"viterbi", "beam"}, default="viterbi"
        How to search for the best sequence: exactly ("viterbi"), or with the ``beam_width`` best labels of
        each token ("beam").
    beam_width : int, default=8
        Width of the beam, with ``decode="beam"``. Prefixes that end in the same label are merged, so the
        search is exact if the beam is as wide as the number of labels.
    update : {"full", "early", "max_violation"}, default="full"
        Which part of a wrong sequence to update on. "full": the whole sequence. "early" (with a beam): the
        prefix up to the token where the beam loses the true sequence. "max_violation" (with a beam): the
        prefix where the best one in the beam exceeds the true one by most.
    constraints : {"iob2", "iobes", "bilou"}, list of pairs of labels, or None, default=None
        What no answer may hold: all that is no chunk of this scheme, such as an I-NP behind an O; or pairs
        (label, next label), of a label that must not be the first (None, label), or not the last
        (label, None). Answers are those of ``predict``, ``predict_k``, ``predict_margins``, ``decode_scores``
        and ``score``, and on the sequences that ``early_stopping`` holds out; what is learnt from are the
        best sequences of all.
    min_count : int, default=1
        Ignore attributes of fewer tokens than this. Only used if X contains attributes.
    hash_columns : int, default=None
        If None, keep a vocabulary of attributes. If a number, hash attributes to that many columns. Only
        used if X contains attributes.
    verbose : int, default=0
        If above 0, print a line about each epoch.
    callback : callable or None, default=None
        Function that is called with a `~perceptron_rs.SequenceEpoch` after each epoch. If it returns true,
        training stops.

    Attributes
    ----------
    partition_report_ : list of PartitionReport
        Sequences, entries, digest, mistakes and seconds of each partition. Further attributes are those of
        `perceptron_rs.SequencePerceptron`.

    Examples
    --------
    >>> from distributed import Client
    >>> from perceptron_rs.dask import SequencePerceptron
    >>> from perceptron_rs.io import Batch
    >>> blocks = [
    ...     Batch([[["w=the"], ["w=dog"], ["w=barks"]]], [["DET", "NOUN", "VERB"]]),
    ...     Batch([[["w=the"], ["w=bark"]], [["w=dogs"]]], [["DET", "NOUN"], ["NOUN"]]),
    ... ]
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as client:
    ...     model = SequencePerceptron(client=client).fit(blocks)
    >>> model.predict([[["w=the"], ["w=dog"]]])
    [['DET', 'NOUN']]
    """
