"""Nothing that a caller can do ends the process or escapes as a panic, which ``except Exception`` misses."""

import contextlib
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs import Perceptron, updates_until_right
from perceptron_rs.engines import get_engine
from perceptron_rs.linear.passes import rule_now
from perceptron_rs.settings import Linear
from tests.support import learn

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="limits and overcommit as on Linux")


HEAD = """
    import os
    import resource
    import sys
    import warnings
    from pathlib import Path
    import numpy as np
    import scipy.sparse as sp
    from perceptron_rs import Perceptron

    def limit(extra):
        now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + extra, now + extra))

    def attempt(call):
        try:
            print(call(), flush=True)
        except Exception as error:
            print(type(error).__name__, flush=True)
"""


def run(*scripts):
    """Run each in a process of its own, which an abort would end; return what they printed."""
    code = textwrap.dedent(HEAD)
    for script in scripts:  # each in a copy of the process that has imported all
        code += "if (child := os.fork()) == 0:\n" + textwrap.indent(textwrap.dedent(script), "    ")
        code += "\n    os._exit(0)\n"
        code += "if status := os.waitpid(child, 0)[1]:\n    sys.exit(os.waitstatus_to_exitcode(status))\n"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


@LINUX
def test_what_is_too_large_for_memory():
    counts = """
        n = 1 << 20  # as many classes as rows: 8 TiB of counts
        X, y = np.zeros((n, 1), dtype=np.uint8), np.arange(n)
        warnings.simplefilter("ignore")  # so many classes
        model = Perceptron(track_mistakes=True, max_iter=1, tol=None)
        attempt(lambda: model.fit(X, y))
        attempt(lambda: sorted(vars(model)) == sorted(vars(Perceptron())))
    """
    scores = """
        model = Perceptron().partial_fit([[1.0], [2.0]], [0, 1], classes=np.arange(1 << 20))
        X = np.zeros((1 << 28, 1), dtype=np.uint8)  # 2 PiB of scores
        attempt(lambda: model.decision_function(X))
    """
    weights = """
        d = 50_000_000
        X = sp.csr_matrix((np.ones(2), np.array([0, d - 1]), np.array([0, 1, 2])), shape=(2, d))
        model = Perceptron(max_iter=1, tol=None)
        limit(300 << 20)  # zeros take no memory, but 400 MB of addresses
        attempt(lambda: model.fit(X, [0, 1]))
    """
    assert run(counts, scores, weights) == ["MemoryError", "True", "MemoryError", "MemoryError"]


@LINUX
def test_threads_that_cannot_start():
    """The work is then done by those that can."""
    scripts = [
        f"""
        rng = np.random.default_rng(0)
        X, y = rng.standard_normal(({rows}, 8)), np.arange({rows}) % 40
        model = Perceptron(max_iter=2, tol=None)
        expected = model.fit(X, y).coef_.tobytes(), model.decision_function(X[:2000]).tobytes()
        limit({megabytes} << 20)
        model.n_jobs = 200
        attempt(lambda: model.fit(X, y).coef_.tobytes() == expected[0])
        attempt(lambda: model.decision_function(X[:2000]).tobytes() == expected[1])
        """
        for rows, megabytes in ((1000, 12), (100_000, 200))
    ]
    assert run(*scripts) == ["True"] * 4


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("part", ["indices", "indptr"])
def test_arrays_changed_by_another_thread_during_a_fit(part, threads, classes):
    """Any numbers may come out, or an error; the estimator is then as before."""
    X = sp.random(20_000, 50, density=0.2, format="csr", random_state=0)
    y = np.random.default_rng(0).integers(0, classes, 20_000)

    def change():
        getattr(X, part)[1000:2000] = 10**8

    other = threading.Thread(target=change)
    begin = {0: other.start}
    model = Perceptron(max_iter=1000, tol=None, n_jobs=threads)
    model.callback = lambda record: begin.get(record.epoch, bool)()
    before = dict(vars(model))
    caught = None
    try:
        model.fit(X, y)
    except Exception as error:
        caught = error
    other.join()
    assert caught is None or (isinstance(caught, (ValueError, RuntimeError)) and vars(model) == before)


@pytest.mark.parametrize("call", ["fit", "scores"])
@pytest.mark.parametrize(
    ("part", "value"), [("indices", 10**9), ("indices", -5), ("indptr", 7), ("indptr", -1)]
)
def test_arrays_changed_after_they_were_checked(engine, call, part, value):
    arrays = {"indptr": np.array([0, 1, 2], dtype=np.int32), "indices": np.array([0, 1], dtype=np.int32)}
    rows = engine.csr_rows(arrays["indptr"], arrays["indices"], np.ones(2), 2)
    arrays[part][1] = value
    with contextlib.suppress(ValueError, IndexError, RuntimeError):
        if call == "scores":
            engine.scores(rows, np.ones((1, 2)), np.zeros(1), threads=1)
        else:
            fit(engine, rows)


def fit(engine, rows, state=None, **changes):
    n, d = rows.shape
    if state is None:
        state = {"coef": np.zeros((1, d)), "intercept": np.zeros(1), "seen": np.zeros(1, dtype=np.int64)}
    arguments = {"learner": "perceptron", "eta0": 1.0, "max_iter": 2} | changes
    return learn(engine, Linear, rows, np.arange(n, dtype=np.uint32) % 2, state, **arguments)


def state(coef, planes):
    return {"coef": np.zeros(coef), "intercept": np.zeros(planes), "seen": np.zeros(planes, dtype=np.int64)}


