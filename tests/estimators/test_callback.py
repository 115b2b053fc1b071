"""``callback`` and ``verbose`` see every epoch; Ctrl-C keeps what was learnt if that is asked for."""

import gc
import logging
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from tests.learners import LINEAR

from perceptron_rs import (
    AveragedPerceptron,
    BudgetedKernelPerceptron,
    EpochRecord,
    KernelPerceptron,
    Perceptron,
    PocketPerceptron,
    VotedPerceptron,
)


@pytest.fixture
def noise():
    rng = np.random.default_rng(0)
    return rng.standard_normal((80, 5)), rng.integers(0, 3, 80)


@pytest.mark.parametrize("learner", LINEAR)
def test_records(learner, engine_name, noise):
    X, y = noise
    records = []
    weight = np.ones(80)
    weight[:10] = 0
    model = learner(max_iter=4, tol=None, engine=engine_name, warm_start=True, callback=records.append)
    model.fit(X, y, sample_weight=weight)
    assert all(isinstance(record, EpochRecord) for record in records)
    assert [record.epoch for record in records] == [0, 1, 2, 3]
    assert [record.mistakes for record in records] == model.mistakes_per_epoch_.sum(axis=1).tolist()
    assert np.array_equal([record.mistakes_per_class for record in records], model.mistakes_per_epoch_)
    assert {record.n_examples for record in records} == {70}
    assert all(record.loss == record.losses.mean() > 0 for record in records)
    times = [record.seconds for record in records]
    assert times == sorted(times)
    model.fit(X, y)
    assert records[-1].epoch == 7, "the number goes on under warm_start"
    assert records[-1].n_examples == 80


@pytest.mark.parametrize("learner", LINEAR)
def test_it_may_end_the_fit(learner, engine_name, noise):
    plain = learner(max_iter=3, tol=None, engine=engine_name).fit(*noise)
    model = clone(plain).set_params(max_iter=50, tol=0.0, callback=lambda record: record.epoch == 2)
    model.fit(*noise)  # no ConvergenceWarning: tests run with warnings as errors
    assert model.n_iter_ == 3
    assert not model.converged_
    assert model.coef_.tobytes() == plain.coef_.tobytes()


@pytest.mark.parametrize(
    "model",
    [
        Perceptron(),
        Perceptron(penalty="l2", multi_class="joint"),
        AveragedPerceptron(n_jobs=2),
        PocketPerceptron(),
        VotedPerceptron(),
        KernelPerceptron(kernel="rbf"),
        KernelPerceptron(prediction="random"),
        BudgetedKernelPerceptron(budget=10, kernel="rbf"),
        BudgetedKernelPerceptron(budget=10, budget_policy="random"),
    ],
    ids=str,
)
def test_it_sees_the_learner_of_each_epoch(model, engine_name, noise):
    X, y = (part[:30] for part in noise) if engine_name == "reference" else noise
    model = clone(model).set_params(engine=engine_name, max_iter=3, tol=None, random_state=1)
    seen = []
    model.set_params(callback=lambda record: seen.append((record.model(), record))).fit(X, y)
    for epochs, (found, _) in enumerate(seen, start=1):
        expected = clone(model).set_params(max_iter=epochs, callback=None).fit(X, y)
        assert found.decision_function(X).tobytes() == expected.decision_function(X).tobytes()
        assert found.callback is None
        assert found is not model
    with pytest.raises(RuntimeError, match="is there while callback runs"):
        seen[0][1].model()
    assert repr(seen[0][1]).endswith(f"seconds={seen[0][1].seconds}, n_before=0)")


def test_a_record_made_by_hand_has_no_model():
    record = EpochRecord(0, 0, np.zeros(1, dtype=np.int64), 0.0, np.zeros(1), 1, 0.0)
    with pytest.raises(RuntimeError, match="made by hand"):
        record.model()


def test_verbose(engine_name, noise, capsys):
    model = Perceptron(max_iter=2, tol=None, verbose=1, engine=engine_name).fit(*noise)
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"-- epoch 1: {model.mistakes_per_epoch_[0].sum()} mistakes, mean loss ")
    assert second.startswith("-- epoch 2: ")


