"""A file is replaced at once or not at all, whatever fails; and it is read while others replace it."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest

from perceptron_rs import Perceptron, load

ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
OLD = b"what was there before"
posix = pytest.mark.skipif(os.name != "posix", reason="names and rights of POSIX")


@pytest.fixture(name="model")
def fixture_model(tools):
    return tools.fitted(Perceptron, 2)


@pytest.fixture(name="old")
def fixture_old(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(OLD)
    return path


def unchanged(old):
    return old.read_bytes() == OLD and list(old.parent.iterdir()) == [old]


@pytest.mark.parametrize("step", ["fchmod", "fsync", "replace"])
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, "interrupt", "memory"])
def test_each_step_may_fail(model, old, monkeypatch, step, error):
    def fail(*_, **__):
        if error == "interrupt":
            raise KeyboardInterrupt
        if error == "memory":
            raise MemoryError
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(os, step, fail)
    kinds = {"interrupt": KeyboardInterrupt, "memory": MemoryError}
    with pytest.raises(kinds.get(error, OSError)) as caught:
        model.save(old)
    monkeypatch.undo()
    assert unchanged(old)
    if isinstance(error, int):
        assert caught.value.errno == error
        assert caught.value.filename == str(old)
        assert "nothing was saved, and what was there is unchanged" in str(caught.value)


LIMITED = """
import resource, sys, numpy as np
from perceptron_rs import Perceptron
model = Perceptron().fit(np.linspace(-1, 1, 10_000).reshape(2, -1), [0, 1])
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    model.save(sys.argv[1])
except OSError as error:
    print(error)
    sys.exit(7)
