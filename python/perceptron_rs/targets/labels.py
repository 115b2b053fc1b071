"""Labels as class indices, in a few passes over y instead of a sort."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from numbers import Integral
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays import likes
from perceptron_rs.arrays.likes import ArrayLike
from perceptron_rs.errors import ArgumentError, OptionsError, naming, warn_caller
from perceptron_rs.rows.real_numbers import refuse_lazy
from perceptron_rs.rows.storage import is_masked, without_index
from perceptron_rs.targets.distinct import FEW, TABLE, distinct, places, shifted
from perceptron_rs.targets.label_sets import LabelSets, is_indicator, lists_of_labels
from perceptron_rs.targets.planes import check_classes, learns_many

if TYPE_CHECKING:
    from perceptron_rs.sklearn_base import BaseEstimator

ClassIndices = NDArray[np.uint32]
#: Kinds of labels, with their types. A label has the first kind with a type that it is an instance of.
_KINDS: dict[str, tuple[type, ...]] = {
    "bool": (bool, np.bool_),
    "int": (int, np.integer),
    "float": (float, np.floating),
    "Decimal": (Decimal,),
    "str": (str,),
    "bytes": (bytes,),
}
_COLLECTIONS = {"list", "tuple", "set", "frozenset", "ndarray"}


def target_of(estimator: Any, y: ArrayLike, n_samples: int | None) -> NDArray[np.generic] | LabelSets:
    """Return y as labels; of a matrix with more than one column, as the sets of labels of the examples."""
    is_vector = type(y) is np.ndarray and y.ndim == 1  # for a small batch, to ask further takes long
    if not is_vector and learns_many(estimator) and is_indicator(y):
        return y if type(y) is LabelSets else LabelSets.of(y, n_samples)
    return label_array(estimator, y, n_samples)


def label_array(
    estimator: BaseEstimator | None, y: ArrayLike, n_samples: int | None, name: str = "y"
) -> NDArray[np.generic]:
    """Return y as a one-dimensional array of numbers, booleans or strings."""
    if y is None and estimator is None:
        raise ValueError(f"{name} must hold class labels, got None")
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )
    if is_masked(y):
        raise ValueError(f"{name} is a masked array with masked values; drop these examples")
    with naming(name):
        if type(y) is not np.ndarray or y.ndim != 1:
            _refuse_many(estimator, y, name)
            y = _one_dimension(y, name)
        if y.dtype.kind == "T":  # strings of any length, which many functions do not know yet
            y = y.astype(object)
        kind = y.dtype.kind
        if kind == "c":
            raise ValueError("Complex data not supported")
        if kind in "MmV":
            raise TypeError(
                f"{name} must hold class labels, got the dtype {y.dtype}; encode them as integers"
            )
        if kind == "S":
            raise TypeError(f"{name} must hold class labels, got bytes; decode them to strings")
        if kind == "O":
            y = _common_type(y, name)
        elif kind == "f":
            _refuse_missing(y, name)
            y = _as_float64(y, name)
        if n_samples is not None and len(y) != n_samples:
            raise ValueError(
                f"inconsistent numbers of samples: X has {n_samples} rows, but {name} has {len(y)} entries"
            )
        if not y.dtype.isnative:
            y = y.astype(y.dtype.newbyteorder("="))
        if kind == "b":  # comparisons of NumPy go wrong for bytes that are neither 0 nor 1
            y = y.view(np.uint8) != 0
    labels: NDArray[np.generic] = y
    return labels


def _as_float64(y: NDArray[np.generic], name: str) -> NDArray[np.generic]:
    """Return labels of a wider type than float64, which no file holds, in that; ValueError for others."""
    if y.dtype.itemsize <= 8:
        return y
    short = y.astype(np.float64)
    if (short != y).any():
        raise ValueError(f"{name} must hold labels that float64 holds, got {y[short != y][0]!s}; encode them")
    return short


def _refuse_many(estimator: BaseEstimator | None, y: ArrayLike, name: str) -> None:
    """Refuse several labels for an example: a matrix, or a list of lists."""
    if is_indicator(y):
        is_call = not hasattr(estimator, "fit") or learns_many(estimator)
        learner = "this call" if is_call else type(estimator).__name__
        remedy = (
            "Perceptron, AveragedPerceptron, VotedPerceptron, PocketPerceptron, KernelPerceptron and "
            "BudgetedKernelPerceptron learn them, or fit this estimator to each column"
        )
        if is_call:
            remedy = "call it for each column"
        raise OptionsError(
            f"{{{name}}} must hold one label for each example, got {{columns}} columns; {learner} does not "
            f"take many labels",
            remedy,
            cause="many labels",
            columns=len(y[0]) if (shape := likes.shape_of(y)) is None else shape[1],
        )
    if isinstance(y, list | tuple) and y and isinstance(y[0], list | tuple | set) and len({*map(len, y)}) > 1:
        raise lists_of_labels(name)


def joined_labels(parts: Sequence[NDArray[np.generic]]) -> NDArray[np.generic]:
    """Return labels of several parts as one array; integers stay integers, where NumPy would round them."""
    return np.concatenate(of_one_type(parts))


def of_one_type(parts: Sequence[NDArray[np.generic]]) -> list[NDArray[np.generic]]:
    """Return labels of several parts in one type, that of all; ValueError for kinds that are mixed."""
    for part in parts:
        _refuse_other_kind(part, parts[0])
    kind = np.result_type(*parts)
    are_mixed = kind.kind == "f" and any(part.dtype.kind in "iu" for part in parts)
    if are_mixed and any(_is_rounded(part.astype(kind)) for part in parts):
        kind = _common_type(np.concatenate([part.astype(object) for part in parts]), "y").dtype
    return [part.astype(kind, copy=False) for part in parts]


def _refuse_other_kind(y: NDArray[np.generic], others: NDArray[np.generic]) -> None:
    """Refuse labels of another kind, as in one array: neither True nor "1" is 1."""
    kind, known = likes.kind_of_values(y.dtype), likes.kind_of_values(others.dtype)
    if kind != known:
        raise ArgumentError(
            f"some labels are {known}, and others are {kind}", "convert them to one type", place="y: "
        )


def _one_dimension(y: ArrayLike, name: str) -> NDArray[np.generic]:
    """Return y as an array of one dimension, without a change of any label.

    scikit-learn makes floats of the nullable types of pandas.
    """
    if type(y) is not np.ndarray:
        refuse_lazy(y, name)
        y = without_index(y)
        labels = y
        try:
            y = np.asarray(labels)
        except ValueError:  # lists of several lengths
            raise lists_of_labels(name) from None
        except NotImplementedError:  # of Arrow about strings in a dictionary, or of pandas about ends of runs
            values = likes.values_of(labels)
            y = np.array(list(labels) if values is None else values, dtype=object)
        if y.ndim and y.dtype.kind == "U" and isinstance(labels, Iterable):
            refuse_nul(labels)
        if y.ndim == 0:  # a sparse matrix, or no array at all
            y = labels
        if isinstance(labels, list | tuple):
            # NumPy makes the string "nan" of a NaN beside strings, cuts what `str` makes of an enumeration's
            # member, and makes floats of integers beside floats, and 1 of a True beside numbers.
            is_made = y.dtype.kind == "U" and not {str, np.str_}.issuperset(map(type, labels))
            is_made |= y.dtype.kind in "iuf" and not {bool, np.bool_}.isdisjoint(map(type, labels))
            if y.ndim == 1 and (is_made or _is_rounded(y)):
                y = np.fromiter(labels, dtype=object, count=len(labels))
    if likes.n_dimensions(y) not in (1, 2):
        raise ValueError(
            f"{name} must hold one label for each example, got {y!r:.80}; pass a list or an array of them"
        )
    if likes.n_dimensions(y) == 2:
        from sklearn.utils import column_or_1d

        y = column_or_1d(y, warn=True)
    return cast("NDArray[np.generic]", y)


def refuse_nul(labels: Iterable[object]) -> None:
    """Refuse labels whose last character NumPy drops."""
    for row, label in enumerate(labels):
        if isinstance(label, str) and label.endswith("\0"):
            raise ValueError(
                f"the label in row {row} (counted from 0), {label!r:.80}, ends with NUL, which NumPy drops; "
                f"leave that out"
            )


def _is_rounded(y: NDArray[np.generic]) -> bool:
    """Whether floats may stand for integers that they do not tell apart."""
    return y.dtype.kind == "f" and bool((np.abs(y) >= 2.0**53).any())


def _refuse_missing(y: NDArray[np.generic], name: str) -> None:
    """Refuse NaN and infinity among floats, in scikit-learn's words and with the row."""
    is_finite = np.isfinite(y)
    if not is_finite.all():
        row = int(np.argmin(is_finite))
        if np.isnan(y).any():
            _refuse_row(int(np.argmax(np.isnan(y))), name)
        raise ValueError(
            f"Input {name} contains infinity or a value too large for {y.dtype!r}: "
            f"the label in row {row} (counted from 0) is {y[row]}"
        )


