"""The largest margin, and the question whether there is any."""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.choices import Bias, EngineName, Gamma, MarginKernel, Solver
from perceptron_rs.float_mode import standard
from perceptron_rs.margins.parameters import MAX_STEPS
from perceptron_rs.margins.result import MarginResult, UndecidedError
from perceptron_rs.margins.search.kernel import Space, check_kernel, gram, kernel_result
from perceptron_rs.margins.search.problem import Problem, read_problem, result_of, search_options
from perceptron_rs.margins.search.small import decided


def max_margin(
    X: MatrixLike,
    y: ArrayLike,
    *,
    bias: Bias = "free",
    tol: float = 1e-8,
    max_steps: int = MAX_STEPS,
    solver: Solver = "auto",
    kernel: MarginKernel = "linear",
    gamma: Gamma = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    engine: EngineName = "rust",
    n_jobs: int | None = None,
) -> MarginResult:
    r"""Compute certified bounds of the largest margin between two classes, without a linear program.

    The margin of a hyperplane (w, b) is the minimum of :math:`y (w \cdot x + b) / \|w\|` over all examples,
    with labels y = -1 or 1. The largest margin is that of the best hyperplane. It is computed as half the
    distance between the convex hulls of the two classes.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The examples.
    y : array-like of shape (n_samples,)
        Labels of at most two classes; the larger one is positive. If there is only one label, it is
        positive if it is a string or above 0.
    bias : {"free", "augmented", "none"}, default="free"
        How to treat the intercept b. "free": it is not part of the norm. "augmented": :math:`\|(w, b)\|`
        replaces :math:`\|w\|`, as in the bound on the mistakes of a learner with an intercept. "none": b = 0.
    tol : float, default=1e-8
        The search stops when ``upper - lower`` is at most ``tol * upper``. Above 0.
    max_steps : int, default=1000000
        Maximum number of steps of the solver. Steps are counted, not timed, so equal calls give equal
        results.
    solver : {"auto", "wolfe", "descent"}, default="auto"
        Algorithm to use. "wolfe": find the point of minimum norm, on a growing working set. "descent": dual
        coordinate descent, for sparse data with very many support vectors. "auto" chooses by the shape of X
        and the number of its nonzero values.
    kernel : {"linear", "poly", "rbf", "precomputed"}, default="linear"
        Space in which to measure. "poly": :math:`(\gamma\, x \cdot z + \mathrm{coef0})^\mathrm{degree}`;
        "rbf": :math:`\exp(-\gamma \|x - z\|^2)`; "precomputed": X holds the kernel values of all pairs. All
        but "linear" take time and memory for all pairs of examples.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of "poly" and "rbf", above 0. "scale" is ``1 / (n_features * X.var())``, "auto" is
        ``1 / n_features``.
    degree : int, default=3
        Degree of "poly", from 1 to 100.
    coef0 : float, default=0.0
        Constant of "poly", in [0, inf).
    engine : {"rust", "reference"}, default="rust"
        Implementation to use. Both give the same bits.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all
        processors. It does not change any bit of the result.

    Returns
    -------
    MarginResult
        The bounds, a hyperplane that attains the lower one, and the rows and weights that prove the upper
        one.

    Raises
    ------
    ValueError
        If an argument has an invalid shape, length or value, or if y contains more than two classes.
    TypeError
        If an argument does not contain numbers (or, for labels, numbers or strings).

    See Also
    --------
    verify : Check a result in exact arithmetic.
    MaxMarginClassifier : The same as a scikit-learn estimator, also for more than two classes.

    References
    ----------
    .. [1] P. Wolfe, "Finding the nearest point in a polytope", Mathematical Programming 11, 1976, pages
       128-149.
    .. [2] C.-J. Hsieh et al., "A dual coordinate descent method for large-scale linear SVM", ICML 2008,
       algorithm 1.
    .. [3] A. B. J. Novikoff, "On convergence proofs for perceptrons", Symposium on the Mathematical
       Theory of Automata 12, 1962, pages 615-622.

    Examples
    --------
    >>> from perceptron_rs import max_margin
    >>> result = max_margin([[0, 0], [2, 0], [0, 4], [2, 4]], [-1, 1, -1, 1])
    >>> result.status, round(result.lower, 9), round(result.upper, 9)
    ('separable', 1.0, 1.0)
    >>> max_margin([[0, 0], [1, 1], [0, 1], [1, 0]], [1, 1, -1, -1]).status
    'non_separable'
    >>> max_margin([[0, 0], [1, 1], [0, 1], [1, 0]], [1, 1, -1, -1], kernel="poly", degree=2).status
    'separable'
    """
    options = search_options(bias, tol=tol, max_steps=max_steps, solver=solver)
    check_kernel(kernel, gamma, degree, coef0)
    with standard():
        problem = read_problem(X, y, engine=engine, n_jobs=n_jobs)
        space = None if kernel == "linear" else gram(problem, kernel, gamma, degree, coef0)
        return largest_margin(problem, options, space)


