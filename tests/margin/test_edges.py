"""Problems on which a bound, a tie or a threshold decides: the engines agree there, too.

Each kind makes one sort of trouble; the seeds are some at which a core fails that takes another side.
"""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs import _core, reference

from .problems import bits, rows_of, separate

BIASES = ("free", "augmented", "none")


def exact_scores(X, w, b):
    """Return w.x + b of each row, in fractions."""
    w = [Fraction(float(w)) for w in w]
    return [sum((Fraction(float(x)) * w for x, w in zip(row, w, strict=True)), Fraction(b)) for row in X]


def moved(x, steps):
    """Go to the next float, so often."""
    for _ in range(abs(steps)):
        x = np.nextafter(x, np.inf * steps)
    return x


def cancelled_once(seed):
    """All products of a row and the intercept cancel, but for a few units in the last place of one."""
    random = np.random.default_rng(seed)
    n, d = int(random.integers(1, 6)), int(random.choice([1, 2, 3, 8, 9, 17, 40]))
    w = random.normal(size=d) * 2.0 ** random.integers(-3, 4, size=d)
    b = random.choice([0.0, random.normal(), random.normal() * 2.0**-40, random.normal() * 2.0**30])
    X = random.normal(size=(n, d)) * 2.0 ** random.integers(-6, 7, size=(n, d))
    if random.random() < 0.3:
        X = np.where(random.random((n, d)) < 0.4, 0.0, X)
    for row in X:
        j = random.integers(d)
        row[j] = 0
        (rest,) = exact_scores([row], w, b)
        row[j] = moved(float(-rest / Fraction(float(w[j]))), int(random.integers(-3, 4)))
    return X, w, float(b)


def cancelled_twice(seed):
    """What one product leaves of the others is cancelled by another one, 2^-45 of their size."""
    random = np.random.default_rng(seed)
    d, n = int(random.choice([3, 4, 9, 20])), int(random.integers(1, 4))
    w, b = random.normal(size=d), float(random.choice([0.0, random.normal()]))
    w[0] *= 2.0**-45
    X = random.normal(size=(n, d))
    for row in X:
        row[:2] = 0
        for j in (1, 0):
            (rest,) = exact_scores([row], w, b)
            row[j] = float(-rest / Fraction(float(w[j])))
        row[0] = moved(row[0], int(random.integers(-2, 5)))
    return X, w, b


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize(
    ("kind", "seeds"),
    [(cancelled_once, (150, 155, 164, 207)), (cancelled_twice, (38, 60, 65))],
    ids=["once", "twice"],
)
def test_planes_of_which_nearly_all_cancels(kind, seeds, normalize):
    for seed in seeds:
        X, w, b = kind(seed)
        scores = exact_scores(X, w, b)
        y = np.array([score > 0 for score in scores], dtype=np.uint32)
        found = [
            engine.margin(rows_of(engine, X), y, w, b, normalize=normalize, threads=1)
            for engine in (_core, reference)
        ]
        (low, high, wrong), other = found
        assert (low.hex(), high.hex(), list(wrong)) == (other[0].hex(), other[1].hex(), list(other[2]))
        assert wrong.tolist() == [row for row, score in enumerate(scores) if score == 0]
        if not (normalize or len(wrong)):
            assert Fraction(low) <= min(abs(score) for score in scores) <= Fraction(high)


def test_a_row_exactly_as_far_on_the_wrong_side_as_its_bound(engine):
    # The score is minus the bound of its error, the float after 12 * 2^-1012.
    tiny = moved(12 * 2.0**-1012, 1)
    X, y = np.array([[0.5], [-2 * tiny]]), np.ones(2, dtype=np.uint32)
    assert engine.margin(rows_of(engine, X), y, np.array([0.5]), None, normalize=True, threads=1)[2] == [1]


def nearly_dependent(seed):
    """Values far from 0 in all columns."""
    random = np.random.default_rng(seed)
    d = int(random.integers(5, 15))
    X = random.normal(size=(4 * d, d))
    return X + 2.0 ** random.uniform(38, 44.5) * random.integers(1, 4, size=d), np.arange(4 * d) % 2, {}


def meeting(seed):
    """Whole numbers near each other and far from 0."""
    random = np.random.default_rng(seed)
    d = int(random.integers(1, 9))
    n = int(d + 2 + random.integers(0, 6))
    X = random.integers(-5, 6, size=(n, d)).astype(float)
    if seed % 3 == 0:
        X += random.integers(0, 2, size=(n, d)) * 2.0 ** -int(random.integers(5, 30))
    p = int(random.integers(0, 46))
    X += 2.0**p * (random.integers(1, 4, size=d) if seed % 2 else 1)
    return X, random.integers(0, 2, size=n), {"bias": ["free", "free", "augmented"][seed % 3]}


