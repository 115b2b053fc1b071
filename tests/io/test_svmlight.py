"""load_svmlight against scikit-learn's load_svmlight_file, bit for bit."""

import gzip
import io
import math
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_digits, load_iris, load_svmlight_file

from perceptron_rs.io import load_svmlight, open_svmlight

BASES = ["auto", True, False]
SHARED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

LINES = [
    b"1 1:2 3:4\n-1 2:1\n",
    b"1 0:2 3:4\n-1 2:1",
    b"0\n1\n",
    b"\n\n  \n1 1:1\n\n",
    b"# a comment\n1 1:1 # another 2:2\n#\n2 1:1#3:3\n3#\n",
    b"1 1:1\r\n2 2:2\r\n\r\n",
    b"1\t1:1\x0b2:2\x0c3:3 \t \n",
    b"   1 1:1\n\t2 2:2\n",
    b"1 qid:3 1:1\n2 qid:x 2:2\n3 qidanything: 2:2\n4 qid:7\n5 qid:# 1:1\n",
    b"1 qid:1 qid:2 1:1\n",
    b"+1 1:+2\n-1 1:-2\n+1.5 1:-.5\n-0 1:-0\n",
    b"1 1:0 2:-0 3:0.0 4:0e5\n",
    b"1 +1:1 0_2:1 003:1 00000000000000004:1 1_0:1\n",
    b"1 -0:5 1:1\n",
    b"1_0 1:1_0.5_0e1_0\n",
    b"1 1:1. 2:.5 3:1.e2 4:1e+2 5:1E-2 6:1e0002\n",
    b"1 12345678:1 123456789:2 2147483647:3\n",
    b"1 1:12345678 2:123456789 3:1234567890123456789012 4:0.1234567890123456789\n",
    b"1 1:9007199254740992 2:9007199254740993 3:900719925474099.3 4:90071992547409930e-1\n",
    b"1 1:5e-324 2:2.2250738585072011e-308 3:1.7976931348623157e308 4:1e-400 5:1e22 6:1e23\n",
    b"1e2 1:1\n.5 1:1\n5. 1:1\n-.5e-1 1:1\n12345678.12345678 1:1\n",
    b"1 1:00000000000000000000000000000001 2:0.00000000000000000000000000000001\n",
    b"\xc2\xa01 1:1\n",
    b"1 1:1\xa0\n",
    b"1 1:1 # \xff\xfe\x00 anything\n2 2:2\n",
    b"1 1:1\x1c2:2\n",
    b"1 1:1\x002:2\n",
    b"1\x00 1:1\n",
    b"1 1:1 \x00# 2:2\n",
]


@pytest.mark.parametrize("zero_based", BASES)
@pytest.mark.parametrize("suffix", [".svm", ".gz"])
@pytest.mark.parametrize("text", LINES)
def test_forms_of_lines(compare, text, suffix, zero_based):
    compare(text, zero_based=zero_based, suffix=suffix)


# Pieces of lines, right and wrong, in any order.
PIECES = """
0 1 2 -1 +1 1.5 .5 5. 1e3 1e-7 nan inf 1e999 1_0 _ : 1: :1 1:1 1:0 0:1 2:-2.5 3:1e5 4:.1 5:1. 7:1_0
9:0.1234567890123456789 10:12345678901234567890 99:x 12:+3 +13:1 -1:1 2147483647:1 2147483648:1
qid:1 qid: qid 1,2 1:2:3 # #x 1# a é 1:nan 1:-inf 1:1e400 00:1 1e3:1 0x1:1 1:0x1 1:1f 1:-_5 1:1e+_5 +_1
"""
SPACES = st.sampled_from([" ", " ", " ", "\t", "  ", "\r", "\x0b", "\x0c", "\x00", "\x1f", "\n", "\r\n", ""])
NUMBERS = st.one_of(
    st.floats().map(repr),
    st.integers(0, 10**20).map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=6).map(str),
    st.from_regex(r"[+-]?[0-9_]{0,12}\.?[0-9_]{0,12}([eE][+-]?[0-9_]{1,4})?", fullmatch=True),
)


