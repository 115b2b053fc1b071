"""``tag-train``, ``tag`` and ``tag-evaluate``: the answers are those of the estimator from Python.

What files of sentences hold, and that ``tag-train`` learns what Python does of them, is in
``tests/io/test_conll.py``; chunks are in ``tests/test_metrics.py``.
"""

import gzip
import json

import numpy as np
import pytest

import perceptron_rs
from perceptron_rs import SequencePerceptron
from perceptron_rs.features import column_attributes
from perceptron_rs.io.text.lines import text_blocks

WORDS = [["the", "dog", "barks"], ["a", "cat", "sees", "the", "dog"], ["dogs", "bark"], ["the", "bark"]]
TAGS = [["D", "N", "V"], ["D", "N", "V", "D", "N"], ["N", "V"], ["D", "N"]]


def lines(*columns):
    """Return sentences, given column by column, as a file's text."""
    sentences = (zip(*parts, strict=True) for parts in zip(*columns, strict=True))
    return "\n".join("".join("\t".join(token) + "\n" for token in sentence) for sentence in sentences)


@pytest.fixture
def tagged(tmp_path):
    path = tmp_path / "tagged.tsv"
    path.write_text(lines(WORDS, TAGS), encoding="utf-8")
    return path


@pytest.fixture
def tagger(trained):
    return trained(lines(WORDS, TAGS), name="tagger")


def weights(path):
    return {name: array.tobytes() for name, array in perceptron_rs.load(path)._weights.items()}


def test_a_model_is_that_of_the_estimator(call, tagged, tmp_path):
    options = ("--beam", 2, "--held-out", 0.3)  # which set two parameters each
    answer = call("tag-train", tagged, "--model", tmp_path / "m", *options)
    assert answer.err.startswith("epoch 1: 2 wrong sentences, 5 wrong tokens, accuracy 0.5000 held out, ")
    parameters = {"decode": "beam", "beam_width": 2, "early_stopping": True, "validation_fraction": 0.3}
    model = SequencePerceptron(**parameters, audit=True)  # as always on the command line
    model.fit([column_attributes([[word] for word in words]) for words in WORDS], TAGS)
    assert perceptron_rs.load(tmp_path / "m").get_params() == model.get_params()
    assert weights(tmp_path / "m") == {name: array.tobytes() for name, array in model._weights.items()}
    # Progress asks for single epochs, and changes nothing.
    assert call("tag-train", tagged, "--model", tmp_path / "quiet", *options, "--quiet").err == ""
    assert (tmp_path / "quiet").read_bytes() == (tmp_path / "m").read_bytes()


def test_what_training_says(call, tagged, stdin, tmp_path):
    answer = call("tag-train", tagged, "--model", tmp_path / "m", "--epochs", 9)
    assert answer.err.startswith("epoch 1: 4 wrong sentences, 9 wrong tokens, ")
    assert answer.out.startswith("data      4 sentences, 12 tokens, 3 tags\n")
    assert "the last without a mistake" in answer.out
    stdin(tagged.read_bytes())
    found = call("tag-train", "-", "--model", tmp_path / "m", "--held-out", 0.25, "--json").json
    assert (found["n_sentences"], found["n_tokens"], found["tags"]) == (4, 12, ["D", "N", "V"])
    assert len(found["validation_scores"]) == found["n_iter"]
    assert found["bytes"] == (tmp_path / "m").stat().st_size
    assert set(found["seconds"]) == {"read", "fit", "save"}


