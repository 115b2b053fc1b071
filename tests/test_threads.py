"""Python threads train at once, bits do not depend on threads, and a forked child can train."""

import re
import subprocess
import sys
import sysconfig
import textwrap
import threading
import time
from functools import partial
from itertools import repeat
from pathlib import Path
from types import ModuleType, SimpleNamespace

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from perceptron_rs import (
    AveragedPerceptron,
    KernelPerceptron,
    MultilayerPerceptron,
    Perceptron,
    PocketPerceptron,
    VotedPerceptron,
    _core,
)
from perceptron_rs.arrays.likes import as_users_have
from perceptron_rs.engines import get_engine
from perceptron_rs.parameters.threads import check_n_jobs, n_threads, thread_count
from perceptron_rs.rows.sparse import CsrArrays
from perceptron_rs.settings import Data, Linear
from tests.learners import LINEAR
from tests.support import learn


def problem(n=20_000, d=50, classes=2):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d)), rng.integers(0, classes, n).astype(np.uint32)


def test_how_many_threads_a_call_may_use(monkeypatch):
    unset, two = SimpleNamespace(n_jobs=None), SimpleNamespace(n_jobs=2)
    assert [n_threads(unset), n_threads(unset, 5), n_threads(two), n_threads(two, 1)] == [1, 1, 2, 2]
    for n_jobs in (None, 1, -1, np.int64(300)):
        check_n_jobs(n_jobs)
    for n_jobs, error in ((True, TypeError), (1.0, TypeError), ("1", TypeError), (0, ValueError)):
        with pytest.raises(error, match=r"n_jobs must (be a whole number or None|not be 0)"):
            check_n_jobs(n_jobs)
    assert thread_count(-1) == joblib.effective_n_jobs(-1)
    assert thread_count(255) == 255
    assert thread_count(1000) == 256
    with joblib.parallel_config(backend="threading", n_jobs=3):
        assert [n_threads(unset), n_threads(unset, 2), n_threads(unset, 1)] == [3, 3, 1]
    monkeypatch.setattr(joblib, "effective_n_jobs", lambda _: 0)  # as of a cluster without a worker
    assert thread_count(-1) == 1
    monkeypatch.setattr(joblib, "effective_n_jobs", lambda _: 7)
    assert thread_count(None) == 7
    monkeypatch.setitem(sys.modules, "joblib", None)  # an import of it fails
    with pytest.raises(ImportError):
        thread_count(7)
    monkeypatch.delitem(sys.modules, "joblib")
    assert thread_count(None) == 1
    assert "joblib" not in sys.modules


def start(learner, d, planes=1):
    names = {"coef": (planes, d), "intercept": planes}
    if learner == "averaged":
        names |= {"coef_u": (planes, d), "intercept_u": planes}
    state = {name: np.zeros(shape) for name, shape in names.items()}
    return state | {"seen": np.zeros(planes, dtype=np.int64)}


def fit(engine, rows, labels, learner, planes=1, **changes):
    arguments = {"positive": range(planes), "eta0": 0.1, "seed": 3} | changes
    return learn(
        engine, Linear, rows, labels, start(learner, rows.shape[1], planes), learner=learner, **arguments
    )


