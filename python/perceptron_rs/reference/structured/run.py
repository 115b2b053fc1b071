"""All of a run on sequences that is not the algorithm: what goes in and out, the order, finite numbers."""

from __future__ import annotations

import copy

import numpy as np

from perceptron_rs.arrays.named import State
from perceptron_rs.float_mode import standard
from perceptron_rs.reference.error import overflow
from perceptron_rs.reference.linear.averaged import mean
from perceptron_rs.reference.order import permutation
from perceptron_rs.reference.structured.aggressive import AggressiveChainSteps
from perceptron_rs.reference.structured.chain import ChainSteps, ChainWeights, Labels, add_mistakes, learn
from perceptron_rs.reference.structured.sequences import Tokens, sequences
from perceptron_rs.reference.structured.weights import from_chain, to_chain
from perceptron_rs.settings import Chain, Epoch, Sequences


class Run:
    """A chain at work on sequences x with the labels y; see `perceptron_rs.engines.Run`."""

    def __init__(
        self,
        x: list[Tokens],
        y: list[Labels],
        w: ChainWeights,
        u: ChainWeights,
        T: int,
        chosen: Labels,
        settings: Chain,
    ) -> None:
        self.x, self.y, self.chosen, self.settings = x, y, chosen, settings
        is_plain = settings.step == "constant"
        self.steps = (
            ChainSteps(float(settings.eta0)) if is_plain else AggressiveChainSteps(settings.step, settings.C)
        )
        self.w, self.u, self.T = w, u, T
        self.answers = [np.zeros_like(labels) for labels in y]
        self.number = 0  # of the last epoch

    def epoch(self, number: int) -> Epoch:
        """Visit the chosen sequences once. After Ctrl-C all can be as it was."""
        self.number, order = number, self.chosen
        w, u, answers = self.w, self.u, self.answers
        if self.settings.keep_on_interrupt:
            w, u, answers = copy.deepcopy((w, u, answers))
        with standard():
            if self.settings.seed is not None:
                key = {"seed": self.settings.seed, "epoch": number, "partition": self.settings.partition}
                order = order[permutation(len(order), **key)]
            try:
                log = learn(self.x, self.y, self.steps, w, order.tolist(), self.T, answers, self.settings)
                add_mistakes(self.x, self.y, u, log)
            except FloatingPointError:
                raise overflow(number) from None
            if not (is_finite(w) and is_finite(u)):
                raise overflow(number)
        wrong = [np.count_nonzero(z != self.y[i][: len(z)]) for _, i, z, _ in log]
        loss = np.cumsum([0.0, *wrong])[-1:]
        done, T = Epoch(np.array([len(log)]), loss, loss, interrupted=False), self.T + len(order)
        # No signal is answered between here and the end.
        self.w, self.u, self.answers, self.T = w, u, answers, T
        return done

    @standard()
    def end(self, decision: int) -> None:
        """Say that the run goes on no more."""
        if not is_finite(means(self.w, self.u, self.T)):
            raise overflow(self.number)

    def state(self) -> State:
        """Return weights and sums, as arrays of their own."""
        seen = np.array([self.T], dtype=np.int64)
        return from_chain(self.w) | from_chain(self.u, "_u") | {"seen": seen}

    def tracked(self) -> State:
        """Return the answers to all sequences at their last visit."""
        if not self.settings.track_answers:
            return {}
        return {"answers": np.concatenate([np.zeros(0, dtype=np.uint32), *self.answers])}


def start_chain(data: Sequences, state: State, settings: Chain) -> Run:
    """Begin a run of a chain."""
    x, columns = sequences(data.rows, data.lengths), data.rows.shape[1]
    w, u = to_chain(state, columns), to_chain(state, columns, "_u")
    if u.emission.shape != w.emission.shape:
        raise ValueError("sums must have the shapes of the weights")
    labels, K = data.labels, len(w.start)
    if labels.shape != (data.rows.shape[0],):
        raise ValueError(
            f"labels must have {data.rows.shape[0]} entries, one for each row, got {len(labels)}"
        )
    if len(labels) and labels.max() >= K:
        raise ValueError(f"labels must be below {K}, got {labels[labels >= K][0]}")
    chosen = np.arange(len(x), dtype=np.uint32) if data.chosen is None else data.chosen
    if len(chosen) and chosen.max() >= len(x):
        wrong = chosen[chosen >= len(x)][0]
        raise ValueError(f"chosen must be below the number of sequences, {len(x)}, got {wrong}")
    return Run(x, [labels[part.numbers] for part in x], w, u, int(state["seen"][0]), chosen, settings)


@standard()
def sequence_average(state: State) -> State:
    """Return the averaged weights of a state, by the names of its weights."""
    columns = len(state["emission_indptr"]) - 1
    w, u = to_chain(state, columns), to_chain(state, columns, "_u")
    return from_chain(means(w, u, int(state["seen"][0])))


def means(w: ChainWeights, u: ChainWeights, T: int) -> ChainWeights:
    """Return the averaged weights."""
    pairs = zip(vars(w).values(), vars(u).values(), strict=True)
    return ChainWeights(*(None if a is None else mean(a, b, np.int64(T)) for a, b in pairs))


def is_finite(w: ChainWeights) -> bool:
    """Whether all numbers are."""
    return all(np.isfinite(numbers).all() for numbers in vars(w).values() if numbers is not None)
