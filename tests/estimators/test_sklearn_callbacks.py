"""scikit-learn's own callbacks, where it has them."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import Perceptron as Peer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.learners import ONLINE

from perceptron_rs import Perceptron

callbacks = pytest.importorskip("sklearn.callback", reason="scikit-learn has no callbacks before 1.9")
X, Y = load_iris(return_X_y=True)


class Recorder:
    def __init__(self, stop_at=None, fail_at=None):
        self.stop_at, self.fail_at, self.calls = stop_at, fail_at, []

    def setup(self, estimator, context):
        self.calls.append("setup")

    def teardown(self, estimator, context):
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None):
        self.calls.append(("begin", context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        coef = fitted_estimator.coef_.copy() if context.task_name == "epoch" else None
        self.calls.append(("end", context.task_name, context.task_id, coef))
        if context.task_name == "epoch" and context.task_id == self.fail_at:
            raise RuntimeError("from a callback")
        return context.task_id == self.stop_at


@pytest.mark.parametrize("learner", ONLINE)
def test_every_epoch_is_a_task(learner, engine_name):
    recorder = Recorder()
    model = learner(max_iter=3, tol=None, engine=engine_name).set_callbacks(recorder).fit(X, Y)
    names = [call if isinstance(call, str) else call[:3] for call in recorder.calls]
    epochs = [(kind, "epoch", epoch) for epoch in range(3) for kind in ("begin", "end")]
    assert names == ["setup", ("begin", "fit", 0), *epochs, ("end", "fit", 0), "teardown"]
    for call in recorder.calls:
        if call[:2] == ("end", "epoch"):
            until = learner(max_iter=call[2] + 1, tol=None).fit(X, Y)
            assert call[3].tobytes() == until.coef_.tobytes()
    assert model.coef_.tobytes() == learner(max_iter=3, tol=None).fit(X, Y).coef_.tobytes()


def test_callbacks_see_what_the_fit_was_given():
    class Seen(Recorder):
        def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None):
            self.calls.append((X, y, metadata["sample_weight"]))

    seen, weights = Seen(), np.linspace(1, 2, len(Y))
    Perceptron(max_iter=1, tol=None).set_callbacks(seen).fit(X, Y, sample_weight=weights)
    begun = [call for call in seen.calls if len(call) == 3]
    assert len(begun) == 2  # the fit, and its epoch
    assert all(given is known for call in begun for given, known in zip(call, (X, Y, weights), strict=True))


@pytest.mark.parametrize("learner", ONLINE)
def test_a_callback_may_end_the_fit(learner, engine_name):
    model = learner(max_iter=9, engine=engine_name).set_callbacks(Recorder(stop_at=1)).fit(X, Y)
    assert model.n_iter_ == 2


def test_an_error_tears_down_and_restores(engine_name):
    recorder = Recorder(fail_at=1)
    model = Perceptron(max_iter=9, engine=engine_name).set_callbacks(recorder)
    before = dict(vars(model))
    with pytest.raises(RuntimeError, match="from a callback"):
        model.fit(X, Y)
    assert recorder.calls[-1] == "teardown"
    assert vars(model) == before


def test_scoring_monitor(engine_name):
    monitor = callbacks.ScoringMonitor(scoring="accuracy")
    Perceptron(max_iter=4, tol=None, engine=engine_name).set_callbacks(monitor).fit(X, Y)
    scores = [entry["accuracy"] for entry in monitor.get_logs().data if entry["task_name"] == "epoch"]
    assert scores == [Perceptron(max_iter=epochs, tol=None).fit(X, Y).score(X, Y) for epochs in (1, 2, 3, 4)]


def test_progress_bar(engine_name):
    pytest.importorskip("rich", reason="ProgressBar draws with rich")
    model = Perceptron(max_iter=3, tol=None, engine=engine_name)
    model.set_callbacks(callbacks.ProgressBar()).fit(X, Y)
    fresh = Perceptron(max_iter=3, tol=None, engine=engine_name)
    piped = make_pipeline(StandardScaler(), fresh).set_callbacks(callbacks.ProgressBar()).fit(X, Y)
    assert piped[-1].n_iter_ == 3


def test_the_peer_has_none_of_it():
    """When it gets them, the names of its tasks are to be looked at."""
    assert not hasattr(Peer(), "set_callbacks")
    assert np.isfinite(Peer().fit(X, Y).coef_).all()
