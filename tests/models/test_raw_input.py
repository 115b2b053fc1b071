"""Predictors and estimators of files take what the command reads: texts, dictionaries, columns to scale."""

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, HashingVectorizer

from perceptron_rs import Perceptron, load, load_predictor
from perceptron_rs.cli import main
from perceptron_rs.features.stop_words import ENGLISH

TEXTS = ["Buy now, buy cheap", "see you soon", "cheap now", "soon we met, and you?", "", "Größe zählt, now"]
LABELS = ["spam", "ham", "spam", "ham", "ham", "spam"]
OBJECTS = [
    {"n": 1.5, "s": "x", "o": {"q": 2}},
    {"n": -1, "s": "z", "o": {"q": 1, "r": None}},
    {"n": 2, "s": "x"},
    {"s": "y", "flag": True},
]
LABELLED = [{**x, "y": y} for x, y in zip(OBJECTS, LABELS, strict=False)]
RIVER = [{"x": x, "y": y} for x, y in zip(OBJECTS, LABELS, strict=False)]
ROWS = [{"a": 1.5, "s": "x"}, {"a": 2.5, "s": "z"}, {"a": None, "s": "x"}, {"a": 0.5, "s": "7"}]
NUMBERS = np.array([[1.5, 2.0], [2.5, -1.0], [3.0, 4.0], [0.5, 7.0]])
SPARSE = sp.csr_matrix([[1.5, 0, 2], [0, -1, 0], [4, 0.5, 0]])
FRAME = pd.DataFrame(NUMBERS, columns=["a", "b"])
#: Files that are trained on, the options, and what predictors take for the same examples.
TEXT = ("a.txt", "".join(f"{y}\t{text}\n" for y, text in zip(LABELS, TEXTS, strict=True)), ("--text",))
JSON = ("a.jsonl", "\n".join(map(json.dumps, LABELLED)), ("--target", "y"))
IN_RIVER = ("a.jsonl", "\n".join(map(json.dumps, RIVER)), ())
TABLE = ("a.csv", "a,s,y\n1.5,x,p\n2.5,z,n\n,x,p\n0.5,7,n\n", ("--hash-bits", 8))
MONEY = ("a.csv", "a;s;y\n1.500,5 €;x;p\n2,5 €;z;n\n7;x;p\n", ("--hash-bits", 8, "--delimiter", ";"))
PRICES = ("a.csv", 'a,b,y\n"$1,500.5",3%,p\n"$2.5",7%,n\n$7,1%,p\n', ("--decimal", "."))
IN_MONEY = [{"a": "1.500,5 €", "s": "x"}, {"a": "2,5 €", "s": "z"}, {"a": 7, "s": "x"}]
IN_PRICES = [{"a": "$1,500.5", "b": "3%"}, {"a": "$2.5", "b": "7%"}, {"a": "$7", "b": "1%"}]
SCALED = ("a.csv", FRAME.assign(y=LABELS[:4]).to_csv(index=False), ("--scale",))
SVM = ("a.svm", "1 1:1.5 3:2\n0 2:-1\n1 1:4 2:0.5\n", ("--scale",))
IN_TEXTS = [TEXTS, tuple(TEXTS), np.array(TEXTS), pd.Series(TEXTS), pl.Series(TEXTS), pa.array(TEXTS)]
IN_ROWS = [ROWS, pd.DataFrame(ROWS).assign(y=1), pl.DataFrame(ROWS), pa.Table.from_pylist(ROWS)]
CASES = [
    (TEXT, (), [*IN_TEXTS, HashingVectorizer(n_features=1 << 18).transform(TEXTS)]),
    (TEXT, ("--tf-idf",), IN_TEXTS[:1]),
    (TEXT, ("--scale", "standard", "--norm", "l1"), IN_TEXTS[:1]),
    (TEXT, ("--stop-words", "english", "--ngrams", 1, 2), IN_TEXTS[:1]),
    (TEXT, ("--analyzer", "char_wb", "--ngrams", 2, 3, "--norm", "l1"), IN_TEXTS[:1]),
    (TEXT, ("--binary", "--hash-bits", 6), IN_TEXTS[:1]),
    (JSON, (), [OBJECTS, LABELLED, pd.DataFrame(OBJECTS)]),  # the label is no feature
    (JSON, ("--scale", "maxabs"), [OBJECTS, LABELLED]),
    (IN_RIVER, (), [OBJECTS, RIVER]),
    (TABLE, (), IN_ROWS),
    (MONEY, ("--decimal", ",", "--scale", "standard"), [IN_MONEY, [{"a": 1500.5, "s": "x"}, *IN_MONEY[1:]]]),
    (PRICES, (), [IN_PRICES, pd.DataFrame(IN_PRICES), pl.DataFrame(IN_PRICES),
                  pa.Table.from_pylist(IN_PRICES),
                  [[1500.5, 3], [2.5, 7], [7, 1]], pd.DataFrame({"a": [1500.5, 2.5, 7], "b": [3, 7, 1]})]),
    *((SCALED, (kind,), [NUMBERS, NUMBERS.tolist(), FRAME, FRAME[["b", "a"]].to_dict("records")])
      for kind in ("standard", "minmax", "maxabs")),
    *((SVM, (kind,), [SPARSE]) for kind in ("standard", "maxabs")),
]  # fmt: skip


