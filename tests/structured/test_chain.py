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


def rows_of(engine, X):
    if sp.issparse(X):
        return engine.csr_rows(X.indptr, X.indices, X.data, X.shape[1])
    return engine.dense_rows(np.ascontiguousarray(X))


def fit(engine, X, y, lengths, state, **changes):
    arguments = {"eta0": 1.0, "seed": None, "first_epoch": 0, "max_iter": 3} | changes
    y, lengths = np.array(y, dtype=np.uint32), np.array(lengths, dtype=np.int64)
    report = engine.sequence_fit(rows_of(engine, X), y, lengths, state=to_engine(state), **arguments)
    return report | {"state": from_engine(report["state"])}


def average(engine, state):
    return from_engine(engine.sequence_average(to_engine(state)))


def decode(engine, X, lengths, weights, **changes):
    lengths = np.array(lengths, dtype=np.int64)
    return engine.sequence_decode(
        rows_of(engine, X), lengths, weights=to_engine(weights), threads=1, **changes
    )


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
    averages = average(engine, report["state"])
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
    lean = fit(engine, X, y, lengths, start(3, 4), max_iter=4, seed=9, answer="average")
    averages = average(engine, whole["state"])
    same(lean["state"], averages | {"seen": whole["state"]["seen"]})


def test_only_the_chosen_sequences_are_learnt_from(engine):
    lengths = [3, 6, 2, 5]
    X, y = problem(6, 3, 4, lengths)
    chosen = np.array([0, 2], dtype=np.uint32)
    some = fit(engine, X, y, lengths, start(3, 4), chosen=chosen, seed=1)
    kept = np.r_[0:3, 9:11]
    alone = fit(engine, X[kept], np.array(y)[kept], [3, 2], start(3, 4), seed=1)
    same(some, alone)


class Beam:
    """A beam by brute force: of all prefixes, the best of each last label, of these the B best."""

    def __init__(self, oracle, X, width):
        self.survivors, self.scores = [], []
        for t in range(len(X)):
            grown = [()] if t == 0 else self.survivors[-1]
            prefixes = [(*prefix, label) for prefix in grown for label in range(oracle.labels)]
            score = {prefix: self.score(oracle, X, prefix) for prefix in prefixes}
            best = {}
            for prefix in sorted(prefixes, key=lambda prefix: (-score[prefix], prefix[::-1])):
                best.setdefault(prefix[-1], prefix)
            kept = sorted(best.values(), key=lambda prefix: (-score[prefix], prefix[-1]))[:width]
            self.survivors.append(kept)
            self.scores.append(score)

    @staticmethod
    def score(oracle, X, prefix):
        features = oracle.features(X[: len(prefix)], prefix)
        if len(prefix) < len(X):
            features.pop(("end", prefix[-1]))
        return sum(oracle.w.get(key, 0) * value for key, value in features.items())

    def best(self, t):
        return self.survivors[t][0]


def beam_learn(oracle, X, y, width, update):
    """Make the update of one sequence; return how many labels differ."""
    beam, y, n = Beam(oracle, X, width), tuple(y), len(X)
    oracle.t += 1
    end = n
    if update == "early":
        lost = [t for t in range(n) if y[: t + 1] not in beam.survivors[t]]
        end = lost[0] + 1 if lost else n
    elif update == "max_violation" and beam.best(n - 1) != y:
        ahead = {
            t + 1: beam.scores[t][beam.best(t)] - beam.score(oracle, X, y[: t + 1])
            for t in range(n)
            if beam.best(t) != y[: t + 1]
        }
        end = min(ahead, key=lambda t: (-ahead[t], t))
    z = beam.best(end - 1)
    if z != y[:end]:
        for sign, labels in ((1, y[:end]), (-1, z)):
            features = oracle.features(X[:end], labels)
            if end < n:
                features.pop(("end", labels[-1]))
            for key, value in features.items():
                oracle.w[key] = oracle.w.get(key, 0) + sign * value
    for key, value in oracle.w.items():
        oracle.total[key] = oracle.total.get(key, 0) + value
    return sum(a != b for a, b in zip(y, z, strict=False))


