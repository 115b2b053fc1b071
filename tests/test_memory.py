"""Stored numbers are read where they lie: by address, and by the memory that a fit adds."""

import resource
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs import Perceptron, PocketPerceptron, VotedPerceptron, _core
from perceptron_rs.rows.storage import STORED
from perceptron_rs.settings import Data
from tests.learners import LINEAR

N, D = 60, 7
Y = np.arange(N) % 3


def dense(dtype):
    return np.random.default_rng(0).integers(0, 9, (N, D)).astype(dtype)


def memory_map(dtype, folder):
    path = folder / "X.npy"
    np.save(path, dense(dtype))
    return np.load(path, mmap_mode="r")


def csr(dtype, index):
    X = sp.csr_matrix(dense(np.float32))
    X.data = X.data.astype(dtype)  # SciPy makes no matrix of float16, but holds one
    X.indptr, X.indices = X.indptr.astype(index), X.indices.astype(index)
    return X


def addresses(X):
    parts = [X.indptr, X.indices, X.data] if sp.issparse(X) else [X]
    return [part.ctypes.data for part in parts]


@pytest.mark.parametrize("dtype", STORED)
def test_rows_are_borrowed(dtype):
    X = dense(dtype)
    assert _core.dense_rows(X)._addresses == addresses(X)
    for index in (np.int32, np.int64):
        X = csr(dtype, index)
        assert _core.csr_rows(X.indptr, X.indices, X.data, D)._addresses == addresses(X)


@pytest.fixture(name="seen")
def fixture_seen(monkeypatch):
    """Return a list that receives the addresses of the rows of every call of the engine."""
    seen = []

    def watch(name):
        real = getattr(_core, name)

        def call(rows, *args, **kwargs):
            seen.append((rows.rows if isinstance(rows, Data) else rows)._addresses)
            return real(rows, *args, **kwargs)

        monkeypatch.setattr(_core, name, call)

    watch("start")
    watch("scores")
    watch("votes")
    return seen


@pytest.fixture(name="rows")
def fixture_rows(monkeypatch):
    """Return a list that receives the addresses of all rows that are made for the engine."""
    made = []

    def watch(name):
        real = getattr(_core, name)

        def call(*arrays):
            rows = real(*arrays)
            made.append(rows._addresses)
            return rows

        monkeypatch.setattr(_core, name, call)

    watch("dense_rows")
    watch("csr_rows")
    return made


def use(learner, X):
    model = learner(max_iter=2, tol=None).fit(X, Y)
    if learner is not PocketPerceptron:
        model.partial_fit(X, Y)
    model.decision_function(X)
    model.predict(X)
    model.score(X, Y)
    two = learner(max_iter=2, tol=None, n_jobs=2).fit(X, Y == 1, sample_weight=np.arange(N) % 4)
    two.decision_function(X)


@pytest.mark.parametrize("learner", LINEAR)
@pytest.mark.parametrize("dtype", STORED)
def test_an_estimator_hands_on_what_it_is_given(learner, dtype, seen, rows, tmp_path):
    if learner is not VotedPerceptron:  # whose model is given rows by methods
        seen = rows
    read_only = dense(dtype)
    read_only.setflags(write=False)
    for X in (
        dense(dtype),
        read_only,
        memory_map(dtype, tmp_path),
        csr(dtype, np.int32),
        csr(dtype, np.int64),
    ):
        seen.clear()
        use(learner, X)
        # A pass of a linear model over plain arrays hands on these, and makes no rows.
        makes_rows = learner is VotedPerceptron or isinstance(X, np.memmap)
        assert len(seen) == (7 if makes_rows and learner is not PocketPerceptron else 6)
        assert all(found == addresses(X) for found in seen), (type(X), dtype)


def test_booleans_are_read_in_place_as_bytes(seen):
    X = dense(np.uint8) > 4
    use(Perceptron, X)
    assert all(found == addresses(X) for found in seen)


def test_the_address_would_show_a_copy(rows):
    X = np.asfortranarray(dense(np.float64))
    use(Perceptron, X)
    assert len(rows) == 7
    assert all(found != addresses(X) for found in rows)


GIGABYTE = """
    import sys, threading
    from pathlib import Path
    import numpy as np
    from perceptron_rs import Perceptron

    def anonymous():
        line = next(t for t in Path("/proc/self/status").read_text().splitlines() if t.startswith("RssAnon"))
        return int(line.split()[1]) / 1024

    n, d = 1_000_000, 1000
    X = np.memmap(sys.argv[1], dtype=np.uint8, mode="w+", shape=(n, d))  # a sparse file
    X[:: n // 1000, 3] = 1
    for name, classes in (("fit", 2), ("partial_fit", 3), ("decision_function", 3)):
        y = np.arange(n) % classes
        model = Perceptron(max_iter=1, tol=None, shuffle=False)
        model.fit(X[:100], y[:100])  # what is loaded once is not counted
        model.decision_function(X[:100])

        top, done = [0.0], threading.Event()
        def watch():
            while not done.wait(0.002):
                top[0] = max(top[0], anonymous())

        before = anonymous()
        thread = threading.Thread(target=watch)
        thread.start()
        call = getattr(model, name)
        answer = call(X) if name == "decision_function" else call(X, y)
        done.set()
        thread.join()
        print(name, max(top[0], anonymous()) - before, top[0] > 0)
        del answer
"""


@pytest.mark.skipif(sys.platform != "linux", reason="RssAnon is in Linux's /proc")
def test_a_gigabyte_adds_less_than_100_megabytes(tmp_path):
    command = [sys.executable, "-c", textwrap.dedent(GIGABYTE), tmp_path / "X"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    (tmp_path / "X").unlink()
    assert done.returncode == 0, done.stderr
    found = [line.split() for line in done.stdout.splitlines()]
    assert [name for name, *_ in found] == ["fit", "partial_fit", "decision_function"]
    for name, added, watched in found:
        assert watched == "True", f"nobody could look while the engine worked: {name}"
        assert float(added) < 100, f"{name}: {added} MB"


def test_large_weights_lie_in_large_pages():
    modes = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not modes.exists() or "[never]" in modes.read_text():
        pytest.skip("this system has no large pages for who asks")
    program = """
        import resource, numpy as np, scipy.sparse as sp
        from perceptron_rs import Perceptron
        X = sp.random(3000, 30_000, 20 / 30_000, format="csr", random_state=0)
        y = np.arange(3000) % 280
        fits = [Perceptron(max_iter=1, tol=None) for _ in range(2)]
        fits[0].fit(X[:280], y[:280])
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        fits[1].fit(X, y)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
    """
    faults = int(subprocess.check_output([sys.executable, "-c", textwrap.dedent(program)]))
    small = 280 * 30_000 * 8 // resource.getpagesize()
    assert faults < small // 4
