"""The parameters of `kernel` learners. Nothing that takes time may be imported here."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from perceptron_rs.choices import BudgetPolicy, Gamma, KernelName, Prediction, words
from perceptron_rs.common.options import kinds
from perceptron_rs.common.options.groups import (
    FIT_INTERCEPT,
    MAX_ITER,
    TOL,
    AddedFeatureParameters,
    JointParameters,
    MistakeParameters,
    NoiseParameters,
    allowed,
    parameter,
)
from perceptron_rs.common.options.kinds import SWITCH
from perceptron_rs.common.options.ranges import Choice, Range

__all__ = ["BudgetedKernelPerceptronParameters", "KernelLearnerParameters", "KernelPerceptronParameters"]


@dataclass(kw_only=True, eq=False, repr=False)
class KernelLearnerParameters(JointParameters, MistakeParameters):
    """Of all learners in the space of a kernel."""

    kernel: KernelName | Callable[[Any, Any], Any] = field(
        default="rbf",
        metadata=allowed(Choice(words(KernelName), also=(callable,)), "kernel function"),
        kw_only=False,
    )
    degree: int = parameter(
        3,
        kinds.DEGREE,
        "degree of the polynomial kernel",
        needs={"kernel": ("poly",)},
    )
    gamma: Gamma = parameter(
        "scale",
        Range(0, closed="neither", words=("scale", "auto")),
        "kernel coefficient: a number, scale or auto",
        needs={"kernel": ("rbf", "poly", "sigmoid")},
    )
    coef0: float = parameter(
        0.0, kinds.FINITE, "constant term of the kernel", needs={"kernel": ("poly", "sigmoid")}
    )
    max_iter: int = field(default=10, metadata=MAX_ITER)
    tol: float | None = field(default=None, metadata=TOL)


@dataclass(kw_only=True, eq=False, repr=False)
class KernelPerceptronParameters(AddedFeatureParameters, KernelLearnerParameters):
    """Of `KernelPerceptron`."""

    prediction: Prediction = parameter(
        "vote", Choice(words(Prediction)), "how the weight vectors of a run predict"
    )
    normalize: bool = parameter(False, SWITCH, "divide each score by the norm of its weight vector")
    fit_intercept: bool = field(default=False, metadata=FIT_INTERCEPT)
    cache_size: float = parameter(200, kinds.RATE, "size of the kernel cache in MB")


@dataclass(kw_only=True, eq=False, repr=False)
class BudgetedKernelPerceptronParameters(NoiseParameters, KernelLearnerParameters):
    """Of `BudgetedKernelPerceptron`."""

    kernel: KernelName = field(
        default="rbf", metadata=allowed(Choice(words(KernelName)), "kernel function"), kw_only=False
    )
    budget: int = parameter(100, kinds.POSITIVE, "maximum number of mistakes to keep")
    budget_policy: BudgetPolicy = parameter(
        "oldest", Choice(words(BudgetPolicy)), "which example to discard when the budget is full"
    )
    projection_distance: float = parameter(
        0.0,
        kinds.AMOUNT,
        "project an example onto the kept ones if it is this close to their span",
        needs={"budget_policy": ("projectron",)},
    )
