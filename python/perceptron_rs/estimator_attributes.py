"""What scikit-learn knows of estimators: whether one is fitted, and what parameters and columns are called.

Nothing here imports scikit-learn, which takes long, unless it has an error to raise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from weakref import ref

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from perceptron_rs.arrays.likes import MatrixLike

T = TypeVar("T")
#: What a decorator takes and returns.
Method = TypeVar("Method", bound=Callable[..., Any])


class Parametrised(Protocol):
    """A class of estimators whose parameters have names."""

    @classmethod
    def _get_param_names(cls) -> list[str]: ...


class ClassifierLike(Protocol):
    """A fitted classifier, ours or another library's."""

    @property
    def classes_(self) -> NDArray[np.generic]:
        """Class labels, sorted."""

    def predict(self, X: MatrixLike, /) -> NDArray[np.generic]:
        """Predict the class of each example."""


def remembered(function: Callable[..., T]) -> Callable[..., T]:
    """Remember what a function of a class returns for as long as the class is there."""
    # As a WeakKeyDictionary, whose methods are of Python: they would take a part of the time of a row.
    known: dict[ref[type], dict[tuple[object, ...], T]] = {}

    def forget(kind: ref[type]) -> None:
        known.pop(kind, None)

    @wraps(function)
    def call(kind: type, *more: object) -> T:
        try:
            return known[ref(kind)][more]
        except KeyError:
            value = known.setdefault(ref(kind, forget), {})[more] = function(kind, *more)
            return value

    return call


def check_is_fitted(estimator: object, attribute: str | None = None) -> None:
    """Check as scikit-learn does, which first makes the tags: a sixth of the time to predict a row."""
    learnt = vars(estimator).get("_learnt")
    if learnt is None or attribute not in (None, "classes_") or learnt.classes is None:
        from sklearn.utils.validation import check_is_fitted as check

        check(estimator, attribute)


def parameter_names(kind: type[Parametrised]) -> list[str]:
    """Return the names of the parameters of a class of estimators, sorted."""
    return kind._get_param_names()


def attributes(estimator: object, names: Iterable[str]) -> dict[str, Any]:
    """Return attributes by name, also of what is no estimator; all must be there."""
    return {name: getattr(estimator, name) for name in names}


def feature_names(estimator: object) -> NDArray[np.generic] | None:
    """Return the names of the columns that an estimator was fitted to; None if they had none."""
    names: NDArray[np.generic] | None = getattr(estimator, "feature_names_in_", None)
    return names
