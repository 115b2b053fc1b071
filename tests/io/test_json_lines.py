"""JSON lines: columns as of scikit-learn's hasher; labels and weights where vw and river have them."""

import json

import numpy as np
import pytest
from sklearn.feature_extraction import FeatureHasher

from perceptron_rs import Perceptron
from perceptron_rs.cli import main
from perceptron_rs.io import open_examples
from perceptron_rs.io.hashed.lines import JsonLines
from perceptron_rs.io.reading import Reading

ROWS = [
    {"length": 3, "sender": "ann", "new": True},
    {"length": 0.5, "sender": "bob", "new": False, "note": None},
    {"sender": "ann", "subject": {"now": 2, "to": {"whom": "é"}}},
    {},
]
#: The same without what is missing, and with the names of objects before those in them.
FLAT = [
    {"length": 3, "sender": "ann", "new": 1},
    {"length": 0.5, "sender": "bob", "new": 0},
    {"sender": "ann", "subject^now": 2, "subject^to^whom": "é"},
    {},
]
LABELS = ["spam", "ham", "spam", "ham"]
WEIGHTS = [1.0, 2.0, 1.0, 0.5]
PARTS = list(zip(ROWS, LABELS, WEIGHTS, strict=True))
STYLES = {
    "vw": [{"_label": y} | x for x, y, _ in PARTS],
    "weighted vw": [{"_label": {"Label": y, "Weight": w}, **x} for x, y, w in PARTS],
    "river": [{"x": x, "y": y} for x, y, _ in PARTS],
    "weighted river": [{"x": x, "y": y, "w": w} for x, y, w in PARTS],
    "some weights": [{"x": x, "y": y} | ({} if w == 1 else {"w": w}) for x, y, w in PARTS],
    "keys": [{"kind": y, "w": w, **x} for x, y, w in PARTS],
}


def read(lines, **options):
    """Return columns, labels and weights of lines that are hashed to 256 columns."""
    found = JsonLines("a", Reading(hash_bits=8, **options)).part(1, lines)
    return found.rows, found.y, found.weights


def text(objects):
    return "\n".join(map(json.dumps, objects)).encode() + b"\n\n"


@pytest.mark.parametrize("style", STYLES)
def test_columns_are_those_of_the_hasher(style):
    keys = {"target": "kind", "sample_weight": "w"} if style == "keys" else {}
    X, y, weights = read(text(STYLES[style]), **keys)
    expected = FeatureHasher(1 << 8).transform(FLAT)
    assert X.shape == expected.shape
    assert (expected != X.matrix()).nnz == 0
    assert X.matrix().nnz == expected.nnz  # zeros are not stored
    assert y.tolist() == LABELS
    assert (weights is None) == (style in ("vw", "river"))
    if weights is not None:
        assert weights.tolist() == WEIGHTS
    without, nothing, _ = read(text(STYLES[style]), **keys, with_labels=False)
    assert nothing is None  # and the labels are no features
    assert (without.matrix() != expected).nnz == 0


