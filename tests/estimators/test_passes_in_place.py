"""Passes of one call over few entries among many columns: the bits of all columns, where they stand."""

import copy

import numpy as np
import pytest
import scipy.sparse as sp
from tests.learners import PASSES
from tests.support import contents

from perceptron_rs import AveragedPerceptron, Perceptron

OPTIONS = [
    {},
    {"tie": "positive", "eta0": 0.3},
    {"fit_intercept": False},
    {"margin_threshold": 0.7},
    {"multi_class": "joint"},
    {"multi_class": "joint", "joint_update": "proportional", "eta0": 0.1},
]


def text(n, d, seed=0):
    """Rows of some entries, columns of which come again, with entries of 0."""
    random = np.random.default_rng(seed)
    columns = random.integers(0, d // 64, 20 * n) * 64 + random.integers(0, 3, 20 * n)
    entries = random.standard_normal(20 * n), (np.repeat(np.arange(n), 20), columns)
    rows = sp.csr_matrix(entries, shape=(n, d))
    rows.data[::7] = 0.0
    return rows, random.integers(0, 3, n)


WIDE, LABELS = text(40, 4096)
KINDS_OF_TEXT = {
    "reals": WIDE,
    "integers": sp.csr_matrix(
        (np.round(WIDE.data * 9).astype(np.int8), WIDE.indices, WIDE.indptr), WIDE.shape
    ),
    "ones": sp.csr_matrix((np.ones(WIDE.nnz, np.float32), WIDE.indices, WIDE.indptr), WIDE.shape),
    "long": sp.csr_matrix(
        (WIDE.data, WIDE.indices.astype(np.int64), WIDE.indptr.astype(np.int64)), WIDE.shape
    ),
}
KINDS_OF_TEXT["long"].indices, KINDS_OF_TEXT["long"].indptr = (
    KINDS_OF_TEXT["long"].indices.astype(np.int64),
    KINDS_OF_TEXT["long"].indptr.astype(np.int64),
)


@pytest.mark.parametrize("kind", KINDS_OF_TEXT)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("learner", PASSES)
def test_few_entries_among_many_columns(learner, options, kind):
    """The columns of a row alone are read, and learnt where they stand: the bits of all columns at once."""
    rows = KINDS_OF_TEXT[kind]
    for labels in (LABELS, np.minimum(LABELS, 1)):
        classes = np.unique(labels)
        model = learner(**options).partial_fit(rows[:1], labels[:1], classes=classes)
        for i in range(1, 30):
            model.partial_fit(rows[i : i + 1], labels[i : i + 1], check_input=i % 2 > 0)
        model.partial_fit(rows[30:], labels[30:], check_input=False)
        whole = learner(max_iter=1, tol=None, shuffle=False, **options).fit(rows, labels)
        dense = learner(max_iter=1, tol=None, shuffle=False, **options).fit(rows.toarray(), labels)
        for one in (whole, dense):
            assert model.coef_.tobytes() == one.coef_.tobytes()
            assert model.intercept_.tobytes() == one.intercept_.tobytes()
            assert model.n_seen_.tolist() == one.n_seen_.tolist()


def wide_model(learner=Perceptron, **options):
    model = learner(**options).partial_fit(WIDE[:2], LABELS[:2], classes=[0, 1, 2])
    return model.partial_fit(WIDE[2:4], LABELS[2:4], check_input=False)


def test_learns_where_the_weights_stand():
    model = wide_model()
    before = model.coef_.__array_interface__["data"]
    for i in range(4, 30):
        model.partial_fit(WIDE[i : i + 1], LABELS[i : i + 1], check_input=i % 2 > 0)
        assert model.coef_.__array_interface__["data"] == before


HOLDERS = {
    "array": lambda model: model.coef_,
    "view": lambda model: model.coef_[1],
    "buffer": lambda model: memoryview(model.coef_),
    "copy": copy.copy,
}


@pytest.mark.parametrize("check_input", [True, False])
@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("learner", PASSES)
def test_what_is_held_is_not_written_to(learner, holder, check_input):
    model = wide_model(learner)

    def numbers(held):
        return held.coef_.tobytes() if isinstance(held, learner) else bytes(np.array(held))

    for i in range(4, 30):
        held = HOLDERS[holder](model)
        before = numbers(held)
        model.partial_fit(WIDE[i : i + 1], LABELS[i : i + 1], check_input=check_input)
        assert numbers(held) == before
    whole = learner(max_iter=1, tol=None, shuffle=False).fit(WIDE[:30], LABELS[:30])
    assert model.coef_.tobytes() == whole.coef_.tobytes()


@pytest.mark.parametrize("hold", [lambda array: array, lambda array: array[...], memoryview, np.array])
@pytest.mark.parametrize("learner", PASSES)
def test_numbers_that_are_held_are_not_written_to(learner, hold):
    model = wide_model(learner)
    for i in range(4, 30):
        held = [hold(array) for array in model._model.state().values()]
        before = [np.array(value).tobytes() for value in held]
        model.partial_fit(WIDE[i : i + 1], LABELS[i : i + 1], check_input=False)
        assert [np.array(value).tobytes() for value in held] == before
    whole = learner(max_iter=1, tol=None, shuffle=False).fit(WIDE[:30], LABELS[:30])
    assert model.intercept_.tobytes() == whole.intercept_.tobytes()
    assert model.n_seen_.tolist() == whole.n_seen_.tolist()


@pytest.mark.parametrize("learner", PASSES)
def test_an_error_amid_a_pass_leaves_all_as_it_was(learner):
    model = wide_model(learner)
    before = contents(model)
    rows = WIDE[4:10].copy()
    rows.data[-3:] = np.inf
    for check_input in (True, False):
        with pytest.raises(ValueError, match="inf"):
            model.partial_fit(rows, LABELS[4:10], check_input=check_input)
        assert contents(model) == before


@pytest.mark.parametrize("learner", PASSES)
def test_weights_set_from_outside_have_no_negative_zero(learner):
    """As those of a fit: of columns that no row has, too."""
    model = wide_model(learner)
    model.coef_ = np.full_like(model.coef_, -0.0)
    model.partial_fit(WIDE[4:5], LABELS[4:5], check_input=False)
    assert not np.signbit(model.coef_[:, 5]).any()


def test_averages_of_other_columns_stay_finite():
    """A weight that no row reads, so large that its part of the average overflows after some examples."""
    model = wide_model(AveragedPerceptron)
    weights = model.coef_.copy()
    weights[:, 5] = 1e308 / 6  # times 10 is finite, times 11 is not
    model.coef_ = weights
    for i in range(4, 13):
        model.partial_fit(WIDE[i : i + 1], LABELS[i : i + 1], check_input=False)
    before = contents(model)
    with pytest.raises(ValueError, match="overflow"):
        model.partial_fit(WIDE[13:14], LABELS[13:14], check_input=False)
    assert contents(model) == before
    assert np.isfinite(model.coef_).all()


def test_predictions_on_the_way_are_those_before_learning():
    model, twin = wide_model(), wide_model()
    predicted, errors = model.predict_then_learn(WIDE[4:], LABELS[4:])
    one_by_one_predicted = []
    for i in range(4, 40):
        one_by_one_predicted.append(twin.predict(WIDE[i : i + 1])[0])
        twin.partial_fit(WIDE[i : i + 1], LABELS[i : i + 1])
    assert predicted.tolist() == one_by_one_predicted
    assert errors == np.count_nonzero(predicted != LABELS[4:])
    assert model.coef_.tobytes() == twin.coef_.tobytes()


@pytest.mark.parametrize("engine", ["rust", "reference"])
@pytest.mark.parametrize("learner", PASSES)
def test_passes_after_another_fit_learn_where_the_numbers_stand(learner, engine):
    """The settings of a pass are known by the classes, too: by those of the last fit."""
    X, y = np.array([[1.0, -2], [3, 4]]), np.array([0, 1])
    model = learner(engine=engine).partial_fit(X, y, classes=[0, 1])
    for labels in (y, y + 5):
        model.fit(X, labels).partial_fit(X, labels)
        numbers = model._model
        model.partial_fit(X, labels, check_input=False)
        assert model._model is numbers
