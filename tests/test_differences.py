"""The page "Coming from scikit-learn": each line of its table is tried on both libraries."""

from __future__ import annotations

import re
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.linear_model import Perceptron as Peer
from sklearn.linear_model import SGDClassifier

from perceptron_rs import AveragedPerceptron, Perceptron

PAGE = (Path(__file__).parents[1] / "docs" / "sklearn.rst").read_text(encoding="utf-8")
FIXED = {"shuffle": False, "tol": None}
BOTH = (Peer, Perceptron)
SINCE_1_8 = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) >= (1, 8)


def integers(n=60, classes=2):
    rng = np.random.default_rng(1)
    X = rng.integers(-3, 4, (n, 5)).astype(np.float64)
    return X, np.digitize(X[:, 0] + rng.integers(-2, 3, n), np.linspace(-2, 2, classes - 1))


def equal(a, b):
    return np.array_equal(a.coef_, b.coef_) and np.array_equal(a.intercept_, b.intercept_)


def sparse_data():
    X, y = integers()
    peer, ours = (Model(max_iter=1, **FIXED).fit(sp.csr_matrix(X), y) for Model in BOTH)
    assert equal(ours, Perceptron(max_iter=1, **FIXED).fit(X, y))
    # Its steps are 0.01: as if a column of tenths took the place of the intercept, but for the rounding.
    column = np.hstack([X, np.full((len(X), 1), 0.1)])
    stand_in = Perceptron(max_iter=1, fit_intercept=False, **FIXED).fit(column, y)
    np.testing.assert_allclose(peer.coef_, stand_in.coef_[:, :-1])
    np.testing.assert_allclose(peer.intercept_, 0.1 * stand_in.coef_[:, -1])
    assert not np.allclose(peer.intercept_, ours.intercept_)


def visits(averaged, epochs, n=9):
    """Return the rows in the order in which the last of some epochs visited them, for each class.

    Each row is a feature of its own, and the weights start so far off that it is a mistake at each visit.
    The average of its weight then tells the sum of the times at which it was visited.
    """
    X, y = np.eye(n), np.arange(n) % 3
    signs = np.where(y == np.arange(3)[:, np.newaxis], 1.0, -1.0)

    def times(epochs):
        if epochs == 0:
            return np.zeros((3, n))
        model = averaged(epochs).fit(X, y, coef_init=-100 * signs, intercept_init=np.zeros(3))
        total = epochs * n
        gained = (model.coef_ + 100 * signs) * signs
        if isinstance(model, SGDClassifier):
            return epochs * (total + 1) - gained * total
        return epochs * (total + 1) - gained * (total + 1)

    last = np.rint(times(epochs) - times(epochs - 1) - (epochs - 1) * n).astype(int)
    assert (np.sort(last) == np.arange(1, n + 1)).all(), last
    return np.argsort(last)


def random_order():
    def peer(epochs):
        options = {"loss": "perceptron", "learning_rate": "constant", "eta0": 1, "average": True}
        options |= {"penalty": None, "random_state": 0, "fit_intercept": False}
        return SGDClassifier(max_iter=epochs, tol=None, **options)

    def ours(epochs):
        return AveragedPerceptron(max_iter=epochs, tol=None, fit_intercept=False)

    for averaged in (peer, ours):
        first, second = visits(averaged, 1), visits(averaged, 2)
        again = np.take_along_axis(first, first, axis=1)
        assert (second == again).all() == (averaged is peer)
        assert not (second == first).all()
        assert (first == first[0]).all() == (averaged is ours)


def end_of_a_fit():
    X = integers()[0]
    y = (X[:, 0] > 0).astype(int)
    peer, ours = (Model(max_iter=200, tol=None).fit(X, y) for Model in BOTH)
    assert peer.score(X, y) == ours.score(X, y) == 1
    assert peer.n_iter_ == 200
    assert ours.n_iter_ < 200
    assert ours.converged_
    assert ours.mistakes_per_epoch_[-1] == 0


def partial_fit():
    X, y = integers()

    def fitted(Model, shuffle):
        return Model(shuffle=shuffle).partial_fit(X, y, classes=[0, 1])

    assert not equal(fitted(Peer, True), fitted(Peer, False))
    assert equal(fitted(Perceptron, True), fitted(Perceptron, False))