def is_separable(
    X: MatrixLike,
    y: ArrayLike,
    *,
    explain: bool = False,
    bias: Bias = "free",
    max_steps: int = MAX_STEPS,
    solver: Solver = "auto",
    kernel: MarginKernel = "linear",
    gamma: Gamma = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    engine: EngineName = "rust",
    n_jobs: int | None = None,
) -> Any:
    r"""Decide whether a hyperplane separates two classes strictly, without a linear program.

    The search stops at the first certificate: a hyperplane with every example on its correct side, or equal
    weighted means of the two classes.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The examples.
    y : array-like of shape (n_samples,)
        Labels of at most two classes. A single class is separable unless the bias is "none".
    explain : bool, default=False
        Whether to also return the certificate.
    bias : {"free", "augmented", "none"}, default="free"
        With "none", the hyperplane must pass through the origin. "free" and "augmented" ask the same
        question.
    max_steps : int, default=1000000
        Maximum number of steps of the solver.
    solver : {"auto", "wolfe", "descent"}, default="auto"
        As for `max_margin`.
    kernel : {"linear", "poly", "rbf", "precomputed"}, default="linear"
        Space in which to measure. "poly": :math:`(\gamma\, x \cdot z + \mathrm{coef0})^\mathrm{degree}`;
        "rbf": :math:`\exp(-\gamma \|x - z\|^2)`; "precomputed": X holds the kernel values of all pairs. All
        but "linear" take time and memory for all pairs of examples.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of "poly" and "rbf", above 0. "scale" is ``1 / (n_features * X.var())``, "auto" is
        ``1 / n_features``.
    degree : int, default=3
        Degree of "poly", from 1 to 100.
    coef0 : float, default=0.0
        Constant of "poly", in [0, inf).
    engine : {"rust", "reference"}, default="rust"
        Implementation to use. Both give the same answer.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all
        processors.

    Returns
    -------
    answer : bool
        Proved: up to 200 examples are decided in exact arithmetic if the search has not decided them.
    result : MarginResult
        Only returned if ``explain=True``. If the answer is True, its ``coef`` and ``intercept`` are a
        separating hyperplane, unless none with float64 weights is known (its status then is not
        "separable"). If it is False, `hull_weights` computes exact weights of the rows ``support`` that prove
        it. `verify` checks both.

    Raises
    ------
    UndecidedError
        If ``max_steps`` ended the search, or if the margin is at most a tiny number without a proof that it
        is 0. Its ``result`` holds what was found.
    ValueError
        If an argument has an invalid shape, length or value, or if y contains more than two classes.
    TypeError
        If an argument does not contain numbers (or, for labels, numbers or strings).

    Examples
    --------
    >>> from perceptron_rs import is_separable
    >>> is_separable([[0], [1], [2]], [0, 0, 1])
    True
    >>> answer, result = is_separable([[0], [1], [2]], [0, 1, 0], explain=True)
    >>> answer, result.support
    (False, array([0, 1, 2]))
    """
    if not isinstance(explain, bool | np.bool_):
        raise ValueError(f"explain must be True or False, got {explain!r:.80}")
    options = search_options(bias, max_steps=max_steps, solver=solver)
    check_kernel(kernel, gamma, degree, coef0)
    with standard():
        problem = read_problem(X, y, engine=engine, n_jobs=n_jobs)
        space = None if kernel == "linear" else gram(problem, kernel, gamma, degree, coef0)
        result = largest_margin(problem, options, space, "separable")
        answer = _ANSWERS.get(result.status)
        if answer is None:
            answer, result = decided(problem, result, space)
    if answer is None:
        raise UndecidedError(
            "it is not decided whether a hyperplane separates the classes: "
            + (
                f"the search ended at max_steps={max_steps}; raise max_steps"
                if result.status == "undecided"
                else f"its margin would be at most {result.upper!r}, and nothing proves that it is 0; scale "
                "X, or ask about fewer examples"
            ),
            result,
        )
    return (answer, result) if explain else answer


#: By the statuses that are proofs.
_ANSWERS = {"separable": True, "one_class": True, "non_separable": False}


def largest_margin(
    problem: Problem, options: dict[str, Any], space: Space | None = None, goal: str = "margin"
) -> MarginResult:
    """Ask the engine, in the space of a kernel if there is one, and add what follows from its answer."""
    if space is not None:
        return kernel_result(problem, space, options)
    return result_of(problem, problem.separate(problem.data.rows, options, goal), options["bias"])