def tied(seed):
    """Whole numbers from -3 to 3: equal scores, equal weights and scores of 0."""
    random = np.random.default_rng(seed)
    d, n, m = int(random.integers(1, 4)), int(random.integers(2, 14)), int(random.choice([1, 1, 2, 3]))
    X, bias = random.integers(-m, m + 1, size=(n, d)).astype(float), BIASES[seed % 3]
    if seed % 4 == 0:
        X = np.vstack([X, X * np.r_[-1, np.ones(d - 1)]])
    w = random.integers(-1, 2, size=d)
    y = X @ w + (random.integers(-1, 2) if bias != "none" else 0) > 0
    if seed % 5 == 0:
        y = random.integers(0, 2, size=len(X))
    if len(set(y)) == 1:
        y[0] ^= True
    changes = {"bias": bias, "tol": float(random.choice([1e-8, 1e-15, 0.5, 10 / 3, 1.0]))}
    changes["goal"] = str(random.choice(["margin", "separable"]))
    return X, y, changes | {"max_steps": int(random.choice([3000, 3000, 1, 2, 3, 4]))}


def sparse(seed):
    """So few entries that rows are not kept in full."""
    random = np.random.default_rng(seed)
    n, d = int(random.integers(5, 40)), int(random.integers(12, 40))
    filled = random.random((n, d)) < random.choice([0.03, 0.06, 0.09])
    X = np.where(filled, random.integers(-3, 4, size=(n, d)), 0).astype(float)
    y = X @ random.normal(size=d) > 0 if seed % 2 else random.integers(0, 2, size=n)
    return X, y, {"bias": str(random.choice(BIASES))}


def tiny(seed):
    """Values next to the least float, or far from each other."""
    random = np.random.default_rng(seed)
    n, d = int(random.integers(2, 6)), int(random.integers(1, 4))
    powers = [-1074, -1073, -1070, -1000, -600, -500]
    X = random.integers(-3, 4, size=(n, d)).astype(float)
    X = np.ldexp(X, random.choice(powers, size=(n, 1) if seed % 2 else None))
    y = random.integers(0, 2, size=n) if seed % 3 else X[:, 0] > 0
    changes = {"bias": str(random.choice(BIASES))}
    changes["solver"] = str(random.choice(["wolfe", "descent", "auto"]))
    return X, y, changes | {"max_steps": int(random.choice([100, 5, 1]))}


def far(seed):
    """A column whose values hardly differ, and columns of other sizes."""
    random = np.random.default_rng(seed)
    n, d = int(random.integers(3, 14)), int(random.integers(1, 4))
    X = random.normal(size=(n, d))
    y = X @ random.normal(size=d) > 0
    X = np.rint(X * 2**8) * 2.0 ** -int(random.choice([20, 30, 40, 44]))
    X[:, int(random.integers(d))] += 1.0
    X *= 2.0 ** random.choice([0, -30, 40, -200], size=d)
    return X, y, {"bias": str(random.choice(BIASES)), "goal": str(random.choice(["margin", "separable"]))}


def handed_over(seed):
    """Sparse rows that descent begins with."""
    random = np.random.default_rng(seed)
    n, d = int(random.integers(60, 100)), int(random.integers(60, 100))
    X = np.where(random.random((n, d)) < 0.05, random.normal(size=(n, d)), 0)
    changes = {"solver": "auto", "tol": 1e-3, "max_steps": 400}
    return X, random.integers(0, 2, size=n), {"bias": str(random.choice(BIASES))} | changes


def halves(seed):
    """Halves, so that the gap is met exactly, or a row lies exactly where it is far."""
    random = np.random.default_rng(seed)
    n, d = int(random.integers(2, 5)), int(random.integers(1, 3))
    X = random.integers(-4, 5, size=(n, d)) / 2
    y = X @ np.ones(d) > 0
    y[0] ^= y.all() or not y.any()
    changes = {"bias": BIASES[seed % 3], "tol": float(random.choice([0.125, 0.25, 0.5, 0.75]))}
    return X, y, changes | {"solver": "descent", "max_steps": int(random.integers(1, 40))}


