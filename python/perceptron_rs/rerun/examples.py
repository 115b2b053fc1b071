"""Examples that `reproduce` takes: whether a model has learnt from them, and how to learn from them again.

There are three kinds: rows, sequences and streams. They differ in how a range of them is cut out. Digests
are compared block by block before anything is learnt.
"""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike, kind_of_values
from perceptron_rs.audit.digests import BlockDigest, Comparison, DigestInput
from perceptron_rs.audit.record import Call
from perceptron_rs.engines import get_engine
from perceptron_rs.estimator_attributes import attributes, feature_names
from perceptron_rs.features import AttributeEncoder
from perceptron_rs.io.source import Source, as_source
from perceptron_rs.prediction.estimator import Estimator
from perceptron_rs.rows.examples import as_array, as_columns, examples, read
from perceptron_rs.sequence.base import SequenceLearner, encoded
from perceptron_rs.sequence.feeder import SequencesInMemory
from perceptron_rs.sequence.input import flat_labels, flat_tokens, is_nested, read_sequences, token_lists
from perceptron_rs.stream.blocks import of_columns
from perceptron_rs.stream.fit import Options, open_stream
from perceptron_rs.targets.distinct import distinct, places
from perceptron_rs.targets.label_sets import LabelSets, bits
from perceptron_rs.targets.labels import classes_like, encode, encode_new, label_array, new_classes, target_of
from perceptron_rs.targets.planes import is_multilabel, label_matrix
from perceptron_rs.targets.weights import sample_weights
from perceptron_rs.training.feeders import InMemory
from perceptron_rs.training.train import Trainable, train


class Arguments(NamedTuple):
    """What is said of the examples: the arguments of `reproduce` of these names."""

    X: MatrixLike
    y: ArrayLike
    sample_weight: ArrayLike
    lengths: ArrayLike
    encoder: AttributeEncoder | None
    classes: ArrayLike


