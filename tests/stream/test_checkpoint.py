"""Runs that are stopped and go on end on the bits of runs that were not."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from perceptron_rs import (
    AveragedPerceptron,
    BudgetedKernelPerceptron,
    Perceptron,
    VotedPerceptron,
    digest,
    load,
    reproduce,
)
from perceptron_rs.io import Source, open_examples, open_svmlight
from perceptron_rs.stream import checkpoint
from perceptron_rs.stream.checkpoint import start_text
from tests.support import files_of_at_most

rng = np.random.default_rng(5)
N = 40
X = rng.normal(size=(N, 4))
Y = np.array(["a", "b", "c"])[np.argmax(X[:, :3] + rng.normal(size=(N, 3)), axis=1)]
SHORT = {"max_iter": 5, "n_iter_no_change": 1}
LEARNERS = [
    Perceptron(**SHORT, penalty="l2", alpha=1e-3),
    AveragedPerceptron(**SHORT),
    AveragedPerceptron(**SHORT, multi_class="joint"),
    VotedPerceptron(**SHORT, max_vectors=9),
]
BLOCK = 7
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


class StoppedError(Exception):
    """What ends a run."""


def source(stop_at=None):
    """Blocks that can be had in any order; ``stop_at`` of them, in all passes."""
    given = []

    def between(first, last):
        given.append(first)
        if len(given) == stop_at:
            raise StoppedError
        return X[first:last] + 0.0, Y[first:last]  # new arrays are asked for in each epoch

    return Source(batches=lambda: iter([(X, Y)]), between=between, n_rows=N, n_features=4)


def story(model):
    return digest(model), model.mistakes_per_epoch_.tolist(), model.n_iter_per_class_.tolist()


@pytest.mark.parametrize("shuffle", [False, "block"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_run_goes_on_from_anywhere(learner, shuffle, tmp_path):
    options = {"shuffle": shuffle, "block_size": BLOCK}
    expected = story(clone(learner).fit_stream(source(), **options))
    options |= {"checkpoint": tmp_path / "run", "checkpoint_every": 0, "resume": True}
    stops = 0
    for stop_at in (2, 9, 12, 16, 17, None):
        try:
            found = clone(learner).fit_stream(source(stop_at), **options)
            break
        except StoppedError:
            stops += 1
    assert stops >= 3
    assert story(found) == expected
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    # It is over: the source is only looked at, and nothing is learnt.
    assert story(clone(learner).fit_stream(source(8), **options)) == expected


def test_more_epochs_may_be_made(tmp_path):
    short, long = AveragedPerceptron(max_iter=2, tol=None), AveragedPerceptron(max_iter=5, tol=None)
    options = {"checkpoint": tmp_path / "run", "resume": True, "block_size": BLOCK}
    short.fit_stream(source(), **options)
    expected = story(clone(long).fit_stream(source()))
    assert story(long.fit_stream(source(), **options)) == expected
    with pytest.raises(ValueError, match="max_iter=2 is less than the 5 epochs"):
        short.fit_stream(source(), **options)


def test_a_callback_is_told_of_each_epoch_once(tmp_path):
    told = []
    options = {"checkpoint": tmp_path / "run", "checkpoint_every": 0, "resume": True, "block_size": BLOCK}
    model = Perceptron(
        tol=None, max_iter=9, callback=lambda record: told.append(record.epoch) or record.epoch == 3
    )
    with pytest.raises(StoppedError):
        model.fit_stream(source(20), **options)
    model.fit_stream(source(), **options)
    assert told == [0, 1, 2, 3]
    assert model.n_iter_ == 4
    model.fit_stream(source(), **options)
    assert told == [0, 1, 2, 3, 3]  # it ended the run, so it is asked whether that is still the end
    assert model.n_iter_ == 4


def test_what_was_learnt_before_is_told_apart(tmp_path):
    records = []
    options = {"checkpoint": tmp_path / "run", "checkpoint_every": 0, "resume": True, "block_size": BLOCK}
    model = Perceptron(tol=None, max_iter=3, callback=records.append)
    with pytest.raises(StoppedError):
        model.fit_stream(source(-(-N // BLOCK) + 4), **options)
    assert records == []
    model.fit_stream(source(), **options)
    assert [record.n_examples for record in records] == [N, N, N]
    before = records[0].n_before
    assert 0 < before <= 3 * BLOCK
    assert before % BLOCK == 0
    assert [record.n_before for record in records] == [before, 0, 0]


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_run_that_a_callback_ended_goes_on_if_nobody_ends_it(learner, tmp_path):
    """It does not say that it is done, as if its own stopping rule had ended it."""
    options = {"checkpoint": tmp_path / "run", "checkpoint_every": 0, "resume": True, "block_size": BLOCK}
    given = {"max_iter": 5, "tol": None, "audit": True}
    expected = clone(learner).set_params(**given).fit_stream(source(), block_size=BLOCK)
    ended = clone(learner).set_params(**given, callback=lambda record: record.epoch == 1)
    assert ended.fit_stream(source(), **options).n_iter_ == 2
    found = clone(learner).set_params(**given).fit_stream(source(), **options)
    assert story(found) == story(expected)
    assert reproduce(found, X, Y)


def test_a_checkpoint_knows_what_its_run_started_from(tmp_path):
    """Of the same examples and parameters, but of a cold start, of a warm one, and of another warm one."""
    warm = AveragedPerceptron(max_iter=2, tol=None, warm_start=True, audit=True)
    options = {"block_size": BLOCK, "resume": True}
    first, second = slice(0, 20), slice(20, 40)

    def start(rows):
        return clone(warm).fit_stream((X[rows], Y[rows]), classes=["a", "b", "c"], block_size=BLOCK)

    makes = {
        "cold": lambda: clone(warm).set_params(warm_start=False),
        "first": lambda: start(first),
        "second": lambda: start(second),
    }
    for name, make in makes.items():
        model = make().fit_stream(source(), checkpoint=tmp_path / name, **options)
        again = make().fit_stream(source(), checkpoint=tmp_path / name, **options)
        assert story(again) == story(model)
        for other, make_other in makes.items():
            if other != name:
                with pytest.raises(ValueError, match="is of another run: start"):
                    make_other().fit_stream(source(), checkpoint=tmp_path / name, **options)
    given = np.concatenate([X[first], X]), np.concatenate([Y[first], Y])
    goes_on = makes["first"]().fit_stream(source(), checkpoint=tmp_path / "first", **options)
    assert reproduce(goes_on, *given)


def test_a_middle_block_of_arrays_is_of_the_examples_too(tmp_path):
    """The classes are given, so that no pass comes first."""
    other = X.copy()
    other[N // 2] += 1
    options = {"checkpoint": tmp_path / "run", "block_size": BLOCK, "classes": ["a", "b", "c"]}
    Perceptron(max_iter=2, tol=None).fit_stream((X, Y), **options)
    with pytest.raises(ValueError, match="other examples"):
        Perceptron(max_iter=3, tol=None).fit_stream((other, Y), resume=True, **options)


@pytest.mark.parametrize("stop_at", [9, 10, 13])
def test_the_epoch_that_goes_on_counts_all_its_examples(stop_at, tmp_path):
    told = []
    options = {"checkpoint": tmp_path / "run", "checkpoint_every": 0, "resume": True, "block_size": BLOCK}
    model = Perceptron(tol=None, max_iter=4, callback=lambda record: told.append(record.n_examples))
    with pytest.raises(StoppedError):
        model.fit_stream(source(stop_at), **options)
    model.fit_stream(source(), **options)
    assert told == [N] * len(told)


def test_a_repeated_report_of_examples_that_nobody_has_counted_tells_of_none(tmp_path):
    told = []
    options = {
        "checkpoint": tmp_path / "run",
        "resume": True,
        "block_size": BLOCK,
        "classes": ["a", "b", "c"],
    }
    given = Source(batches=lambda: iter([(X, Y)]), n_features=4)
    model = Perceptron(tol=None, callback=lambda record: told.append(record.n_examples) or record.epoch == 1)
    for _ in range(2):
        model.fit_stream(given, **options)
    assert told == [N, N, 0]


def test_a_checkpoint_is_not_overwritten_by_chance(tmp_path):
    path = tmp_path / "run"
    Perceptron(max_iter=1).fit_stream(source(), checkpoint=path)
    with pytest.raises(FileExistsError, match="set resume=True"):
        Perceptron(max_iter=1).fit_stream(source(), checkpoint=path)


@pytest.mark.parametrize(
    ("change", "options", "text"),
    [
        ({"eta0": 2.0}, {}, "another run: eta0: 1.0, now 2.0"),
        ({}, {"block_size": 8}, "another run: block_size: 7, now 8"),
        ({}, {"shuffle": "block"}, "another run: shuffle"),
        ({}, {"classes": ["a", "b", "c", "d"]}, "another run: classes"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused(change, options, text, tmp_path):
    path = tmp_path / "run"
    Perceptron(max_iter=1).fit_stream(source(), checkpoint=path, block_size=BLOCK)
    before = path.read_bytes()
    options = {"block_size": BLOCK, "checkpoint": path, "resume": True} | options
    with pytest.raises(ValueError, match=text):
        Perceptron(max_iter=1, **change).fit_stream(source(), **options)
    with pytest.raises(ValueError, match="another run: learner"):
        VotedPerceptron(max_iter=1).fit_stream(source(), checkpoint=path, resume=True, block_size=BLOCK)
    assert path.read_bytes() == before


def test_one_file_is_not_both_cache_and_checkpoint(tmp_path):
    both = {"cache": tmp_path / "run", "checkpoint": f"{tmp_path}/./run"}
    with pytest.raises(ValueError, match="cache and checkpoint name the same file; name two"):
        Perceptron().fit_stream(source(), **both)
    assert not (tmp_path / "run").exists()


def test_a_data_file_that_was_replaced_is_another_one(tmp_path):
    """Of the same form and size; and one that was only moved away and back is the same."""
    data, run = tmp_path / "data", tmp_path / "run"
    options = {"block_size": BLOCK, "checkpoint": run, "classes": [0, 1]}
    data.write_text("1 1:1 3:2\n0 2:1\n" * 20)
    Perceptron(max_iter=2, tol=None).fit_stream(
        open_svmlight(data, n_features=3, zero_based=False), **options
    )

    def go_on(**reading):
        reading = {"n_features": 3, "zero_based": False} | reading
        model = Perceptron(max_iter=4, tol=None)
        return model.fit_stream(open_svmlight(data, **reading), resume=True, **options)

    before = run.read_bytes()
    for reading, text in (
        ({"zero_based": True}, "another run: reading"),
        ({"n_features": 4}, "another run: reading|n_features"),
    ):
        with pytest.raises(ValueError, match=text):
            go_on(**reading)
    data.rename(tmp_path / "away").rename(data)
    go_on()
    run.write_bytes(before)
    moment = data.stat().st_mtime_ns
    data.write_text("1 1:1 3:2\n0 2:2\n" * 20)
    os.utime(data, ns=(moment + 1, moment + 1))
    with pytest.raises(ValueError, match=r"is of another run: files: .*data"):
        go_on()
    assert run.read_bytes() == before


@pytest.mark.parametrize(
    ("options", "other", "named"),
    [
        ({"norm": "l1"}, {"ngrams": (1, 3)}, "norm='l1'.*, now .*ngrams=\\(1, 3\\)"),
        ({}, {"norm": None, "binary": True}, "now .*binary=True, norm=None"),
        ({"hash_bits": 9}, {"hash_bits": 8}, "hash_bits=9.*, now .*hash_bits=8"),
    ],
)
def test_the_option_that_changed_is_named(tmp_path, options, other, named):
    """Not the size of blocks, which follows from it."""
    data, run = tmp_path / "a.txt", tmp_path / "run"
    data.write_text("".join(f"{i % 2}\t{'word ' * (1 + i % 3)}{i} more\n" for i in range(60)))
    model = Perceptron(max_iter=2, tol=None)
    model.fit_stream(open_examples(data, format="lines", **options), checkpoint=run)
    with pytest.raises(ValueError, match=f"is of another run: reading: .*{named}"):
        model.fit_stream(open_examples(data, format="lines", **other), checkpoint=run, resume=True)


def test_seeds_that_were_drawn_are_of_the_run(tmp_path):
    """The parameter is None before and after, but the orders would be others."""
    options = {"block_size": BLOCK, "resume": True}
    for name, learner, more, text in (
        (
            "order",
            AveragedPerceptron(random_state=None),
            {"shuffle": "block"},
            "another run: seed: [0-9]+, now",
        ),
        (
            "budget",
            BudgetedKernelPerceptron(gamma=0.5, budget_policy="random", budget=3, random_state=None),
            {},
            "another run: seed of the budget: [0-9]+, now",
        ),
    ):
        model = clone(learner).set_params(max_iter=2, tol=None)
        model.fit_stream(source(), checkpoint=tmp_path / name, **options, **more)
        with pytest.raises(ValueError, match=text):
            model.set_params(max_iter=3).fit_stream(source(), checkpoint=tmp_path / name, **options, **more)


def test_numbers_of_another_arithmetic_are_not_gone_on_with(tmp_path, monkeypatch):
    options = {"checkpoint": tmp_path / "run", "resume": True}
    Perceptron(max_iter=1).fit_stream(source(), **options)
    monkeypatch.setattr(checkpoint, "ARITHMETIC_VERSION", checkpoint.ARITHMETIC_VERSION + 1)
    with pytest.raises(ValueError, match="another run: arithmetic_version"):
        Perceptron(max_iter=2).fit_stream(source(), **options)


def test_examples_of_another_width_are_refused(tmp_path):
    options = {"checkpoint": tmp_path / "run", "resume": True, "block_size": BLOCK}
    Perceptron(max_iter=1).fit_stream((X, Y), **options)
    with pytest.raises(ValueError, match="another run: n_features: 4, now 5"):
        Perceptron(max_iter=1).fit_stream((np.hstack([X, X[:, :1]]), Y), **options)


def test_the_number_of_the_epoch_is_of_the_run(tmp_path):
    """One long epoch and two short ones lead to the same weights and counters, and to other orders."""
    one, labels = np.array([[1.0], [-1.0]]), ["a", "b"]
    for times, given in ((1, 2), (2, 1)):
        model = Perceptron(shuffle=False, warm_start=True, tol=None, max_iter=times)
        model.fit(np.tile(one, (given, 1)), labels * given)
        assert (model.coef_.tolist(), model.n_seen_.tolist()) == ([[-2.0]], [4])
        options = {"checkpoint": tmp_path / "run", "block_size": 1, "resume": True}
        if times == 1:
            model.fit_stream((one, labels), **options)
            continue
        with pytest.raises(ValueError, match="another run: first_epoch: 1, now 2"):
            model.fit_stream((one, labels), **options)


def test_a_full_disk_leaves_the_checkpoint_that_was_there(tmp_path):
    path = tmp_path / "run"
    options = {"checkpoint": path, "checkpoint_every": 0, "block_size": BLOCK, "resume": True}
    with pytest.raises(StoppedError):
        Perceptron(**SHORT).fit_stream(source(12), **options)
    before = path.read_bytes()
    with files_of_at_most(100), pytest.raises(OSError, match="what was there is unchanged") as caught:
        Perceptron(**SHORT).fit_stream(source(), **options)
    assert caught.value.errno == errno.EFBIG
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["run"]
    found = Perceptron(**SHORT).fit_stream(source(), **options)
    assert story(found) == story(Perceptron(**SHORT).fit_stream(source()))


def test_damage_is_noticed_and_a_model_is_no_checkpoint(tmp_path):
    path = tmp_path / "run"
    model = Perceptron(max_iter=1).fit_stream(source(), checkpoint=path)
    sound = path.read_bytes()
    with pytest.raises(ValueError, match="it is a checkpoint of a run"):
        load(path)
    for damaged in (sound[:-1], sound[:200] + b"?" + sound[201:], b"", sound[:-9] + b"?" + sound[-8:]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"checkpoint '.*run'"):
            Perceptron(max_iter=1).fit_stream(source(), checkpoint=path, resume=True)
    path.unlink()
    model.save(path)
    with pytest.raises(ValueError, match="no checkpoint"):
        Perceptron(max_iter=1).fit_stream(source(), checkpoint=path, resume=True)


def test_runs_that_are_killed_go_on(tmp_path):
    """SIGKILL behind a drawn number of Python's calls and returns, in either thread."""
    kills = 50 if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else 4
    run = [sys.executable, str(Path(__file__).with_name("killed.py")), str(tmp_path), str(kills)]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == kills
    # A process that is killed while it writes leaves a temporary file, and nothing else.
    names = {path.name for path in tmp_path.iterdir() if not path.match(".perceptrons-*.tmp")}
    assert names == {"cache", "data.npy", "labels.npy", "run"}


