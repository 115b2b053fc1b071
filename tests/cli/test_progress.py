"""The lines about epochs."""

import dataclasses
import gzip
import sys

import numpy as np
import pytest

from perceptron_rs import EpochRecord
from perceptron_rs.cli import progress
from perceptron_rs.io.text import lines as lines_of
from perceptron_rs.io.text.lines import text_blocks


def record(epoch, mistakes, seconds, n_examples=1000):
    return EpochRecord(
        epoch=epoch,
        mistakes=sum(mistakes),
        mistakes_per_class=np.array(mistakes),
        loss=0.0,
        losses=np.zeros(len(mistakes)),
        n_examples=n_examples,
        seconds=seconds,
    )


def test_lines():
    written = []
    lines = progress.EpochLines(written.append)
    assert lines(record(0, [30, 20], 2.0)) is False  # true would end the fit
    assert lines(record(1, [3, 2], 2.5)) is False
    assert lines(record(2, [0, 0], 2.5, n_examples=0)) is False
    assert written == [
        "epoch 1: 1000 examples, 50 mistakes (0.0500), 50 in all (0.0500), 500 rows/s, 2.00 s",
        "epoch 2: 2000 examples, 5 mistakes (0.0050), 55 in all (0.0275), 2,000 rows/s, 2.50 s",
        "epoch 3: 2000 examples, 0 mistakes (-), 55 in all (0.0275), - rows/s, 2.50 s",
    ]


def test_the_speed_after_resume_is_that_of_this_process():
    written = []
    progress.EpochLines(written.append)(dataclasses.replace(record(3, [1], 0.5), n_before=900))
    assert written[0].endswith("1 in all (0.0010), 200 rows/s, 0.50 s")


def test_quiet_gives_no_callback():
    with progress.progress(3, quiet=True) as callback:
        assert callback is None


@pytest.mark.parametrize("hidden", [True, False])
def test_a_terminal_without_rich(monkeypatch, hidden, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: hidden, raising=False)
    for name in ("rich.console", "rich.progress"):
        monkeypatch.setitem(sys.modules, name, None)
    with progress.progress(3, quiet=False) as callback:
        callback(record(0, [1], 1.0))
    expected = "epoch 1: 1000 examples, 1 mistakes (0.0010), 1 in all (0.0010), 1,000 rows/s, 1.00 s\n"
    assert capsys.readouterr().err == expected


def test_reading_that_takes_long_says_how_far_it_is(tmp_path, capsys):
    path, seconds = tmp_path / "a.svm", []
    path.write_bytes(gzip.compress(b"1 1:1\n" * 1000, mtime=0))
    told = progress.ReadingLines(lambda: float(len(seconds)))
    with lines_of.watched(told):
        for _ in text_blocks(str(path), 1500):
            seconds.append(0)
    assert not list(lines_of._watchers)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        f"reading {path}: 250 lines, 0 MB (100%), 1 s",
        f"reading {path}: 500 lines, 0 MB (100%), 2 s",
        f"reading {path}: 1000 lines, 0 MB (100%), 4 s",
    ]
    path.write_bytes(b"1 1:1\n" * 1000)
    with lines_of.watched(told):
        for _ in text_blocks(str(path), 1500):
            seconds.append(0)
    assert capsys.readouterr().err.splitlines()[0] == f"reading {path}: 250 lines, 0 MB (25%), 1 s"


def test_a_large_file_is_said_to_be_read(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(progress, "_LARGE", 5)
    (tmp_path / "a").write_bytes(b"12345")
    for path, quiet in ((tmp_path / "a", False), (tmp_path / "a", True), ("-", False)):
        with progress.reading([str(path)], quiet=quiet):
            pass
    assert capsys.readouterr().err == f"reading {tmp_path / 'a'}, 0 MB\n"
