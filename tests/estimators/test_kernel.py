"""KernelPerceptron: parameters, attributes, storage, batches, scikit-learn."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.utils.estimator_checks import parametrize_with_checks

from perceptron_rs import KernelPerceptron, Perceptron
from perceptron_rs.engines import ENGINES

X, Y = load_digits(return_X_y=True)
X, Y = X[:240], Y[:240]
XOR = np.array([[0, 0], [1, 1], [0, 1], [1, 0]]), np.array([0, 0, 1, 1])

EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": "a weight scales the step; repeating visits twice",
    "check_sample_weight_equivalence_on_sparse_data": "a weight scales the step; repeating visits twice",
}


@parametrize_with_checks([KernelPerceptron()], expected_failed_checks=lambda _: EXPECTED_FAILURES)
def test_sklearn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("prediction", ["vote", "average", "last", "random"])
@pytest.mark.parametrize("normalize", [False, True])
def test_both_engines_and_storages_agree(prediction, normalize):
    scores = []
    for engine in ENGINES:
        for A in (X, sp.csr_matrix(X), X.astype(np.uint8), np.asfortranarray(X)):
            model = KernelPerceptron("poly", degree=2, coef0=1.0, gamma=1.0, max_iter=2, engine=engine)
            model.set_params(prediction=prediction, normalize=normalize, n_jobs=2, cache_size=0.01)
            scores.append(model.fit(A, Y).decision_function(A[:50]))
    assert scores[0].shape == (50, 10)
    assert all(other.tobytes() == scores[0].tobytes() for other in scores)


def test_a_linear_kernel_is_the_perceptron():
    linear = KernelPerceptron("linear", prediction="last", max_iter=3).fit(X, Y)
    plain = Perceptron(fit_intercept=False, max_iter=3, tol=None).fit(X, Y)
    assert linear.n_mistakes_ == plain.n_mistakes_
    np.testing.assert_array_equal(linear.decision_function(X), plain.decision_function(X))
    np.testing.assert_array_equal(linear.dual_coef_ @ linear.support_vectors_, plain.coef_)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid"])
def test_exclusive_or_is_separated(kernel):
    model = KernelPerceptron(kernel, degree=2, gamma=1.0, coef0=-1.0 if kernel == "sigmoid" else 1.0)
    model.set_params(max_iter=500, prediction="last", shuffle=False)
    model.fit(*XOR)
    if kernel != "sigmoid":  # which is no inner product
        assert model.converged_
        assert model.score(*XOR) == 1.0


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kernel", ["poly", "rbf"])
def test_batches_are_one_pass(engine, kernel):
    make = lambda: KernelPerceptron(  # noqa: E731
        kernel, gamma=0.01, coef0=1.0, max_iter=1, shuffle=False, fit_intercept=True, engine=engine
    )
    whole, parts = make().fit(X, Y), make()
    for start in range(0, 240, 70):
        parts.partial_fit(X[start : start + 70], Y[start : start + 70], classes=np.arange(10))
    for prediction in ("vote", "average", "last", "random"):
        for model in (whole, parts):
            model.set_params(prediction=prediction, normalize=True)
        assert whole.decision_function(X).tobytes() == parts.decision_function(X).tobytes()


def test_a_warm_start_goes_on():
    cold = KernelPerceptron(max_iter=2, gamma=0.001).fit(X, Y)
    warm = KernelPerceptron(max_iter=1, gamma=0.001, warm_start=True).fit(X, Y).fit(X, Y)
    assert cold.decision_function(X).tobytes() == warm.decision_function(X).tobytes()


def test_precomputed_and_callable_kernels():
    def square(A, B):
        if sp.issparse(A):
            A, B = A.toarray(), B.toarray()
        return (A @ B.T + 1.0) ** 2

    direct = KernelPerceptron("poly", degree=2, gamma=1.0, coef0=1.0).fit(X, Y)
    called = KernelPerceptron(square).fit(X, Y)
    given = KernelPerceptron("precomputed").fit(square(X, X), Y)
    expected = direct.decision_function(X[:30])
    np.testing.assert_array_equal(called.decision_function(X[:30]), expected)
    np.testing.assert_array_equal(given.decision_function(square(X[:30], X)), expected)
    sparse = KernelPerceptron(square).fit(sp.csr_matrix(X), Y)
    np.testing.assert_array_equal(sparse.decision_function(sp.csr_matrix(X[:30])), expected)


def test_attributes():
    model = KernelPerceptron("poly", degree=2, max_iter=3, track_mistakes=True).fit(X, Y)
    support = model.support_
    np.testing.assert_array_equal(model.support_vectors_, X[support])
    assert model.dual_coef_.shape == model.mistakes_per_support_.shape == (10, len(support))
    np.testing.assert_array_equal(model.mistakes_per_support_, model.mistakes_per_example_[support].T)
    assert model.mistakes_per_support_.sum() == model.n_mistakes_ == model.mistakes_per_epoch_.sum()
    assert [len(counts) for counts in model.survival_] == model.n_vectors_.tolist()
    assert [counts.sum() for counts in model.survival_] == model.n_seen_.tolist()
    again = pickle.loads(pickle.dumps(model))
    assert again.decision_function(X).tobytes() == model.decision_function(X).tobytes()


def test_weights():
    weights = np.arange(240) % 3
    model = KernelPerceptron(max_iter=2, gamma=0.001, shuffle=False).fit(X, Y, sample_weight=weights)
    kept = weights > 0
    other = KernelPerceptron(max_iter=2, gamma=0.001, shuffle=False)
    other.fit(X[kept], Y[kept], sample_weight=weights[kept])
    assert model.decision_function(X).tobytes() == other.decision_function(X).tobytes()
    balanced = KernelPerceptron(max_iter=2, class_weight="balanced").fit(X, Y > 7)
    assert balanced.n_mistakes_ > 0


BAD = [
    ({"gamma": 0}, "gamma"),
    ({"gamma": np.nan}, "gamma"),
    ({"degree": 0}, "degree"),
    ({"degree": 2.5}, "'degree' parameter"),
    ({"coef0": np.inf}, "coef0"),
    ({"kernel": "cubic"}, "kernel"),
    ({"cache_size": 0}, "cache_size"),
    ({"prediction": "longest"}, "prediction"),
    ({"kernel": "precomputed"}, "X must be a square matrix with kernel='precomputed', got shape"),
    ({"kernel": lambda A, B: np.ones((1, 1))}, "kernel must return an array of shape"),
    ({"kernel": lambda A, B: np.full((len(A), len(B)), np.nan)}, "kernel must return finite numbers"),
    ({"multi_class": "joint", "margin_threshold": 1.0}, "margin_threshold"),
    ({"gamma": -1.0}, "gamma"),
    ({"gamma": np.inf}, "gamma"),
    ({"gamma": "wide"}, "gamma"),
    ({"gamma": None}, "gamma"),
    ({"gamma": 10**400}, "gamma"),
    ({"degree": -1}, "degree"),
    ({"degree": 2**31}, "degree"),
    ({"degree": "3"}, "degree"),
    ({"degree": np.nan}, "degree"),
    ({"coef0": np.nan}, "coef0"),
    ({"coef0": "1"}, "coef0"),
    ({"coef0": 10**400}, "coef0"),
    ({"kernel": None}, "kernel"),
    ({"kernel": 3}, "kernel"),
    ({"cache_size": -1.0}, "cache_size"),
    ({"cache_size": np.nan}, "cache_size"),
    ({"cache_size": np.inf}, "cache_size"),
    ({"cache_size": "200"}, "cache_size"),
    ({"cache_size": 10**400}, "cache_size"),
    ({"normalize": 1}, "normalize"),
    ({"prediction": None}, "prediction"),
    ({"max_iter": 0}, "max_iter"),
    ({"eta0": 0.0}, "eta0"),
    ({"multi_class": "one"}, "multi_class"),
]


@pytest.mark.parametrize(
    ("method", "changes", "words"),
    [
        *(("fit", *each) for each in BAD),
        *(("partial_fit", *each) for each in BAD if each[1] != "max_iter"),  # it is a single pass
    ],
)
def test_bad_arguments_leave_the_estimator_as_it_was(method, changes, words):
    if method == "partial_fit":
        words = "is not available with partial_fit" if changes == {"kernel": "precomputed"} else words
        words = "differs from the fit" if callable(changes.get("kernel")) else words
    model = KernelPerceptron(max_iter=1).fit(X, Y)
    model.set_params(**changes)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=words):
        getattr(model, method)(X, Y)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())


def test_bad_input_is_refused_by_name():
    A = X.copy()
    A[3, 4] = np.nan
    with pytest.raises(ValueError, match="X contains NaN"):
        KernelPerceptron().fit(A, Y)
    model = KernelPerceptron().fit(X, Y)
    with pytest.raises(ValueError, match="X contains NaN"):
        model.predict(A)
    with pytest.raises(ValueError, match="kernel='precomputed' is not available with partial_fit"):
        KernelPerceptron("precomputed").partial_fit(X[:, :4], Y, classes=range(10))


def test_precomputed_values_of_wrong_shape_or_value():
    gram = X @ X.T
    for bad in (gram[:, 1:], gram[1:], X):
        with pytest.raises(
            ValueError, match=r"X must be a square matrix with kernel='precomputed', got shape"
        ):
            KernelPerceptron("precomputed").fit(bad, Y[: len(bad)])
    model = KernelPerceptron("precomputed").fit(gram, Y)
    with pytest.raises(ValueError, match="X has 239 features, but KernelPerceptron is expecting 240"):
        model.predict(gram[:3, 1:])
    for value, words in ((np.nan, "X contains NaN"), (np.inf, "X contains infinity")):
        spoilt = gram.copy()
        spoilt[5, 7] = value
        with pytest.raises(ValueError, match=words):
            KernelPerceptron("precomputed").fit(spoilt, Y)
        with pytest.raises(ValueError, match=words):
            model.predict(spoilt)


def test_the_vote_of_a_joint_run_is_as_good_as_its_average(engine_name):
    X, y = load_digits(return_X_y=True)
    size = 700 if engine_name == "rust" else 100
    model = KernelPerceptron("poly", degree=2, multi_class="joint", max_iter=3, engine=engine_name)
    model.fit(X[:size], y[:size])
    found = {
        name: model.set_params(prediction=name).score(X[-500:], y[-500:]) for name in ("vote", "average")
    }
    assert found["vote"] > found["average"] - (0.02 if size == 700 else 0.1)
    votes = model.set_params(prediction="vote").decision_function(X[-50:])
    assert np.allclose(votes.sum(axis=1), 1)
    two = KernelPerceptron(multi_class="joint", engine=engine_name).fit(X[:60], y[:60] > 4)
    assert (abs(two.decision_function(X[:60])) <= 1).all()
    with pytest.raises(ValueError, match="normalize=True is not available with prediction='vote'"):
        model.set_params(normalize=True).predict(X)


@pytest.mark.parametrize(
    ("name", "value", "kernel"),
    [
        ("kernel", "linear", "rbf"),
        ("gamma", 0.5, "rbf"),
        ("gamma", 0.5, "sigmoid"),
        ("coef0", 2.0, "sigmoid"),
        ("gamma", "auto", "poly"),
        ("coef0", 2.0, "poly"),
        ("degree", 2, "poly"),
        ("multi_class", "joint", "rbf"),
        ("kernel", lambda A, B: A @ B.T, "rbf"),
        ("kernel", lambda A, B: A @ B.T, lambda A, B: (A @ B.T) ** 2),
        ("kernel", lambda A, B: A @ B.T, "precomputed"),
    ],
)
def test_a_run_has_one_kernel(name, value, kernel, tmp_path):
    data = X[:40] @ X[:40].T if kernel == "precomputed" else X[:40] / 16
    model = KernelPerceptron(kernel, max_iter=2, warm_start=True, random_state=3)
    model.fit(data, Y[:40])
    before = model.decision_function(data).tobytes()
    old = getattr(model, name)
    model.set_params(**{name: value})
    for call in (
        lambda: model.fit(data, Y[:40]),
        lambda: model.partial_fit(data, Y[:40]),
        lambda: model.predict(data),
        lambda: model.save(tmp_path / "m"),
    ):
        if "partial_fit" in call.__code__.co_names and kernel == "precomputed":
            continue
        if "save" in call.__code__.co_names and callable(value):
            continue
        with pytest.raises(ValueError, match=rf"{name}=.* differs from the fit .* had .* warm_start=False"):
            call()
    model.set_params(**{name: old})
    assert model.decision_function(data).tobytes() == before
    if kernel != "precomputed":
        model.set_params(**{name: value, "warm_start": False}).fit(data, Y[:40]).predict(data)


def test_parameters_that_the_kernel_does_not_have_may_change():
    model = KernelPerceptron("linear", max_iter=2, warm_start=True).fit(X[:40], Y[:40])
    model.set_params(gamma=0.5, coef0=2.0, degree=7).fit(X[:40], Y[:40]).predict(X[:40])


def test_what_no_prediction_reads_may_change_after_the_fit():
    model = KernelPerceptron(max_iter=2, tol=None).fit([[0.0], [1.0]], [0, 1])
    assert model.set_params(eta0=-1, max_iter=None).predict([[0.0], [1.0]]).tolist() == [0, 1]
    with pytest.raises(ValueError, match=r"n_jobs must not be 0; 1 is one thread"):
        model.set_params(n_jobs=0).predict([[0.0]])
