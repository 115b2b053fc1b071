"""Arguments that a learner's constructor does not take: what is said instead of Python's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import NamedTuple

from perceptron_rs.estimator_attributes import parameter_names, remembered

#: Parameters that other libraries' linear learners have, and what has their place here.
_ELSEWHERE = {
    "average": "AveragedPerceptron predicts with the average",
    "learning_rate": "the rate is eta0, and step='pa1' or 'pa2' chooses the length of each update",
    "loss": "the loss is that of the perceptron, and with step='pa1' or 'pa2' the hinge loss",
}


class _Taken(NamedTuple):
    """What a constructor takes: names, and how many values without a name."""

    names: frozenset[str]
    places: int


def check_constructor(kind: type, by_place: tuple[object, ...], named: Mapping[str, object]) -> None:
    """Raise TypeError for arguments that the constructor of a class does not take."""
    taken = _taken(kind)
    if taken is None:
        return
    if len(by_place) > taken.places:
        value = by_place[taken.places]
        raise TypeError(
            f"{kind.__name__} takes parameters by name alone, got {value!r:.80}; {_named(kind, value)}"
        )
    for name in named:
        if name not in taken.names:
            raise TypeError(f"{kind.__name__} has no parameter {name!r:.80}; {_nearest(name, taken.names)}")


@remembered
def _taken(kind: type) -> _Taken | None:
    """Return what a constructor takes; None for one of others that hands on what it does not know."""
    from inspect import Parameter, signature

    own = list(signature(getattr(kind, "__init__")).parameters.values())[1:]  # noqa: B009  a type checker trusts no instance
    kinds = [parameter.kind for parameter in own]
    names = {parameter.name for parameter in own}
    if Parameter.VAR_KEYWORD in kinds or Parameter.VAR_POSITIONAL in kinds:
        if not kind.__module__.startswith("perceptron_rs."):
            return None
        names |= set(parameter_names(kind))
    return _Taken(frozenset(names), kinds.count(Parameter.POSITIONAL_OR_KEYWORD))


def _nearest(name: str, names: frozenset[str]) -> str:
    from difflib import get_close_matches

    if name in _ELSEWHERE:
        return _ELSEWHERE[name]
    near = get_close_matches(name, sorted(names), n=1)
    return f"did you mean {near[0]}?" if near else f"it has {', '.join(sorted(names))}"


def _named(kind: type, value: object) -> str:
    """Return a positional value as a keyword argument: of the parameter that takes such a word."""
    from perceptron_rs.parameters.groups import group_of
    from perceptron_rs.parameters.ranges import Choice

    for parameter in fields(group_of(kind)):
        values = parameter.metadata["values"]
        if isinstance(value, str) and isinstance(values, Choice) and value in values.words:
            return f"write {parameter.name}={value!r}"
    return f"write {kind.__name__}(name=value)"
