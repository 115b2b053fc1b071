"""A source as blocks of one size: cut and glued, surveyed, read ahead on a thread of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from itertools import chain, islice
from mmap import mmap
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from perceptron_rs._core import crc32
from perceptron_rs.arrays.likes import ArrayLike, has_columns
from perceptron_rs.errors import ArgumentError, naming
from perceptron_rs.float_mode import standard
from perceptron_rs.io.batches import (
    Batch,
    batch_length,
    concatenate_batches,
    csr,
    example_arrays,
    parts_of,
    refuse_other_shape,
    refuse_other_width,
    slice_batch,
)
from perceptron_rs.io.source import (
    SMALL,
    Files,
    Source,
    as_source,
    borders,
    changed_file,
    form_of_arrays,
    stamps,
)
from perceptron_rs.models.document import json_text
from perceptron_rs.recipe.learnt import learnt_recipe
from perceptron_rs.rows.examples import check_matrix, columns_of, recipe_of
from perceptron_rs.rows.real_numbers import check_lengths
from perceptron_rs.rows.sparse import is_sparse
from perceptron_rs.rows.storage import checked_by, holds_numbers
from perceptron_rs.state.learnt import learnt_of
from perceptron_rs.state.turns import within_turns
from perceptron_rs.targets.label_sets import indicator, is_indicator, refuse_moved, warn_of_constant
from perceptron_rs.targets.labels import classes_like, encode, encode_new, joined_labels, label_array
from perceptron_rs.targets.weights import sample_weights, survey_labels

T = TypeVar("T")

#: What helps where a block has a label that is no class.
NAME_ALL = "name all in {classes}, or set {warm_start} to learn all classes anew"

#: Blocks that wait for the learner, or are being read.
_WAITING = 1


@dataclass(frozen=True, slots=True, eq=False)
class StreamFacts:
    """What a run must know of all examples before it begins."""

    n_features: int
    classes: NDArray[np.generic]
    is_shifted: bool = False  # the columns are counted from 1
    #: Number of examples (or sequences), and of each class those with a weight above 0; None if no pass has
    #: counted them.
    n_rows: int | None = None
    counts: NDArray[np.int64] | None = None
    #: Whether examples have many labels; then ``counts`` are of those without and with each, (K, 2).
    is_multilabel: bool = False


_UNKNOWN = StreamFacts(0, np.zeros(0))


@dataclass(slots=True, eq=False)
class Stream:
    """A source whose facts are known, in blocks of ``size`` examples (or sequences); the last is smaller."""

    source: Source
    size: int
    facts: StreamFacts = _UNKNOWN
    #: CRC-32 of each block of the first pass, which later passes are compared with; of files, the time of
    #: change says enough.
    sums: list[int] = field(default_factory=list)
    #: Whether blocks have checksums even if the source has random access, as checkpoints need it.
    is_summed: bool = False
    #: What the files of the source were then.
    stamps: Files | None = None
    passes: int = 0
    #: All examples, if they are at hand: they have been looked at, and each block is a part of them.
    whole: Batch | None = None

    @property
    def n_blocks(self) -> int | None:
        """Number of blocks, if it is known."""
        return None if self.facts.n_rows is None else -(-self.facts.n_rows // self.size)

    def ends(self, number: int) -> tuple[int, int]:
        """Return where a block begins and ends."""
        first, n_rows = number * self.size, self.source.n_rows
        return first, first + self.size if n_rows is None else min(first + self.size, n_rows)

    def batch(self, number: int) -> Batch:
        """Return the examples of a block, of a source with random access."""
        if self.whole is not None:
            return count_from_zero(slice_batch(self.whole, *self.ends(number)), self.facts)
        return count_from_zero(self._between(*self.ends(number)), self.facts)

    def _between(self, first: int, last: int) -> Batch:
        """Return examples of a source with random access, as `blocks_of` does of others."""
        source = self.source
        assert source.between is not None
        batch = array_batch(source.between(first, last))
        return batch if source.at_hand or source.files else _own(batch)

    def batches(self) -> Iterator[Batch]:
        """Give the examples of each block in turn."""
        return (count_from_zero(batch, self.facts) for batch in self.raw())

    def raw(self) -> Iterator[Batch]:
        """Give them as the source has them."""
        with self.unchanged():
            yield from self._in_turn()

    def parts(self) -> Iterator[list[Batch]]:
        """Give the examples of each block as the source has them, in the parts that it gives."""
        source = self.source
        with self.unchanged():
            if source.between is not None:
                assert source.n_rows is not None
                yield from ([self._between(*ends)] for ends in borders(source.n_rows, self.size))
            else:
                yield from blocks_of(source, self.size)

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Make a pass; ValueError if the source cannot be read again, or if its files change."""
        source = self.source
        if self.passes and not source.again:
            raise ValueError(f"{source.name} can be read only once, but another pass is needed")
        self.passes += 1
        before = stamps(source.files)
        self.stamps = before if self.stamps is None else self.stamps
        if (name := changed_file(self.stamps, before)) is not None:
            raise ValueError(f"{name} changed between two passes; start again when nobody writes to it")
        yield
        if (name := changed_file(before, stamps(source.files))) is not None:
            raise ValueError(f"{name} changed while it was read; start again when nobody writes to it")

    def _in_turn(self) -> Iterator[Batch]:
        source, n_rows, is_first = self.source, 0, self.passes == 1
        if source.between is not None:  # of which a run asks for single blocks
            assert source.n_rows is not None
            for ends in borders(source.n_rows, self.size):
                batch = self._between(*ends)
                if self.is_summed:
                    self.sums.append(checksum(example_arrays(batch)))
                yield batch
                if source.advise is not None:
                    source.advise(*ends, False)
            return
        for number, batch in enumerate(map(concatenate_batches, blocks_of(source, self.size))):
            n_rows += batch_length(batch)
            if self.is_summed or (source.again and not source.files):  # else the time of change tells it
                checksum_now = checksum(example_arrays(batch))
                if number < len(self.sums) or not is_first:
                    self._compare(number, checksum_now)
                else:
                    self.sums.append(checksum_now)
            yield batch
        if self.facts.n_rows is None:
            self.facts = replace(self.facts, n_rows=n_rows)
        elif self.facts.n_rows != n_rows:
            self._refuse_other(f"{n_rows} examples, and {self.facts.n_rows} before")

    def _compare(self, number: int, digest: int) -> None:
        if number >= len(self.sums) or self.sums[number] != digest:
            self._refuse_other(f"other examples in block {number} (from {number * self.size} on)")

    def goes_on_from(self, sums: list[int]) -> bool:
        """Whether a run whose blocks had these checksums saw the same; if unknown, this is seen later."""
        if self.is_summed and not self.sums and self.source.between is not None:
            # No pass was needed. Files tell of changes, but not whether they are read in another way.
            assert self.n_blocks is not None
            numbers = range(min(1, self.n_blocks) if self.source.files else self.n_blocks)
            self.sums += [checksum(example_arrays(self.batch(number))) for number in numbers]
        if not self.sums:
            self.sums += sums
        both = min(len(sums), len(self.sums))
        is_longer = self.n_blocks is not None and len(sums) > self.n_blocks
        return self.sums[:both] == sums[:both] and not is_longer

    def _refuse_other(self, what: str) -> None:
        raise _differs(self.source, what, self.passes)


