"""``tag-train``, ``tag`` and ``tag-evaluate``: the answers are those of the estimator from Python."""

import gzip
import json
import subprocess
import sys

import numpy as np
import pytest

import perceptron_rs
from perceptron_rs import SequencePerceptron
from perceptron_rs.cli.options import parse
from perceptron_rs.features import column_attributes
from perceptron_rs.io.sentences import read_sentences

from .support import command, environment

WORDS = [["the", "dog", "barks"], ["a", "cat", "sees", "the", "dog"], ["dogs", "bark"], ["the", "bark"]]
TAGS = [["D", "N", "V"], ["D", "N", "V", "D", "N"], ["N", "V"], ["D", "N"]]


def lines(*columns, separator="\t"):
    """Return sentences, given column by column, as a file's text."""
    sentences = [
        "".join(separator.join(token) + "\n" for token in zip(*parts, strict=True))
        for parts in zip(*columns, strict=True)
    ]
    return "\n".join(sentences)


@pytest.fixture
def tagged(tmp_path):
    path = tmp_path / "tagged.tsv"
    path.write_text(lines(WORDS, TAGS), encoding="utf-8")
    return path


@pytest.fixture
def tagger(call, tagged, tmp_path):
    path = tmp_path / "tagger"
    assert call("tag-train", tagged, "--model", path, "--quiet").status == 0
    return path


def weights(path):
    return {name: array.tobytes() for name, array in perceptron_rs.load(path)._weights.items()}


OPTIONS = [
    ((), {}),
    (
        ("--epochs", 1, "--no-average", "--no-shuffle", "--min-count", 2),
        {"max_iter": 1, "averaged": False, "shuffle": False, "min_count": 2},
    ),
    (
        ("--seed", 7, "--eta0", 0.3, "--hash-columns", 64),
        {"random_state": 7, "eta0": 0.3, "hash_columns": 64},
    ),
    (("--transition-features",), {"transition_features": True}),
    (("--beam", 2, "--update", "early"), {"decode": "beam", "beam_width": 2, "update": "early"}),
    (
        ("--held-out", 0.3, "--n-iter-no-change", 1),
        {"early_stopping": True, "validation_fraction": 0.3, "n_iter_no_change": 1},
    ),
    (("--engine", "reference"), {"engine": "reference"}),
]


@pytest.mark.parametrize(("options", "parameters"), OPTIONS)
def test_every_option_is_a_parameter(call, tagged, tmp_path, options, parameters):
    answer = call("tag-train", tagged, "--model", tmp_path / "m", *options)
    assert answer.status == 0, answer
    model = SequencePerceptron(**parameters, audit=True)  # as always on the command line
    model.fit([column_attributes([[word] for word in words]) for words in WORDS], TAGS)
    loaded = perceptron_rs.load(tmp_path / "m")
    assert loaded.get_params() == model.get_params()
    assert weights(tmp_path / "m") == {name: array.tobytes() for name, array in model._weights.items()}
    # Progress asks for single epochs, and changes nothing.
    assert call("tag-train", tagged, "--model", tmp_path / "quiet", *options, "--quiet").err == ""
    assert (tmp_path / "quiet").read_bytes() == (tmp_path / "m").read_bytes()


def test_what_training_says(call, tagged, tmp_path):
    answer = call("tag-train", tagged, "--model", tmp_path / "m", "--epochs", 9)
    assert answer.err.startswith("epoch 1: 4 wrong sentences, 9 wrong tokens, ")
    assert answer.out.startswith("data      4 sentences, 12 tokens, 3 tags\n")
    assert "the last without a mistake" in answer.out
    found = call("tag-train", tagged, "--model", tmp_path / "m", "--held-out", 0.25, "--json").json
    assert (found["n_sentences"], found["n_tokens"], found["tags"]) == (4, 12, ["D", "N", "V"])
    assert len(found["validation_scores"]) == found["n_iter"]
    assert found["bytes"] == (tmp_path / "m").stat().st_size
    assert set(found["seconds"]) == {"read", "fit", "save"}