class CallExamples(ABC):
    """Examples for the calls of a record."""

    #: What an example is called.
    unit = "rows"
    #: What has made columns of attributes, anew.
    encoder: AttributeEncoder | None = None

    #: How many they are.
    n: int

    def __init__(self, model: Estimator, calls: tuple[Call, ...], args: Arguments, key: bytes | None) -> None:
        self.model, self.calls = model, calls
        self.given_classes = None if args.classes is None else new_classes(args.classes, None, least=1)
        self.blocks: tuple[BlockDigest, ...] = () if calls[-1].digests is None else calls[-1].digests.blocks
        self.comparison = Comparison(self.blocks, calls[0].columns, key)

    @property
    def begins(self) -> list[int]:
        """At which example each call begins."""
        return _begins(self.calls, self.blocks, self.n)

    def difference(self) -> str | None:
        """Return in words how they are not those of the training; None if no difference is found."""
        return next((text for text in self.differences() if text is not None), None)

    @abstractmethod
    def differences(self) -> Iterator[str | None]:
        """Give each difference in words, or None; what comes behind a difference may make no sense."""

    @abstractmethod
    def learn(self, again: Estimator, call: Call, begin: int) -> None:
        """Make a call again, on another estimator."""

    def other_block(self, examples: DigestInput, begin: int = 0, end: int | None = None) -> str | None:
        """Take in more examples; return in words which block of all so far differs, if one does."""
        differing = self.comparison.first_difference(examples, begin, end)
        if differing is None:
            return None
        places: list[tuple[int, int]] = []  # where the block was given: it may be of several calls
        start = 0
        for call, begins in zip(self.calls, self.begins, strict=True):
            first, last = max(differing[0], start), min(differing[1], start + call.rows - 1)
            if first <= last:
                first, last = (place - start + begins for place in (first, last))
                goes_on = places and places[-1][1] + 1 == first
                places = [*places[:-1], (places[-1][0], last)] if goes_on else [*places, (first, last)]
            start += call.rows
        which = " and ".join(f"{first} to {last}" for first, last in dict.fromkeys(places))
        # One digest covers them all, so nobody knows which.
        return f"{self.unit} {which} differ somewhere in their {self.parts}; compare them with a copy"

    @property
    def parts(self) -> str:
        """What one digest is of, in words."""
        if self.unit == "sequences":
            return "entries, labels or lengths"
        weighted = any(call.weighted for call in self.calls)
        return "entries, labels or weights" if weighted else "entries or labels"

    def other_number(self, n: int) -> str | None:
        """Return in words that there are too few or too many of them."""
        needed = max(begin + call.rows for begin, call in zip(self.begins, self.calls, strict=True))
        return f"the model has learnt from {needed} {self.unit}, got {n}" if n != needed else None

    def other_columns(self, n: int) -> str | None:
        """Return in words that there are too few or too many columns."""
        needed = self.calls[0].columns
        return f"the model has learnt from {needed} columns, got {n}" if n != needed else None

    def other_labels(self) -> str:
        """Return in words that examples have many labels and not one, or one and not many."""
        had, got = ("many labels", "one") if is_multilabel(self.model) else ("one label", "many")
        return f"the model has learnt {had} for each row, got {got}"

    def other_attributes(self) -> Iterator[str]:
        """Give in words how attributes become other columns."""
        if self.encoder is None or not isinstance(self.model, SequenceLearner):
            return
        expected, got = self.model.encoder_, self.encoder
        if expected.n_columns != got.n_columns:
            kinds = [
                "a vocabulary" if n is None else f"{n} columns of a hash"
                for n in (expected.n_columns, got.n_columns)
            ]
            yield f"the model has {kinds[0]} of attributes, the training had {kinds[1]}"
        if expected.n_columns_ != got.n_columns_:
            yield f"the model has learnt from {expected.n_columns_} attributes, got {got.n_columns_}"
        for column, (a, b) in enumerate(zip(expected.vocabulary_, got.vocabulary_, strict=True)):
            if a != b:
                yield f"column {column} is the attribute {a!r:.80} in the model, got {b!r:.80}"

    @property
    def of_first_call(self) -> slice:
        """The examples of the first call."""
        return slice(self.begins[0], self.begins[0] + self.calls[0].rows)

    def other_classes(self, y: NDArray[np.generic] | LabelSets) -> str | None:
        """Return in words that training finds other classes in the labels of the first call, or their type.

        A fit finds all there. Other calls may be given more, and one with ``warm_start`` may go on with more.
        """
        known: NDArray[np.generic] = self.model.classes_
        call = self.calls[0]
        remedy = "give such labels"
        if isinstance(y, LabelSets):
            classes = y.classes if self.given_classes is None else self.given_classes
            if y.names is not None and y.names == known.tolist() and self.given_classes is None:
                classes = known
            remedy = "name the columns by classes, if the training did"
        elif call.method == "fit" and not call.parameters.get("warm_start"):
            classes = encode_new(y, "classes", least=1)[0]
        else:
            classes = classes_like(known if self.given_classes is None else self.given_classes, y)
        # Strings are those of the run.
        kinds = ["U" if array.dtype.kind in "OU" else array.dtype for array in (known, classes)]
        if kinds[0] == kinds[1] and known.tolist() == classes.tolist():
            return None
        return (
            f"the classes of the labels are {classes.tolist()!r:.200} of the type {classes.dtype}, those of "
            f"the model {known.tolist()!r:.200} of the type {known.dtype}; {remedy}"
        )

    def other_label(self, y: NDArray[np.generic], of: str = "") -> str | None:
        """Return in words the first label that is no class of the model; each is ``of`` a row, or a token."""
        known = self.model.classes_
        is_unknown = places(y, known) == len(known)
        if kind_of_values(y.dtype) != kind_of_values(known.dtype):
            is_unknown[:] = True
        if not is_unknown.any():
            return None
        place = int(np.argmax(is_unknown))
        label = repr(y[place : place + 1].tolist()[0])
        where = f"{of} {place} has the label {label}, which" if of else f"the label {label}"
        return f"{where} is no class of the model"


