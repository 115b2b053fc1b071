"""What load_svmlight refuses, and what it says."""

import gzip
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from perceptron_rs import _core
from perceptron_rs.io import load_svmlight

from ..support import wait_until_read

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals and files")

#: A line, the column of the mistake, what stands there, and what is said of it.
WRONG = [
    ("x 1:1", 1, "x", "is not a number; write a decimal number such as 0.5 or 1e-3"),
    ("  1:1 2:2", 3, "1:1", "stands where the label belongs; begin each line with a label"),
    ("1,2 1:1", 1, "1,2", "is a list of labels; say multilabel=True, or keep one label a line"),
    ("1, 1:1", 1, "1,", "is a list of labels"),
    ("nan 1:1", 1, "nan", "is not a finite number; leave the entry out or impute it"),
    ("1e309 1:1", 1, "1e309", "is too large for a float64; scale the values"),
    ("1 1:1 2", 7, "2", "is not an entry; write index:value"),
    ("1 1:1 :2", 7, ":2", "is not a column; write index:value with a whole number before the colon"),
    ("1 1.0:1", 3, "1.0:1", "is not a column"),
    ("1 -1:1", 3, "-1:1", "is a negative column; columns start at 0 or 1"),
    ("1 2147483648:1", 3, "2147483648:1", "is too large for a column; the largest is 2147483647"),
    ("1 99999999999999999999999:1", 3, "99999999999999999999999:1", "is too large for a column"),
    ("1 1:", 5, "", "is not a number"),
    ("1 1:1 2:abc", 9, "abc", "is not a number"),
    ("1 1:1:1", 5, "1:1", "is not a number"),
    ("1 1:0x1", 5, "0x1", "is not a number"),
    ("1 1:1 2:NaN", 9, "NaN", "is not a finite number"),
    ("1 1:-Infinity", 5, "-Infinity", "is not a finite number"),
    ("1 1:-1e400", 5, "-1e400", "is too large for a float64"),
    ("1 2:1 1:1", 7, "1:1", "follows the column 2; columns of a line must increase"),
    ("1 2:1 2:1 3:1", 7, "2:1", "repeats the column 2; columns of a line must increase"),
    ("1 1:1 qid:1", 7, "qid:1", "is not a column"),
    ("1 1:-_5", 5, "-_5", "is not a number"),  # scikit-learn's reader takes it, Python's float does not
    ("1 qid:1 qid:1 1:1", 9, "qid:1", "is not a column"),
    ("1 qid 1:1", 3, "qid", "is not an entry"),
    ("1 1:\u00e9", 5, r"\xc3\xa9", "is not a number"),
    ("1 1:1\x00", 5, r"1\x00", "is not a number"),
    ("1 " + "9" * 60, 3, "9" * 40 + "\u2026", "is not an entry"),
]


@pytest.mark.parametrize(("line", "column", "text", "reason"), WRONG)
def test_a_wrong_line_is_named(compare, line, column, text, reason):
    content = f"1 1:1 # fine\n\n{line}\n1 x\n".encode()
    path = compare.file(content)
    start = f'{path}, line 3, column {column}: "{text}" {reason}'
    assert compare(content).split(", ", 1)[1].startswith(start.split(", ", 1)[1])
    for jobs in (1, 2):
        with pytest.raises(ValueError, match=r".") as caught:
            load_svmlight([compare.file(b"1 1:1\n"), path], n_jobs=jobs)
        assert str(caught.value).startswith(start)


def test_a_nul_byte_in_a_query_id_is_refused(compare):
    """scikit-learn reads past it; but what follows a '#' behind it, too, as if that were no comment."""
    with pytest.raises(ValueError, match=r'column 3: "qid:\\x00" is not a column'):
        load_svmlight(compare.file(b"1 qid:\x00 1:1\n"))


def test_column_0_where_columns_begin_at_1(compare):
    path = compare.file(b"1 1:1\n1 0:1 1:1\n")
    with pytest.raises(ValueError, match='line 2, column 3: "0:1" has the column 0, but zero_based=False'):
        load_svmlight(path, zero_based=False)


def test_query_ids_can_be_refused(compare):
    path = compare.file(b"1 1:1\n1 qid:7 1:1\n")
    with pytest.raises(ValueError, match='line 2, column 3: "qid:7" is a query id; pass query_id="ignore"'):
        load_svmlight(path, query_id="refuse")
    assert load_svmlight(path, query_id="ignore")[0].shape == (2, 1)


@pytest.mark.parametrize("text", [b"", b"\n", b"  \n\t\n", b"# only this", b"#\n#\n"])
@pytest.mark.parametrize("suffix", [".svm", ".gz"])
def test_files_without_examples(compare, text, suffix):
    path = compare.file(text, suffix)
    with pytest.raises(ValueError, match=r"no examples in .*; check that it is the right file"):
        load_svmlight(path)
    with pytest.raises(ValueError, match="no examples in any of 3 files"):
        load_svmlight([path] * 3)


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (b"\x1f\x8b\x08", "the gzip data ends early"),
        (b"BZh91AY", "the bzip2 data ends early"),
        (b"\xfd7zXZ\x00", "the xz data ends early"),
        (b"\x28\xb5\x2f\xfd", "is compressed by zstd"),
        ("1 1:1\n".encode("utf-16"), "is UTF-16 text, not UTF-8; save it as UTF-8"),
    ],
)
def test_other_kinds_of_files(compare, start, said):
    assert compare.peer(start, "auto") is None
    with pytest.raises(ValueError, match=said):
        load_svmlight(compare.file(start))


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        load_svmlight(tmp_path / "none.svm")
    assert caught.value.filename == str(tmp_path / "none.svm")
    with pytest.raises(ValueError, match="is a folder without files"):
        load_svmlight(tmp_path)
    (tmp_path / "folder.gz").mkdir()
    with pytest.raises(ValueError, match=r"holds the folder 'folder\.gz'; name the folder of the files"):
        load_svmlight(tmp_path)
    with pytest.raises(ValueError, match="NUL byte"):
        load_svmlight("a\0b")


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's /proc")
def test_a_file_whose_reading_fails():
    with pytest.raises(OSError, match="Input/output error") as caught:
        load_svmlight("/proc/self/mem")
    assert caught.value.filename == "/proc/self/mem"