def test_tag_prints_columns_and_tags(call, tagger, stdin, tmp_path):
    stdin(b"the\ncat\nbarks\n\n\n\ndogs\nbark")
    expected = "the\tD\ncat\tN\nbarks\tV\n\ndogs\tN\nbark\tV\n\n"
    assert call("tag", tagger).out == expected
    (tmp_path / "words").write_bytes(
        gzip.compress(b"\xef\xbb\xbfthe\r\ncat\r\nbarks\r\n \t\r\ndogs\r\nbark\r\n", mtime=0)
    )
    assert call("tag", tagger, tmp_path / "words").out == expected
    stdin((tmp_path / "words").read_bytes())
    assert call("tag", tagger, "-", "--tags-only").out == "D\nN\nV\n\nN\nV\n\n"
    records = call("tag", tagger, tmp_path / "words", "--json").out.splitlines()
    assert [json.loads(record) for record in records] == [
        {"tokens": [["the"], ["cat"], ["barks"]], "tags": ["D", "N", "V"]},
        {"tokens": [["dogs"], ["bark"]], "tags": ["N", "V"]},
    ]
    assert call("tag", tagger, tmp_path / "words", "--json", "--tags-only").out.startswith('{"tags": ["D",')


def test_nothing_to_tag(call, tagger, stdin):
    stdin(b"\n\n")
    assert call("tag", tagger) == type(call("--version"))(0, "", "")


def test_blocks_change_nothing(call, tagger, stdin, monkeypatch):
    text = b"the\ndog\n\n" * 5
    stdin(text)
    expected = call("tag", tagger).out
    monkeypatch.setattr("perceptron_rs.io.sentences.batched.__defaults__", (2,))
    stdin(text)
    assert call("tag", tagger, "--threads", 2).out == expected
    assert expected.count("\n\n") == 5


def test_more_columns_and_both_templates(call, tmp_path):
    rng = np.random.default_rng(0)
    classes = [[str(value) for value in rng.integers(0, 3, len(words))] for words in WORDS]
    same = [[f"tag {value}" for value in sentence] for sentence in classes]  # a tab separates: blanks may be
    path = tmp_path / "three.tsv"
    path.write_text(lines(WORDS, classes, same), encoding="utf-8")
    clean = ("--epochs", 100, "--no-average")  # ends on an epoch without a mistake
    for template in ("words", "columns"):
        out = tmp_path / template
        assert call("tag-train", path, "--model", out, "--template", template, *clean).status == 0
        assert call("tag-evaluate", out, path, "--json").json["token_errors"] == 0
        model = perceptron_rs.load(out)
        assert model.template_ == {"kind": template, "window": 2 if template == "words" else 0, "columns": 2}
        tokens = [list(zip(*parts, strict=True)) for parts in zip(WORDS, classes, strict=True)]
        X = [column_attributes(sentence, kind=template) for sentence in tokens]
        assert model.predict(X) == same
    assert call("tag-train", path, "--model", tmp_path / "w", "--window", 0).status == 0
    assert not any(name.startswith("w-") for name in perceptron_rs.load(tmp_path / "w").encoder_.vocabulary_)


def test_figures_by_hand(call, tagger, tmp_path):
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
    assert found["tags"] == [
        {"tag": "D", "precision": 1.0, "recall": 1.0, "f1": 1.0, "support": 2},
        {"tag": "N", "precision": 0.0, "recall": 0.0, "f1": 0.0, "support": 0},
        {"tag": "V", "precision": 1.0, "recall": 2 / 3, "f1": 4 / 5, "support": 3},
        {"tag": "X", "precision": 0.0, "recall": 0.0, "f1": 0.0, "support": 1},
    ]
    assert "chunks" not in found
    text = call("tag-evaluate", tagger, path, "--quiet")
    assert text.err == ""
    assert text.out.startswith(
        "token accuracy     0.6667, 2 errors of 6\nsentence accuracy  0.3333, 2 errors"
    )
    assert ["V", "1.0000", "0.6667", "0.8000", "3"] in [line.split() for line in text.out.splitlines()]


