"""What becomes of parameters and attributes that are changed after a fit: one rule each, in all classes."""

import copy

import numpy as np
import pytest
from sklearn.base import clone
from tests.support import contents

from perceptron_rs import (
    AveragedPerceptron,
    BudgetedKernelPerceptron,
    KernelPerceptron,
    MaxMarginClassifier,
    MultilayerPerceptron,
    Perceptron,
    PocketPerceptron,
    SequencePerceptron,
    StructuredPerceptron,
    VotedPerceptron,
)
from perceptron_rs.engines import get_engine
from perceptron_rs.settings import Chain, Sequences

RNG = np.random.default_rng(2)
X = RNG.integers(-9, 10, (40, 3)).astype(float)
Y = (X @ [1, -2, 3] + RNG.normal(0, 9, 40) > 0).astype(int)
ONCE = {"max_iter": 2, "tol": None}

LASTING = [
    (Perceptron(**ONCE), {"multi_class": "joint"}),
    (AveragedPerceptron(multi_class="joint", **ONCE), {"multi_class": "ovr"}),
    (SequencePerceptron(), {"transition_features": True}),
    (KernelPerceptron("rbf"), {"kernel": "linear"}),
    (KernelPerceptron("rbf"), {"gamma": 3.0}),
    (KernelPerceptron("poly"), {"degree": 2}),
    (KernelPerceptron(), {"multi_class": "joint"}),
    (BudgetedKernelPerceptron(), {"budget": 7}),
    (MultilayerPerceptron(max_iter=2, tol=None), {"activation": "logistic"}),
    (MultilayerPerceptron(max_iter=2, tol=None), {"hidden_layer_sizes": (3,)}),
    (MaxMarginClassifier(kernel="rbf", inseparable="warn"), {"kernel": "poly"}),
    (MaxMarginClassifier(kernel="rbf", inseparable="warn"), {"gamma": 2.5}),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("model", "changed"), LASTING, ids=str)
def test_what_was_learnt_needs_the_parameters_that_it_was_learnt_with(model, changed, tmp_path):
    model = copy.deepcopy(model).fit(X, Y)
    shown = model.decode_scores if isinstance(model, SequencePerceptron) else model.decision_function
    scores, before = shown(X).tobytes(), contents(model)
    given = {name: getattr(model, name) for name in changed}
    model.set_params(**changed)
    for call in (model.predict, shown):
        with pytest.raises(ValueError, match=f"{next(iter(changed))}=.* differs from the fit.*set it back"):
            call(X)
    with pytest.raises(ValueError, match=next(iter(changed))):
        model.save(tmp_path / "model")
    if hasattr(model, "partial_fit"):
        with pytest.raises(ValueError, match=next(iter(changed))):
            model.partial_fit(X, Y)
    if "warm_start" in model.get_params():
        with pytest.raises(ValueError, match=next(iter(changed))):
            copy.deepcopy(model).set_params(warm_start=True).fit(X, Y)
    model.set_params(**given)
    assert shown(X).tobytes() == scores
    assert contents(model) == before
    model.set_params(**changed).fit(X, Y).predict(X)


TOKENS = [[["a"], ["b"], ["c"]], [["b"], ["a"]], [["c", "a"], ["b"]]]
TAGS = [["A", "B", "B"], ["A", "B"], ["B", "A"]]


@pytest.mark.parametrize("changed", [{"min_count": 2}, {"hash_columns": 8}], ids=str)
def test_attributes_need_the_parameters_of_their_encoder(changed, tmp_path):
    model = SequencePerceptron().fit(TOKENS, TAGS)
    expected, given = model.predict(TOKENS), {name: getattr(model, name) for name in changed}
    model.set_params(**changed)
    for call in (model.predict, lambda X: model.partial_fit(X, TAGS), lambda _: model.save(tmp_path / "m")):
        with pytest.raises(ValueError, match=f"{next(iter(changed))}=.* differs from the fit"):
            call(TOKENS)
    assert model.set_params(**given).predict(TOKENS) == expected


def joint_feature(x, y):
    return {int(np.argmax(token)) * 2 + int(label): 1.0 for token, label in zip(x, y, strict=True)}


def inference(x, w):
    return tuple(int(w[2 * np.argmax(token) + 1] > w[2 * np.argmax(token)]) for token in x)


def structured(engine, **changes):
    model = StructuredPerceptron(joint_feature, inference, n_features=6, engine=engine, shuffle=False)
    return model.set_params(max_iter=3, eta0=0.3, **changes)


XS = np.abs(RNG.normal(size=(30, 2, 3)))
YS = [tuple(int(label) for label in RNG.integers(0, 2, 2)) for _ in XS]


