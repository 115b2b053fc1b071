"""A run over blocks: an engine's run, or one for each block, goes on from what was learnt before.

- Problem: learn in epochs from examples that are not in memory at once.
- Rule: an engine's run of planes goes on from block to block. Others start on a block with the state that the
  last block has left, make one epoch, and give their state. What they keep of the examples themselves (a log,
  the members of a budget) a `Carrier` takes along.
- Result: in stored order the bits of a run over all examples at once: updates do not know of blocks, and
  each block goes on with the sums of losses of the one before it (rule 5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.csr import stored_csr
from perceptron_rs.arrays.named import State, settled_arrays
from perceptron_rs.engines import Engine, RunState, below
from perceptron_rs.io.batches import Batch, batch_length
from perceptron_rs.rows.examples import ValidatedRows, read
from perceptron_rs.settings import Chain, Data, Epoch, EpochPart, Linear, Sequences, Settings
from perceptron_rs.stream.blocks import NAME_ALL, Stream, prefetch
from perceptron_rs.targets.labels import encode
from perceptron_rs.targets.weights import nothing_to_learn, unvisited

if TYPE_CHECKING:
    from perceptron_rs.engines import RunOfModel, RunOfPlanes
    from perceptron_rs.stream.fit import StreamFit

S = TypeVar("S", bound=Settings)
#: The epoch of rule 7 that draws the seeds of blocks; no other order is drawn from it.
_OF_BLOCKS = 2**64 - 2


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Examples as an engine takes them, the first of which is example number ``first`` of the stream."""

    number: int
    first: int
    data: ValidatedRows
    labels: NDArray[np.uint32]
    weights: NDArray[np.float64] | None = None
    lengths: NDArray[np.int64] | None = None
    #: Number of the examples, or of sequences, that weigh something.
    n_visited: int = 0
    #: The examples, as an engine has them.
    examples: Data = field(init=False)

    def assert_finite(self, estimator: object) -> None:
        """Raise ValueError if X holds a NaN or an infinity; tokens of sequences have no number."""
        self.data.assert_finite(estimator, self.first if self.lengths is None else None)

    def __post_init__(self) -> None:
        examples = (
            Data(self.data.rows, self.labels, self.weights)
            if self.lengths is None
            else Sequences(self.data.rows, self.labels, lengths=self.lengths)
        )
        object.__setattr__(self, "examples", examples)


class Carrier:
    """Turns the state of a run over blocks into that of an engine on one block, and back.

    For learners whose state does not depend on the examples, both are the same.
    """

    def begin(self, block: Block, state: RunState) -> tuple[Data, RunState]:
        """Return what an engine starts with."""
        return block.examples, state

    def end(self, block: Block, before: RunState, after: State) -> State:  # noqa: ARG002
        """Return the state of the run, of what it was and of that of the engine."""
        return after


class Place(NamedTuple):
    """Where a run stands: all that another process needs to go on, beside the source."""

    state: RunState
    #: The epochs that are done.
    done: tuple[Epoch, ...] = ()
    #: Blocks of the next epoch that are done; its mistakes, sums of losses and visits so far, by decisions.
    blocks: int = 0
    so_far: tuple[NDArray[np.float64], ...] | None = None
    #: Examples that were visited in them.
    examples: int = 0
    #: What an engine has told last, of what is counted here.
    part: Epoch | EpochPart | None = None


