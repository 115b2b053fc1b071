"""The policies of a budget against their papers' updates, worked by hand and in fractions."""

from fractions import Fraction

import numpy as np
import pytest

from .budget_support import LINEAR, POLICIES, RBF, SIGNS, THREE, budget_run
from .support import SQUARE, kernel_run


def kept(report):
    """Rows, and steps of the only set or plane, in their order."""
    state = report["state"]
    return list(zip(state["kept_row"].tolist(), state["kept_step"][:, 0].tolist(), strict=True))


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


def test_an_example_that_is_kept_already_is_within_the_span(engine):
    random = np.random.default_rng(6)
    X = np.tile(random.normal(size=(12, 4)), (40, 1))
    y = random.integers(0, 2, 480)
    report = budget_run(engine, X, y, kernel=RBF, policy="projectron", budget=100)
    assert len(report["state"]["kept_row"]) == 12
    assert report["mistakes"].sum() > 100
    assert np.abs(report["state"]["kept_step"]).max() < 1e4
