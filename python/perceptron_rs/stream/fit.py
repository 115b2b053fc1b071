"""A fit over a stream: its options, the passes that it needs before it begins, and the run."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from itertools import chain, islice
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np

from perceptron_rs.arrays.likes import ArrayLike, nearest_float
from perceptron_rs.arrays.named import arrays_of
from perceptron_rs.arrays.scalars import check_among, whole_number
from perceptron_rs.audit.record import StreamRecord
from perceptron_rs.engines import LearntModel, Run, RunState
from perceptron_rs.errors import ArgumentError, OptionsError
from perceptron_rs.estimator_attributes import feature_names
from perceptron_rs.io.batches import Batch, batch_length
from perceptron_rs.io.source import Source, as_source, stamps
from perceptron_rs.io.text.paths import PathLike
from perceptron_rs.models.files import path_of
from perceptron_rs.models.values import classes_to_json
from perceptron_rs.parameters.checks import parameters_in_memory
from perceptron_rs.rows.examples import assert_width, read
from perceptron_rs.settings import Linear, Settings
from perceptron_rs.sklearn_base import fit_context
from perceptron_rs.state.turns import change
from perceptron_rs.stream.blocks import (
    FirstPass,
    Stream,
    StreamFacts,
    array_batch,
    classes_of_columns,
    kept_source,
    n_bytes,
    of_columns,
    of_same_columns,
    prefetch,
)
from perceptron_rs.stream.cache import cache_source, compact_source
from perceptron_rs.stream.checkpoint import Checkpoint, check_resume, identity_of, watch_again
from perceptron_rs.stream.run import Carrier, Place, StreamRun
from perceptron_rs.targets.labels import classes_like, encode_new, label_array, refuse_other_order
from perceptron_rs.targets.planes import learns_many
from perceptron_rs.targets.weights import CallWeights
from perceptron_rs.training.driver import Report, Schedule, follow
from perceptron_rs.training.progress import Observer
from perceptron_rs.training.train import Feeder, Trainable, train

#: Examples in a block, if nothing is said; and bytes, where their number changes no bit.
_USUAL, _BYTES = 16384, 8 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What ``fit_stream`` takes beside examples and classes; the method says what each means."""

    shuffle: Any = False
    block_size: Any = None
    cache: Any = None
    checkpoint: Any = None
    checkpoint_every: Any = 60.0
    resume: bool = False

    def __post_init__(self) -> None:
        check_among("shuffle", self.shuffle, "block", False)
        check_among("resume", self.resume, True, False)
        size = self.block_size
        if size is not None:
            whole_number("block_size", size, 1, 2**63 - 1)
        every = self.checkpoint_every
        if isinstance(every, bool) or not isinstance(every, Real) or not nearest_float(every) >= 0:
            raise ValueError(f"checkpoint_every must be a number of seconds of at least 0, got {every!r:.80}")
        check_resume(self.checkpoint, resume=self.resume)
        files = {name: getattr(self, name) for name in ("cache", "checkpoint")}
        paths = [os.path.realpath(path_of(file, name)) for name, file in files.items() if file is not None]
        if len(paths) == 2 and paths[0] == paths[1]:
            raise OptionsError("{cache} and {checkpoint} name the same file", "name two")


