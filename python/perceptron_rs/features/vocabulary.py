"""The attributes of tokens as columns, in a vocabulary or hashed: what an encoder does, in NumPy alone."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs._core import attribute_rows
from perceptron_rs.arrays.csr import CsrTriple, without_duplicates
from perceptron_rs.arrays.likes import check_list, each_of, is_real, nearest_float
from perceptron_rs.features.hashing import hashed
from perceptron_rs.float_mode import standard

CHUNK = 4096

#: Names, values (None: all 1), and how many each token has.
Chunk: TypeAlias = tuple[list[Any], list[float] | None, list[int]]


def token_chunks(tokens: Iterable[object]) -> Iterator[Chunk]:
    """Give the attributes of some tokens after the other."""
    check_list("tokens", tokens, "lists of strings or dicts")
    rest, first = each_of(tokens), 0
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
    for names, own, sizes in token_chunks(tokens):
        index = np.fromiter(find(names), dtype=np.intc, count=len(names))
        if own is not None and not with_values:
            with_values = True
            values.frombytes(np.ones(len(columns)).tobytes())
        if with_values:
            values.frombytes(np.ones(len(names)).tobytes() if own is None else array("d", own).tobytes())
        columns.frombytes(index.tobytes())
        lengths.frombytes(array("q", sizes).tobytes())
    ends = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(np.frombuffer(lengths, dtype=np.int64), out=ends[1:])
    index = np.frombuffer(columns, dtype=np.int32)
    if not with_values:
        return index, None, ends
    ends, index, sums = without_duplicates(ends, index, np.frombuffer(values, dtype=np.float64))
    return index, sums, ends


def _entries(tokens: list[Any], first: int) -> Chunk:
    kinds = set(map(type, tokens))
    if all(issubclass(kind, (list, tuple, set, frozenset)) for kind in kinds):
        names = list(chain.from_iterable(tokens))
        _check_names(names, tokens, first)
        return names, None, list(map(len, tokens))
    names = []
    values: list[float] = []
    lengths: list[int] = []
    for i, token in enumerate(tokens, first):
        before = len(names)
        if isinstance(token, Mapping):
            _add(names, values, token, "", i)
        elif isinstance(token, (list, tuple, set, frozenset)):
            _check_names(token, [token], i)
            names += token
            values += [1.0] * len(token)
        else:
            raise TypeError(f"token {i} must be a list of strings or a dict, got {token!r:.80}")
        lengths.append(len(names) - before)
    return names, None if values.count(1.0) == len(values) else values, lengths


def _check_names(names: Collection[Any], tokens: Sequence[Iterable[Any]], first: int) -> None:
    """Raise TypeError, which names the token, unless all are strings."""
    try:
        "".join(names)
    except TypeError:
        i, name = next(
            (i, name) for i, token in enumerate(tokens, first) for name in token if not isinstance(name, str)
        )
        raise _no_string(name, i) from None


def _no_string(name: object, i: int) -> TypeError:
    return TypeError(f"attributes must be strings, got {name!r:.80} at token {i}; write it as name=value")


def _add(names: list[str], values: list[float], nested: Mapping[Any, Any], within: str, i: int) -> None:
    """Add the attributes of a dict, and of dicts in it, which lie ``within`` names."""
    for key, value in nested.items():
        if not isinstance(key, str):
            raise _no_string(key, i)
        name = within + key if within else key
        if isinstance(value, str):
            names.append(f"{name}={value}")
            values.append(1.0)
        elif isinstance(value, (float, int)) or is_real(type(value)):
            if not math.isfinite(nearest_float(value)):
                raise ValueError(
                    f"attribute {name!r:.80} of token {i} must be finite, got {value!s:.80}; leave it out"
                )
            names.append(name)
            values.append(float(value))
        elif isinstance(value, Mapping):
            _add(names, values, value, f"{name}:", i)
        elif isinstance(value, (list, tuple, set, frozenset)) and all(
            isinstance(each, str) for each in value
        ):
            names += [f"{name}={each}" for each in value]
            values += [1.0] * len(value)
        else:
            raise TypeError(
                f"attribute {name!r:.80} of token {i} must be a string, a number, a boolean, a list or set "
                f"of strings, or a dict of these, got {value!r:.80}"
            )


@dataclass(frozen=True)
class Vocabulary:
    """Which column each attribute has.

    Parameters
    ----------
    names : dict of str to int
        Columns by names; empty if names are hashed.
    n_columns : int
        Number of columns.
    is_hashed : bool
        Whether names are hashed to their columns.
    """

    names: dict[str, int]
    n_columns: int
    is_hashed: bool

    def rows(self, tokens: list[object]) -> CsrTriple:
        """Return the known attributes as the arrays of a CSR matrix: where rows begin, columns, values."""
        arrays = None if self.is_hashed else attribute_rows(self.names, tokens)
        if arrays is not None:
            return arrays
        with standard():
            columns, values, ends = self.entries(tokens)
        data: NDArray[np.generic] = np.ones(len(columns), dtype=np.int8) if values is None else values
        index = np.int32 if ends[-1] < 1 << 31 else np.int64
        return ends.astype(index), columns.astype(index, copy=False), data

    def entries(
        self, tokens: Iterable[object]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64] | None, NDArray[np.int64]]:
        """Return the columns of all known attributes, their values (None: all 1), and where each token ends.

        A token may name a column twice.
        """
        if self.is_hashed:
            try:
                return collect(tokens, lambda names: hashed(names, self.n_columns)[0])
            except UnicodeEncodeError as error:
                raise ValueError(f"X holds an attribute that is not valid Unicode: {error}") from None
        columns, values, ends = collect(tokens, lambda names: map(self.names.get, names, repeat(-1)))
        known = columns >= 0
        if not known.all():
            ends = np.concatenate([[0], np.cumsum(known)])[ends]
            columns, values = columns[known], None if values is None else values[known]
        return columns, values, ends
