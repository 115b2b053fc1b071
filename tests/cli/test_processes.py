"""What only a process shows: pipes that close, Ctrl-C, full disks."""

import array
import json
import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

from perceptron_rs import Perceptron, load
from perceptron_rs.io.text.lines import text_blocks
from perceptron_rs.stream.run import StreamRun

from ..support import wait_until_read
from .support import X, Y, asked, command, environment, process, start, svmlight

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX pipes and signals")


@pytest.fixture(autouse=True)
def hangup_ends_a_process():
    """Children inherit what is ignored, as where the tests run under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


ONE_PASS = ("--stream", "--epochs", 1, "--classes", "0,1", "--features", 7, "--zero-based", "no")


@pytest.fixture
def long(tmp_path):
    """A model, and data whose predictions are more than a pipe holds."""
    np.save(tmp_path / "long.npy", np.tile(X, (50_000, 1)))
    Perceptron().fit(X, Y).save(tmp_path / "long.model")
    return tmp_path / "long.model", tmp_path / "long.npy"


def test_a_closed_pipe_is_silent(long):
    with start("predict", *long) as child:
        assert child.stdout.readline() == "1\n"
        child.stdout.close()
        assert child.stderr.read() == ""
        assert child.wait(timeout=600) == 128 + signal.SIGPIPE


TEXT = svmlight(X, Y)
CSV = "a,b,c,y\n" + "".join(f"{a},{b},{c},{y}\n" for (a, b, c), y in zip(X.tolist(), Y, strict=True))
ANSWERS = [f"{label}\n" for label in Y]
#: How a model is trained, of what; what is asked of it, and the answer to each question.
COPROCESSES = {
    "svmlight": ("train", TEXT, "predict", list(zip(TEXT.splitlines(keepends=True), ANSWERS, strict=True))),
    "csv": ("train --format csv", CSV, "predict", [
        (CSV[:8] * (k == 0) + line, answer)
        for k, (line, answer) in enumerate(zip(CSV[8:].splitlines(keepends=True), ANSWERS, strict=True))
    ]),
    "sentences": ("tag-train", "the\tD\ndogs\tN\n", "tag",
                  [("the\n\n", "the\tD\n\n"), ("dogs\n\n", "dogs\tN\n\n")]),
}  # fmt: skip


@pytest.mark.parametrize("case", COPROCESSES)
def test_a_coprocess_gets_an_answer_before_it_sends_more(call, tmp_path, case):
    if case == "csv":
        pytest.importorskip("pyarrow")
    train, text, use, questions = COPROCESSES[case]
    (tmp_path / "data.txt").write_text(text)
    argv = (tmp_path / "data.txt", "--model", tmp_path / "m", "--quiet")
    assert call(*train.split(), *argv).status == 0
    with start(use, tmp_path / "m", "-") as child:
        for question, answer in questions:
            assert asked(child, question, answer.count("\n")) == answer
        child.stdin.close()
        assert child.wait(timeout=600) == 0


def test_output_is_utf8_whatever_the_locale(call, tmp_path):
    """As in a pipe of Windows, or in a container without a locale."""
    name = "süß ≠ 𝄞"
    where = environment() | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    where |= {"PYTHONIOENCODING": "cp1252"}
    train, tokens, out = tmp_path / "ä.csv", tmp_path / "ä.tsv", ("--quiet", "--model")
    train.write_text(f"a,y\n1,{name}\n-1,ham\n", encoding="utf-8")
    tokens.write_text(f"{name}\tD\ndog\tN-{name}\n\n", encoding="utf-8")
    pytest.importorskip("pyarrow")
    assert call("train", train, *out, tmp_path / "ä").status == 0
    assert call("tag-train", tokens, *out, tmp_path / "tagger").status == 0
    for argv in (
        ("evaluate", tmp_path / "ä", train),
        ("tag", tmp_path / "tagger", tokens, "--tag-column", 2),
        ("predict", tmp_path / "ä", f"{name}.csv"),
    ):
        done = process(*argv, env=where, encoding="utf-8")
        assert name in (done.out or done.err)


@pytest.mark.parametrize(
    ("train", "number", "status", "said"),
    [
        ("train averaged --tol none", signal.SIGTERM, 143, "terminated"),
        ("train --tol none", signal.SIGHUP, 129, "hangup"),
        ("train --tol none --stream", signal.SIGINT, 130, "interrupted"),
        ("tag-train", signal.SIGINT, 130, "interrupted"),
    ],
)
def test_a_signal_ends_a_training_which_is_kept_if_that_is_wanted(tmp_path, number, status, train, said):
    data, out = tmp_path / "data.txt", tmp_path / "out.model"
    tagged = "the\tD\n\nthe\tN\n\n" * 500  # never without a mistake
    data.write_text(tagged if train == "tag-train" else "1 1:1\n2 1:1\n3 1:1\n" * 1000)
    out.write_bytes(b"the old model")
    argv = (*train.split(), data, "--model", out, "--epochs", 10**9, "--json")
    for keeps in ((), ("--keep-on-interrupt",)):
        with start(*argv, *keeps) as child:
            assert child.stderr.readline().startswith("epoch 1: ")
            child.send_signal(number)
            told, err = child.communicate(timeout=600)
        assert child.returncode == status
        assert "Traceback" not in err
        assert set(tmp_path.iterdir()) == {data, out}
        if not keeps:
            assert (told, err.endswith(f"perceptrons: {said}\n")) == ("", True)
            assert out.read_bytes() == b"the old model"
    assert (json.loads(told)["interrupted"], json.loads(told)["converged"]) == (True, False)
    assert load(out).keep_on_interrupt is False


@pytest.mark.parametrize(("epoch", "n"), [(1, None), (2, 300)])
def test_an_interrupted_stream_tells_how_many_examples_there_are(call, tmp_path, monkeypatch, epoch, n):
    """Not how many were read in the epoch that was cut; nobody knows it when that is the first one."""
    monkeypatch.setattr(text_blocks, "__defaults__", (200,))
    (tmp_path / "a.svm").write_text("1 1:1\n2 1:1\n3 1:1\n" * 100)
    seen = StreamRun.epoch

    def cut(self, number):
        if number == epoch - 1:
            self.see = lambda _: signal.raise_signal(signal.SIGINT)
        return seen(self, number)

    monkeypatch.setattr(StreamRun, "epoch", cut)
    known = ["--classes", "1,2,3", "--features", "1", "--zero-based", "no", "--block-size", "10"]
    argv = ("train", tmp_path / "a.svm", "--stream", "--keep-on-interrupt", "--tol", "none", *known)
    answer = call(*argv, "--model", tmp_path / "m", "--json")
    assert (answer.status, answer.json["n_samples"]) == (130, n)
    told = f"data      {n or 'the first'} examples of 1 features"
    assert told in call(*argv, "--model", tmp_path / "m").out


@pytest.mark.parametrize(
    ("stream", "number", "status"), [((), signal.SIGTERM, 143), (ONE_PASS, signal.SIGINT, 130)]
)
def test_signals_end_a_training_that_waits_for_a_pipe(tmp_path, stream, number, status):
    text = "".join(f"{i % 2} {i % 7 + 1}:1\n" for i in range(20_000))
    out = tmp_path / "out.model"
    out.write_bytes(b"the old model")
    train = ("train", "averaged", "-", "--format", "svmlight", "--model", out, *stream)
    with start(*train) as child:
        child.stdin.write(text)
        child.stdin.flush()  # and it stays open: nothing more can come but the signal
        wait_until_read(child.stdin)
        child.send_signal(number)
        assert child.wait(timeout=600) == status
    assert [path.name for path in tmp_path.iterdir()] == ["out.model"]
    assert out.read_bytes() == b"the old model"


@pytest.mark.parametrize(
    "words",
    ["train pipe.svm --stream --cache c --classes 0,1 --model m", "online a.model pipe.svm"],
)
def test_ctrl_c_while_a_named_pipe_has_nothing_to_give(model, tmp_path, words):
    os.mkfifo(tmp_path / "pipe.svm")
    with start(*words.split(), cwd=tmp_path) as child, (tmp_path / "pipe.svm").open("wb") as pipe:  # by both
        pipe.write(b"1 1:")  # the rest of the line never comes
        pipe.flush()
        wait_until_read(pipe)
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=600) == 130


def test_a_hangup_that_is_ignored_stays_ignored(text_file, tmp_path):
    """As nohup asks for."""
    line = "trap '' HUP; exec " + " ".join(command("train", text_file, "--model", tmp_path / "m"))
    with start(line=line, shell=True) as child:
        child.stderr.readline()
        child.send_signal(signal.SIGHUP)
        assert child.wait(timeout=600) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="knows how much a pipe of Linux holds")
def test_control_c_while_nobody_reads(long):
    """The process ends although the pipe is full."""
    import fcntl
    import termios

    with start("predict", *long) as child:
        waiting = array.array("i", [0])
        while waiting[0] < 60_000 and child.poll() is None:  # of 65536 bytes
            fcntl.ioctl(child.stdout, termios.FIONREAD, waiting)
        child.send_signal(signal.SIGINT)
        try:
            assert child.wait(timeout=600) == 130
        finally:
            child.kill()
        assert child.stderr.read() == "perceptrons: interrupted\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_behind_standard_output(long):
    with Path("/dev/full").open("w") as full:
        done = process("inspect", long[0], stdout=full)  # little output: only the last flush fails
    assert (done.status, done.err) == (1, "perceptrons: error: standard output: no space left on device\n")


def test_no_standard_output_at_all(long):
    done = process(line=" ".join(command("predict", *long)) + " >&-", shell=True)
    assert (done.status, done.err) == (0, "")
