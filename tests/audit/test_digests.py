"""Digests of examples: as ARITHMETIC.md says, whatever the storage, and other ones for other examples."""

from __future__ import annotations

import copy
import inspect
import itertools
import pickle
import struct

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from perceptron_rs import AveragedPerceptron, Perceptron, load, reproduce
from perceptron_rs._core import Blake3
from perceptron_rs.audit.digests import LEAST_BLOCK, Digester, DigestInput, Digests, key_name
from perceptron_rs.engines import get_engine
from perceptron_rs.models import describe
from perceptron_rs.rows.examples import examples
from perceptron_rs.state.fitted_attributes import flat
from perceptron_rs.testing.parity import _forms

rng = np.random.default_rng(5)
X = rng.integers(-2, 3, (2 * LEAST_BLOCK + 300, 6))
LABELS = rng.integers(0, 3, len(X)).astype(np.uint32)
WEIGHTS = rng.uniform(0.5, 2, len(X))
KEY = bytes(range(32))


def made(X, labels=LABELS, weights=None, before=None, **more):
    data = examples(Perceptron(), get_engine("rust"), X, reset=True)
    before = before or Digests()
    return before.with_call(data.stored, data.rows.shape[1], labels, weights, **more)


def hashed(data, key=None):
    hasher = Blake3(key)
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


def by_hand(rows, labels, weights=None, key=None):
    """Return what the digest of a block is made of, one number after another."""
    written = b""
    for row in rows.tolist():
        places = [j for j, value in enumerate(row) if value != 0]
        values = [row[j] for j in places]
        is_small = all(value in range(256) for value in values)
        written += struct.pack("<qB", len(places), 1 if is_small else 8)
        written += b"".join(struct.pack("<I", j) for j in places)
        written += b"".join(struct.pack("<B" if is_small else "<d", value) for value in values)
    parts = [written, b"".join(struct.pack("<I", k) for k in labels.tolist())]
    if weights is not None:
        parts.append(b"".join(struct.pack("<d", weight) for weight in weights.tolist()))
    numbers = struct.pack("<qqqq", rows.shape[1], len(rows), weights is not None, 0)
    return hashed(numbers + b"".join(hashed(part, key) for part in parts), key)


@pytest.mark.parametrize("key", [None, KEY])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_as_the_contract_says(key, weights):
    found = made(X, weights=weights, key=key)
    assert {(row >= 0).all() for row in X} == {False, True}

    def part(begin, end):
        return by_hand(X[begin:end], LABELS[begin:end], None if weights is None else weights[begin:end], key)

    first, second = hashed(part(0, 1000), key), hashed(part(1000, 2000) + part(2000, 2300), key)
    assert found.blocks == ((1000, first.hex()), (1300, second.hex()))
    assert found.key == (None if key is None else hashed(b"perceptrons audit key", key).hex()[:16])
    few = made(X[:20], LABELS[:20], None if weights is None else weights[:20], key=key)
    assert few.blocks == ((20, hashed(part(0, 20), key).hex()),)


SIZES = [1, 2, 997, 999, 1000, 1001, 1016, 1999, 2000, 2001, 2300]


@pytest.mark.parametrize(
    "cuts", [(1, 2, 3), (999, 1000, 1001), (500, 1000, 1500, 2000), (1999,), range(7, 2300, 7)]
)
def test_calls_do_not_count(cuts):
    """However many calls the examples come in, the blocks are those of one call."""
    found, begin = Digests(), 0
    for end in (*cuts, len(X)):
        found = made(X[begin:end], LABELS[begin:end], WEIGHTS[begin:end], found)
        assert found == made(X[:end], LABELS[:end], WEIGHTS[:end])
        begin = end
    digester = Digester(Digests(), 6)
    given = DigestInput({"rows": X.astype(np.float64)}, 6, LABELS, WEIGHTS)
    for begin, end in itertools.pairwise((0, *cuts, len(X))):
        digester.add(given, begin, end)
    assert digester.end() == found


@pytest.mark.parametrize("n", SIZES)
def test_no_digest_is_of_few_examples(n):
    for before in (0, 1, 999, 1000, 1300):
        digests = made(X[:before], LABELS[:before]) if before else Digests()
        rows = np.resize(np.arange(len(X)), n)
        for goes_on in (digests, pickle.loads(pickle.dumps(digests))):
            for begins in (False, n >= LEAST_BLOCK):
                found = made(X[rows], LABELS[rows], None, goes_on, begins=begins)
                assert found.size == before + n
                for size, digest in found.blocks:
                    assert size >= LEAST_BLOCK or digest is None or size == found.size
        # What has never left the process covers all; the few of a file that went on have no digest.
        assert not made(X[rows], LABELS[rows], None, digests).has_gaps


