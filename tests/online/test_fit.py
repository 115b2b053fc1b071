"""Epochs: when a plane stops, that it is frozen then, weight 0, and overflow."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tests.support import of_core


@st.composite
def problems(draw):
    n, d, classes = draw(st.integers(2, 12)), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    values = st.integers(-3, 3)
    return {
        "X": np.array(draw(st.lists(st.lists(values, min_size=d, max_size=d), min_size=n, max_size=n))),
        "labels": draw(st.lists(st.integers(0, classes), min_size=n, max_size=n)),
        "positive": list(range(classes)),
        "seed": draw(st.none() | st.integers(0, 9)),
        "max_iter": draw(st.integers(1, 30)),
        "tol": draw(st.none() | st.sampled_from([0.0, 1e-3, 0.25, 1.0, -0.5])),
        "n_iter_no_change": draw(st.integers(1, 4)),
    }


def stop(mistakes, losses, max_iter, tol, n_iter_no_change):
    """Where a plane stops, from the story of a run that only stops on clean epochs."""
    best, idle = float("inf"), 0
    for epoch in range(max_iter):
        if mistakes[epoch] == 0:
            return epoch + 1, "clean"
        if tol is not None:
            idle = idle + 1 if losses[epoch] > best - tol else 0
            best = min(best, losses[epoch])
            if idle >= n_iter_no_change:
                return epoch + 1, "tol"
    return max_iter, "max_iter"


@given(problem=problems())
def test_each_plane_stops_on_its_own_and_is_frozen(trainer, problem):
    X, labels, positive = problem.pop("X").astype(np.float32), problem.pop("labels"), problem.pop("positive")
    rule = {name: problem[name] for name in ("max_iter", "tol", "n_iter_no_change")}
    report = trainer.fit(X, labels, positive=positive, track_mistakes=True, **problem)
    epochs = report["n_iter"].max()
    assert report["mistakes"].shape == report["losses"].shape == (epochs, len(positive))
    for k in positive:
        full = trainer.fit(X, labels, positive=[k], **problem | {"tol": None})
        story = full["mistakes"][:, 0].tolist(), full["losses"][:, 0].tolist()
        n_iter, reason = stop(*story, **rule)
        assert (report["n_iter"][k], report["stopped"][k]) == (n_iter, reason)
        assert report["mistakes"][:n_iter, k].tolist() == story[0][:n_iter]
        assert report["losses"][:n_iter, k].tolist() == story[1][:n_iter]
        assert not report["mistakes"][n_iter:, k].any()
        assert not report["losses"][n_iter:, k].any()
        assert report["state"]["seen"][k] == n_iter * len(X)
        alone = trainer.fit(
            X, labels, positive=[k], track_mistakes=True, **problem | {"max_iter": int(n_iter), "tol": None}
        )
        for name in report["state"]:
            assert report["state"][name][k].tobytes() == alone["state"][name][0].tobytes(), name
        assert np.array_equal(report["mistakes_per_example"][:, k], alone["mistakes_per_example"][:, 0])


def test_an_example_of_weight_0_is_not_there(trainer):
    rng = np.random.default_rng(0)
    X, labels = rng.integers(-3, 4, (30, 4)).astype(np.int8), rng.integers(0, 3, 30)
    weight = rng.integers(0, 3, 30).astype(float)
    arguments = {"positive": [0, 1, 2], "max_iter": 20, "seed": 4, "track_mistakes": True}
    report = trainer.fit(X, labels, sample_weight=weight, **arguments)
    kept = weight != 0
    without = trainer.fit(X[kept], labels[kept], sample_weight=weight[kept], **arguments)
    for name in report["state"]:
        assert report["state"][name].tobytes() == without["state"][name].tobytes(), name
    assert report["losses"].tobytes() == without["losses"].tobytes()
    assert not report["mistakes_per_example"][~kept].any()
    assert np.array_equal(report["mistakes_per_example"][kept], without["mistakes_per_example"])


def test_a_plane_skips_what_has_weight_0_for_it_alone(trainer):
    X = np.array([[1.0], [2.0], [-1.0], [3.0]])
    labels = [1, 0, 0, 1]
    report = trainer.fit(X, labels, positive=[1, 0], class_weight=[[0, 1], [1, 1]], max_iter=3)
    assert report["stopped"] == ["clean", "max_iter"]
    assert report["state"]["seen"].tolist() == [2 * 2, 3 * 4]
    alone = trainer.fit(X[[0, 3]], [1, 1], max_iter=3)
    assert alone["state"]["coef"][0].tolist() == report["state"]["coef"][0].tolist()


def test_the_order_is_drawn_over_what_some_plane_visits(trainer):
    """Equal to removing the rows by hand also where another plane has them."""
    rng = np.random.default_rng(1)
    X, labels = rng.standard_normal((20, 3)), rng.integers(0, 2, 20)
    weights = [[0, 1], [1, 1]]
    report = trainer.fit(X, labels, positive=[1, 0], class_weight=weights, max_iter=5, seed=1)
    w, b = trainer.start(3)["coef"], 0.0
    for i in trainer.engine.permutation(20, seed=1, epoch=0, partition=0):
        if labels[i] == 1 and not trainer.scores(X[i : i + 1], w, b)[0, 0] > 0:
            w, b = w + X[i], b + 1.0
    first = trainer.fit(X, labels, positive=[1, 0], class_weight=weights, max_iter=1, seed=1)
    assert first["state"]["coef"][0].tolist() == w[0].tolist()
    assert report["state"]["seen"][0] % (labels == 1).sum() == 0


def test_epochs_go_on_in_another_call(trainer):
    rng = np.random.default_rng(2)
    X, labels = rng.standard_normal((40, 5)), rng.integers(0, 3, 40)
    arguments = {"positive": [0, 1, 2], "seed": 7, "eta0": 0.1}
    whole = trainer.fit(X, labels, max_iter=6, **arguments)
    state = trainer.start(5, 3)
    for first_epoch in (0, 2, 4):
        state = trainer.fit(X, labels, max_iter=2, state=state, first_epoch=first_epoch, **arguments)["state"]
    for name in state:
        assert state[name].tobytes() == whole["state"][name].tobytes(), name
    again = trainer.fit(X, labels, max_iter=2, state=state, first_epoch=0, **arguments)["state"]
    later = trainer.fit(X, labels, max_iter=2, state=state, first_epoch=6, **arguments)["state"]
    assert again["coef"].tobytes() != later["coef"].tobytes(), "every epoch has the same order"


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_and_the_state_of_the_caller(trainer, threads):
    rng = np.random.default_rng(3)
    X, labels = rng.standard_normal((300, 6)), rng.integers(0, 4, 300)
    state = trainer.start(6, 4, coef=rng.standard_normal((4, 6)))
    before = {name: values.copy() for name, values in state.items()}
    arguments = {"positive": range(4), "max_iter": 3, "state": state}
    one = trainer.fit(X, labels, threads=1, **arguments)
    many = trainer.fit(X, labels, threads=threads, **arguments)
    for name in state:
        assert one["state"][name].tobytes() == many["state"][name].tobytes(), name
        assert state[name].tobytes() == before[name].tobytes(), name
        assert not np.shares_memory(one["state"][name], state[name])


@pytest.mark.parametrize("n", [1, 255, 256, 257, 1023, 1024, 1025, 3000])
def test_long_runs_without_mistakes(trainer, n):
    """Around the sizes of blocks: few mistakes, far apart."""
    X = np.ones((n, 3), dtype=np.uint8)
    labels = np.ones(n)
    labels[n // 2 :: 500] = 0
    report = trainer.fit(X, labels, track_mistakes=True)
    w, u, counts = 0, 0, [0] * n
    for i, label in enumerate(labels):
        y = 2 * int(label) - 1
        if y * 4 * w <= 0:  # three weights and the intercept are equal
            w, u, counts[i] = w + y, u + (i + 1) * y, 1
    assert report["state"]["coef"].tolist() == [[w] * 3]
    assert report["state"]["coef_u"].tolist() == [[u] * 3]
    assert report["state"]["intercept_u"].tolist() == [u]
    assert report["mistakes_per_example"].ravel().tolist() == counts


PAIR = np.ones((2, 1)), [1, 0]  # two mistakes in each epoch, weights 0, c, 0, c, ...


@pytest.mark.parametrize("first_epoch", [0, 5])
def test_overflow_names_the_epoch(trainer, first_epoch):
    """t * c leaves the finite range at t = 18, in the ninth epoch."""
    arguments = {"eta0": 1e307, "max_iter": 30, "first_epoch": first_epoch, "fit_intercept": False}
    plain = trainer.fit(*PAIR, learner="perceptron", **arguments)
    assert plain["n_iter"].tolist() == [30]
    with pytest.raises(OverflowError, match=f"overflowed in epoch {first_epoch + 8} .counted from 0.*eta0"):
        trainer.fit(*PAIR, **arguments)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("learner", "eta0", "epoch"), [("averaged", 1e307, 8), ("perceptron", 1e308, 0)])
def test_a_step_that_is_not_finite_on_a_row_of_zeros(trainer, learner, eta0, epoch, sparse):
    """inf * 0 is not a number in a dense row; a sparse one has no such product, but stops as well."""
    X = np.zeros((2, 3))
    arguments = {"learner": learner, "eta0": eta0, "max_iter": 30, "fit_intercept": False}
    weight = [1.0, 1.0] if learner == "averaged" else [10.0, 10.0]
    with pytest.raises(OverflowError, match=f"epoch {epoch} "):
        trainer.fit(sp.csr_matrix(X) if sparse else X, [1, 0], sample_weight=weight, **arguments)


def test_overflow_names_the_first_epoch_of_any_plane(trainer):
    for weights in itertools.permutations([[1, 1], [4, 4], [0.5, 0.5]]):
        arguments = {"positive": [1, 0, 1], "class_weight": weights, "eta0": 1e307}
        with pytest.raises(OverflowError, match="epoch 2 "):  # t = 5
            trainer.fit(*PAIR, max_iter=30, fit_intercept=False, **arguments)


OVERFLOWS = {  # rows, labels, start, learning rate
    "infinite activation": ([[1e200]], [1], {"coef": [1e200]}, 1.0),
    "infinite activation, right": ([[1e200]], [0], {"coef": [-1e200]}, 1.0),
    "inf - inf": ([[1e10, 1e10]], [1], {"coef": [1e308, -1e308]}, 1.0),
    "infinite weight": ([[1e308]], [0], {}, 2.0),
    "infinite intercept": ([[1.0]], [1], {"coef": [-1.7e308], "intercept": 1e308}, 1e308),
    "infinite after right examples": ([[1.0]] * 300 + [[1e200]], [1] * 301, {"coef": [1e200]}, 1.0),
    "nan": ([[0.0, np.nan]], [1], {"coef": [1.0, 0.0]}, 1.0),
    "inf": ([[np.inf]], [1], {"coef": [1.0]}, 1.0),
}


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("learner", ["perceptron", "averaged"])
@pytest.mark.parametrize("case", OVERFLOWS)
def test_what_is_not_finite(trainer, case, learner, sparse):
    X, labels, start, eta0 = OVERFLOWS[case]
    X = sp.csr_matrix(X) if sparse else np.array(X)
    state = trainer.start(X.shape[1], **start)
    with pytest.raises(OverflowError, match="epoch 0 "):
        trainer.fit(X, labels, learner=learner, state=state, eta0=eta0, tie="positive")


def test_the_average_must_be_finite_at_the_end(trainer):
    X, state = np.ones((1, 1)), trainer.start(1, coef=[1e308])
    report = trainer.fit(X, [1], state=state, learner="perceptron")
    assert report["stopped"] == ["clean"]
    with pytest.raises(OverflowError, match="epoch 3 "):
        trainer.fit(X, [1], state=state, first_epoch=3)


def test_rows_of_weight_0_are_not_looked_at(trainer):
    X = np.array([[np.nan], [1.0]])
    assert trainer.fit(X, [0, 1], sample_weight=[0, 1])["state"]["coef"].tolist() == [[1.0]]


BAD = {
    "labels": {"labels": [0, 1, 1]},
    "sample_weight": {"sample_weight": [1.0]},
    "learner": {"learner": "gamble"},
    "max_iter": {"max_iter": 0},
}


@pytest.mark.parametrize("name", BAD)
def test_arguments_that_do_not_fit(trainer, name):
    arguments = {"labels": [1, 0]} | BAD[name]
    with pytest.raises(ValueError, match=name.split(",")[0]):
        trainer.fit(np.ones((2, 3)), arguments.pop("labels"), **arguments)


@of_core
@pytest.mark.parametrize(
    "change",
    [
        {"class_weight": [[1.0, 1.0], [1.0, 1.0]]},
        {"class_weight": [[1.0]]},
        {"tie": "negative"},
    ],
    ids=str,
)
def test_settings_that_do_not_fit(trainer, change):
    with pytest.raises(ValueError, match=next(iter(change))):
        trainer.fit(np.ones((2, 3)), [1, 0], **change)


@pytest.mark.parametrize("name", ["coef", "intercept", "seen", "coef_u", "intercept_u"])
def test_states_that_do_not_fit(trainer, name):
    state = trainer.start(3)
    lacking = {key: values for key, values in state.items() if key != name}
    with pytest.raises((KeyError, ValueError), match=name):
        trainer.fit(np.ones((2, 3)), [1, 0], state=lacking)
    for other in (trainer.start(3, 2), trainer.start(4, 1)):
        if other[name].shape != state[name].shape:
            with pytest.raises(ValueError, match=r"coef|intercept|seen"):
                trainer.fit(np.ones((2, 3)), [1, 0], state=state | {name: other[name]})
