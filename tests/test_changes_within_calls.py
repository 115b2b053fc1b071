"""What a label, an array or a callback changes while the estimator learns is counted or refused, not lost."""

import copy
import sys

import numpy as np
import pytest
from scipy.sparse import csr_matrix, issparse

from perceptron_rs import (
    BudgetedKernelPerceptron,
    KernelPerceptron,
    MaxMarginClassifier,
    MultilayerPerceptron,
    Perceptron,
    VotedPerceptron,
)
from tests.learners import PASSES

X = np.random.default_rng(3).integers(-4, 5, (6, 3)).astype(float)
LABELS = np.array(list("ababab"), dtype=object)


class Label(str):
    """A label that does something where it is compared."""

    act = staticmethod(lambda: None)
    __hash__ = str.__hash__

    def __eq__(self, other):
        Label.act()
        return str.__eq__(self, other)


class Rows:
    """An array-like that does something where it is read."""

    def __init__(self, act):
        self.act = act

    def __array__(self, dtype=None, copy=None):
        self.act()
        return X


@pytest.fixture(autouse=True)
def fixture_quiet():
    yield
    Label.act = staticmethod(lambda: None)


def within_labels(act, model, rows, *, always=False):
    """Make a pass without checks over labels that act where they are compared, the first one or all."""
    acted = []

    def when_compared():
        if always or not acted:
            acted.append(True)
            act()

    Label.act = staticmethod(when_compared)
    model.partial_fit(rows, np.array([Label(label) for label in LABELS], dtype=object), check_input=False)
    assert acted


ROWS = pytest.mark.parametrize("rows", [X, X.astype("f2"), csr_matrix(X)], ids=["float64", "float16", "csr"])


@ROWS
@pytest.mark.parametrize("learner", PASSES)
def test_a_pass_goes_into_the_model_that_a_label_has_put_there(learner, rows):
    model, other = learner().fit(X, LABELS), learner().fit(X[:4], LABELS[:4]).partial_fit(X, LABELS)
    within_labels(lambda: model.fit(X[:4], LABELS[:4]), model, rows)
    assert (model.n_seen_.tolist(), model.coef_.tolist()) == (other.n_seen_.tolist(), other.coef_.tolist())


@ROWS
@pytest.mark.parametrize("learner", PASSES)
def test_labels_that_go_on_replacing_the_model_are_refused(learner, rows):
    model, other = learner().fit(X, LABELS), learner().fit(X[:4], LABELS[:4])
    with pytest.raises(RuntimeError, match="is learning"):
        within_labels(lambda: model.fit(X[:4], LABELS[:4]), model, rows, always=True)
    assert model.coef_.tolist() == other.coef_.tolist()


@pytest.mark.parametrize("learner", PASSES)
def test_a_pass_that_a_label_makes_is_counted(learner):
    model = learner().fit(X, LABELS)
    before = model.n_seen_[0]
    within_labels(lambda: model.partial_fit(X[:2], LABELS[:2], check_input=False), model, X)
    assert model.n_seen_[0] == before + 8


def assign(model):
    model.coef_ = np.full(model.coef_.shape, 7.0)


@pytest.mark.parametrize("learner", PASSES)
def test_weights_that_a_label_assigns_are_learnt_from(learner):
    model, other = learner().fit(X, LABELS), learner().fit(X, LABELS)
    within_labels(lambda: assign(model), model, X)
    assign(other)
    other.partial_fit(X, LABELS)
    assert model.coef_.tobytes() == other.coef_.tobytes()


@pytest.mark.parametrize("learner", [*PASSES, VotedPerceptron])
def test_weights_that_a_callback_assigns_within_a_fit_are_refused(learner):
    model = learner(max_iter=3, tol=None).fit(X, LABELS)
    before = model.coef_.copy()
    model.set_params(callback=lambda record: assign(model))
    with pytest.raises(RuntimeError, match="was changed while it learnt"):
        model.fit(X, LABELS)
    assert (model.coef_ == 7).all() or model.coef_.tobytes() == before.tobytes()