def test_a_fit_weighs_as_the_lines_say(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_bytes(text(STYLES["weighted river"]))
    streamed = Perceptron(max_iter=3, tol=None).fit_stream(open_examples(file, hash_bits=8))
    X = FeatureHasher(1 << 8).transform(FLAT)
    fitted = Perceptron(max_iter=3, tol=None, shuffle=False).fit(X, LABELS, sample_weight=WEIGHTS)
    assert streamed.coef_.tobytes() == fitted.coef_.tobytes()


def test_a_name_that_is_a_key_of_river_is_a_feature_of_others():
    X, *_ = read(b'{"x": 1, "y": 2, "t": 0, "_id": 1}\n', target="t")
    assert (FeatureHasher(1 << 8).transform([{"x": 1, "y": 2, "_id": 1}]) != X.matrix()).nnz == 0
    X, *_ = read(b'{"x": {"a": 1}, "more": 1, "_label": 0}\n')
    assert (FeatureHasher(1 << 8).transform([{"x^a": 1, "more": 1}]) != X.matrix()).nnz == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"a": 1', "is not JSON: expecting"),
        ("[1]", "must be an object such as {...}, one a line, got [1]"),
        ('{"a": 1}', 'has no label; name its key with target, or write it as vw ("_label")'),
        ('{"x": {"a": 1}}', "has no label"),
        ('{"_label": [1], "a": 1}', "has several labels; learn all of them (multilabel=True)"),
        ('{"_label": {"Label": 1, "Initial": 2}}', "_label may hold Label and Weight"),
        ('{"_label": 1, "_tag": "a"}', "the key '_tag' begins with _"),
        ('{"_label": {"Label": 1, "Weight": -1}}', "the weight must be a number of at least 0, got -1"),
        ('{"x": {}, "y": 1, "w": true}', "the weight must be a number of at least 0, got true"),
        ('{"_label": {"Label": 1, "Weight": null}}', "the weight must be a number of at least 0, got null"),
        ('{"_label": "\\ud800", "a": 1}', 'the label "\\ud800" is not valid Unicode'),
        ('{"_label": "a\\u0000", "a": 1}', "or holds NUL"),
        ('{"_label": 1e999, "a": 1}', "the label is inf; labels must be finite"),
        ('{"_label": 9223372036854775808}', "the label 9223372036854775808 does not fit into 64 bits"),
        ('{"_label": 1' + "0" * 400 + "}", "does not fit into 64 bits; write it as a string"),
        ('{"_label": 1, "a": 1' + "0" * 5000 + "}", "holds a number of more than 4300 digits"),
        ('{"_label": 1, "a": [1]}', "'a' is a list; write an object of names and numbers"),
        ('{"_label": 1, "a": NaN}', "NaN is no number of JSON"),
        ('{"_label": 1, "a": 1e999}', "'a' must be a finite number, got inf"),
        ('{"_label": 1, "a": 1' + "0" * 400 + "}", "'a' must be a finite number, got 1000"),
        ('{"_label": 1, "a": 1, "a": 2}', "the key 'a' is there twice"),
        ('{"_label": 1, "a": {"b": 1}, "a^b": 2}', "the feature 'a^b' is there twice"),
        ('{"_label": 1, "a": ' + '{"a": ' * 100_000, "nested too deeply"),
    ],
)
def test_a_line_that_is_no_example_is_named(line, said):
    with pytest.raises(ValueError, match=r"^a, line 2: ") as caught:
        read(b'{"_label": 1, "a": 1}\n' + line.encode() + b"\n")
    assert said in str(caught.value)


def test_lines_without_anything_are_no_examples(tmp_path):
    X, y, *_ = read(b"\n \n")
    assert (X.shape, len(y)) == ((0, 256), 0)
    (tmp_path / "a.jsonl").write_text("\n")
    with pytest.raises(ValueError, match="no examples"):
        Perceptron().fit_stream(open_examples(tmp_path / "a.jsonl"))


def test_labels_of_two_kinds_and_broken_text_are_refused():
    for labels in ('1 "1"', "true 1"):
        lines = "".join(f'{{"_label": {label}}}\n' for label in labels.split())
        with pytest.raises(ValueError, match="all strings, all numbers or all booleans"):
            read(lines.encode())
    for odd in (b'"\\ud800": 1', b'"a": "\\udfff"', b'"a": {"b": "x\\ud800"}'):
        with pytest.raises(ValueError, match="line 3: a name or a value is not valid Unicode; write no half"):
            read(b'{"_label": 1, "a": 1}\n\n{"_label": 1, %s}\n' % odd)


def test_no_scale_is_proposed_where_a_line_cannot_be_read(tmp_path, capsys):
    file = tmp_path / "a.jsonl"
    lines = '{"y": "u", "a": 1, "c": "red"}\n{"y": "v", "a": 3, "c": "blue"}\n' * 20
    file.write_text(lines + '{"y": "u", "a": 1, "c": "\\ud800"}\n')
    assert main(["train", str(file), "--target", "y", "--model", str(tmp_path / "m")]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"perceptrons: error: {file}, line 41: a name or a value is not")
    assert "try:" not in said