@pytest.mark.parametrize("update", ["full", "early", "max_violation"])
@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_beams_learn_what_brute_force_learns(engine, seed, width, update):
    lengths, labels, d = [4, 5, 1, 6, 3], 4, 3
    X, y = problem(100 + seed, d, labels, lengths)
    oracle, ends = Oracle(d, labels, False), np.cumsum(lengths)
    errors = []
    for _ in range(3):
        parts = [(X[e - n : e].tolist(), y[e - n : e]) for n, e in zip(lengths, ends, strict=True)]
        wrong = [beam_learn(oracle, x, truth, width, update) for x, truth in parts]
        errors.append((sum(w > 0 for w in wrong), sum(wrong)))
        if errors[-1][0] == 0:
            break
    report = fit(engine, X, y, lengths, start(d, labels), beam=width, update=update)
    assert list(zip(report["sequence_errors"], report["token_errors"], strict=True)) == errors
    for name, values in oracle.arrays(oracle.w).items():
        assert report["state"][name].tobytes() == values.tobytes(), name
    averages = average(engine, report["state"])
    for name, values in oracle.arrays(oracle.total, oracle.t + 1).items():
        assert averages[name].tobytes() == values.tobytes(), name


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


@pytest.mark.parametrize("answer", ["state", "average", "last"])
@pytest.mark.parametrize("beam", [None, 2])
def test_held_out_sequences_choose_the_epoch(engine, answer, beam):
    lengths, labels, d = [3, 6, 2, 5, 4, 4, 1, 7], 4, 3
    X, y = problem(11, d, labels, lengths)
    chosen, held_out = np.array([0, 2, 3, 5, 7], dtype=np.uint32), np.array([1, 4, 6], dtype=np.uint32)
    first = np.cumsum([0, *lengths])
    rows = np.concatenate([np.arange(first[i], first[i + 1]) for i in held_out])
    told = []
    report = fit(
        *(engine, X, y, lengths, start(d, labels)),
        chosen=chosen,
        held_out=held_out,
        patience=3,
        answer=answer,
        max_iter=30,
        seed=2,
        beam=beam,
        on_epoch=lambda *errors: told.append(errors),
    )
    state, errors, answers, clean = start(d, labels), [], [], False
    while len(errors) < 30 and not clean and (not errors or len(errors) - 1 - np.argmin(errors) < 3):
        epoch = {"chosen": chosen, "max_iter": 1, "first_epoch": len(errors), "seed": 2, "beam": beam}
        run = fit(engine, X, y, lengths, state, **epoch)
        state, clean = run["state"], run["stopped"] == "clean"
        last = {name: w for name, w in state.items() if name[-2:] != "_u" and name != "seen"}
        predicting = last if answer == "last" else average(engine, state)
        path, _ = decode(engine, X[rows], [lengths[i] for i in held_out], predicting, beam=beam)
        errors.append(int((path != np.array(y)[rows]).sum()))
        answers.append(state if answer == "state" else predicting | {"seen": state["seen"]})
    assert report["held_out_errors"].tolist() == errors
    assert [errors[3] for errors in told] == errors
    assert report["stopped"] == ("clean" if clean else "held_out")
    assert report["seen"] == len(errors) * len(chosen)
    same(report["state"], answers[int(np.argmin(errors))])


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
    arguments = {"eta0": 1.0, "seed": None, "first_epoch": 0, "max_iter": 1}
    for call in (
        lambda: engine.sequence_fit(rows, y, lengths, state=state, **arguments),
        lambda: engine.sequence_decode(rows, lengths, weights=state, threads=1),
    ):
        with pytest.raises(ValueError, match=text):
            call()
