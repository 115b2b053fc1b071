"""The policies of a budget against their papers' updates, worked by hand and in fractions."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_rs.engines import KernelSpec, get_engine

from .budget_support import LINEAR, POLICIES, RBF, budget_run, nothing
from .support import SQUARE, assert_same, kernel_run


def kept(report):
    """Rows, and steps of the only set or plane, in their order."""
    state = report["state"]
    return list(zip(state["kept_row"].tolist(), state["kept_step"][:, 0].tolist(), strict=True))


# x1 = (1, 0), plus: S = 0, a mistake. x2 = (0, 1), minus: S = 0, a mistake.
# x3 = (-1/2, 1), plus: S = K(x1, x3) - K(x2, x3) = -1/2 - 1, a mistake, and one too many for B = 2.
THREE = np.array([[1.0, 0.0], [0.0, 1.0], [-0.5, 1.0]])
SIGNS = [1, 0, 1]


def test_oldest_by_hand(engine):
    assert kept(budget_run(engine, THREE, SIGNS, policy="oldest")) == [(1, -1.0), (2, 1.0)]


def splitmix(state):
    """The published generator, in Python's integers: the next state, the number."""
    state = (state + 0x9E3779B97F4A7C15) % 2**64
    z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return state, z ^ z >> 31


def goes(seed, mistake, plane, among):
    """Which one goes: by the seed, the number of the mistake, and a partition that is no data's."""
    key = splitmix(seed)[1]
    key = splitmix((key + mistake) % 2**64)[1]
    key = splitmix((key + 2**63 + plane) % 2**64)[1]
    return splitmix(key)[1] * among >> 64


def test_random_by_hand(engine):
    gone = set()
    for seed in range(8):
        left = kept(budget_run(engine, THREE, SIGNS, policy="random", policy_seed=seed))
        gone.add(goes(seed, 3, 0, among=2))
        expected = [(0, 1.0), (1, -1.0), (2, 1.0)]
        del expected[goes(seed, 3, 0, among=2)]  # one of those there before, never the new one
        assert left == expected
    assert gone == {0, 1}


def test_forgetron_by_hand(engine):
    # With all three, the sum at x1 is 1 + 0 - 1/2: mu = 1/2; sigma = 1. So Psi(phi) =
    # phi^2 + 2 phi (1 - phi/2) = 2 phi, which may be 15/32 M = 45/32 at most: phi = 45/64. All steps shrink,
    # then x1 goes.
    report = budget_run(engine, THREE, SIGNS, policy="forgetron")
    assert kept(report) == [(1, -45 / 64), (2, 45 / 64)]
    assert report["state"]["kept_harm"].tolist() == [45 / 32]
    assert report["state"]["kept_mistakes"].tolist() == [3]
    # The learning rate only scales: the same phi.
    assert kept(budget_run(engine, THREE, SIGNS, policy="forgetron", eta0=4.0)) == [
        (1, -45 / 16),
        (2, 45 / 16),
    ]


def test_forgetron_does_not_shrink_where_no_harm_is_done(engine):
    # x3 = (1, 1), plus: S = 1 - 1 = 0, a mistake; mu = 1 + 1 = 2, Psi(1) = 1 + 2 (1 - 2) = -1 < 45/32.
    report = budget_run(engine, np.array([[1, 0], [0, 1], [1, 1]]), SIGNS, policy="forgetron")
    assert kept(report) == [(1, -1.0), (2, 1.0)]
    assert report["state"]["kept_harm"].tolist() == [-1.0]


@pytest.mark.parametrize("budget", [2, 3])
def test_projectron_by_hand_within_the_span(engine, budget):
    # x1 = (1, 0), plus; x2 = (1, 1), minus: S = 1, a mistake; x3 = (0, 2), plus: S = -2, a mistake.
    # x3 = 2 x2 - 2 x1 lies in their span: its step goes to them, 1 - 2 and -1 + 2, room or not.
    X = np.array([[1, 0], [1, 1], [0, 2]])
    report = budget_run(engine, X, SIGNS, policy="projectron", budget=budget)
    assert kept(report) == [(0, -1.0), (1, 1.0)]
    assert report["state"]["kept_factor"].tolist() == [1.0, 1.0, 1.0]  # of [[1, 1], [1, 2]]