@pytest.mark.parametrize("stream", [[], ["--stream"]])
@pytest.mark.parametrize(("labels", "kind"), [("true false", "booleans"), ('"1" "2"', "text")])
def test_labels_of_two_kinds_in_two_files_are_refused(tmp_path, capsys, stream, labels, kind):
    files = []
    for own in ("1 2", labels):
        files.append(tmp_path / f"{len(files)}.jsonl")
        files[-1].write_text("".join(f'{{"_label": {label}, "a": 1}}\n' for label in own.split()))
    argv = ["train", "perceptron", *map(str, files), *stream, "--model", str(tmp_path / "m"), "--quiet"]
    assert main(argv) == 1
    text = f"{files[0]} and {files[1]}: some labels are numbers, and others are {kind}"
    assert text in capsys.readouterr().err


def test_whole_numbers_are_integers_however_they_are_written(tmp_path):
    file = tmp_path / "a.ndjson"
    file.write_text('{"_label": 1.0, "a": 1}\n{"_label": -1, "b": 1}\n')
    model = Perceptron().fit_stream(open_examples(file))
    assert model.classes_.dtype == np.int64
    file.write_text('{"_label": 1.5, "a": 1}\n{"_label": -1, "b": 1}\n')
    with pytest.raises(ValueError, match="labels must be whole numbers or strings"):
        Perceptron().fit_stream(open_examples(file))


def test_labels_keep_their_last_digit(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text(
        "".join(f'{{"_label": {y}, "a": 1}}\n' for y in ("9007199254740993", "9007199254740992.0"))
    )
    assert Perceptron().fit_stream(open_examples(file)).classes_.tolist() == [2**53, 2**53 + 1]


def test_a_weight_that_is_asked_for_must_be_there(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"k": "x", "w": 1, "a": 1}\n{"k": "y", "importance": 1, "a": 1}\n')
    with pytest.raises(ValueError, match="line 2: has no weight 'w'; write one in each line, or leave"):
        Perceptron().fit_stream(open_examples(file, target="k", sample_weight="w"))
    with pytest.raises(ValueError, match="target and sample_weight name the same column, 'k'"):
        open_examples(file, target="k", sample_weight="k")


def test_weights_of_tables(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "a.csv").write_text("a,kind,w\n1,x,1\n-1,y,2.5\n2,y,1\n")
    source = open_examples(tmp_path / "a.csv", sample_weight="w")
    streamed = Perceptron(max_iter=3, tol=None).fit_stream(source)
    fitted = Perceptron(max_iter=3, tol=None, shuffle=False)
    fitted.fit([[1.0], [-1.0], [2.0]], ["x", "y", "y"], sample_weight=[1, 2.5, 1])
    assert streamed.coef_.tobytes() == fitted.coef_.tobytes()
    with pytest.raises(ValueError, match="has no column 'v' for sample_weight"):
        open_examples(tmp_path / "a.csv", sample_weight="v")


def test_dropped_keys_are_no_features(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"kind": 1, "id": "q", "a": 2}\n{"kind": 0, "id": null, "a": -1, "b": {"id": 1}}\n')
    source = open_examples(file, target="kind", drop=["id"], hash_bits=8)
    (batch,) = source.batches()
    expected = FeatureHasher(1 << 8).transform([{"a": 2}, {"a": -1, "b^id": 1}])
    assert (expected != batch.X).nnz == 0
    for example in ('{"kind": 1, "a": 2}', '{"kind": 1, "x": {"id": 1}}'):
        file.write_text(example)
        with pytest.raises(
            ValueError, match=r"a.jsonl, line 1: has no key 'id' for drop; name keys that are"
        ):
            list(open_examples(file, target="kind", drop=["id"], hash_bits=8).batches())
    # River's: beside its keys, or among its features.
    file.write_text('{"x": {"a": 1, "b": 2}, "y": 1, "id": 3}')
    (batch,) = open_examples(file, drop=["id", "b"], hash_bits=8).batches()
    assert (FeatureHasher(1 << 8).transform([{"a": 1}]) != batch.X).nnz == 0
