"""Hyperplanes, updates and losses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import BernoulliNB

from perceptron_rs import (
    Perceptron,
    is_separable,
    max_margin,
    perceptron_loss,
    trace,
    updates_until_right,
)
from perceptron_rs.datasets import make_noisy, make_separable
from perceptron_rs.reference import lessons
from perceptron_rs.reference.lessons.dot import dot
from tests.teaching.claims.problems import FOUR, GIVEN, LINE, PLAIN, SIX, XOR, Answer


def loop(X: Any, y: Any, is_mistake: Any, epochs: int = 20) -> tuple[list[int], int]:
    """Run the textbook's loop with another test; return (w, b), and how many epochs it made."""
    w, epoch = [0] * (len(X[0]) + 1), 0
    while epoch < epochs:
        epoch, made = epoch + 1, 0
        for x, label in zip(np.asarray(X, dtype=int).tolist(), np.asarray(y).tolist(), strict=True):
            if is_mistake(label, sum(a * b for a, b in zip(w, [*x, 1], strict=True))):
                w = [a + label * b for a, b in zip(w, [*x, 1], strict=True)]
                made += 1
        if not made:
            break
    return w, epoch


# Hyperplanes.


def the_sign_of_the_activation_is_the_class() -> Answer:
    model = Perceptron(tol=None).fit(SIX.X, SIX.y)
    scores = SIX.X @ model.coef_[0] + model.intercept_[0]
    return bool(scores.all()) and bool((model.predict(SIX.X) == np.sign(scores)).all())


def a_line_a_plane_a_hyperplane() -> Answer:
    """In d dimensions the zeros of an activation have d - 1 directions."""
    directions = [d - np.linalg.matrix_rank(np.arange(1.0, d + 1)[None]) for d in (2, 3, 4)]
    return directions == [1, 2, 3]


def the_warm_up_region() -> Answer:
    w, b = LINE
    return bool(w @ [0, 0] + b > 0 > w @ [-4, -2] + b) and w @ [-3, 0] + b == w @ [0, -2] + b == 0


def the_dot_product_and_the_norm() -> Answer:
    a, b = np.array([1.0, 3.0]), np.array([4.0, 2.0])
    return dot(a, b) == a @ b == 1 * 4 + 3 * 2 and math.isclose(np.linalg.norm(b) ** 2, b @ b)


def orthogonal_means_dot_product_0() -> Answer:
    turned = [math.cos(math.radians(degrees)) for degrees in (89, 90, 91)]
    return turned[0] > 0 > turned[2] and math.isclose(turned[1], 0, abs_tol=1e-15)


def the_projection_divides_once() -> Answer:
    a, unit = np.array([1.0, 3.0]), np.array([0.8, 0.6])

    def rest(b: NDArray[np.float64]) -> float:
        return float((a - (a @ b) / np.linalg.norm(b) * b) @ b)

    return math.isclose(rest(unit), 0, abs_tol=1e-9), math.isclose(rest(5 * unit), 0, abs_tol=1e-9)


def w_points_to_the_positive_side() -> Answer:
    w, b = LINE
    on_it = np.array([0.0, -2.0])
    return bool(w @ (on_it + w) + b > 0 > w @ (on_it - w) + b)


def a_unit_vector_gives_the_length_of_the_projection() -> Answer:
    w = np.array([0.6, 0.8])
    points = np.array([[5.0, 0.0], [0.0, 5.0]])
    lengths = [bool(np.isclose(x @ w, np.linalg.norm((x @ w) * w))) for x in (*points, *-points)]
    return all(lengths[:2]), all(lengths)


def w_is_orthogonal_to_the_points() -> Answer:
    """Points of a line through the origin, or with the notational hack; and of a line that is moved."""
    w, b = LINE
    through, moved = np.array([[3.0, -2.0], [-3.0, 2.0]]), np.array([[0.0, -2.0], [-3.0, 0.0]])
    assert not (moved @ w + b).any()
    assert (moved[0] - moved[1]) @ w == 0
    longer = np.column_stack([moved, np.ones(2)]) @ [*w, b]
    return not (through @ w).any() and not longer.any(), not (moved @ w).any()


def an_intercept_moves_the_boundary_off_the_origin() -> Answer:
    apart = [[1.0], [2.0]], [-1, 1]
    return [
        Perceptron(fit_intercept=b, tol=None, max_iter=99).fit(*apart).converged_ for b in (True, False)
    ] == [
        True,
        False,
    ]


def a_larger_b_moves_it_to_the_negative_side() -> Answer:
    w, b = LINE
    places = [-more * w / (w @ w) @ w for more in (b, b + 1)]  # along w
    return bool(places[1] < places[0])


