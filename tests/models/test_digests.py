"""Digests of models: whatever predicts otherwise has another one, and how it is stored does not count."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics.pairwise import linear_kernel
from sklearn.pipeline import make_pipeline
from sklearn.utils._param_validation import StrOptions
from tests.learners import PASSES

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
    digest,
    load,
)
from perceptron_rs.linear.voted import VOTED_PREDICTIONS
from perceptron_rs.recipe.recipe import Recipe
from perceptron_rs.recipe.scale import Scale
from perceptron_rs.testing import assert_parity

rng = np.random.default_rng(4)
X = rng.integers(-3, 4, (14, 3)) + rng.normal(size=(14, 3)).round(1)
Y = np.array(["ham", "spam", "egg"])[np.arange(14) % 3]
TWO = np.where(X[:, 0] + X[:, 1] > 0, 7, 3)
SHORT = {"max_iter": 2, "tol": None}
ASKED = np.vstack([np.zeros((1, 3)), X, rng.normal(size=(20, 3)), -X])
SENTENCES = [["the", "dog"], ["a", "cat", "sleeps"], ["the", "cat"], ["dog", "sleeps"]]
TOKENS = [[["bias", f"w={word}", f"end={word[-1]}"] for word in words] for words in SENTENCES]
TAGS = [["D", "N"], ["D", "N", "V"], ["D", "N"], ["N", "V"]]
KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")


def gram(A, B=X):
    return (np.asarray(A) @ B.T + 1) ** 2


def named(model):
    """Give a model all that the command line keeps with one."""
    model._column_base = 1
    scale = Scale("standard", tuple(rng.uniform(1, 2, 3)), tuple(rng.normal(size=3)))
    model.recipe_ = Recipe("csv", None, ("a", "b"), ("b",), scale, 0.25)
    model.feature_names_in_ = np.array(["a", "b", "c"], dtype=object)
    return model


def models():
    """Yield a name, a learner and what it is fitted to: one of each kind that a file holds.

    Kinds that differ in the kernel alone have two classes and three in turn.
    """
    labels = (("of 2", TWO), ("of 3", Y))
    for name, y in labels:
        for kind in (Perceptron, AveragedPerceptron, PocketPerceptron):
            yield f"{kind.__name__} {name}", kind(**SHORT), X, y
        yield f"multilayer {name}", MultilayerPerceptron((3, 2), activation="tanh", max_iter=2), X, y
    yield "joint", Perceptron(**SHORT, multi_class="joint"), X, Y
    for number, (prediction, y) in enumerate(itertools.product(VOTED_PREDICTIONS, (TWO, Y))):
        kept = {"prediction": prediction, "max_vectors": 3 if prediction in ("vote", "average") else None}
        rows = sp.csr_matrix(X) if number % 4 > 1 else X
        yield f"voted {prediction} of {2 + number % 2}", VotedPerceptron(**SHORT, **kept), rows, y
    turns = itertools.cycle((TWO, Y))
    for kernel in KERNELS:
        given, y = gram(X) if kernel == "precomputed" else X, next(turns)
        yield f"kernel {kernel}", KernelPerceptron(kernel, max_iter=2, coef0=0.5), given, y
        yield f"budget {kernel}", BudgetedKernelPerceptron(kernel, max_iter=2, budget=4), given, y
    for prediction, (name, y) in itertools.product(("average", "last", "random"), labels):
        options = {"prediction": prediction, "normalize": prediction != "random", "fit_intercept": True}
        yield f"kernel {prediction} {name}", KernelPerceptron(max_iter=2, **options), sp.csr_matrix(X), y
    yield "joint kernel", KernelPerceptron(max_iter=2, multi_class="joint"), X, Y
    for kernel in ("linear", "poly", "rbf", "precomputed"):
        given = gram(X) if kernel == "precomputed" else X
        model = MaxMarginClassifier(kernel=kernel, coef0=1.0 if kernel == "poly" else 0.0, inseparable="warn")
        yield f"margin {kernel}", model, given, TWO
    yield "pending", Perceptron(penalty="elasticnet", alpha=0.01), X, Y
    yield "sequence", SequencePerceptron(max_iter=2), TOKENS, TAGS
    beam = {"decode": "beam", "beam_width": 2, "transition_features": True}
    yield "beam", SequencePerceptron(max_iter=2, **beam), TOKENS, TAGS
    yield "hashed", SequencePerceptron(max_iter=2, hash_columns=8, averaged=False), TOKENS, TAGS


MODELS = {name: parts for name, *parts in models()}


@pytest.fixture(name="model", params=MODELS)
def fixture_model(request):
    model, given, y = MODELS[request.param]
    model = clone(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if request.param == "pending":
            model.partial_fit(given, y, classes=np.unique(y))
            return model.partial_fit(sp.csr_matrix(np.eye(3)[:1]), y[:1])
        model.fit(given, y)
    if isinstance(model, SequencePerceptron):
        model.template_ = {"kind": "columns", "window": 2, "columns": 1, "positions": [1]}
    return named(model) if type(model) in (Perceptron, AveragedPerceptron, PocketPerceptron) else model


def answers(model):
    """Return all that a model says, and how it reads what it is asked."""
    if isinstance(model, SequencePerceptron):
        sentences = [*TOKENS, [token for sentence in TOKENS for token in sentence]]
        scores = model.decode_scores(sentences).tobytes()
        return model.predict(sentences), scores, getattr(model, "template_", None)
    asked = ASKED
    if getattr(model, "kernel", None) == "precomputed":
        asked = gram(ASKED)
    made = getattr(model, "recipe_", None)
    if made is not None and made.scale is not None:
        asked = made.scale.applied(asked)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = model.predict(asked)
        scores = model.decision_function(asked).tobytes()
    reading = None if made is None else made.to_json() | {"holdout": None, "scale": None}
    names = getattr(model, "feature_names_in_", np.zeros(0)).tolist()
    return labels.dtype.kind, labels.tolist(), scores, reading, names, vars(model).get("_column_base")


def words_of(model):
    """Return the words that each parameter may be."""
    return {
        name: sorted(word for rule in rules if isinstance(rule, StrOptions) for word in rule.options)
        for name, rules in model._parameter_constraints.items()
    }


def of_json(value, words, path=()):
    """Yield a document with each entry changed in turn, and the path to that entry."""
    if isinstance(value, dict):
        for key, inner in value.items():
            for other, where in of_json(inner, words, (*path, key)):
                yield value | {key: other}, where
    elif isinstance(value, list):
        yield value[::-1], path
        for number, inner in enumerate(value):
            for other, where in of_json(inner, words, (*path, number)):
                yield [*value[:number], other, *value[number + 1 :]], where
    elif isinstance(value, bool):
        yield not value, path
    elif isinstance(value, (int, float)):
        for other in (value + 1, -value):
            yield other, path
    elif isinstance(value, str):
        for other in (value[::-1], *words.get(path[-1], ())):
            yield other, path


def of_tensors(tensors):
    """Yield the tensors with each of them changed in turn, and the name of that one."""
    kinds = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U8": "u1", "I8": "i1", "I16": "<i2"}
    for name, (kind, shape, data) in tensors.items():
        array = np.frombuffer(data, dtype=kinds[kind]).reshape(shape)
        with np.errstate(all="ignore"):
            changed = [array + 1, -array, array.reshape(-1)[::-1], *([array[::-1]] if array.ndim > 1 else ())]
        for other in changed:
            yield tensors | {name: (kind, shape, other.astype(array.dtype).tobytes())}, name


def test_whatever_predicts_otherwise_has_another_digest(tools, folder, model):
    document, tensors = tools.take_apart(folder.saved(model))
    before = folder.loaded(tools.put_together(document, tensors))
    assert digest(before) == digest(model)
    said, own, seen = answers(before), digest(before), 0
    changed = itertools.chain(
        ((document, other, where) for other, where in of_tensors(tensors)),
        ((other, tensors, where) for other, where in of_json(document, words_of(model))),
    )
    for text, numbers, where in changed:
        if (text, numbers) == (document, tensors):  # a zero without its sign, a word read backwards
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = folder.loaded_or_none(tools.put_together(text, numbers))
        if found is None:
            continue
        try:
            is_other = answers(found) != said
        except ValueError:
            is_other = True
        if is_other:
            seen += 1
            assert digest(found) != own, where
    assert seen > 5


def test_copies_have_the_digest_of_the_model(model, tmp_path):
    own = digest(model)
    model.save(tmp_path / "m")
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), load(tmp_path / "m")):
        assert digest(again) == own
    again.set_params(**{key: 2 for key in ("verbose", "n_jobs") if key in again.get_params()})
    assert digest(again.set_params(engine="reference")) == own


def test_models_of_opposite_answers():
    opposite = [KernelPerceptron("linear", max_iter=2).fit(sign * X, TWO) for sign in (1, -1)]
    assert (opposite[0].predict(X) != opposite[1].predict(X)).any()
    moved = [KernelPerceptron(max_iter=2, gamma=0.1).fit(X + by, TWO) for by in (0, 1000)]
    swapped = [Perceptron().fit(X, TWO) for _ in range(2)]
    swapped[1].classes_ = swapped[1].classes_[::-1]
    for a, b in (opposite, moved, swapped):
        assert digest(a) != digest(b)


def test_the_type_of_classes_counts_and_their_width_does_not():
    found = [
        digest(Perceptron().fit(X, y)) for y in (TWO, TWO.astype(np.int8), TWO.astype(str), TWO.astype("U40"))
    ]
    assert len(set(found)) == 3
    assert found[2] == found[3]


def test_sparse_weights_have_the_digest_of_dense_ones(tmp_path):
    for kind in PASSES:
        model = kind(**SHORT).fit(X * (np.abs(X) > 2), Y)
        model.coef_ = -1 * model.coef_  # with -0.0
        own = digest(model)
        assert digest(model.sparsify()) == own
        assert digest(model.densify()) == own
    assert digest(Perceptron(**SHORT).fit(X, Y)) == digest(
        Perceptron(**SHORT).fit(sp.csr_matrix(X), Y).sparsify()
    )


@pytest.mark.parametrize("prediction", VOTED_PREDICTIONS)
def test_parts_and_storage_do_not_count(prediction):
    whole = X.round().astype(np.int8)
    order = {"shuffle": False, **SHORT, "max_iter": 1}
    chosen = {} if prediction == "longest" else {"prediction": prediction}
    for model in (
        VotedPerceptron(prediction=prediction, **order),
        KernelPerceptron("poly", gamma=0.5, **chosen, **order),
        BudgetedKernelPerceptron("rbf", gamma=0.5, budget=3, **order),
    ):
        own = digest(model.fit(whole, Y))
        for rows in (whole.astype(float), sp.csr_matrix(whole), sp.csr_matrix(whole.astype(np.float32))):
            assert digest(copy.deepcopy(model).fit(rows, Y)) == own
        parts = type(model)(**model.get_params())
        for begin in (0, 5, 9):
            some = slice(begin, {0: 5, 5: 9, 9: 14}[begin])
            parts.partial_fit(
                sp.csr_matrix(whole[some]) if begin == 5 else whole[some], Y[some], classes=np.unique(Y)
            )
        assert digest(parts) == own


def product(A, B):
    return np.asarray(A) @ np.asarray(B).T


def test_of_functions_the_name_counts():
    a = KernelPerceptron(product, max_iter=2).fit(X, TWO)
    b = KernelPerceptron(gram, max_iter=2).fit(X, TWO)
    assert digest(a) != digest(b)
    with pytest.raises(ValueError, match="which a digest cannot name; define it by def in a module"):
        digest(KernelPerceptron(lambda A, B: product(A, B), max_iter=2).fit(X, TWO))
    assert_parity(KernelPerceptron(lambda A, B: linear_kernel(A, B), max_iter=2), X.round(), TWO)


def feature(x, y):
    return x[y]


def best(x, w):
    return int(np.argmax(x @ w))


def worst(x, w):
    return int(np.argmin(x @ w))


def test_of_structures():
    inputs, truth = list(rng.normal(size=(20, 4, 3))), [0, 1, 2, 3] * 5
    model = StructuredPerceptron(feature, best).fit(inputs, truth)
    own = digest(model)
    assert own == digest(StructuredPerceptron(feature, best, engine="reference").fit(inputs, truth))
    assert digest(copy.copy(model).set_params(inference=worst)) != own
    model.coef_ = model.coef_ * 2
    assert digest(model) != own


def test_other_estimators_are_refused():
    with pytest.raises(TypeError, match="must be an estimator of this package, got Pipeline"):
        digest(make_pipeline(Perceptron()).fit(X, TWO))


@pytest.mark.parametrize("columns", [(0, 1, 2), (1, 4, 6)])
def test_bytes_are_those_of_the_contract(columns):
    """A digest is that of one JSON text and of the numbers, as ARITHMETIC.md says."""
    import hashlib

    wide = np.zeros((14, columns[-1] + 1))
    wide[:, columns] = X
    model = Perceptron(**SHORT).fit(wide, TWO)
    numbers = {"coef_": model.coef_, "intercept_": model.intercept_, "n_seen_": model.n_seen_}
    settings = {
        "classes_": {"type": "int64", "values": [3, 7]},
        "learner": "perceptron",
        "n_features_in_": wide.shape[1],
        "tie": "mistake",
    }
    shapes = {name: [array.dtype.name, list(array.shape)] for name, array in numbers.items()}
    data = b"".join(numbers[name].tobytes() for name in sorted(numbers))
    if len(columns) < wide.shape[1]:
        shapes["coef_"].append(3)
        few = np.array(columns).tobytes() + model.coef_[:, columns].tobytes()
        data = few + data[model.coef_.nbytes :]
    text = json.dumps([settings, shapes], sort_keys=True, separators=(",", ":"))
    assert digest(model) == hashlib.sha256(text.encode() + data).hexdigest()


def test_other_weights_have_another_digest_wherever_zeros_stand():
    model, found = Perceptron(**SHORT).fit(X, Y), set()
    for bits in range(2**9):
        model.coef_ = np.array([bits >> i & 1 for i in range(9)], dtype=float).reshape(3, 3)
        found.add(digest(model))
    assert len(found) == 2**9


@pytest.mark.parametrize("used", [0.1, 0.7, 1])  # packed in files; not packed; dense
@pytest.mark.parametrize("kind", PASSES)
def test_columns_of_zeros_do_not_count_however_weights_are_stored(kind, used, tmp_path):
    wide = np.repeat(X, 20, axis=1) * (np.arange(60) * 7 % 60 < 60 * used)
    model = kind(**SHORT).fit(wide, Y)
    own = digest(model)
    model.save(tmp_path / "m")
    streamed = kind(**SHORT).fit_stream((sp.csr_matrix(wide), Y))
    for again in (
        kind(**SHORT, engine="reference").fit(wide, Y),
        kind(**SHORT).fit(sp.csr_matrix(wide), Y),
        load(tmp_path / "m"),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model).sparsify(),
    ):
        assert digest(again) == own
    assert digest(streamed) == digest(kind(**SHORT, shuffle=False).fit(wide, Y))
