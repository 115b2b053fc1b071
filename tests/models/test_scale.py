"""A kept scaler makes of examples what scikit-learn's makes, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from perceptron_rs.recipe.scale import ScaleFit

SCALERS = {"standard": StandardScaler, "minmax": MinMaxScaler, "maxabs": MaxAbsScaler}


def kept(kind, X):
    fit = ScaleFit(kind)
    fit.add(X)
    return fit.scale()


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1"])
@pytest.mark.parametrize("kind", SCALERS)
def test_bits_of_scikit_learn(kind, dtype):
    X = (np.random.default_rng(0).normal(size=(50, 6)) * 7 + 20).astype(dtype)
    expected = SCALERS[kind]().fit_transform(X)
    found = kept(kind, X).applied(X)
    assert (found.dtype, found.tobytes()) == (expected.dtype, expected.tobytes())
    if kind != "maxabs":  # it keeps sparse rows sparse
        assert kept(kind, X).applied(sp.csr_matrix(X)).tobytes() == expected.tobytes()


@pytest.mark.parametrize("form", [np.array, sp.csr_matrix])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i1"])
def test_the_largest_of_several_blocks(dtype, form):
    """What `MaxAbsScaler` takes for zeros, too: columns of zeros, and numbers near them; an int8 of -128."""
    X = np.array([[0, 1e-9, -128, 3], [0, 0, 127, -9], [0, 1e-16, 5, 4]]).astype(dtype)
    fit, scaler = ScaleFit("maxabs"), MaxAbsScaler()
    for block in (X[:1], X[1:]):
        fit.add(form(block))
        scaler.partial_fit(form(block))
    assert fit.scale().scale == tuple(scaler.scale_.tolist())
    with pytest.raises(ValueError, match="infinity"):
        fit.add(form(np.array([[np.inf] * 4])))


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1"])
@pytest.mark.parametrize("kind", ["standard", "maxabs"])
def test_zeros_of_sparse_rows_stay(kind, dtype):
    X = sp.random_array((50, 6), density=0.3, rng=np.random.default_rng(0), format="csr")
    X = sp.csr_matrix((X * 90).astype(dtype))
    scaler = StandardScaler(with_mean=False) if kind == "standard" else MaxAbsScaler()
    expected, found = scaler.fit_transform(X), kept(kind, X).applied(X)
    assert (found.dtype, found.data.tobytes()) == (expected.dtype, expected.data.tobytes())
    assert found.indices.tolist() == expected.indices.tolist()
