"""``--max-ratio``: how many times its size gzip data may unpack to, in every reader of the command line."""

from __future__ import annotations

import gzip

import pytest

from perceptron_rs.cli.options import parser
from perceptron_rs.io.text import compression

TEXTS = {
    "svm": b"1 1:1\n0 2:1\n" * 8_000,
    "csv": b"a,b,y\n" + b"1,0,1\n0,1,0\n" * 8_000,
    "txt": b"spam\tbuy\nham\thello\n" * 8_000,
    "conll": b"the\tD\ndog\tN\n\n" * 8_000,
}
TRAIN = {
    "svm": ["train", "--stream", "--epochs", 1],
    "csv": ["train", "--epochs", 1],
    "txt": ["train", "--text", "--epochs", 1],
    "conll": ["tag-train", "--epochs", 1],
}
USE = {
    "svm": [["predict"], ["reproduce"]],
    "csv": [["predict"]],
    "txt": [["predict"]],
    "conll": [["tag", "--tag-column", 2], ["tag-evaluate"], ["reproduce"]],
}
REFUSED = "unpacks to more than {} times its size"


@pytest.fixture(autouse=True)
def _even_small_files(monkeypatch):
    monkeypatch.setattr(compression, "_SMALL", 1 << 12)


@pytest.mark.parametrize("form", TEXTS)
def test_every_reader_takes_the_bound(form, call, refused, tmp_path):
    path, model = tmp_path / f"a.{form}.gz", tmp_path / "a.model"
    path.write_bytes(gzip.compress(TEXTS[form], mtime=0))
    name, *options = TRAIN[form]
    train = [name, path, *options, "--model", model, "--quiet"]
    assert REFUSED.format(250) in refused(*train)
    assert REFUSED.format(260) in refused(*train, "--max-ratio", 260)
    assert not model.exists()
    assert call(*train, "--max-ratio", "inf").status == 0
    for command in USE[form]:
        words = [*command, model, path, "--quiet"]
        assert REFUSED.format(260) in refused(*words, "--max-ratio", 260), command
        assert call(*words, "--max-ratio", "2000").status == 0, command


def test_a_cache_does_not_depend_on_the_bound(call, text_file, tmp_path):
    words = ["train", text_file, "--stream", "--cache", tmp_path / "a.cache", "--model", tmp_path / "m"]
    assert call(*words, "--quiet").status == 0
    made = (tmp_path / "a.cache").stat()
    assert call(*words, "--quiet", "--max-ratio", 9).status == 0
    assert (tmp_path / "a.cache").stat().st_mtime_ns == made.st_mtime_ns


def test_help_says_the_default():
    (commands,) = (action.choices for action in parser()._actions if action.dest == "command")
    for name in ("separable", "predict", "tag"):
        said = " ".join(commands[name].format_help().split())
        assert "--max-ratio X" in said
        assert f"inf for no limit ({compression.MAX_RATIO:g})" in said
