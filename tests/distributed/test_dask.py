"""Fits on a Dask cluster within this process: the bits of a local fit with the same partitions."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import perceptron_rs
from perceptron_rs.distributed.errors import PartitionChangedError
from perceptron_rs.distributed.partition import encoded, learn, read
from tests.distributed.problems import P, Part, cuts, examples

dask = pytest.importorskip("dask", reason="the extra dask is not installed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
on_dask = pytest.importorskip("perceptron_rs.dask")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
FEW = {"max_iter": 4, "tol": None}
X, Y = examples()


@pytest.fixture(scope="module")
def client():
    with distributed.Client(
        processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as client:
        yield client


def same(model, local):
    for name in ("coef_", "intercept_", "mistakes_per_epoch_", "n_seen_", "classes_"):
        assert getattr(model, name).tobytes() == getattr(local, name).tobytes(), name
    return True


@pytest.mark.parametrize("partitions", [1, 2, 5, 8])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
def test_bits_of_the_local_fit(client, partitions, form):
    ends = cuts(partitions)
    lengths = tuple(np.diff(ends).tolist())
    local = perceptron_rs.AveragedPerceptron(n_partitions=lengths, **FEW).fit(X, Y)
    reference = perceptron_rs.AveragedPerceptron(n_partitions=lengths, engine="reference", **FEW).fit(X, Y)
    blocks = [form(X[a:b]) for a, b in itertools.pairwise(ends)]
    labels = [Y[a:b] for a, b in itertools.pairwise(ends)]
    model = on_dask.AveragedPerceptron(client=client, **FEW).fit(blocks, labels)
    assert same(model, local)
    assert same(model, reference)
    assert model.to_local().get_params() == local.get_params()
    assert same(model.to_local(), local)


@pytest.mark.parametrize(
    "options",
    [
        {"mixing": "mistakes", "class_weight": "balanced"},
        {"multi_class": "joint", "penalty": "l2"},
        {"tol": 1e-3, "max_iter": 50, "margin_threshold": 0.1},
    ],
    ids=str,
)
def test_options(client, options):
    weights = np.arange(len(Y)) % 3 / 2
    lazy = da.from_array(X, chunks=(100, 2)), da.from_array(Y, chunks=130)
    model = on_dask.Perceptron(client=client, **FEW | options).fit(*lazy, sample_weight=weights)
    local = model.to_local()
    assert same(model, clone(local).fit(X, Y, sample_weight=weights))
    assert local.n_partitions == (100, 100, 100, 100)


def test_uneven_and_empty_partitions_and_missing_classes(client):
    order = np.argsort(Y, kind="stable")
    lengths = (0, 10, 0, 390)
    ends = np.cumsum([0, *lengths])
    parts = [slice(a, b) for a, b in itertools.pairwise(ends)]
    model = on_dask.AveragedPerceptron(client=client, **FEW)
    weights = 1.0 + Y[order] % 2
    blocks = ([values[part] for part in parts] for values in (X[order], Y[order], weights))
    rows, labels, weighted = blocks
    model.fit(rows, labels, sample_weight=weighted)
    local = perceptron_rs.AveragedPerceptron(n_partitions=lengths, **FEW)
    assert same(model, local.fit(X[order], Y[order], sample_weight=weights))
    assert [report.rows for report in model.partition_report_] == [0, 10, 0, 390]


def test_data_frames_and_strings(client):
    frame = pd.DataFrame(X, columns=list("abcde"))
    names = pd.Series(np.array(["no", "so", "yes"])[Y])
    lazy = dd.from_pandas(frame, npartitions=3), dd.from_pandas(names, npartitions=3)
    model = on_dask.Perceptron(client=client, **FEW).fit(*lazy)
    local = clone(model.to_local()).fit(frame, names)
    assert model.coef_.tobytes() == local.coef_.tobytes()
    assert model.feature_names_in_.tolist() == list("abcde")
    predicted = model.predict(lazy[0]).compute()
    assert predicted.tolist() == local.predict(frame).tolist()
    assert model.score(*lazy) == local.score(frame, names)


def test_sources_and_promises(client):
    model = on_dask.Perceptron(client=client, **FEW).fit([Part(p) for p in range(P)])
    local = perceptron_rs.Perceptron(n_partitions=P, **FEW).fit(X, Y)
    assert same(model, local)
    promises = [dask.delayed(Part(p))() for p in range(P)]
    model.fit([part[0] for part in promises], [part[1] for part in promises])
    assert same(model, local)
    assert model.score([Part(p) for p in range(P)]) == local.score(X, Y)
    reports = model.partition_report_
    assert sum(report.mistakes for report in reports) == local.n_mistakes_
    assert [report.entries for report in reports] == [400] * P
    assert len({report.digest for report in reports}) == P


def test_answers_are_lazy_and_come_block_by_block(client):
    lazy = da.from_array(X, chunks=(150, 3))
    model = on_dask.AveragedPerceptron(client=client, **FEW).fit(lazy, Y)
    local = model.to_local()
    scores = model.decision_function(lazy)
    assert isinstance(scores, da.Array)
    assert scores.chunks == ((150, 150, 100), (3,))
    assert scores.compute().tobytes() == local.decision_function(X).tobytes()
    assert model.predict(lazy).compute().tolist() == model.predict(X).tolist()
    parts = model.predict([X[:7], X[7:]])
    assert np.concatenate(dask.compute(*parts)).tolist() == local.predict(X).tolist()
    assert model.score(lazy, Y) == local.score(X, Y) == model.score(X, Y)


def test_a_fit_goes_on_from_a_checkpoint(client, tmp_path):
    blocks, path = [Part(p) for p in range(P)], tmp_path / "checkpoint"
    options = {"client": client, "max_iter": 6, "tol": None}

    def fail(record):
        if record.epoch == 2:
            raise KeyboardInterrupt

    model = on_dask.AveragedPerceptron(callback=fail, **options)
    with pytest.raises(KeyboardInterrupt):
        model.fit(blocks, checkpoint=path)
    epochs = []
    model = on_dask.AveragedPerceptron(callback=lambda record: epochs.append(record.mistakes), **options)
    with pytest.raises(FileExistsError, match="set resume=True"):
        model.fit(blocks, checkpoint=path)
    model.fit(blocks, checkpoint=path, resume=True)
    assert same(model, perceptron_rs.AveragedPerceptron(n_partitions=P, max_iter=6, tol=None).fit(X, Y))
    assert sum(report.mistakes for report in model.partition_report_) == sum(epochs[3:])
    with pytest.raises(ValueError, match="is of a run with another partitions"):
        model.fit(blocks[:-1], checkpoint=path, resume=True)
    with pytest.raises(ValueError, match="resume=True needs checkpoint="):
        model.fit(blocks, resume=True)


def test_a_clone_keeps_the_client(client):
    model = on_dask.Perceptron(client=client, eta0=0.5)
    assert clone(model).client is client
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize(
    ("options", "arguments", "text"),
    [
        ({"n_partitions": 2}, (X, Y), "X must be a Dask array or dataframe, or a list of blocks"),
        ({"n_partitions": 2}, ([X], [Y]), "n_partitions=2 is not available on a cluster"),
        ({"early_stopping": True}, ([X], [Y]), "early_stopping=True is not available"),
        ({}, ([X, X], [Y]), "y must have as many blocks as X, 2, got 1"),
        ({}, ([X, X[:, 1:]], [Y, Y]), "partition 1 must have the columns of partition 0"),
        ({}, ([X, X], [Y, Y[1:]]), "partition 1: inconsistent numbers of samples"),
        ({}, ([X, X * np.nan], [Y, Y]), "NaN"),
        ({}, ([X, X], [Y * 0, Y * 0]), "number of classes has to be greater than one"),
        ({}, ([X, X], None), "y must be given"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_refused_leaves_the_estimator_alone(client, options, arguments, text):
    model = on_dask.Perceptron(client=client, **options)
    before = dict(vars(model))
    with pytest.raises((TypeError, ValueError), match=text):
        model.fit(*arguments)
    assert vars(model) == before


def test_other_rows_on_a_second_reading_are_noticed(tmp_path):
    part = Part(1, "changing", str(tmp_path / "flag"))
    first = encoded(read(1, part, None), np.arange(3))
    (tmp_path / "flag").touch()
    second = encoded(read(1, part, None), np.arange(3))
    with pytest.raises(PartitionChangedError, match="partition 1 was read again"):
        learn(second, {}, "rust", None, 0, (), first.digest)
