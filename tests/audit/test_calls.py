"""Records of several calls: passes, fits that go on, callbacks, interrupts and errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from perceptron_rs import (
    Perceptron,
    SequencePerceptron,
    reproduce,
)
from perceptron_rs.audit import RECORD
from tests.learners import PASSES

from .problems import (
    CLASSES,
    LEARNERS,
    NAMES,
    SHORT,
    STREAMS,
    TAGGED,
    WEIGHT,
    X,
    Y,
    fitted,
    refused,
    rng,
    saved,
)


@pytest.mark.parametrize("learner", [LEARNERS[0], LEARNERS[4], LEARNERS[7]])
def test_weights_of_examples(learner, tmp_path):
    model = saved(fitted(learner, sample_weight=WEIGHT), tmp_path)
    assert reproduce(model, X, Y, WEIGHT)
    assert reproduce(model, X, Y, sample_weight=WEIGHT.tolist())
    refused(reproduce(model, X, Y), "data", "was trained with sample_weight")
    other = WEIGHT.copy()
    other[1299] += 1
    refused(
        reproduce(model, X, Y, other),
        "data",
        "rows 0 to 1299 differ somewhere in their entries, labels or weights; compare them with a copy",
    )
    refused(reproduce(fitted(learner), X, Y, WEIGHT), "data", "was trained without sample_weight")


@pytest.mark.parametrize("learner", STREAMS, ids=repr)
@pytest.mark.parametrize("sizes", [[1300], [1] * 20 + [7] * 90 + [650], [600, 100, 600]])
def test_a_chain_of_partial_fit(learner, sizes, tmp_path):
    model, begin = clone(learner), 0
    for number, size in enumerate(sizes):
        part = slice(begin, begin + size)
        if hasattr(model, "predict_then_learn") and number % 2:
            model.predict_then_learn(X[part], Y[part], classes=CLASSES)
        else:
            model.partial_fit(X[part] if number % 3 else sp.csr_matrix(X[part]), Y[part], classes=CLASSES)
        begin += size
    (call,) = model._calls
    assert sum(times for _, times in call.sizes) == len(sizes)
    model = saved(model, tmp_path)
    answer = reproduce(model, X, Y)
    assert answer, answer.message
    x = X.copy()
    x[1299, 0] += 1
    refused(
        reproduce(model, x, Y),
        "data",
        "rows 0 to 1299 differ somewhere in their entries or labels; compare them with a copy",
    )


def test_small_batches_without_a_look_at_the_input():
    model = Perceptron(audit=True).partial_fit(X[:1], Y[:1], classes=CLASSES)
    for row in range(1, 40):
        model.partial_fit(X[row : row + 1], Y[row : row + 1], check_input=False)
    assert model._calls[0].sizes == ((1, 40),)
    assert reproduce(model, X[:40], Y[:40])
    model.set_params(audit=False)
    model.partial_fit(X[:1], Y[:1], check_input=False)
    assert getattr(model, RECORD, None) is None
    model.partial_fit(X[:1], Y[:1], check_input=False)
    model.set_params(audit=True)
    with pytest.raises(ValueError, match="audit=True goes on from what was learnt without it"):
        model.partial_fit(X[:1], Y[:1], check_input=False)


def test_parameters_may_change_in_a_chain():
    model = Perceptron(audit=True).partial_fit(X[:500], Y[:500], classes=CLASSES)
    model.set_params(eta0=0.5).partial_fit(X[500:900], Y[500:900], sample_weight=WEIGHT[500:900])
    model.set_params(class_weight={"ham": 2.0}).partial_fit(X[900:1000], Y[900:1000])
    model.set_params(class_weight={"ham": 3.0}).partial_fit(X[1000:1100], Y[1000:1100])
    model.set_params(eta0=0.25).partial_fit(X[1100:1200], Y[1100:1200]).partial_fit(X[1200:], Y[1200:])
    assert [call.rows for call in model._calls] == [500, 400, 100, 100, 200]
    assert reproduce(model, X, Y, WEIGHT)
    x = X.copy()
    x[899] += 1
    refused(
        reproduce(model, x, Y, WEIGHT),
        "data",
        "rows 0 to 1299 differ somewhere in their entries, labels or weights; compare them with a copy",
    )
    refused(reproduce(model.set_params(eta0=1.0), X, Y, WEIGHT), "parameters", "eta0 is 1.0 .* with 0.25")


@pytest.mark.parametrize("learner", [LEARNERS[0], LEARNERS[4], LEARNERS[7], LEARNERS[10]])
@pytest.mark.parametrize("audit", [True, False])
def test_fits_that_go_on(learner, audit, tmp_path):
    learner = clone(learner).set_params(warm_start=True, audit=audit)
    model = saved(fitted(learner), tmp_path).fit(X, Y)
    model.set_params(random_state=3).fit(X, Y)
    model = saved(model, tmp_path)
    assert len(model._calls) == 3
    assert reproduce(model, X, Y), "the examples once"
    assert reproduce(model, np.vstack([X, X, X]), np.concatenate([Y, Y, Y])), "the examples of each call"
    model = saved(model.fit(X[::-1].copy(), Y[::-1]), tmp_path)
    if audit:
        assert reproduce(model, np.vstack([X, X[::-1]]), np.concatenate([Y, Y[::-1]]))
        refused(reproduce(model, X, Y), "data", "from 2600 rows, got 1300")
        model = model.partial_fit(X[:9], Y[:9])
        assert reproduce(model, np.vstack([X, X[::-1], X[:9]]), np.concatenate([Y, Y[::-1], Y[:9]]))


@pytest.mark.parametrize(("n", "sizes"), [(999, [1000, 1299]), (1000, [1300, 1000]), (1001, [1300, 1001])])
def test_a_fit_of_a_whole_block_begins_one(n, sizes):
    model = Perceptron(**SHORT, warm_start=True).fit(X, Y).fit(X[:n], Y[:n])
    assert [size for size, _ in model._calls[-1].digests.blocks] == sizes


def test_examples_without_a_digest_may_be_those_of_another_fit():
    """A fit without digests, and one that goes on with them: the examples of both are given once."""
    model = Perceptron(**(SHORT | {"audit": False}), warm_start=True).fit(X, Y)
    model.set_params(audit=True).fit(X, Y)
    assert [digest is None for _, digest in model._calls[-1].digests.blocks] == [True, False]
    answer = reproduce(model, X, Y)
    assert answer, answer.message


def test_a_call_that_knew_fewer_parameters_is_one_by_itself():
    """As of a file that was written before the learner had all of them."""
    model = Perceptron(audit=True).partial_fit(X[:600], Y[:600], classes=CLASSES)
    (call,) = model._calls
    model._calls = (replace(call, parameters={"eta0": 1.0, "audit": True}),)
    model.partial_fit(X[600:], Y[600:])
    assert [len(call.parameters) for call in model._calls] == [2, len(call.parameters)]


def test_calls_with_weights_and_without_are_told_apart(tmp_path):
    """Under the same parameters, by each way of making a call."""
    positive = WEIGHT + 1
    model, given = Perceptron(audit=True), [None, positive, positive, None, positive]
    borders = [0, 300, 600, 601, 900, 1300]
    for k, weight in enumerate(given):
        rows = slice(borders[k], borders[k + 1])
        own = None if weight is None else weight[rows]
        if k == 0:
            model.partial_fit(X[rows], Y[rows], CLASSES)
        elif k == 4:
            model.predict_then_learn(X[rows], Y[rows], sample_weight=own)
        else:
            model.partial_fit(X[rows], Y[rows], sample_weight=own, check_input=k != 2)
    assert [(call.sizes, call.weighted) for call in model._calls] == [
        (((300, 1),), False),
        (((300, 1), (1, 1)), True),
        (((299, 1),), False),
        (((400, 1),), True),
    ]
    model = saved(model, tmp_path)
    assert reproduce(model, X, Y, positive)
    other = positive.copy()
    other[:300] += 1  # of examples that were learnt from without
    assert reproduce(model, X, Y, other)
    other[600] += 1
    refused(
        reproduce(model, X, Y, other),
        "data",
        "differ somewhere in their entries, labels or weights; compare them with a copy",
    )


def test_what_a_process_is_told_is_not_in_the_record(capsys):
    """So a model is the same file whoever watches, and calls are put together."""
    quiet, loud = (
        Perceptron(audit=True, verbose=verbose, n_jobs=jobs).partial_fit(X[:600], Y[:600], classes=CLASSES)
        for verbose, jobs in ((0, None), (1, 2))
    )
    assert loud._calls == quiet._calls
    loud.set_params(verbose=0, n_jobs=1).partial_fit(X[600:], Y[600:])
    assert len(loud._calls) == 1
    capsys.readouterr()
    assert reproduce(loud.set_params(verbose=1), X, Y)
    assert capsys.readouterr().out == ""


def test_a_cold_start_begins_a_new_record():
    model = fitted(LEARNERS[0])
    model.fit(X[:100], Y[:100])
    assert len(model._calls) == 1
    assert reproduce(model, X[:100], Y[:100])


@pytest.mark.parametrize("learner", PASSES)
def test_start_weights_are_kept_with_the_record(learner, tmp_path):
    coef, intercept = rng.normal(size=(3, 5)), rng.normal(size=3)
    model = learner(**SHORT).fit(X, Y, coef_init=coef, intercept_init=intercept)
    model = saved(model, tmp_path)
    assert reproduce(model, X, Y)
    model._calls[0].start["coef"][0, 0] += 1
    refused(reproduce(model, X, Y), "numbers", "differ in")
    assert reproduce(saved(learner(**SHORT).fit(X, Y, coef_init=coef * 0), tmp_path), X, Y)
    half = learner(**SHORT, warm_start=True).fit(X, Y).fit(X, Y, intercept_init=intercept)
    assert reproduce(saved(half, tmp_path), X, Y), "weights of the fit before, other intercepts"
    model = learner(**(SHORT | {"audit": False})).fit(X, Y, coef_init=coef)
    with pytest.raises(ValueError, match="has no record of its training"):
        reproduce(model, X, Y)


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_without_audit_a_fit_can_be_repeated_but_no_block_is_named(learner, tmp_path):
    model = saved(fitted(learner.set_params(audit=False)), tmp_path)
    learner.set_params(audit=True)
    assert model._calls[0].digests is None
    assert reproduce(model, X, Y)
    y = Y.copy()
    y[:30] = CLASSES[0]
    answer = reproduce(model, X, y)
    refused(
        answer,
        "numbers",
        "differ in .*; whether the data is the same is not known, as there are examples without a digest",
    )
    if hasattr(model, "partial_fit") and not getattr(model, "early_stopping", False):
        model.set_params(**({"class_weight": None} if hasattr(model, "class_weight") else {}))
        model.partial_fit(X, Y)
        with pytest.raises(
            ValueError, match=r"no record of its training; train it by fit with .*, or with audit=True"
        ):
            reproduce(model, X, Y)


def test_what_cannot_be_repeated_is_said():
    with pytest.raises(ValueError, match=r"random_state must be an integer with audit=True.*got None"):
        Perceptron(audit=True, random_state=None).fit(X, Y)
    with pytest.raises(ValueError, match=r"random_state=None must be an integer, .*; set random_state=0"):
        reproduce(fitted(Perceptron(random_state=None)), X, Y)
    with pytest.raises(NotFittedError):
        reproduce(Perceptron(), X, Y)
    with pytest.raises(ValueError, match="X must be attributes, as the model has learnt from"):
        reproduce(SequencePerceptron(max_iter=1).fit(*TAGGED), X, Y)
    model = fitted(LEARNERS[0])
    model._calls = (replace(model._calls[0], ended=("interrupt", 2)),)
    with pytest.raises(ValueError, match="Ctrl-C ended the training"):
        reproduce(model, X, Y)
    with pytest.raises(ValueError, match=r"must be True or False, got 'yes'|The 'audit' parameter"):
        Perceptron(audit="yes").fit(X, Y)


@pytest.mark.parametrize("learner", [LEARNERS[0], LEARNERS[2], LEARNERS[7]])
def test_a_fit_that_a_callback_ended(learner, tmp_path):
    learner = clone(learner).set_params(max_iter=9, callback=lambda record: record.epoch == 1)
    model = saved(fitted(learner), tmp_path)
    assert model.n_iter_ == 2
    assert model._calls[0].ended == ("callback", 2)
    assert reproduce(model, X, Y)


def test_a_fit_that_was_interrupted(tmp_path):
    def interrupt(record):
        if record.epoch == 1:
            raise KeyboardInterrupt
        return False

    model = Perceptron(**SHORT, keep_on_interrupt=True, callback=interrupt)
    with pytest.warns(ConvergenceWarning, match="ctrl-c"):
        model.fit(X, Y)
    assert saved(model, tmp_path)._calls[0].ended[0] == "interrupt"


def test_an_error_leaves_the_record_as_it_was():
    model = fitted(LEARNERS[0])
    calls = model._calls
    with pytest.raises(ValueError, match=r"not finite|infinity"):
        model.partial_fit(np.where(X == 2, np.inf, X), Y)
    assert model._calls is calls
