"""The learners on Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, DataType, DoubleType, LongType, StringType, StructField
from pyspark.sql.types import StructType as Schema

from perceptron_rs.distributed.estimators import ClusterLearner
from perceptron_rs.io.text.paths import PathLike
from perceptron_rs.linear.averaged import AveragedPerceptron as LocalAveragedPerceptron
from perceptron_rs.linear.perceptron import Perceptron as LocalPerceptron
from perceptron_rs.sequence.input import split_labels
from perceptron_rs.sequence.perceptron import SequencePerceptron as LocalSequencePerceptron
from perceptron_rs.sklearn_base import fit_context
from perceptron_rs.spark.cluster import Columns, SparkCluster, as_list, batch_of_rows, numbered
from perceptron_rs.targets.planes import is_multilabel


class SparkLearner(ClusterLearner):
    """A learner whose examples are rows of a data frame."""

    _own: ClassVar[dict[str, list[object]]] = {
        "features": [str, "array-like"],
        "label": [str],
        "prediction": [str],
    }

    features: str | Sequence[str] = "features"
    label: str = "label"
    prediction: str = "prediction"

    @staticmethod
    def _is_distributed(X: object) -> bool:
        """Whether it is a data frame of Spark."""
        return hasattr(type(X), "mapInArrow")

    @property
    def _columns(self) -> Columns:
        names = (self.features,) if isinstance(self.features, str) else tuple(self.features)
        return Columns(names, self.label, getattr(self, "weight", None), self._is_of_sequences)

    @property
    def _is_of_sequences(self) -> bool:
        return issubclass(self._local, LocalSequencePerceptron)

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, frame: DataFrame, *, checkpoint: PathLike | None = None, resume: bool = False) -> Self:
        """Fit the model to a data frame, partition by partition, on the executors.

        Each epoch reads the data frame once: ``cache`` it, unless that takes more memory than there is.

        Parameters
        ----------
        frame : pyspark.sql.DataFrame
            With the columns that the parameters name.
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
            If a value is invalid, or if training overflows. The estimator then stays as it was.
        PartitionError
            If a partition ended each worker that tried it.
        PartitionChangedError
            If a partition has other rows, or an other order, than at its first reading.
        """
        with closing(SparkCluster(frame, self._columns)) as cluster:
            return self._fit_to(cluster, checkpoint, resume=resume)

    def predict(self, frame: Any) -> Any:
        """Predict the class of each row, or the labels of the tokens in each row.

        Parameters
        ----------
        frame : pyspark.sql.DataFrame, or {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples.

        Returns
        -------
        pyspark.sql.DataFrame or ndarray
            The data frame with one more column, ``prediction``, computed when it is asked for.
        """
        local = self.to_local()
        if not hasattr(frame, "mapInArrow"):
            return local.predict(frame)
        kinds: dict[str, DataType] = {"i": LongType(), "u": LongType(), "f": DoubleType()}
        kind = kinds.get(self.classes_.dtype.kind, StringType())
        if self._is_of_sequences:
            kind = ArrayType(kind)
        elif is_multilabel(self):
            kind = ArrayType(LongType())
        elif self.label in frame.columns:
            kind = frame.schema[self.label].dataType
        rows = frame.select([as_list(frame, name) for name in frame.columns])
        schema = Schema([*rows.schema.fields, StructField(self.prediction, kind)])
        columns = Columns(self._columns.features, "", None, self._is_of_sequences)
        names = schema.fieldNames()
        return numbered(rows).mapInArrow(partial(add_predictions, local, columns, names), schema)


def add_predictions(
    model: Any, columns: Columns, names: Sequence[str], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Add a column of predictions to each part."""
    for part in batches:
        if part.num_rows:
            part = pa.RecordBatch.from_arrays(part.columns, names[:-1])
            named = pa.RecordBatch.from_arrays(part.columns, names[:-1])
            batch = batch_of_rows([named], columns)
            if batch.lengths is None:
                labels = model.predict(batch.X)
            else:
                lengths = np.asarray(batch.lengths)
                labels = split_labels(model.predict(batch.X, lengths=lengths), lengths)
            if is_multilabel(model):
                labels = labels.tolist()
            yield pa.record_batch([*part.columns, pa.array(labels)], names=[*names])


class LinearOnSpark(SparkLearner):
    """A linear learner whose examples are rows of a data frame.

    Parameters
    ----------
    features : str or list of str
        A column of lists or of vectors of pyspark.ml, or several columns of numbers.
    label : str
        Column of the class labels; of many labels, of lists of 0 and 1 or of booleans.
    weight : str or None
        Column of the weights of the examples.
    prediction : str
        Column that ``predict`` adds.
    """

    _own: ClassVar[dict[str, list[object]]] = SparkLearner._own | {"weight": [str, None]}

    weight: str | None = None


class Perceptron(LinearOnSpark, LocalPerceptron):  # type: ignore[misc]
    """`perceptron_rs.Perceptron` on Spark.

    Each epoch visits all partitions of a data frame side by side, and mixes the weights; see
    `perceptron_rs.Perceptron` for the parameters and attributes, and :doc:`/guide/scale` for the rule. Not
    available are ``n_partitions``, ``early_stopping``, ``track_mistakes``, ``audit``, ``added_feature`` and
    ``max_mistakes_per_example``.

    Parameters
    ----------
    features : str or list of str, default="features"
        A column of lists or of vectors of pyspark.ml, or several columns of numbers.
    label : str, default="label"
        Column of the class labels; of many labels, of lists of 0 and 1 or of booleans.
    weight : str or None, default=None
        Column of the weights of the examples.
    prediction : str, default="prediction"
        Column that ``predict`` adds.
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
    """


class AveragedPerceptron(LinearOnSpark, LocalAveragedPerceptron):  # type: ignore[misc]
    """`perceptron_rs.AveragedPerceptron` on Spark: as `Perceptron` of this module.

    Predicts with the mean of all weight vectors of all partitions and epochs.

    Parameters
    ----------
    features : str or list of str, default="features"
        A column of lists or of vectors of pyspark.ml, or several columns of numbers.
    label : str, default="label"
        Column of the class labels; of many labels, of lists of 0 and 1 or of booleans.
    weight : str or None, default=None
        Column of the weights of the examples.
    prediction : str, default="prediction"
        Column that ``predict`` adds.
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


class SequencePerceptron(SparkLearner, LocalSequencePerceptron):  # type: ignore[misc]
    """`perceptron_rs.SequencePerceptron` on Spark: a row is a sequence.

    Without ``hash_columns`` the vocabulary is that of all partitions. Not available are ``n_partitions`` and
    ``early_stopping``.

    Parameters
    ----------
    features : str, default="features"
        A column of the tokens of each sequence: of lists of their attributes, or of lists of numbers.
    label : str, default="label"
        Column of the labels of the tokens, a list in each row.
    prediction : str, default="prediction"
        Column that ``predict`` adds: a list of labels in each row.
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
    """