def test_a_folder_that_is_missing_is_said_before_anything_is_learnt(tmp_path):
    def never(*_):
        raise AssertionError

    with pytest.raises(FileNotFoundError, match="there is no such folder"):
        Perceptron(callback=never).fit_stream(source(), checkpoint=tmp_path / "none" / "run")


@pytest.mark.parametrize("form", ["arrays", "batches", "declared", "cached"])
@pytest.mark.parametrize("at", [0, N - 1])
def test_a_checkpoint_of_other_examples_is_refused(form, at, tmp_path):
    """Where no file tells that they changed."""
    other = X.copy()
    other[at, 2] += 1e-9
    options = {"checkpoint": tmp_path / "run", "block_size": BLOCK}
    if form == "cached":
        options["cache"] = tmp_path / "cache"
    if form == "declared":  # so no pass comes before the training, and the first batch must tell
        options["classes"] = ["a", "b", "c"]

    def given(X):
        if form == "arrays":
            return X, Y
        return Source(batches=lambda: iter([(X, Y)]), n_features=4)

    model = Perceptron(max_iter=2, tol=None).fit_stream(given(X), **options)
    again = Perceptron(max_iter=2, tol=None).fit_stream(given(X.copy()), resume=True, **options)
    assert digest(again) == digest(model)
    before = options["checkpoint"].read_bytes()
    with pytest.raises(ValueError, match="other examples"):
        Perceptron(max_iter=3, tol=None).fit_stream(given(other), resume=True, **options)
    assert options["checkpoint"].read_bytes() == before


