"""Caches: the same bits, of the same files only, sound or refused."""

from __future__ import annotations

import errno
import mmap
import os
import zlib
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs import AveragedPerceptron, Perceptron, digest
from perceptron_rs._core import crc32
from perceptron_rs.io import Batch, Source, open_arrays, open_svmlight
from perceptron_rs.stream import cache as caches
from tests.support import files_of_at_most

rng = np.random.default_rng(4)
N = 50
X = rng.integers(-3, 4, (N, 6)).astype(np.float32) * (rng.random((N, 6)) < 0.4)
Y = np.array(["no", "yes"])[(X[:, 0] + rng.normal(size=N) > 0).astype(int)]
WEIGHT = rng.random(N)
SHORT = {"max_iter": 4, "tol": None, "shuffle": False}


def source(form=np.asarray, size=9):
    """Batches of odd sizes that can be passed through again."""
    parts = [slice(first, first + size) for first in range(0, N, size)]
    return Source(batches=lambda: (Batch(form(X[part]), Y[part], WEIGHT[part]) for part in parts))


@pytest.fixture
def stored(tmp_path):
    """A source of files, and its cache, written."""
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", Y)
    opened = open_arrays(tmp_path / "X.npy", tmp_path / "y.npy")
    cache = tmp_path / "cache"
    Perceptron(**SHORT).fit_stream(opened, cache=cache, block_size=8)
    return opened, cache


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_a_cache_changes_no_bit(tmp_path, form):
    expected = AveragedPerceptron(**SHORT).fit(X, Y, sample_weight=WEIGHT)
    found = AveragedPerceptron(**SHORT).fit_stream(source(form), cache=tmp_path / "cache", block_size=8)
    assert digest(found) == digest(expected)
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


def test_blocks_are_shuffled_out_of_a_cache(tmp_path):
    shuffled = {"shuffle": "block", "block_size": 8}
    expected = Perceptron(**SHORT).fit_stream((X, Y, WEIGHT), **shuffled)
    found = Perceptron(**SHORT).fit_stream(source(), cache=tmp_path / "cache", **shuffled)
    assert digest(found) == digest(expected)
    with pytest.raises(ValueError, match="set cache to a file"):
        Perceptron().fit_stream(source(), **shuffled)


def test_a_cache_is_read_once_and_in_blocks_of_any_size(tmp_path, stored):
    opened, cache = stored
    written = cache.stat().st_mtime_ns
    expected = Perceptron(**SHORT).fit(X, Y)
    for size in (1, 5, 8, 100):
        found = Perceptron(**SHORT).fit_stream(opened, cache=cache, block_size=size)
        assert digest(found) == digest(expected)
    assert cache.stat().st_mtime_ns == written


def test_only_a_large_cache_leaves_memory_after_each_block(stored, monkeypatch):
    opened, cache = stored
    expected, told = digest(Perceptron(**SHORT).fit(X, Y)), []
    advise = caches._Mapped.advise
    monkeypatch.setattr(caches._Mapped, "advise", lambda *given: told.append(given[-1]) or advise(*given))
    assert digest(Perceptron(**SHORT).fit_stream(opened, cache=cache, block_size=8)) == expected
    assert told == []
    monkeypatch.setattr(caches, "_KEPT", 0)
    assert digest(Perceptron(**SHORT).fit_stream(opened, cache=cache, block_size=8)) == expected
    assert set(told) == ({True, False} if hasattr(mmap, "MADV_DONTNEED") else set())


def test_parts_of_a_cache_are_of_some_megabytes(tmp_path):
    wide = rng.normal(size=(1100, 1024))
    Perceptron(**SHORT).fit_stream((wide, np.arange(1100) % 2), cache=tmp_path / "cache")
    index = caches._checked_index(tmp_path / "cache")
    assert [part["n"] for part in index["batches"]] == [1024, 76]
    assert caches._Mapped(tmp_path / "cache", index, set()).source(source()).n_in_batch == 1024


def test_columns_that_count_from_1_are_stored_from_0_and_whole_numbers_as_bytes(tmp_path):
    rows = np.array([[1.0, 0, 2], [0, 1, 0], [3, 0, 0]] * 9)
    labels = np.array([1, 0, 1] * 9)
    (tmp_path / "a.svm").write_text("1 1:1 3:2\n0 2:1\n1 1:3\n" * 9)
    opened, path = open_svmlight(tmp_path / "a.svm"), tmp_path / "cache"
    found = Perceptron(**SHORT).fit_stream(opened, cache=path, block_size=4)
    assert found.coef_.tobytes() == Perceptron(**SHORT).fit(rows, labels).coef_.tobytes()
    assert {kinds["arrays"]["values"][0] for kinds in caches._checked_index(path)["batches"]} == {"|u1"}


