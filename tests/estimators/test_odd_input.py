"""Input that is unusual but clear is taken; what nobody can mean is refused, with the argument's name."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.learners import LINEAR

from perceptron_rs import (
    AveragedPerceptron,
    KernelPerceptron,
    MaxMarginClassifier,
    MultilayerPerceptron,
    Perceptron,
    PocketPerceptron,
    SequencePerceptron,
    VotedPerceptron,
)

CLASSIFIERS = (*LINEAR, KernelPerceptron, MultilayerPerceptron, MaxMarginClassifier)
ONLINE = (Perceptron, AveragedPerceptron, VotedPerceptron, KernelPerceptron, MultilayerPerceptron)

rng = np.random.default_rng(1)
Y = rng.integers(0, 3, 30)
X = rng.integers(-2, 3, (30, 3)) + 9.0 * np.eye(3)[Y]


class OnlyArray:
    """What can become an array, and nothing else."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return np.array(self.array, dtype=dtype, copy=True if copy is None else copy)  # None is of NumPy 2


class OnlyInterface:
    """The same, by NumPy's other protocol."""

    def __init__(self, array):
        self.array = array
        self.__array_interface__ = array.__array_interface__


def misaligned(array):
    """Return a copy whose numbers do not begin at multiples of their size, as in packed records."""
    found = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    found[...] = array
    assert not found.flags.aligned
    return found


def outcome(model):
    return model.decision_function(X).tobytes()


@pytest.mark.parametrize("kind", [OnlyArray, OnlyInterface])
@pytest.mark.parametrize("learner", CLASSIFIERS)
def test_objects_that_only_become_arrays(learner, kind):
    expected = learner().fit(X, Y)
    model = learner().fit(kind(X), kind(Y))
    assert outcome(model) == outcome(expected)
    assert model.n_features_in_ == 3
    assert model.decision_function(kind(X)).tobytes() == outcome(expected)
    assert model.score(kind(X), kind(Y)) == expected.score(X, Y)


@pytest.mark.parametrize("kind", [OnlyArray, OnlyInterface, sp.coo_matrix, sp.dia_matrix, sp.bsr_matrix])
@pytest.mark.parametrize("learner", LINEAR)
def test_other_forms_with_early_stopping(learner, kind):
    expected = learner(early_stopping=True).fit(X, Y)
    labels = Y if sp.issparse(kind(X)) else kind(Y)
    assert outcome(learner(early_stopping=True).fit(kind(X), labels)) == outcome(expected)


@pytest.mark.parametrize("learner", [*LINEAR, KernelPerceptron])
def test_misaligned_weights_of_examples(learner):
    weights = rng.integers(0, 4, 30) / 2.0
    expected = outcome(learner().fit(X, Y, sample_weight=weights))
    assert outcome(learner().fit(misaligned(X), misaligned(Y), sample_weight=misaligned(weights))) == expected


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("learner", CLASSIFIERS)
def test_a_sparse_matrix_of_objects_is_refused(learner, form):
    matrix = getattr(sp, f"{form}_matrix")(X)
    matrix.data = matrix.data.astype(object)
    model = learner().fit(X, Y)
    for call in (lambda: learner().fit(matrix, Y), lambda: model.predict(matrix)):
        with pytest.raises(TypeError, match="X must hold real numbers, got a sparse matrix of objects"):
            call()


#: The parts of each format, and whether they are numbers of rows or columns.
PARTS = {
    **{form: {"data": False, "indices": True, "indptr": True} for form in ("csr", "csc", "bsr")},
    "coo": {"data": False, "row": True, "col": True},
    "dia": {"data": False, "offsets": True},
    "lil": {"data": False, "rows": False},
}


@pytest.mark.parametrize(("form", "part"), [(form, part) for form in PARTS for part in PARTS[form]])
def test_parts_that_somebody_has_put_into_a_sparse_matrix(form, part):
    """SciPy looks at them when it makes a matrix, not when they are assigned."""
    matrix = sp.csr_matrix(X).asformat(form)
    held = getattr(matrix, part)

    def put(value):
        if form == "coo" and part != "data" and hasattr(matrix, "coords"):  # SciPy converts what is set here
            matrix.coords = (value, matrix.col) if part == "row" else (matrix.row, value)
        else:
            setattr(matrix, part, value)
        Perceptron().fit(matrix, Y)

    with pytest.raises(ValueError, match=f"X is a malformed {form.upper()} matrix: {part} must be an array"):
        put(held.tolist())
    if PARTS[form][part]:
        with pytest.raises(
            ValueError, match=f"{form.upper()} matrix: {part} must hold integers, got the dtype"
        ):
            put(held.astype(float))
    put(held)


