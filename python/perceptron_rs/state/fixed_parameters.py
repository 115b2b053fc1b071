"""Parameters that a fitted model depends on: to change them, and then predict or go on, is an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from perceptron_rs.arrays.likes import values_in
from perceptron_rs.arrays.scalars import check_among
from perceptron_rs.choices import Decoding, Tie, words
from perceptron_rs.errors import OptionsError
from perceptron_rs.estimator_attributes import attributes
from perceptron_rs.state.learnt import Fitted, learnt_of

#: The parameters of each kernel that has some.
OF_KERNEL = {"poly": ("gamma", "coef0", "degree"), "rbf": ("gamma",), "sigmoid": ("gamma", "coef0")}
#: What predicting reads, and a caller may change after a fit.
_READ: tuple[tuple[str, tuple[object, ...]], ...] = (
    ("tie", words(Tie)),
    ("decode", words(Decoding)),
    ("averaged", (True, False)),
    ("normalize", (True, False)),
)


def fixed_parameters(model: Fitted) -> dict[str, object]:
    """Return the values of the parameters that what a model has learnt depends on, and of its kernel."""
    kernel = getattr(model, "kernel", None)
    of_kernel = OF_KERNEL.get(kernel, ()) if isinstance(kernel, str) else ()
    return {name: _frozen(value) for name, value in attributes(model, (*model._fixed, *of_kernel)).items()}


def check_fixed_parameters(model: object) -> None:
    """Refuse to go on from a run, to predict with it or to save it, under other terms."""
    # None where a caller has set all attributes.
    known: Mapping[str, object] = learnt_of(model).fixed or {}
    changed = []
    for name, before in known.items():
        now = getattr(model, name)
        if now is not before and values_in(now) != values_in(before):
            changed.append(name)
    if changed:
        now = ", ".join(f"{{{name}}}" for name in changed)
        before = ", ".join(f"{known[name]!r:.80}" for name in changed)
        again = "start again by fit with warm_start=False" if hasattr(model, "warm_start") else "fit again"
        raise OptionsError(
            f"{now} differs from the fit that {{estimator}} continues, which had {{before}}",
            f"set it back, or {again}",
            cause="other terms",
            values=attributes(model, changed),
            before=before,
        )


def check_choices(model: object) -> None:
    """Refuse words, set after a fit, that no prediction knows: they would be taken for others."""
    own = vars(model)
    for name, known in _READ:
        if name in own and own[name] not in known:
            check_among(name, own[name], *known)


def _frozen(value: object) -> Any:
    """Return a value that stays as it is when somebody changes a list or an array in its place."""
    return tuple(values_in(value)) if isinstance(value, list | np.ndarray) else value
