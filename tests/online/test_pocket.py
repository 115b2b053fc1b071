"""The pocket perceptron against its text, one example after the other, in plain numbers."""

import itertools
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tests.support import of_core

CHECKS = ("run", "ratchet", "update", "epoch")
XOR = [[0, 0], [1, 1], [0, 1], [1, 0]], [1, 1, 0, 0]
#: Printed as separable by a source; (1.5, 1.5) lies between both classes.
FOUR = [[1, 1], [2, 2], [1, 2], [2, 1]], [1, 1, 0, 0]


class Oracle:
    """A run whose every step follows the sentence that asks for it."""

    def __init__(
        self,
        X,
        labels,
        check,
        *,
        tie="mistake",
        intercept=True,
        s=None,
        start=None,
        seen=0,
        average=False,
    ):
        self.X, self.y = X, [1 if label else -1 for label in labels]
        self.s = s or [1] * len(X)
        self.check, self.tie, self.intercept = check, tie, intercept
        self.w = list(start or [0] * (len(X[0]) + 1))
        self.t, self.run, self.length, self.longest = seen, 0, 0, 0
        self.visited = [self.w]
        self.pocket, self.pocket_run, self.pocket_length = list(self.w), 0, 0
        self.errors = self.count(self.w)
        self.tried = True  # the vector of now
        self.swaps = []
        self.all = [self.w] if average else None  # the vectors after 0, 1, 2, ... examples

    def activation(self, w, i):
        lanes = [0.0] * 8  # rule 3: whole numbers have the same sum in any order, averages have not
        for j, (p, q) in enumerate(zip(w[:-1], self.X[i], strict=True)):
            lanes[j % 8] += p * q
        t = [lanes[j] + lanes[j + 4] for j in range(4)]
        return (t[0] + t[2]) + (t[1] + t[3]) + w[-1]

    def wrong(self, w, i):
        a = self.activation(w, i)
        right = self.y[i] * a > 0 or (self.tie == "positive" and self.y[i] == 1 and a == 0)
        return not right

    def error(self, w, i):
        a = self.activation(w, i)
        predicted = 1 if a > 0 or (a == 0 and self.tie == "positive") else -1
        return not any(w) or predicted != self.y[i]

    def count(self, w):
        return sum(s for i, s in enumerate(self.s) if self.error(w, i))

    def length_of(self, i):
        return self.s[i]

    def put(self, epoch):
        if self.tried:
            return
        self.tried = True
        errors = self.count(self.w)
        if errors < self.errors:
            self.pocket, self.errors = list(self.w), errors
            self.pocket_run, self.pocket_length = self.run, self.length
            self.swaps.append((epoch, self.t, errors, 0))

    def put_average(self, epoch):
        """The sum of all vectors, divided once: exact whole numbers, so the average is rounded once."""
        average = [sum(column) / len(self.all) for column in zip(*self.all, strict=True)]
        errors = self.count(average)
        if errors < self.errors:
            self.pocket, self.errors, self.pocket_run = average, errors, 0
            self.swaps.append((epoch, self.t, errors, 1))

    def end_run(self, epoch):
        if self.check == "run" and self.length > self.longest:
            self.longest = self.length
            self.put(epoch)

    def epoch(self, number, order):
        mistakes = 0
        for i in order:
            if self.s[i] == 0:
                continue
            self.t += 1
            if not self.wrong(self.w, i):
                self.run, self.length = self.run + 1, self.length + self.length_of(i)
                if self.check == "ratchet" and self.length > self.pocket_length:
                    self.put(number)
            else:
                mistakes += 1
                self.end_run(number)
                step = self.y[i] * self.s[i]
                self.w = [p + step * q for p, q in zip(self.w, [*self.X[i], self.intercept], strict=True)]
                self.visited.append(self.w)
                self.run, self.length, self.tried = 0, 0, False
                if self.check == "update":
                    self.put(number)
            if self.all is not None:
                self.all.append(self.w)
        self.put(number)
        if self.all is not None:
            self.put_average(number)
        return mistakes

    def fit(self, epochs, orders=None):
        for number in range(epochs):
            if self.epoch(number, orders[number] if orders else range(len(self.X))) == 0:
                break
        self.end_run(number)
        return self


SWAP = ("epoch", "t", "errors", "average")


def pocket_of(state, k=0):
    return [*state["coef"][k].tolist(), state["intercept"][k]]


def swaps_of(state, k=0):
    own = state["swap_plane"] == k
    return list(zip(*(state[f"swap_{name}"][own].tolist() for name in SWAP), strict=True))


