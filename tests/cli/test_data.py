"""What is wrong with a file of examples is said in one line, which names it; labels may be in another file.

What else archives of arrays must hold, and that every format gives the model of Python, is in
``tests/io/test_examples.py``.
"""

import gzip

import numpy as np
import pytest

from perceptron_rs import Perceptron, load

from .support import X, Y

FILES = [
    ("a.svm", b"", "the file is empty"),
    ("a.npz", b"", "the file is empty"),
    ("a.svm.gz", gzip.compress(b"", mtime=0), "no examples in "),
    ("a.svm", b"# nothing\n\n", "no examples in "),
    ("a.npz", b"no archive", ""),
    ("a.npy", b"\x93NUMPY\x01\x00", ""),
]
ARCHIVES = [
    ({"X": X}, "contains no labels; pass them with --labels FILE.npy"),
    ({"X": np.where(X == 4, np.inf, X), "y": Y}, "infinity"),
]
BESIDE = [
    ("few.npy", "5 labels for the 6 examples"),
    ("matrix.npy", "one array of one dimension"),
    ("y.txt", "labels must be in a .npy file"),
    ("no.npy", "no such file"),
    ("objects.npy", "holds Python objects, which are not read"),
]


@pytest.mark.parametrize(("name", "content", "text"), FILES)
def test_bad_files(refused, tmp_path, name, content, text):
    (tmp_path / name).write_bytes(content)
    line = refused("train", tmp_path / name, "--model", tmp_path / "m")
    assert str(tmp_path / name) in line
    assert text in line
    assert not (tmp_path / "m").exists()


def test_no_file_and_a_folder(refused, tmp_path):
    out = ("--model", tmp_path / "m")
    assert refused("train", tmp_path / "a.svm", *out) == f"{tmp_path}/a.svm: no such file or directory"
    (tmp_path / "b.svm").mkdir()
    assert "b.svm: is a folder without files" in refused("train", tmp_path / "b.svm", *out)


@pytest.mark.parametrize(("arrays", "text"), ARCHIVES, ids=[text[:20] for _, text in ARCHIVES])
def test_bad_archives(refused, tmp_path, arrays, text):
    np.savez(tmp_path / "a.npz", **arrays)
    assert text in refused("train", tmp_path / "a.npz", "--model", tmp_path / "m")


@pytest.mark.parametrize(("name", "text"), BESIDE)
def test_bad_labels_beside(refused, text_file, tmp_path, name, text):
    for file, labels in (("few", Y[:5]), ("objects", Y.astype(object)), ("matrix", Y.reshape(2, 3))):
        np.save(tmp_path / f"{file}.npy", labels)
    (tmp_path / "y.txt").write_text("1\n")
    line = refused("train", text_file, "--model", tmp_path / "m", "--labels", tmp_path / name)
    assert line.startswith(f"{tmp_path}/{name}: ")
    assert text in line


def test_labels_beside(call, text_file, tmp_path):
    np.save(tmp_path / "y.npy", np.where(Y > 0, "späm", "ham"))
    beside = ("--labels", tmp_path / "y.npy")
    argv = ("train", text_file, "--model", tmp_path / "m", *beside, "--class-weight", "späm=2", "--json")
    assert call(*argv).json["classes"] == ["ham", "späm"]
    answers = call("predict", tmp_path / "m", text_file).out.split()
    assert answers == ["späm" if label > 0 else "ham" for label in Y]
    assert call("evaluate", tmp_path / "m", text_file, *beside, "--json").json["accuracy"] == 1


def test_a_type_that_numpy_forgets(refused, call, tmp_path):
    """What it writes of bfloat16 comes back as bytes without a type; the remedy works."""
    rows = X.astype(pytest.importorskip("ml_dtypes").bfloat16)
    np.save(tmp_path / "y.npy", Y)
    np.save(tmp_path / "X.npy", rows)
    argv = ("train", tmp_path / "X.npy", "--labels", tmp_path / "y.npy", "--model", tmp_path / "m")
    assert "save X.astype(numpy.float32), which holds the same numbers" in refused(*argv)
    np.save(tmp_path / "X.npy", rows.astype(np.float32))
    assert call(*argv, "--quiet").status == 0
    assert load(tmp_path / "m").coef_.tobytes() == Perceptron().fit(rows, Y).coef_.tobytes()
