"""scikit-learn's reader as the oracle of ours."""

from __future__ import annotations

import gzip
import io
import itertools
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from perceptron_rs import _core
from perceptron_rs.io import load_svmlight


def assert_same(ours: Any, peer: Any) -> None:
    """Equal shapes, indices and bits."""
    (X, y), (PX, py) = ours, peer
    assert X.shape == PX.shape
    assert (X.data.dtype, y.dtype) == (np.float64, np.float64)
    assert X.indices.dtype == X.indptr.dtype == (np.int32 if X.shape[1] < 2**31 else np.int64)
    assert np.array_equal(X.indptr, PX.indptr)
    assert np.array_equal(X.indices, PX.indices)
    assert X.data.tobytes() == PX.data.tobytes()
    assert y.tobytes() == py.tobytes()


def is_python(text: bytes) -> bool:
    """Return whether Python's float reads all numbers; as compiled into scikit-learn it also reads -_1."""
    tokens = [token for line in text.split(b"\n") for token in line.split(b"#")[0].split()]
    try:
        return all(math.isfinite(float(token.split(b":")[-1])) for token in tokens if token[:3] != b"qid")
    except ValueError:
        return False


class Compare:
    """Reads a text in both ways and compares the answers, or that there is none."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.numbers = folder, itertools.count()

    def file(self, text: bytes, suffix: str = ".svm") -> Path:
        path = self.folder / f"{next(self.numbers) % 8}{suffix}"
        path.unlink(missing_ok=True)  # some file systems wait for the disk where a file is written over
        path.write_bytes(gzip.compress(text, 1) if suffix.endswith(".gz") else text)
        return path

    def peer(self, text: bytes, zero_based: Any) -> Any:
        """Return (X, y), or None where there is nothing to be equal to."""
        try:
            X, y = load_svmlight_file(io.BytesIO(text), zero_based=zero_based)
        except (ValueError, OverflowError):
            return None
        if re.search(rb"[+-]_", text) and not is_python(text):
            return None
        # scikit-learn reads a query id up to a NUL byte; we refuse it, as we refuse NUL bytes elsewhere.
        if any(re.search(rb"qid[^\s#]*\x00", line.split(b"#")[0]) for line in text.split(b"\n")):
            return None
        finite = np.isfinite(X.data).all() and np.isfinite(y).all()
        return (X, y) if finite and len(y) else None

    def __call__(self, text: bytes, *, zero_based: Any = "auto", suffix: str = ".svm", jobs: int = 1) -> str:
        """Return the text of our error, or nothing if both read the same."""
        path, peer = self.file(text, suffix), self.peer(text, zero_based)
        if peer is None:
            with pytest.raises(ValueError, match=r".") as caught:
                load_svmlight(path, zero_based=zero_based, n_jobs=jobs)
            return str(caught.value)
        ours = load_svmlight(path, zero_based=zero_based, n_jobs=jobs)
        assert_same(ours, peer)
        if len(text) < 100_000:
            self.in_blocks([path], ours[0], ours[1], zero_based)
        return ""

    def in_blocks(self, paths: Sequence[Path], X: Any, y: Any, zero_based: Any) -> None:
        """Where the text is cut must not matter; files of a test are too small to be cut otherwise."""
        based = None if zero_based == "auto" else zero_based
        for block, threads in ((1, 1), (13, 2)):
            values, columns, starts, labels, width, _ = _core.read_svmlight(
                [str(path) for path in paths],
                zero_based=based,
                refuse_query_ids=False,
                max_ratio=np.inf,
                threads=threads,
                block=block,
            )
            assert (width, values.tobytes(), labels.tobytes()) == (X.shape[1], X.data.tobytes(), y.tobytes())
            assert np.array_equal(columns, X.indices)
            assert np.array_equal(starts, X.indptr)


@pytest.fixture
def compare(tmp_path: Path) -> Compare:
    return Compare(tmp_path)
