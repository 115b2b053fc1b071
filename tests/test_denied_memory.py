"""Every request of the core for memory is refused once: a MemoryError, and the estimator is as it was.

But for small requests, as what has a constant size may end the process. Those of NumPy are granted: where it
is refused memory for its own work, it may end the process, too.
"""

import os
import subprocess
import sys
import textwrap

import pytest

SHIM = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <errno.h>
    #include <stdatomic.h>
    #include <stddef.h>
    #include <string.h>

    void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
    void *__libc_memalign(size_t, size_t);

    static _Atomic long left = -1;  /* requests until one is refused */

    long deny(long n) { return atomic_exchange(&left, n); }

    static int refused(size_t size, void *caller) {
        Dl_info from;
        if (size < 2048 || atomic_load(&left) < 0 || !dladdr(caller, &from)) return 0;
        if (!strstr(from.dli_fname, "/perceptron_rs/_core.") || atomic_fetch_sub(&left, 1) != 0) return 0;
        errno = ENOMEM;
        return 1;
    }

    #define REFUSED(size) refused(size, __builtin_return_address(0))

    void *malloc(size_t size) { return REFUSED(size) ? NULL : __libc_malloc(size); }
    void *calloc(size_t n, size_t size) { return REFUSED(n * size) ? NULL : __libc_calloc(n, size); }
    void *realloc(void *old, size_t size) { return REFUSED(size) ? NULL : __libc_realloc(old, size); }
    int posix_memalign(void **place, size_t to, size_t size) {
        if (REFUSED(size)) return ENOMEM;
        *place = __libc_memalign(to, size);
        return *place ? 0 : ENOMEM;
    }
"""

STEPS = """
    import copy, ctypes, itertools, pickle, sys, warnings
    import numpy as np
    import scipy.sparse as sp
    import perceptron_rs
    from perceptron_rs import *

    warnings.simplefilter("ignore")
    deny = ctypes.CDLL(None).deny
    deny.argtypes, deny.restype = [ctypes.c_long], ctypes.c_long

    random = np.random.default_rng(0)
    X, y = random.standard_normal((600, 400)), random.integers(0, 3, 600)
    X[random.random(X.shape) < 0.98] = 0
    rows = sp.csr_matrix(X)
    row, label, float32 = rows[5:6], y[5:6], np.ones(600, dtype=np.float32)
    few, halves = (rows[:9], y[:9]), [(rows[:300], y[:300]), (rows[300:], y[300:])]

    def bits(value):
        if isinstance(value, dict):
            # What a first reading fills is no part of what has been learnt.
            return {k: bits(v) for k, v in value.items() if k not in ("_average", "_settled_coef")}
        if isinstance(value, (list, tuple)):
            return [bits(part) for part in value]
        return value.tobytes() if isinstance(value, np.ndarray) else repr(value)

    def contents(model):
        return bits(model.__getstate__()), model.coef_.tobytes(), model.intercept_.tobytes()

    def held(model):
        model.held = model.coef_
        model.partial_fit(row, label, check_input=False)

    CALLS = {
        "fit": lambda model: model.fit(X, y),
        "warm fit": lambda model: model.set_params(warm_start=True).fit(rows, y),
        "wide fit": lambda model: model.fit(*few),
        "predict": lambda model: model.predict(X[:300]),
        "scores": lambda model: model.decision_function(rows),
        "coef_": lambda model: (model.coef_, model.intercept_),
        "pickle": lambda model: pickle.loads(pickle.dumps(model)).coef_,
        "copy": lambda model: copy.copy(model).coef_,
        "deepcopy": lambda model: copy.deepcopy(model).coef_,
    }
    PASSES = {
        "partial_fit": lambda model: model.partial_fit(X, y, sample_weight=float32),
        "unchecked": lambda model: model.partial_fit(rows, y, sample_weight=float32, check_input=False),
        "row": lambda model: model.partial_fit(row, label),
        "unchecked row": lambda model: model.partial_fit(row, label, check_input=False),
        "held": held,
        "stream": lambda model: model.fit_stream(halves),
        "scored": lambda model: model.predict_then_learn(rows, y),
    }

    STARTS = [eval(learner).set_params(max_iter=1, tol=None).fit(rows, y) for learner in sys.argv[1:]]
    for start, name in itertools.product(STARTS, CALLS | PASSES):
        call = (CALLS | PASSES)[name]
        if name in PASSES and not hasattr(start, "partial_fit"):
            continue
        print(start, name, end=" ", flush=True)
        def one():
            model = copy.deepcopy(start)
            model.set_params(warm_start=name == "warm fit")
            if hasattr(model, "partial_fit"):
                model.partial_fit(row, label, check_input=False)  # what is worked out once
            return model
        model = one()
        before = contents(model)
        answer = bits(call(model)), contents(model)
        for n in itertools.count():
            model = one()
            deny(n)
            try:
                found = call(model)
            except MemoryError:
                deny(-1)
                model.__dict__.pop("held", None)
                assert contents(model) == before, n
            else:
                over = deny(-1) >= 0
                assert over, (n, "goes on as if it had not been refused")
                assert (bits(found), contents(model)) == answer
                break
        print(n)
"""


@pytest.fixture(name="shim", scope="module")
def fixture_shim(tmp_path_factory):
    if sys.platform != "linux":
        pytest.skip("the C library of Linux names its own functions")
    folder = tmp_path_factory.mktemp("shim")
    (folder / "deny.c").write_text(textwrap.dedent(SHIM))
    command = ["cc", "-shared", "-fPIC", "-O1", "deny.c", "-o", "deny.so"]
    try:
        subprocess.run(command, check=True, capture_output=True, cwd=folder)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no compiler for the C library's functions: {error}")
    return folder / "deny.so"


@pytest.mark.parametrize(
    "learners",
    [  # in one process, which imports all that they need once
        (
            "Perceptron()",
            "Perceptron(penalty='l2')",
            "Perceptron(multi_class='joint', eta0=0.3)",
            "AveragedPerceptron()",
            "PocketPerceptron()",
        ),
        ("VotedPerceptron()",),
    ],
    ids=["linear", "voted"],
)
def test_every_large_request_is_refused_once(learners, shim):
    command = [sys.executable, "-c", textwrap.dedent(STEPS), *learners]
    env = os.environ | {"LD_PRELOAD": str(shim), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    refused = [line.split() for line in done.stdout.splitlines()]
    fits = [int(n) for *_, before, name, n in refused if name == "fit" and before not in ("warm", "wide")]
    assert len(fits) == len(learners), refused
    assert min(fits) > 5, refused
