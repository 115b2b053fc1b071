"""Parameters are declared once, as fields of dataclasses; the estimators themselves are none."""

import copy
import dataclasses
import inspect
import pickle
import re
import typing

import numpy as np
import pytest
from sklearn.base import clone

from perceptron_rs import Perceptron, SequencePerceptron
from perceptron_rs.parameters.checks import parameters_without_effect
from perceptron_rs.registry import REGISTRY
from perceptron_rs.sequence.structured import StructuredPerceptron

KINDS = [*(learner.kind for learner in REGISTRY.values()), StructuredPerceptron]


def made(kind, **parameters):
    return kind(*[max, min][: 2 * (kind is StructuredPerceptron)], **parameters)


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_constructor_says_and_does(kind):
    signature = inspect.signature(kind)
    assert set(typing.get_type_hints(kind.__init__)) == {*signature.parameters, "return"}
    given = made(kind, engine="reference")
    expected = {name: parameter.default for name, parameter in signature.parameters.items()}
    expected |= {"engine": "reference"}
    expected |= {"joint_feature": max, "inference": min} if kind is StructuredPerceptron else {}
    for model in (given, clone(given), copy.deepcopy(given), pickle.loads(pickle.dumps(given))):
        assert model.get_params() == expected
    assert not set(expected) - set(kind._parameter_constraints)
    with pytest.raises(TypeError, match="has no parameter 'etta'"):
        made(kind, etta=1)


def test_a_signature_is_read_once(monkeypatch):
    """That takes ten times as long as all else of ``get_params``, of which a clone makes several calls."""
    Perceptron().get_params()
    monkeypatch.setattr(inspect, "signature", lambda *_: pytest.fail("it is read again"))
    assert clone(Perceptron(eta0=2.0)).get_params()["eta0"] == 2.0


@pytest.mark.parametrize("kind", KINDS)
def test_an_estimator_is_no_dataclass(kind):
    """Libraries would compare, digest and rebuild it by its fields, which are not what it has learnt."""
    assert not dataclasses.is_dataclass(kind)
    assert not dataclasses.is_dataclass(made(kind))


def test_dask_tells_models_of_equal_parameters_apart():
    base = pytest.importorskip("dask.base")
    X = np.array([[1.0, 2.0], [2.0, -1.0]])
    one, other = Perceptron().fit(X, [0, 1]), Perceptron().fit(X, [1, 0])
    assert base.tokenize(one) != base.tokenize(other)
    (found,) = base.compute(one)
    assert found.coef_.tobytes() == one.coef_.tobytes()


def test_a_dataclass_of_a_user_may_inherit_one():
    @dataclasses.dataclass(kw_only=True, eq=False, repr=False)
    class Named(Perceptron):
        label: str = "none"

    model = Named(label="a", eta0=2.0)
    assert (model.label, model.eta0, model.tie) == ("a", 2.0, "mistake")


def pair(x, y):
    return np.array([x * y, 1.0])


def answer(x, w):
    return 1


@pytest.mark.parametrize("kind", [kind for kind in KINDS if hasattr(kind, "partial_fit")])
def test_a_pass_refuses_what_a_fit_refuses(kind):
    """scikit-learn does not look at parameters in ``partial_fit`` once an estimator is fitted."""
    if kind is StructuredPerceptron:
        fitted, data, first = kind(pair, answer), {"X": [1.0, 2.0], "y": [1, -1]}, {}
    else:
        fitted, data, first = kind(), {"X": np.eye(4), "y": [0, 1, 0, 1]}, {"classes": [0, 1]}
    if "lengths" in inspect.signature(kind.fit).parameters:
        data["lengths"] = [2, 2]
    for name in kind._get_param_names():
        model = clone(fitted).partial_fit(**data, **first).set_params(**{name: 1j})
        said = []
        for method in ("fit", "partial_fit", "predict_then_learn"):
            if not hasattr(kind, method):
                continue
            with pytest.raises(ValueError, match=name) as caught:
                getattr(model, method)(**data)
            said.append(str(caught.value))
        assert len(set(said)) == 1, name


@pytest.mark.parametrize("kind", KINDS)
def test_a_declaration_says_whether_numbers_depend_on_a_parameter(kind):
    """`reproduce` and checkpoints compare the others."""
    without = {"audit", "cache_size", "callback", "engine", "keep_on_interrupt", "n_jobs", "verbose"}
    without |= {"warm_start"}  # what was learnt before is compared by itself
    assert parameters_without_effect(kind) == without & {*kind._get_param_names()}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", [learner.kind for learner in REGISTRY.values()])
def test_what_predicting_reads_is_checked_when_it_predicts(kind):
    """A word that nobody knows was taken for another one, or was a KeyError."""
    X, y = ([[["a"], ["b"]]], [["x", "y"]]) if kind is SequencePerceptron else ([[1.0], [-1.0]], [0, 1])
    choices = {
        "tie": "positve",
        "prediction": "averge",
        "decode": "vitebi",
        "averaged": None,
        "normalize": "no",
    }
    if kind is SequencePerceptron:
        choices["beam_width"] = 0.5
    model = kind(**{"decode": "beam"} if "beam_width" in choices else {}).fit(X, y)
    for name, odd in choices.items():
        if name not in (known := model.get_params()):
            continue
        for value in (odd, None, 0.5, [], {}):
            model.set_params(**{name: value})
            for call in (lambda: model.predict(X), lambda: model.score(X, y)):
                with pytest.raises(ValueError, match=rf"{name} must be .*, got {re.escape(repr(value))}"):
                    call()
        model.set_params(**{name: known[name]})
    model.predict(X)
