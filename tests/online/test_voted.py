"""The voted learner and the votes, against a loop that stores every vector in exact integers."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

TYPES = ("float64", "float32", "int8", "uint8", "int16", "uint16", "int32")


def run(X, y, *, tie, intercept, w, b, passes):
    """Figure 1 of Freund and Schapire, in whole numbers: [vector, bias, survival count, row], and T."""
    vectors, t = [[list(w), b, 0, -1]], 0
    for _ in range(passes):
        for i, (x, sign) in enumerate(zip(X, y, strict=True)):
            t += 1
            v, bias = vectors[-1][:2]
            a = sum(p * q for p, q in zip(v, x, strict=True)) + bias
            if sign * a > 0 or (tie == "positive" and sign == 1 and a == 0):
                vectors[-1][2] += 1
            else:
                made = [p + sign * q for p, q in zip(v, x, strict=True)]
                vectors.append([made, bias + sign * intercept, 1, i])
    return vectors, t


def vote(vectors, x, tie):
    """sum_k c_k sign(w_k . x + b_k): a vector votes for the class as which it would have survived x."""
    activations = [sum(p * q for p, q in zip(w, x, strict=True)) + b for w, b, *_ in vectors]
    signs = [1 if a > 0 or (a == 0 and tie == "positive") else -1 if a < 0 else 0 for a in activations]
    return sum(c * sign for sign, (_, _, c, _) in zip(signs, vectors, strict=True))


def ballot(start, after, *, intercept=True):
    """The vectors of a run as the engines take them, and the counts of each plane."""
    logs = np.split(after["log_t"], after["log_start"][1:-1])
    counts = [
        np.diff([first + 1, *t, last + 1])
        for first, t, last in zip(start["seen"], logs, after["seen"], strict=True)
    ]
    vectors = {name: after[name] for name in ("log_start", "log_row", "log_t", "log_step")}
    vectors |= {"coef": start["coef"], "intercept": start["intercept"], "log_count": np.concatenate(counts)}
    vectors |= {"coef_u": start["coef"] * 0, "intercept_u": start["intercept"] * 0}
    return vectors | {"log_bias": after["log_step"] * intercept}, counts


@st.composite
def problems(draw):
    n, d = draw(st.integers(1, 12)), draw(st.integers(1, 5))
    values = st.integers(-5, 5)
    return {
        "X": draw(st.lists(st.lists(values, min_size=d, max_size=d), min_size=n, max_size=n)),
        "labels": draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)),
        "tie": draw(st.sampled_from(["mistake", "positive"])),
        "intercept": draw(st.booleans()),
        "w": draw(st.lists(values, min_size=d, max_size=d)) if draw(st.booleans()) else [0] * d,
        "b": draw(values),
        "passes": draw(st.integers(1, 4)),
        "forms": draw(st.tuples(*2 * [st.sampled_from(["dense", "csr"])])),
        "types": draw(st.tuples(*2 * [st.sampled_from(["int8", "float64", "int32"])])),
        # 1/2 has no path in whole numbers, and is exact all the same
        "scale": draw(st.sampled_from([1, 0.5])),
    }


@given(problem=problems())
def test_equals_the_loop_that_stores_every_vector(trainer, problem):
    scale = problem["scale"]
    dtypes = problem["types"] if scale == 1 else ("float64", "float32")
    trained, voted_on = (np.array(problem["X"]) * scale).astype(dtypes[0]), np.array(problem["X"])
    voted_on = (voted_on * scale).astype(dtypes[1])
    if problem["forms"][0] == "csr":
        trained = sp.csr_matrix(trained)
    if problem["forms"][1] == "csr":
        voted_on = sp.csr_matrix(voted_on)
    y = [2 * label - 1 for label in problem["labels"]]
    start = trainer.start(len(problem["w"]), coef=np.array(problem["w"]) * scale, intercept=problem["b"])
    after = trainer.fit(
        trained,
        problem["labels"],
        learner="voted",
        state=start,
        tie=problem["tie"],
        fit_intercept=problem["intercept"],
        max_iter=problem["passes"],
    )["state"]
    X = (np.array(problem["X"]) * scale).tolist()
    vectors, t = run(
        X,
        y,
        tie=problem["tie"],
        intercept=int(problem["intercept"]),
        w=(np.array(problem["w"]) * scale).tolist(),
        b=problem["b"],
        passes=len(X) and int(np.ceil(after["seen"][0] / len(X))),
    )
    ballots, counts = ballot(start, after, intercept=problem["intercept"])
    assert after["seen"].tolist() == [t]
    assert counts[0].tolist() == [c for _, _, c, _ in vectors]
    assert counts[0].sum() == t
    assert after["log_row"].tolist() == [row for *_, row in vectors[1:]]
    for tie in ("mistake", "positive"):
        votes = trainer.engine.votes(
            trainer.rows(voted_on), trainer.rows(trained), ballots, tie=tie, threads=1
        )
        assert votes.tolist() == [[vote(vectors, x, tie)] for x in X]
    for k, (w, b, _, _) in enumerate(vectors):
        made = trainer.engine.replay(trainer.rows(trained), ballots, upto=np.array([k]))
        assert made["coef"][0].tolist() == w
        assert made["intercept"].tolist() == [b]


def test_the_trace(trainer):
    X = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], dtype=np.int8)
    after = trainer.fit(X, [0, 1, 1, 0, 0, 1], learner="voted", fit_intercept=False)["state"]
    assert after["log_row"].tolist() == [0, 2, 4]
    assert after["log_t"].tolist() == [1, 3, 5]
    assert after["log_step"].tolist() == [-1.0, 1.0, -1.0]
    ballots, counts = ballot(trainer.start(2), after, intercept=False)
    assert counts[0].tolist() == [0, 2, 2, 2]  # the zero vector under tie="mistake" survives nothing
    votes = trainer.engine.votes(trainer.rows(X), trainer.rows(X), ballots, tie="mistake", threads=1)
    assert votes.tolist() == [[-6], [6], [2], [-6], [0], [6]]  # on row 4 one activation is 0: no vote


def test_a_run_without_a_mistake_leaves_one_vector_with_all_votes(trainer):
    X = np.array([[1.0], [-1.0]])
    start = trainer.start(1, coef=[3.0])
    after = trainer.fit(X, [1, 0], learner="voted", state=start)["state"]
    ballots, counts = ballot(start, after)
    assert counts[0].tolist() == [2]
    assert after["log_start"].tolist() == [0, 0]
    votes = trainer.engine.votes(
        trainer.rows(X), trainer.rows(np.zeros((0, 1))), ballots, tie="mistake", threads=1
    )
    assert votes.tolist() == [[2], [-2]]


def test_every_split_into_batches_gives_one_log(trainer):
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(7, 3)), rng.integers(0, 3, 7)
    whole = trainer.fit(X, labels, learner="voted", positive=[0, 1, 2])["state"]
    for cuts in itertools.chain.from_iterable(itertools.combinations(range(1, 7), k) for k in range(7)):
        state = trainer.start(3, 3)
        logs = [[] for _ in range(3)]
        for begin, end in itertools.pairwise([0, *cuts, 7]):
            part = trainer.fit(
                X[begin:end], labels[begin:end], learner="voted", positive=[0, 1, 2], state=state
            )
            state = part["state"]
            for k, log in enumerate(logs):
                own = slice(*state["log_start"][k : k + 2])
                rows, times, steps = (state[f"log_{name}"][own] for name in ("row", "t", "step"))
                log += zip((rows + begin).tolist(), times.tolist(), steps.tolist(), strict=True)
        found = [list(column) for column in zip(*itertools.chain(*logs), strict=True)]
        assert found == [whole[f"log_{name}"].tolist() for name in ("row", "t", "step")]
        assert state["coef"].tobytes() == whole["coef"].tobytes()


@given(seed=st.integers(0, 99), planes=st.integers(1, 4))
def test_replay_gives_the_bits_of_training_and_the_sums_of_the_averaged(trainer, seed, planes):
    rng = np.random.default_rng(seed)
    X, labels = rng.normal(size=(40, 9)), rng.integers(0, planes + 1, 40)
    start = trainer.start(9, planes, coef=rng.normal(size=(planes, 9)), intercept=rng.normal(size=planes))
    arguments = {"positive": list(range(planes)), "seed": seed, "max_iter": 3, "eta0": 0.3, "state": start}
    arguments["sample_weight"] = rng.random(40)
    after = trainer.fit(X, labels, learner="voted", **arguments)["state"]
    expected = trainer.fit(X, labels, learner="averaged", **arguments)["state"]
    ballots, _ = ballot(start, after)
    made = trainer.engine.replay(trainer.rows(X), ballots, upto=np.diff(after["log_start"]))
    for name in ("coef", "intercept", "coef_u", "intercept_u"):
        assert made[name].tobytes() == expected[name].tobytes()


def test_no_replayed_number_is_minus_zero(trainer):
    """Rule 4: start values have +0.0 added to them, in sums that no entry reaches too."""
    start = trainer.start(3, 2)
    zeros = {name: np.full_like(values, -0.0) for name, values in start.items() if name != "seen"}
    X = np.array([[1.0, 0.0, -0.0]])
    log = trainer.fit(X, [1], learner="voted", positive=[1, 0])["state"]
    ballots, _ = ballot(start | zeros, log)
    for upto in ([0, 0], [1, 0], [1, 1]):
        made = trainer.engine.replay(trainer.rows(X), ballots, upto=np.array(upto))
        for name in zeros:
            assert not (np.signbit(made[name]) & (made[name] == 0)).any(), name


@pytest.mark.parametrize(
    ("dtype", "d"),
    [
        *itertools.product(["float64"], [1, 7, 8, 9, 17, 33]),
        *itertools.product(["uint8"], [8, 33]),
        *((dtype, 17) for dtype in TYPES if dtype not in ("float64", "uint8")),
    ],
)
def test_votes_are_the_signs_of_the_scores(trainer, engine_name, dtype, d):
    """Each vector made again, and its sign taken: many rows, vectors and planes, in every storage."""
    rng = np.random.default_rng(d)
    values = rng.normal(size=(70, d)) * 3 if dtype.startswith("float") else rng.integers(-100, 100, (70, d))
    X = values.astype(dtype)
    X[rng.random(X.shape) < 0.4] = 0
    labels = rng.integers(0, 3, 70)
    start = trainer.start(d, 3)
    after = trainer.fit(X, labels, learner="voted", positive=[0, 1, 2], max_iter=2, seed=1)["state"]
    ballots, counts = ballot(start, after)
    n, jobs = (31, [1]) if engine_name == "reference" else (301, [1, 2])
    Z = np.concatenate([X, X[::-1], X[:40]] * 2)[:n]
    expected = np.zeros((n, 3), dtype=np.int64)
    lengths = np.diff(after["log_start"])
    for number in range(lengths.max() + 1):
        upto = np.minimum(number, lengths)
        made = trainer.engine.replay(trainer.rows(X), ballots, upto=upto)
        signs = np.sign(trainer.scores(Z, made["coef"], made["intercept"])).astype(np.int64)
        expected += signs * [c[number] if number < len(c) else 0 for c in counts]
    for stored, rows, threads in itertools.product([X, sp.csr_matrix(X)], [Z, sp.csr_matrix(Z)], jobs):
        found = trainer.engine.votes(
            trainer.rows(rows), trainer.rows(stored), ballots, tie="mistake", threads=threads
        )
        assert found.tobytes() == expected.tobytes()
    one_by_one = [
        trainer.engine.votes(trainer.rows(Z[i : i + 1]), trainer.rows(X), ballots, tie="mistake", threads=1)
        for i in range(9)
    ]
    assert np.concatenate(one_by_one).tobytes() == expected[:9].tobytes()


def test_votes_beyond_the_bound_of_exact_sums(trainer):
    """Steps so large that whole numbers are rounded: the order of the sums counts."""
    rng = np.random.default_rng(3)
    X, labels = rng.integers(0, 256, (60, 40)).astype(np.uint8), rng.integers(0, 2, 60)
    for eta0 in (1.0, 2.0**20, 2.0**33, 2.0**50 + 1, 2.0**53 - 1):
        after = trainer.fit(X, labels, learner="voted", eta0=eta0, max_iter=3)["state"]
        ballots, counts = ballot(trainer.start(40), after)
        expected = 0
        for number, count in enumerate(counts[0]):
            made = trainer.engine.replay(trainer.rows(X), ballots, upto=np.array([number]))
            scores = trainer.scores(X, made["coef"], made["intercept"])
            expected = expected + count * np.sign(scores)
        found = trainer.engine.votes(trainer.rows(X), trainer.rows(X), ballots, tie="mistake", threads=1)
        assert found.tolist() == expected.tolist()


def small(trainer):
    X = np.array([[1.0, 2.0], [-1.0, -0.5]])
    after = trainer.fit(X, [1, 0], learner="voted", max_iter=2)["state"]
    return X, ballot(trainer.start(2), after)[0]


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("log_start", [0, 5], "log_start must rise from 0"),
        ("log_start", [1, 1], "log_start must rise from 0"),
        ("log_start", [], "log_start must rise from 0"),
        ("log_row", [2], "log_row must name one of 2 stored rows"),
        ("log_row", [-1], "log_row must name one of 2 stored rows"),
        ("log_step", [np.nan], "log_step must be finite"),
        ("log_bias", [], "log_row and log_bias must have equal lengths"),
        ("log_count", [1], "log_count must have 2 entries"),
        ("log_count", [-1, 2], "log_count must be at least 0"),
        ("log_count", [2**62, 2**62], "log_count must be at least 0 and add up to less than 2\\^63"),
        ("coef", [[1.0]], "coef must have"),
    ],
)
def test_a_log_that_does_not_fit_is_refused(trainer, name, value, text):
    X, ballots = small(trainer)
    assert len(ballots["log_row"]) == 1
    ballots[name] = np.array(value, dtype=ballots[name].dtype)
    with pytest.raises(ValueError, match=text):
        trainer.engine.votes(trainer.rows(X), trainer.rows(X), ballots, tie="mistake", threads=1)


def test_other_columns_and_wrong_numbers_are_refused(trainer):
    X, ballots = small(trainer)
    with pytest.raises(ValueError, match="stored_rows must have 3 columns like rows, got 2"):
        trainer.engine.votes(
            trainer.rows(np.ones((2, 3))), trainer.rows(X), ballots, tie="mistake", threads=1
        )
    for upto in ([2], [-1], [0, 0]):
        with pytest.raises(ValueError, match="upto must"):
            trainer.engine.replay(trainer.rows(X), ballots, upto=np.array(upto))
    ballots["log_t"] = ballots["log_t"][:0]
    with pytest.raises(ValueError, match="log_t must have one number for each of 1 entries, got 0"):
        trainer.engine.replay(trainer.rows(X), ballots, upto=np.array([1]))


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e308])
@pytest.mark.parametrize("n", [1, 40])
def test_an_activation_that_is_not_finite_is_an_error(trainer, value, n):
    X, ballots = small(trainer)
    ballots["coef"] = np.array([[10.0, 10.0]])
    Z = np.ones((n, 2))
    Z[-1] = value
    for rows in (Z, sp.csr_matrix(Z)):
        with pytest.raises(OverflowError, match="activation of a vector that votes is not finite"):
            trainer.engine.votes(trainer.rows(rows), trainer.rows(X), ballots, tie="mistake", threads=1)


def test_no_rows(trainer):
    X, ballots = small(trainer)
    assert trainer.engine.votes(
        trainer.rows(X[:0]), trainer.rows(X), ballots, tie="mistake", threads=2
    ).shape == (0, 1)


def test_nothing_given_is_written_to(trainer):
    X, ballots = small(trainer)
    before = {name: values.tobytes() for name, values in ballots.items()}
    trainer.engine.votes(trainer.rows(X), trainer.rows(X), ballots, tie="mistake", threads=1)
    trainer.engine.replay(trainer.rows(X), ballots, upto=np.array([1]))
    assert {name: values.tobytes() for name, values in ballots.items()} == before


def test_the_state_of_a_callback_holds_the_log_so_far(trainer):
    rng = np.random.default_rng(1)
    X, labels = rng.normal(size=(30, 3)), rng.integers(0, 2, 30)
    seen = []

    def on_epoch(_epoch, _mistakes, _losses, state):
        seen.append((state["log_start"][-1], state["seen"][0]))
        assert (state["log_t"] <= state["seen"][0]).all()

    report = trainer.fit(X, labels, learner="voted", max_iter=3, on_epoch=on_epoch, with_state=True)
    assert seen == list(zip(np.cumsum(report["mistakes"][:, 0]), [30, 60, 90], strict=True))
    assert len(report["state"]["log_row"]) == report["mistakes"].sum()


@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("scale", [1, 0.37])
def test_votes_on_rows_of_few_entries_among_many_columns(trainer, kind, scale):
    """Columns without an entry have no say: the votes are those of dense rows, which have all columns."""
    rng, d = np.random.default_rng(3), 3000
    X = sp.random(40, d, density=0.01, format="csr", random_state=4)
    X.data = np.ceil(X.data * 5) * scale
    labels, start = rng.integers(0, 3, 40), trainer.start(d, 3, coef=rng.integers(-2, 3, (3, d)))
    after = trainer.fit(X, labels, learner="voted", positive=[0, 1, 2], max_iter=3, state=start)["state"]
    ballots, _ = ballot(start, after)
    stored = X if kind == "csr" else X.toarray()
    Z = sp.vstack([X[:3], sp.csr_matrix((1, d)), -X[5:6]]).tocsr()  # entries are few, and one row has none
    assert Z.nnz < d / 16
    few = trainer.engine.votes(trainer.rows(Z), trainer.rows(stored), ballots, tie="mistake", threads=1)
    whole = trainer.engine.votes(
        trainer.rows(Z.toarray()), trainer.rows(X.toarray()), ballots, tie="mistake", threads=1
    )
    assert few.tolist() == whole.tolist()
    assert len(np.unique(few)) > 4