def test_an_error_in_it_leaves_the_estimator(engine_name, noise):
    model = Perceptron(max_iter=3, tol=None, engine=engine_name).fit(*noise)
    before = dict(vars(model))

    def fails(record):
        raise RuntimeError("from the callback")

    model.set_params(callback=fails)
    with pytest.raises(RuntimeError, match="from the callback"):
        model.fit(*noise)
    assert vars(model) == before | {"callback": fails}


POSIX = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals and timers")


def kept(model, X, y):
    with pytest.warns(ConvergenceWarning, match="ctrl-c ended the fit in epoch"):
        model.fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert model.n_mistakes_ == model.mistakes_per_epoch_.sum()
    assert model.t_ - 1 <= model.n_iter_ * len(X)
    assert not model.converged_
    if hasattr(model, "partial_fit"):
        model.partial_fit(X, y)


@POSIX
@pytest.mark.parametrize("learner", LINEAR)
def test_interrupted_in_the_callback(learner, engine_name, noise):
    def interrupt(record):
        if record.epoch == 4:
            signal.raise_signal(signal.SIGINT)

    model = learner(max_iter=10**6, tol=None, callback=interrupt, engine=engine_name)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*noise)
    assert not hasattr(model, "coef_")
    kept(model.set_params(keep_on_interrupt=True), *noise)
    five = clone(model).set_params(max_iter=5, callback=None).fit(*noise)
    if hasattr(model, "partial_fit"):
        five.partial_fit(*noise)
    assert model.coef_.tobytes() == five.coef_.tobytes()


@POSIX
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("learner", LINEAR)
def test_interrupted_in_an_epoch(learner, engine_name, n_jobs, noise):
    begun = []

    def begin(record):  # not before: scikit-learn may take long to look at the parameters
        if not begun:
            begun.append(record)
            signal.setitimer(signal.ITIMER_PROF, 0.1)

    options = {"engine": engine_name, "n_jobs": n_jobs, "keep_on_interrupt": True}
    model = learner(max_iter=10**9, tol=None, callback=begin, **options)
    previous = signal.signal(signal.SIGPROF, signal.default_int_handler)
    gc.disable()  # Hypothesis is told of each collection, and what is raised there is lost
    try:
        kept(model, *noise)
    finally:
        gc.enable()
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


def test_a_program_asks_for_the_lines_by_logging(engine_name, noise, caplog, capsys):
    model = Perceptron(max_iter=2, tol=None, engine=engine_name).fit(*noise)
    assert not caplog.records  # nobody has asked
    with caplog.at_level(logging.INFO, logger="perceptron_rs"):
        mistakes = model.fit(*noise).mistakes_per_epoch_[0].sum()
        model.fit_stream(noise)
    lines = [text.rpartition(", ")[0] for text in caplog.messages]
    assert lines[0].startswith(f"Perceptron, epoch 1: {mistakes} mistakes, mean loss ")
    assert [line.split(":")[0] for line in lines] == ["Perceptron, epoch 1", "Perceptron, epoch 2"] * 2
    assert capsys.readouterr() == ("", "")


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_the_log_of_a_killed_run_has_its_epochs(tmp_path):
    program = (
        "import os, signal; from perceptron_rs import Perceptron\n"
        "def kill(record):\n    if record.epoch: os.kill(os.getpid(), signal.SIGKILL)\n"
        "Perceptron(shuffle=False, tol=None, verbose=1, callback=kill).fit([[1, 0], [1, 1]], [0, 1])\n"
    )
    with (tmp_path / "log").open("wb") as log:
        done = subprocess.run([sys.executable, "-c", program], stdout=log, check=False)
    assert done.returncode == -signal.SIGKILL
    lines = (tmp_path / "log").read_text().splitlines()
    assert [line[:11] for line in lines] == ["-- epoch 1:", "-- epoch 2:"]