NUMBERS = np.arange(6) % 2
CALLS = {
    "partial_fit": lambda model: model.partial_fit(X, NUMBERS),
    "unchecked": lambda model: model.partial_fit(X, NUMBERS, check_input=False),
    "calibrate": lambda model: model.calibrate(X, NUMBERS),
    "sparsify": lambda model: model.sparsify(),
    "assign": assign,
}


def outcome(model):
    probable = model.predict_proba(X).tobytes() if hasattr(model, "predict_proba") else None
    return model.decision_function(X).tobytes(), issparse(model.coef_), probable


def acting_at(model, call, at, act):
    """Make a call, and act at a function of it, by its number; return how many there were, and the error."""
    seen, error = 0, None

    def look(frame, event, _):
        nonlocal seen
        if event in ("call", "c_call") and "perceptron_rs" in frame.f_code.co_filename:
            seen += 1
            if seen == at:
                sys.setprofile(None)
                act(model)

    sys.setprofile(look)
    try:
        call(model)
    except RuntimeError as found:
        error = found
    finally:
        sys.setprofile(None)
    return seen, error


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("call", "act"),
    [
        ("partial_fit", "calibrate"),
        ("unchecked", "calibrate"),
        ("calibrate", "assign"),
        ("sparsify", "assign"),
    ],
)
@pytest.mark.parametrize("learner", PASSES)
def test_a_change_at_any_function_of_a_call_comes_before_or_after_it_or_is_refused(learner, call, act):
    start, orders = learner().fit(X, NUMBERS), []
    for steps in ((call, act), (act, call)):
        model = copy.copy(start)
        for step in steps:
            CALLS[step](model)
        orders.append(outcome(model))
    total, _ = acting_at(copy.copy(start), CALLS[call], None, None)
    for at in range(max(1, total - 110), total):
        model = copy.copy(start)
        _, error = acting_at(model, CALLS[call], at, CALLS[act])
        assert outcome(model) in orders or "was changed while it learnt" in str(error), at


LEARNERS = [
    *(learner() for learner in PASSES),
    VotedPerceptron(),
    KernelPerceptron("linear"),
    BudgetedKernelPerceptron("linear", budget=5),
    MultilayerPerceptron(),
    MaxMarginClassifier(inseparable="warn"),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("call", ["fit", "partial_fit", "predict_then_learn"])
@pytest.mark.parametrize("model", LEARNERS, ids=str)
def test_an_attribute_that_an_array_sets_is_refused(model, call):
    if not hasattr(model, call):
        pytest.skip("it has no such call")
    model = type(model)(**model.get_params()).fit(X, LABELS)
    classes = np.array(["c", "d"], dtype=object)
    act = Rows(lambda: setattr(model, "classes_", classes))
    if call == "fit":
        with pytest.raises(RuntimeError, match="was changed while it learnt"):
            model.fit(act, LABELS)
        assert model.classes_.tolist() == ["c", "d"]
        return
    with pytest.raises((RuntimeError, ValueError), match=r"was changed while it learnt|class"):
        getattr(model, call)(act, LABELS)


@pytest.mark.parametrize("learner", PASSES)
def test_a_parameter_that_an_array_sets_stays(learner):
    model = learner().fit(X, LABELS)
    model.fit(Rows(lambda: model.set_params(eta0=0.5)), LABELS)
    assert model.eta0 == 0.5


def test_a_fit_within_an_array_is_refused():
    model = Perceptron().fit(X, LABELS)
    with pytest.raises(RuntimeError, match="is learning"):
        model.fit(Rows(lambda: model.fit(X, LABELS)), LABELS)


@pytest.mark.filterwarnings("ignore:The number of unique classes")
@pytest.mark.parametrize("learner", PASSES)
def test_a_label_is_not_compared_with_each_class(learner):
    classes, compared = [f"{k:02}" for k in range(60)], []
    labels = np.array([Label(name) for name in classes], dtype=object)
    model = learner().fit(np.eye(60), np.array(classes, dtype=object))
    Label.act = staticmethod(lambda: compared.append(True))
    model.partial_fit(np.eye(60), labels, check_input=False)
    assert model.n_seen_[0] % 60 == 0
    assert 60 <= len(compared) <= 120  # within a turn, too
