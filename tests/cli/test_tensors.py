"""safetensors files as DATA: options name their tensors, and the bits are those of Python."""

from __future__ import annotations

import json
import struct

import ml_dtypes
import numpy as np
import pytest

from perceptron_rs import AveragedPerceptron, is_separable, load
from perceptron_rs.io import load_safetensors, open_examples, open_safetensors

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 5))
Y = np.where(X[:, 0] > X[:, 1], 7, -2)
WEIGHTS = RANDOM.integers(1, 4, 60).astype(np.float64)
#: How values are written, apart from NumPy: a letter of ``struct``, and what rounds to the type.
KINDS = {
    "F64": ("d", float), "F32": ("f", float), "F16": ("e", float), "I8": ("b", round),
    "BF16": ("H", lambda value: struct.unpack("<I", struct.pack("<f", value))[0] >> 16), "I64": ("q", int),
}  # fmt: skip


def written(path, **tensors):
    """A safetensors file of pairs of a type and an array, byte by byte as its format says."""
    header, data = {}, b""
    for name, (kind, values) in tensors.items():
        letter, rounded = KINDS[kind]
        part = b"".join(struct.pack(f"<{letter}", rounded(value)) for value in np.ravel(values).tolist())
        ends = [len(data), len(data) + len(part)]
        header[name] = {"dtype": kind, "shape": list(np.shape(values)), "data_offsets": ends}
        data += part
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


@pytest.fixture(name="path")
def fixture_path(tmp_path):
    """Two layers in bfloat16, labels and weights."""
    layers = {"low": ("BF16", X), "high": ("BF16", 2 * X[:, ::-1])}
    return written(tmp_path / "x.safetensors", **layers, truth=("I64", Y), heavy=("F64", WEIGHTS))


NAMED = ("--columns", "high", "--target", "truth")
SHORT = ("--epochs", 3, "--tol", "none", "--no-shuffle", "--quiet")


@pytest.mark.parametrize("kind", ["F64", "F32", "F16", "BF16", "I8"])
def test_the_only_matrix_gives_the_bits_of_python(call, tmp_path, kind):
    labels = "F16" if kind == "F16" else "I64"
    path = written(tmp_path / "x.safetensors", X=(kind, X * 9), y=(labels, Y), weight=("F64", WEIGHTS))
    more = ("--target", "y", "--sample-weight", "weight")
    assert call("train", "averaged", path, *more, *SHORT, "--model", tmp_path / "m").status == 0
    mapped, plain = load_safetensors(path, "X"), AveragedPerceptron(max_iter=3, tol=None, shuffle=False)
    found, expected = load(tmp_path / "m"), plain.fit(mapped, Y, sample_weight=WEIGHTS)
    assert found.coef_.tobytes() == expected.coef_.tobytes()
    assert (found.classes_.tolist(), found.classes_.dtype) == ([-2, 7], np.int64)
    answer = call("evaluate", tmp_path / "m", path, "--json")
    assert (answer.json["accuracy"], answer.err) == (expected.score(mapped, Y), "")
    scores = [json.loads(line)["scores"] for line in predicted(call, tmp_path / "m", path)]
    assert np.ravel(scores).tolist() == expected.decision_function(mapped).tolist()


def predicted(call, model, path, *options):
    answer = call("predict", model, path, "--scores", "--json", *options)
    assert answer.status == 0, answer.err
    return answer.out.splitlines()


@pytest.mark.parametrize("stream", [(), ("--stream",)])
def test_later_commands_take_the_tensors_of_the_training(call, path, tmp_path, stream):
    assert call("train", "averaged", path, *NAMED, *SHORT, *stream, "--model", tmp_path / "m").status == 0
    high = load_safetensors(path, "high")
    assert high.dtype == ml_dtypes.bfloat16
    model = AveragedPerceptron(max_iter=3, tol=None, shuffle=False)
    if stream:
        model.fit_stream(open_safetensors(path, "high", target="truth"))
        given = open_examples(path, columns=["high"], target="truth")
        again = AveragedPerceptron(max_iter=3, tol=None, shuffle=False).fit_stream(given)
        assert again.coef_.tobytes() == model.coef_.tobytes()
    else:
        model.fit(high, Y)
    assert load(tmp_path / "m").coef_.tobytes() == model.coef_.tobytes()
    assert call("evaluate", tmp_path / "m", path, "--json").json["accuracy"] == model.score(high, Y)
    assert "reproduced" in call("reproduce", tmp_path / "m", path).out
    low = predicted(call, tmp_path / "m", path, "--columns", "low")
    assert low != predicted(call, tmp_path / "m", path)
    np.save(tmp_path / "low.npy", load_safetensors(path, "low").astype(np.float32))
    assert predicted(call, tmp_path / "m", tmp_path / "low.npy") == low
    assert (
        call("train", "averaged", path, "--continue", tmp_path / "m", "--model", tmp_path / "n").status == 0
    )
    assert call("evaluate", tmp_path / "n", path).status == 0


