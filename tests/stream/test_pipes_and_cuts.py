"""Files that are no regular ones, and files that are cut while they are mapped."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs import AveragedPerceptron, Perceptron, SequencePerceptron
from perceptron_rs.audit.digests import Digester
from perceptron_rs.features import column_attributes
from perceptron_rs.io import (
    open_arrays,
    open_arrow,
    open_csv,
    open_parquet,
    open_sentences,
    open_svmlight,
)

rng = np.random.default_rng(0)
X = rng.integers(0, 3, (200, 3)).astype(np.float64)
Y = rng.integers(0, 2, 200)
TEXT = "".join(
    f"{label} " + " ".join(f"{j}:{x:g}" for j, x in enumerate(row)) + "\n"
    for row, label in zip(X, Y, strict=True)
)
pytestmark = [
    pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


@pytest.fixture
def pipe(tmp_path):
    """A named pipe, and what writes a text to it."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writers = []

    def written(text):
        writers.append(threading.Thread(target=path.write_text, args=(text,), daemon=True))
        writers[-1].start()
        return path

    yield written
    for writer in writers:
        writer.join(timeout=600)


def test_svmlight_is_read_once_from_a_pipe(pipe, tmp_path):
    (tmp_path / "file").write_text(TEXT)

    def source(path):
        return open_svmlight(path, n_features=3, zero_based=True)

    def learn(path, **options):
        return Perceptron(max_iter=options.pop("max_iter", 1), tol=None).fit_stream(source(path), **options)

    expected = learn(tmp_path / "file")
    assert learn(pipe(TEXT), classes=[0, 1]).coef_.tobytes() == expected.coef_.tobytes()
    expected = learn(tmp_path / "file", max_iter=4)
    kept = learn(pipe(TEXT), max_iter=4, cache=tmp_path / "cache")
    assert kept.coef_.tobytes() == expected.coef_.tobytes()
    with pytest.raises(ValueError, match="pipe can be read only once, but another pass is needed"):
        learn(tmp_path / "pipe", max_iter=2)  # before it is opened: nobody writes to it


def test_sentences_are_read_once_from_a_pipe(pipe, tmp_path):
    text = "the\tD\nwhale\tN\n\nno\tX\n\n" * 20
    (tmp_path / "file").write_text(text)

    def learn(path, **options):
        source = open_sentences(path, attributes=column_attributes)
        return SequencePerceptron(max_iter=2, hash_columns=64).fit_stream(source, **options)

    expected, kept = learn(tmp_path / "file"), learn(pipe(text), cache=tmp_path / "cache")
    assert kept.coef_.tobytes() == expected.coef_.tobytes()
    with pytest.raises(ValueError, match="can be read only once"):
        learn(pipe(text))


@pytest.mark.parametrize(
    "opened",
    [
        lambda path: open_csv(path, target="y"),
        lambda path: open_parquet(path, target="y"),
        lambda path: open_arrow(path, target="y"),
        lambda path: open_arrays(path, path),
        lambda path: open_svmlight(path, n_features=3, zero_based=True).partitions(2),
        lambda path: open_sentences(path, attributes=len).partitions(2),
    ],
)
def test_what_takes_more_than_one_pass_refuses_a_pipe_and_does_not_wait(opened, tmp_path):
    pytest.importorskip("pyarrow")
    os.mkfifo(tmp_path / "pipe")  # nobody writes to it
    with pytest.raises(ValueError, match=r"can be read only once|can only be read from its beginning"):
        opened(tmp_path / "pipe")


WAITS = """
import os, signal, sys, threading
from perceptron_rs import Perceptron
from perceptron_rs.io import open_svmlight

def interrupt():  # the reader opens the pipe, for which nobody writes
    while "perceptrons-reader" not in {thread.name for thread in threading.enumerate()}:
        pass
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
try:
    source = open_svmlight(sys.argv[1], n_features=2, zero_based=True)
    Perceptron(max_iter=1).fit_stream(source, classes=[0, 1])
except KeyboardInterrupt:
    print("interrupted")
"""


