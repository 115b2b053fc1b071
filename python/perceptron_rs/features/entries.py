"""The names and values of the attributes of tokens, some thousands of tokens at a time."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.csr import without_duplicates

__all__ = ["chunks", "collect"]

CHUNK = 4096

#: Names, values (None: all 1), and how many each token has.
Chunk: TypeAlias = tuple[list[Any], list[float] | None, list[int]]


def chunks(tokens: Iterable[object]) -> Iterator[Chunk]:
    """Give the attributes of some tokens after the other."""
    rest, first = iter(tokens), 0
    while part := list(islice(rest, CHUNK)):
        yield _entries(part, first)
        first += len(part)


def collect(
    tokens: Iterable[object], find: Callable[[list[Any]], Iterable[int]]
) -> tuple[NDArray[np.int32], NDArray[np.float64] | None, NDArray[np.int64]]:
    """Return the columns of all attributes, their values (None: all 1), and where each token ends.

    ``find`` gives the columns of some names.
    """
    # Arrays that grow in place: lists of parts would be twice in memory when they are joined.
    columns, values, lengths = array("i"), array("d"), array("q")
    with_values = False
    for names, given, sizes in chunks(tokens):
        found = np.fromiter(find(names), dtype=np.intc, count=len(names))
        if given is not None and not with_values:
            with_values = True
            values.frombytes(np.ones(len(columns)).tobytes())
        if with_values:
            values.frombytes(np.ones(len(names)).tobytes() if given is None else array("d", given).tobytes())
        columns.frombytes(found.tobytes())
        lengths.frombytes(array("q", sizes).tobytes())
    ends = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(np.frombuffer(lengths, dtype=np.int64), out=ends[1:])
    found = np.frombuffer(columns, dtype=np.int32)
    if not with_values:
        return found, None, ends
    ends, found, sums = without_duplicates(ends, found, np.frombuffer(values, dtype=np.float64))
    return found, sums, ends


def _entries(tokens: list[Any], first: int) -> Chunk:
    kinds = set(map(type, tokens))
    if all(issubclass(kind, (list, tuple, set, frozenset)) for kind in kinds):
        return list(chain.from_iterable(tokens)), None, list(map(len, tokens))
    names: list[str] = []
    values: list[float] = []
    lengths: list[int] = []
    for i, token in enumerate(tokens, first):
        before = len(names)
        if isinstance(token, dict):
            for name, value in token.items():
                _add_attribute(names, values, name, value, i)
        elif isinstance(token, (list, tuple, set, frozenset)):
            names += token
            values += [1.0] * len(token)
        else:
            raise TypeError(f"token {i} must be a list of strings or a dict, got {token!r:.80}")
        lengths.append(len(names) - before)
    return names, values, lengths


def _add_attribute(names: list[str], values: list[float], name: object, value: object, i: int) -> None:
    if not isinstance(name, str):
        raise TypeError(f"attributes must be strings, got {name!r:.80} at token {i}")
    if isinstance(value, str):
        names.append(f"{name}={value}")
        values.append(1.0)
    elif isinstance(value, (Real, np.bool_)):
        if not math.isfinite(value):
            raise ValueError(f"attribute {name!r:.80} of token {i} must be finite, got {value}; leave it out")
        names.append(name)
        values.append(float(value))
    else:
        raise TypeError(
            f"attribute {name!r:.80} of token {i} must be a string, a number or a boolean, got {value!r:.80}"
        )
