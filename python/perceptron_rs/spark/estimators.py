"""The learners on Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar, Self

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import StructField
from pyspark.sql.types import StructType as Schema

from perceptron_rs.common.errors import restored_on_error
from perceptron_rs.distributed.fitting import PartitionReport, fit
from perceptron_rs.float_mode import standard
from perceptron_rs.linear.averaged import AveragedPerceptron as LocalAveragedPerceptron
from perceptron_rs.linear.base import LinearLearner
from perceptron_rs.linear.perceptron import Perceptron as LocalPerceptron
from perceptron_rs.spark.cluster import Columns, SparkCluster, as_list, matrix
from perceptron_rs.typed import fit_context

__all__ = ["AveragedPerceptron", "Perceptron"]

_OWN: dict[str, list[Any]] = {
    "features": [str, "array-like"],
    "label": [str],
    "weight": [str, None],
    "prediction": [str],
}


class SparkLearner(LinearLearner):
    """A linear learner whose examples are rows of a data frame."""

    _local: ClassVar[Any]

    features: str | Sequence[str]
    label: str
    weight: str | None
    prediction: str
    partition_report_: list[PartitionReport]

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted([*cls._local._get_param_names(), *_OWN])

    @property
    def _names(self) -> tuple[str, ...]:
        return (self.features,) if isinstance(self.features, str) else tuple(self.features)

    @fit_context(prefer_skip_nested_validation=True)
    def fit(  # type: ignore[override]
        self, frame: DataFrame, *, checkpoint: Any = None, resume: bool = False
    ) -> Self:
        """Fit the model to a data frame, partition by partition, on the executors.

        Each epoch reads the data frame once: ``cache`` it, unless that takes more memory than there is.

        Parameters
        ----------
        frame : pyspark.sql.DataFrame
            With the columns ``features``, ``label`` and perhaps ``weight``.
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
        with restored_on_error(self):
            self._check_parameters()
            with standard():
                columns = Columns(self._names, self.label, self.weight)
                stopped = fit(self, SparkCluster(frame, columns), checkpoint, resume=resume)
            self._warn(stopped)
        return self

    def predict(self, frame: Any) -> Any:
        """Predict the class of each row.

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
        kind = frame.schema[self.label].dataType if self.label in frame.columns else None
        if kind is None:
            from pyspark.sql.types import DoubleType, LongType, StringType

            kinds = {"i": LongType, "u": LongType, "f": DoubleType}
            kind = kinds.get(local.classes_.dtype.kind, StringType)()
        given = frame.select([as_list(frame, name) for name in frame.columns])
        schema = Schema([*given.schema.fields, StructField(self.prediction, kind)])
        return given.mapInArrow(partial(predicted, local, self._names, self.prediction), schema)

    def to_local(self) -> Any:
        """Return the fitted model as a learner of `perceptron_rs`, which knows of no cluster.

        Its ``n_partitions`` are the lengths of the partitions, so that a fit on the same rows has the same
        bits.
        """
        given = self.get_params(deep=False)
        model: Any = self._local(**{name: value for name, value in given.items() if name not in _OWN})
        learnt = {name: value for name, value in vars(self).items() if name not in given}
        reports = learnt.pop("partition_report_", None)
        vars(model).update(learnt)
        if reports is not None:
            model.set_params(n_partitions=tuple(report.rows for report in reports))
        return model

    def _take(self, features: str | Sequence[str], label: str, weight: str | None, prediction: str) -> None:
        self.features, self.label, self.weight, self.prediction = features, label, weight, prediction


def predicted(
    model: Any, features: Sequence[str], name: str, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Add a column of predictions to each batch."""
    for batch in batches:
        if batch.num_rows:
            classes = pa.array(model.predict(matrix(pa.Table.from_batches([batch]), features)))
            yield pa.record_batch([*batch.columns, classes], names=[*batch.schema.names, name])


class Perceptron(SparkLearner, LocalPerceptron):
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
        Column of the class labels.
    weight : str, default=None
        Column of the weights of the examples.
    prediction : str, default="prediction"
        Column that ``predict`` adds.
    **parameters
        Those of `perceptron_rs.Perceptron`.

    Attributes
    ----------
    partition_report_ : list of PartitionReport
        Rows, entries, digest, mistakes and seconds of each partition. Further attributes are those of
        `perceptron_rs.Perceptron`.
    """

    _local = LocalPerceptron

    def __init__(
        self,
        *,
        features: str | Sequence[str] = "features",
        label: str = "label",
        weight: str | None = None,
        prediction: str = "prediction",
        **parameters: Any,
    ) -> None:
        super().__init__(**parameters)
        self._take(features, label, weight, prediction)

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LocalPerceptron._parameter_constraints,
        **_OWN,
    }


class AveragedPerceptron(SparkLearner, LocalAveragedPerceptron):
    """`perceptron_rs.AveragedPerceptron` on Spark: as `Perceptron` of this module.

    Predicts with the mean of all weight vectors of all partitions and epochs.

    Parameters
    ----------
    features, label, weight, prediction
        As for `Perceptron` of this module.
    **parameters
        Those of `perceptron_rs.AveragedPerceptron`.
    """

    _local = LocalAveragedPerceptron

    def __init__(
        self,
        *,
        features: str | Sequence[str] = "features",
        label: str = "label",
        weight: str | None = None,
        prediction: str = "prediction",
        **parameters: Any,
    ) -> None:
        super().__init__(**parameters)
        self._take(features, label, weight, prediction)

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LocalAveragedPerceptron._parameter_constraints,
        **_OWN,
    }
