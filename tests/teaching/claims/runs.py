"""Online, batch and epochs; the theorem; margins."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from perceptron_rs import (
    MaxMarginClassifier,
    Perceptron,
    PocketPerceptron,
    is_separable,
    margin,
    max_margin,
    proof,
    trace,
)
from perceptron_rs.datasets import eighty_five_points, make_noisy, make_separable
from tests.teaching.claims.problems import FOUR, GIVEN, PLAIN, SIX, XOR, Answer

# Online, batch, epochs.


def a_batch_is_learnt_online() -> Answer:
    once = Perceptron(shuffle=False, max_iter=1, tol=None).fit(SIX.X, SIX.y)
    arrived = Perceptron()
    for row in range(6):
        arrived.partial_fit(SIX.X[[row]], SIX.y[[row]], classes=[-1, 1])
    return arrived.coef_.tobytes() == once.coef_.tobytes()


def correct_examples_leave_no_trace() -> Answer:
    steps = [*trace(Perceptron(**GIVEN), SIX.X, SIX.y, every="example")]
    same = [(step.w == step.w_before).all() for step in steps if not step.mistake]
    return len(same) > 1 and all(same)


def each_time_has_its_classifier() -> Answer:
    model, predicted = Perceptron(), []
    for row in range(6):
        predicted.append(model.predict_then_learn(SIX.X[[row]], SIX.y[[row]], classes=[-1, 1])[0][0])
    steps = trace(Perceptron(shuffle=False, max_iter=1, tol=None), SIX.X, SIX.y, every="example")
    return predicted == [step.prediction for step in steps]


def inputs_may_change_while_the_rule_stays() -> Answer:
    X, y = make_separable(200, 2, margin=0.1, seed=3)
    early, late = X[:, 0] < 0, X[:, 0] >= 0  # last year's mail, and this year's
    u = max_margin(X, y)
    right = np.sign(X @ u.coef + u.intercept) == y
    return bool(right[early].all() and right[late].all() and X[early, 0].mean() < X[late, 0].mean())


def converged_means_each_example_is_correct() -> Answer:
    model = Perceptron(tol=None).fit(SIX.X, SIX.y)
    return model.converged_ and bool((SIX.y * model.decision_function(SIX.X) > 0).all())


def it_converges_only_if_separable() -> Answer:
    apart, noisy = make_separable(50, 2, margin=0.1), make_noisy(50, 2, flipped=0.2, seed=1)
    found = [
        Perceptron(tol=None, max_iter=2000).fit(*data).converged_ for data in (apart, noisy, (XOR.X, XOR.y))
    ]
    return found == [True, False, False] == [is_separable(*data) for data in (apart, noisy, (XOR.X, XOR.y))]


def one_pass_is_enough() -> Answer:
    """After a loop that goes on until a pass has no mistake, each example is correct; and after one pass."""
    X, y = eighty_five_points()
    until, once = (Perceptron(shuffle=False, tol=None, max_iter=n).fit(X, y) for n in (1000, 1))
    return until.score(X, y) == 1, once.score(X, y) == 1


def only_the_number_of_epochs_can_be_chosen() -> Answer:
    """With one order and start, the rate changes no prediction; with other orders, lines differ."""
    X, y = eighty_five_points()
    rates = {tuple(Perceptron(eta0=eta0, **GIVEN).fit(X, y).coef_[0] / eta0) for eta0 in (1.0, 0.5)}
    weights = [Perceptron(tol=None, random_state=seed).fit(X, y).coef_[0] for seed in range(5)]
    orders = {round(float(w[1] / w[0]), 9) for w in weights}
    return len(rates) == 1, len(orders) == 1


def too_few_epochs_underfit_and_too_many_overfit() -> Answer:
    X, y = eighty_five_points()
    few, enough = (Perceptron(max_iter=n, tol=None).fit(X, y).score(X, y) for n in (1, 100))
    rng = np.random.default_rng(0)
    noise, labels = rng.normal(size=(100, 60)), rng.choice([-1, 1], 100)
    learnt = Perceptron(tol=None).fit(noise[:50], labels[:50])
    return (
        few < enough == 1 == learnt.score(noise[:50], labels[:50])
        and learnt.score(noise[50:], labels[50:]) < 0.7
    )


def it_can_overfit() -> Answer:
    return too_few_epochs_underfit_and_too_many_overfit()


def an_update_gains_examples() -> Answer:
    """From the start to the end of a run; and in each of its epochs."""
    X, y = eighty_five_points()
    made = Perceptron(tol=None).fit(X, y).mistakes_per_epoch_[:, 0]
    return made[-1] == 0 < made[0], bool((np.diff(made) <= 0).all())


def training_finds_a_hyperplane() -> Answer:
    """Where one separates the classes, and where none does."""
    found = [
        Perceptron(max_iter=1000, **GIVEN).fit(data.X, data.y).mistakes_per_epoch_ for data in (SIX, XOR)
    ]
    return bool(not found[0][-1]), bool(not found[1].all())


def recent_mistakes_count_more() -> Answer:
    """The last update is right about its example; in the sum of updates each has the same step."""
    steps = [*trace(Perceptron(**PLAIN), SIX.X, SIX.y)]
    last = steps[-1]
    corrected = last.y * (last.w @ SIX.X[last.row]) > last.y * last.activation
    return bool(corrected), len({abs(step.step) for step in steps}) > 1


def orders_end_on_other_lines() -> Answer:
    X, y = eighty_five_points()
    runs = [Perceptron(tol=None, random_state=seed).fit(X, y) for seed in range(10)]
    slopes = {round(float(run.coef_[0, 1] / run.coef_[0, 0]), 9) for run in runs}
    epochs = {run.n_iter_ for run in runs}
    return len(slopes) == 10 and len(epochs) > 3 and all(run.score(X, y) == 1 for run in runs)


def only_separable_data_works() -> Answer:
    """If "works" is "converges"; but a pocket or an average predicts well on noisy data."""
    X, y = make_noisy(300, 5, margin=0.1, flipped=0.05, seed=1)
    plain = Perceptron(tol=None, max_iter=100).fit(X, y)
    return not plain.converged_, PocketPerceptron().fit(X, y).score(X, y) < 0.9


def scaling_helps() -> Answer:
    """Features of different sizes; and those of one size around 0."""
    X, y = make_separable(100, 3, margin=0.1)
    found = []
    for Z in X * [1, 100, 0.01] + np.random.default_rng(0).normal(size=3), X:
        made = [Perceptron(tol=None, max_iter=9999).fit(A, y).n_mistakes_ for A in (Z, *scaled(Z))]
        found.append(made[1] < made[0] and made[2] < made[0])
    return found[0], found[1]


def scaled(X: Any) -> list[Any]:
    """Return the two scalings of the lecture."""
    both = [(X - X.mean(axis=0)) / X.std(axis=0), (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))]
    for mine, theirs in zip(both, (StandardScaler(), MinMaxScaler()), strict=True):
        np.testing.assert_allclose(mine, theirs.fit_transform(X))
    return both


# The theorem.

TWO = [[1.0], [-1.0]], [1, -1]
EYE = np.eye(5), np.array([1, -1, 1, -1, 1])


def mistakes_and_bound(X: Any, y: Any, bias: str, **settings: Any) -> tuple[int, float]:
    return Perceptron(**settings).fit(X, y).n_mistakes_, max_margin(X, y, bias=bias).mistake_bound


def the_bound_needs_b_0() -> Answer:
    """R^2 / gamma^2 for b = 0: of a learner without an intercept, and of one with it."""
    without = mistakes_and_bound(*TWO, "none", **PLAIN)
    beside = mistakes_and_bound(*TWO, "none", **GIVEN)
    assert mistakes_and_bound(*TWO, "augmented", **GIVEN)[1] >= beside[0]
    return without[0] <= without[1], beside[0] <= beside[1]


def at_most_1_over_gamma_squared() -> Answer:
    X, y = make_separable(60, 3, margin=0.1, seed=2)
    X = X / np.linalg.norm(X, axis=1).max()
    runs = [Perceptron(fit_intercept=False, tol=None, random_state=seed).fit(X, y) for seed in range(10)]
    return max(run.n_mistakes_ for run in runs) <= 1 / max_margin(X, y, bias="none").lower ** 2 + 1e-9


def each_example_has_the_margin() -> Answer:
    found = max_margin(SIX.X, SIX.y, bias="none")
    u = found.coef / np.linalg.norm(found.coef)
    return bool((SIX.y * (SIX.X @ u) >= found.lower * (1 - 1e-12)).all())


def two_indices() -> tuple[list[Any], list[Any], float]:
    """Return the weights of the six points after 1, 2, 3 mistakes, u and R^2."""
    return [step.w for step in trace(Perceptron(**PLAIN), SIX.X, SIX.y)], [1.0, 0.0], 5.0


def the_first_line_is_strict() -> Answer:
    """w_{k+1} . w_* > k, as gamma is 1. With w_0 = 0, w_{k+1} has made k + 1 mistakes; with w_1 = 0, k."""
    weights, u, _ = two_indices()
    from_0 = all(w @ u > k for k, w in enumerate(weights))
    return from_0, all(w @ u > k for k, w in enumerate(weights, start=1))


def the_second_line_has_k() -> Answer:
    """|w_{k+1}|^2 <= k R^2. With w_1 = 0, w_{k+1} comes after k mistakes; with w_0 = 0, after k + 1."""
    weights, _, square = two_indices()
    from_1 = all(w @ w <= k * square for k, w in enumerate(weights, start=1))
    return from_1, all(w @ w <= k * square for k, w in enumerate(weights))


def each_update_makes_progress() -> Answer:
    found = proof(trace(Perceptron(**PLAIN), SIX.X, SIX.y))
    steps = np.diff(found.progress, prepend=0)
    return bool((steps >= found.margin * (1 - 1e-9)).all())


def each_update_lengthens_by_at_most_r() -> Answer:
    found = proof(trace(Perceptron(**PLAIN), SIX.X, SIX.y))
    return bool((np.diff(found.squares, prepend=0) <= found.radius**2 + 1e-9).all())


def the_chain_ends_in_the_bound() -> Answer:
    found = proof(trace(Perceptron(**PLAIN), *EYE))
    k = np.arange(1, 6)
    both = (
        found.progress <= np.sqrt(found.squares) + 1e-9,
        np.sqrt(found.squares) <= np.sqrt(k) * found.radius + 1e-9,
    )
    return found.holds and all(side.all() for side in both)


def the_chain_without_a_length_of_u() -> Answer:
    """sqrt(k) >= |w| >= w . u, for u of length 1, and for u = y on orthogonal examples."""
    X, y = EYE
    weights = [step.w for step in trace(Perceptron(**PLAIN), X, y)]
    holds = [all(np.linalg.norm(w) >= w @ u - 1e-9 for w in weights) for u in (y / np.sqrt(5), y)]
    return holds[0], holds[1]


def the_norm_of_u_is_the_bound() -> Answer:
    """R^2 / gamma^2 for u = y on orthogonal examples, where gamma = 1."""
    X, y = EYE
    gamma = min(y * (X @ y))
    made = Perceptron(**PLAIN).fit(X, y).n_mistakes_
    assert made == (y @ y) / gamma**2  # |u|^2 R^2 / gamma^2
    return bool(made <= 1 / gamma**2)


def the_bound_is_on_iterations() -> Answer:
    """If an iteration is a mistake; and if it is an example."""
    model, bound = Perceptron(**PLAIN).fit(SIX.X, SIX.y), max_margin(SIX.X, SIX.y, bias="none").mistake_bound
    return model.n_mistakes_ <= bound, bool(model.n_seen_[0] <= bound)


def the_bound_is_on_passes() -> Answer:
    """At most twice R^2 / gamma^2 passes, and n times as many examples; of examples without their number."""
    passes, seen = [], []
    for seed in range(20):
        X, y = make_separable(40, 3, margin=0.2, seed=seed)
        bound = max_margin(X, y, bias="augmented").mistake_bound
        model = Perceptron(tol=None, random_state=seed).fit(X, y)
        passes.append(model.n_iter_ <= model.n_mistakes_ + 1 <= bound + 1 <= 2 * bound)
        passes.append(bool(model.n_seen_[0] <= len(X) * 2 * bound))
        seen.append(bool(model.n_seen_[0] <= 2 * bound))
    return all(passes), all(seen)


def a_larger_margin_is_faster() -> Answer:
    """The bound with the same R, and the mean of 20 orders; single runs, and ten times all examples."""
    bounds, made = [], []
    for gamma in (0.002, 0.05, 0.4):
        X, y = make_separable(200, 2, margin=gamma, seed=1)
        X = X / np.linalg.norm(X, axis=1).max()
        bounds.append(max_margin(X, y, bias="augmented").mistake_bound)
        made.append([Perceptron(tol=None, random_state=seed).fit(X, y).n_mistakes_ for seed in range(20)])
    means = np.mean(made, axis=1)
    scaled = [Perceptron(**PLAIN).fit(c * X, y).n_mistakes_ for c in (1, 10)]
    falls = bool(bounds[0] > bounds[1] > bounds[2] and means[0] > means[1] > means[2])
    return falls, min(made[0]) > max(made[2]) or scaled[1] < scaled[0]


def the_bound_has_no_n_and_no_d() -> Answer:
    sizes = (20, 10), (500, 10), (100, 50)
    made = [Perceptron(tol=None).fit(*make_separable(n, d, margin=0.1)).n_mistakes_ for n, d in sizes]
    return max(made) <= 2 / 0.1**2


def not_the_largest_margin() -> Answer:
    X, y = eighty_five_points()
    model = Perceptron(tol=None).fit(X, y)
    return margin(X, y, model.coef_, model.intercept_).upper < max_margin(X, y).lower


def it_ends_without_errors() -> Answer:
    X, y = make_separable(80, 4, margin=0.05, seed=7)
    model = Perceptron(tol=None).fit(X, y)
    return model.converged_ and model.score(X, y) == 1


def an_added_feature_separates() -> Answer:
    return Perceptron(added_feature=1.0, tol=None).fit(XOR.X, XOR.y).converged_ and not is_separable(
        XOR.X, XOR.y
    )


def separability_is_decided() -> Answer:
    return is_separable(SIX.X, SIX.y) and not is_separable(XOR.X, XOR.y)


# Margins.


def the_margin_is_a_distance() -> Answer:
    """With |w| = 1, and with any w."""
    x, w = np.array([3.0, 4.0]), np.array([3.0, 4.0])
    apart = np.stack([x, -x]), [1, -1]
    found = [margin(*apart, v, 0.0, normalize=False).lower for v in (w / 5, w)]
    return math.isclose(found[0], 5), math.isclose(found[1], 5)


def the_supremum_is_the_largest_margin() -> Answer:
    """With |w| = 1, and with any w: then it has no end."""
    found = {
        normalize: [margin(SIX.X, SIX.y, [10.0**k, 0.0], 0.0, normalize=normalize).lower for k in range(4)]
        for normalize in (True, False)
    }
    return np.allclose(found[True], 1), np.allclose(found[False], 1)


def the_margin_has_an_absolute_value() -> Answer:
    """For a hyperplane that separates, and for one that does not."""
    w = np.array([[1.0, 0.0], [0.5, 1.0]])
    both = [(np.abs(SIX.X @ v).min(), (SIX.y * (SIX.X @ v)).min()) for v in w]
    assert both[0][1] > 0 > both[1][1]
    return both[0][0] == both[0][1], both[1][0] == both[1][1]


def the_margin_is_the_smallest_y_a() -> Answer:
    found = margin(SIX.X, SIX.y, [1.0, 0.0], 0.0)
    none = margin(SIX.X, SIX.y, [0.0, 1.0], 0.0)
    return math.isclose(found.lower, min(SIX.y * SIX.X[:, 0])) and none.upper == -math.inf


def maximum_and_supremum_differ_at_minus_infinity_only() -> Answer:
    """With |w| = 1, where separable data attains it; and without, where it is not attained."""
    assert max_margin(FOUR.X, FOUR.y).lower == -math.inf
    best = max_margin(SIX.X, SIX.y)
    attained = margin(SIX.X, SIX.y, best.coef, best.intercept).lower
    grows = [margin(SIX.X, SIX.y, [10.0**k, 0.0], 0.0, normalize=False).lower for k in range(4)]
    return math.isclose(attained, best.upper), grows != sorted(set(grows))


def a_classifier_of_largest_margin() -> Answer:
    model = MaxMarginClassifier().fit(SIX.X, SIX.y)
    return math.isclose(model.margin_[0], max_margin(SIX.X, SIX.y).lower, rel_tol=1e-6)
