"""All kinds of prediction against the definition, in fractions."""

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from .support import ANSWERS, kernel_run, scores, vectors


def by_definition(X, stored, state, intercept):
    """Answers for a kernel (1 + x.z)^2, one vector after another, exactly; N as it was learnt."""
    K = [[Fraction(int((1 + x @ z) ** 2)) for z in stored.astype(int)] for x in X.astype(int)]
    answers = []
    for row in K:
        a, all_a = Fraction(0), []
        for vector in range(len(state["log_row"]) + 1):
            if vector:
                c = Fraction(float(state["log_step"][vector - 1]))
                a += c * row[state["log_row"][vector - 1]] + (c if intercept else 0)
            all_a.append(a)
        counts, norms = state["log_count"].tolist(), state["log_norm"].tolist()
        T = sum(counts)
        # The average counts the vector before the first example, too.
        whole = sum(n * a for n, a in zip(counts, all_a, strict=True)) / Fraction(T + 1)
        shares = [float(a) / sqrt(N) if N else 0.0 for a, N in zip(all_a, norms, strict=True)]
        drawn = int(state["drawn"][0])
        answers.append(
            {
                "last": all_a[-1],
                "average": whole,
                "vote": sum(n * ((a > 0) - (a < 0)) for n, a in zip(counts, all_a, strict=True)),
                "joint vote": T,  # there is no other plane
                "drawn": all_a[drawn],
                "normalised last": shares[-1],
                "normalised average": sum(n * s for n, s in zip(counts, shares, strict=True)) / T,
                "normalised drawn": shares[drawn],
            }
        )
    return answers


@pytest.mark.parametrize("intercept", [False, True])
def test_every_answer_is_that_of_the_definition(engine, intercept):
    random = np.random.default_rng(2)
    X, y = random.integers(0, 5, (50, 3)).astype(np.uint8), random.integers(0, 2, 50)
    report = kernel_run(engine, X, y, max_iter=3, fit_intercept=intercept)
    state = vectors(report, fit_intercept=intercept, drawn=4)
    found = scores(engine, X, X, state)
    assert len(state["log_row"]) > 20
    for row, answers in zip(found, by_definition(X, X, state, intercept), strict=True):
        for answer, value in answers.items():
            ours = row[ANSWERS.index(answer), 0]
            if answer in ("last", "vote", "joint vote", "drawn"):
                assert ours == value, answer
            else:
                assert ours == pytest.approx(float(value), rel=1e-12, abs=1e-12), answer


@pytest.mark.parametrize("dtype", ["float64", "float32", "uint8"])
def test_no_answer_depends_on_the_other_rows(engine, dtype):
    random = np.random.default_rng(3)
    X, y = (random.normal(size=(60, 4)) * 3 + 9).astype(dtype), random.integers(0, 2, 60)
    state = vectors(kernel_run(engine, X, y, max_iter=2))
    together = scores(engine, X, X, state)
    for few in (
        slice(0, 1),
        slice(31, 33),
        slice(32, 35),
        slice(56, 60),
    ):  # some are too few for a copy of all
        assert scores(engine, X[few], X, state).tobytes() == together[few].tobytes()


def test_a_log_that_names_other_rows_is_refused(engine):
    X, y = np.eye(3), [0, 1, 0]
    state = vectors(kernel_run(engine, X, y))
    with pytest.raises(ValueError, match="log_row must name one of 1 stored rows, got"):
        scores(engine, X, X[:1], state)
    with pytest.raises(ValueError, match="log_norm must have"):
        scores(engine, X, X, state | {"log_norm": state["log_norm"][1:]})
    with pytest.raises(ValueError, match=r"answers must be one of 'sum', 'last', .*, got 'best'"):
        scores(engine, X, X, state, answers=["best"])
    with pytest.raises(ValueError, match="rows must have 3 columns, like the other rows, got 2"):
        scores(engine, X[:, :2], X, state)


def votes_by_definition(X, stored, state, planes, intercept):
    """Votes of the vectors of a joint run: one for each example, of what it has left behind. All exactly.

    Where classes share the largest score there is none.
    """
    K = [[int((1 + x @ z) ** 2) for z in stored.astype(int)] for x in X.astype(int)]
    plane = np.repeat(range(planes), np.diff(state["log_start"]))
    votes = np.zeros((len(X), planes))
    for row, values in enumerate(K):
        a = [Fraction(0)] * planes
        for t in range(1, int(state["seen"][0]) + 1):
            for i in np.flatnonzero(state["log_t"] == t):
                c = Fraction(float(state["log_step"][i]))
                a[plane[i]] += c * values[state["log_row"][i]] + (c if intercept else 0)
            votes[row, a.index(max(a))] += a.count(max(a)) == 1
    return votes


@pytest.mark.parametrize("intercept", [False, True])
def test_in_a_joint_run_each_vector_votes_for_the_class_of_its_largest_score(engine, intercept):
    random = np.random.default_rng(4)
    X, y = random.integers(0, 4, (40, 2)).astype(np.uint8), random.integers(0, 4, 40)
    report = kernel_run(engine, X, y, planes=4, max_iter=2, joint="max", fit_intercept=intercept)
    state = vectors(report, fit_intercept=intercept)
    found = scores(engine, X, X, state)[:, ANSWERS.index("joint vote")]
    assert len(state["log_row"]) > 40
    assert found.tolist() == votes_by_definition(X, X, state, 4, intercept).tolist()


def test_a_joint_vote_of_another_run_is_refused(engine):
    X, y = np.eye(3), [0, 1, 2]
    state = vectors(kernel_run(engine, X, y, planes=3, joint="max"))
    with pytest.raises(ValueError, match="seen must be one number in a joint vote"):
        scores(engine, X, X, state | {"seen": state["seen"] + np.arange(3)})
    with pytest.raises(ValueError, match="log_t must be from 1 to seen, 3, in a joint vote, got 4"):
        scores(engine, X, X, state | {"log_t": np.full_like(state["log_t"], 4)})
