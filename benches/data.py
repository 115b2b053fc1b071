"""Data for the benches: synthetic by a fixed generator, real from the folder PERCEPTRON_RS_DATA."""

from __future__ import annotations

import gzip
import os
from functools import cache
from pathlib import Path

import numpy as np
from scipy import sparse

SEED = 20260101
FLIPPED = 0.05  # of the labels, so that no epoch is clean
#: Of the Brown corpus, how many sentences each genre has, in the order of the file.
GENRES = {
    "news": 4623, "editorial": 2997, "reviews": 1751, "religion": 1716, "hobbies": 4193, "lore": 4881,
    "belles_lettres": 7209, "government": 3032, "learned": 7734, "fiction": 4249, "mystery": 3886,
    "science_fiction": 948, "adventure": 4637, "romance": 4431, "humor": 1053,
}  # fmt: skip


def folder() -> Path | None:
    """Return the folder with the real data, if it is named and there."""
    name = os.environ.get("PERCEPTRON_RS_DATA")
    return Path(name) if name and Path(name).is_dir() else None


@cache
def dense(n: int, d: int, dtype: str):
    random = np.random.default_rng(SEED)
    plane = random.standard_normal(d)
    X = random.standard_normal((n, d))
    y = np.where(X @ plane > 0, 1, -1)
    y[random.random(n) < FLIPPED] *= -1
    return X.astype(dtype), y


@cache
def zipf(n: int, d: int, entries: int):
    """CSR float64 rows whose columns follow Zipf's law."""
    random = np.random.default_rng(SEED)
    share = 1 / np.arange(1, d + 1)
    drawn = random.choice(d, size=(n, entries * 2), p=share / share.sum())
    columns = [
        np.unique(row)[:entries] if i % 2 else np.sort(random.permutation(np.unique(row))[:entries])
        for i, row in enumerate(drawn)
    ]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in columns])])
    values = random.standard_normal(indptr[-1])
    X = sparse.csr_matrix((values, np.concatenate(columns), indptr), shape=(n, d))
    y = np.where(X @ random.standard_normal(d) > 0, 1, -1)
    y[random.random(n) < FLIPPED] *= -1
    return X, y


def shuffled(X, y):
    """One fixed permutation: some sets are sorted by class."""
    order = np.random.default_rng(SEED).permutation(len(y))
    return X[order], y[order]


@cache
def mnist():
    with np.load(folder() / "mnist.npz") as parts:
        return shuffled(parts["X"][:60000], parts["y"][:60000])


@cache
def mnist_floats():
    X, y = mnist()
    return X / 255.0, y


def census_parts():
    """All rows, their labels, and how many of them are for training."""
    with np.load(folder() / "census.npz") as parts:
        arrays = parts["data"], parts["indices"], parts["indptr"].astype(np.int32)
        return sparse.csr_matrix(arrays, shape=tuple(parts["shape"])), parts["y"], int(parts["n_train"])


@cache
def census():
    X, y, n = census_parts()
    return shuffled(X[:n], y[:n])


@cache
def news20():
    with np.load(folder() / "news20.npz") as parts:
        arrays = parts["train_data"], parts["train_indices"], parts["train_indptr"]
        X = sparse.csr_matrix(arrays, shape=tuple(parts["train_shape"]))
        return shuffled(X, parts["train_y"])


@cache
def planted(n: int, d: int, margin: float):
    """Rows that a plane through the origin separates by at least this margin."""
    random = np.random.default_rng(SEED)
    plane = random.standard_normal(d)
    plane /= np.linalg.norm(plane)
    X = random.standard_normal((n, d)) / np.sqrt(d)
    y = np.where(X @ plane > 0, 1, -1)
    X += margin * y[:, None] * plane
    return X, y


@cache
def flipped(n: int, d: int, margin: float, count: int):
    """Return the same with a few wrong labels."""
    X, y = planted(n, d, margin)
    y = y.copy()
    y[np.random.default_rng(SEED).choice(n, count, replace=False)] *= -1
    return X, y


@cache
def sparse_signs(n: int, d: int, entries: int):
    """Sparse rows with labels thrown by a coin: with more columns than rows a plane separates them."""
    random = np.random.default_rng(SEED)
    columns = np.sort(random.integers(0, d, (n, entries)), axis=1)
    X = sparse.csr_matrix(
        (random.standard_normal(n * entries), columns.ravel(), np.arange(0, n * entries + 1, entries)), (n, d)
    )
    X.sum_duplicates()
    return X, np.where(random.random(n) < 0.5, 1, -1)


@cache
def sparse_planted(n: int, d: int, entries: int, margin: float):
    """Sparse rows that a plane separates by at least this margin: those within it are left out."""
    random = np.random.default_rng(SEED)
    columns = np.sort(random.integers(0, d, (n, entries)), axis=1)
    X = sparse.csr_matrix(
        (random.standard_normal(n * entries), columns.ravel(), np.arange(0, n * entries + 1, entries)), (n, d)
    )
    X.sum_duplicates()
    plane = random.standard_normal(d)
    scores = X @ (plane / np.linalg.norm(plane))
    far = np.abs(scores) >= margin
    return X[far], np.where(scores[far] > 0, 1, -1)


@cache
def spam():
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(folder() / "spam.train.svm.gz"), zero_based=False)
    arrays = X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)  # scikit-learn fits no others
    return sparse.csr_matrix(arrays, shape=X.shape), y


@cache
def brown():
    """Return the sentences of the Brown corpus, and the genre of each."""
    lines = gzip.decompress((folder() / "brown_pos.tsv.gz").read_bytes()).decode().strip("\n")
    sentences = [
        " ".join(line.partition("\t")[0] for line in sentence.split("\n")) for sentence in lines.split("\n\n")
    ]
    return sentences, np.repeat(list(GENRES), list(GENRES.values()))
