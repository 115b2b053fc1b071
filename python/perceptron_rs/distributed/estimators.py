"""What learners on clusters have in common, whatever their family and whatever the cluster."""

from __future__ import annotations

import os
from typing import Any, ClassVar, Self

from perceptron_rs.common.last_call import own_attributes
from perceptron_rs.common.training.train import Trainable, train
from perceptron_rs.distributed.fitting import Cluster, PartitionReport, Partitions
from perceptron_rs.distributed.linear import LinearPartitions
from perceptron_rs.distributed.sequences import SequencePartitions
from perceptron_rs.estimator_attributes import parameter_names
from perceptron_rs.io.source import PathLike
from perceptron_rs.linear.base import LinearLearner

__all__ = ["ClusterLearner"]


class ClusterLearner(Trainable):
    """A learner whose examples lie in partitions on a cluster.

    A cluster derives from it, and says what its parameters are (``_own``, ``__init__``). A learner derives
    from that and from the learner of `perceptron_rs` that it is on this cluster.
    """

    #: Parameters that only learners on this cluster have, with their constraints.
    _own: ClassVar[dict[str, list[object]]]
    _local: ClassVar[Any]
    _feeder: ClassVar[type[Partitions]]

    mixing: str
    partition_report_: list[PartitionReport]

    def __init_subclass__(cls) -> None:
        """Find out which local learner it is."""
        super().__init_subclass__()
        if len(cls.__bases__) == 2:
            cls._local = cls.__bases__[1]
            cls._feeder = LinearPartitions if issubclass(cls._local, LinearLearner) else SequencePartitions
            cls._parameter_constraints = cls._local._parameter_constraints | cls._own

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted([*parameter_names(cls._local), *cls._own])

    def _fit_to(self, cluster: Cluster, checkpoint: PathLike | None, *, resume: bool) -> Self:
        """Fit to partitions; the methods ``fit`` say what is raised."""
        train(self, self._feeder(cluster, checkpoint, resume=resume))
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the fitted model; `perceptron_rs.load` returns it as a learner that knows of no cluster.

        The same as ``to_local().save(path)``.

        Parameters
        ----------
        path : str or path object
            File to write. An existing file is replaced completely or not at all.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If the file cannot hold a parameter or the classes, such as a ``RandomState``.
        OSError
            If the file cannot be written.
        """
        self.to_local().save(path)

    def to_local(self) -> Any:
        """Return the fitted model as a learner that knows of no cluster.

        Returns
        -------
        estimator : object
            Its ``n_partitions`` are the lengths of the partitions, so that a fit on the same data has the
            same bits.
        """
        given = self.get_params(deep=False)
        model = self._local(**{name: value for name, value in given.items() if name not in self._own})
        learnt = {name: value for name, value in own_attributes(vars(self)).items() if name not in given}
        reports = learnt.pop("partition_report_", None)
        vars(model).update(learnt)
        if reports is not None:
            model.set_params(n_partitions=tuple(report.rows for report in reports))
        return model
