"""The kernel of a fit in a schema: gamma may be "scale", which only the examples of the fit tell."""

from __future__ import annotations

from typing import Any

from perceptron_rs.common.schema import Array
from perceptron_rs.engines import State
from perceptron_rs.settings import LARGEST_DEGREE, KernelSpec

__all__ = ["KERNEL_ARRAY", "spec_of"]


def _numbers(spec: KernelSpec) -> list[float]:
    return [spec.gamma, spec.coef0, spec.degree]


KERNEL_ARRAY = Array("kernel", (3,), attribute="_spec", predicts=False, pack=_numbers, unpack=None)


def spec_of(model: Any, arrays: State) -> KernelSpec:
    """Return the kernel of a file; ValueError if there is no such one."""
    gamma, coef0, degree = arrays[KERNEL_ARRAY.name].tolist()
    if not 1 <= degree <= LARGEST_DEGREE or degree != int(degree):
        raise ValueError(
            f"the degree of its kernel must be a whole number up to {LARGEST_DEGREE}, got {degree}"
        )
    return KernelSpec(model.kernel, gamma, coef0, int(degree))
