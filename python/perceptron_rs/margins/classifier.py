"""The plane of largest margin as a scikit-learn estimator."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from types import ModuleType
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.audit.record import recorded
from perceptron_rs.engines import State, get_engine
from perceptron_rs.errors import ArgumentError
from perceptron_rs.estimator_attributes import attributes
from perceptron_rs.float_mode import standard
from perceptron_rs.margins.exact.bounds import norm_squared, round_down
from perceptron_rs.margins.exact.matrix import refuse_rounded
from perceptron_rs.margins.parameters import MaxMarginClassifierParameters
from perceptron_rs.margins.predictor import (
    MAX_MARGIN,
    RESULT_WORDS,
    MaxMarginClassifierPredictor,
    results_of,
)
from perceptron_rs.margins.result import InseparableError, MarginResult
from perceptron_rs.margins.search.kernel import gram, scaled
from perceptron_rs.margins.search.maximum import largest_margin
from perceptron_rs.margins.search.problem import Problem, search_options
from perceptron_rs.models.exporting import Exported
from perceptron_rs.models.saving import save
from perceptron_rs.parameters.threads import n_threads
from perceptron_rs.prediction.estimator import Estimator
from perceptron_rs.prediction.scoring import Scoring
from perceptron_rs.rows.examples import examples
from perceptron_rs.rows.selection import matrix_of, select_rows
from perceptron_rs.schema.schema import Schema
from perceptron_rs.sklearn_base import fit_context
from perceptron_rs.state.fixed_parameters import fixed_parameters
from perceptron_rs.state.turns import change, learning
from perceptron_rs.targets.labels import encode_new, label_array

_ROOT_BITS = 1200  # behind the binary point: more than the smallest float has


class MaxMarginClassifier(
    MaxMarginClassifierParameters, Exported, Scoring, MaxMarginClassifierPredictor, Estimator
):
    r"""Hyperplane with the largest margin between classes: the hard-margin support vector machine.

    The margin is certified: the largest margin lies in ``margin_interval_``, and the margin of the
    hyperplane found is at least its lower end. The hyperplane is scaled so that the nearest examples have
    the score 1 or -1, as in ``sklearn.svm.SVC(kernel="linear")`` with a large C. With more than two
    classes, each class is separated from the rest.

    With ``kernel``, all of this holds in the feature space of a kernel. The hyperplane is then a weighted sum
    of kernel values: the score of x is :math:`\sum_i c_i K(x_i, x) + b` over the support vectors
    :math:`x_i`, with c in ``dual_coef_`` and b in ``intercept_``.

    Parameters
    ----------
    bias : {"free", "augmented", "none"}, default="free"
        How to treat the intercept. "free": it is not part of the norm of the weights. "augmented": it is
        part of the norm. "none": it is 0.
    tol : float, default=1e-08
        Relative width of ``margin_interval_`` at which the search stops, in (0, inf). The result of a
        ``solver`` may be narrower.
    max_steps : int, default=1000000
        Maximum number of steps of the solver for each class, in [0, 2**62].
    solver : {"auto", "wolfe", "descent"}, default="auto"
        As for `max_margin`.
    kernel : {"linear", "poly", "rbf", "precomputed"}, default="linear"
        Space of the hyperplane. "poly": :math:`(\gamma\, x \cdot z + \mathrm{coef0})^\mathrm{degree}`; "rbf":
        :math:`\exp(-\gamma \|x - z\|^2)`; "precomputed": X holds the kernel values of all pairs, in ``fit``,
        and those with all training examples, in ``predict``. All but "linear" take time and memory for all
        pairs of examples.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of "poly" and "rbf", above 0. "scale" is ``1 / (n_features * X.var())``, "auto" is
        ``1 / n_features``.
    degree : int, default=3
        Degree d of the "poly" kernel, from 1 to 100. Ignored by other kernels.
    coef0 : float, default=0.0
        Constant of "poly", in [0, inf).
    inseparable : {"raise", "warn"}, default="raise"
        What to do if no separating hyperplane was found. "raise": raise an `InseparableError`, which holds
        the proof that there is none, if there is one. "warn": warn and keep the best hyperplane found.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all
        processors. It does not change any bit of the results.
    engine : {"rust", "reference"}, default="rust"
        Implementation to use. Both give the same bits.
    audit : bool, default=False
        Whether to keep digests of the examples, in model files too. `reproduce` can then name the first block
        of examples that differs.
    audit_key : str, path object, bytes or None, default=None
        Key of the digests: a file that holds it (32 bytes, or 64 hexadecimal digits), or 32 bytes. Without
        the key nobody can test whether a model has learnt from some examples. It is not shown, and not
        written to model files; pickles hold the name of the file alone.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features), float64
        Weights. With two classes, there is one row, for ``classes_[1]``. Only available with
        ``kernel="linear"``.
    intercept_ : ndarray of shape (1,) or (n_classes,), float64
        Intercepts.
    calibration_ : object
        What ``calibrate`` has found, with ``method``, ``slope`` and ``intercept``. Only available after it.
    recipe_ : object
        How texts, dictionaries or unscaled numbers become columns. Only of a file that holds such a recipe.
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    support_ : ndarray of shape (n_support,), int64
        Indices of the rows of X with a coefficient in ``dual_coef_`` for some class, sorted.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        These rows of X. Only available with the kernels "poly" and "rbf".
    dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support), float64
        Signed coefficients of these rows. With ``kernel="linear"``, their weighted sum is ``coef_``, up to
        ``tol``, and there is a row of zeros for a class without a separating hyperplane. With another kernel,
        they are the hyperplane.
    margin_ : ndarray of shape (1,) or (n_classes,), float64
        Lower bound of the margin of the hyperplane: the lower end of the interval; -inf for a class that it
        does not separate.
    margin_interval_ : ndarray of shape (1, 2) or (n_classes, 2), float64
        Lower and upper bound of the largest margin.
    results_ : list of MarginResult
        Complete results, with their certificates: one for two classes, otherwise one for each class. Their
        hyperplanes are not scaled.
    predictor_ : dict of str to ndarray
        What predicts: all arrays that a prediction is computed from, by name. ``coef`` and ``intercept``,
        or with a kernel ``dual_coef``, ``intercept``, the rows of the support and the gamma.
    n_features_in_ : int
        Number of features seen during ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen during ``fit``. Only available if X has feature names that are all
        strings.

    Raises
    ------
    InseparableError
        Raised by ``fit`` if no separating hyperplane was found and ``inseparable="raise"``. It is a
        ``ValueError``.
    ValueError
        Raised by ``fit`` if a parameter is out of range or the input contains invalid values.

    See Also
    --------
    max_margin : The same for two classes, as a function.
    PocketPerceptron : Learns from data that no hyperplane separates.

    References
    ----------
    .. [1] P. Wolfe, "Finding the nearest point in a polytope", Mathematical Programming 11, 1976, pages
       128-149.
    .. [2] B. E. Boser, I. M. Guyon, V. N. Vapnik, "A training algorithm for optimal margin classifiers",
       COLT 1992, pages 144-152.

    Examples
    --------
    >>> from perceptron_rs import MaxMarginClassifier
    >>> X, y = [[0, 0], [0, 3], [4, 0], [4, 3]], ["left", "left", "right", "right"]
    >>> model = MaxMarginClassifier().fit(X, y)
    >>> model.margin_.round(9)
    array([2.])
    >>> model.coef_.round(9) + 0.0, model.intercept_.round(9)
    (array([[0.5, 0. ]]), array([-1.]))
    >>> model.predict([[1, 7], [3, -7]])
    array(['left', 'right'], dtype='<U5')

    No line separates the points of XOR, but a polynomial of degree 2 does, with the margin :math:`\sqrt{2}`:

    >>> corners, differ = [[-1, -1], [-1, 1], [1, -1], [1, 1]], [False, True, True, False]
    >>> model = MaxMarginClassifier(kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(corners, differ)
    >>> model.margin_.round(9)
    array([1.41421356])
    >>> model.decision_function(corners).round(9)
    array([-1.,  1.,  1., -1.])
    """

    _schema: ClassVar[Schema] = MAX_MARGIN

    save = save
    _fixed: ClassVar[tuple[str, ...]] = ("kernel",)

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Find the hyperplane with the largest margin, or one for each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples. They must not all be 0. With ``kernel="precomputed"``, the kernel values of all
            pairs of examples.
        y : array-like of shape (n_samples,)
            Class labels: integers, booleans or strings, of at least two classes.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        InseparableError
            If no separating hyperplane was found, unless ``inseparable="warn"``.
        ValueError
            If an argument has an invalid shape, length or value. The estimator stays as it was before.
        TypeError
            If an argument does not contain numbers (or, for labels, numbers or strings).

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If no separating hyperplane was found, and ``inseparable="warn"``.
        """
        with learning(self) as model, standard():
            model._learn(X, y)
        return self

    def _learn(self, X: MatrixLike, y: ArrayLike) -> None:
        self._check_parameters()
        options = search_options(self.bias, tol=self.tol, max_steps=self.max_steps, solver=self.solver)
        engine = get_engine(self.engine)
        refuse_rounded(X)
        data = examples(self, engine, X, reset=True)
        classes, index = encode_new(label_array(self, y, data.rows.shape[0]))
        change(self, record=())
        planes = range(len(classes)) if len(classes) > 2 else (1,)
        with recorded(self, "fit", data.stored, index, None):
            problems = [
                Problem(engine, data, (index == k).astype(np.uint32), (False, True), n_threads(self))
                for k in planes
            ]
            space = None
            if self.kernel != "linear":
                space = gram(problems[0], self.kernel, self.gamma, self.degree, self.coef0)
            fits = []
            for k, problem in zip(planes, problems, strict=True):
                result = largest_margin(problem, options, space)
                if result.radius == 0:
                    raise ArgumentError("{X} must not be all zeros", "there is nothing to separate")
                if result.status != "separable":
                    self._complain(result, classes, k)
                plane = _rescaled(problem, result) if space is None else scaled(space, problem.labels, result)
                fits.append((result, *plane, result.upper))
        self.classes_ = classes
        self._fixed_values = fixed_parameters(self)
        self.results_ = [fit[0] for fit in fits]
        self.intercept_ = np.array([fit[2] for fit in fits])
        ends = np.array([fit[3:] for fit in fits])
        self.margin_, self.margin_interval_ = ends[:, 0].copy(), ends
        change(self, coef=None, spec=None, stored_support=None)
        weights = np.stack([fit[1] for fit in fits])
        if space is None:
            self.coef_ = weights
            self._keep_support([problem.labels == 1 for problem in problems])
        else:
            self._spec = space.spec
            self.support_ = np.flatnonzero(weights.any(axis=0))
            self.dual_coef_ = np.ascontiguousarray(weights[:, self.support_])
            is_stored = self.kernel != "precomputed"
            self._stored_support = select_rows(data.stored, self.support_) if is_stored else {}

    def _complain(self, result: MarginResult, classes: NDArray[np.generic], k: int) -> None:
        """Raise, or warn, that no separating plane is known."""
        label = classes.tolist()[k]
        what = (
            f"the classes {classes.tolist()[0]!r} and {label!r}"
            if len(classes) == 2
            else f"class {label!r} and the rest"
        )
        if result.status == "non_separable":
            rows = ", ".join(map(str, result.support[:5].tolist())) + (
                ", ..." if len(result.support) > 5 else ""
            )
            text = f"no plane separates {what}, as rows {rows} of X prove (see hull_weights)"
        elif result.status == "margin_at_most":
            text = f"no plane that separates {what} was found; its margin would be at most {result.upper:.3g}"
        else:
            text = f"no plane that separates {what} was found within max_steps={self.max_steps}; raise it"
        if self.inseparable == "raise":
            raise InseparableError(
                f"{text}; use a learner for such data, such as PocketPerceptron, or set inseparable='warn' "
                "to keep the best hyperplane found",
                result,
                label,
            )
        warnings.warn(f"{text}; the best hyperplane found is kept", ConvergenceWarning, stacklevel=5)

    def _keep_support(self, positives: list[NDArray[np.bool_]]) -> None:
        known = [result if result.status == "separable" else None for result in self.results_]
        parts = [result.support for result in known if result is not None]
        self.support_ = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *parts]))
        dual_coef = np.zeros((len(known), len(self.support_)))
        for k, result in enumerate(known):
            if result is None:
                continue
            signs = np.where(positives[k][result.support], 1.0, -1.0)
            shares = np.ldexp(result.dual_weights.astype(np.float64), -53)
            groups = 2.0 if result.bias == "free" else 1.0
            with np.errstate(over="ignore", under="ignore"):
                values = signs * (shares / result.upper / result.upper / groups)
            dual_coef[k, np.searchsorted(self.support_, result.support)] = values
        self.dual_coef_ = dual_coef

    @property
    def support_vectors_(self) -> MatrixLike:
        """The rows of X with a coefficient in ``dual_coef_``."""
        if not getattr(self, "_stored_support", None):
            raise AttributeError("support_vectors_ is only available with the kernels 'poly' and 'rbf'")
        return matrix_of(self._stored_support, self.n_features_in_)

    def _prediction_parameters(self) -> dict[str, object]:
        spec = self._spec
        if spec is None:
            return {"learner": "max-margin", "kernel": "linear"}
        kernel = attributes(spec, ("name", "gamma", "coef0", "degree"))
        return {"learner": "max-margin", "kernel": kernel}

    def _prediction_arrays(self) -> State:
        spec, arrays = self._spec, self.predictor_
        if spec is not None and spec.name != "precomputed":  # rows are in the schema, wherever they came from
            arrays = {name: arrays[name] for name in ("dual_coef", "intercept", "gamma")}
        return arrays

    def _document(self) -> dict[str, object]:
        words = [attributes(result, RESULT_WORDS) | {"work": dict(result.work)} for result in self.results_]
        return {"results": words}

    def _restored(self, arrays: State, document: dict[str, object]) -> None:
        super()._restored(arrays, document)
        self.results_ = results_of(arrays, document.get("results"), self._spec)
        self.margin_ = self.margin_interval_[:, 0]

    def _exports(self) -> ModuleType:
        from perceptron_rs.margins import exports

        return exports


