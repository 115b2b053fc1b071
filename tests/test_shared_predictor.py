"""The contract of one predictor in many threads and processes: what each call gives alone."""

from __future__ import annotations

import os
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from perceptron_rs import AveragedPerceptron, KernelPerceptron, VotedPerceptron, load_predictor

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 8))
Y = np.argmax(X[:, :3] + rng.normal(size=(300, 3)), axis=1)
MODELS = [
    AveragedPerceptron(max_iter=3, tol=None),
    VotedPerceptron(max_iter=2, tol=None, prediction="average"),
    KernelPerceptron("rbf", max_iter=2, tol=None),
]


def answers(predictor):
    return [predictor.predict(X).tobytes(), predictor.predict_proba(X).tobytes(), pickle.dumps(predictor)]


@pytest.fixture(params=MODELS, ids=str)
def predictor(request):
    return load_predictor(request.param.fit(X[::2], Y[::2]).calibrate(X[1::2], Y[1::2]).save())


def test_many_threads_get_what_each_gets_alone(predictor):
    expected = answers(load_predictor_of(predictor))
    with ThreadPoolExecutor(6) as pool:
        for found in pool.map(lambda _: answers(predictor), range(24)):
            assert found[:2] == expected[:2]
            again = pickle.loads(found[2])
            assert again.predict_proba(X).tobytes() == expected[1]


def load_predictor_of(predictor):
    """Return another one, which has answered nothing yet."""
    return pickle.loads(pickle.dumps(predictor))


@pytest.mark.skipif(sys.platform != "linux", reason="forking is safe, and a default, on Linux alone")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_while_other_threads_predict_has_a_predictor_that_answers(predictor):
    expected, is_over = answers(predictor)[:2], threading.Event()

    def work():
        while not is_over.is_set():
            predictor.predict_proba(X)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                os._exit(0 if answers(predictor)[:2] == expected else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