def _refuse_row(row: int, name: str) -> None:
    raise ValueError(
        f"Input {name} contains NaN: the label in row {row} (counted from 0) is missing; "
        f"drop this example, or label it"
    )


def _common_type(y: NDArray[np.generic], name: str) -> NDArray[np.generic]:
    """Return labels that are objects in the type that they have in common; refuse those that have none."""
    values = y.tolist()
    if all(type(label) is str for label in values):
        refuse_nul(values)
        return y
    row = next((row for row, label in enumerate(values) if likes.is_missing(label)), None)
    if row is not None:
        _refuse_row(row, name)
    kinds = {_kind(label) for label in values}
    if kinds == {"str"}:  # of subclasses, whose comparisons may be their own
        return np.array([str.__str__(label) for label in values], dtype=object)
    if kinds == {"bool"}:
        return np.array([bool(label) for label in values], dtype=np.bool_)
    if kinds == {"float"}:
        labels = np.array(values, dtype=np.float64)
        _refuse_missing(labels, name)
        return labels
    if kinds <= {"int", "float", "Decimal"}:
        return _whole_labels(values, name)
    if "bytes" in kinds:
        raise TypeError(f"{name} must hold class labels, got bytes; decode them to strings")
    if kinds & _COLLECTIONS:
        raise lists_of_labels(name)
    shown = " and ".join(sorted(kinds))
    raise ValueError(
        f"Unknown label type: {name} holds objects of the type {shown}; labels must be all integers, all "
        f"booleans or all strings, so convert them, for instance to str"
    )


