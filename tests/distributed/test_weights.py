"""Weights on their way to workers, and passes over partitions that have but few of the columns."""

from __future__ import annotations

import pickle
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs.distributed.fitting import check_alike, parse_rows, parse_sequences
from perceptron_rs.distributed.partition import (
    Encoding,
    EpochTask,
    Partition,
    drop_empty_columns,
    learn_partition,
    read_partition,
)
from perceptron_rs.distributed.weights import EpochWeights, SentWeights, state_bytes
from perceptron_rs.engines import get_engine, rows_of
from perceptron_rs.io import Batch
from perceptron_rs.mixing.rounds import make_pass
from perceptron_rs.mixing.shares import add_shares, apply_change, mix
from perceptron_rs.settings import Data, Linear

D, K = 20_003, 3  # the last group of eight columns is not whole
SETTINGS = Linear(
    learner="averaged", positive=np.arange(K, dtype=np.uint32), class_weight=np.ones((K, 2)), eta0=1.0, seed=0
)


def cold():
    zeros = {"coef": np.zeros((K, D)), "intercept": np.zeros(K)}
    return zeros | {f"{name}_u": array.copy() for name, array in zeros.items()} | {"seen": np.zeros(K, int)}


def rows(seed, n=12, entries=40):
    rng = np.random.default_rng(seed)
    columns = np.sort(np.stack([rng.choice(D, entries, replace=False) for _ in range(n)]))
    columns[0, -1] = D - 1
    ends = np.arange(n + 1) * entries
    X = sp.csr_matrix((rng.standard_normal(n * entries), columns.reshape(-1), ends), shape=(n, D))
    return X, rng.integers(0, K, n)


def epochs(n):
    """Return the states before and after each of n epochs over two partitions, and the changes."""
    engine, states, changes = get_engine("rust"), [cold()], []
    parts = [read_partition(p, parse_rows, *rows(p)) for p in range(2)]
    data = [Data(rows_of(engine, p.parsed.stored, D), p.parsed.labels.astype(np.uint32)) for p in parts]
    for number in range(n):
        shares = [
            make_pass(engine, part, replace(SETTINGS, partition=p), states[-1], "uniform", number, ()).share
            for p, part in enumerate(data)
        ]
        changes.append(mix(SETTINGS, states[-1], shares, number)[0])
        states.append(apply_change(states[-1], changes[-1]))
    return states, changes


def same(a, b):
    return a.keys() == b.keys() and all(a[name].tobytes() == b[name].tobytes() for name in a)


def test_weights_go_on_by_what_has_changed(monkeypatch):
    states, changes = epochs(3)
    weights = EpochWeights(states[0], 0)
    made = []
    monkeypatch.setattr(
        "perceptron_rs.distributed.weights.shares.apply_change",
        lambda *of: made.append(of[1].epoch) or apply_change(*of),
    )
    assert same(weights.after(changes[:1]), states[1])
    assert same(weights.after(changes), states[3])
    assert weights.after(changes) is weights.after(changes)
    assert made == [0, 1, 2]  # each once
    copy = pickle.loads(pickle.dumps(weights))  # on a worker that is new
    assert same(copy.after(changes), states[3])
    assert same(weights.after(changes[:2]), states[2])  # what a task of an epoch before asks for
    assert same(weights.after([]), states[0])


def test_what_is_sent(monkeypatch):
    monkeypatch.setattr("perceptron_rs.distributed.weights._MOST", 3)
    states, changes = epochs(6)
    sent = []

    def send(given, epoch):
        sent.append((type(given).__name__, epoch))
        return given

    of_all = SentWeights(send)
    for epoch, state in enumerate(states):
        change = changes[epoch - 1] if epoch else None
        weights, after = of_all.weights(state, change, epoch)
        assert same(pickle.loads(pickle.dumps(weights)).after(after), state)
        assert len(after) == (0, 1, 2, 3, 1, 2, 3)[epoch]  # the fourth is one for all
    assert sent == [("EpochWeights", 0), *(("Change", epoch) for epoch in range(1, 7))]
    whole = changes[-1]._replace(
        numbers={"coef": changes[-1].numbers["coef"]._replace(w=np.zeros(2 * D * K))}
    )
    assert of_all.weights(states[-1], whole, 7)[1] == []  # as large as the weights
    assert sent[-1] == ("EpochWeights", 7)


