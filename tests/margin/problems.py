"""Problems for the tests of margins, and the calls of an engine with defaults."""

import numpy as np

from tests.support import rows_of


def planted(n, d, margin, seed=0):
    """Normal rows, pushed away from a random plane to that margin."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=d)
    w /= np.sqrt((w * w).sum())
    X = rng.normal(size=(n, d))
    a = X @ w
    y = a > 0
    X += np.outer(np.where(y, 1.0, -1.0) * np.maximum(0.0, margin - np.abs(a)), w)
    return X, y


def separate(engine, X, y, **changes):
    arguments = {
        "bias": "free",
        "tol": 1e-8,
        "max_steps": 100_000,
        "solver": "wolfe",
        "goal": "margin",
        "threads": 1,
    } | changes
    return engine.separate(rows_of(engine, X), np.asarray(y, dtype=np.uint32), **arguments)


def gap(solution):
    return (solution["upper"] - solution["lower"]) / solution["upper"]


def bits(solution):
    """Everything that two engines must agree on, to the last bit."""
    arrays = {name: value.tobytes() for name, value in solution.items() if isinstance(value, np.ndarray)}
    floats = {name: value.hex() for name, value in solution.items() if isinstance(value, float)}
    others = {name: solution[name] for name in ("status", "proof", "solver", "work")}
    return arrays | floats | others