def test_chunks_in_the_evaluation(call, tmp_path):
    path = tmp_path / "chunks.txt"
    path.write_text("the B-NP\ndog I-NP\nbarks O\n\na B-NP\ncat I-NP\nsleeps O\n", encoding="utf-8")
    assert call("tag-train", path, "--model", tmp_path / "m", "--epochs", 100, "--no-average").status == 0
    found = call("tag-evaluate", tmp_path / "m", path, "--json").json["chunks"]
    kinds = [{"kind": "NP", "precision": 1.0, "recall": 1.0, "f1": 1.0, "support": 2, "found": 2}]
    assert found == {"precision": 1.0, "recall": 1.0, "f1": 1.0, "support": 2, "found": 2, "kinds": kinds}
    out = call("tag-evaluate", tmp_path / "m", path).out
    assert "chunk F1           1.0000\n" in out
    assert out.splitlines()[-1].split() == ["all", "1.0000", "1.0000", "1.0000", "2"]


def test_chunks_of_a_strict_scheme(call, refused, tagged, tagger, tmp_path):
    train, other = tmp_path / "train.txt", tmp_path / "other.txt"
    train.write_text("the B_NP\ndog I_NP\nbarks O\n", encoding="utf-8")
    other.write_text("dog I_NP\nbarks O\n", encoding="utf-8")
    model = tmp_path / "m"
    assert call("tag-train", train, "--model", model, "--epochs", 100, "--no-average").status == 0
    assert call("tag-evaluate", model, other, "--json").json["chunks"]["support"] == 1
    assert call("tag-evaluate", model, other, "--json", "--scheme", "iob2").json["chunks"]["support"] == 0
    message = refused("tag-evaluate", tagger, tagged, "--scheme", "bilou")
    assert message.startswith(f"--scheme bilou: the tags of {tagged} and of the model are no positions")
    other.write_text("dog S_NP\nbarks O\n", encoding="utf-8")
    message = refused("tag-evaluate", model, other, "--scheme", "iob2")
    assert message.startswith("--scheme iob2 has no such tag as 'S_NP'")


def test_scores_are_margins(call, tagger, stdin):
    model = perceptron_rs.load(tagger)
    X = [column_attributes([["the"], ["cat"]]), column_attributes([["bark"]])]
    margins = model.predict_margins(X)
    (first, second), (third,) = margins
    text = b"the\ncat\n\nbark\n"
    stdin(text)
    tags = model.predict(X)
    expected = f"the\tD\t{first!r}\ncat\tN\t{second!r}\n\nbark\t{tags[1][0]}\t{third!r}\n\n"
    assert call("tag", tagger, "--scores").out == expected
    stdin(text)
    expected = f"D\t{first!r}\nN\t{second!r}\n\n{tags[1][0]}\t{third!r}\n\n"
    assert call("tag", tagger, "--scores", "--tags-only").out == expected
    stdin(text)
    records = [json.loads(line) for line in call("tag", tagger, "--scores", "--json").out.splitlines()]
    assert [record["scores"] for record in records] == margins


def test_scores_where_no_other_tag_is_possible(call, stdin, tmp_path):
    (tmp_path / "one.txt").write_text("a N\nb N\n", encoding="utf-8")
    assert call("tag-train", tmp_path / "one.txt", "--model", tmp_path / "m", "--quiet").status == 0
    stdin(b"a\n")
    assert call("tag", tmp_path / "m", "--scores").out == "a\tN\tinf\n\n"
    stdin(b"a\n")
    assert call("tag", tmp_path / "m", "--scores", "--json", "--tags-only").json == {
        "tags": ["N"], "scores": [None]
    }  # fmt: skip


def test_inspect(call, tagger):
    out = call("inspect", tagger, "--top", 2).out
    assert "estimator   SequencePerceptron\nclasses     D N V\n" in out
    assert "template    words, window 2; columns of a line: 1\n" in out
    story = call("inspect", tagger, "--json", "--top", 1).json
    model = perceptron_rs.load(tagger)
    assert story["weights"][0]["largest"][0]["weight"] == model.coef_[0][np.argmax(np.abs(model.coef_[0]))]
    assert abs(story["transitions"][0]["weight"]) == np.abs(model.transition_).max()
    assert story["template"] == model.template_


