"""Every combination of options works the same in both engines, or raises the error that the docs name."""

import csv
import itertools
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from perceptron_rs.registry import REGISTRY

LEARNERS = {name: learner.kind for name, learner in REGISTRY.items() if learner.is_linear}

TABLE = Path(__file__).parents[2] / "docs" / "guide" / "combinations.csv"
pytestmark = pytest.mark.skipif(not TABLE.exists(), reason="the documentation is not here")

ERRORS = {"ValueError": ValueError, "TypeError": TypeError, "AttributeError": AttributeError}
STORAGES = ["float64", "float32", "int8", "uint8", "int16", "uint16", "int32"]
NAMES = {learner.__name__: learner for learner in LEARNERS.values()}
METHODS = ["fit", "warm fit", "partial_fit"]
OPTIONS = {
    "multi_class": [None, "joint"],
    "prediction": [None, "vote", "average", "last", "random", "longest"],
    "check": [None, "run", "ratchet", "update", "epoch"],
    "penalty": [None, "l2", "l1", "elasticnet"],
    "noise": [None, "margin_threshold", "added_feature", "max_mistakes_per_example"],
    "early_stopping": [None, True],
    "step": [None, "pa1"],
}

rng = np.random.default_rng(7)
X = rng.integers(0, 3, (24, 4))
Y = rng.integers(0, 3, 24)


@cache
def rows():
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def named(cell, method):
    """The words of the table that a combination is described by."""
    words = {f'multi_class="{cell["multi_class"]}"', cell["noise"], method.split()[-1]}
    words |= {name for name in ("prediction", "check", "penalty", "early_stopping", "step") if cell[name]}
    return words


def expected_error(learner, cell, method):
    """The first row of the table that speaks of the combination: errors of the constructor come first."""
    words = named(cell, method)
    found = [
        row["gives"].split(": ", 1)
        for row in rows()
        if (row["learner"] == "all" or learner.__name__ in row["learner"].split())
        and row["this"] in words
        and (row["with this"] == "anything" or row["with this"] in words)
    ]
    order = {"TypeError": 0, "AttributeError": 1, "ValueError": 2}
    return sorted(found, key=lambda error: order[error[0]])


def options(cell):
    given = {name: value for name, value in cell.items() if value is not None and name != "noise"}
    if cell["noise"] is not None:
        given[cell["noise"]] = 2 if cell["noise"] == "max_mistakes_per_example" else 0.5
    return given


def learnt(learner, engine, cell, method, X):
    model = learner(engine=engine, max_iter=2, **options(cell))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if method == "partial_fit":
            model.partial_fit(X[:15], Y[:15], classes=[0, 1, 2]).partial_fit(X[15:], Y[15:])
        else:
            model.fit(X, Y)
        if method == "warm fit":
            model.set_params(warm_start=True).fit(X, Y)
    return [
        model.decision_function(X).tobytes(),
        model.predict(X).tobytes(),
        model.coef_.tobytes(),
        model.mistakes_per_epoch_.tobytes(),
    ]


def cells():
    """Up to three options at once: what the table refuses are pairs."""
    every = (dict(zip(OPTIONS, values, strict=True)) for values in itertools.product(*OPTIONS.values()))
    return [cell for cell in every if sum(value is not None for value in cell.values()) <= 3]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("learner", NAMES.values(), ids=NAMES)
def test_every_combination(learner, method):
    worked = refused = 0
    # Storages take turns. Their number and those of the values of options have no common factor, so that each
    # value meets each storage. Pairs are tried by each method, three options at once by one.
    for number, (cell, storage) in enumerate(zip(cells(), itertools.cycle(STORAGES))):
        three = sum(value is not None for value in cell.values()) == 3
        if three and METHODS[number % len(METHODS)] != method:
            continue
        dense = X.astype(storage)
        errors = expected_error(learner, cell, method)
        if errors:
            with pytest.raises(ERRORS[errors[0][0]]) as raised:
                learnt(learner, "rust", cell, method, dense)
            assert any(text in str(raised.value) for _, text in errors), (cell, raised.value)
            refused += 1
            continue
        sparse = sp.csr_array(dense)
        ways = [("reference", sparse), ("rust", dense), ("reference", dense), ("rust", sparse)]
        first, *others = [
            learnt(learner, engine, cell, method, stored) for engine, stored in ways[: 2 if three else 4]
        ]
        assert all(other == first for other in others), cell
        worked += 1
    assert refused > 0
    assert worked > 0 or (method == "partial_fit" and not hasattr(learner, "partial_fit"))


def test_every_row_of_the_table_is_met():
    met = {
        (row["learner"], row["this"], row["with this"])
        for row in rows()
        for cell in cells()
        for method in METHODS
        for learner in NAMES.values()
        if row["learner"] == "all" or learner.__name__ in row["learner"].split()
        if row["this"] in named(cell, method)
    }
    assert len(met) == len(rows())
