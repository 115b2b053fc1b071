"""The multilayer perceptron of the engines: against plain Python, finite differences, and each other."""

import math

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tests.support import of_core, rows_of, run_of

from perceptron_rs import _core, reference
from perceptron_rs.reference.order import splitmix64, state_of_epoch
from perceptron_rs.settings import Data, Network
from perceptron_rs.training.driver import Schedule, follow

ACTIVATIONS = ["logistic", "relu", "tanh"]
DEFAULTS = {"activation": "tanh", "rate": 0.1, "alpha": 0.0, "batch_size": 1, "seed": None}
SCHEDULE = ("first_epoch", "max_iter", "tol", "n_iter_no_change")


def fit(engine, X, labels, layers, weights=None, **changes):
    schedule = {name: changes.pop(name) for name in SCHEDULE if name in changes}
    weights = None if weights is None else np.array(weights, dtype=np.float64)
    data = Data(rows_of(engine, X), np.array(labels, dtype=np.uint32), weights)
    settings = DEFAULTS | changes
    settings = Network(**settings)
    run = run_of(engine, data, layers, settings)
    report = follow(run, settings, Schedule(**schedule, until_clean=False))
    return {
        "state": report.state,
        "losses": report.losses[:, 0],
        "mistakes": report.mistakes[:, 0],
        "stopped": report.stopped[0],
    }