def warm_start():
    X, y = integers()
    for Model in BOTH:
        two = Model(max_iter=2, tol=None).fit(X, y)
        one = Model(max_iter=1, tol=None, warm_start=True).fit(X, y)
        before = one.t_
        one.fit(X, y)
        assert equal(one, two) == (Model is Perceptron)
        assert (one.t_ > before) == (Model is Perceptron)
    peer, ours = (Model(max_iter=1, tol=None, warm_start=True).fit(X, y) for Model in BOTH)
    one_class = np.full(len(y), y[0])
    assert ours.fit(X, one_class).classes_.tolist() == np.unique(y).tolist()
    with pytest.raises(ValueError, match="number of classes"):
        peer.fit(X, one_class)


def early_stopping():
    X, y = integers()
    y = np.where(np.arange(len(y)) % 3 == 0, 1 - y, y)  # noisy: the last epoch is not the best
    options = {"early_stopping": True, "validation_fraction": 0.25, "max_iter": 12, "tol": None}
    peer, ours = (Model(**options).fit(X, y) for Model in BOTH)
    best = int(ours.validation_scores_[:, 0].argmax()) + 1
    assert best < ours.n_iter_
    n_learnt_from = len(y) - -(-len(y) // 4)
    assert ours.t_ - 1 == best * n_learnt_from
    assert peer.t_ - 1 == peer.n_iter_ * len(y)  # it counts those held out, too, and keeps the last epoch


def examples_of_weight_0():
    X, y = integers()
    weight = np.ones(len(y))
    weight[::3] = 0
    kept = weight > 0
    for Model in BOTH:
        left_out = Model(max_iter=1, tol=None).fit(X[kept], y[kept])
        weighted = Model(max_iter=1, tol=None).fit(X, y, sample_weight=weight)
        assert equal(left_out, weighted) == (Model is Perceptron)


def negative_weights():
    X, y = integers()
    minus = -np.ones(len(y))
    Peer(max_iter=1, tol=None).fit(X, y, sample_weight=minus)
    Peer(max_iter=1, tol=None, class_weight={0: -1.0}).fit(X, y)
    with pytest.raises(ValueError, match="sample_weight must be finite and >= 0"):
        Perceptron().fit(X, y, sample_weight=minus)
    with pytest.raises(ValueError, match=r"class_weight.* finite and >= 0"):
        Perceptron(class_weight={0: -1.0}).fit(X, y)


def by_hand(X, y, shrink_before=None, shrink_after=None):
    w = np.zeros(X.shape[1])
    for x, sign in zip(X, 2 * y - 1, strict=True):
        step = sign * x if sign * (w @ x) <= 0 else 0 * x
        w = (shrink_before(w) if shrink_before else w) + step
        w = shrink_after(w) if shrink_after else w
    return w


def penalty_l2():
    X, y = integers()
    X += np.linspace(0.1, 0.3, 5)  # no activation is so near to 0 that the order of a sum could matter
    parameters = {"penalty": "l2", "alpha": 0.01, "max_iter": 1, "fit_intercept": False, **FIXED}
    peer, ours = (Model(**parameters).fit(X, y).coef_[0] for Model in BOTH)
    np.testing.assert_allclose(peer, by_hand(X, y, shrink_before=lambda w: 0.99 * w))
    np.testing.assert_allclose(ours, by_hand(X, y, shrink_after=lambda w: 0.99 * w))
    assert not np.allclose(peer, ours)


def penalty_l1():
    X, y = integers()
    X[X == 0] = 1  # scikit-learn takes the penalty of the columns that an example has
    parameters = {"penalty": "l1", "alpha": 0.25, "max_iter": 1, "fit_intercept": False, **FIXED}
    peer, ours = (Model(**parameters).fit(X, y).coef_[0] for Model in BOTH)
    paid, due = np.zeros(X.shape[1]), 0.0

    def owed(w):
        nonlocal due, paid
        due += 0.25
        left = np.where(w > 0, np.maximum(0, w - (due + paid)), w)
        left = np.where(w < 0, np.minimum(0, w + (due - paid)), left)
        paid = paid + left - w
        return left

    def taken(w):
        return np.sign(w) * np.maximum(0, np.abs(w) - 0.25)

    np.testing.assert_allclose(peer, by_hand(X, y, shrink_after=owed))
    np.testing.assert_allclose(ours, by_hand(X, y, shrink_after=taken))
    assert not np.allclose(peer, ours)


def epochs_until(tol, patience, alpha, X, y, *, counted, shrink_first):
    """Return in which epoch a run with an l2 penalty ends, by a loop that shares no code with either."""
    w, best, idle = np.zeros(X.shape[1]), np.inf, 0
    for epoch in range(1, 1001):
        loss = mistakes = 0
        for x, sign in zip(X, 2 * y - 1, strict=True):
            margin = sign * (w @ x)
            loss += max(0.0, -margin) + (0.5 * alpha * (w @ w) if counted else 0)
            step = sign * x if margin <= 0 else 0 * x
            mistakes += margin <= 0
            w = (1 - alpha) * w + step if shrink_first else (1 - alpha) * (w + step)
        idle = idle + 1 if loss / len(y) > best - tol else 0
        best = min(best, loss / len(y))
        if idle == patience or not mistakes:
            return epoch
    raise AssertionError


def penalty_and_tol():
    X, y = integers()
    parameters = {"penalty": "l2", "alpha": 0.1, "fit_intercept": False, "shuffle": False}
    for Model in BOTH:
        found = Model(tol=0.001, n_iter_no_change=2, **parameters).fit(X, y).n_iter_
        epochs = {
            counted: epochs_until(0.001, 2, 0.1, X, y, counted=counted, shrink_first=Model is Peer)
            for counted in (True, False)
        }
        assert epochs[True] != epochs[False]
        assert found == epochs[Model is Peer and SINCE_1_8]


def start_weights():
    X, y = integers()
    for Model in BOTH:
        start = np.zeros((1, X.shape[1]))
        Model(max_iter=1, tol=None).fit(X, y, coef_init=start)
        assert start.any() == (Model is Peer)


def float32_data():
    X, y = integers()
    peer, ours = (Model(max_iter=1, tol=None).fit((X / 3).astype(np.float32), y) for Model in BOTH)
    assert (peer.coef_.dtype, ours.coef_.dtype) == (np.float32, np.float64)


def whole_numbers():
    X = np.random.default_rng(0).integers(0, 256, (20_000, 50), dtype=np.uint8)
    y = X[:, 0] > 99
    for Model in BOTH:
        tracemalloc.start()
        try:
            Model(max_iter=1, tol=None).fit(X, y)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert (peak > 8 * X.nbytes) == (Model is Peer), peak
        assert (peak < X.nbytes) == (Model is Perceptron), peak


def indices_of_64_bits():
    X, y = integers()
    matrix = sp.csr_matrix(X)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    with pytest.raises(ValueError, match="32-bit integer indices"):
        Peer().fit(matrix, y)
    Perceptron(max_iter=1, tol=None).fit(matrix, y)


def overflow():
    X, y = integers()
    Peer(max_iter=1, tol=None).fit(X * 1e300, y)
    with pytest.raises(ValueError, match="overflowed in epoch 0"):
        Perceptron(max_iter=1, tol=None).fit(X * 1e300, y)


def after_an_error():
    X, y = integers()
    for Model in BOTH:
        model = Model(max_iter=1, tol=None).fit(X, y)
        before = model.coef_.copy()
        with pytest.raises(ValueError, match=r"overflow|Floating-point"):
            model.fit(X, y, sample_weight=np.full(len(y), 1e308))
        kept = model.coef_ is not None and np.array_equal(model.coef_, before)
        assert kept == (Model is Perceptron)


def averaging():
    X, y = integers()
    peer = SGDClassifier(
        loss="perceptron", learning_rate="constant", eta0=1, penalty=None, average=True, max_iter=2, **FIXED
    ).fit(X, y)
    ours = AveragedPerceptron(max_iter=2, **FIXED).fit(X, y)
    number = 2 * len(y)
    np.testing.assert_allclose(peer.coef_ * number, ours.coef_ * (number + 1))
    assert not np.allclose(peer.coef_, ours.coef_, rtol=1e-3)


def sparse_weights():
    X, y = integers(classes=3)
    peer = Peer(max_iter=1, warm_start=True, **FIXED).fit(X, y).sparsify()
    for call in (peer.partial_fit, peer.fit):
        with pytest.raises((TypeError, ValueError)):
            call(X, y)
    dense, sparse = (Perceptron(max_iter=1, warm_start=True, **FIXED).fit(X, y) for _ in range(2))
    assert equal(sparse.sparsify().partial_fit(X, y), dense.partial_fit(X, y))
    assert equal(sparse.sparsify().fit(X, y), dense.fit(X, y))


def weights_in_place():
    X, y = integers(classes=3)
    peer, ours = Peer(**FIXED).fit(X, y), Perceptron(**FIXED).fit(X, y)
    peer.coef_[0] = 0
    assert not peer.coef_[0].any()
    with pytest.raises(ValueError, match="read-only"):
        ours.coef_[0] = 0
    start = ours.coef_ / 2
    ours.coef_ = start
    assert (ours.coef_.tolist(), ours.n_seen_.tolist()) == (start.tolist(), [0, 0, 0])


def aggressive(C=1.0, **options):
    """Return scikit-learn's class, which 1.10 removes."""
    if not hasattr(sklearn.linear_model, "PassiveAggressiveClassifier"):
        pytest.skip("scikit-learn has no PassiveAggressiveClassifier any more")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return sklearn.linear_model.PassiveAggressiveClassifier(C=C, **FIXED, **options)


def reals(classes=2):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 4))
    return X, np.argmax(X[:, :classes] + rng.normal(size=(50, classes)), axis=1)