def test_several_files_margins_and_labels_beside(call, path, tmp_path):
    np.save(tmp_path / "y.npy", Y)
    separable = call("separable", path, "--columns", "high", "--labels", tmp_path / "y.npy", "--json")
    assert separable.json["separable"] == bool(is_separable(load_safetensors(path, "high"), Y))
    assert (
        call("margin", path, *NAMED).out
        == call("margin", path, "--columns", "high", "--labels", tmp_path / "y.npy").out
    )
    for name, rows in (("0.safetensors", slice(20)), ("1.safetensors", slice(20, 60))):
        written(tmp_path / name, high=("BF16", 2 * X[rows, ::-1]), truth=("I64", Y[rows]))
    parts = (tmp_path / "0.safetensors", tmp_path / "1.safetensors")
    for given, name in (((path,), "m"), (parts, "n")):
        assert call("train", *given, *NAMED, "--quiet", "--model", tmp_path / name).status == 0
    assert load(tmp_path / "m").coef_.tobytes() == load(tmp_path / "n").coef_.tobytes()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            ("--target", "truth"),
            "has 2 tensors of two dimensions; name one as --columns; it has 'low', 'high'",
        ),
        (
            ("--columns", "lo", "--target", "truth"),
            "has no tensor 'lo'; it has 'low', 'high', 'truth', 'heavy'",
        ),
        (("--columns", "low", "--target", "y"), "name one as --target"),
        (
            (*NAMED, "--sample-weight", "w"),
            "has no tensor 'w'; it has 'low', 'high', 'truth', 'heavy'; name one",
        ),
        (
            (*NAMED, "--sample-weight", "low"),
            "'low' has the shape (60, 5), but there are 60 examples; name ano",
        ),
        (("--columns", "low", "--target", "high"), "name another one as --target"),
        (("--columns", "low"), "must be said; name it as --target NAME, or pass them with --labels FILE.npy"),
        (("--columns", "truth", "--target", "truth"), "X must have two dimensions, examples and features"),
        (
            ("--columns", "low", "--target", "heavy", "--sample-weight", "heavy"),
            "name the same column, 'heavy'",
        ),
    ],
)
def test_wrong_names(call, path, tmp_path, options, text):
    answer = call("train", path, *options, "--model", tmp_path / "m")
    assert answer.status in (1, 2)
    assert text in answer.err
    assert answer.err.count("\n") == 1
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--columns", "low,high", "--target", "truth"), "--columns must name one tensor"),
        ((*NAMED, "--labels", "y.npy"), "--labels and --target both say the labels"),
        ((*NAMED, "--drop", "low"), "--columns says which columns are features"),
        (("--target", "truth", "--drop", "low"), "--drop is for csv, tsv, parquet and jsonl, and"),
    ],
)
def test_options_that_do_not_go_together(call, path, tmp_path, options, text):
    answer = call("train", path, *options, "--model", tmp_path / "m")
    assert answer.status == 2
    assert text in answer.err


def test_damaged_files_and_pipes(call, refused, stdin, path, tmp_path):
    whole, out = path.read_bytes(), ("--model", tmp_path / "m")
    length = struct.unpack("<Q", whole[:8])[0]
    text = whole[8 : 8 + length]
    damaged = [whole[:5], whole[:40], whole[:-1], whole + b"0", whole.replace(b"60, 5", b"61, 5", 1)]
    damaged += [struct.pack("<Q", 2**62) + whole[8:], whole.replace(text, b"x" * length)]
    for broken in damaged:
        path.write_bytes(broken)
        assert refused("train", path, *NAMED, *out).startswith(f"{path}: is no safetensors file, or was cut")
    path.write_bytes(b"")
    assert refused("train", path, *NAMED, *out) == f"{path}: the file is empty"
    written(path, high=("F32", np.zeros((0, 5))), truth=("I64", []))
    assert "contains no examples" in refused("train", path, *NAMED, *out)
    stdin(whole)
    answer = call("train", "-", "--format", "safetensors", *NAMED, *out)
    assert answer.status == 2
    assert (
        "standard input: tensors are mapped into memory, which a pipe cannot be; write it to a fi"
        in answer.err
    )


def test_a_model_of_a_table_needs_the_name_of_the_tensor(call, path, tmp_path):
    pytest.importorskip("pyarrow")
    rows = "".join(
        ",".join(map(repr, [*row, y])) + "\n" for row, y in zip(X.tolist(), Y.tolist(), strict=True)
    )
    (tmp_path / "a.csv").write_text("a,b,c,d,e,truth\n" + rows)
    train = ("train", tmp_path / "a.csv", "--hash-bits", 3, "--columns", "a,b,c", "--quiet")
    assert call(*train, "--model", tmp_path / "m").status == 0
    answer = call("predict", tmp_path / "m", path)
    assert answer.status == 2
    assert "the columns of the model were chosen from a table, and" in answer.err
