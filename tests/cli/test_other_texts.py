"""Texts as fastText and Vowpal Wabbit write them; lists of labels in texts; what ``train`` says of texts."""

import json

import numpy as np
import pytest
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.preprocessing import MultiLabelBinarizer

from perceptron_rs import Perceptron, load, load_predictor
from perceptron_rs.io import open_examples

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

TEXTS = ["buy now cheap", "see you now", "buy buy", "hello you", "win now", "lunch you"]
LISTS = [["spam"], ["ham"], ["spam", "ads"], ["ham"], ["ads"], []]
ONE = ["spam", "ham", "spam", "ham", "spam", "ham"]


def prefixed(labels):
    return [f"__label__{label}" for label in labels]


#: By format: lines of one label each, and of lists.
LINES = {
    "fasttext": (
        [" ".join([*prefixed([y]), text]) for y, text in zip(ONE, TEXTS, strict=True)],
        [" ".join([*prefixed(own), text]) for own, text in zip(LISTS, TEXTS, strict=True)],
    ),
    "lines": (
        [f"{y}\t{text}" for y, text in zip(ONE, TEXTS, strict=True)],
        [f"{','.join(own)}\t{text}" for own, text in zip(LISTS, TEXTS, strict=True)],
    ),
    "vw": (
        [f"{y} |w {text}" for y, text in zip(ONE, TEXTS, strict=True)],
        [f"{','.join(own)} |w {text}" for own, text in zip(LISTS, TEXTS, strict=True)],
    ),
    "jsonl": (
        [json.dumps({"y": y, "text": text}) for y, text in zip(ONE, TEXTS, strict=True)],
        [json.dumps({"y": own, "text": text}) for own, text in zip(LISTS, TEXTS, strict=True)],
    ),
}
OPTIONS = {"jsonl": ("--target", "y", "--text-columns", "text")}


def columns(form):
    """Return what scikit-learn makes of the texts."""
    if form in ("fasttext", "lines"):
        return HashingVectorizer(n_features=1 << 10).transform(TEXTS)
    if form == "jsonl":

        def grams(text):
            return [f"text^{word}" for word in text.split()]

        return HashingVectorizer(n_features=1 << 10, analyzer=grams).transform(TEXTS)
    hasher = FeatureHasher(1 << 10, input_type="string")
    return hasher.transform([f"w^{word}" for word in text.split()] for text in TEXTS)


@pytest.mark.parametrize("more", [[], ["--stream"]])
@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("form", LINES)
def test_models_of_every_format_are_those_of_python(call, tmp_path, form, many, more):
    data, model = tmp_path / "a.txt", tmp_path / "m"
    data.write_text("\n".join(LINES[form][many]) + "\n")
    how = ["--format", form, *OPTIONS.get(form, ()), *(["--multilabel"] if many else [])]
    argv = ("--hash-bits", 10, "--epochs", 3, "--tol", "none", "--no-shuffle", "--model", model, "--quiet")
    assert call("train", "perceptron", data, *how, *argv, *more).status == 0
    names = ["ads", "ham", "spam"]
    y = MultiLabelBinarizer(classes=names).fit_transform(LISTS) if many else ONE
    expected = Perceptron(max_iter=3, tol=None, shuffle=False).fit(columns(form), y)
    found = load(model)
    assert found.coef_.tobytes() == expected.coef_.tobytes()
    assert found.classes_.tolist() == (names if many else ["ham", "spam"])
    answers = call("predict", model, data, *how[:2]).out.splitlines()
    predicted = expected.predict(columns(form))
    lists = [",".join(np.array(names)[row > 0]) for row in predicted] if many else predicted.tolist()
    assert answers == lists
    assert call("evaluate", model, data, *how[:2], "--json").json["n_samples"] == 6
    assert call("reproduce", model, data, *how[:2]).status == 0


@pytest.mark.parametrize("form", LINES)
def test_several_files_and_pipes_of_lists(call, stdin, tmp_path, form):
    lines = LINES[form][1]
    for name, part in (("a", lines[:3]), ("b", lines[3:])):
        (tmp_path / f"{name}.txt").write_text("\n".join(part) + "\n")
    stdin("\n".join(lines).encode())
    argv = ("--format", form, *OPTIONS.get(form, ()), "--multilabel", "--quiet", "--model")
    assert call("train", tmp_path / "a.txt", tmp_path / "b.txt", *argv, tmp_path / "m").status == 0
    assert call("train", "-", *argv, tmp_path / "n").status == 0
    assert load(tmp_path / "m").coef_.tobytes() == load(tmp_path / "n").coef_.tobytes()


