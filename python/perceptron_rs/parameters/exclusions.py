"""Parameters that exclude each other. What predicts reads this, so it imports no library but NumPy."""

from __future__ import annotations

from dataclasses import Field, fields
from typing import Any

from perceptron_rs.arrays.likes import values_in
from perceptron_rs.errors import OptionsError
from perceptron_rs.estimator_attributes import remembered


def check_exclusions(learner: object, group: type) -> None:
    """Refuse parameters that exclude each other, as the declarations of their group say (``excludes``)."""
    for parameter, others in _exclusions(group):
        name, value = parameter.name, getattr(learner, parameter.name)
        parts = values_in(value)
        if len(parts) == 1 and (parts[0] is parameter.default or parts[0] == parameter.default):
            continue
        for other, without in others:
            needs = other.metadata["needs"].items()
            set_to = getattr(learner, other.name)
            if set_to != without and all(getattr(learner, needed) in some for needed, some in needs):
                because = parameter.metadata["because"]
                raise OptionsError(
                    f"{{{other.name}}} is not available with {{{name}}}"
                    + (f", {because}" if because else ""),
                    f"set {{{other.name}}} or {{{name}}}",
                    values={other.name: set_to, name: value},
                    settings={other.name: without, name: parameter.default},
                )


@remembered
def _exclusions(group: type) -> list[tuple[Field[Any], list[tuple[Field[Any], Any]]]]:
    """Return the parameters that exclude values of others of their group."""
    declared = {parameter.name: parameter for parameter in fields(group)}
    pairs = (
        (parameter, [(declared[name], value) for name, value in excludes.items() if name in declared])
        for parameter in declared.values()
        if (excludes := parameter.metadata["excludes"])
    )
    return [(parameter, others) for parameter, others in pairs if others]
