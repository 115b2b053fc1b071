"""What learners on clusters have in common, whatever their family and whatever the cluster."""

from __future__ import annotations

import copy
import inspect
import os
from abc import abstractmethod
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Self, dataclass_transform

from perceptron_rs.choices import WeightType
from perceptron_rs.distributed.fitting import Cluster, LinearPartitions, Partitions, SequencePartitions
from perceptron_rs.estimator_attributes import parameter_names
from perceptron_rs.io.text.paths import PathLike
from perceptron_rs.linear.base import LinearLearner
from perceptron_rs.state.turns import change
from perceptron_rs.training.train import Trainable, train


def _is_local(kind: type) -> bool:
    """Whether a class is a learner that knows of no cluster."""
    return issubclass(kind, Trainable) and hasattr(kind, "_schema") and not issubclass(kind, ClusterLearner)


def _in_memory(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a method of a local learner so that it refuses examples on a cluster, which it would gather."""

    @wraps(method)
    def on_client(self: ClusterLearner, *args: Any, **options: Any) -> Any:
        if any(map(self._is_distributed, [*args, *options.values()])):
            raise TypeError(
                f"{method.__name__} takes examples in memory, and these lie on a cluster; learn from them by "
                f"fit, which goes on with warm_start=True, answer them by predict, or compute them first"
            )
        return method(self, *args, **options)

    return on_client


def _constructor(kind: type[ClusterLearner]) -> Callable[..., None]:
    """Return a constructor that names the parameters of a learner on a cluster, and of the local one."""
    inherited: Any = kind.__init__
    itself, *named = inspect.signature(inherited).parameters.values()
    known = {p.name: p for p in named if p.kind is p.KEYWORD_ONLY}
    for name in kind._own:
        known.setdefault(name, itself.replace(name=name, default=getattr(kind, name)))
    known = dict(inspect.signature(kind._local).parameters) | known

    @wraps(inherited)
    def init(self: ClusterLearner, **parameters: Any) -> None:
        inherited(self, **parameters)

    own_first = sorted(known.values(), key=lambda p: p.name not in kind._own)
    parameters = [p.replace(kind=p.KEYWORD_ONLY) for p in own_first]
    init.__signature__ = inspect.Signature([itself, *parameters])  # type: ignore[attr-defined]
    return init


@dataclass_transform(
    kw_only_default=True, eq_default=False
)  # an editor knows all parameters, as of local learners
class ClusterLearner(Trainable):
    """A learner whose examples lie in partitions on a cluster.

    A cluster derives from it, and says what its parameters are (``_own``), each with its default as an
    attribute of the class. A learner derives from that and from the learner of `perceptron_rs` that it is
    on this cluster.
    """

    #: Parameters that only learners on this cluster have, with their constraints.
    _own: ClassVar[dict[str, list[object]]]

    classes_: Any
    _local: ClassVar[Any]
    _feeder: ClassVar[type[Partitions]]

    mixing: str

    if not TYPE_CHECKING:

        def __init__(self, **parameters):
            own = {name: parameters.pop(name, getattr(type(self), name)) for name in self._own}
            super().__init__(**parameters)
            vars(self).update(own)

    def __init_subclass__(cls) -> None:
        """Find out which local learner it is, and what of that takes examples in memory alone."""
        super().__init_subclass__()
        local: Any = next((base for base in cls.__mro__ if _is_local(base)), None)
        if local is None:
            return
        cls._local = local
        cls._feeder = LinearPartitions if issubclass(local, LinearLearner) else SequencePartitions
        cls._parameter_constraints = local._parameter_constraints | cls._own
        for name, method in inspect.getmembers(local, inspect.isfunction):
            takes = inspect.signature(method).parameters.keys() & {"X", "source"}
            if takes and not name.startswith("_") and getattr(cls, name) is method:
                setattr(cls, name, _in_memory(method))
        if "__init__" not in vars(cls):
            setattr(cls, "__init__", _constructor(cls))  # noqa: B010  a type checker allows no other way

    @staticmethod
    @abstractmethod
    def _is_distributed(X: object) -> bool:
        """Whether it lies on a cluster."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted([*parameter_names(cls._local), *cls._own])

    def _fit_to(self, cluster: Cluster, checkpoint: PathLike | None, *, resume: bool) -> Self:
        """Fit to partitions; the methods ``fit`` say what is raised."""
        train(self, self._feeder(cluster, checkpoint, resume=resume, local=self._local))
        return self

    def save(
        self,
        path: str | os.PathLike[str] | BinaryIO | None = None,
        *,
        dtype: WeightType | None = None,
        prune: float | None = None,
    ) -> bytes | None:
        """Save the fitted model; `perceptron_rs.load` returns it as a learner that knows of no cluster.

        The same as ``to_local().save(...)``.

        Parameters
        ----------
        path : str, path object, binary file or None, default=None
            File to write, completely or not at all. None: what a file would hold is returned.
        dtype : {"float32", "float16"} or None, default=None
            Type to which weights of a linear model are rounded, for a smaller file.
        prune : float or None, default=None
            Columns of a linear model whose weights are all below this in size are left out.

        Returns
        -------
        content : bytes or None
            What a file holds, if there is no path.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If the file cannot hold a parameter or the classes, such as a ``RandomState``.
        OSError
            If the file cannot be written.
        """
        content: bytes | None = self.to_local().save(path, dtype=dtype, prune=prune)
        return content

    def to_local(self) -> Any:
        """Return the fitted model as a learner that knows of no cluster.

        Returns
        -------
        estimator : object
            Its ``n_partitions`` are the lengths of the partitions, so that a fit on the same data has the
            same bits.
        """
        parameters = self.get_params(deep=False)
        model = self._local(**{name: value for name, value in parameters.items() if name not in self._own})
        learnt = {name: value for name, value in vars(copy.copy(self)).items() if name not in parameters}
        vars(model).update(learnt)
        reports = getattr(model, "partition_report_", None)
        change(model, partition_report=None)
        if reports is not None:
            model.set_params(n_partitions=tuple(report.rows for report in reports))
        return model
