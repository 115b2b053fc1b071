"""`open_examples`: files of every format by one set of options, as the command reads them."""

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs import Perceptron, load
from perceptron_rs.cli import main
from perceptron_rs.io import open_arrow, open_csv, open_examples, open_parquet, open_svmlight
from perceptron_rs.io.files import ExampleFiles
from perceptron_rs.io.reading import Reading

rng = np.random.default_rng(3)
X = rng.integers(-3, 4, (60, 4)) / 2
X[0] = 1
Y = rng.integers(0, 2, 60)
SHORT = {"max_iter": 3, "tol": None, "shuffle": False}


def svmlight(path, first=1):
    rows = (" ".join(f"{j + first}:{value}" for j, value in enumerate(row)) for row in X)
    path.write_text("".join(f"{label} {row}\n" for label, row in zip(Y, rows, strict=True)))


def table(path, delimiter=",", gone="0.5"):
    pytest.importorskip("pyarrow")
    lines = [delimiter.join([*map(str, row), f"c{label}"]) for row, label in zip(X, Y, strict=True)]
    path.write_text("\n".join([delimiter.join("abcdy"), *lines]) + "\n")


def parquet(path):
    pa = pytest.importorskip("pyarrow")
    columns = {"y": Y} | {f"c{i}": X[:, i] for i in range(4)}
    pytest.importorskip("pyarrow.parquet").write_table(pa.table(columns), path)


def words(path):
    path.write_text("".join(f"{label}\tw{i % 7} w{i % 3}\n" for i, label in enumerate(Y)))


#: Of each format: what writes it, and the options, as Python and as the command has them.
FORMATS = {
    "a.svm": (svmlight, {}, []),
    "from 0.svm": (lambda path: svmlight(path, 0), {"n_features": 6}, ["--features", 6]),
    "a.csv": (table, {}, []),
    "chosen.csv": (table, {"target": "a", "columns": ["d", "b"]}, ["--target", "a", "--columns", "d,b"]),
    "hashed.csv": (table, {"hash_bits": 4, "drop": ["a"]}, ["--hash-bits", 4, "--drop", "a"]),
    "a.tsv": (lambda path: table(path, "\t"), {}, []),
    "other.csv": (lambda path: table(path, ";"), {"delimiter": ";"}, ["--delimiter", ";"]),
    "a.parquet": (parquet, {"target": "y"}, ["--target", "y"]),
    "a.npz": (lambda path: np.savez(path, X=X, y=Y), {}, []),
    "sparse.npz": (
        lambda path: sp.save_npz(path, sp.csr_matrix(X)),
        {"labels": "LABELS"},
        ["--labels", "LABELS"],
    ),
    "a.npy": (lambda path: np.save(path, X), {"labels": "LABELS"}, ["--labels", "LABELS"]),
    "a.txt": (words, {"format": "lines"}, ["--text"]),
    "few.txt": (words, {"format": "lines", "hash_bits": 5}, ["--text", "--hash-bits", 5]),
}


@pytest.mark.parametrize("name", FORMATS)
def test_the_model_is_that_of_the_command(tmp_path, name):
    write, options, argv = FORMATS[name]
    path, labels = tmp_path / name, tmp_path / "labels.npy"
    write(path)
    np.save(labels, Y)
    options = {key: labels if value == "LABELS" else value for key, value in options.items()}
    argv = [str(labels) if word == "LABELS" else str(word) for word in argv]
    learning = ["--epochs", "3", "--tol", "none", "--no-shuffle", "--quiet"]
    if name == "chosen.csv":  # whose target are numbers with fractions
        with pytest.raises(ValueError, match="round or bin a regression target"):
            Perceptron(**SHORT).fit_stream(open_examples(path, **options))
        return
    assert main(["train", "perceptron", str(path), "--model", str(tmp_path / "m"), *argv, *learning]) == 0
    expected = load(tmp_path / "m")
    found = Perceptron(**SHORT).fit_stream(open_examples(path, **options))
    assert found.coef_.tobytes() == expected.coef_.tobytes()
    assert found.classes_.tolist() == expected.classes_.tolist()
    names = [getattr(model, "feature_names_in_", np.array([])).tolist() for model in (found, expected)]
    assert names[0] == names[1]


def test_several_files_are_as_one(tmp_path):
    for name in ("a.svm", "b.svm"):
        svmlight(tmp_path / name)
    found = Perceptron(**SHORT).fit_stream(open_examples(tmp_path / "*.svm"))
    expected = Perceptron(**SHORT).fit(np.vstack([X, X]), np.concatenate([Y, Y]))
    assert found.coef_.tobytes() == expected.coef_.tobytes()


