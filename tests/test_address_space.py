"""A fit that the system denies memory ends in a MemoryError: the estimator as before, the process alive."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import perceptron_rs

STEPS = """
    import os, resource, sys, traceback
    from pathlib import Path
    import numpy as np
    import scipy.sparse as sp
    from perceptron_rs import BudgetedKernelPerceptron, KernelPerceptron, Perceptron, SequencePerceptron
    from perceptron_rs import PocketPerceptron, VotedPerceptron
    from perceptron_rs.state.fitted_attributes import flat

    random = np.random.default_rng(0)

    def voted():  # nobody learns this: the log grows and grows
        X, y = random.standard_normal((20_000, 3)), random.integers(0, 2, 20_000)
        return VotedPerceptron(max_iter=40, tol=None), X, y, {}

    def order():
        X, y = np.ones((2_000_000, 1), dtype=np.int8), np.arange(2_000_000) % 2
        return Perceptron(max_iter=1, tol=None, shuffle=True), X, y, {}

    def classes(learner=Perceptron):
        X = sp.random(1000, 5000, density=0.01, format="csr", random_state=0)
        return learner(max_iter=1, tol=None), X, np.arange(1000) % 250, {}

    def pocket():
        return classes(PocketPerceptron)

    def kernel():
        X, y = random.standard_normal((2000, 20)), random.integers(0, 3, 2000)
        return KernelPerceptron(kernel="rbf", max_iter=1, tol=None), X, y, {}

    def budget():
        X, y = random.standard_normal((1200, 20)), random.integers(0, 3, 1200)
        options = {"budget": 150, "budget_policy": "projectron"}
        return BudgetedKernelPerceptron(max_iter=1, tol=None, **options), X, y, {}

    def sequence():
        X, y = (random.random((3000, 1000)) < 0.1).astype(np.uint8), random.integers(0, 200, 3000)
        return SequencePerceptron(max_iter=1), X, y, {"lengths": np.full(30, 100)}

    def size():
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()

    def bits(value):
        if hasattr(value, "state"):  # the model of the engine
            return {name: bits(array) for name, array in value.state().items()}
        return value.tobytes() if isinstance(value, np.ndarray) else repr(value)

    def contents(model):
        return {name: bits(value) for name, value in flat(model).items()}

    def attempt(learner):
        model, X, y, more = learner()
        few = {"lengths": more["lengths"][:3]} if more else {}
        model.fit(X[:300], y[:300], **few)  # what is loaded once is there
        before, denied = contents(model), 0
        for step in range(30):
            resource.setrlimit(resource.RLIMIT_AS, (size() + int(2**15 * 1.5**step), resource.RLIM_INFINITY))
            try:
                model.fit(X, y, **more)
            except MemoryError:
                resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
                denied += 1
                assert contents(model) == before, f"changed at step {step}"
            else:
                resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
                break
        print(learner.__name__, denied, contents(model) != before, flush=True)

    for learner in (voted, order, classes, pocket, kernel, budget, sequence):
        child = os.fork()  # of what is imported once
        if child == 0:
            try:
                attempt(learner)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        if status := os.waitpid(child, 0)[1]:
            sys.exit(f"{learner.__name__}: {os.waitstatus_to_exitcode(status)}")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of the address space are enforced on Linux")
def test_a_fit_in_too_little_memory():
    command = [sys.executable, "-c", textwrap.dedent(STEPS)]
    environment = {"OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
    environment["PYTHONPATH"] = str(Path(perceptron_rs.__file__).parents[1])  # the same package
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert len(lines) == 7
    for learner, denied, learnt in lines:
        assert int(denied) > 3, f"{learner}: the fit needs too little for the limits to matter"
        assert learnt == "True", learner


MASK = """
    import resource
    from pathlib import Path
    import numpy as np
    from perceptron_rs import _core

    n, labels = 2_000_000, 32
    X = np.zeros((n, 1), dtype=np.uint8)
    allowed = np.ones((n, labels), dtype=bool)
    numbers = {"start": np.zeros(labels), "end": np.zeros(labels), "transition": np.zeros((labels, labels))}
    indptr, indices = np.zeros(2, dtype=np.int64), np.zeros(0, dtype=np.int32)
    weights = numbers | {"emission_indptr": indptr, "emission_indices": indices, "emission_data": np.zeros(0)}

    def decode(count):
        rows, options = _core.dense_rows(X[:count]), {"weights": weights, "threads": 1}
        return _core.sequence_decode(rows, np.array([count]), allowed=allowed[:count], **options)

    decode(3)  # what is loaded once is there
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + n * labels // 2, resource.RLIM_INFINITY))
    try:
        decode(n)
    except MemoryError:
        print("denied")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of the address space are enforced on Linux")
def test_a_mask_in_too_little_memory():
    """It is copied before anything else that is as large."""
    command = [sys.executable, "-c", textwrap.dedent(MASK)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "denied"), done.stderr