def _kind(label: object) -> str:
    """Return the name of the type that a label counts as."""
    for name, types in _KINDS.items():
        if isinstance(label, types) and not isinstance(label, np.timedelta64):  # an integer to NumPy
            return name
    return type(label).__name__


def _whole_labels(values: list[Any], name: str) -> NDArray[np.generic]:
    """Return whole numbers of several types as integers."""
    # `math.isfinite` makes a float of an integer, which may be too large for one.
    inexact = (label for label in values if not isinstance(label, Integral))
    odd = next((label for label in inexact if not math.isfinite(label) or label != int(label)), None)
    if odd is not None:
        raise _continuous(odd)
    whole = [int(label) for label in values]
    low, high = min(whole), max(whole)
    for kind in (np.int64, np.uint64):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return np.array(whole, dtype=kind)
    raise ValueError(
        f"{name} holds labels from {low!s:.40} to {high!s:.40}, more than integers of 64 bits hold; "
        f"convert them to str"
    )


def encode_new(
    y: NDArray[np.generic] | LabelSets, name: str = "y", n_samples: int | None = None, *, least: int = 2
) -> tuple[NDArray[np.generic], ClassIndices]:
    """Return the sorted distinct labels of y and the index of each label among them.

    Of ``n_samples`` examples, y may hold the labels that occur alone. There must be ``least`` labels or more.
    """
    if isinstance(y, LabelSets):
        return y.classes, y.words
    with naming(name):
        _refuse_continuous(y)
        classes, labels = distinct(y)
        if classes.dtype.kind == "f":
            classes[classes == 0] = 0  # and not -0.0, whichever comes first
        if len(classes) < least:
            raise ArgumentError(
                f"The number of classes has to be greater than one; got {len(classes)} class: "
                f"{{{name}}} holds {{found}} alone",
                cause="one class",
                found=classes.tolist(),
            )
    if name != "y":
        return classes, labels
    n = len(y) if n_samples is None else n_samples
    if len(classes) > 2 and n > 20 and len(classes) > round(0.5 * n):
        warn_caller(
            "The number of unique classes is greater than 50% of the number of samples. "
            "`y` could represent a regression problem, not a classification problem.",
            UserWarning,
        )
    return classes, labels


def _continuous(label: object) -> ValueError:
    """Return the error for a label that is no whole number, in scikit-learn's first words."""
    return ValueError(
        f"Unknown label type: continuous: found {label}; classes must be whole numbers, booleans or strings, "
        f"so round or bin a regression target first"
    )


def _refuse_continuous(y: NDArray[np.generic]) -> None:
    if y.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            whole = y == np.trunc(y)
        if not whole.all():
            raise _continuous(y[~whole][0])
        if len(y) and max(-float(y.min()), float(y.max())) >= 2.0**63:
            raise ValueError(
                f"labels from {y.min()} to {y.max()} are more than integers of 64 bits hold; "
                f"convert them to str"
            )


def are_listed(classes: ArrayLike, known: NDArray[np.generic]) -> bool:
    """Whether a caller lists classes as they are known; to look at them takes longer than a short pass."""
    if isinstance(classes, list):
        return bool(classes == known.tolist())
    is_alike = type(classes) is np.ndarray and classes.dtype == known.dtype and classes.shape == known.shape
    return is_alike and known.dtype.kind != "O" and classes.tobytes() == known.tobytes()