@SHARED
@given(text=st.lists(st.tuples(st.sampled_from(PIECES.split()), SPACES)), zero_based=st.sampled_from(BASES))
def test_pieces_of_lines(compare, text, zero_based):
    compare("".join(a + b for a, b in text).encode(), zero_based=zero_based)


@SHARED
@given(
    rows=st.lists(
        st.tuples(NUMBERS, st.lists(NUMBERS, max_size=5), st.integers(0, 3), st.sampled_from([1, 7, 10**6])),
        min_size=1,
    ),
    zero_based=st.sampled_from(BASES),
)
def test_numbers(compare, rows, zero_based):
    """Each row of its own too: one wrong number must not hide the others."""
    lines = [
        " ".join([label, *(f"{low + i * step}:{value}" for i, value in enumerate(values))])
        for label, values, low, step in rows
    ]
    for line in lines:
        compare(line.encode(), zero_based=zero_based)
    compare("\n".join(lines).encode(), zero_based=zero_based)


@SHARED
@given(text=st.binary())
def test_bytes(compare, text):
    compare(text)


@SHARED
@given(value=st.floats(allow_nan=False, allow_infinity=False), digits=st.integers(1, 25))
def test_each_value_has_the_bits_of_pythons_float(compare, value, digits):
    written = [
        repr(value),
        f"{value:.{digits}e}",
        f"{value:.{digits}f}",
        f"{value:.{digits}g}",
        str(int(value)),
    ]
    written = [number for number in written if math.isfinite(float(number))]  # 1.5e308 rounded to 2e308
    text = " ".join(f"{i}:{number}" for i, number in enumerate(written))
    X, _ = load_svmlight(compare.file(f"1 {text}".encode()))
    assert X.data.tobytes() == np.array([float(number) for number in written]).tobytes()


@pytest.mark.parametrize("jobs", [1, 2, 5, -1])
@pytest.mark.parametrize("data", [load_iris, load_digits])
def test_files_that_scikit_learn_writes(compare, data, jobs):
    X, y = data(return_X_y=True)
    for zero_based in (True, False):
        buffer = io.BytesIO()
        dump_svmlight_file(X, y, buffer, zero_based=zero_based, comment="written by a test")
        assert compare(buffer.getvalue(), jobs=jobs) == ""
        assert compare(buffer.getvalue(), zero_based=zero_based, suffix=".gz", jobs=jobs) == ""


@pytest.mark.skipif("PERCEPTRON_RS_DATA" not in os.environ, reason="PERCEPTRON_RS_DATA names no real data")
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("part", ["train", "test"])
def test_spam(compare, part, jobs):
    path = Path(os.environ["PERCEPTRON_RS_DATA"], f"spam.{part}.svm.gz")
    text = gzip.decompress(path.read_bytes())
    assert compare(text, jobs=jobs) == ""
    X, y = load_svmlight(path, n_jobs=jobs)
    PX, py = load_svmlight_file(io.BytesIO(text))
    assert (X != PX).nnz == 0
    assert np.array_equal(y, py)


def test_large_text_in_many_blocks(compare):
    """Some megabytes, with a line that is longer than a block."""
    random = np.random.default_rng(0)
    rows = [
        f"{i % 3} " + " ".join(f"{c}:{v:.5g}" for c, v in enumerate(random.standard_normal(40), start=i + 1))
        for i in range(6000)
    ]
    rows[3000] = "1 " + " ".join(f"{c}:{c % 7}" for c in range(1, 200_000))
    rows.append("2 0:1")  # "auto" knows only at the end
    text = "\n".join(rows).encode()
    assert len(text) > 3e6
    for suffix, jobs in ((".svm", 1), (".svm", 2), (".svm", 3), (".gz", 1), (".gz", 3)):
        assert compare(text, jobs=jobs, suffix=suffix) == ""


def test_several_files_are_one(compare):
    """With or without a line end at the end of the first, compressed or not."""
    texts = [b"1 1:1\n2 5:2", b"", b"# none\n", b"3 2:1\n\n", b"4 7:7 # the last"]
    paths = [
        compare.file(text, suffix)
        for text, suffix in zip(texts, [".svm", ".txt", ".gz", ".svm", ".gz"], strict=True)
    ]
    PX, py = load_svmlight_file(io.BytesIO(b"\n".join(texts)))
    for jobs in (1, 2):
        X, y = load_svmlight(paths, n_jobs=jobs)
        assert np.array_equal(X.toarray(), PX.toarray())
        assert np.array_equal(y, py)
        compare.in_blocks(paths, X, y, "auto")
    # One column 0 in any file, and all are zero-based.
    zero = compare.file(b"1 0:1\n")
    for order in ([zero, *paths], [*paths, zero]):
        X, _ = load_svmlight(order)
        assert X.shape == (5, 8)
    assert load_svmlight(paths[0])[0].shape == (2, 5)