def open_stream(
    X: object,
    classes: ArrayLike,
    options: Options,
    *,
    counts: bool = False,
    least: int = 2,
    repeats: bool = False,
) -> Stream:
    """Return the examples as a stream whose facts are known: after a first pass, if it takes one.

    ``counts`` says whether the numbers of examples are among the facts, ``least`` how many classes there must
    be, ``repeats`` whether there will be several passes.
    """
    source = of_same_columns(as_source(X), classes)
    if classes is not None:
        classes = encode_new(label_array(None, classes, None, "classes"), "classes", least=least)[0]
    elif source.labels is not None:
        classes = np.array(source.labels)
    if options.cache is not None:
        small, sample = _sampled(compact_source(source), options)
        unread = Stream(small, _block_size(small, sample, options))
        with prefetch(unread.parts()) as parts:
            source = cache_source(source, options.cache, parts)
    if options.shuffle and source.between is None:
        raise OptionsError(
            "{shuffle} reads blocks in any order, for which this source must be kept",
            "set {cache} to a file",
            cause="cache",
            values={"shuffle": "block"},
        )
    width = source.n_features
    is_known = classes is not None and width is not None and source.is_shifted is not None and not counts
    if repeats and not (is_known or options.shuffle or options.cache is not None):
        source = kept_source(source)
    before = stamps(source.files)
    source, sample = _sampled(source, options, of_labels=classes is not None)
    size = _block_size(source, sample, options)
    stream = Stream(source, size, is_summed=options.checkpoint is not None, stamps=before)
    if is_known and classes is not None and width is not None:
        is_multilabel = sample is not None and sample.y.ndim == 2
        if sample is not None and is_multilabel:
            classes = classes_of_columns(classes, source, sample.y.shape[1])
        elif sample is not None:
            classes = classes_like(classes, sample.y)
        stream.facts = StreamFacts(
            int(width), classes, bool(source.is_shifted), source.n_rows, is_multilabel=is_multilabel
        )
        return stream
    del sample  # while the blocks are read
    survey = FirstPass(source, classes, least)
    # Arrays in memory are looked at as a whole: to look at a small block takes nearly as long.
    is_whole = source.at_hand and not stream.is_summed and source.n_rows is not None
    looked_at = Stream(source, max(size, source.n_rows or 0)) if is_whole else stream
    with prefetch(looked_at.raw(), at_hand=source.at_hand) as batches:
        for batch in batches:
            survey.add(batch)
            stream.whole = batch if is_whole else None
    stream.facts = survey.facts()
    return stream


def _sampled(source: Source, options: Options, *, of_labels: bool = False) -> tuple[Source, Batch | None]:
    """Return a source and its first examples, if their labels or their size are to tell something.

    The first pass does not read them again: nothing is lost of what can be read only once.
    """
    of_size = (
        options.block_size is None
        and source.n_in_batch is None
        and not (options.shuffle or _is_one_block(source, options))
    )
    if not (of_labels or of_size):
        return source, None
    if source.between is not None:
        assert source.n_rows is not None
        n = min(source.n_rows, _USUAL if of_size else 1)
        return source, array_batch(source.between(0, n)) if n else None
    batches = source.batches()
    with prefetch(islice(filter(batch_length, map(array_batch, batches)), 1)) as first:
        sample = next(first, None)
    first_reading = [chain([] if sample is None else [sample], batches)]
    return replace(source, batches=lambda: first_reading.pop() if first_reading else source.batches()), sample


def _is_one_block(source: Source, options: Options) -> bool:
    """Whether all examples are learnt from at once: they are in memory, and no file is written of parts."""
    writes = options.cache is not None or options.checkpoint is not None
    return bool(source.at_hand and source.n_rows) and not (options.shuffle or writes)


