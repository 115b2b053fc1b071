"""Digests of examples: as ARITHMETIC.md says, whatever the storage, and other ones for other examples."""

from __future__ import annotations

import struct

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs._core import Blake3
from perceptron_rs.audit import digests
from perceptron_rs.audit.digests import Digests, pieces
from perceptron_rs.common.rows.examples import examples
from perceptron_rs.engines import get_engine
from perceptron_rs.linear.perceptron import Perceptron
from perceptron_rs.ways import _forms

BLOCK = digests.BLOCK
NOTHING = Digests()
rng = np.random.default_rng(5)
X = rng.integers(-2, 3, (2 * BLOCK + 300, 6))
LABELS = rng.integers(0, 3, len(X)).astype(np.uint32)
WEIGHTS = rng.uniform(0.5, 2, len(X))


def made(X, labels=LABELS, weights=None, before=NOTHING):
    data = examples(Perceptron(), get_engine("rust"), X, reset=True)
    return before.with_call(data.stored, data.rows.shape[1], labels, weights)


def hashed(data):
    hasher = Blake3()
    hasher.update(data)
    return hasher.digest()


def test_blake3():
    """By the vectors that its authors have published."""
    for length, expected in (
        (0, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"),
        (1024, "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7"),
        (1025, "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444"),
    ):
        assert hashed(bytes(i % 251 for i in range(length))).hex() == expected


def by_hand(rows, labels, weights, before=(b"", b"", b"")):
    """Return the digests of a piece, one number after another."""
    entries = struct.pack("<q", rows.shape[1])
    written = b""
    for row in rows.tolist():
        places = [j for j, value in enumerate(row) if value != 0]
        values = [row[j] for j in places]
        is_small = all(value in range(256) for value in values)
        written += struct.pack("<qB", len(places), 1 if is_small else 8)
        written += b"".join(struct.pack("<I", j) for j in places)
        written += b"".join(struct.pack("<B" if is_small else "<d", value) for value in values)
    entries += hashed(written)
    indices = hashed(b"".join(struct.pack("<I", k) for k in labels.tolist()))
    factors = hashed(b"".join(struct.pack("<d", weight) for weight in weights.tolist()))
    return [hashed(a + b) for a, b in zip(before, (entries, indices, factors), strict=True)]


def test_as_the_contract_says():
    found = made(X, weights=WEIGHTS)
    assert {(row >= 0).all() for row in X} == {False, True}
    for number, begin in enumerate(range(0, len(X), BLOCK)):
        part = slice(begin, begin + BLOCK)
        expected = [digest.hex() for digest in by_hand(X[part], LABELS[part], WEIGHTS[part])]
        assert expected == [found.entries[number], found.labels[number], found.weights[number]]
    assert len(found.entries) == len(found.labels) == len(found.weights) == 3


def test_calls_that_share_a_block_follow_each_other():
    found = made(X[:7], LABELS[:7], WEIGHTS[:7])
    found = made(X[7:20], LABELS[7:20], WEIGHTS[7:20], found)
    expected = by_hand(X[:7], LABELS[:7], WEIGHTS[:7])
    expected = by_hand(X[7:20], LABELS[7:20], WEIGHTS[7:20], expected)
    assert [(digest.hex(),) for digest in expected] == [found.entries, found.labels, found.weights]
    assert found.rows == 20


@pytest.mark.parametrize("sizes", [(BLOCK, BLOCK), (1, BLOCK - 1, BLOCK, 1), (3 * BLOCK,), (BLOCK - 1, 2)])
def test_pieces_end_where_blocks_end(sizes):
    before, cut = 0, []
    for size in sizes:
        cut += [(before + begin, before + end) for begin, end in pieces(before, size)]
        before += size
    assert [begin for begin, _ in cut] == [0, *(end for _, end in cut[:-1])]
    assert cut[-1][1] == sum(sizes)
    assert all(begin // BLOCK == (end - 1) // BLOCK for begin, end in cut)


def test_one_digest_in_every_storage():
    expected = made(X)
    for name, form in _forms(X):
        assert made(form) == expected, name
    for other in (X.tolist(), np.asfortranarray(X), X.astype(">f8"), sp.csc_matrix(X), sp.coo_matrix(X)):
        assert made(other) == expected
    assert made(np.where(X == 0, -0.0, X)) == expected
    duplicates = sp.csr_matrix(([1, 1, 3], [0, 0, 1], [0, 3]), shape=(1, 2))
    assert made(duplicates, LABELS[:1]) == made(np.array([[2, 3]]), LABELS[:1])


def test_rows_without_zeros_are_as_any_others():
    full = rng.normal(size=(50, 4))
    assert made(full, LABELS[:50]) == made(sp.csr_matrix(full), LABELS[:50])
    mixed = full.copy()
    mixed[40:] = 0
    assert made(mixed, LABELS[:50]) == made(sp.csr_matrix(mixed), LABELS[:50])
    empty = sp.csr_matrix((3, 4))
    assert made(empty, LABELS[:3]) == made(np.zeros((3, 4), dtype=np.int8), LABELS[:3])


def test_more_columns_than_32_bits_name():
    wide = sp.csr_matrix(([1.0, 2.0], [0, 2**33], [0, 1, 2]), shape=(2, 2**33 + 1))
    narrow = sp.csr_matrix(([1.0, 2.0], [0, 0], [0, 1, 2]), shape=(2, 2**32))
    assert made(wide, LABELS[:2]) != made(narrow, LABELS[:2])


def changes():
    yield "entries", lambda x, _: x.__setitem__((1500, 2), 7)
    yield "entries", lambda x, _: x.__setitem__((1500, slice(None)), np.roll(x[1500], 1))
    yield "entries", lambda x, _: x.__setitem__(slice(1500, 1502), x[1501:1499:-1].copy())
    yield "labels", lambda _, y: y.__setitem__(1500, (y[1500] + 1) % 3)


@pytest.mark.parametrize(("part", "change"), changes())
def test_other_examples_have_other_digests_in_their_block_alone(part, change):
    x, y = X.copy(), LABELS.copy()
    x[1500] = [1, 2, 0, 0, 0, 0]
    x[1501] = [0, 0, 0, 1, 0, 0]
    before = made(x, y)
    change(x, y)
    after = made(x, y)
    different = [getattr(before, part)[k] != getattr(after, part)[k] for k in range(3)]
    assert different == [False, True, False]
    other = {"entries": "labels", "labels": "entries"}[part]
    assert getattr(before, other) == getattr(after, other)


def test_the_number_of_columns_counts():
    assert made(X).entries != made(np.hstack([X, np.zeros((len(X), 1), dtype=int)])).entries


def test_entries_do_not_move_between_rows_unseen():
    a, b = np.array([[1, 2], [0, 0]]), np.array([[1, 0], [0, 2]])
    assert made(a, LABELS[:2]) != made(b, LABELS[:2])