@pytest.fixture(name="no_forced_switch")
def fixture_no_forced_switch():
    """Let a Python thread lose the interpreter only where it gives it up by itself."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    yield
    sys.setswitchinterval(before)


def run_all(*targets):
    threads = [threading.Thread(target=target) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=600)
        assert not thread.is_alive()


# An engine that keeps the interpreter fails after so many calls; one that does not may need some, too:
# the other thread must be given a processor by the system while a call runs.
CALLS = 20_000


@pytest.mark.usefixtures("no_forced_switch")
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("call", ["epoch", "scores"])
def test_the_interpreter_is_free_while_the_engine_works(call, form):
    """Another thread counts between two lines that have only the call between them."""
    X, labels = problem()
    # Few scores: to allocate a kilobyte or more, NumPy gives the interpreter up, whatever the engine does.
    X = form(X if call == "epoch" else X.reshape(100, -1))
    sparse = sp.issparse(X)
    rows = _core.csr_rows(X.indptr, X.indices, X.data, X.shape[1]) if sparse else _core.dense_rows(X)
    ticks, done, counting = [0], threading.Event(), threading.Event()

    def count():
        while not done.is_set():
            ticks[0] += 1
            counting.set()
            time.sleep(0)  # gives the interpreter up

    def work():
        counting.wait()
        if call == "epoch":
            weights = {"class_weight": np.ones((1, 2)), "positive": np.array([1], dtype=np.uint32)}
            settings = Linear(learner="perceptron", eta0=0.1, seed=3, **weights)
            run = _core.start(Data(rows, labels), _core.Model("perceptron", 1, 50), settings)
            calls = (partial(run.epoch, number) for number in range(CALLS))
        else:
            coef, intercept = np.ones((1, X.shape[1])), np.ones(1)
            calls = repeat(partial(_core.scores, rows, coef, intercept, threads=1), CALLS)
        before = ticks[0]
        for each in calls:
            each()
            if ticks[0] > before:
                break
        free.append(ticks[0] > before)
        done.set()

    free = []
    run_all(count, work)
    assert free == [True]


@pytest.mark.usefixtures("no_forced_switch")
def test_two_threads_are_inside_the_engine_at_once():
    X, labels = problem()
    rows, barrier, inside, met, results = _core.dense_rows(X), threading.Barrier(2), set(), set(), {}

    def train(learner):
        barrier.wait()
        for _ in range(CALLS // 100):
            inside.add(learner)
            results[learner] = fit(_core, rows, labels, learner, max_iter=60)
            met.update(inside - {learner})
            inside.remove(learner)
            if met:
                break

    learners = ("perceptron", "averaged")
    run_all(*(partial(train, name) for name in learners))
    assert met
    for learner in learners:
        alone = fit(_core, rows, labels, learner, max_iter=60)
        for name, values in alone["state"].items():
            assert values.tobytes() == results[learner]["state"][name].tobytes(), (learner, name)


@pytest.mark.parametrize("learner", LINEAR)
def test_models_trained_at_once_are_those_trained_alone(learner):
    X, y = problem(n=2000, d=20, classes=4)
    jobs = [{"random_state": seed, "n_jobs": seed % 3 + 1} for seed in range(6)]

    def train(job):
        model = learner(max_iter=5, tol=None, **job).fit(X, y)
        return model.coef_.tobytes(), model.decision_function(X[:500]).tobytes()

    together = {}
    run_all(*(lambda i=i: together.update({i: train(jobs[i])}) for i in range(len(jobs))))
    assert [together[i] for i in range(len(jobs))] == [train(job) for job in jobs]


@pytest.mark.parametrize(
    "model",
    [
        AveragedPerceptron(),  # its average is computed when first read
        VotedPerceptron(),
        VotedPerceptron(prediction="average"),  # the weights of this are computed when first asked for
        PocketPerceptron(),
    ],
    ids=str,
)
def test_one_fitted_model_serves_many_threads(model):
    X, y = problem(n=3000, d=20, classes=4)
    model = clone(model).set_params(max_iter=2, tol=None).fit(X, y)
    scores = []
    run_all(*[lambda: scores.append(model.decision_function(X).tobytes())] * 6)
    assert set(scores) == {model.decision_function(X).tobytes()}
    assert len(scores) == 6


@pytest.mark.parametrize("planes", [1, 2, 3, 7])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("learner", ["averaged", "pocket", "voted"])
def test_no_bit_depends_on_the_number_of_threads(planes, form, learner):
    X, labels = problem(n=700, d=20, classes=7)
    X = form(np.where(abs(X) > 1, X, 0))
    sparse = sp.issparse(X)
    answers = set()
    for name, numbers in (("rust", (1, 2, 3, 8, 64)), ("reference", (1,))):  # which has one thread
        engine = get_engine(name)
        rows = engine.csr_rows(X.indptr, X.indices, X.data, 20) if sparse else engine.dense_rows(X)
        for threads in numbers:
            report = fit(engine, rows, labels, learner, planes, max_iter=3, threads=threads)
            arrays = [*(report["state"][name] for name in sorted(report["state"])), report["losses"]]
            coef, intercept = report["state"]["coef"], report["state"]["intercept"]
            arrays.append(engine.scores(rows, coef, intercept, threads=threads))
            answers.add(b"".join(array.tobytes() for array in arrays))
    assert len(answers) == 1


FORK = """
    import os, sys, threading
    import numpy as np
    from perceptron_rs import Perceptron

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((5000, 30)), rng.integers(0, 4, 5000)

    def train(_=None):
        model = Perceptron(max_iter=5, tol=None, n_jobs=2).fit(X, y)
        return model.coef_.tobytes() + model.decision_function(X).tobytes()

    def fork():
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            with os.fdopen(write, "wb") as pipe:
                pipe.write(train())
            os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            got = pipe.read()
        assert os.waitpid(child, 0)[1] == 0
        return got

    def run(how):
        if how == "fork":
            assert fork() == expected
        elif how == "while another thread trains":
            stop = threading.Event()
            def busy():
                while not stop.is_set():
                    train()
            thread = threading.Thread(target=busy)
            thread.start()
            try:
                for _ in range(3):
                    assert fork() == expected
            finally:
                stop.set()
            thread.join()
        else:
            import multiprocessing
            with multiprocessing.get_context("fork").Pool(2) as pool:
                assert pool.map(train, range(4)) == [expected] * 4
        assert train() == expected
        print(how, flush=True)

    if __name__ == "__main__":
        expected = train()
        for how in sys.argv[1:]:
            run(how)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="forking is safe, and a default, on Linux alone")