def close(a, b):
    return np.allclose(a.coef_, b.coef_) and np.allclose(a.intercept_, b.intercept_)


def pa1(C=0.3):
    X, y = reals()
    peer = aggressive(C, max_iter=3).fit(X, y)
    assert peer.loss == "hinge"
    assert close(peer, Perceptron(step="pa1", C=C, max_iter=3, **FIXED).fit(X, y))


def pa2():
    X, y = reals()
    peer = aggressive(0.3, loss="squared_hinge", max_iter=3).fit(X, y)
    assert close(peer, Perceptron(step="pa2", C=0.3, max_iter=3, **FIXED).fit(X, y))


def steps_of_sgd():
    X, y = reals()
    options = {"loss": "hinge", "penalty": None, "learning_rate": "pa1", "eta0": 0.3, "max_iter": 3}
    if not SINCE_1_8:
        with pytest.raises(ValueError, match="learning_rate"):
            SGDClassifier(**options).fit(X, y)
        return
    peer = SGDClassifier(**options, **FIXED).fit(X, y)
    assert close(peer, Perceptron(step="pa1", C=0.3, max_iter=3, **FIXED).fit(X, y))


def average_of_steps():
    X, y = reals()
    peer = aggressive(0.3, average=True, max_iter=2).fit(X, y)
    ours = AveragedPerceptron(step="pa1", C=0.3, max_iter=2, **FIXED).fit(X, y)
    np.testing.assert_allclose(ours.coef_ * 101 / 100, peer.coef_)  # 100 vectors, and the zeros at the start
    np.testing.assert_allclose(ours.intercept_ * 101 / 100, peer.intercept_)


