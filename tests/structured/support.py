"""A chain in the engines, and one by enumeration of all label sequences, in Python's integers."""

from __future__ import annotations

import itertools

import numpy as np
import scipy.sparse as sp

from perceptron_rs.settings import Chain, Sequences
from perceptron_rs.training.driver import Schedule, follow
from tests.support import rows_of, run_of


def start(d, labels, *, pair=False):
    """Return weights and sums of 0, the matrices dense."""
    shapes = {"emission": (d, labels), "transition": (labels, labels), "start": (labels,), "end": (labels,)}
    if pair:
        shapes["pair"] = (d, labels * labels)
    state = {name: np.zeros(shape) for name, shape in shapes.items()}
    state |= {f"{name}_u": np.zeros(shape) for name, shape in shapes.items()}
    return state | {"seen": np.zeros(1, dtype=np.int64)}


def to_engine(state):
    """Return the same with matrices in the form CSR."""
    out = {}
    for name, w in state.items():
        base, suffix = name.removesuffix("_u"), "_u" if name.endswith("_u") else ""
        if base in ("emission", "pair"):
            X = sp.csr_matrix(w)
            out[f"{base}_indptr{suffix}"] = X.indptr.astype(np.int64)
            out[f"{base}_indices{suffix}"] = X.indices.astype(np.int32)
            out[f"{base}_data{suffix}"] = X.data
        else:
            out[name] = w
    return out


def from_engine(state):
    """Return the same with dense matrices."""
    out = {name: w for name, w in state.items() if not name.startswith(("emission", "pair"))}
    labels = len(state["start"])
    for base, planes in (("emission", labels), ("pair", labels**2)):
        for suffix in ("", "_u"):
            if f"{base}_indptr{suffix}" in state:
                indptr, indices, data = (
                    state[f"{base}_{part}{suffix}"] for part in ("indptr", "indices", "data")
                )
                assert (indptr.dtype, indices.dtype) == (np.int64, np.int32)
                assert (data != 0).all(), "a weight of 0 is kept"
                X = sp.csr_matrix((data, indices, indptr), shape=(len(indptr) - 1, planes))
                assert X.has_canonical_format
                out[f"{base}{suffix}"] = X.toarray()
    return out


def begin(engine, X, y, lengths, state, *, chosen=None, **settings):
    """Return a run and its settings."""
    settings = Chain(**{"eta0": 1.0} | settings)
    y, lengths = np.array(y, dtype=np.uint32), np.array(lengths, dtype=np.int64)
    data = Sequences(rows_of(engine, X), y, lengths=lengths, chosen=chosen)
    return run_of(engine, data, to_engine(state), settings), settings


def fit(engine, X, y, lengths, state, *, first_epoch=0, max_iter=3, **changes):
    run, settings = begin(engine, X, y, lengths, state, **changes)
    report = follow(run, settings, Schedule(first_epoch, max_iter))
    return {
        "state": from_engine(report.state),
        "sequence_errors": report.mistakes[:, 0],
        "token_errors": report.losses[:, 0].astype(np.int64),
        "stopped": report.stopped[0],
        "tracked": report.tracked,
    }


def average(engine, state):
    return from_engine(engine.sequence_average(to_engine(state)))


def decode(engine, X, lengths, weights, **changes):
    """Return what is found, which is the same for weights that were made ready."""
    lengths, given = np.array(lengths, dtype=np.int64), to_engine(weights)
    found = engine.sequence_decode(rows_of(engine, X), lengths, weights=given, threads=1, **changes)
    ready = engine.sequence_weights(given)
    again = engine.sequence_decode(rows_of(engine, X), lengths, weights=ready, threads=1, **changes)
    assert [part.tobytes() for part in again] == [part.tobytes() for part in found]
    return found


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
