"""What a separator of largest margin has learnt: its planes, and what certifies each of them."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.choices import Bias, words
from perceptron_rs.engines import State
from perceptron_rs.estimator_attributes import attributes
from perceptron_rs.margins.result import STATUSES, MarginResult
from perceptron_rs.schema.kernel_spec import KERNEL_ARRAY, spec_of
from perceptron_rs.schema.schema import COUNTS, Array, Part, Schema, StoredExamples, is_count
from perceptron_rs.settings import KernelSpec
from perceptron_rs.targets.planes import n_planes

if TYPE_CHECKING:
    from perceptron_rs.margins.predictor import MaxMarginClassifierPredictor

#: Numbers of a `MarginResult` that may be infinite: the columns of one tensor, with a row a plane.
_NUMBERS = ("lower", "upper", "intercept", "radius", "mistake_bound", "best_mistake_bound")
_WORDS = ("status", "bias", "proof", "solver")
_PROOFS = (None, "pair", "verified", "rational")


def _result_numbers(results: list[MarginResult]) -> list[list[float]]:
    return [[*attributes(result, _NUMBERS).values()] for result in results]


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
        Array("results", ("K", len(_NUMBERS)), attribute="results_", label="results_[:]", predicts=False,
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


def results_to_json(results: list[MarginResult]) -> list[dict[str, object]]:
    """Return what results say in words, and the counts of their work."""
    return [attributes(result, _WORDS) | {"work": dict(result.work)} for result in results]


def results_of(arrays: State, words: object, spec: KernelSpec | None) -> list[MarginResult]:
    """Return the results of a file; ValueError unless they are those of a fit."""
    numbers: NDArray[np.float64] = arrays["results"]
    if not isinstance(words, list) or len(words) != len(numbers):
        raise ValueError(f"its results must be a list of {len(numbers)}")
    for description in words:
        _check_words(description)
    return [
        MarginResult(
            **dict(zip(_NUMBERS, row, strict=True)),
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
    if not isinstance(description, dict) or set(description) != {*_WORDS, "work"}:
        raise ValueError(f"each of its results must hold {', '.join(_WORDS)} and work")
    allowed = {"status": STATUSES, "bias": words(Bias), "proof": _PROOFS}
    for name, values in allowed.items():
        if description[name] not in values:
            raise ValueError(f"the {name} of a result must be one of {values}, got {description[name]!r:.80}")
    work = description["work"]
    if not isinstance(description["solver"], str) or not isinstance(work, dict):
        raise ValueError("a result must name its solver and its work")
    if not all(is_count(count) for count in work.values()):
        raise ValueError("the work of a result must be counts of at most 2**53")