def test_members_of_a_gzip_file_are_read_one_after_another(tmp_path):
    path = tmp_path / "x.gz"
    parts = [gzip.compress(b"1 1:1\n2 "), gzip.compress(b""), gzip.compress(b"2:2\n"), bytes(700)]
    path.write_bytes(b"".join(parts))
    X, y = load_svmlight(path)
    PX, py = load_svmlight_file(path)
    assert np.array_equal(X.toarray(), PX.toarray())
    assert np.array_equal(y, py)


def test_n_features(compare):
    path = compare.file(b"1 3:1\n2 5:1\n3 4:1\n")
    assert load_svmlight(path, n_features=5)[0].shape == (3, 5)
    assert load_svmlight(path, n_features=np.int64(9))[0].shape == (3, 9)
    with pytest.raises(ValueError, match=r"n_features is 4, but .* need 5, for row 1 .*; raise n_features"):
        load_svmlight(path, n_features=4)
    with pytest.raises(ValueError, match=r"n_features is 5, but .* need 6"):
        load_svmlight(path, n_features=5, zero_based=True)
    with pytest.raises(ValueError, match=r"n_features is 2, but .* and the others need 5, for row 0"):
        load_svmlight([path, path], n_features=2)


def test_indices_are_int64_only_where_int32_is_too_small(compare):
    path = compare.file(b"1 2147483647:1\n")
    one, zero = (load_svmlight(path, zero_based=based)[0] for based in (False, True))
    assert (one.indices.dtype, one.shape, one.indices[0]) == (np.int32, (1, 2**31 - 1), 2**31 - 2)
    assert (zero.indices.dtype, zero.shape, zero.indices[0]) == (np.int64, (1, 2**31), 2**31 - 1)
    wide = load_svmlight(path, n_features=2**40)[0]
    assert (wide.indices.dtype, wide.indptr.dtype, wide.shape) == (np.int64, np.int64, (1, 2**40))


def test_an_auto_file_that_turns_out_zero_based_at_the_largest_column(compare):
    X, _ = load_svmlight(compare.file(b"1 0:2 2147483647:1\n"))
    assert (X.shape, X.indices.tolist(), X.indices.dtype) == ((1, 2**31), [0, 2**31 - 1], np.int64)


def test_the_matrix_is_canonical_and_writable(compare):
    X, y = load_svmlight(compare.file(b"1 1:1 2:0\n2 2:2\n"))
    assert X.has_sorted_indices
    assert X.has_canonical_format
    assert X.nnz == 3
    X.data[:], y[:] = 5, 6


def test_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a b.svm", "ä.svm", "x", "y.svm.gz.txt"):
        Path(name).write_bytes(b"1 1:1\n")
        for path in (name, Path(name), str(tmp_path / name), [name], (Path(name),)):
            assert load_svmlight(path)[1].tolist() == [1.0]


@pytest.mark.parametrize("labelled", [False, "auto"])
def test_lines_without_labels(tmp_path, labelled):
    """Each line is an example, also one without entries; comments are none."""
    path = tmp_path / "a.svm"
    path.write_text("# a comment\n1:2 3:1\n\n2:5 # another\n")
    (batch,) = open_svmlight(path, zero_based=False, labelled=labelled).batches()
    assert batch.y is None
    assert batch.X.toarray().tolist() == [[2, 0, 1], [0, 0, 0], [0, 5, 0]]
    path.write_text("1 1:2\n")
    if labelled == "auto":
        (batch,) = open_svmlight(path, zero_based=False, labelled=labelled).batches()
        assert batch.y.tolist() == [1]
    else:
        with pytest.raises(ValueError, match="line 1, column 1:"):
            list(open_svmlight(path, labelled=labelled).batches())