def call_examples(
    model: Estimator, calls: tuple[Call, ...], args: Arguments, key: bytes | None
) -> CallExamples:
    """Return the examples, as what they are."""
    kind: type[CallExamples] = _OfArrays
    refused: tuple[str, ...] = ("lengths", "encoder")
    why = f"for {type(model).__name__}, which has not learnt from sequences"
    if isinstance(args.X, Source):
        kind, why = _OfSource, "with a source, which gives them"
        refused = (*refused, "y", "sample_weight")
    elif args.y is None:
        raise ValueError("y must be given with X, unless X is a source; pass the labels")
    elif isinstance(model, SequenceLearner):
        kind, refused, why = _OfSequences, ("sample_weight",), "for sequences"
    for name, value in attributes(args, refused).items():
        if value is not None:
            raise ValueError(f"{name} must be None {why}, got {value!r:.80}")
    return kind(model, calls, args, key)


def unfitted(model: Estimator, call: Call) -> Estimator:
    """Return an estimator of this kind that has learnt nothing, with the parameters of a call."""
    kind: Callable[..., Estimator] = type(model)
    return kind(**call.parameters)


class _OfArrays(CallExamples):
    """Rows of a matrix."""

    def __init__(self, model: Estimator, calls: tuple[Call, ...], args: Arguments, key: bytes | None) -> None:
        super().__init__(model, calls, args, key)
        self.y, self.sample_weight = args.y, args.sample_weight
        X = as_columns(model, args.X)
        self.probe = unfitted(model, calls[0])
        self.data = examples(self.probe, get_engine("rust"), as_array(X), reset=True)
        self.X = X.tocsr() if issparse(X) else as_array(X)
        self.n = self.data.rows.shape[0]

    def differences(self) -> Iterator[str | None]:
        model, (n, columns) = self.model, self.data.rows.shape
        yield self.other_columns(columns)
        yield self.other_number(n)
        names, got_names = map(feature_names, (model, self.probe))
        if names is None and got_names is not None:
            yield f"the columns have the names {list(got_names)!r:.200}, those of the model have none"
        if names is not None and got_names is not None and list(names) != list(got_names):
            column = next(k for k, (a, b) in enumerate(zip(names, got_names, strict=True)) if a != b)
            yield f"column {column} has the name {names[column]!r} in the model, got {got_names[column]!r}"
        y = self.target = target_of(model, self.y, n)
        if isinstance(y, LabelSets) != is_multilabel(model):
            yield self.other_labels()
        if isinstance(y, LabelSets) and len(y.classes) != len(model.classes_):
            yield f"the model has learnt {len(model.classes_)} labels, got {len(y.classes)} columns of y"
        if not isinstance(y, LabelSets):
            yield self.other_label(y, "row")
        if (self.sample_weight is not None) != any(call.weighted for call in self.calls):
            had = "without" if self.sample_weight is not None else "with"
            yield f"the model was trained {had} sample_weight"
        self.labels = encode(y, model.classes_)
        self.weights = sample_weights(self.sample_weight, self.labels)
        for call, begin in zip(self.calls, self.begins, strict=True):
            weights = self.weights if call.weighted else None
            part = DigestInput(self.data.stored, columns, self.labels, weights)
            yield self.other_block(part, begin, begin + call.rows)
        yield self.other_classes(y if isinstance(y, LabelSets) else y[self.of_first_call])

    def learn(self, again: Estimator, call: Call, begin: int) -> None:
        classes, y, labels, weights = self.model.classes_, self.target, self.labels, self.weights
        matrix = label_matrix(self.model)
        if isinstance(y, LabelSets):
            y = bits(labels, len(classes))
        more: dict[str, NDArray[np.generic]] = {f"{name}_init": array for name, array in call.start.items()}
        for rows in _call_slices(call, begin):
            part = self.X if rows == slice(0, len(y)) else _safe_indexing(self.X, rows)
            weight = weights[rows] if weights is not None and call.weighted else None
            if call.method == "fit_stream":
                _stream(again, call, (part, y[rows], weight), classes)
                continue
            if call.method == "partial_fit":
                more["classes"] = classes
            weighted = {} if weight is None else {"sample_weight": weight}
            own = y[rows] if matrix is None else LabelSets(labels[rows], classes, matrix)
            if isinstance(again, Trainable) and _lacks_a_class(call, own, classes):
                train(again, InMemory("fit", part, own, weight, start=call.start, classes=classes))
            else:
                _method(again, call)(part, own, **more, **weighted)


