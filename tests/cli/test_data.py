"""DATA in every format gives the same model; what is wrong with a file is said in one line."""

import gzip

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs import Perceptron
from perceptron_rs.cli import modelfile

from .support import X, Y, svmlight

CSR = sp.csr_matrix(X)
PARTS = {"data": CSR.data, "indices": CSR.indices, "indptr": CSR.indptr, "shape": np.array(CSR.shape)}


def write(folder, form):
    """Write the examples in a form; return the arguments that name them."""
    labels = folder / "labels.npy"
    np.save(labels, Y)
    beside = ("--labels", labels)
    text = svmlight(X, Y).encode()
    match form:
        case "txt" | "SVM":
            (folder / f"a.{form}").write_bytes(text)
            return (folder / f"a.{form}",)
        case "coo":
            sp.save_npz(folder / "a.npz", CSR.tocoo())
            return (folder / "a.npz", *beside)
        case "float labels":
            np.savez(folder / "a.npz", X=X, y=Y.astype(float))
        case "X":
            np.savez(folder / "a.npz", X=X)
            return (folder / "a.npz", *beside)
        case "other labels":
            np.savez(folder / "a.npz", X=X, y=-Y)
            return (folder / "a.npz", *beside)
    return (folder / "a.npz",)


@pytest.mark.parametrize("form", ["txt", "SVM", "coo", "float labels", "X", "other labels"])
def test_every_form_gives_the_same_model(call, tmp_path, form):
    data, *options = write(tmp_path, form)
    assert call("train", data, "--model", tmp_path / "m", "--quiet", *options).status == 0
    model, expected = modelfile.load_model(tmp_path / "m"), Perceptron().fit(X, Y)
    assert model.coef_.tobytes() == expected.coef_.tobytes()
    assert (model.classes_.tolist(), model.classes_.dtype) == ([-1, 1], np.int64)
    answer = call("predict", tmp_path / "m", data, *options)
    assert answer.out.split() == [str(label) for label in expected.predict(X)]


def test_predict_needs_no_labels(call, model, tmp_path):
    np.save(tmp_path / "a.npy", X)
    np.savez(tmp_path / "b.npz", X=X)
    for name in ("a.npy", "b.npz"):
        assert call("predict", model, tmp_path / name).out.split() == [str(label) for label in Y]


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("a.svm", b"", "the file is empty"),
        ("a.npz", b"", "the file is empty"),
        ("a.svm.gz", gzip.compress(b"", mtime=0), "example"),
        ("a.svm", b"# nothing\n\n", "example"),
        ("a.npz", b"no archive", ""),
        ("a.npy", b"\x93NUMPY\x01\x00", ""),
        ("a.arff", b"x", "unknown suffix '.arff'; the suffix must be one of .svm,"),
        ("a", b"x", "unknown suffix ''"),
        (
            "a.npz.gz",
            b"x",
            "only .svm, .libsvm, .svmlight, .txt, .csv, .tsv, .jsonl, .ndjson may be compressed",
        ),
    ],
)
def test_bad_files(refused, tmp_path, name, content, text):
    path = tmp_path / name
    path.write_bytes(content)
    line = refused("train", path, "--model", tmp_path / "m")
    assert str(path) in line
    assert text in line
    assert not (tmp_path / "m").exists()


def test_no_file_and_a_folder(refused, tmp_path):
    out = ("--model", tmp_path / "m")
    assert refused("train", tmp_path / "a.svm", *out) == f"{tmp_path}/a.svm: no such file or directory"
    (tmp_path / "b.svm").mkdir()
    assert "b.svm: is a folder without files" in refused("train", tmp_path / "b.svm", *out)


@pytest.mark.parametrize(
    ("arrays", "text"),
    [
        ({"A": X}, "holds A; it must hold X, or data, indices, indptr, shape"),
        ({"X": X}, "contains no labels; pass them with --labels FILE.npy"),
        ({"X": X, "y": Y[:3]}, "3 labels for the 6 examples"),
        ({"X": X, "y": Y.reshape(2, 3)}, "y must have one dimension"),
        ({"X": X[0], "y": Y}, "X must have two dimensions"),
        ({"X": X[:0], "y": Y[:0]}, "contains no examples"),
        ({"X": X.astype(str), "y": Y}, "X must hold real numbers"),
        ({"X": X, "y": Y + 0.5}, "must be whole numbers or strings"),
        ({"X": X, "y": np.where(Y > 0, np.nan, 1.0)}, ": the label is nan"),
        ({"X": X, "y": Y.astype(complex)}, "labels must be numbers or strings"),
        ({"X": X.astype(object), "y": Y}, "holds Python objects, which are not read"),
        ({**PARTS, "shape": np.array([6]), "y": Y}, "shape must be two numbers"),
        ({**PARTS, "indices": CSR.indices + 1, "y": Y}, "indices"),
        ({**PARTS, "indptr": CSR.indptr[:-1], "y": Y}, "ind"),
        ({"X": np.where(X == 4, np.inf, X), "y": Y}, "infinity"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)
def test_bad_archives(refused, tmp_path, arrays, text):
    path = tmp_path / "a.npz"
    np.savez(path, **arrays)
    line = refused("train", path, "--model", tmp_path / "m")
    assert text in line


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("few.npy", "5 labels for the 6 examples"),
        ("matrix.npy", "one array of one dimension"),
        ("y.txt", "labels must be in a .npy file"),
        ("no.npy", "no such file"),
        ("objects.npy", "holds Python objects, which are not read"),
    ],
)
def test_bad_labels_beside(refused, text_file, tmp_path, name, text):
    np.save(tmp_path / "few.npy", Y[:5])
    np.save(tmp_path / "objects.npy", Y.astype(object))
    np.save(tmp_path / "matrix.npy", Y.reshape(2, 3))
    (tmp_path / "y.txt").write_text("1\n")
    line = refused("train", text_file, "--model", tmp_path / "m", "--labels", tmp_path / name)
    assert line.startswith(f"{tmp_path}/{name}: ")
    assert text in line


def test_string_labels(call, text_file, tmp_path):
    np.save(tmp_path / "y.npy", np.where(Y > 0, "späm", "ham"))
    beside = ("--labels", tmp_path / "y.npy")
    model = tmp_path / "m"
    trained = call("train", text_file, "--model", model, *beside, "--json", "--class-weight", "späm=2")
    assert trained.json["classes"] == ["ham", "späm"]
    assert call("predict", model, text_file).out.split() == ["späm" if label > 0 else "ham" for label in Y]
    assert call("evaluate", model, text_file, *beside, "--json").json["accuracy"] == 1


def test_a_type_that_numpy_forgets(refused, call, tmp_path):
    """What it writes of bfloat16 comes back as bytes without a type; the remedy works."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    rows = X.astype(ml_dtypes.bfloat16)
    np.save(tmp_path / "y.npy", Y)
    np.save(tmp_path / "X.npy", rows)
    argv = ("train", tmp_path / "X.npy", "--labels", tmp_path / "y.npy", "--model", tmp_path / "m")
    assert "save X.astype(numpy.float32), which holds the same numbers" in refused(*argv)
    forgotten = np.load(tmp_path / "X.npy")
    with pytest.raises(TypeError, match=r"give X.view\(ml_dtypes.bfloat16\)"):
        Perceptron().fit(forgotten, Y)
    found = Perceptron().fit(forgotten.view(ml_dtypes.bfloat16), Y)
    np.save(tmp_path / "X.npy", rows.astype(np.float32))
    assert call(*argv, "--quiet").status == 0
    assert modelfile.load_model(tmp_path / "m").coef_.tobytes() == found.coef_.tobytes()