def the_hack_is_an_intercept() -> Answer:
    folded = Perceptron(**PLAIN).fit(np.column_stack([np.ones(6), SIX.X]), SIX.y)
    last = Perceptron(**PLAIN).fit(np.column_stack([SIX.X, np.ones(6)]), SIX.y)
    beside = Perceptron(**GIVEN).fit(SIX.X, SIX.y)
    learnt = [*beside.intercept_, *beside.coef_[0]]
    return folded.coef_[0].tolist() == learnt == np.roll(last.coef_[0], 1).tolist()


def the_constant_is_x_1() -> Answer:
    """As the first entry, before features that are x_2 and x_3; and where x_1 is the first feature."""
    x, w, b = np.array([5.0, 7.0]), np.array([2.0, 3.0]), -1.0
    theta = np.array([b, *w])
    renumbered = {1: 1.0, 2: x[0], 3: x[1]}
    same = sum(theta[place - 1] * value for place, value in renumbered.items()) == w @ x + b
    return bool(same), bool(theta @ [x[0], 1.0, x[1]] == w @ x + b)


def opposite_means_a_negative_dot_product() -> Answer:
    w, x = np.array([1.0, 0.0]), np.array([-1.0, 1.0])
    angle = math.degrees(math.acos(w @ x / (np.linalg.norm(w) * np.linalg.norm(x))))
    return bool(w @ x < 0) and angle > 90, math.isclose(angle, 180)


# The update.


def an_update_adds_y_x() -> Answer:
    steps = [*trace(Perceptron(**PLAIN), SIX.X, SIX.y)]
    return all((step.w == step.w_before + step.y * SIX.X[step.row]).all() for step in steps)


def an_update_on_a_negative_subtracts_x() -> Answer:
    steps = [step for step in trace(Perceptron(**GIVEN), SIX.X, SIX.y) if step.y == -1]
    moved = all((step.w == step.w_before - SIX.X[step.row]).all() for step in steps)
    return len(steps) > 1 and moved and all(step.b == step.b_before - 1 for step in steps)


def the_loop_is_the_engine() -> Answer:
    w, b = lessons.perceptron(SIX.X, SIX.y, 10)
    model = Perceptron(**GIVEN).fit(SIX.X, SIX.y)
    return w.tobytes() == model.coef_[0].tobytes() and b == model.intercept_[0]


def a_label_is_a_sign() -> Answer:
    steps = [*trace(Perceptron(**GIVEN), SIX.X, (SIX.y > 0).astype(str))]
    return {step.y for step in steps} == {-1, 1} and all(np.ndim(step.y) == 0 for step in steps)


def it_returns_w_0() -> Answer:
    """The loops of Algorithm 5 run from d = 1."""
    w, _ = lessons.perceptron(SIX.X, SIX.y, 1)
    return w.shape == (SIX.X.shape[1] + 1,)


def it_visits_all_examples_in_each_epoch() -> Answer:
    model = Perceptron(tol=None).fit(SIX.X, SIX.y)
    return model.n_seen_[0] == 6 * model.n_iter_


def an_update_is_made_where_the_sign_differs() -> Answer:
    """With sign(0) = 0, +1 or -1: each run ends, with y a <= 0 at each update; and all learn the same."""
    found = []
    for sign in 0, 1, -1:
        seen: list[int] = []

        def differs(y: int, a: int, sign: int = sign, seen: list[int] = seen) -> bool:
            mistake = bool((np.sign(a) or sign) != y)
            seen.extend([y * a] * mistake)
            return mistake

        w, epochs = loop(SIX.X, SIX.y, differs)
        found.append((tuple(w), epochs < 20 and max(seen) <= 0))
    textbook, _ = loop(SIX.X, SIX.y, lambda y, a: y * a <= 0)
    assert found[0][0] == tuple(textbook)
    return all(good for _, good in found), len({w for w, _ in found}) == 1


def w_comes_closer_to_y_x() -> Answer:
    """Without an intercept always; with one, w may already be beyond y x."""
    rng = np.random.default_rng(0)
    closer = []
    for w, x in zip(*rng.normal(size=(2, 1000, 3)), strict=True):
        y = -np.sign(w @ x)
        closer.append(np.linalg.norm(w + y * x - y * x) < np.linalg.norm(w - y * x))
    w, b, x = np.array([10.0, 0.0]), -11.0, np.array([1.0, 0.0])
    assert w @ x + b < 0  # a mistake on a positive example
    return all(closer), bool(np.linalg.norm(w + x - x) < np.linalg.norm(w - x))