def _block_size(source: Source, sample: Batch | None, options: Options) -> int:
    """Return the number of examples in a block."""
    if options.block_size is not None:
        return int(options.block_size)
    if source.n_in_batch is not None and not options.shuffle:
        return source.n_in_batch
    if _is_one_block(source, options):
        return int(source.n_rows or 0)
    if options.shuffle or sample is None:  # no order may depend on how examples are stored
        return _USUAL
    n, size = batch_length(sample), max(1, n_bytes(sample))
    is_as_given = source.between is None and not source.files and _BYTES // 32 <= size <= _BYTES
    return n if is_as_given else max(1, _BYTES * n // size)  # what is given so is not put together


class Blocks(Feeder):
    """Examples of a stream, which are learnt from block by block.

    Parameters
    ----------
    given : Source, tuple of arrays, or iterable of batches
    classes : array-like or None
    options : Options
    """

    model: StreamFit
    stream: Stream

    def __init__(self, X: object, classes: ArrayLike, options: Options) -> None:
        super().__init__("fit_stream")
        self.X, self.given_classes, self.options = X, classes, options
        self.shown = X, None, None

    @property
    def shuffles(self) -> bool:
        """Whether blocks, and the examples within each, are shuffled."""
        return bool(self.options.shuffle)

    def open(self) -> None:
        """Find the classes and columns, by a pass if it takes one."""
        model, classes, least = self.model, self.given_classes, self.model._least
        model._check_stream()
        if self.goes_on:
            if classes is not None:
                self._refuse_other_classes(classes)
            classes = model.classes_
        counts = isinstance(vars(model).get("class_weight"), str)
        examples = model._source(self.X, goes_on=self.goes_on)
        source = of_columns(model, examples) if self.goes_on else as_source(examples)
        if not source.again and self.options.cache is None:
            self._refuse_more_passes(source, classes, counts=counts)
        repeats = model.max_iter > 1
        self.stream = open_stream(source, classes, self.options, counts=counts, least=least, repeats=repeats)
        is_multilabel = self.stream.facts.is_multilabel
        if is_multilabel and not learns_many(model):
            raise OptionsError(
                f"{{y}} has many labels for each example, and {type(model).__name__} learns one",
                "take a Perceptron, AveragedPerceptron, VotedPerceptron or BudgetedKernelPerceptron",
                cause="many labels",
            )
        if is_multilabel and self.stream.source.labels is None:
            refuse_other_order(self.given_classes, self.stream.facts.classes)
        self.accept_kind("dense" if is_multilabel else None)
        self._publish_columns()
        self.classes = self.stream.facts.classes
        self.data = read(self.engine, np.zeros((0, self.stream.facts.n_features)))

    def _refuse_more_passes(self, source: Source, classes: ArrayLike, *, counts: bool) -> None:
        """Raise OptionsError if what can be read only once takes a second pass: before anything is read."""
        needed = {
            "another {class_weight} than 'balanced'": not counts,
            "{max_iter=1}": self.model.max_iter == 1,
            "{classes}": classes is not None or source.labels is not None,
            "{width}": source.n_features is not None,
            "{zero_based=True} or {zero_based=False}": source.is_shifted is not None,
        }
        lacking = [option for option, there in needed.items() if not there]
        if lacking:
            raise OptionsError(
                "{name} can be read only once, but another pass is needed",
                f"keep what is read with {{cache}}, or make it one pass, with {', '.join(lacking)}",
                settings={"cache": "FILE"},
                name=source.name,
            )

    def _refuse_other_classes(self, classes: ArrayLike) -> None:
        known, least = self.model.classes_, self.model._least
        others, _ = encode_new(label_array(None, classes, None, "classes"), "classes", least=least)
        if not np.array_equal(others, known):
            raise ArgumentError(
                "{warm_start} continues a fit with the classes {known!r:.200}, but {classes} is "
                "{others!r:.200}",
                "leave it out, or set {warm_start}",
                cause="other classes",
                values={"warm_start": True},
                settings={"warm_start": False},
                known=known.tolist(),
                others=classes,
            )

    def _publish_columns(self) -> None:
        """Put on the model what is known of the columns; or compare it, if it goes on."""
        model, stream = self.model, self.stream
        names, n_features = stream.source.feature_names, stream.facts.n_features
        if self.goes_on:
            assert_width(model, n_features)
            known = feature_names(model)
            if names is not None and known is not None and list(names) != list(known):
                raise ArgumentError(
                    "the stream must have the features that {estimator} goes on from, in their order, but "
                    "the names are {names!r:.200}, and not {known!r:.200}",
                    "set {warm_start}",
                    cause="other terms",
                    settings={"warm_start": False},
                    names=list(names),
                    known=list(known),
                )
            return
        model.n_features_in_ = n_features
        change(
            model,
            column_base=None,
            recipe=None,
            feature_names=None if names is None else np.array(names, dtype=object),
        )

    def weigh(self) -> None:
        """Find the weights of the classes; those of examples come with their blocks."""
        planes = self.model._class_weights(self.classes, self.stream.facts.counts)
        self.weighed = CallWeights(None, planes, None)

    def learn(
        self, state: LearntModel, settings: Settings, schedule: Schedule, observer: Observer | None
    ) -> Report:
        """Learn block by block, from a checkpoint on if there is one."""
        assert observer is not None
        model, stream, options = self.model, self.stream, self.options
        carrier, begin = model._carry(self, state)
        checkpoint, place = None, Place(begin)
        ended: list[str] = []
        if options.checkpoint is not None:
            identity = self._identity(begin, settings, schedule)
            checkpoint = Checkpoint(
                options.checkpoint,
                nearest_float(options.checkpoint_every),
                identity,
                stream.sums,
                resume=options.resume,
            )
            place, ended = checkpoint.load(schedule.max_iter) or (place, ended)
            if place.state is not begin and isinstance(settings, Linear) and not isinstance(begin, dict):
                known = arrays_of(place.state)
                place = place._replace(state=self.engine.Model.from_state(settings.learner, known))
            if not stream.goes_on_from(checkpoint.seen):
                raise ValueError(
                    f"checkpoint {str(checkpoint.path)!r} is of a run on other examples; give the same, or "
                    f"remove the checkpoint"
                )
        behind = {} if stream.source.advise is None else {"behind": 0}
        with StreamRecord(model, begin, stream.size if options.shuffle else None, **behind) as record:
            run = StreamRun(
                model,
                self.engine,
                stream,
                settings,
                place,
                carrier,
                first_epoch=schedule.first_epoch,
                save=None if checkpoint is None else checkpoint.save,
                see=lambda block: record.see(
                    block.first,
                    block.data.rows,
                    block.data.stored,
                    block.labels,
                    block.weights,
                    block.lengths,
                ),
            )

            def ask(epoch: int, mistakes: Any, losses: Any, _: Run) -> Any:
                record.wait()  # a callback may cut the files whose pages are digested
                observer.n_examples = run.n_examples or stream.facts.n_rows or 0  # 0: a repeated report
                observer.n_before = run.n_before if run.n_examples else observer.n_examples
                return observer(epoch, mistakes, losses, run)

            watch = watch_again(ask, len(place.done), last_is_open="callback" in ended)
            report = follow(run, settings, schedule, watch if observer.is_needed else None)
            is_whole = "interrupt" not in report.stopped
            if checkpoint is not None and is_whole:
                checkpoint.write(run.place, report.stopped)
            missing = record.missing
            if is_whole and missing is not None and missing != stream.facts.n_rows:
                run.look(missing)  # shuffled, or not seen by this process
            record.end(stream.facts.n_rows)
        self.n_examples = stream.facts.n_rows or 0
        return report

    def _identity(self, state: RunState, settings: Settings, schedule: Schedule) -> dict[str, object]:
        """Return what two runs have in common if one may go on from the other's checkpoint."""
        facts, source = self.stream.facts, self.stream.source
        return identity_of(
            self.model,
            self.model.get_params(deep=False),
            state,
            settings,
            schedule,
            shuffle=self.options.shuffle,
            files=stamps(source.files),
            reading=source.reading,
            n_features=facts.n_features,
            classes=classes_to_json(facts.classes),
            block_size=self.stream.size,
            **{"many labels": facts.is_multilabel},
        )


class StreamFit(Trainable):
    """An estimator that learns from streams, too."""

    #: How many classes there must be.
    _least: ClassVar[int] = 2
    #: Whether a fit over a stream can go on from what was learnt before.
    _continues_in_streams: ClassVar[bool] = True

    @fit_context(prefer_skip_nested_validation=True)
    def fit_stream(
        self,
        source: object,
        classes: ArrayLike = None,
        *,
        shuffle: Literal[False, "block"] = False,
        block_size: int | None = None,
        cache: PathLike | None = None,
        checkpoint: PathLike | None = None,
        checkpoint_every: float = 60.0,
        resume: bool = False,
    ) -> Self:
        """Fit the model to examples that need not fit into memory, in epochs, as ``fit`` does.

        The examples are learnt block by block; meanwhile the next block is read. With ``shuffle=False``
        the result has the bits of ``fit`` on all examples with ``shuffle=False``, whatever
        the size of the blocks. The parameter ``shuffle`` of the estimator is for ``fit``. Parameters that
        need memory for each example, or examples that are held out, are refused; :doc:`/guide/streams` lists
        them.

        Parameters
        ----------
        source : Source, tuple of arrays, or iterable of batches
            The examples: what the functions ``open_...`` of ``perceptron_rs.io`` return, a tuple
            ``(X, y)`` or ``(X, y, sample_weight)``, or an object that gives such tuples each time it is
            iterated over, which may fill the same arrays for each. Up to 64 MB of these are read twice, and
            kept in memory, unless their classes and columns are given. Of a sequence learner, sequences:
            tuples ``(X, y, None, lengths)``, or ``(X, y)`` of lists of sequences.
        classes : array-like of shape (n_classes,), default=None
            All classes that occur. Labels of the data say their type. If None, a first pass finds them. A
            vocabulary of attributes takes another pass.
        shuffle : {False, "block"}, default=False
            "block" shuffles the blocks, and the examples within each block, before each epoch. Sources
            other than arrays need a ``cache`` for that.
        block_size : int, default=None
            Number of examples, or of sequences, in a block. With ``shuffle="block"`` it changes the order,
            and so the result, and None means 16384. Otherwise None means as many as take about 8 MB.
        cache : str or path-like, default=None
            File for the examples in binary form. The first pass writes it, later ones map it into memory. A
            later call does so, too, if the files of the source and their times are still the same.
        checkpoint : str or path-like, default=None
            File for what has been learnt so far. Each checkpoint replaces it in one step. It is kept when the
            fit is done.
        checkpoint_every : float, default=60.0
            Seconds between two checkpoints; 0 writes one after each block.
        resume : bool, default=False
            Whether to go on from the checkpoint, if there is one. The result has the bits of a run that
            was never stopped. ``max_iter`` may be larger than before.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If examples, a parameter or a file is invalid, if passes over the source differ, or if training
            overflows. The estimator then stays as it was before the call.
        TypeError
            If the source gives no batches, or they do not contain numbers (or, for labels, numbers or
            strings).
        OSError
            If a file cannot be read or written.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            As ``fit``.

        Examples
        --------
        >>> import numpy as np
        >>> from perceptron_rs import Perceptron
        >>> class Batches:
        ...     def __iter__(self):
        ...         random = np.random.default_rng(0)
        ...         for _ in range(5):
        ...             X = random.normal(size=(100, 2))
        ...             yield X, X[:, 0] > X[:, 1]
        >>> Perceptron().fit_stream(Batches()).classes_
        array([False,  True])
        """
        options = Options(
            shuffle=shuffle,
            block_size=block_size,
            cache=cache,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            resume=resume,
        )
        train(self, Blocks(source, classes, options))
        return self

    def _check_stream(self) -> None:
        """Raise ValueError for parameters that a fit over a stream does not have."""
        for parameter in parameters_in_memory(type(self)):
            name, off = parameter.name, parameter.default
            value = vars(self)[name]
            if value != off:
                raise OptionsError(
                    f"{{{name}}} is not available with {{fit_stream}}: {parameter.metadata['in_memory']}",
                    f"set {{{name}}}",
                    cause="stream",
                    values={name: value},
                    settings={name: off},
                )
        if self.warm_start and not self._continues_in_streams:
            raise OptionsError(
                "{warm_start} is not available with {fit_stream} of this learner",
                "set it to False",
                cause="stream",
                values={"warm_start": True},
            )

    def _source(self, X: object, *, goes_on: bool) -> Any:  # noqa: ARG002
        """Return a source of batches, as `perceptron_rs.io` knows them."""
        return X

    def _carry(self, feeder: Feeder, state: LearntModel) -> tuple[Carrier, RunState]:  # noqa: ARG002
        """Return the `Carrier` of a run over blocks, and its first state."""
        return Carrier(), state.copy(last_pass=False)
