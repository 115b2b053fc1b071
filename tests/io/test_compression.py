"""Gzip files that unpack to more than is plausible: every reader refuses them unless somebody says so."""

from __future__ import annotations

import gzip
import io

import numpy as np
import pytest

from perceptron_rs import Perceptron, SequencePerceptron
from perceptron_rs.features import column_attributes
from perceptron_rs.io import load_svmlight, open_csv, open_lines, open_sentences, open_svmlight
from perceptron_rs.io.options import FileOptions
from perceptron_rs.io.text import opening as compression
from perceptron_rs.parameters.groups import options

LINES = 12_000
TEXTS = {
    "svm": b"1 1:1\n0 2:1\n" * (LINES // 2),
    "csv": b"a,b,y\n" + b"1,0,1\n0,1,0\n" * (LINES // 2),
    "tsv": b"the\tD\ndog\tN\n\n" * (LINES // 2),
    "txt": b"spam\tbuy\nham\thello\n" * (LINES // 2),
}
READERS = {
    "svm": lambda path, **more: Perceptron(max_iter=1).fit_stream(open_svmlight(path, **more)),
    "csv": lambda path, **more: Perceptron(max_iter=1).fit_stream(open_csv(path, target="y", **more)),
    "tsv": lambda path, **more: SequencePerceptron(max_iter=1).fit_stream(
        open_sentences(path, attributes=column_attributes, **more)
    ),
    "txt": lambda path, **more: Perceptron(max_iter=1).fit_stream(open_lines(path, **more)),
}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("form", READERS)
def test_a_bound_on_the_ratio_of_each_reader(form, tmp_path, monkeypatch):
    monkeypatch.setattr(compression, "_SMALL", 1 << 14)
    path = tmp_path / f"a.{form}.gz"
    path.write_bytes(gzip.compress(TEXTS[form], mtime=0))
    ratio = len(TEXTS[form]) / path.stat().st_size
    assert ratio > 300
    with pytest.raises(ValueError, match=rf"a\.{form}\.gz: unpacks to more than 250 times its size"):
        READERS[form](path)
    with pytest.raises(ValueError, match=r"unpacks to more than 10 times its size.*raise max_ratio"):
        READERS[form](path, max_ratio=10)
    assert READERS[form](path, max_ratio=2000).n_iter_ == 1
    with pytest.raises(ValueError, match="max_ratio must be a number above 1, got 'much'"):
        READERS[form](path, max_ratio="much")


def test_help_says_the_usual_bound():
    said = {option.parameter: option.help for option in options(FileOptions)}["max_ratio"]
    assert said.endswith(f"({compression.MAX_RATIO:g})")


def test_a_whole_file(tmp_path):
    path = tmp_path / "a.svm.gz"
    text = b"1 1:1\n" * 4_000_000
    path.write_bytes(gzip.compress(text, 1, mtime=0))
    assert len(text) > compression._SMALL  # as in the core
    ratio = int(len(text) / path.stat().st_size / 4)
    with pytest.raises(
        ValueError, match=rf"a\.svm\.gz: unpacks to more than {ratio} times its size.*max_ratio"
    ):
        load_svmlight(path, max_ratio=ratio)
    assert load_svmlight(path, max_ratio=np.inf)[0].shape == (4_000_000, 1)
    with pytest.raises(ValueError, match="max_ratio must be a number above 1, got 0"):
        load_svmlight(path, max_ratio=0)


def test_16_mib_may_be_packed_as_tightly_as_they_like(tmp_path):
    """To the byte, and the same in the core and in Python."""
    path, begin = tmp_path / "a.svm.gz", b"1 1:1\n" * (2**24 // 6)
    packed_size = 0
    for _ in range(9):  # the length decides how many bytes the packed text has, which the length depends on
        text = begin.ljust(2**24 + 2 * packed_size, b"#")
        data = gzip.compress(text, mtime=0)
        if len(data) == packed_size:
            break
        packed_size = len(data)
    assert len(data) == packed_size == len(gzip.compress(text + b"#", mtime=0))
    path.write_bytes(data)
    assert load_svmlight(path, max_ratio=2)[0].shape == (2**24 // 6, 1)
    assert compression.decompressed(io.BytesIO(data), 2, name="a").readall() == text
    path.write_bytes(gzip.compress(text + b"#", mtime=0))
    with pytest.raises(ValueError, match="unpacks to more than 2 times its size"):
        load_svmlight(path, max_ratio=2)
    with pytest.raises(ValueError, match="unpacks to more than 2 times its size"):
        compression.decompressed(io.BytesIO(path.read_bytes()), 2, name="a").readall()


def test_what_is_unpacked_is_what_was_packed():
    text = b"".join(b"%d:%d\n" % (i, i * i) for i in range(30_000))
    halves = gzip.compress(text[:9999], mtime=0) + gzip.compress(text[9999:], mtime=0)
    assert compression.decompressed(io.BytesIO(halves), name="a").readall() == text
    file = io.BufferedReader(compression.decompressed(io.BytesIO(halves), name="a"))
    assert file.seek(12_345) == 12_345
    assert file.read(5) == text[12_345:12_350]
    assert file.tell() == 12_350
    with pytest.raises(io.UnsupportedOperation, match="from its beginning to its end"):
        file.raw.seek(0)


def test_what_has_come_is_given_at_once():
    """Half of a file that is not over, as of a pipe whose writer waits for an answer."""
    packer = gzip.zlib.compressobj(wbits=31)
    begin = packer.compress(b"first\n") + packer.flush(gzip.zlib.Z_SYNC_FLUSH)

    come = io.BytesIO(begin)

    class Pipe(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, buffer):
            n = come.readinto(buffer)
            assert n, "it would wait for ever"
            return n

    assert compression.decompressed(io.BufferedReader(Pipe()), name="a").read(100) == b"first\n"


@pytest.mark.parametrize("data", [b"no gzip", gzip.compress(b"a" * 99, mtime=0)[:-9]])
def test_damage_is_said_in_words_that_name_the_file(tmp_path, data):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"a\.csv\.gz: the gzip data (ends early|is damaged)"):
        open_csv(path, target="y")


def test_one_that_cannot_be_made_can_be_closed():
    """As the interpreter does, which since Python 3.13 tells of errors there."""

    class Broken(io.BytesIO):
        def read1(self, size=-1, /):
            raise OSError(5, "a broken disk")

    for file, error in ((Broken(), OSError), (io.BytesIO(b"1 1:1\n"), ValueError)):
        half = compression.Unpacked.__new__(compression.Unpacked)
        with pytest.raises(error):
            half.__init__(file, "a.svm.gz", 250.0, owns=True)
        half.close()
        assert not file.closed  # which is for who has opened it
