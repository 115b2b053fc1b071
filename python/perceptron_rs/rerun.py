"""Train a model again from its record, and say whether the same came out, or what is not the same."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from perceptron_rs._core import ARITHMETIC_VERSION
from perceptron_rs.audit.digests import BLOCK, PARTS, Digests, Stored
from perceptron_rs.audit.record import RECORD, Call, same_value
from perceptron_rs.common.labels import encode, label_array
from perceptron_rs.common.rows.examples import as_array, examples
from perceptron_rs.common.weights import sample_weights
from perceptron_rs.engines import EngineName, get_engine
from perceptron_rs.learnt import Arrays, arrays, difference, digest_of

__all__ = ["Reproduction", "reproduce"]

#: Why a model was not reproduced: the first of these that differs.
Reason: TypeAlias = Literal["data", "parameters", "arithmetic", "numbers"]

#: Parameters that change nothing that is learnt, or are compared by what has been learnt.
_OF_NO_BIT = {"n_jobs", "engine", "verbose", "keep_on_interrupt", "cache_size", "audit", "warm_start"}
_OF_NO_BIT |= {"prediction", "normalize", "callback"}
#: What a run over other arrays may leave in another form: names are the caller's, and compared by themselves.
_NOT_COMPARED = {"feature_names_in_"}


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Result of `reproduce`. It is true if the model was reproduced.

    Parameters
    ----------
    equal : bool
        Whether training again gave the same model, to the last bit, from the data and parameters of the
        record.
    reason : {"data", "parameters", "arithmetic", "numbers"} or None
        What differs. "data": the examples or labels. "parameters": they were changed after training.
        "arithmetic": the version of the arithmetic with which the model was learnt. "numbers": what was
        learnt, although all of these are the same.
    message : str
        Description of the result, with the first place that differs.
    digest : str
        The `digest` of the model.
    digest_again : str or None
        The `digest` of the model trained again; None if it was not trained, because the data differs.
    """

    equal: bool
    reason: Reason | None
    message: str
    digest: str
    digest_again: str | None

    def __bool__(self) -> bool:
        return self.equal


def reproduce(
    model: Any, X: Any, y: Any, sample_weight: Any = None, *, engine: EngineName | None = None
) -> Reproduction:
    """Train a model again from its record, and compare all that it has learnt to the last bit.

    A model records the calls that trained it, with their parameters and numbers of rows. If it was trained
    with ``audit=True``, or on the command line, it also has digests of the examples, and the result can
    name the first block of examples that differs. The model is not changed.

    Parameters
    ----------
    model : Perceptron, KernelPerceptron, MultilayerPerceptron, ...
        A fitted estimator, for instance one that `load` has read.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The examples of all calls, one after another, in any storage. Calls of ``fit`` on the same examples,
        which go on with ``warm_start``, have them once.
    y : array-like of shape (n_samples,)
        Class labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the examples, if training used any.
    engine : {"rust", "reference"}, default=None
        Implementation to use. By default, that of the model; the other one is an independent check.

    Returns
    -------
    Reproduction
        Whether the model was reproduced, and if not, what differs.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    ValueError
        If the model has no record of its training, or one that cannot be repeated.

    See Also
    --------
    digest : One line for what a model has learnt.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from perceptron_rs import Perceptron, reproduce
    >>> X, y = load_iris(return_X_y=True)
    >>> model = Perceptron(audit=True).fit(X, y)
    >>> bool(reproduce(model, X, y))
    True
    >>> X[3, 0] += 0.1
    >>> print(reproduce(model, X, y).message)
    other data: rows 0 to 149 differ in their entries
    """
    check_is_fitted(model)
    calls = _calls(model)
    expected = arrays(model)
    own = digest_of(expected)
    found = _other_data(model, calls, X, y, sample_weight)
    if found is not None:
        return Reproduction(False, "data", f"other data: {found}", own, None)
    learnt = arrays(_trained(model, calls, X, y, sample_weight, engine))
    numbers = _first_difference(expected, learnt)
    differences: dict[Reason, str | None] = {
        "parameters": _other_parameters(model, calls[-1]),
        "arithmetic": _other_arithmetic(calls),
        "numbers": numbers,
    }
    reason = next((reason for reason, text in differences.items() if text is not None), None)
    message = "equal to the last bit"
    if reason is not None:
        message = f"other {reason}: {differences[reason]}"
        if reason != "numbers":
            message += f"; {numbers or 'all that was learnt is equal to the last bit'}"
        if numbers is not None and any(call.digests is None for call in calls):
            message += _NO_DIGESTS
    return Reproduction(reason is None, reason, message, own, digest_of(learnt))


_NO_DIGESTS = "; whether the data is the same is not known, as the model was trained without audit=True"


def _calls(model: Any) -> tuple[Call, ...]:
    calls: tuple[Call, ...] = getattr(model, RECORD, ())
    if not calls:
        raise ValueError(
            f"this {type(model).__name__} has no record of its training; train it by fit, or with audit=True "
            f"from the first call of partial_fit on"
        )
    for call in calls:
        if call.ended is not None and call.ended[0] == "interrupt":
            raise ValueError(
                "Ctrl-C ended the training of this model, which cannot be repeated; train it to the end"
            )
    return calls


