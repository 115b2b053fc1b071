"""What a run of the kernel perceptron is about: parameters that stay what they were when it began."""

from __future__ import annotations

from typing import Any

__all__ = ["check_terms", "terms"]

#: The parameters of each kernel that has some.
_OF_KERNEL = {"poly": ("gamma", "coef0", "degree"), "rbf": ("gamma",), "sigmoid": ("gamma", "coef0")}


def terms(model: Any) -> dict[str, Any]:
    """Return the parameters that the vectors of a run depend on, with their values."""
    names = ["kernel", "multi_class"]
    if not callable(model.kernel):
        names += _OF_KERNEL.get(model.kernel, ())
    names += [name for name in ("budget", "budget_policy") if hasattr(model, name)]
    return {name: getattr(model, name) for name in names}


def check_terms(model: Any) -> None:
    """Refuse to go on from a run, to predict with it or to save it, under other terms."""
    changed = [name for name, value in model._terms.items() if getattr(model, name) != value]
    if changed:
        now = ", ".join(f"{name}={getattr(model, name)!r:.80}" for name in changed)
        before = ", ".join(f"{name}={model._terms[name]!r:.80}" for name in changed)
        raise ValueError(
            f"{now} differs from the fit that the estimator continues, which had {before}; set it back, or "
            "start again by fit with warm_start=False"
        )