def _differs(source: Source, what: str, number: int) -> ArgumentError:
    """Return the error for a source whose pass of this number gave something else."""
    return ArgumentError(
        f"{{name}} gave {what}, in pass {number}",
        "each pass must give the same examples in the same order, or set {cache} to read them once",
        name=source.name,
    )


def _answer(answers: SimpleQueue[tuple[Any, BaseException | None]]) -> Any:
    """Wait for the next item; a signal that came just before the waiting ends it, too."""
    while True:
        try:
            item, error = answers.get(timeout=0.1)
        except Empty:
            continue
        if error is None:
            return item
        try:
            raise error
        finally:
            del error  # or it would hold this frame, and what its own frames hold


@contextmanager
def prefetch(items: Iterator[T], *, at_hand: bool = False) -> Iterator[Iterator[T]]:
    """Yield the items; a thread prepares the next ones meanwhile, unless they are at hand.

    A signal leaves the thread to itself: it may wait for a pipe, and cannot be woken. No end of the process
    waits for it either, as for the threads of an executor.
    A source that lets the estimator learn, whose turn it is, gets an error and does not wait for itself.
    """
    if at_hand:
        yield items
        return
    end = object()
    asked: SimpleQueue[bool] = SimpleQueue()
    answers: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def work() -> None:
        while asked.get():
            try:
                with standard():
                    answers.put((next(items, end), None))
            except BaseException as error:
                answers.put((None, error))

    def arrivals() -> Iterator[T]:
        for _ in range(_WAITING):
            asked.put(True)
        while (item := _answer(answers)) is not end:
            asked.put(True)
            yield item
            del item  # or it would be there beside the next one

    waits = True
    thread = Thread(target=within_turns(work), name="perceptrons-reader", daemon=True)
    thread.start()
    try:
        yield arrivals()
    except BaseException as error:
        waits = isinstance(error, Exception)
        raise
    finally:
        asked.put(False)
        if waits:
            thread.join()
            if hasattr(items, "close"):
                items.close()