def _begins(calls: tuple[Call, ...], n: int) -> list[int]:
    """Return at which of n rows the examples of each call begin; those of equal calls may be given once."""
    total = sum(call.rows for call in calls)
    begins: list[int] = []
    end = 0
    for number, call in enumerate(calls):
        like = range(number) if n != total else ()
        seen = next((k for k in like if _may_be_same(calls[k], call)), None)
        begins.append(end if seen is None else begins[seen])
        end = max(end, begins[-1] + call.rows)
    return begins


def _may_be_same(a: Call, b: Call) -> bool:
    unknown = a.digests is None or b.digests is None
    return a.rows == b.rows and (unknown or a.digests == b.digests)


def _other_data(model: Any, calls: tuple[Call, ...], X: Any, y: Any, sample_weight: Any) -> str | None:
    """Return in words how the data is not that of the training; None if no difference is found."""
    probe = type(model)(**calls[0].parameters)
    data = examples(probe, get_engine("rust"), as_array(X), reset=True)
    n, columns = data.rows.shape
    if columns != calls[0].columns:
        return f"the model has learnt from {calls[0].columns} columns, got {columns}"
    begins = _begins(calls, n)
    needed = max(begin + call.rows for begin, call in zip(begins, calls, strict=True))
    if n != needed:
        return f"the model has learnt from {needed} rows, got {n}"
    names, given = (getattr(one, "feature_names_in_", None) for one in (model, probe))
    if names is not None and given is not None and list(names) != list(given):
        column = next(k for k, (a, b) in enumerate(zip(names, given, strict=True)) if a != b)
        return f"column {column} has the name {names[column]!r} in the model, got {given[column]!r}"
    y = label_array(model, y, n)
    is_known = np.isin(y, model.classes_)
    if not is_known.all():
        row = int(np.argmin(is_known))
        return f"row {row} has the label {y[row : row + 1].tolist()[0]!r}, which is no class of the model"
    if (sample_weight is not None) != any(call.weighted for call in calls):
        had = "without" if sample_weight is not None else "with"
        return f"the model was trained {had} sample_weight"
    labels = encode(y, model.classes_)
    weights = sample_weights(sample_weight, labels)
    for call, begin in zip(calls, begins, strict=True):
        if call.digests is not None:
            found = _digests(call, begin, data.stored, labels, weights)
            for block in range(-(-call.rows // BLOCK)):
                parts = [part for part in PARTS if _at(call.digests, part, block) != _at(found, part, block)]
                if parts:
                    first, last = begin + block * BLOCK, begin + min(call.rows, (block + 1) * BLOCK) - 1
                    return f"rows {first} to {last} differ in their {' and '.join(parts)}"
    return None


def _at(digests: Digests, part: str, block: int) -> str | None:
    found: tuple[str, ...] = getattr(digests, part)
    return found[block] if block < len(found) else None


def _digests(
    call: Call,
    begin: int,
    stored: Stored,
    labels: NDArray[np.uint32],
    weights: NDArray[np.float64] | None,
) -> Digests:
    """Return the digests of the rows of a call, in its parts."""
    found = Digests()
    for rows in _parts(call, begin):
        if "rows" in stored:
            part = {"rows": stored["rows"][rows]}
        else:
            part = stored | {"rows_indptr": stored["rows_indptr"][rows.start : rows.stop + 1]}
        weight = weights[rows] if weights is not None and call.weighted else None
        found = found.with_call(part, call.columns, labels[rows], weight)
    return found


def _parts(call: Call, begin: int) -> Iterator[slice]:
    """Yield the rows of each call."""
    for rows, times in call.sizes:
        for _ in range(times):
            yield slice(begin, begin + rows)
            begin += rows


def _trained(
    model: Any, calls: tuple[Call, ...], X: Any, y: Any, sample_weight: Any, engine: str | None
) -> Any:
    """Return another estimator, that has learnt from the same calls."""
    X, n = (X.tocsr() if issparse(X) else as_array(X)), len(y)
    y = label_array(model, y, None)
    again = type(model)(**calls[0].parameters)
    for call, begin in zip(calls, _begins(calls, n), strict=True):
        for name, value in call.parameters.items():
            setattr(again, name, value)
        again.audit, again.verbose = False, 0
        again.engine = model.engine if engine is None else engine
        if hasattr(model, "n_jobs"):
            again.n_jobs = model.n_jobs
        if call.ended is not None:
            again.max_iter = call.ended[1]
        more = {f"{name}_init": array for name, array in call.start.items()}
        if call.method == "partial_fit":
            more["classes"] = model.classes_
        learn = getattr(again, call.method)
        for rows in _parts(call, begin):
            weighted = {"sample_weight": np.asarray(sample_weight)[rows]} if call.weighted else {}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                part = X if rows == slice(0, n) else _safe_indexing(X, rows)
                learn(part, y[rows], **more, **weighted)
    return again


def _first_difference(expected: Arrays, found: Arrays) -> str | None:
    left, right = (
        {name: array for name, array in learnt.items() if name not in _NOT_COMPARED}
        for learnt in (expected, found)
    )
    return difference("the model", left, "the run", right)


def _other_parameters(model: Any, call: Call) -> str | None:
    for name, value in call.parameters.items():
        now = getattr(model, name)
        if name not in _OF_NO_BIT and not same_value(now, value):
            return f"{name} is {now!r} in the model, which was trained with {value!r}"
    return None


def _other_arithmetic(calls: tuple[Call, ...]) -> str | None:
    for call in calls:
        if call.arithmetic != ARITHMETIC_VERSION:
            return (
                f"the model was learnt by version {call.arithmetic}, and this is version {ARITHMETIC_VERSION}"
            )
    return None
