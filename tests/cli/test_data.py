"""What is wrong with a file of examples is said in one line, which names it; labels may be in another file.

What files must hold is in ``tests/io``.
"""

import gzip

import numpy as np
import pytest

from .support import X, Y

FILES = [
    ("a.svm.gz", gzip.compress(b"", mtime=0), "no examples in "),
    ("a.npz", b"no archive", ""),
    ("a.svm", None, "no such file or directory"),
]
BESIDE = [
    ("few.npy", "5 labels for the 6 examples"),
    ("y.txt", "labels must be in a .npy file"),
    ("no.npy", "no such file"),
]


@pytest.mark.parametrize(("name", "content", "text"), FILES)
def test_bad_files(refused, tmp_path, name, content, text):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    line = refused("train", tmp_path / name, "--model", tmp_path / "m")
    assert str(tmp_path / name) in line
    assert text in line
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(("name", "text"), BESIDE)
def test_bad_labels_beside(refused, text_file, tmp_path, name, text):
    np.save(tmp_path / "few.npy", Y[:5])
    (tmp_path / "y.txt").write_text("1\n")
    line = refused("train", text_file, "--model", tmp_path / "m", "--labels", tmp_path / name)
    assert line.startswith(f"{tmp_path}/{name}: ")
    assert text in line


def test_labels_beside(call, refused, text_file, tmp_path):
    np.save(tmp_path / "y.npy", np.where(Y > 0, "späm", "ham"))
    beside = ("--labels", tmp_path / "y.npy")
    argv = ("train", text_file, "--model", tmp_path / "m", *beside, "--class-weight", "späm=2", "--json")
    assert call(*argv).json["classes"] == ["ham", "späm"]
    answers = call("predict", tmp_path / "m", text_file).out.split()
    assert answers == ["späm" if label > 0 else "ham" for label in Y]
    assert call("evaluate", tmp_path / "m", text_file, *beside, "--json").json["accuracy"] == 1
    np.savez(tmp_path / "a.npz", X=X)
    said = refused("train", tmp_path / "a.npz", "--model", tmp_path / "m")
    assert said.endswith("a.npz: contains no labels; pass them with --labels FILE.npy")
