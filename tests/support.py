"""A short way to learn with an engine: what its runs are given, in one call."""

from __future__ import annotations

import array
import dataclasses
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs.engines import Engine, Rows, Run, State
from perceptron_rs.settings import Data, Linear, Sequences, Settings
from perceptron_rs.training.driver import Schedule, follow

#: What the core alone refuses: estimators have checked their parameters, and the reference trusts them.
of_core = pytest.mark.parametrize("engine_name", ["rust"], scope="session")

SCHEDULE = ("first_epoch", "max_iter", "tol", "n_iter_no_change")


#: The instruction set that every machine of this kind has.
BASELINE = "neon" if platform.machine() in ("aarch64", "arm64", "ARM64") else "portable"

#: What `describe` is joined by for a text: facts of a file.
OF_FILE = {
    "format": "safetensors",
    "bytes": 0,
    "digest": "",
    "written_by": "",
    "format_version": 0,
    "arithmetic_version": 0,
    "calls": None,
    "digests": None,
    "starts_from_weights": False,
}


def rows_of(engine: Engine, X: Any) -> Rows:
    """Return the rows of a matrix as an engine has them."""
    if sp.issparse(X):
        return engine.csr_rows(X.indptr, X.indices, X.data, X.shape[1])
    return engine.dense_rows(np.ascontiguousarray(X))


def settled(engine: Engine, state: State, eta0: float, penalty: tuple[float, float]) -> Any:
    """Return the weights of a state with all pending penalties applied."""
    K = len(state["coef"])
    state = {"intercept": np.zeros(K), "seen": np.zeros(K, dtype=np.int64)} | state
    return engine.Model.from_state("perceptron", state | {"strengths": np.array([eta0, *penalty])})["coef"]


def averages(engine: Engine, state: State) -> tuple[Any, Any]:
    """Return the averaged weights and intercepts of a state."""
    names = ("coef", "intercept", "seen", "coef_u", "intercept_u")
    model = engine.Model.from_state("averaged", {name: state[name] for name in names})
    return model.coef, model.intercept


def bits(value: Any) -> Any:
    """Return what equals only the like of the value: of arrays the type, the shape and the bytes."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tolist() if value.dtype == object else value.tobytes()
    if dataclasses.is_dataclass(value):
        return {field.name: bits(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {name: bits(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [bits(part) for part in value]
    return type(value), repr(value)


def contents(model: Any) -> dict[str, Any]:
    """Return all that a model holds, for a look whether it has changed."""
    held = model.__getstate__()
    held |= {f"_model.{name}": array for name, array in held.pop("_model", {}).items()}
    return {
        name: (value.dtype, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else repr(value)
        for name, value in held.items()
    }


class Shown:
    """A run whose state is shown as arrays: under a penalty, also of weights of which nothing is pending."""

    def __init__(self, run: Run, penalty: Any) -> None:
        self._run, self._penalty = run, penalty

    def __getattr__(self, name: str) -> Any:
        return getattr(self._run, name)

    def state(self) -> State:
        """Return the arrays of what has been learnt so far."""
        state: State = self._run.state().state()
        state.pop("strengths", None)
        if self._penalty is not None and "ages" not in state:
            state["ages"] = np.zeros(state["coef"].shape, dtype=np.int64)
        return state


def run_of(engine: Engine, data: Data | Sequences, state: State, settings: Settings) -> Shown:
    """Begin a run with arrays; those of a state under a penalty have the strengths of the settings."""
    penalty = getattr(settings, "penalty", None)
    if penalty is not None and "ages" in state:
        state = state | {"strengths": np.array([settings.eta0, *penalty])}
    return Shown(engine.start(data, engine.Model.from_state(settings.learner, state), settings), penalty)


@contextmanager
def runs_in(model: Any) -> Iterator[None]:
    """Have a linear learner make its passes in runs: somebody is told of their epochs."""
    before, model.callback = model.callback, lambda record: None
    try:
        yield
    finally:
        model.callback = before


def learn(
    engine: Engine,
    kind: type[Linear],
    rows: Rows,
    labels: Any,
    state: State,
    *,
    sample_weight: Any = None,
    stored_rows: Rows | None = None,
    on_epoch: Callable[..., Any] | None = None,
    with_state: bool = False,
    **given: Any,
) -> dict[str, Any]:
    """Drive a run with settings of this kind; return the report as a dict.

    ``on_epoch`` sees the number of the epoch, mistakes, losses, and the state ``with_state`` (else None).
    """
    if sample_weight is not None:
        sample_weight = np.array(sample_weight, dtype=np.float64)
    given["positive"] = np.array(given.get("positive", [1]), dtype=np.uint32)
    given["class_weight"] = np.array(
        given.get("class_weight", np.ones((len(given["positive"]), 2))), dtype=np.float64
    )
    schedule = Schedule(**{name: given.pop(name) for name in SCHEDULE if name in given})
    data = Data(rows, np.array(labels, dtype=np.uint32), sample_weight, stored_rows)

    def watch(number: int, mistakes: Any, losses: Any, run: Run) -> Any:
        ends = on_epoch(number, mistakes, losses, run.state() if with_state else None)
        return False if ends is None else ends

    settings = kind(**given)
    report = follow(run_of(engine, data, state, settings), settings, schedule, watch if on_epoch else None)
    recorded = {name: report.tracked.get(name) for name in ("mistakes_per_example", "activations")}
    return recorded | {name: getattr(report, name) for name in report.__slots__ if name != "tracked"}


@contextmanager
def files_of_at_most(n_bytes: int) -> Iterator[None]:
    """Let the system refuse to write more to a file, as a full disk does."""
    resource = pytest.importorskip("resource", reason="Windows has no limit for files")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def wait_until_read(pipe: Any) -> None:
    """Wait until the other end of a pipe has read all that was written to it."""
    import fcntl
    import termios

    unread = array.array("i", [1])
    while unread[0]:
        fcntl.ioctl(pipe, termios.FIONREAD, unread)
