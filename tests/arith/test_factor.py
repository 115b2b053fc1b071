"""The factor solves what it was made from, after any growing and shrinking."""

import numpy as np
import pytest

from perceptron_rs.reference import arith


def grown(rng, groups, steps):
    """A factor after some appends and removals, its matrix, and the groups of its members."""
    factor, rows, members = arith.Factor(groups), [], []
    for step in range(steps):
        if len(rows) > groups and rng.random() < 0.4:
            p = int(rng.integers(len(rows)))
            if members.count(members[p]) > 1:
                factor.remove(p)
                del rows[p], members[p]
                continue
        row, group = rng.normal(size=30), step % groups
        q = np.array([row @ other + (group == g) for other, g in zip(rows, members, strict=True)])
        r = factor.forward(q.reshape(-1))
        factor.append(r, float(np.sqrt(row @ row + 1 - r @ r)), group)
        rows.append(row)
        members.append(group)
    U, members = np.array(rows), np.array(members)
    return factor, U @ U.T + (members[:, np.newaxis] == members), members


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_solves(groups, seed):
    rng = np.random.default_rng(seed)
    factor, Q, members = grown(rng, groups, 25)
    b = rng.normal(size=len(Q))
    np.testing.assert_allclose(Q @ factor.back(factor.forward(b)), b, atol=1e-10)
    d = factor.step(b)
    rest = Q @ d - b
    for g in range(groups):
        own = members == g
        assert abs(d[own].sum()) < 1e-12
        np.testing.assert_allclose(rest[own], rest[own][0], atol=1e-10)
        indicator = factor.forward(own.astype(float))
        np.testing.assert_allclose(factor.f[g, : factor.size], indicator, atol=1e-12)