def compare(state, oracle, k=0):
    assert pocket_of(state, k) == oracle.pocket
    assert state["pocket_errors"][k] == oracle.errors
    assert state["pocket_run"][k] == oracle.pocket_run
    assert swaps_of(state, k) == oracle.swaps
    assert [*state["last_coef"][k].tolist(), state["last_intercept"][k]] == oracle.w
    assert state["seen"][k] == oracle.t


def small_sets(count):
    rng = np.random.default_rng(11)
    for _ in range(count):
        n, d = rng.integers(1, 13), rng.integers(1, 4)
        yield rng.integers(-3, 4, (n, d)).tolist(), rng.integers(0, 2, n).tolist()


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("tie", ["mistake", "positive"])
@pytest.mark.parametrize("data", [XOR, FOUR], ids=["xor", "four"])
def test_printed_examples(trainer, data, check, tie):
    X, labels = data
    state = trainer.fit(
        np.array(X, dtype=np.int8), labels, learner="pocket", check=check, tie=tie, max_iter=8
    )
    compare(state["state"], Oracle(X, labels, check, tie=tie).fit(8))


@pytest.mark.parametrize("check", CHECKS)
def test_who_looks_at_the_state_changes_nothing_on_200_small_sets(trainer, check):
    """The last run counts too, where the state is shown after the epoch that ends it."""
    for epochs, (X, labels) in enumerate(small_sets(200)):
        done = trainer.fit(
            np.array(X, dtype=np.int16),
            labels,
            learner="pocket",
            check=check,
            max_iter=epochs % 3 + 1,
            on_epoch=lambda *_: None,
            with_state=True,
        )
        compare(done["state"], Oracle(X, labels, check).fit(epochs % 3 + 1))


def test_update_keeps_the_best_of_all_vectors_on_200_small_sets(trainer):
    """The first to reach the least count, by a loop over every vector that was visited."""
    better = 0
    for X, labels in [XOR, FOUR, *small_sets(200)]:
        done = trainer.fit(np.array(X, dtype=np.int16), labels, learner="pocket", check="update", max_iter=5)
        oracle = Oracle(X, labels, "update").fit(5)
        counts = [oracle.count(w) for w in oracle.visited]
        best = counts.index(min(counts))
        assert pocket_of(done["state"]) == oracle.visited[best]
        assert done["state"]["pocket_errors"][0] == counts[best]
        compare(done["state"], oracle)
        better += counts[best] < counts[-1]
    assert better > 50, "the last vector is the best one too often to show anything"


@st.composite
def problems(draw):
    n, d = draw(st.integers(1, 14)), draw(st.integers(1, 3))
    values = st.integers(-4, 4)
    classes = draw(st.sampled_from([2, 3]))
    return {
        "X": draw(st.lists(st.lists(values, min_size=d, max_size=d), min_size=n, max_size=n)),
        "labels": draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n)),
        "planes": list(range(classes)) if classes > 2 else [1],
        "check": draw(st.sampled_from(CHECKS)),
        "average": draw(st.booleans()),
        "tie": draw(st.sampled_from(["mistake", "positive"])),
        "intercept": draw(st.booleans()),
        "sample": draw(st.none() | st.lists(st.integers(0, 3), min_size=n, max_size=n)),
        "class_weight": draw(st.lists(st.integers(0, 2), min_size=2, max_size=2)),
        "start": draw(st.lists(values, min_size=d + 1, max_size=d + 1)),
        "seen": draw(st.integers(0, 50)),
        "epochs": draw(st.integers(1, 7)),
        "seed": draw(st.none() | st.integers(0, 99)),
        "sparse": draw(st.booleans()),
        "threads": draw(st.integers(1, 3)),
    }


@given(problem=problems())
def test_equals_the_text(trainer, problem):
    X, planes = problem["X"], problem["planes"]
    n, K = len(X), len(planes)
    sample, (negative, positive) = problem["sample"] or [1] * n, problem["class_weight"]
    data = np.array(X, dtype=np.int8)
    state = trainer.start(
        data.shape[1],
        K,
        coef=[problem["start"][:-1]] * K,
        intercept=[problem["start"][-1]] * K,
        seen=[problem["seen"]] * K,
    )
    report = trainer.fit(
        sp.csr_matrix(data) if problem["sparse"] else data,
        problem["labels"],
        learner="pocket",
        sample_weight=problem["sample"],
        class_weight=[[negative, positive]] * K,
        positive=planes,
        state=state,
        max_iter=problem["epochs"],
        **{name: problem[name] for name in ("check", "average", "tie", "seed", "threads")},
        fit_intercept=problem["intercept"],
    )
    weights = [
        [
            s * (positive if label == k else negative)
            for s, label in zip(sample, problem["labels"], strict=True)
        ]
        for k in planes
    ]
    kept = [i for i in range(n) if any(s[i] for s in weights)]
    orders = [kept] * problem["epochs"]
    if problem["seed"] is not None:
        orders = [
            [
                kept[p]
                for p in trainer.engine.permutation(len(kept), seed=problem["seed"], epoch=e, partition=0)
            ]
            for e in range(problem["epochs"])
        ]
    for place, k in enumerate(planes):
        oracle = Oracle(
            X,
            [label == k for label in problem["labels"]],
            problem["check"],
            tie=problem["tie"],
            intercept=problem["intercept"],
            s=weights[place],
            start=problem["start"],
            seen=problem["seen"],
            average=problem["average"],
        )
        compare(report["state"], oracle.fit(problem["epochs"], orders), place)