def new_classes(
    classes: ArrayLike, estimator: BaseEstimator | None, *, least: int = 2
) -> NDArray[np.generic]:
    """Return the sorted distinct classes for a call of partial_fit."""
    known: NDArray[np.generic] | None = getattr(estimator, "classes_", None)
    if classes is None:
        if known is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        return known
    with naming("classes"):
        if known is not None and are_listed(classes, known):
            return known
        passed = encode_new(label_array(estimator, classes, None, "classes"), "classes", least=least)[0]
        if known is not None and not np.array_equal(passed, known):
            raise ValueError(
                f"classes={passed.tolist()!r:.200} is not the same as on last call to partial_fit, "
                f"was: {known.tolist()!r:.200}"
            )
        return passed


def refuse_other_order(order: ArrayLike, classes: NDArray[np.generic]) -> None:
    """Refuse names of the columns of a matrix that are not in the order of ``classes_``: they would move."""
    if order is not None and list(order) != classes.tolist():
        raise ArgumentError(
            "{classes} name the columns of {y}, and must be sorted, got {given!r:.200}",
            "sort the columns by their names",
            given=list(order),
        )


def classes_like(classes: NDArray[np.generic], y: NDArray[np.generic] | LabelSets) -> NDArray[np.generic]:
    """Convert the classes of a caller to the type of the labels y, as a fit would find them there.

    A list says which labels there are; the data says what they are. Where that type does not hold all of the
    classes, they stay as they were listed.
    """
    if isinstance(y, LabelSets) or len(y) == 0 or y.ndim == 2:
        return classes
    are_numbers = y.dtype.kind in "biuf"
    if (classes.dtype.kind in "biuf") != are_numbers:
        return classes
    with np.errstate(all="ignore"):
        converted = classes.astype(y.dtype if are_numbers else y.dtype.kind)  # as wide as the longest string
    return converted if converted.tolist() == classes.tolist() else classes  # of Python, which rounds nothing


def encode_again(
    y: NDArray[np.generic] | LabelSets, classes: NDArray[np.generic], *, least: int = 2
) -> ClassIndices:
    """Return the index of each label for a fit that goes on; y need not hold all classes."""
    remedy = "set {warm_start} to learn all classes anew"
    return encode(y, classes, remedy, cause="other classes", least=least)


def encode(
    y: NDArray[np.generic] | LabelSets,
    classes: NDArray[np.generic],
    remedy: str = "pass all classes in the first call of {partial_fit}",
    *,
    cause: str = "other labels",
    least: int = 2,
) -> ClassIndices:
    """Return the index of each label of y in ``classes``; refuse labels that are not there."""
    check_classes(classes, least=least)
    if not isinstance(y, LabelSets) and y.ndim == 2:  # of a block
        y = LabelSets.of_indicator(y)
    if isinstance(y, LabelSets):
        return y.words_for(classes)
    if (y.dtype.kind in "biuf") != (classes.dtype.kind in "biuf"):
        _refuse_unknown(y, classes, remedy, cause)
    _refuse_other_kind(y, classes)
    if y.dtype.kind != classes.dtype.kind and _is_beyond_floats(classes):
        y, classes = y.astype(object), classes.astype(object)
    table = _table_of(y, classes)
    if table is not None:
        return table
    with naming("y"):
        indices = places(y, classes)
    unknown = indices == len(classes)
    if unknown.any():
        _refuse_unknown(y[unknown], classes, remedy, cause)
    return indices


def _is_beyond_floats(classes: NDArray[np.generic]) -> bool:
    """Whether NumPy may round numbers of another type, or these, to compare them."""
    return classes.dtype.kind in "iuf" and max(abs(int(classes[0])), abs(int(classes[-1]))) >= 2**53


def _table_of(y: NDArray[np.generic], classes: NDArray[np.generic]) -> ClassIndices | None:
    """Return the indices by a look-up in a table; None if that is impossible, or finds a stranger."""
    if y.dtype.kind not in "iuf" or classes.dtype.kind not in "iuf" or len(y) < FEW:
        return None
    low, high = int(classes[0]), int(classes[-1])
    if high - low >= TABLE or y.min() < low or y.max() > high:
        return None
    table = np.full(high - low + 1, len(classes), dtype=np.uint32)
    table[shifted(classes, low)] = np.arange(len(classes))
    indices = table[shifted(y, low)]
    if indices.max() == len(classes) or (y.dtype.kind == "f" and not np.array_equal(classes[indices], y)):
        return None
    return indices


def _refuse_unknown(
    unknown: NDArray[np.generic], classes: NDArray[np.generic], remedy: str, cause: str
) -> None:
    names = distinct(unknown)[0]
    shown = ", ".join(repr(name) for name in names[:5].tolist()) + (", ..." if len(names) > 5 else "")
    raise ArgumentError(
        "{y} contains labels that are not in {classes_} {known!r:.200}: {found}",
        remedy,
        cause=cause,
        settings={"warm_start": False},
        known=classes.tolist(),
        found=shown,
    )