@pytest.mark.parametrize("classes", [[], [0], [0, 1], [0, 1, 2, 3]])
@pytest.mark.parametrize("learner", CLASSIFIERS)
def test_assigned_classes_that_do_not_fit_are_refused(learner, classes):
    model = learner().fit(X, Y)
    model.classes_ = np.array(classes, dtype=np.int64)
    for call in (model.predict, model.decision_function):
        with pytest.raises(ValueError, match="classes_ must hold 3 labels"):
            call(X)
    if len(classes) < 2 and learner in ONLINE:
        with pytest.raises(ValueError, match="classes_ must hold at least 2 labels"):
            model.partial_fit(X, np.zeros(30, dtype=int))
        if learner in LINEAR:
            with pytest.raises(ValueError, match="classes_ must hold at least 2 labels"):
                model.partial_fit(X, np.zeros(30, dtype=int), check_input=False)
    two = learner().fit(X, Y > 0)
    two.classes_ = np.array([5])
    with pytest.raises(ValueError, match="classes_ must hold 2 labels"):
        two.predict(X)
    two.classes_ = np.array(["no", "yes"])
    assert set(two.predict(X)) <= {"no", "yes"}


def test_assigned_classes_of_sequences():
    model = SequencePerceptron().fit(X, Y, lengths=[10, 10, 10])
    for classes in ([], [1], [0, 1, 2, 3]):
        model.classes_ = np.array(classes)
        with pytest.raises(ValueError, match="classes_ must hold 3 labels"):
            model.predict(X, lengths=[10, 10, 10])


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["coef_", "intercept_"])
@pytest.mark.parametrize("learner", [Perceptron, PocketPerceptron, MaxMarginClassifier])
def test_weights_that_were_set_to_no_number_do_not_predict(learner, name, value):
    model = learner().fit(X, Y)
    weights = getattr(model, name).copy()
    weights[1] = value
    with pytest.raises(ValueError, match=rf"{name} must be finite, got {value}"):  # noqa: PT012
        setattr(model, name, weights)
        model.predict(X)


@pytest.mark.parametrize("learner", [Perceptron, PocketPerceptron])
def test_weights_of_another_width_do_not_predict(learner):
    model = learner().fit(X, Y)
    model.coef_ = np.ones((3, X.shape[1] + 1))
    with pytest.raises(ValueError, match=r"coef_ must have .* \(n_planes, 3\), got \(3, 4\); fit again"):
        model.predict(X)


@pytest.mark.parametrize("learner", CLASSIFIERS)
def test_score_names_y(learner):
    model = learner().fit(X, Y)
    for wrong in (Y[:-1], [*Y, 0], Y[:0]):
        with pytest.raises(ValueError, match=r"X has 30 rows, but y has \d+ entries"):
            model.score(X, wrong)
    with pytest.raises(ValueError, match=r"\by\b.*NaN"):
        model.score(X, np.where(Y > 0, np.nan, 1.0))
    with pytest.raises(ValueError, match="sample_weight"):
        model.score(X, Y, sample_weight=np.ones(29))
    assert model.score(X, Y + 7) == 0
    half = np.arange(30) < 15
    assert model.score(X, Y, sample_weight=half * 1.0) == model.score(X[half], Y[half])


@pytest.mark.parametrize("learner", ONLINE)
def test_partial_fit_names_y(learner):
    model = learner().fit(X, Y)
    ways = [{}] if learner in (KernelPerceptron, MultilayerPerceptron) else [{}, {"check_input": False}]
    for options in ways:
        with pytest.raises(ValueError, match="X has 30 rows, but y has 29 entries"):
            model.partial_fit(X, Y[:-1], **options)
        with pytest.raises(
            ValueError, match=r"y contains labels that are not in classes_ \[0, 1, 2\]: 7, 8, 9"
        ):
            model.partial_fit(X, Y + 7, **options)