@cache
def many_rows(check):
    """Return a problem, its epochs, and the oracle of its run."""
    rng = np.random.default_rng(2)
    n, epochs = (300, 1) if check == "update" else (1000, 3)
    X, labels = rng.integers(0, 3, (n, 4)), rng.integers(0, 2, n)
    X[:, 0] += labels * rng.integers(0, 2, n)
    return X, labels, epochs, Oracle(X.tolist(), labels.tolist(), check).fit(epochs)


@pytest.mark.parametrize("check", CHECKS)
def test_more_rows_than_a_block(trainer, engine_name, check):
    """Counts that are stopped early, in the midst of the rows, change nothing: the oracle stops none."""
    data, labels, epochs, oracle = many_rows(check)
    assert len(oracle.swaps) >= (1 if check == "epoch" else 2)
    wide = np.zeros((len(data), 900))  # few rows make a block
    wide[:, 300:304] = data
    small = wide.astype(np.uint8)
    storages = [wide, sp.csr_matrix(small), small, sp.csr_matrix(wide)]
    for X in storages if engine_name == "rust" else storages[:2]:
        done = trainer.fit(X, labels, learner="pocket", check=check, max_iter=epochs)["state"]
        assert done["coef"][0][300:304].tolist() == oracle.pocket[:-1], (type(X), X.dtype)
        assert (done["pocket_errors"][0], done["pocket_run"][0]) == (oracle.errors, oracle.pocket_run)
        assert swaps_of(done) == oracle.swaps, (type(X), X.dtype)


def test_counts_are_float_sums_in_row_order(trainer):
    """Weights that no order but that of the rows adds up to the same sum."""
    s = [1e16, 1.0, 1.0, 1.0, 1.0, 1.0]
    X = np.ones((6, 1))
    total = 0.0
    for weight in s:
        total += weight
    backwards = 0.0
    for weight in s[::-1]:
        backwards += weight
    assert total != backwards
    start = trainer.start(1, coef=[[1.0]])
    done = trainer.fit(X, [0] * 6, learner="pocket", sample_weight=s, state=start, eta0=1e-20)
    assert done["state"]["pocket_errors"].tolist() == [total]
    assert swaps_of(done["state"]) == []


class FloatOracle(Oracle):
    """The same for one column and weights that are no integers: every sum in its order, each step rounded."""

    def wrong(self, w, i):
        return not self.y[i] * self.activation(w, i) > 0

    def activation(self, w, i):
        return w[0] * self.X[i][0] + w[1]

    def count(self, w):
        total = 0.0
        for i, s in enumerate(self.s):
            total += s if self.error(w, i) else 0.0
        return total


@pytest.mark.parametrize("check", ["run", "ratchet"])
@pytest.mark.parametrize("by", ["sample", "class"])
def test_runs_are_compared_by_the_weights_of_their_examples(trainer, check, by):
    """Added in visiting order, over epochs; counts of examples would put others into the pocket."""
    rng, others = np.random.default_rng(4), 0
    for seed in range(12):
        X, labels = rng.integers(-9, 10, (60, 1)), rng.integers(0, 2, 60)
        X[:, 0] += 5 * labels
        s, class_weight = (2.0 ** rng.integers(-20, 20, 60) / 3).tolist(), [1, 1]
        if by == "class":
            class_weight = [1 / 3, 1000.0]
            s = [class_weight[label] for label in labels]
        epochs = [trainer.engine.permutation(60, seed=seed, epoch=e, partition=0).tolist() for e in range(5)]
        done = trainer.fit(
            X.astype(np.int8),
            labels,
            learner="pocket",
            check=check,
            sample_weight=s if by == "sample" else None,
            class_weight=[class_weight],
            seed=seed,
            max_iter=5,
        )
        oracle = FloatOracle(X.tolist(), labels.tolist(), check, s=s).fit(5, epochs)
        compare(done["state"], oracle)
        counting = FloatOracle(X.tolist(), labels.tolist(), check, s=s)
        counting.length_of = lambda i: 1
        others += counting.fit(5, epochs).swaps != oracle.swaps
    assert others > 3, "the weights of the runs decide too seldom to show anything"


