"""How the command line made a model's columns of data: kept with the model, to read later data alike."""

from __future__ import annotations

import math
from dataclasses import Field, dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.array_likes import MatrixLike, in_full
from perceptron_rs.common.columns import check_columns
from perceptron_rs.common.options.kinds import BITS, FORMATS, SCALES
from perceptron_rs.common.rows.sparse import CsrArrays, is_sparse
from perceptron_rs.csr import csr_to_dense
from perceptron_rs.errors import OptionsError
from perceptron_rs.features.idf import KIND, Idf
from perceptron_rs.features.text import HashedText, KeptWords
from perceptron_rs.state import State

__all__ = ["Input", "Scale", "ScaleFit"]

_WORDS = "words_"
#: Scalers add up block by block, so their numbers depend on the blocks a little.
_NEAR = 1e-9


@dataclass(frozen=True)
class Scale:
    """A scaler of scikit-learn, by what it has learnt: numbers for each column.

    Parameters
    ----------
    kind : {"standard", "minmax", "maxabs"}
    scale : tuple of float
        Its ``scale_``.
    offset : tuple of float or None
        Its ``mean_`` or ``min_``; None where nothing is added: for "maxabs", and for sparse data.
    """

    kind: str
    scale: tuple[float, ...]
    offset: tuple[float, ...] | None = None

    def difference(self, other: Scale) -> str | None:
        """Return in words where the scaler of other data has other numbers; blocks change them a little."""
        for name, own, found, size in (
            ("scale", self.scale, other.scale, other.scale),
            ("offset", self.offset, other.offset, other.scale if self.kind == "standard" else 1.0),
        ):
            if own is None or found is None:
                continue
            near = np.abs(np.subtract(own, found)) <= _NEAR * (np.abs(found) + np.abs(size))
            if not near.all():
                column = int(np.argmin(near))
                return (
                    f"the {name} of column {column} is {own[column]!r} in the model, and that of the data is "
                    f"{found[column]!r}"
                )
        return None

    def again(self) -> ScaleFit:
        """Return what learns it from other data."""
        return ScaleFit(self.kind, centred=self.offset is not None)

    def tensors(self) -> State:
        """Return what a file holds beside the description."""
        return {}

    def applied(self, X: MatrixLike) -> MatrixLike:
        """Return what the scaler makes of the examples, with its bits, by NumPy alone."""
        if self.offset is None and is_sparse(X):
            rows = X.tocsr()
            values = _floats(rows.data)
            # The scale of "standard" is float64, whatever the type of the examples.
            scale = np.array(self.scale, dtype=values.dtype if self.kind == "maxabs" else np.float64)
            scaled = (values * (1.0 / scale)[rows.indices]).astype(values.dtype)
            return CsrArrays(scaled, rows.indices, rows.indptr, rows.shape)
        dense = _dense_floats(X)
        scale = np.array(self.scale, dtype=dense.dtype)
        if self.kind != "minmax" and self.offset is None:
            return dense / scale
        offset = np.array(self.offset, dtype=dense.dtype)
        return dense * scale + offset if self.kind == "minmax" else (dense - offset) / scale


def _floats(values: NDArray[np.generic]) -> NDArray[np.generic]:
    return values if values.dtype.kind == "f" else values.astype(np.float64)


def _dense_floats(X: MatrixLike) -> NDArray[np.generic]:
    """Return examples as an array of floats."""
    if not isinstance(X, CsrArrays):
        return _floats(in_full(X))
    return csr_to_dense(X.indptr, X.indices, _floats(X.data), X.shape[1])


class ScaleFit:
    """A scaler of scikit-learn that is fitted to one block of examples after another.

    Parameters
    ----------
    kind : {"standard", "minmax", "maxabs"}
    centred : bool or None, default=None
        Whether zeros may become other numbers; None: if the first block is dense.
    """

    def __init__(self, kind: str, *, centred: bool | None = None) -> None:
        self._kind, self._centred = kind, centred
        self._scaler: Any = None

    def add(self, X: MatrixLike) -> None:
        """Learn from some examples."""
        if self._centred is None:
            self._centred = isinstance(X, np.ndarray)
        if self._kind == "minmax" and not self._centred:
            raise OptionsError(
                "{scale} would make other numbers of the zeros of sparse examples",
                "set {scale='maxabs'}, which keeps them",
                values={"scale": self._kind},
            )
        if self._scaler is None:
            self._scaler = _new_scaler(self._kind, centred=self._centred)
        self._scaler.partial_fit(in_full(X) if self._centred else X)

    def scale(self) -> Scale:
        """Return what was learnt."""
        offset = {"standard": "mean_", "minmax": "min_"}.get(self._kind) if self._centred else None
        found = None if offset is None else tuple(np.asarray(getattr(self._scaler, offset)).tolist())
        numbers = np.asarray(getattr(self._scaler, "scale_", None))
        return Scale(self._kind, tuple(numbers.tolist()), found)


