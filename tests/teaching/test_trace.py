"""A trace shows what fit learnt, step by step, with its bits."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from perceptron_rs import (
    AveragedPerceptron,
    BudgetedKernelPerceptron,
    KernelPerceptron,
    MultilayerPerceptron,
    Perceptron,
    PocketPerceptron,
    VotedPerceptron,
    trace,
)
from perceptron_rs.teaching.fit_trace import Trace
from perceptron_rs.training.driver import noted_calls

AND = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]]), np.array([-1, -1, -1, 1])


def drawn(classes, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(40, 5)).round(2)
    return X, random.integers(0, classes, 40)


LINEAR = [
    Perceptron(),
    Perceptron(fit_intercept=False, eta0=0.3),
    Perceptron(tie="positive", class_weight={0: 2.0, 1: 0.5}),
    Perceptron(margin_threshold=0.5, max_mistakes_per_example=3),
    Perceptron(added_feature=0.7),
    Perceptron(penalty="l2", alpha=0.01),
    Perceptron(penalty="elasticnet", alpha=0.01),
    Perceptron(early_stopping=True),
    AveragedPerceptron(),
    VotedPerceptron(),
    PocketPerceptron(),
]
JOINT = [
    Perceptron(multi_class="joint", joint_update=update) for update in ("max", "uniform", "proportional")
]


@pytest.mark.parametrize("engine", ["rust", "reference"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("estimator", LINEAR + JOINT, ids=str)
def test_the_last_step_of_each_class_ends_on_the_weights_of_fit(estimator, classes, engine):
    X, y = drawn(classes)
    model = estimator.set_params(engine=engine, max_iter=7, tol=None, random_state=3)
    steps = list(trace(model, X, y))
    model.fit(X, y)
    voted = isinstance(model, VotedPerceptron)
    pocket = isinstance(model, PocketPerceptron)
    planes = (
        [model.classes_[1]]
        if classes == 2 and model.get_params().get("multi_class") != "joint"
        else model.classes_
    )
    kept = np.full(len(planes), model.n_iter_)  # the epochs whose weights the fit has kept
    if model.early_stopping:
        kept = model.validation_scores_.argmax(axis=0) + 1
    upto = dict(zip(planes, kept, strict=True))
    found = {step.label: step for step in steps if step.epoch < upto[step.label]}
    assert {step.label for step in steps} <= set(planes)
    if not pocket:  # which keeps the best vector of the run, not the last one
        coef = getattr(model, "coef_last_", model.coef_)
        intercept = getattr(model, "intercept_last_", model.intercept_)
        if isinstance(model, AveragedPerceptron):
            last = Perceptron(max_iter=7, tol=None, random_state=3).fit(X, y)
            coef, intercept = last.coef_, last.intercept_
        for k, label in enumerate(planes):
            if label in found and not (model.get_params().get("penalty") or voted):
                assert found[label].w.tobytes() == coef[k].tobytes()
                assert found[label].b == intercept[k]
    joint = model.get_params().get("multi_class") == "joint"
    updates = {(step.epoch, step.row) if joint else (step.epoch, step.row, step.label) for step in steps}
    assert len(updates) == model.n_mistakes_
    assert all(step.mistake for step in steps)


def test_each_update_is_the_rule():
    X, y = drawn(2)
    steps = list(trace(Perceptron(max_iter=9, tol=None, eta0=0.7, random_state=1), X, y, every="example"))
    assert [step.t for step in steps] == list(range(1, 9 * 40 + 1))
    for before, after in pairwise(steps):
        assert before.w.tobytes() == after.w_before.tobytes()
        assert before.b == after.b_before
    for step in steps:
        assert step.activation == pytest.approx(step.w_before @ X[step.row] + step.b_before)
        assert step.mistake == (step.y * step.activation <= 0)
        assert step.step == (0.7 * step.y if step.mistake else 0)
        assert step.w.tobytes() == (step.w_before + step.step * X[step.row]).tobytes()
        assert step.y == (1 if y[step.row] else -1)


def test_sparse_rows_give_the_same_steps():
    X, y = drawn(3)
    X[X < 0] = 0
    tables = [trace(Perceptron(random_state=0), rows, y).table(None) for rows in (X, sparse.csr_matrix(X))]
    assert tables[0] == tables[1]


def test_the_table_of_a_lecture():
    X = [[2, 1], [-1, 1], [0, -1], [1, 2], [-2, -1], [-1, 2]]
    y = [1, -1, -1, 1, -1, -1]
    assert str(trace(Perceptron(shuffle=False, tol=None), X, y)) == "\n".join(
        [
            "epoch  t  row  class   y  w . x + b  predicted  mistake  step       w   b",
            "    0  1    0      1  +1          0         -1      yes    +1  (2, 1)   1",
            "    0  2    1      1  -1          0         -1      yes    -1  (3, 0)   0",
            "    0  3    2      1  -1          0         -1      yes    -1  (3, 1)  -1",
            "w . x + b is 0 at t = 2, 3: a mistake, so an update, but no wrong prediction",
        ]
    )


def test_the_slide_of_a_teacher():
    """Six rows, three mistakes; the first one has an activation of 0 and is predicted right."""
    X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
    y = [-1, 1, 1, -1, -1, 1]
    found = trace(Perceptron(fit_intercept=False, shuffle=False, tol=None), X, y)
    assert str(found) == "\n".join(
        [
            "epoch  t  row  class   y  w . x + b  predicted  mistake  step        w  b",
            "    0  1    0      1  -1          0         -1      yes    -1  (1, -2)  0",
            "    0  3    2      1  +1         -1         -1      yes    +1  (2, -1)  0",
            "    0  5    4      1  -1          0         -1      yes    -1   (3, 1)  0",
            "w . x + b is 0 at t = 1, 5: a mistake, so an update, but no wrong prediction",
        ]
    )
    assert [step.error for step in found] == [False, True, False]


def test_an_activation_of_0_can_be_a_mistake_that_predicts_right():
    X, y = AND
    first = next(iter(trace(Perceptron(shuffle=False), X, y)))
    assert (first.activation, first.y, first.prediction, first.mistake) == (0, -1, -1, True)
    first = next(iter(trace(Perceptron(shuffle=False, tie="positive"), X, y, every="example")))
    assert (first.activation, first.y, first.prediction, first.mistake) == (0, -1, 1, True)


@pytest.mark.parametrize("classes", [2, 3])
def test_kernel_learners(classes):
    X, y = drawn(classes)
    model = KernelPerceptron(kernel="rbf", max_iter=4, tol=None, random_state=0)
    steps = list(trace(model, X, y))
    model.fit(X, y)
    assert len(steps) == model.n_mistakes_
    assert steps[-1].b == model.intercept_[-1]
    budgeted = BudgetedKernelPerceptron(kernel="rbf", budget=5, max_iter=4, tol=None, random_state=0)
    steps = list(trace(budgeted, X, y, every="example"))
    assert len(steps) == 4 * 40 * (1 if classes == 2 else 3)
    assert sum(step.mistake for step in steps) == budgeted.fit(X, y).n_mistakes_


def test_steps_are_made_when_they_are_asked_for():
    X, y = drawn(2)
    found = trace(Perceptron(max_iter=50, tol=None, random_state=0), X, y)
    steps = iter(found)
    assert next(steps).epoch == 0
    shown = found.table(None)
    X *= -1
    y[:] = 0
    assert found.table(None) == shown
    assert not found.X.flags.writeable
    assert not found.y.flags.writeable


def test_longer_tables_end_in_dots():
    X, y = drawn(2)
    found = trace(Perceptron(max_iter=5, tol=None, random_state=0), X, y)
    assert str(found).count("\n") == 22
    assert str(found).splitlines()[-2:] == [
        "...",
        "w . x + b is 0 at t = 1: a mistake, so an update, but no wrong prediction",
    ]
    assert len(found.table(None).split("\n")) == 2 + len(list(found))
    n = len(list(found))
    assert "..." in found.table(n - 1).split("\n")
    assert "..." not in found.table(n).split("\n")


def test_a_table_of_all_examples_marks_the_mistakes():
    X, y = [[-1, -1], [-1, 1], [1, -1], [1, 1]], [-1, -1, -1, 1]
    found = trace(Perceptron(shuffle=False, tol=None), X, y, every="example")
    head, *lines = found.table().splitlines()
    assert {step.mistake for step in found} == {False, True}
    for step, line in zip(found, lines, strict=False):
        own = {name: line[: head.index(name) + len(name)].rsplit("  ", 1)[1] for name in ("mistake", "step")}
        shown = ("yes", f"{step.step:+g}") if step.mistake else ("", "")
        assert tuple(cell.strip() for cell in own.values()) == shown


def test_examples_of_weight_zero_are_no_steps():
    X, y = drawn(2)
    weights = np.arange(len(y)) % 3 + 0.0
    learner = Perceptron(max_iter=2, tol=None, random_state=0)
    steps = list(trace(learner, X, y, every="example", sample_weight=weights))
    assert len(steps) == 2 * np.count_nonzero(weights)
    for step in steps:
        assert weights[step.row] > 0
        assert step.activation == pytest.approx(X[step.row] @ step.w_before + step.b_before)


@pytest.mark.parametrize("options", [{}, {"early_stopping": True, "validation_fraction": 0.3}], ids=str)
def test_a_class_that_has_ended_has_no_more_steps(options):
    """One class is clean after two epochs, the others never: its steps are those of its own epochs."""
    X, y = drawn(3, seed=4)
    X[:, 0] = np.where(y == 1, 30, -30)
    learner = Perceptron(max_iter=8, tol=None, random_state=0, **options)
    found = trace(learner, X, y, every="example")
    n_iter = found.estimator.n_iter_per_class_
    assert n_iter[1] < n_iter[0] == 8
    steps = list(found)
    for k, epochs in enumerate(n_iter.tolist()):
        own = [step for step in steps if step.label == k]
        assert [step.t for step in own] == list(range(1, len(own) + 1))
        assert sorted({step.epoch for step in own}) == list(range(epochs))
        made = [sum(step.mistake for step in own if step.epoch == epoch) for epoch in range(8)]
        assert made == found.estimator.mistakes_per_epoch_[:, k].tolist()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
def test_steps_are_of_their_rows_where_some_weigh_nothing(classes, multi_class):
    """By the weights of examples and of classes; what an example gets is told of its own row."""
    X, y = drawn(classes)
    weights = np.where(np.arange(len(y)) % 3 == 1, 0.0, 1.0)
    learner = Perceptron(multi_class=multi_class, class_weight={0: 0.0}, max_iter=2, tol=None, random_state=5)
    steps = list(trace(learner, X, y, every="example", sample_weight=weights))
    assert steps
    for step in steps:
        assert weights[step.row] > 0
        assert step.activation == pytest.approx(X[step.row] @ step.w_before + step.b_before)
        assert step.y == (1 if y[step.row] == step.label else -1)
    of_last = [step for step in steps if step.label == classes - 1]
    rows = {step.row for step in of_last}
    visited = np.flatnonzero(weights * (y != 0) if classes == 2 or multi_class == "joint" else weights)
    assert rows == set(visited.tolist())
    assert len(of_last) == 2 * len(visited) or classes == 2


def test_steps_go_on_from_a_warm_start():
    """Their epochs are numbered on, and the orders are those of the numbers."""
    X, y = drawn(2)
    with noted_calls() as calls:
        model = (
            Perceptron(max_iter=2, tol=None, warm_start=True, random_state=0, engine="reference")
            .fit(X, y)
            .fit(X, y)
        )
    steps = [step for call in calls for step in Trace(model, X, y, [call], "update")]
    whole = list(trace(Perceptron(max_iter=4, tol=None, random_state=0), X, y))
    assert [(step.epoch, step.t, step.row) for step in steps] == [
        (step.epoch, step.t, step.row) for step in whole
    ]


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_weights_have_shrunk_by_the_penalty(penalty):
    X, y = drawn(2)
    learner = Perceptron(penalty=penalty, alpha=0.125, max_iter=1, tol=None, shuffle=False)
    steps = list(trace(learner, X, y, every="example"))
    for t, step in enumerate(steps, start=1):
        model = clone(learner).partial_fit(X[:t], y[:t], classes=np.unique(y))
        assert step.w.tobytes() == model.coef_[0].tobytes()


def test_a_joint_decision_has_no_side_of_zero():
    X, y = drawn(3)
    y[0] = 0  # of equal scores, the first class is predicted
    found = trace(Perceptron(multi_class="joint", max_iter=1, tol=None, shuffle=False), X, y)
    assert any(step.activation == 0 and step.mistake and not step.error for step in found)
    assert "a mistake, so an update" not in str(found)


def test_a_frame_has_a_column_for_each_weight():
    X, y = AND
    frame = trace(Perceptron(shuffle=False), X, y, every="example").to_frame()
    assert list(frame.columns)[-5:] == ["b", "w_before[0]", "w_before[1]", "w[0]", "w[1]"]
    assert frame["w[1]"].tolist() == [1.0] * 8
    assert frame["mistake"].sum() == 1


def test_the_estimator_stays_as_it_is():
    X, y = AND
    model = Perceptron()
    found = trace(model, X, y)
    assert not hasattr(model, "coef_")
    assert found.estimator.coef_.shape == (1, 2)


def test_steps_of_a_learner_that_would_keep_an_interrupted_fit():
    """Its run works on copies, in case that Ctrl-C comes; these are not watched."""
    X, y = drawn(3)
    tables = [
        trace(Perceptron(keep_on_interrupt=keep, max_iter=3, tol=None), X, y).table(None)
        for keep in (False, True)
    ]
    assert tables[0] == tables[1]


def test_refusals():
    X, y = AND
    with pytest.raises(ValueError, match='every must be "update" or "example", got \'epoch\''):
        trace(Perceptron(), X, y, every="epoch")
    with pytest.raises(TypeError, match="estimator must be a linear or kernel learner"):
        trace("perceptron", X, y)
    with pytest.raises(TypeError, match="estimator must be a linear or kernel learner"):
        trace(Perceptron, X, y)
    for n_partitions in (2, [2, 2]):
        with pytest.raises(ValueError, match="n_partitions must be 1"):
            trace(Perceptron(n_partitions=n_partitions), X, y)
    with pytest.raises(TypeError, match="estimator must learn hyperplanes in epochs"):
        trace(MultilayerPerceptron(max_iter=1, tol=None), X, y)


@pytest.mark.parametrize("model", JOINT)
def test_a_joint_decision_predicts_the_class_of_the_largest_score(model):
    X, y = drawn(3)
    steps = list(trace(clone(model).set_params(max_iter=2, tol=None), X, y, every="example"))
    for t in range(1, 81):
        (scores, predictions) = zip(*((s.activation, s.prediction) for s in steps if s.t == t), strict=True)
        assert predictions == tuple(1 if k == np.argmax(scores) else -1 for k in range(3))


def test_a_table_for_slides():
    """Each row has the cells of the text; what LaTeX would read otherwise is escaped."""
    found = trace(Perceptron(shuffle=False, tol=None), [[1.0, 2.0], [-1.0, 0.5]], ["a_b", "50%"])
    lines = found.to_latex().splitlines()
    assert lines[0] == r"\begin{tabular}{rrrrrrrrrrr}"
    head = r"epoch & $t$ & row & class & $y$ & $w \cdot x + b$ & predicted & mistake & step & $w$ & $b$ \\"
    assert lines[1:3] == [head, r"\hline"]
    assert lines[3] == r"$0$ & $1$ & $0$ & a\_b & $+1$ & $0$ & $-1$ & yes & $+1$ & $(1, 2)$ & $1$ \\"
    assert sum(line.endswith(r"\\") for line in lines) == 1 + len(list(found))
    assert found.to_latex(limit=1).splitlines()[4:6] == [r"\end{tabular}", "% ..."]
    labels = ["~", "\\", "^{}&#$", "<|>", "a\n\nb"]  # an empty line would end a paragraph
    names = trace(
        Perceptron(shuffle=False, tol=None, max_iter=5), [[1.0], [2.0], [3.0], [4.0], [5.0]], labels
    )
    text = names.to_latex(limit=None)
    escaped = r"\textasciitilde{}", r"\textbackslash{}", r"\textasciicircum{}\{\}\&\#\$"
    escaped += r"\textless{}\textbar{}\textgreater{}", "& a  b &"
    assert all(label in text for label in escaped)
    large = trace(Perceptron(shuffle=False, tol=None), [[1e-7, 2e10], [-1.0, 0.5]], [1, 0])
    assert r"$(1 \cdot 10^{-7}, 2 \cdot 10^{10})$" in large.to_latex()


def test_held_out_examples_leave_all_columns_in_the_trace():
    """Where a fit to sparse rows learns over the columns that they have."""
    X = sparse.csr_matrix((np.ones(8), np.arange(8) % 4 * 9, np.arange(9)), shape=(8, 60))
    steps = list(trace(Perceptron(early_stopping=True, max_iter=2), X, np.arange(8) % 2))
    assert {len(step.w) for step in steps} == {60}