def of_same_columns(source: Source, classes: ArrayLike = None) -> Source:
    """Return the source, whose data frames must have the columns of the first of them, in their order.

    Columns of labels have the order of ``classes``, if these are said.
    """
    known: dict[str, list[str]] = {"X": list(source.feature_names or ()), "y": []}

    def compared(batch: object) -> Any:
        for of, part in zip(known, batch if isinstance(batch, tuple) else (), strict=False):
            if has_columns(part):
                compare(of, part)
        return batch

    def compare(of: str, frame: object) -> None:
        from sklearn.utils.validation import _get_feature_names

        names, first = _get_feature_names(frame), known[of]
        if names is not None and len(names) == 1 and of == "y":  # which no two batches mix up
            return
        if names is not None and not first:
            first.extend(names)
        elif names is not None and list(names) != first:
            at = next((i for i, (a, b) in enumerate(zip(names, first, strict=False)) if a != b), None)
            what = f"{len(names)} columns, and not {len(first)}"
            if at is not None:
                what = f"{names[at]!r} as column {at}, and not {first[at]!r}"
            raise ValueError(
                f"{of} has {what} as in the first batch; give the same columns in the same order"
            )
        if of == "y" and classes is not None:
            refuse_moved(first, np.asarray(classes))

    between = source.between
    return replace(
        source,
        batches=lambda: map(compared, source.batches()),
        between=None if between is None else lambda first, last: compared(between(first, last)),
    )


def of_columns(model: Any, X: object) -> Source:
    """Return a source of the columns that a fitted model makes of raw examples, if it takes these."""
    of_files = None if recipe_of(model) is None else learnt_recipe(model)
    if of_files is None:
        return as_source(X)
    if isinstance(X, tuple) and isinstance(X[0], list):  # of texts or dictionaries
        source = Source(batches=lambda: iter([X]), name="the examples")
    else:
        source = as_source(X)
    shifted = learnt_of(model).column_base == 1 if source.is_shifted is None else source.is_shifted
    facts = StreamFacts(model.n_features_in_, model.classes_, shifted)

    def change(batch: Batch) -> Batch:
        if is_sparse(batch.X):
            batch = count_from_zero(batch._replace(X=batch.X.tocsr()), facts)
        return batch._replace(X=columns_of(model, batch.X, least=0))

    recipe = sha256(json_text(of_files.to_json()).encode())
    for array in of_files.tensors().values():
        recipe.update(array.tobytes())
    changed_file = source.mapped(change, model.n_features_in_)
    reading = f"{source.reading}, {recipe.hexdigest()}"
    return replace(changed_file, feature_names=source.feature_names, reading=reading)


def array_batch(part: object) -> Batch:
    """Return a batch of arrays: X a matrix or CSR, y numbers or strings, weights, lengths."""
    if not isinstance(part, tuple) or not 2 <= len(part) <= 4:
        raise TypeError(f"a batch must be a tuple (X, y) or (X, y, sample_weight), got {part!r:.80}")
    batch = Batch(*part)
    with naming("X"):
        X = check_matrix(batch.X)
        if not (is_sparse(X) or (type(X) is np.ndarray and X.ndim == 2 and holds_numbers(X.dtype))):
            from sklearn.utils import check_array

            options = {"accept_sparse": "csr", "ensure_all_finite": False, "ensure_min_samples": 0}
            X = checked_by(partial(check_array, **options), X)
            if X.dtype.kind == "O":  # such as decimals of Arrow, which it leaves as they are
                X = X.astype(np.float64)
        if is_sparse(X):
            X = X.tocsr()
    many = is_indicator(batch.y)
    y = indicator(batch.y, X.shape[0]) if many else label_array(None, batch.y, X.shape[0])
    if y.dtype.kind == "O" and all(isinstance(label, str) for label in y):
        y = y.astype(str)
    weights, lengths = sample_weights(batch.sample_weight, y, of_part=True), batch.lengths
    if lengths is not None:
        lengths = check_lengths(lengths, X.shape[0])
        lengths = lengths[lengths > 0]  # of no tokens there is nothing to learn
    return Batch(X, y, weights, lengths)