def test_the_next_prediction_uses_what_was_set(engine_name):
    """The average is one of the weights that predict, by ``averaged`` as by ``prediction``."""
    for model, args in (
        (structured(engine_name), (XS, YS)),
        (SequencePerceptron(engine=engine_name, max_iter=3, shuffle=False), (X, Y)),
    ):
        found = {}
        for averaged in (True, False):
            other = clone(model).set_params(averaged=averaged).fit(*args)
            found[averaged] = {name: w.tobytes() for name, w in other.predictor_.items()}
        assert found[True] != found[False]
        model.fit(*args)
        for averaged in (False, True, False):
            model.set_params(averaged=averaged)
            assert {name: w.tobytes() for name, w in model.predictor_.items()} == found[averaged]
            assert model.coef_.tobytes() == copy.copy(model).coef_.tobytes()


@pytest.mark.parametrize("averaged", [True, False])
def test_structures_are_learnt_from_weights_that_were_set(engine_name, averaged):
    coef = np.array([0.5, -1.0, 2.0, 0.25, 0.0, -0.125])
    model = structured(engine_name, averaged=averaged).fit(XS, YS)
    model.coef_ = coef
    assert model.predict(XS) == [inference(x, coef) for x in XS]
    model.partial_fit(XS, YS)
    last, total = coef.copy(), np.zeros(6)
    for x, y in zip(XS, YS, strict=True):  # the paper's loop
        z = inference(x, last)
        if z != y:
            for structure, sign in ((y, 1), (z, -1)):
                for column, value in joint_feature(x, structure).items():
                    last[column] += sign * 0.3 * value
        total += last
    np.testing.assert_allclose(model.last_coef_, last, rtol=1e-12, atol=1e-12)
    expected = (coef + total) / (len(XS) + 1) if averaged else last
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-12, atol=1e-12)
    assert not np.shares_memory(coef, model.last_coef_)
    for bad, words in ((coef[1:], "has the shape"), (np.full(6, np.inf), "must be finite")):
        before = contents(model)
        with pytest.raises(ValueError, match=f"coef_ {words}"):
            model.coef_ = bad
        with pytest.raises(AttributeError, match="last_coef_ shows what this"):
            model.last_coef_ = coef
        assert contents(model) == before


WARM = [
    Perceptron(**ONCE),
    AveragedPerceptron(**ONCE),
    PocketPerceptron(**ONCE),
    VotedPerceptron(**ONCE),
    KernelPerceptron("linear"),
    BudgetedKernelPerceptron("linear"),
    MultilayerPerceptron(**ONCE),
    SequencePerceptron(max_iter=2),
]


@pytest.mark.parametrize("model", WARM, ids=str)
def test_a_warm_start_keeps_the_names_of_features(model):
    pandas = pytest.importorskip("pandas")
    frames = [pandas.DataFrame(X, columns=names) for names in (["a", "b", "c"], ["a", "c", "b"])]
    model = copy.deepcopy(model).set_params(warm_start=True).fit(frames[0], Y)
    before = contents(model)
    with pytest.raises(ValueError, match="feature names should match"):
        model.fit(frames[1], Y)
    assert contents(model) == before
    model.fit(frames[0], Y)
    names = model.set_params(warm_start=False).fit(frames[1], Y).feature_names_in_
    assert names.tolist() == ["a", "c", "b"]


@pytest.mark.parametrize(
    "model",
    [
        Perceptron(),
        Perceptron(penalty="l1", alpha=0.01),
        Perceptron(penalty="l2", alpha=0.01),
        AveragedPerceptron(),
    ],
    ids=str,
)
def test_learning_goes_on_from_weights_that_were_set(model, engine_name, tmp_path):
    coef, intercept = np.array([[0.5, -1.0, 2.0]]), np.array([0.25])
    expected = copy.deepcopy(model).set_params(engine=engine_name, max_iter=1, tol=None, shuffle=False)
    expected.fit(X, Y, coef_init=coef, intercept_init=intercept)
    model = copy.deepcopy(model).set_params(engine=engine_name).partial_fit(X, Y, classes=[0, 1])
    model.partial_fit(X[::-1], Y[::-1])
    model.coef_, model.intercept_ = coef, intercept
    assert (model.predict(X) == (X @ coef[0] + intercept[0] > 0)).all()
    model.save(tmp_path / "model")
    model.partial_fit(X, Y)
    for name in ("coef_", "intercept_"):
        assert getattr(model, name).tobytes() == getattr(expected, name).tobytes()


ASSIGNED = {"coef_": np.array([[0.5, -1.0, 2.0]]), "intercept_": np.array([0.25])}
SHOWN = ("coef_", "intercept_", "last_coef_", "last_intercept_", "n_seen_", "t_", "mistakes_per_epoch_")


