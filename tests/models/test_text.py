"""Weights as text: every bit back, and every line that is not ours refused with its number."""

from __future__ import annotations

import io
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.exceptions import NotFittedError

from perceptron_rs import (
    AveragedPerceptron,
    KernelPerceptron,
    MultilayerPerceptron,
    Perceptron,
    VotedPerceptron,
)
from perceptron_rs.models import dump_text, read_text

TEXT = (
    "perceptrons weights 1\n"
    'classes\tstr\t"ham"\t"spam"\n'
    "features\t2\n"
    "intercept\t-0x1.0000000000000p+0\n"
    '"free"\t0x1.8000000000000p+1\n'
    '"\\u00fc\\t"\t-0x0.0000000000001p-1022\n'
)


def dumped(model):
    stream = io.StringIO()
    dump_text(model, stream)
    return stream.getvalue()


def named():
    X = pd.DataFrame({"free": [1.0, 0.0], "\u00fc\t": [0.0, 1.0]})
    model = Perceptron().fit(X, ["ham", "spam"])
    model.coef_, model.intercept_ = np.array([[3.0, -5e-324]]), np.array([-1.0])
    return model


def test_the_text_is_the_one_that_is_documented():
    assert dumped(named()) == TEXT
    coef, intercept, classes = read_text(io.StringIO(TEXT))
    assert coef.tolist() == [[3.0, -5e-324]]
    assert intercept.tolist() == [-1.0]
    assert classes.tolist() == ["ham", "spam"]


def test_without_names_a_feature_is_its_column(tools):
    lines = dumped(tools.fitted()).split("\n")
    assert [line.split("\t")[0] for line in lines[4:]] == ["0", "1", "2", "3", ""]
    assert [len(line.split("\t")) for line in lines[3:-1]] == [4] * 5


def test_both_ways_through_files(tools, learner, tmp_path):
    model = tools.fitted(learner)
    if isinstance(model, VotedPerceptron):
        with pytest.raises(
            ValueError, match="predicts by the votes of many hyperplanes; set prediction='last'"
        ):
            dump_text(model, tmp_path / "text")
        model.set_params(prediction="last")
    dump_text(model, tmp_path / "text")
    assert (tmp_path / "text").read_text("ascii") == dumped(model)
    with (tmp_path / "text").open() as stream:
        for coef, intercept, classes in (read_text(tmp_path / "text"), read_text(stream)):
            assert coef.tobytes() == model.coef_.tobytes()
            assert intercept.tobytes() == model.intercept_.tobytes()
            assert (classes.tolist(), classes.dtype) == ([0, 1, 2], np.int64)
            assert coef.flags.c_contiguous


def test_a_fit_starts_from_it(tools):
    X, y = tools.data()
    parameters = {"shuffle": False, "tol": None}
    whole = Perceptron(max_iter=4, **parameters).fit(X, y)
    half = Perceptron(max_iter=2, **parameters).fit(X, y)
    coef, intercept, _ = read_text(io.StringIO(dumped(half)))
    rest = Perceptron(max_iter=2, **parameters).fit(X, y, coef_init=coef, intercept_init=intercept)
    assert rest.coef_.tobytes() == whole.coef_.tobytes()


@pytest.mark.parametrize("learner", [Perceptron, AveragedPerceptron])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_joint_decision_has_weights_for_each_class(tools, learner, classes):
    model = tools.fitted(learner, classes, multi_class="joint")
    assert model.coef_.shape[0] == classes
    coef, intercept, names = read_text(io.StringIO(dumped(model)))
    assert coef.tobytes() == model.coef_.tobytes()
    assert intercept.tobytes() == model.intercept_.tobytes()
    assert len(names) == classes
    X, y = tools.data(classes)
    fresh = learner(multi_class="joint", tol=None, max_iter=1)
    assert fresh.fit(X, y, coef_init=coef, intercept_init=intercept).coef_.shape == coef.shape


def test_the_averaged_one_writes_the_weights_it_predicts_with(tools):
    model = tools.fitted(AveragedPerceptron)
    assert read_text(io.StringIO(dumped(model)))[0].tobytes() == model.coef_.tobytes()
    assert model.coef_.tobytes() != model.last_coef_.tobytes()


SPECIAL = [0.0, -0.0, 5e-324, -5e-324, 2.0**-1022, 1.7976931348623157e308, 0.1, 1 / 3, 2.0**53 + 2]


@given(
    coef=hnp.arrays(
        np.float64,
        st.tuples(st.sampled_from([1, 3, 4]), st.integers(1, 5)),
        elements=st.one_of(st.sampled_from(SPECIAL), st.floats(allow_nan=False, allow_infinity=False)),
    ),
    names=st.booleans(),
    data=st.data(),
)
def test_any_numbers_and_names(coef, names, data):
    classes = 2 if len(coef) == 1 else len(coef)
    labels = data.draw(st.lists(st.text(max_size=5), min_size=classes, max_size=classes, unique=True))
    model = Perceptron()
    model.classes_ = np.array(sorted(labels), dtype=object)
    model.coef_, model.intercept_ = coef, coef[:, 0]
    columns = [f"{data.draw(st.text(max_size=5))}" for _ in range(coef.shape[1])]
    if names:
        model.feature_names_in_ = np.array(columns, dtype=object)
    text = dumped(model)
    assert text.isascii()
    back, intercept, found = read_text(io.StringIO(text), feature_names=columns)
    assert back.tobytes() == (coef + 0.0).tobytes()  # no weight is -0.0
    assert intercept.tobytes() == (coef[:, 0] + 0.0).tobytes()
    assert found.tolist() == model.classes_.tolist()


