"""Clusters of processes on this machine whose workers are killed, and lead to the same bits all the same."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import perceptron_rs
from tests.distributed.problems import P, Part, cuts, die, die_once, examples

distributed = pytest.importorskip("distributed")
on_dask = pytest.importorskip("perceptron_rs.dask")

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]
X, Y = examples()
FEW = {"max_iter": 5, "tol": None}


@pytest.fixture(scope="module")
def expected():
    return perceptron_rs.AveragedPerceptron(n_partitions=P, **FEW).fit(X, Y)


@pytest.fixture
def client(request):
    workers, threads = getattr(request, "param", (2, 1))
    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=threads, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


class DieAt(distributed.WorkerPlugin):
    """Ends a worker when it begins a task, once, or always without a flag."""

    name = "die"

    def __init__(self, task, flag=None):
        self.task, self.flag = task, flag

    def setup(self, worker):
        pass

    def transition(self, key, start, finish, **_):
        if finish == "executing" and str(key).endswith(self.task):
            die() if self.flag is None else die_once(self.flag)


def sources(trouble="", at=(), flag=""):
    return [Part(p, trouble if p in at else "", str(flag)) for p in range(P)]


@pytest.mark.parametrize("client", [(1, 1), (2, 1), (3, 1), (1, 2)], indirect=True, ids=str)
def test_any_number_of_workers(client, expected):
    model = on_dask.AveragedPerceptron(client=client, **FEW).fit(sources())
    assert model.coef_.tobytes() == expected.coef_.tobytes()
    assert model.mistakes_per_epoch_.tobytes() == expected.mistakes_per_epoch_.tobytes()


@pytest.mark.parametrize("task", ["epoch-2-learn-3", "epoch-3-mix", "epoch-1-weights", "encoding-0"])
def test_a_worker_that_is_killed_within_a_task(client, expected, tmp_path, monkeypatch, task):
    if task.endswith(("mix", "weights")):
        monkeypatch.setattr("perceptron_rs.dask.cluster._SMALL", 0)  # as if weights were large
    client.register_plugin(DieAt(task, str(tmp_path / "flag")))
    model = on_dask.AveragedPerceptron(client=client, **FEW).fit(sources())
    assert (tmp_path / "flag").exists()
    assert model.coef_.tobytes() == expected.coef_.tobytes()


def test_a_worker_that_is_killed_when_weights_travel_by_what_has_changed(client, tmp_path, monkeypatch):
    monkeypatch.setattr("perceptron_rs.dask.cluster._SMALL", 0)
    wide = sp.random(60, 30_000, density=2e-4, format="csr", random_state=np.random.default_rng(2))
    client.register_plugin(DieAt("epoch-3-learn-1", str(tmp_path / "flag")))
    model = on_dask.AveragedPerceptron(client=client, **FEW)
    model.fit([wide[:25], wide[25:]], [Y[:25], Y[25:60]])
    assert (tmp_path / "flag").exists()
    local = model.to_local()
    assert model.coef_.tobytes() == local.fit(wide, Y[:60]).coef_.tobytes()


def test_a_worker_that_is_killed_while_it_reads(client, expected, tmp_path):
    model = on_dask.AveragedPerceptron(client=client, **FEW)
    model.fit(sources("once", [2], tmp_path / "flag"))
    assert (tmp_path / "flag").exists()
    assert model.coef_.tobytes() == expected.coef_.tobytes()


def test_workers_that_are_killed_and_added_from_outside(client, expected):
    processes = list(client.run(os.getpid).values())

    def between_epochs(record):
        if record.epoch == 1:
            os.kill(processes[0], signal.SIGKILL)
        if record.epoch == 2:
            client.cluster.scale(3)
        if record.epoch == 3:
            client.cluster.scale(1)

    model = on_dask.AveragedPerceptron(client=client, callback=between_epochs, **FEW).fit(sources())
    assert model.coef_.tobytes() == expected.coef_.tobytes()


@pytest.mark.parametrize("where", ["read", "learn"])
def test_a_partition_that_ends_each_worker(client, where):
    model = on_dask.AveragedPerceptron(client=client, **FEW)
    if where == "learn":
        client.register_plugin(DieAt("learn-1"))
    with pytest.raises(on_dask.PartitionError, match="partition 1 ended each worker") as caught:
        model.fit(sources("always" if where == "read" else "", [1]))
    assert caught.value.partition == 1
    assert not hasattr(model, "classes_")


def test_a_source_that_changes(client, tmp_path):
    client.register_plugin(DieAt("epoch-2-learn-3", str(tmp_path / "flag")))
    model = on_dask.AveragedPerceptron(client=client, **FEW)
    with pytest.raises(on_dask.PartitionChangedError, match="was read again"):
        model.fit(sources("changing", range(P), tmp_path / "flag"))


def test_scattered_blocks_that_were_lost(client):
    workers = list(client.scheduler_info()["workers"])
    ends = cuts()
    parts = [slice(a, b) for a, b in itertools.pairwise(ends)]
    blocks = [client.scatter(X[part], workers=[workers[p % 2]]) for p, part in enumerate(parts)]
    os.kill(client.run(os.getpid)[workers[0]], signal.SIGKILL)
    with pytest.raises(ValueError, match="lost with their worker"):
        on_dask.Perceptron(client=client, **FEW).fit(blocks, [Y[part] for part in parts])


KILLED = """
import os, signal, sys
from distributed import Client
from perceptron_rs.dask import AveragedPerceptron
from tests.distributed.problems import P, Part

def die(record):
    if record.epoch == 2:
        os.kill(os.getpid(), signal.SIGKILL)

client = Client(sys.argv[1])
model = AveragedPerceptron(client=client, callback=die, max_iter=5, tol=None)
model.fit([Part(p) for p in range(P)], checkpoint=sys.argv[2])
"""


def test_a_client_that_is_killed(client, expected, tmp_path):
    path = tmp_path / "checkpoint"
    arguments = [sys.executable, "-c", KILLED, client.scheduler.address, str(path)]
    ended = subprocess.run(arguments, cwd=Path(__file__).parents[2], check=False)
    assert ended.returncode == -signal.SIGKILL
    model = on_dask.AveragedPerceptron(client=client, **FEW)
    model.fit(sources(), checkpoint=path, resume=True)
    assert model.coef_.tobytes() == expected.coef_.tobytes()
    assert (
        sum(report.mistakes for report in model.partition_report_) == expected.mistakes_per_epoch_[3:].sum()
    )


@pytest.mark.parametrize("columns", [20_000, 100_000], ids=["the client mixes", "a worker mixes"])
def test_weights_larger_than_a_message(client, columns):
    rng = np.random.default_rng(1)
    wide = rng.standard_normal((12, columns)).astype(np.float32)
    y = np.arange(12) % 2
    model = on_dask.Perceptron(client=client, **FEW).fit([wide[:5], wide[5:]], [y[:5], y[5:]])
    local = perceptron_rs.Perceptron(n_partitions=(5, 7), **FEW).fit(wide, y)
    assert model.coef_.tobytes() == local.coef_.tobytes()