"""


@posix
def test_a_file_size_limit_of_the_system(old):
    found = subprocess.run([sys.executable, "-c", LIMITED, old], capture_output=True, text=True)
    assert found.returncode == 7, found.stderr
    assert "nothing was saved" in found.stdout
    assert unchanged(old)


@posix
def test_the_disk_is_asked_to_keep_the_file_and_then_its_name(model, old, monkeypatch):
    events = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)

        def note(first, *rest, name=name, real=real):
            is_folder = isinstance(first, int) and stat.S_ISDIR(os.fstat(first).st_mode)
            events.append(f"{name} folder" if is_folder else name)
            return real(first, *rest)

        monkeypatch.setattr(os, name, note)
    model.save(old)
    assert events == ["fsync", "replace", "fsync folder"]


@posix
@pytest.mark.parametrize(("code", "raises"), [(errno.EINVAL, False), (errno.EIO, True)])
def test_a_folder_that_cannot_be_flushed(model, old, monkeypatch, code, raises):
    real = os.fsync

    def fsync(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(code, os.strerror(code))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    if raises:
        with pytest.raises(OSError, match="the file is written, but a power failure may undo that"):
            model.save(old)
    else:
        model.save(old)
    assert list(old.parent.iterdir()) == [old]
    load(old)


@posix
def test_rights_are_those_of_the_umask_or_of_the_file_before(model, tmp_path):
    umask = os.umask(0o027)
    try:
        model.save(tmp_path / "new")
        assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
        (tmp_path / "new").chmod(0o604)
        model.save(tmp_path / "new")
        assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o604
    finally:
        os.umask(umask)


@posix
def test_a_link_stays_a_link(model, tmp_path):
    (tmp_path / "far").mkdir()
    for name in ("there", "dangling"):
        (tmp_path / name).symlink_to(tmp_path / "far" / name)
    (tmp_path / "far" / "there").write_bytes(OLD)
    for name in ("there", "dangling"):
        model.save(tmp_path / name)
        assert (tmp_path / name).is_symlink()
        load(tmp_path / "far" / name)
    (tmp_path / "round").symlink_to(tmp_path / "round")
    with pytest.raises(OSError, match="round"):
        model.save(tmp_path / "round")


@posix
def test_devices_and_pipes_are_left_alone(model, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="is a device or a pipe; name a regular file"):
        model.save(tmp_path / "pipe")  # no device is tried: if the rule failed, root would replace it
    for path in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(OSError, match="is a device or a pipe; name a regular file"):
            load(path)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_folders_and_paths_that_are_none(model, tmp_path):
    for act in (model.save, load):
        with pytest.raises(IsADirectoryError, match="is a directory; name a file in it"):
            act(tmp_path)
        with pytest.raises(FileNotFoundError, match="nowhere"):
            act(tmp_path / "nowhere" / "model")
        with pytest.raises(NotADirectoryError, match="model"):
            act(_file(tmp_path) / "model")
        for wrong in (3, ["model"], np.zeros(2)):
            with pytest.raises(TypeError, match="path must be a str"):
                act(wrong)
        with pytest.raises(ValueError, match="NUL byte"):
            act("a\0b")
        with pytest.raises(OSError, match="too long"):
            act(tmp_path / ("x" * 300))
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def _file(folder):
    (folder / "file").write_bytes(OLD)
    return folder / "file"


def test_a_name_as_long_as_a_name_may_be(model, tmp_path):
    model.save(tmp_path / ("x" * 255))
    load(tmp_path / ("x" * 255))


@posix
@pytest.mark.skipif(ROOT, reason="root may write anything")
def test_rights_that_are_missing(model, old):
    old.chmod(0o400)
    with pytest.raises(PermissionError, match="save under another name"):
        model.save(old)
    old.parent.chmod(0o500)
    with pytest.raises(PermissionError, match="nothing was saved"):
        model.save(old.parent / "other")
    old.parent.chmod(0o700)
    assert unchanged(old)


@posix
def test_a_file_that_must_not_be_written_is_not_replaced(model, old, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write anything
    with pytest.raises(PermissionError, match="may not be written to; save under another name"):
        model.save(old)
    assert unchanged(old)


def test_relative_paths(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model.save("model")
    load("model")


def test_readers_meet_whole_files_while_writers_replace_them(tools, tmp_path):
    """Two writers with a model of two sizes each, and two readers."""
    models = [tools.fitted(Perceptron, classes) for classes in (2, 3, 7)]
    known = [tools.contents(model) for model in models]
    path = tmp_path / "model"
    models[0].save(path)
    stop, failures, reads = threading.Event(), [], []

    def run(work):
        try:
            while not stop.is_set():
                work()
        except BaseException as error:
            failures.append(error)
            stop.set()

    def read():
        assert tools.contents(load(path)) in known
        reads.append(1)
        if len(reads) > 60:
            stop.set()

    def write(some):
        for model in some:
            model.save(path)

    works = [read, read, lambda: write(models[:2]), lambda: write(models[1:])]
    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert list(tmp_path.iterdir()) == [path]


KILLS = """
import os, random, signal, sys
from pathlib import Path
from perceptron_rs.models.files import write_whole

path = Path(sys.argv[1])
ends = os.pipe()
draw, texts = random.Random(0), [bytes([number]) * 200_000 for number in (1, 2)]
write_whole(path, texts[0])
for _ in range(int(sys.argv[2])):
    child = os.fork()
    if child == 0:
        while True:
            for text in texts:
                write_whole(path, text)
                os.write(ends[1], b".")
    for _ in range(draw.randrange(1, 6)):
        os.read(ends[0], 1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert path.read_bytes() in texts
print(*os.listdir(path.parent))
"""


@posix
def test_kills_at_drawn_moments(tmp_path):
    """They leave whole files, and at most one temporary file each, which is hidden."""
    kills = 500 if DEEP else 60
    argv = [sys.executable, "-c", KILLS, tmp_path / "model", str(kills)]
    found = subprocess.run(argv, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    names = set(found.stdout.split()) - {"model"}
    assert 0 < len(names) <= kills
    assert all(name.startswith(".perceptrons-") for name in names)
