"""Plots: their artists, numbers and texts. No pixel is compared."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from PIL import Image
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.inspection import DecisionBoundaryDisplay

from perceptron_rs import (
    AveragedPerceptron,
    BudgetedKernelPerceptron,
    KernelPerceptron,
    MaxMarginClassifier,
    MultilayerPerceptron,
    Perceptron,
    PocketPerceptron,
    VotedPerceptron,
    max_margin,
    mistake_bounds,
    proof,
    trace,
)
from perceptron_rs.datasets import make_separable, xor
from perceptron_rs.plots import (
    DistanceDisplay,
    ErrorsDisplay,
    HyperplaneDisplay,
    MarginDisplay,
    MistakesDisplay,
    OrdersDisplay,
    PocketDisplay,
    ProofDisplay,
    SumDisplay,
    SurvivalDisplay,
    UpdateDisplay,
    animate,
)
from perceptron_rs.plots.drawing import COLOURS

mpl.use("agg")

X = np.array([[2.0, 1], [-1, 1], [0, -1], [1, 2], [-2, -1], [-1, 2]])
Y = np.array([1, -1, -1, 1, -1, -1])
NOISY = np.array([1, 1, -1, 1, -1, -1])  # the second point lies among those of the other class


@pytest.fixture
def fitted():
    return Perceptron(tol=None, shuffle=False).fit(X, Y)


def signed_distance(line, w, b):
    """Return the signed distances of the two points of a drawn line from the hyperplane (w, b)."""
    ends = np.array([line.get_xy1(), line.get_xy2()])
    return (ends @ w + b) / np.linalg.norm(w)


def test_a_hyperplane_with_its_margin(fitted):
    display = HyperplaneDisplay.from_estimator(fitted, X, Y)
    w, b = fitted.coef_[0], fitted.intercept_[0]
    margin = (Y * (X @ w + b)).min() / np.linalg.norm(w)
    distances = [signed_distance(line, w, b) for line in display.lines_]
    np.testing.assert_allclose(distances, [[0, 0], [margin] * 2, [-margin] * 2], atol=1e-12)
    turn = np.subtract(display.normal_.xy, display.normal_.xyann)
    assert turn @ w == pytest.approx(np.linalg.norm(turn) * np.linalg.norm(w))
    assert len(display.mistakes_.get_offsets()) == 0
    labels = [points.get_label() for points in display.points_]
    assert labels == ["-1", "1"]
    np.testing.assert_array_equal(display.points_[1].get_offsets(), X[Y == 1])
    # Each place has the colour of the class that is predicted there.
    assert isinstance(display.boundary_, DecisionBoundaryDisplay)
    places = np.stack([display.boundary_.xx0, display.boundary_.xx1], axis=-1).reshape(-1, 2)
    shown = np.ravel(display.boundary_.surface_.get_array())
    assert shown.tolist() == (fitted.predict(places) == 1).tolist()
    assert places[0].tolist() == [display.ax_.get_xlim()[0], display.ax_.get_ylim()[0]]
    assert places[-1] == pytest.approx([display.ax_.get_xlim()[1], display.ax_.get_ylim()[1]])
    colours = display.boundary_.surface_.cmap(np.array([0, 1]))[:, :3]
    np.testing.assert_allclose(colours, [mpl.colors.to_rgb(colour) for colour in COLOURS[:2]])
    # The support vectors are the examples nearest to the line.
    signed = Y * (X @ w + b)
    assert display.support_.get_offsets().tolist() == X[signed == signed.min()].tolist()


def test_wrong_examples_have_rings():
    model = Perceptron(max_iter=3, tol=None, random_state=0).fit(X, NOISY)
    display = HyperplaneDisplay.from_estimator(model, X, NOISY)
    np.testing.assert_array_equal(display.mistakes_.get_offsets(), X[model.predict(X) != NOISY])
    assert len(display.lines_) == 1  # no margin


@pytest.mark.parametrize("model", [KernelPerceptron(kernel="rbf"), AveragedPerceptron()])
def test_several_classes_have_regions(model):
    labels = np.array(["a", "b", "c"])[np.arange(6) % 3]
    display = HyperplaneDisplay.from_estimator(model.fit(X, labels), X, labels)
    assert (display.lines_, display.normal_) == ([], None)
    assert [points.get_label() for points in display.points_] == ["a", "b", "c"]
    places = np.stack([display.boundary_.xx0, display.boundary_.xx1], axis=-1).reshape(-1, 2)
    shown = np.ravel(display.boundary_.surface_.get_array())
    assert model.classes_[shown.astype(int)].tolist() == model.predict(places).tolist()
    # Each place has the colour of its class.
    face, norm = display.boundary_.surface_.cmap, display.boundary_.surface_.norm
    drawn = face(norm(np.arange(3)))[:, :3]
    np.testing.assert_allclose(drawn, [mpl.colors.to_rgb(colour) for colour in COLOURS[:3]])


def crossings(collection, level):
    """Return the points of the line of one level."""
    return collection.get_paths()[list(collection.levels).index(level)].vertices


@pytest.mark.parametrize("rows", [np.array, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize(
    "model",
    [
        KernelPerceptron(kernel="rbf", prediction="last", max_iter=20),
        BudgetedKernelPerceptron(kernel="rbf", budget=4, max_iter=20),
        MultilayerPerceptron((5,), max_iter=50, tol=None),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_curved_boundary_and_its_support(model, rows):
    model.fit(rows(X), NOISY)
    display = HyperplaneDisplay.from_estimator(model, X, NOISY)
    (lines,) = display.lines_
    assert lines.levels.tolist() == [0]
    found = crossings(lines, 0)
    spread = np.abs(model.decision_function(np.random.default_rng(0).uniform(-2, 2, (500, 2)))).max()
    assert np.abs(model.decision_function(found)).max() < 0.05 * spread
    assert display.normal_ is None
    support = getattr(model, "support_vectors_", np.zeros((0, 2)))
    support = support.toarray() if sparse.issparse(support) else support
    assert display.support_.get_offsets().tolist() == support.tolist()
    assert isinstance(model, MultilayerPerceptron) or len(support)
    assert display.mistakes_.get_offsets().tolist() == X[model.predict(X) != NOISY].tolist()


def test_the_margin_of_a_kernel():
    model = MaxMarginClassifier(kernel="rbf", gamma=1.0).fit(X, NOISY)
    display = HyperplaneDisplay.from_estimator(model, X, NOISY)
    (lines,) = display.lines_
    assert lines.levels.tolist() == [-1, 0, 1]
    for level in lines.levels:
        np.testing.assert_allclose(model.decision_function(crossings(lines, level)), level, atol=0.02)
    assert display.support_.get_offsets().tolist() == X[model.support_].tolist()
    with pytest.warns(ConvergenceWarning):
        model = MaxMarginClassifier(kernel="poly", degree=1, inseparable="warn").fit(*xor())
    display = HyperplaneDisplay.from_estimator(model, *xor())
    assert display.lines_[0].levels.tolist() == [0]  # no margin


def test_the_support_of_the_largest_margin():
    model = MaxMarginClassifier().fit(X, Y)
    display = HyperplaneDisplay.from_estimator(model, X, Y)
    assert display.support_.get_offsets().tolist() == X[model.support_].tolist()
    assert len(display.lines_) == 3


def test_a_data_frame_names_the_axes():
    frame = pd.DataFrame(X, columns=["length", "width"])
    model = KernelPerceptron().fit(frame, Y)  # a warning about names would be an error
    display = HyperplaneDisplay.from_estimator(model, frame, Y)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("length", "width")
    assert display.points_[1].get_offsets().tolist() == X[Y == 1].tolist()


def test_an_update():
    step = list(trace(Perceptron(shuffle=False, tol=None), X, Y))[1]
    display = UpdateDisplay.from_step(step, X, Y)
    np.testing.assert_allclose(signed_distance(display.before_, step.w_before, step.b_before), 0, atol=1e-12)
    np.testing.assert_allclose(signed_distance(display.after_, step.w, step.b), 0, atol=1e-12)
    np.testing.assert_array_equal(display.example_.get_offsets(), [X[step.row]])
    # An arrow stands on each line and points along its normal vector, to its positive side.
    before, after = (arrow for arrow in display.ax_.texts if arrow.arrow_patch is not None)
    for arrow, w, b in ((before, step.w_before, step.b_before), (after, step.w, step.b)):
        along = np.subtract(arrow.xy, arrow.xyann)
        assert w @ arrow.xyann + b == pytest.approx(0, abs=1e-12)
        assert along @ w == pytest.approx(np.linalg.norm(along) * np.linalg.norm(w))
    assert (before.arrow_patch.get_linestyle(), after.arrow_patch.get_linestyle()) == (":", "solid")
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["before", "after"]
    # Moved by c (||x||^2 + 1).
    moved = step.step * (X[step.row] @ X[step.row] + 1)
    assert display.ax_.get_title() == (
        f"example {step.row}: w . x + b = {step.activation:g},\nmoved by {moved:+g}"
    )
    assert X[step.row] @ step.w + step.b == step.activation + moved


def test_an_update_without_an_intercept():
    step = list(trace(Perceptron(shuffle=False, tol=None, fit_intercept=False), X, Y))[1]
    moved = step.step * (X[step.row] @ X[step.row])
    assert f"moved by {moved:+g}" in UpdateDisplay.from_step(step, X, Y).ax_.get_title()
    assert X[step.row] @ step.w == step.activation + moved


def test_distances_and_other_intercepts():
    w, b, places = np.array([2.0, 3.0]), 6.0, np.array([[2.0, 2.0], [-4.0, -1.0]])
    display = DistanceDisplay.from_weights(w, b, places, others=[12, -6])
    for line, intercept in zip([display.line_, *display.others_], (6, 12, -6), strict=True):
        np.testing.assert_allclose(signed_distance(line, w, intercept), 0, atol=1e-12)
        assert line.get_label() == f"b = {intercept}"
    # A larger b moves the line away from the normal vector, by (12 - 6) / ||w||.
    np.testing.assert_allclose(signed_distance(display.others_[0], w, b), -6 / np.sqrt(13))
    for place, segment, label in zip(places, display.projections_, display.labels_, strict=True):
        (point, foot) = segment.get_xydata()
        assert point.tolist() == place.tolist()
        assert w @ foot + b == pytest.approx(0)
        distance = (w @ place + b) / np.sqrt(13)
        np.testing.assert_allclose(point - foot, distance * w / np.sqrt(13), atol=1e-12)
        assert label.get_text() == f"{distance:.4g}"
    assert display.ax_.get_title() == "2 x1 + 3 x2 + 6 = 0"
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["b = 6", "b = 12", "b = -6"]
    other = DistanceDisplay.from_weights([-1, -0.5], -2, places)
    assert other.ax_.get_title() == "-1 x1 - 0.5 x2 - 2 = 0"
    for place, label in zip(places, display.labels_, strict=True):  # away from the line
        assert np.sign(w @ place + b) == np.sign(w @ label.xyann)
    with pytest.raises(ValueError, match="coef must be two weights"):
        DistanceDisplay.from_weights([0, 0], 1, places)


def test_the_first_update_has_no_line_before():
    step = next(iter(trace(Perceptron(shuffle=False, tol=None), X, Y)))
    assert UpdateDisplay.from_step(step, X, Y).before_ is None


def ends(arrow):
    """Return where an arrow starts and where it leads."""
    return [arrow.xyann, arrow.xy]


def test_the_sum_of_an_update():
    step = [*trace(Perceptron(shuffle=False, tol=None), X, Y)][1]
    display = SumDisplay.from_step(step, X)
    before, added, after = display.arrows_
    np.testing.assert_array_equal(ends(before), [[0, 0], step.w_before])
    np.testing.assert_array_equal(ends(added), [step.w_before, step.w])
    np.testing.assert_array_equal(ends(after), [[0, 0], step.w])
    assert display.names[1] == ("+ x" if step.step > 0 else "- x")


def test_the_weights_as_a_sum_of_mistakes():
    found = trace(Perceptron(shuffle=False, tol=None, track_mistakes=True), X, NOISY)
    display = SumDisplay.from_trace(found)
    model = found.estimator
    np.testing.assert_array_equal(display.terms.sum(axis=0), model.coef_[0])
    assert len(display.terms) == np.count_nonzero(model.mistakes_per_example_)
    twice = [row for row in range(len(X)) if model.mistakes_per_example_[row, 0] == 2]
    for row in twice:
        assert any(name.endswith(f" 2 x{row}") for name in display.names)
    with pytest.raises(ValueError, match="at least one update"):
        SumDisplay.from_trace(
            trace(Perceptron(tol=None), X, Y, coef_init=[model_of_y()[0]], intercept_init=[model_of_y()[1]])
        )
    start = SumDisplay.from_trace(trace(Perceptron(shuffle=False, tol=None), X, Y, coef_init=[[0.0, -3.0]]))
    assert start.names[0] == "w at the start"


def model_of_y():
    model = Perceptron(tol=None).fit(X, Y)
    return model.coef_[0], model.intercept_[0]


def test_lines_of_many_orders():
    display = OrdersDisplay.from_estimator(Perceptron(tol=None), X, Y, n_orders=5)
    for seed, line in enumerate(display.lines_):
        model = Perceptron(tol=None, random_state=seed).fit(X, Y)
        np.testing.assert_allclose(signed_distance(line, model.coef_[0], model.intercept_[0]), 0, atol=1e-12)
    assert len(display.lines_) == 5
    np.testing.assert_array_equal(
        np.concatenate([c.get_offsets() for c in display.ax_.collections]), [*X[Y < 0], *X[Y > 0]]
    )
    with pytest.raises(ValueError, match="y must hold two classes, got 3"):
        OrdersDisplay.from_estimator(Perceptron(tol=None), X, np.arange(6) % 3, n_orders=1)


def test_mistakes_and_their_bound(fitted):
    display = MistakesDisplay.from_estimator(fitted, X, Y)
    made = fitted.mistakes_per_epoch_.sum(axis=1)
    assert [bar.get_height() for bar in display.bars_] == made.tolist()
    assert display.line_.get_ydata().tolist() == made.cumsum().tolist()
    assert display.bound_.get_ydata()[0] == pytest.approx(28 / 3)
    assert MistakesDisplay.from_estimator(fitted).bound_ is None
    assert all(tick == round(tick) for tick in display.ax_.get_xticks())  # epochs are whole


def test_the_bound_without_an_intercept():
    far = X + 3 * Y[:, np.newaxis]
    model = Perceptron(tol=None, fit_intercept=False).fit(far, Y)
    bound = MistakesDisplay.from_estimator(model, far, Y).bound
    assert bound == mistake_bounds(far, Y, bias="none").block_novikoff
    assert bound != mistake_bounds(far, Y, bias="augmented").block_novikoff


def test_the_bound_is_that_of_the_learner():
    for options in ({"margin_threshold": 5}, {"added_feature": 3.0}, {"margin_threshold": 2, "eta0": 0.5}):
        model = Perceptron(tol=None, **options).fit(X, Y)
        bound = MistakesDisplay.from_estimator(model, X, Y).bound
        assert model.n_mistakes_ <= bound == mistake_bounds(X, Y, **options).block_novikoff
    linear = KernelPerceptron(kernel="linear").fit(X, Y)
    assert (
        MistakesDisplay.from_estimator(linear, X, Y).bound == mistake_bounds(X, Y, bias="none").block_novikoff
    )
    for model, text in (
        (KernelPerceptron(), "kernel must be 'linear'"),
        (Perceptron(penalty="l2"), "penalty must be None"),
        (Perceptron(class_weight={1: 9}), "class_weight must be None"),
        (Perceptron(n_partitions=[3, 3]), "n_partitions must be 1"),
        (MultilayerPerceptron(max_iter=2, tol=None), "must be a linear learner"),
    ):
        model.fit(X, Y)
        MistakesDisplay.from_estimator(model)
        with pytest.raises(ValueError, match=text):
            MistakesDisplay.from_estimator(model, X, Y)


def test_sparse_examples_and_weights(fitted, tmp_path):
    expected = HyperplaneDisplay.from_estimator(fitted, X, Y)
    for model in (fitted, Perceptron(tol=None, shuffle=False).fit(X, Y).sparsify()):
        display = HyperplaneDisplay.from_estimator(model, sparse.csr_matrix(X), Y)
        assert len(display.lines_) == 3
        assert display.support_.get_offsets().tolist() == expected.support_.get_offsets().tolist()
    animate(trace(Perceptron(shuffle=False, tol=None), sparse.csr_matrix(X), Y), tmp_path / "run.gif")


def test_each_class_has_a_marker_of_its_own():
    labels = np.arange(6) % 3
    display = HyperplaneDisplay.from_estimator(Perceptron().fit(X, labels), X, labels)
    shapes = {points.get_paths()[0].vertices.tobytes() for points in display.points_}
    colours = {points.get_facecolor().tobytes() for points in display.points_}
    assert len(shapes) == len(colours) == 3


def test_one_of_several_classes_is_shown():
    labels = np.arange(6) % 3
    voted = VotedPerceptron(max_iter=3, tol=None).fit(X, labels)
    pocket = PocketPerceptron(max_iter=5, tol=None).fit(X, labels)
    for k in range(3):
        bars = SurvivalDisplay.from_estimator(voted, class_index=k).bars_
        assert [bar.get_height() for bar in bars] == voted.survival_[k].tolist()
        line = PocketDisplay.from_estimator(pocket, class_index=k).line_
        own = pocket.swaps_[pocket.swaps_["class"] == k]
        assert line.get_xdata().tolist() == own["t"].tolist()
        assert line.get_ydata()[-1] == pocket.pocket_errors_[k]


def test_errors_of_several_learners():
    learners = {"last": Perceptron(random_state=0), "averaged": AveragedPerceptron(random_state=0)}
    display = ErrorsDisplay.from_estimators(learners, X, NOISY, n_epochs=4)
    for name, model in learners.items():
        want = [1 - model.set_params(max_iter=k, tol=None).fit(X, NOISY).score(X, NOISY) for k in range(1, 5)]
        assert display.lines_[name].get_ydata().tolist() == want
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["last", "averaged"]
    display = ErrorsDisplay.from_estimators(learners, X, NOISY, X_test=X[:1], y_test=-NOISY[:1], n_epochs=2)
    assert list(display.lines_) == ["last, training", "last, test", "averaged, training", "averaged, test"]
    assert set(display.errors["last, test"]) <= {0.0, 1.0}
    for name, model in learners.items():
        want = [1 - model.set_params(max_iter=k, tol=None).fit(X, NOISY).score(X, NOISY) for k in (1, 2)]
        assert display.lines_[f"{name}, training"].get_ydata().tolist() == want
        colours = {display.lines_[f"{name}, {which}"].get_color() for which in ("training", "test")}
        assert len(colours) == 1
        styles = [display.lines_[f"{name}, {which}"].get_linestyle() for which in ("training", "test")]
        assert styles == ["-", "--"]


def test_votes():
    model = VotedPerceptron(max_iter=3, tol=None, random_state=0).fit(X, NOISY)
    display = SurvivalDisplay.from_estimator(model)
    assert [bar.get_height() for bar in display.bars_] == model.survival_[0].tolist()
    assert sum(bar.get_height() for bar in display.bars_) == 18
    assert "order of the mistakes" in display.ax_.get_xlabel()
    assert display.ax_.get_ylabel() == "examples survived = votes"


def test_the_pocket():
    model = PocketPerceptron(max_iter=10, tol=None, random_state=0).fit(X, NOISY)
    display = PocketDisplay.from_estimator(model)
    assert display.line_.get_ydata()[-1] == model.pocket_errors_[0]
    assert np.all(np.diff(display.line_.get_ydata()) < 0)
    assert display.ax_.get_ylim()[0] == 0


def test_the_theorem():
    found = proof(trace(Perceptron(shuffle=False, tol=None), X, Y))
    lines = ProofDisplay.from_proof(found).lines_
    assert lines["progress"].get_ydata().tolist() == found.progress.tolist()
    assert np.all(lines["least"].get_ydata() <= lines["progress"].get_ydata())
    assert np.all(lines["norm"].get_ydata() <= lines["most"].get_ydata() * (1 + 1e-9))
    assert np.all(lines["progress"].get_ydata() <= lines["norm"].get_ydata() * (1 + 1e-9))


def test_the_largest_margin_and_its_certificate():
    found = max_margin(X, Y)
    display = MarginDisplay.from_result(found, X, Y)
    distances = [signed_distance(line, found.coef, found.intercept) for line in display.lines_]
    np.testing.assert_allclose(distances, [[0, 0], [found.lower] * 2, [-found.lower] * 2], atol=1e-9)
    np.testing.assert_array_equal(display.support_.get_offsets(), X[found.support])
    assert len(display.hulls_) == 2
    for hull, label in zip(display.hulls_, (-1, 1), strict=True):
        corners = {tuple(corner) for corner in hull.get_xy().tolist()}
        assert corners <= {tuple(point) for point in X[label == Y].tolist()}
    # Larger weights have larger white centres.
    sizes, weights = display.support_.get_sizes(), found.dual_weights
    assert np.argmax(sizes) == np.argmax(weights)
    np.testing.assert_allclose(sizes / 12, weights / weights.max())
    inseparable = MarginDisplay.from_result(max_margin(X[:3, :] * 0, [1, -1, 1]), X[:3], Y[:3])
    assert (inseparable.lines_, inseparable.ax_.get_title()) == ([], "not separable")


def test_an_animation_has_a_picture_for_each_update(tmp_path):
    found = trace(Perceptron(shuffle=False, tol=None), X, Y)
    with Image.open(animate(found, tmp_path / "run.gif", seconds=0.2)) as film:
        assert film.n_frames == len(list(found)) == 3
        assert film.info["duration"] == 200  # milliseconds
    with pytest.raises(ValueError, match="two classes, got 3"):
        animate(trace(Perceptron(max_iter=2, tol=None), X, np.arange(6) % 3), tmp_path / "run.gif")


def test_axes_that_are_given_are_drawn_on(fitted):
    _, ax = plt.subplots()
    display = HyperplaneDisplay.from_estimator(fitted, X, Y, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure


def test_the_plane_has_two_columns():
    with pytest.raises(ValueError, match=r"X must have two columns .* got the shape \(6, 3\)"):
        OrdersDisplay.from_estimator(Perceptron(), np.zeros((6, 3)), Y)


@pytest.mark.parametrize("y", [None, 1, [1, 2], [[0, 1]] * 12, "a", np.zeros((12, 2, 2)), [None] * 12])
def test_odd_labels_are_refused_before_anything_is_drawn(y):
    """SciPy's hull of three axes ended the process."""
    X, right = make_separable(12, 2, seed=1)
    model = Perceptron().fit(X, right)
    for draw in (
        lambda: MarginDisplay.from_result(max_margin(X, right), X, y),
        lambda: HyperplaneDisplay.from_estimator(model, X, y),
        lambda: OrdersDisplay.from_estimator(Perceptron(), X, y, n_orders=1),
        lambda: UpdateDisplay.from_step(next(iter(trace(Perceptron(), X, right))), X, y),
    ):
        with pytest.raises((TypeError, ValueError), match=r"\by\b"):
            draw()


@pytest.mark.parametrize("X", [np.full((12, 2), np.nan), np.full((12, 2), np.inf), [[1, 10**400]] * 12])
def test_odd_examples_are_refused_before_anything_is_drawn(X):
    _, y = make_separable(12, 2, seed=1)
    with pytest.raises((TypeError, ValueError), match=r"\bX\b"):
        MarginDisplay.from_result(max_margin(*make_separable(12, 2, seed=1)), X, y)


@pytest.mark.parametrize("number", [None, -1, 2, 0.5, "0", True])
def test_an_odd_number_of_a_class_is_named(number):
    X, y = make_separable(12, 2, seed=1)
    for display, kind in ((SurvivalDisplay, VotedPerceptron), (PocketDisplay, PocketPerceptron)):
        with pytest.raises(ValueError, match="class_index must be a whole number from 0 to"):
            display.from_estimator(kind().fit(X, y), class_index=number)
