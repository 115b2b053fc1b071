"""Where integers must give way to floats, where numbers leave the finite range, and shapes that are none."""

import numpy as np
import pytest

from perceptron_rs import _core, reference
from perceptron_rs.settings import Chain, Sequences
from tests.support import run_of

from .support import average, begin, decode, fit, rows_of, same, start, to_engine

ROOM = 2**30  # for the sums of a search, in integers of 32 bits


def weighing(d, labels, weight, **changes):
    """All weights for label 0 are the same, those for the others are 0."""
    state = start(d, labels, **changes)
    state["emission"][:, 0] = state["start"][0] = state["end"][0] = state["transition"][0, 0] = weight
    return state


@pytest.mark.parametrize(
    ("x", "length", "weight"),
    [
        # The score of the path of zeros: `length` times (x + 1) and one more, times the weight.
        (1, 6, ROOM // 2 - 100),
        (1, 6, ROOM // 4 - 100),
        (40, 40, ROOM // 83 - 100),
        (1, 1, ROOM),
    ],
)
def test_no_sum_of_a_search_leaves_the_integers(x, length, weight):
    score = length * x * weight + (length + 1) * weight
    assert score >= 2**31
    X, y = np.full((length, 1), x, dtype=np.int8), [0] * length
    for engine in (reference, _core):
        found = fit(engine, X, y, [length], weighing(1, 2, weight), max_iter=1)
        assert found["sequence_errors"].tolist() == [0]
    weights = {name: w for name, w in weighing(1, 2, weight).items() if name[-2:] != "_u" and name != "seen"}
    assert decode(_core, X, [length], weights)[1].tolist() == [score]


def test_no_update_of_a_sequence_leaves_the_integers():
    X, y, eta0 = np.full((40, 1), 100, dtype=np.int8), [1] * 40, 2.0**20
    for engine in (reference, _core):
        found = fit(engine, X, y, [40], start(1, 2), max_iter=1, eta0=eta0)["state"]
        assert found["emission"].tolist() == [[-4000 * eta0, 4000 * eta0]]
        assert found["transition"].tolist() == [[-39 * eta0, 0], [0, 39 * eta0]]


@pytest.mark.parametrize("weight", [0.5, float(ROOM)])
def test_weights_that_no_integer_of_the_search_holds(weight):
    signs = np.array([1.0, -1.0])
    state = start(1, 2)
    state |= {"emission": weight * signs[None], "start": weight * signs, "end": weight * signs}
    state["transition"] = weight * np.outer(signs, signs)
    X, y = np.ones((4, 1), dtype=np.int8), [1, 0, 1, 1]
    found = [fit(engine, X, y, [4], state, max_iter=2) for engine in (reference, _core)]
    assert found[0]["sequence_errors"][0] == 1
    same(*found)


@pytest.mark.parametrize("name", ["start", "emission"])
def test_averages_that_overflow_end_the_run(engine, name):
    # The average is w - u / (T + 1) = 1.5e308 + 0.5e308.
    state = start(1, 2)
    state[name].flat[0], state[f"{name}_u"].flat[0], state["seen"][0] = 1.5e308, -1.5e308, 1
    with pytest.raises(OverflowError):
        fit(engine, np.zeros((1, 1)), [0], [1], state, max_iter=1)


def test_a_right_answer_needs_no_step(engine):
    # At the eleventh sequence t times eta0 is infinite; nothing is learnt with it.
    state = start(1, 2)
    state["seen"][0] = 10
    found = fit(engine, np.ones((1, 1)), [0], [1], state, max_iter=1, eta0=1e308)
    assert found["sequence_errors"].tolist() == [0]
    with pytest.raises(OverflowError):
        fit(engine, np.ones((1, 1)), [1], [1], state, max_iter=1, eta0=1e308)


def test_the_first_token_follows_none(engine):
    weights = {"emission": np.zeros((1, 2)), "pair": np.full((1, 4), 1e308)}
    weights |= {"transition": np.zeros((2, 2)), "start": np.zeros(2), "end": np.array([0.0, 1.0])}
    path, scores = decode(engine, np.array([[1e10], [0.0]]), [2], weights)
    assert (path.tolist(), scores.tolist()) == ([0, 1], [1.0])
    with pytest.raises(OverflowError):
        decode(engine, np.array([[0.0], [1e10]]), [2], weights)


def test_sums_of_other_labels_are_refused(engine):
    weights, sums = to_engine(start(3, 2)), to_engine(start(3, 4))
    state = {name: (sums if name.endswith("_u") else weights)[name] for name in weights}
    data = Sequences(rows_of(engine, np.ones((2, 3))), np.zeros(2, dtype=np.uint32), lengths=np.array([2]))
    with pytest.raises(ValueError, match="sums must have the shapes of the weights"):
        run_of(engine, data, state, Chain(eta0=1.0))


def test_averages_without_columns():
    state = start(0, 2)
    state["start"][:], state["start_u"][:], state["seen"][0] = [2.0, -2.0], [3.0, -3.0], 2
    means = [average(engine, state) for engine in (reference, _core)]
    same(*means)
    assert means[0]["start"].tolist() == [1.0, -1.0]


@pytest.mark.parametrize("sequence", [0, 1, 69])
def test_the_sequence_whose_score_overflows_is_named(engine, sequence):
    X = np.zeros((70, 1))
    X[sequence] = 1e10
    weights = {"emission": np.full((1, 2), 1e308), "transition": np.zeros((2, 2))}
    with pytest.raises(OverflowError, match=f"a score of sequence {sequence} is not finite"):
        decode(engine, X, [1] * 70, weights | {"start": np.zeros(2), "end": np.zeros(2)})


@pytest.mark.parametrize(
    ("x", "name", "value", "changes"),
    [
        ([1e10], "emission", [[0, 1e308]], {"allowed": [[True, False]]}),
        ([1, 1], "emission", [[1e308, 0]], {}),
        ([1, 1], "emission", [[1e308, 0]], {"beam": 1}),
        ([0, 1e10], "pair", [[0, 1e308, 0, 1e308]], {"allowed": [[True, True], [True, False]]}),
        (
            [0, 1e10],
            "pair",
            [[0, 1e308, 0, 1e308]],
            {"allowed": [[True, True], [True, False]], "forbidden": [[False, False], [True, False]]},
        ),
        ([0, -1e10], "pair", [[0, 1e308, 0, 0]], {}),
    ],
)
def test_no_number_of_a_search_may_overflow(engine, x, name, value, changes):
    weights = {"emission": np.zeros((1, 2)), "transition": np.zeros((2, 2))}
    weights |= {"start": np.zeros(2), "end": np.zeros(2), name: np.array(value, dtype=np.float64)}
    masks = {key: given if key == "beam" else np.array(given) for key, given in changes.items()}
    X = np.array(x, dtype=np.float64)[:, np.newaxis]
    assert decode(engine, 0 * X, [len(X)], weights, **masks)[1].tolist() == [0.0]
    with pytest.raises(OverflowError, match="a score of sequence 0 is not finite"):
        decode(engine, X, [len(X)], weights, **masks)


@pytest.mark.parametrize(
    ("x", "eta0", "seen", "name"),
    [
        (10.0, 1e308, 0, None),  # the weight of the column alone
        (10.0, 1e307, 9, None),  # its sum alone
        (0.0, 1e308, 0, "start"),
        (0.0, 1e308, 0, "start_u"),
    ],
)
def test_no_weight_or_sum_may_overflow(engine, x, eta0, seen, name):
    state = start(1, 2)
    state["seen"][0] = seen
    if name is not None:
        state[name][:] = [1e308, 1e308]
    run, _ = begin(engine, np.array([[x]]), [1], [1], state, eta0=eta0)
    with pytest.raises(OverflowError):
        run.epoch(0)


@pytest.mark.parametrize("update", ["full", "early", "max_violation"])
def test_a_transition_that_is_no_number_ends_the_run(engine, update):
    # Of the truth alone: the beam reaches its second label from the other one, too.
    state = start(1, 2)
    state["start"][0], state["transition"][0, 1] = 1.0, np.nan
    with pytest.raises(OverflowError):
        fit(engine, np.zeros((2, 1)), [0, 1], [2], state, max_iter=1, beam=2, update=update)


def test_a_beam_of_no_label_is_refused(engine):
    weights = {"emission": np.zeros((1, 2)), "transition": np.zeros((2, 2))}
    with pytest.raises(ValueError, match="beam must be at least 1, got 0"):
        decode(engine, np.zeros((1, 1)), [1], weights | {"start": np.zeros(2), "end": np.zeros(2)}, beam=0)


def test_weights_that_are_ready_are_for_their_columns():
    weights = {"emission": np.zeros((2, 2)), "transition": np.zeros((2, 2)), "start": np.zeros(2)}
    ready = _core.sequence_weights(to_engine(weights | {"end": np.zeros(2)}))
    rows = rows_of(_core, np.zeros((1, 3)))
    with pytest.raises(ValueError, match="rows must have 2 columns, as the weights, got 3"):
        _core.sequence_decode(rows, np.array([1]), weights=ready, threads=1)
    with pytest.raises(ValueError, match="end must hold a weight for each of 2 labels, got 1"):
        _core.sequence_weights(to_engine(weights | {"end": np.zeros(1)}))
