"""The parameters of a search for the largest margin. Nothing that takes time may be imported here."""

from dataclasses import dataclass
from typing import Literal

from perceptron_rs.choices import Bias, Gamma, MarginKernel, Solver, words
from perceptron_rs.parameters import kinds
from perceptron_rs.parameters.groups import RunParameters, parameter
from perceptron_rs.parameters.ranges import Choice, Range

MAX_STEPS = 1_000_000


@dataclass(kw_only=True, eq=False, repr=False)
class MaxMarginClassifierParameters(RunParameters):
    r"""Of `MaxMarginClassifier`.

    Parameters
    ----------
    engine : {"rust", "reference"}
        Implementation to use. Both give the same bits.
    audit : bool
        Whether to keep digests of the examples, in model files too. `reproduce` can then name the first block
        of examples that differs.
    bias : {"free", "augmented", "none"}
        How to treat the intercept. "free": it is not part of the norm of the weights. "augmented": it is
        part of the norm. "none": it is 0.
    tol : float
        Relative width of ``margin_interval_`` at which the search stops, in (0, inf). The result of a
        ``solver`` may be narrower.
    max_steps : int
        Maximum number of steps of the solver for each class, in [0, 2**62].
    solver : {"auto", "wolfe", "descent"}
        As for `max_margin`.
    kernel : {"linear", "poly", "rbf", "precomputed"}
        Space of the hyperplane. "poly": :math:`(\gamma\, x \cdot z + \mathrm{coef0})^\mathrm{degree}`; "rbf":
        :math:`\exp(-\gamma \|x - z\|^2)`; "precomputed": X holds the kernel values of all pairs, in ``fit``,
        and those with all training examples, in ``predict``. All but "linear" take time and memory for all
        pairs of examples.
    gamma : {"scale", "auto"} or float
        Coefficient of "poly" and "rbf", above 0. "scale" is ``1 / (n_features * X.var())``, "auto" is
        ``1 / n_features``.
    degree : int
        Degree d of the "poly" kernel, from 1 to 100. Ignored by other kernels.
    coef0 : float
        Constant of "poly", in [0, inf).
    inseparable : {"raise", "warn"}
        What to do if no separating hyperplane was found. "raise": raise an `InseparableError`, which holds
        the proof that there is none, if there is one. "warn": warn and keep the best hyperplane found.
    """

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
