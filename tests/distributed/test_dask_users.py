"""What users of Dask write: frames of Parquet files, other calls than fit, classes of their own."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import pytest

import perceptron_rs

dask = pytest.importorskip("dask", reason="the extra dask is not installed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
on_dask = pytest.importorskip("perceptron_rs.dask")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
FEW = {"max_iter": 2, "tol": None}
LEARNERS = ["Perceptron", "AveragedPerceptron", "SequencePerceptron"]
X = np.random.default_rng(0).normal(size=(160, 40))
NAMES = [f"x{j}" for j in range(40)]
FRAME = pd.DataFrame(X, columns=NAMES).assign(label=np.where(X[:, 0] > 0, "p", "n"), w=1.0 + X[:, 1] ** 2)
LAZY = da.from_array(X, chunks=(40, 40)), da.from_array(np.arange(160) % 2, chunks=40)


def test_no_client_is_said_with_the_remedy(monkeypatch):
    def none():
        raise ValueError("No clients found")

    monkeypatch.setattr(on_dask.estimators, "default_client", none)
    with pytest.raises(
        ValueError, match=r"client is None, and no client .*; make one by distributed.Client\(\)"
    ):
        on_dask.Perceptron(**FEW).fit(*LAZY)


@pytest.fixture(scope="module")
def client():
    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0"
    ) as client:
        yield client


@pytest.fixture(params=["arrow", "fsspec"])
def frame(request, tmp_path):
    """A frame of eight Parquet files, of which Dask would read several at once for a column alone."""
    for part in range(8):
        FRAME[part * 20 : part * 20 + 20].to_parquet(tmp_path / f"{part}.parquet", index=False)
    return dd.read_parquet(tmp_path, filesystem=request.param)


def test_columns_of_a_frame_of_parquet_files(client, frame):
    whole = frame.compute()  # Dask may take the files in another order
    y, weights = whole["label"], whole["w"]
    model = on_dask.AveragedPerceptron(client=client, **FEW)
    model.fit(frame[NAMES], frame["label"], sample_weight=frame["w"])
    local = model.to_local()
    assert local.n_partitions == (20,) * 8
    assert model.coef_.tobytes() == local.fit(whole[NAMES], y, sample_weight=weights).coef_.tobytes()
    assert model.predict(frame[NAMES]).compute().tolist() == local.predict(whole[NAMES]).tolist()
    assert model.score(frame[NAMES], frame["label"]) == local.score(whole[NAMES], y)
    two = frame[["x0", "x1"]] * 2
    assert (
        on_dask.Perceptron(client=client, **FEW).fit(two, frame["label"]).to_local().n_partitions == (20,) * 8
    )


@pytest.mark.parametrize("learner", LEARNERS)
def test_calls_that_would_gather_what_lies_on_the_cluster_say_what_to_call(learner):
    model, (blocks, labels) = getattr(on_dask, learner)(), LAZY
    for name in ("partial_fit", "predict_then_learn"):
        for given in ((blocks, labels), (X, labels), (blocks.to_delayed().ravel().tolist(), labels)):
            with pytest.raises(TypeError, match=f"{name} takes examples in memory, and these lie on a clust"):
                getattr(model, name)(*given)
    for source in (LAZY, [LAZY]):
        with pytest.raises(
            TypeError, match="fit_stream takes examples in memory, and these lie on a cluster"
        ):
            model.fit_stream(source)


def test_no_method_that_takes_examples_is_left_out():
    for learner in LEARNERS:
        kind = getattr(on_dask, learner)
        for name, method in inspect.getmembers(kind, inspect.isfunction):
            if not name.startswith("_") and inspect.signature(method).parameters.keys() & {"X", "source"}:
                assert method is not getattr(getattr(perceptron_rs, learner), name), name


def test_passes_over_examples_in_memory_are_made_as_ever():
    model = on_dask.Perceptron().partial_fit(X, X[:, 0] > 0, classes=[False, True])
    expected = perceptron_rs.Perceptron().partial_fit(X, X[:, 0] > 0, classes=[False, True])
    assert model.coef_.tobytes() == expected.coef_.tobytes()


class Extra:
    """What somebody mixes in."""


class InFront(Extra, on_dask.Perceptron):
    """A class of a user."""


def test_a_class_with_something_mixed_in(client):
    model = InFront(client=client, **FEW)
    assert type(model.to_local()) is perceptron_rs.Perceptron
    assert model.get_params().keys() == on_dask.Perceptron().get_params().keys()
    expected = on_dask.Perceptron(client=client, **FEW).fit(*LAZY)
    assert model.fit(*LAZY).coef_.tobytes() == expected.coef_.tobytes()


@pytest.mark.parametrize("learner", LEARNERS)
def test_signatures_name_all_parameters(learner):
    parameters = inspect.signature(getattr(on_dask, learner)).parameters
    local = inspect.signature(getattr(perceptron_rs, learner)).parameters
    assert parameters.keys() == {"client", *local}
    assert all(parameters[name].default == local[name].default for name in local)
    assert repr(getattr(on_dask, learner)(eta0=2.0)) == f"{learner}(eta0=2.0)"  # others are at their defaults
