"""Iterative parameter mixing: partitions of the data are learnt from side by side.

Problem
    That of the learner, for examples that lie in P partitions: on threads, or on as many machines.
Update rule
    Each epoch makes one pass over each partition, all from the same weights w, with the learner's own
    updates. It leads to the weights w_p. The next epoch starts from ``(k_1 w_1 + ... + k_P w_P) / (k_1 + ...
    + k_P)``, where k_p is 1 ("uniform"), or the number of mistakes on partition p ("mistakes").
Given
    What each pass has led to: a share.
Result
    The state of a learner that has seen all these examples: its average is the sum of all vectors, over
    all partitions and epochs, divided once.
Paper
    R. McDonald, K. Hall, G. Mann, "Distributed training strategies for the structured perceptron", NAACL
    2010: figure 3.

ARITHMETIC.md says in which order numbers are added: by a tree, neighbours first. So shares of neighbours can
be added wherever they are. What no pass has changed stays as it is, so a share is what it has
changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import Floats, State
from perceptron_rs.float_mode import standard
from perceptron_rs.mixing.entries import Entries, Positions, filled, from_csr, to_csr, union
from perceptron_rs.settings import Chain, Epoch, Linear

#: Matrices that a state has in the form CSR.
_SPARSE = ("emission", "pair")
#: What is said of penalties that are pending.
_PENDING = {"ages", "strengths"}
#: Arrays of more numbers are held as those that have changed, where these are few.
_LARGE = 1 << 12

T = TypeVar("T")
Item = TypeVar("Item")
Value = TypeVar("Value", bound=np.generic)


class PassReport(NamedTuple):
    """Report of a pass over one partition."""

    k: NDArray[np.int64]  # (D,): its weight in the mixture
    seen: NDArray[np.int64]  # the counters that it led to
    epoch: Epoch
    seconds: float


class Sum(NamedTuple):
    """What the numbers of neighbours come to, place by place."""

    k: NDArray[np.int64]  # (D,)
    w: Floats  # the sum of k w; of w for decisions whose k are all 0
    same: Floats  # w, where it is the same for all; else NaN
    touched: NDArray[np.bool_]  # whether a pass has changed w or u
    u: Floats | None
    v: Floats | None  # the sum of (T + 1) w


class Share(NamedTuple):
    """What neighbours have learnt: the numbers of each by themselves, while they are few, or added."""

    reports: tuple[PassReport, ...]
    numbers: dict[str, tuple[Entries, ...] | Sum]


class Change(NamedTuple):
    """Change of a state by an epoch: the numbers that may differ."""

    epoch: int  # its number
    seen: NDArray[np.int64]
    numbers: dict[str, Entries]


class AveragedArray:
    """Weights of a state, and their sums, as vectors."""

    def __init__(self, state: State, name: str) -> None:
        self.state, self.name = state, name
        self.is_sparse = f"{name}_data" in state

    @cached_property
    def numbers(self) -> Entries:
        """All of them; of a CSR matrix, the entries."""
        if self.is_sparse:
            return from_csr(self.state, self.name)
        w, u = self.state[self.name].reshape(-1), self.state.get(f"{self.name}_u")
        return Entries(None, w, None if u is None else u.reshape(-1))

    def is_little(self, n: int) -> bool:
        """Whether to send n numbers with their places, instead of the whole array."""
        return self.is_sparse or 4 * n < self.state[self.name].size > _LARGE

    def at(self, places: Positions) -> Entries:
        """Return the numbers at these places."""
        own = self.numbers
        if places is None:
            return own
        if own.places is None:
            return Entries(places, own.w[places], None if own.u is None else own.u[places])
        # One more entry, at the end, answers for places without an entry: its number is 0.
        keys, index = np.append(own.places, -1), np.searchsorted(own.places, places)
        w, u = (None if v is None else np.append(v, 0.0)[index] * (keys[index] == places) for v in own[1:])
        assert w is not None
        return Entries(places, w, u)

    def spread(self, of_planes: NDArray[Value], places: Positions) -> NDArray[Value]:
        """Return, for each place, the number of its plane."""
        if len(of_planes) == 1:
            return of_planes
        columns = self.state[self.name].size // len(of_planes)
        return np.repeat(of_planes, columns) if places is None else of_planes[places // columns]


def weight(epoch: Epoch, mixing: str) -> NDArray[np.int64]:
    """Return the weight (D,) of a pass in the mixture."""
    return np.ones_like(epoch.mistakes) if mixing == "uniform" else epoch.mistakes


@standard()
def share_of_pass(before: State, after: State, epoch: Epoch, mixing: str, seconds: float = 0.0) -> Share:
    """Return the share of a pass that began with the state ``before``."""
    new = {
        name: (_differing(AveragedArray(before, name), AveragedArray(after, name).numbers),)
        for name in _weight_names(before)
    }
    return Share((PassReport(weight(epoch, mixing), after["seen"], epoch, seconds),), dict(new))


@standard()
def add_shares(before: State, left: Share, right: Share) -> Share:
    """Return what two neighbours have learnt."""
    numbers: dict[str, tuple[Entries, ...] | Sum] = {}
    for name in _weight_names(before):
        array, a, b = AveragedArray(before, name), left.numbers[name], right.numbers[name]
        apart = None if isinstance(a, Sum) or isinstance(b, Sum) else (*a, *b)
        if apart is not None and array.is_little(sum(len(each.w) for each in apart)):
            numbers[name] = apart
            continue
        sums = [_sum(side, name, array, None) for side in (left, right)]
        numbers[name] = _add_sums(sums[0], sums[1], array, None)
    return Share(left.reports + right.reports, numbers)


@standard()
def mixture(settings: Linear | Chain, before: State, whole: Share, number: int) -> tuple[Change, Epoch]:
    """Mix what all partitions have learnt from ``before``; tell of them as of one epoch.

    Raises
    ------
    OverflowError
        If a number is not finite (rule 9).
    """
    visits = [each.seen - before["seen"] for each in whole.reports]
    change = Change(number, before["seen"] + np.add.reduce(visits), {})
    for name in _weight_names(before):
        array, numbers = AveragedArray(before, name), whole.numbers[name]
        is_some = not isinstance(numbers, Sum) and all(each.places is not None for each in numbers)
        places = union(*numbers) if is_some else None
        new = change.numbers[name] = _mixed(array, whole, places, before["seen"], change.seen)
        if not all(np.isfinite(values).all() for values in new[1:] if values is not None):
            raise overflow(number)
    return change, whole_epoch(settings, [each.epoch for each in whole.reports], visits)


def overflow(number: int) -> OverflowError:
    """Return the error of a mixture that is not finite."""
    return OverflowError(
        f"training overflowed in epoch {number} (counted from 0): a weight or an average is not finite after "
        f"mixing; scale the features or lower eta0"
    )


@standard()
def whole_epoch(
    settings: Linear | Chain, epochs: Sequence[Epoch], visits: Sequence[NDArray[np.int64]]
) -> Epoch:
    """Tell of passes that have visited so many examples as of one epoch."""
    mistakes = np.add.reduce([epoch.mistakes for epoch in epochs])
    if isinstance(settings, Chain):  # its losses count wrong labels
        losses = np.add.reduce([epoch.losses for epoch in epochs])
    else:
        losses = weighted_mean([epoch.losses for epoch in epochs], [n[: len(mistakes)] for n in visits])
    return Epoch(mistakes, losses, losses, any(epoch.interrupted for epoch in epochs))


def mix(
    settings: Linear | Chain, before: State, shares: Sequence[Share], number: int
) -> tuple[Change, Epoch]:
    """Mix the shares of all partitions, in the order of the partitions; see `mixture`."""
    return mixture(settings, before, reduce_tree(shares, partial(add_shares, before)), number)


def apply_change(state: State, change: Change) -> State:
    """Return the state after a change; it shares the arrays that are the same.

    Each pass of an epoch has taken all penalties that were pending: none is left.
    """
    after = {name: array for name, array in state.items() if name not in _PENDING} | {"seen": change.seen}
    for name, new in change.numbers.items():
        array = AveragedArray(state, name)
        if array.is_sparse:
            places = union(array.numbers, new)
            after |= to_csr(filled(new, array.at(places)), name, len(state[f"{name}_indptr"]) - 1)
            continue
        now = new if new.places is None else filled(new, array.numbers)
        after[name] = now.w.reshape(state[name].shape)
        if now.u is not None:
            after[f"{name}_u"] = now.u.reshape(state[name].shape)
    return after


def restrict_state(state: State, columns: NDArray[np.int64]) -> State:
    """Return the state of a linear learner for some columns."""
    return {
        name: np.take(array, columns, axis=1) if array.ndim == 2 else array for name, array in state.items()
    }


def expand_share(share: Share, before: State, columns: NDArray[np.int64]) -> Share:
    """Return the share of a pass over some ``columns`` of the state ``before`` as one over all columns."""
    array = AveragedArray(before, "coef")
    own = share.numbers["coef"][0]
    assert isinstance(own, Entries)  # a pass adds nothing
    K, d = before["coef"].shape
    plane, column = np.divmod(np.arange(K * len(columns)) if own.places is None else own.places, len(columns))
    own = own._replace(places=plane * d + columns[column])
    if not array.is_little(len(own.w)):
        own = filled(own, array.numbers)
    return share._replace(numbers=share.numbers | {"coef": (own,)})


def combine_changes(state: State, changes: Sequence[Change]) -> Change:
    """Combine successive changes into one, which leads to ``state``."""
    last = changes[-1]
    numbers = {}
    for name in last.numbers:
        each = [change.numbers[name] for change in changes]
        array = AveragedArray(state, name)
        is_all = not array.is_sparse and any(own.places is None for own in each)
        numbers[name] = array.at(None if is_all else union(*each))
    return Change(last.epoch, last.seen, numbers)


def reduce_tree(
    items: Sequence[object], add: Callable[[T, T], T], make: Callable[[Any], T] = lambda item: item
) -> T:
    """Add items in a binary tree: pairs of neighbours, then pairs of these sums, until one is left.

    An odd one at the end waits for the next level. The recursion splits n items at the largest power of two
    below n, so few sums are in memory at a time. ``make`` converts an item to what is added.
    """
    if len(items) == 1:
        return make(items[0])
    half = 1 << ((len(items) - 1).bit_length() - 1)
    return add(reduce_tree(items[:half], add, make), reduce_tree(items[half:], add, make))


def weighted_mean(terms: Sequence[Floats], weights: Sequence[NDArray[np.int64]]) -> Floats:
    """Return the mean of vectors with a weight for each number. Weights that are all 0 count as ones.

    The mean of equal numbers is that number, which a rounded sum can miss. So what no pass has changed stays
    as it is; and one partition is learnt from as without partitions.
    """
    array = AveragedArray({"w": terms[0], "seen": weights[0]}, "w")
    none = np.zeros(len(terms[0]), dtype=np.bool_)
    sums = [
        Sum(k, np.where(k == 0, 1, k) * term, term, none, None, None)
        for k, term in zip(weights, terms, strict=True)
    ]
    total = reduce_tree(sums, lambda left, right: _add_sums(left, right, array, None))
    return _quotient(total, len(terms), array, None)


def _mixed(
    array: AveragedArray, share: Share, places: Positions, T: NDArray[np.int64], T_after: NDArray[np.int64]
) -> Entries:
    """Return the weights and sums that a share of all partitions leads to."""
    P, total = len(share.reports), _sum(share, array.name, array, places)
    w = _quotient(total, P, array, places)
    return Entries(places, w, _sums(total, P, array, places, w, T, T_after))


def _sum(share: Share, name: str, array: AveragedArray, places: Positions) -> Sum:
    """Return the numbers of a share, added at these places."""
    numbers = share.numbers[name]
    if isinstance(numbers, Sum):
        return numbers
    before = array.at(places)

    def term(own_and_report: tuple[Entries, PassReport]) -> Sum:
        own, report = own_and_report
        _, w, u = own if own.places is None else filled(own, before)
        k = array.spread(np.where(report.k == 0, 1, report.k), places)
        touched, v = w != before.w, None
        if u is not None:
            touched |= u != before.u
            v = array.spread(report.seen + 1, places) * w
        return Sum(report.k, k * w, w, touched, u, v)

    def add(left: Sum, right: Sum) -> Sum:
        return _add_sums(left, right, array, places)

    return reduce_tree(list(zip(numbers, share.reports, strict=True)), add, term)


def _add_sums(left: Sum, right: Sum, array: AveragedArray, places: Positions) -> Sum:
    w = []
    for part, other in ((left, right), (right, left)):
        # What has the weight 0 does not count beside what has a weight above 0.
        counts = (part.k > 0) | (other.k == 0)
        w.append(part.w if counts.all() else np.where(array.spread(counts, places), part.w, 0.0))
    return Sum(
        left.k + right.k,
        w[0] + w[1],
        np.where(left.same == right.same, left.same, np.nan),
        left.touched | right.touched,
        None if left.u is None or right.u is None else left.u + right.u,
        None if left.v is None or right.v is None else left.v + right.v,
    )


def _quotient(total: Sum, P: int, array: AveragedArray, places: Positions) -> Floats:
    """Return the mixed weights."""
    w: Floats = total.w / array.spread(np.where(total.k == 0, P, total.k), places)
    w += 0.0  # a quotient that is too small may be -0.0
    return np.where(np.isnan(total.same), w, total.same)


def _sums(
    total: Sum,
    P: int,
    array: AveragedArray,
    places: Positions,
    w: Floats,
    T: NDArray[np.int64],
    T_after: NDArray[np.int64],
) -> Floats | None:
    """Return the u' that belongs to the mixed weights w'.

    The sum of all vectors is S = (T + 1) w - u (`reference/linear/averaged.py`). With what each pass has
    added to it, S_p - S, it shall be S' = S_1 + ... + S_P - (P - 1) S, whose u' is (T' + 1) w' - S'.
    """
    _, w_before, u_before = array.at(places)
    if total.u is None or total.v is None or u_before is None:
        return None
    others = float(P - 1)
    u: Floats = total.u - others * u_before
    u += (array.spread(T_after + 1, places) * w - total.v) + others * (array.spread(T + 1, places) * w_before)
    u += 0.0
    return np.where(total.touched, u, u_before)


def _weight_names(state: State) -> list[str]:
    """Return the names of the weights of a state; `apply_change` takes what is pending of them."""
    matrices = [name for name in _SPARSE if f"{name}_data" in state]
    parts = {f"{name}_{part}" for name in matrices for part in ("indptr", "indices", "data")}
    return matrices + [
        name for name in state if name not in parts | {"seen"} | _PENDING and not name.endswith("_u")
    ]


def _differing(array: AveragedArray, after: Entries) -> Entries:
    """Return the numbers that have changed, if they are few; else all."""
    places, before = after.places, array.numbers
    if array.is_sparse:
        places = union(before, after)
        before = array.at(places)
        zeros = np.zeros(len(places))
        after = filled(after, Entries(places, zeros, None if after.u is None else zeros))
    differs = after.w != before.w
    if after.u is not None:
        differs |= after.u != before.u
    if not array.is_little(int(np.count_nonzero(differs))):
        return after
    there = np.flatnonzero(differs)
    u = None if after.u is None else after.u[there]
    return Entries(there if places is None else places[there], after.w[there], u)
