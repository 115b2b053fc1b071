"""Every reader of text opens it alike: compressed or not, with a byte order mark, or in another encoding."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import threading

import numpy as np
import pytest

from perceptron_rs import Perceptron, SequencePerceptron
from perceptron_rs.features import column_attributes
from perceptron_rs.io import load_svmlight, open_csv, open_sentences, open_svmlight
from perceptron_rs.io.text import opening as compression
from perceptron_rs.io.text.opening import open_text
from perceptron_rs.models.comparison import digest

TEXTS = {
    "svm": "# é\n1 1:1\n0 2:1 # ß\n" * 3,
    "csv": "é,b,y\n" + "1,0,ja\n0,1,né\n" * 3,
    "tsv": "thé\tD\ndog\tN\n\n" * 3,
}
READERS = {
    "svm": lambda path, **more: Perceptron(max_iter=2).fit_stream(open_svmlight(path, **more)),
    "whole": lambda path, **more: Perceptron(max_iter=2).fit(*load_svmlight(path, **more)),
    "csv": lambda path, **more: Perceptron(max_iter=2).fit_stream(open_csv(path, target="y", **more)),
    "tsv": lambda path, **more: SequencePerceptron(max_iter=2).fit_stream(
        open_sentences(path, attributes=column_attributes, **more)
    ),
}
PACK = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, "": bytes}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def text_of(form):
    return TEXTS["svm" if form == "whole" else form]


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("form", READERS)
def test_packed_files_and_a_byte_order_mark(tmp_path, form, suffix):
    plain = tmp_path / f"plain.{form}"
    plain.write_text(text_of(form), encoding="utf-8")
    expected = READERS[form](plain)
    path = tmp_path / f"a.{form}{suffix}"
    for text in (text_of(form), "\ufeff" + text_of(form)):
        path.write_bytes(PACK[suffix](text.encode()))
        found = READERS[form](path)
        assert digest(found) == digest(expected)
        assert found.classes_.tolist() == expected.classes_.tolist()
    if suffix:
        (tmp_path / "other").write_bytes(path.read_bytes())  # the name is not needed
        assert digest(READERS[form](tmp_path / "other")) == digest(expected)
        path.write_bytes(path.read_bytes()[:-9])
        with pytest.raises(ValueError, match=rf"a\.{form}{suffix}: the \w+ data ends early"):
            READERS[form](path)
        path.write_bytes(b"what is this?")
        with pytest.raises(
            ValueError, match=rf"data is damaged or none; .* drop the {suffix} if it is plain"
        ):
            READERS[form](path)


@pytest.mark.parametrize("form", READERS)
def test_other_encodings_are_refused_in_these_words(tmp_path, form):
    path = tmp_path / "a"
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
        path.write_bytes(text_of(form).encode(encoding))
        with pytest.raises(ValueError, match=r"a: is UTF-16 text, not UTF-8; .* iconv -f UTF-16 -t UTF-8"):
            READERS[form](path)
    path.write_bytes(text_of(form).encode("latin-1"))
    if form in ("svm", "whole"):  # no number holds a letter, and comments may hold anything
        assert READERS[form](path).n_iter_ == 2
        return
    with pytest.raises(ValueError, match=r"a, line 1: is not UTF-8 text but, it seems, Latin-1"):
        READERS[form](path)


@pytest.mark.parametrize("suffix", [".bz2", ".xz"])
@pytest.mark.parametrize("form", READERS)
def test_a_bound_on_the_ratio(tmp_path, monkeypatch, form, suffix):
    monkeypatch.setattr(compression, "_SMALL", 1 << 14)
    path = tmp_path / f"a{suffix}"
    path.write_bytes(PACK[suffix](text_of(form).encode() * (1 if form == "csv" else 2_000)))
    if form == "csv":
        head, _, rest = text_of(form).partition("\n")
        path.write_bytes(PACK[suffix](f"{head}\n{rest * 2_000}".encode()))
    kind = {".bz2": "bzip2", ".xz": "xz"}[suffix]
    with pytest.raises(ValueError, match=rf"unpacks to more than 250 times its size; .* no {kind} bomb"):
        READERS[form](path)
    assert READERS[form](path, max_ratio=np.inf).n_iter_ == 2


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_a_character_may_be_cut_by_a_block(size):
    text = "aé\nß€\n𝄞\n".encode()

    class Slow(io.RawIOBase):
        def __init__(self, data):
            self.rest = data

        def readable(self):
            return True

        def readinto(self, buffer):
            n = min(size, len(buffer), len(self.rest))
            buffer[:n], self.rest = self.rest[:n], self.rest[n:]
            return n

    assert open_text(io.BufferedReader(Slow(text)), name="a").read() == text
    assert open_text(io.BufferedReader(Slow(b"\xef\xbb\xbf" + text)), name="a").read() == text
    with pytest.raises(ValueError, match="a, line 4: is not UTF-8 text"):
        open_text(io.BufferedReader(Slow(text + b"\xe9\n" * 20)), name="a").read()
    with pytest.raises(ValueError, match="a: ends within a character of UTF-8"):
        open_text(io.BufferedReader(Slow(text[:-2])), name="a").read()
    with pytest.raises(ValueError, match="a: is UTF-16 text"):
        open_text(io.BufferedReader(Slow(b"1\0 \0")), name="a").read()


@pytest.mark.parametrize("form", READERS)
def test_folders_and_lists_are_read_as_one_file(tmp_path, form):
    head = "é,b,y\n" if form == "csv" else ""
    text = text_of(form).removeprefix(head)
    (tmp_path / "whole").write_text(head + text * 3, encoding="utf-8")
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, suffix in (("a", ".gz"), ("b.csv", ""), ("c", ".xz")):
        (folder / f"{name}{suffix}").write_bytes(PACK[suffix](f"{head}{text}".encode()))
    (folder / "_SUCCESS").write_text("")
    (folder / ".hidden").write_text("?")
    expected = digest(READERS[form](tmp_path / "whole"))
    for path in (folder, folder / "[abc]*", sorted(folder.glob("[abc]*"))):
        assert digest(READERS[form](path)) == expected
    (folder / "sub").mkdir()
    with pytest.raises(ValueError, match="holds the folder 'sub'; name the folder of the files themselves"):
        READERS[form](folder)


@pytest.mark.skipif(sys.platform == "win32", reason="needs named pipes")
def test_a_named_pipe_is_read_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    text = gzip.compress(text_of("svm").encode())
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(text,))
    writer.start()
    X, y = load_svmlight(tmp_path / "pipe")
    writer.join()
    assert X.shape == (6, 2)
    assert y.tolist() == [1, 0] * 3
