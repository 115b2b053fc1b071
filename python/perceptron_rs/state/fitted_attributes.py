"""The attributes of a fit: they show the fields of what has been learnt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

from perceptron_rs.state.learnt import Fitted, Learnt, learnt_of
from perceptron_rs.state.turns import change

T = TypeVar("T")


class Shown(Generic[T]):
    """An attribute that shows a field of what has been learnt; to set it is to replace the field.

    There is no such attribute where the field is None, unless that is one of its values (``optional``).
    """

    def __init__(self, field: str, *, optional: bool = False) -> None:
        self.field, self.optional = field, optional

    def __set_name__(self, kind: type, attribute: str) -> None:
        self.attribute = attribute

    @overload
    def __get__(self, estimator: None, kind: object = None) -> Self: ...
    @overload
    def __get__(self, estimator: object, kind: object = None) -> T: ...
    def __get__(self, estimator: Any, kind: object = None) -> Self | T:
        if estimator is None:
            return self
        value: T = self._of(estimator, estimator._learnt.__dict__.get(self.field))
        return value

    def _of(self, estimator: object, value: Any) -> Any:
        """Return the value, a list as a copy; AttributeError for None, unless it is ``optional``."""
        if value is not None or self.optional:
            return value.copy() if type(value) is list else value
        raise AttributeError(f"{type(estimator).__name__!r} object has no attribute {self.attribute!r}")

    def __set__(self, estimator: object, value: T | None) -> None:
        change(estimator, **{self.field: value})

    def __delete__(self, estimator: object) -> None:
        if self.__get__(estimator) is None:
            raise AttributeError(self.attribute)
        change(estimator, **{self.field: None})


class Reported(Shown[T]):
    """An attribute that reports the last call: of a short pass, the model has the report."""

    if not TYPE_CHECKING:

        def __get__(self, estimator, kind=None):
            if estimator is None:
                return self
            return self._of(estimator, estimator._learnt.shown(self.field))


def shown_by(kind: type, learnt: Learnt) -> dict[str, str]:
    """Return the attributes of a class that show fields of what it learns, and which fields."""
    known = vars(learnt)
    return {
        name: part.field
        for ancestor in reversed(kind.__mro__)
        for name, part in vars(ancestor).items()
        if isinstance(part, Shown) and part.field in known
    }


def public_names(model: Any) -> list[str]:
    """Return the public attributes of a fit that a model has, by scikit-learn's rule for their names."""
    learnt = learnt_of(model)
    shown = [name for name, field in model._shown.items() if getattr(learnt, field) is not None]
    return [name for name in (*vars(model).copy(), *shown) if name.endswith("_") and not name.startswith("_")]


def flat(model: Fitted) -> dict[str, Any]:
    """Return the attributes of a model at this moment, with those that show what has been learnt."""
    attributes = vars(model).copy()
    learnt = attributes.pop("_learnt", None)
    if learnt is None:
        return attributes
    learnt = learnt.own()
    values = ((attribute, getattr(learnt, field)) for attribute, field in model._shown.items())
    return attributes | {attribute: value for attribute, value in values if value is not None}


def gathered(model: Fitted, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `flat` makes such attributes of."""
    own = dict(attributes)
    values = {field: own.pop(attribute, None) for attribute, field in model._shown.items()}
    if any(value is not None for value in values.values()):
        nothing: Learnt = getattr(type(model), "_learnt")  # noqa: B009  which mypy does not know of a type
        own["_learnt"] = nothing.but(**values)  # to make a new one takes longer
    return own
