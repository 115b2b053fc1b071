"""What a learner has learnt, declared once as data.

A learner has a `Schema`, the class attribute ``_schema``: its arrays, with types and axes, and its counts.
Model files, digests, comparisons and reports are made of it, so a new array is one line there and nowhere
else.

An axis is a length or a name. Arrays with the same name must have the same length there: the one that the
learner knows (``_sizes``), or else that of the first of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.csr import STORED_CSR
from perceptron_rs.engines import State, get_engine, rows_of
from perceptron_rs.rows.storage import STORED
from perceptron_rs.schema.columns import COLUMNS, Spread, is_by_column

if TYPE_CHECKING:
    from perceptron_rs.state.learnt import Fitted

#: Counters stay below it, so that the arithmetic holds them exactly and sums do not overflow.
LARGEST_COUNT = 2**53
COUNTS = np.dtype(np.int64)
FLOATS = np.dtype(np.float64)

Axes: TypeAlias = str | tuple[str | int, ...]
#: Single numbers of a model by name, and whether it has converged.
History: TypeAlias = dict[str, int]


def is_count(value: object) -> bool:
    """Whether ``value`` is an integer that counts something."""
    return type(value) is int and 0 <= value <= LARGEST_COUNT


@dataclass(frozen=True, slots=True)
class Array:
    """An array of a learner.

    Parameters
    ----------
    name : str
        In model files, and in the state of the engine's model.
    axes : str or tuple of str and int
        One letter an axis; or, in a tuple, a name or a length.
    dtype : dtype
        Floats must be finite; integers are counts of at most 2**53.
    attribute : str
        The attribute of the estimator that holds it; "" if the engine's model does.
    shown : str
        The attribute of the estimator that shows it, if the engine's model holds it.
    label : str
        What digests and comparisons call it. By default, the name of the attribute.
    needed : bool
        Whether each fitted estimator has it.
    group : str
        Arrays that are not needed, of which an estimator has all or none.
    predicts : bool
        Whether it says what has been learnt: it is a part of the digest. Reports of the training are not.
    compared : bool
        Whether two trainings that are equal have it equal. Not so is what depends on how calls were cut.
    reported : bool
        Whether its numbers are in the history that ``inspect`` shows.
    finite : bool
        Whether floats must be finite.
    least, most : float or None
        The range of its numbers; of counts from 0 to 2**53.
    pack, unpack : callable
        From the attribute to the array, and back; ``unpack`` is None if something else sets the attribute.
    """

    name: str
    axes: Axes
    dtype: np.dtype[np.generic] = FLOATS
    attribute: str = ""
    shown: str = ""
    label: str = ""
    needed: bool = True
    group: str = ""
    predicts: bool = True
    compared: bool = True
    reported: bool = False
    finite: bool = True
    least: float | None = None
    most: float | None = None
    pack: Callable[[Any], Any] = np.asarray
    unpack: Callable[[NDArray[np.generic]], Any] | None = np.asarray

    @property
    def title(self) -> str:
        """What digests and comparisons call it."""
        return self.label or self.shown or self.attribute or self.name

    def values(self, model: Fitted, state: dict[str, Any]) -> dict[str, Any]:
        """Return the array of a fitted estimator by its name; nothing, if it has none."""
        value = state.get(self.name) if not self.attribute else getattr(model, self.attribute, None)
        if isinstance(value, Spread):  # of numbers of the core
            return {self.name: value}
        value = None if value is None else self.pack(value)
        if value is None:
            return {}
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            raise ValueError(f"{self.attribute} must hold numbers, got the dtype {array.dtype}")
        return {self.name: np.require(array, dtype=self.dtype, requirements=["C", "A"])}

    def of(self, arrays: State) -> State:
        """Return those of these arrays that belong to it."""
        return {self.name: arrays[self.name]} if self.name in arrays else {}

    def put(self, model: Fitted, arrays: State) -> None:
        """Set the attribute of an estimator."""
        if self.unpack is not None and self.name in arrays:
            setattr(model, self.attribute, self.unpack(arrays[self.name]))

    def take(self, left: State, sizes: dict[str, int]) -> State:
        """Take the array off the tensors of a file; ValueError unless it is sound."""
        name = self.name
        if name not in left:
            if self.needed and not self.group:
                raise ValueError(f"the tensor {name} is missing")
            return {}
        array = left.pop(name)
        if array.dtype != self.dtype:
            raise ValueError(f"the tensor {name} must be of {self.dtype}, got {array.dtype}")
        # Weights of the columns that have any: all of their arrays have these.
        known = sizes | ({"d": sizes[COLUMNS]} if COLUMNS in sizes and is_by_column(name, array) else {})
        shape = [known.get(axis) if isinstance(axis, str) else axis for axis in self.axes]
        if array.ndim != len(shape) or any(
            want not in (None, got) for want, got in zip(shape, array.shape, strict=True)
        ):
            needed = ", ".join("any" if length is None else str(length) for length in shape)
            raise ValueError(
                f"the tensor {name} has the shape {array.shape}, which does not match the other parts; "
                f"({needed}) is needed"
            )
        sizes.update(
            {
                axis: n
                for axis, n in zip(self.axes, array.shape, strict=True)
                if isinstance(axis, str) and axis != "d"
            }
        )
        self._check(array)
        return {name: array}

    def _check(self, array: NDArray[Any]) -> None:
        least, most = self.least, self.most
        if self.dtype.kind == "f":
            if self.finite and not np.isfinite(array).all():
                raise ValueError(f"the tensor {self.name} holds a NaN or an infinity")
        else:
            least, most = least or 0, LARGEST_COUNT if most is None else most
        if (least is not None and (array < least).any()) or (most is not None and (array > most).any()):
            if self.dtype.kind != "f" and not least and self.most is None:
                raise ValueError(f"the tensor {self.name} must hold counts of at most 2**53")
            end = "or more" if most is None else f"to {most:g}"
            raise ValueError(f"the tensor {self.name} must hold numbers from {least:g} {end}")


@dataclass(frozen=True, slots=True)
class StoredExamples:
    """Examples that a learner has stored, dense or as CSR: arrays that begin with ``prefix`` and "rows".

    Parameters
    ----------
    axes : str
        Of the examples and their columns.
    prefix : str
        What stands before "rows" in a file and in the state of the engine's model.
    attribute : str
        The attribute of the estimator that holds a dict of them; "" if the engine's model does.
    index : str
        The array that names one of the rows for each entry of a log: the rows are digested in its order.
    label : str
        What digests and comparisons call them. By default, as files do.
    """

    axes: str
    prefix: str = ""
    attribute: str = ""
    index: str = ""
    label: str = ""

    @property
    def start(self) -> str:
        """What the names of their arrays begin with."""
        return f"{self.prefix}rows"

    @property
    def title(self) -> str:
        """What digests and comparisons call them."""
        return self.label or self.start

    def values(self, model: Fitted, state: State) -> State:
        """Return the arrays of a fitted estimator by their names."""
        if self.attribute:
            stored: State = getattr(model, self.attribute, {})
            return {f"{self.prefix}{name}": np.ascontiguousarray(array) for name, array in stored.items()}
        return {name: np.ascontiguousarray(array) for name, array in self.of(state).items()}

    def of(self, arrays: State) -> State:
        """Return those of these arrays that belong to them."""
        return {name: array for name, array in arrays.items() if name.startswith(self.start)}

    def digests(self, state: State, columns: int) -> NDArray[np.generic]:
        """Return digests of the rows, which do not depend on how they are stored."""
        from perceptron_rs.audit.digests import row_digests  # what predicts digests nothing

        digests = row_digests(self.stored(state), columns)
        return digests[state[self.index]] if self.index else digests

    def stored(self, state: State) -> State:
        """Return the arrays as the engines have them."""
        return {name.removeprefix(self.prefix): array for name, array in self.of(state).items()}

    def put(self, model: Fitted, arrays: State) -> None:
        """Set the attribute of an estimator."""
        setattr(model, self.attribute, self.stored(arrays))

    def take(self, left: State, sizes: dict[str, int]) -> State:
        """Take the arrays off the tensors of a file; ValueError unless they are sound."""
        own = {name: left.pop(name) for name in self.of(left)}
        stored = self.stored(own)
        if stored.keys() not in ({"rows"}, set(STORED_CSR)):
            raise ValueError(f"the tensor {self.start} is missing or unexpected")
        values = stored.get("rows", stored.get("rows_values", np.zeros(0)))
        if values.dtype not in STORED or not np.isfinite(values).all():
            raise ValueError(f"the tensor {self.start} must hold finite numbers of a stored type")
        columns = sizes[self.axes[1]]
        try:
            rows = rows_of(get_engine("rust"), stored, columns)
        except (TypeError, ValueError) as error:
            raise ValueError(f"the tensors {self.start}... do not agree: {error}") from None
        needed = (sizes.setdefault(self.axes[0], rows.shape[0]), columns)
        if rows.shape != needed or not rows.canonical:
            raise ValueError(
                f"the tensor {self.start} has the shape {rows.shape}, or columns out of order; "
                f"{needed} is needed, in order"
            )
        return own


Part: TypeAlias = Array | StoredExamples


@dataclass(frozen=True)
class Schema:
    """All that a learner has learnt.

    Parameters
    ----------
    learner : str
        What model files call the learner; "" if it has none.
    parts : tuple of Array, StoredExamples or callable
        Its arrays; a function gives those of which the parameters of an estimator say how many there are.
    counts : dict of str to str
        Attributes of single numbers, by their names in a file.
    converges : bool
        Whether it has ``converged_``.
    least_classes : int
        How many classes it needs.
    document : frozenset of str
        Parts of the description in a file that other learners have not.
    engine_name : str
        What the engines call the learner; by default, as model files do.
    """

    learner: str
    parts: tuple[Part | Callable[[Any], Iterable[Part]], ...]
    counts: Mapping[str, str] = field(default_factory=dict)
    converges: bool = True
    least_classes: int = 2
    document: frozenset[str] = frozenset()
    engine_name: str = ""

    @property
    def algorithm(self) -> str:
        """What the engines call the learner."""
        return self.engine_name or self.learner

    def parts_of(self, model: object) -> list[Part]:
        """Return the parts of an estimator."""
        parts: list[Part] = []
        for part in self.parts:
            parts += [part] if isinstance(part, Part) else part(model)
        return parts

    def values(self, model: Fitted, state: State | None = None) -> State:
        """Return all arrays of a fitted estimator, by their names in a file."""
        state = model._state() if state is None else state
        arrays: State = {}
        for part in self.parts_of(model):
            arrays |= part.values(model, state)
        return arrays

    def history(self, model: Fitted) -> History:
        """Return the counts of a fitted estimator, and whether it has converged."""
        history: History = {name: int(getattr(model, place)) for name, place in self.counts.items()}
        return history | ({"converged": bool(model.converged_)} if self.converges else {})

    def take(self, model: object, tensors: State, sizes: dict[str, int]) -> State:
        """Return the arrays of a file, checked; ValueError for one that no learner has."""
        left = dict(tensors)
        arrays: State = {}
        parts = self.parts_of(model)
        for part in parts:
            arrays |= part.take(left, sizes)
        for part in parts:
            if isinstance(part, Array) and part.group and part.name not in arrays:
                others = [p.name for p in parts if isinstance(p, Array) and p.group == part.group]
                if not arrays.keys().isdisjoint(others):
                    raise ValueError(f"the tensor {part.name} is missing")
        if left:
            raise ValueError(
                f"there is an unknown tensor {min(left)!r:.80}; the file needs a newer perceptrons"
            )
        return arrays

    def checked_history(self, history: object) -> History:
        """Return the counts of a learner; ValueError unless it holds these, and no more."""
        needed = {*self.counts, *(("converged",) if self.converges else ())}
        if not isinstance(history, dict) or set(history) != needed:
            raise ValueError(f"the history must hold {', '.join(sorted(needed))}")
        if (
            not all(is_count(history[name]) for name in self.counts)
            or type(history.get("converged", True)) is not bool
        ):
            raise ValueError("the history must hold counts of at most 2**53, and whether the fit converged")
        if history.get("n_features", 1) < 1:
            raise ValueError("the history must hold one feature or more")
        return history


#: The report of a run in epochs: E of them, for D decisions, on n examples.
EPOCHS = (
    Array("n_iter_per_class", "D", COUNTS, "n_iter_per_class_", predicts=False),
    Array("mistakes_per_epoch", "ED", COUNTS, "mistakes_per_epoch_", predicts=False, reported=True),
    Array("mistakes_per_example", "nD", COUNTS, "mistakes_per_example_", predicts=False, needed=False),
    Array("validation_scores", "ED", attribute="validation_scores_", predicts=False, needed=False,
          least=0, most=1),
    Array("loss_curve", "E", attribute="loss_curve_", predicts=False, needed=False, least=0,
          unpack=np.ndarray.tolist),
)  # fmt: skip
#: Its counts.
RUN_COUNTS = {
    "n_iter": "n_iter_",
    "n_mistakes": "n_mistakes_",
    "epochs": "_n_epochs",
    "n_features": "n_features_in_",
}


def name_of(model: object) -> str | None:
    """Return what files and commands call the learner of an estimator; None for a subclass of a learner."""
    schema = vars(type(model)).get("_schema")
    return schema.learner or None if isinstance(schema, Schema) else None