def an_update_helps_its_example() -> Answer:
    steps = [*trace(Perceptron(**GIVEN), SIX.X, SIX.y)]
    return all(step.y * (step.w @ SIX.X[step.row] + step.b) > step.y * step.activation for step in steps)


def an_update_without_b_helps_its_example() -> Answer:
    """An example of zeros does not move."""
    w = np.array([1.0, -2.0])
    return tuple(bool(x @ (w + x) > x @ w) for x in (np.array([3.0, 4.0]), np.zeros(2)))


def the_activation_moves_by_the_length() -> Answer:
    x, w = np.array([3.0, 4.0]), np.array([-9.0, 1.0])
    moved = (w + x) @ x - w @ x
    assert moved == x @ x
    return bool(moved == np.linalg.norm(x))


def the_new_activation_contains_the_new_b_and_y() -> Answer:
    x, y, w, b = np.array([3.0, 4.0]), 1, np.array([-9.0, 1.0]), -2.0
    new = (w + y * x) @ x + (b + y)
    assert new == w @ x + b + y * (x @ x + 1)
    return bool(new == w @ x + (b + y) + y * (x @ x + 1))


def an_update_makes_w_greater() -> Answer:
    """The dot product grows, a weight need not."""
    w, x = np.array([1.0, -2.0]), np.array([-3.0, 4.0])
    assert w @ x < 0  # a mistake on a positive example
    return bool((w + x) @ x > w @ x), bool(((w + x) > w).all())


def an_update_on_a_negative_makes_it_greater() -> Answer:
    x, w = np.array([3.0, 4.0]), np.array([1.0, 1.0])
    return bool((w - x) @ x > w @ x)


def updates_in_a_row_are_bounded() -> Answer:
    w, x = np.array([-10.0, 0.0]), np.array([1.0, 2.0])
    most = -(w @ x) / (x @ x)
    wrong = [k for k in range(10) if (w + k * x) @ x <= 0]
    return max(wrong) <= most < max(wrong) + 1 and updates_until_right(x, 1, w) == len(wrong)


def the_table_of_six_points() -> Answer:
    steps = [*SIX.trace()]
    return [step.mistake for step in steps] == [True, False] * 3 and [step.prediction for step in steps] == [
        *(1, 1, -1, -1, 1, 1)
    ]


def the_weights_are_a_sum_of_examples() -> Answer:
    X, y = make_noisy(50, 4, seed=1)
    model = Perceptron(fit_intercept=False, track_mistakes=True, max_iter=9, tol=None).fit(X, y)
    return bool(np.allclose((model.mistakes_per_example_[:, 0] * y) @ X, model.coef_[0]))


def a_positive_sign_of_0_is_a_definition() -> Answer:
    (first, *_) = trace(Perceptron(tie="positive", **PLAIN), [[1.0], [-1.0]], [1, -1], every="example")
    return first.activation == 0 and first.prediction == 1 and not first.mistake


def correct_means_y_a_above_0() -> Answer:
    """Off 0, or with sign(0) = 0; and at 0 with sign(0) = +1, where a positive example is correct."""
    labels, activations = (-1, 1), (-2, -1, 0, 1, 2)

    def agree(a: int, sign_of_0: int) -> bool:
        return all((y == (np.sign(a) or sign_of_0)) == (y * a > 0) for y in labels)

    with_0 = all(agree(a, 0) for a in activations)
    return with_0 and all(agree(a, 1) for a in activations if a), all(agree(a, 1) for a in activations)


def four_points_at_1_2() -> Answer:
    """Whether y a = -4 is correctly classified, so that the pass ends with (1, 1, 1)."""
    model = FOUR.estimator.fit(FOUR.X, FOUR.y)
    assert -1 * (np.array([1, 1]) @ [1, 2] + 1) == -4
    return (*model.coef_[0], *model.intercept_) == FOUR.printed_weights


def four_points_at_2_1() -> Answer:
    """Whether y a is -4 there: with the weights of the run it is 1."""
    (*_, last) = FOUR.trace()
    assert (FOUR.X[last.row] == [2, 1]).all()
    assert not last.mistake
    return last.y * last.activation == -4


def the_final_line_of_four_points_separates() -> Answer:
    assert not is_separable(FOUR.X, FOUR.y)
    return len(set(np.sign(FOUR.X @ [1, 1] + 1))) == 2


def xor_as_printed() -> Answer:
    model = XOR.estimator.fit(XOR.X, XOR.y)
    return (*model.coef_[0], *model.intercept_) == XOR.printed_weights


