"""BudgetedKernelPerceptron: streams, what it refuses, copies, memory."""

import copy
import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from perceptron_rs import BudgetedKernelPerceptron, KernelPerceptron

POLICIES = ("oldest", "random", "forgetron", "projectron")
random = np.random.default_rng(11)
X = random.normal(size=(240, 3))
Y = (X[:, 0] * X[:, 1] > 0) + (X[:, 2] > 0.8).astype(int)


def budgeted(**changes):
    return BudgetedKernelPerceptron(**({"gamma": 0.5, "budget": 15} | changes))


def learnt(model):
    """Bytes of all that the model predicts with and goes on from, but for ``support_``."""
    parts = {name: value for name, value in model._model.state().items() if name != "origin"}
    return {name: (value.dtype.str, value.shape, value.tobytes()) for name, value in parts.items()}


@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
@pytest.mark.parametrize("policy", POLICIES)
def test_a_stream_in_blocks_is_one_pass(engine_name, policy, multi_class):
    changes = {"budget_policy": policy, "multi_class": multi_class, "engine": engine_name}
    few = 40 if engine_name == "reference" else 120
    rows, labels = X[:few], Y[:few]
    whole = budgeted(max_iter=1, shuffle=False, **changes).fit(rows, labels)
    for size in (1, 7, 100):
        stream = budgeted(**changes)
        for start in range(0, len(rows), size):
            block = slice(start, start + size)
            stream.partial_fit(rows[block], labels[block], classes=[0, 1, 2])
            if start == size * (len(rows) // size // 2):
                stream = pickle.loads(pickle.dumps(stream))
        assert learnt(stream) == learnt(whole)
        assert stream.predict(rows).tobytes() == whole.predict(rows).tobytes()
        if engine_name == "reference":
            break  # the slow engine is compared with the fast one below


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("storage", [np.uint8, sp.csr_matrix])
def test_the_engines_and_the_storages_agree(policy, storage):
    whole, y = np.round(np.abs(X[:40]) * 3), Y[:40]
    found = []
    for name in ("rust", "reference"):
        data = storage(whole) if storage is sp.csr_matrix else whole.astype(storage)
        model = budgeted(budget_policy=policy, engine=name, max_iter=2, random_state=3).fit(data, y)
        again = copy.deepcopy(model).set_params(warm_start=True).fit(data, y)
        found.append((model.decision_function(data).tobytes(), again.decision_function(data).tobytes()))
        parts = [learnt(each) for each in (model, again)]
        found[-1] += tuple(part for parts in parts for name, part in parts.items() if name[:4] != "rows")
    dense = budgeted(budget_policy=policy, max_iter=2, random_state=3).fit(whole, y)
    assert found[0] == found[1]
    assert found[0][0] == dense.decision_function(whole).tobytes()


def test_what_is_kept_is_what_predicts():
    model = budgeted(budget_policy="forgetron", kernel="linear").fit(X, Y)
    assert model.support_.max() < 240
    np.testing.assert_array_equal(X[model.support_], model.support_vectors_)
    scores = X @ (model.dual_coef_ @ model.support_vectors_).T
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-9)
    assert (model.mistakes_per_support_.sum(axis=1) == 15).all()


def test_a_joint_budget_is_of_all_classes_and_others_of_each():
    joint = budgeted(multi_class="joint").fit(X, Y)
    assert joint.dual_coef_.shape == (3, 15)
    each = budgeted().fit(X, Y)
    assert (np.count_nonzero(each.dual_coef_, axis=1) <= 15).all()
    assert each.dual_coef_.shape[1] > 15


def test_precomputed_values_and_a_warm_start(engine_name):
    gram = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    for policy in POLICIES:
        model = budgeted(
            kernel="precomputed", budget_policy=policy, max_iter=1, warm_start=True, engine=engine_name
        )
        rows = budgeted(budget_policy=policy, max_iter=1, warm_start=True)
        for _ in range(2):
            model.fit(gram, Y)
            rows.fit(X, Y)
        assert np.mean(model.predict(gram) == rows.predict(X)) > 0.95  # NumPy's exp is another
        assert (np.abs(model.dual_coef_).sum(axis=1) > 0).all()


def test_more_than_two_epochs_of_a_random_state_instance_draw_one_key():
    states = [np.random.RandomState(5) for _ in range(2)]
    whole = budgeted(budget_policy="random", max_iter=1, shuffle=False, random_state=states[0]).fit(X, Y)
    stream = budgeted(budget_policy="random", random_state=states[1])
    for start in (0, 100, 200):
        stream.partial_fit(X[start : start + 100], Y[start : start + 100], classes=[0, 1, 2])
    assert learnt(stream) == learnt(whole)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kernel": "sigmoid", "budget_policy": "projectron"}, "needs a kernel that is positive definite"),
        (
            {"kernel": "poly", "coef0": -1.0, "budget_policy": "projectron"},
            "needs a kernel that is positive definite, got kernel='poly' with coef0=-1.0",
        ),
        ({"budget": 0}, "budget"),
        ({"budget": -3}, "budget"),
        ({"budget": 2.5}, "budget"),
        ({"budget": True}, "budget"),
        ({"budget": 2**31}, "budget"),
        ({"budget_policy": "newest"}, "budget_policy"),
        ({"projection_distance": -1.0}, "projection_distance"),
        ({"projection_distance": np.nan}, "projection_distance"),
    ],
)
def test_what_has_no_meaning_is_refused(changes, words):
    for call in (
        lambda model: model.fit(X, Y),
        lambda model: model.partial_fit(X, Y, classes=[0, 1, 2]),
    ):
        with pytest.raises(ValueError, match=words):
            call(budgeted(**changes))
    model = budgeted(**changes)
    model.__dict__.update(vars(budgeted().fit(X, Y)) | model.get_params())
    if "projection_distance" in changes:  # which learning alone looks at
        assert len(model.predict(X)) == len(X)
        return
    # Another kernel than that of the fit is refused before anything else is looked at.
    with pytest.raises(ValueError, match="differs from the fit" if "kernel" in changes else words):
        model.predict(X)