@pytest.fixture
def trained(tmp_path):
    def run(file, *more):
        name, text, options = file
        (tmp_path / name).write_text(text, "utf-8")
        argv = ("train", "perceptron", tmp_path / name, "--model", tmp_path / "m", "--quiet", *options, *more)
        assert main(list(map(str, argv))) == 0
        return load_predictor(tmp_path / "m")

    return run


def same(predictor, X, expected):
    labels = [str(label) for label in predictor.predict(X).tolist()]
    assert (labels, predictor.decision_function(X).tolist()) == expected


@pytest.mark.parametrize(("file", "options", "given"), CASES)
def test_the_answers_of_the_command(capsys, trained, tmp_path, file, options, given):
    predictor = trained(file, *options)
    capsys.readouterr()
    assert main(["predict", str(tmp_path / "m"), str(tmp_path / file[0]), "--scores"]) == 0
    lines = capsys.readouterr().out.splitlines()
    labels, scores = zip(*(line.split("\t") for line in lines), strict=True)
    expected = list(labels), [float(score) for score in scores]
    estimator = load(tmp_path / "m")
    for X in given:
        for model in (predictor, estimator, pickle.loads(pickle.dumps(estimator))):
            same(model, X, expected)
    if isinstance(given[0], list):
        same(predictor, given[0][:1], (expected[0][:1], expected[1][:1]))


ERRORS = [
    (TEXT, "a text", "X must be a list of examples, got one text"),
    (TEXT, iter(TEXTS), r"X must hold values, got a list_iterator, which has none yet; write list\(X\)"),
    (TEXT, {"a": 1}, "X must be a list of examples, got one dictionary"),
    (TEXT, ["a", None], "X must hold texts, for the model was trained on texts; example 1 is None"),
    (TEXT, [{"a": 1}], "X must hold texts"),
    (TEXT, ["a", "\ud800"], "example 1 of X holds a text that is not valid Unicode"),
    (TEXT, [[1.0, 2.0]], "X has 2 features"),
    (TEXT, [], r"one example or more, got the shape \(0,\)$"),
    (IN_RIVER, [{"_tag": 1}], "example 0 of X: the key '_tag' begins with _"),
    (TABLE, [{"a": 1, "s": "x"}, {"a": 1, "s": 3}], r"1 of X: 's' held text .*, got 3\.0; convert it by str"),
    (TABLE, [{"a": 1, "s": "x"}, {"a": 1}], "example 1 of X: it lacks the column 's'; give it None where"),
    (PRICES, [{"a": "1,5", "b": 1}], "example 0 of X holds '1,5' in the column 'a'; give a finite number"),
    (
        MONEY,
        [{"a": "1.500,5 €", "s": "x"}, {"a": 1, "s": "x"}],
        "example 1 of X: 'a' held text in the training",
    ),
    (TABLE, pd.DataFrame({"a": [1.0]}), "example 0 of X: it lacks the column 's'"),
    (TABLE, pd.DataFrame([[1.0, "x"]]), "example 0 of X: it lacks the column 'a'"),
    (TABLE, pd.DataFrame([[1, "x", 2]], columns=["a", "s", "a"]), "two columns are called 'a'"),
    (TABLE, pa.table([[1.0], ["x"], [2.0]], names=["a", "s", "a"]), "two columns are called 'a'"),
    ((*SCALED[:2], ()), [{"a": 1, "b": 2}, {"a": 1}], "example 1 of X lacks the column 'b'"),
    ((*SCALED[:2], ()), [{"a": 1, "b": None}], "example 0 of X holds None in the column 'b'; give a finite"),
    ((*SCALED[:2], ()), [{"a": 1, "b": "2"}], "example 0 of X holds '2' in the column 'b'; give a finite"),
    ((*SCALED[:2], ()), (x for x in [[1.0, 2.0]]), r"X must hold values, got a generator.*write list\(X\)"),
    ((*SCALED[:2], ()), FRAME[["b", "a"]], "X must have the columns of the fit in order"),
    ((*SVM[:2], ()), [{"a": 1}], r"the columns of this model have no names.*pass rows of 3 numbers"),
]


