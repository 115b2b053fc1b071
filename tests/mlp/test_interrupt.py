"""Ctrl-C in a fit of layers: nothing has happened, or what was learnt until then is kept."""

import gc
import signal
import sys

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from perceptron_rs import MultilayerPerceptron, load
from perceptron_rs.training import feeders
from perceptron_rs.training.driver import drive

rng = np.random.default_rng(0)
X, Y = rng.standard_normal((500, 8)), rng.integers(0, 3, 500)  # the labels are drawn: no epoch is clean

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals and timers")


@pytest.fixture(autouse=True)
def alarm(monkeypatch):
    """Ctrl-C comes soon after a run has begun, in time of the processor."""

    def begin(*args, **options):
        signal.setitimer(signal.ITIMER_PROF, 0.2)
        return drive(*args, **options)

    monkeypatch.setattr(feeders, "drive", begin)
    previous = signal.signal(signal.SIGPROF, signal.default_int_handler)
    gc.disable()  # Hypothesis is told of each collection, and what is raised there is lost
    yield
    gc.enable()
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, previous)


@pytest.mark.parametrize("early_stopping", [False, True])
def test_what_was_learnt_is_kept(engine_name, monkeypatch, tmp_path, early_stopping):
    model = MultilayerPerceptron((6,), max_iter=10**9, tol=None, engine=engine_name, batch_size=50)
    model.set_params(early_stopping=early_stopping)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert not hasattr(model, "coefs_")
    with pytest.warns(ConvergenceWarning, match="ctrl-c ended the fit in epoch"):
        model.set_params(keep_on_interrupt=True).fit(X, Y)
    assert model.n_iter_ == len(model.loss_curve_) == len(model.mistakes_per_epoch_) > 0
    assert all(np.isfinite(coef).all() for coef in model.coefs_)
    assert model._calls[-1].ended == ("interrupt", model.n_iter_)
    assert not model.converged_
    model.save(tmp_path / "m")
    assert load(tmp_path / "m").converged_ is False
    monkeypatch.undo()
    epochs = MultilayerPerceptron((6,), max_iter=model.n_iter_, tol=None, batch_size=50)
    epochs.set_params(early_stopping=early_stopping).fit(X, Y)
    whole = model.n_iter_ - (engine_name == "rust")  # the core keeps a part of the last epoch
    assert model.loss_curve_[:whole] == epochs.loss_curve_[:whole]
    if engine_name == "reference":
        assert [coef.tobytes() for coef in model.coefs_] == [coef.tobytes() for coef in epochs.coefs_]
    model.partial_fit(X, Y) if not early_stopping else model.predict(X)


def test_a_cut_epoch_is_that_of_its_batches(monkeypatch):
    """Some number of whole batches leads to the same weights."""
    n = 200_000
    X, y = np.tile(rng.standard_normal((50, 3)), (n // 50, 1)), np.tile(rng.integers(0, 2, 50), n // 50)
    model = MultilayerPerceptron((30,), max_iter=10**9, tol=None, shuffle=False, keep_on_interrupt=True)
    model.set_params(batch_size=50)
    with pytest.warns(ConvergenceWarning, match="ctrl-c"):
        model.fit(X, y)
    cut = model.coefs_[0].tobytes()
    monkeypatch.undo()
    again = MultilayerPerceptron((30,), max_iter=max(1, model.n_iter_ - 1), tol=None, shuffle=False)
    again.set_params(batch_size=50)
    if model.n_iter_ > 1:
        again.fit(X, y)
    else:
        again.partial_fit(X[:50], y[:50], classes=[0, 1])
    found = again.coefs_[0].tobytes() == cut
    first = 0 if model.n_iter_ > 1 else 50
    for begin in range(first, n, 50):
        if found:
            break
        again.partial_fit(X[begin : begin + 50], y[begin : begin + 50])
        found = again.coefs_[0].tobytes() == cut
    assert found