def twice(seed):
    """Each row twice, and very many that violate the first plane."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(400, 3))
    y = np.repeat(X[:, 0] > X[:, 1] * 0.1, 2)
    order = random.permutation(800)
    return np.repeat(X, 2, axis=0)[order], y[order], {"bias": BIASES[seed % 3], "tol": 1e-6}


def mixed(seed):
    """Rows of many kinds, solved in many ways."""
    random = np.random.default_rng(seed)
    kind, n, d = seed % 12, int(random.integers(2, 30)), int(random.integers(1, 9))
    X, y = random.integers(-3, 4, size=(n, d)).astype(float), random.integers(0, 2, size=n)
    if kind <= 6 or kind == 11:
        w = random.normal(size=d)
        X = random.normal(size=(n, d)) if kind != 1 else X
        y = X @ w > 0
    if kind == 2:
        X *= 2.0 ** random.integers(-40, 40, size=d)
    if kind == 8:  # a row with both labels
        X, y = np.vstack([X, X[:1]]), np.append(y, 1 - y[0])
    if kind == 11:  # two rows that hardly differ
        X[-1] = X[0] + X[0] * 2.0 ** -int(random.integers(30, 53))
    changes = {"bias": str(random.choice(BIASES)), "tol": float(random.choice([1e-15, 1e-8, 1e-3, 0.3]))}
    changes["max_steps"] = int(random.choice([0, 1, 2, 5, 30, 2000, 2000, 2000]))
    changes["solver"] = str(random.choice(["auto", "wolfe", "descent"]))
    if changes["solver"] == "descent":
        changes["max_steps"] = min(changes["max_steps"], 300)
    return X, y, changes | {"goal": str(random.choice(["margin", "margin", "separable"]))}


def few(seed):
    """A few rows of whole numbers, and hardly any sweeps."""
    random = np.random.default_rng(seed)
    n, d = int(random.integers(2, 6)), int(random.integers(1, 3))
    X = random.integers(-20, 21, size=(n, d)).astype(float)
    y = X @ np.ones(d) + 1 > 0
    if len(set(y)) == 1:
        y[0] ^= True
    return X, y, {"bias": BIASES[seed % 3], "solver": "descent", "max_steps": 1 + seed % 5}


HARD = [
    (nearly_dependent, (157, 294, 426, 450)),
    (meeting, (101, 118)),
    (tied, (287, 335, 364)),
    (sparse, (6, 41)),
    (tiny, (34, 69, 109, 190)),
    (far, (79,)),
    (handed_over, (27,)),
    (mixed, (62, 134, 212, 344, 359)),
    (few, (12,)),
    (halves, (3, 20)),
    (twice, (0,)),
]


@pytest.mark.parametrize(
    ("kind", "seed"),
    [pytest.param(kind, seed, id=f"{kind.__name__}-{seed}") for kind, seeds in HARD for seed in seeds],
)
def test_both_engines_take_the_same_way(kind, seed):
    X, y, changes = kind(seed)
    y = np.asarray(y, dtype=np.uint32)
    for storage in (np.array, sp.csr_matrix):
        found = [
            separate(engine, storage(X), y, **{"max_steps": 3000} | changes) for engine in (_core, reference)
        ]
        assert bits(found[0]) == bits(found[1])


def test_a_margin_below_the_least_float_is_none(engine):
    X = np.array([[5e-324], [-5e-324]])
    for bias in ("free", "none"):
        found = separate(engine, X, [1, 0], bias=bias)
        assert (found["lower"], found["status"]) != (0.0, "separable")
        assert found["lower"] == -np.inf


def test_no_upper_end_without_weights_of_both_classes(engine):
    # The first sweep leaves the far row without a weight.
    found = separate(engine, np.array([[1.0], [-10.0]]), [1, 0], solver="descent", max_steps=1)
    assert found["upper"] >= 5.5


def test_descent_comes_first_where_a_corral_costs_more(engine):
    # 600 times the entries against 6 times the cube of the side: equal at ten entries.
    y = [1, 0] * 5
    equal = separate(engine, np.eye(10), y, solver="auto")
    fewer = separate(engine, np.diag([1.0] * 9 + [0.0]), y, solver="auto")
    assert equal["work"]["sweeps"] == 0 < fewer["work"]["sweeps"]


def test_many_columns_need_many_rows_in_a_sample():
    # Ten rows for each of 300 columns: an eighth of these is too few, and all rows are scored each time.
    n, d = 16_001, 300
    columns = np.column_stack([np.arange(n) % 150, 150 + np.arange(n) * 7 % 149]).astype(np.int32)
    X = sp.csr_matrix((np.tile([1.0, 0.5], n), columns.ravel(), np.arange(0, 2 * n + 1, 2)), shape=(n, d))
    y = X @ np.linspace(-1, 1, d) > 0
    found = separate(_core, X, y, max_steps=3)
    assert found["work"]["passes"] > 0
    assert found["work"]["rows_scored"] == n * found["work"]["passes"]
