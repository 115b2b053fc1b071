"""Models that are trained again from their record: what is equal, and what is named if it is not."""

from __future__ import annotations

import pickle
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from perceptron_rs import (
    ARITHMETIC_VERSION,
    AveragedPerceptron,
    BudgetedKernelPerceptron,
    KernelPerceptron,
    MaxMarginClassifier,
    MultilayerPerceptron,
    Perceptron,
    PocketPerceptron,
    SequencePerceptron,
    VotedPerceptron,
    digest,
    load,
    reproduce,
)
from perceptron_rs.audit.record import RECORD
from perceptron_rs.engines import get_engine
from perceptron_rs.features import AttributeEncoder
from perceptron_rs.io import open_arrays
from perceptron_rs.models.container import pack, unpack
from perceptron_rs.parity import ways
from tests.learners import PASSES

rng = np.random.default_rng(11)
X = rng.integers(-2, 3, (1300, 5)).astype(np.float64)
Y = np.array(["ham", "spam", "egg"])[np.argmax(X[:, :3] + rng.normal(size=(1300, 3)), axis=1)]
WEIGHT = rng.integers(0, 3, 1300).astype(np.float64)
CLASSES = np.unique(Y)

SHORT = {"max_iter": 3, "tol": None, "audit": True}
LEARNERS = [
    Perceptron(**SHORT),
    Perceptron(**SHORT, penalty="elasticnet", alpha=1e-3, class_weight="balanced"),
    Perceptron(**SHORT, multi_class="joint", joint_update="uniform", random_state=4),
    Perceptron(audit=True, early_stopping=True, max_iter=30),
    AveragedPerceptron(**SHORT, margin_threshold=0.5, max_mistakes_per_example=2),
    VotedPerceptron(**SHORT, prediction="random", max_vectors=50),
    PocketPerceptron(**SHORT, check="ratchet"),
    KernelPerceptron(max_iter=2, audit=True),
    KernelPerceptron(max_iter=2, audit=True, kernel="poly", multi_class="joint", shuffle=False),
    BudgetedKernelPerceptron(max_iter=2, audit=True, budget=20, budget_policy="random"),
    MultilayerPerceptron((4,), **SHORT),
    MaxMarginClassifier(inseparable="warn", max_steps=30, audit=True),
]
NAMES = [repr(learner).replace("\n", " ") for learner in LEARNERS]
STREAMS = [learner for learner in LEARNERS if hasattr(learner, "partial_fit")]
STREAMS = [learner for learner in STREAMS if not getattr(learner, "early_stopping", False)]
STREAMS = [clone(learner) for learner in STREAMS if getattr(learner, "class_weight", None) is None]

TAGGED = [[["a"], ["b"]], [["b"]]], [["x", "y"], ["y"]]


