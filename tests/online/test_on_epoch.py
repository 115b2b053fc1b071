"""What is told after each epoch, who may end a run, and what an interrupted run keeps."""

import numpy as np
import pytest

CLASSES = 4


@pytest.fixture(params=["dense float64", "dense uint8", "fractions"])
def problem(request):
    """Rows that take the exact path, and rows that do not; the labels are drawn: nothing converges."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 4, (60, 9)).astype(np.uint8 if request.param == "dense uint8" else np.float64)
    if request.param == "fractions":
        X /= 3
    return {
        "X": X,
        "labels": rng.integers(0, CLASSES, 60),
        "positive": list(range(CLASSES)),
        "seed": 3,
        "max_iter": 6,
        "track_mistakes": True,
    }


def same(a, b):
    assert a.keys() == b.keys()
    for name in a:
        assert a[name].tobytes() == b[name].tobytes(), name


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("with_state", [False, True])
def test_it_sees_every_epoch_and_changes_no_bit(trainer, problem, threads, with_state):
    seen = []

    def on_epoch(*record):
        seen.append(record)

    quiet = trainer.fit(**problem, first_epoch=7, threads=threads)
    report = trainer.fit(**problem, first_epoch=7, threads=threads, on_epoch=on_epoch, with_state=with_state)
    same(report["state"], quiet["state"])
    assert report["mistakes_per_example"].tolist() == quiet["mistakes_per_example"].tolist()
    assert [record[0] for record in seen] == list(range(7, 13))
    assert np.array([record[1] for record in seen]).tolist() == quiet["mistakes"].tolist()
    assert np.array([record[2] for record in seen]).tobytes() == quiet["losses"].tobytes()
    for epochs, (*_, state) in enumerate(seen, start=1):
        if with_state:
            same(state, trainer.fit(**problem | {"max_iter": epochs}, first_epoch=7)["state"])
        else:
            assert state is None


@pytest.mark.parametrize("with_state", [False, True])
def test_it_ends_the_run(trainer, problem, with_state):
    report = trainer.fit(**problem, on_epoch=lambda epoch, *_: epoch == 2, with_state=with_state)
    same(report["state"], trainer.fit(**problem | {"max_iter": 3})["state"])
    assert report["stopped"] == ["callback"] * CLASSES
    assert report["n_iter"].tolist() == [3] * CLASSES


@pytest.mark.parametrize("with_state", [False, True])
def test_it_ends_single_planes(trainer, problem, with_state):
    ends = [4, 0, 9, 2]
    report = trainer.fit(
        **problem,
        on_epoch=lambda epoch, *_: np.array([epoch >= end for end in ends]),
        with_state=with_state,
        threads=2,
    )
    assert report["n_iter"].tolist() == [5, 1, 6, 3]
    assert report["stopped"] == ["callback", "callback", "max_iter", "callback"]
    for k, epochs in enumerate(report["n_iter"]):
        alone = trainer.fit(**problem | {"max_iter": int(epochs)})["state"]
        same({name: v[k] for name, v in report["state"].items()}, {name: v[k] for name, v in alone.items()})


class FromCallbackError(Exception):
    pass


@pytest.mark.parametrize("keep", [False, True])
def test_what_it_raises_is_raised(trainer, problem, keep):
    def on_epoch(epoch, *_):
        raise FromCallbackError(epoch)

    with pytest.raises(FromCallbackError, match="0"):
        trainer.fit(**problem, on_epoch=on_epoch, keep_on_interrupt=keep)