@pytest.mark.parametrize("check", CHECKS)
def test_rounding_on_arbitrary_data(trainer, check):
    """The pocket holds one of the vectors that the plain perceptron went through, to the last bit."""
    rng = np.random.default_rng(8)
    X, labels = rng.standard_normal((60, 9)), rng.integers(0, 2, 60)
    visited, state = [], trainer.start(9)
    for i in np.tile(np.arange(60), 4):
        visited.append(state["coef"].tobytes() + state["intercept"].tobytes())
        state = trainer.fit(X[i : i + 1], labels[i : i + 1], learner="perceptron", state=state, eta0=0.1)[
            "state"
        ]
    visited.append(state["coef"].tobytes() + state["intercept"].tobytes())
    done = trainer.fit(X, labels, learner="pocket", check=check, eta0=0.1, max_iter=4)["state"]
    assert done["coef"].tobytes() + done["intercept"].tobytes() in visited[1:]
    a = trainer.scores(X, done["coef"], done["intercept"])[:, 0]
    assert done["pocket_errors"][0] == np.count_nonzero(~((2.0 * labels - 1) * a > 0))
    assert done["last_coef"].tobytes() + done["last_intercept"].tobytes() == visited[-1]


@pytest.mark.parametrize(
    "change",
    [
        {"joint": "max", "positive": [0, 1]},
        {"margin_threshold": 0.5},
        {"added_feature": 1.0},
        {"max_mistakes_per_example": 3},
    ],
)
@of_core
def test_what_would_not_be_judged_by_the_activation_alone_is_refused(trainer, change):
    with pytest.raises(ValueError, match=r"joint, margin_threshold, added_feature .* must not be set"):
        trainer.fit(np.eye(2), [0, 1], learner="pocket", **change)


@of_core
def test_unknown_checks(trainer):
    with pytest.raises(ValueError, match=r"check must be .*got 'often"):
        trainer.fit(np.eye(2), [0, 1], learner="pocket", check="often")
    state = trainer.start(2) | {"ages": np.zeros((1, 2), dtype=np.int64)}
    with pytest.raises(ValueError, match="penalty must be None"):
        trainer.fit(np.eye(2), [0, 1], learner="pocket", state=state, penalty=(0.0, 0.1))


@pytest.mark.parametrize("sparse", [False, True])
def test_averages_that_overflow(trainer, sparse):
    """The last vector is finite, but (T + 1) w is not; nothing is counted with that, whatever is stored."""
    X = np.array([[0.0, 1.0], [0.0, 1.0]])
    start = trainer.start(2, coef=[[1e308, 0.0]])
    X = sp.csr_matrix(X) if sparse else X
    done = trainer.fit(X, [0, 1], learner="pocket", state=start)["state"]
    assert done["last_coef"][0, 0] == 1e308
    with pytest.raises(OverflowError, match="epoch 0"):
        trainer.fit(X, [0, 1], learner="pocket", state=start, average=True)


def test_errors_that_overflow_as_a_sum(trainer):
    with pytest.raises(OverflowError, match="epoch 0"):
        trainer.fit(
            np.eye(3),
            [0, 0, 0],
            learner="pocket",
            sample_weight=[1e308] * 3,
            class_weight=[[1, 1]],
            eta0=1e-300,
            state=trainer.start(3, coef=[[1e9, 1e9, 1e9]]),
        )


def test_the_callback_sees_the_pocket_so_far_and_changes_nothing(trainer):
    rng = np.random.default_rng(3)
    X, labels = rng.integers(-3, 4, (60, 3)).astype(np.int8), rng.integers(0, 3, 60)
    seen = []
    arguments = {
        "learner": "pocket",
        "positive": [0, 1, 2],
        "max_iter": 6,
        "seed": 1,
        "tol": 1e-3,
        "n_iter_no_change": 2,
    }
    for check, average in itertools.product(CHECKS, (False, True)):
        arguments["average"] = average
        alone = trainer.fit(X, labels, check=check, **arguments)
        seen.clear()
        watched = trainer.fit(
            X,
            labels,
            check=check,
            **arguments,
            on_epoch=lambda *record: seen.append(record[3]),
            with_state=True,
        )
        for name, values in alone["state"].items():
            assert values.tobytes() == watched["state"][name].tobytes(), (check, name)
        errors = np.array([state["pocket_errors"] for state in seen])
        assert (np.diff(errors, axis=0) <= 0).all()
        assert all(len(state["swap_t"]) == len(state["swap_plane"]) for state in seen)
