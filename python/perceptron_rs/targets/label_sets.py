"""Many labels of an example: matrices of 0 and 1, as words of bits.

An engine is given either the class of each example, uint32 (n,), or the set of its classes, uint32 (n, W):
bit k % 32 of word k // 32 says whether an example has class k. A plane is then positive for those that
have its class, and nothing else differs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.csr import row_numbers
from perceptron_rs.arrays.likes import ArrayLike, column_names, is_missing, is_real, shape_of
from perceptron_rs.arrays.pieces import pieces
from perceptron_rs.errors import ArgumentError, naming, warn_caller
from perceptron_rs.rows.real_numbers import refuse_columns
from perceptron_rs.rows.sparse import checked_format, csr_arrays, is_sparse
from perceptron_rs.rows.storage import is_masked, without_index

LabelWords = NDArray[np.uint32]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class LabelSets:
    """The labels of examples, any number of each.

    Parameters
    ----------
    words : uint32 array of shape (n, W)
    classes : array of shape (K,)
        What the bits stand for, sorted; of a matrix, the numbers of its columns.
    kind : "dense" or "sparse"
        As what a matrix was given, and so predictions are.
    names : list, default=None
        Of the columns of a data frame.
    """

    words: LabelWords
    classes: NDArray[np.generic]
    kind: str
    names: list[Any] | None = None

    @classmethod
    def of_indicator(cls, held: NDArray[np.generic]) -> Self:
        """Return those of a matrix as `indicator` makes it."""
        return cls(packed_bits(held != 0), np.arange(held.shape[1]), "dense")

    @classmethod
    def of(cls, y: ArrayLike, n_samples: int | None, name: str = "y") -> Self:
        """Return those of a matrix of 0 and 1, or of booleans.

        Raises
        ------
        ValueError
            If it holds anything else, or has not a row for each example.
        """
        if is_masked(y):
            raise ValueError(f"{name} is a masked array with masked values; drop these examples")
        words, width = _of_sparse(y, name) if is_sparse(y) else _of_dense(y, name)
        if n_samples is not None and len(words) != n_samples:
            raise ValueError(
                f"inconsistent numbers of samples: X has {n_samples} rows, but {name} has {len(words)}"
            )
        kind = "sparse" if is_sparse(y) else "dense"
        return cls(words, np.arange(width), kind, column_names(without_index(y)))

    def __len__(self) -> int:
        return len(self.words)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of examples, number of labels."""
        return len(self.words), len(self.classes)

    def words_for(self, classes: NDArray[np.generic]) -> LabelWords:
        """Return the words for the labels that a model knows; ValueError for other columns."""
        assert_n_labels(len(self.classes), classes)
        refuse_moved(self.names, classes)
        return self.words


def refuse_moved(names: list[Any] | None, classes: NDArray[np.generic]) -> None:
    """Raise ValueError if a column of a data frame has the name of a label, and another one its place."""
    known = classes.tolist()
    for name, label in zip(names or (), known, strict=False):
        if name != label and isinstance(name, str) and name in known:
            raise ArgumentError(
                "{y} has the column {name!r} where {classes} have {label!r}",
                "put the columns into the order of these, for instance by y[list(classes)]",
                name=name,
                label=label,
            )


def assert_n_labels(n_labels: int, classes: NDArray[np.generic]) -> None:
    """Raise ValueError unless a matrix of so many columns has one for each label that a model knows."""
    if n_labels != len(classes):
        raise ArgumentError(
            "{y} has {given} columns, one for each label, but {classes} are {known!r:.200}",
            "pass a column for each of these labels",
            given=n_labels,
            known=classes.tolist(),
        )


def indicator(y: ArrayLike, n_samples: int) -> NDArray[np.uint8]:
    """Return a matrix of 0 and 1 as plain numbers, as the blocks of a stream have it."""
    sets = LabelSets.of(y, n_samples)
    return bits(sets.words, len(sets.classes)).view(np.uint8)


def is_indicator(y: ArrayLike) -> bool:
    """Whether y is a matrix with more than one column: many labels for each example."""
    shape = shape_of(without_index(y))
    if shape is None:
        # Lists of labels are of strings or numbers, of which only the first need be looked at.
        if not isinstance(y, list | tuple) or not y or not isinstance(y[0], list | tuple | np.ndarray):
            return False
        try:
            return len(y[0]) > 1 and np.ndim(y[0]) == 1 and all(np.shape(row) == np.shape(y[0]) for row in y)
        except ValueError:  # a row holds lists of several lengths
            return False
    return len(shape) == 2 and shape[1] > 1


