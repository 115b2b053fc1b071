"""Columns of hashed names are those of scikit-learn's hasher, also of long names."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction import FeatureHasher
from sklearn.utils import murmurhash3_32

from perceptron_rs._core import murmur3
from perceptron_rs.features import hashing
from perceptron_rs.features.hashing import hashed


@pytest.mark.parametrize("n_columns", [1, 7, 1 << 18, 2**31 - 1])
def test_columns_and_signs_are_those_of_scikit_learn(n_columns):
    names = ["", "a", "ab", "abc", "abcd", "w=süß", "𝄞" * 3, *(f"name {i}" for i in range(500)), "x" * 1000]
    columns, is_positive = hashed(names, n_columns)
    for name, column, positive in zip(names, columns, is_positive, strict=True):
        (row,) = FeatureHasher(n_columns, input_type="string").transform([[name]])
        assert (row.indices.tolist(), row.data.tolist()) == ([column], [1.0 if positive else -1.0]), name


def test_hashes_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    lengths = [*range(20), 255, 256, 257, 258, 259, 260, 5000, 4 << 12, (4 << 12) + 3, 20_000]
    few, many = [rng.bytes(size) for size in lengths], [rng.bytes(size) for size in lengths * 20]
    for texts in (few, many, few[::-1], few[:1], []):
        found = murmur3(texts)
        assert found.tolist() == [murmurhash3_32(text, seed=0, positive=True) for text in texts]


@pytest.mark.parametrize("n_columns", [1000, 1 << 18])
def test_the_hash_of_no_absolute_value(n_columns, monkeypatch):
    """2**31 is no number of 32 bits: scikit-learn gives that hash a column of its own, and a sign."""
    found = np.array([2**31, 2**31 - 1, 2**31 + 1, 0], dtype=np.uint32)
    monkeypatch.setattr(hashing, "murmur3", lambda _: found)
    columns, is_positive = hashing.hashed(["a"] * 4, n_columns)
    sizes = [2**31 - 1 - (n_columns - 1), 2**31 - 1, 2**31 - 1, 0]
    assert columns.tolist() == [size % n_columns for size in sizes]
    assert is_positive.tolist() == [False, True, False, True]