class _OfSequences(CallExamples):
    """Tokens of sequences, as rows of a matrix; or their attributes, which are encoded anew."""

    unit = "sequences"

    def __init__(self, model: Estimator, calls: tuple[Call, ...], args: Arguments, key: bytes | None) -> None:
        super().__init__(model, calls, args, key)
        self.encoder, y, lengths = args.encoder, args.y, args.lengths
        X = token_lists(model, args.X)
        if is_nested(X):
            tokens, lengths = flat_tokens(X)
            y, X, lengths = (
                flat_labels(y, lengths),
                [sequence for sequence in X if sequence],
                lengths[lengths > 0],
            )
            self.encoder = AttributeEncoder(
                calls[0].parameters["min_count"], calls[0].parameters["hash_columns"]
            )
            # The vocabulary is that of the first call.
            self.encoder.fit(chain.from_iterable(X[: calls[0].sizes[0][0]]))
            X = self.encoder.transform(tokens)
        if (self.encoder is None) != (getattr(model, "encoder_", None) is None):
            needed = "attributes" if self.encoder is None else "a matrix"
            raise ValueError(f"X must be {needed}, as the model has learnt from; or give encoder=")
        probe = unfitted(model, calls[0])
        self.data, lengths = read_sequences(probe, X, lengths, reset=True)
        self.lengths = lengths[lengths > 0]
        self.X, self.y = X, label_array(model, y, self.data.rows.shape[0])
        self.ends = np.concatenate([[0], np.cumsum(self.lengths)])
        self.n = len(self.lengths)

    def differences(self) -> Iterator[str | None]:
        columns = self.data.rows.shape[1]
        if self.encoder is None:
            yield self.other_columns(columns)
        yield self.other_number(self.n)
        yield self.other_label(self.y, "token")
        labels = encode(self.y, self.model.classes_, least=1)
        tokens = DigestInput(self.data.stored, columns, labels, lengths=self.lengths)
        for call, begin in zip(self.calls, self.begins, strict=True):
            yield self.other_block(tokens, begin, begin + call.rows)
        yield self.other_classes(self.y[self._rows(self.of_first_call)])
        yield from self.other_attributes()

    def _rows(self, some: slice) -> slice:
        return slice(int(self.ends[some.start]), int(self.ends[some.stop]))

    def learn(self, again: Estimator, call: Call, begin: int) -> None:
        y = self.y
        for some in _call_slices(call, begin):
            rows, lengths = self._rows(some), self.lengths[some]
            part = self.X if rows == slice(0, len(self.y)) else _safe_indexing(self.X, rows)
            if call.method == "fit_stream":
                _stream(again, call, (part, y[rows], None, lengths), self.model.classes_)
                continue
            more = {"classes": self.model.classes_} if call.method == "partial_fit" else {}
            if isinstance(again, SequenceLearner) and _lacks_a_class(call, y[rows], self.model.classes_):
                feeder = SequencesInMemory("fit", part, y[rows], lengths, classes=self.model.classes_)
                train(again, feeder)
            else:
                _method(again, call)(part, y[rows], lengths=lengths, **more)