def test_a_forked_child_trains(tmp_path):
    ways = ["fork", "while another thread trains", "multiprocessing"]
    script = tmp_path / "fork_and_fit.py"
    script.write_text(textwrap.dedent(FORK), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script, *ways], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert done.stdout.splitlines() == ways


def test_free_threaded_python_is_declared():
    """The module must say Py_MOD_GIL_NOT_USED.

    A free-threaded interpreter shows it: an import without the declaration turns the lock on again.
    Others ignore the slot and offer no way to read it, so there the line that sets it is looked at.
    """
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        code = "import sys, perceptron_rs._core; print(sys._is_gil_enabled())"
        done = subprocess.run(
            [sys.executable, "-X", "gil=", "-W", "error", "-c", code],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout == "False\n", done.stderr
        return
    source = Path(__file__).parents[1] / "rust" / "python" / "mod.rs"
    if not source.exists():
        pytest.skip("neither a free-threaded interpreter nor the sources are here")
    assert re.search(r"#\[pymodule\(gil_used = false\)\]\s*mod _core\b", source.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "learner",
    [
        Perceptron,
        AveragedPerceptron,
        PocketPerceptron,
        VotedPerceptron,
        KernelPerceptron,
        MultilayerPerceptron,
    ],
)
def test_threads_that_fit_one_estimator_take_turns(learner):
    """Each fit is whole, and one that fails takes nothing of another away."""
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((300, 4)), rng.integers(0, 2, 300)
    model, errors = learner(max_iter=20, tol=None), []
    expected = learner(max_iter=20, tol=None).fit(X, y).decision_function(X).tobytes()

    def work(labels):
        try:
            for _ in range(3):
                model.fit(X, labels)
        except ValueError as error:
            errors.append(str(error))

    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(y[: 300 - i % 2],)) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(switch)
    assert len(errors) == 3
    assert all("y has 299 entries" in error for error in errors)
    assert model.decision_function(X).tobytes() == expected


def test_one_that_fails_takes_nothing_away():
    """A fit begins before another one and fails after it."""
    X, y = problem(200, 3)
    begun, go_on = threading.Event(), threading.Event()

    def callback(record):
        if not begun.is_set():
            begun.set()
            assert go_on.wait(600)
            raise RuntimeError(record)

    model = Perceptron(callback=callback, tol=None, max_iter=3)
    errors = []

    def fail():
        with pytest.raises(RuntimeError) as caught:
            model.fit(X, y)
        errors.append(caught.value)

    slow = threading.Thread(target=fail)
    slow.start()
    assert begun.wait(600)
    other = threading.Thread(target=lambda: model.fit(X, y))
    other.start()
    other.join(0.2)
    go_on.set()
    slow.join()
    other.join()
    assert len(errors) == 1
    assert model.coef_.shape == (1, 3)


def test_a_pass_without_a_look_at_its_input_waits_for_its_turn():
    """What it learns is not taken away by another pass that began before and fails after it."""
    X, y = problem(200, 3)
    begun, go_on = threading.Event(), threading.Event()

    class Slow:
        def __array__(self, dtype=None, copy=None):
            begun.set()
            assert go_on.wait(600)
            raise RuntimeError("no array")

    model = Perceptron().partial_fit(X, y, classes=np.unique(y))
    expected = clone(model).partial_fit(X, y, classes=np.unique(y)).partial_fit(X, y).coef_.tobytes()

    def fail():
        with pytest.raises(RuntimeError, match="no array"):
            model.partial_fit(Slow(), y)

    slow = threading.Thread(target=fail)
    slow.start()
    assert begun.wait(600)
    other = threading.Thread(target=lambda: model.partial_fit(X, y, check_input=False))
    other.start()
    other.join(0.2)
    go_on.set()
    slow.join()
    other.join()
    assert model.n_seen_[0] == 400
    assert model.coef_.tobytes() == expected


def test_a_callback_may_use_a_clone_of_its_estimator():
    X, y = problem(200, 3)
    model = Perceptron(
        callback=lambda record: clone(model).set_params(callback=None).fit(X, y), max_iter=2, tol=None
    )
    model.fit(X, y)
    assert model.coef_.shape == (1, 3)


@pytest.mark.parametrize(
    "module", ["sklearn", "sklearn.pipeline", "scipy.sparse", "numpy.ma", "numpy.random"]
)
def test_a_module_that_another_thread_is_importing(module, monkeypatch):
    """It is among the modules that are there, and does not have its names yet."""
    model = Perceptron(random_state=0).fit([[1.0], [-1.0]], [0, 1])
    monkeypatch.setitem(sys.modules, module, ModuleType(module))
    assert isinstance(model.save(), bytes)
    assert model.partial_fit([[1.0], [-1.0]], [0, 1]).predict([[1.0]]).tolist() == [0]
    with pytest.raises(ValueError, match="contains NaN"):
        model.predict(np.full((1, 1), np.nan))
    one = CsrArrays(np.ones(1), np.zeros(1, dtype=np.int64), np.arange(2), (1, 1))
    assert as_users_have(one) is one
