"""``--max-ratio``: how many times its size gzip data may unpack to, of examples and of sentences.

That every reader takes it is in ``tests/io/test_compression.py``.
"""

import gzip

import pytest

from perceptron_rs.io.text import opening as compression

CASES = {
    "train --stream": (b"1 1:1\n0 2:1\n" * 8_000, "a.svm", ("predict", "reproduce")),
    "tag-train": (
        b"the\tD\ndog\tN\n\n" * 8_000,
        "a.tsv",
        ("tag --tag-column 2", "tag-evaluate", "reproduce"),
    ),
}
REFUSED = "unpacks to more than {} times its size"


@pytest.mark.parametrize("train", CASES)
def test_every_reader_takes_the_bound(train, call, refused, tmp_path, monkeypatch):
    monkeypatch.setattr(compression, "_SMALL", 1 << 12)
    text, name, others = CASES[train]
    path, model = tmp_path / f"{name}.gz", tmp_path / "a.model"
    path.write_bytes(gzip.compress(text, mtime=0))
    words = (*train.split(), path, "--epochs", 1, "--model", model, "--quiet")
    assert REFUSED.format(250) in refused(*words)
    assert REFUSED.format(260) in refused(*words, "--max-ratio", 260)
    assert not model.exists()
    assert call(*words, "--max-ratio", "inf").status == 0
    for command in others:
        argv = (*command.split(), model, path, "--quiet")
        assert REFUSED.format(260) in refused(*argv, "--max-ratio", 260), command
        assert call(*argv, "--max-ratio", "2000").status == 0, command


def test_a_cache_does_not_depend_on_the_bound(call, text_file, tmp_path):
    words = ["train", text_file, "--stream", "--cache", tmp_path / "a.cache", "--model", tmp_path / "m"]
    assert call(*words, "--quiet").status == 0
    made = (tmp_path / "a.cache").stat()
    assert call(*words, "--quiet", "--max-ratio", 9).status == 0
    assert (tmp_path / "a.cache").stat().st_mtime_ns == made.st_mtime_ns
