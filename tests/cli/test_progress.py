"""The lines about epochs."""

import dataclasses

import numpy as np

from perceptron_rs import EpochRecord
from perceptron_rs.cli import progress


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


def test_lines(capsys):
    lines = progress.EpochLines()
    assert lines(record(0, [30, 20], 2.0)) is False  # true would end the fit
    assert lines(record(1, [3, 2], 2.5)) is False
    assert lines(record(2, [0, 0], 2.5, n_examples=0)) is False
    assert capsys.readouterr().err.splitlines() == [
        "epoch 1: 1000 examples, 50 mistakes (0.0500), 50 in all (0.0500), 500 rows/s, 2.00 s",
        "epoch 2: 2000 examples, 5 mistakes (0.0050), 55 in all (0.0275), 2,000 rows/s, 2.50 s",
        "epoch 3: 2000 examples, 0 mistakes (-), 55 in all (0.0275), - rows/s, 2.50 s",
    ]


def test_a_terminal_is_told_how_long_it_may_take(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    lines = progress.EpochLines(3)
    for epoch, seconds in enumerate((2.0, 3.0, 4.5)):
        lines(record(epoch, [1], seconds))
    shown = [line.partition(" rows/s, ")[2] for line in capsys.readouterr().err.splitlines()]
    assert shown == ["2.00 s, at most 4 s left", "3.00 s, at most 2 s left", "4.50 s"]


def test_the_speed_after_resume_is_that_of_this_process(capsys):
    progress.EpochLines()(dataclasses.replace(record(3, [1], 0.5), n_before=900))
    assert capsys.readouterr().err.endswith("1 in all (0.0010), 200 rows/s, 0.50 s\n")
