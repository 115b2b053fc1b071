"""The exact checker: it accepts what is true, and refuses each corruption of it."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from perceptron_rs import VerificationError, hull_weights, is_separable, max_margin, verify
from perceptron_rs.margins.exact.bounds import novikoff
from perceptron_rs.margins.exact.matrix import ExactMatrix, integers
from perceptron_rs.margins.exact.systems import _encloses_positive, has_positive_solution, solve_exactly
from perceptron_rs.margins.verification import _least_product

RNG = np.random.default_rng(5)
SEPARABLE = RNG.standard_normal((40, 3)), None
W = np.array([1.0, -2.0, 0.5])
X = SEPARABLE[0] + np.outer(np.sign(SEPARABLE[0] @ W), W) / 5
Y = np.sign(SEPARABLE[0] @ W).astype(int)
NOISE = RNG.integers(0, 2, 40)
BIASES = ("free", "augmented", "none")


def flipped(values, index, change=1):
    changed = values.copy()
    changed[index] += change
    return changed


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("labels", [Y, NOISE])
def test_true_results_are_accepted(engine_name, bias, labels):
    result = max_margin(X, labels, bias=bias, engine=engine_name)
    assert result.status == ("separable" if labels is Y else "non_separable")
    verify(result, X, labels)
    verify(result, sp.csr_matrix(X), labels)
    verify(result, X.tolist(), labels.tolist())


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize(
    "labels", [(-2, -1), (-1, 0), (0, 1), ("a", "b"), (0,), (-1,), (1,), ("a",)], ids=str
)
def test_signs_of_any_labels(bias, labels):
    """The larger of two is positive, whatever it is; a single one if it is a string or above 0."""
    y = np.array(labels)[(Y > 0) % len(labels)]
    rows = X if len(labels) == 2 else np.abs(X) + 1
    result = max_margin(rows, y, bias=bias, engine="reference")
    assert result.status == ("one_class" if len(labels) == 1 and bias == "free" else "separable")
    verify(result, rows, y)
    if result.status == "separable":
        with pytest.raises(VerificationError, match=NEARER):
            verify(changed(result, coef=-result.coef, intercept=-result.intercept), rows, y)


def changed(result, **changes):
    """Return another result, whose bounds follow from its interval: just one claim of it is false."""
    result = replace(result, **changes)
    if not np.isfinite([*result.coef, result.intercept]).all():
        return result
    bounds = novikoff(result.radius, result.lower, result.upper, result.coef, result.intercept, result.bias)
    names = ("mistake_bound", "best_mistake_bound")
    return replace(result, **{n: b for n, b in zip(names, bounds, strict=True) if n not in changes})


def interval(result, factor):
    return {"lower": result.lower * factor, "upper": result.upper * factor}


NOT_PROVED = "the weighted rows do not prove upper="
NEARER = r"row \d+ is nearer to the plane than lower="
INTERVAL = "does not go with the interval"
#: What is changed, and what is said of it.
CORRUPTIONS = {
    "lower": (lambda r: interval(r, 1.01), NEARER),
    "lower, a little": (lambda r: interval(r, 1 + 1e-9), NEARER),
    "lower above upper": (lambda r: {"lower": math.nextafter(r.upper, math.inf)}, INTERVAL),
    "lower is 0": (lambda r: {"lower": 0.0}, INTERVAL),
    "upper": (lambda r: interval(r, 0.75), NOT_PROVED),
    "upper, a little": (lambda r: interval(r, 1 - 1e-7), NOT_PROVED),
    "no upper end": (lambda r: {"upper": math.inf}, INTERVAL),
    "nan": (lambda r: {"lower": math.nan}, INTERVAL),
    "coef": (lambda r: {"coef": flipped(r.coef, 0, 1e-3)}, NEARER),
    "coef is not finite": (lambda r: {"coef": flipped(r.coef, 0, math.nan)}, "must be finite"),
    "coef is zero": (lambda r: {"coef": 0 * r.coef, "intercept": 0.0}, "coef is zero"),
    "coef of another length": (lambda r: {"coef": r.coef[1:]}, r"coef has the shape \(2,\), not \(3,\)"),
    "intercept": (
        lambda r: {"intercept": r.intercept + 0.01 if r.bias != "none" else 0.25},
        f"{NEARER}|there is no bias, but an intercept",
    ),
    "intercept is not finite": (lambda r: {"intercept": math.inf}, "must be finite"),
    "weight": (lambda r: {"dual_weights": flipped(r.dual_weights, 0)}, r"a group sum to \d+, not to 2\*\*53"),
    "another weight": (  # of the same sum, in each group
        lambda r: {"dual_weights": np.roll(r.dual_weights, 1) if r.bias != "free" else moved(r)},
        NOT_PROVED,
    ),
    "weight below 0": (lambda r: {"dual_weights": below(r)}, "dual_weights must be above 0"),
    "weight of 0": (lambda r: with_idle_row(r), "dual_weights must be above 0"),
    "support row": (lambda r: {"support": flipped(r.support, -1, 40)}, "names a row that is not in 0 to 39"),
    "support row below 0": (lambda r: {"support": flipped(r.support, 0, -40)}, "not in 0 to 39"),
    "another support row": (
        lambda r: {"support": np.array([others(k) for k in r.support.tolist()])},
        f"{NOT_PROVED}|not ascending",
    ),
    "support twice": (lambda r: {"support": np.array([r.support[0]] * len(r.support))}, "not ascending"),
    "no support": (
        lambda _: {"support": np.zeros(0, dtype=int), "dual_weights": np.zeros(0, dtype=int)},
        r"a group sum to 0, not to 2\*\*53",
    ),
    "support short": (lambda r: {"support": r.support[:-1]}, "have different lengths"),
    "radius below": (lambda r: {"radius": r.radius * (1 - 1e-12)}, "a row is longer than radius="),
    "radius above": (lambda r: {"radius": r.radius * 1.001}, "no row is nearly as long as radius="),
    "radius below 0": (lambda r: {"radius": -r.radius}, "is no length"),
    "mistake bound": (
        lambda r: {"mistake_bound": r.mistake_bound * (1 - 1e-9)},
        "is not the formula's|is above",
    ),
    "mistake bound above": (lambda r: {"mistake_bound": r.mistake_bound * 1.001}, "formula's, rounded up"),
    "no mistake bound": (lambda r: {"mistake_bound": math.inf}, "formula's, rounded up"),
    "best bound": (lambda r: {"best_mistake_bound": r.best_mistake_bound * 0.999}, "formula's, rounded down"),
    "best bound above": (
        lambda r: {"best_mistake_bound": r.mistake_bound * 1.001},
        "is above mistake_bound=",
    ),
    "non-separable": (lambda r: {"status": "non_separable"}, INTERVAL),
    "no proof": (
        lambda r: {"status": "non_separable", "lower": -math.inf, "upper": -math.inf},
        "no convex weights",
    ),
    "undecided": (lambda r: {"status": "undecided"}, INTERVAL),
    "one class": (
        lambda r: {"status": "one_class", "lower": math.inf, "upper": math.inf},
        "'one_class' does not go with",
    ),
    "no such status": (lambda r: {"status": "fine"}, "there is no status 'fine'"),
    "classes": (lambda r: {"classes": (0, 1)}, r"classes are \(-1, 1\), not \(0, 1\)"),
    "no such bias": (lambda r: {"bias": "some"}, "there is no bias 'some'"),
}


def others(k):
    """Return the row after row k that has the same label."""
    return next(i % 40 for i in range(k + 1, k + 41) if Y[i % 40] == Y[k])


def moved(result):
    """Return weights of which some is taken from one row and given to another one of the same class."""
    rows = [p for p, i in enumerate(result.support) if Y[i] == Y[result.support[0]]]
    rows = (
        rows if len(rows) > 1 else [p for p, i in enumerate(result.support) if Y[i] != Y[result.support[0]]]
    )
    half = int(result.dual_weights[rows[0]]) // 2
    return flipped(flipped(result.dual_weights, rows[0], -half), rows[1], half)


def below(result):
    """Return weights of the same sums of which one is below 0."""
    rows = [p for p, i in enumerate(result.support) if Y[i] == Y[result.support[-1]]]
    rows = (
        rows if len(rows) > 1 else [p for p, i in enumerate(result.support) if Y[i] != Y[result.support[-1]]]
    )
    return flipped(flipped(result.dual_weights, rows[0], 2**53), rows[1], -(2**53))


def with_idle_row(result):
    rows = np.append(result.support, next(i for i in range(40) if i not in result.support))
    order = np.argsort(rows)
    return {"support": rows[order], "dual_weights": np.append(result.dual_weights, 0)[order]}


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("name", CORRUPTIONS)
def test_corruptions_of_an_interval_are_refused(name, bias):
    result = max_margin(X, Y, bias=bias, engine="reference")
    corrupt, text = CORRUPTIONS[name]
    with pytest.raises(VerificationError, match=text):
        verify(changed(result, **corrupt(result)), X, Y)


def test_another_bias_is_refused():
    for bias, claimed, text in (
        ("free", "augmented", "a group sum"),
        ("augmented", "free", "a group sum"),
        ("none", "free", "a group sum"),
        ("augmented", "none", "an intercept"),
    ):
        with pytest.raises(VerificationError, match=text):
            verify(changed(max_margin(X, Y, bias=bias), bias=claimed), X, Y)


def test_what_is_not_decided_claims_an_upper_end_alone():
    result = changed(max_margin(X, Y, bias="none"), status="undecided", lower=-math.inf)
    verify(result, X, Y)
    touching = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]), [1, 1, 1]
    zero = changed(
        max_margin(*touching, bias="none"),
        status="margin_at_most",
        lower=-math.inf,
        upper=0.0,
        support=np.array([0, 1]),
        dual_weights=np.array([2**52, 2**52]),
    )
    verify(zero, *touching)
    for changes, text in (
        ({"upper": result.upper * 0.75}, NOT_PROVED),
        ({"upper": -1.0}, INTERVAL),
        ({"upper": math.inf}, INTERVAL),
        ({"lower": result.upper * 0.5}, INTERVAL),
        ({"mistake_bound": result.best_mistake_bound * 2}, "without a separating plane"),
        ({"best_mistake_bound": result.best_mistake_bound * 0.999}, "best_mistake_bound is wrong"),
        ({"best_mistake_bound": result.best_mistake_bound * 1.001}, "best_mistake_bound is wrong"),
    ):
        with pytest.raises(VerificationError, match=text):
            verify(changed(result, **changes), X, Y)


def test_numbers_of_few_digits_may_be_off_by_little():
    """Those near 0, which are multiples of 2**-1074, may be off by 2**-1060."""
    zeros = [[0.0], [0.0]], [0, 1]
    nothing = max_margin(*zeros)
    verify(replace(nothing, radius=2.0**-1060), *zeros)
    with pytest.raises(VerificationError, match="no row is nearly as long"):
        verify(replace(nothing, radius=2.0**-1059), *zeros)
    far = {"status": "undecided", "lower": -math.inf}
    result = max_margin(X, Y, bias="none")
    for upper in (1e155, 1e160, 1e165, 1e300):
        verify(changed(result, upper=upper, **far), X, Y)
    with pytest.raises(VerificationError, match="best_mistake_bound is wrong"):
        verify(changed(result, upper=1e157, best_mistake_bound=0.0, **far), X, Y)


def test_one_class_has_the_bound_of_its_rows():
    ones = np.ones(40, dtype=int)
    result = max_margin(X, ones)
    assert result.status == "one_class"
    verify(result, X, ones)
    for changes, text in (
        ({"status": "separable", "lower": 1.0, "upper": 1.0}, "'separable' does not go with"),
        ({"lower": 1.0}, INTERVAL),
        ({"upper": 1.0}, INTERVAL),
        ({"mistake_bound": result.mistake_bound * 1.001}, "formula's, rounded up"),
        ({"best_mistake_bound": result.mistake_bound * 0.999}, "formula's, rounded down"),
        ({"support": np.array([0]), "dual_weights": np.array([], dtype=int)}, "different lengths"),
    ):
        with pytest.raises(VerificationError, match=text):
            verify(changed(result, **changes), X, ones)


def test_corruptions_of_a_proof_are_refused():
    result = max_margin(X, NOISE, engine="reference")
    group = NOISE[result.support] == NOISE[result.support[0]]
    fewer = result.dual_weights[1:].copy()
    fewer[np.argmax(group[1:])] += result.dual_weights[0]
    for changes, text in (
        ({"support": result.support[1:], "dual_weights": fewer}, "no convex weights"),
        ({"dual_weights": flipped(result.dual_weights, 0)}, "a group sum"),
        ({"support": result.support[:0], "dual_weights": result.dual_weights[:0]}, "a group sum to 0"),
        ({"status": "separable", "lower": 1e-3, "upper": 1.0}, NEARER),
        ({"upper": 1.0}, INTERVAL),
        ({"lower": 0.0}, INTERVAL),
        ({"radius": result.radius * 1.001}, "no row is nearly as long"),
        ({"best_mistake_bound": 100.0}, "no bound on the mistakes on inseparable data"),
        ({"mistake_bound": 100.0}, "is above mistake_bound"),
    ):
        with pytest.raises(VerificationError, match=text):
            verify(changed(result, **changes), X, NOISE)


KERNEL_CORRUPTIONS = {
    "lower": (lambda r: interval(r, 1 + 1e-6), "a row is nearer to the plane than lower="),
    "upper": (lambda r: interval(r, 0.75), NOT_PROVED),
    "coef": (lambda r: {"coef": 0 * r.coef, "intercept": 0.0}, "coef is zero"),
    "radius below": (lambda r: {"radius": r.radius * (1 - 1e-12)}, "radius=.* is wrong"),
    "radius above": (lambda r: {"radius": r.radius * 1.001}, "radius=.* is wrong"),
    "mistake bound": (lambda r: {"mistake_bound": r.mistake_bound * 1.001}, "formula's, rounded up"),
    "best bound": (lambda r: {"best_mistake_bound": r.best_mistake_bound * 0.999}, "rounded down"),
    "no proof": (
        lambda r: {"status": "non_separable", "lower": -math.inf, "upper": -math.inf},
        "no convex weights",
    ),
}


def kernel_bounds(result, K):
    """Return the two bounds by the definition, with the length of the weights in the space of the kernel."""
    square = result.coef @ K @ result.coef
    rows = (result.radius**2 + (result.bias != "none")) * (
        1 + result.intercept**2 / square if result.bias == "free" and square else 1
    )
    return rows / result.lower**2 * (1 + 1e-11), rows / result.upper**2 * (1 - 1e-11)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("name", KERNEL_CORRUPTIONS)
def test_corruptions_in_the_space_of_a_kernel_are_refused(name, bias):
    K = np.round(X[:12] * 1024) / 1024
    K, labels = K @ K.T, Y[:12]
    result = max_margin(K, labels, bias=bias, kernel="precomputed")
    assert result.status == "separable"
    verify(result, K, labels)
    corrupt, text = KERNEL_CORRUPTIONS[name]
    changes = corrupt(result)
    wrong = replace(result, **changes)
    if not any("bound" in change for change in changes):
        wrong = replace(
            wrong, **dict(zip(("mistake_bound", "best_mistake_bound"), kernel_bounds(wrong, K), strict=True))
        )
    with pytest.raises(VerificationError, match=text):
        verify(wrong, K, labels)


def test_values_of_no_kernel_are_refused():
    K = np.round(X[:12] * 1024) / 1024
    K, labels = K @ K.T, Y[:12]
    result = max_margin(K, labels, bias="none", kernel="precomputed")
    with pytest.raises(VerificationError, match=r"kernel values have the shape \(12, 13\)"):
        verify(replace(result, coef=np.append(result.coef, 0.0)), np.hstack([K, K[:, :1]]), labels)
    uneven = K.copy()
    uneven[3, 5] += 1.0
    with pytest.raises(VerificationError, match="K is not symmetric"):
        verify(result, uneven, labels)
    # Weights whose square is below 0 have no length, and whatever is divided by it is no distance.
    turned, signs = np.array([[0.0, 1.0], [1.0, 0.0]]), [-1, 1]
    for bias in BIASES:
        one = max_margin(np.eye(2), signs, bias=bias, kernel="precomputed")
        claimed = replace(one, coef=np.array([1.0, -1.0]), intercept=0.0, radius=0.0, lower=1.0, upper=1.0)
        bound = float(bias != "none")
        with pytest.raises(VerificationError, match="coef is zero"):
            verify(replace(claimed, mistake_bound=bound, best_mistake_bound=bound), turned, signs)


def test_other_rows_prove_it_only_if_their_hulls_meet():
    result = max_margin(X, NOISE, engine="reference")
    refused = 0
    for row in range(40):
        for place, old in enumerate(result.support):
            if row in result.support or NOISE[row] != NOISE[old]:
                continue
            rows = flipped(result.support, place, row - old)
            order = np.argsort(rows)
            changed = replace(result, support=rows[order], dual_weights=result.dual_weights[order])
            if is_separable(X[rows], NOISE[rows], engine="reference"):
                refused += 1
                with pytest.raises(VerificationError, match="no convex weights"):
                    verify(changed, X, NOISE)
            else:
                verify(changed, X, NOISE)
    assert refused > 20


def test_other_data_is_refused():
    result = max_margin(X, Y, engine="reference")
    nearer = X.copy()
    nearer[7] *= 0.1
    with pytest.raises(VerificationError, match=r"row 7 is nearer|a row is|prove upper"):
        verify(result, nearer, Y)
    with pytest.raises(VerificationError):
        verify(result, X, np.where(np.arange(40) == 3, -Y, Y))
    with pytest.raises(ValueError, match="equal lengths, got 40 rows and 39"):
        verify(result, X, Y[1:])
    for labels in ([0, 1, 2] * 13, []):
        with pytest.raises(ValueError, match=f"y must hold one class or two, got {len(set(labels))}"):
            verify(result, X[: len(labels)], labels)
    with pytest.raises(TypeError, match="must be a MarginResult"):
        verify(None, X, Y)


def test_hull_weights():
    for bias in BIASES:
        result = max_margin(X, NOISE, bias=bias, engine="reference")
        weights = hull_weights(result, X, NOISE)
        signs = [1 if label else -1 for label in NOISE[result.support]]
        assert min(weights) > 0
        for sign in (1, -1) if bias == "free" else (0,):
            assert sum(w for w, s in zip(weights, signs, strict=True) if sign in (0, s)) == 1
        for column in X[result.support].T.tolist():
            assert sum(w * s * Fraction(x) for w, s, x in zip(weights, signs, column, strict=True)) == 0
    with pytest.raises(ValueError, match="must have the status 'non_separable', got 'separable'"):
        hull_weights(max_margin(X, Y), X, Y)


def test_hull_weights_are_above_0():
    X, y = [[0, 0], [2, 0], [0, 5], [1, 0]], [0, 0, 0, 1]
    result = max_margin(X, y)
    assert result.support.tolist() == [0, 1, 3]
    weights = np.array([2**52, 2**52 - 1, 1, 2**53])  # the row (0, 5) has no part in any proof
    with pytest.raises(VerificationError, match="no convex weights"):
        hull_weights(replace(result, support=np.arange(4), dual_weights=weights), X, y)
    for rows, weights in (
        ([0, 2, 3], [2**52, 2**52, 2**53]),
        ([1, 3], [2**53, 2**53]),
    ):
        with pytest.raises(VerificationError, match="no convex weights"):
            hull_weights(replace(result, support=np.array(rows), dual_weights=np.array(weights)), X, y)
    with pytest.raises(VerificationError, match="classes are"):
        hull_weights(replace(result, classes=(1, 2)), X, y)


@given(
    st.fractions(0, 1000, max_denominator=50),
    st.fractions(-20, 20, max_denominator=50),
    st.integers(-6, 3),
)
def test_the_least_product_that_is_far_enough(needed, intercept, power):
    unit = Fraction(2) ** power
    k = _least_product(needed, intercept, unit)

    def is_enough(k):
        reached = k * unit + intercept
        return reached >= 0 and reached**2 >= needed

    assert is_enough(k)
    assert not is_enough(k - 1)


@pytest.mark.parametrize(
    "values",
    [
        [0.0, -0.0],
        [1.0, 3.0, -2.5, 0.1],
        [5e-324, 1.7976931348623157e308, -1e-310],
        np.array([1, 200], dtype=np.uint8),
        np.array([-7, 2**31 - 1], dtype=np.int32),
        np.array([0.1, 1e-30], dtype=np.float32),
        np.array([True, False]),
        [],
    ],
)
def test_integers_are_exact(values):
    values = np.asarray(values)
    whole, exponent = integers(values)
    assert [k * Fraction(2) ** exponent for k in whole] == [Fraction(v) for v in values.tolist()]


def test_rows_of_a_matrix_in_every_form():
    values = RNG.integers(-3, 4, (9, 5)) * RNG.choice([1.0, 0.1, 1e-20], (9, 5))
    twice = sp.csr_matrix((np.ones(2), np.array([1, 1]), np.array([0, 2])), (1, 3))
    for form in (
        values,
        values.tolist(),
        sp.csr_matrix(values),
        sp.csc_array(values),
        np.asfortranarray(values),
    ):
        matrix = ExactMatrix(form)
        for number, (((columns, numbers), exponent), row) in enumerate(
            zip(matrix.rows(), values, strict=True)
        ):
            pairs = zip(range(5) if columns is None else columns, numbers, strict=True)
            for found, scale in ((dict(pairs), exponent), matrix.row(number)):
                dense = [found.get(column, 0) * Fraction(2) ** scale for column in range(5)]
                assert dense == [Fraction(v) for v in row.tolist()]
        assert all(0 not in matrix.row(number)[0].values() for number in range(9))
    assert ExactMatrix(twice).row(0) == ({1: 1}, 1)


@pytest.mark.parametrize("size", [1, 2, 5, 30])
def test_systems_are_solved_exactly(size):
    rng = np.random.default_rng(size)
    for digits in (1, 3, 15):
        matrix = rng.integers(-(10**digits), 10**digits, (size, size)).tolist()
        wanted = [Fraction(int(a), int(b)) for a, b in rng.integers(1, 1000, (size, 2))]
        right = [sum(a * x for a, x in zip(row, wanted, strict=True)) for row in matrix]
        scale = math.lcm(*(value.denominator for value in right))
        matrix = [[a * scale for a in row] for row in matrix]
        right = [int(value * scale) for value in right]
        assert solve_exactly(matrix, right) == wanted
        combined = [sum(column) for column in zip(*matrix, strict=True)]
        assert solve_exactly([*matrix, combined], [*right, sum(right)]) == wanted
        assert solve_exactly([*matrix, combined], [*right, sum(right) + 1]) is None
        if size > 1:
            assert solve_exactly(matrix[1:], right[1:]) is None
            assert solve_exactly([[*row, row[0]] for row in matrix], right) is None


@pytest.mark.parametrize("size", [1, 3, 24, 60])
def test_positive_solutions_are_enclosed(size):
    """One entry of the solution is next to 0, on either side; the enclosure has to tell."""
    rng = np.random.default_rng(size)
    for least in (1, -1):
        matrix = rng.integers(-(2**40), 2**40, (size, size)).tolist()
        wanted = rng.integers(1, 2**40, size).tolist()
        wanted[size // 2] = least
        right = [sum(a * x for a, x in zip(row, wanted, strict=True)) for row in matrix]
        assert _encloses_positive(matrix, right) == (least > 0)
        assert has_positive_solution(matrix, right) == (least > 0)
        matrix[0] = [value << 300 for value in matrix[0]]
        assert _encloses_positive(matrix, [right[0] << 300, *right[1:]]) == (least > 0)
    singular = [[1] * size] * size
    assert _encloses_positive(singular, [1] * size) == (size == 1)
    assert not _encloses_positive([[1, 0], [0, 0]], [1, 0])