def test_models_for_the_other_commands(refused, tagger, model, text_file, tagged, tmp_path):
    for name in ("predict", "evaluate"):
        assert refused(name, tagger, text_file).endswith("use the commands tag and tag-evaluate")
    for name in ("tag", "tag-evaluate"):
        assert "holds a Perceptron, which does not label sequences" in refused(name, model, tagged)
    SequencePerceptron().fit(np.eye(2), [0, 1]).save(tmp_path / "matrix")
    assert "was not written by tag-train" in refused("tag", tmp_path / "matrix", tagged)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"a\tN\nb\n", "line 2 has 1 columns, but the lines before have 2; give each token the same number"),
        (b"# text = b\na N\n", "if the line that begins with '#' is a comment, remove it"),
        (b"a\tN\n\xff\tN\n", "line 2: is not UTF-8"),
        (b"", "the file is empty"),
        (b"\n \n", "contains no tokens"),
        (b"a\nb\n", "line 1 has 1 columns, but the word, its features and the tag need 2"),
    ],
)
def test_bad_files(refused, tmp_path, text, message):
    path = tmp_path / "bad.tsv"
    path.write_bytes(text)
    line = refused("tag-train", path, "--model", tmp_path / "m", "--quiet")
    assert line.startswith((f"{path}: ", f"{path}, line "))
    assert message in line
    assert not (tmp_path / "m").exists()


def test_one_tag_is_warned_of(call, tmp_path):
    (tmp_path / "a.tsv").write_text("a\tN\tx\nb\tV\tx\n")
    for stream in ((), ("--stream",)):
        answer = call("tag-train", tmp_path / "a.tsv", "--model", tmp_path / "m", *stream)
        assert answer.status == 0
        assert (
            f"{tmp_path / 'a.tsv'}: the only tag is 'x'; if it is in another column, name that by"
            in answer.err
        )
    assert call("tag-evaluate", tmp_path / "m", tmp_path / "a.tsv", "--json").json["token_errors"] == 0


def test_bad_places(refused, tagged, tagger, tmp_path, stdin):
    assert refused("tag-train", tagged, "--model", tagged).endswith("is the data file; name another one")
    assert "no such file" in refused("tag-train", tmp_path / "none", "--model", tmp_path / "m")
    (tmp_path / "empty").mkdir()
    assert "is a folder without files" in refused("tag-evaluate", tagger, tmp_path / "empty")
    assert "line 1 has 2 columns, but the model reads 1" in refused("tag", tagger, tagged)
    (tmp_path / "words").write_text("a\nb\n", encoding="utf-8")
    assert "but the model needs, with the tag, 2" in refused("tag-evaluate", tagger, tmp_path / "words")
    (tmp_path / "words").write_text("#\na b c\n", encoding="utf-8")
    message = refused("tag-evaluate", tagger, tmp_path / "words")
    assert "line 1 has 1 columns" in message
    assert "if the line that begins with '#' is a comment, remove it" in message
    with pytest.raises(ValueError, match=r"has 1 columns, but it needs 3; if the line that begins with '#'"):
        list(read_sentences([str(tmp_path / "words")], expected="it needs", least=3))
    stdin(b"a\nb c\n")
    assert refused("tag", tagger).startswith("standard input: line 2 has 2 columns")


GOLD = "the\tx\tD\ncat\ty\tN\n\nbark\tz\tV\n"