@dataclass(frozen=True)
class Input:
    """Description of how the command line turned data into columns.

    Parameters
    ----------
    format : str
        The format of the data.
    hash_bits : int or None
        The columns are hashed to 2 ** hash_bits.
    columns : tuple of str or None
        The columns of a table that were hashed, or the name of the tensor of examples.
    texts : tuple of str or None
        Those of them that hold strings.
    scale : Scale, Idf or None
        How the columns were scaled.
    holdout : float or None
        The share of the examples that was not learnt from.
    missing : tuple of str
        Cells of a table that stand for a missing value.
    target : str or None
        The column of a table, or the tensor, that held the labels; None: the last column.
    delimiter : str or None
        What separated the columns; None: what its format says.
    header : bool or None
        Whether the first line held names; None: it had to.
    drop : tuple of str
        Columns that were no features, of a table whose columns have no names to keep; keys of JSON lines.
    sample_weight : str or None
        The key of the weights of examples, which is no feature of JSON lines.
    """

    format: str
    hash_bits: int | None = None
    columns: tuple[str, ...] | None = None
    texts: tuple[str, ...] | None = None
    scale: Scale | Idf | None = None
    holdout: float | None = None
    missing: tuple[str, ...] = ()
    target: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    drop: tuple[str, ...] = ()
    sample_weight: str | None = None
    #: How text was hashed.
    text: HashedText | None = None
    #: N-grams of the columns that have weights.
    words: KeptWords | None = field(default=None, compare=False)

    def columns_of(self, X: object) -> MatrixLike:
        """Return the columns of texts or dictionaries that are hashed; X itself, if it is none of these."""
        from perceptron_rs.models.raw import columns_of

        return columns_of(self, X)

    def scaled(self, X: object) -> MatrixLike:
        """Return the columns of numbers as the scaler leaves them."""
        return self.scale.applied(X) if isinstance(self.scale, Scale) else X

    def tensors(self) -> State:
        """Return the arrays of it."""
        found = {} if self.scale is None else self.scale.tensors()
        if self.words is not None:
            found |= {f"{_WORDS}{name}": array for name, array in self.words._asdict().items()}
        return found

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON, but for what `tensors` holds."""
        return {part.name: _to_json(getattr(self, part.name)) for part in _described()}

    @classmethod
    def from_json(cls, description: object, n_features: int, tensors: State | None = None) -> Input:
        """Return what ``to_json`` wrote of a model with so many columns, and take the tensors of it.

        ValueError if it did not.
        """
        tensors = {} if tensors is None else tensors
        names = [part.name for part in _described()]
        if not isinstance(description, dict) or set(description) != set(names):
            raise ValueError(f"its input must hold {', '.join(names)}")
        for name in ("target", "delimiter", "sample_weight"):
            if not (description[name] is None or (isinstance(description[name], str) and description[name])):
                raise ValueError(f"the {name} of its input must be a string, got {description[name]!r:.80}")
        if description["header"] not in (None, True, False) or type(description["header"]) is int:
            raise ValueError(f"the header of its input must be a boolean, got {description['header']!r:.80}")
        form, bits, holdout = (description[name] for name in ("format", "hash_bits", "holdout"))
        if form not in FORMATS:
            raise ValueError(f"the format of its input must be one of {', '.join(FORMATS)}, got {form!r:.80}")
        if bits is not None and not (type(bits) is int and BITS.accepts(bits) and 1 << bits == n_features):
            raise ValueError(f"its input is hashed to 2**{bits!r:.20} columns, but it has {n_features}")
        if holdout is not None and not (type(holdout) is float and 0 < holdout < 1):
            raise ValueError(
                f"the holdout of its input must be a number between 0 and 1, got {holdout!r:.80}"
            )
        scale = _idf(description["scale"], n_features, tensors) or _scale(description["scale"], n_features)
        parsed = {name: _column_names(description[name]) for name in ("columns", "texts", "missing", "drop")}
        parsed |= {name: parsed[name] or () for name in ("missing", "drop")}
        text, words = _hashed_text(description["text"]), _kept_words(n_features, tensors)
        return cls(**description | parsed | {"scale": scale, "text": text}, words=words)


def _described() -> list[Field[Any]]:
    return [part for part in fields(Input) if part.name != "words"]


def _to_json(value: object) -> Any:
    if isinstance(value, Idf):
        return {"kind": value.kind, "norm": value.norm}
    if isinstance(value, Scale | HashedText):
        return {name: _to_json(part) for name, part in vars(value).items()}
    return list(value) if isinstance(value, tuple) else value


def _column_names(values: object) -> tuple[str, ...] | None:
    if values is None:
        return None
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError("the columns of its input must be a list of strings")
    return tuple(values)


def _scale(description: object, n_features: int) -> Scale | None:
    if description is None:
        return None
    if not isinstance(description, dict) or set(description) != {"kind", "scale", "offset"}:
        raise ValueError("the scale of its input must hold a kind, scale and offset")
    kind, scale, offset = (description[name] for name in ("kind", "scale", "offset"))
    if kind not in SCALES:
        raise ValueError(f"the scale of its input must be one of {', '.join(SCALES)}, got {kind!r:.80}")
    for numbers in (scale, *([] if offset is None else [offset])):
        if not isinstance(numbers, list) or len(numbers) != n_features:
            raise ValueError(f"the scale of its input must have {n_features} numbers, one for each column")
        if not all(type(number) is float and math.isfinite(number) for number in numbers):
            raise ValueError("the scale of its input must hold finite numbers")
    return Scale(kind, tuple(scale), None if offset is None else tuple(offset))


def _hashed_text(description: object) -> HashedText | None:
    if description is None:
        return None
    names = [part.name for part in fields(HashedText)]
    if not isinstance(description, dict) or set(description) != set(names):
        raise ValueError(f"the text of its input must hold {', '.join(names)}")
    ngrams = description["ngrams"]
    if not isinstance(ngrams, list) or len(ngrams) != 2 or any(type(n) is not int for n in ngrams):
        raise ValueError("the ngrams of its input must be two whole numbers")
    if any(type(description[name]) is not bool for name in ("lowercase", "binary")):
        raise ValueError("the text of its input must hold lowercase and binary as booleans")
    found = HashedText(**description | {"ngrams": tuple(ngrams)})
    try:
        found.check()
    except ValueError as error:
        raise ValueError(f"the text of its input is unsound: {error}") from None
    return found


def _idf(description: object, n_features: int, tensors: State) -> Idf | None:
    if not isinstance(description, dict) or description.get("kind") != KIND:
        return None
    norm = description.get("norm")
    if set(description) != {"kind", "norm"} or norm not in (None, "l1", "l2"):
        raise ValueError("the scale of its input must hold a kind and a norm")
    columns, idf = tensors.pop("idf_columns", None), tensors.pop("idf", None)
    if columns is None or idf is None:
        raise ValueError("the tensors idf_columns and idf are missing")
    if check_columns(columns, "idf_columns") != n_features:
        raise ValueError(f"the tensor idf_columns must end with {n_features}")
    if idf.dtype != np.float64 or idf.shape != columns.shape or not np.isfinite(idf).all():
        raise ValueError("the tensor idf must hold a finite float64 number for each of idf_columns")
    return Idf(norm, columns, idf)


def _kept_words(n_features: int, tensors: State) -> KeptWords | None:
    names = [f"{_WORDS}{name}" for name in KeptWords._fields]
    found = [tensors.pop(name, None) for name in names]
    if all(array is None for array in found):
        return None
    arrays: list[Any] = []
    for name, array in zip(names, found, strict=True):
        needed = np.dtype(np.uint8 if name == f"{_WORDS}text" else np.int64)
        if array is None or array.ndim != 1 or array.dtype != needed:
            raise ValueError(f"the tensor {name} must be a vector of {needed}")
        arrays.append(array)
    words = KeptWords(*arrays)
    for array, step in ((words.columns, 0), (words.used, 1)):
        if len(array) and (array[0] < 0 or array[-1] >= n_features or (np.diff(array) < step).any()):
            raise ValueError(f"the tensors {_WORDS}... must hold columns below {n_features}, in order")
    ends = words.ends
    if len(ends) != len(words.columns) or len(words.counts) != len(words.used):
        raise ValueError(f"the tensors {_WORDS}... have different lengths")
    if (np.diff(ends, prepend=0) < 0).any() or (ends[-1] if len(ends) else 0) != len(words.text):
        raise ValueError(f"the tensor {_WORDS}ends does not divide the text")
    kept = np.bincount(np.searchsorted(words.used, words.columns), minlength=len(words.used) + 1)
    if kept[-1] or (kept[:-1] > words.counts).any() or not np.isin(words.columns, words.used).all():
        raise ValueError(f"the tensors {_WORDS}... disagree about the n-grams of a column")
    return words


def _new_scaler(kind: str, *, centred: bool) -> Any:
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

    if kind == "standard":
        return StandardScaler(with_mean=centred)
    return MinMaxScaler() if kind == "minmax" else MaxAbsScaler()
