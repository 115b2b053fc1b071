"""The voted estimator: five kinds of prediction, what is kept of a run, and what max_vectors drops."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from tests.validation import validation_part

from perceptron_rs import AveragedPerceptron, Perceptron, VotedPerceptron
from perceptron_rs.linear import vectors
from perceptron_rs.reference.order import below
from perceptron_rs.schema.mistake_log import draw_vectors

FIXED = {"shuffle": False, "tol": None, "max_iter": 3}
KINDS = ("vote", "average", "last", "random", "longest")


def data(classes=2, n=40, seed=4):
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, (n, 3)).astype(np.float64)
    y = rng.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    return X, y


def said(model, X):
    """What a model says by each kind of prediction, as bytes."""
    kind = model.prediction
    found = {name: model.set_params(prediction=name).decision_function(X).tobytes() for name in KINDS}
    model.set_params(prediction=kind)
    return found


class EveryVector:
    """Stores every vector of the run of one class, in whole numbers."""

    def __init__(self, X, y, epochs, *, tie="mistake", steps=None):
        self.vectors, self.counts, self.rows = [[0] * (X.shape[1] + 1)], [0], [-1]
        self.of_zero = 1 if tie == "positive" else 0
        for _ in range(epochs):
            for i, (x, label) in enumerate(zip(X.astype(int).tolist(), y.tolist(), strict=True)):
                sign, x, c = (1 if label else -1), [*x, 1], 1 if steps is None else steps[i]
                m = sign * sum(p * q for p, q in zip(self.vectors[-1], x, strict=True))
                if m > 0 or (m == 0 and sign == 1 and tie == "positive"):
                    self.counts[-1] += 1
                    continue
                self.vectors.append([p + c * sign * q for p, q in zip(self.vectors[-1], x, strict=True)])
                self.counts.append(1)
                self.rows.append(i)

    def activation(self, number, x):
        return sum(p * q for p, q in zip(self.vectors[number], [*x, 1], strict=True))

    def vote(self, x, first=0):
        votes = [
            c * (np.sign(self.activation(k, x)) or self.of_zero)
            for k, c in enumerate(self.counts) if k >= first
        ]  # fmt: skip
        return sum(votes) / sum(self.counts[first:])


@pytest.mark.parametrize("tie", ["mistake", "positive"])
@pytest.mark.parametrize("weighted", [False, True])
def test_all_that_is_kept_is_what_the_run_went_through(engine_name, tie, weighted):
    X, y = data()
    weight = np.arange(1, len(y) + 1) % 3 + 1
    expected = EveryVector(X, y, 3, tie=tie, steps=weight.tolist() if weighted else None)
    model = VotedPerceptron(engine=engine_name, tie=tie, **FIXED)
    model.fit(X, y, sample_weight=weight if weighted else None)
    assert [counts.tolist() for counts in model.survival_] == [expected.counts]
    assert [rows.tolist() for rows in model.support_] == [expected.rows]
    assert model.n_vectors_.tolist() == [len(expected.vectors)] == [model.n_mistakes_ + 1]
    assert [*model.coef_[0], *model.intercept_] == expected.vectors[-1]
    Z = data(seed=7)[0]
    assert model.decision_function(Z).tolist() == [expected.vote(z) for z in Z.astype(int).tolist()]
    longest = int(np.argmax(expected.counts))
    model.set_params(prediction="longest")
    assert model.decision_function(Z).tolist() == [
        expected.activation(longest, z) for z in Z.astype(int).tolist()
    ]


@pytest.mark.parametrize("classes", [2, 4])
def test_counts_add_up_to_the_examples_seen(engine_name, classes):
    X, y = data(classes)
    model = VotedPerceptron(engine=engine_name, max_iter=30).fit(X, y, sample_weight=np.arange(len(y)) % 3)
    assert [counts.sum() for counts in model.survival_] == model.n_seen_.tolist()
    assert sum(len(counts) - 1 for counts in model.survival_) == model.n_mistakes_
    for counts, rows in zip(model.survival_, model.support_, strict=True):
        assert counts[0] == 0  # the zero vector is wrong on every example
        assert len(counts) == len(rows)
        assert rows[0] == -1
    if classes == 4:
        assert model.n_vectors_.tolist() == [len(counts) for counts in model.survival_]
        assert model.n_vectors_.dtype == np.int64


@pytest.mark.parametrize("weighted", [False, True])
def test_each_vector_can_be_looked_at(engine_name, weighted):
    X, y = data()
    steps = [2, 1, 3, 1] * 10 if weighted else None
    every = EveryVector(X, y, 3, steps=steps)
    model = VotedPerceptron(engine=engine_name, **FIXED).fit(sp.csr_matrix(X), y, sample_weight=steps)
    found = list(model.vectors())
    assert [[*w, b] for w, b, _ in found] == every.vectors
    assert [votes for *_, votes in found] == every.counts
    found[0][0][:] = 7  # the caller's own
    assert next(model.vectors())[0].tolist() == [0, 0, 0]


def test_each_class_has_vectors_of_its_own(engine_name):
    X, y = data(3)
    model = VotedPerceptron(engine=engine_name, max_vectors=5, **FIXED).fit(X, y)
    for k in range(3):
        binary = VotedPerceptron(engine=engine_name, max_vectors=5, **FIXED).fit(X, y == k)
        found = [(w.tobytes(), b, votes) for w, b, votes in model.vectors(class_index=k)]
        assert found == [(w.tobytes(), b, votes) for w, b, votes in binary.vectors()]
        assert len(found) == 5
    for index in (-1, 3, None):
        with pytest.raises(ValueError, match="class_index must be a whole number from 0 to 2"):
            model.vectors(class_index=index)
    with pytest.raises(NotFittedError):
        VotedPerceptron().vectors()


@pytest.mark.parametrize("classes", [2, 3])
def test_last_and_average_are_those_of_the_other_learners(engine_name, classes):
    X, y = data(classes)
    X = X / 3
    parameters = {"engine": engine_name, "tol": None, "max_iter": 4, "eta0": 0.3, "class_weight": {0: 0.7}}
    voted = VotedPerceptron(**parameters).fit(X, y)
    for learner, kind in ((Perceptron, "last"), (AveragedPerceptron, "average")):
        other = learner(**parameters).fit(X, y)
        assert said(voted, X)[kind] == other.decision_function(X).tobytes()
        assert voted.set_params(prediction=kind).predict(X).tolist() == other.predict(X).tolist()
    assert voted.coef_.tobytes() == Perceptron(**parameters).fit(X, y).coef_.tobytes()


@pytest.mark.parametrize("counts", [[0], [1], [0, 1], [2, 0], [0, 0, 5, 0], [3, 0, 1, 4]])
def test_a_vector_is_drawn_as_an_example_that_it_survived(counts):
    """The first vector stands for those that no example has seen."""
    survived = [vector for vector, count in enumerate(counts) for _ in range(count)] or [0]
    for seed in range(5):
        drawn = [
            below(len(survived), seed=seed, epoch=2**64 - 1, partition=plane) if len(survived) > 1 else 0
            for plane in range(2)
        ]
        found = draw_vectors([np.array(counts)] * 2, seed)
        assert found.tolist() == [survived[number] for number in drawn]
        assert found.dtype == np.int64


def test_the_random_vector_is_drawn_by_the_counts(engine_name):
    X, y = data(3)
    chosen = []
    for seed in range(40):
        model = VotedPerceptron(engine=engine_name, prediction="random", random_state=seed, **FIXED).fit(X, y)
        scores = model.decision_function(X)
        for k, counts in enumerate(model.survival_):
            number = below(int(counts.sum()), seed=seed, epoch=2**64 - 1, partition=k)
            vector = EveryVector(X, y == k, 3)
            drawn = next(i for i in range(len(counts)) if sum(counts[: i + 1]) > number)
            assert scores[:, k].tolist() == [vector.activation(drawn, x) for x in X.astype(int).tolist()]
            chosen.append(drawn)
    assert len(set(chosen)) > 20


def test_the_draw_is_that_of_the_generator():
    def draw(*parts):
        def number(state):
            z = (state + 0x9E3779B97F4A7C15) % 2**64
            z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
            z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
            return z ^ z >> 31

        key = 0
        for part in parts:
            key = number((key + part) % 2**64)
        return number(key)

    for seed, plane in ((0, 0), (5, 1), (2**32 - 1, 9)):
        drawn = draw(seed, 2**64 - 1, plane)
        for bound in (1, 2, 1000, 2**62):
            assert below(bound, seed=seed, epoch=2**64 - 1, partition=plane) == drawn * bound // 2**64


@pytest.mark.parametrize(("tie", "label"), [("mistake", 0), ("positive", 1)])
def test_a_vote_of_zero_goes_as_tie_says(engine_name, tie, label):
    X, y = np.array([[1.0], [1.0]]), np.array([1, 0])
    model = VotedPerceptron(engine=engine_name, tie=tie, fit_intercept=False, **(FIXED | {"max_iter": 1}))
    model.fit(X, y, sample_weight=[1, 2])
    assert sorted(model.survival_[0].tolist())[-2:] == [1, 1]
    assert model.decision_function([[1.0]]).tolist() == [0.0]
    assert model.predict([[1.0]]).tolist() == [label]


def test_one_against_the_rest_takes_the_lowest_class_of_equal_votes(engine_name):
    X, y = data(3)
    model = VotedPerceptron(engine=engine_name, **FIXED).fit(X, y)
    votes = model.decision_function(X)
    assert np.abs(votes).max() <= 1
    assert model.predict(X).tolist() == [row.index(max(row)) for row in votes.tolist()]
    for k in range(3):
        expected = EveryVector(X, y == k, 3)
        assert votes[:, k].tolist() == [expected.vote(x) for x in X.astype(int).tolist()]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("size", [1, 3, 17])
def test_batches_equal_one_pass(engine_name, classes, size):
    X, y = data(classes)
    X = X / 3
    whole = VotedPerceptron(engine=engine_name, shuffle=False, tol=None, max_iter=1).fit(X, y)
    batches = VotedPerceptron(engine=engine_name)
    for begin in range(0, len(y), size):
        part = slice(begin, begin + size)
        batches.partial_fit(X[part], y[part], classes=np.arange(classes))
    assert said(batches, X) == said(whole, X)
    for mine, other in zip(batches.survival_, whole.survival_, strict=True):
        assert mine.tolist() == other.tolist()
    for mine, other in zip(batches.support_, whole.support_, strict=True):
        assert mine.tolist() == [row % size if row >= 0 else row for row in other.tolist()]


def test_a_warm_fit_goes_on_and_a_cold_one_starts_again(engine_name):
    X, y = data(3)
    parameters = {"engine": engine_name, "tol": None, "random_state": 3}
    whole = VotedPerceptron(max_iter=5, **parameters).fit(X, y)
    warm = VotedPerceptron(max_iter=2, warm_start=True, **parameters).fit(X, y)
    warm.set_params(max_iter=3).fit(X, y)
    assert said(warm, X) == said(whole, X)
    cold = warm.set_params(warm_start=False, max_iter=5).fit(X, y)
    assert said(cold, X) == said(whole, X)
    given = warm.set_params(warm_start=True).fit(X, y, coef_init=np.ones((3, 3)))
    assert [counts.sum() for counts in given.survival_] == given.n_seen_.tolist()
    assert given._vectors["coef"].tolist() == np.ones((3, 3)).tolist()


def test_batches_of_every_storage_are_one_model(engine_name):
    """A run may change its storage; the rows that were kept go on in the first form."""
    X, y = data(2, n=60)
    whole = VotedPerceptron(engine=engine_name, shuffle=False, tol=None, max_iter=1).fit(X, y)
    types = [np.int8, np.float32, np.uint16, np.int32, np.float64]
    for forms in ((np.array, sp.csr_matrix), (sp.csr_matrix, np.array)):
        model = VotedPerceptron(engine=engine_name)
        for i, begin in enumerate(range(0, 60, 6)):
            part = np.abs(X[begin : begin + 6]) if i % 5 == 2 else X[begin : begin + 6]
            part = X[begin : begin + 6] if i % 5 == 2 and (X[begin : begin + 6] < 0).any() else part
            dtype = np.int8 if i % 5 == 2 else types[i % 5]
            model.partial_fit(forms[i % 2](part.astype(dtype)), y[begin : begin + 6], classes=[0, 1])
        assert said(model, X) == said(whole, X)
        kept = model._vectors
        assert ("rows" in kept) == (forms[0] is np.array)
        assert (kept["rows"] if "rows" in kept else kept["rows_values"]).dtype == np.float64


def test_unsorted_rows_are_kept_sorted(engine_name):
    X, y = data()
    csr = sp.csr_matrix(X)
    for row in range(len(y)):
        own = slice(csr.indptr[row], csr.indptr[row + 1])
        csr.indices[own], csr.data[own] = csr.indices[own][::-1].copy(), csr.data[own][::-1].copy()
    csr.has_sorted_indices = False
    model = VotedPerceptron(engine=engine_name, **FIXED).fit(csr, y)
    assert said(model, X) == said(VotedPerceptron(engine=engine_name, **FIXED).fit(X, y), X)


def test_the_intercept_s_own_steps_are_kept(engine_name):
    """fit_intercept may change between two calls."""
    X, y = data()
    model = VotedPerceptron(engine=engine_name).partial_fit(X[:20], y[:20], classes=[0, 1])
    plain = Perceptron(engine=engine_name).partial_fit(X[:20], y[:20], classes=[0, 1])
    for other in (model, plain):
        other.set_params(fit_intercept=False).partial_fit(X[20:], y[20:])
    model.set_params(prediction="average", fit_intercept=True).decision_function(X)
    found = model._vectors
    assert found["log_bias"].tolist() != found["log_step"].tolist()
    assert plain.intercept_.tolist() == model.intercept_.tolist()
    end = np.diff(found["log_start"])
    from perceptron_rs import reference
    from perceptron_rs.linear.vectors import log_rows

    made = reference.replay(log_rows(found, reference), found, upto=end)
    assert made["intercept"].tolist() == plain.intercept_.tolist()


def test_each_mistaken_row_is_kept_once_in_its_own_type(engine_name):
    X, y = data(3)
    model = VotedPerceptron(engine=engine_name, **FIXED).fit(X.astype(np.int8), y)
    rows = np.unique(np.concatenate([rows[1:] for rows in model.support_]))
    assert model._vectors["rows"].dtype == np.int8
    assert model._vectors["rows"].tolist() == X[rows].tolist()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("most", [1, 2, 5, 1000])
def test_max_vectors_keeps_the_last_ones(engine_name, classes, most):
    X, y = data(classes)
    whole = VotedPerceptron(engine=engine_name, **FIXED).fit(X, y)
    model = VotedPerceptron(engine=engine_name, max_vectors=most, **FIXED).fit(X, y)
    every = [EveryVector(X, y == (1 if classes == 2 else k), 3) for k in range(len(whole.survival_))]
    votes = model.decision_function(X).reshape(len(y), -1)
    for k, expected in enumerate(every):
        first = max(len(expected.vectors) - most, 0)
        assert model.survival_[k].tolist() == expected.counts[first:]
        assert model.support_[k].tolist() == expected.rows[first:]
        assert votes[:, k].tolist() == [expected.vote(x, first) for x in X.astype(int).tolist()]
    assert {kind: said(model, X)[kind] for kind in ("last", "average")} == {
        kind: said(whole, X)[kind] for kind in ("last", "average")
    }
    used = model._vectors["log_row"]
    assert np.unique(used).tolist() == list(range(len(model._vectors["rows"])))
    batches = VotedPerceptron(engine=engine_name, max_vectors=most)
    one_pass = VotedPerceptron(engine=engine_name, max_vectors=most, **(FIXED | {"max_iter": 1})).fit(X, y)
    for begin in range(0, len(y), 7):
        batches.partial_fit(X[begin : begin + 7], y[begin : begin + 7], classes=np.arange(classes))
    assert said(batches, X) == said(one_pass, X)


def test_the_zero_vector_alone_has_no_vote(engine_name):
    """A class whose examples all weigh nothing has seen nothing."""
    X, y = data(3)
    model = VotedPerceptron(engine=engine_name, class_weight={0: 0.0}, **FIXED).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    for kind in KINDS:
        model.set_params(prediction=kind).predict(X)


@pytest.mark.parametrize("kind", KINDS)
def test_reading_and_predicting_leave_the_estimator_as_it_is(engine_name, kind):
    X, y = data()
    model = VotedPerceptron(engine=engine_name, prediction=kind, **FIXED).fit(X, y)
    before = {name: id(value) for name, value in vars(model).items()}
    model.predict(X)
    first = said(model, X)
    assert [model.coef_.shape, model.n_vectors_ > 1, len(model.support_)]
    assert {name: id(value) for name, value in vars(model).items()} == before
    copy = pickle.loads(pickle.dumps(model))
    assert said(copy, X) == first
    assert said(copy.partial_fit(X, y), X) == said(model.partial_fit(X, y), X) != first


def test_before_a_fit_there_is_nothing():
    model = VotedPerceptron()
    for name in ("coef_", "intercept_", "n_vectors_", "survival_", "support_"):
        assert not hasattr(model, name)


def test_early_stopping_judges_by_what_predicts(engine_name):
    X, y = data(2, n=80)
    scores = {}
    for kind in KINDS:
        model = VotedPerceptron(
            engine=engine_name, prediction=kind, early_stopping=True, max_iter=4, tol=None, random_state=5
        ).fit(X, y)
        scores[kind] = model.validation_scores_.tolist()
        part = validation_part(y, 0.1, 5)
        assert max(scores[kind])[0] == np.mean(model.predict(X[part]) == y[part])
    assert len({str(values) for values in scores.values()}) > 1


@pytest.mark.parametrize(
    ("name", "value"), [("prediction", "votes"), ("max_vectors", 0), ("max_vectors", 1.5)]
)
def test_parameters_out_of_range(engine_name, name, value):
    X, y = data()
    model = VotedPerceptron(engine=engine_name, **FIXED).fit(X, y).set_params(**{name: value})
    before = dict(vars(model))
    with pytest.raises(ValueError, match=name):
        model.fit(X, y)
    with pytest.raises(ValueError, match=name):
        model.partial_fit(X, y) if name == "max_vectors" else model.predict(X)
    assert vars(model) == before


def test_weights_that_are_not_finite_are_no_prediction(engine_name):
    X = np.array([[1e150, 1.0], [-1e150, 1.0]] * 20)
    y = np.tile([1, 0, 0, 1], 10)
    model = VotedPerceptron(engine=engine_name, fit_intercept=False, **FIXED).fit(X, y)
    Z = np.array([[1e200, 0.0]])
    with pytest.raises(
        ValueError, match="activation of a vector that votes is not finite; scale the features"
    ):
        model.decision_function(Z)
    with pytest.raises(ValueError, match="NaN"):
        model.decision_function([[np.nan, 0.0]])


@given(
    seed=st.integers(0, 99),
    margin=st.sampled_from([0.0, 2.0]),
    delta=st.sampled_from([0.0, 1.0]),
    most=st.sampled_from([None, 1]),
)
def test_noise_tolerant_runs_are_those_of_the_others(engine_name, seed, margin, delta, most):
    X, y = data(seed=seed)
    parameters = {"margin_threshold": margin, "added_feature": delta, "max_mistakes_per_example": most}
    voted = VotedPerceptron(engine=engine_name, **FIXED, **parameters).fit(X, y)
    other = AveragedPerceptron(engine=engine_name, **FIXED, **parameters).fit(X, y)
    assert said(voted, X)["average"] == other.decision_function(X).tobytes()
    assert voted.survival_[0].sum() == voted.n_seen_[0] == other.n_seen_[0]
    assert voted.n_vectors_.tolist() == [voted.n_mistakes_ + 1]


def test_predict_then_learn_learns_what_partial_fit_learns(engine_name):
    X, y = data(3)
    online, batch = VotedPerceptron(engine=engine_name), VotedPerceptron(engine=engine_name)
    predicted, errors = online.predict_then_learn(X, y, classes=[0, 1, 2])
    batch.partial_fit(X, y, classes=[0, 1, 2])
    assert said(online, X) == said(batch, X)
    assert errors == np.count_nonzero(predicted != y)
    plain, _ = Perceptron(engine=engine_name).predict_then_learn(X, y, classes=[0, 1, 2])
    assert predicted.tolist() == plain.tolist()


def test_a_joint_decision_and_a_penalty_are_not_offered():
    for name in ("multi_class", "joint_update", "penalty", "alpha"):
        with pytest.raises(TypeError, match=name):
            VotedPerceptron(**{name: "joint"})


def test_a_pass_costs_its_own_mistakes(engine_name, monkeypatch):
    """Of many passes, all mistakes are copied a few times, and not once a pass."""
    copied = []
    joining = vectors.extended_vectors
    monkeypatch.setattr(
        vectors,
        "extended_vectors",
        lambda *parts: copied.append(len(joining(*parts)["log_row"])) or joining(*parts),
    )
    X, y = data(n=400)
    model = VotedPerceptron(engine=engine_name)
    for i in range(len(X)):
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1])
    assert model.n_vectors_[0] > 100
    assert sum(copied) < 4 * model.n_vectors_[0]
    whole = VotedPerceptron(engine=engine_name).partial_fit(X, y, classes=[0, 1])
    assert said(model, X) == said(whole, X)


@pytest.mark.parametrize("types", [("int16", "uint16", "float32"), ("uint8", "int8", "float32")])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_rows_of_passes_are_joined_as_one_by_one(types, storage):
    """Nobody sees whether anyone has looked meanwhile: the type of three is not that of each two."""
    X, y = np.abs(data()[0]), data()[1]
    models = VotedPerceptron(), VotedPerceptron()
    for dtype in types:
        for model, looks in zip(models, (False, True), strict=True):
            model.partial_fit(storage(X.astype(dtype)), y, classes=[0, 1])
            assert not looks or model.n_vectors_[0] > 1
    states = [model._model.state() for model in models]
    assert {name: (array.dtype, array.tobytes()) for name, array in states[0].items()} == {
        name: (array.dtype, array.tobytes()) for name, array in states[1].items()
    }