def test_lines_of_vowpal_wabbit(call, tmp_path):
    lines = [
        "1 2.5 'first|w:2 a:3 b |n c:-1 a",
        "-1 second| x:0.5 a a",
        "+1 |w a b|w b",
        "-1.0 0 |w a:1e1 d:e:2",
    ]
    (tmp_path / "a.vw").write_text("\n".join(lines) + "\n")
    found = [
        {"w^a": 6, "w^b": 2, "n^c": -1, "n^a": 1},
        {"x": 0.5, "a": 2},
        {"w^a": 1, "w^b": 2},
        {"w^a": 10, "w^d:e": 2},
    ]
    (batch,) = open_examples(tmp_path / "a.vw", hash_bits=10).batches()
    assert (FeatureHasher(1 << 10).transform(found) != batch.X).nnz == 0
    assert (batch.y.tolist(), batch.sample_weight.tolist()) == ([1, -1, 1, -1], [2.5, 1, 1, 0])
    assert call("train", tmp_path / "a.vw", "--model", tmp_path / "m", "--quiet").status == 0
    as_json = [{"w": {"a": 6, "b": 2}, "n": {"c": -1, "a": 1}}]
    assert load_predictor(tmp_path / "m").predict(as_json).tolist() == [1]
    (tmp_path / "new.vw").write_text("|w a:6 b:2 |n c:-1 a\nname|w a\n")
    assert call("predict", tmp_path / "m", tmp_path / "new.vw").out.split()[0] == "1"


@pytest.mark.parametrize(
    ("form", "line", "text"),
    [
        ("vw", "1 |w a:b", "'a' must have a finite number, got 'b'"),
        ("vw", "1 |w:x a", "'w' must have a finite number, got 'x'"),
        ("vw", "1 |w :2", "':2' has no name before its colon"),
        ("vw", "1|w a", "a tag: '1' touches the |; write a blank between"),
        ("vw", "|w a", "has no label before the |"),
        ("vw", "0.5 |w a", "the label is 0.5; labels must be whole numbers or strings"),
        ("vw", "1:2 2:3 |w a", "has costs, '1:2'"),
        ("vw", "1 2 3 |w a", "has 3 words before the |"),
        ("vw", "1 -2 |w a", "the weight must be at least 0"),
        ("vw", "1 w a", "has no |"),
        ("vw", "1,2 |w a", "has several labels; learn all of them (--multilabel), or keep one"),
        ("fasttext", "buy now", "line 2 has no label; write __label__NAME before the text"),
        ("fasttext", "__label__ buy", "has __label__ without a name behind it"),
        ("fasttext", "__label__a __label__b buy", "has several labels; learn all of them (--multilabel)"),
        ("lines", "__label__a buy", "or say --format fasttext of lines such as fastText's"),
        ("lines", "1 |w a b", "or say --format vw of lines such as Vowpal Wabbit's"),
        ("jsonl", '{"y": ["a", "b"], "text": "x"}', "has several labels; learn all of them (--multilabel)"),
    ],
)
def test_lines_that_cannot_be_read_lead_on(refused, tmp_path, form, line, text):
    (tmp_path / "a.txt").write_text(LINES[form][0][0] + "\n" + line + "\n")
    argv = ("--format", form, *OPTIONS.get(form, ()), "--model", tmp_path / "m", "--quiet")
    said = refused("train", tmp_path / "a.txt", *argv)
    assert text in said
    assert "line 2" in said


def test_svmlight_says_what_the_text_may_be(refused, tmp_path):
    (tmp_path / "a.txt").write_text("__label__a buy now\n")
    said = refused("train", tmp_path / "a.txt", "--model", tmp_path / "m")
    assert "fastText's or vw's lines --format fasttext or --format vw" in said


def test_the_report_names_texts_without_features_and_labels_that_are_alike(call, tmp_path):
    lines = [
        "spam\tbuy now",
        " spam\tbuy it now",
        "ham\ta b",
        "ham\t",
        "ham\t我们明天去北京",
        "1\tsee",
        "1.0\tyou",
    ]
    (tmp_path / "a.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for more in ([], ["--stream"]):
        argv = ("train", tmp_path / "a.txt", "--text", "--model", tmp_path / "m", *more)
        said = call(*argv, "--quiet").out
        assert "texts     2 of 7 have no feature, the first 'a b'; 1 are of scripts without blanks" in said
        assert "words have two letters or more: see --analyzer char_wb" in said
        assert "alike     ' spam' and 'spam', '1' and '1.0' differ in blanks, case or decimals alone" in said
        result = call(*argv, "--json").json
        assert result["texts"] == {"without_features": 2, "without_blanks": 1}
        assert result["labels_alike"] == [[" spam", "spam"], ["1", "1.0"]]
    assert "classes     ' spam' 1 1.0 ham spam\n" in call("inspect", tmp_path / "m").out


def test_labels_and_texts_that_are_swapped(refused, tmp_path):
    (tmp_path / "a.txt").write_text("".join(f"see {i} you {i * i}\tham\n" for i in range(30)))
    said = refused("train", tmp_path / "a.txt", "--text", "--model", tmp_path / "m", "--quiet")
    assert (
        "the labels are texts, of which nearly all differ, such as 'see 0 you 0'; write the label before"
        in said
    )


@pytest.mark.parametrize("wrong", [[None], [["buy", "now"]], [("buy", None)], iter(["buy"])])
def test_what_is_no_text_is_named(call, tmp_path, wrong):
    (tmp_path / "a.txt").write_text("\n".join(LINES["lines"][0]) + "\n")
    assert call("train", tmp_path / "a.txt", "--text", "--model", tmp_path / "m", "--quiet").status == 0
    with pytest.raises(
        TypeError,
        match=r"^X must (hold texts, .* example 0 is|hold values, got a list_iterator)",
    ):
        load_predictor(tmp_path / "m").predict(wrong)