def test_tag_prints_columns_and_tags(call, tagger, stdin, monkeypatch, tmp_path):
    def tag(text, *options):
        stdin(text)
        return call("tag", tagger, *options)

    assert tag(b"the\ncat\nbarks\n\ndogs\nbark").out == "the\tD\ncat\tN\nbarks\tV\n\ndogs\tN\nbark\tV\n\n"
    packed = gzip.compress(b"\xef\xbb\xbfthe\r\ncat\r\nbarks\r\n \t\r\ndogs\r\nbark\r\n", mtime=0)
    assert tag(packed, "-", "--tags-only").out == "D\nN\nV\n\nN\nV\n\n"
    (tmp_path / "words").write_bytes(packed)
    assert list(map(json.loads, call("tag", tagger, tmp_path / "words", "--json").out.splitlines())) == [
        {"tokens": [["the"], ["cat"], ["barks"]], "tags": ["D", "N", "V"]},
        {"tokens": [["dogs"], ["bark"]], "tags": ["N", "V"]},
    ]
    assert tag(packed, "--json", "--tags-only").out.startswith('{"tags": ["D",')
    assert tag(b"") == type(call("--version"))(0, "", "")
    expected = tag(b"the\ndog\n\n" * 5).out
    monkeypatch.setattr("perceptron_rs.io.sentences.batched.__defaults__", (2,))
    assert tag(b"the\ndog\n\n" * 5, "--threads", 2).out == expected == "the\tD\ndog\tN\n\n" * 5


@pytest.mark.parametrize("template", ["words", "columns"])
def test_more_columns_and_both_templates(call, trained, tmp_path, template):
    rng = np.random.default_rng(0)
    classes = [[str(value) for value in rng.integers(0, 3, len(words))] for words in WORDS]
    same = [[f"tag {value}" for value in sentence] for sentence in classes]  # a tab separates: blanks may be
    clean = ("--template", template, "--epochs", 100, "--no-average")  # ends on an epoch without a mistake
    out = trained(lines(WORDS, classes, same), *clean)
    assert call("tag-evaluate", out, tmp_path / "m.txt", "--json").json["token_errors"] == 0
    model = perceptron_rs.load(out)
    window = 2 if template == "words" else 0
    assert model.template_ == {"kind": template, "window": window, "columns": 2, "separator": "\t"}
    tokens = [list(zip(*parts, strict=True)) for parts in zip(WORDS, classes, strict=True)]
    assert model.predict([column_attributes(sentence, kind=template) for sentence in tokens]) == same


def test_figures(call, tagger, tmp_path):
    path = tmp_path / "other.tsv"
    path.write_text("the\tD\ncat\tV\nbarks\tV\n\ndogs\tX\nbark\tV\n\nthe\tD\n", encoding="utf-8")
    answer = call("tag-evaluate", tagger, path, "--json")  # found: D N V, N V, D
    assert answer.err == (
        f"perceptrons: warning: {path}: 1 tokens have tags that the model does not know, 'X' first; "
        "they count as errors\n"
    )
    found = answer.json
    assert (found["n_tokens"], found["token_errors"], found["token_accuracy"]) == (6, 2, 4 / 6)
    assert (found["n_sentences"], found["sentence_errors"], found["sentence_accuracy"]) == (3, 2, 1 / 3)
    assert [entry["tag"] for entry in found["tags"]] == ["D", "N", "V", "X"]
    assert found["tags"][2] == {"tag": "V", "precision": 1.0, "recall": 2 / 3, "f1": 4 / 5, "support": 3}
    assert "chunks" not in found
    text = call("tag-evaluate", tagger, path, "--quiet")
    assert text.err == answer.err
    first = "token accuracy     0.6667, 2 errors of 6\nsentence accuracy  0.3333, 2 errors"
    assert text.out.startswith(first)
    assert ["V", "1.0000", "0.6667", "0.8000", "3"] in [line.split() for line in text.out.splitlines()]


