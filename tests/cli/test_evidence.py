"""The command that writes what was reproduced; and keys of digests, or none, on the command line."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

from perceptron_rs import ARITHMETIC_VERSION, __version__, _core, digest, load
from perceptron_rs.models import describe

from .support import X, Y, svmlight


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(name="data")
def fixture_data(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text(svmlight(X, Y))
    return path


@pytest.fixture(name="trained")
def fixture_trained(call, data, tmp_path):
    def run(*options):
        assert call("train", "averaged", data, "--model", tmp_path / "m", "--quiet", *options).status == 0
        return tmp_path / "m"

    return run


def test_what_evidence_says(call, trained, data, tmp_path):
    model = trained()
    answer = call("evidence", model, data)
    assert answer.status == 0
    found = json.loads(answer.out)
    assert found["verdict"] == {"equal": True, "reason": None, "message": "equal to the last bit"}
    own = digest(load(model))
    description = describe(model)
    names = ("format_version", "written_by", "arithmetic_version", "calls")
    assert found["model"] == {name: description[name] for name in names} | {
        "starts_from_weights": False,
        "file": "m",
        "bytes": model.stat().st_size,
        "sha256": sha256(model),
        "estimator": "AveragedPerceptron",
        "digest": own,
        "digest_again": own,
    }
    assert found["data"] == [{"file": "a.svm", "bytes": data.stat().st_size, "sha256": sha256(data)}]
    assert found["digests"] == describe(model)["digests"]
    run = found["run"]
    assert run["arithmetic_version"] == ARITHMETIC_VERSION
    assert (run["engine"], run["perceptron_rs"]) == ("rust", __version__)
    assert run["instruction_set"] in _core._instruction_sets()
    assert run["libraries"]["numpy"] == np.__version__
    assert len(run["compiled_module"]["sha256"]) == 64
    assert all(run[name] for name in ("python", "processor", "machine", "system"))
    assert found["time"]["begun"].endswith("+00:00")


def test_a_file_and_the_other_engine(call, trained, data, tmp_path):
    answer = call("evidence", trained(), data, "--engine", "reference", "--out", tmp_path / "e.json")
    assert (answer.status, answer.out) == (0, "reproduced equal to the last bit\n")
    run = json.loads((tmp_path / "e.json").read_text())["run"]
    assert (run["engine"], run["instruction_set"]) == ("reference", None)


def test_other_data_is_evidence_too(call, trained, data):
    model = trained()
    data.write_text(svmlight(X, Y[::-1]))
    answer = call("evidence", model, data)
    assert answer.status == 1
    found = json.loads(answer.out)
    assert (found["verdict"]["equal"], found["verdict"]["reason"]) == (False, "data")
    assert found["model"]["digest_again"] is None
    assert found["data"][0]["sha256"] == sha256(data)


def test_what_evidence_cannot_be_of(call, trained, data, tmp_path):
    model = trained()
    assert "name one" in call("evidence", model, "-").err
    assert "--out" in call("evidence", model, data, "--out", tmp_path).err
    text = tmp_path / "text"
    text.write_text("a\tD\nb\tN\n\n" * 3)
    assert call("tag-train", text, "--model", tmp_path / "t", "--quiet").status == 0
    assert json.loads(call("evidence", tmp_path / "t", text).out)["verdict"]["equal"]


def test_without_audit(call, trained, data):
    model = trained("--no-audit")
    assert "digests" not in describe(model)
    answer = call("evidence", model, data)
    assert answer.status == 0
    assert json.loads(answer.out)["digests"] is None
    assert (
        "no effect with --no-audit"
        in call("train", data, "--model", model, "--no-audit", "--audit-key", "x").err
    )


@pytest.mark.parametrize("stream", [(), ("--stream",)])
def test_a_key(call, trained, data, stream, tmp_path):
    key, other = tmp_path / "key", tmp_path / "other"
    key.write_text("0f" * 32 + "\n")
    other.write_bytes(bytes(32))
    model = trained("--audit-key", key, *stream)
    assert describe(model)["digests"]["key"] is not None
    assert call("reproduce", model, data, "--audit-key", key).status == 0
    assert json.loads(call("evidence", model, data, "--audit-key", key).out)["verdict"]["equal"]
    for options, text in (
        ((), f"--audit-key: the digests of {model} have a key; name its file"),
        (("--audit-key", other), f"--audit-key: the digests of {model} have another key; name its file"),
        (("--audit-key", data), f"--audit-key {data} must hold 32 bytes"),
        (("--audit-key", tmp_path / "none"), "none"),
    ):
        answer = call("reproduce", model, data, *options)
        assert answer.status == 1
        assert text in answer.err
    goes_on = ("train", "averaged", data, "--model", tmp_path / "n", "--continue", model, "--quiet")
    answer = call(*goes_on)
    assert "--audit-key: the model goes on from one whose digests have another key" in answer.err
    assert call(*goes_on, "--audit-key", key).status == 0
    assert call("reproduce", tmp_path / "n", data, "--audit-key", key).status == 0
    plain = trained()
    assert "have no key; leave it out" in call("reproduce", plain, data, "--audit-key", key).err


def test_learning_online(call, trained, data, tmp_path):
    key = tmp_path / "key"
    key.write_bytes(bytes(range(32)))
    model, out = trained("--audit-key", key), tmp_path / "o"
    answer = call("online", model, data, "--save", out)
    assert "the model goes on from one whose digests have another key; name its file" in answer.err
    assert call("online", model, data, "--save", out, "--audit-key", key).status == 0
    assert [call["method"] for call in describe(out)["calls"]] == ["fit", "partial_fit"]
    assert call("online", model, data, "--save", out, "--no-audit").status == 0
    assert "calls" not in describe(out)


def test_taggers(call, tmp_path):
    text, key = tmp_path / "text", tmp_path / "key"
    text.write_text("a\tD\nb\tN\n\n" * 3)
    key.write_bytes(bytes(range(32)))
    for options, has_digests in ((("--no-audit",), False), (("--audit-key", key), True)):
        assert call("tag-train", text, "--model", tmp_path / "t", "--quiet", *options).status == 0
        assert ("digests" in describe(tmp_path / "t")) == has_digests
    assert call("reproduce", tmp_path / "t", text, "--audit-key", key).status == 0