def xor_keeps_updating() -> Answer:
    """By the rule, for ever; as printed, where y a = -1 is correct, the second epoch has no update."""
    rule = loop(XOR.X, XOR.y, lambda y, a: y * a <= 0, epochs=500)[1]
    printed = loop(XOR.X, XOR.y, lambda y, a: y * a == 0, epochs=500)[1]
    return rule == 500, printed == 500


def the_python_ends() -> Answer:
    ends = [Perceptron(max_iter=1000, **GIVEN).fit(found.X, found.y).converged_ for found in (SIX, XOR)]
    return ends[0], ends[1]


def a_smaller_rate_is_more_stable() -> Answer:
    """From good weights, on noisy examples; and from zero."""
    X, y = make_noisy(100, 3, flipped=0.1, seed=5)
    good = max_margin(*make_separable(100, 3, seed=5))
    found = []
    for start in {"coef_init": [good.coef], "intercept_init": [good.intercept]}, {}:
        runs = [Perceptron(eta0=eta0, max_iter=20, tol=None).fit(X, y, **start) for eta0 in (1.0, 2.0**-10)]
        found.append(runs[1].n_mistakes_ < 0.6 * runs[0].n_mistakes_)
    assert (runs[1].coef_ / runs[1].eta0).tobytes() == runs[0].coef_.tobytes()
    return found[0], found[1]


def other_starts_lead_to_other_solutions() -> Answer:
    runs = [Perceptron(**GIVEN).fit(SIX.X, SIX.y, coef_init=[start]) for start in ([0, 0], [0, 5], [5, 0])]
    return len({(*run.coef_[0], run.n_iter_) for run in runs}) == 3


# Losses.


def the_perceptron_loss() -> Answer:
    losses = [perceptron_loss([1], [a]) for a in (3.0, -0.1, -10.0)]
    return losses[0] == 0 < losses[1] < losses[2]


def the_losses_are_a_tenth_and_ten() -> Answer:
    return [perceptron_loss([-1], [a]) for a in (0.1, 10.0)] == [0.1, 10.0]


def an_incorrect_prediction_has_a_loss() -> Answer:
    """Incorrect is y a <= 0: for activations that are not 0, and for all."""
    losses = {a: perceptron_loss([1], [a]) > 0 for a in (-2.0, -1.0, 0.0)}
    return losses[-2.0] and losses[-1.0], all(losses.values())


def slopes(a: float) -> tuple[float, float]:
    """Return the slopes of the loss of a positive example on both sides of an activation."""
    h = 2.0**-20
    left = (perceptron_loss([1], [a]) - perceptron_loss([1], [a - h])) / h
    return left, (perceptron_loss([1], [a + h]) - perceptron_loss([1], [a])) / h


def the_gradient_of_a_mistake_is_minus_y_x() -> Answer:
    """As there is one slope, -y, off 0; at 0 there are two."""
    return slopes(-1.0) == (-1, -1) and slopes(1.0) == (0, 0), slopes(0.0) == (-1, -1)


def sgd(loss: str) -> bool:
    """Return whether gradient descent on a loss learns what the perceptron learns."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(-5, 6, (200, 4)).astype(float), rng.integers(0, 2, 200)
    five = {"shuffle": False, "max_iter": 5, "tol": None}
    peer = SGDClassifier(loss=loss, penalty=None, learning_rate="constant", eta0=1.0, **five).fit(X, y)
    return bool((peer.coef_ == Perceptron(**five).fit(X, y).coef_).all())


def it_is_gradient_descent_on_the_perceptron_loss() -> Answer:
    return sgd("perceptron")


def it_is_gradient_descent_on_the_hinge_loss() -> Answer:
    """On max(0, -y a), and on the hinge loss, max(0, 1 - y a)."""
    return sgd("perceptron"), sgd("hinge")


def a_rate_of_1_is_enough() -> Answer:
    runs = [Perceptron(eta0=eta0, **GIVEN).fit(SIX.X, SIX.y) for eta0 in (1.0, 0.25)]
    return (runs[1].coef_ / 0.25).tolist() == runs[0].coef_.tolist()


def naive_bayes_can_be_linear() -> Answer:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (60, 4)), rng.integers(0, 2, 60)
    model = BernoulliNB().fit(X, y)
    odds = np.diff(model.predict_joint_log_proba(X), axis=1)[:, 0]
    longer = np.column_stack([X, np.ones(60)])
    w, *_ = np.linalg.lstsq(longer, odds, rcond=None)
    return bool(np.allclose(longer @ w, odds))