def n_bytes(batch: Batch) -> int:
    """Return how much memory the examples take."""
    return sum(part.nbytes for part in parts_of(batch.X))


def kept_source(source: Source) -> Source:
    """Return a source that keeps its examples in memory, if these are few: a pass takes less than reading.

    They are read twice, to see that each pass would give the same. Of many, what was read is given first.
    """
    if source.between is not None or source.files or not source.again:
        return source
    batches, left = source.batches(), SMALL
    read: list[Batch] = []
    sums: list[int] = []
    forms = set()
    for given in batches:
        forms.add(form_of_arrays(given))
        read.append(_of_arrays(given))
        arrays = example_arrays(read[-1])
        sums.append(checksum(arrays))
        left -= sum(array.nbytes for array in arrays)
        if left < 0:
            break
    is_refilled = sums != [checksum(example_arrays(batch)) for batch in read]
    if left < 0:
        first = [] if is_refilled else [chain(_popped(list(map(_own, reversed(read)))), batches)]
        return replace(source, batches=lambda: first.pop() if first else source.batches())
    n, n_again = list(map(batch_length, read)), 0
    if not sum(n):
        return source
    for number, batch in enumerate(map(_of_arrays, islice(source.batches(), len(read) + 1))):
        if sums[number : number + 1] != [checksum(example_arrays(batch))]:
            raise _differs(source, f"other examples in batch {number} (from {n_again} on)", 2)
        n_again += n[number]
        if is_refilled:
            read[number] = _own(batch)
    if n_again < sum(n):
        raise _differs(source, f"{n_again} examples, and {sum(n)} before", 2)
    held = read if len(forms) == 1 else map(array_batch, read)
    whole = concatenate_batches(list(filter(batch_length, held)))  # of no examples, labels have no type
    return replace(
        source,
        batches=lambda: iter([whole]),
        between=partial(slice_batch, whole),
        n_rows=sum(n),
        at_hand=True,
    )


def _of_arrays(given: Any) -> Batch:
    """Return a batch of arrays; those that can be joined as they are will be looked at all at once."""
    return array_batch(given) if form_of_arrays(given) is None else Batch(*given)


def _popped(batches: list[Batch]) -> Iterator[Batch]:
    """Give batches from the last one on, of which none is kept."""
    while batches:
        yield batches.pop()


def blocks_of(source: Source, size: int) -> Iterator[list[Batch]]:
    """Give the examples of a source ``size`` at a time, as batches and parts of batches.

    Those of users' own sources are copied: many fill the same arrays for each batch, and the next one is read
    while this one waits or is learnt.
    """
    waiting: list[Batch] = []
    missing = size
    for batch in map(array_batch, source.batches()):
        first, n = 0, batch_length(batch)
        while first < n:
            last = min(n, first + missing)
            part = slice_batch(batch, first, last) if (first, last) != (0, n) else batch
            waiting.append(part if source.files else _own(part))
            missing -= last - first
            first = last
            if missing == 0:
                whole, waiting, missing = waiting, [], size
                yield whole
                del whole  # or it would be there beside the next one
    if waiting:
        yield waiting


def _own(batch: Batch) -> Batch:
    """Return a batch of arrays that nobody else can write to."""
    X, *others = batch
    if is_sparse(X):
        data, indices, indptr = map(_copy_of_lent, (X.data, X.indices, X.indptr))
        own = csr(data, indices, indptr, X.shape[1])
    else:
        own = _copy_of_lent(X)
    return Batch(own, *(None if array is None else _copy_of_lent(array) for array in others))


