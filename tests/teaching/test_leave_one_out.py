"""The leave-one-out error with few fits equals that with a fit for each example."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from perceptron_rs import AveragedPerceptron, KernelPerceptron, Perceptron, leave_one_out

FIXED = {"shuffle": False, "tol": None}
MODELS = [
    Perceptron(**FIXED),
    Perceptron(max_iter=2, **FIXED),
    Perceptron(max_iter=3, multi_class="joint", **FIXED),
    Perceptron(max_iter=5, margin_threshold=1, class_weight={0: 2.0}, **FIXED),
    KernelPerceptron(kernel="rbf", gamma=0.5, prediction="last", max_iter=4, **FIXED),
]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("model", MODELS, ids=range(len(MODELS)))
def test_it_equals_one_fit_for_each_example(model, classes):
    random = np.random.default_rng(classes)
    X = random.normal(size=(30, 3))
    y = (X @ random.normal(size=(3, classes)) + 0.2 * random.normal(size=(30, classes))).argmax(axis=1)
    expected = (cross_val_predict(model.set_params(max_iter=5), X, y, cv=LeaveOneOut()) != y).mean()
    found = leave_one_out(model, sparse.csr_matrix(X), y)
    assert found.error == pytest.approx(expected)
    fitted = model.set_params(track_mistakes=True).fit(X, y)
    mistaken = fitted.mistakes_per_example_.any(axis=1)
    model.set_params(track_mistakes=False)
    assert found.bound == (mistaken | (fitted.predict(X) != y)).mean() >= found.error
    assert found.n_fits == 1 + mistaken.sum() < 31


@pytest.mark.parametrize("given", [{"step": "pa1"}, {"class_weight": {0: 0}}])
def test_the_bound_holds_where_no_step_can_help_an_example(given):
    """Rows of zeros have no pa1 step, and examples of weight 0 none at all: wrong after a clean run."""
    X, y = np.array([[2.0], [0], [0], [0], [1]]), np.array([1, 0, 1, 0, 1])
    found = leave_one_out(Perceptron(**FIXED, **given), X, y)
    expected = cross_val_predict(Perceptron(**FIXED, **given), X, y, cv=LeaveOneOut())
    assert found.error == (expected != y).mean() <= found.bound
    assert Perceptron(**FIXED, **given).fit(X, y).converged_


def test_a_class_of_one_example_is_an_error():
    X, y = np.array([[1.0], [2], [3], [-1]]), [1, 1, 1, 0]
    assert leave_one_out(Perceptron(**FIXED), X, y).error >= 0.25
    # Without an intercept, the example of class 0 is never a mistake.
    model = Perceptron(fit_intercept=False, track_mistakes=True, **FIXED)
    assert model.fit(X, y).mistakes_per_example_.ravel().tolist() == [1, 0, 0, 0]
    assert leave_one_out(model, X, y) == (0.25, 0.5, 2)


def test_labels_and_examples_as_fit_takes_them():
    random = np.random.default_rng(7)
    X = random.integers(-2, 3, (20, 3))
    y = (X[:, 0] + random.integers(-1, 2, 20) > 0).astype(int)
    model = Perceptron(max_iter=5, **FIXED)
    expected = leave_one_out(model, X, y)
    assert expected.error > 0
    for form in ("csr", "csc", "coo", "bsr", "dia", "lil"):
        assert leave_one_out(model, sparse.coo_matrix(X).asformat(form), y) == expected
    assert leave_one_out(model, X.tolist(), y.tolist()) == expected
    with pytest.warns(DataConversionWarning):
        assert leave_one_out(model, X, y[:, np.newaxis]) == expected
    with pytest.raises(ValueError, match="y is a masked array"):
        leave_one_out(model, X, np.ma.MaskedArray(y, mask=y == 1))


def test_refusals():
    X, y = np.array([[1.0], [-1], [2]]), [1, 0, 1]
    for model, text in [
        (Perceptron(tol=None), "shuffle must be False"),
        (Perceptron(shuffle=False), "tol must be None"),
        (Perceptron(class_weight="balanced", **FIXED), "class_weight and gamma"),
        *(
            (KernelPerceptron(kernel, gamma="scale", prediction="last", **FIXED), "class_weight and gamma")
            for kernel in ("rbf", "poly", "sigmoid")
        ),
        (KernelPerceptron(kernel="precomputed", prediction="last", **FIXED), "kernel must not be"),
        (Perceptron(penalty="l2", **FIXED), "penalty must be None"),
        (Perceptron(early_stopping=True, **FIXED), "early_stopping must be False"),
        (Perceptron(n_partitions=2, **FIXED), "n_partitions must be 1"),
        (Perceptron(n_partitions=np.array([1, 2]), **FIXED), "n_partitions must be 1"),
        (AveragedPerceptron(**FIXED), "estimator must be a Perceptron"),
        (Perceptron, "estimator must be a Perceptron"),
        (KernelPerceptron(**FIXED), "estimator must be a Perceptron"),
    ]:
        with pytest.raises(ValueError, match=text):
            leave_one_out(model, X, y)
