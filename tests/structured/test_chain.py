"""The chain on integer data against an enumeration of all label sequences, in Python's integers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from perceptron_rs import _core, reference
from perceptron_rs.settings import Chain, Sequences
from tests.support import of_core, run_of

from .support import Oracle, average, begin, decode, fit, problem, rows_of, same, start, to_engine


@pytest.mark.parametrize("pair", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_learns_what_the_enumeration_learns(engine, seed, pair):
    lengths, labels, d = [3, 1, 4, 2, 5], 3, 3
    X, y = problem(seed, d, labels, lengths)
    oracle, ends = Oracle(d, labels, pair), np.cumsum(lengths)
    errors = []
    for _ in range(3):
        wrong = [
            oracle.learn(X[e - n : e].tolist(), y[e - n : e]) for n, e in zip(lengths, ends, strict=True)
        ]
        errors.append((sum(w > 0 for w in wrong), sum(wrong)))
        if errors[-1][0] == 0:
            break
    report = fit(engine, X, y, lengths, start(d, labels, pair=pair))
    assert list(zip(report["sequence_errors"], report["token_errors"], strict=True)) == errors
    assert report["state"]["seen"].tolist() == [oracle.t]
    for name, values in oracle.arrays(oracle.w).items():
        assert report["state"][name].tobytes() == values.tobytes(), name
    averages = average(engine, report["state"])
    for name, values in oracle.arrays(oracle.total, oracle.t + 1).items():
        assert averages[name].tobytes() == values.tobytes(), name

    path, scores = decode(engine, X, lengths, oracle.arrays(oracle.w))
    for i, (n, e) in enumerate(zip(lengths, ends, strict=True)):
        best = oracle.best(X[e - n : e].tolist())
        assert tuple(path[e - n : e].tolist()) == best
        assert scores[i] == oracle.score(X[e - n : e].tolist(), best)


@pytest.mark.parametrize("pair", [False, True])
def test_the_bound_of_the_integers_is_crossed_unseen(pair):
    lengths = [3, 6, 2, 5] * 5
    X, y = problem(4, 2, 4, lengths)
    X = X.astype(np.int16) * 100
    row = np.abs(X.astype(np.int64)).sum(axis=1).max() * (2 if pair else 1)
    limit = 2**30 // (6 * (row + 1) + 2)
    runs = []
    for engine in (reference, _core):
        state = start(2, 4, pair=pair)
        state["emission"] += limit - 100  # of all labels: it decides nothing
        runs.append(fit(engine, X, y, lengths, state, max_iter=3))
    assert np.abs(runs[0]["state"]["emission"]).max() > limit, "the run stays below the bound"
    assert runs[0]["sequence_errors"][0] > 3
    same(*runs)


def test_epochs_one_by_one_are_the_epochs_of_one_call(engine):
    lengths = [3, 6, 2, 5, 1, 1]
    X, y = problem(5, 3, 4, lengths)
    whole = fit(engine, X, y, lengths, start(3, 4), max_iter=4, seed=9)
    state = start(3, 4)
    before = {name: array.copy() for name, array in state.items()}
    for epoch in range(len(whole["sequence_errors"])):
        report = fit(engine, X, y, lengths, state, max_iter=1, seed=9, first_epoch=epoch)
        if epoch == 0:
            same(state, before)
        state = report["state"]
    same(state, whole["state"])


def test_only_the_chosen_sequences_are_learnt_from(engine):
    lengths = [3, 6, 2, 5]
    X, y = problem(6, 3, 4, lengths)
    chosen = np.array([0, 2], dtype=np.uint32)
    some = fit(engine, X, y, lengths, start(3, 4), chosen=chosen, seed=1)
    kept = np.r_[0:3, 9:11]
    alone = fit(engine, X[kept], np.array(y)[kept], [3, 2], start(3, 4), seed=1)
    same(some, alone)


@pytest.mark.parametrize(
    "given",
    [
        np.asfortranarray,
        lambda mask: np.repeat(mask, 2, axis=1)[:, ::2],
        lambda mask: (mask * np.uint8(2)).view(np.bool_),
        lambda mask: (mask * np.arange(1, 1 + mask.size, dtype=np.uint8).reshape(mask.shape)).view(np.bool_),
    ],
    ids=["Fortran order", "strided", "bytes of 2", "all bytes"],
)
def test_masks_are_read_as_numpy_reads_them(engine, given):
    """Any byte but 0 is true, as in booleans that C code made; and any layout is read row by row."""
    random = np.random.default_rng(9)
    lengths, labels, d = [4, 3, 5], 3, 2
    X, y = problem(9, d, labels, lengths)
    oracle, ends = Oracle(d, labels, False), np.cumsum(lengths)
    for n, e in zip(lengths, ends, strict=True):
        oracle.learn(X[e - n : e].tolist(), y[e - n : e])
    allowed = random.random((sum(lengths), labels)) < 0.6
    allowed[np.arange(sum(lengths)), random.integers(0, labels, sum(lengths))] = True
    forbidden = np.zeros((labels, labels), dtype=bool)
    forbidden[1, 2] = True
    weights, limits = oracle.arrays(oracle.w), {"allowed": allowed, "forbidden": forbidden}
    path, scores = decode(engine, X, lengths, weights, **limits)
    again = decode(engine, X, lengths, weights, **{name: given(mask) for name, mask in limits.items()})
    assert (again[0].tolist(), again[1].tolist()) == (path.tolist(), scores.tolist())
    assert path.tolist() != decode(engine, X, lengths, weights)[0].tolist()


def test_limits_against_the_enumeration(engine):
    random = np.random.default_rng(8)
    lengths, labels, d = [4, 3, 5], 3, 2
    X, y = problem(8, d, labels, lengths)
    oracle, ends = Oracle(d, labels, False), np.cumsum(lengths)
    for _ in range(4):
        for n, e in zip(lengths, ends, strict=True):
            oracle.learn(X[e - n : e].tolist(), y[e - n : e])
    allowed = random.random((sum(lengths), labels)) < 0.6
    allowed[np.arange(sum(lengths)), random.integers(0, labels, sum(lengths))] = True
    forbidden = np.zeros((labels, labels), dtype=bool)
    forbidden[1, 2] = True
    path, scores = decode(engine, X, lengths, oracle.arrays(oracle.w), allowed=allowed, forbidden=forbidden)
    for i, (n, e) in enumerate(zip(lengths, ends, strict=True)):

        def may(z, first=e - n):
            pairs = itertools.pairwise(z)
            return all(allowed[first + t, label] for t, label in enumerate(z)) and (1, 2) not in pairs

        best = oracle.best(X[e - n : e].tolist(), may)
        assert tuple(path[e - n : e].tolist()) == best
        assert scores[i] == oracle.score(X[e - n : e].tolist(), best)


SEARCHES = [
    (None, "full"),
    (1, "full"),
    (2, "early"),
    (2, "max_violation"),
    (3, "max_violation"),
    (9, "early"),
]


@given(
    seed=st.integers(0, 2**32 - 1),
    labels=st.integers(1, 19),
    d=st.integers(1, 12),
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=6),
    pair=st.booleans(),
    search=st.sampled_from(SEARCHES),
    eta0=st.sampled_from([1.0, 2.0, 0.1]),
    order=st.sampled_from([None, 0, 7]),
    floats=st.booleans(),
)
def test_the_engines_agree(seed, labels, d, lengths, pair, search, eta0, order, floats):
    X, y = problem(seed, d, labels, lengths)
    X = X.astype(np.float64) * 0.1 if floats else X
    changes = {"eta0": eta0, "seed": order, "beam": search[0], "update": search[1]}
    answers = [
        fit(engine, kind(X), y, lengths, start(d, labels, pair=pair), **changes)
        for engine in (reference, _core)
        for kind in (np.asarray, sp.csr_matrix)
    ]
    for answer in answers[1:]:
        same(answers[0], answer)
    averages = [average(engine, answers[0]["state"]) for engine in (reference, _core)]
    same(*averages)
    random = np.random.default_rng(seed)
    limits = [
        {},
        {"beam": search[0]},
        {"allowed": random.random((sum(lengths), labels)) < 0.8},
        {"forbidden": random.random((labels, labels)) < 0.3},
        {
            "forbidden": random.random((labels, labels)) < 0.1,
            "beam": 3,
            "allowed": random.random((sum(lengths), labels)) < 0.9,
        },
    ]
    for limit in limits:
        found = []
        for engine in (reference, _core):
            try:
                path, scores = decode(engine, X, lengths, averages[0], **limit)
            except ValueError as error:
                found.append(str(error))
            else:
                found.append((path.tobytes(), scores.tobytes()))
        assert found[0] == found[1], limit


@pytest.mark.parametrize(("labels", "pair", "eta0"), [(70, False, 1.0), (70, False, 0.1), (11, True, 1.0)])
def test_columns_of_few_and_of_many_labels(labels, pair, eta0):
    """Weights of a column move to more room, and then to a row of all labels: between updates, too."""
    random = np.random.default_rng(labels)
    lengths = [6] * 30
    n, d = sum(lengths), 8
    X = np.zeros((n, d), dtype=np.int8)
    X[:, 0] = 1  # has all labels
    for j in range(1, d):
        X[random.choice(n, j * j, replace=False), j] = random.integers(1, 3, j * j)
    y = random.integers(0, labels, n)
    runs = [
        fit(engine, sp.csr_matrix(X), y, lengths, start(d, labels, pair=pair), max_iter=4, seed=3, eta0=eta0)
        for engine in (reference, _core)
    ]
    same(*runs)
    used = (runs[0]["state"]["emission_u"] != 0).sum(axis=1)
    assert used.max() > 16 or pair
    assert pair or {len(str(count)) for count in used} == {1, 2}, "columns of few labels and of many"
    state = runs[0]["state"]
    again = [
        fit(engine, sp.csr_matrix(X), y, lengths, state, max_iter=1, eta0=eta0)
        for engine in (reference, _core)
    ]
    same(*again)
    means = [average(engine, state) for engine in (reference, _core)]
    same(*means)
    same(
        *({"path": a, "scores": b} for a, b in (decode(e, X, lengths, means[0]) for e in (reference, _core)))
    )


@pytest.mark.parametrize(("beam", "update"), [(None, "full"), (2, "early"), (1, "max_violation")])
@pytest.mark.parametrize("eta0", [1.0, 0.3])
def test_the_answers_are_those_of_the_weights_before(engine, beam, update, eta0):
    lengths, labels, d = [3, 6, 2, 5, 4, 1], 4, 3
    X, y = problem(12, d, labels, lengths)
    changes = {"beam": beam, "update": update, "eta0": eta0, "max_iter": 1}
    once = fit(engine, X, y, lengths, start(d, labels), track_answers=True, **changes)
    state, answers, first = start(d, labels), [], 0
    for n in lengths:
        rows = slice(first, first + n)
        weights = {name: w for name, w in state.items() if name[-2:] != "_u" and name != "seen"}
        answers += decode(engine, X[rows], [n], weights, beam=beam)[0].tolist()
        state = fit(engine, X[rows], y[rows], [n], state, **changes)["state"]
        first += n
    assert once["tracked"]["answers"].dtype == np.uint32
    assert once["tracked"]["answers"].tolist() == answers
    same(once["state"], state)
    assert fit(engine, X, y, lengths, start(d, labels), **changes)["tracked"] == {}


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"chosen": np.array([0, 2], dtype=np.uint32)}, "chosen must be below the number of sequences, 2"),
        ({"y": [0, 1, 5]}, "labels must be below 2, got 5"),
        ({"y": [0, 1]}, "labels must have 3 entries, one for each row, got 2"),
        ({"lengths": [1, 1]}, "lengths must add up to the number of rows, 3, got 2"),
        ({"lengths": [0, 3]}, "lengths must be at least 1, got 0 for sequence 0"),
    ],
)
def test_what_no_run_can_start_with(engine, changes, text):
    given = {"y": [0, 1, 1], "lengths": [1, 2]} | changes
    y, lengths = given.pop("y"), given.pop("lengths")
    with pytest.raises(ValueError, match=text):
        begin(engine, np.ones((3, 4)), y, lengths, start(4, 2), **given)


@of_core
@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"beam": 0}, "beam must be at least 1, got 0; None looks at all labels"),
        ({"update": "late"}, r"update must be one of 'full', 'early', 'max_violation', got 'late'"),
        ({"eta0": 0.0}, "eta0 must be finite and above 0, got 0"),
    ],
)
def test_what_the_core_does_not_start_with(engine, changes, text):
    with pytest.raises(ValueError, match=text):
        begin(engine, np.ones((3, 4)), [0, 1, 1], [1, 2], start(4, 2), **changes)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"emission_indptr": [0, 1, 0, 2]}, "emission_indptr must rise from 0 to the number of weights"),
        ({"emission_indptr": [0, 1, 2]}, "emission_indptr must have 4 entries, got 3"),
        ({"emission_indptr": [1, 1, 2, 2]}, "emission_indptr must rise from 0"),
        ({"emission_indptr": [0, 1, 2, 3]}, "emission_indptr must rise from 0"),
        ({"emission_indices": [0, 2]}, "emission_indices must rise within each column, from 0 to at most 1"),
        ({"emission_indices": [-1, 0]}, "emission_indices must rise"),
        ({"emission_indptr": [0, 2, 2, 2], "emission_indices": [1, 1]}, "emission_indices must rise"),
        ({"emission_data": [1.0]}, "emission_indptr must rise from 0 to the number of weights, 2"),
    ],
)
def test_matrices_that_are_none(engine, changes, text):
    state = start(3, 2)
    state["emission"][[0, 1], [0, 1]] = 1.0
    state = to_engine(state)
    for name, value in changes.items():
        state[name] = np.array(value, dtype=state[name].dtype)
    rows = rows_of(engine, np.ones((2, 3)))
    lengths, y = np.array([2]), np.zeros(2, dtype=np.uint32)
    for call in (
        lambda: run_of(engine, Sequences(rows, y, lengths=lengths), state, Chain(eta0=1.0)),
        lambda: engine.sequence_decode(rows, lengths, weights=state, threads=1),
    ):
        with pytest.raises(ValueError, match=text):
            call()


def test_of_many_columns_the_weights_that_are_read_are_checked(engine):
    """Rows of few entries among many columns; that of sparse and of dense rows is one answer."""
    random, d = np.random.default_rng(5), 2000
    X = sp.random(6, d, density=0.005, format="csr", random_state=6)
    X.data = np.ceil(X.data * 3)
    state = start(d, 3, pair=True)
    for name in ("emission", "pair", "transition"):
        state[name] += random.integers(-3, 4, state[name].shape)
    lengths = np.array([2, 4])
    answers = [decode(engine, rows, lengths, state) for rows in (X, X.toarray())]
    assert [part.tobytes() for part in answers[0]] == [part.tobytes() for part in answers[1]]
    weights = to_engine(state)
    column = int(X.indices[3])
    for name, planes in (("emission", 3), ("pair", 9)):
        broken = weights | {f"{name}_indices": weights[f"{name}_indices"].copy()}
        broken[f"{name}_indices"][weights[f"{name}_indptr"][column]] = planes
        with pytest.raises(ValueError, match=f"{name}_indices must rise"):
            engine.sequence_decode(rows_of(engine, X), lengths, weights=broken, threads=1)
    broken = weights | {"emission_indptr": weights["emission_indptr"].copy()}
    broken["emission_indptr"][column + 1] = broken["emission_indptr"][column] - 1
    with pytest.raises(ValueError, match="emission_indptr must rise"):
        engine.sequence_decode(rows_of(engine, X), lengths, weights=broken, threads=1)


def test_no_start_value_stays_minus_zero(engine):
    state = start(2, 3)
    state |= {name: np.full_like(w, -0.0) for name, w in state.items() if name != "seen"}
    learnt = fit(engine, np.array([[1.0, 0.0]]), [0], [1], state, max_iter=1)["state"]
    for name, w in learnt.items():
        assert not (np.signbit(w) & (w == 0)).any(), name
