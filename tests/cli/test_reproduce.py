"""``reproduce``: a model trained again, and keys of digests.

What is found to differ, and how it is said, is in ``tests/audit``.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from perceptron_rs import Perceptron, load
from perceptron_rs.models import describe

from .support import X, Y, svmlight

TOKENS = "a\tD\nb\tN\n\n" * 3


@pytest.fixture(name="data")
def fixture_data(tmp_path):
    (tmp_path / "a.svm").write_text(svmlight(X, Y))
    (tmp_path / "text").write_text(TOKENS)
    return tmp_path / "a.svm"


@pytest.fixture(name="trained")
def fixture_trained(call, data, tmp_path):
    def run(*options, command=("train", "averaged"), data=data):
        assert call(*command, data, "--model", tmp_path / "m", "--quiet", *options).status == 0
        return tmp_path / "m"

    return run


@pytest.fixture(name="keys")
def fixture_keys(tmp_path):
    """Two keys."""
    (tmp_path / "key").write_text("0f" * 32 + "\n")
    (tmp_path / "other").write_bytes(bytes(32))
    return tmp_path / "key", tmp_path / "other"


def test_what_it_says(call, trained, data):
    model = trained()
    lines = [line.split(maxsplit=1) for line in call("reproduce", model, data).out.splitlines()]
    assert [first for first, _ in lines] == ["model", "again", "reproduced"]
    assert (lines[0][1], lines[2][1]) == (lines[1][1], "equal to the last bit")
    assert call("reproduce", model, data, "--engine", "reference", "--json").json["equal"] is True
    data.write_text(svmlight(X, Y[::-1]))
    answer = call("reproduce", model, data)
    assert answer.status == 1
    assert answer.out.splitlines()[-1].startswith("different  other data: ")
    assert call("reproduce", model, data, "--json").json["digest_again"] is None


def test_a_tagger(call, trained, tmp_path):
    model = trained(command=("tag-train",), data=tmp_path / "text")
    assert call("reproduce", model, tmp_path / "text", "--json").json["equal"]


@pytest.mark.parametrize("options", [("standard",), ("maxabs", "--stream")])
def test_another_scale(call, trained, data, options):
    """Also of a column that is 0 in all examples, which no run would show."""
    data.write_text(svmlight(np.column_stack([np.zeros(len(X)), X]), Y))
    path = trained("--scale", *options)
    assert call("reproduce", path, data).status == 0
    model = load(path)
    scale = model.recipe_.scale
    model.recipe_ = replace(model.recipe_, scale=replace(scale, scale=(9.0, *scale.scale[1:])))
    model.save(path)
    answer = call("reproduce", path, data)
    text = f"the scale of column 0 is 9.0 in the model, and that of the data is {scale.scale[0]!r}"
    assert (answer.status, text in answer.out) == (1, True)
    assert "can be read only once" in call("reproduce", path, "-").err


@pytest.mark.parametrize("stream", [(), ("--stream",)])
def test_a_key(call, refused, trained, data, stream, keys, tmp_path):
    key, other = keys
    plain = trained().rename(tmp_path / "plain")
    model, goes_on = (
        trained("--audit-key", key, *stream),
        ("train", "averaged", data, "--quiet", "--continue"),
    )
    assert describe(model)["digests"]["key"] is not None
    assert call("reproduce", model, data, "--audit-key", key).status == 0
    more = (*goes_on, model, "--model", tmp_path / "n")
    assert call(*more, "--audit-key", key).status == 0
    assert call("reproduce", tmp_path / "n", data, "--audit-key", key).status == 0
    again, keyed = ("reproduce", model, data), "the digests of the model have a key; give that one"
    for argv, status, text in (
        (again, 2, f"--audit-key: {keyed}"),
        ((*again, "--audit-key", other), 1, "the digests of the model have another key; give that one"),
        ((*again, "--audit-key", data), 1, f"--audit-key {data} must hold 32 bytes"),
        ((*again, "--audit-key", tmp_path / "none"), 1, "none"),
        (("reproduce", plain, data, "--audit-key", key), 2, "have no key; leave it out"),
        (more, 2, f"{keyed}, or set --no-audit"),
        (("online", model, data, "--save", tmp_path / "o"), 2, f"{keyed}, or set --no-audit"),
    ):
        assert text in refused(*argv, status=status)


def test_without_digests_and_online(call, refused, trained, data, keys, tmp_path):
    model = trained("--no-audit")
    assert "digests" not in describe(model)
    model, out = trained("--audit-key", keys[0]), tmp_path / "o"
    assert call("online", model, data, "--save", out, "--audit-key", keys[0]).status == 0
    assert [call["method"] for call in describe(out)["calls"]] == ["fit", "partial_fit"]
    assert call("online", model, data, "--save", out, "--no-audit").status == 0
    assert "calls" not in describe(out)
    for argv in (("train", "averaged", data, "--continue", out), ("online", out, data, "--save", tmp_path)):
        more = ("--model", tmp_path / "n") if argv[0] == "train" else ()
        said = refused(*argv, *more, "--audit-key", keys[0], status=2)
        assert said == "--audit-key has no effect: the model goes on from one without a record"
    tags = {"command": ("tag-train",), "data": tmp_path / "text"}
    assert "digests" not in describe(trained("--no-audit", **tags))
    tagger = trained("--audit-key", keys[0], **tags)
    assert call("reproduce", tagger, tmp_path / "text", "--audit-key", keys[0]).status == 0


def test_a_model_without_a_seed_says_so(refused, data, tmp_path):
    Perceptron(random_state=None).fit(X, Y).save(tmp_path / "m")
    said = refused("reproduce", tmp_path / "m", data)
    assert said == "--seed none must be an integer, or no training can be repeated; give --seed 0 to train"
