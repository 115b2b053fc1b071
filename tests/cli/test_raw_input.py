"""Predictors take what the command reads: texts, dictionaries, columns to scale; with its bits."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, HashingVectorizer

from perceptron_rs import Perceptron, load, load_predictor
from perceptron_rs.features.stop_words import ENGLISH

from .test_predictor import output_of

TEXTS = ["Buy now, buy cheap", "see you soon", "cheap now", "soon we met, and you?", "", "Größe zählt, now"]
LABELS = ["spam", "ham", "spam", "ham", "ham", "spam"]
OBJECTS = [
    {"n": 1.5, "s": "x", "o": {"q": 2}},
    {"n": -1, "s": "z", "o": {"q": 1, "r": None}},
    {"n": 2, "s": "x"},
    {"s": "y", "flag": True},
]
ROWS = [{"a": 1.5, "s": "x"}, {"a": 2.5, "s": "z"}, {"a": None, "s": "x"}, {"a": 0.5, "s": "7"}]
NUMBERS = np.array([[1.5, 2.0], [2.5, -1.0], [3.0, 4.0], [0.5, 7.0]])


def answers(*argv):
    """Return labels and scores of a command that imports neither scikit-learn nor SciPy."""
    labels, scores = zip(
        *(line.split("\t") for line in output_of(*argv, "--scores").splitlines()), strict=True
    )
    return list(labels), [float(score) for score in scores]


def same(predictor, X, expected):
    assert (predictor.predict(X).tolist(), predictor.decision_function(X).tolist()) == expected


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--tf-idf",),
        ("--scale", "maxabs"),
        ("--scale", "standard", "--norm", "l1"),
        ("--stop-words", "english", "--ngrams", 1, 2),
        ("--analyzer", "char_wb", "--ngrams", 2, 3, "--norm", "l1"),
        ("--binary", "--hash-bits", 6),
    ],
)
def test_texts(call, tmp_path, options):
    data, asked = tmp_path / "a.txt", tmp_path / "new.txt"
    data.write_text("".join(f"{y}\t{text}\n" for y, text in zip(LABELS, TEXTS, strict=True)), "utf-8")
    asked.write_text("".join(f"{text}\n" for text in TEXTS), "utf-8")
    assert call("train", data, "--text", "--model", tmp_path / "m", "--quiet", *options).status == 0
    expected = answers("predict", tmp_path / "m", asked, "--unlabelled")
    predictor = load_predictor(tmp_path / "m")
    for X in (TEXTS, tuple(TEXTS), np.array(TEXTS), pd.Series(TEXTS), pl.Series(TEXTS), pa.array(TEXTS)):
        same(predictor, X, expected)
    same(predictor, TEXTS[:1], tuple(part[:1] for part in expected))
    if not options:
        X = HashingVectorizer(n_features=1 << 18).transform(TEXTS)
        same(predictor, X, expected)  # as the estimator takes them
        assert load(tmp_path / "m").decision_function(X).tolist() == expected[1]


@pytest.mark.parametrize("scale", [(), ("--scale", "maxabs")])
def test_objects(call, tmp_path, scale):
    data = tmp_path / "a.jsonl"
    lines = [{**x, "y": y} for x, y in zip(OBJECTS, LABELS, strict=False)]
    data.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert call("train", data, "--target", "y", "--model", tmp_path / "m", "--quiet", *scale).status == 0
    expected = answers("predict", tmp_path / "m", data)
    same(load_predictor(tmp_path / "m"), OBJECTS, expected)
    same(load_predictor(tmp_path / "m"), lines, expected)  # the label is no feature


def test_objects_as_river_writes_them(call, tmp_path):
    data = tmp_path / "a.jsonl"
    lines = [{"x": x, "y": y} for x, y in zip(OBJECTS, LABELS, strict=False)]
    data.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert call("train", data, "--model", tmp_path / "m", "--quiet").status == 0
    expected = answers("predict", tmp_path / "m", data)
    same(load_predictor(tmp_path / "m"), OBJECTS, expected)
    same(load_predictor(tmp_path / "m"), lines, expected)
    with pytest.raises(ValueError, match="example 0 of X: the key '_tag' begins with _"):
        load_predictor(tmp_path / "m").predict([{"_tag": 1}])


def test_rows_of_a_hashed_table(call, tmp_path):
    data = tmp_path / "a.csv"
    data.write_text("a,s,y\n1.5,x,p\n2.5,z,n\n,x,p\n0.5,7,n\n")
    assert call("train", data, "--hash-bits", 8, "--model", tmp_path / "m", "--quiet").status == 0
    expected = answers("predict", tmp_path / "m", data)
    predictor = load_predictor(tmp_path / "m")
    same(predictor, ROWS, expected)
    for frame in (pd.DataFrame(ROWS).assign(y=1), pl.DataFrame(ROWS), pa.Table.from_pylist(ROWS)):
        same(predictor, frame, expected)
    with pytest.raises(
        ValueError, match=r"example 1 of X: 's' held text in the training, got 3\.0; convert it by str"
    ):
        predictor.predict([{"a": 1, "s": "x"}, {"a": 1, "s": 3}])


@pytest.mark.parametrize(
    ("X", "said"),
    [
        ([{"a": 1, "s": "x"}, {"a": 1}], "example 1 of X: it lacks the column 's'; give it None where"),
        (pd.DataFrame({"a": [1.0]}), "example 0 of X: it lacks the column 's'"),
        (pd.DataFrame([[1.0, "x"]]), "example 0 of X: it lacks the column 'a'"),
        (pd.DataFrame([[1, "x", 2]], columns=["a", "s", "a"]), "two columns are called 'a'"),
        (pa.table([[1.0], ["x"], [2.0]], names=["a", "s", "a"]), "two columns are called 'a'"),
    ],
)
def test_columns_of_a_hashed_table_that_are_not_there(call, tmp_path, X, said):
    (tmp_path / "a.csv").write_text("a,s,y\n1.5,x,p\n2.5,z,n\n")
    assert (
        call("train", tmp_path / "a.csv", "--hash-bits", 8, "--model", tmp_path / "m", "--quiet").status == 0
    )
    with pytest.raises(ValueError, match=said):
        load_predictor(tmp_path / "m").predict(X)


@pytest.mark.parametrize("name", ["column_names", "to_dicts", "to_pylist", "tolist", "toarray", "format"])
def test_columns_called_as_methods_of_other_libraries(call, tmp_path, name):
    rows = [{name: a, "s": s} for a, s in [(1.5, "x"), (2.5, "z"), (0.5, "7")]]
    (tmp_path / "a.csv").write_text(
        f"{name},s,y\n" + "".join(f"{row[name]},{row['s']},{i % 2}\n" for i, row in enumerate(rows))
    )
    assert (
        call("train", tmp_path / "a.csv", "--hash-bits", 8, "--model", tmp_path / "m", "--quiet").status == 0
    )
    predictor = load_predictor(tmp_path / "m")
    expected = predictor.predict(rows).tolist(), predictor.decision_function(rows).tolist()
    for frame in (pd.DataFrame(rows), pl.DataFrame(rows), pa.Table.from_pylist(rows)):
        same(predictor, frame, expected)

    numbers = pd.DataFrame({name: [1.5, 2.5, 0.5], "b": [1.0, 0.0, 2.0]})
    numbers.assign(y=[0, 1, 0]).to_csv(tmp_path / "b.csv", index=False)
    assert call("train", tmp_path / "b.csv", "--model", tmp_path / "n", "--quiet").status == 0
    predictor = load_predictor(tmp_path / "n")
    same(
        predictor,
        numbers,
        (
            predictor.predict(numbers.to_numpy()).tolist(),
            predictor.decision_function(numbers.to_numpy()).tolist(),
        ),
    )
    with pytest.raises(ValueError, match="X must have the columns of the fit in order"):
        predictor.predict(numbers[["b", name]])


def test_the_index_of_a_data_frame_is_no_feature(call, tmp_path):
    data = tmp_path / "a.jsonl"
    data.write_text("".join(json.dumps({**x, "y": y}) + "\n" for x, y in zip(OBJECTS, LABELS, strict=False)))
    assert call("train", data, "--target", "y", "--model", tmp_path / "m", "--quiet").status == 0
    frame = pd.DataFrame({"n": [1.5, 2.0], "s": ["x", "z"]}, index=[7.5, 8.5])
    predictor = load_predictor(tmp_path / "m")
    expected = predictor.predict(frame).tolist(), predictor.decision_function(frame).tolist()
    same(predictor, pa.Table.from_pandas(frame), expected)
    numbers = pd.DataFrame(NUMBERS, columns=["a", "b"], index=[7.5, 8.5, 9.5, 1.5])
    Perceptron().fit(numbers, [0, 1, 0, 1]).save(tmp_path / "n")
    predictor = load_predictor(tmp_path / "n")
    expected = predictor.predict(numbers).tolist(), predictor.decision_function(numbers).tolist()
    same(predictor, pa.Table.from_pandas(numbers), expected)


@pytest.mark.parametrize("kind", ["standard", "minmax", "maxabs"])
def test_columns_to_scale(call, tmp_path, kind):
    data = tmp_path / "a.csv"
    data.write_text("a,b,y\n" + "".join(f"{a},{b},{y}\n" for (a, b), y in zip(NUMBERS, LABELS, strict=False)))
    assert call("train", data, "--scale", kind, "--model", tmp_path / "m", "--quiet").status == 0
    expected = answers("predict", tmp_path / "m", data)
    predictor = load_predictor(tmp_path / "m")
    dictionaries = [{"b": b, "a": a} for a, b in NUMBERS.tolist()]
    for X in (NUMBERS, NUMBERS.tolist(), pd.DataFrame(NUMBERS, columns=["a", "b"]), dictionaries):
        same(predictor, X, expected)
    with pytest.raises(ValueError, match="example 1 of X lacks the column 'b'"):
        predictor.predict([{"a": 1, "b": 2}, {"a": 1}])


@pytest.mark.parametrize("kind", ["standard", "maxabs"])
def test_sparse_columns_to_scale(call, tmp_path, kind):
    data = tmp_path / "a.svm"
    data.write_text("1 1:1.5 3:2\n0 2:-1\n1 1:4 2:0.5\n")
    X = sp.csr_matrix([[1.5, 0, 2], [0, -1, 0], [4, 0.5, 0]])
    assert call("train", data, "--scale", kind, "--model", tmp_path / "m", "--quiet").status == 0
    labels, scores = answers("predict", tmp_path / "m", data)
    same(load_predictor(tmp_path / "m"), X, ([int(label) for label in labels], scores))


@pytest.mark.parametrize(
    ("X", "said"),
    [
        ("a text", "X must be a list of examples, got one text"),
        ({"a": 1}, "X must be a list of examples, got one dictionary"),
        (["a", None], "X must hold texts, for the model was trained on texts; example 1 is None"),
        ([{"a": 1}], "X must hold texts"),
        (["a", "\ud800"], "X holds a text that is not valid Unicode"),
        ([[1.0, 2.0]], "X has 2 features"),
        ([], r"one example or more, got the shape \(0,\)$"),
    ],
)
def test_other_things_than_texts(call, tmp_path, X, said):
    (tmp_path / "a.txt").write_text("1\ta b c\n0\tb c d\n")
    assert call("train", tmp_path / "a.txt", "--text", "--model", tmp_path / "m", "--quiet").status == 0
    with pytest.raises((TypeError, ValueError), match=said):
        load_predictor(tmp_path / "m").predict(X)


def test_dictionaries_for_columns_without_names(call, tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\n0 2:1\n")
    assert call("train", tmp_path / "a.svm", "--model", tmp_path / "m", "--quiet").status == 0
    with pytest.raises(TypeError, match=r"the columns of this model have no names.*pass rows of 2 numbers"):
        load_predictor(tmp_path / "m").predict([{"a": 1}])


def test_the_stop_words_are_those_of_scikit_learn():
    assert set(ENGLISH) == ENGLISH_STOP_WORDS


def test_keys_that_were_dropped_are_no_features_later(call, tmp_path):
    path, model = tmp_path / "a.jsonl", tmp_path / "m"
    path.write_text('{"y": 1, "w": 9, "a": 1}\n{"y": 0, "w": 1, "b": 1}\n')
    told = ("--target", "y", "--drop", "w", "--hash-bits", 6)
    assert call("train", path, *told, "--model", model, "--quiet").status == 0
    found = load_predictor(model).decision_function([{"w": 9, "a": 1}, {"a": 1}])
    assert found[0] == found[1]
    for command, *more in (("margin",), ("separable",), ("parity", "--epochs", 1)):
        for without in (("--target", "y", "--hash-bits", 6), told):
            answer = call(command, path, *without, *more, "--json")
            assert answer.status == 0
    bare = tmp_path / "b.jsonl"
    bare.write_text('{"y": 1, "a": 1}\n{"y": 0, "b": 1}\n')
    dropped = call("margin", path, *told, "--json").json
    assert dropped == call("margin", bare, "--target", "y", "--hash-bits", 6, "--json").json
    assert call("predict", model, bare).out == call("predict", model, path).out == "1\n0\n"
