"""The learners on a Dask cluster."""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Self

import dask.array as da
import numpy as np
from dask import delayed
from dask.base import is_dask_collection
from distributed import Client, default_client

from perceptron_rs.array_likes import ArrayLike, MatrixLike, shape_of
from perceptron_rs.dask.blocks import blocks, is_lazy, row_blocks
from perceptron_rs.dask.cluster import DaskCluster
from perceptron_rs.distributed.estimators import ClusterLearner
from perceptron_rs.distributed.partition import batch_of
from perceptron_rs.io.source import Batch, PathLike
from perceptron_rs.linear.averaged import AveragedPerceptron as LocalAveragedPerceptron
from perceptron_rs.linear.perceptron import Perceptron as LocalPerceptron
from perceptron_rs.sequence.input import is_nested
from perceptron_rs.sequence.perceptron import SequencePerceptron as LocalSequencePerceptron
from perceptron_rs.sklearn_base import fit_context
from perceptron_rs.targets.label_sets import indicator
from perceptron_rs.targets.labels import label_array
from perceptron_rs.targets.planes import is_multilabel

__all__ = ["AveragedPerceptron", "Perceptron", "SequencePerceptron"]


class DaskLearner(ClusterLearner):
    """A learner whose examples lie in blocks on a cluster.

    Parameters
    ----------
    client : distributed.Client or None
        Client of the cluster. By default, the one that was made last.
    """

    _own: ClassVar[dict[str, list[object]]] = {"client": [Client, None]}

    client: Client | None = None

    if not TYPE_CHECKING:

        def __init__(self, *, client=None, **parameters):
            super().__init__(**parameters)
            self.client = client

    @staticmethod
    def _is_distributed(given: object) -> bool:
        """Whether it is a collection of Dask or a delayed object, or a list that begins with one."""
        first = given[0] if isinstance(given, list | tuple) and given else given
        return is_dask_collection(first) or (first is not given and DaskLearner._is_distributed(first))

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
        found: list[tuple[int, int]] = self._client().gather(self._client().compute(counts))
        good, n = map(sum, zip(*found, strict=True))
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
        found = [delayed(answer)(model, method, part) for part in parts]
        if not array:
            return found
        lengths = X.chunks[0] if hasattr(X, "chunks") else [math.nan] * len(found)
        width = output_columns(local, method)
        shapes = [(n, *width) for n in lengths]
        return da.concatenate(
            [da.from_delayed(part, shape, dtype) for part, shape in zip(found, shapes, strict=True)]
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
        Client of the cluster. By default, the one that was made last. Further parameters are those of
        `perceptron_rs.Perceptron`.

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
        Client of the cluster. By default, the one that was made last. Further parameters are those of
        `perceptron_rs.AveragedPerceptron`.
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
        Client of the cluster. By default, the one that was made last. Further parameters are those of
        `perceptron_rs.SequencePerceptron`.

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
