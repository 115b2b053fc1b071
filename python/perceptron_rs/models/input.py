"""How the command line made a model's columns of data: kept with the model, to read later data alike."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from perceptron_rs.common.options.kinds import FORMATS, SCALES

__all__ = ["INPUT", "MOST_BITS", "Input", "Scale", "ScaleFit"]

#: The attribute of an estimator, and the part of the description of a model file.
INPUT = "_input"
MOST_BITS = 30
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

    def applied(self, X: Any) -> Any:
        """Return what the scaler makes of the examples."""
        scaler = _scaler(self.kind, centred=self.offset is not None)
        scaler.scale_ = np.array(self.scale)
        scaler.n_features_in_ = len(self.scale)
        if self.offset is not None:
            setattr(scaler, "mean_" if self.kind == "standard" else "min_", np.array(self.offset))
        return scaler.transform(X.toarray() if self.offset is not None and hasattr(X, "toarray") else X)


class ScaleFit:
    """A scaler of scikit-learn that is fitted to one block of examples after another."""

    def __init__(self, kind: str) -> None:
        self._kind, self._centred = kind, False
        self._scaler: Any = None

    def add(self, X: Any) -> None:
        """Learn from some examples."""
        if self._scaler is None:
            self._centred = isinstance(X, np.ndarray)
            self._scaler = _scaler(self._kind, centred=self._centred)
        self._scaler.partial_fit(X)

    def scale(self) -> Scale:
        """Return what was learnt."""
        offset = {"standard": "mean_", "minmax": "min_"}.get(self._kind) if self._centred else None
        found = None if offset is None else tuple(np.asarray(getattr(self._scaler, offset)).tolist())
        numbers = np.asarray(getattr(self._scaler, "scale_", None))
        return Scale(self._kind, tuple(numbers.tolist()), found)


@dataclass(frozen=True)
class Input:
    """How columns were made of data.

    Parameters
    ----------
    format : str
        The format of the data.
    hash_bits : int or None
        The columns are hashed to 2 ** hash_bits.
    columns : tuple of str or None
        The columns of a table that were hashed.
    texts : tuple of str or None
        Those of them that hold strings.
    scale : Scale or None
        How the columns were scaled.
    holdout : float or None
        The share of the examples that was not learnt from.
    missing : tuple of str
        Cells of a table that stand for a missing value.
    target : str or None
        The column of a table that held the labels; None: the last.
    delimiter : str or None
        What separated the columns; None: what its format says.
    header : bool or None
        Whether the first line held names; None: it had to.
    drop : tuple of str
        Columns that were no features, of a table whose columns have no names to keep.
    """

    format: str
    hash_bits: int | None = None
    columns: tuple[str, ...] | None = None
    texts: tuple[str, ...] | None = None
    scale: Scale | None = None
    holdout: float | None = None
    missing: tuple[str, ...] = ()
    target: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    drop: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        scale = self.scale
        return {
            "format": self.format,
            "hash_bits": self.hash_bits,
            "columns": None if self.columns is None else list(self.columns),
            "texts": None if self.texts is None else list(self.texts),
            "scale": None
            if scale is None
            else {
                "kind": scale.kind,
                "scale": list(scale.scale),
                "offset": None if scale.offset is None else list(scale.offset),
            },
            "holdout": self.holdout,
            "missing": list(self.missing),
            "target": self.target,
            "delimiter": self.delimiter,
            "header": self.header,
            "drop": list(self.drop),
        }

    @classmethod
    def from_json(cls, description: Any, n_features: int) -> Input:
        """Return what ``to_json`` wrote of a model with so many columns; ValueError if it did not."""
        names = [part.name for part in fields(cls)]
        if not isinstance(description, dict) or set(description) != set(names):
            raise ValueError(f"its input must hold {', '.join(names)}")
        for name in ("target", "delimiter"):
            if not (description[name] is None or (isinstance(description[name], str) and description[name])):
                raise ValueError(f"the {name} of its input must be a string, got {description[name]!r:.80}")
        if description["header"] not in (None, True, False) or type(description["header"]) is int:
            raise ValueError(f"the header of its input must be a boolean, got {description['header']!r:.80}")
        form, bits, holdout = (description[name] for name in ("format", "hash_bits", "holdout"))
        if form not in FORMATS:
            raise ValueError(f"the format of its input must be one of {', '.join(FORMATS)}, got {form!r:.80}")
        if bits is not None and not (
            type(bits) is int and 1 <= bits <= MOST_BITS and 1 << bits == n_features
        ):
            raise ValueError(f"its input is hashed to 2**{bits!r:.20} columns, but it has {n_features}")
        if holdout is not None and not (type(holdout) is float and 0 < holdout < 1):
            raise ValueError(
                f"the holdout of its input must be a number between 0 and 1, got {holdout!r:.80}"
            )
        return cls(
            form,
            bits,
            _names(description["columns"]),
            _names(description["texts"]),
            _scale(description["scale"], n_features),
            holdout,
            _names(description["missing"]) or (),
            description["target"],
            description["delimiter"],
            description["header"],
            _names(description["drop"]) or (),
        )


def _names(values: Any) -> tuple[str, ...] | None:
    if values is None:
        return None
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError("the columns of its input must be a list of strings")
    return tuple(values)


def _scale(description: Any, n_features: int) -> Scale | None:
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


def _scaler(kind: str, *, centred: bool) -> Any:
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

    if kind == "standard":
        return StandardScaler(with_mean=centred)
    return MinMaxScaler() if kind == "minmax" else MaxAbsScaler()