@pytest.mark.parametrize(
    ("name", "options", "text"),
    [
        (
            "a.svm",
            {"target": "y"},
            "target is for csv, tsv, parquet, jsonl and safetensors, and .*a.svm is svmlight",
        ),
        ("a.csv", {"zero_based": True}, "zero_based is for svmlight, and .*a.csv is csv"),
        ("a.csv", {"delimiter": ";;"}, "delimiter must be one character of ASCII"),
        ("a.csv", {"decimal": ";"}, "decimal must be .* or None, got ';'"),
        ("a.jsonl", {"decimal": "."}, "decimal is for csv and tsv, and .*a.jsonl is jsonl"),
        ("a.txt", {"format": "text"}, "format must be one of .* got 'text'"),
        ("a.txt", {"format": "lines", "hash_bits": 31}, "hash_bits must be a whole number from 1 to 30"),
        ("a.xls", {}, "unknown suffix '.xls'; the suffix must be one of .*, or format must name the format"),
        ("a.svm", {"max_ratio": 1}, "max_ratio must be a number above 1"),
        ("a.csv", {"n_features": 9}, "has 4 features, but n_features says 9"),
    ],
)
def test_options_that_do_not_go(tmp_path, name, options, text):
    (table if name == "a.csv" else svmlight)(tmp_path / name)
    with pytest.raises(ValueError, match=text):
        open_examples(tmp_path / name, **options)


@pytest.mark.parametrize(
    ("opener", "name", "option"),
    [
        *((open_examples, "a.csv", option) for option in ("columns", "drop", "missing")),
        *((open_csv, "a.csv", option) for option in ("columns", "drop", "missing")),
        *((open_parquet, "a.parquet", option) for option in ("columns", "drop")),
        *((open_arrow, "a.feather", option) for option in ("columns", "drop")),
    ],
)
def test_a_string_is_no_list_of_strings(tmp_path, opener, name, option):
    """Its letters would be taken for names, and those of a missing value for missing values."""
    feather = pytest.importorskip("pyarrow.feather")
    parquet(tmp_path / "a.parquet")
    table(tmp_path / "a.csv")
    feather.write_feather(
        pytest.importorskip("pyarrow").table({"c": [1.0], "y": [1]}), tmp_path / "a.feather"
    )
    with pytest.raises(
        TypeError, match=rf"{option} must be a list of strings, got 'NA'; write {option}=\['NA'\]"
    ):
        opener(tmp_path / name, target="y", **{option: "NA"})


@pytest.mark.parametrize("n_features", [0, "3", 2.5])
def test_numbers_of_features_that_are_none(tmp_path, n_features):
    svmlight(tmp_path / "a.svm")
    with pytest.raises((ValueError, TypeError), match="n_features must be"):
        open_examples(tmp_path / "a.svm", n_features=n_features)


def test_arrays_are_mapped_and_small_types_stay_small(tmp_path):
    np.save(tmp_path / "a.npy", X)
    assert isinstance(
        ExampleFiles([str(tmp_path / "a.npy")], Reading(with_labels=False)).whole().X, np.memmap
    )
    pa = pytest.importorskip("pyarrow")
    columns = {"y": Y} | {f"c{i}": (2 * X[:, i]).astype(np.int8) for i in range(4)}
    pytest.importorskip("pyarrow.parquet").write_table(pa.table(columns), tmp_path / "a.parquet")
    found = ExampleFiles([str(tmp_path / "a.parquet")], Reading(target="y")).whole().X
    assert found.dtype == np.int8
    assert found.flags.c_contiguous


_CSR = sp.csr_matrix(X)
_PARTS = {"data": _CSR.data, "indices": _CSR.indices, "indptr": _CSR.indptr, "shape": np.array(_CSR.shape)}
ARCHIVES = [
    ({"A": X}, "holds A; it must hold X, or data, indices, indptr, shape"),
    ({"X": X, "y": Y[:3]}, "3 labels for the 60 examples"),
    ({"X": X, "y": Y.reshape(2, 30)}, "y must have one dimension"),
    ({"X": X[0], "y": Y}, "X must have two dimensions"),
    ({"X": X[:0], "y": Y[:0]}, "contains no examples"),
    ({"X": X.astype(str), "y": Y}, "X must hold real numbers"),
    ({"X": X, "y": Y + 0.5}, "must be whole numbers or strings"),
    ({"X": X, "y": np.where(Y > 0, np.nan, 1.0)}, ": the label is nan"),
    ({"X": X, "y": Y.astype(complex)}, "labels must be numbers or strings"),
    ({"X": X.astype(object), "y": Y}, "holds Python objects, which are not read"),
    ({**_PARTS, "shape": np.array([6]), "y": Y}, "shape must be two numbers"),
    ({**_PARTS, "indices": _CSR.indices + 1, "y": Y}, "indices"),
    ({**_PARTS, "indptr": _CSR.indptr[:-1], "y": Y}, "ind"),
]


@pytest.mark.parametrize(("arrays", "text"), ARCHIVES, ids=[text[:20] for _, text in ARCHIVES])
def test_bad_archives(tmp_path, arrays, text):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(ValueError, match=rf"a\.npz: .*{text}"):
        ExampleFiles([str(tmp_path / "a.npz")], Reading()).whole()