def fitted(learner, X=X, y=Y, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(learner).fit(X, y, **more)


def saved(model, folder):
    model.save(folder / "model")
    return load(folder / "model")


def refused(answer, reason, message):
    assert not answer
    assert answer.reason == reason
    assert re.search(message, answer.message), answer.message


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_a_fit_is_reproduced_from_its_file(learner, tmp_path):
    model = saved(fitted(learner), tmp_path)
    before = pickle.dumps(model)
    for storage in (X, sp.csr_matrix(X.astype(np.int8)), X.tolist()):
        answer = reproduce(model, storage, Y)
        assert answer, answer.message
        assert answer.message == "equal to the last bit"
        assert answer.digest == answer.digest_again == digest(model)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_another_entry_or_label_is_named(learner, tmp_path):
    model = saved(fitted(learner), tmp_path)
    x, y = X.copy(), Y.copy()
    x[1200, 3] += 1
    refused(reproduce(model, x, Y), "data", "^other data: rows 0 to 1299 differ in their entries or labels$")
    y[30] = CLASSES[y[30] != CLASSES][0]
    answer = reproduce(model, X, y)
    refused(answer, "data", "^other data: rows 0 to 1299 differ in their entries or labels$")
    assert answer.digest == digest(model)
    assert answer.digest_again is None
    refused(reproduce(model, x, y), "data", "rows 0 to 1299 differ in their entries or labels")
    y[30] = "none"
    refused(reproduce(model, X, y), "data", "row 30 has the label 'none', which is no class of the model")
    refused(reproduce(model, X[:-1], Y[:-1]), "data", "has learnt from 1300 rows, got 1299")
    refused(reproduce(model, X[:, :-1], Y), "data", "has learnt from 5 columns, got 4")


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_swapped_and_renamed_classes_are_named(learner):
    model = fitted(learner)
    before = digest(model)
    model.classes_ = model.classes_[[1, 0, 2]]
    text = "classes_ is ['ham', 'egg', 'spam'] in the model, and every training sorts classes"
    refused(reproduce(model, X, Y), "numbers", re.escape(text))
    assert digest(model) != before
    model.classes_ = np.array(["egg", "hum", "spam"])
    refused(reproduce(model, X, Y), "data", "has the label 'ham', which is no class of the model")


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_another_order_is_other_data(learner):
    model = fitted(learner)
    refused(reproduce(model, X[::-1], Y[::-1]), "data", "rows 0 to 1299 differ in their entries or labels")


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_another_parameter_is_named(learner, tmp_path):
    model = fitted(learner)
    if isinstance(model, MultilayerPerceptron):
        name, value = "alpha", 0.25
    elif isinstance(model, MaxMarginClassifier):
        name, value = "max_steps", 31
    else:
        name, value = "eta0", 0.5
    old = getattr(model, name)
    model = saved(model.set_params(**{name: value}), tmp_path)
    answer = reproduce(model, X, Y)
    refused(
        answer,
        "parameters",
        f"^other parameters: {name} is {value} in the model, which was trained with {old};",
    )
    assert answer.message.endswith("; all that was learnt is equal to the last bit")
    assert answer.digest == answer.digest_again


#: What a model is told of how it is to be computed, not of what; and other values of it.
OF_PROCESS = dict(n_jobs=2, verbose=1, audit=False, engine="reference", keep_on_interrupt=True)  # noqa: C408
OF_PROCESS |= dict(cache_size=7.0, warm_start=True, callback=print, audit_key=None)  # noqa: C408


def another(model, name, value):
    """Return another value of a parameter, which need not go with the others."""
    for constraint in model._parameter_constraints.get(name, ()):
        for option in sorted(getattr(constraint, "options", ())):
            if isinstance(option, str) and option != value:
                return option
    if isinstance(value, bool | str):
        return not value
    return (*value, 3) if isinstance(value, tuple) else (value or 0) + 1


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_every_other_parameter_is_compared(learner):
    """Each of them, also those that predicting does not read; but what says how it is computed is not."""
    model = fitted(learner, X[:60], Y[:60])
    lasting = {
        *model._fixed_values,
        "multi_class",
        "kernel",
        "gamma",
        "coef0",
        "degree",
    }  # nothing predicts without them
    for name, value in model.get_params().items():
        if name in lasting:
            continue
        if name in OF_PROCESS:
            model.set_params(**{name: OF_PROCESS[name]})
            answer = reproduce(model, X[:60], Y[:60])
            assert answer, (name, answer.message)
        else:
            other = another(model, name, value)
            model.set_params(**{name: other})
            text = f"^other parameters: {name} is {re.escape(repr(other))} in the model"
            refused(reproduce(model, X[:60], Y[:60]), "parameters", text)
        model.set_params(**{name: value})
    assert reproduce(model, X[:60], Y[:60])


@pytest.mark.parametrize(
    ("learner", "name", "value", "old"),
    [
        (LEARNERS[0], "tie", "positive", "mistake"),
        (LEARNERS[5], "prediction", "last", "random"),
        (LEARNERS[7], "prediction", "average", "vote"),
        (LEARNERS[7], "normalize", True, False),
    ],
)
def test_a_parameter_that_predicting_reads_is_named(learner, name, value, old, tmp_path):
    model = fitted(learner)
    before = digest(model)
    model = saved(model.set_params(**{name: value}), tmp_path)
    answer = reproduce(model, X, Y)
    refused(answer, "parameters", f"^other parameters: {name} is {value!r} .* trained with {old!r};")
    assert answer.digest == digest(model) != before == answer.digest_again


@pytest.mark.parametrize(
    "learner", [LEARNERS[5], LEARNERS[7], LEARNERS[9]], ids=["voted", "kernel", "budget"]
)
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_reversed_rows_are_named(learner, storage, tmp_path):
    model = fitted(learner, storage(X))
    path = tmp_path / "model"
    model.save(path)
    document, tensors = unpack(path)
    prefix = "vectors_rows" if isinstance(model, VotedPerceptron) else "rows"
    if prefix in tensors:
        tensors[prefix] = np.ascontiguousarray(tensors[prefix][::-1])
    else:
        parts = [tensors[f"{prefix}_{part}"] for part in ("values", "indices", "indptr")]
        matrix = sp.csr_matrix(tuple(parts), shape=(len(parts[2]) - 1, 5))[::-1]
        for part in ("values", "indices", "indptr"):
            tensors[f"{prefix}_{part}"] = getattr(matrix, {"values": "data"}.get(part, part))
    if isinstance(model, VotedPerceptron):  # or the rows do not lead to the last weights
        vectors = {name: array for name, array in tensors.items() if name.startswith("vectors_")}
        model._publish(model._model.state() | vectors)
    else:
        path.write_bytes(pack({**document}, tensors))
        model = load(path)
    assert (model.predict(X) != fitted(learner).predict(X)).any()
    refused(reproduce(model, X, Y), "numbers", r"differ in (vectors_)?rows at index \(\d+, 0\)")


@pytest.mark.parametrize("learner", [LEARNERS[0], LEARNERS[4]])
def test_sparse_weights(learner):
    model = fitted(learner).sparsify()
    answer = reproduce(model, X, Y)
    assert answer, answer.message
    assert answer.digest_again == digest(model)


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_another_arithmetic_is_named(learner):
    model = fitted(learner)
    (call,) = model._calls
    model._calls = (replace(call, arithmetic=ARITHMETIC_VERSION + 1),)
    answer = reproduce(model, X, Y)
    refused(answer, "arithmetic", f"was learnt by version {ARITHMETIC_VERSION + 1}, and this is version")
    assert "equal to the last bit" in answer.message


def test_another_arithmetic_of_an_earlier_call_is_named():
    """The calls by one version are not put together with those by another one."""
    model = Perceptron(audit=True).partial_fit(X[:600], Y[:600], classes=CLASSES)
    (call,) = model._calls
    model._calls = (replace(call, arithmetic=ARITHMETIC_VERSION - 1),)
    model.partial_fit(X[600:], Y[600:])
    assert [call.arithmetic for call in model._calls] == [ARITHMETIC_VERSION - 1, ARITHMETIC_VERSION]
    refused(reproduce(model, X, Y), "arithmetic", f"was learnt by version {ARITHMETIC_VERSION - 1}, and this")


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_other_numbers_are_named(learner):
    model = fitted(learner)
    if isinstance(model, MultilayerPerceptron):
        numbers = model._model.state()
        model._publish(numbers | {"coef_0": np.nextafter(numbers["coef_0"], 9)})
        what = r"coef_0 at index \(0, 0\)"
    elif isinstance(model, VotedPerceptron):
        numbers = model._model.state()
        model._publish(numbers | {"seen": numbers["seen"] + 1})
        what = r"n_seen_ at index \(\d+,\)"
    elif hasattr(model, "_vectors"):
        if "_model" in vars(model):
            numbers = model._model.state()
            model._publish(numbers | {"seen": numbers["seen"] + 1})
        else:
            model.n_seen_ = model.n_seen_ + 1
        what = r"(n_seen_|seen|log_count) at index \(\d+,\)"
    else:
        change = 2**-50 * np.eye(3)[1]
        if hasattr(model, "_model"):
            numbers = model._model.state()
            model._publish(numbers | {"intercept": numbers["intercept"] + change})
        else:
            model.intercept_ = model.intercept_ + change
        what = r"(last_)?intercept_? at index \(1,\)"
    answer = reproduce(model, X, Y)
    refused(answer, "numbers", rf"^other numbers: \[the model\] and \[the run\] differ in {what}: ")


@pytest.mark.parametrize("learner", [LEARNERS[0], LEARNERS[4], LEARNERS[7]])
def test_weights_of_examples(learner, tmp_path):
    model = saved(fitted(learner, sample_weight=WEIGHT), tmp_path)
    assert reproduce(model, X, Y, WEIGHT)
    assert reproduce(model, X, Y, sample_weight=WEIGHT.tolist())
    refused(reproduce(model, X, Y), "data", "was trained with sample_weight")
    other = WEIGHT.copy()
    other[1299] += 1
    refused(
        reproduce(model, X, Y, other), "data", "rows 0 to 1299 differ in their entries, labels or weights"
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
    refused(reproduce(model, x, Y), "data", "rows 0 to 1299 differ in their entries or labels")


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
        reproduce(model, x, Y, WEIGHT), "data", "rows 0 to 1299 differ in their entries, labels or weights"
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
    refused(reproduce(model, X, Y, other), "data", "differ in their entries, labels or weights")


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
            ValueError, match="no record of its training; train it by fit, or with audit=True"
        ):
            reproduce(model, X, Y)


def test_what_cannot_be_repeated_is_said():
    with pytest.raises(ValueError, match=r"random_state must be an integer with audit=True.*got None"):
        Perceptron(audit=True, random_state=None).fit(X, Y)
    with pytest.raises(ValueError, match="has no record"):
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


TWO = (Y == "ham").astype(np.int64)


@pytest.mark.parametrize(
    ("y", "again"),
    [
        (Y, Y.astype(object)),
        (Y, Y.astype("U40")),
        (Y.astype(object), Y.tolist()),
        (TWO, TWO.astype(np.int8)),
        (TWO, TWO.astype(np.uint64)),
        (TWO, TWO.astype(np.float32)),
        (TWO, TWO == 1),
    ],
)
def test_equal_labels_of_another_type(y, again, tmp_path):
    for learn in (lambda: Perceptron(**SHORT).fit(X, y), lambda: Perceptron(**SHORT).fit_stream((X, y))):
        model = learn()
        assert reproduce(model, X, again)
        assert reproduce(saved(model, tmp_path), X, again)
    model = SequencePerceptron(max_iter=2, audit=True).fit(X, y, lengths=[13] * 100)
    assert reproduce(model, X, again, lengths=[13] * 100)


@pytest.mark.parametrize("form", [list, tuple, np.array])
def test_a_list_a_tuple_and_an_array_are_the_same_parameter(form, tmp_path):
    for learner in (
        Perceptron(**SHORT, n_partitions=form([300, 1000])),
        MultilayerPerceptron(form([3, 2]), **SHORT),
    ):
        assert reproduce(learner.fit(X, Y), X, Y)
        assert reproduce(saved(learner, tmp_path), X, Y)
        name = "n_partitions" if hasattr(learner, "n_partitions") else "hidden_layer_sizes"
        setattr(learner, name, form([1000, 300]))
        assert reproduce(learner, X, Y).reason == "parameters"


def test_one_weight_for_all_examples():
    model = Perceptron(**SHORT).fit(X, Y, sample_weight=2)
    assert reproduce(model, X, Y, 2)
    assert reproduce(model, X, Y, np.full(len(Y), 2))
    assert "labels or weights" in reproduce(model, X, Y, 3).message


def test_what_does_not_belong_to_the_examples_is_refused():
    model = Perceptron(**SHORT).fit_stream((X, Y))
    sequences = SequencePerceptron(max_iter=2, audit=True).fit(X, Y, lengths=[13] * 100)
    for arguments, more, text in (
        ((model, X, Y), {"lengths": [1300]}, "lengths must be None for Perceptron"),
        ((model, X, Y), {"encoder": AttributeEncoder()}, "encoder must be None for Perceptron"),
        ((sequences, X, Y, WEIGHT), {"lengths": [13] * 100}, "sample_weight must be None for sequences"),
        ((model, open_arrays(X, Y), Y), {}, "y must be None with a source"),
        ((model, open_arrays(X, Y), None, WEIGHT), {}, "sample_weight must be None with a source"),
    ):
        with pytest.raises(ValueError, match=text):
            reproduce(*arguments, **more)


def test_a_malformed_matrix_is_refused():
    M = sp.csc_matrix(X)
    M.indices = M.indices + 10**7
    with pytest.raises(ValueError, match=r"ind(ices|ex values) must be < 1300"):
        reproduce(Perceptron(**SHORT).fit(X, Y), M, Y)


def test_names_of_columns(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcde"))
    model = saved(fitted(LEARNERS[0], frame), tmp_path)
    assert reproduce(model, frame, Y)
    assert reproduce(model, X, Y), "an array has no names"
    refused(
        reproduce(model, frame.rename(columns={"c": "C"}), Y), "data", "column 2 has the name 'c' .* got 'C'"
    )


@pytest.mark.parametrize("engine", ["rust", "reference"])
def test_the_other_engine_is_a_witness(engine, monkeypatch):
    model = fitted(Perceptron(**SHORT, engine=engine), X[:200], Y[:200])
    asked = []
    monkeypatch.setattr(
        "perceptron_rs.common.train.get_engine", lambda name: asked.append(name) or get_engine(name)
    )
    for witness in ("rust", "reference", None):
        assert reproduce(model, X[:200], Y[:200], engine=witness)
        assert set(asked) == {engine if witness is None else witness}
        asked.clear()


def test_large_data_is_digested_beside_the_training():
    wide = rng.normal(size=(3000, 100))
    y = (wide[:, 0] > 0).astype(int)
    model = fitted(Perceptron(**SHORT), wide, y)
    assert reproduce(model, sp.csr_matrix(wide), y)
    assert model._calls[0].digests == fitted(Perceptron(**SHORT), sp.csr_matrix(wide), y)._calls[0].digests
    wide[2999, 99] = 0
    refused(reproduce(model, wide, y), "data", "rows 2000 to 2999 differ in their entries or labels")
    bad = wide.copy()
    bad[5, 5] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        fitted(Perceptron(**SHORT), bad, y)


@pytest.mark.parametrize("learner", [LEARNERS[0], LEARNERS[5], LEARNERS[8]])
def test_the_digest_is_that_of_parity(learner):
    model = fitted(learner, X[:60], Y[:60])
    for way in ways(learner, X[:60], Y[:60], batch_sizes=()):
        assert way.digest == digest(model)
        break


def test_digest_of_sequences_and_of_nothing():
    models = [SequencePerceptron(max_iter=3, engine=engine).fit(*TAGGED) for engine in ("rust", "reference")]
    other = SequencePerceptron(max_iter=1).fit(*TAGGED)
    assert digest(models[0]) == digest(models[1]) != digest(other)
    with pytest.raises(NotFittedError):
        digest(Perceptron())