def intercept_of_steps():
    X, y = np.array([[3.0, 4.0]]), [1]
    dense, sparse = (aggressive().partial_fit(form, y, classes=[0, 1]) for form in (X, sp.csr_matrix(X)))
    ours = Perceptron(step="pa1").partial_fit(sp.csr_matrix(X), y, classes=[0, 1])
    assert dense.intercept_[0] == ours.intercept_[0] == pytest.approx(1 / 25)
    assert sparse.intercept_[0] == pytest.approx(0.01 / 25)


def zeros():
    X, y = np.array([[1.0], [0.0], [-4.0]]), [1, 1, 1]  # the weights are 0, 1, 1, 0
    peer = aggressive(average=True).partial_fit(X, y, classes=[0, 1])
    ours = AveragedPerceptron(step="pa1").partial_fit(X, y, classes=[0, 1])
    assert ours.n_mistakes_ == 2
    assert (peer.coef_[0, 0], ours.coef_[0, 0]) == ((1 + 0) / 2, (0 + 1 + 1 + 0) / 4)


def class_weight_of_steps():
    X, y = reals()
    options = {"max_iter": 2, "class_weight": {0: 0.5, 1: 2.0}}
    peer = aggressive(0.3, **options).fit(X, y)
    assert close(peer, Perceptron(step="pa1", C=0.3, **options, **FIXED).fit(X, y))
    one = Perceptron(step="pa1", class_weight={1: 2.0}).partial_fit([[2.0]], [1], classes=[0, 1])
    assert one.coef_[0, 0] == 2 * Perceptron(step="pa1").partial_fit([[2.0]], [1], [0, 1]).coef_[0, 0]


def sample_weight_of_steps():
    X, y = reals()
    with pytest.raises(TypeError, match="sample_weight"):
        aggressive().fit(X, y, sample_weight=np.ones(50))
    ours = [Perceptron(step="pa1").partial_fit([[2.0]], [1], [0, 1], sample_weight=[s]) for s in (1.0, 3.0)]
    assert 3 * ours[0].coef_[0, 0] == ours[1].coef_[0, 0]


def tol_of_steps():
    X, y = reals()
    ours = Perceptron(step="pa1", C=0.3, max_iter=1, **FIXED).fit(X, y)
    losses, peer = [], aggressive(0.3)
    for i in range(50):
        m = (2 * y[i] - 1) * (peer.decision_function(X[i : i + 1])[0] if i else 0.0)
        losses.append(max(0.0, 1 - m))
        peer.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1])
    assert ours.loss_curve_ == pytest.approx([np.mean(losses)])