def test_the_terms_stay_those_of_the_first_call():
    for changes in ({"budget": 20}, {"budget_policy": "random"}):
        model = budgeted().partial_fit(X, Y, classes=[0, 1, 2])
        before = learnt(model)
        with pytest.raises(ValueError, match=r"differs from the fit .* fit with warm_start=False"):
            model.set_params(**changes).partial_fit(X, Y)
        assert learnt(model) == before
        model.fit(X, Y)


def test_copies_and_parameters():
    model = budgeted(budget_policy="projectron", projection_distance=0.25).fit(X, Y)
    assert clone(model).get_params() == model.get_params()
    assert model.get_params()["budget"] == 15
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert learnt(other) == learnt(model)
        part = [each.partial_fit(X[::-1], Y[::-1]) for each in (other, copy.deepcopy(model))]
        assert learnt(part[0]) == learnt(part[1])
    assert learnt(clone(model).fit(X, Y)) == learnt(model)


def test_each_of_the_two_has_only_what_it_has():
    ours, other = (set(kind().get_params()) for kind in (BudgetedKernelPerceptron, KernelPerceptron))
    assert ours - other == {"budget", "budget_policy", "projection_distance"}
    assert other - ours == {"prediction", "normalize", "fit_intercept", "added_feature", "cache_size"}
    model = BudgetedKernelPerceptron().fit(X, Y)  # by its defaults
    for name in ("n_vectors_", "survival_", "intercept_"):
        assert not hasattr(model, name)


def test_a_budget_that_is_never_full_is_no_budget(engine_name):
    rows, labels = (X[:80], Y[:80]) if engine_name == "reference" else (X, Y)
    for multi_class in ("ovr", "joint"):
        common = {"gamma": 0.5, "max_iter": 2, "multi_class": multi_class, "engine": engine_name}
        ours = BudgetedKernelPerceptron(budget=1000, **common).fit(rows, labels)
        other = KernelPerceptron(prediction="last", **common).fit(rows, labels)
        assert ours.decision_function(X).tobytes() == other.decision_function(X).tobytes()
        assert ours.mistakes_per_epoch_.tolist() == other.mistakes_per_epoch_.tolist()


def test_a_callable_kernel_is_refused():
    with pytest.raises(ValueError, match="'kernel' parameter of BudgetedKernelPerceptron must be a str"):
        budgeted(kernel=np.dot).fit(X, Y)
    with pytest.raises(ValueError, match="differs from the fit that the estimator continues"):
        budgeted().fit(X, Y).set_params(kernel=np.dot).predict(X)


def test_a_failed_call_leaves_the_model_as_it_was():
    model = budgeted(kernel="linear", budget_policy="forgetron").fit(X, Y)
    before = learnt(model)
    for wrong in (X * np.nan, X * 1e300):
        with pytest.raises(ValueError, match=r"NaN|overflow"):
            model.partial_fit(wrong, Y)
        assert learnt(model) == before


WHY = "a weight scales the step; repeating visits twice"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": WHY,
    "check_sample_weight_equivalence_on_sparse_data": WHY,
    "check_class_weight_classifiers": "a score on noise, which the last vector meets by the order alone",
}


@parametrize_with_checks(
    [budgeted(budget=30)],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_sklearn_checks(estimator, check):
    check(estimator)


def stream(blocks, size, seed):
    numbers = np.random.default_rng(seed)
    for _ in range(blocks):
        rows = numbers.normal(size=(size, 2))
        yield rows, (rows[:, 0] * rows[:, 1] > 0).astype(int)


@pytest.mark.parametrize(
    ("policy", "blocks"), [("forgetron", 50), ("oldest", 5), ("random", 5), ("projectron", 5)]
)
def test_memory_stays_flat_over_a_long_stream(policy, blocks):
    # 50 blocks are 10^6 examples.
    resource = pytest.importorskip("resource")
    model = budgeted(budget=8, budget_policy=policy)
    sizes, peaks, whole = [], [], []
    tracemalloc.start()
    try:
        for rows, y in stream(blocks, 20_000, seed=1):
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            model.partial_fit(rows, y, classes=[0, 1])
            peaks.append(tracemalloc.get_traced_memory()[1] - before)
            whole.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)  # what the core allocates, too
            sizes.append(len(pickle.dumps(model)))
            arrays = [*model._model.state().values()]
            assert sum(array.nbytes for array in arrays) < 4000
    finally:
        tracemalloc.stop()
    assert model.n_seen_.tolist() == [20_000 * blocks]
    assert len(model.support_) <= 8
    assert max(sizes[1:]) - min(sizes[1:]) < 500
    assert whole[-1] - whole[2] < 8 * 1024
    assert max(peaks[1:]) < 1.2 * min(peaks[1:]) + 10_000
