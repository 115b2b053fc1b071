"""Floating-point modes that somebody else has left on, and short ways to run an engine in them."""

from __future__ import annotations

import platform
from contextlib import contextmanager

import numpy as np
import scipy.sparse as sp

from perceptron_rs import _core
from perceptron_rs.settings import Budget, Chain, Kernel, KernelSpec, Sequences
from perceptron_rs.training.driver import Schedule, follow
from tests.support import learn, run_of

STANDARD = _core._STANDARD_FLOAT_CONTROL
MODES = {
    "x86_64": {
        "flush to zero": STANDARD | 0x8000,
        "denormals are zero": STANDARD | 0x0040,
        "round up": STANDARD | 0x4000,
        "round down": STANDARD | 0x2000,
        "toward zero, both flushes": STANDARD | 0xE040,
    },
    "aarch64": {
        "flush to zero": STANDARD | 1 << 24,
        "round up": STANDARD | 1 << 22,
        "round down": STANDARD | 2 << 22,
    },
}.get({"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine()), {})
MODES["standard"] = STANDARD
STATUS_FLAGS = 0x3F  # of x86: what was rounded or overflowed since they were cleared


RBF = KernelSpec("rbf", gamma=0.3)


@contextmanager
def mode(control):
    previous = _core._swap_float_control(control)
    try:
        yield
    finally:
        _core._swap_float_control(previous)


def made(tiny):
    """Sums that are rounded and denormal numbers; whole numbers but for one that is denormal."""
    random = np.random.default_rng(0)
    X = random.standard_normal((40, 9)) * 10.0 ** random.integers(-5, 5, (40, 9))
    X[:20] *= tiny
    whole = sp.random(40, 9, density=0.5, format="csr", random_state=1)
    whole.data = np.ceil(whole.data * 9)
    whole.data[7] = 1e-310
    return X, whole, whole.toarray(), random.integers(0, 2, 40)


#: Made when this module is imported, and not in a mode that a test sets.
TINY, WHOLE, DENSE, LABELS = made(1e-308)
SMALL = made(1e-160)[0]
GRAM = SMALL @ SMALL.T


def flat(values):
    """Give the bytes of all numbers, by the way to each."""
    if isinstance(values, dict):
        return {(name, *rest): b for name in values for rest, b in flat(values[name]).items()}
    if isinstance(values, (tuple, list)):
        return flat(dict(enumerate(values)))
    return {(): np.asarray(values).tobytes()}


def kernel_run(trainer, X, labels, **changes):
    state = {name: np.zeros(1) for name in ("intercept", "norm")}
    state |= {"sums": np.zeros((1, len(labels))), "seen": np.zeros(1, dtype=np.int64)}
    arguments = {"cache_bytes": 1 << 20, "eta0": 0.1, "seed": 3, "max_iter": 4} | changes
    return learn(trainer.engine, Kernel, trainer.rows(X), labels, state, **arguments)


def budget_run(trainer, X, labels, on_epoch=None):
    rows, m = trainer.rows(X), len(labels)
    whole = np.zeros(0, dtype=np.int64)
    state = {
        "seen": np.zeros(1, dtype=np.int64),
        "kept_start": np.zeros(2, dtype=np.int64),
        "kept_row": whole,
        "kept_number": whole,
        "kept_step": np.zeros((0, 1)),
        "kept_mistakes": np.zeros(1, dtype=np.int64),
        "kept_harm": np.zeros(1),
        "kept_factor": np.zeros(0),
    }
    terms = {"kernel": RBF, "budget": m // 4, "policy": "forgetron", "policy_seed": 0, "distance": 0.0}
    return learn(
        trainer.engine,
        Budget,
        rows,
        labels,
        state,
        stored_rows=rows,
        eta0=0.1,
        max_iter=4,
        on_epoch=on_epoch,
        **terms,
    )


def chain_start(d, labels, *, pair=False):
    """Return weights and sums of 0."""
    state = {"seen": np.zeros(1, dtype=np.int64)}
    for suffix in ("", "_u"):
        state |= {f"{name}{suffix}": np.zeros(labels) for name in ("start", "end")}
        state[f"transition{suffix}"] = np.zeros((labels, labels))
        for name in ("emission", "pair") if pair else ("emission",):
            state[f"{name}_indptr{suffix}"] = np.zeros(d + 1, dtype=np.int64)
            state[f"{name}_indices{suffix}"] = np.zeros(0, dtype=np.int32)
            state[f"{name}_data{suffix}"] = np.zeros(0)
    return state


def chain_run(trainer, X, labels, *, pair=False, on_epoch=None, held_out=None):
    y, lengths = np.array(labels, dtype=np.uint32), np.array([9, 1, 20, 10])
    settings = Chain(eta0=0.1, seed=2)
    state = chain_start(X.shape[1], 2, pair=pair)
    run = run_of(trainer.engine, Sequences(trainer.rows(X), y, lengths=lengths), state, settings)
    report = follow(run, settings, Schedule(max_iter=4), on_epoch, held_out)
    return {name: getattr(report, name) for name in report.__slots__}