def test_an_iterator_needs_a_cache(tmp_path):
    found = Perceptron(**SHORT).fit_stream(source().batches(), cache=tmp_path / "cache")
    assert digest(found) == digest(Perceptron(**SHORT).fit(X, Y, sample_weight=WEIGHT))
    again = Perceptron(**SHORT).fit_stream(((X[:9], Y[:9]) for _ in range(2)), cache=tmp_path / "cache")
    assert again.n_seen_.tolist() == [18 * again.n_iter_]  # it is written anew


def test_a_cache_of_other_files_is_refused(tmp_path, stored):
    opened, cache = stored
    np.save(tmp_path / "y.npy", Y[::-1].copy())
    before = cache.read_bytes()
    with pytest.raises(ValueError, match=r"y\.npy differs; remove it"):
        Perceptron().fit_stream(opened, cache=cache)
    assert cache.read_bytes() == before


def test_a_cache_of_files_that_are_read_in_another_way_is_refused(stored):
    opened, cache = stored
    with pytest.raises(ValueError, match="these examples: they are read in another way; remove it"):
        Perceptron().fit_stream(replace(opened, reading="other"), cache=cache)


@pytest.mark.parametrize("text", [b"", b"my thesis", caches.MAGIC, caches.MAGIC + bytes(100)])
def test_what_is_no_cache_is_left_alone(tmp_path, text):
    path = tmp_path / "precious"
    path.write_bytes(text)
    with pytest.raises(ValueError, match="remove it"):
        Perceptron().fit_stream(source(), cache=path)
    assert path.read_bytes() == text


def test_no_changed_byte_goes_unnoticed(stored):
    opened, cache = stored
    sound = cache.read_bytes()
    for at in range(0, len(sound), 29):
        damaged = bytearray(sound)
        damaged[at] ^= 1 << at % 8
        cache.write_bytes(bytes(damaged))
        said = ""
        try:
            model = Perceptron(**SHORT).fit_stream(opened, cache=cache)
        except ValueError as error:
            said = str(error)
        # Between two arrays nothing is read.
        assert "remove it" in said or digest(model) == digest(Perceptron(**SHORT).fit(X, Y))
    cache.write_bytes(sound[:-40])
    with pytest.raises(ValueError, match="is damaged; remove it"):
        Perceptron().fit_stream(opened, cache=cache)


def test_an_index_that_claims_terabytes_is_refused(stored):
    opened, cache = stored
    text = caches.json_text({"batches": [{"arrays": {"rows": ["<f8", [2**40, 6], 64]}}]}).encode()
    end = len(text).to_bytes(8, "little") + caches.zlib.crc32(text).to_bytes(8, "little")
    cache.write_bytes(caches.MAGIC + bytes(640) + text + end)
    with pytest.raises(ValueError, match="is damaged"):
        Perceptron().fit_stream(opened, cache=cache)


def test_a_full_disk_leaves_nothing(tmp_path):
    model = Perceptron()
    with files_of_at_most(100), pytest.raises(OSError, match="nothing was saved") as caught:
        model.fit_stream(source(), cache=tmp_path / "cache")
    assert caught.value.errno == errno.EFBIG
    assert list(tmp_path.iterdir()) == []
    assert not hasattr(model, "classes_")


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path):
    np.save(tmp_path / "X.npy", X)
    opened = open_arrays(tmp_path / "X.npy", Y)
    told = []

    def touch(record):
        told.append(record.epoch)
        os.utime(tmp_path / "X.npy", ns=(0, record.epoch))

    found = Perceptron(callback=touch, **SHORT)
    with pytest.raises(ValueError, match=r"X\.npy changed"):
        found.fit_stream(Source(batches=lambda: late(tmp_path), files=opened.files))
    assert told == []


def test_a_file_that_changes_between_two_epochs_is_refused(tmp_path):
    np.save(tmp_path / "X.npy", X)
    opened = open_arrays(tmp_path / "X.npy", Y)
    model = Perceptron(
        callback=lambda record: os.utime(tmp_path / "X.npy", ns=(0, 7 + record.epoch)), **SHORT
    )
    with pytest.raises(ValueError, match=r"X\.npy changed between two passes; start again"):
        model.fit_stream(opened)
    assert not hasattr(model, "classes_")


def late(folder):
    yield X, Y
    os.utime(folder / "X.npy", ns=(0, 1))


@pytest.mark.parametrize("length", [0, 1, 7, 1000])
def test_checksums_are_those_of_zlib(length):
    data = np.random.default_rng(length).integers(0, 256, length).astype(np.uint8)
    assert crc32(data, 12345) == zlib.crc32(data.tobytes(), 12345)


def test_the_smallest_type_in_any_order_of_memory():
    values = np.arange(6.0).reshape(2, 3)
    for given in (
        values,
        np.asfortranarray(values),
        values.astype(np.float32),
        np.repeat(values, 2, axis=1)[:, ::2],
    ):
        found = caches._smallest(given)
        assert found.dtype == np.uint8
        assert found.tolist() == values.tolist()
    for kept in (values.astype(">f8"), values.astype(np.int64), values + 0.1):
        assert caches._smallest(kept).dtype == kept.dtype
