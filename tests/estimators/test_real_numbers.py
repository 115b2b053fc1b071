"""X, weights and matrices of labels hold real numbers: what NumPy would turn into some is refused by name."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from tests.learners import LINEAR

import perceptron_rs
from perceptron_rs import (
    BudgetedKernelPerceptron,
    KernelPerceptron,
    MaxMarginClassifier,
    MultilayerPerceptron,
    Perceptron,
    SequencePerceptron,
    StructuredPerceptron,
    hinge_loss,
    margin,
    max_margin,
    verify,
)
from perceptron_rs.features import AttributeEncoder
from perceptron_rs.io import open_arrays, open_arrow

pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))

CLASSIFIERS = (*LINEAR, KernelPerceptron, BudgetedKernelPerceptron, MultilayerPerceptron, MaxMarginClassifier)
GOOD = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 1.0], [4.0, 0.0]])
Y = [0, 0, 1, 1]
TEXTS = ["1", "2", "3", "4"]
DAYS = [dt.date(2020, 1, day) for day in (1, 2, 3, 4)]
SPANS = [dt.timedelta(day) for day in (1, 2, 3, 4)]


def objects(values):
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


STRINGS = {
    **{f"pandas {kind}": pd.Series(TEXTS, dtype=kind) for kind in (object, "str", "string", "category")},
    "pandas of Arrow": pd.Series(TEXTS, dtype=pd.ArrowDtype(pa.string())),
    "pandas bytes": pd.Series([b"1"] * 4, dtype=object),
    "pandas mixed": pd.Series([1, 2.0, "3", 4], dtype=object),
    "polars string": pl.Series(TEXTS),
    "polars category": pl.Series(TEXTS, dtype=pl.Categorical),
    "polars enum": pl.Series(TEXTS, dtype=pl.Enum(TEXTS)),
    "polars bytes": pl.Series([b"1"] * 4),
    "objects": np.array(TEXTS, dtype=object),
    "objects of bytes": objects([b"1", b"2", b"3", b"4"]),
}
OTHERS = {
    "pandas dates": pd.Series(DAYS, dtype=object),
    "pandas datetime": pd.Series(pd.to_datetime(DAYS)),
    "pandas of zones": pd.Series(pd.to_datetime(DAYS).tz_localize("UTC")),
    "pandas timedelta": pd.Series(SPANS),
    "pandas period": pd.Series(pd.period_range("2020", periods=4)),
    "pandas interval": pd.Series(pd.interval_range(0, 4)),
    "pandas dates of Arrow": pd.Series(DAYS, dtype=pd.ArrowDtype(pa.date32())),
    "pandas lists": pd.Series([[1.0, 2.0]] * 4),
    "polars date": pl.Series(DAYS),
    "polars duration": pl.Series(SPANS),
    "polars time": pl.Series([dt.time(1)] * 4),
    "polars list": pl.Series([[1.0, 2.0]] * 4),
    "polars array": pl.Series([[1.0, 2.0]] * 4, dtype=pl.Array(pl.Float64, 2)),
    "polars struct": pl.Series([{"a": 1}] * 4),
    "objects of datetime64": objects([np.datetime64(day, "s") for day in range(4)]),
    "objects of timedelta64": objects([np.timedelta64(day, "s") for day in range(4)]),
}
NUMBERS = {
    "decimals": pd.Series([Decimal(4), Decimal("0.5"), Decimal(1), Decimal(2)]),
    "fractions": pd.Series([Fraction(4), Fraction(1, 2), 1, np.float32(2)]),
    "nullable": pd.Series([4, 0, 1, 2], dtype="Int64"),
    "of Arrow": pd.Series([4, 0, 1, 2], dtype=pd.ArrowDtype(pa.decimal128(5, 2))),
    "category": pd.Series([4, 0, 1, 2], dtype="category"),
    "polars decimals": pl.Series([Decimal(4), Decimal(0), Decimal(1), Decimal(2)]),
    "polars booleans": pl.Series([True, False, True, True]),
}


def table(values):
    """Return a table with these values as column "x"; of an array, the array with them as column 1."""
    if isinstance(values, pd.Series):
        return pd.DataFrame({"ok": GOOD[:, 0], "x": values})
    if isinstance(values, pl.Series):
        return pl.DataFrame({"ok": GOOD[:, 0], "x": values})
    return np.column_stack([GOOD[:, 0].astype(object), values])


def refused(call, values, name="X"):
    kind, text = (ValueError, "string") if any(values is one for one in STRINGS.values()) else (TypeError, "")
    where = "1" if isinstance(values, np.ndarray) else "'x'"
    with pytest.raises(kind, match=rf"{name} must hold real numbers, got .*{text}.* in column {where}; "):
        call()


@pytest.mark.parametrize("name", [*STRINGS, *OTHERS])
def test_a_column_that_is_no_number_is_named_by_every_call(name, tmp_path):
    values = (STRINGS | OTHERS)[name]
    X, model = table(values), Perceptron().fit(GOOD, Y)
    model.save(tmp_path / "model")
    separator = max_margin(GOOD, Y)
    for call in (
        lambda: Perceptron().fit(X, Y),
        lambda: Perceptron().partial_fit(X, Y, classes=[0, 1]),
        lambda: Perceptron().fit_stream([(X, Y)]),
        lambda: Perceptron().fit_stream(open_arrays(X, Y)),
        lambda: model.predict(X),
        lambda: model.score(X, Y),
        lambda: perceptron_rs.load_predictor(tmp_path / "model").predict(X),
        lambda: SequencePerceptron().fit(X, Y, lengths=[2, 2]),
        lambda: max_margin(X, Y),
        lambda: margin(X, Y, [1.0, 0.0], 0.0),
        lambda: verify(separator, X, Y),
    ):
        refused(call, values)


@pytest.mark.parametrize("name", ["pandas str", "polars enum", "polars date"])
@pytest.mark.parametrize("learner", CLASSIFIERS)
def test_every_learner_refuses_it(learner, name):
    values = (STRINGS | OTHERS)[name]
    refused(lambda: learner().fit(table(values), Y), values)
    refused(lambda: learner().fit(GOOD, Y).predict(table(values)), values)


@pytest.mark.parametrize("name", [name for name in [*STRINGS, *OTHERS] if "objects" not in name])
def test_arrow_tables_are_refused_as_the_frames_that_they_were_made_of(name):
    values = (STRINGS | OTHERS)[name]
    if isinstance(values, pl.Series):
        refused(lambda: Perceptron().fit(table(values).to_arrow(), Y), values)


@pytest.mark.parametrize("kind", [pl.Int128, pl.UInt128])
def test_integers_of_128_bits_are_named(kind):
    values = pl.Series("x", [0, 1, 0, 1]).cast(kind)
    for call, what in (
        (lambda: Perceptron().fit(table(values), Y), f"X holds .* {kind} in column 'x', which NumPy has not"),
        (lambda: Perceptron().fit_stream([(table(values), Y)]), f"X holds .* {kind} in column 'x'"),
        (lambda: max_margin(table(values), Y), f"X holds .* {kind} in column 'x'"),
        (lambda: open_arrow(table(values), target="x"), f"data holds .* {kind} in column 'x'"),
        (
            lambda: Perceptron().fit(GOOD, values),
            f"y holds .* {kind}, which NumPy has not; cast them to Int64",
        ),
        (lambda: Perceptron().fit(GOOD, Y, sample_weight=values), f"sample_weight holds .* {kind}"),
        (lambda: SequencePerceptron().fit(GOOD, Y, lengths=values), f"lengths holds .* {kind}"),
    ):
        with pytest.raises(TypeError, match=what):
            call()


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_read_whatever_holds_them(name):
    values = NUMBERS[name]
    X, coefs = np.column_stack([GOOD[:, 0], [float(value) for value in values]]), []
    for given in (X, table(values)):
        coefs.append(Perceptron(shuffle=False).fit(given, Y).coef_.tobytes())
        coefs.append(Perceptron(shuffle=False).fit_stream([(given, Y)]).coef_.tobytes())
    assert len(set(coefs)) == 1


def test_lists_are_looked_at_as_arrays_are():
    for X in ([[None, "1"], [1, "2"]], [[Decimal(1), "1"], [1, "2"]]):
        with pytest.raises(ValueError, match="got the string '1' in column 1"):
            Perceptron().fit(X, [0, 1])


@pytest.mark.parametrize("name", [*STRINGS, *OTHERS])
def test_weights_that_are_no_numbers(name):
    weights, model = (STRINGS | OTHERS)[name], Perceptron().fit(GOOD, Y)
    for call in (
        lambda: Perceptron().fit(GOOD, Y, sample_weight=weights),
        lambda: model.partial_fit(GOOD, Y, sample_weight=weights, check_input=False),
        lambda: Perceptron().fit_stream([(GOOD, Y, weights)]),
        lambda: model.score(GOOD, Y, sample_weight=weights),
        lambda: hinge_loss(Y, GOOD[:, 0], sample_weight=weights),
    ):
        with pytest.raises((TypeError, ValueError), match="sample_weight"):
            call()


def test_other_arguments_that_hold_numbers():
    days = objects([np.timedelta64(day, "s") for day in range(2)])
    for given in (np.array(["1", "2"], dtype=object), days):
        with pytest.raises((TypeError, ValueError), match="coef_init must hold real numbers"):
            Perceptron().fit(GOOD, Y, coef_init=given)
        with pytest.raises((TypeError, ValueError), match="pred_decision must hold real numbers"):
            hinge_loss([0, 1], given)
        with pytest.raises((TypeError, ValueError), match="result of joint_feature must hold real numbers"):
            StructuredPerceptron(lambda x, y, given=given: given, lambda x, w: 0).fit([0, 0], [0, 1])
    with pytest.raises(TypeError, match="must be a string, a number, a boolean"):
        AttributeEncoder().fit([{"a": np.timedelta64(1, "s")}])
    with pytest.raises(ValueError, match="labels must be all integers, all booleans or all strings"):
        Perceptron().fit(GOOD[:2], days)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_matrices_of_labels_that_only_look_like_0_and_1(kind):
    for odd in (["0", "1", "0", "1"], [dt.date(1970, 1, day) for day in (1, 2, 1, 2)]):
        with pytest.raises((TypeError, ValueError), match=r"y must hold real numbers, got .* in column 'b'"):
            Perceptron().fit(GOOD, kind({"a": [1.0, 0.0, 1.0, 0.0], "b": odd}))


def test_queries_that_have_no_values_yet():
    lazy = pl.DataFrame({"x": [1.0, 2.0]}).lazy()
    for name, given in (("X", (lazy, [0, 1])), ("y", ([[1.0], [2.0]], lazy))):
        with pytest.raises(TypeError, match=rf"{name} must hold values, got a LazyFrame.* collect\(\)"):
            Perceptron().fit(*given)
    with pytest.raises(TypeError, match="sample_weight must hold values, got a LazyFrame"):
        Perceptron().fit([[1.0], [2.0]], [0, 1], sample_weight=lazy)
