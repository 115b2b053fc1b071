"""``train --text``: the model of scikit-learn's HashingVectorizer with the same options, kept in the file."""

import json

import numpy as np
import pytest
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.pipeline import make_pipeline

from perceptron_rs import AveragedPerceptron, digest, load, load_predictor

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

WORDS = [
    *("the", "cat", "Dogs", "and", "naïve", "Straße", "run", "42", "fast", "in", "of", "spam"),
    *("HAM", "eggs", "python3", "library's", "—", "now"),
]
RNG = np.random.default_rng(4)
TEXTS = [" ".join(RNG.choice(WORDS, RNG.integers(0, 9))) for _ in range(120)]
LABELS = [
    ("animal" if "cat" in text or "Dogs" in text else "food" if "am" in text else "x") for text in TEXTS
]


@pytest.fixture(name="files")
def fixture_files(tmp_path):
    train, test = tmp_path / "train.txt", tmp_path / "test.txt"
    for file, part in ((train, slice(0, 90)), (test, slice(90, None))):
        lines = [f"{label}\t{text}\n" for label, text in zip(LABELS[part], TEXTS[part], strict=True)]
        file.write_text("".join(lines), encoding="utf-8")
    return train, test


@pytest.mark.parametrize("tf_idf", [False, True])
def test_the_model_is_that_of_python(call, files, tmp_path, tf_idf):
    model, (train, test) = tmp_path / "m", files
    argv = ["train", "averaged", train, "--text", "--hash-bits", 9, "--epochs", 4, "--tol", "none", "--quiet"]
    argv += ["--analyzer", "char_wb", "--ngrams", 2, 4, "--binary", "--norm", "l1", "--model", model]
    assert call(*argv, *(["--tf-idf"] if tf_idf else [])).status == 0
    options = {"analyzer": "char_wb", "ngram_range": (2, 4), "binary": True}
    vectorizer = HashingVectorizer(n_features=2**9, **options, norm=None if tf_idf else "l1")
    if tf_idf:
        vectorizer = make_pipeline(vectorizer, TfidfTransformer(norm="l1"))
    expected = AveragedPerceptron(max_iter=4, tol=None, audit=True)
    expected.fit(vectorizer.fit_transform(TEXTS[:90]), LABELS[:90])
    assert load(model).coef_.tobytes() == expected.coef_.tobytes()
    scores = expected.decision_function(vectorizer.transform(TEXTS[90:]))
    answer = call("predict", model, test, "--scores", "--json")
    assert [json.loads(line)["scores"] for line in answer.out.splitlines()] == scores.tolist()
    assert call("reproduce", model, train).status == 0
    if not tf_idf:
        assert call("online", model, test, "--save", tmp_path / "o", "--quiet").status == 0
        expected.partial_fit(vectorizer.transform(TEXTS[90:]), LABELS[90:])
        assert load(tmp_path / "o").coef_.tobytes() == expected.coef_.tobytes()


def test_inspect_names_words_and_says_what_collides(call, files, tmp_path):
    train, _ = files
    argv = ["train", "averaged", train, "--text", "--hash-bits", 3, "--epochs", 3, "--quiet"]
    argv += ["--model", tmp_path / "m"]
    assert call(*argv).status == 0
    entries = json.loads(call("inspect", tmp_path / "m", "--json").out)["weights"][0]["largest"]
    analyze = HashingVectorizer(n_features=8).build_analyzer()
    all_words = {word for text in TEXTS[:90] for word in analyze(text)}
    named = [word for entry in entries for word in entry["words"]]
    assert set(named) <= all_words
    assert len(named) == len(set(named))
    assert sum(len(entry["words"]) + entry["more_words"] for entry in entries) == len(all_words)
    assert all(len(entry["words"]) <= 2 for entry in entries)
    text = call("inspect", tmp_path / "m").out
    values = HashingVectorizer(n_features=8, norm=None)
    for entry in entries:
        # The weight of an n-gram is that of its column times its own value there, which may be -1.
        signs = [int(values.transform([word]).sum()) for word in entry["words"]]
        assert entry["signs"] == signs
        marked = ["" if sign == signs[0] else "(-) " for sign in signs]
        more = f" + {entry['more_words']} more" if entry["more_words"] else ""
        name = " | ".join(mark + word for mark, word in zip(marked, entry["words"], strict=True)) + more
        line = next(line for line in text.splitlines() if line.startswith(f"  {name}  "))
        assert float(line.split()[-1]) == entry["weight"] * signs[0]
    assert {sign for entry in entries for sign in entry["signs"]} == {1, -1}
    named = digest(load(tmp_path / "m"))
    assert call(*argv, "--keep-words", 0).status == 0
    assert digest(load(tmp_path / "m")) == named  # names are no part of it
    assert " x" in call("inspect", tmp_path / "m").out


def test_names_of_the_first_training_stay(call, tmp_path):
    first, then, out = tmp_path / "a.txt", tmp_path / "b.txt", ("--quiet", "--model")
    first.write_text("x\tapple pear\ny\tplum\n")
    then.write_text("x\tcherry\ny\tplum fig\n")
    argv = ("train", first, "--text", "--hash-bits", 2, *out, tmp_path / "m", "--keep-words", 9)
    assert call(*argv).status == 0

    def goes_on(keep):
        argv = ("train", "--continue", tmp_path / "m", then, *out, tmp_path / "n", "--keep-words", keep)
        assert call(*argv).status == 0
        return call("inspect", tmp_path / "n", "--json").json["weights"][0]["largest"]

    entries = goes_on(9)
    words = [word for entry in entries for word in entry["words"]]
    assert sorted(words) == ["apple", "cherry", "fig", "pear", "plum"]
    assert all(entry["more_words"] == 0 for entry in entries)
    assert all(len(entry["words"]) == 1 for entry in goes_on(1))


def test_a_model_keeps_its_options(call, refused, files, tmp_path):
    train, test = files
    argv = ["train", train, "--text", "--model", tmp_path / "m", "--epochs", 2, "--quiet"]
    assert call(*argv, "--tf-idf").status == 0
    assert "--tf-idf" in refused("online", tmp_path / "m", test, status=2)


@pytest.mark.parametrize("how", [[], ["--stream"]], ids=["memory", "stream"])
@pytest.mark.parametrize("bits", [9, 10])
def test_large_weights_are_warned_of_before_the_fit(call, files, tmp_path, monkeypatch, bits, how):
    monkeypatch.setattr("perceptron_rs.cli.commands.train._LARGE", 8 * 3 * 1000)  # three classes
    argv = ["train", "voted", files[0], "--text", "--hash-bits", bits, "--model", tmp_path / "m", "--quiet"]
    said = call(*argv, *how, *(["--classes", "animal,food,x"] if how else [])).err
    assert ("the weights of 2^10 columns take 0.0 GB" in said) == (bits == 10)


def test_accents_are_stripped_from_all_that_is_read(call, tmp_path):
    (tmp_path / "a.txt").write_text("x\tétude très\ny\tgröße\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("e\u0301tude\netude\ngrosse\n", encoding="utf-8")
    options = ("--text", "--strip-accents", "unicode", "--model", tmp_path / "m")
    assert call("train", "averaged", tmp_path / "a.txt", *options).status == 0
    scores = [
        line.split()[1:]
        for line in call("predict", tmp_path / "m", tmp_path / "b.txt", "--scores").out.splitlines()
    ]
    assert scores[0] == scores[1]
    predictor = load_predictor(tmp_path / "m")
    assert predictor.decision_function(["étude"]) == predictor.decision_function(["etude"]) != 0
