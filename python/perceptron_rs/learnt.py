"""All that an estimator has learnt, as arrays by name: to compare two of them, and to digest one."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.typed import check_is_fitted

__all__ = ["Arrays", "arrays", "difference", "digest", "digest_of"]

Arrays: TypeAlias = dict[str, NDArray[Any]]


def digest(model: Any) -> str:
    """Return the SHA-256 of what a model has learnt, as the command ``parity`` prints it.

    Digested are the bytes of all weights and intercepts. Two models that have learnt the same to the last bit
    have one digest, whatever the engine, the storage of the examples and the machine. So a line in a log is
    enough to see whether a fit came out as it did elsewhere.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package.

    Returns
    -------
    str
        64 hexadecimal digits.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the estimator is not fitted.

    See Also
    --------
    reproduce : Trains a model again, and compares all that was learnt.

    Examples
    --------
    >>> from perceptron_rs import Perceptron, digest
    >>> X, y = [[1, 0], [0, 3]], ["ham", "spam"]
    >>> digest(Perceptron().fit(X, y)) == digest(Perceptron(engine="reference").fit(X, y))
    True
    """
    check_is_fitted(model)
    return digest_of(arrays(model))


def digest_of(found: Arrays) -> str:
    """Return the digest of what ``arrays`` has found."""
    hasher = sha256()
    for name in sorted(found):
        if "coef" in name or "intercept" in name:
            hasher.update(found[name].astype("<f8").tobytes())
    return hasher.hexdigest()


def arrays(model: Any) -> Arrays:
    """Return the attributes of a fit, and what predicts besides."""
    names = {name for name in vars(model) if name.endswith("_")}
    names |= {*getattr(model, "_stored", {}).values(), *getattr(type(model), "_kept", ())}
    names |= set(getattr(model, "_computed", ()))
    weights = vars(model).get("_weights")
    if weights is not None:  # of label sequences: sparse, and dense as ``coef_``
        return {f"coef of {name}": array for name, array in weights.items()} | _by_name(model, names)
    return _by_name(model, names | {name for name in ("coef_", "intercept_") if hasattr(model, name)})


def _by_name(model: Any, names: set[str]) -> Arrays:
    return {name: _array(getattr(model, name)) for name in sorted(names)}


def _array(value: Any) -> NDArray[Any]:
    if not isinstance(value, list):
        return np.asarray(value)
    parts = [part.to_dict() if hasattr(part, "to_dict") else part for part in value]
    if parts and isinstance(parts[0], dict):  # of `MarginResult`; all digits of a float are in its text
        return np.array([json.dumps(part, sort_keys=True) for part in parts])
    return np.concatenate([np.ravel(part) for part in parts])


def difference(a: object, expected: Arrays | str, b: object, found: Arrays | str) -> str | None:
    """Return in words the first difference between two answers; None if there is none."""
    where = f"[{a}] and [{b}] differ"
    if isinstance(expected, str) or isinstance(found, str):
        if expected == found:
            return None
        shown = [value if isinstance(value, str) else "a fitted model" for value in (expected, found)]
        return f"{where}: {shown[0]!r} != {shown[1]!r}"
    if expected.keys() != found.keys():
        return f"{where} in their attributes: {sorted(expected)} != {sorted(found)}"
    for name, left in expected.items():
        right = found[name]
        if (left.dtype, left.shape) != (right.dtype, right.shape):
            return f"{where} in {name}: {left.dtype} {left.shape} != {right.dtype} {right.shape}"
        if left.size == 0:
            continue
        if left.dtype.kind == "O":
            different = left != right
        else:
            bits = [np.frombuffer(side.tobytes(), dtype=np.uint8) for side in (left, right)]
            different = (bits[0] != bits[1]).reshape(*left.shape, -1).any(axis=-1)
        if np.any(different):
            index = tuple(int(axis[0]) for axis in np.nonzero(np.atleast_1d(different)))
            values = [_shown(np.atleast_1d(side)[index]) for side in (left, right)]
            return f"{where} in {name} at index {index}: {values[0]} != {values[1]}"
    return None


def _shown(value: Any) -> str:
    return float(value).hex() if isinstance(value, np.floating) else repr(value)