class _OfSource(CallExamples):
    """Blocks of a source, which each pass reads anew."""

    def __init__(self, model: Estimator, calls: tuple[Call, ...], args: Arguments, key: bytes | None) -> None:
        super().__init__(model, calls, args, key)
        source = args.X
        if any(call.method != "fit_stream" for call in calls):
            raise ValueError("a source is for models that fit_stream has trained; give X and y as arrays")
        if not source.again:
            raise ValueError(
                f"{source.name} can be read only once, but it is compared before it is learnt from; "
                f"name a file"
            )
        self.probe = unfitted(model, calls[0])
        self.source = of_columns(model, source)
        if isinstance(self.probe, SequenceLearner):
            self.unit, self.source = "sequences", encoded(self.probe, self.source, goes_on=False)
        self.encoder = getattr(self.probe, "encoder_", None)

    @property
    def begins(self) -> list[int]:
        return [0] * len(self.calls)  # all are given once

    def differences(self) -> Iterator[str | None]:
        stream = open_stream(self.source, None, Options())
        facts, call = stream.facts, self.calls[0]
        if facts.is_multilabel != is_multilabel(self.model):
            yield self.other_labels()
        yield self.other_label(facts.classes)
        if self.encoder is None:
            yield self.other_columns(max(facts.n_features, call.columns))
        if self.source.n_features is None:
            self.source = replace(self.source, n_features=call.columns)
        for _ in self.calls if self.blocks else self.calls[:1]:
            n = 0
            for batch in stream.batches():
                labels = encode(batch.y, self.model.classes_, least=1)
                stored = read(get_engine("rust"), batch.X).stored
                part = DigestInput(stored, call.columns, labels, batch.sample_weight, batch.lengths)
                n += len(part)
                yield self.other_block(part)
            yield self.other_number(n)
        sets = LabelSets(np.zeros((0, 1), np.uint32), facts.classes, "dense")
        yield self.other_classes(sets if facts.is_multilabel else facts.classes)
        yield from self.other_attributes()

    def learn(self, again: Estimator, call: Call, begin: int) -> None:  # noqa: ARG002  all begin at 0
        _stream(again, call, self.source, self.model.classes_)


def _method(again: Estimator, call: Call) -> Callable[..., Estimator]:
    """Return the method that a call was made of."""
    method: Callable[..., Estimator] | None = getattr(again, call.method, None)
    if method is None:  # as the record of a file may say
        raise ValueError(
            f"the record of this {type(again).__name__} says that {call.method} trained it, which it does "
            f"not have; train it again"
        )
    return method


def _stream(again: Estimator, call: Call, source: object, classes: NDArray[np.generic]) -> None:
    """Call ``fit_stream`` as it was called."""
    fit_stream = _method(again, call)
    if call.block_size is None:
        fit_stream(source, classes=classes)
        return
    with tempfile.TemporaryDirectory() as folder:
        cache = None if as_source(source).between is not None else Path(folder, "cache")
        fit_stream(source, classes, shuffle="block", block_size=call.block_size, cache=cache)


def _begins(calls: tuple[Call, ...], blocks: tuple[BlockDigest, ...], n: int) -> list[int]:
    """Return where the examples of each call begin among n; calls of equal examples may share them."""
    total = sum(call.rows for call in calls)
    own = _blocks_of(calls, blocks)
    begins: list[int] = []
    end = 0
    for number, call in enumerate(calls):
        like = range(number) if n != total else ()
        seen = next(
            (k for k in like if calls[k].rows == call.rows and _may_be_same(own[k], own[number])), None
        )
        begins.append(end if seen is None else begins[seen])
        end = max(end, begins[-1] + call.rows)
    return begins


def _blocks_of(
    calls: tuple[Call, ...], blocks: tuple[BlockDigest, ...]
) -> list[tuple[BlockDigest, ...] | None]:
    """Return the blocks of each call; None for a call that has none, or shares one with another call."""
    ends = np.cumsum([0, *(size for size, _ in blocks)]).tolist()
    of_calls: list[tuple[BlockDigest, ...] | None] = []
    start = 0
    for call in calls:
        end = start + call.rows
        is_whole = start in ends and end in ends
        of_calls.append(blocks[ends.index(start) : ends.index(end)] if is_whole else None)
        start = end
    return of_calls


def _may_be_same(a: tuple[BlockDigest, ...] | None, b: tuple[BlockDigest, ...] | None) -> bool:
    return a is None or b is None or all(None in (x[1], y[1]) or x == y for x, y in zip(a, b, strict=False))


def _lacks_a_class(call: Call, y: NDArray[np.generic] | LabelSets, classes: NDArray[np.generic]) -> bool:
    """Whether a fit to these labels by themselves would be of fewer classes than the model."""
    return call.method == "fit" and not isinstance(y, LabelSets) and len(distinct(y)[0]) < len(classes)


def _call_slices(call: Call, begin: int) -> Iterator[slice]:
    """Yield the examples of each call."""
    for rows, times in call.sizes:
        for _ in range(times):
            yield slice(begin, begin + rows)
            begin += rows
