"""Fits to sparse rows with far fewer entries than columns learn what fits to the same dense rows learn."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs import PocketPerceptron, SequencePerceptron, VotedPerceptron

N, D = 30, 900
SHOWN = ("coef_", "intercept_", "last_coef_", "last_intercept_", "pocket_errors_", "pocket_run_", "swaps_")
SHOWN += ("n_seen_", "n_vectors_", "support_", "survival_", "mistakes_per_epoch_", "validation_scores_")
SHOWN += ("transition_", "start_", "end_", "token_errors_per_epoch_")


def rows(seed: int) -> tuple[sp.csr_matrix, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = sp.random(N, D, density=0.01, format="csr", random_state=rng, dtype=np.float32)
    return X, rng.integers(0, 4, N)


def shown(model: Any, X: Any, **options: Any) -> list[Any]:
    found = [getattr(model, name, None) for name in SHOWN] + [model.predict(X, **options)]
    if hasattr(model, "decision_function"):
        found.append(model.decision_function(X))
    arrays = [np.concatenate(value) if isinstance(value, list) else np.asarray(value) for value in found]
    return [(array.dtype, array.shape, array.tobytes()) for array in arrays]


MODELS: dict[str, Callable[..., Any]] = {
    "pocket": PocketPerceptron,
    "ratchet": lambda **options: PocketPerceptron(check="ratchet", average=False, n_jobs=2, **options),
    "voted": VotedPerceptron,
    "average": lambda **options: VotedPerceptron(prediction="average", max_vectors=3, **options),
    "sequence": SequencePerceptron,
    "pairs": lambda **options: SequencePerceptron(transition_features=True, averaged=False, **options),
}


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_sparse_rows_teach_what_dense_rows_teach(name: str, early: bool) -> None:
    (X, y), (other, labels) = rows(0), rows(1)
    lengths = {"lengths": [12, 10, 8]} if name in ("sequence", "pairs") else {}
    stopping = {"early_stopping": early, "validation_fraction": 0.4 if lengths else 0.2}
    start = (
        {} if lengths else {"coef_init": np.linspace(-1, 1, 4 * D).reshape(4, D) * (np.arange(D) % 9 == 4)}
    )
    found = []
    for form in (sp.csr_matrix, lambda X: X.toarray()):
        model = MODELS[name](max_iter=6, warm_start=True, random_state=3, **stopping)
        model.fit(form(X), y, **lengths)
        told = shown(model, form(X), **lengths)
        for again in (copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))):
            model = again(model)
            model.fit(form(other), labels, **lengths)
            told += shown(model, form(X), **lengths)
        if hasattr(model, "partial_fit") and not early:
            model.partial_fit(form(X[:5]), y[:5], **({"lengths": [5]} if lengths else {}))
            told += shown(model, form(X), **lengths)
        model.fit(form(X), y, **lengths, **start)
        told += shown(model, form(other), **lengths)
        found.append(told)
    assert found[0] == found[1]


@pytest.mark.parametrize("name", MODELS)
def test_what_a_warm_fit_begins_with_stays_as_it_was(name: str) -> None:
    X, y = rows(2)
    lengths = {"lengths": [N]} if name in ("sequence", "pairs") else {}
    model = MODELS[name](max_iter=6, warm_start=True)
    model.fit(X, y, **lengths)
    held, twin = model.coef_, copy.copy(model)
    before = held.tobytes()
    model.fit(*rows(3), **lengths)
    assert held.tobytes() == before
    assert twin.coef_.tobytes() == before
    assert model.coef_.tobytes() != before