@POSIX
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(compare):
    path = compare.file(b"1 1:1\n")
    path.chmod(0)
    with pytest.raises(PermissionError):
        load_svmlight(path)


def test_a_gzip_file_cut_at_every_byte(tmp_path):
    whole, path = gzip.compress(b"1 1:1\n" * 50, mtime=0) + gzip.compress(b"2 2:2\n"), tmp_path / "x.gz"
    first = len(gzip.compress(b"1 1:1\n" * 50, mtime=0))
    for length in range(1, len(whole)):
        path.write_bytes(whole[:length])
        if length == first:  # a whole file
            assert len(load_svmlight(path)[1]) == 50
            continue
        with pytest.raises(ValueError, match="the gzip data ends early: the file was cut; get it again"):
            load_svmlight(path)


def test_damaged_gzip_files(tmp_path):
    whole, path = gzip.compress(b"1 1:1\n2 2:2\n" * 50), tmp_path / "x.gz"
    said = r"the gzip data is damaged or none; get it again, or drop the \.gz if it is plain text"
    for wrong in (
        b"1 1:1\n" * 5,
        whole + b"1 1:1\n" * 5,
        whole[:-8] + bytes([whole[-8] ^ 1]) + whole[-7:],
        whole[:-1] + bytes([whole[-1] ^ 1]),
        whole[:10] + b"\xff" + whole[11:],
    ):
        path.write_bytes(wrong)
        with pytest.raises(ValueError, match=said):
            load_svmlight(path)


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"path": 3}, TypeError, "path must be a path or a list of paths, got 3"),
        ({"path": [3]}, TypeError, "path must hold names of files, got 3"),
        ({"path": []}, ValueError, "path must name at least one file"),
        ({"path": "x", "n_features": 0}, ValueError, "n_features must be at least 1 and .*, got 0"),
        ({"path": "x", "n_features": 2.0}, TypeError, r"n_features must be an integer or None, got 2\.0"),
        ({"path": "x", "n_features": True}, TypeError, "n_features must be an integer or None, got True"),
        ({"path": "x", "n_features": 2**63}, ValueError, "n_features must be .* at most"),
        ({"path": "x", "zero_based": 1}, ValueError, 'zero_based must be True, False or "auto", got 1'),
        ({"path": "x", "zero_based": "yes"}, ValueError, "zero_based must be .* got 'yes'"),
        (
            {"path": "x", "query_id": "keep"},
            ValueError,
            'query_id must be "ignore" or "refuse", got \'keep\'',
        ),
        ({"path": "x", "n_jobs": "2"}, TypeError, "n_jobs must be an integer or None, got '2'"),
        ({"path": "x", "n_jobs": 0}, ValueError, "n_jobs"),
    ],
)
def test_wrong_arguments(arguments, error, said):
    with pytest.raises(error, match=said):
        load_svmlight(**arguments)


def test_right_arguments_of_other_types(compare):
    path = compare.file(b"1 1:1\n")
    X, _ = load_svmlight(path, n_features=np.int32(4), zero_based=np.True_, n_jobs=np.int64(2))
    assert X.shape == (1, 4)


INTERRUPTED = """
    import signal, sys
    from perceptron_rs.io import load_svmlight
    signal.signal(signal.SIGPROF, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        print("inside", flush=True)
        signal.setitimer(signal.ITIMER_PROF, 0.3)  # it has the processor only while it reads
        load_svmlight(sys.argv[1:2] * int(sys.argv[2]), n_jobs=int(sys.argv[3]))
    except KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_PROF, 0)  # at its end Python takes the handler away
        print("interrupted", flush=True)
"""


def interrupted(*arguments):
    return [sys.executable, "-c", textwrap.dedent(INTERRUPTED), *map(str, arguments)]


@POSIX
@pytest.mark.parametrize("jobs", [1, 2])
def test_control_c(compare, jobs):
    """Comments take no memory, so the files may be endless."""
    path = compare.file((b"#" * 99 + b"\n") * 100_000)
    with subprocess.Popen(interrupted(path, 10**6, jobs), stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "inside\n"
        assert child.communicate(timeout=600)[0] == "interrupted\n"


@pytest.mark.parametrize("block", [2**63, 2**64 - 1])
def test_a_block_of_any_size_ends_in_an_exception(tmp_path, block):
    (tmp_path / "a.svm").write_text("1 1:1\n0 2:1\n")
    rules = {"zero_based": None, "refuse_query_ids": False, "max_ratio": np.inf, "threads": 2}
    with pytest.raises(MemoryError, match=r"not enough memory for the examples of .*a\.svm"):
        _core.read_svmlight([str(tmp_path / "a.svm")], block=block, **rules)


@POSIX
def test_control_c_while_a_pipe_has_nothing_to_give(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with subprocess.Popen(interrupted(path, 1, 1), stdout=subprocess.PIPE, text=True) as child:
        with path.open("wb") as pipe:  # returns when the other end is open, too
            assert child.stdout.readline() == "inside\n"
            pipe.write(b"1 1:1\n2 2")
            pipe.flush()
            wait_until_read(pipe)
            child.send_signal(signal.SIGINT)
            assert child.stdout.readline() == "interrupted\n"
        assert child.wait(timeout=600) == 0
