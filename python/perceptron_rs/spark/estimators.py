"""The learners on Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, DataType, DoubleType, LongType, StringType, StructField
from pyspark.sql.types import StructType as Schema

from perceptron_rs.distributed.estimators import ClusterLearner
from perceptron_rs.io.source import PathLike
from perceptron_rs.linear.averaged import AveragedPerceptron as LocalAveragedPerceptron
from perceptron_rs.linear.perceptron import Perceptron as LocalPerceptron
from perceptron_rs.sequence.input import split_labels
from perceptron_rs.sequence.perceptron import SequencePerceptron as LocalSequencePerceptron
from perceptron_rs.sklearn_base import fit_context
from perceptron_rs.spark.cluster import Columns, SparkCluster, as_list, batch_of_rows
from perceptron_rs.targets.planes import is_multilabel

__all__ = ["AveragedPerceptron", "Perceptron", "SequencePerceptron"]


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

    if not TYPE_CHECKING:

        def __init__(self, *, features="features", label="label", prediction="prediction", **parameters):
            super().__init__(**parameters)
            self.features, self.label, self.prediction = features, label, prediction

    @staticmethod
    def _is_distributed(given: object) -> bool:
        """Whether it is a data frame of Spark."""
        return hasattr(type(given), "mapInArrow")

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
        given = frame.select([as_list(frame, name) for name in frame.columns])
        schema = Schema([*given.schema.fields, StructField(self.prediction, kind)])
        columns = Columns(self._columns.features, "", None, self._is_of_sequences)
        return given.mapInArrow(partial(add_predictions, local, columns, self.prediction), schema)


def add_predictions(
    model: Any, columns: Columns, name: str, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Add a column of predictions to each part."""
    for part in batches:
        if part.num_rows:
            batch = batch_of_rows([part], columns)
            if batch.lengths is None:
                labels = model.predict(batch.X)
            else:
                lengths = np.asarray(batch.lengths)
                labels = split_labels(model.predict(batch.X, lengths=lengths), lengths)
            if is_multilabel(model):
                labels = labels.tolist()
            yield pa.record_batch([*part.columns, pa.array(labels)], names=[*part.schema.names, name])


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

    if not TYPE_CHECKING:

        def __init__(
            self, *, features="features", label="label", weight=None, prediction="prediction", **parameters
        ):
            super().__init__(features=features, label=label, prediction=prediction, **parameters)
            self.weight = weight


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
        Column that ``predict`` adds. Further parameters are those of `perceptron_rs.Perceptron`.

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
        Column that ``predict`` adds. Further parameters are those of `perceptron_rs.AveragedPerceptron`.
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
        Column that ``predict`` adds: a list of labels in each row. Further parameters are those of
        `perceptron_rs.SequencePerceptron`.

    Attributes
    ----------
    partition_report_ : list of PartitionReport
        Sequences, entries, digest, mistakes and seconds of each partition. Further attributes are those of
        `perceptron_rs.SequencePerceptron`.
    """