def refusal(text, **more):
    with pytest.raises(ValueError, match=r"^(the text|weights)") as caught:
        read_text(io.StringIO(text), **more)
    return str(caught.value)


def test_a_text_cut_at_every_character():
    for length in range(len(TEXT)):
        assert "the text is truncated" in refusal(TEXT[:length]), length


BAD = {
    "empty line": ("\n", 1, "", "expected 'perceptrons weights 1'"),
    "title": ("perceptrons weights", 1, "weights", "give a file written by dump_text"),
    "version": ("weights 1", 1, "weights 2", "the version 2, and this .* reads 1; install a newer"),
    "no classes": ("classes", 2, "labels", "expected 'classes' .*, separated by tabs, got 'labels'"),
    "classes alone": ('\tstr\t"ham"\t"spam"', 2, "", "expected 'classes' and their names"),
    "one class": ('\t"spam"', 2, "", "a list of 2 or more"),
    "class type": ("\tstr", 2, "\tobj", "unknown type 'obj'"),
    "class json": ('"spam"', 2, "spam", "JSON"),
    "class order": ('"spam"', 2, '"egg"', "sorted"),
    "features": ("features\t2", 3, "features", "expected 'features'"),
    "no number": ("features\t2", 3, "features\t-2", "expected 'features'"),
    "no feature": ("features\t2", 3, "features\t0", "at least 1"),
    "fewer": ("features\t2", 6, "features\t1", "more lines than the 1 features"),
    "billions": ("features\t2", None, "features\t99999999999999", "feature 2 of 99999999999999 is missing"),
    "no intercept": ("intercept", 4, '"free"', "expected 'intercept'"),
    "two numbers": ("p+1", 5, "p+1\t0x0.0p+0", "expected 1 numbers, got 2"),
    "no numbers": ("\t0x1.8000000000000p+1", 5, "", "expected 1 numbers, got 0"),
    "decimal": ("0x1.8000000000000p+1", 5, "3.0", "as float.hex writes it, such as 0x1.8p.1, got '3.0'"),
    "hex integer": ("0x1.8000000000000p+1", 5, "10", "float.hex"),
    "nan": ("0x1.8000000000000p+1", 5, "nan", "float.hex"),
    "infinity": ("-0x1.0000000000000p+0", 4, "-inf", "float.hex"),
    "overflow": ("p+1", 5, "p+1024", "beyond the range"),
    "too long": ("0x1.8000000000000p", 5, "0x1.80000000000001p", "float.hex"),
    "blank": ("0x1.8", 5, " 0x1.8", "float.hex"),
    "column": ('"free"', 5, "1", "expected column 0 or a name"),
    "bare name": ('"free"', 5, "free", "expected column 0 or a name"),
    "half a name": ('"free"', 5, '"free', "JSON"),
    "mixed": ('"free"', 3, "0", "name all or none"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_lines(name):
    before, line, after, pattern = BAD[name]
    assert before in TEXT
    text = after + before + TEXT if before == "\n" else TEXT.replace(before, after, 1)
    found = refusal(text)
    assert re.search(pattern, found), found
    assert line is None or f", line {line}:" in found, found


def test_names_that_differ_from_those_of_the_data():
    read_text(io.StringIO(TEXT), feature_names=["free", "\u00fc\t"])
    assert "column 1 is '\u00fc\\t', but that of the data is 'x'" in refusal(
        TEXT, feature_names=["free", "x"]
    )
    assert "put the columns" in refusal(TEXT, feature_names=["\u00fc\t", "free"])
    assert "has 2 features, but the data has 3" in refusal(TEXT, feature_names=["free", "\u00fc\t", "x"])
    assert "has 2 features, but the data has 1" in refusal(TEXT, feature_names=["free"])


def test_files_are_named(tmp_path):
    path = tmp_path / "weights.txt"
    path.write_bytes(b"\x80\x04binary\n\xff")
    with pytest.raises(ValueError, match=r"weights\.txt, line 1: expected 'perceptrons weights 1'"):
        read_text(path)
    with pytest.raises(IsADirectoryError, match="is a directory"):
        read_text(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_text(tmp_path / "none")


def test_windows_line_ends_are_read(tmp_path):
    (tmp_path / "text").write_bytes(TEXT.replace("\n", "\r\n").encode())
    assert read_text(tmp_path / "text")[0].tolist() == [[3.0, -5e-324]]


def test_not_fitted():
    with pytest.raises(NotFittedError):
        dump_text(Perceptron(), io.StringIO())


def test_what_has_no_weights_of_features(tmp_path):
    for model in (KernelPerceptron(max_iter=1), MultilayerPerceptron((2,), max_iter=1, tol=None)):
        model.fit([[0.0], [1.0]], [0, 1])
        with pytest.raises(
            ValueError, match=f"must be a linear learner, got {type(model).__name__}; use its save"
        ):
            dump_text(model, tmp_path / "text")
    assert not list(tmp_path.iterdir())
