"""How many threads a call may use."""

from __future__ import annotations

import sys
from typing import Any

from perceptron_rs.arrays.scalars import number

_MOST_THREADS = 256


def n_threads(estimator: Any, tasks: int | None = None) -> int:
    """Return how many threads ``n_jobs`` and joblib's context allow, for so many tasks."""
    if tasks == 1 and estimator.n_jobs is None:
        return 1  # joblib is not asked: for a small batch that takes longer than learning
    return thread_count(estimator.n_jobs)


def check_n_jobs(n_jobs: object) -> None:
    """Raise unless this says how many threads to use."""
    if n_jobs is not None and number(n_jobs, whole=True) is None:
        raise TypeError(f"n_jobs must be a whole number or None, got {n_jobs!r:.80}")
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0; 1 is one thread, -1 one for each processor")


def thread_count(n_jobs: int | None) -> int:
    """Return how many threads ``n_jobs`` and joblib's context allow."""
    if n_jobs is None and "joblib" not in sys.modules:
        return 1  # nobody can have set a context
    check_n_jobs(n_jobs)
    from joblib import effective_n_jobs

    return min(max(1, int(effective_n_jobs(n_jobs))), _MOST_THREADS)