def _rescaled(problem: Problem, result: MarginResult) -> tuple[NDArray[np.float64], float, float]:
    """Return weights and intercept with which the nearest rows score 1, and a lower end of their margin.

    Scaling rounds, so the lower end is certified again. Should that cost more than it may, the plane is
    scaled by a power of two instead, which does not round.
    """
    w, b = result.coef, result.intercept
    if result.status != "separable":
        return w, b, -math.inf
    score = problem.margin(w, b, normalize=False)[0]
    if 0 < score < math.inf:
        with np.errstate(over="ignore", under="ignore"):
            scaled, offset = w / score, b / score
        lower = _certified(problem, scaled, offset, result.bias)
        if lower >= result.lower * (1 - 1e-9):
            return scaled, offset, min(lower, result.upper)
        exponent = math.frexp(score)[1]
        scaled, offset = np.ldexp(w, -exponent), math.ldexp(b, -exponent)
        if np.array_equal(np.ldexp(scaled, exponent), w) and math.ldexp(offset, exponent) == b:
            return scaled, offset, result.lower
    return w, b, result.lower


def _certified(problem: Problem, w: NDArray[np.float64], b: float, bias: str) -> float:
    """Return a number that is not above the margin of a plane; -inf if it has none."""
    if not (np.isfinite(w).all() and math.isfinite(b) and w.any()):
        return -math.inf
    lower = problem.margin(w, b, normalize=bias != "augmented")[0]
    if bias != "augmented" or not 0 < lower < math.inf:
        return float(lower)
    exponent = math.frexp(max(float(np.abs(w).max()), abs(b)))[1]
    square = norm_squared(np.append(w, b), exponent)[1] * Fraction(4) ** exponent
    root = Fraction(math.isqrt(math.ceil(square * 4**_ROOT_BITS)) + 1, 2**_ROOT_BITS)  # above the norm
    return round_down(Fraction(lower) / root)
