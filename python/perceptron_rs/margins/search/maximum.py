"""The largest margin of two classes, of several at once (Kesler), and the question whether there is any."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack, issparse, vstack

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.arrays.named import OwnArrays
from perceptron_rs.choices import Bias, EngineName, Gamma, MarginKernel, Solver
from perceptron_rs.float_mode import standard
from perceptron_rs.margins.parameters import MAX_STEPS
from perceptron_rs.margins.result import MarginResult, UndecidedError
from perceptron_rs.margins.search.kernel import Space, check_kernel, gram, kernel_result
from perceptron_rs.margins.search.problem import Problem, read_problem, result_of, search_options
from perceptron_rs.margins.search.small import decided
from perceptron_rs.parameters.ranges import Choice, check_value
from perceptron_rs.rows.real_numbers import numbers_in


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
        answer = _PROVED.get(result.status)
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
_PROVED = {"separable": True, "one_class": True, "non_separable": False}


def largest_margin(
    problem: Problem, options: dict[str, Any], space: Space | None = None, goal: str = "margin"
) -> MarginResult:
    """Ask the engine, in the space of a kernel if there is one, and add what follows from its answer."""
    if space is not None:
        return kernel_result(problem, space, options)
    return result_of(problem, problem.separate(problem.data.rows, options, goal), options["bias"])


@dataclass(frozen=True, eq=False)
class JointMargin(OwnArrays):
    r"""The largest margin of several classes at once. Returned by `joint_margin`.

    Attributes
    ----------
    coef : ndarray of shape (n_classes, n_features) or (n_classes, n_samples), float64
        Weights of the classes, of any length. With a kernel, there is one for each example: the score of
        class c is :math:`\sum_i \mathrm{coef}_{c,i} K(x_i, x) + \mathrm{intercept}_c`.
    intercept : ndarray of shape (n_classes,), float64
        Intercepts of the classes.
    result : MarginResult
        Bounds of the margin, with their proof: a result about the rows of ``pairs``, with the label 1 and no
        intercept. `verify` checks it. Its ``mistake_bound`` is that of ``multi_class="joint"``.
    pairs : sparse matrix of shape (n_samples * (n_classes - 1), n_classes * n_columns)
        A row for each example and each wrong class: the example in the columns of its own class, and its
        negative in those of the wrong class. With an intercept, each example has one more column, of ones.
        With a kernel, a matrix of shape (n_samples * (n_classes - 1), n_samples * (n_classes - 1)): the
        products of all pairs of these rows in its space.
    """

    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    result: MarginResult
    pairs: MatrixLike


def joint_margin(
    X: MatrixLike,
    y: ArrayLike,
    *,
    bias: Literal["augmented", "none"] = "augmented",
    tol: float = 1e-8,
    max_steps: int = MAX_STEPS,
    solver: Solver = "auto",
    kernel: MarginKernel = "linear",
    gamma: Gamma = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    engine: EngineName = "rust",
    n_jobs: int | None = None,
) -> JointMargin:
    r"""Compute certified bounds of the largest margin of several classes in one joint decision.

    The margin of weights W is the minimum of :math:`(W_y x - W_r x) / \|W\|` over all examples x and all
    classes r other than their class y; :math:`\|W\|` is the root of the sum of all squares. It is that of a
    single hyperplane for pairs: x in the columns of its class, -x in those of a wrong class. With two classes
    it is :math:`\sqrt{2}` times the margin of one hyperplane.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The examples.
    y : array-like of shape (n_samples,)
        Labels of at least two classes.
    bias : {"augmented", "none"}, default="augmented"
        How to treat the intercepts. "augmented": they are weights of a feature that is 1, and part of the
        norm. "none": they are 0.
    tol : float, default=1e-8
        As for `max_margin`.
    max_steps : int, default=1000000
        As for `max_margin`.
    solver : {"auto", "wolfe", "descent"}, default="auto"
        As for `max_margin`.
    kernel : {"linear", "poly", "rbf", "precomputed"}, default="linear"
        As for `max_margin`.
    gamma : {"scale", "auto"} or float, default="scale"
        As for `max_margin`.
    degree : int, default=3
        As for `max_margin`.
    coef0 : float, default=0.0
        As for `max_margin`.
    engine : {"rust", "reference"}, default="rust"
        Implementation to use. Both give the same bits.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all
        processors. It does not change any bit of the result.

    Returns
    -------
    JointMargin
        Weights and intercepts of the classes, and the bounds with their proof.

    Raises
    ------
    ValueError
        If an argument has an invalid shape, length or value, or if there is one class only.
    TypeError
        If an argument does not contain numbers (or, for labels, numbers or strings).

    See Also
    --------
    max_margin : Of ``y == label``, the margin of one class against the rest.
    mistake_bounds : Takes ``coef`` and ``intercept``.

    References
    ----------
    R. O. Duda, P. E. Hart, "Pattern classification and scene analysis", 1973, section 5.12 (Kesler).
    K. Crammer, Y. Singer, "Ultraconservative online algorithms for multiclass problems", Journal of Machine
    Learning Research 3, 2003.

    Examples
    --------
    >>> from perceptron_rs import joint_margin
    >>> found = joint_margin([[1, 0, 0], [0, 1, 0], [0, 0, 1]], ["a", "b", "c"], bias="none")
    >>> round(found.result.lower, 9)  # 1 / sqrt(2)
    0.707106781
    >>> round(found.result.mistake_bound, 6)
    4.0
    """
    check_value("bias", Choice(("augmented", "none")), bias)
    check_kernel(kernel, gamma, degree, coef0)
    search = partial(
        max_margin, tol=tol, max_steps=max_steps, solver=solver, engine=engine, bias="none", n_jobs=n_jobs
    )
    with standard():
        problem = read_problem(X, y, engine=engine, n_jobs=n_jobs, may_be_many=True)
        if len(problem.classes) < 2:
            raise ValueError(f"y must hold at least two classes, got {problem.classes[0]!r:.80} alone")
        problem.check_finite()
        labels, classes = problem.labels.astype(np.intp), len(problem.classes)
        if kernel != "linear":
            values = gram(problem, kernel, gamma, degree, coef0).K + float(bias == "augmented")
            return _in_space(values, labels, classes, search, has_bias=bias == "augmented")
        columns = problem.data.rows.shape[1]
        rows = csr_matrix(X if issparse(X) else numbers_in(X), dtype=np.float64)
        if bias == "augmented":
            rows = hstack([rows, np.ones((rows.shape[0], 1))], format="csr")
    pairs = _pair_rows(rows, labels, classes)
    result = search(pairs, np.ones(pairs.shape[0], dtype=int))
    weights = result.coef.reshape(classes, -1)
    intercept = weights[:, columns].copy() if bias == "augmented" else np.zeros(classes)
    return JointMargin(np.ascontiguousarray(weights[:, :columns]), intercept, result, pairs)


def _in_space(
    values: NDArray[np.float64],
    labels: NDArray[np.intp],
    classes: int,
    search: Callable[..., MarginResult],
    *,
    has_bias: bool,
) -> JointMargin:
    """Return the joint margin of examples with these products; a constant feature is part of them."""
    wrong = [(labels + shift) % classes for shift in range(1, classes)]
    codes = np.concatenate([np.eye(classes)[labels] - np.eye(classes)[other] for other in wrong])
    # The product of two rows of pairs: that of the examples, times that of their columns, from -2 to 2.
    pairs = np.tile(values, (classes - 1, classes - 1)) * (codes @ codes.T)
    result = search(pairs, np.ones(len(pairs), dtype=int), kernel="precomputed")
    shares = (result.coef[:, np.newaxis] * codes).reshape(classes - 1, len(labels), classes)
    coef = np.ascontiguousarray(shares.sum(axis=0).T)
    return JointMargin(coef, coef.sum(axis=1) if has_bias else np.zeros(classes), result, pairs)


def _pair_rows(rows: MatrixLike, labels: NDArray[np.intp], classes: int) -> MatrixLike:
    """Return a row for each example and each wrong class."""
    (n, d), entries = rows.shape, rows.tocoo()
    own, blocks = labels[entries.row], []
    for shift in range(1, classes):
        wrong = (own + shift) % classes
        columns = np.concatenate([own * d + entries.col, wrong * d + entries.col])
        values, numbers = np.concatenate([entries.data, -entries.data]), np.tile(entries.row, 2)
        blocks.append(csr_matrix((values, (numbers, columns)), shape=(n, classes * d)))
    return vstack(blocks, format="csr")