def test_chunks(call, refused, trained, tagged, tagger, tmp_path):
    model = trained("the B_NP\ndog I_NP\nbarks O\n", "--epochs", 100, "--no-average")
    out = call("tag-evaluate", model, tmp_path / "m.txt").out
    assert "chunk F1           1.0000\n" in out
    assert out.splitlines()[-1].split() == ["all", "1.0000", "1.0000", "1.0000", "1"]
    other = tmp_path / "other.txt"
    other.write_text("dog I_NP\nbarks O\n", encoding="utf-8")
    assert call("tag-evaluate", model, other, "--json").json["chunks"]["support"] == 1
    assert call("tag-evaluate", model, other, "--json", "--scheme", "iob2").json["chunks"]["support"] == 0
    message = refused("tag-evaluate", tagger, tagged, "--scheme", "bilou")
    assert message.startswith(f"--scheme bilou: the tags of {tagged} and of the model are no positions")
    other.write_text("dog S_NP\nbarks O\n", encoding="utf-8")
    message = refused("tag-evaluate", model, other, "--scheme", "iob2")
    assert message.startswith("--scheme iob2 has no such tag as 'S_NP'")


def test_scores_are_margins(call, tagger, trained, stdin):
    def tag(text, *options, model=tagger):
        stdin(text)
        return call("tag", model, "--scores", *options).out

    model, text = perceptron_rs.load(tagger), b"the\ncat\n\nbark\n"
    X = [column_attributes([["the"], ["cat"]]), column_attributes([["bark"]])]
    (first, second), (third,) = margins = model.predict_margins(X)
    last = model.predict(X)[1][0]
    assert tag(text) == f"the\tD\t{first!r}\ncat\tN\t{second!r}\n\nbark\t{last}\t{third!r}\n\n"
    assert tag(text, "--tags-only") == f"D\t{first!r}\nN\t{second!r}\n\n{last}\t{third!r}\n\n"
    assert [json.loads(line)["scores"] for line in tag(text, "--json").splitlines()] == margins
    one = trained("a N\nb N\n")  # where no other tag is possible
    assert tag(b"a\n", model=one) == "a\tN\tinf\n\n"
    assert json.loads(tag(b"a\n", "--json", "--tags-only", model=one)) == {"tags": ["N"], "scores": [None]}


def test_the_best_taggings(call, tagger, stdin):
    def tag(*options):
        stdin(b"the\ncat\n\nbark\n")
        return call("tag", tagger, "--best", 2, *options).out

    X = [column_attributes([["the"], ["cat"]]), column_attributes([["bark"]])]
    first, second = perceptron_rs.load(tagger).predict_k(X, 2)
    (a, x), (b, y) = first
    assert tag().startswith(
        f"# 1 {x!r}\nthe\t{a[0]}\ncat\t{a[1]}\n\n# 2 {y!r}\nthe\t{b[0]}\ncat\t{b[1]}\n\n# 1 "
    )
    assert tag("--tags-only").endswith(f"# 2 {second[1][1]!r}\n{second[1][0][0]}\n\n")
    best = [{"tags": tags, "score": score} for tags, score in second]
    assert json.loads(tag("--json").splitlines()[1]) == {"tokens": [["bark"]], "best": best}


def test_inspect(call, tagger):
    out = call("inspect", tagger, "--top", 2).out
    assert "estimator   SequencePerceptron\nclasses     D N V\n" in out
    assert "template    words, window 2; columns of a line: 1\n" in out
    story = call("inspect", tagger, "--json", "--top", 1).json
    model = perceptron_rs.load(tagger)
    assert story["weights"][0]["largest"][0]["weight"] == model.coef_[0][np.argmax(np.abs(model.coef_[0]))]
    assert abs(story["transitions"][0]["weight"]) == np.abs(model.transition_).max()
    assert story["template"] == model.template_


def test_a_model_of_a_matrix_has_no_columns(refused, tagged, tmp_path):
    SequencePerceptron().fit(np.eye(2), [0, 1]).save(tmp_path / "matrix")
    assert "was not written by tag-train" in refused("tag", tmp_path / "matrix", tagged, status=2)


def test_bad_files(refused, tmp_path):
    """What else is bad, in words that name the line, is in ``tests/stream/test_sequences.py``."""
    path = tmp_path / "bad.tsv"
    for content, message in (
        (b"a\tN\nb\n", "line 2 has 1 columns, but the lines before have 2; give each token the same number"),
        (b"", "the file is empty"),
        (b"\n \n", "contains no tokens"),
        (b"a\nb\n", "line 1 has 1 columns, but the word, its features and the tag need 2"),
    ):
        path.write_bytes(content)
        line = refused("tag-train", path, "--model", tmp_path / "m", "--quiet")
        assert line.startswith(f"{path}: {message}")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("stream", [(), ("--stream",)], ids=str)