@pytest.mark.parametrize("names", [("coef_",), ("intercept_",), ("intercept_", "coef_")], ids=str)
@pytest.mark.parametrize(
    "model",
    [
        Perceptron(**ONCE),
        Perceptron(penalty="l2", alpha=0.01, **ONCE),
        AveragedPerceptron(**ONCE),
        PocketPerceptron(**ONCE),
        VotedPerceptron(**ONCE),
    ],
    ids=str,
)
def test_an_assignment_is_a_cold_start_from_what_is_shown(model, names, engine_name):
    """With that part replaced: no counter, no sum, no epoch and no vector of before is left."""
    model = copy.deepcopy(model).set_params(engine=engine_name, warm_start=True).fit(X, Y)
    start = {name: getattr(model, name) for name in ASSIGNED} | {name: ASSIGNED[name] for name in names}
    expected = clone(model).fit(X, Y, coef_init=start["coef_"], intercept_init=start["intercept_"])
    for name in names:
        setattr(model, name, ASSIGNED[name])
    for each in (model, copy.copy(model), copy.deepcopy(model)):
        assert {name: getattr(each, name).tobytes() for name in start} == {
            name: array.tobytes() for name, array in start.items()
        }
        assert (each.n_seen_.tolist(), each.t_) == ([0], 1)
        each.fit(X, Y)
        for name in SHOWN:
            if hasattr(expected, name):
                assert np.array_equal(getattr(each, name), getattr(expected, name)), name


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize(
    ("model", "name"),
    [
        (AveragedPerceptron(**ONCE), "coef_"),
        (VotedPerceptron(prediction="average", **ONCE), "coef_"),
        (Perceptron(penalty="l2"), "coef_"),
    ],
    ids=str,
)
def test_a_copy_computes_for_itself(model, name, copied):
    model = copy.deepcopy(model).partial_fit(X, Y, classes=[0, 1])
    alone, other = copy.deepcopy(model), copied(model)
    setattr(other, name, getattr(other, name) + 5)
    expected = [other.predictor_["coef"].tobytes(), alone.predictor_["coef"].tobytes()]
    assert model.predictor_["coef"].tobytes() == expected[1] != expected[0]
    setattr(model, name, getattr(model, name) + 5)
    assert model.predictor_["coef"].tobytes() == expected[0]


@pytest.mark.parametrize(
    "model", [*WARM[:2], VotedPerceptron(**ONCE), BudgetedKernelPerceptron("linear")], ids=str
)
def test_a_stream_has_its_own_shuffle(model):
    """The parameter is that of ``fit``; the argument of ``fit_stream`` alone says how a stream is read."""
    blocks = [(X[:20], Y[:20]), (X[20:], Y[20:])]
    scores = [
        copy.deepcopy(model).set_params(shuffle=shuffle).fit_stream(blocks).decision_function(X).tobytes()
        for shuffle in (False, True)
    ]
    assert scores[0] == scores[1]


@pytest.mark.parametrize("averaged", [True, False])
@pytest.mark.parametrize("pairs", [True, False], ids=["pairs", "no pairs"])
@pytest.mark.parametrize("name", ["coef_", "transition_", "start_", "end_"])
def test_weights_of_sequences_that_are_assigned_are_a_cold_start(name, pairs, averaged, engine_name):
    """From what is shown, with that part replaced: a run starts with these weights, no sums, no counts."""
    model = SequencePerceptron(
        engine=engine_name, max_iter=2, shuffle=False, averaged=averaged, transition_features=pairs
    )
    model.fit(X, Y, lengths=[10, 30])
    before = contents(model)
    for bad, words in ((np.full(getattr(model, name).shape, np.inf), "finite"), (np.zeros(9), "shape")):
        with pytest.raises(ValueError, match=f"{name} .*{words}"):
            setattr(model, name, bad)
        assert contents(model) == before
    shown = model.predictor_
    given = getattr(model, name) / 2
    given.flat[0] = -0.0
    setattr(model, name, given)
    assert getattr(model, name).tobytes() == (given + 0.0).tobytes()
    assert (model.n_seen_, model._n_epochs) == (0, 0)
    state = model._model.state()
    assert not any(array.any() for array_name, array in state.items() if array_name.endswith("_u"))
    kept = {"coef_": "emission"}.get(name, name[:-1])
    for part, numbers in shown.items():
        if not part.startswith(kept):
            assert state[part].tobytes() == numbers.tobytes()
    engine = get_engine(engine_name)
    rows = engine.dense_rows(X)
    data = Sequences(rows, Y.astype(np.uint32), lengths=np.array([10, 30], dtype=np.int64))
    run = engine.start(data, engine.Model.from_state("chain", state), Chain(eta0=1.0))
    run.epoch(0)
    model.partial_fit(X, Y, lengths=[10, 30])
    found, expected = model._model.state(), run.state().state()
    assert {n: a.tobytes() for n, a in found.items()} == {n: a.tobytes() for n, a in expected.items()}
    for read_only in ("n_seen_", "sparse_coef_"):
        with pytest.raises(AttributeError, match=f"{read_only} shows what"):
            setattr(model, read_only, 0)