def _of_dense(y: ArrayLike, name: str) -> tuple[LabelWords, int]:
    y = without_index(y)
    refuse_columns(y, name)
    y = np.asarray(y)
    if y.dtype.kind == "O":
        # Numbers that pandas holds as objects; NumPy would take strings for numbers.
        odd = [value for value in y.flat if not is_real(type(value)) or value not in (0, 1)]
        if odd:
            raise _not_binary(odd, name)
        y = y.astype(np.float64)
    if y.dtype.kind not in "biuf":
        raise _not_binary(y, name)
    words = np.empty((len(y), -(-y.shape[1] // 32)), dtype=np.uint32)
    for piece in pieces(*y.shape):
        part = y[piece]
        held = part == 1
        if not (known := held | (part == 0)).all():
            raise _not_binary(part[~known], name)
        words[piece] = packed_bits(held)
    return words, y.shape[1]


def _of_sparse(y: ArrayLike, name: str) -> tuple[LabelWords, int]:
    with naming(name):
        y = checked_format(y).tocsr()
        # SciPy caches what it finds in the matrix itself; the caller's must not change.
        y = type(y)((y.data, y.indices, y.indptr), shape=y.shape)
        if not y.has_canonical_format:  # entries of one place are added, as SciPy does
            y = y.copy()
            y.sum_duplicates()
        indptr, indices, values = csr_arrays(y)
    n, width = y.shape
    if not ((values == 0) | (values == 1)).all():
        raise _not_binary(values[(values != 0) & (values != 1)], name)
    words = np.zeros((n, -(-width // 32)), dtype=np.uint32)
    held = values != 0
    rows, columns = row_numbers(indptr)[held], indices[held]
    np.bitwise_or.at(words, (rows, columns // 32), np.uint32(1) << (columns % 32).astype(np.uint32))
    return words, width


def _not_binary(odd: Any, name: str) -> ValueError:
    """Return the error for values of a matrix that are neither 0 nor 1."""
    value = odd[0] if isinstance(odd, list) else odd.item(0)
    if isinstance(value, str):
        return lists_of_labels(name)
    if is_missing(value):
        remedy = "drop examples with a missing label"
    else:
        remedy = "for several classes in each column, use sklearn.multioutput.MultiOutputClassifier"
    return ValueError(
        f"{name} has more than one column, so it must hold 0 and 1 alone, whether an example has the label "
        f"of the column, got {value!r:.80}; {remedy}"
    )


def lists_of_labels(name: str) -> ValueError:
    """Return the error for lists of the labels of each example."""
    return ValueError(
        f"{name} must hold one label for each example, or a matrix of 0 and 1, got lists of labels; make a "
        f"matrix of them by sklearn.preprocessing.MultiLabelBinarizer"
    )


def packed_bits(held: Bools) -> LabelWords:
    """Return a matrix of booleans as words of bits."""
    n, width = held.shape
    octets = np.zeros((n, 4 * -(-width // 32)), dtype=np.uint8)
    octets[:, : -(-width // 8)] = np.packbits(held, axis=1, bitorder="little")
    return octets.view("<u4").astype(np.uint32, copy=False)


def bits(words: LabelWords, width: int) -> Bools:
    """Return words of bits as a matrix of booleans of so many columns."""
    booleans = np.empty((len(words), width), dtype=np.bool_)
    for piece in pieces(len(words), width):
        octets = np.ascontiguousarray(words[piece], dtype="<u4").view(np.uint8)
        booleans[piece] = np.unpackbits(octets, axis=1, count=width, bitorder="little")
    return booleans


def positives(labels: NDArray[np.uint32], positive: NDArray[np.uint32]) -> Bools:
    """Return which examples each plane is positive for, (n, K), by the class that it looks for."""
    if labels.ndim == 1:
        own: Bools = labels[:, np.newaxis] == positive
        return own
    return bits(labels, int(positive.max()) + 1)[:, positive]


def constant(words: LabelWords, n_labels: int) -> tuple[Bools, Bools]:
    """Return which labels all examples have, and which none."""
    of_all, of_some = np.bitwise_and.reduce(words), np.bitwise_or.reduce(words)
    every, none = bits(np.array([of_all, ~of_some]), n_labels)
    return every, none


def warn_of_constant(classes: NDArray[np.generic], every: Bools, none: Bools) -> None:
    """Warn the caller of labels that all examples have, or none, in the words of scikit-learn."""
    for which, title in ((every, "Label"), (none, "Label not")):
        names = classes[which].tolist()
        if names:
            shown = ", ".join(map(str, names[:5])) + (", ..." if len(names) > 5 else "")
            warn_caller(f"{title} {shown} is present in all training examples.", UserWarning)