def test_weights_of_some_calls_alone():
    found = made(X[600:], LABELS[600:], WEIGHTS[600:], made(X[:600], LABELS[:600]))
    ones = np.concatenate([np.ones(600), WEIGHTS[600:]])
    assert found == made(X, LABELS, ones)
    found = made(X[600:], LABELS[600:], None, made(X[:600], LABELS[:600], WEIGHTS[:600]))
    first = by_hand(X[:1000], LABELS[:1000], np.concatenate([WEIGHTS[:600], np.ones(400)]))
    second = by_hand(X[1000:2000], LABELS[1000:2000]) + by_hand(X[2000:], LABELS[2000:])
    assert [digest for _, digest in found.blocks] == [hashed(first).hex(), hashed(second).hex()]


def test_a_call_that_did_not_have_any_leaves_a_gap():
    found = made(X[:1300], LABELS[:1300]).without(40)
    assert [size for size, _ in found.blocks] == [1300, 40]
    assert found.without(2).blocks[-1] == (42, None)
    assert made(X[:16], LABELS[:16]).without(1).blocks == ((17, None),)


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
    yield lambda x, _: x.__setitem__((500, 2), 7)
    yield lambda x, _: x.__setitem__((500, slice(None)), np.roll(x[500], 1))
    yield lambda x, _: x.__setitem__(slice(500, 502), x[501:499:-1].copy())
    yield lambda _, y: y.__setitem__(500, (y[500] + 1) % 3)


@pytest.mark.parametrize("change", changes())
def test_other_examples_have_other_digests_in_their_block_alone(change):
    x, y = X.copy(), LABELS.copy()
    x[500] = [1, 2, 0, 0, 0, 0]
    x[501] = [0, 0, 0, 1, 0, 0]
    before = made(x, y).blocks
    change(x, y)
    assert [a == b for a, b in zip(made(x, y).blocks, before, strict=True)] == [False, True]


def test_the_number_of_columns_counts():
    assert made(X) != made(np.hstack([X, np.zeros((len(X), 1), dtype=int)]))


def test_entries_do_not_move_between_rows_unseen():
    a, b = np.array([[1, 2], [0, 0]]), np.array([[1, 0], [0, 2]])
    assert made(a, LABELS[:2]) != made(b, LABELS[:2])


def labels_of_rest(blocks, x, n):
    """Return the labels of the last n rows, if trying all there can be finds them."""
    shown = {digest for _, digest in blocks}
    for guess in itertools.product(range(2), repeat=n):
        some = Digests().with_call({"rows": x[-n:]}, x.shape[1], np.array(guess, dtype=np.uint32))
        if some.blocks[0][1] in shown:
            return list(guess)
    return None


def test_labels_of_a_short_rest_cannot_be_tried(tmp_path):
    """As they could while the last block had a digest of its own."""
    x, y = rng.normal(size=(1006, 3)), rng.integers(0, 2, 1006)
    Perceptron(max_iter=2, tol=None, audit=True).fit(x, y).save(tmp_path / "m")
    blocks = describe(tmp_path / "m")["digests"]["blocks"]
    assert [size for size, _ in blocks] == [1006]
    assert labels_of_rest(blocks, x, 6) is None
    own = Digests().with_call({"rows": x[1000:]}, 3, y[1000:].astype(np.uint32))
    assert labels_of_rest(own.blocks, x, 6) == y[1000:].tolist()  # trying would find them


def test_files_between_calls_tell_no_call(tmp_path):
    """Each of many files has digests of 1000 examples or more, or of all; loaded models go on without any."""
    x, y = rng.normal(size=(2100, 3)), rng.integers(0, 2, 2100)
    model, begin = AveragedPerceptron(audit=True), 0
    for number, end in enumerate((1, 3, 999, 1000, 1001, 1016, 1500, 2000, 2001, 2100)):
        model.partial_fit(x[begin:end], y[begin:end], classes=[0, 1])
        begin = end
        model.save(tmp_path / f"{number}")
        (blocks, key) = (describe(tmp_path / f"{number}")["digests"][name] for name in ("blocks", "key"))
        assert key is None
        assert sum(size for size, _ in blocks) == end
        assert all(size >= LEAST_BLOCK or size == end for size, _ in blocks)
        assert all(digest is not None for _, digest in blocks)
        assert reproduce(load(tmp_path / f"{number}"), x[:end], y[:end])
    again = load(tmp_path / "5").partial_fit(x[1016:1020], y[1016:1020])
    assert [size for size, digest in again._calls[-1].digests.blocks if digest is None] == [4]
    assert reproduce(again, x[:1020], y[:1020])
    again.partial_fit(x[1020:2100], y[1020:2100])
    assert [(size, digest is None) for size, digest in again._calls[-1].digests.blocks] == [
        (1016, False),
        (1084, False),
    ]
    for copied in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert copied._calls == model._calls
        assert b"Blake3" not in pickle.dumps(copied)