def _copy_of_lent(array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of an array, unless its memory can be written to by nobody."""
    owner: Any = array
    while isinstance(owner, np.ndarray) and not owner.flags.writeable:
        owner = owner.base
    return array if owner is None or isinstance(owner, bytes | mmap) else array.copy()


def count_from_zero(batch: Batch, facts: StreamFacts) -> Batch:
    """Return the batch with the columns of all examples, counted from 0."""
    X = batch.X
    if not is_sparse(X):
        if X.shape[1] != facts.n_features:
            raise ValueError(f"X has {X.shape[1]} features, but {facts.n_features} are expected")
        return batch
    width = X.shape[1] - facts.is_shifted
    if width > facts.n_features:
        raise ValueError(
            f"X has {width} features, but {facts.n_features} are expected; give the number of features of "
            f"all examples as n_features of the source"
        )
    indices = X.indices - X.indices.dtype.type(1) if facts.is_shifted else X.indices
    return batch._replace(X=csr(X.data, indices, X.indptr, facts.n_features))


class FirstPass:
    """What a first pass finds out about a source."""

    def __init__(self, source: Source, classes: NDArray[np.generic] | None, least: int = 2) -> None:
        self.source, self.classes, self.least = source, classes, least
        self.labels: list[NDArray[np.generic]] = []
        self.counts: list[NDArray[np.int64]] = []
        self.n_rows, self.width, self.holds_zero = 0, 0, False

    def add(self, batch: Batch) -> None:
        """Look at a batch."""
        labels, _, counts = survey_labels(batch.y, batch.sample_weight)
        self.labels.append(labels if batch.y.ndim == 1 else batch.y[:0])
        self.counts.append(counts)
        self._add_columns(batch)

    def _add_columns(self, batch: Batch) -> None:
        if self.n_rows and not is_sparse(batch.X):
            refuse_other_width({self.width, batch.X.shape[1]})
        self.n_rows += batch_length(batch)
        self.width = max(self.width, batch.X.shape[1])
        if not is_sparse(batch.X):
            self.holds_zero = True
        elif self.source.is_shifted is None and not self.holds_zero and len(batch.X.indices):
            self.holds_zero = bool(batch.X.indices.min() == 0)

    def facts(self) -> StreamFacts:
        """Return what was found, after the last batch."""
        source, classes = self.source, self.classes
        if self.n_rows == 0:
            raise ValueError(f"{source.name} contains no examples; check that it is the right one")
        is_shifted = (not self.holds_zero) if source.is_shifted is None else source.is_shifted
        width = max(1, self.width - is_shifted)
        if source.n_features is not None and width > source.n_features:
            raise ArgumentError(
                "{n_features} is {given}, but {name} needs {width}",
                "raise it",
                given=source.n_features,
                name=source.name,
                width=width,
            )
        refuse_other_shape(self.labels)
        if self.labels[0].ndim == 2:
            return self._of_sets(width, is_shifted)
        every = joined_labels(self.labels)
        if classes is None:
            classes = encode_new(every, n_samples=self.n_rows, least=self.least)[0]
        classes = classes_like(classes, every)
        counts = np.zeros(len(classes), dtype=np.int64)
        np.add.at(counts, encode(every, classes, NAME_ALL, least=self.least), np.concatenate(self.counts))
        return StreamFacts(source.n_features or width, classes, is_shifted, self.n_rows, counts)

    def _of_sets(self, width: int, is_shifted: bool) -> StreamFacts:
        n_labels = self.labels[0].shape[1]
        classes = classes_of_columns(self.classes, self.source, n_labels)
        counts: NDArray[np.int64] = np.stack(self.counts).sum(axis=0)
        warn_of_constant(classes, counts[:, 0] == 0, counts[:, 1] == 0)
        width = self.source.n_features or width
        return StreamFacts(width, classes, is_shifted, self.n_rows, counts, is_multilabel=True)


def classes_of_columns(
    classes: NDArray[np.generic] | None, source: Source, n_labels: int
) -> NDArray[np.generic]:
    """Return what the columns of a matrix of labels stand for."""
    named = None if source.labels is None else np.array(source.labels)
    if classes is None:
        classes = np.arange(n_labels) if named is None else named
    if len(classes) != n_labels or (named is not None and not np.array_equal(named, classes)):
        of = list(range(n_labels)) if named is None else named.tolist()
        raise ArgumentError(
            "{y} has a column for each of the labels {of!r:.200}, but {classes} are {known!r:.200}",
            "name as many labels",
            of=of,
            known=classes.tolist(),
        )
    return classes


def checksum(arrays: Iterable[NDArray[Any]], before: int = 0) -> int:
    """Return the CRC-32 of the bytes of arrays, behind those of which it is ``before``."""
    for array in arrays:
        before = crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8), before)
    return before