def test_a_process_that_waits_for_a_pipe_can_be_ended(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    done = subprocess.run(
        [sys.executable, "-c", WAITS, str(tmp_path / "pipe")],
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    assert done.stdout == "interrupted\n"


def cutting(path: Path) -> object:
    """A callback that cuts a file after the first epoch."""
    return lambda record: os.truncate(path, 1000) if record.epoch == 0 else None


@pytest.mark.parametrize("audit", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_a_cache_that_is_cut_is_an_error(form, audit, tmp_path):
    batches = [(form(X[i : i + 50]), Y[i : i + 50]) for i in range(0, 200, 50)] * 30
    cache = tmp_path / "cache"
    model = AveragedPerceptron(max_iter=4, tol=None, callback=cutting(cache), audit=audit)
    with pytest.raises(ValueError, match=r"cache '.*cache' was cut to 1000 bytes while it was in use"):
        model.fit_stream(batches, cache=cache, block_size=50)
    assert not hasattr(model, "coef_")


def test_a_callback_may_do_anything_with_files(tmp_path, monkeypatch):
    """When it is called, nobody reads pages of the cache: also not for digests, which lag behind."""
    added, at_callback = [], []
    add = Digester.add

    def slowly(self, examples):
        time.sleep(0.002)
        add(self, examples)
        added.append(len(examples))

    monkeypatch.setattr(Digester, "add", slowly)
    model = AveragedPerceptron(max_iter=1, audit=True, callback=lambda _: at_callback.append(sum(added)))
    model.fit_stream([(X, Y)] * 20, cache=tmp_path / "cache", block_size=50)
    assert at_callback == [20 * len(Y)]


@pytest.mark.parametrize("form", ["dense", "csr", "maps"])
def test_arrays_in_files_that_are_cut_are_an_error(form, tmp_path):
    large = np.tile(X, (200, 1))
    S = sp.csr_matrix(large)
    arrays = {"X": large, "y": np.tile(Y, 200), "data": S.data, "indices": S.indices, "indptr": S.indptr}
    files = {name: tmp_path / f"{name}.npy" for name in arrays}
    for name, array in arrays.items():
        np.save(files[name], array)
    given, cut = files["X"], files["X"]
    if form == "csr":
        given, cut = (files["data"], files["indices"], files["indptr"], 3), files["indices"]
    if form == "maps":
        given = np.load(files["X"], mmap_mode="r")
    source, model, asked = open_arrays(given, files["y"]), Perceptron(max_iter=4, tol=None), []

    def between(first, last):  # before a block is read; later, the engine could be reading another one
        asked.append(first)
        os.truncate(cut, 1000)
        return source.between(first, last)

    with pytest.raises(ValueError, match=r"npy was cut to 1000 bytes while it was in use"):
        model.fit_stream(replace(source, between=between), classes=[0, 1], block_size=1000)
    assert len(asked) == 1
    assert not hasattr(model, "coef_")


def test_a_block_that_was_read_is_not_learnt_from_once_its_file_is_cut(tmp_path):
    """It is a part of the file, which is mapped; the first epoch has looked at it."""
    file, asked = tmp_path / "X.npy", []
    np.save(file, np.tile(X, (200, 1)))
    source = open_arrays(file, np.tile(Y, 200))

    def advise(first, last, needed):
        asked.append(needed)
        if asked.count(True) == 5:
            os.truncate(file, 1000)

    model = Perceptron(max_iter=4, tol=None)
    with pytest.raises(ValueError, match=r"npy was cut to 1000 bytes while it was in use"):
        model.fit_stream(replace(source, advise=advise), classes=[0, 1], block_size=10000)
    assert asked.count(False) == 4
    assert not hasattr(model, "coef_")


def test_an_arrow_file_that_is_cut_is_an_error(tmp_path):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": np.tile(X[:, 0], 500), "b": np.tile(X[:, 1], 500), "y": np.tile(Y, 500)})
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=5000)
    model = Perceptron(max_iter=4, tol=None, callback=cutting(tmp_path / "a.arrow"))
    with pytest.raises(ValueError, match=r"a\.arrow (was cut|changed)"):
        model.fit_stream(open_arrow(tmp_path / "a.arrow", target="y"))
