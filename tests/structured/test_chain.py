"""The chain on integer data against an enumeration of all label sequences, in Python's integers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from perceptron_rs import _core, reference


def start(d, labels, *, pair=False):
    shapes = {"emission": (d, labels), "transition": (labels, labels), "start": (labels,), "end": (labels,)}
    if pair:
        shapes["pair"] = (d, labels * labels)
    state = {name: np.zeros(shape) for name, shape in shapes.items()}
    state |= {f"{name}_u": np.zeros(shape) for name, shape in shapes.items()}
    return state | {"seen": np.zeros(1, dtype=np.int64)}


def rows_of(engine, X):
    if sp.issparse(X):
        return engine.csr_rows(X.indptr, X.indices, X.data, X.shape[1])
    return engine.dense_rows(np.ascontiguousarray(X))


def fit(engine, X, y, lengths, state, **changes):
    arguments = {"eta0": 1.0, "seed": None, "first_epoch": 0, "max_iter": 3} | changes
    y, lengths = np.array(y, dtype=np.uint32), np.array(lengths, dtype=np.int64)
    return engine.sequence_fit(rows_of(engine, X), y, lengths, state=state, **arguments)


def decode(engine, X, lengths, weights, **changes):
    lengths = np.array(lengths, dtype=np.int64)
    return engine.sequence_decode(rows_of(engine, X), lengths, weights=weights, threads=1, **changes)


class Oracle:
    """Looks at all sequences; explicit sum of all weight vectors; Python's integers."""

    def __init__(self, d, labels, pair):
        self.d, self.labels, self.pair = d, labels, pair
        self.w, self.total, self.t = {}, {}, 0

    def features(self, X, y):
        found = {}
        for t, (x, label) in enumerate(zip(X, y, strict=True)):
            for j, value in enumerate(x):
                found["emission", j, label] = found.get(("emission", j, label), 0) + int(value)
                if t and self.pair:
                    key = "pair", j, y[t - 1] * self.labels + label
                    found[key] = found.get(key, 0) + int(value)
            if t:
                found["transition", y[t - 1], label] = found.get(("transition", y[t - 1], label), 0) + 1
        found["start", y[0]] = found["end", y[-1]] = 1
        return found

    def score(self, X, y):
        return sum(self.w.get(key, 0) * value for key, value in self.features(X, y).items())

    def best(self, X, may=lambda y: True):
        sequences = [y for y in itertools.product(range(self.labels), repeat=len(X)) if may(y)]
        # Ties go to the lowest label at each step back from the end.
        return min(sequences, key=lambda y: (-self.score(X, y), y[::-1]))

    def learn(self, X, y):
        self.t += 1
        z = self.best(X)
        if z != tuple(y):
            for sign, labels in ((1, tuple(y)), (-1, z)):
                for key, value in self.features(X, labels).items():
                    self.w[key] = self.w.get(key, 0) + sign * value
        for key, value in self.w.items():
            self.total[key] = self.total.get(key, 0) + value
        return sum(a != b for a, b in zip(y, z, strict=True))

    def arrays(self, of, scale=1):
        state = start(self.d, self.labels, pair=self.pair)
        for (name, *place), value in of.items():
            state[name][tuple(place)] = value / scale
        return {name: array for name, array in state.items() if name != "seen" and name[-2:] != "_u"}


def problem(seed, d, labels, lengths):
    random = np.random.default_rng(seed)
    n = sum(lengths)
    return random.integers(-2, 3, (n, d)).astype(np.int8), random.integers(0, labels, n).tolist()


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
    averages = engine.sequence_average(report["state"])
    for name, values in oracle.arrays(oracle.total, oracle.t + 1).items():
        assert averages[name].tobytes() == values.tobytes(), name

    path, scores = decode(engine, X, lengths, oracle.arrays(oracle.w))
    for i, (n, e) in enumerate(zip(lengths, ends, strict=True)):
        best = oracle.best(X[e - n : e].tolist())
        assert tuple(path[e - n : e].tolist()) == best
        assert scores[i] == oracle.score(X[e - n : e].tolist(), best)


def same(left, right):
    assert left.keys() == right.keys()
    for name, value in left.items():
        if isinstance(value, dict):
            same(value, right[name])
        elif isinstance(value, np.ndarray):
            assert value.dtype == right[name].dtype, name
            assert value.tobytes() == right[name].tobytes(), name
        else:
            assert value == right[name], name


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
    averages = [engine.sequence_average(answers[0]["state"]) for engine in (reference, _core)]
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
