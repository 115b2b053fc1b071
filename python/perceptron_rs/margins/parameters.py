"""The parameters of a search for the largest margin. Nothing that takes time may be imported here."""

from dataclasses import dataclass, field
from typing import Literal

from perceptron_rs.choices import Bias, Gamma, MarginKernel, Solver, words
from perceptron_rs.common.options import kinds
from perceptron_rs.common.options.groups import RunParameters, allowed
from perceptron_rs.common.options.ranges import Choice, Range

__all__ = ["MAX_STEPS", "MaxMarginClassifierParameters"]

MAX_STEPS = 1_000_000


@dataclass(kw_only=True, eq=False, repr=False)
class MaxMarginClassifierParameters(RunParameters):
    """Of `MaxMarginClassifier`."""

    bias: Bias = field(
        default="free",
        metadata=allowed(
            Choice(words(Bias)),
            "free: the intercept is not in the norm; augmented: it is; none: no intercept",
        ),
    )
    tol: float = field(
        default=1e-8,
        metadata=allowed(kinds.RATE, "relative width of the interval to reach", default="1e-8"),
    )
    max_steps: int = field(
        default=MAX_STEPS, metadata=allowed(Range(0, 2**62, whole=True), "maximum number of steps")
    )
    solver: Solver = field(default="auto", metadata=allowed(Choice(words(Solver)), "algorithm"))
    kernel: MarginKernel = field(
        default="linear", metadata=allowed(Choice(words(MarginKernel)), "kernel function")
    )
    gamma: Gamma = field(
        default="scale",
        metadata=allowed(
            Range(0, closed="neither", words=("scale", "auto")),
            "kernel coefficient: a number, scale or auto",
            needs={"kernel": ("rbf", "poly")},
        ),
    )
    degree: int = field(
        default=3,
        metadata=allowed(
            Range(1, whole=True), "degree of the polynomial kernel", needs={"kernel": ("poly",)}
        ),
    )
    coef0: float = field(
        default=0.0,
        metadata=allowed(kinds.AMOUNT, "constant term of the kernel", needs={"kernel": ("poly",)}),
    )
    inseparable: Literal["raise", "warn"] = field(
        default="raise", metadata=allowed(Choice(("raise", "warn")))
    )
