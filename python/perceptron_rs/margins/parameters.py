"""The parameters of a search for the largest margin. Nothing that takes time may be imported here."""

from dataclasses import dataclass
from typing import Literal

from perceptron_rs.choices import Bias, Gamma, MarginKernel, Solver, words
from perceptron_rs.common.options import kinds
from perceptron_rs.common.options.groups import RunParameters, parameter
from perceptron_rs.common.options.ranges import Choice, Range

__all__ = ["MAX_STEPS", "MaxMarginClassifierParameters"]

MAX_STEPS = 1_000_000


@dataclass(kw_only=True, eq=False, repr=False)
class MaxMarginClassifierParameters(RunParameters):
    """Of `MaxMarginClassifier`."""

    bias: Bias = parameter(
        "free",
        Choice(words(Bias)),
        "free: the intercept is not in the norm; augmented: it is; none: no intercept",
    )
    tol: float = parameter(1e-8, kinds.RATE, "relative width of the interval to reach", default="1e-8")
    max_steps: int = parameter(MAX_STEPS, Range(0, 2**62, whole=True), "maximum number of steps")
    solver: Solver = parameter("auto", Choice(words(Solver)), "algorithm")
    kernel: MarginKernel = parameter("linear", Choice(words(MarginKernel)), "kernel function")
    gamma: Gamma = parameter(
        "scale",
        Range(0, closed="neither", words=("scale", "auto")),
        "kernel coefficient: a number, scale or auto",
        needs={"kernel": ("rbf", "poly")},
    )
    degree: int = parameter(3, kinds.DEGREE, "degree of the polynomial kernel", needs={"kernel": ("poly",)})
    coef0: float = parameter(0.0, kinds.AMOUNT, "constant term of the kernel", needs={"kernel": ("poly",)})
    inseparable: Literal["raise", "warn"] = parameter("raise", Choice(("raise", "warn")))