def split(state):
    """Return copies of the weights and of the intercepts, layer by layer."""
    layers = range(len(state) // 2)
    return [[state[f"{name}_{i}"].copy() for i in layers] for name in ("coef", "intercept")]


def problem(n, d, classes, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.integers(0, classes, n)


def outputs(classes):
    return 1 if classes == 2 else classes


def frozen(report):
    coefs, intercepts = split(report["state"])
    arrays = [*coefs, *intercepts, report["losses"], report["mistakes"]]
    return [array.tobytes() for array in arrays], report["stopped"]


# Plain Python, one number after the other, with mpmath's functions: no code of the engines.


def plain_function(activation, z):
    if activation == "relu":
        return max(z, 0.0), float(z > 0)
    h = float(mpmath.tanh(z)) if activation == "tanh" else float(1 / (1 + mpmath.exp(-z)))
    return h, (1 - h * h if activation == "tanh" else h * (1 - h))


def plain_loss_and_gradient(x, label, coefs, intercepts, activation):
    """Loss of one example, and its derivatives by the chain rule over all paths."""
    h, slopes = [list(x)], []
    for layer, (W, b) in enumerate(zip(coefs, intercepts, strict=True)):
        z = [float(np.longdouble(w).dot(np.longdouble(h[-1]))) + c for w, c in zip(W, b, strict=True)]
        if layer < len(coefs) - 1:
            both = [plain_function(activation, value) for value in z]
            h.append([value for value, _ in both])
            slopes.append([slope for _, slope in both])
    if len(z) == 1:
        p = [float(1 / (1 + mpmath.exp(-z[0])))]
        loss = -math.log(p[0] if label else 1 - p[0])
        delta = [p[0] - label]
    else:
        e = [mpmath.exp(value) for value in z]
        p = [float(value / sum(e)) for value in e]
        loss = -math.log(p[label])
        delta = [p[k] - (k == label) for k in range(len(z))]
    gradients = []
    for layer in reversed(range(len(coefs))):
        gradients.append((np.outer(delta, h[layer]), np.array(delta)))
        if layer:
            back = [
                sum(delta[k] * coefs[layer][k][j] for k in range(len(delta))) for j in range(len(h[layer]))
            ]
            delta = [value * slope for value, slope in zip(back, slopes[layer - 1], strict=True)]
    return loss, gradients[::-1]


@pytest.mark.parametrize(("alpha", "weights"), [(0.0, None), (0.3, [1, 0, 2.5, 0.25, 3, 0, 1])])
@pytest.mark.parametrize("batch_size", [1, 3, 100])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_an_epoch_is_that_of_plain_python(engine, activation, classes, batch_size, alpha, weights):
    X, labels = problem(7, 5, classes)
    layers = engine.mlp_start(5, [4, 3], outputs(classes), activation=activation, seed=1)
    report = fit(
        engine,
        X,
        labels,
        layers,
        weights,
        activation=activation,
        batch_size=batch_size,
        alpha=alpha,
        max_iter=2,
    )
    coefs, intercepts = split(layers)
    weights = np.ones(7) if weights is None else np.array(weights)
    visited = np.flatnonzero(weights)
    means = []
    for _ in range(2):
        losses = []
        for begin in range(0, len(visited), batch_size):
            batch = visited[begin : begin + batch_size]
            found = [plain_loss_and_gradient(X[i], labels[i], coefs, intercepts, activation) for i in batch]
            losses += [weights[i] * loss for i, (loss, _) in zip(batch, found, strict=True)]
            for layer in range(3):
                step = [
                    sum(weights[i] * found[k][1][layer][part] for k, i in enumerate(batch)) / len(batch)
                    for part in (0, 1)
                ]
                coefs[layer] -= 0.1 * (step[0] + alpha * coefs[layer] / len(batch))
                intercepts[layer] -= 0.1 * step[1]
        means.append(sum(losses) / sum(weights))
    learnt_coefs, learnt_intercepts = split(report["state"])
    for learnt, expected in zip([*learnt_coefs, *learnt_intercepts], [*coefs, *intercepts], strict=True):
        np.testing.assert_allclose(learnt, expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(report["losses"], means, rtol=1e-13)
    assert report["stopped"] == "max_iter"


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_gradients_agree_with_finite_differences(engine, activation, classes):
    """A step of a batch of everything is minus the rate times the derivative of the mean loss."""
    X, labels = problem(6, 3, classes, seed=5)
    layers = engine.mlp_start(3, [5, 4], outputs(classes), activation=activation, seed=2)

    def loss(layers):
        return fit(engine, X, labels, layers, activation=activation, batch_size=6)["losses"][0]

    report = fit(engine, X, labels, layers, activation=activation, batch_size=6, rate=1.0)
    for name, begin in layers.items():
        for index in np.ndindex(begin.shape):
            moved = []
            for h in (1e-5, -1e-5):
                changed = begin.copy()
                changed[index] += h
                moved.append(loss(layers | {name: changed}))
            slope = (moved[0] - moved[1]) / 2e-5
            assert begin[index] - report["state"][name][index] == pytest.approx(slope, abs=1e-8)


@given(
    n=st.integers(1, 12), d=st.integers(1, 20), hidden=st.lists(st.integers(1, 18), max_size=3),
    classes=st.integers(2, 5), activation=st.sampled_from(ACTIVATIONS), batch_size=st.integers(1, 15),
    alpha=st.sampled_from([0.0, 0.01, 30.0]), seed=st.none() | st.integers(0, 2**64 - 1),
    scale=st.sampled_from([1.0, 1e-3, 50.0]),
)  # fmt: skip
def test_both_engines_give_the_same_bits(n, d, hidden, classes, activation, batch_size, alpha, seed, scale):
    X, labels = problem(n, d, classes)
    X = np.where(X < -0.5, 0.0, X * scale)
    answers = []
    for engine, data in (
        (reference, X),
        (_core, X),
        (reference, sp.csr_matrix(X)),
        (_core, sp.csr_matrix(X)),
    ):
        layers = engine.mlp_start(d, hidden, outputs(classes), activation=activation, seed=seed or 3)
        changes = {"activation": activation, "batch_size": batch_size, "alpha": alpha, "seed": seed}
        report = fit(engine, data, labels, layers, max_iter=3, tol=1e-2, n_iter_no_change=1, **changes)
        scores = [
            engine.mlp_scores(
                rows_of(engine, data), report["state"], activation=activation, probabilities=p, threads=2
            ).tobytes()
            for p in (False, True)
        ]
        answers.append((frozen(report), scores))
    assert answers[1:] == answers[:1] * 3


def test_scores_on_threads(engine):
    X = np.random.default_rng(0).normal(size=(40, 40_000))  # some rows a thread
    layers = engine.mlp_start(X.shape[1], [2], 3, activation="tanh", seed=0)
    scores = [
        engine.mlp_scores(rows_of(engine, part), layers, activation="tanh", probabilities=True, threads=n)
        for part, n in ((X, 1), (X, 2), (X, 3), (X[25:], 2))
    ]
    assert {scores[0].tobytes()} == {found.tobytes() for found in scores[1:3]}
    assert scores[0][25:].tobytes() == scores[3].tobytes()


@pytest.mark.parametrize("n", [1, 3, 20])
@pytest.mark.parametrize("dtype", ["float64", "uint8"])
def test_scores_read_the_layers_in_any_order(engine, n, dtype):
    random = np.random.default_rng(1)
    X = sp.random(n, 50, density=0.2, format="csr", random_state=2)
    X.data = np.ceil(X.data * 9).astype(dtype)
    layers = {}
    for i, (before, after) in enumerate([(50, 7), (7, 5), (5, 3)]):
        layers[f"coef_{i}"] = np.ceil(random.normal(size=(after, before)) * 9) / (1 + 2 * i)
        layers[f"intercept_{i}"] = random.normal(size=after)
    turned = {name: np.asfortranarray(array) for name, array in layers.items()}
    strided = {name: np.repeat(array, 2, axis=-1)[..., ::2] for name, array in layers.items()}
    found = {
        engine.mlp_scores(
            rows_of(engine, rows), state, activation="relu", probabilities=True, threads=1
        ).tobytes()
        for rows in (X.toarray(), X)
        for state in (layers, turned, strided)
    }
    h = X.toarray().astype(np.float64)
    for i in range(3):
        h = h @ layers[f"coef_{i}"].T + layers[f"intercept_{i}"]
        h = np.maximum(h, 0) if i < 2 else np.exp(h - h.max(axis=1, keepdims=True))
    assert len(found) == 1
    assert np.allclose(np.frombuffer(found.pop()).reshape(n, 3), h / h.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int16", "uint16", "int32"])
def test_the_storage_type_does_not_matter(engine, dtype):
    X = np.random.default_rng(0).integers(0, 9, (20, 6))
    layers = engine.mlp_start(6, [5], 1, activation="relu", seed=0)
    expected = frozen(fit(engine, X.astype("float64"), np.arange(20) % 2, layers, activation="relu"))
    assert frozen(fit(engine, X.astype(dtype), np.arange(20) % 2, layers, activation="relu")) == expected


def test_the_instruction_set_does_not_matter():
    X, labels = problem(30, 37, 3)
    layers = _core.mlp_start(37, [19, 9], 3, activation="tanh", seed=0)
    answers = []
    for name in _core._instruction_sets():
        _core._force_instruction_set(name)
        try:
            answers.append(frozen(fit(_core, X, labels, layers, batch_size=4)))
        finally:
            _core._force_instruction_set(None)
    assert answers[1:] == answers[:-1]


def test_epochs_continue(engine):
    """Two calls with the right numbers of epochs are one."""
    X, labels = problem(15, 4, 3)
    layers = engine.mlp_start(4, [6], 3, activation="logistic", seed=0)
    whole = fit(engine, X, labels, layers, seed=9, max_iter=5)
    first = fit(engine, X, labels, layers, seed=9, max_iter=2)
    second = fit(engine, X, labels, first["state"], seed=9, max_iter=3, first_epoch=2)
    assert frozen(second)[0][:-2] == frozen(whole)[0][:-2]
    for name in ("losses", "mistakes"):
        assert [*first[name], *second[name]] == whole[name].tolist()


def test_the_arrays_given_are_not_modified(engine):
    X, labels = problem(5, 3, 2)
    layers = engine.mlp_start(3, [2], 1, activation="tanh", seed=0)
    before = {name: array.copy() for name, array in layers.items()}
    fit(engine, X, labels, layers, alpha=0.1, max_iter=3)
    assert all(np.array_equal(layers[name], array) for name, array in before.items())


@pytest.mark.parametrize(("activation", "width"), [("tanh", 6), ("relu", 6), ("logistic", 2)])
def test_start_weights(engine, activation, width):
    coefs, intercepts = split(engine.mlp_start(30, [20], 3, activation=activation, seed=4))
    assert [array.shape for array in (*coefs, *intercepts)] == [(20, 30), (3, 20), (20,), (3,)]
    for layer, (inputs, neurons) in enumerate([(30, 20), (20, 3)]):
        bound = math.sqrt(width / (inputs + neurons))
        numbers = splitmix64(state_of_epoch(4, 2**64 - 1, layer), neurons * inputs + neurons).tolist()
        expected = [(2 * ((number >> 11) / 2**53) - 1) * bound for number in numbers]
        assert [*coefs[layer].ravel(), *intercepts[layer]] == expected
        assert 0.8 * bound < np.abs(coefs[layer]).max() < bound


def test_stops_when_the_loss_no_longer_improves(engine):
    X, labels = problem(20, 3, 2)
    layers = engine.mlp_start(3, [2], 1, activation="tanh", seed=0)
    changes = {"tol": 1e-3, "n_iter_no_change": 3, "max_iter": 500}
    report = fit(engine, X, labels, layers, **changes)
    best, idle = np.inf, []
    for loss in report["losses"]:
        idle.append(idle[-1] + 1 if idle and loss > best - 1e-3 else int(loss > best - 1e-3))
        best = min(best, loss)
    assert report["stopped"] == "tol"
    assert idle[-1] == 3
    assert max(idle[:-1]) < 3


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_overflow_names_the_epoch(engine, activation, value):
    X = np.ones((3, 2))
    X[1] = value
    layers = {"coef_0": np.full((2, 2), 1.5), "coef_1": np.ones((1, 2))}
    layers |= {"intercept_0": np.zeros(2), "intercept_1": np.zeros(1)}
    with pytest.raises(OverflowError, match="overflowed in epoch 7 "):
        fit(engine, X, [0, 1, 1], layers, activation=activation, first_epoch=7)


BAD = [
    ({"activation": "sin"}, r"activation must be one of 'logistic', 'relu', 'tanh', got 'sin'"),
    ({"batch_size": 0}, "batch_size must be at least 1, got 0"),
    ({"max_iter": 0}, "max_iter must be at least 1, got 0"),
]
BAD_LAYERS = [
    ({"coef_0": None}, "state lacks .coef_0."),
    ({"intercept_1": None}, "state lacks .intercept_1."),
    ({"coef_0": np.ones((2, 4))}, r"coef_0 must have the shape \(2, 3\).*got \(2, 4\)"),
    ({"intercept_1": np.ones(2)}, r"coef_1 must have the shape \(2, 2\).*got \(1, 2\)"),
    ({"intercept_1": np.ones(0)}, r"coef_1 must have the shape \(0, 2\)"),
]


@of_core
@pytest.mark.parametrize(("changes", "text"), BAD)
def test_bad_arguments(engine, changes, text):
    X, labels = problem(5, 3, 2)
    layers = engine.mlp_start(3, [2], 1, activation="tanh", seed=0)
    with pytest.raises(ValueError, match=text):
        fit(engine, X, labels, layers, **changes)


@pytest.mark.parametrize(("changes", "text"), BAD_LAYERS)
def test_bad_layers(engine, changes, text):
    X, labels = problem(5, 3, 2)
    layers = engine.mlp_start(3, [2], 1, activation="tanh", seed=0) | changes
    layers = {name: array for name, array in layers.items() if array is not None}
    with pytest.raises(ValueError, match=text):
        fit(engine, X, labels, layers)
    with pytest.raises(ValueError, match=text):
        engine.mlp_scores(rows_of(engine, X), layers, activation="tanh", probabilities=False, threads=1)


def test_an_unknown_activation(engine):
    layers = engine.mlp_start(3, [2], 1, activation="tanh", seed=0)
    for call in (
        lambda: engine.mlp_start(3, [2], 1, activation="sin", seed=0),
        lambda: engine.mlp_scores(
            rows_of(engine, np.ones((1, 3))), layers, activation="sin", probabilities=True, threads=1
        ),
    ):
        with pytest.raises(
            ValueError, match="activation must be one of 'logistic', 'relu', 'tanh', got 'sin'"
        ):
            call()


@pytest.mark.parametrize("labels", [[0, 1], [0, 1, 2], [0, 1, 0, 1]])
def test_bad_labels(engine, labels):
    layers = engine.mlp_start(2, [2], 1, activation="tanh", seed=0)
    with pytest.raises(ValueError, match="labels must be 3 numbers below 2, and at least one"):
        fit(engine, np.ones((3, 2)), labels, layers)


def test_layers_of_no_neuron(engine):
    with pytest.raises(ValueError, match=r"at least one neuron, got the sizes \[3, 0, 1\]"):
        engine.mlp_start(3, [0], 1, activation="tanh", seed=0)


def test_scores_of_large_activations_are_probabilities(engine):
    layers = {"coef_0": np.array([[1000.0], [-1000.0], [0.0]]), "intercept_0": np.zeros(3)}
    rows = engine.dense_rows(np.array([[1.0], [-1.0], [0.0]]))
    p = engine.mlp_scores(rows, layers, activation="tanh", probabilities=True, threads=1)
    assert p.tolist() == [[1, 0, 0], [0, 1, 0], [1 / 3, 1 / 3, 1 / 3]]
    layers = {"coef_0": layers["coef_0"][:1], "intercept_0": np.zeros(1)}
    p = engine.mlp_scores(rows, layers, activation="tanh", probabilities=True, threads=1)
    assert p.tolist() == [[1], [0], [0.5]]


def test_layers_over_no_columns(engine):
    layers = {"coef_0": np.ones((1, 0)), "intercept_0": np.zeros(1)}
    words = "at least one column for layers of neurons, got 0"
    with pytest.raises(ValueError, match=words):
        fit(engine, np.ones((3, 0)), [0, 1, 0], layers)
    with pytest.raises(ValueError, match=words):
        engine.mlp_scores(
            rows_of(engine, np.ones((3, 0))), layers, activation="tanh", probabilities=True, threads=1
        )