@pytest.mark.parametrize(("file", "X", "said"), ERRORS, ids=range(len(ERRORS)))
def test_other_things(trained, tmp_path, file, X, said):
    predictor = trained(file)
    for model in (predictor, load(tmp_path / "m")):
        with pytest.raises((TypeError, ValueError), match=said):
            model.predict(X)


@pytest.mark.parametrize("name", ["column_names", "to_dicts", "to_pylist", "tolist", "toarray", "format"])
def test_columns_called_as_methods_of_other_libraries(trained, name):
    rows = [{name: a, "s": s} for a, s in [(1.5, "x"), (2.5, "z"), (0.5, "7")]]
    text = f"{name},s,y\n" + "".join(f"{row[name]},{row['s']},{i % 2}\n" for i, row in enumerate(rows))
    numbers = pd.DataFrame({name: [1.5, 2.5, 0.5], "b": [1.0, 0.0, 2.0]})
    for file, given, others in (
        (("a.csv", text, ("--hash-bits", 8)), rows, (pd.DataFrame(rows), pl.DataFrame(rows))),
        (("b.csv", numbers.assign(y=[0, 1, 0]).to_csv(index=False), ()), numbers.to_numpy(), (numbers,)),
    ):
        predictor = trained(file)
        expected = list(map(str, predictor.predict(given))), predictor.decision_function(given).tolist()
        for frame in (*others, pa.Table.from_pandas(others[0])):
            same(predictor, frame, expected)


def test_the_index_of_a_data_frame_is_no_feature(trained, tmp_path):
    hashed = trained(JSON)
    numbers = FRAME.set_index(pd.Index([7.5, 8.5, 9.5, 1.5]))
    Perceptron().fit(numbers, [0, 1, 0, 1]).save(tmp_path / "n")
    frame = pd.DataFrame({"n": [1.5, 2.0], "s": ["x", "z"]}, index=[7.5, 8.5])
    for predictor, given in ((hashed, frame), (load_predictor(tmp_path / "n"), numbers)):
        expected = list(map(str, predictor.predict(given))), predictor.decision_function(given).tolist()
        same(predictor, pa.Table.from_pandas(given), expected)


def test_the_stop_words_are_those_of_scikit_learn():
    assert set(ENGLISH) == ENGLISH_STOP_WORDS


def test_keys_that_were_dropped_are_no_features(trained):
    lines = '{"y": 1, "w": 9, "a": 1}\n{"y": 0, "w": 1, "b": 1}\n'
    found = trained(("a.jsonl", lines, ("--drop", "w", *JSON[2])))
    assert len(set(found.decision_function([{"w": 9, "a": 1}, {"a": 1}]).tolist())) == 1
