"""Progressive validation of the kernel learners: the predictions of a loop, the run of ``partial_fit``."""

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs import BudgetedKernelPerceptron, KernelPerceptron

RNG = np.random.default_rng(5)
X = RNG.integers(-3, 4, (60, 4)).astype(np.float64)
LABELS = {
    "two": np.array([-1, 1])[(X[:, 0] * X[:, 1] > 0).astype(int)],
    "three": np.abs(X[:, 0]).astype(int) % 3,
}


@pytest.mark.parametrize(("classes", "storage"), [("two", np.asarray), ("three", sp.csr_matrix)])
@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
@pytest.mark.parametrize("learner", [KernelPerceptron, BudgetedKernelPerceptron])
def test_a_pass_is_a_loop(learner, multi_class, classes, storage, engine_name):
    n = 24 if engine_name == "reference" else len(X)
    rows, y = X[:n], LABELS[classes][:n]
    parameters = {"gamma": 0.3, "multi_class": multi_class, "engine": engine_name, "random_state": 1}
    parameters |= {"budget": 7} if learner is BudgetedKernelPerceptron else {"prediction": "last"}
    model, one_by_one, batch = (learner(**parameters) for _ in range(3))
    found, errors = [], 0
    for part in (slice(0, 10), slice(10, n)):
        predicted, wrong = model.predict_then_learn(storage(rows[part]), y[part], classes=np.unique(y))
        found += predicted.tolist()
        errors += wrong
    one_by_one.partial_fit(storage(rows[:1]), y[:1], classes=np.unique(y))
    for i in range(1, n):
        assert one_by_one.predict(storage(rows[i : i + 1]))[0] == found[i]
        one_by_one.partial_fit(storage(rows[i : i + 1]), y[i : i + 1])
    batch.partial_fit(storage(rows), y, classes=np.unique(y))
    assert errors == np.count_nonzero(np.array(found) != y)
    for other in (one_by_one, batch):
        assert other.decision_function(X).tobytes() == model.decision_function(X).tobytes()


def test_an_example_of_weight_0_is_refused(engine_name):
    model = KernelPerceptron(engine=engine_name)
    with pytest.raises(ValueError, match="sample_weight and class_weight must be above 0"):
        model.predict_then_learn(X, LABELS["two"], classes=[-1, 1], sample_weight=np.arange(60.0))
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("learner", [KernelPerceptron, BudgetedKernelPerceptron])
@pytest.mark.parametrize(
    ("parameter", "text"),
    [
        ({"shuffle": "yes"}, "The 'shuffle' parameter"),
        ({"kernel": "precomputed"}, "kernel='precomputed' is not available with partial_fit"),
        ({"kernel": "poly", "degree": 2.5}, "degree"),
    ],
)
def test_parameters_are_validated_as_by_partial_fit(learner, parameter, text):
    for _ in range(2):  # a choice of parameters that was refused is not remembered as accepted
        for method in ("partial_fit", "predict_then_learn"):
            with pytest.raises(ValueError, match=text):
                getattr(learner(**parameter), method)(X, LABELS["two"], classes=[-1, 1])