def test_files_with_more_columns(call, refused, tagger, tmp_path):
    path = tmp_path / "gold.tsv"
    path.write_text(GOLD.replace("D", "?"), encoding="utf-8")
    assert "line 1 has 3 columns, but the model reads 1" in refused("tag", tagger, path)
    assert call("tag", tagger, path, "--tag-column", 3).out == f"{GOLD}\n"
    assert call("tag", tagger, path, "--tag-column", 4).out.splitlines()[0] == "the\tx\t?\tD"
    assert call("tag-evaluate", tagger, path, "--tag-column", 3, "--json").json["token_errors"] == 1
    assert "line 1 has 3 columns, but the model needs, with the tag, 2" in refused(
        "tag-evaluate", tagger, path
    )
    assert call("tag-train", path, "--model", tmp_path / "m", "--tag-column", 2, "--json").json["tags"] == [
        *"xyz"
    ]
    assert perceptron_rs.load(tmp_path / "m").template_["columns"] == 1
    assert "the word, its features and the tag need 5" in refused(
        "tag-train", path, "--model", tmp_path / "m", "--columns", 4
    )


CONLL_U = """\
# sent_id = 1
# text = it isn't
1\tit\tit\tPRON\t_\t_\t_\t_\t_\t_
2-3\tisn't\t_\t_\t_\t_\t_\t_\t_\t_
2\tis\tbe\tVERB\t_\t_\t_\t_\t_\t_
3\tn't\tnot\tPART\t_\t_\t_\t_\t_\t_
3.1\t_\t_\t_\t_\t_\t_\t_\t_\t_

# sent_id = 2
1\t#\t#\tSYM\t_\t_\t_\t_\t_\t_

"""


def test_conll_u(call, tmp_path):
    path, model = tmp_path / "a.conllu", tmp_path / "m"
    path.write_text(CONLL_U, encoding="utf-8")
    options = ("--columns", 2, "--tag-column", 4, "--epochs", 100, "--json", "--quiet")
    found = call("tag-train", path, "--model", model, *options).json
    assert (found["n_sentences"], found["n_tokens"]) == (2, 4)
    assert perceptron_rs.load(model).template_["positions"] == [2]
    without = CONLL_U
    for tag in ("PRON", "VERB", "PART", "SYM"):
        without = without.replace(tag, "_")
    path.write_text(without, encoding="utf-8")
    assert call("tag", model, path, "--tag-column", 4).out == CONLL_U
    words = [["it", "is", "n't"], ["#"]]
    expected = SequencePerceptron(max_iter=100)
    expected.fit(
        [column_attributes([[word] for word in s]) for s in words], [["PRON", "VERB", "PART"], ["SYM"]]
    )
    assert weights(model) == {name: array.tobytes() for name, array in expected._weights.items()}


def test_docstart_and_separators(call, stdin, tmp_path):
    path, model = tmp_path / "a.txt", tmp_path / "m"
    text = "-DOCSTART- -X- O\n\nthe  DT D\n# #   N\n\n"
    path.write_text(text, encoding="utf-8")
    found = call("tag-train", path, "--model", model, "--epochs", 100, "--json", "--quiet").json
    assert (found["n_sentences"], found["tags"]) == (1, ["D", "N"])
    stdin(b"-DOCSTART- -X-\n\nthe  DT\n# #\n")
    assert call("tag", model).out == "-DOCSTART- -X-\n\nthe  DT  D\n# # N\n\n"
    assert call("tag", model, path, "--tag-column", 3).out == text


def test_training_from_standard_input(call, stdin, tagged, tagger, tmp_path):
    stdin(tagged.read_bytes())
    assert call("tag-train", "-", "--model", tmp_path / "m", "--quiet").status == 0
    assert (tmp_path / "m").read_bytes() == tagger.read_bytes()


def test_what_is_not_given_is_left_to_the_learner():
    arguments = vars(parse(["tag-train", "x", "--model", "m"]))
    assert not {"max_iter", "averaged", "shuffle", "update", "min_count"} & set(arguments)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX pipes")
def test_a_coprocess_gets_the_answer_to_a_sentence(tagger):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command("tag", tagger), env=environment(), text=True, bufsize=1, **pipes) as child:
        for word, tag in (("the", "D"), ("dogs", "N")):
            child.stdin.write(f"{word}\n\n")  # and nothing more until the answer is there
            child.stdin.flush()
            assert [child.stdout.readline() for _ in range(2)] == [f"{word}\t{tag}\n", "\n"]
        child.stdin.close()
        assert child.wait(timeout=60) == 0