def several_classes():
    X, y = reals(classes=3)
    assert close(
        aggressive(0.3, max_iter=2).fit(X, y), Perceptron(step="pa1", C=0.3, max_iter=2, **FIXED).fit(X, y)
    )
    joint = Perceptron(step="pa1", C=9.0, multi_class="joint").partial_fit(
        [[3.0, 4.0]], [1], classes=[0, 1, 2]
    )
    np.testing.assert_allclose(joint.coef_, np.outer([-1, 1, 0], [3, 4]) / 50)  # 1 / (2 ||x||^2)


def partial_fit_of_steps():
    X, y = reals()
    peer = aggressive(0.3).partial_fit(X, y, classes=[0, 1])
    ours = Perceptron(step="pa1", C=0.3).partial_fit(X, y, classes=[0, 1])
    assert close(peer, ours)
    assert not close(peer.set_params(shuffle=True).partial_fit(X, y), ours.partial_fit(X, y))


def to_sklearn():
    X, y = reals()
    theirs = Perceptron(step="pa2", C=0.3, shuffle=False).partial_fit(X, y, classes=[0, 1]).to_sklearn()
    assert type(theirs) is SGDClassifier
    options = theirs.get_params()
    assert [options[name] for name in ("loss", "penalty", "learning_rate", "eta0")] == [
        "hinge",
        None,
        "pa2",
        0.3,
    ]
    if SINCE_1_8:
        peer = aggressive(0.3, loss="squared_hinge").partial_fit(X, y, classes=[0, 1])
        assert close(theirs.partial_fit(X, y), peer.partial_fit(X, y))


#: What tries each line of the tables, by its first cell.
TRIED = {
    "sparse data": sparse_data,
    "random order": random_order,
    "end of a fit": end_of_a_fit,
    "``partial_fit``": partial_fit,
    "``warm_start``": warm_start,
    "``early_stopping``": early_stopping,
    "examples of weight 0": examples_of_weight_0,
    "negative weights": negative_weights,
    '``penalty="l2"``': penalty_l2,
    '``penalty="l1"``': penalty_l1,
    "``penalty`` and ``tol``": penalty_and_tol,
    "start weights": start_weights,
    "float32 data": float32_data,
    "whole numbers": whole_numbers,
    "64-bit indices": indices_of_64_bits,
    "overflow": overflow,
    "after an error": after_an_error,
    "averaging": averaging,
    "``coef_[0] = 0``": weights_in_place,
    "sparse weights": sparse_weights,
    "``PassiveAggressiveClassifier(C=c)``": pa1,
    '``loss="squared_hinge"``': pa2,
    '``SGDClassifier(learning_rate="pa1", eta0=c)``': steps_of_sgd,
    "``average=True``": average_of_steps,
    "the intercept": intercept_of_steps,
    "rows of zeros": zeros,
    "``class_weight`` with these steps": class_weight_of_steps,
    "``sample_weight`` with these steps": sample_weight_of_steps,
    "``tol`` with these steps": tol_of_steps,
    "several classes": several_classes,
    "``partial_fit`` with these steps": partial_fit_of_steps,
    "``to_sklearn``": to_sklearn,
}


def test_every_line_is_tried():
    assert re.findall(r"^   \* - (.+)$", PAGE, re.MULTILINE) == list(TRIED)


@pytest.mark.parametrize("line", TRIED)
@pytest.mark.filterwarnings(
    "ignore:Maximum number of iteration", "ignore:overflow encountered", "ignore::FutureWarning"
)
def test_difference(line):
    TRIED[line]()


def test_the_docstring_names_the_page():
    title = PAGE.splitlines()[0]
    assert f'"{title}"' in " ".join(Perceptron.__doc__.split())


def section(title):
    text = PAGE.split(f"{title}\n{'-' * len(title)}\n")[1].split("\n---")[0]
    return set(re.findall(r"``(\w+)``", text.split("; their")[0]))


def test_further_parameters():
    peer, ours = Peer().get_params(), Perceptron().get_params()
    assert {name: ours[name] for name in peer} == peer
    assert section("Further parameters") == set(ours) - set(peer)


def test_further_attributes():
    X, y = integers()
    peer = Peer().fit(X, y)
    ours = Perceptron(track_mistakes=True, early_stopping=True).fit(X, y)

    def public(model):
        return {name for name in dir(model) if name.endswith("_") and not name.startswith("_")}

    assert section("Further attributes") - {"track_mistakes", "early_stopping"} == public(ours) - public(peer)
