"""``tag-train`` that goes on, that streams, and whose models are reproduced."""

import signal

import numpy as np
import pytest

from perceptron_rs import load, load_predictor
from perceptron_rs.io.sentences import batched
from perceptron_rs.models import describe
from perceptron_rs.stream.run import StreamRun

rng = np.random.default_rng(5)
WORDS = np.array(["the", "a", "dog", "cat", "barks", "sees", "old"])
TAG = dict(zip(WORDS.tolist(), ["D", "D", "N", "N", "V", "V", "A"], strict=True))


def text(n, seed=0, *, tag_first=False):
    draw = np.random.default_rng(seed)
    sentences = [draw.choice(WORDS, draw.integers(1, 6)).tolist() for _ in range(n)]
    tags = [[TAG[word] if draw.random() < 0.9 else "N" for word in words] for words in sentences]
    lines = [
        "".join("\t".join(pair[:: -1 if tag_first else 1]) + "\n" for pair in zip(*both, strict=True))
        for both in zip(sentences, tags, strict=True)
    ]
    return "\n".join(lines)


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text(text(80))
    return path


FOUR = ("--epochs", 4, "--quiet")


def same(a, b):
    left, right = load(a), load(b)
    return left.coef_.tobytes() == right.coef_.tobytes() and vars(left.encoder_) == vars(right.encoder_)


def test_a_stream_has_the_model_of_all_sentences_at_once(call, data, tmp_path):
    whole, streamed, options = tmp_path / "whole", tmp_path / "streamed", ("--min-count", 3)
    told = call("tag-train", data, "--no-shuffle", "--model", whole, "--json", *FOUR, *options).json
    kept = ("--stream", "--block-size", 7, "--cache", tmp_path / "cache")
    found = call("tag-train", data, *kept, "--model", streamed, "--json", *FOUR, *options).json
    names = set(told) - {"seconds", "model", "bytes"}
    assert {name: found[name] for name in names} == {name: told[name] for name in names}
    assert same(whole, streamed)
    assert describe(whole)["digests"] == describe(streamed)["digests"]
    for model in (whole, streamed):
        answer = call("reproduce", model, data)
        assert answer.out.endswith("reproduced equal to the last bit\n"), answer


def test_a_model_goes_on(call, data, tmp_path):
    whole, first, again = (tmp_path / name for name in ("whole", "first", "again"))
    assert call("tag-train", data, "--model", whole, *FOUR).status == 0
    assert call("tag-train", data, "--model", first, "--epochs", 1, "--quiet").status == 0
    options = ("--continue", first, "--model", again, "--epochs", 3, "--quiet")
    assert call("tag-train", data, *options).status == 0
    assert same(whole, again)
    assert not load(again).warm_start
    assert call("reproduce", again, data).status == 0
    streamed = tmp_path / "streamed"
    assert (
        call("tag-train", data, "--stream", "--continue", first, "--model", streamed, "--quiet").status == 0
    )
    assert load(streamed).template_ == load(first).template_


@pytest.mark.parametrize("how", [(), ("--stream",)], ids=str)
def test_the_model_keeps_the_column_of_the_tags(call, tmp_path, how):
    """It is told once: to the training. What is told afterwards goes before."""
    path, model = tmp_path / "a.tsv", tmp_path / "m"
    path.write_text(text(40, tag_first=True))
    column = ("--tag-column", 1)
    assert call("tag-train", path, *column, *how, "--columns", "2", "--model", model, *FOUR).status == 0
    assert load(model).template_["tag"] == 1
    assert "columns 2; tag in column 1\n" in call("inspect", model).out
    for again in ((), column):
        assert call("reproduce", model, path, *again).status == 0
        told = call("tag-evaluate", model, path, "--json", *again).json
        assert told["token_accuracy"] > 0.8
    assert call("reproduce", model, path, "--tag-column", 2).status == 1
    more = ("--continue", model, "--model", tmp_path / "more", "--epochs", 2, "--quiet")
    assert call("tag-train", path, *how, *more).status == 0
    assert load(tmp_path / "more").template_ == load(model).template_
    assert call("reproduce", tmp_path / "more", path).status == 0
    found = call("tag", model, path).out.splitlines()
    assert [line.split("\t")[1:] for line in found[:-1] if line] == [
        line.split("\t")[1:] for line in path.read_text().splitlines() if line
    ]
    assert sum(a == b for a, b in zip(found, path.read_text().splitlines(), strict=False)) > 100


def test_a_file_none_of_whose_tags_is_known_is_refused(refused, call, data, tmp_path):
    model, other = tmp_path / "m", tmp_path / "b.tsv"
    assert call("tag-train", data, "--model", model, *FOUR).status == 0
    other.write_text("the\tdet\ndog\tnoun\n\nbarks\tverb\n")
    said = refused("tag-evaluate", model, other)
    assert "none of its tags is known to the model, 'det' first" in said
    assert "name that by --tag-column" in said
    other.write_text("the\tD\ndog\tnoun\n")
    assert call("tag-evaluate", model, other, "--json").json["token_errors"] >= 1


def test_a_stream_tells_how_many_sentences_there_are(call, tmp_path, monkeypatch):
    """Also where all of them come out of a cache, and not how many were read in an epoch that was cut."""
    path = tmp_path / "a.tsv"
    path.write_text("the\tD\ndog\tN\n\n" * 30)
    monkeypatch.setattr(batched, "__defaults__", (2,))
    argv = ("tag-train", path, "--stream", "--model", tmp_path / "m", "--quiet", "--json", "--block-size", 10)
    cached = ("--hash-columns", 64, "--cache", tmp_path / "cache", "--epochs", 2)
    answers = [call(*argv, *cached) for _ in range(2)]
    seen = StreamRun.epoch

    def cut(self, number):
        self.see = lambda _: signal.raise_signal(signal.SIGINT)
        return seen(self, number)

    monkeypatch.setattr(StreamRun, "epoch", cut)
    answers.append(call(*argv, "--keep-on-interrupt"))
    assert [answer.status for answer in answers] == [0, 0, 130]
    assert [(answer.json["n_sentences"], answer.json["n_tokens"]) for answer in answers] == [(30, 60)] * 3


def test_tags_that_are_alike_are_named_and_odd_tokens_refused(call, tmp_path):
    (tmp_path / "a.tsv").write_text("a\tX\nb\t X\nc\t1.0\nd\t1\ne\tO\n\n" * 3)
    answer = call("tag-train", tmp_path / "a.tsv", "--model", tmp_path / "m", "--quiet")
    assert "alike     ' X' and 'X', '1' and '1.0' differ in blanks, case or decimals alone" in answer.out
    answer = call("tag-train", tmp_path / "a.tsv", "--model", tmp_path / "m", "--json", "--quiet")
    assert answer.json["labels_alike"] == [[" X", "X"], ["1", "1.0"]]
    for model in (load(tmp_path / "m"), load_predictor(tmp_path / "m")):
        for token in (None, b"bias", 3, ["word"], {"word": 1}):
            with pytest.raises(TypeError, match=r"sequence 0 of X holds .*, which are no attributes of this"):
                model.predict([[token]])
        assert model.predict([[frozenset({"bias"})]]) == model.predict([[["bias"]]])