def test_a_change_of_half_the_weights_is_sent_and_a_larger_one_is_not():
    states, changes = epochs(1)

    def change(n):
        return changes[0]._replace(numbers={"coef": changes[0].numbers["coef"]._replace(w=np.zeros(n))})

    most = (state_bytes(states[0]) // 2 - state_bytes(change(0))) // 8
    for n, is_sent in ((most, True), (most + 1, False)):
        of_all = SentWeights(lambda given, _: given)
        before, _ = of_all.weights(states[0], None, 0)
        weights, after = of_all.weights(states[1], change(n), 1)
        assert (weights is before, len(after)) == (is_sent, is_sent)
    assert sys.getsizeof(EpochWeights(states[0], 0)) > state_bytes(states[0])  # as Dask places it


def test_one_change_for_several_is_right_from_any_of_their_epochs():
    states, changes = epochs(3)
    sent = SentWeights(lambda given, _: given)
    sent._weights, sent._changes = EpochWeights(states[0], 0), [(change, change) for change in changes[:2]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("perceptron_rs.distributed.weights._MOST", 2)
        _, after = sent.weights(states[3], changes[2], 3)
    assert len(after) == 1
    for begin in range(3):
        weights = EpochWeights(states[0], 0)
        weights.after(changes[:begin])
        assert same(weights.after(after), states[3])


@pytest.mark.parametrize("engine", ["rust", "reference"])
def test_a_pass_over_few_columns(engine, monkeypatch):
    """The engine has the columns that occur alone, and the share is the one of all columns."""
    state = epochs(2)[0][2]
    X, y = rows(7)
    partition = read_partition(0, parse_rows, X, y)
    widths = []
    monkeypatch.setattr(
        "perceptron_rs.distributed.partition.make_pass",
        lambda engine, data, settings, before, *more: (
            widths.append(before["coef"].shape[1]) or make_pass(engine, data, settings, before, *more)
        ),
    )
    digest, encoding = partition.facts.digest, Encoding(np.arange(K))
    few = learn_partition(
        partition, encoding, SETTINGS, digest, EpochWeights(state, 2), EpochTask(engine, "uniform", 2, ())
    )
    data = Data(rows_of(get_engine(engine), partition.parsed.stored, D), y.astype(np.uint32))
    whole = make_pass(get_engine(engine), data, SETTINGS, state, "uniform", 2, ()).share
    assert widths[0] == len(drop_empty_columns(partition.parsed.stored, D)[1]) < D / 2
    for name in ("coef", "intercept"):
        for one, other in zip(few.numbers[name][0], whole.numbers[name][0], strict=True):
            assert (one is other is None) or one.tobytes() == other.tobytes()
    both = add_shares(state, few, whole)
    assert len(both.reports) == 2


def test_columns_keep_their_lanes():
    X, _ = rows(3)
    stored = {"rows_indptr": X.indptr, "rows_indices": X.indices, "rows_values": X.data}
    few, own = drop_empty_columns(stored, D)
    assert (own[few["rows_indices"]] == X.indices).all()
    assert (few["rows_indices"] % 8 == X.indices % 8).all()
    assert own[-1] == D - 1


def test_a_penalty_needs_all_columns(monkeypatch):
    X, y = rows(4)
    partition = read_partition(0, parse_rows, Batch(X, y))
    settings = replace(SETTINGS, learner="perceptron", penalty=(0.0, 0.01))
    state = {name: array for name, array in cold().items() if not name.endswith("_u")}
    state |= {
        "coef": np.ones((K, D)),
    }
    digest, encoding = partition.facts.digest, Encoding(np.arange(K))
    share = learn_partition(
        partition, encoding, settings, digest, EpochWeights(state, 0), EpochTask("rust", "uniform", 0, ())
    )
    assert (share.numbers["coef"][0].w < 1.0).mean() > 0.9  # also where no row has an entry


def test_examples_of_weight_0_are_in_no_count():
    """Which balanced weights are made of; their classes stay classes."""
    X, y = rows(5)
    weights = np.ones(len(y))
    weights[y == 1] = 0.0
    weights[np.flatnonzero(y == 0)[:2]] = 0.0
    facts = read_partition(0, parse_rows, Batch(X, y, weights)).facts
    assert facts.classes.tolist() == np.unique(y).tolist()
    assert facts.counts.tolist() == [np.count_nonzero(weights[y == k]) for k in np.unique(y)]


def test_no_partitions_are_refused():
    """Such as those of a table of a cluster that has none."""
    with pytest.raises(ValueError, match="X must have at least one block"):
        check_alike([])


def test_partitions_of_sequences_travel_whole_and_are_of_one_kind():
    of_names = parse_sequences(Batch([[["a"], ["b"]], [["b"]]], [["D", "N"], ["N"]]), None)
    of_rows = parse_sequences(Batch(np.eye(2), np.array(["D", "N"]), None, [1, 1]), None)
    partitions = [Partition(number, parsed) for number, parsed in enumerate((of_names, of_rows))]
    for partition in partitions:
        again = pickle.loads(pickle.dumps(partition))
        assert again.facts.digest == partition.facts.digest
        assert again.parsed.lengths.tolist() == partition.parsed.lengths.tolist()
        assert again.parsed.labels.tolist() == partition.parsed.labels.tolist()
    with pytest.raises(ValueError, match="partitions 0 and 1 must both hold attributes, or both a matrix"):
        check_alike([partition.facts for partition in partitions])