def test_calls_with_other_parameters_share_blocks():
    x, y = rng.normal(size=(1500, 3)), rng.integers(0, 2, 1500)
    model = Perceptron(audit=True)
    for begin in range(0, 1500, 100):
        model.set_params(eta0=1.0 + begin).partial_fit(
            x[begin : begin + 100], y[begin : begin + 100], classes=[0, 1]
        )
    assert len(model._calls) == 15
    assert [call.digests is None for call in model._calls] == [True] * 14 + [False]
    assert [size for size, _ in model._calls[-1].digests.blocks] == [1500]
    assert reproduce(model, x, y)


@pytest.mark.parametrize("form", ["bytes", "file", "digits"])
def test_keyed_digests(form, tmp_path):
    key, path = KEY, tmp_path / "key"
    path.write_bytes(KEY if form == "file" else KEY.hex().encode() + b"\n")
    given = KEY if form == "bytes" else path
    x, y = rng.normal(size=(1200, 3)), rng.integers(0, 2, 1200)
    plain = Perceptron(audit=True).fit(x, y)
    model = Perceptron(audit=True, audit_key=given).fit(x, y)
    assert model.coef_.tobytes() == plain.coef_.tobytes()
    assert model._calls[0].digests.blocks != plain._calls[0].digests.blocks
    assert model._calls[0].digests.blocks == made(x, y.astype(np.uint32), key=KEY).blocks
    model.save(tmp_path / "m")
    data = (tmp_path / "m").read_bytes()
    assert KEY not in data
    assert KEY.hex().encode() not in data
    assert str(path).encode() not in data
    assert b"audit_key" not in data
    found = load(tmp_path / "m")
    assert describe(tmp_path / "m")["digests"]["key"] == key_name(KEY)
    for audit_key in (KEY, path):
        assert reproduce(found, x, y, audit_key=audit_key)
    assert reproduce(model, x, y), "that of the model"
    assert "rows 0 to 1199 differ" in reproduce(found, x, 1 - y, audit_key=key).message
    with pytest.raises(ValueError, match="audit_key: the digests of the estimator have a key; give that one"):
        reproduce(found, x, y)
    with pytest.raises(ValueError, match="have another key; give that one"):
        reproduce(found, x, y, audit_key=bytes(32))
    with pytest.raises(ValueError, match="the digests of the estimator have no key; leave it out"):
        reproduce(plain, x, y, audit_key=key)


def test_a_key_goes_nowhere(tmp_path):
    model = Perceptron(audit=True, audit_key=KEY).fit(X, LABELS)
    shown = repr(model) + model._repr_html_() + repr(model.get_params()) + repr(flat(model))
    for text in (repr(KEY), repr(KEY)[2:-1], KEY.hex()):
        assert text not in shown
    with pytest.raises(
        TypeError, match="an audit_key of bytes is not pickled; set audit_key to the name of a file"
    ):
        pickle.dumps(model)
    (tmp_path / "key").write_bytes(KEY)
    assert KEY not in pickle.dumps(clone(model).set_params(audit_key=tmp_path / "key").fit(X, LABELS))
    assert clone(model).audit_key is model.audit_key
    assert "audit_key" in dict(inspect.getmembers(Perceptron))  # as pages are made of a class
    model.set_params(audit_key=None)
    assert KEY not in pickle.dumps(model)


def test_what_is_no_key_is_refused(tmp_path):
    def fit(**more):
        return Perceptron(**{"audit": True} | more).fit(X, LABELS)

    with pytest.raises(ValueError, match="audit_key must have 32 bytes, got 5"):
        fit(audit_key=b"short")
    (tmp_path / "key").write_text("a password")
    with pytest.raises(ValueError, match="must hold 32 bytes, or 64 hexadecimal digits; make one by openssl"):
        fit(audit_key=tmp_path / "key")
    with pytest.raises(FileNotFoundError):
        fit(audit_key=tmp_path / "none")
    with pytest.raises(ValueError, match="must be a regular file"):
        fit(audit_key=tmp_path)
    with pytest.raises(ValueError, match="audit_key has no effect without audit=True"):
        fit(audit=False, audit_key=KEY)
    model = fit(audit_key=KEY)
    with pytest.raises(TypeError, match="audit_key must be the name of a file, 32 bytes or None, got int"):
        reproduce(model, X, LABELS, audit_key=32)
    with pytest.raises(ValueError, match="have a key; give that one, or set audit=False"):
        model.set_params(audit_key=None).partial_fit(X, LABELS)
    assert reproduce(
        model.set_params(audit_key=KEY).partial_fit(X, LABELS), np.vstack([X, X]), np.tile(LABELS, 2)
    )