def test_one_tag_is_warned_of(call, tmp_path, stream):
    (tmp_path / "a.tsv").write_text("a\tN\tx\nb\tV\tx\n")
    answer = call("tag-train", tmp_path / "a.tsv", "--model", tmp_path / "m", *stream)
    assert (answer.status, f"{tmp_path / 'a.tsv'}: the only tag is 'x'; if" in answer.err) == (0, True)


GOLD = "the\tx\tD\ncat\ty\tN\n\nbark\tz\tV\n"


def test_files_with_other_columns(call, refused, trained, tagger, tagged, tmp_path, stdin):
    path = tmp_path / "gold.tsv"
    path.write_text(GOLD.replace("D", "?"), encoding="utf-8")
    assert call("tag", tagger, path, "--tag-column", 3).out == f"{GOLD}\n"
    assert call("tag", tagger, path, "--tag-column", 4).out.splitlines()[0] == "the\tx\t?\tD"
    assert call("tag-evaluate", tagger, path, "--tag-column", 3, "--json").json["token_errors"] == 1
    model = trained(GOLD, "--tag-column", 2, "--window", 0)
    model = perceptron_rs.load(model)
    assert (model.template_["columns"], model.classes_.tolist()) == (1, ["x", "y", "z"])
    assert not any(name.startswith("w-") for name in model.encoder_.vocabulary_)
    (tmp_path / "words").write_text("a\nb\n", encoding="utf-8")
    (tmp_path / "blanks").write_text("#\na b c\n", encoding="utf-8")
    for argv, text in (
        (("tag", tagger, path), "line 1 has 3 columns, but the model reads 1"),
        (("tag-evaluate", tagger, path), "line 1 has 3 columns, but the model needs, with the tag, 2"),
        (("tag-evaluate", tagger, tmp_path / "words"), "but the model needs, with the tag, 2"),
        (("tag-evaluate", tagger, tmp_path / "blanks"), "that begins with '#' is a comment, remove it"),
        (
            ("tag-train", path, "--model", tmp_path / "n", "--columns", 4),
            "the tag need 5; name none beyond 3 with",
        ),
        (("tag-train", tmp_path / "none", "--model", tmp_path / "n"), "no such file"),
    ):
        assert text in refused(*argv)
    stdin(b"a\nb\tc\n")
    assert refused("tag", tagger).startswith("standard input: line 2 has 2 columns")


DOCUMENT = "-DOCSTART- -X- O\n\nthe  DT D\n# #   N\n\n"


def test_lines_that_are_no_tokens_stay(call, trained, stdin):
    model = trained(DOCUMENT, "--epochs", 100, "--no-average")
    stdin(DOCUMENT.encode())
    assert call("tag", model, "-", "--tag-column", 3).out == DOCUMENT
    stdin(b"-DOCSTART- -X-\n\nthe  DT\n# #\n")
    assert call("tag", model).out == "-DOCSTART- -X-\n\nthe  DT  D\n# # N\n\n"


@pytest.mark.parametrize("bad", [b"a\tcat\n", b"\xe9\n"])
@pytest.mark.parametrize("block", [1, 1 << 20])
def test_all_sentences_before_a_bad_line_are_tagged(call, tagger, tmp_path, monkeypatch, bad, block):
    monkeypatch.setattr(text_blocks, "__defaults__", (block,))
    (tmp_path / "a.txt").write_bytes(b"the\ndog\n\n" * 700 + b"the\n" + bad)
    answer = call("tag", tagger, tmp_path / "a.txt", "--tags-only")
    assert (answer.status, answer.out.count("D\nN\n\n")) == (1, 700)
    assert "line 2102" in answer.err