def test_both_engines_refuse_the_same_shapes(engine):
    rows = engine.dense_rows(np.ones((6, 4)))
    three = {"positive": np.arange(3, dtype=np.uint32), "class_weight": np.ones((3, 2))}
    for coef, planes, named in (((4, 3), 4, "coef"), ((3, 3), 3, "coef"), ((3, 4), 4, "intercept")):
        with pytest.raises(ValueError, match=f"^{named} must have"):
            fit(engine, rows, state=state(coef, planes), **three)
    # The core asks first whether a state agrees with itself, the reference whether it fits the rows.
    named = "intercept" if engine is get_engine("rust") else "coef"
    with pytest.raises(ValueError, match=f"^{named} must have"):
        fit(engine, rows, state=state((4, 3), 3), **three)
    with pytest.raises(ValueError, match="coef"):
        engine.scores(rows, np.ones((4, 3)), np.zeros(3), threads=1)
    with pytest.raises(ValueError, match="intercept"):
        engine.scores(rows, np.ones((3, 4)), np.zeros(4), threads=1)


def test_the_core_refuses_a_learner_without_planes():
    core = get_engine("rust")
    none = {"positive": np.zeros(0, dtype=np.uint32), "class_weight": np.ones((0, 2))}
    with pytest.raises(ValueError, match="positive"):
        fit(core, core.dense_rows(np.ones((6, 4))), state=state((0, 4), 0), **none)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_the_largest_whole_steps_do_not_wrap(form):
    """A weight of 2^30 that moves by 2^30 once more."""
    X, y = np.ones((3, 1)), [1, 1, 0]
    for step in (2.0**30, 2.0**29, 2.0**31):
        model = Perceptron(eta0=step, max_iter=1, tol=None, shuffle=False)
        model.fit(form(X), y, coef_init=[[0.0]], intercept_init=-(2.0**40))
        assert model.coef_[0, 0] == 2 * step


def test_a_huge_count_is_exact():
    w = [-(2.0**80)]
    assert (
        updates_until_right([1.0], 1, w) == updates_until_right([1.0], 1, w, engine="reference") == 2**80 + 1
    )


@pytest.mark.parametrize("name", ["rust", "reference"])
def test_rows_without_columns(name):
    engine = get_engine(name)
    for rows in (engine.dense_rows(np.zeros((5, 0))), engine.dense_rows(np.zeros((5, 0), dtype=np.uint8))):
        assert fit(engine, rows)["mistakes"].tolist() == [[5], [4]]


@pytest.mark.parametrize("at", [1, 4094, 4095, 4096, 4097, 8191, 8192, 9998])
def test_one_wrong_entry_in_a_long_row(engine, at):
    """Wherever it is: the checks of the core go over the entries in chunks."""
    n = 10_000
    plain = np.arange(n, dtype=np.int32)
    changes = {"equal": (at, at - 1), "falls": (at, 0), "too large": (at, n), "negative": (at, -1)}
    for name, (position, value) in changes.items():
        indices = plain.copy()
        indices[position] = value
        for indptr in ([0, n], [0, 0, position - 1, n], [0, position + 1, n, n]):
            arrays = np.array(indptr, dtype=np.int32), indices, np.ones(n, dtype=np.int8)
            if name in ("too large", "negative"):
                with pytest.raises(ValueError, match="indices"):
                    engine.csr_rows(*arrays, n)
            else:
                assert not engine.csr_rows(*arrays, n).canonical, (name, indptr)
        # At the first entry of a row a column may be anything.
        split = np.array([0, position, n], dtype=np.int32)
        if name in ("equal", "falls"):
            assert engine.csr_rows(split, indices, np.ones(n), n).canonical, name
    values = np.ones(n)
    values[at] = 2
    rows = [engine.csr_rows(np.array([0, n], dtype=np.int32), plain, v, n) for v in (np.ones(n), values)]
    sums = [fit(engine, row, state=state((1, n), 1))["state"]["coef"].sum() for row in rows]
    assert sums == [-n, -n - 1]


class Asked(np.ndarray):
    """Tells who asks for its length."""

    asked: list[str] = []  # noqa: RUF012  of all of them

    def __len__(self):
        self.asked.append("length")
        return super().__len__()


class Number:
    """Is no number, but can be asked for one."""

    def __index__(self):
        Asked.asked.append("number")
        return 1000


def test_nobody_is_asked_while_a_short_pass_reads_the_weights():
    """Whoever is asked could free them: this did end the process."""
    X = sp.csr_array(([1.0], [7], [0, 1]), shape=(1, 1000))
    model = Perceptron().partial_fit(X, [1], classes=[0, 1])
    label = np.ones(1, dtype=np.int64)
    model.partial_fit(X, label, check_input=False)
    X.data = X.data.view(Asked)
    Asked.asked.clear()
    model.partial_fit(X, label, check_input=False)
    assert Asked.asked == []
    assert model.n_seen_ == 3
    with pytest.raises(TypeError):
        model._model.learn(rule_now(model), (X.indptr, X.indices, X.data, Number()), label)
    assert Asked.asked == []


@pytest.mark.parametrize("check_input", [True, False])
def test_a_sparse_vector_is_refused_as_scikit_learn_does(check_input):
    vector = sp.csr_array(np.array([1.0, 0.0, 2.0]))
    if vector.ndim == 2:
        pytest.skip("this version of SciPy has no sparse vectors")
    with pytest.raises(ValueError, match="2D"):
        Perceptron().partial_fit(vector, [1], classes=[0, 1], check_input=check_input)
