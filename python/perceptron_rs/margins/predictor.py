"""What a separator of largest margin has learnt, with what certifies it, and how it predicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.csr import StoredRows
from perceptron_rs.arrays.likes import MatrixLike
from perceptron_rs.arrays.named import own_copies
from perceptron_rs.choices import Bias, MarginKernel, words
from perceptron_rs.engines import Engine, Rows, State, rows_of
from perceptron_rs.estimator_attributes import attributes
from perceptron_rs.margins.result import STATUSES, MarginResult
from perceptron_rs.parameters.threads import n_threads
from perceptron_rs.prediction.predictor import Classifier, scores_of
from perceptron_rs.rows.examples import ValidatedRows
from perceptron_rs.rows.selection import select_columns, slice_rows
from perceptron_rs.schema.kernel_spec import KERNEL_ARRAY, spec_of
from perceptron_rs.schema.schema import COUNTS, Array, History, Part, Schema, StoredExamples, is_count
from perceptron_rs.settings import KernelSpec
from perceptron_rs.state.fitted_attributes import Shown
from perceptron_rs.state.learnt import Learnt
from perceptron_rs.state.turns import consistent
from perceptron_rs.targets.planes import assert_finite_weights, n_planes

#: Numbers of a `MarginResult` that may be infinite: the columns of one tensor, with a row a plane.
_FIGURES = ("lower", "upper", "intercept", "radius", "mistake_bound", "best_mistake_bound")
RESULT_WORDS = ("status", "bias", "proof", "solver")
_PROOFS = (None, "pair", "verified", "rational")


def _result_numbers(results: list[MarginResult]) -> list[list[float]]:
    return [[*attributes(result, _FIGURES).values()] for result in results]


def _plane_parts(model: MaxMarginClassifierPredictor) -> Iterator[Part]:
    """Give weights of the features, or of the support vectors in the space of a kernel."""
    is_linear = model.kernel == "linear"
    yield Array("support", "s", COUNTS, "support_", predicts=False)
    yield Array("dual_coef", "Ks", attribute="dual_coef_", label="dual_coef", predicts=not is_linear)
    if is_linear:
        yield Array("coef", "Kd", attribute="coef_", label="coef")
        return
    yield KERNEL_ARRAY
    if model.kernel != "precomputed":
        yield StoredExamples("sd", prefix="support_", attribute="_stored_support", label="rows")


def _results(model: MaxMarginClassifierPredictor) -> Iterator[Array]:
    """Give the arrays of the result of each plane."""
    for k in range(n_planes(model, model.classes_)):

        def of(name: str, k: int = k) -> Any:
            get = attrgetter(name)
            return lambda results: get(results[k]) if k < len(results) else None

        # A weight a feature; with a kernel one an example, of which there may be any number.
        weights = "d" if model.kernel == "linear" else f"examples of {k}"
        for name, axis, dtype in (
            ("coef", weights, np.dtype(np.float64)),
            ("support", f"support of {k}", COUNTS),
            ("dual_weights", f"support of {k}", COUNTS),
        ):
            yield Array(
                f"results_{k}_{name}",
                (axis,),
                dtype,
                "results_",
                label=f"results_[{k}].{name}",
                predicts=False,
                pack=of(name),
                unpack=None,
            )


MAX_MARGIN = Schema(
    "max-margin",
    (
        Array("intercept", "K", attribute="intercept_", label="intercept"),
        _plane_parts,
        Array("margin_interval", ("K", 2), attribute="margin_interval_", predicts=False, finite=False),
        Array("results", ("K", len(_FIGURES)), attribute="results_", label="results_[:]", predicts=False,
              finite=False, pack=_result_numbers, unpack=None),
        _results,
    ),
    {"n_features": "n_features_in_"},
    converges=False,
    document=frozenset({"results"}),
)  # fmt: skip


def check_planes(model: MaxMarginClassifierPredictor, arrays: State, columns: int) -> None:
    """Raise ValueError unless support vectors, margins and the kernel are those of a fit."""
    support, interval = arrays["support"], arrays["margin_interval"]
    if (np.diff(support) < 1).any():
        raise ValueError("the tensor support must rise")
    if model.kernel == "precomputed" and support.max(initial=-1) >= columns:
        raise ValueError(f"the tensor support must name columns below {columns}")
    if not (interval[:, 0] <= interval[:, 1]).all():
        raise ValueError("the tensor margin_interval must hold a lower and an upper end")
    if np.isnan(arrays["results"]).any():
        raise ValueError("the tensor results holds a NaN")
    if KERNEL_ARRAY.name in arrays:
        spec_of(model, arrays)


def results_of(arrays: State, words: object, spec: KernelSpec | None) -> list[MarginResult]:
    """Return the results of a file; ValueError unless they are those of a fit."""
    numbers: NDArray[np.float64] = arrays["results"]
    if not isinstance(words, list) or len(words) != len(numbers):
        raise ValueError(f"its results must be a list of {len(numbers)}")
    for description in words:
        _check_words(description)
    return [
        MarginResult(
            **dict(zip(_FIGURES, row, strict=True)),
            **description,
            classes=(False, True),
            kernel=spec,
            coef=arrays[f"results_{k}_coef"],
            support=arrays[f"results_{k}_support"],
            dual_weights=arrays[f"results_{k}_dual_weights"],
        )
        for k, (row, description) in enumerate(zip(numbers.tolist(), words, strict=True))
    ]


def _check_words(description: object) -> None:
    if not isinstance(description, dict) or set(description) != {*RESULT_WORDS, "work"}:
        raise ValueError(f"each of its results must hold {', '.join(RESULT_WORDS)} and work")
    allowed = {"status": STATUSES, "bias": words(Bias), "proof": _PROOFS}
    for name, values in allowed.items():
        if description[name] not in values:
            raise ValueError(f"the {name} of a result must be one of {values}, got {description[name]!r:.80}")
    work = description["work"]
    if not isinstance(description["solver"], str) or not isinstance(work, dict):
        raise ValueError("a result must name its solver and its work")
    if not all(is_count(count) for count in work.values()):
        raise ValueError("the work of a result must be counts of at most 2**53")


_VALUES = 1 << 20  # of a kernel, that are computed at a time, unless a single row has more


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MarginLearnt(Learnt):
    """Planes, and what certifies their margins."""

    coef: NDArray[np.float64] | None = None
    intercept: NDArray[np.float64] | None = None
    support: NDArray[np.int64] | None = None
    dual_coef: NDArray[np.float64] | None = None
    results: list[Any] | None = None
    margin: NDArray[np.float64] | None = None
    margin_interval: NDArray[np.float64] | None = None
    #: The kernel, with its gamma settled, and the support vectors as they are stored; none if it is linear.
    spec: KernelSpec | None = None
    stored_support: StoredRows | None = None
    converged: bool | None = None

    def but(self, **changes: object) -> Self:
        """Return a copy with other values of some fields."""
        if not changes.keys().isdisjoint(("coef", "intercept", "dual_coef")):
            changes.setdefault("calibration", None)  # which was of the scores of others
        if isinstance(stored := changes.get("stored_support"), dict):
            changes["stored_support"] = own_copies(stored)
        return super().but(**changes)


class MaxMarginClassifierPredictor(Classifier):
    """Planes, in the space of the features or of a kernel."""

    kernel: MarginKernel
    _schema: ClassVar[Schema] = MAX_MARGIN
    _learnt: MarginLearnt = MarginLearnt()
    coef_ = Shown[NDArray[np.float64]]("coef")
    intercept_ = Shown[NDArray[np.float64]]("intercept")
    support_ = Shown[NDArray[np.int64]]("support")
    dual_coef_ = Shown[NDArray[np.float64]]("dual_coef")
    results_ = Shown[list[Any]]("results")
    margin_ = Shown[NDArray[np.float64]]("margin")
    margin_interval_ = Shown[NDArray[np.float64]]("margin_interval")
    converged_ = Shown[bool]("converged")
    _spec = Shown[KernelSpec | None]("spec", optional=True)
    _stored_support = Shown[StoredRows]("stored_support")

    def _state(self) -> State:
        return {}  # no model of an engine holds what has been learnt

    def _set_state(self, state: State) -> None:
        """Do nothing: there is no model of an engine."""

    def _restored(self, arrays: State, document: dict[str, object]) -> None:  # noqa: ARG002
        if self.kernel != "linear":
            self._spec = spec_of(self, arrays)
            self._stored_support = getattr(self, "_stored_support", {})

    @property
    @consistent
    def predictor_(self) -> State:
        """What predicts: weights and intercepts; with a kernel also rows of the support, and gamma."""
        if self._spec is None:
            return {"coef": self.coef_, "intercept": self.intercept_}
        return self._stored_support | {
            "dual_coef": self.dual_coef_,
            "intercept": self.intercept_,
            "origin": self.support_,
            "gamma": np.array(self._spec.gamma),
        }

    @consistent
    def decision_function(self, X: MatrixLike) -> NDArray[np.float64]:
        r"""Return the score :math:`w \cdot x + b` of each example, in the space of the kernel.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples; with ``kernel="precomputed"``, their kernel values with all training examples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, the score of ``classes_[1]``. Otherwise, one column for each class.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If X has a wrong shape or contains NaN or infinity.
        """
        return scores_of(self, X)

    def _judge(self, engine: Engine, data: ValidatedRows) -> NDArray[np.float64]:
        weights = self.coef_ if self._spec is None else self.dual_coef_
        parts = (
            engine.scores(rows, weights, self.intercept_, threads=n_threads(self))
            for rows in self._features(engine, data)
        )
        return np.concatenate(list(parts))

    def _assert_finite_weights(self) -> None:
        name = "coef_" if self._spec is None else "dual_coef_"
        assert_finite_weights(**attributes(self, (name, "intercept_")))

    def _check_arrays(self, arrays: State, history: History) -> None:
        check_planes(self, arrays, history["n_features"])

    def _features(self, engine: Engine, data: ValidatedRows) -> Iterator[Rows]:
        """Yield what the weights are multiplied with: the features, or kernel values with the support."""
        if self._spec is None:
            yield data.rows
            return
        columns = self.n_features_in_
        if self._spec.name == "precomputed":
            yield select_columns(engine, data.stored, self.support_, columns)
            return
        others = rows_of(engine, self._stored_support, columns)
        n, step = data.rows.shape[0], max(1, _VALUES // max(1, len(self.support_)))
        for begin in range(0, n, step):
            rows = rows_of(engine, slice_rows(data.stored, begin, min(n, begin + step)), columns)
            yield engine.dense_rows(
                engine.kernel_matrix(rows, others, kernel=self._spec, threads=n_threads(self))
            )
