"""The kernel of a fit, and in its schema: gamma may be "scale", which only the examples of the fit tell."""

from __future__ import annotations

from typing import Any

from perceptron_rs.choices import LARGEST_DEGREE
from perceptron_rs.engines import Engine, Rows, State
from perceptron_rs.errors import ArgumentError
from perceptron_rs.schema.schema import Array
from perceptron_rs.settings import KernelSpec


def _spec_numbers(spec: KernelSpec) -> list[float]:
    return [spec.gamma, spec.coef0, spec.degree]


KERNEL_ARRAY = Array("kernel", (3,), attribute="_spec", predicts=False, pack=_spec_numbers, unpack=None)


def settled_kernel(
    kernel: str, gamma: str | float, degree: int, coef0: float, engine: Engine, rows: Rows
) -> KernelSpec:
    """Return a kernel by name with its gamma as these examples settle it."""
    if kernel in ("linear", "precomputed"):
        value = 1.0
    elif gamma == "auto":
        value = 1.0 / rows.shape[1]
    elif gamma == "scale":
        value = engine.scale_gamma(rows)
    else:
        value = float(gamma)
    return KernelSpec(kernel, value, float(coef0), int(degree))


def check_square(rows: Rows) -> None:
    """Raise unless these are the kernel values of all examples with all."""
    if rows.shape[0] != rows.shape[1]:
        raise ArgumentError(
            f"{{X}} must be a square matrix with {{kernel}}, got shape {rows.shape}",
            "give the kernel values of all examples with all of them",
            values={"kernel": "precomputed"},
        )


def spec_of(model: Any, arrays: State) -> KernelSpec:
    """Return the kernel in a file; ValueError unless it is sound."""
    gamma, coef0, degree = arrays[KERNEL_ARRAY.name].tolist()
    if not 1 <= degree <= LARGEST_DEGREE or degree != int(degree):
        raise ValueError(
            f"the degree of its kernel must be a whole number up to {LARGEST_DEGREE}, got {degree}"
        )
    return KernelSpec(model.kernel, gamma, coef0, int(degree))
