"""The parameters of `kernel` learners. Nothing that takes time may be imported here."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from perceptron_rs.choices import BudgetPolicy, Gamma, KernelName, Prediction, words
from perceptron_rs.parameters import groups, kinds
from perceptron_rs.parameters.groups import (
    JointParameters,
    MistakeParameters,
    NoiseParameters,
    allowed,
    parameter,
)
from perceptron_rs.parameters.kinds import SWITCH
from perceptron_rs.parameters.ranges import Choice, Range


@dataclass(kw_only=True, eq=False, repr=False)
class KernelLearnerParameters(JointParameters, MistakeParameters):
    r"""Of all learners in the space of a kernel.

    Parameters
    ----------
    warm_start : bool
        Whether ``fit`` continues from the previous call, with its vectors, counters and number of epochs.
    eta0 : float
        Learning rate, in (0, inf). A power of two only scales the activations. Other values also change how
        they are rounded, and so possibly which examples are mistakes. Thresholds such as ``tol`` do not scale
        with it.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable
        Kernel :math:`K(x, z)`. "linear": :math:`x \cdot z`. "poly": :math:`(\gamma x \cdot z + r)^d`.
        "rbf": :math:`\exp(-\gamma \|x - z\|^2)`. "sigmoid": :math:`\tanh(\gamma x \cdot z + r)`.
        "precomputed": X is the matrix of kernel values of each example with each training example. A
        callable takes two matrices of examples and returns the kernel values of each row of the first with
        each row of the second. During a fit, a call asks for the values of all examples with one
        misclassified example. They are asked for again only if ``cache_size`` is too small to keep them. It
        must return the same values each time.
    degree : int
        Degree d of the "poly" kernel, from 1 to 100. Ignored by other kernels.
    gamma : {"scale", "auto"} or float
        Coefficient :math:`\gamma` of "poly", "rbf" and "sigmoid", in (0, inf). "scale" is
        ``1 / (n_features * X.var())``, or 1 if the variance is 0; "auto" is ``1 / n_features``.
        ``partial_fit`` and a warm start keep the first value.
    coef0 : float
        Constant term r of "poly" and "sigmoid", finite. Ignored by other kernels.
    """

    kernel: KernelName | Callable[[Any, Any], Any] = field(
        default="rbf",
        metadata=allowed(Choice(words(KernelName), also=(callable,)), "kernel function"),
        kw_only=False,
    )
    degree: int = parameter(3, kinds.DEGREE, "degree of the polynomial kernel", needs={"kernel": ("poly",)})
    gamma: Gamma = parameter(
        "scale",
        Range(0, closed="neither", words=("scale", "auto")),
        "kernel coefficient: a number, scale or auto",
        needs={"kernel": ("rbf", "poly", "sigmoid")},
    )
    coef0: float = parameter(
        0.0, kinds.FINITE, "constant term of the kernel", needs={"kernel": ("poly", "sigmoid")}
    )
    max_iter: int = field(default=10, metadata=groups.MAX_ITER)
    tol: float | None = field(default=None, metadata=groups.TOL)


@dataclass(kw_only=True, eq=False, repr=False)
class KernelPerceptronParameters(NoiseParameters, KernelLearnerParameters):
    """Of `KernelPerceptron`.

    Parameters
    ----------
    random_state : int, RandomState instance or None
        Seed of the shuffling and of ``prediction="random"``. An int in [0, 2**32 - 1] is used in every
        call. Otherwise, each call that learns draws its seed from the given generator, or from NumPy's
        global one if None.
    tie : {"mistake", "positive"}
        How to treat an activation of exactly 0. With "mistake", it is a mistake for every class, no vote, and
        a model of two classes predicts the negative one. With "positive", it counts as positive in training,
        votes and predictions.
    prediction : {"vote", "average", "last", "random"}
        How to predict. "vote": all vectors vote, each with its survival count; in a joint decision, each
        votes for the class with its largest activation, or for none if several have it. "average": with the
        average of the vectors over the examples. "last": with the last vector. "random": with one vector for
        each class, drawn when the estimator is fitted, with a probability proportional to its survival count.
    normalize : bool
        Whether to divide each activation by the norm of its vector in the feature space of the kernel, so
        that classes are compared by distances. Only changes a one-vs-rest ``prediction`` other than
        "vote"; not available for a joint vote.
    fit_intercept : bool
        Whether to learn an intercept.
    cache_size : float
        Size of the cache for rows of kernel values, in megabytes, in (0, inf). Rows that are not kept are
        computed again, with the same bits. The reference engine has no cache.
    """

    prediction: Prediction = parameter(
        "vote", Choice(words(Prediction)), "how the weight vectors of a run predict"
    )
    normalize: bool = parameter(False, SWITCH, "divide each score by the norm of its weight vector")
    fit_intercept: bool = field(default=False, metadata=groups.FIT_INTERCEPT)
    cache_size: float = parameter(200, kinds.RATE, "size of the kernel cache in MB", has_effect=False)


@dataclass(kw_only=True, eq=False, repr=False)
class BudgetedKernelPerceptronParameters(KernelLearnerParameters):
    r"""Of `BudgetedKernelPerceptron`.

    Parameters
    ----------
    random_state : int, RandomState instance or None
        Seed of the shuffling and of ``budget_policy="random"``. An int in [0, 2**32 - 1] is used in every
        call. Otherwise, each call that learns draws its seed from the given generator, or from NumPy's
        global one if None.
    margin_threshold : float
        An example that is classified correctly, but with an activation of no more than this in size, still
        counts as a mistake, in [0, inf). Not available with ``multi_class="joint"``.
    max_mistakes_per_example : int or None
        Maximum number of updates on one example in a call, for each class. If None, there is no limit.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}
        Kernel :math:`K(x, z)`. "linear": :math:`x \cdot z`. "poly": :math:`(\gamma x \cdot z + r)^d`.
        "rbf": :math:`\exp(-\gamma \|x - z\|^2)`. "sigmoid": :math:`\tanh(\gamma x \cdot z + r)`.
        "precomputed": X is the matrix of kernel values of each example with each training example.
    budget : int
        Maximum number of mistakes to keep, for each class or for a joint decision as a whole, in
        [1, 2**31 - 1]. It cannot change between calls that continue a run.
    budget_policy : {"oldest", "random", "forgetron", "projectron"}
        How to make room for a mistake when the budget is full. "oldest": discard the oldest mistake.
        "random": discard one at random [1]_. "forgetron": discard the oldest, after shrinking all steps so
        that the harm of discarding is bounded [2]_. "projectron": discard nothing, but project the new
        mistake onto the span of those kept, in the feature space of the kernel [3]_. The mistake bounds of
        the last two hold for kernels with values K(x, x) of at most 1, such as "rbf". "projectron" needs a
        positive definite kernel: neither "sigmoid", nor "poly" with ``coef0`` below 0.
    projection_distance : float
        With "projectron", a mistake whose distance from the span of those kept is at most this is projected
        even if there is room, in [0, inf).
    """

    margin_threshold: float = field(default=0.0, metadata=groups.MARGIN_THRESHOLD)
    max_mistakes_per_example: int | None = field(default=None, metadata=groups.MAX_MISTAKES_PER_EXAMPLE)
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
