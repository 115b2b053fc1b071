"""Models that are trained again from their record: what is equal, and what is named if it is not."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs import (
    ARITHMETIC_VERSION,
    KernelPerceptron,
    MaxMarginClassifier,
    MultilayerPerceptron,
    Perceptron,
    SequencePerceptron,
    VotedPerceptron,
    digest,
    load,
    reproduce,
)
from perceptron_rs.models.container import pack, unpack
from tests.learners import LINEAR

from .problems import CLASSES, LEARNERS, NAMES, SHORT, X, Y, fitted, refused, saved


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
    refused(
        reproduce(model, x, Y),
        "data",
        "^other data: rows 0 to 1299 differ somewhere in their entries or labels; compare them with a copy$",
    )
    y[30] = CLASSES[y[30] != CLASSES][0]
    answer = reproduce(model, X, y)
    refused(
        answer,
        "data",
        "^other data: rows 0 to 1299 differ somewhere in their entries or labels; compare them with a copy$",
    )
    assert answer.digest == digest(model)
    assert answer.digest_again is None
    refused(
        reproduce(model, x, y),
        "data",
        "rows 0 to 1299 differ somewhere in their entries or labels; compare them with a copy",
    )
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


@pytest.mark.parametrize("learner", LINEAR)
def test_a_fit_from_given_weights_may_lack_some_of_their_classes(learner):
    """With warm_start, the classes are those of before; the record begins with the weights."""
    rows = Y != CLASSES[0]  # noqa: SIM300
    for given in (
        {"coef_init": np.ones((3, 5))},
        {"coef_init": np.zeros((3, 5))},
        {"intercept_init": np.ones(3)},
    ):
        model = learner(**SHORT, fit_intercept=False).fit(X, Y).set_params(warm_start=True)
        model.fit(X[rows], Y[rows], **given)
        assert len(model.classes_) == 3
        answer = reproduce(model, X[rows], Y[rows])
        assert answer, answer.message


@pytest.mark.parametrize("learner", [Perceptron, KernelPerceptron, MultilayerPerceptron, SequencePerceptron])
def test_labels_of_which_a_class_is_gone_are_an_answer(learner):
    """Where no digest tells: those of few examples end with a pickle."""
    parameters = {"max_iter": 3} if learner is SequencePerceptron else {"max_iter": 3, "tol": None}
    model = pickle.loads(pickle.dumps(learner(**parameters, audit=True).fit(X[:40], Y[:40])))
    model.partial_fit(X[40:60], Y[40:60])
    lengths = {"lengths": [40, 20]} if learner is SequencePerceptron else {}
    assert reproduce(model, X[:60], Y[:60], **lengths)
    others = Y[:60].copy()
    others[:40][others[:40] == CLASSES[0]] = CLASSES[1]
    answer = reproduce(model, X[:60], others, **lengths)
    refused(answer, "data", "the classes of the labels are .*'ham', 'spam'.* model .*'egg', 'ham', 'spam'")


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_another_order_is_other_data(learner):
    model = fitted(learner)
    refused(
        reproduce(model, X[::-1], Y[::-1]),
        "data",
        "rows 0 to 1299 differ somewhere in their entries or labels; compare them with a copy",
    )


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


@pytest.mark.parametrize("engine", [None, "rust"])
def test_a_run_has_the_threads_of_the_model_and_its_engine_unless_one_is_named(engine, monkeypatch):
    model = Perceptron(**SHORT, n_jobs=2, engine="reference").fit(X[:60], Y[:60])
    fit, made = Perceptron.fit, []

    def noted(self, *given, **more):
        made.append((self.n_jobs, self.engine))
        return fit(self, *given, **more)

    monkeypatch.setattr(Perceptron, "fit", noted)
    assert reproduce(model, X[:60], Y[:60], engine=engine)
    assert made == [(2, engine or "reference")]


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
        numbers = model._model.state()
        model._publish(numbers | {"seen": numbers["seen"] + 1})
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


@pytest.mark.parametrize("method", ["partial_fit", "fit_stream"])
def test_a_file_whose_record_names_a_method_that_the_learner_lacks_is_not_repeated(method, tmp_path):
    file = tmp_path / "model"
    fitted(MaxMarginClassifier(inseparable="warn", max_steps=30)).save(file)
    document, tensors = unpack(file)
    document["calls"][0]["method"] = method
    file.write_bytes(pack(document, tensors))
    with pytest.raises(ValueError, match=f"record of this MaxMarginClassifier says that {method} trained it"):
        reproduce(load(file), X, Y)
