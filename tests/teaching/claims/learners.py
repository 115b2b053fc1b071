"""Votes, averages and the pocket; kernels, structures and layers; categories."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from perceptron_rs import (
    AveragedPerceptron,
    KernelPerceptron,
    MultilayerPerceptron,
    Perceptron,
    PocketPerceptron,
    StructuredPerceptron,
    VotedPerceptron,
    is_separable,
    kernel_matrix,
    trace,
)
from perceptron_rs.datasets import make_noisy, make_separable, xor
from perceptron_rs.reference import lessons
from perceptron_rs.reference.lessons.dot import dot
from tests.teaching.claims.problems import PLAIN, SIX, XOR, Answer


def the_vote_is_a_sum_of_signs() -> Answer:
    vectors = lessons.voted_perceptron(SIX.X, SIX.y, 2)
    model = VotedPerceptron(shuffle=False, max_iter=2, tol=None).fit(SIX.X, SIX.y)
    votes = [sum(c * np.sign(x @ w + b) for w, b, c in vectors) for x in SIX.X]
    return np.sign(votes).tolist() == model.predict(SIX.X).tolist()


def the_average_can_be_rewritten() -> Answer:
    vectors = lessons.voted_perceptron(SIX.X, SIX.y, 2)
    weights = sum(c * w for w, _, c in vectors), sum(c * b for _, b, c in vectors)
    sums = [sum(c * (x @ w + b) for w, b, c in vectors) for x in SIX.X]
    return bool(np.allclose(SIX.X @ weights[0] + weights[1], sums))


def survival_times_count_the_examples() -> Answer:
    model = VotedPerceptron(shuffle=False, max_iter=2, tol=None).fit(SIX.X, SIX.y)
    return int(model.survival_[0].sum()) == 12


def survivors_have_more_say() -> Answer:
    model = VotedPerceptron(**PLAIN).fit(SIX.X, SIX.y)
    return model.survival_[0].tolist() == [0, 2, 2, 8]


def averages(cached: Any, first: int = 1) -> tuple[list[Fraction], list[Fraction]]:
    """Return the average of an epoch by a cached sum, with the intercept last, and the naive one."""
    w, u, c = [Fraction(0)] * 3, [Fraction(0)] * 3, first
    total, vectors = list(w), 1
    for x, y in zip(SIX.X.astype(int).tolist(), SIX.y.tolist(), strict=True):
        longer = [*x, 1]
        if y * sum(a * b for a, b in zip(w, longer, strict=True)) <= 0:
            w = [a + y * b for a, b in zip(w, longer, strict=True)]
            u = [a + factor * y * b for a, b, factor in zip(u, longer, cached(c), strict=True)]
        c += 1
        total, vectors = [a + b for a, b in zip(total, w, strict=True)], vectors + 1
    return [a - b / Fraction(c) for a, b in zip(w, u, strict=True)], [a / vectors for a in total]


def the_counter_counts_examples() -> Answer:
    cached, naive = averages(lambda c: [c] * 3)
    return cached == naive


def the_cached_sum_needs_no_counter() -> Answer:
    cached, naive = averages(lambda c: [1, 1, c])
    return cached[:2] == naive[:2]


def the_cached_intercept_needs_no_counter() -> Answer:
    cached, naive = averages(lambda c: [c, c, 1])
    return cached[2] == naive[2]


def the_counter_may_start_anywhere() -> Answer:
    """As to the direction, of which there is one for all starts from 0 on; and as to the average itself."""
    found = [averages(lambda c: [c] * 3, first) for first in range(10)]
    scaled = [[a * (6 + first) / 7 for a in cached] for first, (cached, _) in enumerate(found)]
    same = [cached == naive for cached, naive in found]
    assert same[1]
    return all(cached == naive for cached, (_, naive) in zip(scaled, found, strict=True)), all(same)


def two_vectors_hold_the_average() -> Answer:
    w, b = lessons.averaged_perceptron(SIX.X, SIX.y, 2)
    model = AveragedPerceptron(shuffle=False, max_iter=2, tol=None).fit(SIX.X, SIX.y)
    return w.tobytes() == model.coef_[0].tobytes() and b == model.intercept_[0]


def there_are_k_plus_1_vectors() -> Answer:
    """If K counts mistakes; and if it is the last index of the sum."""
    model = VotedPerceptron(**PLAIN).fit(SIX.X, SIX.y)
    count, mistakes = int(model.n_vectors_[0]), model.n_mistakes_
    printed = range(1, mistakes + 1)  # of the sum, with K = the number of mistakes
    return count == mistakes + 1, count == len(printed)


def the_vote_keeps_every_vector() -> Answer:
    model = VotedPerceptron(max_iter=3, tol=None).fit(*make_noisy(100, 3, seed=2))
    return len(list(model.vectors())) == model.n_mistakes_ + 1


def drift(model: Any) -> float:
    """Return the errors at the end of a stream whose rule has changed."""
    rng = np.random.default_rng(0)
    X, first, second = rng.normal(size=(3000, 2)), np.array([1.0, 0.0]), np.array([-0.5, 1.0])
    y = np.where(np.arange(3000) < 2000, X @ first, X @ second) > 0
    model.set_params(shuffle=False, max_iter=1, tol=None).fit(X, y)
    return float(np.mean(model.predict(X[2000:]) != y[2000:]))


def noise(kind: Any, flipped: float = 0.1, columns: int = 10) -> list[float]:
    """Return the errors on new examples after learning from 100, with so many wrong labels, in 20 samples."""
    errors = []
    for seed in range(20):
        X, y = make_noisy(1100, columns, margin=0.02, flipped=flipped, seed=seed)
        _, truth = make_separable(1100, columns, margin=0.02, seed=seed)
        model = kind(max_iter=10, tol=None, random_state=0).fit(X[:100], y[:100])
        errors.append(1 - model.score(X[100:], truth[100:]))
    return errors


def the_vote_generalizes_better() -> Answer:
    """The mean with some wrong labels; and each sample, also where the rule changes or no label is wrong."""
    means, each = [], [drift(VotedPerceptron()) < drift(Perceptron())]
    for share, columns in (0.05, 2), (0.05, 10), (0.2, 2), (0.2, 10), (0.0, 2):
        vote, last = (np.array(noise(kind, share, columns)) for kind in (VotedPerceptron, Perceptron))
        means += [vote.mean() < last.mean()] if share else []
        each += [*(vote <= last)]
    return all(means), all(each)


def the_average_is_close_to_the_vote() -> Answer:
    mean, vote, last = (np.mean(noise(kind)) for kind in (AveragedPerceptron, VotedPerceptron, Perceptron))
    return bool(abs(mean - vote) < abs(last - vote) / 2)


def the_pocket_keeps_the_best() -> Answer:
    X, y = make_noisy(100, 3, flipped=0.1, seed=1)
    paper = PocketPerceptron(average=False, check="update", max_iter=10, tol=None).fit(X, y)
    plain = Perceptron(max_iter=10, tol=None)
    steps = [step for step in trace(plain, X, y) if step.mistake]
    least = min(int(((X @ step.w + step.b > 0) != (y > 0)).sum()) for step in steps)
    return paper.pocket_errors_[0] == least


# Kernels, sequences, layers.


def a_kernel_is_a_dot_product() -> Answer:
    X = XOR.X
    phi = np.column_stack([np.ones(4), 2**0.5 * X, X**2, 2**0.5 * X[:, :1] * X[:, 1:]])
    return np.allclose(phi @ phi.T, kernel_matrix(X, kernel="poly", degree=2, gamma=1.0, coef0=1.0))


def a_lifted_space_separates() -> Answer:
    """XOR by the product, and points of a line with labels in turn by an RBF; these not by degree 2."""
    X, y = xor()
    product = np.column_stack([X, np.prod(X, axis=1)])
    turns, labels = np.arange(4.0)[:, None], [1, -1, 1, -1]
    assert not is_separable(X, y)
    rbf = KernelPerceptron("rbf", gamma=1.0, prediction="last", max_iter=100).fit(turns, labels)
    suits = is_separable(product, y), rbf.converged_, is_separable(turns ** [1, 2, 3], labels)
    return all(suits), is_separable(turns ** [1, 2], labels)


def polynomial_and_rbf_kernels_separate_xor() -> Answer:
    X, y = xor()
    kernels: list[dict[str, Any]] = [{"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0}]
    kernels += [{"kernel": "rbf", "gamma": 1.0}]
    return all(KernelPerceptron(prediction="last", **kernel).fit(X, y).score(X, y) == 1 for kernel in kernels)


def feature(word: int, label: int, size: int) -> Any:
    """Return the joint features of one of three words with a label of so many."""
    found = np.zeros(3 * size)
    found[3 * label + word] = 1
    return found


TAGGED = [(0, 1), (1, 0), (2, 1)]


def it_learns_structures() -> Answer:
    def best(word: int, w: Any) -> int:
        return int(np.argmax([w @ feature(word, label, 4) for label in range(4)]))

    model = StructuredPerceptron(lambda word, label: feature(word, label, 4), best, max_iter=20)
    model.fit([word for word, _ in TAGGED], [label for _, label in TAGGED])
    return all(best(word, model.coef_) == label for word, label in TAGGED)


def structured_mistakes(size: int) -> int:
    """Count the mistakes of a structured perceptron that chooses a wrong label wherever scores are equal."""
    w, made, clean = np.zeros(3 * size), 0, False
    while not clean:
        clean = True
        for word, label in TAGGED:
            others = [other for other in range(size) if other != label]
            worst = max(others, key=lambda other: w @ feature(word, other, size))
            difference = feature(word, label, size) - feature(word, worst, size)
            if w @ difference <= 0:
                w, made, clean = w + difference, made + 1, False
    return made


def the_bound_ignores_the_size_of_the_set() -> Answer:
    """R^2 / gamma^2 is 6: u has 1 / sqrt(3) for each word with its label, so gamma is that; R^2 is 2."""
    return all(structured_mistakes(size) <= 6 for size in (2, 20, 200))


def a_perceptron_is_a_neuron() -> Answer:
    model = Perceptron(tol=None).fit(SIX.X, SIX.y)
    outputs = [np.sign(dot(model.coef_[0], x) + model.intercept_[0]) for x in SIX.X]
    return outputs == model.predict(SIX.X).tolist()


def activation_functions_are_differentiable() -> Answer:
    """Sigmoid everywhere; ReLU not at 0."""
    h = 1e-6

    def sides(f: Any) -> bool:
        return all(
            math.isclose((f(a + h) - f(a)) / h, (f(a) - f(a - h)) / h, abs_tol=1e-3) for a in (-1.0, 0.0, 1.0)
        )

    return sides(lambda a: 1 / (1 + math.exp(-a))), sides(lambda a: max(0.0, a))


def layers_learn_xor() -> Answer:
    X, y = xor()
    model = MultilayerPerceptron((4,), activation="tanh", learning_rate_init=0.1, max_iter=2000, tol=None)
    return model.fit(X, y).score(X, y) == 1


def there_are_no_probabilities() -> Answer:
    return not hasattr(Perceptron(), "predict_proba") and hasattr(MultilayerPerceptron(), "predict_proba")


# Categories.


def the_hamming_distance_counts_agreements() -> Answer:
    a, b = np.array([0, 1, 2, 3]), np.array([0, 1, 2, 9])
    assert np.sum(a != b) == 1
    return bool(np.sum(a == a) == 0 and np.sum(a == b) == 1)


def one_hot_columns_count_agreements() -> Answer:
    a, b = np.array([0, 1, 2, 3]), np.array([0, 1, 2, 9])
    one_hot = [(v[:, None] == range(10)).astype(int).ravel() for v in (a, b)]
    return one_hot[0] @ one_hot[1] == 4 - np.sum(a != b)