def test_projectron_by_hand_beside_the_span(engine):
    # x1 = (8, 0, 0), plus; x2 = (8, 8, 0), minus: S = 64, a mistake, at the distance 8 from the span of x1.
    # x3 = (8, 16, 4), plus: S = 64 - 192, a mistake. Its projection is (8, 16, 0) = 2 x2 - x1,
    # at the distance 4.
    X = np.array([[8, 0, 0], [8, 8, 0], [8, 16, 4]])
    projected, added = [(0, 0.0), (1, 1.0)], [(0, 1.0), (1, -1.0), (2, 1.0)]
    for budget, distance, expected in [(2, 0.0, projected), (3, 4.0, projected), (3, 3.99, added)]:
        run = budget_run(engine, X, SIGNS, policy="projectron", budget=budget, distance=distance)
        assert kept(run) == expected


def solve(matrix, right):
    """Solve a linear system in fractions."""
    n = len(right)
    rows = [[Fraction(v) for v in line] + [Fraction(b)] for line, b in zip(matrix, right, strict=True)]
    for i in range(n):
        pivot = next(j for j in range(i, n) if rows[j][i] != 0)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for j in range(n):
            if j != i:
                rows[j] = [a - rows[j][i] * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [row[n] for row in rows]


def by_the_paper(X, signs, K, policy, budget, seed=0):
    """The kept examples with their steps, from the papers' formulas in fractions, and the mistakes."""
    kept, M, Q = [], 0, Fraction(0)
    for i, sign in enumerate(signs):
        if sign * sum(c * K(X[j], X[i]) for j, c in kept) > 0:
            continue
        M += 1
        if policy == "projectron":
            gram = [[K(X[j], X[k]) for k, _ in kept] for j, _ in kept]
            row = [K(X[j], X[i]) for j, _ in kept]
            d = solve(gram, row)
            rest = K(X[i], X[i]) - sum(a * b for a, b in zip(d, row, strict=True))
            if rest == 0 or len(kept) == budget:
                kept = [(j, c + sign * part) for (j, c), part in zip(kept, d, strict=True)]
            else:
                kept.append((i, Fraction(sign)))
            continue
        if policy == "random" and len(kept) == budget:
            del kept[goes(seed, M, 0, among=budget)]
        kept.append((i, Fraction(sign)))
        if len(kept) > budget:
            if policy == "forgetron":
                r, c = kept[0]
                sigma, y = abs(c), (1 if c > 0 else -1)
                mu = y * sum(b * K(X[j], X[r]) for j, b in kept)

                def harm(phi, sigma=sigma, mu=mu):
                    return (sigma * phi) ** 2 + 2 * sigma * phi * (1 - phi * mu)

                low, high = Fraction(0), Fraction(1)
                if Q + harm(high) <= Fraction(15, 32) * M:
                    low = high
                while high - low > Fraction(1, 2**60):
                    middle = (low + high) / 2
                    if Q + harm(middle) <= Fraction(15, 32) * M:
                        low = middle
                    else:
                        high = middle
                Q += harm(low)
                kept = [(j, (low * c).limit_denominator(10**18)) for j, c in kept]
            del kept[0]
    return kept, M


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("budget", [1, 2, 5])
@pytest.mark.parametrize("degree", [1, 2])
def test_the_papers_updates_in_fractions(engine, policy, budget, degree):
    random = np.random.default_rng(budget)
    X = random.integers(-2, 3, (60, 3)) if degree == 2 else random.integers(-99, 100, (60, 5)) / 128
    signs = np.where(X[:, 0] + X[:, 1] + random.normal(size=60) > 0, 1, -1)
    rows = [[Fraction(v) for v in row] for row in X.tolist()]

    def kernel(x, z):
        product = sum(a * b for a, b in zip(x, z, strict=True))
        return product if degree == 1 else (1 + product) ** 2

    expected, mistakes = by_the_paper(rows, signs.tolist(), kernel, policy, budget)
    known = LINEAR if degree == 1 else SQUARE
    report = budget_run(engine, X.astype(float), signs > 0, kernel=known, policy=policy, budget=budget)
    if (policy, degree) == ("forgetron", 1):
        assert np.abs(report["state"]["kept_step"]).max() < 0.9  # it did shrink
    assert report["state"]["kept_row"].tolist() == [j for j, _ in expected]
    assert report["mistakes"].sum() == mistakes > budget + 3
    steps = [float(c) for _, c in expected]
    exact = policy in ("oldest", "random")
    np.testing.assert_allclose(
        report["state"]["kept_step"][:, 0], steps, rtol=0 if exact else 1e-6, atol=1e-9
    )


def test_a_budget_that_is_never_reached_changes_nothing(engine):
    random = np.random.default_rng(3)
    X, y = random.normal(size=(40, 3)), random.integers(0, 2, 40)
    whole = kernel_run(engine, X, y, kernel=RBF, max_iter=3, seed=1)["state"]
    for policy in ("oldest", "random", "forgetron"):
        run = budget_run(engine, X, y, kernel=RBF, policy=policy, budget=1000, max_iter=3, seed=1)
        assert run["state"]["kept_row"].tolist() == whole["log_row"].tolist()
        assert run["state"]["kept_step"][:, 0].tobytes() == whole["log_step"].tobytes()


def test_a_joint_decision_has_one_set(engine):
    # Three classes, update "max". x1 = (1, 0), class 0: all scores 0, steps (1, -1, 0). x2 = (0, 1), class 2:
    # all 0, steps (-1, 0, 1). x3 = (1, 1), class 1: scores (1 - 1, -1, 1): class 2 is above,
    # steps (0, 1, -1).
    X, labels = np.array([[1, 0], [0, 1], [1, 1]]), [0, 2, 1]
    report = budget_run(engine, X, labels, 3, policy="oldest", joint="max")
    assert report["state"]["kept_row"].tolist() == [1, 2]
    assert report["state"]["kept_step"].tolist() == [[-1, 0, 1], [0, 1, -1]]
    # The Forgetron: at x1, the sums with all three are (1, -1 + 1, -1); mu = 1 * 1 - 1 * 0 = 1, so
    # Psi(1) = 1 + 0 <= 45/32.
    report = budget_run(engine, X, labels, 3, policy="forgetron", joint="max")
    assert report["state"]["kept_harm"].tolist() == [1.0]
    # The Projectron: x3 = x1 + x2, so each gets the steps (0, 1, -1) on top.
    report = budget_run(engine, X, labels, 3, policy="projectron", joint="max")
    assert report["state"]["kept_row"].tolist() == [0, 1]
    assert report["state"]["kept_step"].tolist() == [[1, 0, -1], [-1, 1, 0]]


KERNELS = (LINEAR, SQUARE, RBF, KernelSpec("sigmoid", gamma=0.05, coef0=0.1))


@st.composite
def cases(draw):
    planes, n = draw(st.sampled_from([1, 2, 3])), draw(st.integers(1, 90))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    storage = draw(st.sampled_from(["float64", "float32", "uint8", "int32", "csr"]))
    X = random.normal(size=(n, 4)) if "float" in storage else random.integers(0, 6, (n, 4))
    X = (
        sp.csr_matrix((X * (random.random((n, 4)) < 0.4)).astype(float))
        if storage == "csr"
        else X.astype(storage)
    )
    joint = draw(st.sampled_from([None, "max", "uniform", "proportional"])) if planes > 1 else None
    changes = {
        "kernel": draw(st.sampled_from(KERNELS)),
        "policy": draw(st.sampled_from(POLICIES)),
        "budget": draw(st.sampled_from([1, 2, 7, 40])),
        "policy_seed": draw(st.integers(0, 2**32)),
        "distance": draw(st.sampled_from([0.0, 0.3])),
        "joint": joint,
        "eta0": draw(st.sampled_from([1.0, 0.3])),
        "seed": draw(st.sampled_from([None, 5])),
        "max_iter": draw(st.integers(1, 3)),
        "max_mistakes_per_example": draw(st.sampled_from([None, 1])),
    }
    if not joint:
        changes["margin"] = draw(st.sampled_from([0.0, 0.5]))
        changes["tie"] = draw(st.sampled_from(["mistake", "positive"]))
        changes["class_weight"] = random.integers(0, 3, (planes, 2)) / 2.0
    if draw(st.booleans()):
        changes["sample_weight"] = random.integers(0, 3, n) / 2.0
    return X, random.integers(0, max(2, planes), n), planes, changes


def outcome(engine, X, y, planes, changes):
    try:
        return budget_run(engine, X, y, planes, **changes)
    except OverflowError as error:
        return str(error)


@settings(max_examples=60, deadline=None)
@given(case=cases())
def test_the_engines_agree(case):
    X, y, planes, changes = case
    first = outcome(get_engine("reference"), X, y, planes, dict(changes))
    assert_same(first, outcome(get_engine("rust"), X, y, planes, dict(changes)))
    if not isinstance(first, str):
        sizes = np.diff(first["state"]["kept_start"])
        assert sizes.max() <= changes["budget"]


@settings(max_examples=25, deadline=None)
@given(case=cases(), cuts=st.lists(st.integers(0, 90), max_size=4))
def test_blocks_give_what_one_pass_gives(case, cuts):
    X, y, planes, changes = case
    changes |= {"seed": None, "max_iter": 1, "track_mistakes": False, "max_mistakes_per_example": None}
    weights = changes.pop("sample_weight", None)
    engine = get_engine("rust")
    whole = outcome(engine, X, y, planes, changes | {"sample_weight": weights})
    if isinstance(whole, str):
        return
    state, stored, mistakes = nothing(planes, planes if changes.get("joint") else 1), X[:0], 0
    ends = sorted({min(cut, X.shape[0]) for cut in cuts} | {X.shape[0]})
    for begin, end in zip([0, *ends], ends, strict=False):
        if begin == end:
            continue
        part = None if weights is None else weights[begin:end]
        more = {"state": state, "stored": stored, "sample_weight": part}
        report = budget_run(engine, X[begin:end], y[begin:end], planes, **(changes | more))
        state, mistakes = dict(report["state"]), mistakes + report["mistakes"].sum()
        both = (
            np.vstack([stored.toarray(), X[begin:end].toarray()])
            if sp.issparse(X)
            else np.vstack([stored, X[begin:end]])
        )
        stored = sp.csr_matrix(both) if sp.issparse(X) else both.astype(X.dtype)
    assert mistakes == whole["mistakes"].sum()
    numbers = stored[state["kept_row"]], X[whole["state"]["kept_row"]]
    assert (numbers[0] != numbers[1]).sum() == 0
    for name in (
        "seen",
        "kept_start",
        "kept_number",
        "kept_step",
        "kept_mistakes",
        "kept_harm",
        "kept_factor",
    ):
        assert_same(state[name], whole["state"][name], name)


def test_precomputed_values_are_those_of_the_rows(engine):
    random = np.random.default_rng(2)
    X, y = random.integers(0, 4, (50, 3)), random.integers(0, 2, 50)
    gram = (1.0 + X @ X.T) ** 2
    for policy in POLICIES:
        changes = {"policy": policy, "budget": 6, "max_iter": 3, "seed": 1}
        direct = budget_run(engine, X, y, kernel=SQUARE, **changes)
        stored = np.zeros((0, 50))
        assert_same(
            direct, budget_run(engine, gram, y, stored=stored, kernel=KernelSpec("precomputed"), **changes)
        )


def test_an_example_that_is_kept_already_is_within_the_span(engine):
    random = np.random.default_rng(6)
    X = np.tile(random.normal(size=(12, 4)), (40, 1))
    y = random.integers(0, 2, 480)
    report = budget_run(engine, X, y, kernel=RBF, policy="projectron", budget=100)
    assert len(report["state"]["kept_row"]) == 12
    assert report["mistakes"].sum() > 100
    assert np.abs(report["state"]["kept_step"]).max() < 1e4


def test_what_is_not_finite_ends_the_run(engine):
    X = np.array([[1e160, 0.0], [0.0, 1e160], [1e160, 1e160]])
    for policy in POLICIES:
        with pytest.raises(OverflowError, match="training overflowed in epoch 2"):
            budget_run(engine, X, [1, 0, 1], policy=policy, budget=1, first_epoch=2)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"budget": 0}, "budget must be at least 1, got 0"),
        ({"policy": "newest"}, "policy must be .*newest"),
        ({"distance": -1.0}, "distance must be finite and at least 0, got -1"),
        ({"distance": np.nan}, "distance must be finite and at least 0, got"),
        ({"stored": np.zeros((0, 5))}, "rows must have 5 columns, like the other rows, got 2"),
        ({"kernel": KernelSpec("precomputed")}, "rows must have 3 columns, .* to be a Gram matrix, got 2"),
    ],
)
def test_bad_arguments_are_refused(engine, changes, words):
    with pytest.raises(ValueError, match=words):
        budget_run(engine, THREE, SIGNS, **changes)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kept_start", [0, 2]),
        ("kept_start", [1, 1]),
        ("kept_row", [3]),
        ("kept_row", [-1]),
        ("kept_number", [1, 2]),
        ("kept_step", [[np.nan]]),
        ("kept_step", [[1.0, 1.0]]),
        ("kept_mistakes", [-1]),
        ("kept_harm", [np.inf]),
        ("kept_factor", [1.0, 1.0]),
    ],
)
def test_states_that_do_not_agree_are_refused(engine, name, value):
    sound = nothing() | {
        "kept_start": np.array([0, 1]),
        "kept_row": np.array([2]),
        "kept_number": np.array([1]),
        "kept_step": np.array([[1.0]]),
        "kept_mistakes": np.array([1]),
        "kept_factor": np.array([1.0]),
    }
    changes = {"stored": THREE, "policy": "projectron"}
    budget_run(engine, THREE, SIGNS, state=sound, **changes)
    with pytest.raises(ValueError, match=name if name != "kept_start" else "kept_start must rise from 0"):
        budget_run(engine, THREE, SIGNS, state=sound | {name: np.array(value)}, **changes)


def test_more_kept_than_the_budget_is_refused(engine):
    state = budget_run(engine, THREE, SIGNS, budget=3)["state"]
    with pytest.raises(ValueError, match="budget must be at least 3, what is kept already, got 2"):
        budget_run(engine, THREE, SIGNS, state=state, stored=THREE)


def test_an_interrupted_epoch_leaves_no_trace_in_the_reference():
    calls = []

    def stop(epoch, *_):
        calls.append(epoch)
        return epoch == 1

    run = {"policy": "forgetron", "max_iter": 5, "seed": 1}
    for name in ("rust", "reference"):
        ended = budget_run(get_engine(name), THREE, SIGNS, on_epoch=stop, **run)
        assert_same(
            ended["state"], budget_run(get_engine(name), THREE, SIGNS, **(run | {"max_iter": 2}))["state"]
        )
    assert calls == [0, 1, 0, 1]