class StreamRun:
    """A learner at work on a stream; see `perceptron_rs.engines.Run`.

    For the epochs before the ``place`` to go on from, only the reports are repeated, for the driver.
    """

    def __init__(
        self,
        estimator: StreamFit,
        engine: Engine,
        stream: Stream,
        settings: Settings,
        place: Place,
        carrier: Carrier | None = None,
        *,
        first_epoch: int = 0,
        save: Callable[[Callable[[], Place]], None] | None = None,
        see: Callable[[Block], object] | None = None,
    ) -> None:
        self.estimator, self.engine, self.stream = estimator, engine, stream
        self.settings, self._place = settings, place
        self.carrier = Carrier() if carrier is None else carrier
        self.first_epoch, self.save, self.see = first_epoch, save, see
        self.known: dict[int, Block] = {}
        self.n_reported = 0  # epochs, of the checkpoint or made since
        self.ended: list[int] = []
        #: Whether one run of the engine goes on from block to block.
        self.is_one = isinstance(settings, Linear) and not isinstance(place.state, dict)
        #: That run; or one of no examples, to end decisions.
        self.run: RunOfModel | None = None
        self.block: Block | None = None  # which it learns from
        self.n_examples = self.n_before = 0  # in the last epoch, and of them before this process

    def epoch(self, number: int) -> Epoch:
        """Visit all examples once, block by block."""
        done = self.n_reported
        if done < len(self._place.done):
            self.n_reported += 1
            return self._place.done[done]
        try:
            return self._close(done, interrupted=self._visit(number))
        except KeyboardInterrupt:
            if not self.settings.keep_on_interrupt:
                raise
            self._catch_up()
            return self._close(done, interrupted=True)

    def _visit(self, number: int) -> bool:
        """Learn from the blocks of an epoch that are left; return whether Ctrl-C ended it."""
        if not self.is_one or self._is_settled:
            self.run = None
        skip = self._place.blocks
        self.n_before = self._place.examples
        left = self._blocks(self._order(number), skip)
        with prefetch(left, at_hand=self.stream.source.at_hand) as blocks:
            for block in blocks:
                self.stream.source.assert_whole()
                interrupted = self._learn(number, block)
                if self.stream.source.advise is not None:
                    self.stream.source.advise(*self.stream.ends(block.number), False)
                if interrupted:
                    return True
                if self.save is not None:
                    self.save(lambda: self.place)
        if self._place.blocks == 0:
            raise ValueError(
                f"{self.stream.source.name} contains no examples; check that it is the right one"
            )
        if self._place.examples == 0 and skip == 0:
            raise nothing_to_learn()
        return False

    def _close(self, number: int, *, interrupted: bool) -> Epoch:
        """Add an epoch to so many that are done, unless that has been done."""
        place = self._place
        if len(place.done) == number:
            mistakes, losses, visits = self._so_far()
            if isinstance(self.settings, Linear):
                losses = losses / np.maximum(visits, 1.0)
            state, self.n_examples = place.state, place.examples
            if self._is_settled:
                state = self.settled(self._state())
            epoch = Epoch(mistakes.astype(np.int64), losses, losses, interrupted=interrupted)
            self._place = Place(state, (*place.done, epoch), part=place.part)
            if self._is_settled:
                self.run = None
        self.n_reported = number + 1
        return self._place.done[number]._replace(interrupted=interrupted)

    def _so_far(self) -> tuple[NDArray[np.float64], ...]:
        so_far = self._place.so_far
        return tuple(np.zeros((3, self.settings.decisions))) if so_far is None else so_far

    def end(self, decision: int) -> None:
        """Say that a decision goes on no more."""
        if self.run is None:
            self.run = self._start(self._nothing(), self.settings)
            self.run.epoch(self.first_epoch + max(self.n_reported - 1, 0))  # which it names in an error
        self.run.end(decision)
        self.ended.append(decision)

    @property
    def place(self) -> Place:
        """Where the run stands."""
        return self._place._replace(state=self._state())

    def _state(self) -> RunState:
        return self._place.state if self.run is None or not self.is_one else self.run.state()

    def state(self) -> RunState:
        """Return a copy of what has been learnt."""
        state = self.settled(self._state())
        if not isinstance(state, dict):
            return state.copy(last_pass=False)
        return {name: array.copy() for name, array in state.items()}

    def tracked(self) -> State:
        """Return nothing: what is recorded of each example would need memory for all."""
        return {}

    @property
    def _is_settled(self) -> bool:
        """Whether there are penalties, which are applied at the end of an epoch."""
        return self.is_one and cast("Linear", self.settings).penalty is not None

    def settled(self, state: RunState) -> RunState:
        """Return a state without pending penalties, as it is at the end of an epoch."""
        if isinstance(state, dict) or not self._is_settled:
            return state
        return self.engine.Model.from_state(cast("Linear", self.settings).learner, settled_arrays(state))

    def _learn(self, number: int, block: Block) -> bool:
        """Learn from a block; return whether Ctrl-C ended that."""
        state, losses = self._place.state, self._so_far()[1]
        done: Epoch | EpochPart
        try:
            run = self.run if self.is_one and self.run is not None else self._begun(block)
            if self.is_one:
                self.run, self.block = run, block
                done = cast("RunOfPlanes", run).part(number, losses, block.examples, self._seed(block))
            else:
                is_linear = isinstance(self.settings, Linear)
                done = cast("RunOfPlanes", run).part(number, losses) if is_linear else run.epoch(number)
                state = self.carrier.end(block, state, run.state().state())
        except OverflowError:
            block.assert_finite(self.estimator)
            raise
        self._count(block, done, state)
        return done.interrupted

    def _count(self, block: Block, done: Epoch | EpochPart, state: RunState) -> None:
        """Add a block to those that are learnt: at once, so that after Ctrl-C the report agrees with that."""
        place, (mistakes, losses, visits) = self._place, self._so_far()
        if isinstance(done, EpochPart):
            losses, visits = done.losses, visits + done.visits
        else:
            losses = losses + done.losses  # whole numbers
        so_far = mistakes + done.mistakes, losses, visits
        self._place = Place(
            state, place.done, place.blocks + 1, so_far, place.examples + block.n_visited, done
        )

    def _catch_up(self) -> None:
        """Count a block that was learnt before Ctrl-C came."""
        if self.is_one and self.run is not None and self.block is not None:
            part = cast("RunOfPlanes", self.run).last_part
            if part is not None and part is not self._place.part:
                self._count(self.block, part, self._place.state)

    def _begun(self, block: Block) -> RunOfModel:
        """Return a run that begins with a block, of the decisions that go on."""
        settings = self.settings
        run = self._start(
            block, settings if settings.seed is None else replace(settings, seed=self._seed(block))
        )
        for decision in self.ended:
            run.end(decision)
        return run

    def _start(self, block: Block, settings: Settings) -> RunOfModel:
        data, state = self.carrier.begin(block, self._place.state)
        model = self.engine.Model.from_state(settings.learner, state) if isinstance(state, dict) else state
        return self.engine.start(data, model, settings)

    def _nothing(self) -> Block:
        """Return a block of no examples."""
        none = np.zeros(0, dtype=np.int32)
        stored = stored_csr(np.zeros(1, dtype=np.int32), none, none.astype(np.uint8))  # of no columns at all
        data = ValidatedRows.of(self.engine, stored, self.stream.facts.n_features)
        lengths = np.zeros(0, dtype=np.int64) if isinstance(self.settings, Chain) else None
        return Block(0, 0, data, np.zeros(0, dtype=np.uint32), None, lengths)

    def _seed(self, block: Block) -> int | None:
        """Return the seed of a block."""
        seed = self.settings.seed
        return None if seed is None else below(2**64, seed=seed, epoch=_OF_BLOCKS, partition=block.number)

    def _order(self, number: int) -> NDArray[np.uint32] | None:
        """Return the numbers of the blocks in the order of an epoch; None: in their own."""
        if self.settings.seed is None:
            return None
        n_blocks = self.stream.n_blocks
        assert n_blocks is not None
        return self.engine.permutation(n_blocks, seed=self.settings.seed, epoch=number, partition=0)

    def look(self, first: int) -> None:
        """Have the blocks seen in their order, without learning: those from this example on."""
        for _ in self._blocks(None, first // self.stream.size):
            pass

    def _blocks(self, order: NDArray[np.uint32] | None, skip: int) -> Iterator[Block]:
        """Give the blocks of an epoch, but for the first ones."""
        for block in self._in_turn(order, skip):
            if self.see is not None:
                self.see(block)
            yield block

    def _in_turn(self, order: NDArray[np.uint32] | None, skip: int) -> Iterator[Block]:
        stream = self.stream
        if stream.source.between is None:
            batches = enumerate(stream.batches())
            yield from (self._block(number, batch) for number, batch in batches if number >= skip)
            return
        assert stream.n_blocks is not None
        numbers = range(stream.n_blocks) if order is None else order.tolist()
        with stream.unchanged():
            for number in numbers[skip:]:
                if stream.source.advise is not None:
                    stream.source.advise(*stream.ends(number), True)
                block = self.known.get(number)
                if block is None:
                    batch = stream.batch(number)
                    block = self._block(number, batch)
                    if block.data.is_view_of(batch.X):  # checked once, and it takes no memory
                        self.known[number] = block
                yield block

    def _encode(self, y: NDArray[np.generic]) -> NDArray[np.uint32]:
        least = 1 if isinstance(self.settings, Chain) else 2
        return encode(y, self.stream.facts.classes, NAME_ALL, least=least)

    @cached_property
    def _codes(self) -> NDArray[np.uint32] | None:
        """The labels of all examples, if they are at hand: those of a small block take nearly as long."""
        whole = self.stream.whole
        return (
            None if whole is None or whole.y.ndim == 2 or whole.lengths is not None else self._encode(whole.y)
        )

    def _block(self, number: int, batch: Batch) -> Block:
        first, facts = number * self.stream.size, self.stream.facts
        data = read(self.engine, batch.X)
        if (batch.y.ndim == 2) != facts.is_multilabel:
            raise ValueError("y must be a matrix of labels in all batches, or have one label in all of them")
        codes, (begin, end) = self._codes, self.stream.ends(number)
        labels = self._encode(batch.y) if codes is None else codes[begin:end]
        weights, n_visited = batch.sample_weight, batch_length(batch)
        if isinstance(self.settings, Chain) and (batch.lengths is None or weights is not None):
            raise ValueError(
                "a batch of sequences must be (X, y, None, lengths), or (X, y) of lists of sequences"
            )
        if not isinstance(self.settings, Chain) and batch.lengths is not None:
            raise ValueError("lengths are for a SequencePerceptron; a batch must be (X, y[, sample_weight])")
        if isinstance(self.settings, Linear):
            planes, joint = self.settings.class_weight, self.settings.joint is not None
            idle = unvisited(weights, planes, labels, joint, is_part=True)
            if idle is not None:
                data.assert_finite_in(idle, self.estimator, first)  # the engine does not meet these rows
                n_visited -= int(np.count_nonzero(idle))
        return Block(number, first, data, labels, weights, batch.lengths, n_visited)