@pytest.mark.parametrize("name", ["a.npz", "a.feather"])
def test_rows_that_are_not_taken_are_named(tmp_path, name):
    """Of arrays, which are one part, and of tables in several; the others come in their order."""
    path, labels = tmp_path / name, np.arange(20)
    if name == "a.npz":
        np.savez(path, X=X[:20], y=labels)
    else:
        feather, pyarrow = pytest.importorskip("pyarrow.feather"), pytest.importorskip("pyarrow")
        feather.write_feather(pyarrow.table({"x": X[:20, 0], "y": labels}), path, chunksize=6)

    def check(data):
        if np.isin(data.labels, [2, 8, 19]).any():
            raise ValueError("not this one")

    files, left = ExampleFiles([str(path)], Reading(format="npz" if name == "a.npz" else "parquet")), []
    taken = files.parts(check=check, bad=lambda error, *where: left.append((str(error), *where)))
    assert np.concatenate([data.labels for data in taken]).tolist() == sorted({*range(20)} - {2, 8, 19})
    said = f"{path}: not this one"
    assert left == [(said, str(path), f"row {row}") for row in (3, 9, 20)]
    with pytest.raises(ValueError, match="not this one"):
        list(files.parts(check=check))


def test_a_column_0_of_one_file_counts_for_all(tmp_path):
    for name, text in (("a.svm", "1 1:1 2:3\n0 2:1\n"), ("b.svm", "1 0:1 1:3\n")):
        (tmp_path / name).write_text(text)
    both = [str(tmp_path / "a.svm"), str(tmp_path / "b.svm")]
    for with_labels in (True, False):
        rows = ExampleFiles(both, Reading(with_labels=with_labels, labelled=True)).whole().X
        assert rows.toarray().tolist() == [[0, 1, 3], [0, 0, 1], [1, 3, 0]]


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        (Y.reshape(2, 30), "one array of one dimension"),
        (Y.astype(object), "holds Python objects, which are not"),
    ],
)
def test_bad_labels_beside(tmp_path, labels, text):
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", labels)
    with pytest.raises(ValueError, match=rf"y\.npy: .*{text}"):
        ExampleFiles([str(tmp_path / "X.npy")], Reading(labels=tmp_path / "y.npy")).whole()


def test_a_type_that_numpy_forgets(tmp_path):
    """What it writes of bfloat16 comes back as bytes without a type; the remedy works."""
    rows, path = X.astype(pytest.importorskip("ml_dtypes").bfloat16), tmp_path / "X.npy"
    np.save(tmp_path / "y.npy", Y)
    np.save(path, rows)
    with pytest.raises(ValueError, match=r"save X\.astype\(numpy\.float32\), which holds the same numbers"):
        Perceptron(**SHORT).fit_stream(open_examples(path, labels=tmp_path / "y.npy"))
    np.save(path, rows.astype(np.float32))
    found = Perceptron(**SHORT).fit_stream(open_examples(path, labels=tmp_path / "y.npy"))
    assert found.coef_.tobytes() == Perceptron(**SHORT).fit(rows, Y).coef_.tobytes()


@pytest.mark.parametrize("name", ["a.svm", "a.csv", "a.txt"])
@pytest.mark.parametrize("empty", [0, 2])
def test_one_of_several_files_may_be_empty(tmp_path, name, empty):
    """As parts of a table that many processes write; a table has a header nevertheless, or nothing at all."""
    write, options, argv = FORMATS[name]
    write(tmp_path / name)
    lines = (tmp_path / name).read_text().splitlines(keepends=True)
    head = lines[: name == "a.csv"]
    parts = [head + lines[len(head) : 30], head + lines[30:]]
    parts.insert(empty, [])
    folder = tmp_path / "parts"
    folder.mkdir()
    for k, part in enumerate(parts):
        (folder / f"{k}{name}").write_text("".join(part))
    expected = Perceptron(**SHORT).fit_stream(open_examples(tmp_path / name, **options))
    sources = [open_examples(folder, **options)]
    sources += [open_svmlight(folder)] if name == "a.svm" else []
    for source in sources:
        found = Perceptron(**SHORT).fit_stream(source)
        assert found.coef_.tobytes() == expected.coef_.tobytes()
        assert found.classes_.tolist() == expected.classes_.tolist()
    learning = ["--epochs", "3", "--tol", "none", "--no-shuffle", "--quiet", "--model", str(tmp_path / "m")]
    assert main(["train", "perceptron", str(folder), *argv, *learning]) == 0
    assert load(tmp_path / "m").coef_.tobytes() == expected.coef_.tobytes()
    for k in range(len(parts)):
        (folder / f"{k}{name}").write_text("")
    with pytest.raises(ValueError, match="all files are empty"):
        Perceptron().fit_stream(open_examples(folder, **options))


@pytest.mark.parametrize("opener", [open_examples, open_csv])
def test_columns_and_drop_are_one_choice(tmp_path, opener):
    table(tmp_path / "a.csv")
    with pytest.raises(ValueError, match="columns says which columns are features, so drop has no effect"):
        opener(tmp_path / "a.csv", target="y", columns=["a"], drop=["b"])
