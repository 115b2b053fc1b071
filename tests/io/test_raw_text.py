"""Raw text: labels before tabs, words hashed as scikit-learn hashes them."""

import gzip

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import HashingVectorizer

from perceptron_rs import Perceptron, load
from perceptron_rs.cli import main
from perceptron_rs.features.text import KeptWords
from perceptron_rs.io import open_lines
from perceptron_rs.io.conll import ConllParser
from perceptron_rs.io.hashed.lines import RawText
from perceptron_rs.io.reading import Reading

LINES = ["spam\tbuy buy now", "ham\tsee you", "ham\t", "spam\ta\tb ü"]
WORDS = [["buy", "buy", "now"], ["see", "you"], [], ["a", "b", "ü"]]


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.txt").write_bytes("\n".join(LINES[:2]).encode())  # the last line has no end
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress("\r\n".join([*LINES[2:], ""]).encode()))
    return [tmp_path / "a.txt", tmp_path / "b.txt.gz"]


def whole(source):
    batches = list(source.batches())
    return sp.vstack([batch.X for batch in batches]), batches


def test_words_are_hashed(files):
    X, batches = whole(open_lines(files, hash_bits=6))
    assert (HashingVectorizer(n_features=64).transform(map(" ".join, WORDS)) != X).nnz == 0
    assert np.concatenate([batch.y for batch in batches]).tolist() == ["spam", "ham", "ham", "spam"]
    X, batches = whole(open_lines(files, hash_bits=6, labelled=False))
    assert (HashingVectorizer(n_features=64).transform(LINES) != X).nnz == 0
    assert [batch.y for batch in batches] == [None] * len(batches)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("1 -2 1", [1, -2, 1]),
        ("1 01 1", ["1", "01", "1"]),
        ("1 x 1", ["1", "x", "1"]),
        (f"{2**53 + 1} {2**53}", [2**53 + 1, 2**53]),
        (f"{2**63} 1", [str(2**63), "1"]),
    ],
)
def test_all_labels_say_what_they_are(tmp_path, labels, expected):
    paths = []
    for number, label in enumerate(labels.split()):
        paths.append(tmp_path / f"{number}.txt")
        paths[-1].write_text(f"{label}\tword\n")
    found = [batch.y.tolist() for batch in open_lines(paths).batches()]
    assert [label for part in found for label in part] == expected


def test_the_command_learns_the_same(files, tmp_path):
    argv = [
        "train",
        "perceptron",
        *map(str, files),
        "--text",
        "--hash-bits",
        "6",
        "--stream",
        "--epochs",
        "3",
        "--tol",
    ]
    assert main([*argv, "none", "--quiet", "--model", str(tmp_path / "m")]) == 0
    model = Perceptron(max_iter=3, tol=None, shuffle=False).fit_stream(open_lines(files, hash_bits=6))
    assert model.coef_.tobytes() == load(tmp_path / "m").coef_.tobytes()


@pytest.mark.parametrize(
    ("options", "error"), [({"hash_bits": 31}, "1 to 30"), ({"labelled": "auto"}, "True or False")]
)
def test_bad_options(files, options, error):
    with pytest.raises(ValueError, match=error):
        open_lines(files, **options)


def test_a_line_without_a_tab(tmp_path):
    (tmp_path / "a.txt").write_text("ham\tx\nspam y\n")
    with pytest.raises(ValueError, match="line 2 has no tab"):
        list(open_lines(tmp_path / "a.txt").batches())


def test_a_line_without_a_label(tmp_path):
    (tmp_path / "a.txt").write_text("ham\tx\n\ty\n")
    with pytest.raises(ValueError, match="line 2 has nothing before its tab"):
        list(open_lines(tmp_path / "a.txt").batches())


@pytest.mark.parametrize("text", ["1_0\tx", "٢\tx", "nan\tx", "9007199254740993.0\tx"])
def test_what_floats_alone_take_for_a_class_is_none(text):
    reading = Reading(hash_bits=4, with_labels=False, label_kind="i", classes=np.array([2, 10, 2**53]))
    lines = RawText("a", reading)
    with pytest.raises(ValueError, match="none of the model's classes"):
        lines.part(1, text.encode())


def test_line_ends_of_carriage_returns_alone_say_what_to_do(tmp_path):
    path = tmp_path / "a.txt"
    text = "line 1 has a carriage return within; end lines by line feeds"
    path.write_bytes(b"1\tone two\r0\tthree\r")
    with pytest.raises(ValueError, match=f"a.txt: {text}"):
        list(open_lines(path).batches())
    path.write_bytes(b"the\tD\rwhale\tN\r\rno\tX\r")
    with pytest.raises(ValueError, match=f"a.txt: {text}"):
        list(ConllParser(str(path)).read(path.read_bytes()))
    path.write_bytes(b"1\tone two\r\n0\tthree\r\r\n")
    assert [len(batch.y) for batch in open_lines(path).batches()] == [2]


def kept(words, counts):
    """Return n-grams that were kept, as pairs of column and word, and how many each column has had."""
    text = "".join(word for _, word in words).encode()
    ends = np.cumsum([len(word) for _, word in words])
    columns = np.array([column for column, _ in words])
    return KeptWords(
        columns, np.frombuffer(text, np.uint8), ends, np.array(list(counts)), np.array(list(counts.values()))
    )


def test_words_of_an_earlier_training_stand_behind_those_of_this_one():
    now = kept([(3, "a"), (3, "bc"), (5, "d")], {3: 2, 5: 1})
    before = kept([(3, "bc"), (3, "e"), (7, "f")], {3: 1, 7: 3, 9: 2})
    found = now.beside(before, np.array([3, 7, 9, 11]), 2)  # columns with weights; 5 has none
    assert found.text.tobytes() == b"abcf"
    assert (found.columns.tolist(), found.ends.tolist()) == ([3, 3, 7], [1, 3, 4])
    # Of column 3 three are known by name, and of column 9 none; of column 11 there was never one.
    assert dict(zip(found.used.tolist(), found.counts.tolist(), strict=True)) == {3: 3, 7: 3, 9: 2}
    nothing = now.beside(before, np.array([11]), 2)
    for part in (nothing.columns, nothing.ends, nothing.used, nothing.counts):
        assert (part.dtype, len(part)) == (np.int64, 0)
