"""Odd values of every parameter: a fit refuses them by name, or all that comes after it works."""

from __future__ import annotations

import collections
import decimal
import enum
import fractions
import random
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from perceptron_rs import digest, load, load_predictor, reproduce
from perceptron_rs.parameters.ranges import Choice
from perceptron_rs.registry import REGISTRY

rng = np.random.default_rng(0)
X = np.round(rng.standard_normal((40, 5)), 2)
Y = (X[:, 0] + X[:, 1] > 0).astype(int)

D, F = decimal.Decimal, fractions.Fraction
NUMBERS: list[Any] = [
    *(True, False, None, 0, 1, 2, -1, 3.0, 0.5, -0.0, 1e-320, 1e308, float("nan"), float("inf")),
    *(2**31 - 1, 2**31, 2**63, 2**64, 2**70, 2**70 + 1, 10**400, -(2**70), 2**53 + 1),
    *(np.bool_(True), np.int8(1), np.uint64(2), np.float16(0.5), np.float32(0.1), np.float64(0.5)),
    *(np.longdouble(0.5), np.longdouble("0.1"), np.complex128(1), 1j, D(1), D("0.5"), F(1, 2), F(1, 3), F(2)),
    *(np.array(0.5), np.array(1), np.array([1]), np.datetime64("2020"), np.timedelta64(1)),
]
WEIGHTS: list[Any] = [
    *(
        {},
        {0: "2", 1: "1"},
        {0: D(2)},
        {0: F(1, 3)},
        {0: 2**70},
        {0: np.array(2.0)},
        {0: True},
        {0: 1, 1: None},
    ),
    *({0: float("nan")}, {0: 1, 1: 2, None: 3}, {D(0): 2}, {F(0): 2}, {0: np.float32(0.5), np.int64(1): 1}),
    *({"0": 1, "1": 2}, {0: 1, 1: 2, (0,): 3}, {0.0: 2}, {False: 2}, {0: -1}, {0: 2, "x": 1}),
    *(collections.Counter({0: 2}), collections.defaultdict(int, {0: 2})),
]
OTHERS: list[Any] = [
    *("", "1", "0.5", "auto", "balanced", "None", np.str_("rust"), b"1", object(), len, int, ...),
    *(
        [],
        (),
        [1],
        [20, 20],
        (40,),
        [True, 39],
        [20.0, 20.0],
        [0, 40, 0],
        [-1, 41],
        [[1]],
        [("a", "b")],
        {40},
    ),
    *(np.array([20, 20]), np.array([20, 20], dtype=object), range(39, 41), Path("x")),
    *(np.random.RandomState(0), np.random.default_rng(0)),
]
#: Values of these need not go into a file, as the documentation says: functions, generators, keys.
NOT_IN_FILES = ("callback", "audit_key", "kernel", "random_state")
VALUES = NUMBERS + WEIGHTS + OTHERS
BASE = {"MaxMarginClassifier": {"inseparable": "warn", "max_steps": 30}}
CASES = [
    (learner.kind, parameter.name, number)
    for learner in REGISTRY.values()
    for parameter in fields(learner.parameters)
    for number in range(len(VALUES))
    if parameter.name != "callback" and not (parameter.name == "kernel" and callable(VALUES[number]))
]


def refusal(model, **given):
    """Return the error of a fit; None if there is none."""
    try:
        model.fit(X, Y, **given)
    except (TypeError, ValueError) as error:
        return str(error)
    except MemoryError:
        return "out of memory"


def is_taken(kind, name, value, folder):
    """Whether a fit takes a value, after which all works; AssertionError if something does not."""
    model = kind(**BASE.get(kind.__name__, {"max_iter": 3}) | {name: value})
    given = {"lengths": [10] * 4} if kind.__name__ == "SequencePerceptron" else {}
    error = refusal(model, **given)
    if error is not None:
        assert name in error or "overflowed" in error or "memory" in error, f"{model}: {error}"
        return False
    if name not in NOT_IN_FILES or isinstance(value, str | int | np.integer | type(None)):
        model.save(folder / "m")
        again = load(folder / "m")
        assert digest(again) == digest(model)
        assert (load_predictor(folder / "m").predict(X, **given) == model.predict(X, **given)).all()
        assert digest(clone(again).fit(X, Y, **given)) == digest(model) or model.random_state is None
        if isinstance(getattr(model, "random_state", 0), int | np.integer):
            assert reproduce(again, X, Y, **given)
            assert reproduce(model, X, Y, **given)
    assert refusal(clone(model), **given) is None
    return True


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(8))
def test_what_fit_takes_can_be_kept(part, tmp_path, capsys):
    drawn = random.Random(part).sample(CASES, 150)
    taken = [is_taken(kind, name, VALUES[number], tmp_path) for kind, name, number in drawn]
    assert 0 < sum(taken) < 75
    del capsys  # what verbose prints


WORDS = [
    (learner.kind, parameter.name, word)
    for learner in REGISTRY.values()
    for parameter in fields(learner.parameters)
    if isinstance(parameter.metadata.get("values"), Choice)
    for word in parameter.metadata["values"].words
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("kind", "name", "word"), WORDS)
def test_a_member_of_an_enumeration_is_its_word(kind, name, word):
    """As of ``class E(str, Enum)``, whose ``str`` is the name of the member."""
    member = enum.Enum("E", {"M": word}, type=str).M
    others = BASE.get(kind.__name__, {"max_iter": 3}) | ({"n_partitions": 2} if name == "mixing" else {})
    given = {"lengths": [10] * 4} if kind.__name__ == "SequencePerceptron" else {}
    examples = X @ X.T if word == "precomputed" else X
    try:
        expected = kind(**others | {name: word}).fit(examples, Y, **given)
    except ValueError:
        return  # another parameter excludes it
    model = kind(**others | {name: member}).fit(examples, Y, **given)
    assert model.save() == expected.save()
    assert (
        model.set_params(**{name: word}).predict(examples, **given) == expected.predict(examples, **given)
    ).all()