def test_what_a_run_starts_from_is_said_of_every_byte_name_type_and_shape():
    numbers = np.arange(6.0)
    states = [
        {"coef": numbers.reshape(2, 3)},
        {"coef": numbers.reshape(3, 2)},
        {"coef": numbers.reshape(2, 3).view(np.int64)},
        {"coef_u": numbers.reshape(2, 3)},
        {"coef": numbers.reshape(2, 3) + 1},
    ]
    assert len({start_text(state) for state in states}) == len(states)
    assert {start_text({"coef": np.zeros(shape)}) for shape in ((2, 3), (3, 2))} == {"nothing learnt"}
    assert start_text(states[0]) == start_text({"coef": np.asfortranarray(states[0]["coef"])})


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"tie": "positive"}, "tie: 'mistake', now 'positive'"),
        ({"tol": 0.5}, "tol: None, now 0.5"),
        ({"n_iter_no_change": 7}, "n_iter_no_change: 5, now 7"),
        ({"class_weight": {0: 1.0, 1: 2.0}}, "class_weight: None, now"),
    ],
)
def test_a_refused_resume_names_the_parameter_that_differs(tmp_path, changed, said):
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    path = tmp_path / "c"
    run = {"max_iter": 2, "tol": None}
    Perceptron(**run).fit_stream((X, y), checkpoint=path)
    with pytest.raises(ValueError, match=f"is of another run: {said}"):
        Perceptron(**run | changed).fit_stream((X, y), checkpoint=path, resume=True)
